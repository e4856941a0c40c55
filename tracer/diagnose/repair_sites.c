/* repair_sites.c - repairs of waits by one instruction.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  A kernel may wait for one barrier at several
 * places.  Where one of them takes its parity from a wrong phase, the others are right, and so are the parities of the
 * barrier's other waits.
 */
#include "diagnose/repair_trial.h"

enum { SITES_MOST = 32 };

static const struct wsdbg_step_row *step_at(const struct wsdbg_trial *t, uint32_t agent)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    return t->state[agent] == WSDBG_AGENT_WAITS && t->at[agent] < a->step_count ? &a->steps[t->at[agent]] : NULL;
}

static bool is_wait_by(const struct wsdbg_step_row *step, uint32_t access)
{
    return step->kind == WSDBG_ACCESS_WAIT && step->access == access && step->number_known;
}

/* Notes the instruction of a wait; false = there is no room for more. */
static bool note(uint32_t *sites, uint32_t *count, uint32_t access)
{
    for (uint32_t i = 0; i < *count; i++)
        if (sites[i] == access)
            return true;
    if (*count == SITES_MOST)
        return false;
    sites[(*count)++] = access;
    return true;
}

/* The instructions of waits up to the standstill: first those at which agents stand, whose number is *standing. */
static uint32_t list_sites(const struct wsdbg_trial *t, uint32_t sites[SITES_MOST], uint32_t *standing)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (step_at(t, i) && step_at(t, i)->number_known && step_at(t, i)->access != WSDBG_NONE)
            note(sites, &count, step_at(t, i)->access);
    *standing = count;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count && k < t->at[i]; k++)
            if (a->steps[k].access != WSDBG_NONE && is_wait_by(&a->steps[k], a->steps[k].access))
                note(sites, &count, a->steps[k].access);
    }
    return count;
}

/* Which wait of each agent by an instruction changes. */
enum which {
    WHERE_IT_STANDS,
    STANDS_OR_FIRST, /* where it stands there; of other agents the first one */
    OF_NUMBER        /* the one of a given number, wherever it stands */
};

/* The agent's wait by the instruction that has this number, from 0; WSDBG_NONE = it has no such. */
static uint32_t wait_of_number(const struct wsdbg_replay_agent *a, uint32_t access, uint32_t number)
{
    for (uint32_t k = 0, seen = 0; k < a->step_count; k++)
        if (is_wait_by(&a->steps[k], access) && seen++ == number)
            return k;
    return WSDBG_NONE;
}

static uint32_t number_of_wait(const struct wsdbg_replay_agent *a, uint32_t access, uint32_t step)
{
    uint32_t number = 0;
    for (uint32_t k = 0; k < step; k++)
        number += is_wait_by(&a->steps[k], access);
    return number;
}

static bool stands_at(const struct wsdbg_trial *t, uint32_t agent, uint32_t access)
{
    return step_at(t, agent) && is_wait_by(step_at(t, agent), access);
}

/* The wait of an agent that changes; WSDBG_NONE. */
static uint32_t wait_of(const struct wsdbg_trial *t, uint32_t agent, uint32_t access, enum which which, uint32_t number)
{
    if (which != OF_NUMBER && stands_at(t, agent, access))
        return t->at[agent];
    return which == WHERE_IT_STANDS ? WSDBG_NONE : wait_of_number(&t->replay->agents[agent], access, number);
}

static uint32_t turn_of(const struct wsdbg_replay_agent *a, uint32_t step)
{
    uint32_t turn = 0;
    for (uint32_t k = 0; k < step; k++)
        turn += a->steps[k].kind == WSDBG_ACCESS_WAIT && a->target[k] == a->target[step];
    return turn;
}

static bool is_first_on_barrier(const struct wsdbg_replay_agent *a, uint32_t step)
{
    for (uint32_t k = step; k-- > 0;)
        if (a->steps[k].kind == WSDBG_ACCESS_WAIT && a->target[k] == a->target[step])
            return false;
    return true;
}

