/* replay_picture.c - whether a replay ended in the picture that was seen.  See replay.h.
 *
 * Reads: a replay at its standstill, parts, warps and barriers of the snapshot.  Writes: nothing.
 */
#include "diagnose/replay_likes.h"

/* Whether others see the step: it changes a barrier, or waits at one. */
static bool is_effect(const struct wsdbg_step_row *step)
{
    return wsdbg_is_mbarrier_access(step->kind) ||
           (step->kind >= WSDBG_ACCESS_NAMED_SYNC && step->kind <= WSDBG_ACCESS_CLUSTER_WAIT) ||
           step->kind == WSDBG_ACCESS_WGMMA || step->kind == WSDBG_ACCESS_WGMMA_WAIT;
}

/* A replay passes every poll.  An agent that was seen in a poll therefore stands at its next wait, and nothing that it
 * did is between the two. */
static bool came_by_poll(const struct wsdbg_replay_agent *agent)
{
    for (uint32_t i = agent->at; i-- > 0;) {
        if (agent->steps[i].kind == WSDBG_STEP_POLL)
            return true;
        if (is_effect(&agent->steps[i]))
            return false;
    }
    return false;
}

static bool waits_for(const struct wsdbg_replay *replay, uint32_t number, const struct wsdbg_part *part)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    for (uint32_t at = agent->at; agent->state == WSDBG_AGENT_WAITS && at < agent->step_count;
         at = wsdbg_replay_next_poll(replay, agent, at)) {
        const uint32_t target = agent->target[at];
        const uint32_t parity =
            at == agent->at ? wsdbg_replay_waits_of(replay, number, target)->last_parity : agent->steps[at].number & 1;
        if (part->barrier != WSDBG_NONE && replay->barriers[target].row == part->barrier)
            return part->parity.known && parity == part->parity.value;
    }
    return false;
}

static bool waits_at_named(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                           const struct wsdbg_part *part)
{
    const struct wsdbg_snapshot *s = replay->c->snapshot;
    return (agent->state == WSDBG_AGENT_NAMED || agent->state == WSDBG_AGENT_GATHERS) &&
           agent->steps[agent->at].kind == WSDBG_ACCESS_NAMED_SYNC && part->barrier < s->barrier_count &&
           s->barriers[part->barrier].id == agent->steps[agent->at].address;
}

static bool ends_a_wait(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_WAIT || step->kind == WSDBG_ACCESS_NAMED_SYNC ||
           step->kind == WSDBG_ACCESS_CLUSTER_WAIT || step->kind == WSDBG_ACCESS_WGMMA_WAIT ||
           step->kind == WSDBG_STEP_TOGETHER;
}

/* Whether the picture has the word of the barrier that the step changes.  Then it shows whether the step was taken. */
static bool is_counted(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t step)
{
    struct wsdbg_barrier_word word;
    const uint32_t target = agent->target[step];
    return target != WSDBG_NONE && wsdbg_word_of(replay->c, replay->barriers[target].row, &word);
}

static bool has_lanes_elsewhere(const struct wsdbg_replay *replay, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(replay->c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].state != WSDBG_WARP_RECONVERGE)
            return true;
    return false;
}

/* The lanes wait for others of their warp.  A replay knows only some places where they do so.  At others the agent goes
 * on to its next wait or the kernel's end, and must have done nothing on the way but what the words show. */
static bool gathers_as_seen(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    if (!has_lanes_elsewhere(replay, agent->warp))
        return false;
    if (agent->state != WSDBG_AGENT_WAITS && agent->state != WSDBG_AGENT_CLUSTER &&
        agent->state != WSDBG_AGENT_MATRICES && agent->state != WSDBG_AGENT_ENDED)
        return agent->state == WSDBG_AGENT_GATHERS;
    for (uint32_t i = agent->at; i-- > 0 && !ends_a_wait(&agent->steps[i]);)
        if (is_effect(&agent->steps[i]) && !is_counted(replay, agent, i))
            return false;
    return true;
}

/* The simulator counts the threads that arrive without .aligned one by one, so lanes may wait before others of their
 * warp have arrived.  The barrier does not complete without those. */
static bool comes_to_cluster(const struct wsdbg_replay_agent *agent)
{
    return agent->state == WSDBG_AGENT_GATHERS && agent->steps[agent->at].kind == WSDBG_ACCESS_CLUSTER_ARRIVE;
}

