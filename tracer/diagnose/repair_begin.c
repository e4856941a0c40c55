/* repair_begin.c - repairs of what threads do before their first wait: they arrive on some barriers of a family, as if
 * those were released, but not on another one, or there too often; or nobody releases a barrier for which all wait that
 * would arrive on it; or threads arrive only behind waits that end after they have arrived.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.
 */
#include "diagnose/repair_trial.h"
#include "diagnose/replay_likes.h"

/* The barrier that is changed, and one of the same family, count and CTA that shows what was meant. */
struct beginning {
    uint32_t barrier, model;
    enum wsdbg_repair_kind kind; /* BEGIN, BEGIN_LESS */
};

static bool is_wait(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_WAIT;
}

/* Whether what the agent does before its first wait is a beginning: it initialises the barrier, or goes on with the
 * family in rounds behind the wait. */
static bool is_beginner(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t barrier)
{
    bool waits = false;
    for (uint32_t k = 0; k < a->step_count; k++) {
        waits |= is_wait(&a->steps[k]);
        if (a->target[k] == WSDBG_NONE || !wsdbg_replay_is_of_family(t->replay, barrier, a->target[k]))
            continue;
        if (a->steps[k].kind == WSDBG_ACCESS_INIT || (waits && wsdbg_replay_arrivals_of(a, k)))
            return true;
    }
    return false;
}

/* An agent's arrivals on a barrier before its first wait; 0 if it never waits.  *last: the last step that makes some.
 */
static uint32_t arrivals_at_first(const struct wsdbg_replay_agent *a, uint32_t barrier, uint32_t *last)
{
    uint32_t arrivals = 0, k = 0;
    for (; k < a->step_count && !is_wait(&a->steps[k]); k++)
        if (a->target[k] == barrier && wsdbg_replay_arrivals_of(a, k)) {
            arrivals += wsdbg_replay_arrivals_of(a, k);
            *last = k;
        }
    return k < a->step_count ? arrivals : 0;
}

/* The step behind `step`, but not before the agent has initialised the barrier itself. */
static uint32_t step_behind(const struct wsdbg_replay_agent *a, uint32_t barrier, uint32_t step)
{
    for (uint32_t k = step + 1; k < a->step_count && !is_wait(&a->steps[k]); k++)
        if (a->target[k] == barrier && a->steps[k].kind == WSDBG_ACCESS_INIT)
            step = k;
    return step + 1;
}

/* Makes the agent begin on the barrier as it does on the model.  False: the barriers differ otherwise.  A ring may be
 * meant to begin with one stage: an arrival is too many only where the model has some. */
static bool change_agent(struct wsdbg_trial *t, uint32_t agent, const struct beginning *b)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint32_t last = 0, last_of_model = 0;
    const uint32_t own = arrivals_at_first(a, b->barrier, &last);
    const uint32_t meant = arrivals_at_first(a, b->model, &last_of_model);
    if (own == meant || !is_beginner(t, a, b->barrier))
        return true;
    if (b->kind == WSDBG_REPAIR_BEGIN)
        return own == 0 &&
               wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.agent = agent,
                                                                  .step = step_behind(a, b->barrier, last_of_model),
                                                                  .barrier = b->barrier,
                                                                  .arrivals = meant});
    return own > meant && meant && own - meant == wsdbg_replay_arrivals_of(a, last) &&
           wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.agent = agent, .step = last, .barrier = b->barrier});
}

static bool change_all(struct wsdbg_trial *t, const struct beginning *b, struct wsdbg_repair *repair)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const uint32_t before = t->changes.edit_count;
        if (!change_agent(t, i, b))
            return false;
        if (t->changes.edit_count > before)
            wsdbg_set_add(&repair->warps, t->replay->agents[i].warp);
    }
    return true;
}