/* Whether the barrier completed some phase in the last run, and no phase of it is left half done at the kernel's end. A
 * wait that is let through a barrier on which nothing ever completes shows no mistake of the wait, and a phase that is
 * half done shows that arrivals are missing. */
static bool is_served(const struct wsdbg_trial *t, uint32_t barrier)
{
    const struct wsdbg_replay_barrier *row = &t->replay->barriers[barrier];
    return row->phase > 0 && (!t->replay->has_ended || row->pending == row->expected);
}

/* Whether each barrier with changed waits is served. */
static bool all_are_served(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        const uint32_t like = t->flip_at[i];
        for (uint32_t k = 0; like != WSDBG_NONE && k < a->step_count; k++)
            if ((k == like || t->changes.flips != WSDBG_FLIPS_ONE) && is_wait_by(&a->steps[k], a->steps[like].access) &&
                !is_served(t, a->target[k]))
                return false;
    }
    return true;
}

/* Whether the agent's other waits show that this one may name a wrong phase: it waits on the barrier more than once;
 * or, where one wait changes, its first wait on another stage names the other parity. */
static bool is_shown_by_others(const struct wsdbg_trial *t, uint32_t agent, uint32_t at)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint32_t waits = 0, unlike = 0;
    for (uint32_t k = 0; k < a->step_count; k++) {
        if (a->steps[k].kind != WSDBG_ACCESS_WAIT || a->target[k] == WSDBG_NONE)
            continue;
        waits += a->target[k] == a->target[at];
        unlike += a->target[k] != a->target[at] && unlike == 0 &&
                  (a->steps[k].number & 1) != (a->steps[at].number & 1) &&
                  wsdbg_replay_is_of_family(t->replay, a->target[k], a->target[at]) && is_first_on_barrier(a, k);
    }
    return waits > 1 || (t->changes.flips == WSDBG_FLIPS_ONE && unlike > 0);
}

/* Whether those who arrive on the barrier begin with a wait that ends at once, for what the agent arrives on. */
static bool has_free_side(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count && wsdbg_replay_arrivals_on(a, barrier); k++)
            if (a->steps[k].kind == WSDBG_ACCESS_WAIT && a->steps[k].number_known && (a->steps[k].number & 1) &&
                is_first_on_barrier(a, k) && wsdbg_replay_arrivals_on(&t->replay->agents[agent], a->target[k]))
                return true;
    }
    return false;
}

/* Whether the change lets an agent begin with parity 1 on a barrier for which it waits at this place alone, while the
 * other side begins so, too: both would go on at once.  Or while it has filled that slot before. */
static bool lets_begin_free(const struct wsdbg_trial *t, uint32_t agent, uint32_t access)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t k = 0; k < a->step_count; k++) {
        bool alone = is_wait_by(&a->steps[k], access) && (a->steps[k].number & 1) == 0 && is_first_on_barrier(a, k);
        for (uint32_t i = k + 1; i < a->step_count && alone; i++)
            alone =
                a->steps[i].kind != WSDBG_ACCESS_WAIT || a->target[i] != a->target[k] || a->steps[i].access == access;
        if (alone && (has_free_side(t, agent, a->target[k]) || wsdbg_trial_has_filled(t, agent, k)))
            return true;
    }
    return false;
}

static bool waits_on_family(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t k = 0; k < a->step_count; k++)
        if (a->steps[k].kind == WSDBG_ACCESS_WAIT && a->target[k] != WSDBG_NONE &&
            wsdbg_replay_is_of_family(t->replay, barrier, a->target[k]))
            return true;
    return false;
}

