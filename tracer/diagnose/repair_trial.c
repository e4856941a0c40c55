/* repair_trial.c - runs a replay with changes and keeps the repairs that work.  See repair_trial.h.
 *
 * Reads: the trial.  Writes: the repairs; the replay is run again.
 */
#include "diagnose/repair_trial.h"

#include <stdlib.h>
#include <string.h>

/* ---- families ---- */

static const struct wsdbg_barrier *row_of(const struct wsdbg_trial *t, uint32_t barrier)
{
    const uint32_t row = t->replay->barriers[barrier].row;
    return row == WSDBG_NONE ? NULL : &t->c->snapshot->barriers[row];
}

bool wsdbg_trial_leads_family(const struct wsdbg_trial *t, uint32_t barrier)
{
    return t->replay->barriers[barrier].family == barrier;
}

uint32_t wsdbg_trial_stage_of(const struct wsdbg_trial *t, uint32_t barrier)
{
    const struct wsdbg_barrier *row = row_of(t, barrier);
    return row ? row->stage : WSDBG_NONE;
}

bool wsdbg_trial_is_of_stage(const struct wsdbg_trial *t, uint32_t a, uint32_t b)
{
    const struct wsdbg_barrier *one = row_of(t, a), *other = row_of(t, b);
    return a == b || (one && other && one->stage == other->stage);
}

const struct wsdbg_replay_waits *wsdbg_trial_waits_was(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier)
{
    return &t->waits[(size_t)agent * t->replay->barrier_count + barrier];
}

uint32_t wsdbg_trial_find_beside(const struct wsdbg_trial *t, uint32_t family, uint32_t cta, uint32_t wait)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (wsdbg_replay_is_of_family(t->replay, family, b) && t->replay->barriers[b].cta == cta &&
            wsdbg_trial_is_of_stage(t, wait, b))
            return b;
    return WSDBG_NONE;
}

uint32_t wsdbg_trial_stage_beside(const struct wsdbg_trial *t, uint32_t family, uint32_t cta, uint32_t wait)
{
    struct wsdbg_trial_beside *kept = t->beside;
    if (!kept->is_set || kept->family != family || kept->cta != cta) {
        kept->is_set = true;
        kept->family = family;
        kept->cta = cta;
        for (uint32_t b = 0; b < t->replay->barrier_count; b++)
            kept->of[b] = wsdbg_trial_find_beside(t, family, cta, b);
    }
    return kept->of[wait];
}

bool wsdbg_trial_has_filled(const struct wsdbg_trial *t, uint32_t agent, uint32_t step)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t k = 0; k < step; k++) {
        const bool fills = a->steps[k].kind == WSDBG_ACCESS_COPY || wsdbg_replay_announces(&a->steps[k]);
        if (fills && a->target[k] != WSDBG_NONE && wsdbg_trial_is_of_stage(t, a->target[k], a->target[step]) &&
            !wsdbg_replay_is_of_family(t->replay, a->target[k], a->target[step]) &&
            t->replay->barriers[a->target[k]].stages == t->replay->barriers[a->target[step]].stages &&
            t->replay->barriers[a->target[k]].cta == t->replay->barriers[a->target[step]].cta)
            return true;
    }
    return false;
}

/* ---- trials ---- */

void wsdbg_trial_begin(struct wsdbg_trial *t)
{
    memset(t->expected, 0, t->replay->barrier_count * sizeof *t->expected);
    memset(t->parity_from, 0, t->replay->barrier_count * sizeof *t->parity_from);
    memset(t->free_bytes, 0, t->replay->barrier_count * sizeof *t->free_bytes);
    memset(t->doubles, 0xff, t->replay->agent_count * sizeof *t->doubles); /* WSDBG_NONE */
    memset(t->flip_at, 0xff, t->replay->agent_count * sizeof *t->flip_at); /* WSDBG_NONE */
    t->changes = (struct wsdbg_replay_changes){
        .expected = t->expected, .parity_from = t->parity_from, .flip_at = t->flip_at, .edits = t->edits};
}

