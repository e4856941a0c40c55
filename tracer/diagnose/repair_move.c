/* repair_move.c - repairs of arrivals that go to the wrong CTA of the cluster, or to the wrong one of two barriers. See
 * repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  A kernel calculates the rank of the CTA, or the
 * index of the barrier.  Where that is wrong, one barrier gets arrivals that another one lacks.
 */
#include "diagnose/cta_rounds.h"
#include "diagnose/repair_trial.h"

enum { CTAS_MOST = 4 };

/* Where the arrivals go instead: in turn to each CTA, or all of them to the CTA with this number in the case, or to the
 * one that is so far from the thread's own. */
enum aim { AIM_EACH, AIM_CTA, AIM_PEER };

struct move {
    uint32_t family;       /* a barrier of it */
    uint32_t first, count; /* numbers in their CTAs of the warps whose arrivals move */
    enum aim aim;
    uint32_t number; /* of the CTA, or how far */
};

static bool moves(const struct wsdbg_trial *t, const struct move *move, const struct wsdbg_replay_agent *a, uint32_t at)
{
    return a->target[at] != WSDBG_NONE && wsdbg_replay_arrivals_of(a, at) &&
           wsdbg_replay_is_of_family(t->replay, move->family, a->target[at]) &&
           a->steps[at].kind == WSDBG_ACCESS_ARRIVE;
}

static bool send_to(struct wsdbg_trial *t, uint32_t agent, uint32_t at, uint32_t cta, uint32_t arrivals)
{
    const uint32_t target = t->replay->agents[agent].target[at];
    const uint32_t barrier = wsdbg_replay_barrier_at(t->replay, cta, t->replay->barriers[target].offset);
    return wsdbg_trial_add_edit(t, wsdbg_replay_edit_of(agent, at, barrier, arrivals, 0));
}

/* The arrivals that the agent made before this step on the same barrier of any CTA. */
static uint32_t arrivals_before(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t at)
{
    const struct wsdbg_replay_barrier *barriers = t->replay->barriers;
    uint32_t count = 0;
    for (uint32_t k = 0; k < at; k++)
        if (a->target[k] != WSDBG_NONE && barriers[a->target[k]].offset == barriers[a->target[at]].offset &&
            a->steps[k].kind == WSDBG_ACCESS_ARRIVE)
            count += wsdbg_replay_arrivals_of(a, k);
    return count;
}

/* A thread that arrives in several CTAs names one after the other; lanes of a warp each name their own. */
static bool send_to_each(struct wsdbg_trial *t, uint32_t agent, uint32_t at, uint32_t arrivals)
{
    const uint32_t ctas = t->c->cta_count;
    if (arrivals == 1)
        return send_to(t, agent, at, arrivals_before(t, &t->replay->agents[agent], at) % ctas, 1);
    bool fits = arrivals % ctas == 0;
    for (uint32_t cta = 0; cta < ctas && fits; cta++)
        fits = send_to(t, agent, at, cta, arrivals / ctas);
    return fits;
}

/* Moves one step's arrivals; false where that cannot be. */
static bool move_step(struct wsdbg_trial *t, const struct move *move, uint32_t agent, uint32_t at)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    const uint32_t arrivals = wsdbg_replay_arrivals_of(a, at);
    if (!wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.agent = agent, .step = at, .barrier = a->target[at]}))
        return false;
    if (move->aim == AIM_CTA)
        return send_to(t, agent, at, move->number, arrivals);
    if (move->aim == AIM_PEER)
        return send_to(t, agent, at, (a->cta + move->number) % t->c->cta_count, arrivals);
    return send_to_each(t, agent, at, arrivals);
}

static bool is_changed(const struct wsdbg_trial *t, uint32_t i)
{
    const struct wsdbg_replay_edit *edit = &t->edits[i];
    return edit->arrivals && edit->barrier != t->replay->agents[edit->agent].target[edit->step];
}

/* The warps of arrivals that get another barrier than that of their steps, and the first of these edits.  False: there
 * is none. */
static bool tell_changes(const struct wsdbg_trial *t, struct wsdbg_repair *repair)
{
    bool is_first = true;
    for (uint32_t i = 0; i < t->changes.edit_count; i++) {
        if (!is_changed(t, i))
            continue;
        if (is_first)
            repair->edit = t->edits[i];
        is_first = false;
        wsdbg_set_add(&repair->warps, t->replay->agents[t->edits[i].agent].warp);
    }
    return !is_first;
}

static bool is_of(const struct wsdbg_trial *t, const struct move *move, uint32_t warp)
{
    const uint32_t number = wsdbg_case_warp(t->c, warp)->warp;
    return number >= move->first && number - move->first < move->count;
}

static bool works(struct wsdbg_trial *t, const struct move *move)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_MOVE, .value = move->aim};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count && is_of(t, move, a->warp); k++)
            if (moves(t, move, a, k) && !move_step(t, move, i, k))
                return false;
    }
    struct wsdbg_repair told = repair;
    if (t->replay->steps_left == 0 || !tell_changes(t, &told) || !wsdbg_trial_keep_edits(t, &repair) ||
        !wsdbg_trial_works(t))
        return false;
    repair.edit = told.edit;
    repair.warps = told.warps;
    repair.is_doubtful = wsdbg_rounds_differ(t->replay);
    wsdbg_trial_keep(t, &repair);
    return true;
}

