/* left_out.c - see left_out.h.
 *
 * Reads: the ledger, histories, the wait graph.  Writes: nothing.
 */
#include "diagnose/left_out.h"

#include "diagnose/wait_graph.h"

/* ---- a warp that turned off ---- */

static bool is_arrival_on(const struct wsdbg_history_event *event, uint32_t id)
{
    return wsdbg_event_is_arrival(event) && event->barrier == id;
}

/* The newest arrival on barrier `id`; NULL = none. */
static const struct wsdbg_history_event *newest_arrival(const struct wsdbg_case *c, uint32_t warp, uint32_t id)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = count; i-- > 0;)
        if (is_arrival_on(&events[i], id))
            return &events[i];
    return NULL;
}

/* The event belongs to the barrier that a warp with this row stands at. */
static bool is_stop(const struct wsdbg_history_event *event, const struct wsdbg_warp_row *row)
{
    if (row->state == WSDBG_WARP_WAIT_CLUSTER)
        return event->kind >= WSDBG_EVENT_CLUSTER_ARRIVE && event->kind <= WSDBG_EVENT_CLUSTER_WAIT_END;
    return event->kind >= WSDBG_EVENT_NAMED_ARRIVE && event->kind <= WSDBG_EVENT_NAMED_SYNC_END &&
           event->barrier == row->last.barrier;
}

/* Between its arrivals for two iterations the warp did not stop at the barrier where `row` stands.  False if one of
 * these arrivals is not on record. */
static bool went_straight_on(const struct wsdbg_case *c, uint32_t warp, uint32_t id, uint32_t from, uint32_t to,
                             const struct wsdbg_warp_row *row)
{
    uint32_t count;
    bool between = false;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (is_arrival_on(&events[i], id) && events[i].iteration == from)
            between = true;
        else if (between && is_arrival_on(&events[i], id) && events[i].iteration == to)
            return true;
        else if (between && is_stop(&events[i], row))
            return false;
    }
    return false;
}

static bool same_role(const struct wsdbg_warp_row *a, const struct wsdbg_warp_row *b)
{
    return a->role.known == b->role.known && (!a->role.known || a->role.value == b->role.value);
}

bool wsdbg_turned_off(const struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                      uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const struct wsdbg_history_event *last = newest_arrival(c, warp, wait->stage->id);
    if ((row->state != WSDBG_WARP_WAIT_CLUSTER && row->state != WSDBG_WARP_WAIT_NAMED) || !last ||
        last->iteration == WSDBG_NO_ITERATION || round->iteration == WSDBG_NO_ITERATION ||
        last->iteration >= round->iteration)
        return false;
    uint32_t alike = 0;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_set_has(&round->arrived, w) || !same_role(wsdbg_case_warp(c, w), row))
            continue;
        if (!went_straight_on(c, w, wait->stage->id, last->iteration, round->iteration, row))
            return false;
        alike++;
    }
    return alike > 0;
}

/* ---- a barrier on which nobody ever arrives ---- */

/* No stage of the barrier has an arrival or bytes on record; no wait on it ended but those of a first round, which may
 * pass by design: others would have taken arrivals that have no probes. */
static bool is_bare(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    for (uint32_t s = 0; s < c->ledger->stage_count; s++) {
        const struct wsdbg_stage *other = &c->ledger->stages[s];
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, other);
        if (other->cta != stage->cta || other->id != stage->id)
            continue;
        for (uint32_t i = 0; i < other->use_count; i++)
            if (wsdbg_event_is_arrival(uses[i].event) || wsdbg_event_is_expect(uses[i].event) ||
                uses[i].event->kind == WSDBG_EVENT_TMA_ISSUE ||
                (uses[i].event->kind == WSDBG_EVENT_MBARRIER_WAIT_END && uses[i].round != 0))
                return false;
    }
    return true;
}

