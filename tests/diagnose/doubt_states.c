/* doubt_states.c - pictures of which one thing is not known, each beside one of which it is known.  See doubt_states.h.
 */
#include "doubt_states.h"

#include <stdlib.h>

#include "device.h"
#include "gemm_shape.h"

struct wsdbg_reach *doubt_reach_of(struct picture *p, uint32_t warp, uint32_t access)
{
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp == warp && p->pending[i].access == access)
            return &p->pending[i];
    must(false);
    return NULL;
}

/* ---- a sync of one role ---- */

void doubt_stand_at_sync(struct picture *p, uint32_t first_warp, uint32_t last_warp)
{
    picture_wait(p, first_warp, last_warp, WSDBG_WARP_WAIT_NAMED, picture_object(p, WSDBG_BARRIER_NAMED, 0), 0);
    picture_count(p, first_warp, last_warp, 0);
}

enum { IN_ROLE = 0 }; /* access */

/* The first `of_role` warps of eight came through a block-wide sync that the others never reach.  So those met them
 * there at the last sync, and have left. */
static void sync_of_some(struct picture *p, uint32_t of_role)
{
    picture_init(p, 1, 8, 32);
    const uint32_t in_role = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    must(in_role == IN_ROLE);
    picture_reach(p, 0, of_role - 1, in_role, 1, 1, 0);
    picture_reach(p, 0, of_role - 1, last, 1, 1, 0);
    picture_reach(p, of_role, 7, in_role, 0, 0, 0);
    picture_reach(p, of_role, 7, last, 1, 1, 0);
    picture_exit(p, of_role, 7);
    doubt_stand_at_sync(p, 0, of_role - 1);
}

/* The others are a warpgroup of their own. */
void sync_in_role(struct picture *p)
{
    sync_of_some(p, 4);
}

/* One warp of a warpgroup passed it by. */
void sync_left_out(struct picture *p)
{
    sync_of_some(p, 7);
}

/* That warp is known to have a role of its own. */
void sync_left_out_by_role(struct picture *p)
{
    sync_of_some(p, 7);
    picture_role(p, ROLE_CONSUMER_0, "consumer", 0, 6);
    picture_role(p, ROLE_PRODUCER, "producer", 7, 7);
}

void sync_of_unknown_id(struct picture *p)
{
    sync_in_role(p);
    p->snapshot.accesses[IN_ROLE].address.known = p->snapshot.accesses[IN_ROLE].certain = false;
}

void sync_of_two_warps(struct picture *p)
{
    sync_in_role(p);
    p->snapshot.accesses[IN_ROLE].count = wsdbg_known_u32(64);
}

void arrival_in_role(struct picture *p)
{
    sync_in_role(p);
    p->snapshot.accesses[IN_ROLE].kind = WSDBG_ACCESS_NAMED_ARRIVE;
}

/* Not one that made them wait. */
void sync_ahead(struct picture *p)
{
    sync_in_role(p);
    for (uint32_t warp = 0; warp < 4; warp++) {
        doubt_reach_of(p, warp, IN_ROLE)->before_least = doubt_reach_of(p, warp, IN_ROLE)->before_most = 0;
        doubt_reach_of(p, warp, IN_ROLE)->after = 2;
    }
}

/* ---- a sync in the branch of one role, which the others wait for ---- */

enum { RELEASE, OWN_SYNC }; /* accesses */

/* Warps 2 and 3 wait for arrivals that warps 0 and 1 make behind a block-wide sync. */
void sync_before_arrivals(struct picture *p)
{
    picture_init(p, 1, 4, 32);
    const uint32_t bar = picture_mbarrier(p, FULL, 0, 0, 64, 64, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ALL);
    const uint32_t own = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, arrive, 0, 0, 2);
    picture_reach(p, 2, 3, own, 0, 0, 2);
    picture_wait(p, 2, 3, MBARRIER_WAIT, bar, 0);
    doubt_stand_at_sync(p, 0, 1);
}

void way_to_sync_unknown(struct picture *p)
{
    sync_before_arrivals(p);
    size_t kept = 0;
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].access != OWN_SYNC)
            p->pending[kept++] = p->pending[i];
    p->pending_count = kept;
}

/* Both syncs are one line of a function, inlined at these lines. */
static void inline_syncs(struct picture *p, uint32_t of_waiting, uint32_t of_others)
{
    sync_before_arrivals(p);
    struct wsdbg_site *waiting = &p->snapshot.sites[p->snapshot.warps[0].site];
    struct wsdbg_site *others = &p->snapshot.sites[p->snapshot.accesses[OWN_SYNC].site];
    waiting->line = others->line = wsdbg_known_u32(7);
    waiting->inlined_at = p->snapshot.warps[2].site;
    others->inlined_at = p->snapshot.accesses[RELEASE].site;
    p->snapshot.sites[waiting->inlined_at].line = wsdbg_known_u32(of_waiting);
    p->snapshot.sites[others->inlined_at].line = wsdbg_known_u32(of_others);
}

