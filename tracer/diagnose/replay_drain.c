/* replay_drain.c - see replay_drain.h.  Reads: the walks of a replay.  Pure functions. */
#include "diagnose/replay_drain.h"

#include "diagnose/replay_tokens.h"

/* Whether the agent executes the instruction in some step before `before`. */
static bool was_executed(const struct wsdbg_replay_agent *agent, uint32_t before, uint32_t access)
{
    for (uint32_t k = 0; k < before; k++)
        if (agent->steps[k].access == access)
            return true;
    return false;
}

uint32_t wsdbg_replay_drain_of(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    uint32_t first = agent->step_count, waits = 0, ring = WSDBG_NONE;
    for (uint32_t k = agent->step_count; k > 0; k--) {
        const struct wsdbg_step_row *step = &agent->steps[k - 1];
        if (step->kind == WSDBG_STEP_TOGETHER)
            continue;
        if (wsdbg_replay_is_token_of(agent, k - 1, first)) {
            first = k - 1;
            continue;
        }
        if (step->kind != WSDBG_ACCESS_WAIT ||
            (waits && !wsdbg_replay_is_of_family(replay, ring, agent->target[k - 1])))
            break;
        ring = agent->target[k - 1];
        first = k - 1;
        waits++;
    }
    if (waits < 2 || waits != replay->barriers[ring].stages)
        return agent->step_count;
    for (uint32_t k = first; k < agent->step_count; k++)
        if (agent->steps[k].kind == WSDBG_ACCESS_WAIT && was_executed(agent, first, agent->steps[k].access))
            return agent->step_count;
    return first;
}