static bool may_be_model(const struct wsdbg_trial *t, uint32_t barrier, uint32_t model)
{
    return model != barrier && t->replay->barriers[model].cta == t->replay->barriers[barrier].cta &&
           t->expected_was[model] == t->expected_was[barrier] && wsdbg_replay_is_of_family(t->replay, barrier, model);
}

/* The barrier at the same place of another CTA; WSDBG_NONE. */
static uint32_t in_cta(const struct wsdbg_trial *t, uint32_t barrier, uint32_t cta)
{
    return wsdbg_replay_barrier_at(t->replay, cta, t->replay->barriers[barrier].offset);
}

/* Whether the change works in one CTA, WSDBG_NONE = in all. */
static bool works_in(struct wsdbg_trial *t, const struct beginning *b, uint32_t cta)
{
    struct wsdbg_repair repair = {.kind = b->kind};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->c->cta_count; i++) {
        const struct beginning own = {in_cta(t, b->barrier, i), in_cta(t, b->model, i), b->kind};
        if (cta != WSDBG_NONE && cta != i)
            continue;
        if (own.barrier == WSDBG_NONE || own.model == WSDBG_NONE || !change_all(t, &own, &repair))
            return false;
    }
    if (!wsdbg_trial_keep_edits(t, &repair) || !wsdbg_trial_works(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

/* True if it works: in the barrier's CTA; else, if that is the first one, in all. */
static bool try_beginning(struct wsdbg_trial *t, const struct beginning *b)
{
    const uint32_t cta = t->replay->barriers[b->barrier].cta;
    return works_in(t, b, cta) || (cta == 0 && t->c->cta_count > 1 && works_in(t, b, WSDBG_NONE));
}

void wsdbg_try_beginnings(struct wsdbg_trial *t)
{
    for (uint32_t barrier = 0; barrier < t->replay->barrier_count; barrier++) {
        bool works = false;
        for (uint32_t model = 0; model < t->replay->barrier_count && t->expected_was[barrier] && !works; model++)
            if (may_be_model(t, barrier, model))
                works = try_beginning(t, &(struct beginning){barrier, model, WSDBG_REPAIR_BEGIN}) ||
                        try_beginning(t, &(struct beginning){barrier, model, WSDBG_REPAIR_BEGIN_LESS});
    }
}

/* ---- a barrier that nobody releases first ---- */

/* The agent that initialises the barrier; WSDBG_NONE.  *step: the one behind its last initialisation. */
static uint32_t who_initialises(const struct wsdbg_trial *t, uint32_t barrier, uint32_t *step)
{
    uint32_t who = WSDBG_NONE;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count && !is_wait(&a->steps[k]); k++)
            if (a->steps[k].kind == WSDBG_ACCESS_INIT) {
                who = a->target[k] == barrier ? i : who;
                *step = who == i ? k + 1 : *step;
            }
    }
    return who;
}

static bool ever_arrives(const struct wsdbg_replay_agent *a, uint32_t barrier)
{
    for (uint32_t k = 0; k < a->step_count; k++)
        if (a->target[k] == barrier && wsdbg_replay_arrivals_of(a, k))
            return true;
    return false;
}

/* Whether the agent waits for its turn: on another barrier of the family. */
static bool waits_for_turn(const struct wsdbg_trial *t, uint32_t agent, uint32_t barrier)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    const uint32_t at = t->state[agent] == WSDBG_AGENT_WAITS ? a->target[t->at[agent]] : WSDBG_NONE;
    return at != WSDBG_NONE && at != barrier && wsdbg_replay_is_of_family(t->replay, barrier, at);
}

/* Whether all threads together make too few arrivals, to their ends, for the phases that some thread waits for. */
static bool lacks_a_phase(const struct wsdbg_trial *t, uint32_t barrier)
{
    uint64_t arrivals = 0, most = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        uint64_t waits = 0;
        for (uint32_t k = 0; k < a->step_count; k++)
            waits += a->target[k] == barrier && is_wait(&a->steps[k]) && !a->repeats[k];
        arrivals += wsdbg_replay_arrivals_on(a, barrier);
        most = waits > most ? waits : most;
    }
    return arrivals < most * t->expected_was[barrier];
}

