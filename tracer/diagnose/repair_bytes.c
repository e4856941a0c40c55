/* repair_bytes.c - repairs of what is announced and copied: copies without an arrival that announces their bytes, and
 * rounds whose copies do not bring what was announced.  See repair.h.
 *
 * Reads: a replay at its standstill.  Writes: the repairs that work.
 */
#include "diagnose/repair_trial.h"
#include "diagnose/replay_likes.h"

enum { ROUNDS_MOST = 64 };

/* ---- copies without an arrival ---- */

static bool is_wait(const struct wsdbg_replay_agent *agent, uint32_t at, uint32_t barrier, bool on_any)
{
    const uint32_t kind = agent->steps[at].kind;
    return on_any ? kind == WSDBG_ACCESS_WAIT || kind == WSDBG_ACCESS_NAMED_SYNC
                  : kind == WSDBG_ACCESS_WAIT && agent->target[at] == barrier;
}

/* The first step of an agent's present round that announces bytes to the barrier, else the first one that copies some.
 * WSDBG_NONE: there is no such step, or the agent arrived on the barrier in that round.  A wait on the barrier begins a
 * new round; if `on_any`, any wait does. */
static uint32_t bare_step(const struct wsdbg_replay_agent *agent, uint32_t barrier, bool on_any)
{
    uint32_t first = WSDBG_NONE;
    bool arrived = false, is_behind = true;
    for (uint32_t k = 0; k < agent->at; k++) {
        const uint32_t kind = agent->steps[k].kind;
        const bool is_there = agent->target[k] == barrier;
        is_behind |= is_wait(agent, k, barrier, on_any);
        if (!is_there ||
            (kind != WSDBG_ACCESS_COPY && kind != WSDBG_ACCESS_EXPECT && !wsdbg_replay_arrivals_of(agent, k)))
            continue;
        if (is_behind) {
            first = WSDBG_NONE;
            arrived = is_behind = false;
        }
        if (wsdbg_replay_arrivals_of(agent, k))
            arrived = true;
        else if (first == WSDBG_NONE ||
                 (kind == WSDBG_ACCESS_EXPECT && agent->steps[first].kind != WSDBG_ACCESS_EXPECT))
            first = k;
    }
    return arrived ? WSDBG_NONE : first;
}

static bool is_edited(const struct wsdbg_trial *t, uint32_t agent, uint32_t step)
{
    for (uint32_t i = 0; i < t->changes.edit_count; i++)
        if (t->edits[i].agent == agent && t->edits[i].step == step)
            return true;
    return false;
}

/* Whether the agent is the first of those that wait on its barrier. */
static bool is_first_waiter(const struct wsdbg_trial *t, uint32_t waiter)
{
    const struct wsdbg_replay_agent *agents = t->replay->agents;
    const uint32_t barrier = agents[waiter].target[agents[waiter].at];
    for (uint32_t i = 0; i < waiter; i++)
        if (agents[i].state == WSDBG_AGENT_WAITS && agents[i].target[agents[i].at] == barrier)
            return false;
    return true;
}

/* An agent that has announced or copied bytes to the barrier in its present round and not arrived; the first one that
 * announced some, if there is one. */
static uint32_t bare_agent(const struct wsdbg_trial *t, uint32_t barrier, bool on_any, uint32_t *step)
{
    uint32_t found = WSDBG_NONE;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        const uint32_t bare = bare_step(agent, barrier, on_any);
        if (bare == WSDBG_NONE || is_edited(t, i, bare))
            continue;
        const bool announces = agent->steps[bare].kind == WSDBG_ACCESS_EXPECT;
        if (found == WSDBG_NONE || announces) {
            found = i;
            *step = bare;
        }
        if (announces)
            break;
    }
    return found;
}

/* Adds an arrival, with the bytes that came unannounced, for one barrier that somebody waits on and nobody has arrived
 * on.  False: there is no such one, or it was added already. */
static bool add_announcement(struct wsdbg_trial *t, struct wsdbg_repair *repair, bool on_any)
{
    for (uint32_t w = 0; w < t->replay->agent_count; w++) {
        const struct wsdbg_replay_agent *waiter = &t->replay->agents[w];
        if (waiter->state != WSDBG_AGENT_WAITS || !is_first_waiter(t, w))
            continue;
        const uint32_t barrier = waiter->target[waiter->at];
        const struct wsdbg_replay_barrier *b = &t->replay->barriers[barrier];
        uint32_t step = 0;
        const uint32_t agent = b->pending == b->expected ? bare_agent(t, barrier, on_any, &step) : WSDBG_NONE;
        if (agent == WSDBG_NONE)
            continue;
        t->edits[t->changes.edit_count++] =
            wsdbg_replay_edit_of(agent, step, barrier, b->pending, b->bytes < 0 ? -b->bytes : 0);
        wsdbg_set_add(&repair->warps, t->replay->agents[agent].warp);
        return true;
    }
    return false;
}

static bool try_rounds(struct wsdbg_trial *t, bool on_any)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_ANNOUNCE};
    wsdbg_trial_begin(t);
    for (uint32_t i = 0; i < ROUNDS_MOST; i++) {
        wsdbg_replay_run(t->replay, t->order, &t->changes);
        if (t->replay->is_broken || t->replay->has_ended || !add_announcement(t, &repair, on_any))
            break;
        wsdbg_trial_keep_edits(t, &repair);
    }
    if (!repair.edit_count || !wsdbg_trial_works(t))
        return false;
    wsdbg_trial_keep(t, &repair);
    return true;
}

