/* replay.c - runs a replay: executes the steps of its agents, in one order after the other.  See replay.h.
 *
 * Reads: steps, changes.  Writes: the state of agents and barriers, and the record of each agent's waits.
 */
#include "diagnose/replay_run.h"

#include <string.h>

enum { IDS = WSDBG_NAMED_BARRIERS };

/* ---- steps ---- */

/* The first edit of a step of the agent, or of one behind it. */
static uint32_t first_edit(struct wsdbg_replay *replay, uint32_t number, uint32_t at)
{
    const struct wsdbg_replay_edit *edits = replay->changes->edits;
    uint32_t low = 0, high = replay->changes->edit_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (edits[middle].agent < number || (edits[middle].agent == number && edits[middle].step < at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether the arrivals that edits add before the step were made behind a part that was taken up ahead. */
static bool are_edits_made(const struct wsdbg_replay_agent *agent, uint32_t at)
{
    return agent->polls && at > 0 && agent->is_taken[at - 1] &&
           (agent->ahead_of == WSDBG_NONE || at == agent->ahead_begin);
}

/* Notes the token that the arrival at a step gave. */
static void keep_token(struct wsdbg_replay *replay, uint32_t number, uint32_t at)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    *wsdbg_replay_token_at(replay, agent, at) =
        wsdbg_replay_waits_of(replay, number, agent->target[at])->arrived_parity ? WSDBG_TOKEN_OF_1 : WSDBG_TOKEN_OF_0;
}

/* An arrival that an edit makes instead of the one at its step gives the token of that one. */
static void arrive_by_edit(struct wsdbg_replay *replay, uint32_t number, const struct wsdbg_replay_edit *edit)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    wsdbg_replay_arrive(replay, number, edit->barrier, edit->arrivals, 1, edit->bytes);
    if (edit->step < agent->step_count && agent->target[edit->step] == edit->barrier &&
        wsdbg_replay_arrivals_of(agent, edit->step))
        keep_token(replay, number, edit->step);
}

/* Makes the arrivals of the step's edits.  True: the step is left out. */
static bool apply_edits(struct wsdbg_replay *replay, uint32_t number, uint32_t at, bool are_made)
{
    bool is_left_out = false;
    if (!replay->changes)
        return false;
    for (uint32_t i = first_edit(replay, number, at); i < replay->changes->edit_count; i++) {
        const struct wsdbg_replay_edit *edit = &replay->changes->edits[i];
        if (edit->agent != number || edit->step != at)
            break;
        if (edit->named_threads && !are_made)
            wsdbg_replay_arrive_at_named(replay, replay->agents[number].cta, edit->named, edit->named_threads);
        else if (edit->arrivals && !are_made)
            arrive_by_edit(replay, number, edit);
        is_left_out |= !edit->arrivals;
    }
    return is_left_out;
}

/* What edits add behind a part that an agent took up ahead belongs to that part; unless the part behind it was taken up
 * before: then it was made there. */
static void end_part(struct wsdbg_replay *replay, uint32_t number)
{
    struct wsdbg_replay_agent *agent = &replay->agents[number];
    if (agent->was_ahead && !(agent->ahead_end < agent->step_count && agent->is_taken[agent->ahead_end]))
        apply_edits(replay, number, agent->ahead_end, false);
    agent->was_ahead = false;
}

/* Executes a step that never waits. */
static void take_effect(struct wsdbg_replay *replay, uint32_t number, const struct wsdbg_step_row *step,
                        uint32_t target)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    const uint32_t lanes = agent->lane_count, all = step->number * lanes;
    switch (step->kind) {
    case WSDBG_ACCESS_INIT:
        wsdbg_replay_initialise(replay, target, agent, step);
        break;
    case WSDBG_ACCESS_ARRIVE:
    case WSDBG_ACCESS_COPY_ARRIVE:
        if (all)
            wsdbg_replay_arrive(replay, number, target, all, step->number, 0);
        break;
    case WSDBG_ACCESS_ARRIVE_EXPECT:
        wsdbg_replay_arrive(replay, number, target, lanes, 1, (int64_t)step->number * lanes);
        break;
    case WSDBG_ACCESS_EXPECT:
        wsdbg_replay_expect(replay, target, (int64_t)step->number * lanes);
        break;
    case WSDBG_ACCESS_COMPLETE:
        wsdbg_replay_bring(replay, target, (int64_t)step->number * lanes);
        break;
    case WSDBG_ACCESS_DROP:
        replay->barriers[target].expected -= all;
        wsdbg_replay_arrive(replay, number, target, all, step->number, 0);
        break;
    case WSDBG_ACCESS_COPY:
        wsdbg_replay_copy(replay, agent, step, target);
        break;
    case WSDBG_ACCESS_INVALIDATE:
        replay->barriers[target].is_initialised = false;
        break;
    default:
        break;
    }
}

