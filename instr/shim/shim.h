/* shim.h - the rules of the preloaded library, and its map.
 *
 * Rules of this room (the library runs inside somebody else's process): it never exits, aborts, prints to
 * stdout, blocks across a driver call, holds a lock across one, synchronises the app's streams, changes errno
 * or what a driver call returns.  Bounded waits are the exception: debug_attach_wait (also for calls that make or
 * end a context, or load code), debug_attach_await, debug_attach_confirm, debug_fault_result, tracking_close_begin,
 * captures_change, and at exit() debug_attach_stop, 1.3 s at most while somebody is attached, and hold_for_dump, while
 * wsdbg waits for a GPU core dump of the process.  So is one result: debug_fault_result gives the error that an
 * attached inspector has made the driver forget.  On trouble of its own: one line on stderr, switched off, calls
 * forwarded.
 *
 * A file calls only files of its own line and of those below:
 *   entries    interpose.c gives out the wrappers of hooks.c, which run the bodies in hooks_*.c; hook_call.c
 *              begins and ends each
 *   life       life_cycle.c: start, the segment at the first call, fork, exit; stand_aside.c: no system call any more
 *   recording  observer.c (launches), tracking.c (modules, functions), allocations.c, graph_kernels.c, refusals.c,
 *              work.c, communicators.c, launch_sites.c with stack_piece.c and python_frames.c
 *   threads    ring_setup.c and copy_thread.c serve probed modules, markers.c tells whether work gets done,
 *              host_threads.c whether the program's threads do, debug_attach.c lets an inspector in
 *   driver     region.c, ring_map.c, ring_memory.c, contexts.c, captures.c; libcuda.c and libnccl.c have the
 *              real functions
 *   segment    registry.c, rank.c, module_image.c, messages.c, own_threads.c, armed.c, segment.c, own_files.c, clock.c
 *   libc       system_calls.c, device_events.c, exit_handlers.c and sanitizers.c stand in for functions of libc;
 *              real_dlsym.c has libc's own dlsym
 *   nothing    state.c and debug_state.c are words that others look at; loader.c reads the list of libraries;
 *              cache_lines.h asks the processor for lines that will be written
 */
#ifndef WSDBG_SHIM_H
#define WSDBG_SHIM_H

#define SHIM_EXPORT __attribute__((visibility("default")))
#define SHIM_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

#endif
