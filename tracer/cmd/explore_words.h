/* explore_words.h - what was found under many schedules of a launch, in words. */
#ifndef WSDBG_CMD_EXPLORE_WORDS_H
#define WSDBG_CMD_EXPLORE_WORDS_H

#include <jansson.h>

#include "watch/watch.h"

/* A line of wsdbg's own: to the listener, NULL = on stderr. */
void wsdbg_explore_say(struct wsdbg_listener *listener, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A launch of docs/explore.schema.json, whose search is over. */
void wsdbg_explore_say_launch(struct wsdbg_listener *listener, const json_t *launch);
/* How far a search is, in a line.  now_ns, begun_ns: CLOCK_MONOTONIC. */
struct wsdbg_explore_progress {
    enum { WSDBG_EXPLORE_USUAL, WSDBG_EXPLORE_TRIES, WSDBG_EXPLORE_REDUCES } stage;
    uint64_t begun_ns;
    uint64_t tried, found, switches;
    uint64_t schedules, limit_ns; /* UINT64_MAX, 0 = no limit */
};
void wsdbg_explore_progress_text(const struct wsdbg_explore_progress *progress, const json_t *launch, uint64_t now_ns,
                                 char *out, size_t byte_count);

#endif