/* Makes the arrivals that edits add before the agent's step.  True: the step is left out. */
static bool is_left_out(struct wsdbg_replay *replay, uint32_t number)
{
    struct wsdbg_replay_agent *agent = &replay->agents[number];
    const bool leaves_out =
        !agent->tests_again && apply_edits(replay, number, agent->at, are_edits_made(agent, agent->at));
    if (leaves_out && agent->target[agent->at] != WSDBG_NONE && wsdbg_replay_arrivals_of(agent, agent->at))
        wsdbg_replay_waits_of(replay, number, agent->target[agent->at])->lost_token = true;
    if (leaves_out)
        wsdbg_replay_advance(agent);
    return leaves_out;
}

/* Whether an agent has lanes of the same warp as another one, and stands before the wait that this one has at `at`. */
static bool is_before_wait_of(const struct wsdbg_replay_agent *agent, const struct wsdbg_replay_agent *other,
                              uint32_t at)
{
    const struct wsdbg_step_row *wait = &other->steps[at];
    return agent != other && agent->warp == other->warp && agent->state == WSDBG_AGENT_GOES && !agent->polls &&
           agent->at < agent->step_count && agent->target[agent->at] == other->target[at] &&
           agent->steps[agent->at].kind == WSDBG_ACCESS_WAIT && agent->steps[agent->at].access == wait->access &&
           agent->steps[agent->at].number == wait->number;
}

/* A warp executes an instruction for all its lanes that are there.  So those that stand before the same wait take it
 * together: none of them comes to it only after a further phase.  The agents of a warp are neighbours. */
static void take_wait(struct wsdbg_replay *replay, uint32_t number)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    const uint32_t at = agent->at, barrier = agent->target[at], in_code = agent->steps[at].number;
    uint32_t first = number;
    while (first > 0 && replay->agents[first - 1].warp == agent->warp)
        first--;
    wsdbg_replay_begin_wait(replay, number, barrier, in_code);
    for (uint32_t i = first; i < replay->agent_count && replay->agents[i].warp == agent->warp && !replay->is_broken;
         i++)
        if (is_before_wait_of(&replay->agents[i], agent, at) && !is_left_out(replay, i))
            wsdbg_replay_begin_wait(replay, i, barrier, in_code);
}

static void take_step(struct wsdbg_replay *replay, uint32_t number)
{
    struct wsdbg_replay_agent *agent = &replay->agents[number];
    const struct wsdbg_step_row *step = &agent->steps[agent->at];
    const uint32_t at = agent->at, target = agent->target[at];
    if (is_left_out(replay, number))
        return;
    if (wsdbg_replay_gathers(step)) {
        wsdbg_replay_gather(replay, agent);
        return;
    }
    switch (step->kind) {
    case WSDBG_ACCESS_WAIT:
        take_wait(replay, number);
        return;
    case WSDBG_ACCESS_WGMMA_WAIT:
        wsdbg_replay_wait_for_matrices(replay, agent);
        return;
    case WSDBG_ACCESS_CLUSTER_WAIT:
        wsdbg_replay_wait_for_cluster(replay, agent);
        return;
    default:
        wsdbg_replay_advance(agent);
        take_effect(replay, number, step, target);
        if (target != WSDBG_NONE && wsdbg_replay_arrivals_of(agent, at))
            keep_token(replay, number, at);
    }
}

/* Whether threads whose walk is not known to its end have left the kernel, and up to there only initialised mbarriers.
 * Then nothing is taken to have come of the rest, but they may be meant to do more. */
static bool has_left_idle(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (wsdbg_is_mbarrier_access(agent->steps[k].kind) && agent->steps[k].kind != WSDBG_ACCESS_INIT)
            return false;
    return (agent->lanes & ~wsdbg_code_lanes_gone(replay->c, agent->warp)) == 0;
}

/* Whether the agent stands before a wait like the one in which it was seen. */
static bool is_held(const struct wsdbg_replay *replay, uint32_t number)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    if (agent->at >= agent->step_count || agent->steps[agent->at].kind != WSDBG_ACCESS_WAIT)
        return false;
    const uint32_t barrier = agent->target[agent->at];
    const uint32_t parity =
        wsdbg_replay_parity_of(replay, number, barrier, agent->repeats[agent->at], agent->steps[agent->at].number & 1);
    return agent->steps[agent->at].number_known && wsdbg_replay_was_seen_at(replay, agent, barrier, parity);
}

