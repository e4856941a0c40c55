/* repair_turns.c - repairs of arrivals: turns of a thread that differ from its others, and threads that never arrive
 * though others like them do.  See repair.h.
 *
 * A turn begins with a wait for one stage of a barrier and ends with the next wait for it.
 */
#include "diagnose/repair_trial.h"

enum { GROUP_WARPS = 4 };

/* What an agent does between a wait on a barrier and its next one: arrivals on the same stage of a family, in one CTA.
 */
struct turn {
    uint32_t wait, next; /* steps; next: the first one behind that may block, whatever for */
    uint32_t barrier;    /* to arrive on, WSDBG_NONE = not known */
    uint32_t count;      /* instructions that arrive */
    uint32_t last;       /* of them */
    uint32_t arrivals;
};

static uint32_t stage_beside(const struct wsdbg_trial *t, uint32_t family, uint32_t cta, uint32_t wait)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (wsdbg_trial_is_of_family(t, family, b) && t->replay->barriers[b].cta == cta &&
            wsdbg_trial_is_of_stage(t, wait, b))
            return b;
    return WSDBG_NONE;
}

static bool may_block(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_WAIT || step->kind == WSDBG_ACCESS_NAMED_SYNC ||
           step->kind == WSDBG_ACCESS_CLUSTER_WAIT || step->kind == WSDBG_STEP_TOGETHER;
}

/* The turn that begins with the wait at `at`. */
static struct turn turn_at(const struct wsdbg_trial *t, uint32_t agent, uint32_t at, uint32_t family, uint32_t cta)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    struct turn turn = {.wait = at, .next = a->step_count};
    turn.barrier = stage_beside(t, family, cta, a->target[at]);
    for (uint32_t i = at + 1; i < a->step_count; i++) {
        const bool waits = a->steps[i].kind == WSDBG_ACCESS_WAIT;
        if (may_block(&a->steps[i]) && turn.next == a->step_count)
            turn.next = i;
        if (waits && a->target[i] == a->target[at])
            break;
        if (a->target[i] != turn.barrier || wsdbg_replay_arrivals_of(a, i) == 0)
            continue;
        turn.count++;
        turn.last = i;
        turn.arrivals += wsdbg_replay_arrivals_of(a, i);
    }
    return turn;
}

/* How an agent's turns go. */
struct habit {
    uint32_t turns, least; /* up to the standstill: how many, and how often at least it arrives in one */
    uint32_t most;         /* on its whole way */
    uint32_t arrivals;     /* of one such instruction */
    int64_t bytes;         /* that it announces with them */
};

/* A way to make all turns of a family alike. */
struct straightening {
    uint32_t family, cta, waited; /* `waited`: the family whose waits begin turns */
    bool adds;
};

static bool begins_turn(const struct wsdbg_trial *t, uint32_t agent, uint32_t at, const struct straightening *s)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    return a->steps[at].kind == WSDBG_ACCESS_WAIT && wsdbg_trial_is_of_family(t, s->waited, a->target[at]);
}

static bool habit_of(const struct wsdbg_trial *t, uint32_t agent, const struct straightening *s, struct habit *habit)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    *habit = (struct habit){.least = UINT32_MAX};
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!begins_turn(t, agent, i, s))
            continue;
        const struct turn turn = turn_at(t, agent, i, s->family, s->cta);
        if (turn.barrier == WSDBG_NONE)
            return false;
        habit->turns += i < t->at[agent];
        habit->least = i < t->at[agent] && turn.count < habit->least ? turn.count : habit->least;
        habit->most = turn.count > habit->most ? turn.count : habit->most;
        if (turn.count) {
            const struct wsdbg_step_row *step = &a->steps[turn.last];
            habit->arrivals = turn.arrivals / turn.count;
            habit->bytes = step->kind == WSDBG_ACCESS_ARRIVE_EXPECT ? (int64_t)step->number * a->lane_count : 0;
        }
    }
    return habit->turns > 0;
}

static bool add_edit(struct wsdbg_trial *t, struct wsdbg_replay_edit edit)
{
    if (t->changes.edit_count == WSDBG_EDITS_MOST)
        return false;
    t->edits[t->changes.edit_count++] = edit;
    return true;
}

/* Adds what a turn is missing to one arrival, or drops what it has beyond one. */
static bool straighten_turn(struct wsdbg_trial *t, uint32_t agent, const struct turn *turn, const struct habit *habit,
                            bool adds)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    if (adds)
        return turn->count > 0 ||
               add_edit(t, (struct wsdbg_replay_edit){agent, turn->next, turn->barrier, habit->arrivals, habit->bytes});
    bool is_first = true;
    for (uint32_t i = turn->wait + 1; turn->count > 1 && i <= turn->last; i++) {
        if (a->target[i] != turn->barrier || wsdbg_replay_arrivals_of(a, i) == 0)
            continue;
        if (!is_first && !add_edit(t, (struct wsdbg_replay_edit){.agent = agent, .step = i, .barrier = turn->barrier}))
            return false;
        is_first = false;
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
        if (!straighten_turn(t, agent, &turn, habit, s->adds))
            return false;
    }
    return true;
}

