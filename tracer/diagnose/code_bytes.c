/* code_bytes.c - see code_bytes.h.
 *
 * Reads: barrier words, accesses, reaches, names.
 */
#include "diagnose/code_bytes.h"

#include "diagnose/phrase.h"

#define RANKS_MAX 16u /* bits of a multicast mask */

/* An instruction of these kinds of the grid's code that may be on the barrier. */
static bool may_be_on(const struct wsdbg_case *c, const struct wsdbg_access_row *access, wsdbg_access_kinds kinds,
                      uint32_t barrier)
{
    return access->grid == c->grid && wsdbg_is_of_kinds(access->kind, kinds) &&
           wsdbg_access_match(c, access, barrier) != WSDBG_MATCH_NO;
}

/* ---- one phase ---- */

struct wsdbg_optional_u32 wsdbg_bytes_announced(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word)
{
    const struct wsdbg_optional_u32 unknown = {0};
    struct wsdbg_optional_u32 bytes = unknown;
    uint32_t found = 0, steps = 0;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (!may_be_on(c, access, WSDBG_KINDS_EXPECT, word->barrier))
            continue;
        if (!access->certain || (found > 0 && access->count.value != bytes.value))
            return unknown;
        bytes = access->count;
        found++;
        steps += access->kind == WSDBG_ACCESS_EXPECT;
    }
    /* Without an arrival it may be a part of what a phase announces. */
    return word->expected == 1 && (found == 1 || steps == 0) ? bytes : unknown;
}

struct wsdbg_optional_u32 wsdbg_bytes_of_copy(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word)
{
    const struct wsdbg_access_row *only = NULL;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (!may_be_on(c, access, WSDBG_KINDS_BYTES, word->barrier))
            continue;
        if (only || !access->certain || access->any_rank)
            return (struct wsdbg_optional_u32){0};
        only = access;
    }
    return only ? only->count : (struct wsdbg_optional_u32){0};
}

struct wsdbg_warp_set wsdbg_bytes_announcers(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word)
{
    struct wsdbg_warp_set set = wsdbg_code_able(c, WSDBG_KINDS_EXPECT, word->barrier, WSDBG_CAN);
    for (uint32_t w = 0; w < c->warp_count && wsdbg_set_count(&set) == 0; w++)
        if (wsdbg_code_behind(c, w, WSDBG_KINDS_EXPECT, word->barrier, NULL) > 0)
            wsdbg_set_add(&set, w);
    return set;
}

/* Whether a warp stands at a wait that ends a turn (machine/look_turns.c), or has left.  Then it has made the copies
 * that belong to its last announcement. */
static bool is_between_turns(enum wsdbg_warp_state state)
{
    return state == WSDBG_WARP_EXITED || state == WSDBG_WARP_WAIT_MBARRIER || state == WSDBG_WARP_WAIT_NAMED ||
           state == WSDBG_WARP_WAIT_CLUSTER;
}

bool wsdbg_bytes_are_final(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word)
{
    const wsdbg_access_kinds kinds = WSDBG_KINDS_BYTES | WSDBG_KIND(WSDBG_ACCESS_EXPECT);
    bool any = false;
    if (!c->still || word->pending > 0)
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (!is_between_turns(wsdbg_case_warp(c, w)->state))
            return false;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (!may_be_on(c, access, kinds, word->barrier))
            continue;
        if (!access->comes_with_arrival)
            return false;
        any = true;
    }
    return any;
}

/* ---- other barriers of the CTA ---- */

bool wsdbg_bytes_elsewhere(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word,
                           struct wsdbg_barrier_word *out)
{
    const struct wsdbg_barrier *mine = &c->snapshot->barriers[word->barrier];
    bool found = false;
    for (uint32_t b = 0; b < c->snapshot->barrier_count; b++) {
        const struct wsdbg_barrier *row = &c->snapshot->barriers[b];
        struct wsdbg_barrier_word other;
        if (row->cta != mine->cta || (found && row->id != mine->id) || !wsdbg_word_of(c, b, &other))
            continue;
        if (word->bytes > 0 ? other.bytes >= 0 : other.bytes <= 0 || other.pending > 0)
            continue;
        *out = other;
        found = true;
        if (row->id == mine->id)
            return true;
    }
    return found;
}