bool wsdbg_trial_add_edit(struct wsdbg_trial *t, struct wsdbg_replay_edit edit)
{
    if (edit.barrier == WSDBG_NONE)
        return false;
    if (t->changes.edit_count == WSDBG_EDITS_MOST) {
        t->out->is_partial = true;
        return false;
    }
    t->edits[t->changes.edit_count++] = edit;
    return true;
}

/* Whether every agent that stood gets past the step at which it stood. */
static bool goes_further(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->state[i] != WSDBG_AGENT_ENDED && t->state[i] != WSDBG_AGENT_LOST && t->replay->agents[i].at <= t->at[i])
            return false;
    return true;
}

/* Whether the change announces bytes on the barrier.  It then announces as many as the barrier needs to go on. */
static bool announces(const struct wsdbg_trial *t, uint32_t barrier)
{
    for (uint32_t i = 0; i < t->changes.edit_count; i++)
        if (t->edits[i].barrier == barrier && t->edits[i].bytes)
            return true;
    return false;
}

/* Whether some agent waits on the barrier more often than `phases` times: it is meant to wait for the phase behind
 * those. */
static bool is_waited_for(const struct wsdbg_trial *t, uint32_t barrier, uint32_t phases)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        uint32_t waits = 0;
        for (uint32_t k = 0; k < agent->step_count; k++)
            waits += agent->target[k] == barrier && agent->steps[k].kind == WSDBG_ACCESS_WAIT && !agent->repeats[k];
        if (waits > phases)
            return true;
    }
    return false;
}

/* Whether the edit comes before all that its agent does with the barrier: each phase is then another round's. */
static bool comes_first(const struct wsdbg_trial *t, const struct wsdbg_replay_edit *edit)
{
    const struct wsdbg_replay_agent *agent = &t->replay->agents[edit->agent];
    for (uint32_t k = 0; k < agent->step_count && k < edit->step; k++)
        if (agent->target[k] == edit->barrier && agent->steps[k].kind != WSDBG_ACCESS_INIT)
            return false;
    return true;
}

/* Whether the change may give the phases of the barrier to other rounds. */
static bool moves_phases(const struct wsdbg_trial *t, uint32_t barrier)
{
    for (uint32_t i = 0; i < t->changes.edit_count; i++)
        if (t->edits[i].barrier == barrier && comes_first(t, &t->edits[i]))
            return true;
    return t->expected[barrier] || t->parity_from[barrier] || t->changes.flips;
}

/* Whether it is no fault of the change that a barrier lacks bytes at the end: nobody waits for them, the change leaves
 * the barrier's rounds as they are, and the walks copy just so much less than they announce. */
static bool lacks_bytes_anyway(const struct wsdbg_trial *t, uint32_t barrier)
{
    const struct wsdbg_replay_barrier *b = &t->replay->barriers[barrier];
    return !moves_phases(t, barrier) && !is_waited_for(t, barrier, b->phase) &&
           b->bytes == wsdbg_replay_bytes_never_copied(t->replay, barrier);
}

/* Whether a phase that has all its arrivals still lacks bytes at the end.  Nobody is left who could bring them, so such
 * a kernel is not right.  Bytes too many are allowed: a change that adds an arrival need not add the announcement. */
static bool leaves_bytes(const struct wsdbg_trial *t)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        const struct wsdbg_replay_barrier *barrier = &t->replay->barriers[b];
        const bool are_free = (t->changes.free_bytes && t->changes.free_bytes[b]) || announces(t, b);
        const bool are_counted = (!barrier->bytes_unknown || barrier->copy_bytes) && !are_free;
        if (barrier->is_initialised && barrier->pending == 0 && barrier->bytes > 0 && are_counted &&
            !lacks_bytes_anyway(t, b))
            return true;
    }
    return false;
}

static bool works_in(struct wsdbg_trial *t, enum wsdbg_replay_order order)
{
    wsdbg_replay_run(t->replay, order, &t->changes);
    t->is_to_end &= t->replay->has_ended;
    t->assumes_idle |= t->replay->assumes_idle;
    return !t->replay->is_broken && !wsdbg_replay_has_slipped(t->replay) &&
           (t->replay->has_ended ? !leaves_bytes(t) : t->replay->has_lost && goes_further(t));
}

