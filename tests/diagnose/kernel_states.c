/* kernel_states.c - small kernels of a few warps in every other kind of wait.  See states.h. */
#include "states.h"

#include <stdlib.h>
#include <string.h>

#include "device.h"

#include "gemm_shape.h"

static uint32_t small(struct picture *p, uint32_t pending, uint32_t expected, int64_t bytes)
{
    picture_init(p, 1, 4, 32);
    return picture_mbarrier(p, FULL, 0, 0, pending, expected, bytes);
}

static uint32_t block_sync(struct picture *p, uint32_t first_warp, uint32_t last_warp)
{
    const uint32_t sync = picture_object(p, WSDBG_BARRIER_NAMED, 0);
    picture_wait(p, first_warp, last_warp, WSDBG_WARP_WAIT_NAMED, sync, 0);
    picture_count(p, first_warp, last_warp, 0);
    return sync;
}

void arrive_short(struct picture *p)
{
    const uint32_t bar = small(p, 32, 96, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ALL);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, arrive, 1, 1, 0);
    picture_reach(p, 2, 3, arrive, 0, 0, 0);
    picture_reach(p, 2, 3, last, 0, 0, 2);
    picture_wait(p, 2, 3, MBARRIER_WAIT, bar, 0);
    block_sync(p, 0, 1);
}

/* All four warps are meant to arrive and wait; three left without an arrival.  The one that waits has made its own. */
void arrive_by_waiter_alone(struct picture *p)
{
    const uint32_t bar = small(p, 3, 4, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, arrive, 1, 1, 0);
    picture_wait(p, 0, 0, MBARRIER_WAIT, bar, 0);
    picture_exit(p, 1, 3);
}

/* The same where five are counted: nobody can make the fifth. */
void arrive_by_waiter_short(struct picture *p)
{
    arrive_by_waiter_alone(p);
    p->snapshot.barriers[0].expected_arrivals = wsdbg_known_u32(5);
    p->snapshot.barriers[0].pending_arrivals = wsdbg_known_u32(4);
}

/* The same as the first where it could not be followed how many lanes arrive: two warps of 32 lanes fit. */
void arrive_short_of_some_lanes(struct picture *p)
{
    arrive_short(p);
    p->snapshot.accesses[0].lanes = WSDBG_LANES_UNKNOWN;
}

/* ... and where they do not fit, more than 64 arrivals are too many all the same. */
void arrive_short_of_fewer_lanes(struct picture *p)
{
    arrive_short_of_some_lanes(p);
    p->snapshot.barriers[0].pending_arrivals = wsdbg_known_u32(40);
}

/* ... but of 64, a lane may have left out its arrival. */
void arrive_of_some_lanes(struct picture *p)
{
    arrive_short_of_some_lanes(p);
    p->snapshot.barriers[0].expected_arrivals = wsdbg_known_u32(64);
    p->snapshot.barriers[0].pending_arrivals = wsdbg_known_u32(8);
}

/* Loaders that copy with cp.async: its arrivals come when the copies have landed. */
void copies_that_arrive(struct picture *p)
{
    const uint32_t bar = small(p, 64, 64, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_COPY_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ALL);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, arrive, 1, 1, 0);
    picture_reach(p, 2, 3, arrive, 0, 0, 0);
    picture_reach(p, 2, 3, last, 0, 0, 2);
    picture_wait(p, 2, 3, MBARRIER_WAIT, bar, 0);
    block_sync(p, 0, 1);
}

void tx_no_arrive(struct picture *p)
{
    const uint32_t bar = small(p, 1, 1, 0);
    const uint32_t expect = picture_access(p, WSDBG_ACCESS_EXPECT, MBARRIER_AT(FULL, 0), 1, 1024, WSDBG_LANES_ONE);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 3, expect, 0, 1, 0);
    picture_reach(p, 1, 1, last, 0, 0, 2);
    picture_wait(p, 1, 1, MBARRIER_WAIT, bar, 0);
    block_sync(p, 0, 0);
    block_sync(p, 2, 3);
}

