/* program_log.h - the program's lines on their way into the session's log, some at a time. */
#ifndef WSDBG_CMD_PROGRAM_LOG_H
#define WSDBG_CMD_PROGRAM_LOG_H

#include "store/store.h"

struct wsdbg_program_log;

/* NULL = no memory. */
struct wsdbg_program_log *wsdbg_program_log_create(void);
void wsdbg_program_log_add(struct wsdbg_program_log *log, uint64_t time_ns, const char *text);
/* Writes what waits, at most once a second and 64 MiB in all; lines beyond that are dropped, the oldest first, and a
 * line in their place says how many. */
void wsdbg_program_log_write(struct wsdbg_program_log *log, struct wsdbg_store *store, uint64_t now_ns);
/* Writes what waits now: it comes before a line of wsdbg's, or it is the last. */
void wsdbg_program_log_flush(struct wsdbg_program_log *log, struct wsdbg_store *store, uint64_t now_ns);
/* NULL is fine. */
void wsdbg_program_log_destroy(struct wsdbg_program_log *log);

#endif
