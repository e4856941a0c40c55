/* cluster_states.c - two CTAs of a cluster.  See states.h. */
#include "states.h"

#include <string.h>

#include "gemm_shape.h"
#include "ways.h"

static uint32_t cluster(struct picture *p)
{
    picture_init(p, 2, 2, 32);
    picture_cluster(p);
    return picture_mbarrier(p, FULL, 0, 0, 1, 1, 0);
}

/* CTA 0 stands at the cluster barrier.  CTA 1 waits on `bar` for `use`, by which CTA 0 reaches it behind the cluster
 * barrier. */
static void stand_before(struct picture *p, uint32_t bar, uint32_t use)
{
    const uint32_t barrier = picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    const uint32_t join = picture_access(p, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 1, 0, WSDBG_LANES_ALL);
    p->snapshot.accesses[use].any_rank = true;
    picture_reach(p, 0, 1, use, 0, 0, 2);
    picture_reach(p, 0, 1, join, 1, 1, 2);
    picture_wait(p, 0, 1, MBARRIER_WAIT, bar, 0);
    for (uint32_t w = 0; w < 2; w++) {
        p->snapshot.warps[w].state = p->snapshot.parts[w].state = WSDBG_WARP_WAIT_CLUSTER;
        p->snapshot.warps[w].barrier = p->snapshot.parts[w].barrier = barrier;
    }
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].access == use && p->pending[i].warp >= 2)
            p->pending[i].after = 0;
}

/* CTA 0 stands at the cluster barrier, CTA 1 waits for an arrival that CTA 0 makes after it. */
void cluster_missing(struct picture *p)
{
    const uint32_t bar = cluster(p);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    stand_before(p, bar, arrive);
}

/* CTA 0 stands at the cluster barrier, as all CTAs should before they send bytes to the others.  Each has announced the
 * bytes that it gets. */
void cluster_missing_before_bytes(struct picture *p)
{
    enum { SENT = 512 };
    picture_init(p, 2, 2, 32);
    picture_cluster(p);
    const uint32_t bar = picture_mbarrier(p, FULL, 0, 0, 0, 1, SENT);
    const uint32_t announce =
        picture_access(p, WSDBG_ACCESS_ARRIVE_EXPECT, MBARRIER_AT(FULL, 0), 1, SENT, WSDBG_LANES_ONE);
    const uint32_t send = picture_access(p, WSDBG_ACCESS_COMPLETE, MBARRIER_AT(FULL, 0), 1, 16, WSDBG_LANES_ALL);
    picture_reach(p, 0, 0, announce, 1, 1, 0);
    stand_before(p, bar, send);
}

/* All threads stand at the cluster barrier: it opens. */
void cluster_opens(struct picture *p)
{
    cluster(p);
    const uint32_t barrier = picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    p->snapshot.barriers[barrier].pending_arrivals = wsdbg_known_u32(0);
    p->snapshot.barriers[barrier + 1].pending_arrivals = wsdbg_known_u32(0);
    const uint32_t join = picture_access(p, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 1, 0, WSDBG_LANES_ALL);
    picture_reach(p, 0, 1, join, 1, 1, 0);
    picture_wait(p, 0, 1, WSDBG_WARP_WAIT_CLUSTER, barrier, 0);
}

/* CTA 1 of the cluster has left: it is not among the CTAs seen. */
void peer_exited(struct picture *p)
{
    const uint32_t bar = cluster(p);
    const uint32_t arrive = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(FULL, 0), 1, 1, WSDBG_LANES_ONE);
    p->snapshot.accesses[arrive].any_rank = true;
    picture_reach(p, 0, 1, arrive, 0, 0, 0);
    picture_wait(p, 0, 1, MBARRIER_WAIT, bar, 0);
    p->snapshot.cta_count = p->snapshot.grids[0].cta_count = p->ctas = 1;
    p->snapshot.warp_count = 2;
    p->snapshot.part_count = 2;
    p->pending_count = 2;
}

/* ... and so has a warp of CTA 0 that may have arrived: both CTAs may have done their part. */
void peer_exited_like_own_warp(struct picture *p)
{
    peer_exited(p);
    picture_leave(p, 1);
    p->snapshot.warps[1].part_count = 0;
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp == 1)
            p->pending[i].before_most = 1;
}

