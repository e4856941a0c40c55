/* repair_stay.c - repairs of warps that leave the kernel too early, or that do not arrive before they begin.  See
 * repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  A warp that has left, and that up to there did
 * what another warp does, its model, is taken to have left too early if the kernel finishes once it does all that its
 * model does.  In the trial the model does it, too, for the warp that has left: each of its arrivals counts twice.
 */
#include "diagnose/code_case.h"
#include "diagnose/repair_trial.h"
#include "diagnose/replay_likes.h"

#include <string.h>

enum { TURNS_MOST = 4 }; /* models of a warp that are tried */

/* Which warps are taken to have left too early: some of a warpgroup, in one CTA or in all. */
struct leavers {
    uint32_t cta;          /* index in snapshot.ctas, WSDBG_NONE = all */
    uint32_t first, count; /* numbers of these warps in their CTA */
    uint32_t turn;         /* which of the models of each is tried */
    bool gave_more;        /* they may have arrived more often than their models */
};

/* ---- what the model does for the warp that left ---- */

static uint32_t cta_of(const struct wsdbg_trial *t, uint32_t warp)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->replay->agents[i].warp == warp)
            return t->replay->agents[i].cta;
    return WSDBG_NONE;
}

/* From which step on an agent of the model does what the leaver would have done: those before, the leaver did itself.
 */
static uint32_t begin_of_double(const struct wsdbg_trial *t, uint32_t leaver, const struct wsdbg_replay_agent *model,
                                enum wsdbg_replay_likeness likeness)
{
    uint32_t begin = WSDBG_NONE, goes_on;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        if (a->warp == leaver && a->lanes & model->lanes && wsdbg_replay_begins_like(a, model, likeness, &goes_on) &&
            goes_on < begin)
            begin = goes_on;
    }
    return begin;
}

/* Adds the arrivals of a model's agent once more, from the step `begin` on.  False: there is no room. */
static bool double_arrivals(struct wsdbg_trial *t, uint32_t agent, uint32_t begin, uint32_t cta)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t k = begin; k < a->step_count; k++) {
        const uint32_t arrivals = a->target[k] == WSDBG_NONE ? 0 : wsdbg_replay_arrivals_of(a, k);
        const uint32_t barrier = arrivals ? wsdbg_trial_target_for(t, a->target[k], a->cta, cta) : WSDBG_NONE;
        if (barrier == WSDBG_NONE)
            continue;
        if (t->changes.edit_count == WSDBG_EDITS_MOST)
            return false;
        t->edits[t->changes.edit_count++] = wsdbg_replay_edit_of(agent, k, barrier, arrivals, 0);
    }
    t->doubles[agent] = begin;
    return true;
}

static bool comes_to_named(const struct wsdbg_replay_agent *agent, uint32_t begin)
{
    for (uint32_t k = begin; k < agent->step_count; k++)
        if (agent->steps[k].kind == WSDBG_ACCESS_NAMED_SYNC || agent->steps[k].kind == WSDBG_ACCESS_NAMED_ARRIVE)
            return true;
    return false;
}

/* Lets the model stand for the leaver, too.  False: it does so already for another warp; or it is of another CTA, whose
 * named barriers it comes to; or there is no room. */
static bool double_model(struct wsdbg_trial *t, uint32_t leaver, uint32_t model, enum wsdbg_replay_likeness likeness)
{
    const uint32_t cta = cta_of(t, leaver);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        if (a->warp != model)
            continue;
        const uint32_t begin = begin_of_double(t, leaver, a, likeness);
        if (t->doubles[i] != WSDBG_NONE || (a->cta != cta && comes_to_named(a, begin)) ||
            !double_arrivals(t, i, begin, cta))
            return false;
    }
    return true;
}

/* ---- trials ---- */

static bool is_one_of(const struct wsdbg_trial *t, uint32_t warp, const struct leavers *leavers)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(t->c, warp);
    return (leavers->cta == WSDBG_NONE || row->cta == leavers->cta) && row->warp >= leavers->first &&
           row->warp < leavers->first + leavers->count;
}

static bool executes(const struct wsdbg_trial *t, uint32_t warp, uint32_t access)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; a->warp == warp && k < a->step_count; k++)
            if (a->steps[k].access == access)
                return true;
    }
    return false;
}

/* Whether some of the warpgroup execute the access and stay, and others do not execute it. */
static bool is_of_a_branch(const struct wsdbg_trial *t, uint32_t warp, uint32_t access)
{
    bool some_stay = false, some_do_not = false;
    for (uint32_t w = 0; w < t->c->warp_count && access != WSDBG_NONE; w++) {
        if (w == warp || !wsdbg_case_are_mates(t->c, w, warp))
            continue;
        const bool does = executes(t, w, access);
        some_stay |= does && wsdbg_case_warp(t->c, w)->state != WSDBG_WARP_EXITED;
        some_do_not |= !does;
    }
    return some_stay && some_do_not;
}