/* ---- the other CTAs of the cluster ---- */

/* The same stage of another CTA of the case: *out is its word. */
static bool peer_word(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word, uint32_t cta,
                      struct wsdbg_barrier_word *out)
{
    const struct wsdbg_barrier *mine = &c->snapshot->barriers[word->barrier];
    for (uint32_t b = 0; b < c->snapshot->barrier_count; b++) {
        const struct wsdbg_barrier *row = &c->snapshot->barriers[b];
        if (row->cta == cta && row->id == mine->id && row->stage == mine->stage && wsdbg_word_of(c, b, out))
            return true;
    }
    return false;
}

static bool uses(const struct wsdbg_snapshot *s, const struct wsdbg_walk_row *walk, const struct wsdbg_barrier *barrier)
{
    for (uint32_t k = 0; k < walk->step_count; k++) {
        const struct wsdbg_step_row *step = &s->steps[walk->step_first + k];
        const bool is_own = step->rank == WSDBG_STEP_OWN_RANK || step->rank == s->ctas[barrier->cta].cluster_rank;
        if (is_own && step->address == barrier->shared_offset.value && step->kind != WSDBG_ACCESS_INIT &&
            wsdbg_is_mbarrier_access(step->kind))
            return true;
    }
    return false;
}

/* Whether walks show that no thread of its own CTA ever uses the barrier, as where one rank of a cluster sends and the
 * other one receives. */
static bool is_never_used(const struct wsdbg_case *c, uint32_t number)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    const struct wsdbg_barrier *barrier = &s->barriers[number];
    const struct wsdbg_cta *cta = &s->ctas[barrier->cta];
    uint32_t walked = 0;
    for (size_t i = 0; i < s->walk_count; i++) {
        const struct wsdbg_walk_row *walk = &s->walks[i];
        if (walk->warp - cta->warp_first >= cta->warp_count)
            continue;
        if (!walk->is_whole || uses(s, walk, barrier))
            return false;
        walked += i == 0 || s->walks[i - 1].warp != walk->warp; /* the rows of a warp follow one another */
    }
    return barrier->shared_offset.known && walked == cta->warp_count;
}

/* The CTA has come as far as `word` in the round: *missing is what it lacks of it.  One that is in the other phase and
 * has not touched it has ended the round, if it uses it at all: it took part in the one before, which ended here. */
static bool has_come(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word, uint32_t cta, int64_t *missing)
{
    struct wsdbg_barrier_word other;
    if (!peer_word(c, word, cta, &other))
        return false;
    *missing = other.phase == word->phase ? other.bytes : 0;
    return other.phase == word->phase ? other.pending == 0 : other.untouched && !is_never_used(c, other.barrier);
}

/* Whether the warp stands between its announcement and a copy that may be on the barrier: at a wait from which it can
 * come to the copy before it announces more there. */
static bool has_copy_ahead(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    for (size_t i = 0; row->state == WSDBG_WARP_WAIT_MBARRIER && i < c->snapshot->answer_count; i++) {
        const struct wsdbg_answer_row *answer = &c->snapshot->answers[i];
        if (answer->is_bare && c->snapshot->accesses[answer->wait].site == row->site &&
            c->snapshot->accesses[answer->arrival].kind == WSDBG_ACCESS_COPY &&
            !c->snapshot->accesses[answer->arrival].comes_with_arrival &&
            wsdbg_access_match(c, &c->snapshot->accesses[answer->arrival], barrier) != WSDBG_MATCH_NO)
            return true;
    }
    return false;
}

