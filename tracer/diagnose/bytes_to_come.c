/* bytes_to_come.c - see bytes_to_come.h.
 *
 * Reads: a replay at its standstill, and the walks behind it.  Writes nothing.
 */
#include "diagnose/bytes_to_come.h"

#include "diagnose/replay.h"

/* How many phases all arrivals complete from the kernel's start to its end. */
static uint64_t rounds_of(const struct wsdbg_replay *replay, uint32_t barrier)
{
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        arrivals += wsdbg_replay_arrivals_on(&replay->agents[i], barrier);
    return replay->barriers[barrier].expected ? arrivals / replay->barriers[barrier].expected : 0;
}

/* Whether the agent still has a copy to make for the phase under way.  It may make several copies in a round, or none
 * in some.  So the share of its copies that it has made is compared with the share of phases that are over. */
static bool has_share_ahead(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier,
                            uint64_t rounds)
{
    uint64_t made = 0, ahead = 0;
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (wsdbg_replay_is_copy_to(replay, agent, k, barrier))
            *(k < agent->at ? &made : &ahead) += 1;
    return ahead && made * rounds <= replay->barriers[barrier].phase * (made + ahead);
}

static bool is_copier_to_come(const struct wsdbg_replay *replay, uint32_t barrier)
{
    const uint64_t rounds = rounds_of(replay, barrier);
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (wsdbg_replay_arrivals_on(agent, barrier) == 0 && has_share_ahead(replay, agent, barrier, rounds))
            return true;
    }
    return false;
}

bool wsdbg_bytes_copier_is_to_come(struct wsdbg_case *c, const struct wsdbg_barrier_word *word)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    for (uint32_t b = 0; replay && b < replay->barrier_count; b++)
        if (replay->barriers[b].row == word->barrier && is_copier_to_come(replay, b))
            return true;
    return false;
}
