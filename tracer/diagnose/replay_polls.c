/* replay_polls.c - agents that poll: they wait in a loop that tests several mbarriers in turn and takes up whatever is
 * ready.  See replay.h.
 *
 * Reads: walks, accesses.  Writes: which step an agent takes next.
 *
 * A walk has the tests of such a loop in one order, as if each succeeded at once.  An agent that waits at one of them
 * may take up another one first: up to the next test of the loop, or to the loop's end.  Tests of one instruction, or
 * of one family of barriers, keep their order.
 */
#include "diagnose/replay.h"

enum { AHEAD_MOST = 512 }; /* steps */

/* The loop of polls in which a step lies; 0 = none. */
static uint32_t loop_of(const struct wsdbg_replay *replay, const struct wsdbg_step_row *step)
{
    const struct wsdbg_snapshot *s = replay->c->snapshot;
    return step->access < s->access_count ? s->accesses[step->access].poll_loop : 0;
}

static bool is_poll(const struct wsdbg_replay *replay, const struct wsdbg_step_row *step)
{
    const struct wsdbg_snapshot *s = replay->c->snapshot;
    return step->kind == WSDBG_ACCESS_WAIT && step->access < s->access_count && s->accesses[step->access].is_poll;
}

/* Whether the poll must wait for one that the agent has not taken up, from the step `at` on. */
static bool keeps_order(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t at,
                        uint32_t poll)
{
    for (uint32_t i = at; i < poll; i++)
        if (is_poll(replay, &agent->steps[i]) && !agent->is_taken[i] &&
            (agent->steps[i].access == agent->steps[poll].access ||
             wsdbg_replay_is_of_family(replay, agent->target[i], agent->target[poll])))
            return true;
    return false;
}

uint32_t wsdbg_replay_next_poll(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                                uint32_t from)
{
    const uint32_t at = agent->at;
    if (!agent->polls || agent->ahead_of != WSDBG_NONE || !is_poll(replay, &agent->steps[at]))
        return agent->step_count;
    const uint32_t loop = loop_of(replay, &agent->steps[at]);
    for (uint32_t i = from + 1; i < agent->step_count && i - at < AHEAD_MOST; i++) {
        const struct wsdbg_step_row *step = &agent->steps[i];
        if (step->access != WSDBG_NONE && loop_of(replay, step) != loop)
            break;
        if (is_poll(replay, step) && !agent->is_taken[i] && !keeps_order(replay, agent, at, i))
            return i;
    }
    return agent->step_count;
}

/* The step behind what follows the poll `at`. */
static uint32_t end_of(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t at)
{
    const uint32_t loop = loop_of(replay, &agent->steps[at]);
    uint32_t end = at + 1;
    for (uint32_t i = end; i < agent->step_count && !is_poll(replay, &agent->steps[i]); i++) {
        if (agent->steps[i].access != WSDBG_NONE && loop_of(replay, &agent->steps[i]) != loop)
            break;
        if (agent->steps[i].access != WSDBG_NONE)
            end = i + 1;
    }
    return end;
}

void wsdbg_replay_go_ahead(const struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent, uint32_t at)
{
    agent->ahead_of = agent->at;
    agent->repeats_ahead_of = agent->repeats_now;
    agent->ahead_begin = at;
    agent->ahead_end = end_of(replay, agent, at);
    agent->at = at;
    for (uint32_t i = at; i < agent->ahead_end; i++)
        agent->is_taken[i] = true;
}

void wsdbg_replay_advance(struct wsdbg_replay_agent *agent)
{
    agent->at++;
    if (!agent->polls)
        return;
    if (agent->ahead_of != WSDBG_NONE && agent->at == agent->ahead_end) {
        agent->at = agent->ahead_of;
        agent->ahead_of = WSDBG_NONE;
        agent->tests_again = true;
        agent->repeats_now = agent->repeats_ahead_of;
        agent->was_ahead = true;
    }
    while (agent->ahead_of == WSDBG_NONE && agent->at < agent->step_count && agent->is_taken[agent->at])
        agent->at++;
}