/* Whether threads wait on the barrier whose first phase got no arrival, and all who arrive wait for something first:
 * for their turn, unless there are too few arrivals anyway. */
static bool is_never_released(const struct wsdbg_trial *t, uint32_t barrier)
{
    const bool lacks = lacks_a_phase(t, barrier);
    bool any = false;
    uint32_t last;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        if (wsdbg_trial_waits_was(t, i, barrier)->passed || wsdbg_trial_waits_was(t, i, barrier)->arrived)
            return false;
        const bool arrives = ever_arrives(a, barrier);
        any |= arrives;
        if (arrives && (t->state[i] != WSDBG_AGENT_WAITS || arrivals_at_first(a, barrier, &last) ||
                        (!waits_for_turn(t, i, barrier) && !lacks)))
            return false;
        for (uint32_t k = 0; k < a->step_count; k++)
            if (wsdbg_replay_is_copy_to(t->replay, a, k, barrier))
                return false;
    }
    return any && wsdbg_trial_is_waited_on(t, barrier);
}

/* Adds all arrivals of one phase behind the initialisation. */
static bool release_first(struct wsdbg_trial *t, uint32_t barrier, struct wsdbg_repair *repair)
{
    uint32_t step = 0;
    const uint32_t who = who_initialises(t, barrier, &step);
    if (who == WSDBG_NONE || !is_never_released(t, barrier))
        return false;
    wsdbg_set_add(&repair->warps, t->replay->agents[who].warp);
    return wsdbg_trial_add_edit(t, wsdbg_replay_edit_of(who, step, barrier, t->expected_was[barrier], 0));
}

/* Whether that works, in one CTA, WSDBG_NONE = in all; then the trial is still that. */
static bool release_works(struct wsdbg_trial *t, uint32_t barrier, uint32_t cta, struct wsdbg_repair *repair)
{
    *repair = (struct wsdbg_repair){.kind = WSDBG_REPAIR_RELEASE};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->c->cta_count; i++)
        if ((cta == WSDBG_NONE || cta == i) &&
            (in_cta(t, barrier, i) == WSDBG_NONE || !release_first(t, in_cta(t, barrier, i), repair)))
            return false;
    return wsdbg_trial_keep_edits(t, repair) && wsdbg_trial_works(t) && t->is_to_end && !t->assumes_idle;
}

/* Where it works with one barrier and with another one, nothing tells which was meant. */
static void try_releases_in(struct wsdbg_trial *t, uint32_t first, uint32_t cta)
{
    struct wsdbg_repair repair, found;
    uint32_t works = 0;
    for (uint32_t b = first; b < t->replay->barrier_count; b++) {
        if (t->replay->barriers[b].cta != t->replay->barriers[first].cta || !t->expected_was[b] ||
            !release_works(t, b, cta, &repair))
            continue;
        works++;
        found = repair;
    }
    if (works != 1)
        return;
    wsdbg_trial_keep_found(t, &found, true);
}

void wsdbg_try_releases(struct wsdbg_trial *t)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        bool is_first = true;
        for (uint32_t other = 0; other < b; other++)
            is_first &= t->replay->barriers[other].cta != t->replay->barriers[b].cta;
        if (is_first)
            try_releases_in(t, b, t->replay->barriers[b].cta);
    }
    if (!t->out->count && t->c->cta_count > 1)
        try_releases_in(t, 0, WSDBG_NONE);
}

/* ---- threads that arrive only behind their waits ---- */

/* The agent's first wait; its step count if it never waits. */
static uint32_t first_wait(const struct wsdbg_replay_agent *a)
{
    uint32_t k = 0;
    while (k < a->step_count && !is_wait(&a->steps[k]))
        k++;
    return k;
}

