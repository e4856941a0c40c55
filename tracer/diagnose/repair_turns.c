/* repair_turns.c - repairs of arrivals: some turns of a thread differ from its others, or a thread never arrives though
 * others like it do.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.  A turn of a thread begins with its wait on one
 * stage of a barrier and ends with its next wait on that stage, not counting waits that repeat one.
 */
#include "diagnose/repair_trial.h"

#include <stdlib.h>
#include <string.h>

/* A turn, and its arrivals on the same stage of another family, in one CTA. */
struct turn {
    uint32_t wait, next; /* steps; wait: begins the turn; next: the first one after it that may block */
    uint32_t barrier;    /* on which it may arrive, WSDBG_NONE = there is no such stage */
    uint32_t count;      /* steps that arrive on it */
    uint32_t last;       /* the last of these steps */
    uint32_t arrivals;   /* of all these steps */
    uint32_t lag;        /* waits for other stages that come before the first of these steps */
    bool expects;        /* a step announces bytes on it without an arrival */
};

/* Whether a step waits for some stage of the family of `barrier`, not again for the same phase. */
static bool waits_for(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t step, uint32_t barrier)
{
    return a->steps[step].kind == WSDBG_ACCESS_WAIT && !a->repeats[step] &&
           wsdbg_replay_is_of_family(t->replay, barrier, a->target[step]);
}

/* The turn that begins with the wait at `at`. */
static struct turn turn_at(const struct wsdbg_trial *t, uint32_t agent, uint32_t at, uint32_t family, uint32_t cta)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    struct turn turn = {.wait = at, .next = a->step_count};
    turn.barrier = wsdbg_trial_stage_beside(t, family, cta, a->target[at]);
    for (uint32_t i = at + 1; i < a->step_count; i++) {
        const bool waits = waits_for(t, a, i, a->target[at]);
        if (wsdbg_trial_may_block(&a->steps[i]) && turn.next == a->step_count)
            turn.next = i;
        if (waits && a->target[i] == a->target[at])
            break;
        turn.lag += waits && turn.count == 0;
        if (a->target[i] != turn.barrier)
            continue;
        turn.expects |= a->steps[i].kind == WSDBG_ACCESS_EXPECT;
        if (wsdbg_replay_arrivals_of(a, i) == 0)
            continue;
        turn.count++;
        turn.last = i;
        turn.arrivals += wsdbg_replay_arrivals_of(a, i);
    }
    return turn;
}

/* How an agent's turns go. */
struct habit {
    uint32_t turns, least; /* turns up to the standstill; least: the fewest steps that arrive in one of them */
    uint32_t most;         /* the most steps that arrive in one turn of its whole walk */
    uint32_t arrivals;     /* of one such step */
    int64_t bytes;         /* that it announces with them */
    uint32_t lag;          /* the most waits for other stages that come before the arrival of a turn */
};

/* What is asked of the agents again and again. */
struct known {
    uint32_t *first_arrivals; /* agent x barrier: the first step that arrives on it, WSDBG_NONE */
    bool *waits_elsewhere;    /* barrier x family: some agent arrives on the barrier and has waited on the family */
    struct known_habit {
        bool is_asked, is_one;
        struct habit habit;
    } * habits; /* by agent, for these: */
    uint32_t family, cta, waited;
    bool of_all, of_own;
};

/* A change that makes turns alike. */
struct straightening {
    uint32_t family, cta, waited; /* turns begin with waits on `waited`; arrivals on `family` in the CTA change */
    enum wsdbg_repair_kind kind;  /* ADD, DROP, COPY */
    bool of_own;                  /* ADD: only on stages on which the thread arrives in some turn */
    bool is_late;                 /* ADD: the arrival comes behind as many waits for other stages as in other turns */
    struct known *known;
    bool of_all; /* ADD: also of threads that arrived in each turn so far, or had not begun, and arrive in some later
                    one: they may leave it out in others */
};

/* The first step with which an agent arrives on the family in one CTA, or WSDBG_NONE: in any; WSDBG_NONE = it never
 * does. */
