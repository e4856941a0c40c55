/* open_round.c - see open_round.h.  Reads: walks from the kernel's start to its end. */
#include "diagnose/open_round.h"

#include "diagnose/replay.h"

enum { ARRIVALS_LEAST = 2 };

/* Of one agent: its waits on one family, and its arrivals on another one. */
struct rounds {
    uint32_t waits, arrivals;
    uint32_t open; /* waits since the last arrival */
    bool is_each_behind_wait;
};

static struct rounds rounds_of(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                               uint32_t waited, uint32_t arrived)
{
    struct rounds rounds = {.is_each_behind_wait = true};
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const uint32_t target = agent->target[k];
        if (target == WSDBG_NONE)
            continue;
        if (agent->steps[k].kind == WSDBG_ACCESS_WAIT && wsdbg_replay_is_of_family(replay, target, waited)) {
            rounds.waits++;
            rounds.open++;
        } else if (wsdbg_replay_arrivals_of(agent, k) && wsdbg_replay_is_of_family(replay, target, arrived)) {
            rounds.arrivals++;
            rounds.is_each_behind_wait &= rounds.open > 0;
            rounds.open = 0;
        }
    }
    return rounds;
}

/* The family whose waits begin the agent's rounds, of which the last one is open; WSDBG_NONE: there is none. */
static uint32_t family_that_begins(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                                   uint32_t arrived, struct rounds *rounds)
{
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const uint32_t target = agent->target[k];
        if (target == WSDBG_NONE || agent->steps[k].kind != WSDBG_ACCESS_WAIT ||
            replay->barriers[target].row == WSDBG_NONE || wsdbg_replay_is_of_family(replay, target, arrived))
            continue;
        *rounds = rounds_of(replay, agent, target, arrived);
        if (rounds->is_each_behind_wait && rounds->open && rounds->arrivals >= ARRIVALS_LEAST)
            return target;
    }
    return WSDBG_NONE;
}

static bool arrives_on(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t family)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (agent->target[k] != WSDBG_NONE && wsdbg_replay_is_of_family(replay, agent->target[k], family) &&
            wsdbg_replay_arrivals_of(agent, k))
            return true;
    return false;
}

static uint32_t barrier_of_row(const struct wsdbg_replay *replay, uint32_t row)
{
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        if (replay->barriers[b].row == row)
            return b;
    return WSDBG_NONE;
}

/* A walk from the kernel's start to its end, in which nothing was guessed. */
static bool is_known(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    const struct wsdbg_walk_row *walk = &replay->c->snapshot->walks[agent->walk];
    return walk->is_whole && !walk->is_guessed;
}

/* How many phases of the family a warp waits for in its whole walk: a first wait for parity 1 is for none.  WSDBG_NONE:
 * that is not known. */
static uint32_t phases_waited_for(const struct wsdbg_replay *replay, uint32_t warp, uint32_t family)
{
    uint32_t most = WSDBG_NONE;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        uint32_t phases = 0;
        bool any = false;
        for (uint32_t k = 0; agent->warp == warp && k < agent->step_count; k++) {
            const uint32_t target = agent->target[k];
            if (target == WSDBG_NONE || agent->steps[k].kind != WSDBG_ACCESS_WAIT ||
                !wsdbg_replay_is_of_family(replay, target, family) || agent->repeats[k])
                continue;
            if (!is_known(replay, agent))
                return WSDBG_NONE;
            bool is_first = true;
            for (uint32_t before = 0; before < k && is_first; before++)
                is_first = agent->target[before] != target || agent->steps[before].kind != WSDBG_ACCESS_WAIT;
            phases += !(is_first && agent->steps[k].number_known && agent->steps[k].number & 1);
            any = true;
        }
        if (any && (most == WSDBG_NONE || phases > most))
            most = phases;
    }
    return most;
}

static bool find_in(const struct wsdbg_replay *replay, const struct wsdbg_warp_set *gone, uint32_t waiter,
                    uint32_t barrier, struct wsdbg_open_round *out)
{
    const uint32_t arrived = barrier_of_row(replay, barrier);
    const uint32_t phases = phases_waited_for(replay, waiter, arrived);
    struct wsdbg_open_round open = {.waited = WSDBG_NONE};
    uint32_t most = 0; /* phases, if the arrivals of open rounds were made */
    for (uint32_t i = 0; arrived != WSDBG_NONE && i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        struct rounds rounds;
        if (!wsdbg_set_has(gone, agent->warp) || !is_known(replay, agent) || !arrives_on(replay, agent, arrived))
            continue;
        const uint32_t waited = family_that_begins(replay, agent, arrived, &rounds);
        if (waited == WSDBG_NONE)
            return false;
        most = open.waited == WSDBG_NONE ? rounds.arrivals + rounds.open : most;
        if (open.waited == WSDBG_NONE)
            open = (struct wsdbg_open_round){
                .waited = replay->barriers[waited].row, .waits = rounds.waits, .arrivals = rounds.arrivals};
        if (rounds.waits == open.waits && rounds.arrivals == open.arrivals)
            wsdbg_set_add(&open.warps, agent->warp);
    }
    if (open.waited == WSDBG_NONE || phases <= open.arrivals || phases > most)
        return false;
    *out = open;
    return true;
}

bool wsdbg_open_round_find(struct wsdbg_case *c, const struct wsdbg_warp_set *gone, uint32_t waiter, uint32_t barrier,
                           struct wsdbg_open_round *out)
{
    struct wsdbg_replay *replay = NULL;
    struct wsdbg_error *error = wsdbg_replay_create(c, &replay);
    c->no_memory |= error != NULL;
    wsdbg_error_destroy(error);
    const bool found = replay && find_in(replay, gone, waiter, barrier, out);
    wsdbg_replay_destroy(replay);
    return found;
}
