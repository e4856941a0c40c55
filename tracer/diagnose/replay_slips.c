/* replay_slips.c - whether a wait of a replay was ended by another phase than the one that it is meant for.  See
 * replay.h.
 *
 * Reads: the record of each agent's waits.
 */
#include "diagnose/replay.h"

static bool are_of_one_group(const struct wsdbg_replay *replay, uint32_t one, uint32_t other)
{
    return replay->agents[one].cta == replay->agents[other].cta &&
           wsdbg_replay_group_of(replay, one) == wsdbg_replay_group_of(replay, other);
}

/* Whether an agent before this one waited for the same phases.  `of_group`: one of its warpgroup. */
static bool has_like(const struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier, bool of_group)
{
    const struct wsdbg_replay_waits *own = wsdbg_replay_waits_of(replay, agent, barrier);
    for (uint32_t i = 0; i < agent; i++) {
        const struct wsdbg_replay_waits *other = wsdbg_replay_waits_of(replay, i, barrier);
        if (other->passed == own->passed && other->phase_hash == own->phase_hash &&
            (!of_group || are_of_one_group(replay, agent, i)))
            return true;
    }
    return false;
}

/* The waits on a barrier that ended.  Agents that waited for the same phases count once; `by_group`: once for each
 * warpgroup. */
struct ended {
    uint64_t waits;
    uint64_t phase_sum; /* of the phases that had completed when they ended */
    bool any_lags, any_free;
};

static struct ended ended_on(const struct wsdbg_replay *replay, uint32_t barrier, bool by_group)
{
    struct ended ended = {0};
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(replay, i, barrier);
        ended.any_lags |= waits->lags;
        ended.any_free |= waits->began_free;
        if (waits->passed && !has_like(replay, i, barrier, by_group)) {
            ended.waits += waits->passed;
            ended.phase_sum += waits->phase_sum;
        }
    }
    return ended;
}

/* Whether the agents share the phases: each phase ended one wait, as far as the sums tell.  Two warpgroups that take
 * turns do so.  A wait that no phase ended would make up for a phase that nobody waited for. */
static bool are_phases_shared(const struct ended *ended, uint64_t phases)
{
    return !ended->any_lags && !ended->any_free && ended->waits == phases &&
           ended->phase_sum == phases * (phases + 1) / 2;
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
    const uint64_t phases = replay->barriers[barrier].phase;
    const struct wsdbg_replay_changes *changes = replay->changes;
    bool any = false, may_all_share = true;
    if (changes && changes->has_leapt && wsdbg_replay_is_of_family(replay, changes->leapt, barrier))
        return false;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        if (!wsdbg_replay_waits_of(replay, i, barrier)->slipped)
            continue;
        any = true;
        may_all_share = may_all_share && may_share(replay, i, barrier);
    }
    if (!any)
        return false;
    const struct ended ended = ended_on(replay, barrier, false);
    return !are_phases_shared(&ended, phases) && (!may_all_share || ended.waits + 1 < phases);
}

bool wsdbg_replay_groups_take_turns(const struct wsdbg_replay *replay, uint32_t barrier)
{
    const struct ended ended = ended_on(replay, barrier, true);
    return are_phases_shared(&ended, replay->barriers[barrier].phase);
}

bool wsdbg_replay_has_slipped(const struct wsdbg_replay *replay)
{
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        if (has_slipped_on(replay, b))
            return true;
    return false;
}