static uint32_t first_arrival(const struct wsdbg_trial *t, uint32_t agent, const struct straightening *s, uint32_t cta)
{
    const uint32_t *of_agent = &s->known->first_arrivals[(size_t)agent * t->replay->barrier_count];
    uint32_t first = WSDBG_NONE;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if ((cta == WSDBG_NONE || t->replay->barriers[b].cta == cta) && of_agent[b] < first &&
            wsdbg_replay_is_of_family(t->replay, s->family, b))
            first = of_agent[b];
    return first;
}

static bool begins_turn(const struct wsdbg_trial *t, uint32_t agent, uint32_t at, const struct straightening *s)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    return waits_for(t, a, at, s->waited);
}

static bool has_waited(const struct wsdbg_trial *t, uint32_t agent, uint32_t family)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (wsdbg_trial_waits_was(t, agent, b)->any && wsdbg_replay_is_of_family(t->replay, family, b))
            return true;
    return false;
}

/* Whether the turn is of no stage on which the agent may be meant to arrive: the other family lacks it, or the agent
 * never arrives on it. */
static bool is_of_others(const struct wsdbg_trial *t, uint32_t agent, const struct straightening *s,
                         const struct turn *turn)
{
    return turn->barrier == WSDBG_NONE ||
           (s->of_own && wsdbg_replay_arrivals_on(&t->replay->agents[agent], turn->barrier) == 0);
}

static bool find_habit_of(const struct wsdbg_trial *t, uint32_t agent, const struct straightening *s,
                          struct habit *habit)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    *habit = (struct habit){.least = UINT32_MAX};
    if (!s->of_all && !has_waited(t, agent, s->waited))
        return false;
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!begins_turn(t, agent, i, s))
            continue;
        const struct turn turn = turn_at(t, agent, i, s->family, s->cta);
        if (is_of_others(t, agent, s, &turn))
            continue;
        habit->turns += i < t->at[agent];
        habit->least = i < t->at[agent] && turn.count < habit->least ? turn.count : habit->least;
        habit->most = turn.count > habit->most ? turn.count : habit->most;
        if (turn.count) {
            const struct wsdbg_step_row *step = &a->steps[turn.last];
            habit->arrivals = turn.arrivals / turn.count;
            habit->lag = turn.lag > habit->lag ? turn.lag : habit->lag;
            habit->bytes = step->kind == WSDBG_ACCESS_ARRIVE_EXPECT ? (int64_t)step->number * a->lane_count : 0;
        }
    }
    return habit->turns > 0 || (s->of_all && habit->most > 0);
}

/* Forgets habits that are of other turns. */
static void know(const struct wsdbg_trial *t, const struct straightening *s)
{
    struct known *known = s->known;
    if (known->family == s->family && known->cta == s->cta && known->waited == s->waited &&
        known->of_all == s->of_all && known->of_own == s->of_own)
        return;
    memset(known->habits, 0, t->replay->agent_count * sizeof *known->habits);
    known->family = s->family;
    known->cta = s->cta;
    known->waited = s->waited;
    known->of_all = s->of_all;
    known->of_own = s->of_own;
}

/* False: no turn shows it. */
static bool habit_of(const struct wsdbg_trial *t, uint32_t agent, const struct straightening *s, struct habit *habit)
{
    know(t, s);
    struct known_habit *kept = &s->known->habits[agent];
    if (!kept->is_asked)
        kept->is_one = find_habit_of(t, agent, s, &kept->habit);
    kept->is_asked = true;
    *habit = kept->habit;
    return kept->is_one;
}

/* The step of a turn that stays if its other arrivals are dropped: the first one that announces bytes, else the first
 * one. */
static uint32_t step_to_keep(const struct wsdbg_replay_agent *a, const struct turn *turn)
{
    uint32_t first = WSDBG_NONE;
    for (uint32_t i = turn->wait + 1; i <= turn->last; i++) {
        if (a->target[i] != turn->barrier || wsdbg_replay_arrivals_of(a, i) == 0)
            continue;
        if (a->steps[i].kind == WSDBG_ACCESS_ARRIVE_EXPECT)
            return i;
        first = first == WSDBG_NONE ? i : first;
    }
    return first;
}

