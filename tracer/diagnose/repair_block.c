/* repair_block.c - repairs of barriers for all threads of a CTA to which only some warps come: they leave them out.
 * See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.
 */
#include "diagnose/repair_trial.h"

static bool is_block_wide(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_NAMED_SYNC && step->number == 0 && step->access != WSDBG_NONE;
}

static bool executes(const struct wsdbg_replay_agent *a, uint32_t access)
{
    for (uint32_t k = 0; k < a->step_count; k++)
        if (is_block_wide(&a->steps[k]) && a->steps[k].access == access)
            return true;
    return false;
}

/* Whether in some CTA one warp executes the instruction and another one never does. */
static bool is_of_some(const struct wsdbg_trial *t, uint32_t access)
{
    for (uint32_t cta = 0; cta < t->c->cta_count; cta++) {
        struct wsdbg_warp_set all = {{0}}, some = {{0}};
        for (uint32_t i = 0; i < t->replay->agent_count; i++) {
            const struct wsdbg_replay_agent *a = &t->replay->agents[i];
            if (a->cta != cta)
                continue;
            wsdbg_set_add(&all, a->warp);
            if (executes(a, access))
                wsdbg_set_add(&some, a->warp);
        }
        if (wsdbg_set_count(&some) && wsdbg_set_count(&some) < wsdbg_set_count(&all))
            return true;
    }
    return false;
}

/* Leaves out every use of the barrier by the instruction; true if that works. */
static bool leave_out(struct wsdbg_trial *t, uint32_t access)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_BLOCK};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++) {
            if (!is_block_wide(&a->steps[k]) || a->steps[k].access != access)
                continue;
            wsdbg_set_add(&repair.warps, a->warp);
            repair.named = a->steps[k].address;
            if (!wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.agent = i, .step = k}))
                return false;
        }
    }
    if (!wsdbg_trial_keep_edits(t, &repair) || !wsdbg_trial_works(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

static bool stands_at_one(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->state[i] == WSDBG_AGENT_NAMED && is_block_wide(&t->replay->agents[i].steps[t->at[i]]))
            return true;
    return false;
}

/* Whether an earlier agent, or this one before the step, executes the instruction of the step. */
static bool was_met(const struct wsdbg_trial *t, uint32_t agent, uint32_t step)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t k = 0; k < step; k++)
        if (a->steps[k].access == a->steps[step].access)
            return true;
    for (uint32_t i = 0; i < agent; i++)
        if (executes(&t->replay->agents[i], a->steps[step].access))
            return true;
    return false;
}

/* Warps that come to such a barrier alone may go on with the others, who come to the next one, and stand there. */
void wsdbg_try_blocks(struct wsdbg_trial *t)
{
    if (!stands_at_one(t))
        return;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++)
            if (is_block_wide(&a->steps[k]) && !was_met(t, i, k) && is_of_some(t, a->steps[k].access) &&
                leave_out(t, a->steps[k].access))
                return;
    }
}
