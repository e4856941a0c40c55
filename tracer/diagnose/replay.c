/* replay.c - runs a replay: executes the steps of its agents on the model of the barriers.  See replay.h.
 *
 * Reads: steps, changes.  Writes: the state of agents and barriers, and the record of each agent's waits.
 */
#include "diagnose/replay.h"

#include "diagnose/code_case.h"

#include <string.h>

enum { IDS = WSDBG_NAMED_BARRIERS, WARPGROUP_WARPS = 4 };
#define HASH_FACTOR 0x9e3779b97f4a7c15u /* odd, and its bits are mixed: 2^64 divided by the golden ratio */

/* ---- mbarriers ---- */

struct run {
    struct wsdbg_replay *replay;
    const struct wsdbg_replay_changes *changes;
    bool holds; /* agents that could pass a wait as they were seen in one do not go on */
};

/* How many phases must have completed when the agent's next wait ends.  A first wait that names parity 1 is meant to
 * end before any has. */
static uint32_t turn_phase(const struct wsdbg_replay_waits *waits)
{
    return waits->passed + 1 - waits->first_parity;
}

static void pass_wait(struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier)
{
    struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(replay, agent, barrier);
    struct wsdbg_replay_agent *a = &replay->agents[agent];
    if (!a->repeats_now) {
        const uint32_t phase = replay->barriers[barrier].phase;
        waits->slipped |= !a->is_idle && a->steps[a->at].number_known && phase != turn_phase(waits);
        waits->lags |= waits->passed && phase <= waits->last_phase;
        waits->began_free |= phase == 0;
        waits->last_phase = phase;
        waits->phase_sum += phase;
        waits->phase_hash = waits->phase_hash * HASH_FACTOR + phase;
        waits->passed++;
    }
    wsdbg_replay_advance(a);
    a->state = WSDBG_AGENT_GOES;
}

/* Whether bytes hold up phases of the barrier. */
static bool bytes_count(const struct wsdbg_replay *replay, uint32_t barrier)
{
    const struct wsdbg_replay_barrier *b = &replay->barriers[barrier];
    const bool is_free = replay->changes && replay->changes->free_bytes && replay->changes->free_bytes[barrier];
    return !is_free && (!b->bytes_unknown || b->copy_bytes);
}

/* Lets an agent that waits in a loop of several tests make all of them again. */
static void test_again(struct wsdbg_replay_agent *agent)
{
    agent->tests_again = true;
    agent->state = WSDBG_AGENT_GOES;
}

static void complete_if_done(struct wsdbg_replay *replay, uint32_t barrier)
{
    struct wsdbg_replay_barrier *b = &replay->barriers[barrier];
    if (b->pending != 0 || (b->bytes != 0 && bytes_count(replay, barrier)))
        return;
    const uint32_t parity = b->phase & 1;
    b->phase++;
    b->pending = b->expected;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (agent->state != WSDBG_AGENT_WAITS)
            continue;
        if (agent->target[agent->at] == barrier && wsdbg_replay_waits_of(replay, i, barrier)->last_parity == parity)
            pass_wait(replay, i, barrier);
        else if (agent->polls && agent->ahead_of == WSDBG_NONE)
            test_again(agent);
    }
}

/* Threads arrive one by one: where some of them complete a phase, the others arrive in the next one.  That is never
 * meant, so a changed kernel must not do it.  In a phase that lacks only bytes there is one arrival too many.  The
 * count of one thread, `each`, may not be more than is pending. */
static void arrive(struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier, uint32_t arrivals, uint32_t each,
                   int64_t bytes)
{
    struct wsdbg_replay_barrier *b = &replay->barriers[barrier];
    struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(replay, agent, barrier);
    replay->is_broken |= !b->is_initialised;
    b->bytes += bytes;
    while (arrivals && !replay->is_broken) {
        const uint32_t part = arrivals < b->pending ? arrivals : b->pending - b->pending % each;
        if (part == 0 || (part < arrivals && replay->changes)) {
            replay->is_broken = replay->overflows = true;
            replay->overflow = barrier;
            return;
        }
        arrivals -= part;
        b->pending -= part;
        waits->arrived += part;
        waits->arrived_parity = b->phase & 1;
        waits->has_token = true;
        complete_if_done(replay, barrier);
    }
}