bool wsdbg_trial_mates_stay(const struct wsdbg_trial *t, uint32_t warp)
{
    uint32_t staying = 0;
    for (uint32_t w = 0; w < t->c->warp_count; w++)
        staying +=
            w != warp && wsdbg_case_are_mates(t->c, warp, w) && wsdbg_case_warp(t->c, w)->state != WSDBG_WARP_EXITED;
    return staying == WSDBG_GROUP_WARPS - 1;
}

uint32_t wsdbg_trial_warps_of_cta(const struct wsdbg_trial *t)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < t->c->warp_count; w++)
        if (wsdbg_case_warp(t->c, w)->warp >= count)
            count = wsdbg_case_warp(t->c, w)->warp + 1;
    return count;
}

bool wsdbg_trial_is_waited_on(const struct wsdbg_trial *t, uint32_t barrier)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->state[i] == WSDBG_AGENT_WAITS && t->replay->agents[i].target[t->at[i]] == barrier)
            return true;
    return false;
}

bool wsdbg_trial_is_waited_at(const struct wsdbg_trial *t, uint32_t id)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->state[i] == WSDBG_AGENT_NAMED && wsdbg_replay_is_use(&t->replay->agents[i].steps[t->at[i]], id))
            return true;
    return false;
}

uint32_t wsdbg_trial_target_for(const struct wsdbg_trial *t, uint32_t barrier, uint32_t model_cta, uint32_t cta)
{
    const struct wsdbg_replay_barrier *b = &t->replay->barriers[barrier];
    if (model_cta == cta || (b->cta != model_cta && b->cta != cta))
        return barrier;
    return wsdbg_replay_barrier_at(t->replay, b->cta == model_cta ? cta : model_cta, b->offset);
}

bool wsdbg_trial_are_phases_whole(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->changes.edit_count; i++) {
        const struct wsdbg_replay_barrier *b = &t->replay->barriers[t->edits[i].barrier];
        if (b->pending != b->expected)
            return false;
    }
    return true;
}

bool wsdbg_trial_ends_in_picture(const struct wsdbg_trial *t)
{
    wsdbg_replay_run(t->replay, t->order, NULL);
    return wsdbg_replay_is_picture(t->replay);
}

/* The order that is most like this one, with copies that take their time. */
static enum wsdbg_replay_order slow_like(enum wsdbg_replay_order order)
{
    return WSDBG_REPLAY_SLOW +
           (order < WSDBG_REPLAY_ALL_ORDERS - WSDBG_REPLAY_SLOW ? order : WSDBG_REPLAY_STEP_BY_STEP);
}

/* Whether only parities of all waits on some barriers change.  With another change, the slow order could hide that the
 * change is wrong. */
static bool is_of_parities(const struct wsdbg_trial *t)
{
    bool any = false;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        if (t->expected[b])
            return false;
        any |= t->parity_from[b] != 0;
    }
    return any && !t->changes.edit_count && !t->changes.flips;
}

/* A warp that waits may come too late where bytes come at once, though no copy is so fast. */
static bool works_in_either(struct wsdbg_trial *t, enum wsdbg_replay_order order)
{
    const bool is_to_end = t->is_to_end, assumes_idle = t->assumes_idle;
    if (works_in(t, order))
        return true;
    t->is_to_end = is_to_end;
    t->assumes_idle = assumes_idle;
    return order < WSDBG_REPLAY_SLOW && is_of_parities(t) && works_in(t, slow_like(order));
}

/* Tries several orders: a change that works only in some of them leaves a race. */
bool wsdbg_trial_works(struct wsdbg_trial *t)
{
    static const enum wsdbg_replay_order orders[] = {WSDBG_REPLAY_LAST_FIRST, WSDBG_REPLAY_STEP_BY_STEP,
                                                     WSDBG_REPLAY_FIRST_FIRST};
    t->is_to_end = true;
    t->assumes_idle = false;
    bool works = works_in_either(t, t->order);
    for (size_t i = 0; works && i < sizeof orders / sizeof *orders; i++)
        works = orders[i] == t->order || works_in_either(t, orders[i]);
    return works;
}

