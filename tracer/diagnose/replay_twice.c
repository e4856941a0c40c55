/* replay_twice.c - a thread that waits twice in each round for phases of one barrier that completes once a round:
 * before it uses a buffer, and until that is free again.  The second wait of a round and the first of the next one, or
 * the two waits of a round, are then for the same phase, whatever the thread does between them.
 *
 * Two instructions take turns at the waits on the barrier, and the parities of each alternate.  If both were for new
 * phases, there would be two phases a round, and each instruction would always name the same parity.  Parities that
 * drift can look the same; then there are as many phases as waits.
 *
 * Reads: the agents' steps.  Writes: repeats.
 */
#include "diagnose/replay.h"

#include <stdlib.h>

enum { WAITS_LEAST = 4 };

/* The waits of an agent on one barrier, so far. */
struct twice {
    uint32_t waits;
    uint32_t access[2];         /* the waits with an even and an odd number are by these */
    uint32_t parity[2];         /* of the last wait of each */
    bool is_other, any_repeats; /* the waits do not take turns like this; some is known to repeat another one */
};

static void add_wait(struct twice *twice, const struct wsdbg_step_row *wait, bool repeats)
{
    const uint32_t side = twice->waits % 2, parity = wait->number & 1;
    if (twice->waits < 2)
        twice->access[side] = wait->access;
    else
        twice->is_other |= wait->access != twice->access[side] || parity == twice->parity[side];
    twice->is_other |= !wait->number_known || wait->access == WSDBG_NONE;
    twice->any_repeats |= repeats;
    twice->parity[side] = parity;
    twice->waits++;
}

static void add_waits(const struct wsdbg_replay_agent *agent, struct twice *twice)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (agent->target[k] != WSDBG_NONE && agent->steps[k].kind == WSDBG_ACCESS_WAIT)
            add_wait(&twice[agent->target[k]], &agent->steps[k], agent->repeats[k]);
}

/* How many phases the arrivals of all threads fill, to their ends. */
static uint64_t phases_of(const struct wsdbg_replay *replay, uint32_t barrier)
{
    uint64_t arrivals = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &replay->agents[i];
        arrivals += wsdbg_replay_arrivals_on(a, barrier);
        for (uint32_t k = 0; k < a->step_count; k++)
            if (a->target[k] == barrier && a->steps[k].kind == WSDBG_ACCESS_INIT)
                count = a->steps[k].number;
    }
    return count ? arrivals / count : UINT32_MAX;
}

/* There is a phase for every other wait, and one more at most. */
static bool lacks_phases(const struct wsdbg_replay *replay, uint32_t barrier, const struct twice *twice)
{
    return twice->waits >= WAITS_LEAST && !twice->is_other && !twice->any_repeats &&
           twice->access[0] != twice->access[1] && 2 * phases_of(replay, barrier) <= twice->waits + 2;
}

static void mark(struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    uint32_t waits = 0, last = 0;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        if (agent->target[k] != barrier || agent->steps[k].kind != WSDBG_ACCESS_WAIT)
            continue;
        agent->repeats[k] = waits++ > 0 && (agent->steps[k].number & 1) == last;
        last = agent->steps[k].number & 1;
    }
}

bool wsdbg_replay_find_twice(struct wsdbg_replay *replay)
{
    if (!wsdbg_replay_is_known(replay))
        return true;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        struct twice *twice = calloc((size_t)replay->barrier_count + 1, sizeof *twice);
        if (!twice)
            return false;
        add_waits(&replay->agents[i], twice);
        for (uint32_t b = 0; b < replay->barrier_count; b++)
            if (lacks_phases(replay, b, &twice[b]))
                mark(&replay->agents[i], b);
        free(twice);
    }
    return true;
}
