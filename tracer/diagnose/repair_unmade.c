/* repair_unmade.c - repairs of an arrival that is in the code and that nobody makes.  See repair.h.
 *
 * Reads: a replay at its standstill, accesses, reaches.  Writes: the repair that works.  The arrival was on the way of
 * a warp that is still there and that never arrives on the barrier.  Either an elected lane was to make it, or lanes of
 * the warp that have left while most of it went on.  The repair lets each phase do without as many arrivals.
 */
#include "diagnose/code_case.h"
#include "diagnose/repair_trial.h"

/* Lanes that left a warp of which most went on; 0: there are none. */
static uint32_t few_lanes_gone(const struct wsdbg_trial *t, uint32_t warp)
{
    const uint32_t gone = wsdbg_code_lanes_gone(t->c, warp) & wsdbg_case_lanes_at_launch(t->c, warp);
    return 2 * __builtin_popcount(gone) < WSDBG_WARP_THREADS ? gone : 0;
}

/* Whether some thread of the CTA executes the arrival, or one of another CTA does on this very barrier, or the warp
 * arrives on the barrier by another instruction; or may do so, behind the end of a walk that is not whole. */
static bool is_made(const struct wsdbg_trial *t, uint32_t warp, uint32_t access, uint32_t barrier)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        if (agent->warp == warp &&
            (wsdbg_replay_arrivals_on(agent, barrier) || !t->c->snapshot->walks[agent->walk].is_whole))
            return true;
        const bool is_here = agent->cta == t->replay->barriers[barrier].cta;
        for (uint32_t k = 0; k < agent->step_count; k++)
            if (agent->steps[k].access == access && (is_here || agent->target[k] == barrier))
                return true;
    }
    return false;
}

/* Whether the warp's way may have led past the access, which names the barrier for sure. */
static bool was_on_its_way(const struct wsdbg_trial *t, uint32_t warp, uint32_t access, uint32_t row)
{
    const struct wsdbg_access_row *of = &t->c->snapshot->accesses[access];
    const struct wsdbg_reach *reach = wsdbg_code_reach(t->c, warp, access);
    return of->grid == t->c->grid && wsdbg_is_of_kinds(of->kind, WSDBG_KINDS_ARRIVAL) &&
           wsdbg_access_match(t->c, of, row) >= WSDBG_MATCH_MAY && wsdbg_access_is_near(t->c, warp, of, row) && reach &&
           reach->before_known && reach->before_most > 0;
}

/* How many arrivals are missing: those of one lane, or of each lane that has left.  0 = not known. */
static uint32_t arrivals_by(const struct wsdbg_trial *t, uint32_t access, uint32_t lanes)
{
    const struct wsdbg_access_row *of = &t->c->snapshot->accesses[access];
    const uint32_t threads = of->lanes == WSDBG_LANES_ONE ? 1 : (uint32_t)__builtin_popcount(lanes);
    if (of->kind == WSDBG_ACCESS_ARRIVE_EXPECT)
        return threads;
    return of->count.known && of->count.value < WSDBG_WARP_THREADS ? of->count.value * threads : 0;
}

/* The first arrival on the barrier that was on the way of these lanes and that nobody of their CTA makes; WSDBG_NONE.
 */
static uint32_t unmade_arrival(const struct wsdbg_trial *t, uint32_t warp, uint32_t barrier)
{
    const struct wsdbg_replay_barrier *b = &t->replay->barriers[barrier];
    for (uint32_t access = 0; access < t->c->snapshot->access_count && b->row != WSDBG_NONE; access++)
        if (was_on_its_way(t, warp, access, b->row) && !is_made(t, warp, access, barrier))
            return access;
    return WSDBG_NONE;
}

/* Lets a phase of each barrier of the warp's CTA do without the arrivals that one of its lanes, or these, did not make.
 */
static void do_without(struct wsdbg_trial *t, uint32_t warp, uint32_t lanes, struct wsdbg_repair *repair)
{
    const uint32_t cta = wsdbg_case_cta(t->c, wsdbg_case_warp(t->c, warp)->cta);
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        const uint32_t was = t->expected_was[b];
        const uint32_t access = was && t->replay->barriers[b].cta == cta ? unmade_arrival(t, warp, b) : WSDBG_NONE;
        const uint32_t arrivals = access == WSDBG_NONE ? 0 : arrivals_by(t, access, lanes);
        if (!arrivals || arrivals >= was)
            continue;
        if (!wsdbg_set_count(&repair->warps)) {
            repair->barrier = b;
            repair->access = access;
            repair->value = arrivals;
            repair->lanes = lanes;
        }
        t->expected[b] = was - arrivals;
        wsdbg_set_add(&repair->warps, warp);
    }
}

void wsdbg_try_unmade(struct wsdbg_trial *t)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_UNMADE};
    wsdbg_trial_begin(t);
    for (uint32_t w = 0; w < t->c->warp_count; w++)
        if (wsdbg_case_warp(t->c, w)->state != WSDBG_WARP_EXITED)
            do_without(t, w, few_lanes_gone(t, w), &repair);
    if (wsdbg_set_count(&repair.warps) && wsdbg_trial_works(t))
        wsdbg_trial_keep(t, &repair);
}
