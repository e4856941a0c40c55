/* repair_habits.c - see repair_habits.h.
 *
 * Reads: a replay at its standstill.  Writes: what it has found, so that it need not look for it again.
 */
#include "diagnose/repair_habits.h"

#include <stdlib.h>
#include <string.h>

bool wsdbg_turn_waits(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t step, uint32_t barrier)
{
    return a->steps[step].kind == WSDBG_ACCESS_WAIT && !a->repeats[step] &&
           wsdbg_replay_is_of_family(t->replay, barrier, a->target[step]);
}

/* The only barrier that the family has in the CTA, where turns wait on a ring of several stages; WSDBG_NONE. */
static uint32_t only_one_of(const struct wsdbg_trial *t, uint32_t family, uint32_t cta, uint32_t waited)
{
    uint32_t only = WSDBG_NONE;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++) {
        if (t->replay->barriers[b].cta != cta || !wsdbg_replay_is_of_family(t->replay, family, b))
            continue;
        if (only != WSDBG_NONE)
            return WSDBG_NONE;
        only = b;
    }
    return only != WSDBG_NONE && t->replay->barriers[waited].stages > 1 ? only : WSDBG_NONE;
}

struct wsdbg_turn wsdbg_turn_at(const struct wsdbg_trial *t, uint32_t agent, uint32_t at, uint32_t family, uint32_t cta)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    struct wsdbg_turn turn = {.wait = at, .next = a->step_count};
    turn.barrier = t->of_one ? only_one_of(t, family, cta, a->target[at])
                             : wsdbg_trial_stage_beside(t, family, cta, a->target[at]);
    for (uint32_t i = at + 1; i < a->step_count; i++) {
        const bool waits = wsdbg_turn_waits(t, a, i, a->target[at]);
        if (wsdbg_trial_may_block(&a->steps[i]) && turn.next == a->step_count)
            turn.next = i;
        if (waits && (t->of_one || a->target[i] == a->target[at]))
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

/* The first step with which an agent arrives on the family in one CTA, or WSDBG_NONE: in any; WSDBG_NONE = it never
 * does. */
static uint32_t first_arrival(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                              uint32_t cta)
{
    const uint32_t *of_agent = &s->known->first_arrivals[(size_t)agent * t->replay->barrier_count];
    uint32_t first = WSDBG_NONE;
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if ((cta == WSDBG_NONE || t->replay->barriers[b].cta == cta) && of_agent[b] < first &&
            wsdbg_replay_is_of_family(t->replay, s->family, b))
            first = of_agent[b];
    return first;
}

bool wsdbg_turn_begins(const struct wsdbg_trial *t, uint32_t agent, uint32_t at, const struct wsdbg_straightening *s)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    return wsdbg_turn_waits(t, a, at, s->waited);
}

static bool has_waited(const struct wsdbg_trial *t, uint32_t agent, uint32_t family)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (wsdbg_trial_waits_was(t, agent, b)->any && wsdbg_replay_is_of_family(t->replay, family, b))
            return true;
    return false;
}

bool wsdbg_turn_is_of_others(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                             const struct wsdbg_turn *turn)
{
    return turn->barrier == WSDBG_NONE ||
           (s->of_own && wsdbg_habits_arrivals_on(t, s->known, agent, turn->barrier) == 0);
}