static void expect(struct wsdbg_replay *replay, uint32_t barrier, int64_t bytes)
{
    replay->is_broken |= !replay->barriers[barrier].is_initialised;
    replay->barriers[barrier].bytes += bytes;
    if (!replay->is_broken)
        complete_if_done(replay, barrier);
}

static void bring(struct wsdbg_replay *replay, uint32_t barrier, int64_t bytes)
{
    if (barrier == WSDBG_NONE || !replay->barriers[barrier].is_initialised) {
        replay->is_broken = true;
        return;
    }
    replay->barriers[barrier].bytes -= bytes;
    complete_if_done(replay, barrier);
}

/* The bytes of a copy count on one barrier. */
static void bring_copy(struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                       const struct wsdbg_step_row *step, uint32_t barrier)
{
    const int64_t bytes = step->number_known      ? (int64_t)step->number
                          : barrier != WSDBG_NONE ? replay->barriers[barrier].copy_bytes
                                                  : 0;
    if (step->number_known || bytes)
        bring(replay, barrier, bytes * agent->lane_count);
}

static void copy(struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, const struct wsdbg_step_row *step,
                 uint32_t target)
{
    if (step->mask == 0)
        bring_copy(replay, agent, step, target);
    for (uint32_t i = 0; step->mask && i < replay->c->cta_count; i++)
        if (wsdbg_replay_copies_to(replay, step, i))
            bring_copy(replay, agent, step, wsdbg_replay_barrier_at(replay, i, step->address));
}

/* The count that the barrier was seen with; 0 = not known, or drops may have made it less. */
static uint32_t seen_count(const struct wsdbg_replay *replay, uint32_t barrier)
{
    const uint32_t row = replay->barriers[barrier].row;
    struct wsdbg_barrier_word word;
    return row != WSDBG_NONE && wsdbg_word_of(replay->c, row, &word) &&
                   wsdbg_code_has(replay->c, WSDBG_KIND(WSDBG_ACCESS_DROP), row, NULL) == WSDBG_MATCH_NO
               ? word.expected
               : 0;
}

/* In machine code the operands are mostly in uniform registers.  Then a warp executes the instruction once, for all its
 * lanes, though the program elected one of them: what other lanes of the warp do later is the same initialisation. */
static void initialise(const struct run *run, uint32_t barrier, const struct wsdbg_replay_agent *agent, uint32_t access,
                       uint32_t arrivals)
{
    struct wsdbg_replay_barrier *b = &run->replay->barriers[barrier];
    if (b->is_initialised && b->init_warp == agent->warp && b->init_access == access && access != WSDBG_NONE)
        return;
    b->init_warp = agent->warp;
    b->init_access = access;
    const uint32_t *expected = run->changes ? run->changes->expected : NULL;
    run->replay->is_broken |= !arrivals;
    b->is_initialised = true;
    b->expected = b->pending = expected && expected[barrier] ? expected[barrier] : arrivals;
    b->phase = 0;
    b->bytes = 0;
}

/* The parity that the agent's wait names if waits by its instruction change. */
static uint32_t flipped(const struct run *run, uint32_t agent, uint32_t in_code)
{
    const struct wsdbg_replay_agent *a = &run->replay->agents[agent];
    const struct wsdbg_replay_changes *changes = run->changes;
    const uint32_t like = changes && changes->flips ? changes->flip_at[agent] : WSDBG_NONE;
    if (like == WSDBG_NONE || a->steps[a->at].access != a->steps[like].access)
        return in_code;
    if (changes->flips == WSDBG_FLIPS_ONE)
        return in_code ^ (a->at == like);
    if (changes->flips == WSDBG_FLIPS_ALL)
        return in_code ^ 1;
    uint32_t turn = 0, first = in_code;
    for (uint32_t k = a->at; k-- > 0;)
        if (a->target[k] == a->target[a->at] && a->steps[k].access == a->steps[like].access) {
            first = a->steps[k].number & 1;
            turn++;
        }
    return (first + turn) & 1;
}

/* The parity that a wait names: the one in the code, or the changed one. */
static uint32_t parity_of(const struct run *run, uint32_t agent, uint32_t barrier, bool repeats, uint32_t in_code)
{
    const struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(run->replay, agent, barrier);
    const uint8_t *from = run->changes ? run->changes->parity_from : NULL;
    if (!from || !from[barrier])
        return flipped(run, agent, in_code);
    const uint32_t first = from[barrier] <= 2 ? from[barrier] - 1u : waits->any ? waits->first_parity : in_code;
    return (first + waits->passed - repeats) & 1;
}

