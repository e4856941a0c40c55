/* clock.c - see clock.h.  Reads and writes: the clocks that it is given. */
#include "races/clock.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Where the block is, or belongs. */
static size_t place_of(const struct race_clock *clock, uint32_t number)
{
    size_t low = 0, high = clock->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (clock->blocks[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t race_clock_time(const struct race_clock *clock, uint32_t component)
{
    if (clock->knows_all)
        return UINT32_MAX;
    const uint32_t number = component >> RACE_BLOCK_SHIFT;
    const size_t at = place_of(clock, number);
    if (at == clock->count || clock->blocks[at].number != number)
        return 0;
    return clock->blocks[at].times[component & (RACE_BLOCK_COMPONENTS - 1)];
}

/* NULL: no memory; the clock then knows all. */
static struct race_block *block_of(struct race_clock *clock, uint32_t number)
{
    const size_t at = place_of(clock, number);
    if (at < clock->count && clock->blocks[at].number == number)
        return &clock->blocks[at];
    if (!wsdbg_grow((void **)&clock->blocks, &clock->capacity, clock->count + 1, sizeof *clock->blocks)) {
        clock->knows_all = true;
        return NULL;
    }
    memmove(clock->blocks + at + 1, clock->blocks + at, (clock->count - at) * sizeof *clock->blocks);
    clock->count++;
    clock->blocks[at] = (struct race_block){.number = number};
    return &clock->blocks[at];
}

void race_clock_raise(struct race_clock *clock, uint32_t component, uint32_t time)
{
    struct race_block *const block = block_of(clock, component >> RACE_BLOCK_SHIFT);
    uint32_t *const known = block ? &block->times[component & (RACE_BLOCK_COMPONENTS - 1)] : NULL;
    if (known && *known < time) {
        *known = time;
        clock->version++;
    }
}

void race_clock_join(struct race_clock *clock, const struct race_clock *other, bool of_async_only)
{
    uint32_t changed = other->knows_all && !clock->knows_all;
    clock->knows_all |= other->knows_all;
    for (size_t i = 0; i < other->count; i++) {
        const struct race_block *const from = &other->blocks[i];
        struct race_block *const to = of_async_only && !(from->number & 1) ? NULL : block_of(clock, from->number);
        for (unsigned j = 0; to && j < RACE_BLOCK_COMPONENTS; j++) {
            changed |= to->times[j] < from->times[j];
            to->times[j] = to->times[j] > from->times[j] ? to->times[j] : from->times[j];
        }
    }
    clock->version += changed;
}

void race_clock_free(struct race_clock *clock)
{
    free(clock->blocks);
    *clock = (struct race_clock){0};
}

void race_knowledge_join(struct race_knowledge *knowledge, const struct race_knowledge *other)
{
    for (unsigned way = 0; way < RACE_WAYS; way++)
        race_clock_join(&knowledge->ways[way], &other->ways[way], false);
}

void race_knowledge_free(struct race_knowledge *knowledge)
{
    for (unsigned way = 0; way < RACE_WAYS; way++)
        race_clock_free(&knowledge->ways[way]);
}
