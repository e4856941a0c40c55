/* replay_repeats.c - which waits of an agent are for the phase that its wait before was for.  See replay.h.
 *
 * Reads: the agents' steps and the barriers that they name.  Writes: repeats, pairs and is_idle of each agent, and how
 * many stages each barrier's ring has.
 */
#include "diagnose/replay.h"

#include <stdlib.h>
#include <string.h>

static bool does_something(const struct wsdbg_step_row *step)
{
    return wsdbg_is_mbarrier_access(step->kind) && step->kind != WSDBG_ACCESS_WAIT && step->kind != WSDBG_ACCESS_INIT;
}

static void count_stages(struct wsdbg_replay *replay)
{
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        for (uint32_t other = 0; other < replay->barrier_count; other++)
            replay->barriers[b].stages +=
                replay->barriers[b].cta == replay->barriers[other].cta && wsdbg_replay_is_of_family(replay, b, other);
}

/* Whether an access to one barrier (`deed`) may be what a wait on another one was for.  Not if they are of different
 * stages, in rings of the same length. */
static bool may_belong(const struct wsdbg_replay *replay, uint32_t deed, uint32_t wait)
{
    const struct wsdbg_replay_barrier *a = &replay->barriers[deed], *b = &replay->barriers[wait];
    const struct wsdbg_barrier *rows = replay->c->snapshot->barriers;
    return a->row == WSDBG_NONE || b->row == WSDBG_NONE || a->stages != b->stages ||
           rows[a->row].stage == rows[b->row].stage;
}

/* Whether the agent waits on a barrier between two steps, does not only repeat a wait, and does something with the
 * stage.  A producer that lets its slots drain does nothing with them. */
static bool uses_between(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t from,
                         uint32_t to, uint32_t barrier)
{
    bool waits = false, does = false;
    for (uint32_t i = from + 1; i < to; i++) {
        waits |= agent->target[i] == barrier && agent->steps[i].kind == WSDBG_ACCESS_WAIT && !agent->repeats[i];
        does |= does_something(&agent->steps[i]) && may_belong(replay, agent->target[i], barrier);
    }
    return waits && does;
}

/* Whether the agent uses every other stage of a ring between two waits on one stage.  Warpgroups that take turns at
 * tiles pass over the rounds of the others, so that the parity of the second wait may be that of the first. */
static bool goes_round(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t from,
                       uint32_t to)
{
    const uint32_t barrier = agent->target[to];
    bool any = false;
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        if (b == barrier || replay->barriers[b].cta != replay->barriers[barrier].cta ||
            !wsdbg_replay_is_of_family(replay, b, barrier))
            continue;
        if (!uses_between(replay, agent, from, to, b))
            return false;
        any = true;
    }
    return any;
}

static bool is_of_ring_as_long(const struct wsdbg_replay *replay, uint32_t deed, uint32_t wait)
{
    return replay->barriers[deed].stages > 1 && replay->barriers[deed].stages == replay->barriers[wait].stages;
}

/* Notes for each barrier whether the agent somewhere does something with the same stage of a ring that is as long. That
 * is then what a wait on the barrier is for, and what it does elsewhere is not. */
static void find_partners(struct wsdbg_replay *replay, uint32_t agent, bool *changes)
{
    const struct wsdbg_replay_agent *a = &replay->agents[agent];
    memset(changes, 0, replay->barrier_count * sizeof *changes);
    for (uint32_t i = 0; i < a->step_count; i++)
        if (a->target[i] != WSDBG_NONE && does_something(&a->steps[i]))
            changes[a->target[i]] = true;
    for (uint32_t deed = 0; deed < replay->barrier_count; deed++)
        for (uint32_t wait = 0; changes[deed] && wait < replay->barrier_count; wait++)
            if (is_of_ring_as_long(replay, deed, wait) && may_belong(replay, deed, wait))
                replay->has_partner[(size_t)agent * replay->barrier_count + wait] = true;
}

static bool has_partner(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t wait)
{
    return replay->has_partner[(size_t)(agent - replay->agents) * replay->barrier_count + wait];
}

bool wsdbg_replay_is_deed_for(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t at,
                              uint32_t wait)
{
    return does_something(&agent->steps[at]) && may_belong(replay, agent->target[at], wait) &&
           (is_of_ring_as_long(replay, agent->target[at], wait) || !has_partner(replay, agent, wait));
}

/* The agent's wait on the same barrier before this one, if the agent did nothing with that stage in between;
 * WSDBG_NONE. */
static uint32_t wait_before(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t at)
{
    for (uint32_t i = at; i-- > 0 && agent->steps[at].number_known;) {
        if (agent->target[i] == agent->target[at] && agent->steps[i].kind == WSDBG_ACCESS_WAIT)
            return i;
        if (wsdbg_replay_is_deed_for(replay, agent, i, agent->target[at]))
            break;
    }
    return WSDBG_NONE;
}

/* Whether a wait names the parity of the wait before it, and the agent did not go round the ring in between.  Then both
 * wait for the same phase.  Where the agent itself uses the stages, it would have used this one, too, on its way round.
 */
static bool repeats(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t at)
{
    const uint32_t before = wait_before(replay, agent, at);
    return before != WSDBG_NONE && (agent->steps[before].number & 1) == (agent->steps[at].number & 1) &&
           (!goes_round(replay, agent, before, at) || has_partner(replay, agent, agent->target[at]));
}

