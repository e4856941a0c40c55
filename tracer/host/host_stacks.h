/* host_stacks.h - what the threads of processes do, read from outside while they run on.
 *
 * Reads: /proc and the memory of the processes; nothing is stopped, and nothing is written to them.
 * Writes: rows of host_processes, host_stacks and host_frames, launch_sites and site_frames.
 *
 * The kernel must allow to trace the process (same user, and Yama's scope 1 allows it to an ancestor).  The reading
 * thread belongs to this process for that reason.
 */
#ifndef WSDBG_HOST_STACKS_H
#define WSDBG_HOST_STACKS_H

#include "model/snapshot.h"

/* Something that began in the program, whose stack of that moment is wanted. */
struct wsdbg_host_wanted {
    enum wsdbg_site_ring ring;
    uint64_t owner;        /* LAUNCHED: the launch's entry.  CALLED: the call's entry */
    uint64_t group;        /* CALLED: number of the communicator */
    uint32_t function_row; /* CAPTURED: in the process's table of functions */
    uint32_t tag; /* rows of launch_sites get it.  Those of LAUNCHED with one tag and the same stack are one row */
};
enum { WSDBG_HOST_WANTED_MAX = 2048, WSDBG_HOST_TOGETHER = 8 };

/* A process to read, and the threads of it that are inside a call which waits for the GPU. */
struct wsdbg_host_request {
    uint32_t process_id;
    bool is_traced; /* it must have its segment mapped: the number may be a stranger's, as in another namespace */
    const uint32_t *waiting;
    size_t waiting_count;
    const struct wsdbg_host_wanted *wanted; /* those of one tag are neighbours */
    size_t wanted_count;                    /* WSDBG_HOST_WANTED_MAX at most */
};

/* Reads them, WSDBG_HOST_TOGETHER at a time, and adds their rows in that order; each gets limit_ns.  A process that
 * does not let itself be read in time, as one that hangs in a driver while it changes its mappings, delays this by a
 * second at most; its row says so. Error: out of memory, or no thread could be started. */
struct wsdbg_error *wsdbg_host_stacks_read(const struct wsdbg_host_request *requests, size_t count, uint64_t limit_ns,
                                           struct wsdbg_snapshot *out);

#endif