/* Whether the warp asked for the registers of a role, or gave others back, as some of its warpgroup did that stay, and
 * as others did not: then it took their branch.  A barrier at which warps meet shows no role. */
static bool left_a_role(const struct wsdbg_trial *t, uint32_t warp)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; a->warp == warp && k < a->step_count; k++)
            if ((a->steps[k].kind == WSDBG_ACCESS_REGISTERS_RELEASE ||
                 a->steps[k].kind == WSDBG_ACCESS_REGISTERS_REQUEST) &&
                is_of_a_branch(t, warp, a->steps[k].access))
                return true;
    }
    return false;
}

/* Lets these warps stay; false where one of them has not left, or has no model. */
static bool let_stay(struct wsdbg_trial *t, const struct leavers *leavers, struct wsdbg_repair *repair)
{
    for (uint32_t w = 0; w < t->c->warp_count; w++) {
        if (!is_one_of(t, w, leavers))
            continue;
        if (wsdbg_case_warp(t->c, w)->state != WSDBG_WARP_EXITED)
            return false;
        const bool by_arrivals = leavers->count > 1 || wsdbg_replay_mates_arrive(t->replay, w) || left_a_role(t, w);
        const bool has_left = by_arrivals || wsdbg_trial_mates_stay(t, w) || wsdbg_replay_workers_gone(t->replay, w);
        const enum wsdbg_replay_likeness likeness = leavers->gave_more ? WSDBG_LIKE_BUT_FOR_MORE
                                                    : by_arrivals      ? WSDBG_LIKE_IN_ALL
                                                                       : WSDBG_LIKE_BY_MBARRIERS;
        const uint32_t model = has_left ? wsdbg_replay_model_of(t->replay, w, likeness, leavers->turn) : WSDBG_NONE;
        if (model == WSDBG_NONE || !double_model(t, w, model, likeness))
            return false;
        repair->like = wsdbg_set_count(&repair->warps) ? repair->like : model;
        wsdbg_set_add(&repair->warps, w);
    }
    return wsdbg_set_count(&repair->warps) > 0;
}

/* Whether those who left would have arrived on the barrier more often than a model of theirs does. */
static bool gave_more_on(const struct wsdbg_trial *t, const struct wsdbg_repair *repair, uint32_t barrier)
{
    uint64_t arrivals = 0, of_models = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        const uint64_t made = wsdbg_replay_arrivals_on(a, barrier);
        arrivals += wsdbg_set_has(&repair->warps, a->warp) ? made : 0;
        of_models += t->doubles[i] != WSDBG_NONE ? made : 0;
    }
    for (uint32_t i = 0; i < t->changes.edit_count; i++)
        arrivals += t->edits[i].barrier == barrier ? t->edits[i].arrivals : 0;
    return arrivals > of_models;
}

/* Whether no phase of the barriers of the edits was left half done: then there was no arrival too many.  On barriers on
 * which those who left gave more than others do, there is. */
static bool are_phases_whole(const struct wsdbg_trial *t, const struct wsdbg_repair *repair, bool gave_more)
{
    if (!gave_more)
        return wsdbg_trial_are_phases_whole(t);
    for (uint32_t i = 0; i < t->changes.edit_count; i++) {
        const struct wsdbg_replay_barrier *b = &t->replay->barriers[t->edits[i].barrier];
        if (b->pending != b->expected && !gave_more_on(t, repair, t->edits[i].barrier))
            return false;
    }
    return true;
}

/* Whether a warp is seen to wait for a phase of the barrier that lacks arrivals.  Of a barrier that has no row nobody
 * knows: then it may. */
static bool lacks_arrivals(const struct wsdbg_trial *t, uint32_t barrier)
{
    const uint32_t row = t->replay->barriers[barrier].row;
    struct wsdbg_barrier_word word;
    if (row == WSDBG_NONE)
        return true;
    for (uint32_t w = 0; w < t->c->warp_count; w++)
        if (wsdbg_code_wait(t->c, w, &word) && word.barrier == row)
            return word.pending > 0;
    return false;
}

/* Whether some arrival of the edits may be one that is missing.  Where all that is missing are bytes, nobody left. */
static bool may_be_missing(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->changes.edit_count; i++)
        if (lacks_arrivals(t, t->edits[i].barrier))
            return true;
    return t->changes.edit_count == 0;
}