/* The same where the address of expect_tx could not be followed: there is no other mbarrier. */
void tx_no_arrive_somewhere(struct picture *p)
{
    tx_no_arrive(p);
    p->snapshot.accesses[0].certain = p->snapshot.accesses[0].address.known = false;
}

/* ... and where there is one, the bytes may be announced there. */
void tx_announced_elsewhere(struct picture *p)
{
    tx_no_arrive_somewhere(p);
    picture_mbarrier(p, EMPTY, 0, 0, 1, 1, 0);
}

void copy_missing(struct picture *p)
{
    const uint32_t bar = small(p, 0, 1, 1024);
    const uint32_t expect =
        picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, 0), 1, 1024, WSDBG_LANES_ONE);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 3, expect, 0, 1, 0);
    picture_reach(p, 1, 3, last, 0, 0, 2);
    picture_wait(p, 1, 3, MBARRIER_WAIT, bar, 0);
    block_sync(p, 0, 0);
}

/* Lane 0 waits for arrivals of the other lanes, which wait for lane 0. */
static void lanes_apart(struct picture *p, enum wsdbg_warp_state others)
{
    const uint32_t bar = small(p, 31, 31, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_UNKNOWN);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 1, 1, arrive, 0, 0, 2);
    picture_reach(p, 1, 1, last, 0, 0, 2);
    picture_reach(p, 0, 0, last, 1, 1, 0);
    picture_reach(p, 2, 3, last, 1, 1, 0);
    picture_wait(p, 1, 1, MBARRIER_WAIT, bar, 0);
    block_sync(p, 0, 0);
    block_sync(p, 2, 3);
    picture_part(p, 1, others, WSDBG_NONE, 0);
}

void lane_split(struct picture *p)
{
    lanes_apart(p, WSDBG_WARP_RECONVERGE);
}

/* The others need not meet anybody: they would arrive once a flag is set. */
void lanes_poll(struct picture *p)
{
    lanes_apart(p, WSDBG_WARP_SPIN_GLOBAL);
}

void lanes_poll_for_host(struct picture *p)
{
    lanes_poll(p);
    p->snapshot.parts[p->snapshot.part_count - 1].site = (uint32_t)p->snapshot.site_count - 1;
    strcpy(p->snapshot.sites[p->snapshot.site_count - 1].instruction, "LDG.E.STRONG.SYS R0, desc[UR4][R2.64]");
    p->snapshot.sites[p->snapshot.site_count - 1].is_system = true;
}

/* The same where the address of the arrival could not be followed. */
void lane_split_doubtful(struct picture *p)
{
    lane_split(p);
    p->snapshot.accesses[0].certain = p->snapshot.accesses[0].address.known = false;
}

/* The waiting lane would arrive, too, later.  How the others go on nobody can follow. */
void lane_split_way_doubtful(struct picture *p)
{
    lane_split(p);
    p->pending[0].after_apart = 1;
}

/* One lane arrives.  It may be the one that waits. */
void lane_split_of_elected(struct picture *p)
{
    lane_split(p);
    p->snapshot.accesses[0].lanes = WSDBG_LANES_ONE;
}

/* Other lanes of the warp stand elsewhere: what those wait for may have another cause. */
void lane_split_three_ways(struct picture *p)
{
    lane_split(p);
    picture_part(p, 1, WSDBG_WARP_WAIT_NAMED, picture_object(p, WSDBG_BARRIER_NAMED, 1), 0);
}

/* All lanes are in one wait, at two places of its loop: they would arrive after it. */
void lanes_at_two_places(struct picture *p)
{
    lanes_apart(p, WSDBG_WARP_WAIT_MBARRIER);
    p->snapshot.parts[p->snapshot.part_count - 1].barrier = 0;
    p->pending[0].after_apart = 0;
}

