/* replay_meets.c - how lanes, warps and CTAs of a replay wait for each other, but for mbarriers: see replay_run.h.
 *
 * Reads: steps, changes.  Writes: the state of agents, of named barriers and of the cluster barrier.
 */
#include "diagnose/replay_run.h"

enum { IDS = WSDBG_NAMED_BARRIERS };

/* ---- named barriers and the cluster barrier ---- */

static bool is_at_same(const struct wsdbg_replay_agent *a, const struct wsdbg_replay_agent *b)
{
    return b->state == WSDBG_AGENT_GATHERS && a->steps[a->at].kind == b->steps[b->at].kind &&
           a->steps[a->at].address == b->steps[b->at].address;
}

/* Whether all lanes of the warp that have not left the kernel are at the same step. */
static bool is_together(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *self)
{
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *other = &replay->agents[i];
        if (other->warp == self->warp && other != self && !wsdbg_replay_has_gone(other) && !is_at_same(self, other))
            return false;
    }
    return true;
}

static void set_warp(struct wsdbg_replay *replay, uint32_t warp, enum wsdbg_agent_state state, bool goes_on)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].warp == warp && !wsdbg_replay_has_gone(&replay->agents[i])) {
            replay->agents[i].state = state;
            if (goes_on)
                wsdbg_replay_advance(&replay->agents[i]);
        }
}

static uint32_t threads_left(const struct wsdbg_replay *replay, uint32_t cta)
{
    struct wsdbg_warp_set left = {{0}};
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].cta == cta && !wsdbg_replay_has_gone(&replay->agents[i]))
            wsdbg_set_add(&left, replay->agents[i].warp);
    return wsdbg_set_count(&left) * WSDBG_WARP_THREADS;
}

/* The named barrier that the agent's step names: the one in the code, or the changed one. */
static uint32_t named_id(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    const struct wsdbg_replay_changes *changes = replay->changes;
    const struct wsdbg_step_row *step = &agent->steps[agent->at];
    const size_t number = (size_t)(agent - replay->agents);
    const bool is_changed = changes && changes->id_to && changes->id_to[number] != WSDBG_NAMED_UNCHANGED &&
                            step->access == changes->id_access && step->number == changes->id_threads;
    if (changes && wsdbg_replay_is_apart(changes, step, wsdbg_case_warp(replay->c, agent->warp)->warp))
        return changes->apart_to & (IDS - 1);
    return (is_changed ? changes->id_to[number] : step->address) & (IDS - 1);
}

static void release_named(struct wsdbg_replay *replay, uint32_t cta, uint32_t id)
{
    replay->named[cta * IDS + id].threads = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (agent->cta == cta && agent->state == WSDBG_AGENT_NAMED && named_id(replay, agent) == id) {
            agent->state = WSDBG_AGENT_GOES;
            wsdbg_replay_advance(agent);
        }
    }
}

static bool comes_for_two(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    const uint32_t *doubles = replay->changes ? replay->changes->doubles : NULL;
    return doubles && agent->steps[agent->at].number && agent->at >= doubles[agent - replay->agents];
}

/* The count that a use of a named barrier names: the one in the code, or the changed one. */
static uint32_t named_count(const struct wsdbg_replay_changes *changes, uint32_t id, uint32_t in_code)
{
    const bool is_changed = changes && changes->named_count && changes->named_was == in_code &&
                            (changes->named_id == id || changes->named_id == WSDBG_NONE);
    return is_changed ? changes->named_count : in_code;
}

static void come_to_named(struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    const struct wsdbg_step_row *step = &agent->steps[agent->at];
    const uint32_t id = named_id(replay, agent), cta = agent->cta;
    const uint32_t wanted = step->number ? named_count(replay->changes, id, step->number) : threads_left(replay, cta);
    const bool waits = step->kind == WSDBG_ACCESS_NAMED_SYNC;
    uint32_t *threads = &replay->named[cta * IDS + id].threads;
    set_warp(replay, agent->warp, waits ? WSDBG_AGENT_NAMED : WSDBG_AGENT_GOES, !waits);
    *threads += WSDBG_WARP_THREADS * (comes_for_two(replay, agent) ? 2 : 1);
    if (*threads >= wanted)
        release_named(replay, cta, id);
}

void wsdbg_replay_arrive_at_named(struct wsdbg_replay *replay, uint32_t cta, uint32_t id, uint32_t wanted)
{
    uint32_t *threads = &replay->named[cta * IDS + id].threads;
    *threads += WSDBG_WARP_THREADS;
    if (*threads >= wanted)
        release_named(replay, cta, id);
}

/* Completes a phase of the cluster barrier once every thread that has not left the kernel has arrived.  The arrival of
 * one that has left stands for no other thread. */