static bool find_habit_of(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                          struct wsdbg_habit *habit)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    *habit = (struct wsdbg_habit){.least = UINT32_MAX};
    if (!s->of_all && !has_waited(t, agent, s->waited))
        return false;
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!wsdbg_turn_begins(t, agent, i, s))
            continue;
        const struct wsdbg_turn turn = wsdbg_turn_at(t, agent, i, s->family, s->cta);
        if (wsdbg_turn_is_of_others(t, agent, s, &turn))
            continue;
        habit->turns += i < t->at[agent];
        habit->least = i < t->at[agent] && turn.count < habit->least ? turn.count : habit->least;
        habit->most = turn.count > habit->most ? turn.count : habit->most;
        habit->rest = turn.count ? 0 : habit->rest + 1;
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
static void know(const struct wsdbg_trial *t, const struct wsdbg_straightening *s)
{
    struct wsdbg_habits *known = s->known;
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
static bool habit_of(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                     struct wsdbg_habit *habit)
{
    know(t, s);
    struct wsdbg_known_habit *kept = &s->known->habits[agent];
    if (!kept->is_asked)
        kept->is_one = find_habit_of(t, agent, s, &kept->habit);
    kept->is_asked = true;
    *habit = kept->habit;
    return kept->is_one;
}

/* ---- who never arrives ---- */

/* Whether the other warps of the agent's warpgroup show what it would do: most of them arrive, or all that wait for the
 * same. */
static bool mates_show_it(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s)
{
    const uint32_t warp = t->replay->agents[agent].warp;
    struct wsdbg_warp_set arrive = {{0}}, wait = {{0}};
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        struct wsdbg_habit habit;
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

/* Lanes that came apart do together what those of the other warp do. */
static void share_of_lanes(const struct wsdbg_replay_agent *self, const struct wsdbg_replay_agent *model,
                           struct wsdbg_habit *habit)
{
    const uint32_t lanes = (uint32_t)__builtin_popcount(self->lanes & model->lanes);
    habit->arrivals = habit->arrivals * lanes / model->lane_count;
    habit->bytes = habit->bytes * lanes / model->lane_count;
}

/* For an agent that never arrives: the habit of another one that waits for the same and arrives. */
static bool find_model(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                       struct wsdbg_habit *habit)
{
    const struct wsdbg_replay_agent *self = &t->replay->agents[agent];
    struct wsdbg_habit own;
    if (!habit_of(t, agent, s, &own) || own.most > 0)
        return false;
    const bool by_mates = mates_show_it(t, agent, s);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *model = &t->replay->agents[i];
        if (!may_be_model(t, self, model, by_mates) || first_arrival(t, i, s, s->cta) == WSDBG_NONE)
            continue;
        if (habit_of(t, i, s, habit) && habit->most > 0 && habit->turns + 1 >= own.turns) {
            share_of_lanes(self, model, habit);
            return true;
        }
    }
    return false;
}

/* ---- all agents ---- */

/* Of a thread that arrives before its first wait, for each stage once, and then in no turn: as it did at first. */
static bool as_at_first(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                        struct wsdbg_habit *habit)
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

/* Whether two agents arrive equally often on each barrier of the family. */
static bool arrive_alike(const struct wsdbg_trial *t, const struct wsdbg_straightening *s, uint32_t a, uint32_t b)
{
    for (uint32_t barrier = 0; barrier < t->replay->barrier_count; barrier++)
        if (wsdbg_replay_is_of_family(t->replay, s->family, barrier) &&
            wsdbg_habits_arrivals_on(t, s->known, a, barrier) != wsdbg_habits_arrivals_on(t, s->known, b, barrier))
            return false;
    return true;
}

/* Whether each turn that the agent has is one that the other one has, too, and without an arrival: both wait for it by
 * the same instruction. */
static bool has_turns_of(const struct wsdbg_trial *t, uint32_t agent, uint32_t other,
                         const struct wsdbg_straightening *s)
{
    const struct wsdbg_replay_agent *self = &t->replay->agents[agent], *model = &t->replay->agents[other];
    for (uint32_t i = 0; i < self->step_count; i++) {
        bool any = !wsdbg_turn_begins(t, agent, i, s);
        for (uint32_t k = 0; k < model->step_count && !any; k++)
            any = model->steps[k].access == self->steps[i].access && model->target[k] == self->target[i] &&
                  wsdbg_turn_begins(t, other, k, s) && wsdbg_turn_at(t, other, k, s->family, s->cta).count == 0;
        if (!any)
            return false;
    }
    return true;
}

/* Of a thread that lets another one wait for most rounds, and waits itself only where that one arrives in no round: the
 * habit of that one, if both arrive equally often.  Whoever forgets the arrival there forgets it for both. */
static bool as_who_waits_for_all(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                                 struct wsdbg_habit *habit)
{
    const struct wsdbg_replay_agent *self = &t->replay->agents[agent];
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *model = &t->replay->agents[i];
        if (model->cta == self->cta && model->warp != self->warp && model->lane_count == self->lane_count &&
            habit_of(t, i, s, habit) && habit->most > 0 && habit->least == 0 && arrive_alike(t, s, agent, i) &&
            has_turns_of(t, agent, i, s))
            return true;
    }
    return false;
}

