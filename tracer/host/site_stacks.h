/* site_stacks.h - the stacks of launches and of calls of NCCL, as they were when these began. */
#ifndef WSDBG_HOST_SITE_STACKS_H
#define WSDBG_HOST_SITE_STACKS_H

#include "host/host_stacks.h"
#include "host/thread_read.h"

/* Adds rows of launch_sites and site_frames for what the request wants.  A launch or call whose site is lost gets a row
 * without frames that says so.  No rows where the process keeps no sites.  segment_file: in the maps of
 * reader->modules.  Error: out of memory. */
struct wsdbg_error *wsdbg_site_stacks_read(const struct wsdbg_host_reader *reader, uint32_t segment_file,
                                           const struct wsdbg_host_request *request, struct wsdbg_snapshot *rows);

#endif
