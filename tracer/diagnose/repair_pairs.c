/* repair_pairs.c - repairs of arrivals by comparison of two threads.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  Two threads are a pair if they do the same but
 * for arrivals on one family of barriers.  Then one of them may have forgotten some of these, or made some too many.
 * This needs no waits of the threads on mbarriers.
 */
#include "diagnose/repair_trial.h"

/* Where an arrival like the model's goes. */
enum aim {
    AIM_SAME,    /* on the same barrier */
    AIM_PEER,    /* to the CTA that is as far from the thread's own as the model's is from the model's */
    AIM_AT_FIRST /* and the numbers behind it: to the CTA of this number in the case */
};

struct pairing {
    uint32_t family;             /* a barrier of it */
    enum wsdbg_repair_kind kind; /* ADD_LIKE, DROP_LIKE */
    uint32_t aim;
    uint32_t warp; /* number in its CTA of the warps that change; WSDBG_NONE = any */
    bool by_mates; /* ADD_LIKE: the other warps of the warpgroup show it; else a warp of another one */
    bool across;   /* the model is the same warp of another CTA; else another warp of the CTA */
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

/* The barrier for an arrival like the model's step; WSDBG_NONE = there is none. */
static uint32_t aimed_at(const struct wsdbg_trial *t, const struct pairing *p, const struct wsdbg_replay_agent *self,
                         const struct wsdbg_replay_agent *model, uint32_t at)
{
    const struct wsdbg_replay_barrier *to = &t->replay->barriers[model->target[at]];
    const uint32_t count = t->c->cta_count;
    if (p->aim == AIM_SAME)
        return model->target[at];
    const uint32_t cta =
        p->aim == AIM_PEER ? (to->cta + count - model->cta + self->cta) % count : p->aim - AIM_AT_FIRST;
    return wsdbg_replay_barrier_at(t->replay, cta, to->offset);
}

/* How many lanes of a thread arrive as the model's do: the same lanes as there.  Another lane may be the elected one;
 * then all do. */
static uint32_t lanes_like(const struct wsdbg_replay_agent *self, const struct wsdbg_replay_agent *model)
{
    const uint32_t same = (uint32_t)__builtin_popcount(self->lanes & model->lanes);
    return same ? same : self->lane_count;
}

static bool add_like(struct wsdbg_trial *t, const struct pairing *p, uint32_t self, uint32_t at,
                     const struct wsdbg_replay_agent *model, uint32_t at_model)
{
    const struct wsdbg_step_row *step = &model->steps[at_model];
    const struct wsdbg_replay_agent *a = &t->replay->agents[self];
    const uint32_t lanes = lanes_like(a, model);
    const int64_t bytes = step->kind == WSDBG_ACCESS_ARRIVE_EXPECT ? (int64_t)step->number * lanes : 0;
    const uint32_t arrivals = wsdbg_replay_arrivals_of(model, at_model) / model->lane_count * lanes;
    return p->kind == WSDBG_REPAIR_ADD_LIKE &&
           wsdbg_trial_add_edit(
               t, (struct wsdbg_replay_edit){self, at, aimed_at(t, p, a, model, at_model), arrivals, bytes});
}

static bool drop(struct wsdbg_trial *t, const struct pairing *p, uint32_t self, uint32_t at)
{
    return p->kind == WSDBG_REPAIR_DROP_LIKE &&
           wsdbg_trial_add_edit(
               t, (struct wsdbg_replay_edit){.agent = self, .step = at, .barrier = t->replay->agents[self].target[at]});
}

/* One thread initialises the barriers for all. */
static uint32_t behind_inits(const struct wsdbg_replay_agent *agent, uint32_t step)
{
    while (step < agent->step_count && agent->steps[step].kind == WSDBG_ACCESS_INIT)
        step++;
    return step;
}

/* Makes a thread's arrivals those of its model.  False where they differ in more than arrivals of the family, or not at
 * all. */
static bool straighten(struct wsdbg_trial *t, const struct pairing *p, uint32_t self, uint32_t other)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[self], *model = &t->replay->agents[other];
    const uint32_t before = t->changes.edit_count;
    bool fits = true;
    uint32_t i = behind_inits(a, 0), k = behind_inits(model, 0);
    while (fits && (i < a->step_count || k < model->step_count)) {
        const bool own = i < a->step_count && is_of_family(t, p, a, i),
                   its = k < model->step_count && is_of_family(t, p, model, k);
        if (own != its)
            fits = own ? drop(t, p, self, i) : add_like(t, p, self, i, model, k);
        else if (!own)
            fits = i < a->step_count && k < model->step_count && are_same(&a->steps[i], &model->steps[k]);
        i = behind_inits(a, i + (own || !its));
        k = behind_inits(model, k + (its || !own));
    }
    if (!fits)
        t->changes.edit_count = before;
    return fits && t->changes.edit_count > before;
}

/* The elected lane is another one in each warp where each serves another CTA. */
static bool may_be_model(const struct wsdbg_trial *t, const struct pairing *p, const struct wsdbg_replay_agent *self,
                         const struct wsdbg_replay_agent *other)
{
    const uint32_t own = wsdbg_case_warp(t->c, self->warp)->warp, its = wsdbg_case_warp(t->c, other->warp)->warp;
    const bool are_alike = self->lanes & other->lanes || (!p->across && self->lane_count == other->lane_count);
    return are_alike && (p->across ? other->cta != self->cta && own == its : other->cta == self->cta && own != its);
}

