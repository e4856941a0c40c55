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

/* ---- lanes that copy what another lane of their warp announces ---- */

static bool is_wait(const struct wsdbg_replay_agent *agent, uint32_t step)
{
    return agent->steps[step].kind == WSDBG_ACCESS_WAIT;
}

static uint32_t waits_before(const struct wsdbg_replay_agent *agent, uint32_t step)
{
    uint32_t waits = 0;
    for (uint32_t k = 0; k < step && k < agent->step_count; k++)
        waits += is_wait(agent, k);
    return waits;
}

static bool announces_to(const struct wsdbg_replay_agent *agent, uint32_t step, uint32_t barrier)
{
    return agent->target[step] == barrier && wsdbg_replay_announces(&agent->steps[step]);
}

/* A place in a walk, and in its present round, which began with its last wait. */
struct place_in_round {
    uint32_t at, round;
    bool announced; /* it has announced bytes in this round */
};

/* Goes on to an announcement of the round; false: there is none. */
static bool go_to_announcement(const struct wsdbg_replay_agent *agent, uint32_t barrier, uint32_t round,
                               struct place_in_round *place)
{
    while (place->at < agent->step_count && (place->round < round || !place->announced)) {
        const bool begins_round = is_wait(agent, place->at);
        if (begins_round && place->round == round)
            return false;
        place->announced = !begins_round && (place->announced || announces_to(agent, place->at, barrier));
        place->round += begins_round;
        place->at++;
    }
    return place->round == round && place->announced;
}

/* Whether each copy of the one lies between the same two waits as an announcement of the other. */
static bool copies_in_its_rounds(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *copier,
                                 const struct wsdbg_replay_agent *announcer, uint32_t barrier)
{
    struct place_in_round place = {0};
    uint32_t round = 0;
    for (uint32_t k = 0; k < copier->step_count; k++) {
        if (wsdbg_replay_is_copy_to(replay, copier, k, barrier) &&
            !go_to_announcement(announcer, barrier, round, &place))
            return false;
        round += is_wait(copier, k);
    }
    return true;
}

/* The agent's last announcement on the barrier so far; WSDBG_NONE = there is none. */
static uint32_t last_announcement(const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    uint32_t last = WSDBG_NONE;
    for (uint32_t k = 0; k < agent->at; k++)
        if (announces_to(agent, k, barrier))
            last = k;
    return last;
}

/* Whether another lane of the copier's warp announced the bytes of the phase, and the copier stands at the next wait
 * or behind it: it has left the copies of this round out. */
static bool has_gone_by(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *copier, uint32_t barrier)
{
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *other = &replay->agents[i];
        const uint32_t announced = other->warp == copier->warp ? last_announcement(other, barrier) : WSDBG_NONE;
        if (announced == WSDBG_NONE || !copies_in_its_rounds(replay, copier, other, barrier))
            continue;
        const uint32_t waits = waits_before(other, announced), passed = waits_before(copier, copier->at);
        if (passed > waits || (passed == waits && copier->at < copier->step_count && is_wait(copier, copier->at)))
            return true;
    }
    return false;
}

static bool is_copier_to_come(const struct wsdbg_replay *replay, uint32_t barrier)
{
    const uint64_t rounds = rounds_of(replay, barrier);
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (wsdbg_replay_arrivals_on(agent, barrier) == 0 && has_share_ahead(replay, agent, barrier, rounds) &&
            !has_gone_by(replay, agent, barrier))
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