static void complete_cluster(struct wsdbg_replay *replay)
{
    bool any = false;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        if (!wsdbg_replay_has_gone(&replay->agents[i]) && !replay->agents[i].is_in_cluster_phase)
            return;
        any |= replay->agents[i].is_in_cluster_phase;
    }
    if (!any)
        return;
    replay->cluster_phase++;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        replay->agents[i].is_in_cluster_phase = false;
        if (replay->agents[i].state == WSDBG_AGENT_CLUSTER) {
            replay->agents[i].state = WSDBG_AGENT_GOES;
            wsdbg_replay_advance(&replay->agents[i]);
        }
    }
}

static void arrive_at_cluster(struct wsdbg_replay *replay, uint32_t warp)
{
    set_warp(replay, warp, WSDBG_AGENT_GOES, true);
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].warp == warp) {
            replay->agents[i].cluster_phase = replay->cluster_phase;
            replay->agents[i].is_in_cluster_phase = true;
        }
    complete_cluster(replay);
}

void wsdbg_replay_wait_for_cluster(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent)
{
    if (replay->cluster_phase == agent->cluster_phase)
        agent->state = WSDBG_AGENT_CLUSTER;
    else
        wsdbg_replay_advance(agent);
}

/* ---- multiplications, which a warpgroup makes together ---- */

/* Whether all warps of the agent's warpgroup that have not left the kernel have issued the multiplications that its
 * step waits for. */
static bool are_issued(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (wsdbg_case_are_mates(replay->c, agent->warp, replay->agents[i].warp) &&
            !wsdbg_replay_has_gone(&replay->agents[i]) && replay->agents[i].issued < agent->steps[agent->at].number)
            return false;
    return true;
}

/* Lets those mates of the agent go on whose multiplications nobody holds up any more. */
static void release_mates(struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        struct wsdbg_replay_agent *other = &replay->agents[i];
        if (other->state == WSDBG_AGENT_MATRICES && wsdbg_case_are_mates(replay->c, agent->warp, other->warp) &&
            are_issued(replay, other)) {
            other->state = WSDBG_AGENT_GOES;
            wsdbg_replay_advance(other);
        }
    }
}

static uint32_t number_at(const struct wsdbg_replay_agent *agent)
{
    return agent->steps[agent->at].number;
}

/* Lanes of a warp that came apart multiply together.  Lanes that do nothing between several groups have one step for
 * all of these: they stay until the others have come to the last one. */
static void issue(struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    uint32_t issued = number_at(agent);
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].warp == agent->warp && !wsdbg_replay_has_gone(&replay->agents[i]) &&
            number_at(&replay->agents[i]) < issued)
            issued = number_at(&replay->agents[i]);
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        struct wsdbg_replay_agent *other = &replay->agents[i];
        if (other->warp != agent->warp || wsdbg_replay_has_gone(other))
            continue;
        other->issued = issued;
        if (number_at(other) > issued)
            continue;
        other->state = WSDBG_AGENT_GOES;
        wsdbg_replay_advance(other);
    }
    release_mates(replay, agent);
}

void wsdbg_replay_wait_for_matrices(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent)
{
    if (are_issued(replay, agent))
        wsdbg_replay_advance(agent);
    else
        agent->state = WSDBG_AGENT_MATRICES;
}

/* ---- lanes that act together ---- */

/* ptxas lets the lanes of a warp wait for each other before UCGABAR_ARV, also where PTX has no .aligned. */
bool wsdbg_replay_gathers(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE ||
           step->kind == WSDBG_ACCESS_CLUSTER_ARRIVE || step->kind == WSDBG_ACCESS_WGMMA ||
           step->kind == WSDBG_STEP_TOGETHER;
}

void wsdbg_replay_gather(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent)
{
    agent->state = WSDBG_AGENT_GATHERS;
    if (!is_together(replay, agent))
        return;
    if (agent->steps[agent->at].kind == WSDBG_STEP_TOGETHER)
        set_warp(replay, agent->warp, WSDBG_AGENT_GOES, true);
    else if (agent->steps[agent->at].kind == WSDBG_ACCESS_WGMMA)
        issue(replay, agent);
    else if (agent->steps[agent->at].kind == WSDBG_ACCESS_CLUSTER_ARRIVE)
        arrive_at_cluster(replay, agent->warp);
    else
        come_to_named(replay, agent);
}

/* The agent leaves the kernel.  Barriers may complete that waited only for it. */
void wsdbg_replay_leave(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent)
{
    agent->state = WSDBG_AGENT_ENDED;
    complete_cluster(replay);
    release_mates(replay, agent);
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].warp == agent->warp && replay->agents[i].state == WSDBG_AGENT_GATHERS) {
            wsdbg_replay_gather(replay, &replay->agents[i]);
            break;
        }
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *other = &replay->agents[i];
        if (other->cta != agent->cta || other->state != WSDBG_AGENT_NAMED || other->steps[other->at].number)
            continue;
        const uint32_t id = named_id(replay, other);
        if (replay->named[agent->cta * IDS + id].threads >= threads_left(replay, agent->cta))
            release_named(replay, agent->cta, id);
    }
}
