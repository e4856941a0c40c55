/* core_dump.h - a GPU core dump of a process that was started for it: asked for through a named pipe, waited for,
 * opened.
 *
 * The driver makes the pipe and a thread that listens to it when the program initializes CUDA with the variables that
 * cmd/environment sets.  The dump ends the process's contexts.
 */
#ifndef WSDBG_EVIDENCE_CORE_DUMP_H
#define WSDBG_EVIDENCE_CORE_DUMP_H

#include "base/progress.h"
#include "machine/machine.h"

/* In the session's folder; the driver puts the process's number for %p. */
#define WSDBG_CORE_PIPE_PREFIX "gpu-core-pipe."
#define WSDBG_CORE_FILE_PREFIX "gpu-core."

/* Triggers, waits until the file is whole, opens and unlinks it.  Errors say why there is no dump: no pipe, a process
 * that ended, deadline_ns (CLOCK_MONOTONIC) passed.  `progress` (NULL = nobody asked) is told the file's size while it
 * grows. */
struct wsdbg_error *wsdbg_core_dump_take(const char *folder, uint32_t process_id, uint64_t deadline_ns,
                                         struct wsdbg_progress *progress, struct wsdbg_machine **out);

#endif
