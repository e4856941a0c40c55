/* spent_arrival.c - see spent_arrival.h.
 *
 * Reads: walks.  A warp that arrives once in each phase waits in between: for the release of the slot, say, or for
 * threads that it meets.  If nothing of that is there, the second arrival is one too many.  If the wait names the
 * parity of the wait before it, it ends at once: that phase completed a round ago.
 */
#include "diagnose/spent_arrival.h"

/* A thread's way from one arrival on the barrier to the next one, or from the kernel's start to the first one: steps of
 * its walk. */
struct way {
    const struct wsdbg_step_row *steps;
    uint32_t from, to;
};

static bool is_arrival_on(const struct wsdbg_step_row *step, uint32_t offset)
{
    return wsdbg_is_mbarrier_access(step->kind) && WSDBG_KINDS_ARRIVAL & WSDBG_KIND(step->kind) &&
           step->rank == WSDBG_STEP_OWN_RANK && step->address == offset;
}

static bool is_wait_on(const struct wsdbg_step_row *step, uint32_t offset)
{
    return step->kind == WSDBG_ACCESS_WAIT && step->rank == WSDBG_STEP_OWN_RANK && step->address == offset;
}

/* The parity of the thread's last wait on the barrier before the way; false: it had not waited, or nobody knows. */
static bool parity_before(const struct way *way, uint32_t offset, uint32_t *parity)
{
    for (uint32_t i = way->from; i-- > 0;)
        if (is_wait_on(&way->steps[i], offset)) {
            *parity = way->steps[i].number & 1;
            return way->steps[i].number_known;
        }
    return false;
}

/* Whether all waits of the way on a barrier name the parity of the wait before them. */
static bool repeats(const struct way *way, uint32_t offset)
{
    uint32_t before;
    if (!parity_before(way, offset, &before))
        return false;
    for (uint32_t i = way->from; i < way->to; i++)
        if (is_wait_on(&way->steps[i], offset) && (!way->steps[i].number_known || (way->steps[i].number & 1) != before))
            return false;
    return true;
}

static bool may_wait_otherwise(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_CLUSTER_WAIT ||
           step->kind == WSDBG_STEP_POLL;
}

/* What a thread does on the way from one of its arrivals to the next.  is_first: the way to its first arrival, where a
 * named barrier or a cluster barrier means nothing.  *wait: the first wait on the way. */
static enum wsdbg_between read_way(const struct way *way, bool is_first, uint32_t *wait)
{
    *wait = way->to;
    for (uint32_t i = way->from; i < way->to; i++) {
        if (!is_first && may_wait_otherwise(&way->steps[i]))
            return WSDBG_BETWEEN_OTHER;
        if (way->steps[i].kind != WSDBG_ACCESS_WAIT)
            continue;
        *wait = *wait == way->to ? i : *wait;
        if (!repeats(way, way->steps[i].address))
            return WSDBG_BETWEEN_WAIT;
    }
    return *wait == way->to ? WSDBG_BETWEEN_NOTHING : WSDBG_BETWEEN_REPEAT;
}

static uint32_t turn_of(const struct wsdbg_step_row *steps, uint32_t wait)
{
    uint32_t turn = 1;
    for (uint32_t i = 0; i < wait; i++)
        turn += is_wait_on(&steps[i], steps[wait].address);
    return turn;
}

static struct wsdbg_spent_arrival read_walk(const struct wsdbg_snapshot *s, const struct wsdbg_walk_row *walk,
                                            uint32_t offset)
{
    struct wsdbg_spent_arrival found = {.between = WSDBG_BETWEEN_UNKNOWN};
    struct way way = {.steps = s->steps + walk->step_first};
    enum wsdbg_between at_first = WSDBG_BETWEEN_UNKNOWN;
    uint32_t wait = 0;
    for (; way.to < walk->step_count; way.to++) {
        if (!is_arrival_on(&way.steps[way.to], offset))
            continue;
        if (at_first == WSDBG_BETWEEN_UNKNOWN)
            at_first = read_way(&way, true, &wait);
        else
            found.between = read_way(&way, false, &wait);
        if (found.between == WSDBG_BETWEEN_REPEAT) {
            found.wait = walk->step_first + wait;
            found.turn = turn_of(way.steps, wait);
        }
        if (found.between == WSDBG_BETWEEN_REPEAT || found.between == WSDBG_BETWEEN_NOTHING)
            return found;
        way.from = way.to;
    }
    if (found.between == WSDBG_BETWEEN_UNKNOWN && walk->is_whole && at_first == WSDBG_BETWEEN_NOTHING)
        found.between = WSDBG_BETWEEN_NOTHING;
    return found;
}

struct wsdbg_spent_arrival wsdbg_spent_arrival_of(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    struct wsdbg_spent_arrival found = {.between = WSDBG_BETWEEN_UNKNOWN};
    if (!s->barriers[barrier].shared_offset.known || s->barriers[barrier].cta != s->warps[warp].cta)
        return found;
    for (size_t i = 0; i < s->walk_count; i++) {
        if (s->walks[i].warp != warp || s->walks[i].is_guessed)
            continue;
        const struct wsdbg_spent_arrival of_walk =
            read_walk(s, &s->walks[i], (uint32_t)s->barriers[barrier].shared_offset.value);
        if (found.between == WSDBG_BETWEEN_UNKNOWN || of_walk.between == WSDBG_BETWEEN_NOTHING ||
            of_walk.between == WSDBG_BETWEEN_REPEAT)
            found = of_walk;
    }
    return found;
}
