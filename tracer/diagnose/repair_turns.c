/* repair_turns.c - repairs of arrivals: some turns of a thread differ from its others.  See repair.h.
 *
 * Reads: a replay at its standstill, and how turns go (repair_habits.h).  Writes: the repairs that work.
 */
#include "diagnose/repair_habits.h"

/* The step of a turn that stays if its other arrivals are dropped: the first one that announces bytes, else the first
 * one. */
static uint32_t step_to_keep(const struct wsdbg_replay_agent *a, const struct wsdbg_turn *turn)
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
static uint32_t place_in(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, const struct wsdbg_turn *turn,
                         uint32_t lag)
{
    for (uint32_t i = turn->wait + 1, waits = 0; i < a->step_count && lag > 0; i++) {
        if (waits == lag && wsdbg_trial_may_block(&a->steps[i]))
            return i;
        if (a->target[i] == a->target[turn->wait] && wsdbg_turn_waits(t, a, i, a->target[i]))
            break;
        waits += wsdbg_turn_waits(t, a, i, a->target[turn->wait]);
    }
    return turn->next;
}

static bool add_arrival(struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_turn *turn,
                        const struct wsdbg_habit *habit, bool is_late)
{
    const uint32_t step = place_in(t, &t->replay->agents[agent], turn, is_late ? habit->lag : 0);
    return wsdbg_trial_add_edit(
        t, (struct wsdbg_replay_edit){agent, step, turn->barrier, habit->arrivals, turn->expects ? 0 : habit->bytes});
}

/* Adds an arrival to a turn that has none; or, to drop, keeps only one step of a turn that arrives. */
static bool straighten_turn(struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_turn *turn,
                            const struct wsdbg_habit *habit, const struct wsdbg_straightening *s)
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

static bool straighten(struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                       const struct wsdbg_habit *habit)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!wsdbg_turn_begins(t, agent, i, s))
            continue;
        const struct wsdbg_turn turn = wsdbg_turn_at(t, agent, i, s->family, s->cta);
        if (wsdbg_turn_is_of_others(t, agent, s, &turn))
            continue;
        if (!straighten_turn(t, agent, &turn, habit, s))
            return false;
    }
    return true;
}

/* ---- all agents ---- */

static bool straighten_all(struct wsdbg_trial *t, const struct wsdbg_straightening *s, struct wsdbg_repair *repair)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        struct wsdbg_habit habit;
        const uint32_t before = t->changes.edit_count;
        if (!wsdbg_habit_find(t, i, s, &habit))
            continue;
        if (!straighten(t, i, s, &habit))
            return false;
        if (t->changes.edit_count > before)
            wsdbg_set_add(&repair->warps, t->replay->agents[i].warp);
    }
    return true;
}

enum outcome { NOTHING_TO_DO, FAILS, WORKS };

/* Changes the arrivals in the CTAs from s->cta up to the one before `end`. */
static enum outcome try_change(struct wsdbg_trial *t, struct wsdbg_straightening s, uint32_t end)
{
    struct wsdbg_repair repair = {.kind = s.kind};
    wsdbg_trial_begin(t);
    for (; s.cta < end; s.cta++)
        if (!straighten_all(t, &s, &repair))
            return FAILS; /* too many edits: another way may need fewer */
    if (!wsdbg_trial_keep_edits(t, &repair))
        return NOTHING_TO_DO;
    if (!wsdbg_trial_works(t))
        return FAILS;
    wsdbg_trial_keep(t, &repair);
    return WORKS;
}

/* True if that works. */
static bool try_ctas(struct wsdbg_trial *t, struct wsdbg_straightening s, uint32_t end)
{
    enum { OF_ALL = 1, LATE = 2, OF_OWN = 4, WAYS = 8 };
    enum outcome outcome = try_change(t, s, end);
    for (uint32_t way = 1; outcome == FAILS && s.kind == WSDBG_REPAIR_ADD && way < WAYS; way++) {
        s.of_all = way & OF_ALL;
        s.is_late = way & LATE;
        s.of_own = way & OF_OWN;
        if ((!s.is_late || wsdbg_habits_have_lag(t, s, end)) && (!s.of_own || wsdbg_habits_have_own_stages(t, s, end)))
            outcome = try_change(t, s, end);
    }
    return outcome == WORKS;
}

/* One CTA's barriers, else those of all: a mistake in the code of a cluster is most often made in each of its CTAs. */
static void try_families(struct wsdbg_trial *t, enum wsdbg_repair_kind kind, struct wsdbg_habits *known)
{
    struct wsdbg_straightening s = {.kind = kind, .known = known};
    for (s.family = 0; s.family < t->replay->barrier_count; s.family++)
        for (s.waited = 0; s.waited < t->replay->barrier_count; s.waited++) {
            bool works = false;
            if (!wsdbg_trial_leads_family(t, s.family) || !wsdbg_trial_leads_family(t, s.waited) ||
                wsdbg_replay_is_of_family(t->replay, s.family, s.waited))
                continue;
            uint32_t ctas = 0;
            for (s.cta = 0; s.cta < t->c->cta_count; s.cta++) {
                const bool any = wsdbg_habits_have_turns(t, &s);
                works |= any && try_ctas(t, s, s.cta + 1);
                ctas += any;
            }
            s.cta = 0;
            if (!works && ctas > 1)
                try_ctas(t, s, t->c->cta_count);
        }
}

void wsdbg_try_turns(struct wsdbg_trial *t, enum wsdbg_repair_kind kind)
{
    struct wsdbg_habits habits;
    if (wsdbg_habits_init(t, &habits))
        try_families(t, kind, &habits);
    else
        t->out->is_partial = true;
    wsdbg_habits_deinit(&habits);
}