static bool stand_together(const struct wsdbg_trial *t, uint32_t one, uint32_t other)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[one], *b = &t->replay->agents[other];
    const uint32_t i = t->at[one], k = t->at[other];
    if (t->state[one] != t->state[other] || i >= a->step_count || k >= b->step_count)
        return t->state[one] == t->state[other];
    return a->steps[i].kind == b->steps[k].kind && a->steps[i].access == b->steps[k].access &&
           a->target[i] == b->target[k];
}

/* Whether other lanes of the agent's warp wait on the barrier, too, and stand elsewhere: the lanes are out of step, not
 * their parities. */
static bool has_parted(const struct wsdbg_trial *t, uint32_t agent)
{
    const struct wsdbg_replay_agent *self = &t->replay->agents[agent];
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (i != agent && t->replay->agents[i].warp == self->warp && !stand_together(t, agent, i) &&
            waits_on_family(t, i, self->target[t->flip_at[agent]]))
            return true;
    return false;
}

/* Changes waits by an instruction. */
static void try_flips(struct wsdbg_trial *t, uint32_t access, enum wsdbg_replay_flips flips, enum which which,
                      uint32_t number)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_PARITY_SITE, .value = flips};
    if (t->replay->steps_left == 0)
        return;
    wsdbg_trial_begin(t);
    t->changes.flips = flips;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        t->flip_at[i] = wait_of(t, i, access, which, number);
        if (t->flip_at[i] == WSDBG_NONE)
            continue;
        if (a->is_idle || !is_shown_by_others(t, i, t->flip_at[i]) || has_parted(t, i) ||
            (flips == WSDBG_FLIPS_ALL && lets_begin_free(t, i, access)))
            return;
        if (wsdbg_set_count(&repair.warps) == 0) {
            repair.wait = (struct wsdbg_repair_wait){i, t->flip_at[i], turn_of(a, t->flip_at[i])};
            repair.barrier = a->target[t->flip_at[i]];
        }
        wsdbg_set_add(&repair.warps, a->warp);
    }
    if (wsdbg_set_count(&repair.warps) == 0)
        return;
    repair.is_doubtful =
        flips != WSDBG_FLIPS_ONE && wsdbg_trial_is_right_elsewhere(t, repair.barrier, &repair.warps, WSDBG_NONE);
    if (wsdbg_trial_works(t) && all_are_served(t))
        wsdbg_trial_keep(t, &repair);
}

/* Of all agents, the wait that has the number of the one at which some agent stands; and the first one, after which it
 * may have gone on too early.  Agents that have not come so far run the same code. */
static void try_numbers(struct wsdbg_trial *t, uint32_t access)
{
    bool has_tried_first = false;
    uint32_t tried = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        if (!stands_at(t, i, access))
            continue;
        const uint32_t number = number_of_wait(&t->replay->agents[i], access, t->at[i]);
        if (number + 1 == tried)
            continue;
        tried = number + 1;
        has_tried_first |= number == 0;
        try_flips(t, access, WSDBG_FLIPS_ONE, OF_NUMBER, number);
    }
    if (!has_tried_first)
        try_flips(t, access, WSDBG_FLIPS_ONE, OF_NUMBER, 0);
}

void wsdbg_try_sites(struct wsdbg_trial *t)
{
    uint32_t sites[SITES_MOST], standing;
    const uint32_t count = list_sites(t, sites, &standing);
    for (uint32_t i = 0; i < count; i++) {
        if (i < standing) {
            try_flips(t, sites[i], WSDBG_FLIPS_ONE, WHERE_IT_STANDS, 0);
            try_flips(t, sites[i], WSDBG_FLIPS_ALL, WHERE_IT_STANDS, 0);
            try_flips(t, sites[i], WSDBG_FLIPS_ALTERNATE, WHERE_IT_STANDS, 0);
        }
        try_flips(t, sites[i], WSDBG_FLIPS_ALL, STANDS_OR_FIRST, 0);
        try_flips(t, sites[i], WSDBG_FLIPS_ALTERNATE, STANDS_OR_FIRST, 0);
        try_numbers(t, sites[i]);
    }
}
