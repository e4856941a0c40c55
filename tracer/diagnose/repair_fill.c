/* repair_fill.c - repairs of rounds that lack arrivals, where one thread makes all arrivals of a round.  It makes fewer
 * in some rounds; or warps take turns, and nobody arrives in some rounds.  If one of these warps, or its elected lane,
 * has left the kernel, those rounds were its own.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  Round k of a stage is what threads do behind
 * their k-th wait on another barrier of that stage, not counting waits that repeat one.
 */
#include "diagnose/repair_trial.h"

#include <string.h>

enum { ROUNDS_MOST = 1024, READS_OF_EMPTY_ROUND = 8 };

/* All arrivals on one barrier, by round. */
struct rounds_of_stage {
    uint32_t barrier, waited; /* rounds begin with waits on `waited` */
    uint32_t needed;          /* rounds that some thread waits for */
    uint32_t arrivals[ROUNDS_MOST];
    int64_t bytes[ROUNDS_MOST]; /* announced in it */
    bool copies[ROUNDS_MOST];   /* somebody copies in it */
    uint32_t by[ROUNDS_MOST];   /* the agent that makes its arrivals, WSDBG_NONE */
};

/* What is tried: arrivals on `family` in rounds that begin with waits on `waited`. */
struct filling {
    uint32_t family, waited, cta;
};

static bool begins_round(const struct wsdbg_replay_agent *a, uint32_t step, uint32_t waited)
{
    return a->target[step] == waited && a->steps[step].kind == WSDBG_ACCESS_WAIT && !a->repeats[step];
}

/* Counts what one agent does.  False: it arrives elsewhere than right behind the wait, or beside another one. */
static bool count_agent(const struct wsdbg_trial *t, uint32_t agent, struct rounds_of_stage *stage)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint32_t round = 0, waits = 0;
    bool begins_free = false, is_behind = false;
    for (uint32_t i = 0; i < a->step_count; i++) {
        const uint32_t arrivals = a->target[i] == stage->barrier ? wsdbg_replay_arrivals_of(a, i) : 0;
        round += begins_round(a, i, stage->waited);
        is_behind = a->steps[i].kind == WSDBG_ACCESS_WAIT ? a->target[i] == stage->waited : is_behind;
        if (begins_round(a, i, stage->barrier))
            begins_free |= waits++ == 0 && (a->steps[i].number & 1);
        if (round >= ROUNDS_MOST)
            return false;
        if (a->target[i] == stage->barrier && wsdbg_replay_announces(&a->steps[i]))
            stage->bytes[round] += (int64_t)a->steps[i].number * a->lane_count;
        stage->copies[round] |= wsdbg_replay_is_copy_to(t->replay, a, i, stage->barrier);
        if (!arrivals)
            continue;
        if (!is_behind || (stage->by[round] != WSDBG_NONE && stage->by[round] != agent))
            return false;
        stage->by[round] = agent;
        stage->arrivals[round] += arrivals;
    }
    waits -= begins_free;
    stage->needed = waits > stage->needed ? waits : stage->needed;
    return true;
}

/* False: no steps are left. */
static bool spend(struct wsdbg_replay *replay, uint32_t steps)
{
    wsdbg_replay_spend(replay, steps);
    return replay->steps_left > 0;
}

static bool count_stage(const struct wsdbg_trial *t, struct rounds_of_stage *stage)
{
    stage->needed = 0;
    for (uint32_t k = 0; k < ROUNDS_MOST; k++) {
        stage->arrivals[k] = 0;
        stage->bytes[k] = 0;
        stage->copies[k] = false;
        stage->by[k] = WSDBG_NONE;
    }
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (!spend(t->replay, t->replay->agents[i].step_count) || !count_agent(t, i, stage))
            return false;
    return stage->needed < ROUNDS_MOST;
}

/* A round that has just the arrivals that a phase takes; 0 = there is none, or some round has more. */
static uint32_t whole_round(const struct wsdbg_trial *t, const struct rounds_of_stage *stage)
{
    const uint32_t expected = t->expected_was[stage->barrier];
    uint32_t whole = 0;
    for (uint32_t k = 1; k < ROUNDS_MOST; k++) {
        if (stage->arrivals[k] > expected)
            return 0;
        whole = !whole && stage->arrivals[k] == expected ? k : whole;
    }
    return whole;
}

