/* repair_lanes.c - repairs of lanes that left the kernel too early, while others of their warp went on.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repair that works.  Lanes that have left, and that up to there did
 * what the same lanes of another warp did, their model, are taken to have left too early if the kernel finishes once
 * they make all arrivals that their model makes.
 */
#include "diagnose/repair_trial.h"
#include "diagnose/replay_likes.h"

enum { GROUPS_MOST = 8 }; /* warpgroups of a CTA */

/* Whose arrivals show what the lanes would have done. */
enum model_kind {
    MODEL_MATES,  /* the same lanes of another warp of the warpgroup; they make their own arrivals twice */
    MODEL_GROUPS, /* the same lanes of the warp at the same place of another warpgroup; they do so, too */
    MODEL_ACROSS, /* the same lanes of the same warp of another CTA; ... on the same barriers */
    MODEL_PEER,   /* ... on those as far from their own CTA as the model's are from the model's */
    MODEL_KINDS
};

static bool may_be_model(const struct wsdbg_trial *t, uint32_t warp, uint32_t model, enum model_kind kind)
{
    const struct wsdbg_warp_row *own = wsdbg_case_warp(t->c, warp), *other = wsdbg_case_warp(t->c, model);
    if (model == warp)
        return false;
    if (kind == MODEL_MATES)
        return wsdbg_case_are_mates(t->c, model, warp);
    return kind == MODEL_GROUPS
               ? other->cta == own->cta && other->warp % WSDBG_GROUP_WARPS == own->warp % WSDBG_GROUP_WARPS
               : other->cta != own->cta && other->warp == own->warp;
}

/* Whether the agent of the model's warp has lanes of this one, did the same, and goes on from *begin.  What lanes do
 * beside mbarriers counts if it is all that they did. */
static bool goes_on_like(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a,
                         const struct wsdbg_replay_agent *model, enum model_kind kind, uint32_t *begin)
{
    const bool by_mbarriers =
        kind == MODEL_MATES || (kind == MODEL_GROUPS && wsdbg_replay_workers_gone(t->replay, a->warp) & a->lanes);
    return model->lanes & a->lanes &&
           wsdbg_replay_begins_like(a, model, by_mbarriers ? WSDBG_LIKE_BY_MBARRIERS : WSDBG_LIKE_IN_ALL, begin);
}

/* Whether all lanes of the agent have gone on in the other warp, and no other lanes with them. */
static bool is_model(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t warp,
                     enum model_kind kind)
{
    uint32_t left = a->lanes, begin;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *model = &t->replay->agents[i];
        if (model->warp != warp || !(model->lanes & a->lanes))
            continue;
        if (model->lanes & ~a->lanes || !goes_on_like(t, a, model, kind, &begin))
            return false;
        left &= ~model->lanes;
    }
    return !left;
}

/* The warps that are models for the agent, turn by turn; WSDBG_NONE = there are no more. */
static uint32_t model_of(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, enum model_kind kind,
                         uint32_t turn)
{
    for (uint32_t w = 0; w < t->c->warp_count; w++)
        if (may_be_model(t, a->warp, w, kind) && is_model(t, a, w, kind) && turn-- == 0)
            return w;
    return WSDBG_NONE;
}

static uint32_t barrier_for(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a,
                            const struct wsdbg_replay_agent *model, uint32_t at, enum model_kind kind)
{
    const struct wsdbg_replay_barrier *to = &t->replay->barriers[model->target[at]];
    const uint32_t count = t->c->cta_count;
    return kind == MODEL_PEER
               ? wsdbg_replay_barrier_at(t->replay, (to->cta + count - model->cta + a->cta) % count, to->offset)
               : model->target[at];
}

/* The model makes the arrivals of one of its agents twice.  False: there is no room. */
static bool add_arrivals_of(struct wsdbg_trial *t, uint32_t agent, uint32_t model, uint32_t begin, enum model_kind kind)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[model];
    for (uint32_t k = begin; k < a->step_count; k++) {
        const uint32_t arrivals = a->target[k] == WSDBG_NONE ? 0 : wsdbg_replay_arrivals_of(a, k);
        const uint32_t barrier = arrivals ? barrier_for(t, &t->replay->agents[agent], a, k, kind) : WSDBG_NONE;
        if (arrivals && (t->changes.edit_count == WSDBG_EDITS_MOST || barrier == WSDBG_NONE))
            return false;
        if (arrivals)
            t->edits[t->changes.edit_count++] = wsdbg_replay_edit_of(model, k, barrier, arrivals, 0);
    }
    return true;
}

static bool add_arrivals(struct wsdbg_trial *t, uint32_t agent, uint32_t warp, enum model_kind kind)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        uint32_t begin;
        if (t->replay->agents[i].warp == warp && goes_on_like(t, a, &t->replay->agents[i], kind, &begin) &&
            !add_arrivals_of(t, agent, i, begin, kind))
            return false;
    }
    return true;
}

/* The lanes of a warp that may have left too early.  Lanes may leave before they have worked, as those of a producer do
 * that are not elected: then the same ones of another CTA show that they should have stayed; or those of another
 * warpgroup, if most of the warp has stayed. */
static uint32_t lanes_that_left(const struct wsdbg_trial *t, uint32_t warp, enum model_kind kind)
{
    const uint32_t gone = wsdbg_code_lanes_gone(t->c, warp);
    const bool are_few = 2 * __builtin_popcount(gone) < WSDBG_WARP_THREADS;
    return kind == MODEL_MATES || (kind == MODEL_GROUPS && !are_few) ? wsdbg_replay_workers_gone(t->replay, warp)
                                                                     : gone;
}

static bool left_early(const struct wsdbg_trial *t, uint32_t agent, enum model_kind kind)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    const uint32_t gone = lanes_that_left(t, a->warp, kind);
    return wsdbg_case_warp(t->c, a->warp)->state != WSDBG_WARP_EXITED && t->state[agent] == WSDBG_AGENT_ENDED &&
           !(a->lanes & ~gone);
}

/* Lets all lanes stay that have left while their warp went on.  In all CTAs at once: most often they run the same code.
 */
static bool let_stay(struct wsdbg_trial *t, struct wsdbg_repair *repair, enum model_kind kind, uint32_t turn)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        const uint32_t model = left_early(t, i, kind) ? model_of(t, a, kind, turn) : WSDBG_NONE;
        if (model == WSDBG_NONE)
            continue;
        if (!add_arrivals(t, i, model, kind))
            return false;
        repair->like = wsdbg_set_count(&repair->warps) ? repair->like : model;
        repair->lanes |= a->lanes;
        wsdbg_set_add(&repair->warps, a->warp);
    }
    return wsdbg_set_count(&repair->warps) > 0;
}

/* Of lanes that have done little, warps of other roles may be models, too: they do the same up to there. */
static bool try_kind(struct wsdbg_trial *t, enum model_kind kind)
{
    const uint32_t turns = kind == MODEL_GROUPS ? GROUPS_MOST : 1;
    for (uint32_t turn = 0; turn < turns; turn++) {
        struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_STAY};
        wsdbg_trial_begin(t);
        if (!let_stay(t, &repair, kind, turn))
            return false;
        if (wsdbg_trial_keep_edits(t, &repair) && wsdbg_trial_works(t)) {
            wsdbg_trial_keep(t, &repair);
            return true;
        }
    }
    return false;
}

void wsdbg_try_lanes(struct wsdbg_trial *t)
{
    for (enum model_kind kind = MODEL_MATES; kind < MODEL_KINDS; kind++)
        if (try_kind(t, kind))
            return;
}
