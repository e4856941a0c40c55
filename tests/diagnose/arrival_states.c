/* arrival_states.c - rings whose "full" or "empty" lacks arrivals although all who arrive wait.  See states.h. */
#include "states.h"

#include "gemm_shape.h"

static void count(struct picture *p, uint32_t id, uint32_t pending, uint32_t expected)
{
    for (size_t b = 0; b < p->snapshot.barrier_count; b++) {
        struct wsdbg_barrier *row = &p->snapshot.barriers[b];
        if (row->kind != WSDBG_BARRIER_MBARRIER || row->id != id)
            continue;
        row->pending_arrivals = wsdbg_known_u32(pending);
        row->expected_arrivals = wsdbg_known_u32(expected);
    }
}

/* The reference GEMM, in which one lane arrives and consumers have one place where they release. */
static struct gemm ring(struct picture *p, const struct words *full)
{
    const struct gemm g = gemm_picture(p, full, &empty_unused);
    size_t kept = 0;
    for (size_t i = 0; i < p->snapshot.access_count; i++)
        p->snapshot.accesses[i].lanes = WSDBG_LANES_ONE;
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].access != g.release + 1)
            p->pending[kept++] = p->pending[i];
    p->pending_count = kept;
    return g;
}

/* One lane of warp 0 arrives; "full" counts the 128 threads of its warpgroup. */
void count_of_all_threads(struct picture *p)
{
    const struct gemm g = ring(p, &full_unused);
    count(p, FULL, 127, 128);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* 8 consumer warps release; "empty" counts those of two CTAs. */
void count_of_two_ctas(struct picture *p)
{
    const struct gemm g = ring(p, &full_filled);
    count(p, EMPTY, 8, 16);
    both_wait(p, g.empty[0], 0, g.full[0], 1);
}

/* The same where another instruction may bring the other half, at an address that nobody knows. */
void count_with_unknown_arrival(struct picture *p)
{
    count_of_two_ctas(p);
    const uint32_t somewhere = picture_access(p, WSDBG_ACCESS_ARRIVE, 0, 0, 1, WSDBG_LANES_ONE);
    picture_reach(p, 4, 11, somewhere, 0, 0, 2);
}

/* ... where a second instruction on every path of a warp may bring it. */
void count_with_two_instructions(struct picture *p)
{
    count_of_two_ctas(p);
    const uint32_t second = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_reach(p, 4, 11, second, 0, 255, 2);
}

/* ... where half of the warps that would have brought it have left. */
void count_with_warps_gone(struct picture *p)
{
    const struct gemm g = ring(p, &full_filled);
    count(p, EMPTY, 4, 8);
    both_wait(p, g.empty[0], 0, g.full[0], 1);
    picture_exit(p, 8, 11);
    for (size_t i = 0; i < p->snapshot.warp_count; i++)
        if (p->snapshot.warps[i].warp >= 8)
            p->snapshot.warps[i].part_count = 0;
}

/* 9 are counted: a warp beside the producer has left that may have been the ninth. */
void count_with_one_warp_gone(struct picture *p)
{
    const struct gemm g = ring(p, &full_filled);
    count(p, EMPTY, 1, 9);
    both_wait(p, g.empty[0], 0, g.full[0], 1);
}

/* 5 are counted, and four warps release.  The producer is a warp of their warpgroup, and waits for these releases. */
void count_with_producer_among_consumers(struct picture *p)
{
    picture_init(p, 1, 5, 32);
    picture_name(p, FULL, "full", 1, 1, 2);
    picture_name(p, EMPTY, "empty", 1, 2, 1);
    const uint32_t full = picture_mbarrier(p, FULL, 0, 1, 1, 1, 0), empty = picture_mbarrier(p, EMPTY, 0, 0, 1, 5, 0);
    const uint32_t fill = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    const uint32_t release = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(EMPTY, 0), 1, 1, WSDBG_LANES_ONE);
    const uint32_t take = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(FULL, 0), 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 0, fill, 1, 255, 2);
    picture_reach(p, 1, 4, release, 1, 255, 2);
    picture_reach(p, 0, 0, take, 0, 0, 0);
    picture_reach(p, 1, 4, take, 1, 255, 2);
    picture_wait(p, 0, 0, MBARRIER_WAIT, empty, 0);
    picture_wait(p, 1, 4, MBARRIER_WAIT, full, 1);
}