/* What the agent does from here on is not known. */
static void lose(struct wsdbg_replay *replay, uint32_t agent)
{
    replay->agents[agent].state = WSDBG_AGENT_LOST;
    replay->has_lost = true;
}

/* Whether the poll at a step behind the one at which the agent stands would not wait. */
static bool is_ready(const struct run *run, uint32_t agent, uint32_t at)
{
    struct wsdbg_replay_agent *a = &run->replay->agents[agent];
    const struct wsdbg_replay_barrier *barrier = &run->replay->barriers[a->target[at]];
    const uint32_t stands_at = a->at;
    if (!barrier->is_initialised || !a->steps[at].number_known)
        return false;
    a->at = at;
    const uint32_t parity = parity_of(run, agent, a->target[at], a->repeats[at], a->steps[at].number & 1);
    a->at = stands_at;
    return (barrier->phase & 1) != parity;
}

/* The agent waits at a step.  If it polls, it takes up what follows another poll, if that is ready. */
static void wait_or_go_ahead(const struct run *run, uint32_t agent)
{
    struct wsdbg_replay_agent *a = &run->replay->agents[agent];
    a->state = WSDBG_AGENT_WAITS;
    for (uint32_t at = a->at; a->polls && at < a->step_count;) {
        at = wsdbg_replay_next_poll(run->replay, a, at);
        if (at < a->step_count && is_ready(run, agent, at)) {
            wsdbg_replay_go_ahead(run->replay, a, at);
            a->state = WSDBG_AGENT_GOES;
            return;
        }
    }
}

/* A wait whose parity is not known is taken to name the token of the agent's last arrival on the barrier.  Without such
 * an arrival it is no token. */
static void begin_wait(const struct run *run, uint32_t agent, uint32_t barrier, uint32_t in_code)
{
    struct wsdbg_replay *replay = run->replay;
    struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(replay, agent, barrier);
    struct wsdbg_replay_agent *a = &replay->agents[agent];
    bool repeats = a->repeats[a->at];
    const bool by_token = !a->steps[a->at].number_known, is_begun = a->tests_again;
    const uint32_t parity = by_token ? waits->arrived_parity : parity_of(run, agent, barrier, repeats, in_code & 1);
    a->tests_again = false;
    if (run->changes && run->changes->flips)
        repeats = waits->any && parity == waits->last_parity &&
                  (repeats || wsdbg_replay_repeats_in_other_rounds(replay, a, a->at));
    a->repeats_now = is_begun ? a->repeats_now : repeats;
    if (!replay->barriers[barrier].is_initialised) {
        replay->is_broken = true;
        return;
    }
    if (by_token && waits->lost_token && !waits->has_token) { /* who leaves an arrival out has no token of it */
        replay->is_broken = true;
        return;
    }
    if (by_token && waits->arrived == 0) {
        lose(replay, agent);
        return;
    }
    waits->by_token |= by_token;
    waits->has_token &= !by_token;
    waits->lost_token &= !by_token;
    if (!repeats && !is_begun)
        waits->alternates = !waits->any || (waits->alternates && parity != waits->last_parity);
    if (!waits->any)
        waits->first_parity = (uint8_t)parity;
    waits->any = true;
    waits->last_parity = (uint8_t)parity;
    if ((replay->barriers[barrier].phase & 1) != parity)
        pass_wait(replay, agent, barrier);
    else
        wait_or_go_ahead(run, agent);
}

/* ---- lanes, warps and CTAs that wait for each other ---- */

static bool has_gone(const struct wsdbg_replay_agent *agent)
{
    return agent->state == WSDBG_AGENT_ENDED;
}

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
        if (other->warp == self->warp && other != self && !has_gone(other) && !is_at_same(self, other))
            return false;
    }
    return true;
}

static void set_warp(struct wsdbg_replay *replay, uint32_t warp, enum wsdbg_agent_state state, bool goes_on)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].warp == warp && !has_gone(&replay->agents[i])) {
            replay->agents[i].state = state;
            if (goes_on)
                wsdbg_replay_advance(&replay->agents[i]);
        }
}

static uint32_t threads_left(const struct wsdbg_replay *replay, uint32_t cta)
{
    struct wsdbg_warp_set left = {{0}};
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].cta == cta && !has_gone(&replay->agents[i]))
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

/* Completes a phase of the cluster barrier once every thread that has not left the kernel has arrived.  The arrival of
 * one that has left stands for no other thread. */
