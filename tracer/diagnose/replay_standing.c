/* replay_standing.c - runs the replay of a case in all orders: one may end in the picture, or all may fail; or, after a
 * fault, some may end in it.  See replay.h.
 *
 * Reads: parts, warps, barriers and walks of the snapshot.  Writes: the case's replays.
 */
#include "diagnose/replay_likes.h"
#include "diagnose/replay_tokens.h"

enum { ENDED_OF_ORDERS = 4 }; /* at most one of so many orders may finish */
enum { POLLS_MOST = 32 };

/* False where no standstill of a replay looks like the part. */
static bool can_be_reached(const struct wsdbg_case *c, const struct wsdbg_part *part)
{
    switch (part->state) {
    case WSDBG_WARP_WAIT_MBARRIER:
        return part->barrier < c->snapshot->barrier_count && part->parity.known;
    case WSDBG_WARP_WAIT_NAMED:
        return part->barrier < c->snapshot->barrier_count;
    case WSDBG_WARP_WAIT_CLUSTER:
    case WSDBG_WARP_WAIT_WGMMA:
    case WSDBG_WARP_RECONVERGE:
    case WSDBG_WARP_SPIN_GLOBAL:
    case WSDBG_WARP_SPIN_SHARED:
        return true;
    default:
        return false;
    }
}

static bool may_be_explained(const struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t count;
        const struct wsdbg_part *parts = wsdbg_code_parts(c, w, &count);
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED)
            continue;
        for (uint32_t i = 0; i < count; i++)
            if (!can_be_reached(c, &parts[i]))
                return false;
        if (count == 0)
            return false;
    }
    return true;
}

/* How the runs of a replay ended, if none ended in the picture. */
struct outcomes {
    uint32_t ended;                         /* runs that reached the kernel's end */
    uint32_t overflows, barrier;            /* runs that were broken by an arrival too many on the barrier's family */
    enum wsdbg_replay_order overflow_order; /* of one of these: step by step, if that is one */
    uint32_t broken;                        /* ... on any barrier */
    uint32_t unknown;                       /* runs that were broken by anything else, or had no steps left */
    uint32_t stood;                         /* runs that stopped, with all agents where they are known */
    uint32_t alike;                         /* the most agents that one of these runs left as they were seen */
    enum wsdbg_replay_order alike_order;    /* of that run */
};

static void count_overflow(const struct wsdbg_replay *replay, struct outcomes *outcomes)
{
    if (outcomes->overflows && !wsdbg_replay_is_of_family(replay, outcomes->barrier, replay->overflow))
        return;
    if (!outcomes->overflows++ || outcomes->overflow_order != WSDBG_REPLAY_STEP_BY_STEP)
        outcomes->overflow_order = replay->order;
    outcomes->barrier = replay->overflow;
}

static bool has_exited(const struct wsdbg_replay *replay, uint32_t agent)
{
    return wsdbg_case_warp(replay->c, replay->agents[agent].warp)->state == WSDBG_WARP_EXITED;
}

/* How many agents of warps that have not exited were left as they were seen. */
static uint32_t count_alike(const struct wsdbg_replay *replay)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        count += !has_exited(replay, i) && wsdbg_replay_is_as_seen(replay, i);
    return count;
}

static void count_outcome(const struct wsdbg_replay *replay, struct outcomes *outcomes)
{
    outcomes->ended += replay->has_ended;
    outcomes->broken += replay->overflows;
    outcomes->unknown += replay->is_broken && !replay->overflows;
    if (replay->overflows)
        count_overflow(replay, outcomes);
    if (replay->is_broken || replay->has_ended || replay->has_lost)
        return;
    const uint32_t alike = count_alike(replay);
    if (!outcomes->stood++ || alike > outcomes->alike) {
        outcomes->alike = alike;
        outcomes->alike_order = replay->order;
    }
}

static bool is_guessed(const struct wsdbg_replay *replay)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (replay->c->snapshot->walks[replay->agents[i].walk].is_guessed)
            return true;
    return false;
}

/* Whether all that was guessed is which CTA got which number of a counter. */
static bool is_guessed_in_turn(const struct wsdbg_replay *replay)
{
    bool in_turn = true;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_walk_row *walk = &replay->c->snapshot->walks[replay->agents[i].walk];
        in_turn &= !walk->is_guessed || walk->is_in_turn;
    }
    return in_turn;
}

