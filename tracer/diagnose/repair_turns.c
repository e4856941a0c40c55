/* repair_turns.c - repairs of arrivals: some turns of a thread differ from its others, or a thread never arrives though
 * others like it do.  See repair.h.
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

/* Whether the turn has a copy whose bytes the barrier of its arrival counts. */
static bool has_copy(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, const struct wsdbg_turn *turn)
{
    for (uint32_t i = turn->wait + 1; i < turn->next && i < a->step_count; i++)
        if (wsdbg_replay_is_copy_to(t->replay, a, i, turn->barrier))
            return true;
    return false;
}

/* What an agent does on two rings of its CTA: it waits on the one and arrives on the other. */
struct both_rings {
    uint32_t stages;      /* of the ring on which it arrives */
    uint32_t waits, last; /* waits of its whole walk; of these, behind its last arrival */
};

static struct both_rings count_both(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a,
                                    const struct wsdbg_turn *turn)
{
    struct both_rings both = {0};
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        both.stages += t->replay->barriers[b].cta == a->cta && wsdbg_replay_is_of_family(t->replay, b, turn->barrier);
    for (uint32_t i = 0; i < a->step_count; i++) {
        const uint32_t target = a->target[i];
        if (target == WSDBG_NONE)
            continue;
        const bool arrives =
            wsdbg_replay_arrivals_of(a, i) > 0 && wsdbg_replay_is_of_family(t->replay, target, turn->barrier);
        const bool waits = wsdbg_turn_waits(t, a, i, a->target[turn->wait]);
        both.waits += waits;
        both.last = arrives ? 0 : both.last + waits;
    }
    return both;
}

/* The most waits on the ring by one agent of the CTA. */
static uint32_t rounds_of_others(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t barrier)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *other = &t->replay->agents[i];
        uint32_t waits = 0;
        for (uint32_t k = 0; other->cta == a->cta && k < other->step_count; k++)
            waits += wsdbg_turn_waits(t, other, k, barrier);
        most = waits > most ? waits : most;
    }
    return most;
}

/* Whether the turn is a round that has nothing to copy: such a round announces nothing.  Waits behind the last arrival
 * may only drain the ring, one for each stage.  Fewer of them are rounds if the others wait for just as many. */
static bool is_empty_round(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a,
                           const struct wsdbg_turn *turn)
{
    if (has_copy(t, a, turn))
        return false;
    for (uint32_t i = turn->next; i < a->step_count; i++)
        if (wsdbg_replay_arrivals_of(a, i) && a->target[i] != WSDBG_NONE &&
            wsdbg_replay_is_of_family(t->replay, a->target[i], turn->barrier))
            return true;
    const struct both_rings both = count_both(t, a, turn);
    return both.last < both.stages && both.waits == rounds_of_others(t, a, turn->barrier);
}

static bool add_arrival(struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_turn *turn,
                        const struct wsdbg_habit *habit, bool is_late)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    const uint32_t step = place_in(t, a, turn, is_late ? habit->lag : 0);
    const int64_t bytes = turn->expects || is_empty_round(t, a, turn) ? 0 : habit->bytes;
    return wsdbg_trial_add_edit(t, wsdbg_replay_edit_of(agent, step, turn->barrier, habit->arrivals, bytes));
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

/* How many turns of an agent may change.  Who arrives behind the wait for the next round leaves out the last ones; so
 * does who should do the same. */
static uint32_t turns_to_change(const struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                                const struct wsdbg_habit *habit)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint32_t turns = 0;
    if (s->kind != WSDBG_REPAIR_COPY || habit->rest == 0)
        return a->step_count;
    for (uint32_t i = 0; i < a->step_count; i++)
        if (wsdbg_turn_begins(t, agent, i, s))
            turns += wsdbg_trial_stage_beside(t, s->family, s->cta, a->target[i]) != WSDBG_NONE;
    return turns > habit->rest ? turns - habit->rest : 0;
}

static bool straighten(struct wsdbg_trial *t, uint32_t agent, const struct wsdbg_straightening *s,
                       const struct wsdbg_habit *habit)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    uint32_t left = turns_to_change(t, agent, s, habit);
    for (uint32_t i = 0; i < a->step_count && left > 0; i++) {
        if (!wsdbg_turn_begins(t, agent, i, s))
            continue;
        const struct wsdbg_turn turn = wsdbg_turn_at(t, agent, i, s->family, s->cta);
        if (wsdbg_turn_is_of_others(t, agent, s, &turn))
            continue;
        if (!straighten_turn(t, agent, &turn, habit, s))
            return false;
        left--;
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

static uint64_t arrivals_of_all(const struct wsdbg_trial *t, const struct wsdbg_habits *habits, uint32_t barrier)
{
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++)
        arrivals += wsdbg_habits_arrivals_on(t, habits, i, barrier);
    return arrivals;
}

