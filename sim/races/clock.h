/* clock.h - vector clocks: what an agent knows of the others.
 *
 * A component is a counter: of a warp, or of asynchronous work that is waited for in one order (the groups of a warp,
 * the copies that complete on one mbarrier).  Components come in blocks, so that a clock holds only blocks of agents
 * that its owner has heard of.  Blocks with an odd number hold asynchronous work alone.
 */
#ifndef WSDBG_RACES_CLOCK_H
#define WSDBG_RACES_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RACE_BLOCK_SHIFT = 5, RACE_BLOCK_COMPONENTS = 1 << RACE_BLOCK_SHIFT };

struct race_block {
    uint32_t number;
    uint32_t times[RACE_BLOCK_COMPONENTS];
};
struct race_clock {
    struct race_block *blocks; /* in the order of their numbers */
    size_t count, capacity;
    uint32_t version; /* grows with each change of the times */
    bool knows_all;   /* memory ran out: nothing is reported that depends on it */
};

uint32_t race_clock_time(const struct race_clock *clock, uint32_t component);
/* To `time` at least. */
void race_clock_raise(struct race_clock *clock, uint32_t component, uint32_t time);
/* What the other knows as well; of asynchronous work only, or of all. */
void race_clock_join(struct race_clock *clock, const struct race_clock *other, bool of_async_only);
void race_clock_free(struct race_clock *clock);

/* What is known, and how: by any synchronisation; with a proxy fence on the way; with a fence behind the
 * initialisation of mbarriers on the way; with a fence of tensor maps on the way. */
enum race_way { RACE_SEEN, RACE_SEEN_ASYNC, RACE_SEEN_INIT, RACE_SEEN_MAP, RACE_WAYS };
struct race_knowledge {
    struct race_clock ways[RACE_WAYS];
};
void race_knowledge_join(struct race_knowledge *knowledge, const struct race_knowledge *other);
void race_knowledge_free(struct race_knowledge *knowledge);

#endif
