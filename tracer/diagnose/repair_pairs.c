/* repair_pairs.c - repairs of arrivals by comparison of the same warp of two CTAs.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  Two threads are a pair if they do the same but
 * for arrivals on one family of barriers.  Then one of them may have forgotten some of these.  This needs no waits of
 * the threads on mbarriers.
 */
#include "diagnose/repair_trial.h"

struct pairing {
    uint32_t family; /* a barrier of it */
    /* An arrival like the model's goes to the CTA that is as far from the thread's own as the model's is from the
     * model's; else it goes to the same barrier. */
    bool to_peer;
    bool is_on_line; /* ... but none goes from one end of the cluster to the other */
};

static bool is_of_family(const struct wsdbg_trial *t, const struct pairing *p, const struct wsdbg_replay_agent *a,
                         uint32_t at)
{
    return a->target[at] != WSDBG_NONE && wsdbg_replay_arrivals_of(a, at) > 0 &&
           wsdbg_replay_is_of_family(t->replay, p->family, a->target[at]);
}

static bool are_same(const struct wsdbg_step_row *a, const struct wsdbg_step_row *b)
{
    return a->kind == b->kind && a->address == b->address && a->number == b->number &&
           a->number_known == b->number_known;
}

/* The CTA that is as far from the agent's own as the one of the model's step is from the model's, and the number of
 * CTAs of the cluster added. */
static uint32_t aim_of(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *self,
                       const struct wsdbg_replay_agent *model, uint32_t at)
{
    return t->replay->barriers[model->target[at]].cta + t->c->cta_count - model->cta + self->cta;
}

/* Whether an arrival like the model's step would leave the line at its end. */
static bool leaves_line(const struct wsdbg_trial *t, const struct pairing *p, const struct wsdbg_replay_agent *self,
                        const struct wsdbg_replay_agent *model, uint32_t at)
{
    return p->is_on_line && aim_of(t, self, model, at) / t->c->cta_count != 1;
}

/* The barrier for an arrival like the model's step; WSDBG_NONE = there is none. */
static uint32_t aimed_at(const struct wsdbg_trial *t, const struct pairing *p, const struct wsdbg_replay_agent *self,
                         const struct wsdbg_replay_agent *model, uint32_t at)
{
    const struct wsdbg_replay_barrier *to = &t->replay->barriers[model->target[at]];
    return p->to_peer ? wsdbg_replay_barrier_at(t->replay, aim_of(t, self, model, at) % t->c->cta_count, to->offset)
                      : model->target[at];
}

static bool add_like(struct wsdbg_trial *t, const struct pairing *p, uint32_t self, uint32_t at,
                     const struct wsdbg_replay_agent *model, uint32_t at_model)
{
    const struct wsdbg_step_row *step = &model->steps[at_model];
    const struct wsdbg_replay_agent *a = &t->replay->agents[self];
    const uint32_t lanes = (uint32_t)__builtin_popcount(a->lanes & model->lanes);
    const int64_t bytes = step->kind == WSDBG_ACCESS_ARRIVE_EXPECT ? (int64_t)step->number * lanes : 0;
    const uint32_t arrivals = wsdbg_replay_arrivals_of(model, at_model) / model->lane_count * lanes;
    return wsdbg_trial_add_edit(t, wsdbg_replay_edit_of(self, at, aimed_at(t, p, a, model, at_model), arrivals, bytes));
}

/* One thread initialises the barriers for all. */
static uint32_t behind_inits(const struct wsdbg_replay_agent *agent, uint32_t step)
{
    while (step < agent->step_count && agent->steps[step].kind == WSDBG_ACCESS_INIT)
        step++;
    return step;
}

/* The first step from `step` on that a thread in the other one's place would make, too: behind initialisations, and
 * arrivals that would leave the line there. */
static uint32_t next_of(const struct wsdbg_trial *t, const struct pairing *p, const struct wsdbg_replay_agent *agent,
                        uint32_t step, const struct wsdbg_replay_agent *other)
{
    step = behind_inits(agent, step);
    while (step < agent->step_count && is_of_family(t, p, agent, step) && leaves_line(t, p, other, agent, step))
        step = behind_inits(agent, step + 1);
    return step;
}

/* Makes the arrivals that a thread's model makes more.  False where they differ in anything else, or not at all. */
static bool straighten(struct wsdbg_trial *t, const struct pairing *p, uint32_t self, uint32_t other)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[self], *model = &t->replay->agents[other];
    const uint32_t before = t->changes.edit_count;
    bool fits = true;
    uint32_t i = next_of(t, p, a, 0, model), k = next_of(t, p, model, 0, a);
    while (fits && (i < a->step_count || k < model->step_count)) {
        const bool its = k < model->step_count && is_of_family(t, p, model, k),
                   own = i < a->step_count && is_of_family(t, p, a, i) &&
                         !(its && p->is_on_line && aimed_at(t, p, a, model, k) != a->target[i]);
        if (own != its)
            fits = its && add_like(t, p, self, i, model, k);
        else if (!own)
            fits = i < a->step_count && k < model->step_count && are_same(&a->steps[i], &model->steps[k]);
        i = next_of(t, p, a, i + (own || !its), model);
        k = next_of(t, p, model, k + (its || !own), a);
    }
    if (!fits)
        t->changes.edit_count = before;
    return fits && t->changes.edit_count > before;
}

static bool may_be_model(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *self,
                         const struct wsdbg_replay_agent *other)
{
    return self->lanes & other->lanes && other->cta != self->cta &&
           wsdbg_case_warp(t->c, self->warp)->warp == wsdbg_case_warp(t->c, other->warp)->warp;
}

/* The first model that shows a difference. */
static bool straighten_like_some(struct wsdbg_trial *t, const struct pairing *p, uint32_t self,
                                 struct wsdbg_repair *repair)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[self];
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        if (!may_be_model(t, a, &t->replay->agents[i]) || !straighten(t, p, self, i))
            continue;
        repair->like = wsdbg_set_count(&repair->warps) ? repair->like : t->replay->agents[i].warp;
        wsdbg_set_add(&repair->warps, a->warp);
        return true;
    }
    return false;
}

static bool works(struct wsdbg_trial *t, const struct pairing *p)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_ADD_LIKE};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        straighten_like_some(t, p, i, &repair);
    if (!wsdbg_trial_keep_edits(t, &repair) || t->replay->steps_left == 0 || !wsdbg_trial_works(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

/* Some arrival of the family goes to another CTA. */
static bool crosses(const struct wsdbg_trial *t, const struct pairing *p)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++)
            if (is_of_family(t, p, a, k) && t->replay->barriers[a->target[k]].cta != a->cta)
                return true;
    }
    return false;
}

/* Where no arrival of the family goes to another CTA, none is meant to. */
void wsdbg_try_across(struct wsdbg_trial *t)
{
    struct pairing p = {.family = 0};
    for (; t->c->cta_count > 1 && p.family < t->replay->barrier_count; p.family++) {
        if (!wsdbg_trial_leads_family(t, p.family))
            continue;
        p.to_peer = p.is_on_line = false;
        if (crosses(t, &p) && works(t, &p))
            continue;
        p.to_peer = true;
        p.is_on_line = wsdbg_trial_is_open_line(t, p.family);
        works(t, &p);
    }
}
