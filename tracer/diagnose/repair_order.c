/* repair_order.c - in which order the two sides of a ring go through its stages.  See repair_trial.h.
 *
 * Reads: the walks of a replay, to their ends.
 */
#include "diagnose/repair_trial.h"

static bool is_beside(const struct wsdbg_trial *t, uint32_t a, uint32_t b)
{
    return wsdbg_replay_is_of_family(t->replay, a, b) && t->replay->barriers[a].cta == t->replay->barriers[b].cta;
}

static bool is_wait(const struct wsdbg_replay_agent *a, uint32_t step, uint32_t barrier)
{
    return a->target[step] == barrier && a->steps[step].kind == WSDBG_ACCESS_WAIT && !a->repeats[step];
}

uint64_t wsdbg_trial_rounds_of(const struct wsdbg_trial *t, uint32_t barrier)
{
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        arrivals += wsdbg_replay_arrivals_on(&t->replay->agents[i], barrier);
    return t->expected_was[barrier] ? arrivals / t->expected_was[barrier] : 0;
}

/* Whether the walks of all agents that use the barrier's family in its CTA are whole. */
static bool are_users_known(const struct wsdbg_trial *t, uint32_t barrier)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; !t->c->snapshot->walks[a->walk].is_whole && k < a->step_count; k++)
            if (a->target[k] != WSDBG_NONE && is_beside(t, barrier, a->target[k]))
                return false;
    }
    return true;
}

static uint32_t most_waits(const struct wsdbg_trial *t, uint32_t barrier)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const uint32_t waits = wsdbg_replay_waits_on(&t->replay->agents[i], barrier);
        most = waits > most ? waits : most;
    }
    return most;
}

bool wsdbg_trial_counts_apart(const struct wsdbg_trial *t, uint32_t barrier)
{
    uint64_t rounds = 0, waits = 0;
    bool lacks = false;
    if (!are_users_known(t, barrier))
        return false;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        if (!is_beside(t, barrier, b))
            continue;
        const uint64_t of_stage = wsdbg_trial_rounds_of(t, b);
        const uint32_t waits_on_it = most_waits(t, b);
        rounds += of_stage;
        waits += waits_on_it;
        lacks |= of_stage < waits_on_it;
    }
    return lacks && rounds == waits;
}

/* The barrier of the family, in the CTA of `barrier`, that the agent waits or arrives on next from the step *at on;
 * WSDBG_NONE. */
static uint32_t next_of(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t barrier, bool waits,
                        uint32_t *at)
{
    for (; *at < a->step_count; ++*at) {
        const uint32_t target = a->target[*at];
        if (target != WSDBG_NONE && is_beside(t, barrier, target) &&
            (waits ? is_wait(a, *at, target) : wsdbg_replay_arrivals_of(a, *at) > 0)) {
            ++*at;
            return target;
        }
    }
    return WSDBG_NONE;
}

/* Whether one agent arrives on the stages in the order in which the other one waits for them, on two at least. */
static bool goes_along(const struct wsdbg_trial *t, uint32_t barrier, const struct wsdbg_replay_agent *arriver,
                       const struct wsdbg_replay_agent *waiter)
{
    uint32_t at = 0, at_wait = 0, first = WSDBG_NONE;
    bool changes = false;
    for (;;) {
        const uint32_t arrival = next_of(t, arriver, barrier, false, &at),
                       wait = next_of(t, waiter, barrier, true, &at_wait);
        const bool is_end = arrival == WSDBG_NONE || wait == WSDBG_NONE;
        if (is_end || arrival != wait) {
            wsdbg_replay_spend(t->replay, (uint64_t)at + at_wait);
            return is_end && changes;
        }
        first = first == WSDBG_NONE ? arrival : first;
        changes |= arrival != first;
    }
}

bool wsdbg_trial_is_in_order(const struct wsdbg_trial *t, uint32_t barrier)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        for (uint32_t k = 0; k < t->replay->agent_count; k++)
            if (t->replay->steps_left == 0 || (t->replay->agents[i].warp != t->replay->agents[k].warp &&
                                               goes_along(t, barrier, &t->replay->agents[i], &t->replay->agents[k])))
                return true;
    return false;
}