/* Two CTAs of a cluster that release each other's slots. */
static struct gemm gemm_cluster(struct picture *p, const struct words *full, const struct words *empty)
{
    const struct gemm g = gemm_picture(p, full, empty);
    picture_cluster(p);
    for (size_t i = 0; i < p->snapshot.access_count; i++)
        p->snapshot.accesses[i].any_rank =
            p->snapshot.accesses[i].kind == WSDBG_ACCESS_ARRIVE || p->snapshot.accesses[i].kind == WSDBG_ACCESS_COPY;
    return g;
}

void cluster_parity_wrong(struct picture *p)
{
    const struct gemm g = gemm_cluster(p, &full_unused, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

void cluster_tx_mismatch(struct picture *p)
{
    const struct words full = {.bytes = {16384, 16384, 16384, 16384}};
    const struct gemm g = gemm_cluster(p, &full, &empty_unused);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
}

/* Each CTA loads half of a slot for both; rank 0 has its first slot, rank 1 lacks `missing` bytes of it, and nothing is
 * left to be issued.  The copies are of half a slot, into the CTAs of `mask` (0: nobody knows which). */
static void uneven(struct picture *p, int64_t missing, uint32_t mask)
{
    const struct words full = {.pending = {0, 1, 1, 1}, .bytes = {missing}};
    const struct gemm g = gemm_cluster(p, &full, &empty_unused);
    p->snapshot.barriers[g.full[0]].phase = wsdbg_known_u32(1);
    p->snapshot.barriers[g.full[0]].pending_arrivals = wsdbg_known_u32(1);
    p->snapshot.barriers[g.full[0]].pending_tx_bytes = wsdbg_known_u64(0);
    both_wait(p, g.empty[0], 0, g.full[0], 0);
    for (uint32_t w = 0; w < 12; w++) /* the other CTA is through */
        p->snapshot.warps[w].barrier = w < 4 ? g.empty[0] : g.full[1];
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp < 12 && p->snapshot.parts[i].barrier != WSDBG_NONE)
            p->snapshot.parts[i].barrier = p->snapshot.warps[p->snapshot.parts[i].warp].barrier;
    for (size_t i = 0; i < p->snapshot.access_count; i++) {
        struct wsdbg_access_row *copy = &p->snapshot.accesses[i];
        if (copy->kind != WSDBG_ACCESS_COPY)
            continue;
        copy->count = wsdbg_known_u32(BYTES / 2);
        copy->mask = mask ? wsdbg_known_u32(mask) : (struct wsdbg_optional_u32){0};
    }
}

/* The copies name rank 0 only. */
void multicast_to_one(struct picture *p)
{
    uneven(p, BYTES, 1);
}

void multicast_to_some(struct picture *p)
{
    uneven(p, BYTES / 2, 0);
}

/* Walks show that no thread of rank 0 ever uses its own slots: it only sends, and its words tell nothing of how far it
 * is. */
void sender_without_a_round(struct picture *p)
{
    enum { WARPS = 12 };
    static struct way ways[WARPS];
    memset(ways, 0, sizeof ways);
    multicast_to_some(p);
    for (uint32_t w = 0; w < WARPS; w++)
        ways[w] = (struct way){.warp = w, .lanes = UINT32_MAX};
    ways_put(p, ways, WARPS);
}

/* The producer of rank 0 left before its first slot: so half of rank 1's slot is missing, too. */
void multicast_sender_left(struct picture *p)
{
    const struct words full = {.pending = {0, 1, 1, 1}, .bytes = {BYTES / 2}};
    const struct gemm g = gemm_cluster(p, &full, &empty_unused);
    p->snapshot.barriers[g.full[0]].pending_arrivals = wsdbg_known_u32(1);
    p->snapshot.barriers[g.full[0]].pending_tx_bytes = wsdbg_known_u64((uint64_t) - (int64_t)(BYTES / 2));
    both_wait(p, g.empty[0], 0, g.full[0], 0);
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp == 0)
            p->snapshot.parts[i] = p->snapshot.parts[--p->snapshot.part_count], i--;
    picture_leave(p, 0);
}

/* Whatever is issued for one of the two brings the other the same: rank 0 loaded its second half for itself. */
void ranks_disagree(struct picture *p)
{
    uneven(p, BYTES / 2, 3);
    const uint32_t own = picture_access(p, WSDBG_ACCESS_COPY, MBARRIER_AT(FULL, 0), STAGES, BYTES / 2, WSDBG_LANES_ONE);
    picture_reach(p, 0, 0, own, 0, 255, 2);
}