/* How many rounds of the ring on which turns wait have the stage of the barrier; 1 where that is not known. */
static uint64_t rounds_of(const struct wsdbg_trial *t, const struct wsdbg_straightening *s, uint32_t barrier)
{
    const uint32_t waited = wsdbg_trial_find_beside(t, s->waited, t->replay->barriers[barrier].cta, barrier);
    const uint32_t expected = waited == WSDBG_NONE ? 0 : t->expected_was[waited];
    return expected ? arrivals_of_all(t, s->known, waited) / expected : 1;
}

/* Whether each round has all arrivals that it takes without the added ones: then nobody is missing. */
static bool is_complete_without(const struct wsdbg_trial *t, const struct wsdbg_straightening *s)
{
    for (uint32_t i = 0; i < t->changes.edit_count; i++) {
        const uint32_t barrier = t->edits[i].barrier;
        if (arrivals_of_all(t, s->known, barrier) < t->expected_was[barrier] * rounds_of(t, s, barrier))
            return false;
    }
    return true;
}

/* Whether some warp makes exactly this number of arrivals on the barrier.  Agents of a warp follow one another. */
static bool makes_as_many(const struct wsdbg_trial *t, const struct wsdbg_habits *habits, uint32_t barrier,
                          uint64_t arrivals)
{
    const struct wsdbg_replay *replay = t->replay;
    uint64_t own = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        own += wsdbg_habits_arrivals_on(t, habits, i, barrier);
        if (i + 1 < replay->agent_count && replay->agents[i + 1].warp == replay->agents[i].warp)
            continue;
        if (own == arrivals)
            return true;
        own = 0;
    }
    return false;
}

/* The edits are in the order of their agents. */
static bool are_copies_on(const struct wsdbg_trial *t, const struct wsdbg_habits *habits, uint32_t barrier)
{
    uint64_t added = 0, own = 0; /* by all warps, by the one at hand */
    for (uint32_t i = 0; i < t->changes.edit_count; i++) {
        const struct wsdbg_replay_edit *edit = &t->edits[i];
        const uint64_t arrivals = edit->barrier == barrier ? edit->arrivals : 0;
        const bool is_last = i + 1 == t->changes.edit_count ||
                             t->replay->agents[edit[1].agent].warp != t->replay->agents[edit->agent].warp;
        added += arrivals;
        own += arrivals;
        if (!is_last)
            continue;
        if (own && !makes_as_many(t, habits, barrier, own))
            return false;
        own = 0;
    }
    return !added || !t->expected_was[barrier] ||
           (arrivals_of_all(t, habits, barrier) + added) % t->expected_was[barrier] == 0;
}

/* Whether the added arrivals are those that a similar thread makes, and fill whole phases. */
static bool are_copies(const struct wsdbg_trial *t, const struct wsdbg_habits *habits)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (!are_copies_on(t, habits, b))
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

/* Whether the thread that would arrive announces bytes on the barrier in that round, without an arrival. */
static bool announces(const struct wsdbg_trial *t, const struct wsdbg_replay_edit *edit, uint32_t *at)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[edit->agent];
    uint32_t k = edit->step;
    while (k > 0 && a->steps[k - 1].kind != WSDBG_ACCESS_WAIT)
        k--;
    for (; k < a->step_count && (k < edit->step || a->steps[k].kind != WSDBG_ACCESS_WAIT); k++)
        if (a->target[k] == edit->barrier && a->steps[k].kind == WSDBG_ACCESS_EXPECT) {
            *at = k;
            return true;
        }
    return false;
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
    if (!wsdbg_trial_keep_edits(t, &repair) ||
        (s.kind == WSDBG_REPAIR_ADD && wsdbg_trial_counts_apart(t, repair.barrier)) ||
        (s.kind == WSDBG_REPAIR_COPY && (is_complete_without(t, &s) || !are_copies(t, s.known))))
        return NOTHING_TO_DO;
    if (!wsdbg_trial_works(t))
        return FAILS;
    repair.is_announced = s.kind == WSDBG_REPAIR_ADD && announces(t, &repair.edit, &repair.announced_at);
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

void wsdbg_try_turns_of_one(struct wsdbg_trial *t)
{
    t->of_one = true;
    wsdbg_try_turns(t, WSDBG_REPAIR_ADD);
    t->of_one = false;
}

void wsdbg_try_turns(struct wsdbg_trial *t, enum wsdbg_repair_kind kind)
{
    struct wsdbg_habits habits;
    if (kind == WSDBG_REPAIR_COPY && stands_at_block_wide(t))
        return;
    if (wsdbg_habits_init(t, &habits))
        try_families(t, kind, &habits);
    else
        t->out->is_partial = true;
    wsdbg_habits_deinit(&habits);
}