void sync_of_one_call(struct picture *p)
{
    inline_syncs(p, 50, 50);
}

void sync_of_two_calls(struct picture *p)
{
    inline_syncs(p, 50, 60);
}

/* ---- thread counts that were named before ---- */

/* Two groups hand over by one id.  The second has left, and came through an instruction with another count. */
void count_named_before(struct picture *p)
{
    picture_init(p, 1, 8, 32);
    const uint32_t sync = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 1, 1, 256, WSDBG_LANES_ALL);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_NAMED_ARRIVE, 1, 1, 256, WSDBG_LANES_ALL);
    const uint32_t other = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 1, 1, 128, WSDBG_LANES_ALL);
    picture_reach(p, 0, 3, sync, 1, 255, 2);
    picture_reach(p, 4, 7, arrive, 1, 255, 0);
    picture_reach(p, 4, 7, other, 1, 255, 0);
    picture_exit(p, 4, 7);
    picture_wait(p, 0, 3, WSDBG_WARP_WAIT_NAMED, picture_object(p, WSDBG_BARRIER_NAMED, 1), 0);
    picture_count(p, 0, 3, 256);
}

void count_named_perhaps(struct picture *p)
{
    count_named_before(p);
    for (uint32_t warp = 4; warp < 8; warp++)
        doubt_reach_of(p, warp, 2)->before_least = 0;
}

/* ---- bytes announced without an arrival ---- */

static void slot_without_arrival(struct picture *p, uint32_t *wait, uint32_t *expect, struct gemm *g)
{
    *g = gemm_picture(p, &full_unused, &empty_unused);
    *wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, WSDBG_LANES_ONE);
    *expect = picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, 0), STAGES, BYTES, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, *wait, 1, 255, 2);
    picture_reach(p, 0, 0, *expect, 0, 255, 2);
    both_wait(p, g->empty[0], 0, g->full[0], 0);
}

void announced_in_loop(struct picture *p)
{
    uint32_t wait, expect;
    struct gemm g;
    slot_without_arrival(p, &wait, &expect, &g);
    picture_bare_expect(p, wait, expect);
}

/* Announced with an arrival; the copy lies behind another wait for the slot, past which no bytes are announced. */
void copied_behind_a_wait(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, WSDBG_LANES_ONE);
    const uint32_t copy = picture_access(p, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, 0), STAGES, BYTES, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, wait, 1, 255, 2);
    picture_reach(p, 0, 0, copy, 0, 255, 2);
    picture_bare_expect(p, wait, copy);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* Warp 1 fills slots, too, and waits for the same one: it is through with its last round. */
void announced_by_two(struct picture *p)
{
    uint32_t wait, expect;
    struct gemm g;
    slot_without_arrival(p, &wait, &expect, &g);
    picture_bare_expect(p, wait, expect);
    picture_reach(p, 1, 1, g.expect, 0, 255, 2);
    picture_wait(p, 1, 1, MBARRIER_WAIT, g.empty[0], 0);
}

/* Of this wait it could not be followed what comes behind it; of others it could. */
void announced_where_unknown(struct picture *p)
{
    uint32_t wait, expect;
    struct gemm g;
    slot_without_arrival(p, &wait, &expect, &g);
    const uint32_t other = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ALL);
    picture_reach(p, 4, 11, other, 1, 255, 2);
    picture_answer(p, other, g.release);
}

/* Whoever comes through the wait arrives, too. */
void announced_and_arrived(struct picture *p)
{
    uint32_t wait, expect;
    struct gemm g;
    slot_without_arrival(p, &wait, &expect, &g);
    picture_answer(p, wait, g.expect);
}

/* The consumers come to a place where they may arrive on "full". */
void announced_for_another(struct picture *p)
{
    announced_in_loop(p);
    const uint32_t arrive =
        picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, 0), STAGES, BYTES, WSDBG_LANES_ONE);
    picture_reach(p, 4, 11, arrive, 0, 255, 1);
}

/* ---- a count that is too high ---- */

/* Each of eight consumers has arrived on "empty"; `expected` are counted. */
static struct gemm all_have_arrived(struct picture *p, uint32_t expected)
{
    const struct gemm g = gemm_picture(p, &full_filled, &empty_unused);
    for (size_t b = 0; b < p->snapshot.barrier_count; b++)
        if (p->snapshot.barriers[b].kind == WSDBG_BARRIER_MBARRIER && p->snapshot.barriers[b].id == EMPTY) {
            p->snapshot.barriers[b].expected_arrivals = wsdbg_known_u32(expected);
            p->snapshot.barriers[b].pending_arrivals = wsdbg_known_u32(expected - 8);
        }
    for (uint32_t i = 0; i < p->snapshot.access_count; i++)
        if (p->snapshot.accesses[i].kind == WSDBG_ACCESS_ARRIVE ||
            p->snapshot.accesses[i].kind == WSDBG_ACCESS_ARRIVE_EXPECT)
            picture_reach(p, 1, 3, i, 0, 0, 0);
    both_wait(p, g.empty[0], 0, g.full[0], 1);
    return g;
}

