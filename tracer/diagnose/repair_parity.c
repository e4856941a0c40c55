/* repair_parity.c - repairs of waits: parities that do not alternate, a wrong first parity, and a token that is not
 * that of the last arrival.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.
 */
#include <string.h>

#include "diagnose/code_say.h"
#include "diagnose/repair_trial.h"
#include "diagnose/replay_tokens.h"

/* Which waits of a walk are asked. */
enum reach { TO_STANDSTILL, TO_END };

/* The first wait of an agent on a barrier that names the parity of the wait before it. */
static bool find_repeated(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier, enum reach reach,
                          struct wsdbg_repair_wait *wait)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint32_t turn = 0, last = 0;
    for (uint32_t i = 0; i < a->step_count && (reach == TO_END || i <= t->at[agent]); i++) {
        if (a->target[i] != barrier || a->steps[i].kind != WSDBG_ACCESS_WAIT || a->repeats[i] || a->is_idle ||
            !a->steps[i].number_known)
            continue;
        if (turn > 0 && (a->steps[i].number & 1) == last) {
            *wait = (struct wsdbg_repair_wait){agent, i, turn};
            return true;
        }
        last = a->steps[i].number & 1;
        turn++;
    }
    return false;
}

/* Lets the family's waits alternate, and adds the warps whose waits did not to the repair; false where all did. */
static bool add_drift(struct wsdbg_trial *t, uint32_t family, enum reach reach, struct wsdbg_repair *repair)
{
    bool any = false;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        for (uint32_t i = 0; i < t->replay->agent_count && wsdbg_replay_is_of_family(t->replay, family, b); i++) {
            struct wsdbg_repair_wait wait;
            if (!find_repeated(t, i, b, reach, &wait) || wsdbg_trial_leaps(t, i, family))
                continue;
            if (wsdbg_set_count(&repair->warps) == 0 || wait.turn < repair->wait.turn) {
                repair->wait = wait;
                repair->barrier = b;
            }
            wsdbg_set_add(&repair->warps, t->replay->agents[i].warp);
            any = true;
        }
    for (uint32_t b = 0; any && b < t->replay->barrier_count; b++)
        if (wsdbg_replay_is_of_family(t->replay, family, b))
            t->parity_from[b] = 3;
    return any;
}

/* Tries all families together but the one `without`; WSDBG_NONE = all.  One variable may hold the phase of several, and
 * then only the first one to stop shows it.  The repair names the earliest wait that does not alternate.  *families:
 * how many do not. */
static bool try_drift_of_all(struct wsdbg_trial *t, enum reach reach, uint32_t without, uint32_t *families)
{
    struct wsdbg_repair earliest = {.kind = WSDBG_REPAIR_PARITY_DRIFT};
    *families = 0;
    wsdbg_trial_begin(t);
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_PARITY_DRIFT};
        if (f == without || !wsdbg_trial_leads_family(t, f) || !add_drift(t, f, reach, &repair))
            continue;
        if ((*families)++ == 0 || repair.wait.turn < earliest.wait.turn)
            earliest = repair;
    }
    if (*families < 2 || !wsdbg_trial_works(t))
        return false;
    wsdbg_trial_keep(t, &earliest);
    return true;
}

/* Warps that take turns at the rounds of a ring seem to drift there, though nothing is wrong. */
static bool try_drift_of_most(struct wsdbg_trial *t)
{
    enum { FAMILIES_MOST = 6 };
    uint32_t families = 0, left;
    if (try_drift_of_all(t, TO_STANDSTILL, WSDBG_NONE, &families) || try_drift_of_all(t, TO_END, WSDBG_NONE, &families))
        return true;
    for (uint32_t f = 0; f < t->replay->barrier_count && families > 2 && families <= FAMILIES_MOST; f++)
        if (wsdbg_trial_leads_family(t, f) && try_drift_of_all(t, TO_END, f, &left))
            return true;
    return false;
}

