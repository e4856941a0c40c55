/* repair_move.c - repairs of arrivals that go to the wrong CTA of the cluster.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  A kernel names the CTA by a rank that it
 * calculates.  Where that is wrong, one CTA's barrier gets arrivals that another one's lacks.
 */
#include "diagnose/repair_trial.h"

enum { CTAS_MOST = 4 };

/* Where the arrivals go instead: one to each CTA, or all of them to the CTA with this number in the case, or to the one
 * that is so far from the thread's own. */
enum aim { AIM_EACH, AIM_CTA, AIM_PEER };

struct move {
    uint32_t family; /* a barrier of it */
    uint32_t warp;   /* number in its CTA of the warps whose arrivals move; WSDBG_NONE = all */
    enum aim aim;
    uint32_t number; /* of the CTA, or how far */
};

static bool moves(const struct wsdbg_trial *t, const struct move *move, const struct wsdbg_replay_agent *a, uint32_t at)
{
    return a->target[at] != WSDBG_NONE && wsdbg_replay_arrivals_of(a, at) &&
           wsdbg_replay_is_of_family(t->replay, move->family, a->target[at]) &&
           a->steps[at].kind == WSDBG_ACCESS_ARRIVE;
}

static bool add_edit(struct wsdbg_trial *t, struct wsdbg_replay_edit edit)
{
    if (t->changes.edit_count == WSDBG_EDITS_MOST || (edit.arrivals && edit.barrier == WSDBG_NONE))
        return false;
    t->edits[t->changes.edit_count++] = edit;
    return true;
}

static bool send_to(struct wsdbg_trial *t, uint32_t agent, uint32_t at, uint32_t cta, uint32_t arrivals)
{
    const uint32_t target = t->replay->agents[agent].target[at];
    const uint32_t barrier = wsdbg_replay_barrier_at(t->replay, cta, t->replay->barriers[target].offset);
    return add_edit(t, (struct wsdbg_replay_edit){agent, at, barrier, arrivals, 0});
}

/* Moves one step's arrivals; false where that cannot be. */
static bool move_step(struct wsdbg_trial *t, const struct move *move, uint32_t agent, uint32_t at)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    const uint32_t arrivals = wsdbg_replay_arrivals_of(a, at), ctas = t->c->cta_count;
    bool fits = add_edit(t, (struct wsdbg_replay_edit){.agent = agent, .step = at, .barrier = a->target[at]});
    if (move->aim == AIM_CTA)
        return fits && send_to(t, agent, at, move->number, arrivals);
    if (move->aim == AIM_PEER)
        return fits && send_to(t, agent, at, (a->cta + move->number) % ctas, arrivals);
    for (uint32_t cta = 0; cta < ctas; cta++)
        fits = fits && arrivals % ctas == 0 && send_to(t, agent, at, cta, arrivals / ctas);
    return fits;
}

/* Whether some arrival gets another barrier than that of its step. */
static bool changes_something(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->changes.edit_count; i++) {
        const struct wsdbg_replay_edit *edit = &t->edits[i];
        if (edit->arrivals && edit->barrier != t->replay->agents[edit->agent].target[edit->step])
            return true;
    }
    return false;
}

/* The first arrival on another barrier than that of its step; there is one. */
static const struct wsdbg_replay_edit *first_arrival(const struct wsdbg_trial *t)
{
    uint32_t i = 0;
    while (t->edits[i].arrivals == 0 ||
           t->edits[i].barrier == t->replay->agents[t->edits[i].agent].target[t->edits[i].step])
        i++;
    return &t->edits[i];
}

static bool works(struct wsdbg_trial *t, const struct move *move)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_MOVE, .value = move->aim};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        if (move->warp != WSDBG_NONE && wsdbg_case_warp(t->c, a->warp)->warp != move->warp)
            continue;
        for (uint32_t k = 0; k < a->step_count; k++) {
            if (!moves(t, move, a, k))
                continue;
            if (!move_step(t, move, i, k))
                return false;
            wsdbg_set_add(&repair.warps, a->warp);
        }
    }
    if (t->replay->steps_left == 0 || !changes_something(t) || !wsdbg_trial_keep_edits(t, &repair) ||
        !wsdbg_trial_works(t))
        return false;
    repair.edit = *first_arrival(t);
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

/* The warps of one number, else all that arrive on the family.  In a large cluster there are too many ways. */
void wsdbg_try_move(struct wsdbg_trial *t)
{
    const uint32_t warps = wsdbg_trial_warps_of_cta(t);
    for (uint32_t f = 0; f < t->replay->barrier_count && t->c->cta_count > 1 && t->c->cta_count <= CTAS_MOST; f++) {
        bool is_done = !wsdbg_trial_leads_family(t, f) || !crosses(t, f);
        for (uint32_t w = 0; w < warps && !is_done; w++)
            is_done = try_aims(t, (struct move){.family = f, .warp = w});
        if (!is_done)
            try_aims(t, (struct move){.family = f, .warp = WSDBG_NONE});
    }
}