void not_initialised(struct picture *p)
{
    const uint32_t bar = small(p, 0, 0, 0);
    struct wsdbg_barrier *row = &p->snapshot.barriers[bar];
    row->phase = row->pending_arrivals = row->expected_arrivals = (struct wsdbg_optional_u32){0};
    row->pending_tx_bytes = (struct wsdbg_optional_u64){0};
    row->word = wsdbg_known_u64(0);
    picture_access(p, WSDBG_ACCESS_INIT, MBARRIER_AT(FULL, 1), 1, 32, WSDBG_LANES_ONE);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 0, last, 0, 0, 2);
    picture_reach(p, 1, 3, last, 1, 1, 0);
    picture_wait(p, 0, 0, MBARRIER_WAIT, bar, 0);
    block_sync(p, 1, 3);
}

void named_count(struct picture *p)
{
    picture_init(p, 1, 4, 32);
    const uint32_t one = picture_object(p, WSDBG_BARRIER_NAMED, 1);
    const uint32_t sync = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 1, 1, 96, WSDBG_LANES_ALL);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, last, 0, 0, 2);
    picture_reach(p, 2, 3, sync, 0, 0, 0);
    picture_wait(p, 0, 1, WSDBG_WARP_WAIT_NAMED, one, 0);
    picture_count(p, 0, 1, 96);
    block_sync(p, 2, 3);
}

/* The same where the instruction is guarded and stands on everybody's way: the other two are behind it, but two warps
 * alone cannot have opened it before. */
void named_count_guarded(struct picture *p)
{
    named_count(p);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].access == 0)
            p->pending[i].before_most = 1;
}

/* The same in a loop, and the other two have come through the barrier before: rather a round too few. */
void named_round_missing(struct picture *p)
{
    named_count(p);
    const uint32_t before = picture_access(p, WSDBG_ACCESS_NAMED_ARRIVE, 1, 1, 96, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, 0, 1, 255, 2);
    picture_reach(p, 2, 3, before, 1, 255, 0);
}

static void last_has_left(struct picture *p)
{
    named_count(p);
    picture_exit(p, 3, 3);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp == 3)
            p->snapshot.parts[i] = p->snapshot.parts[--p->snapshot.part_count];
}

/* One warp has left: it may be the one that is missing. */
void named_one_left(struct picture *p)
{
    last_has_left(p);
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp == 3)
            p->pending[i].before_known = false;
}

/* ... and its path is known: it never reached the barrier. */
void named_one_left_that_never_came(struct picture *p)
{
    last_has_left(p);
}

/* All wait, but where warp 0 goes on to is not known. */
void unknown_way_on(struct picture *p)
{
    const uint32_t bar = small(p, 1, 1, 0);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 1, 3, last, 0, 0, 2);
    picture_reach(p, 1, 3, arrive, 0, 0, 0);
    picture_wait(p, 1, 3, MBARRIER_WAIT, bar, 0);
    picture_wait(p, 0, 0, WSDBG_WARP_WAIT_GRID_DEPENDENCY, WSDBG_NONE, 0);
}

/* Nobody has left and nobody can arrive; the arrival in the code is on no path of these warps. */
void nobody_left(struct picture *p)
{
    const uint32_t bar = small(p, 1, 1, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 3, arrive, 0, 0, 0);
    picture_wait(p, 0, 3, MBARRIER_WAIT, bar, 0);
}

/* The other two might still reach the barrier: they run. */
void named_gathers(struct picture *p)
{
    picture_init(p, 1, 4, 32);
    const uint32_t one = picture_object(p, WSDBG_BARRIER_NAMED, 1);
    const uint32_t sync = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 1, 1, 128, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, sync, 1, 1, 0);
    picture_reach(p, 2, 3, sync, 0, 0, 2);
    picture_wait(p, 0, 1, WSDBG_WARP_WAIT_NAMED, one, 0);
    picture_count(p, 0, 1, 128);
}