/* Before which step an arrival is added to a turn that has none: the next one that may block.  If it is to be late, the
 * next one behind so many waits; warps that multiply in groups release a stage when they have waited for the next. */
static uint32_t place_in(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, const struct turn *turn,
                         uint32_t lag)
{
    for (uint32_t i = turn->wait + 1, waits = 0; i < a->step_count && lag > 0; i++) {
        if (waits == lag && wsdbg_trial_may_block(&a->steps[i]))
            return i;
        if (a->target[i] == a->target[turn->wait] && waits_for(t, a, i, a->target[i]))
            break;
        waits += waits_for(t, a, i, a->target[turn->wait]);
    }
    return turn->next;
}

static bool add_arrival(struct wsdbg_trial *t, uint32_t agent, const struct turn *turn, const struct habit *habit,
                        bool is_late)
{
    const uint32_t step = place_in(t, &t->replay->agents[agent], turn, is_late ? habit->lag : 0);
    return wsdbg_trial_add_edit(
        t, (struct wsdbg_replay_edit){agent, step, turn->barrier, habit->arrivals, turn->expects ? 0 : habit->bytes});
}

/* Adds an arrival to a turn that has none; or, to drop, keeps only one step of a turn that arrives. */
static bool straighten_turn(struct wsdbg_trial *t, uint32_t agent, const struct turn *turn, const struct habit *habit,
                            const struct straightening *s)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    if (s->kind != WSDBG_REPAIR_DROP)
        return turn->count > 0 || add_arrival(t, agent, turn, habit, s->is_late);
    const uint32_t kept = turn->count > 1 ? step_to_keep(a, turn) : WSDBG_NONE;
    for (uint32_t i = turn->wait + 1; turn->count > 1 && i <= turn->last; i++) {
        if (a->target[i] != turn->barrier || wsdbg_replay_arrivals_of(a, i) == 0 || i == kept)
            continue;
        if (!wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.agent = agent, .step = i, .barrier = turn->barrier}))
            return false;
    }
    return true;
}

static bool straighten(struct wsdbg_trial *t, uint32_t agent, const struct straightening *s, const struct habit *habit)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!begins_turn(t, agent, i, s))
            continue;
        const struct turn turn = turn_at(t, agent, i, s->family, s->cta);
        if (!is_of_others(t, agent, s, &turn) && !straighten_turn(t, agent, &turn, habit, s))
            return false;
    }
    return true;
}

/* ---- who never arrives ---- */

/* Whether the other warps of the agent's warpgroup show what it would do: most of them arrive, or all that wait for the
 * same. */
static bool mates_show_it(const struct wsdbg_trial *t, uint32_t agent, const struct straightening *s)
{
    const uint32_t warp = t->replay->agents[agent].warp;
    struct wsdbg_warp_set arrive = {{0}}, wait = {{0}};
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        struct habit habit;
        if (!wsdbg_case_are_mates(t->c, warp, t->replay->agents[i].warp) || !habit_of(t, i, s, &habit))
            continue;
        wsdbg_set_add(&wait, t->replay->agents[i].warp);
        if (habit.most > 0)
            wsdbg_set_add(&arrive, t->replay->agents[i].warp);
    }
    const uint32_t count = wsdbg_set_count(&arrive);
    return count > WSDBG_GROUP_WARPS / 2 || (count > 0 && count == wsdbg_set_count(&wait));
}

/* Whether one agent shows what another one, which never arrives, would do: it is at the same place of another
 * warpgroup; or anywhere in the CTA, if the other warps of the agent's warpgroup show it; or the same warp of another
 * CTA. */
static bool may_be_model(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *self,
                         const struct wsdbg_replay_agent *other, bool by_mates)
{
    const uint32_t own = wsdbg_case_warp(t->c, self->warp)->warp, its = wsdbg_case_warp(t->c, other->warp)->warp;
    if (other->warp == self->warp || !(other->lanes & self->lanes))
        return false;
    return other->cta == self->cta ? by_mates || own % WSDBG_GROUP_WARPS == its % WSDBG_GROUP_WARPS : own == its;
}