/* Tries each family alone.  If none works, it tries several together. */
void wsdbg_try_drift(struct wsdbg_trial *t)
{
    const uint32_t kept = t->out->count;
    bool any = false;
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_PARITY_DRIFT};
        wsdbg_trial_begin(t);
        if (!wsdbg_trial_leads_family(t, f) || !add_drift(t, f, TO_STANDSTILL, &repair))
            continue;
        any = true;
        if (wsdbg_trial_works(t))
            wsdbg_trial_keep(t, &repair);
    }
    if (any && t->out->count == kept)
        try_drift_of_most(t);
}

/* ---- first parities ---- */

/* An agent's first wait on a barrier, in its whole walk; NULL = it never waits on it. */
static const struct wsdbg_step_row *first_wait(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t i = 0; i < a->step_count; i++)
        if (a->target[i] == barrier && a->steps[i].kind == WSDBG_ACCESS_WAIT)
            return &a->steps[i];
    return NULL;
}

/* Whether the agent is one of the repair's and begins with the right, or the wrong, parity on the barrier. */
static bool begins_with(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier,
                        const struct wsdbg_repair *repair, bool is_right)
{
    const struct wsdbg_replay_waits *waits = wsdbg_trial_waits_was(t, agent, barrier);
    return wsdbg_set_has(&repair->warps, t->replay->agents[agent].warp) && waits->any &&
           (waits->first_parity == repair->value) == is_right;
}

/* Whether both waits are in the same source line, or nobody knows in which. */
static bool are_of_one_line(const struct wsdbg_trial *t, const struct wsdbg_step_row *a, const struct wsdbg_step_row *b)
{
    const struct wsdbg_snapshot *s = t->c->snapshot;
    if (!a || !b || a->access == b->access || a->access == WSDBG_NONE || b->access == WSDBG_NONE)
        return true;
    const uint32_t one = s->accesses[a->access].site, other = s->accesses[b->access].site;
    return !s->sites[one].file[0] || !s->sites[other].file[0] ||
           strcmp(wsdbg_say_place(t->c, one).text, wsdbg_say_place(t->c, other).text) == 0;
}

/* Notes whether one of the repair's warps begins with the right parity on some stage of the family, and whether that is
 * at a wait of another source line than those that are wrong. */
static void note_right_ones(const struct wsdbg_trial *t, uint32_t family, struct wsdbg_repair *repair)
{
    repair->is_of_own_waits = true;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        for (uint32_t i = 0; i < t->replay->agent_count && wsdbg_replay_is_of_family(t->replay, family, b); i++) {
            if (!begins_with(t, i, b, repair, true))
                continue;
            repair->is_mixed = true;
            for (uint32_t wrong = 0; wrong < t->replay->barrier_count && repair->is_of_own_waits; wrong++)
                if (wsdbg_replay_is_of_family(t->replay, family, wrong) && begins_with(t, i, wrong, repair, false))
                    repair->is_of_own_waits = !are_of_one_line(t, first_wait(t, i, b), first_wait(t, i, wrong));
        }
}

/* The parity of an agent's first wait on a barrier, in its whole walk; false: it never waits on it, or not for a parity
 * that is known. */
static bool first_parity(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier, uint32_t *parity)
{
    const struct wsdbg_step_row *wait = first_wait(t, agent, barrier);
    *parity = wait ? wait->number & 1 : 0;
    return wait && wait->number_known;
}

/* Whether the agent begins more stages of the family with the parity than with the other one. */
static bool begins_most_with(const struct wsdbg_trial *t, uint32_t family, uint32_t agent, uint32_t parity)
{
    uint32_t right = 0, wrong = 0, first;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        if (!wsdbg_replay_is_of_family(t->replay, family, b) || !first_parity(t, agent, b, &first))
            continue;
        right += first == parity;
        wrong += first != parity;
    }
    return right > wrong;
}

bool wsdbg_trial_are_exceptions(const struct wsdbg_trial *t, uint32_t family, const struct wsdbg_repair *repair)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        for (uint32_t i = 0; i < t->replay->agent_count && wsdbg_replay_is_of_family(t->replay, family, b); i++) {
            const struct wsdbg_replay_waits *waits = wsdbg_trial_waits_was(t, i, b);
            if (waits->any && !waits->by_token && waits->first_parity != repair->value &&
                !begins_most_with(t, family, i, repair->value))
                return false;
        }
    return true;
}

