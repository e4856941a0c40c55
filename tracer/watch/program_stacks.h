/* program_stacks.h - what the program's own threads do when something on the GPU stands still. */
#ifndef WSDBG_WATCH_PROGRAM_STACKS_H
#define WSDBG_WATCH_PROGRAM_STACKS_H

#include "base/error.h"
#include "model/snapshot.h"

/* Reads the stacks of the processes that have a context, from outside, and adds them to the snapshot, once.  Takes some
 * milliseconds a process, half a second in all where nothing hangs in the kernel.  Error: out of memory, or no thread.
 */
struct wsdbg_error *wsdbg_program_stacks_read(struct wsdbg_snapshot *snapshot);

#endif