void block_sync_in_role(struct picture *p)
{
    const uint32_t bar = small(p, 64, 64, 0);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ALL);
    const uint32_t other = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, arrive, 0, 0, 2);
    picture_reach(p, 2, 3, other, 0, 0, 2);
    picture_wait(p, 2, 3, MBARRIER_WAIT, bar, 0);
    block_sync(p, 0, 1);
}

void two_mbarriers(struct picture *p)
{
    picture_init(p, 1, 2, 32);
    const uint32_t a = picture_mbarrier(p, 0, 0, 0, 32, 32, 0), b = picture_mbarrier(p, 1, 0, 0, 32, 32, 0);
    const uint32_t arrive_a = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(0, 0), 1, 1, WSDBG_LANES_ALL);
    const uint32_t arrive_b = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(1, 0), 1, 1, WSDBG_LANES_ALL);
    picture_wait(p, 0, 0, MBARRIER_WAIT, a, 0);
    picture_wait(p, 1, 1, MBARRIER_WAIT, b, 0);
    picture_reach(p, 0, 0, arrive_b, 0, 0, 2);
    picture_reach(p, 1, 1, arrive_a, 0, 0, 2);
}

/* CTAs 0-1 of a grid poll, with warp 1 at the block's barrier; CTAs 2-3 are its dependent and wait for its end. */
void dependent_grid(struct picture *p)
{
    picture_init(p, 4, 2, 32);
    picture_wait(p, 0, 0, WSDBG_WARP_SPIN_GLOBAL, WSDBG_NONE, 0);
    block_sync(p, 1, 1);
    struct wsdbg_snapshot *s = &p->snapshot;
    s->grids = realloc(s->grids, 2 * sizeof *s->grids);
    must(s->grids);
    s->grids[1] = s->grids[0];
    s->grid_count = 2;
    s->grids[1].launch = s->grids[0].launch = WSDBG_NONE;
    s->grids[0].cta_count = s->grids[0].cta_total = s->grids[1].cta_count = s->grids[1].cta_total = 2;
    s->grids[1].cta_first = 2;
    s->ctas[2].grid = s->ctas[3].grid = 1;
    for (size_t i = 0; i < s->part_count; i++)
        if (s->warps[s->parts[i].warp].cta >= 2) {
            s->parts[i].state = s->warps[s->parts[i].warp].state = WSDBG_WARP_WAIT_GRID_DEPENDENCY;
            s->parts[i].barrier = s->warps[s->parts[i].warp].barrier = WSDBG_NONE;
        }
}

/* The first grid computes. */
void dependent_of_a_worker(struct picture *p)
{
    dependent_grid(p);
    struct wsdbg_snapshot *s = &p->snapshot;
    for (size_t i = 0; i < s->part_count; i++)
        if (s->parts[i].state == WSDBG_WARP_SPIN_GLOBAL)
            s->parts[i].state = s->warps[s->parts[i].warp].state = WSDBG_WARP_RUNNING;
}

void everybody_works(struct picture *p)
{
    picture_init(p, 4, 2, 32);
    block_sync(p, 0, 0);
    const uint32_t last = picture_access(p, WSDBG_ACCESS_NAMED_SYNC, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 1, 1, last, 0, 255, 2);
}

/* The producer runs: it is slow, the consumers wait for it. */
void slow_producer(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[0], 0);
}

/* Nobody knows where warp 0 stands: it may do anything. */
void unknown_code(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_unused, &empty_unused);
    picture_wait(p, 4, 11, MBARRIER_WAIT, g.full[0], 0);
    for (uint32_t cta = 0; cta < 2; cta++)
        p->snapshot.warps[cta * 12].state = WSDBG_WARP_UNKNOWN;
}

/* The wait has ended, the warp was stopped before it could see that. */
void wait_has_ended(struct picture *p)
{
    const struct gemm g = gemm_picture(p, &full_filled, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}