static bool try_announcements(struct wsdbg_trial *t)
{
    return try_rounds(t, false) || try_rounds(t, true);
}

/* Whether lanes that arrived on some mbarrier have left a warp that is still in the kernel. */
static bool have_arrivers_left(const struct wsdbg_replay *replay)
{
    const bool have_lanes_left = wsdbg_replay_have_lanes_left(replay);
    for (uint32_t i = 0; i < replay->agent_count && have_lanes_left; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (wsdbg_case_warp(replay->c, agent->warp)->state == WSDBG_WARP_EXITED ||
            agent->lanes & ~wsdbg_replay_workers_gone(replay, agent->warp))
            continue;
        for (uint32_t k = 0; k < agent->step_count; k++)
            if (agent->target[k] != WSDBG_NONE && wsdbg_replay_arrivals_of(agent, k))
                return true;
    }
    return false;
}

/* Bytes that were not announced are not known to the replay that stands: it may have shared the others wrongly.  Lanes
 * that left their warp may have been those that arrive. */
void wsdbg_try_announce(struct wsdbg_trial *t)
{
    if (have_arrivers_left(t->replay))
        return;
    const enum wsdbg_replay_shares was = t->replay->shares;
    bool works = try_announcements(t);
    for (enum wsdbg_replay_shares shares = 0; !works && shares < WSDBG_SHARES_KINDS; shares++)
        works = wsdbg_replay_share_bytes(t->replay, shares) && wsdbg_trial_ends_in_picture(t) && try_announcements(t);
    wsdbg_replay_share_bytes(t->replay, was);
}

/* ---- bytes that do not come ---- */

/* The bytes that agents still announce on the barrier behind the standstill, less those that they still copy there.
 * False: how many a copy brings is not known. */
static bool bytes_to_come(const struct wsdbg_trial *t, uint32_t barrier, int64_t *bytes)
{
    const struct wsdbg_replay_barrier *b = &t->replay->barriers[barrier];
    bool known = true;
    *bytes = 0;
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = t->at[i]; k < agent->step_count; k++) {
            const struct wsdbg_step_row *step = &agent->steps[k];
            if (wsdbg_replay_is_copy_to(t->replay, agent, k, barrier)) {
                known &= step->number_known || b->copy_bytes;
                *bytes -= (step->number_known ? (int64_t)step->number : b->copy_bytes) * agent->lane_count;
            } else if (agent->target[k] == barrier && wsdbg_replay_announces(step)) {
                *bytes += (int64_t)step->number * agent->lane_count;
            }
        }
    }
    return known;
}

/* Whether the word that was seen has all arrivals, and lacks bytes that no copy to come brings, or has too many. */
static bool is_unbalanced(const struct wsdbg_trial *t, uint32_t barrier)
{
    struct wsdbg_barrier_word word;
    int64_t to_come;
    const uint32_t row = t->replay->barriers[barrier].row;
    if (row == WSDBG_NONE || !wsdbg_word_of(t->c, row, &word) || word.pending > 0 || word.bytes == 0)
        return false;
    return word.bytes < 0 || (bytes_to_come(t, barrier, &to_come) && word.bytes + to_come > 0);
}

static struct wsdbg_warp_set announcers_of(const struct wsdbg_trial *t, uint32_t barrier)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count && !wsdbg_set_has(&set, agent->warp); k++)
            if (agent->target[k] == barrier && wsdbg_replay_announces(&agent->steps[k]))
                wsdbg_set_add(&set, agent->warp);
    }
    return set;
}

static bool announces_by(const struct wsdbg_replay_agent *agent, uint32_t access, uint32_t barrier)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (agent->target[k] == barrier && agent->steps[k].access == access && wsdbg_replay_announces(&agent->steps[k]))
            return true;
    return false;
}

/* Whether some instruction announces bytes to both barriers. */
static bool are_announced_alike(const struct wsdbg_trial *t, uint32_t barrier, uint32_t other)
{
    for (uint32_t i = 0; i < t->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &t->replay->agents[i];
        for (uint32_t k = 0; k < agent->step_count; k++)
            if (agent->target[k] == barrier && wsdbg_replay_announces(&agent->steps[k]) &&
                announces_by(agent, agent->steps[k].access, other))
                return true;
    }
    return false;
}

typedef bool belongs(const struct wsdbg_trial *t, uint32_t barrier, uint32_t other);

static bool is_of_family(const struct wsdbg_trial *t, uint32_t barrier, uint32_t other)
{
    return wsdbg_replay_is_of_family(t->replay, barrier, other);
}

/* Bytes hold up no phase of the barrier, nor of those that belong to it. */
static bool try_free(struct wsdbg_trial *t, uint32_t barrier, belongs *is_also)
{
    struct wsdbg_repair repair = {.kind = WSDBG_REPAIR_BYTES, .barrier = barrier};
    wsdbg_trial_begin(t);
    t->changes.free_bytes = t->free_bytes;
    for (uint32_t other = 0; other < t->replay->barrier_count; other++)
        t->free_bytes[other] = other == barrier || is_also(t, barrier, other);
    if (!wsdbg_trial_works(t))
        return false;
    repair.warps = announcers_of(t, barrier);
    wsdbg_trial_keep(t, &repair);
    return true;
}

void wsdbg_try_bytes(struct wsdbg_trial *t)
{
    for (uint32_t b = 0; b < t->replay->barrier_count; b++)
        if (wsdbg_trial_is_waited_on(t, b) && is_unbalanced(t, b) &&
            (try_free(t, b, is_of_family) || try_free(t, b, are_announced_alike)))
            return;
}