bool wsdbg_habit_find(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                      struct wsdbg_habit *habit)
{
    if (s->kind == WSDBG_REPAIR_COPY)
        return first_arrival(t, agent, s, WSDBG_NONE) == WSDBG_NONE && find_model(t, agent, s, habit);
    if (first_arrival(t, agent, s, s->cta) == WSDBG_NONE || !habit_of(t, agent, s, habit))
        return false;
    if (s->kind == WSDBG_REPAIR_DROP)
        return habit->most > 1;
    if (habit->most > 0)
        return s->of_all || habit->least == 0;
    return as_at_first(t, agent, s, habit) || (s->of_all && as_who_waits_for_all(t, agent, s, habit));
}

bool wsdbg_habits_have_lag(const struct wsdbg_trial *t, struct wsdbg_straightening s, uint32_t end)
{
    struct wsdbg_habit habit;
    for (; s.cta < end; s.cta++)
        for (uint32_t i = 0; i < t->replay->agent_count; i++)
            if (wsdbg_habit_find(t, i, &s, &habit) && habit.lag > 0)
                return true;
    return false;
}

bool wsdbg_habits_have_own_stages(const struct wsdbg_trial *t, struct wsdbg_straightening s, uint32_t end)
{
    struct wsdbg_habit habit;
    for (; s.cta < end; s.cta++)
        for (uint32_t i = 0; i < t->replay->agent_count; i++)
            for (uint32_t b = 0; b < t->replay->barrier_count; b++)
                if (t->replay->barriers[b].cta == s.cta && wsdbg_replay_is_of_family(t->replay, s.family, b) &&
                    wsdbg_habits_arrivals_on(t, s.known, i, b) == 0 && wsdbg_habit_find(t, i, &s, &habit))
                    return true;
    return false;
}

bool wsdbg_habits_have_turns(const struct wsdbg_trial *t, const struct wsdbg_straightening *s)
{
    const uint32_t count = t->replay->barrier_count;
    for (uint32_t b = 0; b < count; b++)
        if (t->replay->barriers[b].cta == s->cta && wsdbg_replay_is_of_family(t->replay, s->family, b) &&
            s->known->waits_elsewhere[(size_t)b * count + s->waited])
            return true;
    return false;
}

/* ---- what is asked again and again ---- */

/* The arrivals are 0 before. */
static void find_arrivals(const struct wsdbg_trial *t, struct wsdbg_habits *habits)
{
    const size_t barriers = t->replay->barrier_count;
    memset(habits->first_arrivals, 0xff,
           t->replay->agent_count * barriers * sizeof *habits->first_arrivals); /* WSDBG_NONE */
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &t->replay->agents[i];
        for (uint32_t k = a->step_count; k-- > 0;) {
            const uint32_t arrivals = a->target[k] == WSDBG_NONE ? 0 : wsdbg_replay_arrivals_of(a, k);
            if (arrivals == 0)
                continue;
            habits->first_arrivals[i * barriers + a->target[k]] = k;
            habits->arrivals[i * barriers + a->target[k]] += arrivals;
        }
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

bool wsdbg_habits_init(const struct wsdbg_trial *t, struct wsdbg_habits *habits)
{
    const size_t agents = t->replay->agent_count, barriers = t->replay->barrier_count;
    *habits = (struct wsdbg_habits){.first_arrivals = malloc((agents * barriers + 1) * sizeof *habits->first_arrivals),
                                    .arrivals = calloc(agents * barriers + 1, sizeof *habits->arrivals),
                                    .waits_elsewhere = calloc(barriers * barriers + 1, sizeof *habits->waits_elsewhere),
                                    .habits = calloc(agents + 1, sizeof *habits->habits),
                                    .family = WSDBG_NONE};
    if (!habits->first_arrivals || !habits->arrivals || !habits->waits_elsewhere || !habits->habits)
        return false;
    find_arrivals(t, habits);
    find_waits_elsewhere(t, habits->first_arrivals, habits->waits_elsewhere);
    return true;
}

void wsdbg_habits_deinit(struct wsdbg_habits *habits)
{
    free(habits->first_arrivals);
    free(habits->arrivals);
    free(habits->waits_elsewhere);
    free(habits->habits);
}