static void complete_cluster(struct wsdbg_replay *replay)
{
    bool any = false;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        if (!has_gone(&replay->agents[i]) && !replay->agents[i].is_in_cluster_phase)
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

static void cluster_step(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent, bool waits)
{
    if (waits && replay->cluster_phase == agent->cluster_phase) {
        agent->state = WSDBG_AGENT_CLUSTER;
        return;
    }
    wsdbg_replay_advance(agent);
    if (waits)
        return;
    agent->cluster_phase = replay->cluster_phase;
    agent->is_in_cluster_phase = true;
    complete_cluster(replay);
}

/* ---- multiplications, which a warpgroup makes together ---- */

/* Whether all warps of the agent's warpgroup that have not left the kernel have issued the multiplications that its
 * step waits for. */
static bool are_issued(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (wsdbg_case_are_mates(replay->c, agent->warp, replay->agents[i].warp) && !has_gone(&replay->agents[i]) &&
            replay->agents[i].issued < agent->steps[agent->at].number)
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

/* Lanes of a warp that came apart multiply together. */
static void issue(struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].warp == agent->warp && !has_gone(&replay->agents[i]))
            replay->agents[i].issued = replay->agents[i].steps[replay->agents[i].at].number;
    set_warp(replay, agent->warp, WSDBG_AGENT_GOES, true);
    release_mates(replay, agent);
}

static void wait_for_matrices(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent)
{
    if (are_issued(replay, agent))
        wsdbg_replay_advance(agent);
    else
        agent->state = WSDBG_AGENT_MATRICES;
}

/* ---- lanes that act together ---- */

static bool gathers(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE ||
           step->kind == WSDBG_ACCESS_WGMMA || step->kind == WSDBG_STEP_TOGETHER;
}

static void gather(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent)
{
    agent->state = WSDBG_AGENT_GATHERS;
    if (!is_together(replay, agent))
        return;
    if (agent->steps[agent->at].kind == WSDBG_STEP_TOGETHER)
        set_warp(replay, agent->warp, WSDBG_AGENT_GOES, true);
    else if (agent->steps[agent->at].kind == WSDBG_ACCESS_WGMMA)
        issue(replay, agent);
    else
        come_to_named(replay, agent);
}