static bool try_turn(struct wsdbg_trial *t, const struct leavers *leavers)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_STAY};
    wsdbg_trial_begin(t);
    if (!let_stay(t, leavers, &repair) || !may_be_missing(t) || !wsdbg_trial_keep_edits(t, &repair))
        return false;
    t->changes.doubles = t->doubles;
    if (!wsdbg_trial_works(t) || (t->is_to_end && !are_phases_whole(t, &repair, leavers->gave_more)))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

static bool try_leavers(struct wsdbg_trial *t, uint32_t cta, uint32_t first, uint32_t count, bool gave_more)
{
    struct leavers leavers = {cta, first, count, 0, gave_more};
    for (; leavers.turn < TURNS_MOST; leavers.turn++)
        if (try_turn(t, &leavers))
            return true;
    return false;
}

/* One CTA alone, else all: code is most often the same in all of them. */
static bool try_in_ctas(struct wsdbg_trial *t, uint32_t first, uint32_t count, bool gave_more)
{
    for (uint32_t cta = 0; cta < t->c->cta_count; cta++)
        if (try_leavers(t, t->c->ctas[cta], first, count, gave_more))
            return true;
    return t->c->cta_count > 1 && try_leavers(t, WSDBG_NONE, first, count, gave_more);
}

void wsdbg_try_stay(struct wsdbg_trial *t)
{
    const uint32_t warps = wsdbg_trial_warps_of_cta(t);
    for (uint32_t first = 0; first < warps; first++)
        if (try_in_ctas(t, first, 1, false))
            return;
    for (int gave_more = 0; gave_more < 2; gave_more++)
        for (uint32_t first = 0; first < warps; first += WSDBG_GROUP_WARPS)
            if (try_in_ctas(t, first, WSDBG_GROUP_WARPS, gave_more))
                return;
}

/* ---- named barriers ---- */

/* Notes which warps arrive at the named barrier.  False: a step names another count than the threads of all warps
 * that come to it: then the count may be what is wrong. */
static bool note_comers(const struct wsdbg_trial *t, uint32_t id, struct wsdbg_warp_set *warps)
{
    struct wsdbg_warp_set comers = {{0}};
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++) {
            const struct wsdbg_step_row *step = &a->steps[k];
            const bool arrives = step->kind == WSDBG_ACCESS_NAMED_ARRIVE;
            if ((!arrives && step->kind != WSDBG_ACCESS_NAMED_SYNC) || step->address != id)
                continue;
            wsdbg_set_add(&comers, a->warp);
            if (arrives)
                wsdbg_set_add(warps, a->warp);
            least = step->number < least ? step->number : least;
            most = step->number > most ? step->number : most;
        }
    }
    return least == most && most * t->c->cta_count == wsdbg_set_count(&comers) * WSDBG_WARP_THREADS;
}

/* True if it works that the repair's warps arrive at all its barriers before they begin. */
static bool try_early_at(struct wsdbg_trial *t, const struct wsdbg_repair *repair)
{
    wsdbg_trial_begin(t);
    t->changes.early_ids = repair->value;
    const bool works = wsdbg_trial_works(t);
    if (works)
        wsdbg_trial_keep(t, repair);
    return works;
}

/* Each barrier alone; else all at which the same warps arrive, if somebody waits there: a group hands its turns to the
 * next one at several barriers. */
void wsdbg_try_early(struct wsdbg_trial *t)
{
    struct wsdbg_repair repairs[WSDBG_NAMED_BARRIERS];
    bool works = false;
    for (uint32_t id = 0; id < WSDBG_NAMED_BARRIERS; id++) {
        repairs[id] = (struct wsdbg_repair){.kind = WSDBG_REPAIR_EARLY, .named = id, .value = 1u << id};
        if (note_comers(t, id, &repairs[id].warps))
            continue;
        if (wsdbg_trial_is_waited_at(t, id))
            return;
        repairs[id].warps = (struct wsdbg_warp_set){{0}};
    }
    for (uint32_t id = 0; id < WSDBG_NAMED_BARRIERS; id++)
        works |= wsdbg_set_count(&repairs[id].warps) && try_early_at(t, &repairs[id]);
    for (uint32_t id = 0; id < WSDBG_NAMED_BARRIERS && !works; id++) {
        if (!wsdbg_set_count(&repairs[id].warps) || !wsdbg_trial_is_waited_at(t, id))
            continue;
        for (uint32_t other = 0; other < WSDBG_NAMED_BARRIERS; other++)
            if (memcmp(&repairs[id].warps, &repairs[other].warps, sizeof repairs[id].warps) == 0)
                repairs[id].value |= 1u << other;
        works = repairs[id].value != 1u << id && try_early_at(t, &repairs[id]);
    }
}