/* Who arrives once on each stage has left. */
static struct gemm arriver_gone(struct picture *p, uint32_t expected)
{
    const struct gemm g = ring(p, &full_unused);
    count(p, FULL, expected - 1, expected);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
    picture_exit(p, 0, 0);
    p->snapshot.warps[0].part_count = p->snapshot.warps[12].part_count = 0;
    return g;
}

/* Its arrival is one of 128. */
void count_and_arriver_gone(struct picture *p)
{
    arriver_gone(p, 128);
}

/* One of two is there.  Warp 4, which waits, may have made that. */
void count_of_waiter_and_one_gone(struct picture *p)
{
    const struct gemm g = arriver_gone(p, 2);
    const uint32_t arrival = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), STAGES, 1, WSDBG_LANES_ONE);
    picture_reach(p, 0, 3, arrival, 0, 0, 0);
    picture_reach(p, 1, 3, g.expect, 0, 0, 0);
    picture_reach(p, 4, 4, arrival, 0, 255, 2);
    picture_reach(p, 5, 11, arrival, 0, 0, 0);
    picture_wait(p, 5, 11, MBARRIER_WAIT, g.empty[0], 0);
}

/* A warp leaves out its release of all stages of a round: 1 of 8 is missing everywhere, or 9 are too many. */
void one_release_left_out(struct picture *p)
{
    const struct gemm g = ring(p, &full_filled);
    count(p, EMPTY, 1, 8);
    both_wait(p, g.empty[0], 0, g.full[0], 1);
}

/* One warpgroup consumes, and 1 of its 4 releases is missing. */
static struct gemm release_of_four(struct picture *p)
{
    const struct gemm g = ring(p, &full_filled);
    count(p, EMPTY, 1, 4);
    both_wait(p, g.empty[0], 0, g.full[0], 1);
    picture_exit(p, 8, 11);
    return g;
}

void one_release_of_four(struct picture *p)
{
    release_of_four(p);
}

/* Warp 4 waits on the last stage: it may not have come to its release of this one. */
void one_release_of_four_behind(struct picture *p)
{
    const struct gemm g = release_of_four(p);
    picture_wait(p, 4, 4, WSDBG_WARP_WAIT_MBARRIER, g.full[STAGES - 1], 1);
}

/* The slot is filled as often as it was released: the arrivals that are there are of a later round. */
void release_of_a_later_round(struct picture *p)
{
    const struct gemm g = ring(p, &full_unused);
    count(p, EMPTY, 1, 8);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* Two CTAs whose consumers release the slots of both; those of CTA 1 left the loop a round early and wait at the end.
 */
void peer_leaves_loop_early(struct picture *p)
{
    const struct gemm g = ring(p, &full_filled);
    const uint32_t end = picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    const uint32_t join = picture_access(p, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 1, 0, WSDBG_LANES_ALL);
    picture_cluster(p);
    p->snapshot.accesses[g.release].any_rank = true;
    count(p, EMPTY, 8, 16);
    both_wait(p, g.empty[0], 0, g.full[0], 1);
    picture_reach(p, 0, 11, join, 0, 0, 2);
    for (size_t i = 0; i < p->snapshot.part_count; i++) {
        struct wsdbg_part *part = &p->snapshot.parts[i];
        struct wsdbg_warp_row *warp = &p->snapshot.warps[part->warp];
        if (warp->cta != 1 || warp->warp < 4)
            continue;
        warp->state = part->state = WSDBG_WARP_WAIT_CLUSTER;
        warp->barrier = part->barrier = end + 1;
    }
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp >= 12 + 4 && p->pending[i].access == g.release)
            p->pending[i].after = 0;
}

/* The producer waits on a barrier, too, on which nobody arrives; the consumers arrive on "empty". */
void nobody_arrives_beside_others(struct picture *p)
{
    const struct gemm g = ring(p, &full_filled);
    picture_name(p, 2, "empty b", 1, 0, 1 << ROLE_PRODUCER);
    const uint32_t other = picture_mbarrier(p, 2, 0, 0, 8, 8, 0);
    const uint32_t wait = picture_access(p, WSDBG_ACCESS_WAIT, MBARRIER_AT(EMPTY, 0), STAGES, 0, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, wait, 1, 255, 2);
    both_wait(p, other, 0, g.full[0], 1);
}
