/* core_dump.h - a GPU core dump of a process that was started for it: asked for through a named pipe, or written by the
 * driver when an error ended a kernel; waited for, opened.
 *
 * The driver makes the pipe and a thread that listens to it when the program initializes CUDA with the variables that
 * cmd/environment sets.  The dump ends the process's contexts.
 */
#ifndef WSDBG_EVIDENCE_CORE_DUMP_H
#define WSDBG_EVIDENCE_CORE_DUMP_H

#include "base/cancel.h"
#include "base/progress.h"
#include "evidence/segment_map.h"
#include "machine/machine.h"

/* In the session's folder; the driver puts the process's number for %p. */
#define WSDBG_CORE_PIPE_PREFIX "gpu-core-pipe."
#define WSDBG_CORE_FILE_PREFIX "gpu-core."

/* Which dump, and who is told what while it is waited for; nothing is owned. */
struct wsdbg_core_wait {
    const char *folder;
    uint32_t process_id;
    uint64_t deadline_ns; /* CLOCK_MONOTONIC */
    uint64_t still_ns;    /* given up earlier where the file does not grow for so long; 0 = 15 s */
    struct wsdbg_progress *progress; /* told the file's size; NULL = nobody asked */
    struct wsdbg_cancel *cancel;     /* NULL = it cannot be cancelled */
    struct wsdbg_segment_map *map;   /* the process's exit is held back meanwhile; NULL = it is not */
};

/* Triggers, unless the driver has begun a dump of its own, waits until the file is whole, opens and unlinks it.  Errors
 * say why there is no dump: no pipe, a process that ended, a file that does not grow, a deadline, a signal. */
struct wsdbg_error *wsdbg_core_dump_take(const struct wsdbg_core_wait *wait, struct wsdbg_machine **out);
/* The same of a dump that the driver makes by itself: NOT_FOUND where it has begun none. */
struct wsdbg_error *wsdbg_core_dump_collect(const struct wsdbg_core_wait *wait, struct wsdbg_machine **out);

#endif