bool wsdbg_trial_set_first(struct wsdbg_trial *t, uint32_t family, struct wsdbg_repair *repair)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        for (uint32_t i = 0; i < t->replay->agent_count && wsdbg_replay_is_of_family(t->replay, family, b); i++) {
            const struct wsdbg_replay_waits *waits = wsdbg_trial_waits_was(t, i, b);
            if (!waits->any || waits->by_token)
                continue;
            if (!waits->alternates)
                return false;
            if (waits->first_parity == repair->value)
                continue;
            repair->barrier = wsdbg_set_count(&repair->warps) ? repair->barrier : b;
            wsdbg_set_add(&repair->warps, t->replay->agents[i].warp);
        }
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (wsdbg_replay_is_of_family(t->replay, family, b))
            t->parity_from[b] = (uint8_t)(1 + repair->value);
    note_right_ones(t, family, repair);
    return wsdbg_set_count(&repair->warps) > 0;
}

/* Whether an agent does nothing with the stage behind its last wait on the barrier, as a producer does that lets its
 * slots drain. */
static bool ends_with_waits(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t i = a->step_count; i-- > 0 && a->target[i] != barrier;)
        if (a->target[i] != WSDBG_NONE && wsdbg_replay_is_deed_for(t->replay, a, i, barrier))
            return false;
    return true;
}

/* How many phases must complete for an agent's waits.  A first wait for parity 1 ends at once, and the first phase
 * should follow it.  If no phase followed the last wait, the repair would only leave out a wait for a phase that never
 * completes.  At the end of a kernel none follows, but then one came before. */
static uint32_t phases_for(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier)
{
    const uint32_t passed = wsdbg_replay_waits_of(t->replay, agent, barrier)->passed;
    return passed > 1 && ends_with_waits(t, agent, barrier) ? passed - 1 : passed;
}

bool wsdbg_trial_gets_all_phases(const struct wsdbg_trial *t, uint32_t family)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        if (!wsdbg_replay_is_of_family(t->replay, family, b))
            continue;
        if (t->replay->barriers[b].pending != t->replay->barriers[b].expected)
            return false;
        for (uint32_t i = 0; i < t->replay->agent_count; i++)
            if (phases_for(t, i, b) > t->replay->barriers[b].phase)
                return false;
    }
    return t->replay->has_ended;
}

/* Whether these warps, if they went on, would do anything with the barrier but wait. */
static bool would_serve(const struct wsdbg_trial *t, const struct wsdbg_warp_set *warps, uint32_t barrier)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = t->at[i]; wsdbg_set_has(warps, a->warp) && k < a->step_count; k++)
            if (a->target[k] == barrier && a->steps[k].kind != WSDBG_ACCESS_WAIT)
                return true;
    }
    return false;
}

/* Whether everybody else who waits on an mbarrier waits for something that these warps do after their own wait. */
static bool would_serve_all(const struct wsdbg_trial *t, const struct wsdbg_warp_set *warps)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->state[i] == WSDBG_AGENT_WAITS && !wsdbg_set_has(warps, t->replay->agents[i].warp) &&
            !would_serve(t, warps, t->replay->agents[i].target[t->at[i]]))
            return false;
    return true;
}

/* Whether an agent that stands at its wait can go on only after these warps: at an mbarrier that they serve, or at a
 * named barrier with a count, behind those who wait for them. */
static bool comes_after(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_warp_set *warps)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    if (t->state[agent] == WSDBG_AGENT_WAITS)
        return would_serve(t, warps, a->target[t->at[agent]]);
    const bool is_named = t->state[agent] == WSDBG_AGENT_NAMED || t->state[agent] == WSDBG_AGENT_GATHERS;
    return is_named && a->steps[t->at[agent]].number > 0 && would_serve_all(t, warps);
}