/* Of all agents that arrive on the family, in turns of waits on another one. */
static bool straighten_all(struct wsdbg_trial *t, const struct straightening *s, struct wsdbg_repair *repair)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        struct habit habit;
        const uint32_t before = t->changes.edit_count;
        if (!habit_of(t, i, s, &habit) || habit.most == 0 || (s->adds ? habit.least > 0 : habit.most < 2))
            continue;
        if (!straighten(t, i, s, &habit))
            return false;
        if (t->changes.edit_count > before)
            wsdbg_set_add(&repair->warps, t->replay->agents[i].warp);
    }
    return wsdbg_trial_keep_edits(t, repair);
}

void wsdbg_try_turns(struct wsdbg_trial *t, bool adds)
{
    struct straightening s = {.adds = adds};
    for (s.family = 0; s.family < t->replay->barrier_count; s.family++)
        for (s.waited = 0; s.waited < t->replay->barrier_count; s.waited++)
            for (s.cta = 0; s.cta < t->c->cta_count; s.cta++) {
                struct wsdbg_repair repair = {.kind = adds ? WSDBG_REPAIR_ADD : WSDBG_REPAIR_DROP};
                if (!wsdbg_trial_leads_family(t, s.family) || !wsdbg_trial_leads_family(t, s.waited) ||
                    wsdbg_trial_is_of_family(t, s.family, s.waited))
                    continue;
                wsdbg_trial_begin(t);
                if (straighten_all(t, &s, &repair) && wsdbg_trial_works(t))
                    wsdbg_trial_keep(t, &repair);
            }
}

/* ---- who never arrives ---- */

/* How many warps of the same four in a row as the agent's arrive. */
static uint32_t mates_that_arrive(const struct wsdbg_trial *t, uint32_t agent, const struct straightening *s)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(t->c, t->replay->agents[agent].warp);
    struct wsdbg_warp_set mates = {{0}};
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_warp_row *other = wsdbg_case_warp(t->c, t->replay->agents[i].warp);
        struct habit habit;
        if (other->cta == row->cta && other->warp / GROUP_WARPS == row->warp / GROUP_WARPS &&
            habit_of(t, i, s, &habit) && habit.most > 0)
            wsdbg_set_add(&mates, t->replay->agents[i].warp);
    }
    return wsdbg_set_count(&mates);
}

/* Another agent that waits likewise and arrives: at the same place in another four warps, or where most of its own four
 * do. */
static bool find_model(const struct wsdbg_trial *t, uint32_t agent, const struct straightening *s, struct habit *habit)
{
    const struct wsdbg_replay_agent *self = &t->replay->agents[agent];
    const uint32_t position = wsdbg_case_warp(t->c, self->warp)->warp % GROUP_WARPS;
    struct habit own;
    if (!habit_of(t, agent, s, &own) || own.most > 0)
        return false;
    const bool by_mates = mates_that_arrive(t, agent, s) > GROUP_WARPS / 2;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *other = &t->replay->agents[i];
        if (i == agent || other->warp == self->warp || other->cta != self->cta || !(other->lanes & self->lanes) ||
            (!by_mates && wsdbg_case_warp(t->c, other->warp)->warp % GROUP_WARPS != position))
            continue;
        if (habit_of(t, i, s, habit) && habit->most > 0 && habit->turns + 1 >= own.turns)
            return true;
    }
    return false;
}

static bool copy_all(struct wsdbg_trial *t, const struct straightening *s, struct wsdbg_repair *repair)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        struct habit habit;
        const uint32_t before = t->changes.edit_count;
        if (!find_model(t, i, s, &habit))
            continue;
        if (!straighten(t, i, s, &habit))
            return false;
        if (t->changes.edit_count > before)
            wsdbg_set_add(&repair->warps, t->replay->agents[i].warp);
    }
    return wsdbg_trial_keep_edits(t, repair);
}

void wsdbg_try_copies(struct wsdbg_trial *t)
{
    struct straightening s = {.adds = true};
    for (s.family = 0; s.family < t->replay->barrier_count; s.family++)
        for (s.waited = 0; s.waited < t->replay->barrier_count; s.waited++)
            for (s.cta = 0; s.cta < t->c->cta_count; s.cta++) {
                struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_COPY};
                if (!wsdbg_trial_leads_family(t, s.family) || !wsdbg_trial_leads_family(t, s.waited) ||
                    wsdbg_trial_is_of_family(t, s.family, s.waited))
                    continue;
                wsdbg_trial_begin(t);
                if (copy_all(t, &s, &repair) && wsdbg_trial_works(t))
                    wsdbg_trial_keep(t, &repair);
            }
}
