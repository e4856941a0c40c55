/* rule_code_sides.c - a named barrier of two sides, one of which comes to it less often than the other.
 *
 * Reads: walks, the picture.  Adds: ARRIVE_MISSING; WAKER_EXITED where that side has left the kernel.
 *
 * Each use of such a barrier names just the threads of both sides, so both must use it equally often; a side that only
 * arrives may do so once more.  A finding is added only if a replay of the walks (replay.h) ends in the picture.
 *
 * Where those who wait have nothing left to do behind the barrier, "they left too early" and "they pass the last use
 * by" are the same code.  If most pass it by, it stands on the way of a few.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

struct sides {
    struct wsdbg_case *c;
    const struct wsdbg_replay *replay;
    uint32_t cta, id;                  /* cta: position in c->ctas */
    struct wsdbg_warp_set often, less; /* who uses it most often, and who less often */
    uint32_t most, least;              /* how often */
};

static bool is_whole(const struct sides *sides, const struct wsdbg_replay_agent *agent)
{
    return wsdbg_walk_is_known(&sides->c->snapshot->walks[agent->walk]);
}

/* How often the agents of a warp use the barrier.  False: they do not agree, their walks are not known to the end, or a
 * use names another number of threads. */
static bool uses_of(const struct sides *sides, uint32_t warp, uint32_t *threads, uint32_t *uses)
{
    bool any = false;
    for (uint32_t i = 0; i < sides->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &sides->replay->agents[i];
        uint32_t count = 0;
        for (uint32_t k = 0; k < agent->step_count && agent->warp == warp; k++) {
            const struct wsdbg_step_row *step = &agent->steps[k];
            if (!wsdbg_replay_is_use(step, sides->id))
                continue;
            if (!step->number_known || !step->number || (*threads && *threads != step->number))
                return false;
            *threads = step->number;
            count++;
        }
        if (agent->warp != warp)
            continue;
        if (!is_whole(sides, agent) || (any && count != *uses))
            return false;
        *uses = count;
        any = true;
    }
    return any;
}

/* False: it is no barrier of two sides, or both use it equally often. */
static bool find_sides(struct sides *sides)
{
    uint32_t uses[WSDBG_CASE_WARPS_MAX] = {0}, threads = 0, users = 0;
    sides->most = 0;
    sides->least = UINT32_MAX;
    for (uint32_t w = 0; w < sides->c->warp_count; w++) {
        if (wsdbg_case_cta(sides->c, wsdbg_case_warp(sides->c, w)->cta) != sides->cta)
            continue;
        if (!uses_of(sides, w, &threads, &uses[w]))
            return false;
        users += uses[w] > 0;
        sides->most = uses[w] > sides->most ? uses[w] : sides->most;
        sides->least = uses[w] && uses[w] < sides->least ? uses[w] : sides->least;
    }
    for (uint32_t w = 0; w < sides->c->warp_count; w++)
        if (uses[w] == sides->most && uses[w])
            wsdbg_set_add(&sides->often, w);
        else if (uses[w] == sides->least)
            wsdbg_set_add(&sides->less, w);
        else if (uses[w])
            return false;
    return sides->least < sides->most && users * WSDBG_WARP_THREADS == threads;
}

/* The first warp that waits at the barrier; WSDBG_NONE = none does, or one of those that come to it less often does. */
static uint32_t waiter_of(const struct sides *sides)
{
    uint32_t waiter = WSDBG_NONE;
    for (uint32_t i = 0; i < sides->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &sides->replay->agents[i];
        if (agent->cta != sides->cta || agent->state != WSDBG_AGENT_NAMED ||
            !wsdbg_replay_is_use(&agent->steps[agent->at], sides->id))
            continue;
        if (!wsdbg_set_has(&sides->often, agent->warp))
            return WSDBG_NONE;
        waiter = waiter == WSDBG_NONE ? agent->warp : waiter;
    }
    return waiter;
}

/* Whether those who come to the barrier more often have nothing to do behind the use at which they stand. */
static bool end_there(const struct sides *sides)
{
    for (uint32_t i = 0; i < sides->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &sides->replay->agents[i];
        const bool stands = agent->state == WSDBG_AGENT_NAMED || agent->state == WSDBG_AGENT_GATHERS;
        if (!wsdbg_set_has(&sides->often, agent->warp) || agent->state == WSDBG_AGENT_ENDED)
            continue;
        if (!stands || !wsdbg_replay_is_use(&agent->steps[agent->at], sides->id))
            return false;
        for (uint32_t k = agent->at + 1; k < agent->step_count; k++)
            if (agent->steps[k].kind != WSDBG_STEP_TOGETHER && agent->steps[k].kind != WSDBG_STEP_POLL)
                return false;
    }
    return true;
}

static void say(const struct sides *sides, uint32_t waiter)
{
    struct wsdbg_case *c = sides->c;
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, waiter);
    const bool exited = wsdbg_case_have_exited(c, &sides->less), is_one = wsdbg_set_count(&sides->often) == 1;
    const bool is_passed_by = wsdbg_set_count(&sides->less) > wsdbg_set_count(&sides->often) && end_there(sides);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, exited && !is_passed_by ? WSDBG_CAUSE_WAKER_EXITED : WSDBG_CAUSE_ARRIVE_MISSING,
                        wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), row->cta, row->barrier);
    if (!finding)
        return;
    char often[160];
    wsdbg_print(often, sizeof often, "%s", wsdbg_say_warps(c, &sides->often).text);
    finding->role = wsdbg_common_role(c, &sides->less);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s come%s to named barrier %u %u times from the kernel's start to its end, %s only %u time%s%s. So %s wait%s "
        "there forever%s.",
        often, is_one ? "s" : "", sides->id, sides->most, wsdbg_say_warps(c, &sides->less).text, sides->least,
        sides->least == 1 ? "" : "s", exited ? " before leaving the kernel" : "", is_one ? "it" : "they",
        is_one ? "s" : "", wsdbg_say_at(c, waiter).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let both sides come to named barrier %u equally often: compare the trip counts of their loops and the "
                "paths on which one of them leaves it out.",
                sides->id);
    wsdbg_tell_wait(c, finding, waiter);
    wsdbg_tell_waits(c, finding, &sides->less);
    wsdbg_evidence_text(c, finding, "followed from its start, the kernel stops in just this state");
}

void wsdbg_rule_code_sides(struct wsdbg_case *c)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    for (uint32_t cta = 0; replay && cta < c->cta_count; cta++)
        for (uint32_t id = 1; id < WSDBG_NAMED_BARRIERS; id++) {
            struct sides sides = {.c = c, .replay = replay, .cta = cta, .id = id};
            const uint32_t waiter = find_sides(&sides) ? waiter_of(&sides) : WSDBG_NONE;
            if (waiter == WSDBG_NONE)
                continue;
            say(&sides, waiter);
            return;
        }
}
