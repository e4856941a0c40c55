/* repair_groups.c - repairs of parities where several warpgroups wait on one ring, and one of them is a phase off.  See
 * repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  Warpgroups that take turns at the rounds of a
 * ring run the same instructions, and each passes over the rounds of the others.  One that does not count the phase
 * there asks for the wrong parity in all its waits, while the others are in step.
 */
#include "diagnose/repair_trial.h"

/* The agent's first wait on the family; WSDBG_NONE = it has none, or not all name a parity. */
static uint32_t first_wait_on(const struct wsdbg_trial *t, uint32_t agent, uint32_t family)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint32_t first = WSDBG_NONE;
    for (uint32_t k = 0; k < a->step_count; k++) {
        if (a->steps[k].kind != WSDBG_ACCESS_WAIT || a->target[k] == WSDBG_NONE ||
            !wsdbg_replay_is_of_family(t->replay, a->target[k], family))
            continue;
        if (!a->steps[k].number_known || a->is_idle)
            return WSDBG_NONE;
        first = first == WSDBG_NONE ? k : first;
    }
    return first;
}

/* Flips all waits of the group on the family.  False: no other group waits on it. */
static bool flip_group(struct wsdbg_trial *t, uint32_t family, uint32_t group, struct wsdbg_repair *repair)
{
    bool others_wait = false;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const uint32_t first = first_wait_on(t, i, family);
        if (first == WSDBG_NONE)
            continue;
        if (wsdbg_replay_group_of(t->replay, i) != group) {
            others_wait = true;
            continue;
        }
        t->flip_at[i] = first;
        if (wsdbg_set_count(&repair->warps) == 0) {
            repair->wait = (struct wsdbg_repair_wait){.agent = i, .step = first};
            repair->barrier = t->replay->agents[i].target[first];
        }
        wsdbg_set_add(&repair->warps, t->replay->agents[i].warp);
    }
    return others_wait && wsdbg_set_count(&repair->warps) > 0;
}

void wsdbg_try_groups(struct wsdbg_trial *t)
{
    const uint32_t groups = (wsdbg_trial_warps_of_cta(t) + WSDBG_GROUP_WARPS - 1) / WSDBG_GROUP_WARPS;
    for (uint32_t f = 0; f < t->replay->barrier_count; f++)
        for (uint32_t g = 0; g < groups && wsdbg_trial_leads_family(t, f); g++) {
            struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_PARITY_SITE, .value = WSDBG_FLIPS_FAMILY};
            wsdbg_trial_begin(t);
            t->changes.flips = WSDBG_FLIPS_FAMILY;
            if (t->replay->steps_left && flip_group(t, f, g, &repair) && wsdbg_trial_works(t) &&
                wsdbg_trial_gets_all_phases(t, f))
                wsdbg_trial_keep(t, &repair);
        }
}
