/* replay_likes.c - see replay_likes.h.  Reads: a replay, its walks.  Pure functions. */
#include "diagnose/replay_likes.h"

static bool is_same_step(const struct wsdbg_step_row *a, const struct wsdbg_step_row *b)
{
    return a->kind == b->kind && a->address == b->address && a->number == b->number;
}

static bool initialises(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_INIT || step->kind == WSDBG_ACCESS_INVALIDATE;
}

/* The first step from `at` on that counts; step_count = there is none.  That one warp initialises the barriers for all
 * makes it no different from the others. */
static uint32_t next_step(const struct wsdbg_replay_agent *agent, uint32_t at, bool by_mbarriers)
{
    while (at < agent->step_count &&
           (initialises(&agent->steps[at]) || (by_mbarriers && !wsdbg_is_mbarrier_access(agent->steps[at].kind))))
        at++;
    return at;
}

static bool asks_for_registers(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_REGISTERS_RELEASE || step->kind == WSDBG_ACCESS_REGISTERS_REQUEST;
}

/* That may be all that the threads are for, unless they also took the registers of a role. */
static bool only_initialises(const struct wsdbg_replay_agent *agent)
{
    bool any = false;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        if (asks_for_registers(&agent->steps[k]))
            return false;
        any |= initialises(&agent->steps[k]);
    }
    return any && next_step(agent, 0, true) >= agent->step_count;
}

static bool is_arrival(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_ARRIVE || step->kind == WSDBG_ACCESS_NAMED_ARRIVE;
}

/* Goes along two agents as long as they do the same.  *at, *at_model: where they stop doing so; the count of their
 * steps if they do not.  Arrivals that the agent makes more come before something that both do. */
static void go_along(const struct wsdbg_replay_agent *agent, const struct wsdbg_replay_agent *model,
                     enum wsdbg_replay_likeness likeness, uint32_t *at, uint32_t *at_model)
{
    const bool by_mbarriers = likeness == WSDBG_LIKE_BY_MBARRIERS;
    uint32_t i = next_step(agent, 0, by_mbarriers), k = next_step(model, 0, by_mbarriers);
    *at = i;
    while (i < agent->step_count && k < model->step_count) {
        const bool is_same = is_same_step(&agent->steps[i], &model->steps[k]);
        if (!is_same && (likeness != WSDBG_LIKE_BUT_FOR_MORE || !is_arrival(&agent->steps[i])))
            break;
        i = next_step(agent, i + 1, by_mbarriers);
        k = is_same ? next_step(model, k + 1, by_mbarriers) : k;
        *at = is_same ? i : *at;
    }
    *at_model = k;
}

bool wsdbg_replay_begins_like(const struct wsdbg_replay_agent *agent, const struct wsdbg_replay_agent *model,
                              enum wsdbg_replay_likeness likeness, uint32_t *goes_on)
{
    uint32_t at;
    if (only_initialises(agent) ||
        (likeness == WSDBG_LIKE_BY_MBARRIERS && next_step(agent, 0, true) >= agent->step_count))
        return false; /* it did nothing that could be alike */
    go_along(agent, model, likeness, &at, goes_on);
    return at >= agent->step_count && *goes_on < model->step_count;
}

bool wsdbg_replay_did_no_more(const struct wsdbg_replay_agent *agent, const struct wsdbg_replay_agent *model,
                              uint32_t *goes_on)
{
    uint32_t at;
    go_along(agent, model, WSDBG_LIKE_IN_ALL, &at, goes_on);
    return at >= agent->step_count;
}

/* Whether two agents do the same from the beginning to the end. */
static bool are_same(const struct wsdbg_replay_agent *a, const struct wsdbg_replay_agent *b,
                     enum wsdbg_replay_likeness likeness)
{
    uint32_t at_a, at_b;
    go_along(a, b, likeness, &at_a, &at_b);
    return at_a >= a->step_count && at_b >= b->step_count;
}

/* Whether the agents of the warp began as those of the other warp that have their lanes.  Some may do the same to the
 * end: the lanes for which another one works. */
