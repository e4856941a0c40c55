/* repair_stages.c - repairs of first parities on some stages, in several families together.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repair that works.  The stages of a ring may be families of their
 * own, where the code has an instruction for each of them.  A thread that begins to wait on the first one with a wrong
 * parity does so on all.  Roles that share how they go round their rings may all flip the phase at the wrong stage:
 * then each begins some stages of its ring with another parity than most. To change one ring alone does not help, as
 * the other side is out of step just as far.
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

/* ---- all families of one thread ---- */

/* The first wait on a barrier in an agent's walk.  NULL = there is none, or its parity is not known. */
static const struct wsdbg_step_row *first_wait(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint32_t k = 0;
    while (k < a->step_count && (a->target[k] != barrier || a->steps[k].kind != WSDBG_ACCESS_WAIT))
        k++;
    wsdbg_replay_spend(t->replay, k);
    return k < a->step_count && a->steps[k].number_known ? &a->steps[k] : NULL;
}

/* Whether another warp begins to wait on the barrier with this parity. */
static bool begins_otherwise(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier, uint32_t parity)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_step_row *wait = first_wait(t, i, barrier);
        if (wait && t->replay->agents[i].warp != t->replay->agents[agent].warp && (wait->number & 1) == parity)
            return true;
    }
    return false;
}

/* Lets all barriers on which the agent begins to wait with the other parity, and some other warp with this one, be
 * waited on with this one first.  Returns how many families these are. */
static uint32_t begin_with(struct wsdbg_trial *t, uint32_t agent, uint32_t parity, struct wsdbg_repair *repair)
{
    uint32_t families = 0;
    for (uint32_t b = 0; b < t->replay->barrier_count && t->replay->steps_left; b++) {
        const struct wsdbg_step_row *wait = first_wait(t, agent, b);
        if (!wait || (wait->number & 1) == parity || !begins_otherwise(t, agent, b, parity))
            continue;
        families += wsdbg_trial_leads_family(t, b);
        t->parity_from[b] = (uint8_t)(1 + parity);
        for (uint32_t i = 0; i < t->replay->agent_count; i++) {
            const struct wsdbg_step_row *own = first_wait(t, i, b);
            if (own && (own->number & 1) != parity)
                wsdbg_set_add(&repair->warps, t->replay->agents[i].warp);
        }
    }
    return families;
}

/* Whether the agent stands at the first of all its waits. */
static bool stands_at_first(const struct wsdbg_trial *t, uint32_t agent)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t k = 0; k < t->at[agent]; k++)
        if (a->steps[k].kind == WSDBG_ACCESS_WAIT)
            return false;
    return t->state[agent] == WSDBG_AGENT_WAITS && a->steps[t->at[agent]].number_known;
}

void wsdbg_try_first_of_all(struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->replay->agent_count && t->replay->steps_left; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        if (!stands_at_first(t, i))
            continue;
        const uint32_t parity = (a->steps[t->at[i]].number & 1) ^ 1;
        struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_PARITY_FIRST,
                                      .value = parity,
                                      .barrier = a->target[t->at[i]],
                                      .is_of_families = true,
                                      .is_exception = true};
        wsdbg_trial_begin(t);
        if (begin_with(t, i, parity, &repair) < 2 || !wsdbg_trial_works(t) || !t->is_to_end)
            continue;
        wsdbg_trial_keep(t, &repair);
        return;
    }
}