/* The agent's first arrival on the barrier; its step count if there is none. */
static uint32_t first_arrival(const struct wsdbg_replay_agent *a, uint32_t barrier)
{
    uint32_t k = 0;
    while (k < a->step_count && (a->target[k] != barrier || !wsdbg_replay_arrivals_of(a, k)))
        k++;
    return k;
}

/* Whether the agent is not meant to begin with the family: it arrives there before its first wait as it is, or it also
 * waits there, or brings bytes. */
static bool need_not_begin(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t family)
{
    const uint32_t wait = first_wait(a);
    for (uint32_t k = 0; k < a->step_count; k++)
        if (a->target[k] != WSDBG_NONE && wsdbg_replay_is_of_family(t->replay, family, a->target[k]) &&
            (is_wait(&a->steps[k]) || wsdbg_replay_is_copy_to(t->replay, a, k, a->target[k]) ||
             (k < wait && wsdbg_replay_arrivals_of(a, k))))
            return true;
    return false;
}

/* Whose arrivals move: of all who wait before they arrive, or only of those who have not arrived yet. */
enum beginners { ALL, LATE };

/* Lets an agent that waits before it arrives on the barrier also do so before that wait. */
static void arrive_before_wait(struct wsdbg_trial *t, uint32_t agent, uint32_t barrier, enum beginners beginners,
                               struct wsdbg_repair *repair)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    const uint32_t wait = first_wait(a), arrival = first_arrival(a, barrier);
    if (arrival == a->step_count || need_not_begin(t, a, barrier) ||
        (beginners == LATE && wsdbg_trial_waits_was(t, agent, barrier)->arrived))
        return;
    if (wsdbg_trial_add_edit(t, wsdbg_replay_edit_of(agent, wait, barrier, wsdbg_replay_arrivals_of(a, arrival), 0)))
        wsdbg_set_add(&repair->warps, a->warp);
}

/* Whether that works for a ring on which threads wait; then the trial is still that.  A single barrier of two sides
 * that wait for each other need not be meant to begin with either of them. */
static bool begin_all_works(struct wsdbg_trial *t, uint32_t family, enum beginners beginners,
                            struct wsdbg_repair *repair)
{
    bool any_waits = false;
    uint32_t stages = 0, cta = WSDBG_NONE; /* of the first stage that changes */
    *repair = (struct wsdbg_repair){.kind = WSDBG_REPAIR_BEGIN_ALL, .is_of_cta = t->c->cta_count > 1};
    wsdbg_trial_begin(t);
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        const uint32_t edits = t->changes.edit_count;
        if (!wsdbg_replay_is_of_family(t->replay, family, b))
            continue;
        any_waits |= wsdbg_trial_is_waited_on(t, b);
        for (uint32_t i = 0; i < t->replay->agent_count; i++)
            arrive_before_wait(t, i, b, beginners, repair);
        if (t->changes.edit_count == edits)
            continue;
        cta = stages ? cta : t->replay->barriers[b].cta;
        stages += t->replay->barriers[b].cta == cta;
        repair->is_of_cta &= t->replay->barriers[b].cta == cta;
    }
    return any_waits && stages > 1 && wsdbg_trial_keep_edits(t, repair) && wsdbg_trial_works(t) && t->is_to_end &&
           !t->assumes_idle;
}

/* Where it works with two families, nothing tells which side was meant to go first.  Lanes that have left their warp
 * may have done so before they arrived. */
void wsdbg_try_begin_all(struct wsdbg_trial *t)
{
    struct wsdbg_repair repair, found;
    uint32_t works = 0;
    if (wsdbg_replay_have_lanes_left(t->replay))
        return;
    for (uint32_t f = 0; f < t->replay->barrier_count; f++)
        if (wsdbg_trial_leads_family(t, f) &&
            (begin_all_works(t, f, ALL, &repair) || begin_all_works(t, f, LATE, &repair))) {
            works++;
            found = repair;
        }
    if (works != 1)
        return;
    wsdbg_trial_keep_found(t, &found, true);
}