void wsdbg_trial_keep(struct wsdbg_trial *t, const struct wsdbg_repair *repair)
{
    if (t->out->count == WSDBG_REPAIRS_MOST)
        return;
    struct wsdbg_repair *row = &t->out->rows[t->out->count++];
    *row = *repair;
    row->is_to_end = t->is_to_end && !t->assumes_idle;
    row->was = repair->kind == WSDBG_REPAIR_NAMED ? repair->was : t->expected_was[repair->barrier];
}

void wsdbg_trial_keep_found(struct wsdbg_trial *t, const struct wsdbg_repair *repair, bool is_to_end)
{
    t->is_to_end = is_to_end;
    t->assumes_idle = false;
    wsdbg_trial_keep(t, repair);
}

static int by_step(const void *left, const void *right)
{
    const struct wsdbg_replay_edit *a = left, *b = right;
    if (a->agent != b->agent)
        return a->agent < b->agent ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    return (a->barrier > b->barrier) - (a->barrier < b->barrier);
}

static bool is_edited(const struct wsdbg_trial *t, uint32_t barrier)
{
    for (uint32_t i = 0; i < t->changes.edit_count; i++)
        if (t->edits[i].barrier == barrier)
            return true;
    return false;
}

/* How many arrivals all threads make in their whole walks, on the barriers to which an edit adds some. */
static uint64_t made_where_edited(const struct wsdbg_trial *t)
{
    uint64_t made = 0;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        for (uint32_t i = 0; is_edited(t, b) && i < t->replay->agent_count; i++)
            made += wsdbg_replay_arrivals_on(&t->replay->agents[i], b);
    return made;
}

/* How many times each lane of an agent had arrived on a barrier. */
static uint32_t times_on(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier)
{
    const uint32_t lanes = t->replay->agents[agent].lane_count;
    return lanes ? wsdbg_trial_waits_was(t, agent, barrier)->arrived / lanes : 0;
}

/* Which phase of a barrier was under way, from 1. */
static uint64_t phase_was(const struct wsdbg_trial *t, uint32_t barrier)
{
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        arrivals += wsdbg_trial_waits_was(t, i, barrier)->arrived;
    return t->expected_was[barrier] ? arrivals / t->expected_was[barrier] + 1 : 0;
}

/* Whether the first edit is of an agent that had arrived once in each phase, that under way among them; and another
 * warp that arrives there had not, or the edits make twice as many of all the agent's arrivals. */
static bool is_beyond_share(const struct wsdbg_trial *t, const struct wsdbg_repair *repair)
{
    const uint32_t barrier = repair->edit.barrier, agent = repair->edit.agent;
    const struct wsdbg_replay_agent *self = &t->replay->agents[agent];
    const uint64_t phase = phase_was(t, barrier);
    uint64_t added = 0;
    bool others_lack = false;
    for (uint32_t i = 0; i < t->changes.edit_count; i++)
        added += t->edits[i].barrier == barrier && t->edits[i].agent == agent ? t->edits[i].arrivals : 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        others_lack |= !wsdbg_set_has(&repair->warps, t->replay->agents[i].warp) && times_on(t, i, barrier) > 0 &&
                       times_on(t, i, barrier) < phase;
    return phase > 0 && times_on(t, agent, barrier) >= phase &&
           (others_lack || added >= wsdbg_replay_arrivals_on(self, barrier));
}

bool wsdbg_trial_keep_edits(struct wsdbg_trial *t, struct wsdbg_repair *repair)
{
    repair->edit_count = t->changes.edit_count;
    if (repair->edit_count == 0)
        return false;
    qsort(t->edits, repair->edit_count, sizeof *t->edits, by_step);
    repair->edit = t->edits[0];
    repair->barrier = repair->edit.barrier;
    repair->is_doubtful = repair->kind == WSDBG_REPAIR_ADD && is_beyond_share(t, repair);
    if (repair->kind == WSDBG_REPAIR_FILL) {
        repair->made = made_where_edited(t);
        for (uint32_t i = 0; i < repair->edit_count; i++)
            repair->added += t->edits[i].arrivals;
    }
    return true;
}