static bool is_as_seen(const struct wsdbg_replay *replay, uint32_t number, const struct wsdbg_part *part)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    switch (part->state) {
    case WSDBG_WARP_WAIT_MBARRIER:
        return waits_for(replay, number, part);
    case WSDBG_WARP_WAIT_NAMED:
        return waits_at_named(replay, agent, part);
    case WSDBG_WARP_WAIT_CLUSTER:
        return agent->state == WSDBG_AGENT_CLUSTER || comes_to_cluster(agent);
    case WSDBG_WARP_WAIT_WGMMA:
        return agent->state == WSDBG_AGENT_MATRICES;
    case WSDBG_WARP_RECONVERGE:
        return gathers_as_seen(replay, agent);
    case WSDBG_WARP_SPIN_GLOBAL:
    case WSDBG_WARP_SPIN_SHARED:
        return agent->state == WSDBG_AGENT_POLLS || (agent->state != WSDBG_AGENT_ENDED && came_by_poll(agent));
    default:
        return false;
    }
}

bool wsdbg_replay_was_seen_at(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                              uint32_t barrier, uint32_t parity)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(replay->c, agent->warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].lanes & agent->lanes && parts[i].state == WSDBG_WARP_WAIT_MBARRIER &&
            parts[i].barrier != WSDBG_NONE && parts[i].barrier == replay->barriers[barrier].row)
            return parts[i].parity.known && parts[i].parity.value == parity;
    return false;
}

bool wsdbg_replay_was_seen_polling(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(replay->c, agent->warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].lanes & agent->lanes && wsdbg_warp_state_polls(parts[i].state))
            return true;
    return false;
}

/* Lanes that are in no part of the warp have left the kernel. */
bool wsdbg_replay_is_as_seen(const struct wsdbg_replay *replay, uint32_t number)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    uint32_t count, seen = 0;
    const struct wsdbg_part *parts = wsdbg_code_parts(replay->c, agent->warp, &count);
    if (agent->state == WSDBG_AGENT_LOST) /* it may be anywhere behind the end of its walk */
        return true;
    if (wsdbg_case_warp(replay->c, agent->warp)->state == WSDBG_WARP_EXITED)
        return agent->state == WSDBG_AGENT_ENDED;
    for (uint32_t i = 0; i < count; i++) {
        if (!(parts[i].lanes & agent->lanes))
            continue;
        seen |= parts[i].lanes & agent->lanes;
        if (!is_as_seen(replay, number, &parts[i]))
            return false;
    }
    return seen == agent->lanes || (seen == 0 && count > 0 && agent->state == WSDBG_AGENT_ENDED);
}

static bool is_waited_on(const struct wsdbg_replay *replay, uint32_t number)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].state == WSDBG_AGENT_WAITS && replay->agents[i].target[replay->agents[i].at] == number)
            return true;
    return false;
}

/* Whether only agents use the barrier whose walks are not whole: what they do behind their ends is not known. */
static bool is_of_open_walks(const struct wsdbg_replay *replay, uint32_t number)
{
    bool any = false;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count; k++) {
            if (agent->target[k] != number)
                continue;
            if (replay->c->snapshot->walks[agent->walk].is_whole)
                return false;
            any = true;
        }
    }
    return any;
}

/* A word that is not known shows nothing.  It must be known where somebody waits on it. */
static bool word_is_as_seen(const struct wsdbg_replay *replay, uint32_t number)
{
    const struct wsdbg_replay_barrier *barrier = &replay->barriers[number];
    struct wsdbg_barrier_word word;
    if (!barrier->is_initialised)
        return true;
    if (!wsdbg_word_of(replay->c, barrier->row, &word))
        return !is_waited_on(replay, number);
    return (word.phase == (barrier->phase & 1) && word.pending == barrier->pending &&
            word.expected == barrier->expected && (barrier->bytes_unknown || word.bytes == barrier->bytes)) ||
           (!is_waited_on(replay, number) && is_of_open_walks(replay, number));
}

/* Whether no agent stands at a wait that is known. */
static bool is_all_lost(const struct wsdbg_replay *replay)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].state != WSDBG_AGENT_LOST && replay->agents[i].state != WSDBG_AGENT_ENDED)
            return false;
    return true;
}

bool wsdbg_replay_is_picture(const struct wsdbg_replay *replay)
{
    if (replay->is_broken || is_all_lost(replay))
        return false;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (!wsdbg_replay_is_as_seen(replay, i))
            return false;
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        if (!word_is_as_seen(replay, b))
            return false;
    return true;
}
