/* replay_arrivers.c - whether some warp that should arrive on a barrier never does.  See replay.h.
 *
 * Reads: a replay and its walks, which warps have left the kernel.  Pure functions.
 */
#include "diagnose/left_alone.h"
#include "diagnose/replay.h"

static struct wsdbg_warp_set arrivers_of(const struct wsdbg_replay *replay, uint32_t barrier)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count && !wsdbg_set_has(&set, agent->warp); k++)
            if (agent->target[k] != WSDBG_NONE && wsdbg_replay_is_of_family(replay, barrier, agent->target[k]) &&
                wsdbg_replay_arrivals_of(agent, k))
                wsdbg_set_add(&set, agent->warp);
    }
    return set;
}

/* Whether most warps of its warpgroup are in the set; or several are, and the warp has left the kernel. */
static bool is_unlike_mates(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_warp_set *set)
{
    uint32_t mates = 0, in_set = 0;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        mates += wsdbg_case_are_mates(c, warp, w);
        in_set += wsdbg_case_are_mates(c, warp, w) && wsdbg_set_has(set, w);
    }
    return 2 * in_set > mates || (in_set > 1 && wsdbg_case_warp(c, warp)->state == WSDBG_WARP_EXITED);
}

/* What the lanes of a warp do with the barriers of each family, by its first barrier: kinds of accesses, a bit each. */
static void note_work(const struct wsdbg_replay *replay, uint32_t warp, uint32_t kinds[WSDBG_REPLAY_BARRIERS_MOST])
{
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count && agent->warp == warp; k++)
            if (agent->target[k] != WSDBG_NONE && agent->steps[k].kind != WSDBG_ACCESS_INIT &&
                agent->steps[k].kind != WSDBG_ACCESS_INVALIDATE)
                kinds[replay->barriers[agent->target[k]].family] |= 1u << agent->steps[k].kind;
    }
}

/* Whether a warp did something of these kinds with mbarriers that the other one never does: it has another role. */
static bool has_other_role(const struct wsdbg_replay *replay, uint32_t warp, uint32_t other, uint32_t of_kinds)
{
    uint32_t kinds[WSDBG_REPLAY_BARRIERS_MOST] = {0}, of_other[WSDBG_REPLAY_BARRIERS_MOST] = {0};
    bool any = false;
    note_work(replay, warp, kinds);
    note_work(replay, other, of_other);
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        any |= kinds[b] & ~of_other[b] & of_kinds;
    return any;
}

/* Whether the warp of this number in another CTA is in the set.  If the warp serves barriers that the other one does
 * not, it has another role; what it waits for does not show that. */
static bool has_peer(const struct wsdbg_replay *replay, uint32_t warp, const struct wsdbg_warp_set *set)
{
    const struct wsdbg_case *c = replay->c;
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(set, w) && wsdbg_case_warp(c, w)->cta != row->cta &&
            wsdbg_case_warp(c, w)->warp == row->warp &&
            !has_other_role(replay, warp, w, ~WSDBG_KIND(WSDBG_ACCESS_WAIT)))
            return true;
    return false;
}

/* Whether all of its warpgroup has left the kernel and none of that is in the set, but the warp at the same place of
 * another warpgroup is, and that has no other role. */
static bool left_unlike(const struct wsdbg_replay *replay, uint32_t warp, const struct wsdbg_warp_set *set)
{
    const struct wsdbg_case *c = replay->c;
    const uint32_t place = wsdbg_case_warp(c, warp)->warp % WSDBG_GROUP_WARPS;
    bool any = false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (wsdbg_case_are_mates(c, w, warp) && (row->state != WSDBG_WARP_EXITED || wsdbg_set_has(set, w)))
            return false;
        any |= row->warp % WSDBG_GROUP_WARPS == place && wsdbg_set_has(set, w) &&
               !has_other_role(replay, warp, w, UINT32_MAX);
    }
    return any;
}

/* The lanes of the warp that arrive on the family. */
static uint32_t lanes_that_arrive(const struct wsdbg_replay *replay, uint32_t warp, uint32_t barrier)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count && agent->warp == warp; k++)
            if (agent->target[k] != WSDBG_NONE && wsdbg_replay_is_of_family(replay, barrier, agent->target[k]) &&
                wsdbg_replay_arrivals_of(agent, k))
                lanes |= agent->lanes;
    }
    return lanes;
}

/* Whether lanes have left the warp, which goes on, and never arrive, though the same lanes of the same warp in another
 * CTA do. */
static bool has_lost_lanes(const struct wsdbg_replay *replay, uint32_t warp, uint32_t barrier)
{
    const struct wsdbg_case *c = replay->c;
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const uint32_t gone = row->state == WSDBG_WARP_EXITED ? 0 : wsdbg_code_lanes_gone(c, warp);
    const uint32_t idle = gone ? gone & ~lanes_that_arrive(replay, warp, barrier) : 0;
    for (uint32_t w = 0; w < c->warp_count && idle; w++)
        if (wsdbg_case_warp(c, w)->cta != row->cta && wsdbg_case_warp(c, w)->warp == row->warp &&
            lanes_that_arrive(replay, w, barrier) & idle)
            return true;
    return false;
}

bool wsdbg_replay_lacks_an_arriver(const struct wsdbg_replay *replay, uint32_t barrier)
{
    const struct wsdbg_case *c = replay->c;
    const struct wsdbg_warp_set arrivers = arrivers_of(replay, barrier);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (has_lost_lanes(replay, w, barrier))
            return true;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (!wsdbg_set_has(&arrivers, w) &&
            (has_peer(replay, w, &arrivers) || left_unlike(replay, w, &arrivers) || is_unlike_mates(c, w, &arrivers)))
            return true;
    return wsdbg_one_that_left(c, &arrivers, replay->barriers[barrier].row) != WSDBG_NONE;
}