/* The step with which an agent's round begins; WSDBG_NONE. */
static uint32_t begin_of(const struct wsdbg_replay_agent *a, uint32_t waited, uint32_t round)
{
    for (uint32_t i = 0; i < a->step_count; i++)
        if (begins_round(a, i, waited) && --round == 0)
            return i;
    return WSDBG_NONE;
}

/* How many arrivals an agent makes on all stages of the family in the CTA. */
static uint64_t arrivals_by(const struct wsdbg_trial *t, const struct rounds_of_stage *stage, uint32_t agent)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint64_t arrivals = 0;
    for (uint32_t k = 0; k < a->step_count; k++)
        if (a->target[k] != WSDBG_NONE &&
            t->replay->barriers[a->target[k]].cta == t->replay->barriers[stage->barrier].cta &&
            wsdbg_replay_is_of_family(t->replay, stage->barrier, a->target[k]))
            arrivals += wsdbg_replay_arrivals_of(a, k);
    return arrivals;
}

/* Whether an agent may take turns with the model, and takes part in the round: the same lanes, of one warpgroup. */
static bool takes_part(const struct wsdbg_trial *t, const struct rounds_of_stage *stage, uint32_t agent, uint32_t round,
                       uint32_t model)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent], *like = &t->replay->agents[model];
    return a->cta == like->cta && a->lanes == like->lanes &&
           (a->warp == like->warp || wsdbg_case_are_mates(t->c, a->warp, like->warp)) &&
           begin_of(a, stage->waited, round) != WSDBG_NONE;
}

/* The agent whose turn a round is if `takers` take turns over all stages, by the rounds of the stage that have
 * arrivals; WSDBG_NONE = these do not agree, or there are none. */
static uint32_t whose_turn(const struct wsdbg_trial *t, const struct rounds_of_stage *stage, uint32_t round,
                           uint32_t takers)
{
    const uint32_t stages = t->replay->barriers[stage->barrier].stages;
    uint32_t agent = WSDBG_NONE;
    for (uint32_t k = 1; k <= stage->needed; k++) {
        const uint64_t apart = (uint64_t)(k > round ? k - round : round - k) * stages;
        if (stage->by[k] == WSDBG_NONE || apart % takers != 0)
            continue;
        if (agent != WSDBG_NONE && agent != stage->by[k])
            return WSDBG_NONE;
        agent = stage->by[k];
    }
    return agent;
}

/* Who would arrive in a round in which nobody does: the one whose turn it is; else, of those that take part in the
 * round, the agent that arrives least often.  All stages count: each agent may serve the same stages always. */
static uint32_t who_should(const struct wsdbg_trial *t, const struct rounds_of_stage *stage, uint32_t round,
                           uint32_t model)
{
    uint32_t best = WSDBG_NONE, takers = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        takers += takes_part(t, stage, i, round, model);
    const uint32_t turn = takers ? whose_turn(t, stage, round, takers) : WSDBG_NONE;
    if (turn != WSDBG_NONE && takes_part(t, stage, turn, round, model))
        return turn;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        if (!takes_part(t, stage, i, round, model))
            continue;
        const uint64_t arrivals = arrivals_by(t, stage, i);
        if (arrivals < least) {
            least = arrivals;
            best = i;
        }
    }
    return best;
}

/* Before which step of its round an agent arrives: behind its last arrival, or before the next step that may block. */
static uint32_t place_in(const struct wsdbg_replay_agent *a, const struct rounds_of_stage *stage, uint32_t round)
{
    const uint32_t begin = begin_of(a, stage->waited, round);
    uint32_t place = WSDBG_NONE, i = begin + 1;
    for (; i < a->step_count && !begins_round(a, i, stage->waited); i++) {
        if (a->target[i] == stage->barrier && wsdbg_replay_arrivals_of(a, i))
            place = i + 1;
        else if (place == WSDBG_NONE && stage->by[round] == WSDBG_NONE && wsdbg_trial_may_block(&a->steps[i]))
            return i;
    }
    return place == WSDBG_NONE ? i : place;
}