/* Whether only these warps could go first: everybody else who would arrive on the family comes after them. */
static bool must_be_first(const struct wsdbg_trial *t, uint32_t family, const struct wsdbg_warp_set *warps)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        bool arrives = false;
        for (uint32_t k = t->at[i]; k < a->step_count && !arrives; k++)
            arrives = a->target[k] != WSDBG_NONE && wsdbg_replay_is_of_family(t->replay, family, a->target[k]) &&
                      wsdbg_replay_arrivals_of(a, k);
        if (arrives && !wsdbg_set_has(warps, a->warp) && !comes_after(t, i, warps))
            return false;
    }
    return true;
}

static bool is_of_bytes(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_COPY || step->kind == WSDBG_ACCESS_EXPECT ||
           step->kind == WSDBG_ACCESS_ARRIVE_EXPECT || step->kind == WSDBG_ACCESS_COMPLETE ||
           step->kind == WSDBG_ACCESS_COPY_ARRIVE;
}

/* Of two sides that wait for each other, either could be meant to go first.  It is taken to be the side that brings
 * data, and not the one that waits for data: so these warps handle bytes, but nobody handles bytes of this family. */
static bool brings_data(const struct wsdbg_trial *t, uint32_t family, const struct wsdbg_warp_set *warps)
{
    bool any = false;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++) {
            if (a->target[k] == WSDBG_NONE || !is_of_bytes(&a->steps[k]))
                continue;
            if (wsdbg_replay_is_of_family(t->replay, family, a->target[k]))
                return false;
            any |= wsdbg_set_has(warps, a->warp);
        }
    }
    return any;
}

/* Whether nobody arrives on any mbarrier, or copies.  That is so in a CTA that got no tile. */
static bool is_idle(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++)
            if (a->target[k] != WSDBG_NONE && (wsdbg_replay_arrivals_of(a, k) || is_of_bytes(&a->steps[k])))
                return false;
    }
    return true;
}

/* Whether these warps begin to wait on some mbarrier with parity 1.  In an idle CTA this is a wait that ends at once: a
 * producer's, which lets its slots run empty before it leaves. */
static bool lets_slots_run_empty(const struct wsdbg_trial *t, const struct wsdbg_warp_set *warps)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        for (uint32_t b = 0; b < t->replay->barrier_count && wsdbg_set_has(warps, t->replay->agents[i].warp); b++) {
            const struct wsdbg_replay_agent *a = &t->replay->agents[i];
            for (uint32_t k = 0; k < a->step_count; k++)
                if (a->target[k] == b && a->steps[k].kind == WSDBG_ACCESS_WAIT && a->steps[k].number_known) {
                    if (a->steps[k].number & 1)
                        return true;
                    break;
                }
        }
    return false;
}

/* Whether nobody is meant to end the waits of these warps.  A warp with one wait alone does not show that: an arrival
 * may be missing. */
static bool waits_for_nobody(const struct wsdbg_trial *t, const struct wsdbg_warp_set *warps)
{
    return is_idle(t) && lets_slots_run_empty(t, warps);
}

/* Whether one of them has filled a slot before its first wait for that slot: then the slot is not free. */
static bool have_filled_before(const struct wsdbg_trial *t, uint32_t family, const struct wsdbg_warp_set *warps)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        for (uint32_t i = 0; i < t->replay->agent_count && wsdbg_replay_is_of_family(t->replay, family, b); i++) {
            const struct wsdbg_replay_agent *a = &t->replay->agents[i];
            const struct wsdbg_step_row *wait = wsdbg_set_has(warps, a->warp) ? first_wait(t, i, b) : NULL;
            if (wait && wsdbg_trial_has_filled(t, i, (uint32_t)(wait - a->steps)))
                return true;
        }
    return false;
}

/* Whether the standstill gives a reason to let them begin with parity 1, so that they go first.  Data that they bring
 * by stores is the weakest one: nobody announces it. */
