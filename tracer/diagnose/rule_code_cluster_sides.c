/* rule_code_cluster_sides.c - some warps come to the cluster barrier less often than others, from the kernel's start to
 * its end, and others stand there.
 *
 * Reads: walks, the picture.  Adds: CLUSTER_MISSING.
 *
 * Each phase of the barrier takes all threads of the cluster that have not exited.  A warp that left out one arrival
 * runs ahead of the others.  What it waits for then depends on a race, so the rule needs no replay.  But a warp that
 * comes less often may be meant to exit instead.  So the rule speaks only if one of these warps waits for something
 * that a warp at the barrier does after it.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

struct sides {
    struct wsdbg_case *c;
    const struct wsdbg_replay *replay;
    struct wsdbg_warp_set often, less; /* who comes most often, and who less often */
    uint32_t most, least;              /* how often */
};

/* False: the lanes of the warp do not agree. */
static bool arrivals_of(const struct sides *sides, uint32_t warp, uint32_t *arrivals)
{
    bool any = false;
    for (uint32_t i = 0; i < sides->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &sides->replay->agents[i];
        uint32_t count = 0;
        if (agent->warp != warp)
            continue;
        for (uint32_t k = 0; k < agent->step_count; k++)
            count += agent->steps[k].kind == WSDBG_ACCESS_CLUSTER_ARRIVE;
        if (any && count != *arrivals)
            return false;
        *arrivals = count;
        any = true;
    }
    return any;
}

/* False: all come equally often, or there are more than two sides. */
static bool find_sides(struct sides *sides)
{
    uint32_t arrivals[WSDBG_CASE_WARPS_MAX];
    sides->least = UINT32_MAX;
    for (uint32_t w = 0; w < sides->c->warp_count; w++) {
        if (!arrivals_of(sides, w, &arrivals[w]))
            return false;
        sides->most = arrivals[w] > sides->most ? arrivals[w] : sides->most;
        sides->least = arrivals[w] < sides->least ? arrivals[w] : sides->least;
    }
    for (uint32_t w = 0; w < sides->c->warp_count; w++) {
        if (arrivals[w] != sides->most && arrivals[w] != sides->least)
            return false;
        wsdbg_set_add(arrivals[w] == sides->most ? &sides->often : &sides->less, w);
    }
    return sides->least < sides->most;
}

/* The first warp that waits at the barrier; WSDBG_NONE = none does, or some of the other side do or have left. */
static uint32_t waiter_of(const struct sides *sides)
{
    uint32_t waiter = WSDBG_NONE;
    for (uint32_t w = 0; w < sides->c->warp_count; w++) {
        const enum wsdbg_warp_state state = wsdbg_case_warp(sides->c, w)->state;
        const bool waits = state == WSDBG_WARP_WAIT_CLUSTER && wsdbg_case_stuck(sides->c, w);
        if (wsdbg_set_has(&sides->less, w) && (waits || state == WSDBG_WARP_EXITED))
            return WSDBG_NONE;
        waiter = waits && waiter == WSDBG_NONE ? w : waiter;
    }
    return waiter;
}

/* Whether the walk of the agent, who comes more often, does something for the barrier behind a meeting that the others
 * do not come to. */
static bool serves_late(const struct sides *sides, const struct wsdbg_replay_agent *agent, uint32_t barrier_row)
{
    uint32_t meetings = 0;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const enum wsdbg_access_kind kind = agent->steps[k].kind;
        meetings += kind == WSDBG_ACCESS_CLUSTER_WAIT;
        if (meetings > sides->least && kind != WSDBG_ACCESS_WAIT && agent->target[k] != WSDBG_NONE &&
            sides->replay->barriers[agent->target[k]].row == barrier_row)
            return true;
    }
    return false;
}

/* Whether a warp that comes less often waits for what a warp at the cluster barrier does behind it. */
static bool waits_for_waiters(const struct sides *sides)
{
    for (uint32_t w = 0; w < sides->c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(sides->c, w);
        if (!wsdbg_set_has(&sides->less, w) || row->barrier == WSDBG_NONE || !wsdbg_case_stuck(sides->c, w))
            continue;
        for (uint32_t i = 0; i < sides->replay->agent_count; i++) {
            const struct wsdbg_replay_agent *agent = &sides->replay->agents[i];
            if (wsdbg_case_warp(sides->c, agent->warp)->state == WSDBG_WARP_WAIT_CLUSTER &&
                serves_late(sides, agent, row->barrier))
                return true;
        }
    }
    return false;
}

static void say(const struct sides *sides, uint32_t waiter)
{
    struct wsdbg_case *c = sides->c;
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, waiter);
    const bool is_one = wsdbg_set_count(&sides->less) == 1;
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_CLUSTER_MISSING,
                                                    wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), row->cta, row->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_common_role(c, &sides->less);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s come%s to the cluster barrier %u time%s from the kernel's start to its end, all other warps %u. "
                "So %s waits there forever%s.",
                wsdbg_say_warps(c, &sides->less).text, is_one ? "s" : "", sides->least, sides->least == 1 ? "" : "s",
                sides->most, wsdbg_say_warp(c, waiter).text, wsdbg_say_at(c, waiter).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Every thread of every CTA of the cluster must reach the cluster barrier the same number of times. Do "
                "not put it into the branch of one role or rank.");
    wsdbg_tell_wait(c, finding, waiter);
    wsdbg_tell_waits(c, finding, &sides->less);
}

void wsdbg_rule_code_cluster_sides(struct wsdbg_case *c)
{
    struct wsdbg_replay *replay = c->cta_count < 2 ? NULL : wsdbg_replay_of_still(c);
    struct sides sides = {.c = c, .replay = replay};
    const uint32_t waiter = replay && find_sides(&sides) ? waiter_of(&sides) : WSDBG_NONE;
    if (waiter != WSDBG_NONE && waits_for_waiters(&sides))
        say(&sides, waiter);
    wsdbg_replay_destroy(replay);
}
