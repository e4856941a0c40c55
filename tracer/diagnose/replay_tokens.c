/* replay_tokens.c - see replay_tokens.h.  Reads: a replay at its standstill.  Pure functions. */
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
