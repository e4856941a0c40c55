/* repair_named_rounds.c - repairs of warps that leave out a named barrier in some rounds, though they use it in others.
 * See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.
 *
 * A round of a warp begins behind one of its waits: at another named barrier, or for a phase of a family of mbarriers.
 * A round without the barrier gets an arrival at it.  That is enough also where the warp should wait there: the others
 * then have all threads that they wait for.
 */
#include "diagnose/repair_trial.h"

/* What begins a round. */
struct beginning {
    bool is_named;
    uint32_t of; /* the named barrier's id; else an mbarrier of the family */
};

struct rounds_of_named {
    struct beginning begins;
    uint32_t id;      /* the named barrier that some rounds leave out */
    uint32_t threads; /* that uses of it name */
};

/* What an agent does with the barrier in its rounds. */
struct named_habit {
    uint32_t with, without; /* rounds that have a use; rounds up to the standstill that have none */
    uint32_t lag; /* the most waits between the beginning of a round and its use: an arrival comes behind as many */
};

static bool begins_round(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t step,
                         const struct beginning *begins)
{
    if (begins->is_named)
        return a->steps[step].kind == WSDBG_ACCESS_NAMED_SYNC && a->steps[step].address == begins->of;
    return a->steps[step].kind == WSDBG_ACCESS_WAIT && !a->repeats[step] && a->target[step] != WSDBG_NONE &&
           wsdbg_replay_is_of_family(t->replay, begins->of, a->target[step]);
}

/* Where the round that begins at a step ends: at the next beginning, or at the walk's end. */
static uint32_t end_of_round(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t step,
                             const struct beginning *begins)
{
    uint32_t end = step + 1;
    while (end < a->step_count && !begins_round(t, a, end, begins))
        end++;
    return end;
}

/* The first use of the barrier in a round, WSDBG_NONE = there is none.  *waits: steps before it that may block. */
static uint32_t use_in(const struct wsdbg_replay_agent *a, uint32_t step, uint32_t end, uint32_t id, uint32_t *waits)
{
    *waits = 0;
    for (uint32_t i = step + 1; i < end; i++) {
        if (wsdbg_replay_is_use(&a->steps[i], id))
            return i;
        *waits += wsdbg_trial_may_block(&a->steps[i]);
    }
    return WSDBG_NONE;
}

/* Whether the walk shows all of the round: it is not the last one of a walk that is not whole. */
static bool is_whole_round(const struct wsdbg_trial *t, const struct wsdbg_replay_agent *a, uint32_t end)
{
    return end < a->step_count || t->c->snapshot->walks[a->walk].is_whole;
}

static struct named_habit habit_of(const struct wsdbg_trial *t, uint32_t agent, const struct rounds_of_named *rounds)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    struct named_habit habit = {0};
    for (uint32_t i = 0; i < a->step_count; i++) {
        uint32_t waits;
        if (!begins_round(t, a, i, &rounds->begins))
            continue;
        const uint32_t end = end_of_round(t, a, i, &rounds->begins);
        const bool is_used = use_in(a, i, end, rounds->id, &waits) != WSDBG_NONE;
        habit.with += is_used;
        habit.without += !is_used && i < t->at[agent];
        habit.lag = is_used && waits > habit.lag ? waits : habit.lag;
    }
    return habit;
}

/* The step before which the arrival is made: the next one that may block, behind so many others. */
static uint32_t place_in(const struct wsdbg_replay_agent *a, uint32_t step, uint32_t end, uint32_t lag)
{
    uint32_t waits = 0;
    for (uint32_t i = step + 1; i < end; i++) {
        if (wsdbg_trial_may_block(&a->steps[i]) && waits++ == lag)
            return i;
    }
    return end;
}

/* False: there are too many edits. */
static bool complete_rounds(struct wsdbg_trial *t, uint32_t agent, const struct rounds_of_named *rounds,
                            const struct named_habit *habit)
{
    const struct wsdbg_replay_agent *a = &t->replay->agents[agent];
    for (uint32_t i = 0; i < a->step_count; i++) {
        uint32_t waits;
        if (!begins_round(t, a, i, &rounds->begins))
            continue;
        const uint32_t end = end_of_round(t, a, i, &rounds->begins);
        if (use_in(a, i, end, rounds->id, &waits) != WSDBG_NONE || !is_whole_round(t, a, end))
            continue;
        const uint32_t step = place_in(a, i, end, habit->lag);
        if (!wsdbg_trial_add_edit(t, (struct wsdbg_replay_edit){.agent = agent,
                                                                .step = step,
                                                                .barrier = t->replay->barrier_count,
                                                                .arrivals = WSDBG_WARP_THREADS,
                                                                .named_threads = rounds->threads,
                                                                .named = rounds->id}))
            return false;
    }
    return true;
}

/* The lanes of a warp come to a named barrier together: one agent of the warp is enough. */
static bool is_first_of_warp(const struct wsdbg_trial *t, uint32_t agent)
{
    return agent == 0 || t->replay->agents[agent - 1].warp != t->replay->agents[agent].warp;
}

static bool try_rounds(struct wsdbg_trial *t, const struct rounds_of_named *rounds)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_NAMED_ROUND, .named = rounds->id};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct named_habit habit = is_first_of_warp(t, i) ? habit_of(t, i, rounds) : (struct named_habit){0};
        if (!habit.with || !habit.without)
            continue;
        if (!complete_rounds(t, i, rounds, &habit))
            return false;
        wsdbg_set_add(&repair.warps, t->replay->agents[i].warp);
    }
    if (!wsdbg_trial_keep_edits(t, &repair) || !wsdbg_trial_works(t))
        return false;
    repair.barrier = 0;
    wsdbg_trial_keep(t, &repair);
    return true;
}

static bool try_beginning(struct wsdbg_trial *t, uint32_t id, uint32_t threads, struct beginning begins)
{
    const struct rounds_of_named rounds = {.begins = begins, .id = id, .threads = threads};
    return try_rounds(t, &rounds);
}

void wsdbg_try_named_rounds(struct wsdbg_trial *t)
{
    for (uint32_t id = 0; id < WSDBG_NAMED_BARRIERS; id++) {
        const uint32_t threads = wsdbg_trial_is_waited_at(t, id) ? wsdbg_trial_threads_named(t, id) : 0;
        bool works = !threads;
        for (uint32_t other = 0; !works && other < WSDBG_NAMED_BARRIERS; other++)
            works = other != id && try_beginning(t, id, threads, (struct beginning){true, other});
        for (uint32_t family = 0; !works && family < t->replay->barrier_count; family++)
            works =
                wsdbg_trial_leads_family(t, family) && try_beginning(t, id, threads, (struct beginning){false, family});
    }
}