static bool try_aims(struct wsdbg_trial *t, struct move move)
{
    move.aim = AIM_EACH;
    if (works(t, &move))
        return true;
    move.aim = AIM_CTA;
    for (move.number = 0; move.number < t->c->cta_count; move.number++)
        if (works(t, &move))
            return true;
    move.aim = AIM_PEER;
    for (move.number = 0; move.number < t->c->cta_count; move.number++)
        if (works(t, &move))
            return true;
    return false;
}

/* Some arrival of the family goes to another CTA. */
static bool crosses(const struct wsdbg_trial *t, uint32_t family)
{
    const struct move move = {.family = family};
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++)
            if (moves(t, &move, a, k) && t->replay->barriers[a->target[k]].cta != a->cta)
                return true;
    }
    return false;
}

/* The warps of one number, else of one warpgroup, else all that arrive on the family.  In a large cluster there are too
 * many ways. */
void wsdbg_try_move(struct wsdbg_trial *t)
{
    const uint32_t warps = wsdbg_trial_warps_of_cta(t);
    for (uint32_t f = 0; f < t->replay->barrier_count && t->c->cta_count > 1 && t->c->cta_count <= CTAS_MOST; f++) {
        bool is_done = !wsdbg_trial_leads_family(t, f) || !crosses(t, f);
        for (uint32_t w = 0; w < warps && !is_done; w++)
            is_done = try_aims(t, (struct move){.family = f, .first = w, .count = 1});
        for (uint32_t w = 0; w < warps && !is_done; w += WSDBG_GROUP_WARPS)
            is_done = try_aims(t, (struct move){.family = f, .first = w, .count = WSDBG_GROUP_WARPS});
        if (!is_done)
            try_aims(t, (struct move){.family = f, .count = warps});
    }
}

/* ---- the wrong one of two barriers ---- */

static uint64_t arrivals_so_far(const struct wsdbg_trial *t, uint32_t barrier)
{
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        arrivals += wsdbg_trial_waits_was(t, i, barrier)->arrived;
    return arrivals;
}

/* Lets an arrival on one of the barriers, or on the same one of another CTA, go to the other one. */
static bool swap_step(struct wsdbg_trial *t, uint32_t agent, uint32_t at, uint32_t one, uint32_t other)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    const struct wsdbg_replay_barrier *barriers = t->replay->barriers;
    const uint32_t target = a->target[at];
    if (target == WSDBG_NONE || a->steps[at].kind != WSDBG_ACCESS_ARRIVE ||
        (barriers[target].offset != barriers[one].offset && barriers[target].offset != barriers[other].offset))
        return true;
    const uint32_t to = barriers[target].offset == barriers[one].offset ? other : one;
    const uint32_t there = wsdbg_replay_barrier_at(t->replay, barriers[target].cta, barriers[to].offset);
    return wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.agent = agent, .step = at, .barrier = target}) &&
           wsdbg_trial_add_edit(t, wsdbg_replay_edit_of(agent, at, there, wsdbg_replay_arrivals_of(a, at), 0));
}

/* `lacks`: the barrier that gets the first of these arrivals.  Who arrives before its first wait gives the first turn
 * of all, and that stays as it is. */
static bool swap_works(struct wsdbg_trial *t, uint32_t lacks, uint32_t gets, struct wsdbg_repair *repair)
{
    bool fits = true;
    *repair = (struct wsdbg_repair){.kind = WSDBG_REPAIR_MOVE, .value = WSDBG_MOVES_SWAP};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        bool has_waited = false;
        for (uint32_t k = 0; k < t->replay->agents[i].step_count && fits; k++) {
            has_waited |= t->replay->agents[i].steps[k].kind == WSDBG_ACCESS_WAIT;
            fits = !has_waited || swap_step(t, i, k, lacks, gets);
        }
    }
    struct wsdbg_repair told = *repair;
    if (!fits || !tell_changes(t, &told) || !wsdbg_trial_keep_edits(t, repair) || !wsdbg_trial_works(t) ||
        !t->is_to_end)
        return false;
    repair->edit = told.edit;
    repair->barrier = lacks;
    repair->warps = told.warps;
    return true;
}

/* Whether both are stages of one ring, and the arrivals there come in the order of the waits. */
static bool is_in_order(const struct wsdbg_trial *t, uint32_t lacks, uint32_t gets)
{
    return wsdbg_replay_is_of_family(t->replay, lacks, gets) && wsdbg_trial_is_in_order(t, lacks);
}

/* Groups give turns to one another by two barriers with the same count.  A barrier at which one stands lacks all
 * arrivals, and the other one has some. */
void wsdbg_try_swap(struct wsdbg_trial *t)
{
    struct wsdbg_repair repair, found;
    uint32_t works = 0;
    for (uint32_t lacks = 0; lacks < t->replay->barrier_count; lacks++) {
        if (t->replay->barriers[lacks].cta != 0 || !wsdbg_trial_is_waited_on(t, lacks) || arrivals_so_far(t, lacks))
            continue;
        for (uint32_t gets = 0; gets < t->replay->barrier_count; gets++)
            if (t->replay->barriers[gets].cta == 0 && t->expected_was[gets] == t->expected_was[lacks] &&
                arrivals_so_far(t, gets) && !is_in_order(t, lacks, gets) && swap_works(t, lacks, gets, &repair)) {
                works++;
                found = repair;
            }
    }
    if (works == 1)
        wsdbg_trial_keep_found(t, &found, true);
}