static bool comes_to_named(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE;
}

/* Lets a warp come to named barriers for the agent's warp, too, if none does so yet: from the first use on that this
 * one did not make. */
static void come_for(struct wsdbg_trial *t, uint32_t left, uint32_t warp)
{
    const struct wsdbg_replay_agent *gone = &t->replay->agents[left];
    uint32_t uses = 0;
    if (t->changes.doubles)
        return;
    for (uint32_t k = 0; k < gone->step_count; k++)
        uses += comes_to_named(&gone->steps[k]);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        uint32_t own = 0;
        for (uint32_t k = 0; k < a->step_count && a->warp == warp && own <= uses; k++) {
            own += comes_to_named(&a->steps[k]);
            t->doubles[i] = own == uses + 1 ? k : t->doubles[i];
        }
    }
    t->changes.doubles = t->doubles;
}

/* Whether an agent waits for something behind the beginning of its round.  Then it did not leave in or before it. */
static bool goes_beyond(const struct wsdbg_replay_agent *a, uint32_t waited, uint32_t round)
{
    const uint32_t begin = begin_of(a, waited, round);
    for (uint32_t i = begin; begin != WSDBG_NONE && i + 1 < a->step_count; i++)
        if (a->steps[i + 1].kind == WSDBG_ACCESS_WAIT)
            return true;
    return false;
}

/* Whether an agent has left that took part in fewer rounds than are needed, and in none behind this one; and that made
 * no more arrivals than `other`, with which it takes turns. */
static bool is_leaver(const struct wsdbg_trial *t, const struct rounds_of_stage *stage, uint32_t agent, uint32_t round,
                      uint32_t other)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    return t->state[agent] == WSDBG_AGENT_ENDED && begin_of(a, stage->waited, stage->needed) == WSDBG_NONE &&
           !goes_beyond(a, stage->waited, round) && arrivals_by(t, stage, agent) <= arrivals_by(t, stage, other);
}

/* The warps of the agent's warpgroup, itself among them, that arrive on the family. */
static struct wsdbg_warp_set who_takes_turns(const struct wsdbg_trial *t, const struct rounds_of_stage *stage,
                                             uint32_t agent)
{
    const struct wsdbg_replay_agent *self = &t->replay->agents[agent];
    struct wsdbg_warp_set warps = {{0}};
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        if ((a->warp == self->warp || wsdbg_case_are_mates(t->c, a->warp, self->warp)) && arrivals_by(t, stage, i))
            wsdbg_set_add(&warps, a->warp);
    }
    return warps;
}

/* Whether a warp that has left took turns with these, or would have: it has arrived; or all others of the warpgroup do,
 * and they are several. */
static bool took_turns(const struct wsdbg_warp_set *turns, uint32_t warp)
{
    const uint32_t count = wsdbg_set_count(turns);
    return wsdbg_set_has(turns, warp) ? count > 1 : count == WSDBG_GROUP_WARPS - 1;
}

/* Notes who has left of those that would take turns with the agent, up to a round in which nobody arrives: the same
 * lanes of warps of its warpgroup.  True if somebody has. */
static bool note_leavers(struct wsdbg_trial *t, const struct rounds_of_stage *stage, uint32_t agent, uint32_t round,
                         struct wsdbg_repair *repair)
{
    const struct wsdbg_replay_agent *self = &t->replay->agents[agent];
    const struct wsdbg_warp_set turns = who_takes_turns(t, stage, agent);
    bool any = false;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        if (a->cta != self->cta || !(a->lanes & self->lanes) || !wsdbg_case_are_mates(t->c, a->warp, self->warp) ||
            !took_turns(&turns, a->warp) || !is_leaver(t, stage, i, round, agent))
            continue;
        any = true;
        wsdbg_set_add(&repair->warps, a->warp);
        if (wsdbg_case_warp(t->c, a->warp)->state != WSDBG_WARP_EXITED)
            repair->lanes |= a->lanes;
        else
            come_for(t, i, self->warp);
    }
    repair->kind = any ? WSDBG_REPAIR_STAY : repair->kind;
    repair->is_of_turns |= any;
    repair->like = any ? self->warp : repair->like;
    return any;
}

