/* replay_picture.c - whether a replay ended in the picture that was seen, and whether a barrier lacks an arriver.  See
 * replay.h.
 *
 * Reads: a replay at its standstill, parts, warps and barriers of the snapshot.
 */
#include "diagnose/replay.h"

enum { GROUP_WARPS = 4 };

static bool is_effect(const struct wsdbg_step_row *step)
{
    return step->kind != WSDBG_STEP_TOGETHER && step->kind != WSDBG_STEP_POLL;
}

/* A replay passes every poll.  An agent that was seen in a poll therefore stands at its next wait, and nothing that it
 * did is between the two. */
static bool came_by_poll(const struct wsdbg_replay_agent *agent)
{
    for (uint32_t i = agent->at; i-- > 0;) {
        if (agent->steps[i].kind == WSDBG_STEP_POLL)
            return true;
        if (is_effect(&agent->steps[i]))
            return false;
    }
    return false;
}

static bool waits_for(const struct wsdbg_replay *replay, uint32_t number, const struct wsdbg_part *part)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    const uint32_t target = agent->state == WSDBG_AGENT_WAITS ? agent->target[agent->at] : WSDBG_NONE;
    return target != WSDBG_NONE && part->barrier != WSDBG_NONE && replay->barriers[target].row == part->barrier &&
           part->parity.known && wsdbg_replay_waits_of(replay, number, target)->last_parity == part->parity.value;
}

static bool waits_at_named(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                           const struct wsdbg_part *part)
{
    const struct wsdbg_snapshot *s = replay->c->snapshot;
    return (agent->state == WSDBG_AGENT_NAMED || agent->state == WSDBG_AGENT_GATHERS) &&
           agent->steps[agent->at].kind == WSDBG_ACCESS_NAMED_SYNC && part->barrier < s->barrier_count &&
           s->barriers[part->barrier].id == agent->steps[agent->at].address;
}

static bool is_as_seen(const struct wsdbg_replay *replay, uint32_t number, const struct wsdbg_part *part)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    switch (part->state) {
    case WSDBG_WARP_WAIT_MBARRIER:
        return waits_for(replay, number, part);
    case WSDBG_WARP_WAIT_NAMED:
        return waits_at_named(replay, agent, part);
    case WSDBG_WARP_WAIT_CLUSTER:
        return agent->state == WSDBG_AGENT_CLUSTER;
    case WSDBG_WARP_RECONVERGE: /* before one of its steps, or behind the last one, where it would leave the kernel */
        return agent->state != WSDBG_AGENT_LOST;
    case WSDBG_WARP_SPIN_GLOBAL:
    case WSDBG_WARP_SPIN_SHARED:
        return agent->state != WSDBG_AGENT_ENDED && came_by_poll(agent);
    default:
        return false;
    }
}

/* Lanes that are in no part of the warp have left the kernel. */
static bool agent_is_as_seen(const struct wsdbg_replay *replay, uint32_t number)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    uint32_t count, seen = 0;
    const struct wsdbg_part *parts = wsdbg_code_parts(replay->c, agent->warp, &count);
    if (wsdbg_case_warp(replay->c, agent->warp)->state == WSDBG_WARP_EXITED)
        return agent->state == WSDBG_AGENT_ENDED;
    for (uint32_t i = 0; i < count; i++) {
        if (!(parts[i].lanes & agent->lanes))
            continue;
        seen |= parts[i].lanes & agent->lanes;
        if (!is_as_seen(replay, number, &parts[i]))
            return false;
    }
    return seen == agent->lanes || (seen == 0 && count > 0 && agent->state == WSDBG_AGENT_ENDED);
}

static bool word_is_as_seen(const struct wsdbg_replay *replay, const struct wsdbg_replay_barrier *barrier)
{
    struct wsdbg_barrier_word word;
    if (barrier->row == WSDBG_NONE || !barrier->is_initialised || !wsdbg_word_of(replay->c, barrier->row, &word))
        return true;
    return word.phase == (barrier->phase & 1) && word.pending == barrier->pending &&
           word.expected == barrier->expected && (barrier->bytes_unknown || word.bytes == barrier->bytes);
}

bool wsdbg_replay_is_picture(const struct wsdbg_replay *replay)
{
    if (replay->is_broken || replay->has_lost)
        return false;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (!agent_is_as_seen(replay, i))
            return false;
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        if (!word_is_as_seen(replay, &replay->barriers[b]))
            return false;
    return true;
}

struct wsdbg_error *wsdbg_replay_standing(const struct wsdbg_case *c, struct wsdbg_replay **out,
                                          enum wsdbg_replay_order *order)
{
    struct wsdbg_error *error = wsdbg_replay_create(c, out);
    for (*order = WSDBG_REPLAY_FIRST_FIRST; !error && *out && *order < WSDBG_REPLAY_ORDERS; (*order)++) {
        wsdbg_replay_run(*out, *order, NULL);
        if (wsdbg_replay_is_picture(*out))
            return NULL;
    }
    wsdbg_replay_destroy(*out);
    *out = NULL;
    return error;
}

bool wsdbg_replay_is_of_family(const struct wsdbg_replay *replay, uint32_t a, uint32_t b)
{
    const uint32_t one = replay->barriers[a].row, other = replay->barriers[b].row;
    const struct wsdbg_barrier *rows = replay->c->snapshot->barriers;
    return a == b || (one != WSDBG_NONE && other != WSDBG_NONE && rows[one].id == rows[other].id);
}

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

bool wsdbg_replay_lacks_an_arriver(const struct wsdbg_replay *replay, uint32_t barrier)
{
    const struct wsdbg_case *c = replay->c;
    const struct wsdbg_warp_set arrivers = arrivers_of(replay, barrier);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        uint32_t mates = 0, mates_left = 0, mates_that_arrive = 0, like_it = 0, peers = 0;
        if (wsdbg_set_has(&arrivers, w))
            continue;
        for (uint32_t v = 0; v < c->warp_count; v++) {
            const struct wsdbg_warp_row *other = wsdbg_case_warp(c, v);
            const bool is_mate = other->cta == row->cta && other->warp / GROUP_WARPS == row->warp / GROUP_WARPS;
            peers += other->cta != row->cta && other->warp == row->warp && wsdbg_set_has(&arrivers, v);
            mates += is_mate;
            mates_left += is_mate && other->state == WSDBG_WARP_EXITED;
            mates_that_arrive += is_mate && wsdbg_set_has(&arrivers, v);
            like_it += !is_mate && other->warp % GROUP_WARPS == row->warp % GROUP_WARPS && wsdbg_set_has(&arrivers, v);
        }
        if (peers > 0 || mates_that_arrive > 1 || (mates_left == mates && mates_that_arrive == 0 && like_it))
            return true;
    }
    return false;
}