/* For an agent that never arrives: the habit of another one that waits for the same and arrives. */
static bool find_model(const struct wsdbg_trial *t, uint32_t agent, const struct straightening *s, struct habit *habit)
{
    const struct wsdbg_replay_agent *self = &t->replay->agents[agent];
    struct habit own;
    if (!habit_of(t, agent, s, &own) || own.most > 0)
        return false;
    const bool by_mates = mates_show_it(t, agent, s);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        if (!may_be_model(t, self, &t->replay->agents[i], by_mates) || first_arrival(t, i, s, s->cta) == WSDBG_NONE)
            continue;
        if (habit_of(t, i, s, habit) && habit->most > 0 && habit->turns + 1 >= own.turns)
            return true;
    }
    return false;
}

/* ---- all agents ---- */

/* Of a thread that arrives before its first wait, for each stage once, and then in no turn: as it did at first. */
static bool as_at_first(const struct wsdbg_trial *t, uint32_t agent, const struct straightening *s, struct habit *habit)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint32_t k = first_arrival(t, agent, s, s->cta);
    habit->arrivals = wsdbg_replay_arrivals_of(a, k);
    habit->bytes = a->steps[k].kind == WSDBG_ACCESS_ARRIVE_EXPECT ? (int64_t)a->steps[k].number * a->lane_count : 0;
    for (; k > 0; k--)
        if (a->steps[k - 1].kind == WSDBG_ACCESS_WAIT)
            return false;
    return true;
}

/* Whether an agent's turns are to change, and to which habit. */
static bool find_habit(const struct wsdbg_trial *t, uint32_t agent, const struct straightening *s, struct habit *habit)
{
    if (s->kind == WSDBG_REPAIR_COPY)
        return first_arrival(t, agent, s, WSDBG_NONE) == WSDBG_NONE && find_model(t, agent, s, habit);
    if (first_arrival(t, agent, s, s->cta) == WSDBG_NONE || !habit_of(t, agent, s, habit))
        return false;
    if (s->kind == WSDBG_REPAIR_DROP)
        return habit->most > 1;
    return habit->most > 0 ? s->of_all || habit->least == 0 : as_at_first(t, agent, s, habit);
}

static bool straighten_all(struct wsdbg_trial *t, const struct straightening *s, struct wsdbg_repair *repair)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        struct habit habit;
        const uint32_t before = t->changes.edit_count;
        if (!find_habit(t, i, s, &habit))
            continue;
        if (!straighten(t, i, s, &habit))
            return false;
        if (t->changes.edit_count > before)
            wsdbg_set_add(&repair->warps, t->replay->agents[i].warp);
    }
    return true;
}

static uint64_t arrivals_of_all(const struct wsdbg_trial *t, uint32_t barrier)
{
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        arrivals += wsdbg_replay_arrivals_on(&t->replay->agents[i], barrier);
    return arrivals;
}

/* How many rounds of the ring on which turns wait have the stage of the barrier; 1 where that is not known. */
static uint64_t rounds_of(const struct wsdbg_trial *t, const struct straightening *s, uint32_t barrier)
{
    const uint32_t waited = wsdbg_trial_find_beside(t, s->waited, t->replay->barriers[barrier].cta, barrier);
    const uint32_t expected = waited == WSDBG_NONE ? 0 : t->expected_was[waited];
    return expected ? arrivals_of_all(t, waited) / expected : 1;
}

/* Whether each round has all arrivals that it takes without the added ones: then nobody is missing. */
static bool is_complete_without(const struct wsdbg_trial *t, const struct straightening *s)
{
    for (uint32_t i = 0; i < t->changes.edit_count; i++) {
        const uint32_t barrier = t->edits[i].barrier;
        if (arrivals_of_all(t, barrier) < t->expected_was[barrier] * rounds_of(t, s, barrier))
            return false;
    }
    return true;
}