/* Reads the walks of all agents some times more.  False: no steps are left. */
static bool spend_on_all(const struct wsdbg_trial *t, uint32_t times)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        steps += (uint64_t)times * t->replay->agents[i].step_count;
    return spend(t->replay, steps < UINT32_MAX ? (uint32_t)steps : UINT32_MAX);
}

static bool fill_round(struct wsdbg_trial *t, const struct rounds_of_stage *stage, uint32_t round, uint32_t whole,
                       struct wsdbg_repair *repair)
{
    const bool is_empty = stage->by[round] == WSDBG_NONE;
    if (!spend_on_all(t, is_empty ? READS_OF_EMPTY_ROUND : 1))
        return false;
    const uint32_t by = is_empty ? who_should(t, stage, round, stage->by[whole]) : stage->by[round];
    if (by == WSDBG_NONE)
        return false;
    const struct wsdbg_replay_agent *a = &t->replay->agents[by];
    const bool is_silent = stage->copies[round] && !stage->bytes[round];
    if (!is_empty || !note_leavers(t, stage, by, round, repair)) {
        wsdbg_set_add(&repair->warps, a->warp);
        repair->is_mixed = true;
    }
    return wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){
                                       .agent = by,
                                       .step = place_in(a, stage, round),
                                       .barrier = stage->barrier,
                                       .arrivals = t->expected_was[stage->barrier] - stage->arrivals[round],
                                       .bytes = is_silent ? stage->bytes[whole] : 0,
                                   });
}

/* The last round in which somebody arrives; 0 = none. */
static uint32_t last_served(const struct rounds_of_stage *stage)
{
    uint32_t last = 0;
    for (uint32_t k = 1; k < ROUNDS_MOST; k++)
        last = stage->by[k] == WSDBG_NONE ? last : k;
    return last;
}

/* The place of a round of the stage among the rounds of all stages. */
static uint64_t place_of(const struct wsdbg_trial *t, const struct rounds_of_stage *stage, uint32_t round)
{
    const uint32_t row = t->replay->barriers[stage->barrier].row;
    const uint64_t number = row == WSDBG_NONE ? 0 : t->c->snapshot->barriers[row].stage;
    return (uint64_t)round << 32 | number;
}

/* Adds what the rounds of one stage lack.  False: they do not go like this.  A round behind the last one that is served
 * may be none: a thread that has filled a ring often waits until all of it is free.  served: the place of that one. */
static bool fill_stage(struct wsdbg_trial *t, struct rounds_of_stage *stage, uint64_t served,
                       struct wsdbg_repair *repair)
{
    if (!count_stage(t, stage))
        return false;
    const uint32_t whole = whole_round(t, stage);
    if (!whole)
        return stage->needed == 0;
    for (uint32_t k = 1; k <= stage->needed; k++) {
        if (stage->arrivals[k] >= t->expected_was[stage->barrier])
            continue;
        if ((stage->by[k] == WSDBG_NONE && place_of(t, stage, k) > served) || !fill_round(t, stage, k, whole, repair))
            return false;
    }
    return true;
}

/* The next barrier of the family in the CTA, from *at on, with the barrier whose waits begin its rounds.  False: there
 * is none. */
static bool next_stage(const struct wsdbg_trial *t, const struct filling *filling, uint32_t cta, uint32_t *at,
                       struct rounds_of_stage *stage)
{
    for (; *at < t->replay->barrier_count; ++*at)
        if (t->replay->barriers[*at].cta == cta && t->expected_was[*at] &&
            wsdbg_replay_is_of_family(t->replay, filling->family, *at)) {
            stage->barrier = (*at)++;
            stage->waited = wsdbg_trial_stage_beside(t, filling->waited, cta, stage->barrier);
            return true;
        }
    return false;
}

