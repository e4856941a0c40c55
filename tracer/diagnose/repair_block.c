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

/* Only of instructions at which somebody stands. */
void wsdbg_try_blocks(struct wsdbg_trial *t)
{
    uint32_t last = WSDBG_NONE;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        const bool stands = t->state[i] == WSDBG_AGENT_NAMED && is_block_wide(&a->steps[t->at[i]]);
        const uint32_t access = stands ? a->steps[t->at[i]].access : WSDBG_NONE;
        if (access == WSDBG_NONE || access == last)
            continue;
        last = access;
        if (is_of_some(t, access) && leave_out(t, access))
            return;
    }
}