/* The iteration whose arrivals a wait on a bare barrier needs: the one before its own if a first wait has passed. */
static bool lacking_iteration(const struct wsdbg_case *c, const struct wsdbg_wait *wait, uint32_t *iteration)
{
    const struct wsdbg_stage *stage = wait->stage;
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    bool passed = false;
    for (uint32_t i = 0; i < stage->use_count; i++)
        passed = passed || uses[i].event->kind == WSDBG_EVENT_MBARRIER_WAIT_END;
    if (!stage->tagged || wait->event->iteration == WSDBG_NO_ITERATION || wait->round != (passed ? 1u : 0u))
        return false;
    *iteration = wait->event->iteration - (passed ? stage->stages : 0);
    return true;
}

/* Uses of mbarriers other than `id` by one warp. */
struct progress {
    bool arrived;          /* for the iteration, or a later one */
    bool waits_later;      /* has begun a wait of a later one */
    uint32_t at[256 / 32]; /* barriers that it used in the iteration */
};

static struct progress progress_of(const struct wsdbg_case *c, uint32_t warp, uint32_t id, uint32_t iteration)
{
    struct progress progress = {0};
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_history_event *event = &events[i];
        if (event->kind < WSDBG_EVENT_MBARRIER_WAIT_BEGIN || event->kind > WSDBG_EVENT_TMA_ISSUE ||
            event->barrier == id || event->iteration == WSDBG_NO_ITERATION)
            continue;
        progress.arrived |= wsdbg_event_is_arrival(event) && event->iteration >= iteration;
        progress.waits_later |= event->kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN && event->iteration > iteration;
        if (event->iteration == iteration)
            progress.at[event->barrier / 32 % 8] |= 1u << event->barrier % 32;
    }
    return progress;
}

static bool share_a_barrier(const struct progress *a, const struct progress *b)
{
    for (unsigned i = 0; i < 256 / 32; i++)
        if (a->at[i] & b->at[i])
            return true;
    return false;
}

/* Warps that wait on the barrier, any stage of it. */
static struct wsdbg_warp_set waiters_on(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t i = 0; i < c->ledger->wait_count; i++)
        if (c->ledger->waits[i].stage->cta == stage->cta && c->ledger->waits[i].stage->id == stage->id)
            wsdbg_set_add(&set, c->ledger->waits[i].warp);
    return set;
}

/* A warp that never used an mbarrier and has left, or is none of the roles that arrive, has no part in it. */
static bool may_be_meant(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t warp, bool declared,
                         const struct wsdbg_warp_set *arrivers, const struct wsdbg_warp_set *waiters)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    if (declared)
        return wsdbg_set_has(arrivers, warp);
    return row->cta == stage->cta && row->state != WSDBG_WARP_EXITED && !wsdbg_set_has(waiters, warp);
}

bool wsdbg_never_served(const struct wsdbg_case *c, const struct wsdbg_wait *wait, struct wsdbg_warp_set *meant)
{
    uint32_t iteration;
    *meant = (struct wsdbg_warp_set){{0}};
    if (!c->all_whole || !wsdbg_case_stuck(c, wait->warp) || !is_bare(c, wait->stage) ||
        !lacking_iteration(c, wait, &iteration))
        return false;
    bool declared;
    const uint32_t id = wait->stage->id;
    const struct wsdbg_warp_set arrivers = wsdbg_arrivers(c, wait->stage, &declared);
    const struct wsdbg_warp_set waiters = waiters_on(c, wait->stage);
    const struct progress own = progress_of(c, wait->warp, id, iteration);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!may_be_meant(c, wait->stage, w, declared, &arrivers, &waiters))
            continue;
        const struct progress progress = progress_of(c, w, id, iteration);
        if (!progress.arrived || !progress.waits_later || !share_a_barrier(&own, &progress) ||
            !wsdbg_case_stuck(c, w) || !wsdbg_set_meets(&c->graph->nodes[w].wakers, &waiters))
            return false;
        wsdbg_set_add(meant, w);
    }
    return wsdbg_set_count(meant) > 0;
}