static bool fill_cta(struct wsdbg_trial *t, const struct filling *filling, uint32_t cta, struct wsdbg_repair *repair)
{
    struct rounds_of_stage stage;
    uint64_t served = 0;
    for (uint32_t at = 0; next_stage(t, filling, cta, &at, &stage);) {
        if (stage.waited == WSDBG_NONE || !count_stage(t, &stage))
            return false;
        const uint64_t last = place_of(t, &stage, last_served(&stage));
        served = last > served ? last : served;
    }
    for (uint32_t at = 0; next_stage(t, filling, cta, &at, &stage);)
        if (!fill_stage(t, &stage, served, repair))
            return false;
    return true;
}

/* Some arrivals are those of warps that have left, and others of warps that have not. */
static bool is_two_mistakes(const struct wsdbg_repair *repair)
{
    return repair->kind == WSDBG_REPAIR_STAY && repair->is_mixed;
}

/* Fills the rounds in the CTAs from filling->cta up to the one before `end`; true if that works. */
static bool try_ctas(struct wsdbg_trial *t, const struct filling *filling, uint32_t end)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_FILL};
    wsdbg_trial_begin(t);
    for (uint32_t cta = filling->cta; cta < end; cta++)
        if (!fill_cta(t, filling, cta, &repair))
            return false;
    if (is_two_mistakes(&repair) || !wsdbg_trial_keep_edits(t, &repair) || !wsdbg_trial_works(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

/* Adds arrivals in the rounds of warps that have left.  False: some round belongs to another warp; then no arrival is
 * added. */
static bool fills_for_leavers(struct wsdbg_trial *t, const struct filling *filling, struct wsdbg_repair *repair)
{
    const uint32_t before = t->changes.edit_count;
    const bool had_doubles = t->changes.doubles;
    struct wsdbg_repair of_family = {.kind = WSDBG_REPAIR_FILL};
    if (!fill_cta(t, filling, filling->cta, &of_family) || of_family.kind != WSDBG_REPAIR_STAY ||
        is_two_mistakes(&of_family)) {
        t->changes.edit_count = before;
        if (!had_doubles && t->changes.doubles) {
            t->changes.doubles = NULL;
            memset(t->doubles, 0xff, t->replay->agent_count * sizeof *t->doubles); /* WSDBG_NONE */
        }
        return false;
    }
    *repair = wsdbg_set_count(&repair->warps) ? *repair : of_family;
    return true;
}

static bool may_begin(const struct wsdbg_trial *t, const struct filling *f)
{
    return wsdbg_trial_leads_family(t, f->family) && wsdbg_trial_leads_family(t, f->waited) &&
           !wsdbg_replay_is_of_family(t->replay, f->family, f->waited);
}

/* A warp that has left is missing on each ring at which it took turns.  In the CTAs from `cta` up to the one before
 * `end`; true if that works. */
static bool try_leavers(struct wsdbg_trial *t, uint32_t cta, uint32_t end)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_STAY};
    struct filling f = {.cta = cta};
    wsdbg_trial_begin(t);
    for (; f.cta < end; f.cta++)
        for (f.family = 0; f.family < t->replay->barrier_count; f.family++)
            for (f.waited = 0; f.waited < t->replay->barrier_count; f.waited++)
                if (may_begin(t, &f) && fills_for_leavers(t, &f, &repair))
                    break;
    if (!wsdbg_trial_keep_edits(t, &repair) || !wsdbg_trial_works(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

void wsdbg_try_fill(struct wsdbg_trial *t)
{
    struct filling f = {.cta = 0};
    bool has_left = false;
    for (uint32_t cta = 0; cta < t->c->cta_count; cta++)
        has_left |= try_leavers(t, cta, cta + 1);
    if (has_left || (t->c->cta_count > 1 && try_leavers(t, 0, t->c->cta_count)))
        return;
    for (f.family = 0; f.family < t->replay->barrier_count; f.family++)
        for (f.waited = 0; f.waited < t->replay->barrier_count; f.waited++) {
            bool works = false;
            for (f.cta = 0; may_begin(t, &f) && f.cta < t->c->cta_count; f.cta++)
                works |= try_ctas(t, &f, f.cta + 1);
            f.cta = 0;
            if (!works && may_begin(t, &f) && t->c->cta_count > 1)
                try_ctas(t, &f, t->c->cta_count);
        }
}