void count_of_nine(struct picture *p)
{
    all_have_arrived(p, 9);
}

/* All 32 lanes of each consumer arrive: eight arrivals are not one of each. */
void count_of_all_lanes(struct picture *p)
{
    all_have_arrived(p, 9);
    for (size_t i = 0; i < p->snapshot.access_count; i++)
        p->snapshot.accesses[i].lanes = WSDBG_LANES_ALL;
}

/* The producer arrived once before it waited: it or a consumer has left out an arrival. */
void count_with_waiter(struct picture *p)
{
    const struct gemm g = all_have_arrived(p, 9);
    doubt_reach_of(p, 0, g.release)->before_most = 1;
    doubt_reach_of(p, 12, g.release)->before_most = 1;
}

/* Warp 1 is still there and may have arrived once.  The warps beside it never arrive. */
void count_with_one_gone_by(struct picture *p)
{
    const struct gemm g = all_have_arrived(p, 9);
    for (uint32_t cta = 0; cta < 2; cta++)
        doubt_reach_of(p, 12 * cta + 1, g.release)->before_most = 1;
    picture_wait(p, 1, 3, MBARRIER_WAIT, g.empty[0], 0);
}

/* A wait for a free slot lies behind a consumer: then a phase is over, and the count was reached. */
void count_reached_before(struct picture *p)
{
    all_have_arrived(p, 9);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 4, 4, wait, 1, 1, 0);
}

void count_of_sixteen(struct picture *p)
{
    all_have_arrived(p, 16);
}

/* Another arrival lies before the consumers, perhaps also behind them. */
void count_with_second_arrival(struct picture *p)
{
    all_have_arrived(p, 16);
    const uint32_t second =
        picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_UNKNOWN);
    picture_reach(p, 0, 3, second, 0, 0, 0);
    picture_reach(p, 4, 11, second, 0, 0, 2);
    for (size_t i = 0; i < p->pending_count; i++)
        p->pending[i].before_known = p->pending[i].access != second || p->pending[i].after == 0;
}

/* Of stage 0 one arrival of `expected` is missing.  Another stage has completed a phase.  Eight warps arrive, by how
 * many lanes is not known. */
static void one_is_missing(struct picture *p, uint32_t expected)
{
    const struct words empty = {.phase = {0, 1, 1, 1}};
    const struct gemm g = gemm_picture(p, &full_filled, &empty);
    for (uint32_t s = 0; s < STAGES; s++)
        for (uint32_t cta = 0; cta < 2; cta++) {
            p->snapshot.barriers[g.empty[s] + cta].expected_arrivals = wsdbg_known_u32(expected);
            p->snapshot.barriers[g.empty[s] + cta].pending_arrivals = wsdbg_known_u32(s == 0 ? 1 : expected);
        }
    both_wait(p, g.empty[0], 0, g.full[0], 1);
}

void one_of_all_lanes(struct picture *p)
{
    one_is_missing(p, 256);
}

/* Warp 1 copies to the barrier on which they wait; it waits for the free slot, too. */
void all_lanes_wait_for_bytes(struct picture *p)
{
    one_is_missing(p, 256);
    const uint32_t copy = picture_access(p, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, 0), STAGES, 0, WSDBG_LANES_ONE);
    picture_reach(p, 1, 1, copy, 0, 255, 2);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, WSDBG_LANES_ONE);
    picture_reach(p, 1, 1, wait, 0, 255, 2);
    for (size_t i = 0; i < p->snapshot.barrier_count; i++)
        if (p->snapshot.barriers[i].cta == 0 && p->snapshot.barriers[i].shared_offset.known &&
            p->snapshot.barriers[i].shared_offset.value == MBARRIER_AT(EMPTY, 0))
            picture_wait(p, 1, 1, MBARRIER_WAIT, (uint32_t)i, 0);
    for (size_t i = 0; i < p->snapshot.barrier_count; i++) {
        struct wsdbg_barrier *barrier = &p->snapshot.barriers[i];
        if (barrier->shared_offset.known && barrier->shared_offset.value == MBARRIER_AT(FULL, 0)) {
            barrier->pending_arrivals = wsdbg_known_u32(0);
            barrier->pending_tx_bytes = wsdbg_known_u64(1024);
        }
    }
}

void one_more_than_all_lanes(struct picture *p)
{
    one_is_missing(p, 257);
}