/* That one warp of the CTA does not arrive does not show that another one must not: most often one is elected. */
static bool may_show(const struct wsdbg_trial *t, const struct pairing *p, const struct wsdbg_replay_agent *model)
{
    bool arrives = p->across || p->kind == WSDBG_REPAIR_ADD_LIKE;
    for (uint32_t k = 0; k < model->step_count && !arrives; k++)
        arrives = is_of_family(t, p, model, k);
    return arrives;
}

/* The first model that shows a difference. */
static bool straighten_like_some(struct wsdbg_trial *t, const struct pairing *p, uint32_t self,
                                 struct wsdbg_repair *repair)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[self];
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        if (!may_be_model(t, p, a, &t->replay->agents[i]) || !may_show(t, p, &t->replay->agents[i]) ||
            !straighten(t, p, self, i))
            continue;
        repair->like = wsdbg_set_count(&repair->warps) ? repair->like : t->replay->agents[i].warp;
        wsdbg_set_add(&repair->warps, a->warp);
        return true;
    }
    return false;
}

/* Whether a warp at the same place of another warpgroup arrives on that barrier. */
static bool place_shows(const struct wsdbg_trial *t, const struct wsdbg_replay_edit *edit)
{
    const uint32_t own = wsdbg_case_warp(t->c, t->replay->agents[edit->agent].warp)->warp;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        const uint32_t its = wsdbg_case_warp(t->c, a->warp)->warp;
        if (its != own && its % WSDBG_GROUP_WARPS == own % WSDBG_GROUP_WARPS &&
            wsdbg_replay_arrivals_on(a, edit->barrier) > 0)
            return true;
    }
    return false;
}

/* Whether all other warps of its warpgroup arrive on that barrier: then no warp is elected to do so. */
static bool mates_show(const struct wsdbg_trial *t, const struct wsdbg_replay_edit *edit)
{
    const uint32_t warp = t->replay->agents[edit->agent].warp;
    struct wsdbg_warp_set arrive = {{0}};
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        if (wsdbg_case_are_mates(t->c, warp, a->warp) && wsdbg_replay_arrivals_on(a, edit->barrier) > 0)
            wsdbg_set_add(&arrive, a->warp);
    }
    return wsdbg_set_count(&arrive) == WSDBG_GROUP_WARPS - 1;
}

/* That one warp of the CTA arrives does not show that another one has to: most often one of them is elected. */
static bool are_shown(const struct wsdbg_trial *t, const struct pairing *p)
{
    for (uint32_t i = 0; i < t->changes.edit_count && !p->across && p->kind == WSDBG_REPAIR_ADD_LIKE; i++) {
        const bool is_alike =
            i > 0 && t->edits[i].agent == t->edits[i - 1].agent && t->edits[i].barrier == t->edits[i - 1].barrier;
        if (!is_alike && !(p->by_mates ? mates_show(t, &t->edits[i]) : place_shows(t, &t->edits[i])))
            return false;
    }
    return true;
}

/* *any: some pair differs so; else other aims need not be tried. */
static bool works(struct wsdbg_trial *t, const struct pairing *p, bool *any)
{
    struct wsdbg_repair repair = {.kind = p->kind};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (p->warp == WSDBG_NONE || wsdbg_case_warp(t->c, t->replay->agents[i].warp)->warp == p->warp)
            straighten_like_some(t, p, i, &repair);
    *any = wsdbg_trial_keep_edits(t, &repair);
    if (!*any || t->replay->steps_left == 0 || !are_shown(t, p) || !wsdbg_trial_works(t))
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

/* To drop arrivals needs no aim. */
static uint32_t aims_of(const struct wsdbg_trial *t, const struct pairing *p)
{
    if (p->kind == WSDBG_REPAIR_DROP_LIKE)
        return 1;
    return t->c->cta_count > 1 && crosses(t, p) ? AIM_AT_FIRST + t->c->cta_count : AIM_AT_FIRST;
}

/* Where no arrival of the family goes to another CTA, none is meant to. */
void wsdbg_try_across(struct wsdbg_trial *t, enum wsdbg_repair_kind kind)
{
    struct pairing p = {.kind = kind, .warp = WSDBG_NONE, .across = true};
    for (p.family = 0; t->c->cta_count > 1 && p.family < t->replay->barrier_count; p.family++) {
        bool any = wsdbg_trial_leads_family(t, p.family);
        const uint32_t aims = kind == WSDBG_REPAIR_DROP_LIKE ? 1 : AIM_AT_FIRST;
        for (p.aim = any && aims > 1 && !crosses(t, &p) ? AIM_PEER : AIM_SAME; any && p.aim < aims; p.aim++)
            if (works(t, &p, &any))
                break;
    }
}

/* True if some repair works. */
static bool try_warps(struct wsdbg_trial *t, enum wsdbg_repair_kind kind, bool by_mates)
{
    struct pairing p = {.kind = kind, .by_mates = by_mates};
    const uint32_t warps = wsdbg_trial_warps_of_cta(t);
    bool any_works = false;
    for (p.family = 0; p.family < t->replay->barrier_count; p.family++) {
        const uint32_t aims = wsdbg_trial_leads_family(t, p.family) ? aims_of(t, &p) : 0;
        for (p.warp = 0; p.warp < warps; p.warp++) {
            bool any = true, work = false;
            for (p.aim = 0; any && !work && p.aim < aims; p.aim++)
                work = works(t, &p, &any);
            any_works |= work;
        }
    }
    return any_works;
}

/* The same warp of all CTAs changes: they run the same code.  What all other warps of a warpgroup do shows most. */
void wsdbg_try_mates(struct wsdbg_trial *t, enum wsdbg_repair_kind kind)
{
    if (kind == WSDBG_REPAIR_ADD_LIKE && try_warps(t, kind, true))
        return;
    try_warps(t, kind, false);
}
