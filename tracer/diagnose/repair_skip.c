/* repair_skip.c - repairs of warps that leave out rounds which a like warp makes: the waits, and the arrivals behind
 * them.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  A warp is like another one if it does all it does
 * with mbarriers in the order of that one, its model.  In the trial the model also makes the arrivals that are left
 * out, because it comes through the waits before them.
 */
#include "diagnose/repair_trial.h"
#include "diagnose/replay_likes.h"

/* Which warps are taken to leave out rounds: one or a warpgroup, in one CTA or in all. */
struct skippers {
    uint32_t cta;          /* index in snapshot.ctas, WSDBG_NONE = all */
    uint32_t first, count; /* numbers of these warps in their CTA */
};

/* A thread and its model, step by step. */
struct along {
    const struct wsdbg_replay_agent *self, *model;
    uint32_t at, at_model;
    uint32_t waits, arrivals; /* that the thread leaves out: steps */
};

static uint32_t next_step(const struct wsdbg_replay_agent *a, uint32_t at)
{
    while (at < a->step_count &&
           (!wsdbg_is_mbarrier_access(a->steps[at].kind) || a->steps[at].kind == WSDBG_ACCESS_INIT))
        at++;
    return at;
}

static bool is_same(const struct wsdbg_step_row *a, const struct wsdbg_step_row *b)
{
    return a->kind == b->kind && a->address == b->address && a->number == b->number &&
           a->number_known == b->number_known;
}

/* Goes on to the next step of the model that the thread leaves out; false: there is none.  *all_made: the thread makes
 * no step that the model does not make. */
static bool next_left_out(struct along *along, bool *all_made)
{
    along->at_model = next_step(along->model, along->at_model);
    along->at = next_step(along->self, along->at);
    while (along->at_model < along->model->step_count && along->at < along->self->step_count &&
           is_same(&along->self->steps[along->at], &along->model->steps[along->at_model])) {
        along->at = next_step(along->self, along->at + 1);
        along->at_model = next_step(along->model, along->at_model + 1);
    }
    *all_made = along->at >= along->self->step_count;
    return along->at_model < along->model->step_count;
}

/* Adds what a thread leaves out to its model's steps.  False: it is not like the model, or there is no room. */
static bool add_left_out(struct wsdbg_trial *t, uint32_t self, uint32_t model, struct wsdbg_repair *repair)
{
    struct along along = {.self = &t->replay->agents[self], .model = &t->replay->agents[model]};
    const struct wsdbg_replay_agent *m = along.model;
    bool all_made = false;
    for (; next_left_out(&along, &all_made); along.at_model++) {
        const uint32_t k = along.at_model, arrivals = m->target[k] == WSDBG_NONE ? 0 : wsdbg_replay_arrivals_of(m, k);
        along.waits += m->steps[k].kind == WSDBG_ACCESS_WAIT;
        along.arrivals += arrivals > 0;
        if (wsdbg_replay_announces(&m->steps[k]) || m->steps[k].kind == WSDBG_ACCESS_COPY)
            return false; /* bytes would be missing, too */
        if (arrivals &&
            !wsdbg_trial_add_edit(
                t, wsdbg_replay_edit_of(model, k, wsdbg_trial_target_for(t, m->target[k], m->cta, along.self->cta),
                                        arrivals, 0)))
            return false;
    }
    repair->added = along.waits > repair->added ? along.waits : repair->added;
    return all_made && (along.arrivals == 0 || along.waits > 0);
}

/* Whether another warp has the same place: in another warpgroup of the CTA, or in another CTA. */
static bool may_be_model(const struct wsdbg_trial *t, uint32_t warp, uint32_t other, bool of_cta)
{
    const struct wsdbg_warp_row *a = wsdbg_case_warp(t->c, warp), *b = wsdbg_case_warp(t->c, other);
    if (of_cta)
        return a->cta == b->cta && a->warp != b->warp && a->warp % WSDBG_GROUP_WARPS == b->warp % WSDBG_GROUP_WARPS;
    return a->cta != b->cta && a->warp == b->warp;
}

/* Adds what the warp leaves out of all that the other one does; false: it is not like that one, or leaves out nothing.
 */
static bool follow(struct wsdbg_trial *t, uint32_t warp, uint32_t model, struct wsdbg_repair *repair)
{
    const uint32_t before = t->changes.edit_count, agents = t->replay->agent_count;
    bool fits = t->replay->steps_left > 0;
    wsdbg_replay_spend(t->replay, agents);
    for (uint32_t i = 0; i < agents && fits; i++)
        for (uint32_t k = 0; k < agents && fits && t->replay->agents[i].warp == warp; k++) {
            const struct wsdbg_replay_agent *a = &t->replay->agents[i], *b = &t->replay->agents[k];
            if (b->warp != model || !(a->lanes & b->lanes))
                continue;
            wsdbg_replay_spend(t->replay, a->step_count + b->step_count);
            fits = a->lanes == b->lanes && add_left_out(t, i, k, repair);
        }
    if (!fits)
        t->changes.edit_count = before;
    return fits && t->changes.edit_count > before;
}

static bool follow_some(struct wsdbg_trial *t, uint32_t warp, struct wsdbg_repair *repair)
{
    for (int of_cta = 1; of_cta >= 0; of_cta--)
        for (uint32_t model = 0; model < t->c->warp_count; model++) {
            if (!may_be_model(t, warp, model, of_cta) || !follow(t, warp, model, repair))
                continue;
            repair->like = wsdbg_set_count(&repair->warps) ? repair->like : model;
            wsdbg_set_add(&repair->warps, warp);
            return true;
        }
    return false;
}

static bool is_one_of(const struct wsdbg_trial *t, uint32_t warp, const struct skippers *skippers)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(t->c, warp);
    return (skippers->cta == WSDBG_NONE || row->cta == skippers->cta) && row->warp >= skippers->first &&
           row->warp < skippers->first + skippers->count;
}

/* The warps of one number need not leave out anything in each CTA. */
static bool try_skippers(struct wsdbg_trial *t, struct skippers skippers)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_SKIP};
    wsdbg_trial_begin(t);
    for (uint32_t w = 0; w < t->c->warp_count; w++)
        if (is_one_of(t, w, &skippers) && !follow_some(t, w, &repair) && skippers.cta != WSDBG_NONE)
            return false;
    if (!wsdbg_trial_keep_edits(t, &repair) || !wsdbg_trial_works(t) || !t->is_to_end ||
        !wsdbg_trial_are_phases_whole(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

static bool try_in_ctas(struct wsdbg_trial *t, uint32_t first, uint32_t count)
{
    for (uint32_t cta = 0; cta < t->c->cta_count; cta++)
        if (try_skippers(t, (struct skippers){t->c->ctas[cta], first, count}))
            return true;
    return t->c->cta_count > 1 && try_skippers(t, (struct skippers){WSDBG_NONE, first, count});
}

/* Lanes that have left their warp may have done so before they arrived. */
void wsdbg_try_skip(struct wsdbg_trial *t)
{
    const uint32_t warps = wsdbg_trial_warps_of_cta(t);
    if (wsdbg_replay_have_lanes_left(t->replay))
        return;
    for (uint32_t first = 0; first < warps; first += WSDBG_GROUP_WARPS)
        if (try_in_ctas(t, first, WSDBG_GROUP_WARPS))
            return;
    for (uint32_t first = 0; first < warps; first++)
        if (try_in_ctas(t, first, 1))
            return;
}
