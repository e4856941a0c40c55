/* replay_tokens.c - see replay_tokens.h.  Reads: a replay, parts of the snapshot.  Writes: which waits name an earlier
 * token than the last one.
 */
#include "diagnose/replay_tokens.h"

static bool names_token(const struct wsdbg_replay_agent *agent, uint32_t step)
{
    return step < agent->step_count && agent->steps[step].kind == WSDBG_ACCESS_WAIT && !agent->steps[step].number_known;
}

bool wsdbg_replay_is_token_of(const struct wsdbg_replay_agent *agent, uint32_t step, uint32_t wait)
{
    return names_token(agent, wait) && agent->target[step] == agent->target[wait] &&
           wsdbg_replay_arrivals_of(agent, step);
}

bool wsdbg_replay_waits_by_token(const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    return agent->state == WSDBG_AGENT_WAITS && agent->target[agent->at] == barrier && names_token(agent, agent->at);
}

uint64_t wsdbg_replay_arrivals_of_waiters(const struct wsdbg_replay *replay, uint32_t barrier)
{
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        uint32_t k = wsdbg_replay_waits_by_token(agent, barrier) ? agent->at : 0;
        while (k > 0 && !wsdbg_replay_is_token_of(agent, k - 1, agent->at))
            k--;
        arrivals += k ? wsdbg_replay_arrivals_of(agent, k - 1) : 0;
    }
    return arrivals;
}

/* ---- tokens of earlier arrivals ---- */

/* The barrier on which lanes of the agent were seen to wait; WSDBG_NONE. */
static uint32_t seen_at(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        for (uint32_t parity = 0; parity < 2; parity++)
            if (wsdbg_replay_was_seen_at(replay, agent, b, parity))
                return b;
    return WSDBG_NONE;
}

/* The agent's wait by token on the barrier that has this number; WSDBG_NONE. */
static uint32_t wait_of_number(const struct wsdbg_replay_agent *agent, uint32_t barrier, uint32_t number)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (names_token(agent, k) && agent->target[k] == barrier && wsdbg_replay_giver_of(agent, k) == WSDBG_NONE &&
            number-- == 0)
            return k;
    return WSDBG_NONE;
}

static bool are_of_warpgroup(const struct wsdbg_replay *replay, uint32_t a, uint32_t b)
{
    const uint32_t warp = replay->agents[a].warp, other = replay->agents[b].warp;
    return warp == other || wsdbg_case_are_mates(replay->c, warp, other);
}

bool wsdbg_replay_leads_waiters(const struct wsdbg_replay *replay, uint32_t agent)
{
    const uint32_t barrier = seen_at(replay, &replay->agents[agent]);
    for (uint32_t i = 0; i < agent; i++)
        if (are_of_warpgroup(replay, agent, i) && seen_at(replay, &replay->agents[i]) == barrier)
            return false;
    return barrier != WSDBG_NONE;
}

void wsdbg_replay_assume_fresh(struct wsdbg_replay *replay)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        replay->agents[i].stale_wait = WSDBG_NONE;
}

bool wsdbg_replay_assume_stale(struct wsdbg_replay *replay, uint32_t leader, uint32_t number)
{
    const uint32_t barrier = seen_at(replay, &replay->agents[leader]);
    wsdbg_replay_assume_fresh(replay);
    for (uint32_t i = 0; i < replay->agent_count && barrier != WSDBG_NONE; i++)
        if (are_of_warpgroup(replay, leader, i) && seen_at(replay, &replay->agents[i]) == barrier)
            replay->agents[i].stale_wait = wait_of_number(&replay->agents[i], barrier, number);
    return barrier != WSDBG_NONE && replay->agents[leader].stale_wait != WSDBG_NONE;
}

static bool arrives_between(const struct wsdbg_replay_agent *agent, uint32_t giver, uint32_t wait)
{
    for (uint32_t k = giver + 1; k < wait; k++)
        if (agent->target[k] == agent->target[wait] && wsdbg_replay_arrivals_of(agent, k))
            return true;
    return false;
}

uint32_t wsdbg_replay_stale_wait_of(const struct wsdbg_replay_agent *agent, uint32_t end)
{
    if (agent->stale_wait != WSDBG_NONE)
        return agent->stale_wait;
    for (uint32_t k = 0; k < agent->step_count && k <= end; k++) {
        const uint32_t giver = wsdbg_replay_giver_of(agent, k);
        if (giver != WSDBG_NONE && !wsdbg_replay_is_foreign(agent, k) && arrives_between(agent, giver, k))
            return k;
    }
    return WSDBG_NONE;
}

static bool is_of_site(const struct wsdbg_replay *replay, const struct wsdbg_step_row *step, uint32_t site)
{
    const struct wsdbg_snapshot *s = replay->c->snapshot;
    return step->kind == WSDBG_ACCESS_WAIT && step->access < s->access_count && s->accesses[step->access].site == site;
}

/* Where the agent has a wait by the instruction at which the part was seen, it must be the one at which it stands. */
static bool stands_where_seen(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                              const struct wsdbg_part *part)
{
    if (agent->state != WSDBG_AGENT_WAITS || is_of_site(replay, &agent->steps[agent->at], part->site))
        return true;
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (is_of_site(replay, &agent->steps[k], part->site))
            return false;
    return true;
}

bool wsdbg_replay_waits_where_seen(const struct wsdbg_replay *replay)
{
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        uint32_t count;
        const struct wsdbg_part *parts = wsdbg_code_parts(replay->c, replay->agents[i].warp, &count);
        for (uint32_t p = 0; p < count; p++)
            if (parts[p].lanes & replay->agents[i].lanes && !stands_where_seen(replay, &replay->agents[i], &parts[p]))
                return false;
    }
    return true;
}
