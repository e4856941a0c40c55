/* explore_log.h - what the simulator found under many schedules: read from its log as it comes, said, kept for JSON. */
#ifndef WSDBG_CMD_EXPLORE_LOG_H
#define WSDBG_CMD_EXPLORE_LOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "watch/watch.h"

struct wsdbg_explore_log;

/* Creates the file, which the simulator appends to. */
struct wsdbg_error *wsdbg_explore_log_create(const char *path, struct wsdbg_explore_log **out);
/* Reads what is new and says it: to the listener, or on stderr; there, if it is a terminal, also how far it is. */
void wsdbg_explore_log_follow(struct wsdbg_explore_log *log, struct wsdbg_listener *listener);
/* The program is over: the same, and waits a moment for what is still to come of a search that was ended early. */
void wsdbg_explore_log_finish(struct wsdbg_explore_log *log);
/* Since when the launch that was found to hang has stood (CLOCK_MONOTONIC); 0 = it does not, or not yet.  *proven: it
 * can never go on. */
uint64_t wsdbg_explore_log_stands_ns(const struct wsdbg_explore_log *log, bool *proven);
/* What the session keeps of the schedule that was found last, in a line: it comes once, then NULL.  The caller's. */
char *wsdbg_explore_log_take_story(struct wsdbg_explore_log *log);
/* Some schedule hangs, proven. */
bool wsdbg_explore_log_hangs(const struct wsdbg_explore_log *log);
/* Some launch was explored, or said why not. */
bool wsdbg_explore_log_any(const struct wsdbg_explore_log *log);
/* Some schedule of some launch was tried, and what it did counts. */
bool wsdbg_explore_log_explored(const struct wsdbg_explore_log *log);
/* The launches, and those that were passed over, as docs/explore.schema.json has them; the log's own. */
json_t *wsdbg_explore_log_launches(const struct wsdbg_explore_log *log);
json_t *wsdbg_explore_log_skipped(const struct wsdbg_explore_log *log);
void wsdbg_explore_log_destroy(struct wsdbg_explore_log *log);

#endif
