/* repair_lanes.c - repairs of lanes that left the kernel too early, while others of their warp went on.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repair that works.  Lanes that have left, and that up to there did
 * what the same lanes of a warp of their warpgroup did, their model, are taken to have left too early if the kernel
 * finishes once they make all arrivals that their model makes.
 */
#include "diagnose/repair_trial.h"
#include "diagnose/replay_likes.h"

/* An agent of the same lanes, of another warp of the warpgroup, that did the same and goes on; WSDBG_NONE = none. */
static uint32_t model_of(const struct wsdbg_trial *t, uint32_t agent, uint32_t *goes_on)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *model = &t->replay->agents[i];
        if (model->warp != a->warp && model->lanes == a->lanes && wsdbg_case_are_mates(t->c, model->warp, a->warp) &&
            wsdbg_replay_begins_like(a, model, true, goes_on))
            return i;
    }
    return WSDBG_NONE;
}

/* The model makes its arrivals for the agent, too.  False: there is no room. */
static bool add_arrivals(struct wsdbg_trial *t, uint32_t model, uint32_t begin)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[model];
    for (uint32_t k = begin; k < a->step_count; k++) {
        const uint32_t arrivals = a->target[k] == WSDBG_NONE ? 0 : wsdbg_replay_arrivals_of(a, k);
        if (arrivals && t->changes.edit_count == WSDBG_EDITS_MOST)
            return false;
        if (arrivals)
            t->edits[t->changes.edit_count++] = (struct wsdbg_replay_edit){model, k, a->target[k], arrivals, 0};
    }
    return true;
}

/* Lets all lanes stay that have left while their warp went on.  In all CTAs at once: most often they run the same code.
 */
static bool let_stay(struct wsdbg_trial *t, struct wsdbg_repair *repair)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        uint32_t begin;
        if (wsdbg_case_warp(t->c, a->warp)->state == WSDBG_WARP_EXITED || t->state[i] != WSDBG_AGENT_ENDED ||
            a->lanes & ~wsdbg_replay_workers_gone(t->replay, a->warp))
            continue;
        const uint32_t model = model_of(t, i, &begin);
        if (model == WSDBG_NONE)
            continue;
        if (!add_arrivals(t, model, begin))
            return false;
        repair->like = wsdbg_set_count(&repair->warps) ? repair->like : t->replay->agents[model].warp;
        repair->lanes |= a->lanes;
        wsdbg_set_add(&repair->warps, a->warp);
    }
    return wsdbg_set_count(&repair->warps) > 0;
}

void wsdbg_try_lanes(struct wsdbg_trial *t)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_STAY};
    wsdbg_trial_begin(t);
    if (let_stay(t, &repair) && wsdbg_trial_keep_edits(t, &repair) && wsdbg_trial_works(t))
        wsdbg_trial_keep(t, &repair);
}
