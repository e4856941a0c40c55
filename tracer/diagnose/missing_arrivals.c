/* missing_arrivals.c - who could make the arrivals that a wait still needs.  See missing_arrivals.h.
 *
 * Reads: barrier words, reaches, the wait graph.
 */
#include "diagnose/missing_arrivals.h"

#include "diagnose/arrivals_per_round.h"
#include "diagnose/code_say.h"
#include "diagnose/wait_graph.h"

#define WITHOUT_END 255u /* in a loop */

static void read_others(const struct wsdbg_case *c, struct wsdbg_missing_arrivals *missing)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED) {
            const enum wsdbg_can could = wsdbg_code_could(c, w, WSDBG_KINDS_ARRIVAL, missing->word.barrier);
            if (could != WSDBG_CAN_NOT)
                wsdbg_set_add(&missing->left, w);
            missing->left_known = missing->left_known && could != WSDBG_CAN_DOUBTFUL;
            continue;
        }
        uint32_t times;
        if (w == missing->warp || wsdbg_code_behind(c, w, WSDBG_KINDS_ARRIVAL, missing->word.barrier, &times) == 0)
            continue;
        wsdbg_set_add(&missing->past, w);
        if (times == WITHOUT_END)
            wsdbg_set_add(&missing->done, w);
    }
}

/* The lanes of the warp that were seen in this wait. */
static uint32_t waiting_lanes(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    uint32_t count, lanes = 0;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, missing->warp, &count);
    for (uint32_t i = 0; i < count; i++)
        lanes |= parts[i].barrier == missing->word.barrier ? parts[i].lanes : 0;
    return lanes;
}

static bool has_arrival_at(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk, uint32_t offset)
{
    for (uint32_t k = 0; k < walk->step_count; k++) {
        const struct wsdbg_step_row *step = &c->snapshot->steps[walk->step_first + k];
        if (wsdbg_is_of_kinds(step->kind, WSDBG_KINDS_ARRIVAL) && step->address == offset)
            return true;
    }
    return false;
}

/* Whether the walks of all lanes of the warp that are not in this wait are known, and none of them arrives on the
 * barrier, nor on the same one of another CTA. */
static bool others_never_arrive(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    const struct wsdbg_barrier *row = &s->barriers[missing->word.barrier];
    const uint32_t waiting = waiting_lanes(c, missing);
    uint32_t known = waiting;
    for (size_t i = 0; i < s->walk_count; i++) {
        if (s->walks[i].warp != c->warps[missing->warp] || !(s->walks[i].lanes & ~waiting))
            continue;
        if (!s->walks[i].is_whole || s->walks[i].is_guessed ||
            has_arrival_at(c, &s->walks[i], row->shared_offset.value))
            return false;
        known |= s->walks[i].lanes;
    }
    return row->shared_offset.known && waiting && known == UINT32_MAX;
}

/* Whether lanes of the warp that are not in this wait can arrive.  An arrival of one lane may be that of a lane which
 * waits. */
static enum wsdbg_can can_apart(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, missing->warp, &count);
    enum wsdbg_can can = count ? WSDBG_CAN_NOT : missing->itself;
    if (others_never_arrive(c, missing))
        return WSDBG_CAN_NOT;
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        if (!access || reaches[i].after_apart == 0 || !wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_ARRIVAL))
            continue;
        const enum wsdbg_match match = wsdbg_access_match(c, access, missing->word.barrier);
        if (match >= WSDBG_MATCH_MAY && reaches[i].after_apart > 1 && access->lanes != WSDBG_LANES_ONE)
            return WSDBG_CAN;
        can = match == WSDBG_MATCH_NO ? can : WSDBG_CAN_DOUBTFUL;
    }
    return can;
}

bool wsdbg_missing_arrivals_read(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_missing_arrivals *missing)
{
    *missing = (struct wsdbg_missing_arrivals){.warp = warp, .left_known = true};
    if (!wsdbg_case_stuck(c, warp) || !wsdbg_code_wait(c, warp, &missing->word) || missing->word.pending == 0)
        return false;
    const uint32_t barrier = missing->word.barrier;
    missing->made = missing->word.expected > missing->word.pending ? missing->word.expected - missing->word.pending : 0;
    missing->able = wsdbg_code_able(c, WSDBG_KINDS_ARRIVAL, barrier, WSDBG_CAN_DOUBTFUL);
    wsdbg_set_remove(&missing->able, warp);
    missing->itself = wsdbg_code_can(c, warp, WSDBG_KINDS_ARRIVAL, barrier, NULL);
    missing->apart = can_apart(c, missing);
    missing->in_code = wsdbg_code_has(c, WSDBG_KINDS_ARRIVAL, barrier, &missing->arrives);
    missing->peers_gone = wsdbg_case_ctas_left(c);
    read_others(c, missing);
    missing->exited = wsdbg_set_count(&missing->left);
    return true;
}