static bool may_go_first(const struct wsdbg_trial *t, uint32_t family, struct wsdbg_repair *repair)
{
    if (have_filled_before(t, family, &repair->warps))
        return false;
    if (repair->is_exception || waits_for_nobody(t, &repair->warps))
        return true;
    if (!must_be_first(t, family, &repair->warps))
        return false;
    const enum wsdbg_flow flow = wsdbg_trial_flow(t, family, &repair->warps);
    const bool brings_bytes = brings_data(t, family, &repair->warps) && flow != WSDBG_FLOW_TO;
    repair->is_by_flow = !brings_bytes && flow == WSDBG_FLOW_FROM;
    return brings_bytes || repair->is_by_flow;
}

/* Whether some agent begins to wait on a barrier of another family by the same instruction and with the same parity,
 * and came through the phase behind that one, too. */
static bool is_right_elsewhere(const struct wsdbg_trial *t, uint32_t family, const struct wsdbg_step_row *wait)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        for (uint32_t i = 0; i < t->replay->agent_count && !wsdbg_replay_is_of_family(t->replay, family, b); i++) {
            const struct wsdbg_step_row *other = first_wait(t, i, b);
            if (other && other->access == wait->access && other->number_known &&
                (other->number & 1) == (wait->number & 1) && wsdbg_trial_waits_was(t, i, b)->passed > 1)
                return true;
        }
    return false;
}

bool wsdbg_trial_is_right_elsewhere(const struct wsdbg_trial *t, uint32_t family, const struct wsdbg_warp_set *warps,
                                    uint32_t right)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        for (uint32_t i = 0; i < t->replay->agent_count && wsdbg_replay_is_of_family(t->replay, family, b); i++) {
            const struct wsdbg_step_row *wait = first_wait(t, i, b);
            if (wait && wsdbg_set_has(warps, t->replay->agents[i].warp) && wait->number_known &&
                (wait->number & 1) != right && wait->access != WSDBG_NONE && is_right_elsewhere(t, family, wait))
                return true;
        }
    return false;
}

void wsdbg_try_first(struct wsdbg_trial *t, uint32_t value)
{
    for (uint32_t f = 0; f < t->replay->barrier_count; f++) {
        struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_PARITY_FIRST, .value = value};
        wsdbg_trial_begin(t);
        if (!wsdbg_trial_leads_family(t, f) || !wsdbg_trial_set_first(t, f, &repair))
            continue;
        repair.is_exception = wsdbg_trial_are_exceptions(t, f, &repair);
        repair.is_doubtful = !repair.is_exception && wsdbg_trial_is_right_elsewhere(t, f, &repair.warps, value);
        if ((value == 0 || may_go_first(t, f, &repair)) && wsdbg_trial_works(t) &&
            (value == 0 || repair.is_exception || wsdbg_trial_gets_all_phases(t, f) ||
             (waits_for_nobody(t, &repair.warps) && t->replay->has_ended)))
            wsdbg_trial_keep(t, &repair);
    }
}

/* ---- tokens ---- */

/* How many waits of an agent on the barrier come before the step. */
static uint32_t waits_before(const struct wsdbg_replay_agent *agent, uint32_t step)
{
    uint32_t waits = 0;
    for (uint32_t k = 0; k < step; k++)
        waits += agent->steps[k].kind == WSDBG_ACCESS_WAIT && agent->target[k] == agent->target[step];
    return waits;
}

void wsdbg_try_tokens(struct wsdbg_trial *t)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_TOKEN};
    wsdbg_trial_begin(t);
    t->changes.fresh_tokens = true;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        const uint32_t stale = wsdbg_replay_stale_wait_of(a, t->at[i]);
        if (stale == WSDBG_NONE)
            continue;
        if (wsdbg_set_count(&repair.warps) == 0) {
            repair.wait = (struct wsdbg_repair_wait){i, stale, waits_before(a, stale)};
            repair.barrier = a->target[stale];
        }
        wsdbg_set_add(&repair.warps, a->warp);
    }
    if (wsdbg_set_count(&repair.warps) && wsdbg_trial_works(t))
        wsdbg_trial_keep(t, &repair);
}
