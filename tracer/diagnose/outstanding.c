/* outstanding.c - see outstanding.h.
 *
 * Reads: histories, the wait graph.  Writes: nothing.
 *
 * A warp that stands at a barrier and has arrived for all that it took is through with its work or between two pieces
 * of it: that another one waits for its next arrival does not show that it would ever have made one.
 */
#include "diagnose/outstanding.h"

#include "diagnose/ledger.h"
#include "diagnose/wait_graph.h"

#define NOWHERE UINT32_MAX

static bool is_taking(const struct wsdbg_history_event *event, uint32_t given)
{
    return event->kind == WSDBG_EVENT_MBARRIER_WAIT_END && event->barrier != given;
}

/* The newest arrival on barrier `id` before event `end`. */
static uint32_t last_arrival(const struct wsdbg_history_event *events, uint32_t end, uint32_t id)
{
    for (uint32_t i = end; i-- > 0;)
        if (wsdbg_event_is_arrival(&events[i]) && events[i].barrier == id)
            return i;
    return NOWHERE;
}

/* Came through a wait on barrier `taken` between two events. */
static bool took(const struct wsdbg_history_event *events, uint32_t from, uint32_t end, uint32_t taken)
{
    for (uint32_t i = from; i < end; i++)
        if (events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_END && events[i].barrier == taken)
            return true;
    return false;
}

static bool is_of_later_iteration(const struct wsdbg_history_event *event, const struct wsdbg_history_event *than)
{
    return event->iteration == WSDBG_NO_ITERATION || than->iteration == WSDBG_NO_ITERATION ||
           event->iteration > than->iteration;
}

/* Took something since its last arrival on barrier `id`, as it did before that one too. */
static bool owes(const struct wsdbg_case *c, uint32_t warp, uint32_t id)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    const uint32_t given = last_arrival(events, count, id);
    if (given == NOWHERE && !wsdbg_case_warp(c, warp)->history_whole)
        return false;
    const uint32_t before = given == NOWHERE ? NOWHERE : last_arrival(events, given, id);
    for (uint32_t i = given == NOWHERE ? 0 : given + 1; i < count; i++) {
        if (!is_taking(&events[i], id))
            continue;
        if (given == NOWHERE || (took(events, before == NOWHERE ? 0 : before, given, events[i].barrier) &&
                                 is_of_later_iteration(&events[i], &events[given])))
            return true;
    }
    return false;
}

/* Counts as one that might arrive only because nobody said what it is for: it has never used an mbarrier. */
static bool is_bystander(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    for (uint32_t i = 0; i < count; i++)
        if (wsdbg_event_is_arrival(&events[i]) || events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_END)
            return false;
    return !row->role.known && row->history_whole;
}

/* Nobody has arrived on what it waits for, by whole histories, and no name says who is to: it may be any warp of its
 * CTA that takes part, and all of these are still there. */
static bool may_wait_for_any(const struct wsdbg_case *c, uint32_t waiter)
{
    const struct wsdbg_wait_node *node = &c->graph->nodes[waiter];
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, waiter);
    if (c->of_machine || !c->all_whole || !node->open || wsdbg_set_count(&node->wakers) > 0 ||
        row->state != WSDBG_WARP_WAIT_MBARRIER)
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == row->cta && wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED &&
            !is_bystander(c, w))
            return false;
    return true;
}

/* It came through a wait and has arrived nowhere since. */
static bool has_given_nothing(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = count; i-- > 0;)
        if (events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_END || wsdbg_event_is_arrival(&events[i]))
            return events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_END;
    return false;
}

struct wsdbg_warp_set wsdbg_outstanding_warps(const struct wsdbg_case *c, uint32_t waiter,
                                              const struct wsdbg_warp_set *standing)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, waiter);
    const bool any = may_wait_for_any(c, waiter);
    struct wsdbg_warp_set outstanding = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const bool may_wake = any ? w != waiter && wsdbg_case_warp(c, w)->cta == row->cta
                                  : wsdbg_set_has(&c->graph->nodes[waiter].wakers, w);
        if (!wsdbg_set_has(standing, w) || !may_wake || (!c->of_machine && is_bystander(c, w)))
            continue;
        if (!c->of_machine && (row->state != WSDBG_WARP_WAIT_MBARRIER || !owes(c, w, row->last.barrier)))
            return (struct wsdbg_warp_set){{0}};
        if (any && !has_given_nothing(c, w))
            return (struct wsdbg_warp_set){{0}};
        wsdbg_set_add(&outstanding, w);
    }
    return outstanding;
}

bool wsdbg_all_wait_for(const struct wsdbg_case *c, const struct wsdbg_warp_set *absent,
                        const struct wsdbg_warp_set *standing, struct wsdbg_warp_set *outstanding)
{
    struct wsdbg_warp_set held = {{0}};
    *outstanding = (struct wsdbg_warp_set){{0}};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_set owed = wsdbg_outstanding_warps(c, w, standing);
        if (!wsdbg_set_has(absent, w) || wsdbg_set_count(&owed) == 0)
            continue;
        wsdbg_set_add(&held, w);
        wsdbg_set_join(outstanding, &owed);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t w = 0; w < c->warp_count; w++)
            if (wsdbg_set_has(absent, w) && !wsdbg_set_has(&held, w) &&
                wsdbg_set_meets(&c->graph->nodes[w].wakers, &held)) {
                wsdbg_set_add(&held, w);
                changed = true;
            }
    }
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(absent, w) && (!wsdbg_set_has(&held, w) || !wsdbg_case_stuck(c, w)))
            return false;
    return wsdbg_set_count(outstanding) > 0;
}
