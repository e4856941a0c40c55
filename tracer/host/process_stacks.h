/* process_stacks.h - the stacks of one process's threads, as rows of a snapshot. */
#ifndef WSDBG_HOST_PROCESS_STACKS_H
#define WSDBG_HOST_PROCESS_STACKS_H

#include "host/host_stacks.h"

/* Adds one row of host_processes, and stacks and frames.  The row says what could not be read.  deadline_ns:
 * CLOCK_MONOTONIC.  Error: out of memory. */
struct wsdbg_error *wsdbg_host_process_read(const struct wsdbg_host_request *request, uint64_t deadline_ns,
                                            struct wsdbg_snapshot *rows);

#endif