/* Whether all lanes of the agent's warp made the step together, and others than its own are among them. */
static bool came_together(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t step)
{
    if (agent->state != WSDBG_AGENT_GOES || agent->at <= step || !wsdbg_replay_gathers(&agent->steps[step]))
        return false;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].warp == agent->warp && &replay->agents[i] != agent &&
            !wsdbg_replay_has_gone(&replay->agents[i]))
            return true;
    return false;
}

/* How far an agent goes: one step; until it cannot go on; or until it stands before a wait as it was seen in one. */
enum extent { ONE_STEP, AS_FAR_AS_CAN, AS_FAR_AS_SEEN };

/* The agent executes steps; true if it executed any.  It stops where its warp has come together: from there on the
 * warp's agents go on in their order. */
static bool go(struct wsdbg_replay *replay, uint32_t number, enum extent extent)
{
    struct wsdbg_replay_agent *agent = &replay->agents[number];
    bool any = false;
    while (agent->state == WSDBG_AGENT_GOES && !replay->is_broken && !(extent == ONE_STEP && any) &&
           !(extent == AS_FAR_AS_SEEN && is_held(replay, number))) {
        any = true;
        replay->is_broken = replay->steps_left == 0;
        replay->steps_left -= !replay->is_broken;
        end_part(replay, number);
        if (agent->at == agent->held_at) {
            agent->state = WSDBG_AGENT_POLLS;
        } else if (agent->at >= agent->step_count) {
            apply_edits(replay, number, agent->at, are_edits_made(agent, agent->at));
            const bool is_whole = replay->c->snapshot->walks[agent->walk].is_whole;
            replay->assumes_idle |= !is_whole;
            if (is_whole || has_left_idle(replay, agent))
                wsdbg_replay_leave(replay, agent);
            else
                wsdbg_replay_lose(replay, number);
        } else {
            const uint32_t at = agent->at;
            take_step(replay, number);
            if (came_together(replay, agent, at))
                break;
        }
    }
    return any;
}

/* The poll in the agent's walk at which it is held. */
static uint32_t held_poll_of(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    uint32_t polls = 0;
    if (replay->held_poll == WSDBG_NONE || replay->changes || !wsdbg_replay_was_seen_polling(replay, agent))
        return WSDBG_NONE;
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (agent->steps[k].kind == WSDBG_STEP_POLL && polls++ == replay->held_poll)
            return k;
    return WSDBG_NONE;
}

static void start(struct wsdbg_replay *replay)
{
    replay->is_broken = replay->overflows = replay->has_lost = replay->has_ended = replay->assumes_idle = false;
    replay->cluster_phase = 0;
    memset(replay->tokens, WSDBG_TOKEN_NONE, replay->step_count);
    memset(replay->waits, 0, (size_t)replay->agent_count * replay->barrier_count * sizeof *replay->waits);
    memset(replay->named, 0, (size_t)replay->c->cta_count * IDS * sizeof *replay->named);
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        replay->barriers[b].is_initialised = false;
        replay->barriers[b].bytes_under_way = 0;
    }
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        replay->agents[i].at = 0;
        replay->agents[i].held_at = held_poll_of(replay, &replay->agents[i]);
        replay->agents[i].state = WSDBG_AGENT_GOES;
        replay->agents[i].cluster_phase = 0;
        replay->agents[i].issued = 0;
        replay->agents[i].is_in_cluster_phase = false;
        replay->agents[i].tests_again = replay->agents[i].was_ahead = false;
        replay->agents[i].ahead_of = WSDBG_NONE;
        if (replay->agents[i].polls)
            memset(replay->agents[i].is_taken, 0, replay->agents[i].step_count * sizeof *replay->agents[i].is_taken);
    }
}

static bool arrives_at_named(const struct wsdbg_replay_agent *agent, uint32_t id)
{
    for (uint32_t i = 0; i < agent->step_count; i++)
        if (agent->steps[i].kind == WSDBG_ACCESS_NAMED_ARRIVE && agent->steps[i].address == id)
            return true;
    return false;
}

