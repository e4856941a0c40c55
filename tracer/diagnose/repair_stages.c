/* repair_stages.c - repairs of first parities on some stages, in several families together.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repair that works.  Roles that share how they go round their rings
 * may all flip the phase at the wrong stage: then each begins some stages of its ring with another parity than most. To
 * change one ring alone does not help, as the other side is out of step just as far.
 */
#include "diagnose/repair_trial.h"

/* How many first waits on stages of the family, of all agents, are for each parity. */
static void count_beginnings(const struct wsdbg_trial *t, uint32_t family, uint32_t counts[2])
{
    counts[0] = counts[1] = 0;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        for (uint32_t i = 0; i < t->replay->agent_count && wsdbg_replay_is_of_family(t->replay, family, b); i++) {
            const struct wsdbg_replay_waits *waits = wsdbg_trial_waits_was(t, i, b);
            if (waits->any && !waits->by_token)
                counts[waits->first_parity & 1]++;
        }
}

static bool is_stood_at(const struct wsdbg_trial *t, uint32_t family)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->state[i] == WSDBG_AGENT_WAITS &&
            wsdbg_replay_is_of_family(t->replay, family, t->replay->agents[i].target[t->at[i]]))
            return true;
    return false;
}

/* Lets waits on the family begin as most do.  False: they do not alternate, or those that differ are no exceptions. */
static bool set_like_most(struct wsdbg_trial *t, uint32_t family, uint32_t parity, struct wsdbg_repair *repair)
{
    *repair = (struct wsdbg_repair){.kind = WSDBG_REPAIR_PARITY_FIRST, .value = parity, .is_of_families = true};
    repair->is_exception = wsdbg_trial_set_first(t, family, repair) && wsdbg_trial_are_exceptions(t, family, repair);
    return repair->is_exception;
}

void wsdbg_try_stages(struct wsdbg_trial *t)
{
    struct wsdbg_repair repair, kept = {.value = 0};
    uint32_t families = 0, counts[2];
    bool is_stood = false;
    wsdbg_trial_begin(t);
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        if (!wsdbg_trial_leads_family(t, f))
            continue;
        count_beginnings(t, f, counts);
        if (counts[0] == 0 || counts[1] == 0)
            continue;
        if (!set_like_most(t, f, counts[1] > counts[0], &repair))
            return;
        if (families++ == 0 || (!is_stood && is_stood_at(t, f)))
            kept = repair;
        is_stood |= is_stood_at(t, f);
    }
    if (families > 1 && is_stood && wsdbg_trial_works(t))
        wsdbg_trial_keep(t, &kept);
}