/* The agent leaves the kernel.  Barriers may complete that waited only for it. */
static void leave(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent)
{
    agent->state = WSDBG_AGENT_ENDED;
    complete_cluster(replay);
    release_mates(replay, agent);
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].warp == agent->warp && replay->agents[i].state == WSDBG_AGENT_GATHERS) {
            gather(replay, &replay->agents[i]);
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

/* ---- steps ---- */

/* The first edit of a step of the agent, or of one behind it. */
static uint32_t first_edit(const struct run *run, uint32_t number, uint32_t at)
{
    const struct wsdbg_replay_edit *edits = run->changes->edits;
    uint32_t low = 0, high = run->changes->edit_count;
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

/* Makes the arrivals of the step's edits.  True: the step is left out. */
static bool apply_edits(const struct run *run, uint32_t number, uint32_t at, bool are_made)
{
    bool is_left_out = false;
    if (!run->changes)
        return false;
    for (uint32_t i = first_edit(run, number, at); i < run->changes->edit_count; i++) {
        const struct wsdbg_replay_edit *edit = &run->changes->edits[i];
        if (edit->agent != number || edit->step != at)
            break;
        if (edit->arrivals && !are_made)
            arrive(run->replay, number, edit->barrier, edit->arrivals, 1, edit->bytes);
        is_left_out |= !edit->arrivals;
    }
    return is_left_out;
}

/* What edits add behind a part that an agent took up ahead belongs to that part; unless the part behind it was taken up
 * before: then it was made there. */
static void end_part(const struct run *run, uint32_t number)
{
    struct wsdbg_replay_agent *agent = &run->replay->agents[number];
    if (agent->was_ahead && !(agent->ahead_end < agent->step_count && agent->is_taken[agent->ahead_end]))
        apply_edits(run, number, agent->ahead_end, false);
    agent->was_ahead = false;
}

/* Executes a step that never waits. */
static void take_effect(const struct run *run, uint32_t number, const struct wsdbg_step_row *step, uint32_t target)
{
    struct wsdbg_replay *replay = run->replay;
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    const uint32_t lanes = agent->lane_count, all = step->number * lanes;
    switch (step->kind) {
    case WSDBG_ACCESS_INIT:
        initialise(run, target, agent, step->access, step->number_known ? step->number : seen_count(replay, target));
        break;
    case WSDBG_ACCESS_ARRIVE:
    case WSDBG_ACCESS_COPY_ARRIVE:
        if (all)
            arrive(replay, number, target, all, step->number, 0);
        break;
    case WSDBG_ACCESS_ARRIVE_EXPECT:
        arrive(replay, number, target, lanes, 1, (int64_t)step->number * lanes);
        break;
    case WSDBG_ACCESS_EXPECT:
        expect(replay, target, (int64_t)step->number * lanes);
        break;
    case WSDBG_ACCESS_COMPLETE:
        bring(replay, target, (int64_t)step->number * lanes);
        break;
    case WSDBG_ACCESS_DROP:
        replay->barriers[target].expected -= all;
        arrive(replay, number, target, all, step->number, 0);
        break;
    case WSDBG_ACCESS_COPY:
        copy(replay, agent, step, target);
        break;
    case WSDBG_ACCESS_INVALIDATE:
        replay->barriers[target].is_initialised = false;
        break;
    default:
        break;
    }
}

/* Makes the arrivals that edits add before the agent's step.  True: the step is left out. */
static bool is_left_out(const struct run *run, uint32_t number)
{
    struct wsdbg_replay_agent *agent = &run->replay->agents[number];
    const bool leaves_out =
        !agent->tests_again && apply_edits(run, number, agent->at, are_edits_made(agent, agent->at));
    if (leaves_out && agent->target[agent->at] != WSDBG_NONE && wsdbg_replay_arrivals_of(agent, agent->at))
        wsdbg_replay_waits_of(run->replay, number, agent->target[agent->at])->lost_token = true;
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
static void take_wait(const struct run *run, uint32_t number)
{
    struct wsdbg_replay *replay = run->replay;
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    const uint32_t at = agent->at, barrier = agent->target[at], in_code = agent->steps[at].number;
    uint32_t first = number;
    while (first > 0 && replay->agents[first - 1].warp == agent->warp)
        first--;
    begin_wait(run, number, barrier, in_code);
    for (uint32_t i = first; i < replay->agent_count && replay->agents[i].warp == agent->warp && !replay->is_broken;
         i++)
        if (is_before_wait_of(&replay->agents[i], agent, at) && !is_left_out(run, i))
            begin_wait(run, i, barrier, in_code);
}

static void take_step(const struct run *run, uint32_t number)
{
    struct wsdbg_replay_agent *agent = &run->replay->agents[number];
    const struct wsdbg_step_row *step = &agent->steps[agent->at];
    const uint32_t target = agent->target[agent->at];
    if (is_left_out(run, number))
        return;
    if (gathers(step)) {
        gather(run->replay, agent);
        return;
    }
    switch (step->kind) {
    case WSDBG_ACCESS_WAIT:
        take_wait(run, number);
        return;
    case WSDBG_ACCESS_WGMMA_WAIT:
        wait_for_matrices(run->replay, agent);
        return;
    case WSDBG_ACCESS_CLUSTER_ARRIVE:
    case WSDBG_ACCESS_CLUSTER_WAIT:
        cluster_step(run->replay, agent, step->kind == WSDBG_ACCESS_CLUSTER_WAIT);
        return;
    default:
        wsdbg_replay_advance(agent);
        take_effect(run, number, step, target);
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
static bool is_held(const struct run *run, uint32_t number)
{
    const struct wsdbg_replay_agent *agent = &run->replay->agents[number];
    if (!run->holds || agent->at >= agent->step_count || agent->steps[agent->at].kind != WSDBG_ACCESS_WAIT)
        return false;
    const uint32_t barrier = agent->target[agent->at];
    const uint32_t parity =
        parity_of(run, number, barrier, agent->repeats[agent->at], agent->steps[agent->at].number & 1);
    return agent->steps[agent->at].number_known && wsdbg_replay_was_seen_at(run->replay, agent, barrier, parity);
}

/* Whether all lanes of the agent's warp made the step together, and others than its own are among them. */
static bool came_together(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t step)
{
    if (agent->state != WSDBG_AGENT_GOES || agent->at <= step || !gathers(&agent->steps[step]))
        return false;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->agents[i].warp == agent->warp && &replay->agents[i] != agent && !has_gone(&replay->agents[i]))
            return true;
    return false;
}

/* The agent executes one step, or as many as it can; true if it executed any.  It stops where its warp has come
 * together: from there on the warp's agents go on in their order. */
static bool go(const struct run *run, uint32_t number, bool one)
{
    struct wsdbg_replay *replay = run->replay;
    struct wsdbg_replay_agent *agent = &replay->agents[number];
    bool any = false;
    while (agent->state == WSDBG_AGENT_GOES && !replay->is_broken && !(one && any) && !is_held(run, number)) {
        any = true;
        replay->is_broken = replay->steps_left == 0;
        replay->steps_left -= !replay->is_broken;
        end_part(run, number);
        if (agent->at >= agent->step_count) {
            apply_edits(run, number, agent->at, are_edits_made(agent, agent->at));
            const bool is_whole = replay->c->snapshot->walks[agent->walk].is_whole;
            replay->assumes_idle |= !is_whole;
            if (is_whole || has_left_idle(replay, agent))
                leave(replay, agent);
            else
                lose(replay, number);
        } else {
            const uint32_t at = agent->at;
            take_step(run, number);
            if (came_together(replay, agent, at))
                break;
        }
    }
    return any;
}

static void start(struct wsdbg_replay *replay)
{
    replay->is_broken = replay->overflows = replay->has_lost = replay->has_ended = replay->assumes_idle = false;
    replay->cluster_phase = 0;
    memset(replay->waits, 0, (size_t)replay->agent_count * replay->barrier_count * sizeof *replay->waits);
    memset(replay->named, 0, (size_t)replay->c->cta_count * IDS * sizeof *replay->named);
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        replay->barriers[b].is_initialised = false;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        replay->agents[i].at = 0;
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
static bool go_in_turn(const struct run *run, enum wsdbg_replay_order order, uint32_t *chance)
{
    struct wsdbg_replay *replay = run->replay;
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
            goes_on |= go(run, number, by_steps);
    }
    next_chance(chance);
    return goes_on;
}

/* Lets the warps of a warpgroup, or all others, go on one step each; true if one did. */
static bool go_group(const struct run *run, uint32_t group, bool others)
{
    struct wsdbg_replay *replay = run->replay;
    bool goes_on = false;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const uint32_t warp = wsdbg_case_warp(replay->c, replay->agents[i].warp)->warp;
        if ((warp / WARPGROUP_WARPS == group) != others)
            goes_on |= go(run, i, true);
    }
    return goes_on;
}

/* Lets each agent go as far as it can; where all that could go on are held, one of them comes through its wait. */
static bool go_as_seen(const struct run *run, bool backwards)
{
    const struct run holding = {.replay = run->replay, .changes = run->changes, .holds = true};
    const uint32_t count = run->replay->agent_count;
    bool goes_on = false;
    for (uint32_t i = 0; i < count; i++)
        goes_on |= go(&holding, backwards ? count - 1 - i : i, false);
    for (uint32_t i = 0; i < count && !goes_on; i++)
        goes_on = go(run, backwards ? count - 1 - i : i, true);
    return goes_on;
}

static bool go_round(const struct run *run, enum wsdbg_replay_order order, uint32_t *chance)
{
    if (order >= WSDBG_REPLAY_AS_SEEN)
        return go_as_seen(run, order == WSDBG_REPLAY_AS_SEEN_LAST);
    const bool is_last = order >= WSDBG_REPLAY_GROUP_LAST;
    const uint32_t group = order - (is_last ? WSDBG_REPLAY_GROUP_LAST : WSDBG_REPLAY_GROUP_FIRST);
    if (order < WSDBG_REPLAY_GROUP_FIRST)
        return go_in_turn(run, order, chance);
    return go_group(run, group, is_last) || go_group(run, group, !is_last);
}

void wsdbg_replay_run(struct wsdbg_replay *replay, enum wsdbg_replay_order order,
                      const struct wsdbg_replay_changes *changes)
{
    const struct run run = {.replay = replay, .changes = changes};
    uint32_t chance = (uint32_t)order;
    bool goes_on = true;
    replay->changes = changes;
    start(replay);
    if (changes && changes->named_early)
        arrive_early(replay, changes->early_id);
    replay->order = order;
    while (goes_on && !replay->is_broken)
        goes_on = go_round(&run, order, &chance);
    replay->has_ended = !replay->is_broken;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        replay->has_ended &= has_gone(&replay->agents[i]);
}
