/* replay_slips.c - whether a wait of a replay was ended by another phase than the one that it is meant for.  See
 * replay.h.
 *
 * Reads: the record of each agent's waits.
 */
#include "diagnose/replay.h"

/* Whether an agent before this one waited for the same phases. */
static bool has_like(const struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier)
{
    const struct wsdbg_replay_waits *own = wsdbg_replay_waits_of(replay, agent, barrier);
    for (uint32_t i = 0; i < agent; i++) {
        const struct wsdbg_replay_waits *other = wsdbg_replay_waits_of(replay, i, barrier);
        if (other->passed == own->passed && other->phase_sum == own->phase_sum)
            return true;
    }
    return false;
}

/* How many waits on the barrier ended.  Agents that waited for the same phases count once. */
static uint64_t waits_ended(const struct wsdbg_replay *replay, uint32_t barrier)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (wsdbg_replay_waits_of(replay, i, barrier)->passed && !has_like(replay, i, barrier))
            sum += wsdbg_replay_waits_of(replay, i, barrier)->passed;
    return sum;
}

/* Whether another warp waited for more phases than the agent, each wait for the phase that it is meant for. */
static bool has_leader(const struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier)
{
    const struct wsdbg_replay_waits *own = wsdbg_replay_waits_of(replay, agent, barrier);
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_waits *other = wsdbg_replay_waits_of(replay, i, barrier);
        if (replay->agents[i].warp != replay->agents[agent].warp && !other->slipped && other->passed > own->passed)
            return true;
    }
    return false;
}

/* Whether the agent waited for only some phases of the barrier, one after the other.  Where others waited for the rest,
 * they are taken to share the phases; where another one waited for all, to lead the agent past those that it left out.
 */
static bool may_share(const struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier)
{
    const struct wsdbg_replay_waits *own = wsdbg_replay_waits_of(replay, agent, barrier);
    return !own->lags && (own->passed + 1 < replay->barriers[barrier].phase || has_leader(replay, agent, barrier));
}

static bool has_slipped_on(const struct wsdbg_replay *replay, uint32_t barrier)
{
    bool any = false;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        if (wsdbg_replay_waits_of(replay, i, barrier)->slipped && !may_share(replay, i, barrier))
            return true;
        any |= wsdbg_replay_waits_of(replay, i, barrier)->slipped;
    }
    return any && waits_ended(replay, barrier) + 1 < replay->barriers[barrier].phase;
}

bool wsdbg_replay_has_slipped(const struct wsdbg_replay *replay)
{
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        if (has_slipped_on(replay, b))
            return true;
    return false;
}