/* They need not meet the others again: they wait for memory. */
static bool some_lanes_poll(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (wsdbg_warp_state_polls(parts[i].state))
            return true;
    return false;
}

bool wsdbg_missing_arrivals_is_in_parts(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    return wsdbg_case_warp(c, missing->warp)->part_count > 1 && !some_lanes_poll(c, missing->warp) &&
           (missing->apart == WSDBG_CAN || (missing->apart == WSDBG_CAN_DOUBTFUL && missing->exited == 0));
}

bool wsdbg_missing_arrivals_others_meet(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, missing->warp);
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, missing->warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].state != WSDBG_WARP_RECONVERGE &&
            (parts[i].state != row->state || parts[i].barrier != row->barrier || !parts[i].parity.known ||
             parts[i].parity.value != row->parity.value))
            return false;
    return true;
}

bool wsdbg_missing_arrivals_ever_completed(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    struct wsdbg_barrier_word word;
    for (uint32_t at = 0; wsdbg_word_next(c, missing->word.barrier, &at, &word);)
        if (word.phase != 0)
            return true;
    return false;
}

bool wsdbg_missing_arrivals_may_be_remote(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (access->grid == c->grid && access->any_rank && wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_ARRIVAL) &&
            wsdbg_access_match(c, access, missing->word.barrier) >= WSDBG_MATCH_MAY)
            return true;
    }
    return false;
}

/* Some warp stands elsewhere and has come through a wait on the barrier: a phase of it may be over. */
static bool some_came_through(const struct wsdbg_case *c, uint32_t barrier)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t count;
        const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, w, &count);
        for (uint32_t i = 0; i < count && wsdbg_case_warp(c, w)->barrier != barrier; i++) {
            const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
            if (access && access->kind == WSDBG_ACCESS_WAIT && reaches[i].before_known && reaches[i].before_least > 0 &&
                wsdbg_access_is_near(c, w, access, barrier) &&
                wsdbg_access_match(c, access, barrier) == WSDBG_MATCH_ONE)
                return true;
        }
    }
    return false;
}

bool wsdbg_missing_arrivals_may_have_completed(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    return wsdbg_missing_arrivals_ever_completed(c, missing) || some_came_through(c, missing->word.barrier);
}

/* Some exited warps never reached the arrival, and have the same places in other warpgroups as those that did. True
 * if one arrival of each of them is as much as is missing: then they may be meant, too. */
static bool others_may_be_meant(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    uint64_t like = 0;
    for (uint32_t w = 0; w < c->warp_count; w++)
        for (uint32_t v = 0; v < c->warp_count; v++) {
            const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w), *other = wsdbg_case_warp(c, v);
            if (row->state != WSDBG_WARP_EXITED || wsdbg_set_has(&missing->left, w) ||
                !wsdbg_set_has(&missing->left, v) || row->cta != other->cta ||
                row->warp % WSDBG_GROUP_WARPS != other->warp % WSDBG_GROUP_WARPS)
                continue;
            like++;
            break;
        }
    return like * missing->made == (uint64_t)missing->word.pending * missing->exited;
}

bool wsdbg_missing_arrivals_are_all_made(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_arrivals_per_round per_round =
        wsdbg_arrivals_per_round_of(c, &missing->left, missing->word.barrier);
    unsigned lanes;
    return missing->exited > 0 && missing->left_known && missing->word.phase == 0 && missing->peers_gone == 0 &&
           wsdbg_set_count(&missing->past) == 0 &&
           wsdbg_code_could(c, missing->warp, WSDBG_KINDS_ARRIVAL, missing->word.barrier) != WSDBG_CAN &&
           per_round.bounded && wsdbg_arrivals_per_round_fit(&per_round, missing->made, &lanes) &&
           !others_may_be_meant(c, missing);
}

bool wsdbg_missing_arrivals_may_come_behind_bytes(const struct wsdbg_case *c,
                                                  const struct wsdbg_missing_arrivals *missing)
{
    struct wsdbg_warp_set held = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word word;
        if (wsdbg_set_has(&missing->able, w) && wsdbg_code_wait(c, w, &word) && word.barrier != missing->word.barrier &&
            word.pending == 0 && word.bytes > 0)
            wsdbg_set_add(&held, w);
    }
    const struct wsdbg_arrivals_per_round per_round = wsdbg_arrivals_per_round_of(c, &held, missing->word.barrier);
    return wsdbg_set_count(&held) > 0 && per_round.by_lanes[1] >= missing->word.pending;
}

struct wsdbg_finding *wsdbg_missing_arrivals_find(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                                                  enum wsdbg_cause cause, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, cause, confidence, wsdbg_case_warp(c, missing->warp)->cta, missing->word.barrier);
    wsdbg_tell_wait(c, finding, missing->warp);
    wsdbg_tell_word(c, finding, missing->word.barrier);
    return finding;
}