static bool left_like(const struct wsdbg_replay *replay, uint32_t warp, uint32_t model,
                      enum wsdbg_replay_likeness likeness)
{
    uint32_t goes_on;
    bool any = false;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        for (uint32_t k = 0; replay->agents[i].warp == warp && k < replay->agent_count; k++) {
            const struct wsdbg_replay_agent *a = &replay->agents[i], *b = &replay->agents[k];
            if (b->warp != model || !(a->lanes & b->lanes) || are_same(a, b, likeness))
                continue;
            if (!wsdbg_replay_begins_like(a, b, likeness, &goes_on))
                return false;
            any = true;
        }
    return any;
}

static bool arrives(const struct wsdbg_replay *replay, uint32_t warp)
{
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &replay->agents[i];
        for (uint32_t k = 0; a->warp == warp && k < a->step_count; k++)
            if (a->target[k] != WSDBG_NONE && wsdbg_replay_arrivals_of(a, k))
                return true;
    }
    return false;
}

bool wsdbg_replay_mates_arrive(const struct wsdbg_replay *replay, uint32_t warp)
{
    uint32_t mates = 0, arrive = 0;
    for (uint32_t w = 0; w < replay->c->warp_count; w++) {
        const bool is_mate = w != warp && wsdbg_case_are_mates(replay->c, warp, w);
        mates += is_mate;
        arrive += is_mate && arrives(replay, w);
    }
    return 2 * arrive > mates;
}

enum place { BESIDE, OF_GROUP, OF_OTHER_CTA, PLACES };

/* Where a warp is, as another one sees it.  PLACES: at no place that is compared. */
static enum place place_of(const struct wsdbg_case *c, uint32_t warp, uint32_t other)
{
    const struct wsdbg_warp_row *a = wsdbg_case_warp(c, warp), *b = wsdbg_case_warp(c, other);
    if (warp == other)
        return PLACES;
    if (a->cta != b->cta)
        return a->warp == b->warp ? OF_OTHER_CTA : PLACES;
    if (a->warp % WSDBG_GROUP_WARPS == b->warp % WSDBG_GROUP_WARPS)
        return BESIDE;
    return wsdbg_case_are_mates(c, warp, other) ? OF_GROUP : PLACES;
}

uint32_t wsdbg_replay_model_of(const struct wsdbg_replay *replay, uint32_t warp, enum wsdbg_replay_likeness likeness,
                               uint32_t turn)
{
    for (enum place place = BESIDE; place < PLACES; place++)
        for (uint32_t w = 0; w < replay->c->warp_count; w++)
            if (place_of(replay->c, warp, w) == place && left_like(replay, warp, w, likeness) && turn-- == 0)
                return w;
    return WSDBG_NONE;
}

static bool has_worked(const struct wsdbg_replay_agent *agent)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (wsdbg_is_mbarrier_access(agent->steps[k].kind) && !initialises(&agent->steps[k]))
            return true;
    return false;
}

bool wsdbg_replay_has_left(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    return agent->state == WSDBG_AGENT_ENDED && (agent->lanes & ~wsdbg_code_lanes_gone(replay->c, agent->warp)) == 0;
}

uint32_t wsdbg_replay_workers_gone(const struct wsdbg_replay *replay, uint32_t warp)
{
    const uint32_t gone = wsdbg_code_lanes_gone(replay->c, warp);
    uint32_t workers = 0;
    for (uint32_t i = 0; i < replay->agent_count && gone; i++)
        if (replay->agents[i].warp == warp && has_worked(&replay->agents[i]))
            workers |= replay->agents[i].lanes & gone;
    return workers;
}

bool wsdbg_replay_have_lanes_left(const struct wsdbg_replay *replay)
{
    for (uint32_t w = 0; w < replay->c->warp_count; w++) {
        const uint32_t gone = wsdbg_replay_workers_gone(replay, w);
        if (wsdbg_case_warp(replay->c, w)->state != WSDBG_WARP_EXITED && gone &&
            2 * (uint32_t)__builtin_popcount(gone) < WSDBG_WARP_THREADS)
            return true;
    }
    return false;
}
