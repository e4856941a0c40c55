/* rule_code_both_free.c - a ring on which both sides begin with a wait that ends at once.
 *
 * Reads: walks, warp states.  Adds: PARITY_WRONG.
 *
 * One side waits for free slots and fills them, the other side waits for filled slots and frees them.  A first wait for
 * parity 1 ends before any phase has completed.  It is right on the side that fills, as all slots are free at first. If
 * the other side begins so, too, it reads slots that nobody has filled, and who then gets ahead is a race: no replay
 * need end in the picture.  So the rule only compares what the walks do, and asks that all of them are known.  A walk
 * may end at a first wait for parity 1: what is loaded behind it is not what was to be there.  Then the code tells
 * where its threads may arrive.
 */
#include <stdlib.h>

#include "diagnose/code_say.h"
#include "diagnose/rules.h"

enum { BARRIERS_MOST = 64, PLACE_BYTES = 8, PLACES = 1 << 15 }; /* 256 KiB of shared memory */

/* What the threads of a CTA do with one mbarrier. */
struct side {
    uint32_t row; /* in snapshot.barriers */
    struct wsdbg_warp_set waiters, arrivers;
    bool has_bytes;   /* bytes are announced on it or copied to it */
    bool begins_free; /* the first wait of each walk that waits is for parity 1 */
    bool is_handed;   /* some walk arrives before it has waited for anything */
    uint64_t answers; /* those that walks waited for last before they arrived here, a bit each */
};

/* The mbarriers of a CTA.  at[]: for each 8 bytes of its shared memory, 1 + the index of the mbarrier there; 0 = none.
 */
struct sides {
    uint32_t cta, count;
    struct side of[BARRIERS_MOST];
    uint8_t at[PLACES];
};

static struct side *side_at(struct sides *sides, uint32_t offset)
{
    const uint32_t place = offset / PLACE_BYTES;
    return place < PLACES && sides->at[place] ? &sides->of[sides->at[place] - 1] : NULL;
}

/* Arrivals may go to the same barrier of another CTA: all CTAs do the same. */
static void add_step(struct side *side, const struct wsdbg_step_row *step, uint32_t warp, bool is_first_wait,
                     bool has_waited)
{
    const bool arrives = WSDBG_KINDS_ARRIVAL >> step->kind & 1;
    if (step->kind == WSDBG_ACCESS_WAIT)
        wsdbg_set_add(&side->waiters, warp);
    if (is_first_wait)
        side->begins_free &= step->number_known && step->number & 1;
    if (arrives)
        wsdbg_set_add(&side->arrivers, warp);
    side->is_handed |= arrives && !has_waited;
    side->has_bytes |= step->kind == WSDBG_ACCESS_COPY || step->kind == WSDBG_ACCESS_EXPECT ||
                       step->kind == WSDBG_ACCESS_ARRIVE_EXPECT;
}

/* The wait for parity 1, the first one on its mbarrier, at which a walk ends that is not known further; NULL. */
static const struct wsdbg_step_row *free_wait_at_end(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk)
{
    const struct wsdbg_step_row *steps = &c->snapshot->steps[walk->step_first];
    const struct wsdbg_step_row *last = walk->step_count && !walk->is_whole ? &steps[walk->step_count - 1] : NULL;
    if (!last || last->kind != WSDBG_ACCESS_WAIT || !last->number_known || !(last->number & 1))
        return NULL;
    for (const struct wsdbg_step_row *step = steps; step < last; step++)
        if (step->kind == WSDBG_ACCESS_WAIT && step->address == last->address)
            return NULL;
    return last;
}

/* What a warp may do behind the wait at which its walk ends. */
static void add_code(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_step_row *wait, struct sides *sides)
{
    const struct side *waited = side_at(sides, wait->address);
    for (uint32_t i = 0; waited && i < sides->count; i++)
        if (wsdbg_code_can(c, warp, WSDBG_KINDS_ARRIVAL, sides->of[i].row, NULL) == WSDBG_CAN) {
            wsdbg_set_add(&sides->of[i].arrivers, warp);
            sides->of[i].answers |= UINT64_C(1) << (waited - sides->of);
        }
}

static void add_walk(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk, struct sides *sides)
{
    const uint32_t warp = wsdbg_case_local_warp(c, walk->warp), rank = c->snapshot->ctas[sides->cta].cluster_rank;
    uint64_t waited = 0, last = 0;
    for (uint32_t k = 0; k < walk->step_count; k++) {
        const struct wsdbg_step_row *step = &c->snapshot->steps[walk->step_first + k];
        const bool is_wait = step->kind == WSDBG_ACCESS_WAIT;
        const bool is_own = step->rank == WSDBG_STEP_OWN_RANK || step->rank == rank;
        struct side *side =
            step->kind < 32 && wsdbg_is_mbarrier_access(step->kind) ? side_at(sides, step->address) : NULL;
        if (!side || (is_wait && !is_own))
            continue;
        const uint64_t bit = UINT64_C(1) << (side - sides->of);
        add_step(side, step, warp, is_wait && !(waited & bit), waited != 0);
        side->answers |= WSDBG_KINDS_ARRIVAL >> step->kind & 1 ? last : 0;
        waited |= is_wait ? bit : 0;
        last = is_wait ? bit : last;
    }
    const struct wsdbg_step_row *end = free_wait_at_end(c, walk);
    if (end)
        add_code(c, warp, end, sides);
}