/* Whether a warp of the barrier's CTA has made the copies of what it announced on the barrier: so it cannot bring more
 * to this phase. */
static bool has_copied(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    return wsdbg_code_can(c, warp, WSDBG_KINDS_EXPECT, barrier, NULL) != WSDBG_CAN_NOT &&
           !has_copy_ahead(c, warp, barrier);
}

enum wsdbg_bringers wsdbg_bytes_bringers(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word,
                                         uint32_t *first)
{
    const uint32_t cta = c->snapshot->barriers[word->barrier].cta;
    enum wsdbg_bringers answer = WSDBG_BRINGERS_NONE;
    *first = WSDBG_NONE;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word waited;
        int64_t missing;
        if (wsdbg_code_can(c, w, WSDBG_KINDS_BYTES, word->barrier, NULL) == WSDBG_CAN_NOT)
            continue;
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        /* A warp at the cluster barrier may wait there until all CTAs have announced their bytes, and then send some.
         */
        if (row->cta == cta ? has_copied(c, w, word->barrier)
                            : row->state != WSDBG_WARP_WAIT_CLUSTER && has_come(c, word, row->cta, &missing))
            continue;
        *first = *first == WSDBG_NONE ? w : *first;
        if (!wsdbg_code_wait(c, w, &waited) || waited.barrier != word->barrier)
            return WSDBG_BRINGERS_MAY;
        answer = WSDBG_BRINGERS_WAIT_FOR_IT;
    }
    return answer;
}

/* A copy that brings the same bytes to both ranks, or to that which issues it. */
static bool is_even(const struct wsdbg_access_row *access, uint32_t rank, uint32_t other)
{
    if (!access->certain || !access->count.known)
        return false;
    if (!access->any_rank)
        return true;
    return access->mask.known && rank < RANKS_MAX && other < RANKS_MAX &&
           (access->mask.value >> rank & 1) == (access->mask.value >> other & 1);
}

/* Whether some copy that may be on the barrier goes to other CTAs, and whether each treats the two ranks alike. */
static bool copies_cross(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word, struct wsdbg_peer *peer)
{
    const uint32_t cta = c->snapshot->barriers[word->barrier].cta, other = c->snapshot->barriers[peer->barrier].cta;
    peer->by_itself = wsdbg_bytes_announced(c, word).known;
    peer->copy = WSDBG_NONE;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (!may_be_on(c, access, WSDBG_KINDS_BYTES, word->barrier))
            continue;
        if (access->any_rank && peer->copy == WSDBG_NONE)
            peer->copy = i;
        peer->by_itself = peer->by_itself &&
                          is_even(access, c->snapshot->ctas[cta].cluster_rank, c->snapshot->ctas[other].cluster_rank);
    }
    return peer->copy != WSDBG_NONE;
}

bool wsdbg_bytes_wait_for_rank(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word)
{
    const uint32_t cta = c->snapshot->barriers[word->barrier].cta;
    for (uint32_t k = 0; k < c->cta_count; k++) {
        struct wsdbg_barrier_word other;
        struct wsdbg_peer peer;
        if (c->ctas[k] == cta || !peer_word(c, word, c->ctas[k], &other) || other.phase != word->phase ||
            other.pending == 0)
            continue;
        peer.barrier = other.barrier;
        return copies_cross(c, word, &peer);
    }
    return false;
}

bool wsdbg_bytes_peer(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word, struct wsdbg_peer *peer)
{
    const uint32_t cta = c->snapshot->barriers[word->barrier].cta;
    for (uint32_t k = 0; k < c->cta_count; k++) {
        struct wsdbg_barrier_word other;
        if (c->ctas[k] == cta || !has_come(c, word, c->ctas[k], &peer->bytes) || peer->bytes == word->bytes ||
            !peer_word(c, word, c->ctas[k], &other))
            continue;
        peer->barrier = other.barrier;
        return copies_cross(c, word, peer);
    }
    return false;
}