/* Whether nearly each run failed, and one of them stopped about where the kernel did: most agents are as they were
 * seen. What ends in some orders is a race: a parity that is wrong lets a wait through that should hold. */
static bool fails_alike(const struct wsdbg_replay *replay, const struct outcomes *outcomes)
{
    uint32_t agents = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        agents += !has_exited(replay, i);
    return ENDED_OF_ORDERS * outcomes->ended <= WSDBG_REPLAY_ORDERS && 2 * outcomes->alike > agents;
}

/* Whether each run came to its end or failed, and some stopped. */
static bool are_known(const struct outcomes *outcomes)
{
    return outcomes->stood && outcomes->stood + outcomes->overflows + outcomes->ended == WSDBG_REPLAY_ORDERS;
}

/* Whether each run failed, and some stopped. */
static bool never_ends(const struct outcomes *outcomes)
{
    return outcomes->stood && outcomes->stood + outcomes->broken == WSDBG_REPLAY_ORDERS;
}

/* Keeps a replay that does not end in the picture if its runs fail nevertheless.  What is guessed counts only if it
 * leads to the very picture; but most mistakes fail whichever CTA got which number of a counter. */
static bool keep_failing(struct wsdbg_case *c, struct wsdbg_replay *replay, const struct outcomes *outcomes)
{
    const bool overflows =
        outcomes->overflows && outcomes->overflows + outcomes->ended == (uint32_t)WSDBG_REPLAY_ORDERS;
    const bool is_alike = are_known(outcomes) && fails_alike(replay, outcomes);
    if (!is_guessed_in_turn(replay) || (!overflows && !is_alike && !never_ends(outcomes)))
        return false;
    replay->steps_left = WSDBG_REPLAY_STEPS;
    wsdbg_replay_run(replay, overflows ? outcomes->overflow_order : outcomes->alike_order, NULL);
    if (replay->is_broken && !replay->overflows)
        return false;
    replay->orders = WSDBG_REPLAY_ORDERS;
    replay->overflow_runs = outcomes->overflows;
    replay->ended_runs = outcomes->ended;
    replay->is_unlike = !overflows && !is_alike;
    replay->is_guessed = is_guessed(replay);
    c->failing = replay;
    return true;
}

/* Whether the replay ends in the picture in some order; counts the outcomes until then.  `outcomes` may be NULL. */
static bool ends_in_picture(struct wsdbg_replay *replay, struct outcomes *outcomes)
{
    for (uint32_t order = 0; order < WSDBG_REPLAY_ALL_ORDERS; order++) {
        wsdbg_replay_run(replay, order, NULL);
        if (wsdbg_replay_is_picture(replay))
            return true;
        if (outcomes && order < WSDBG_REPLAY_ORDERS)
            count_outcome(replay, outcomes);
    }
    return false;
}

/* How many waits by token of the agent's warpgroup explain the picture, each alone, if they name the token of an
 * earlier arrival than the last one.  *first: the number of the first of them. */
static uint32_t count_stale_waits(struct wsdbg_replay *replay, uint32_t leader, uint32_t *first)
{
    uint32_t count = 0;
    for (uint32_t n = 0; replay->steps_left && wsdbg_replay_assume_stale(replay, leader, n); n++) {
        if (!ends_in_picture(replay, NULL) || !wsdbg_replay_waits_where_seen(replay))
            continue;
        *first = count++ ? *first : n;
    }
    return count;
}

/* Whether the replay ends in the picture if one wait names the token of an earlier arrival than the last one.  Where it
 * does so with waits of several warpgroups, or no steps were left to try all, it is not known who is wrong. */
static bool stands_by_stale_token(struct wsdbg_replay *replay)
{
    uint32_t leaders = 0, leader = 0, number = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        uint32_t first;
        const uint32_t waits = wsdbg_replay_leads_waiters(replay, i) ? count_stale_waits(replay, i, &first) : 0;
        if (waits == 0)
            continue;
        leaders++;
        leader = i;
        number = first;
        replay->stale_waits = waits;
    }
    if (leaders == 1 && replay->steps_left && wsdbg_replay_assume_stale(replay, leader, number) &&
        ends_in_picture(replay, NULL))
        return true;
    wsdbg_replay_assume_fresh(replay);
    return false;
}

/* Whether the walk of some agent that was seen in a poll rests on what global memory holds now.  What it does behind
 * the poll may depend on what is written by then, and nobody knows that yet. */