static bool has_pair(const struct wsdbg_replay_agent *agent, struct wsdbg_repeating_pair pair)
{
    for (uint32_t i = 0; i < agent->pair_count; i++)
        if (agent->pairs[i].first == pair.first && agent->pairs[i].second == pair.second)
            return true;
    return false;
}

/* Notes by which instructions waits repeat the ones before them. */
static void note_pairs(const struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent)
{
    for (uint32_t i = 0; i < agent->step_count && agent->pair_count < WSDBG_REPEATING_PAIRS_MOST; i++) {
        const uint32_t before = agent->repeats[i] ? wait_before(replay, agent, i) : WSDBG_NONE;
        if (before == WSDBG_NONE || agent->steps[i].access == WSDBG_NONE)
            continue;
        const struct wsdbg_repeating_pair pair = {agent->steps[before].access, agent->steps[i].access};
        if (!has_pair(agent, pair))
            agent->pairs[agent->pair_count++] = pair;
    }
}

bool wsdbg_replay_repeats_in_other_rounds(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                                          uint32_t at)
{
    const uint32_t before = agent->pair_count ? wait_before(replay, agent, at) : WSDBG_NONE;
    return before != WSDBG_NONE &&
           has_pair(agent, (struct wsdbg_repeating_pair){agent->steps[before].access, agent->steps[at].access});
}

/* Marks the agent's waits that repeat others.  True if it does more on mbarriers than initialise and wait. */
static bool find_repeats(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    bool any = false;
    for (uint32_t i = 0; i < agent->step_count; i++) {
        any |= does_something(&agent->steps[i]);
        if (agent->steps[i].kind == WSDBG_ACCESS_WAIT)
            agent->repeats[i] = repeats(replay, agent, i);
    }
    return any;
}

static uint32_t next_wait(const struct wsdbg_replay_agent *agent, uint32_t from)
{
    while (from < agent->step_count && agent->steps[from].kind != WSDBG_ACCESS_WAIT)
        from++;
    return from;
}

static bool waits_alike(const struct wsdbg_replay_agent *a, const struct wsdbg_replay_agent *b)
{
    uint32_t i = next_wait(a, 0), k = next_wait(b, 0);
    for (; i < a->step_count && k < b->step_count; i = next_wait(a, i + 1), k = next_wait(b, k + 1))
        if (a->target[i] != b->target[k] || a->steps[i].number != b->steps[k].number)
            return false;
    return i >= a->step_count && k >= b->step_count;
}

static void take_repeats(struct wsdbg_replay_agent *agent, const struct wsdbg_replay_agent *model)
{
    uint32_t i = next_wait(agent, 0), k = next_wait(model, 0);
    for (; i < agent->step_count && k < model->step_count; i = next_wait(agent, i + 1), k = next_wait(model, k + 1))
        agent->repeats[i] = model->repeats[k];
}

/* Threads that do more with a stage show that a wait repeats no other one; what others of their warpgroup do need not
 * show it. */
static void agree_on_repeats(struct wsdbg_replay_agent *a, struct wsdbg_replay_agent *b)
{
    uint32_t i = next_wait(a, 0), k = next_wait(b, 0);
    for (; i < a->step_count && k < b->step_count; i = next_wait(a, i + 1), k = next_wait(b, k + 1))
        a->repeats[i] = b->repeats[k] = a->repeats[i] && b->repeats[k];
}

static bool are_of_warpgroup(const struct wsdbg_replay *replay, uint32_t a, uint32_t b)
{
    const uint32_t warp = replay->agents[a].warp, other = replay->agents[b].warp;
    return warp == other || wsdbg_case_are_mates(replay->c, warp, other);
}

static void agree_in_warpgroups(struct wsdbg_replay *replay, const bool *does)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        for (uint32_t k = i + 1; k < replay->agent_count; k++)
            if (does[i] && does[k] && are_of_warpgroup(replay, i, k) &&
                waits_alike(&replay->agents[i], &replay->agents[k]))
                agree_on_repeats(&replay->agents[i], &replay->agents[k]);
}

/* An agent that only waits does not show which of its waits repeat others: an agent that has the same waits and does
 * more shows it.  Without one it is idle. */
bool wsdbg_replay_find_repeats(struct wsdbg_replay *replay)
{
    bool *does = calloc(replay->agent_count + 1, sizeof *does);
    bool *changes = calloc(replay->barrier_count + 1, sizeof *changes);
    replay->has_partner = calloc((size_t)replay->agent_count * replay->barrier_count + 1, sizeof *replay->has_partner);
    if (!does || !changes || !replay->has_partner) {
        free(does);
        free(changes);
        return false;
    }
    count_stages(replay);
    for (uint32_t i = 0; i < replay->agent_count; i++)
        find_partners(replay, i, changes);
    free(changes);
    for (uint32_t i = 0; i < replay->agent_count; i++)
        does[i] = find_repeats(replay, &replay->agents[i]);
    if (!wsdbg_replay_find_twice(replay)) {
        free(does);
        return false;
    }
    agree_in_warpgroups(replay, does);
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        replay->agents[i].is_idle = !does[i];
        for (uint32_t k = 0; k < replay->agent_count && replay->agents[i].is_idle; k++) {
            if (!does[k] || !waits_alike(&replay->agents[i], &replay->agents[k]))
                continue;
            take_repeats(&replay->agents[i], &replay->agents[k]);
            replay->agents[i].is_idle = false;
        }
    }
    for (uint32_t i = 0; i < replay->agent_count; i++)
        note_pairs(replay, &replay->agents[i]);
    free(does);
    return true;
}
