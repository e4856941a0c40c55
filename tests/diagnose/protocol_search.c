/* protocol_search.c - walks through every schedule of a protocol, each state once.  See protocol.h.
 *
 * Reads: the protocol.  Writes: struct search.
 */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "protocol.h"

#define SLOTS_PER_MOMENT 4u

void search_init(struct search *s, size_t room)
{
    *s = (struct search){.room = room};
    s->moments = malloc(room * sizeof *s->moments);
    s->parents = malloc(room * sizeof *s->parents);
    s->transitions = malloc(room);
    s->table = calloc(SLOTS_PER_MOMENT * room, sizeof *s->table);
    must(s->moments && s->parents && s->transitions && s->table);
}

void search_deinit(struct search *s)
{
    free(s->moments);
    free(s->parents);
    free(s->transitions);
    free(s->table);
}

static size_t slot_of(const struct search *s, const struct moment *m)
{
    const uint8_t *bytes = (const uint8_t *)m;
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < sizeof *m; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    size_t slot = (size_t)((hash ^ hash >> 32) % (SLOTS_PER_MOMENT * s->room));
    while (s->table[slot] && memcmp(&s->moments[s->table[slot] - 1], m, sizeof *m) != 0)
        slot = (slot + 1) % (SLOTS_PER_MOMENT * s->room);
    return slot;
}

static void add(struct search *s, const struct moment *m, uint32_t parent, uint32_t transition)
{
    if (s->count == s->room) {
        s->complete = false;
        return;
    }
    const size_t slot = slot_of(s, m);
    if (s->table[slot])
        return;
    s->moments[s->count] = *m;
    s->parents[s->count] = parent;
    s->transitions[s->count] = (uint8_t)transition;
    s->table[slot] = (uint32_t)++s->count;
}

static void forget(struct search *s)
{
    /* A few moments are quicker to look up than the table is to clear. */
    if (s->count > s->room / 8) {
        memset(s->table, 0, SLOTS_PER_MOMENT * s->room * sizeof *s->table);
    } else {
        /* Backwards: each is still found behind those that it once had to pass. */
        while (s->count > 0) {
            s->table[slot_of(s, &s->moments[s->count - 1])] = 0;
            s->count--;
        }
    }
    s->count = 0;
}

/* Adds every moment that follows `at` by one transition; false: there is none. */
static bool follow(struct search *s, const struct protocol *p, uint32_t at)
{
    bool any = false;
    for (uint32_t t = 0; t < PROTOCOL_TRANSITIONS; t++) {
        struct moment next = s->moments[at];
        if (!protocol_take(p, &next, t))
            continue;
        any = true;
        add(s, &next, at, t);
    }
    return any;
}

void search_from(struct search *s, const struct protocol *p, const struct moment *start)
{
    forget(s);
    s->complete = true;
    s->finishes = false;
    s->moved = 0;
    add(s, start, 0, 0);
    for (size_t i = 0; i < s->count; i++) {
        s->finishes = s->finishes || protocol_finished(p, &s->moments[i]);
        for (uint32_t w = 0; w < protocol_warps(p); w++)
            s->moved |= (uint32_t)(s->moments[i].at[w] != start->at[w]) << w;
        follow(s, p, (uint32_t)i);
    }
}

bool search_always_finishes(struct search *s, const struct protocol *p)
{
    const struct moment start = protocol_start(p);
    forget(s);
    s->complete = true;
    add(s, &start, 0, 0);
    for (size_t i = 0; i < s->count && s->complete; i++) {
        const struct moment *m = &s->moments[i];
        if (m->fault || (!follow(s, p, (uint32_t)i) && !protocol_finished(p, m)))
            return false;
    }
    return s->complete;
}

bool protocol_is_over(const struct protocol *p, const struct moment *m)
{
    for (uint32_t t = 0; t < PROTOCOL_TRANSITIONS; t++) {
        struct moment next = *m;
        if (protocol_take(p, &next, t))
            return false;
    }
    return true;
}