/* The same with copies of a size that nobody knows: one CTA's may have been cut at its edge. */
void ranks_differ_in_size(struct picture *p)
{
    ranks_disagree(p);
    p->snapshot.accesses[p->snapshot.access_count - 1].count = (struct wsdbg_optional_u32){0};
}

/* Two warps wait for each other by mbarriers.  The other warps wait for them at the cluster barrier at the end. */
void ring_before_cluster_barrier(struct picture *p)
{
    const uint32_t a = cluster(p), b = picture_mbarrier(p, 1, 0, 0, 1, 1, 0);
    const uint32_t end = picture_object(p, WSDBG_BARRIER_CLUSTER, 0);
    const uint32_t arrive_a = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(0, 0), 1, 1, WSDBG_LANES_ONE);
    const uint32_t arrive_b = picture_access(p, WSDBG_ACCESS_ARRIVE, MBARRIER_AT(1, 0), 1, 1, WSDBG_LANES_ONE);
    const uint32_t join = picture_access(p, WSDBG_ACCESS_CLUSTER_ARRIVE, 0, 1, 0, WSDBG_LANES_ALL);
    picture_wait(p, 0, 0, MBARRIER_WAIT, a, 0);
    picture_wait(p, 1, 1, MBARRIER_WAIT, b, 0);
    picture_reach(p, 0, 0, arrive_b, 0, 0, 2);
    picture_reach(p, 1, 1, arrive_a, 0, 0, 2);
    picture_reach(p, 0, 1, join, 0, 0, 2);
    for (uint32_t w = 2; w < 4; w++) {
        p->snapshot.warps[w].state = p->snapshot.parts[w == 2 ? 1 : 3].state = WSDBG_WARP_WAIT_CLUSTER;
        p->snapshot.warps[w].barrier = p->snapshot.parts[w == 2 ? 1 : 3].barrier = end + 1;
    }
    for (size_t i = 0; i < p->pending_count; i++)
        if (p->pending[i].warp >= 2)
            p->pending[i].after = 0;
}

void cluster_arrive_missing(struct picture *p)
{
    const struct words full = {.phase = {1, 1, 1, 0}, .pending = {1, 1, 1, 1}};
    const struct words empty = {.phase = {1, 1, 0, 1}, .pending = {8, 8, 8, 4}};
    const struct gemm g = gemm_cluster(p, &full, &empty);
    both_wait(p, g.empty[3], 1, g.full[3], 0);
}

/* Rank 1's loader is stopped elsewhere: rank 0 lacks the half that it would have brought, and that is no mismatch. */
void cluster_bytes_from_peer(struct picture *p)
{
    const struct words full = {.bytes = {16384, 16384, 16384, 16384}};
    const struct gemm g = gemm_cluster(p, &full, &empty_unused);
    for (uint32_t s = 0; s < STAGES; s++) {
        struct wsdbg_barrier *peer = &p->snapshot.barriers[g.full[s] + 1];
        peer->pending_arrivals = wsdbg_known_u32(1);
        peer->pending_tx_bytes = wsdbg_known_u64(0);
    }
    both_wait(p, g.empty[0], 0, g.full[0], 0);
    const uint32_t named = picture_object(p, WSDBG_BARRIER_NAMED, 3);
    struct wsdbg_warp_row *loader = &p->snapshot.warps[12];
    loader->state = WSDBG_WARP_WAIT_NAMED;
    loader->barrier = named + 1;
    for (size_t i = 0; i < p->snapshot.part_count; i++)
        if (p->snapshot.parts[i].warp == 12 && p->snapshot.parts[i].state == MBARRIER_WAIT)
            p->snapshot.parts[i] = (struct wsdbg_part){.warp = 12,
                                                       .lanes = 1,
                                                       .state = WSDBG_WARP_WAIT_NAMED,
                                                       .barrier = named + 1,
                                                       .count = wsdbg_known_u32(256)};
}

/* CTA 1 has left, but arrivals come from the own CTA only. */
void peer_exited_for_good(struct picture *p)
{
    peer_exited(p);
    p->snapshot.accesses[0].any_rank = false;
}
