/* explore_log.h - what the simulator found under many schedules: read from its log, said, kept for JSON. */
#ifndef WSDBG_CMD_EXPLORE_LOG_H
#define WSDBG_CMD_EXPLORE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/watch.h"

struct wsdbg_explore_log;

/* Creates the file, which the simulator appends to. */
struct wsdbg_error *wsdbg_explore_log_create(const char *path, struct wsdbg_explore_log **out);
/* Reads what is new and says it: to the listener, or on stderr. */
void wsdbg_explore_log_follow(struct wsdbg_explore_log *log, struct wsdbg_listener *listener);
/* When the launch that hangs was seen to stand (CLOCK_MONOTONIC); 0 = it does not, or not yet. */
uint64_t wsdbg_explore_log_stands_ns(const struct wsdbg_explore_log *log);
/* Some schedule hangs. */
bool wsdbg_explore_log_hangs(const struct wsdbg_explore_log *log);
/* Some launch was explored. */
bool wsdbg_explore_log_any(const struct wsdbg_explore_log *log);
/* One object, on stdout. */
struct wsdbg_error *wsdbg_explore_log_print(const struct wsdbg_explore_log *log, int status);
void wsdbg_explore_log_destroy(struct wsdbg_explore_log *log);

#endif