/* Lets each warp that ever arrives at the named barrier do so once. */
static void arrive_early(struct wsdbg_replay *replay, uint32_t id)
{
    struct wsdbg_warp_set come = {{0}};
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (wsdbg_set_has(&come, agent->warp) || !arrives_at_named(agent, id))
            continue;
        wsdbg_set_add(&come, agent->warp);
        replay->named[agent->cta * IDS + id].threads += WSDBG_WARP_THREADS;
    }
}

static uint32_t next_chance(uint32_t *chance)
{
    *chance = *chance * 1664525u + 1013904223u;
    return *chance >> 8;
}

/* Whether a warp, with all its agents, goes on in a round of an order by chance. */
static bool has_turn(uint32_t chance, uint32_t warp)
{
    uint32_t own = chance ^ warp * 2654435761u;
    return next_chance(&own) % 3 != 0;
}

/* Lets each agent go on in turn; true if one did, or was left out though it could. */
static bool go_in_turn(struct wsdbg_replay *replay, enum wsdbg_replay_order order, uint32_t *chance)
{
    const uint32_t count = replay->agent_count;
    const bool by_chance = order >= WSDBG_REPLAY_BY_CHANCE;
    const bool by_steps = order == WSDBG_REPLAY_STEP_BY_STEP || (by_chance && order & 2);
    bool goes_on = false;
    for (uint32_t i = 0; i < count; i++) {
        const bool backwards = order == WSDBG_REPLAY_LAST_FIRST || (by_chance && order & 1);
        const uint32_t number = backwards ? count - 1 - i : i;
        if (by_chance && !has_turn(*chance, replay->agents[number].warp))
            goes_on |= replay->agents[number].state == WSDBG_AGENT_GOES;
        else
            goes_on |= go(replay, number, by_steps ? ONE_STEP : AS_FAR_AS_CAN);
    }
    next_chance(chance);
    return goes_on;
}

/* Lets the warps of a warpgroup, or all others, go on one step each; true if one did. */
static bool go_group(struct wsdbg_replay *replay, uint32_t group, bool others)
{
    bool goes_on = false;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const uint32_t warp = wsdbg_case_warp(replay->c, replay->agents[i].warp)->warp;
        if ((warp / WSDBG_GROUP_WARPS == group) != others)
            goes_on |= go(replay, i, ONE_STEP);
    }
    return goes_on;
}

/* Lets each agent go as far as it can; where all that could go on are held, one of them comes through its wait. */
static bool go_as_seen(struct wsdbg_replay *replay, bool backwards)
{
    const uint32_t count = replay->agent_count;
    bool goes_on = false;
    for (uint32_t i = 0; i < count; i++)
        goes_on |= go(replay, backwards ? count - 1 - i : i, AS_FAR_AS_SEEN);
    if (!goes_on)
        wsdbg_replay_spend(replay, count);
    for (uint32_t i = 0; i < count && !goes_on; i++)
        goes_on = go(replay, backwards ? count - 1 - i : i, ONE_STEP);
    return goes_on;
}

static bool go_round(struct wsdbg_replay *replay, enum wsdbg_replay_order order, uint32_t *chance)
{
    if (order >= WSDBG_REPLAY_AS_SEEN)
        return go_as_seen(replay, order == WSDBG_REPLAY_AS_SEEN_LAST);
    const bool is_last = order >= WSDBG_REPLAY_GROUP_LAST;
    const uint32_t group = order - (is_last ? WSDBG_REPLAY_GROUP_LAST : WSDBG_REPLAY_GROUP_FIRST);
    if (order < WSDBG_REPLAY_GROUP_FIRST)
        return go_in_turn(replay, order, chance);
    return go_group(replay, group, is_last) || go_group(replay, group, !is_last);
}

void wsdbg_replay_run(struct wsdbg_replay *replay, enum wsdbg_replay_order order,
                      const struct wsdbg_replay_changes *changes)
{
    const bool is_slow = order >= WSDBG_REPLAY_SLOW;
    const enum wsdbg_replay_order like = is_slow ? order - WSDBG_REPLAY_SLOW : order;
    uint32_t chance = (uint32_t)order;
    bool goes_on = true;
    replay->changes = changes;
    start(replay);
    for (uint32_t id = 0; id < IDS && changes; id++)
        if (changes->early_ids >> id & 1)
            arrive_early(replay, id);
    replay->order = order;
    replay->is_slow = is_slow;
    while (goes_on && !replay->is_broken)
        goes_on = go_round(replay, like, &chance) || wsdbg_replay_end_copies(replay);
    replay->has_ended = !replay->is_broken;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        replay->has_ended &= wsdbg_replay_has_gone(&replay->agents[i]);
}