/* How many arrivals the change adds on a barrier; by one agent, or by all: WSDBG_NONE. */
static uint64_t arrivals_added(const struct wsdbg_trial *t, uint32_t barrier, uint32_t agent)
{
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < t->changes.edit_count; i++)
        if (t->edits[i].barrier == barrier && (agent == WSDBG_NONE || t->edits[i].agent == agent))
            arrivals += t->edits[i].arrivals;
    return arrivals;
}

/* Whether some agent makes so many arrivals on the barrier. */
static bool makes_as_many(const struct wsdbg_trial *t, uint32_t barrier, uint64_t arrivals)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (wsdbg_replay_arrivals_on(&t->replay->agents[i], barrier) == arrivals)
            return true;
    return false;
}

static bool are_copies_on(const struct wsdbg_trial *t, uint32_t barrier)
{
    const uint64_t added = arrivals_added(t, barrier, WSDBG_NONE);
    if (added && t->expected_was[barrier] && (arrivals_of_all(t, barrier) + added) % t->expected_was[barrier])
        return false;
    for (uint32_t i = 0; i < t->replay->agent_count && added; i++) {
        const uint64_t own = arrivals_added(t, barrier, i);
        if (own && !makes_as_many(t, barrier, own))
            return false;
    }
    return true;
}

/* Whether the added arrivals are those that a similar thread makes, and fill whole phases. */
static bool are_copies(const struct wsdbg_trial *t)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (!are_copies_on(t, b))
            return false;
    return true;
}

/* Whether some agent stands at a barrier of all threads.  Then those that do not come there are more to blame than
 * those that do not arrive elsewhere. */
static bool stands_at_block_wide(const struct wsdbg_trial *t)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        if (t->state[i] == WSDBG_AGENT_NAMED && t->replay->agents[i].steps[t->at[i]].number == 0)
            return true;
    return false;
}

enum outcome { NOTHING_TO_DO, FAILS, WORKS };

/* Changes the arrivals in the CTAs from s->cta up to the one before `end`. */
static enum outcome try_change(struct wsdbg_trial *t, struct straightening s, uint32_t end)
{
    struct wsdbg_repair repair = {.kind = s.kind};
    wsdbg_trial_begin(t);
    for (; s.cta < end; s.cta++)
        if (!straighten_all(t, &s, &repair))
            return NOTHING_TO_DO;
    if (!wsdbg_trial_keep_edits(t, &repair) ||
        (s.kind == WSDBG_REPAIR_COPY && (is_complete_without(t, &s) || !are_copies(t))))
        return NOTHING_TO_DO;
    if (!wsdbg_trial_works(t))
        return FAILS;
    wsdbg_trial_keep(t, &repair);
    return WORKS;
}

/* Whether some thread arrives in other turns behind waits for other stages.  Else a late arrival is no other one. */
static bool has_lag(const struct wsdbg_trial *t, struct straightening s, uint32_t end)
{
    struct habit habit;
    for (; s.cta < end; s.cta++)
        for (uint32_t i = 0; i < t->replay->agent_count; i++)
            if (find_habit(t, i, &s, &habit) && habit.lag > 0)
                return true;
    return false;
}

/* Whether some thread arrives on some stages of the family only.  Warpgroups that take a stage each do so. */
static bool has_own_stages(const struct wsdbg_trial *t, struct straightening s, uint32_t end)
{
    struct habit habit;
    for (; s.cta < end; s.cta++)
        for (uint32_t i = 0; i < t->replay->agent_count; i++)
            for (uint32_t b = 0; b < t->replay->barrier_count; b++)
                if (t->replay->barriers[b].cta == s.cta && wsdbg_replay_is_of_family(t->replay, s.family, b) &&
                    wsdbg_replay_arrivals_on(&t->replay->agents[i], b) == 0 && find_habit(t, i, &s, &habit))
                    return true;
    return false;
}

