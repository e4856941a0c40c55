/* replay_mbarriers.c - what a replay's agents do to mbarriers: see replay_run.h.
 *
 * Reads: steps, changes.  Writes: the state of mbarriers, and the record of each agent's waits.
 */
#include "diagnose/replay_run.h"

#define HASH_FACTOR 0x9e3779b97f4a7c15u /* odd, and its bits are mixed: 2^64 divided by the golden ratio */

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
void wsdbg_replay_arrive(struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier, uint32_t arrivals,
                         uint32_t each, int64_t bytes)
{
    struct wsdbg_replay_barrier *b = &replay->barriers[barrier];
    struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(replay, agent, barrier);
    replay->is_broken |= !b->is_initialised;
    b->bytes += bytes;
    waits->has_earlier = waits->arrived > 0;
    waits->earlier_parity = waits->arrived_parity;
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

void wsdbg_replay_expect(struct wsdbg_replay *replay, uint32_t barrier, int64_t bytes)
{
    replay->is_broken |= !replay->barriers[barrier].is_initialised;
    replay->barriers[barrier].bytes += bytes;
    if (!replay->is_broken)
        complete_if_done(replay, barrier);
}

void wsdbg_replay_bring(struct wsdbg_replay *replay, uint32_t barrier, int64_t bytes)
{
    if (barrier == WSDBG_NONE || !replay->barriers[barrier].is_initialised) {
        replay->is_broken = true;
        return;
    }
    replay->barriers[barrier].bytes -= bytes;
    complete_if_done(replay, barrier);
}

bool wsdbg_replay_end_copies(struct wsdbg_replay *replay)
{
    bool any = false;
    for (uint32_t b = 0; b < replay->barrier_count; b++) {
        const int64_t bytes = replay->barriers[b].bytes_under_way;
        if (bytes == 0)
            continue;
        any = true;
        replay->barriers[b].bytes_under_way = 0;
        wsdbg_replay_bring(replay, b, bytes);
    }
    return any;
}

/* The bytes of a copy count on one barrier. */
static void bring_copy(struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                       const struct wsdbg_step_row *step, uint32_t barrier)
{
    const int64_t bytes = step->number_known      ? (int64_t)step->number
                          : barrier != WSDBG_NONE ? replay->barriers[barrier].copy_bytes
                                                  : 0;
    if (!step->number_known && !bytes)
        return;
    if (replay->is_slow && barrier != WSDBG_NONE)
        replay->barriers[barrier].bytes_under_way += bytes * agent->lane_count;
    else
        wsdbg_replay_bring(replay, barrier, bytes * agent->lane_count);
}

void wsdbg_replay_copy(struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                       const struct wsdbg_step_row *step, uint32_t target)
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
void wsdbg_replay_initialise(struct wsdbg_replay *replay, uint32_t barrier, const struct wsdbg_replay_agent *agent,
                             const struct wsdbg_step_row *step)
{
    const uint32_t access = step->access, arrivals = step->number_known ? step->number : seen_count(replay, barrier);
    struct wsdbg_replay_barrier *b = &replay->barriers[barrier];
    if (b->is_initialised && b->init_warp == agent->warp && b->init_access == access && access != WSDBG_NONE)
        return;
    b->init_warp = agent->warp;
    b->init_access = access;
    const uint32_t *expected = replay->changes ? replay->changes->expected : NULL;
    replay->is_broken |= !arrivals;
    b->is_initialised = true;
    b->expected = b->pending = expected && expected[barrier] ? expected[barrier] : arrivals;
    b->phase = 0;
    b->bytes = b->bytes_under_way = 0;
}

/* The parity that the agent's wait names if waits by its instruction change. */
static uint32_t flipped(const struct wsdbg_replay *replay, uint32_t agent, uint32_t in_code)
{
    const struct wsdbg_replay_agent *a = &replay->agents[agent];
    const struct wsdbg_replay_changes *changes = replay->changes;
    const uint32_t like = changes && changes->flips ? changes->flip_at[agent] : WSDBG_NONE;
    if (changes && changes->flips == WSDBG_FLIPS_STEPS)
        return in_code ^ changes->flip_steps[a->target - replay->targets + a->at];
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
uint32_t wsdbg_replay_parity_of(const struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier, bool repeats,
                                uint32_t in_code)
{
    const struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(replay, agent, barrier);
    const uint8_t *from = replay->changes ? replay->changes->parity_from : NULL;
    if (!from || !from[barrier])
        return flipped(replay, agent, in_code);
    const uint32_t first = from[barrier] <= 2 ? from[barrier] - 1u : waits->any ? waits->first_parity : in_code;
    return (first + waits->passed - repeats) & 1;
}

/* What the agent does from here on is not known. */
void wsdbg_replay_lose(struct wsdbg_replay *replay, uint32_t agent)
{
    replay->agents[agent].state = WSDBG_AGENT_LOST;
    replay->has_lost = true;
}

/* Whether the poll at a step behind the one at which the agent stands would not wait. */
static bool is_ready(struct wsdbg_replay *replay, uint32_t agent, uint32_t at)
{
    struct wsdbg_replay_agent *a = &replay->agents[agent];
    const struct wsdbg_replay_barrier *barrier = &replay->barriers[a->target[at]];
    const uint32_t stands_at = a->at;
    if (!barrier->is_initialised || !a->steps[at].number_known)
        return false;
    a->at = at;
    const uint32_t parity =
        wsdbg_replay_parity_of(replay, agent, a->target[at], a->repeats[at], a->steps[at].number & 1);
    a->at = stands_at;
    return (barrier->phase & 1) != parity;
}

/* The agent waits at a step.  If it polls, it takes up what follows another poll, if that is ready. */
static void wait_or_go_ahead(struct wsdbg_replay *replay, uint32_t agent)
{
    struct wsdbg_replay_agent *a = &replay->agents[agent];
    a->state = WSDBG_AGENT_WAITS;
    for (uint32_t at = a->at; a->polls && at < a->step_count;) {
        at = wsdbg_replay_next_poll(replay, a, at);
        if (at < a->step_count && is_ready(replay, agent, at)) {
            wsdbg_replay_go_ahead(replay, a, at);
            a->state = WSDBG_AGENT_GOES;
            return;
        }
    }
}

/* Whether a wait by token is taken to name that of the arrival before the last one. */
static bool is_stale(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent)
{
    return agent->stale_wait == agent->at && !(replay->changes && replay->changes->fresh_tokens);
}

/* A wait whose parity is not known is taken to name the token of the agent's last arrival on the barrier, or of the one
 * before.  Without such an arrival it is no token. */
void wsdbg_replay_begin_wait(struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier, uint32_t in_code)
{
    struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(replay, agent, barrier);
    struct wsdbg_replay_agent *a = &replay->agents[agent];
    bool repeats = a->repeats[a->at];
    const bool by_token = !a->steps[a->at].number_known, is_begun = a->tests_again;
    const uint32_t giver =
        replay->changes && replay->changes->fresh_tokens ? WSDBG_NONE : wsdbg_replay_giver_of(a, a->at);
    const uint8_t token = giver == WSDBG_NONE ? WSDBG_TOKEN_NONE : *wsdbg_replay_token_at(replay, a, giver);
    const bool by_stale = by_token && giver == WSDBG_NONE && is_stale(replay, a);
    const uint32_t parity = giver != WSDBG_NONE ? token == WSDBG_TOKEN_OF_1
                            : by_stale          ? waits->earlier_parity
                            : by_token          ? waits->arrived_parity
                                                : wsdbg_replay_parity_of(replay, agent, barrier, repeats, in_code & 1);
    a->tests_again = false;
    if (replay->changes && replay->changes->flips)
        repeats = waits->any && parity == waits->last_parity &&
                  (repeats || wsdbg_replay_repeats_in_other_rounds(replay, a, a->at));
    a->repeats_now = is_begun ? a->repeats_now : repeats;
    if (!replay->barriers[barrier].is_initialised) {
        replay->is_broken = true;
        return;
    }
    if (giver != WSDBG_NONE
            ? token == WSDBG_TOKEN_NONE
            : by_token && waits->lost_token && !waits->has_token) { /* who leaves an arrival out has no token of it */
        replay->is_broken = true;
        return;
    }
    if (by_token && giver == WSDBG_NONE && (waits->arrived == 0 || (by_stale && !waits->has_earlier))) {
        wsdbg_replay_lose(replay, agent);
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
        wait_or_go_ahead(replay, agent);
}