static bool are_walks_known(const struct wsdbg_case *c, uint32_t cta)
{
    struct wsdbg_warp_set walked = {{0}};
    for (size_t i = 0; i < c->snapshot->walk_count; i++) {
        const uint32_t warp = wsdbg_case_local_warp(c, c->snapshot->walks[i].warp);
        if (warp == WSDBG_NONE || wsdbg_case_warp(c, warp)->cta != cta)
            continue;
        if (!wsdbg_walk_is_known(&c->snapshot->walks[i]) && !free_wait_at_end(c, &c->snapshot->walks[i]))
            return false;
        wsdbg_set_add(&walked, warp);
    }
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == cta && !wsdbg_set_has(&walked, w))
            return false;
    return true;
}

static void read_sides(const struct wsdbg_case *c, struct sides *sides)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    for (uint32_t b = 0; b < s->barrier_count && sides->count < BARRIERS_MOST; b++) {
        const struct wsdbg_barrier *row = &s->barriers[b];
        if (row->kind != WSDBG_BARRIER_MBARRIER || row->cta != sides->cta || !row->shared_offset.known ||
            row->shared_offset.value / PLACE_BYTES >= PLACES)
            continue;
        sides->of[sides->count] = (struct side){.row = b, .begins_free = true};
        sides->at[row->shared_offset.value / PLACE_BYTES] = (uint8_t)++sides->count;
    }
    for (size_t i = 0; i < s->walk_count; i++) {
        const uint32_t warp = wsdbg_case_local_warp(c, s->walks[i].warp);
        if (warp != WSDBG_NONE && wsdbg_case_warp(c, warp)->cta == sides->cta)
            add_walk(c, &s->walks[i], sides);
    }
}

static bool is_subset(const struct wsdbg_warp_set *a, const struct wsdbg_warp_set *b)
{
    for (size_t i = 0; i < WSDBG_CASE_WARPS_MAX / 64; i++)
        if (a->words[i] & ~b->words[i])
            return false;
    return wsdbg_set_count(a) > 0;
}

/* Whether these two are the barriers of a slot: who waits for it to be free fills it next, and who waits for it to be
 * filled frees it next. */
static bool are_of_slot(const struct sides *sides, uint32_t empty, uint32_t full)
{
    const struct side *e = &sides->of[empty], *f = &sides->of[full];
    return f->has_bytes && !e->has_bytes && !e->is_handed && !f->is_handed && f->answers == UINT64_C(1) << empty &&
           e->answers == UINT64_C(1) << full && is_subset(&f->arrivers, &e->waiters) &&
           is_subset(&e->arrivers, &f->waiters) && !wsdbg_set_meets(&e->waiters, &f->waiters);
}

static void say(struct wsdbg_case *c, const struct side *empty, const struct side *full)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_PARITY_WRONG, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY),
                        c->snapshot->barriers[full->row].cta, full->row);
    if (!finding)
        return;
    char fillers[160], slots[160];
    wsdbg_print(fillers, sizeof fillers, "%s", wsdbg_say_warps(c, &empty->waiters).text);
    wsdbg_print(slots, sizeof slots, "%s", wsdbg_say_family(c, empty->row).text);
    finding->role = wsdbg_common_role(c, &full->waiters);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s begin%s with parity 1 to wait on %s, and %s begin%s with parity 1 on %s. Such a first wait ends at "
                "once, so both sides go on before anything is filled, and run out of step.",
                wsdbg_say_warps(c, &full->waiters).text, wsdbg_set_count(&full->waiters) == 1 ? "s" : "",
                wsdbg_say_family(c, full->row).text, fillers, wsdbg_set_count(&empty->waiters) == 1 ? "s" : "", slots);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Begin the waits on %s with parity 0: the first one must last until the slot is filled.",
                wsdbg_say_family(c, full->row).text);
    wsdbg_tell_waits(c, finding, &full->waiters);
    wsdbg_tell_waits(c, finding, &empty->waiters);
}

static void judge(struct wsdbg_case *c, const struct sides *sides)
{
    for (uint32_t e = 0; e < sides->count; e++)
        for (uint32_t f = 0; f < sides->count; f++) {
            const struct side *empty = &sides->of[e], *full = &sides->of[f];
            if (!empty->begins_free || !full->begins_free || !are_of_slot(sides, e, f) ||
                (!wsdbg_code_is_waited_on(c, empty->row) && !wsdbg_code_is_waited_on(c, full->row)))
                continue;
            say(c, empty, full);
            return;
        }
}

/* Of a cluster it asks the first CTA. */
void wsdbg_rule_code_both_free(struct wsdbg_case *c)
{
    if (!c->still || !are_walks_known(c, c->ctas[0]))
        return;
    struct sides *sides = calloc(1, sizeof *sides);
    if (sides) {
        sides->cta = c->ctas[0];
        read_sides(c, sides);
        judge(c, sides);
    }
    c->no_memory |= !sides;
    free(sides);
}