static bool has_loaded_at_poll(const struct wsdbg_replay *replay)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (wsdbg_replay_was_seen_polling(replay, &replay->agents[i]) &&
            replay->c->snapshot->walks[replay->agents[i].walk].has_loaded)
            return true;
    return false;
}

/* Whether runs end in the picture if those that were seen in a poll stay at the same poll of their walks.  Asked only
 * where no run comes to an end even though all polls end: then the polls are not what keeps the kernel from it. */
static bool stands_at_polls(struct wsdbg_replay *replay)
{
    bool is_there = !has_loaded_at_poll(replay);
    for (uint32_t n = 0; n < POLLS_MOST && is_there && replay->steps_left; n++) {
        replay->held_poll = n;
        if (ends_in_picture(replay, NULL))
            return true;
        is_there = false;
        for (uint32_t i = 0; i < replay->agent_count; i++)
            is_there |= replay->agents[i].held_at != WSDBG_NONE;
    }
    replay->held_poll = WSDBG_NONE;
    return false;
}

static struct wsdbg_error *find_standing(struct wsdbg_case *c)
{
    struct wsdbg_replay *replay;
    struct outcomes outcomes = {.barrier = WSDBG_NONE};
    struct wsdbg_error *error = wsdbg_replay_create(c, &replay);
    if (error || !replay)
        return error;
    bool stands = ends_in_picture(replay, &outcomes);
    for (enum wsdbg_replay_shares shares = WSDBG_SHARES_EQUAL + 1; !stands && shares < WSDBG_SHARES_KINDS; shares++)
        stands = wsdbg_replay_share_bytes(replay, shares) && ends_in_picture(replay, NULL);
    if (!stands)
        wsdbg_replay_share_bytes(replay, WSDBG_SHARES_EQUAL);
    stands = stands || stands_by_stale_token(replay) || (never_ends(&outcomes) && stands_at_polls(replay));
    if (stands) {
        c->standing = replay;
        return NULL;
    }
    c->ends_elsewhere = replay->steps_left != 0;
    if (!keep_failing(c, replay, &outcomes))
        wsdbg_replay_destroy(replay);
    return NULL;
}

static void replay_once(struct wsdbg_case *c)
{
    if (!c->was_replayed && may_be_explained(c) && find_standing(c))
        c->no_memory = true;
    c->was_replayed = true;
}

struct wsdbg_replay *wsdbg_replay_standing(struct wsdbg_case *c)
{
    replay_once(c);
    return c->standing;
}

struct wsdbg_replay *wsdbg_replay_failing(struct wsdbg_case *c)
{
    replay_once(c);
    return c->failing;
}

bool wsdbg_replay_stands_at_polls(const struct wsdbg_case *c)
{
    return c->standing && c->standing->held_poll != WSDBG_NONE;
}

/* ---- after a fault ---- */

/* Whether some runs were broken by an arrival too many on the family of `row`, and no run by anything else. */
static bool faults_at(const struct wsdbg_replay *replay, const struct outcomes *outcomes, uint32_t row)
{
    if (!outcomes->overflows || outcomes->overflows != outcomes->broken || outcomes->unknown)
        return false;
    for (uint32_t b = 0; b < replay->barrier_count; b++)
        if (replay->barriers[b].row == row)
            return wsdbg_replay_is_of_family(replay, b, outcomes->barrier);
    return false;
}

struct wsdbg_replay *wsdbg_replay_faulting(struct wsdbg_case *c, uint32_t row)
{
    struct wsdbg_replay *replay;
    struct outcomes outcomes = {.barrier = WSDBG_NONE};
    if (wsdbg_replay_create(c, &replay)) {
        c->no_memory = true;
        return NULL;
    }
    for (uint32_t order = 0; order < WSDBG_REPLAY_ALL_ORDERS && replay; order++) {
        wsdbg_replay_run(replay, order, NULL);
        count_outcome(replay, &outcomes);
    }
    if (!replay || is_guessed(replay) || !faults_at(replay, &outcomes, row)) {
        wsdbg_replay_destroy(replay);
        return NULL;
    }
    replay->steps_left = WSDBG_REPLAY_STEPS;
    wsdbg_replay_run(replay, outcomes.overflow_order, NULL);
    replay->orders = WSDBG_REPLAY_ALL_ORDERS;
    replay->overflow_runs = outcomes.overflows;
    replay->ended_runs = outcomes.ended;
    c->failing = replay;
    return replay;
}