/* True if that works. */
static bool try_ctas(struct wsdbg_trial *t, struct straightening s, uint32_t end)
{
    enum { OF_ALL = 1, LATE = 2, OF_OWN = 4, WAYS = 8 };
    enum outcome outcome = try_change(t, s, end);
    for (uint32_t way = 1; outcome == FAILS && s.kind == WSDBG_REPAIR_ADD && way < WAYS; way++) {
        s.of_all = way & OF_ALL;
        s.is_late = way & LATE;
        s.of_own = way & OF_OWN;
        if ((!s.is_late || has_lag(t, s, end)) && (!s.of_own || has_own_stages(t, s, end)))
            outcome = try_change(t, s, end);
    }
    return outcome == WORKS;
}

/* Whether some agent arrives on the family in this CTA and has waited on the other family: else no turn shows anything.
 */
static bool are_there_turns(const struct wsdbg_trial *t, const struct straightening *s)
{
    const uint32_t count = t->replay->barrier_count;
    for (uint32_t b = 0; b < count; b++)
        if (t->replay->barriers[b].cta == s->cta && wsdbg_replay_is_of_family(t->replay, s->family, b) &&
            s->known->waits_elsewhere[(size_t)b * count + s->waited])
            return true;
    return false;
}

/* One CTA's barriers, else those of all: a mistake in the code of a cluster is most often made in each of its CTAs. */
static void try_families(struct wsdbg_trial *t, enum wsdbg_repair_kind kind, struct known *known)
{
    struct straightening s = {.kind = kind, .known = known};
    for (s.family = 0; s.family < t->replay->barrier_count; s.family++)
        for (s.waited = 0; s.waited < t->replay->barrier_count; s.waited++) {
            bool works = false;
            if (!wsdbg_trial_leads_family(t, s.family) || !wsdbg_trial_leads_family(t, s.waited) ||
                wsdbg_replay_is_of_family(t->replay, s.family, s.waited))
                continue;
            uint32_t ctas = 0;
            for (s.cta = 0; s.cta < t->c->cta_count; s.cta++) {
                const bool any = are_there_turns(t, &s);
                works |= any && try_ctas(t, s, s.cta + 1);
                ctas += any;
            }
            s.cta = 0;
            if (!works && ctas > 1)
                try_ctas(t, s, t->c->cta_count);
        }
}

static void find_first_arrivals(const struct wsdbg_trial *t, uint32_t *out)
{
    const size_t barriers = t->replay->barrier_count;
    memset(out, 0xff, t->replay->agent_count * barriers * sizeof *out); /* WSDBG_NONE */
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = a->step_count; k-- > 0;)
            if (a->target[k] != WSDBG_NONE && wsdbg_replay_arrivals_of(a, k))
                out[i * barriers + a->target[k]] = k;
    }
}

static void find_waits_elsewhere(const struct wsdbg_trial *t, const uint32_t *first_arrivals, bool *out)
{
    const size_t barriers = t->replay->barrier_count;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        for (uint32_t waited = 0; waited < barriers; waited++)
            for (uint32_t b = 0; b < barriers && wsdbg_trial_waits_was(t, i, waited)->any; b++)
                if (first_arrivals[i * barriers + b] != WSDBG_NONE)
                    out[b * barriers + t->replay->barriers[waited].family] = true;
}

void wsdbg_try_turns(struct wsdbg_trial *t, enum wsdbg_repair_kind kind)
{
    const size_t agents = t->replay->agent_count, barriers = t->replay->barrier_count;
    struct known known = {.first_arrivals = malloc((agents * barriers + 1) * sizeof *known.first_arrivals),
                          .waits_elsewhere = calloc(barriers * barriers + 1, sizeof *known.waits_elsewhere),
                          .habits = calloc(agents + 1, sizeof *known.habits),
                          .family = WSDBG_NONE};
    const bool has_room = known.first_arrivals && known.waits_elsewhere && known.habits;
    if (has_room && !(kind == WSDBG_REPAIR_COPY && stands_at_block_wide(t))) {
        find_first_arrivals(t, known.first_arrivals);
        find_waits_elsewhere(t, known.first_arrivals, known.waits_elsewhere);
        try_families(t, kind, &known);
    }
    t->out->is_partial |= !has_room;
    free(known.first_arrivals);
    free(known.waits_elsewhere);
    free(known.habits);
}
