/* sums.cuh - CTAs that have k-blocks of the same tile add up their sums.
 *
 * Stream-K: a CTA gives its sums to the one that has the tile's last k-blocks, through global memory and a flag for
 * each consumer.  Split-K: each CTA of a cluster has a part of the k-blocks, and owns some of the tile's boxes.  The
 * other CTAs send it their sums of these boxes, into slots that are no longer needed.  Sums are always added in the
 * same order, so every launch leaves the same bits.
 */
#ifndef GEMM_SUMS_CUH
#define GEMM_SUMS_CUH

#include "gemm.cuh"
#include "wgmma.cuh"

/* ---- stream-K ---- */

/* Where this thread's part of a consumer's sums lies: groups of four floats.  The same group of all 128 threads lies
 * together, so a warp writes and reads whole cache lines. */
DEVICE float4 *given_sums(const struct gemm *g, int cta, int consumer)
{
    float4 *const all = (float4 *)g->problem->sums;
    return all + (cta * CONSUMERS + consumer) * (CONSUMER_M * TILE_N / 4) + threadIdx.x % WARPGROUP_THREADS;
}

DEVICE void write_given(const struct gemm *g, int consumer, const float *d)
{
    float4 *const sums = given_sums(g, blockIdx.x, consumer);
#pragma unroll
    for (int i = 0; i < WGMMA_ACCUMULATORS; i += 4)
        __stcg(&sums[i / 4 * WARPGROUP_THREADS], make_float4(d[i], d[i + 1], d[i + 2], d[i + 3]));
}

DEVICE void add_four(float *d, float4 four)
{
    d[0] += four.x;
    d[1] += four.y;
    d[2] += four.z;
    d[3] += four.w;
}

DEVICE void add_given(const struct gemm *g, int cta, int consumer, float *d)
{
    const float4 *const sums = given_sums(g, cta, consumer);
#pragma unroll
    for (int i = 0; i < WGMMA_ACCUMULATORS; i += 4)
        add_four(d + i, __ldcg(&sums[i / 4 * WARPGROUP_THREADS]));
}

/* ---- split-K ---- */

#define BOX_ACCUMULATORS (CONSUMER_M * STORE_COLUMNS / WARPGROUP_THREADS)
#define BOX_SUMS_BYTES (CONSUMER_M * STORE_COLUMNS * (int)sizeof(float))

/* The CTAs that share a tile own its boxes in turn.  The boxes are numbered over both consumers. */
DEVICE int box_number(int consumer, int box)
{
    return consumer * STORE_BOXES + box;
}
DEVICE int box_owner(const struct gemm *g, int consumer, int box)
{
    return box_number(consumer, box) % g->splits;
}

/* Where the sums that `giver` sends of a box lie in the slots of the box's owner.  The order is that of given_sums. */
DEVICE float4 *sent_sums(const struct gemm *g, int consumer, int box, int giver)
{
    const int owned = box_number(consumer, box) / g->splits;
    const int place = owned * (g->splits - 1) + giver - (giver > box_owner(g, consumer, box));
    return (float4 *)g->shared.a + place * (BOX_SUMS_BYTES / sizeof(float4)) + threadIdx.x % WARPGROUP_THREADS;
}

/* How many bytes the other CTAs send to a consumer of this CTA. */
DEVICE uint32_t sent_bytes(const struct gemm *g, int consumer)
{
    int owned = 0;
    for (int box = 0; box < STORE_BOXES; box++)
        owned += box_owner(g, consumer, box) == g->part;
    return owned * (g->splits - 1) * BOX_SUMS_BYTES;
}

DEVICE void send_box(const struct gemm *g, int consumer, int box, const float *d)
{
    const int owner = box_owner(g, consumer, box);
    const uint32_t landed = shared_address_of(&g->shared.landed[consumer], owner);
    const uint32_t sums = shared_address_of(sent_sums(g, consumer, box, g->part), owner);
    const float *const from = d + box * BOX_ACCUMULATORS;
#pragma unroll
    for (int i = 0; i < BOX_ACCUMULATORS; i += 4)
        store_async(sums + i / 4 * WARPGROUP_THREADS * sizeof(float4), landed,
                    make_float4(from[i], from[i + 1], from[i + 2], from[i + 3]));
}

/* Adds the other CTAs' sums to this CTA's own, in the order of the CTAs in the cluster. */
DEVICE void add_boxes(const struct gemm *g, int consumer, float *d)
{
#pragma unroll
    for (int box = 0; box < STORE_BOXES; box++) {
        if (box_owner(g, consumer, box) != g->part)
            continue;
        float *const to = d + box * BOX_ACCUMULATORS;
#pragma unroll 1
        for (int giver = 0; giver < g->splits; giver++) {
            if (giver == g->part)
                continue;
            const float4 *const sums = sent_sums(g, consumer, box, giver);
#pragma unroll
            for (int i = 0; i < BOX_ACCUMULATORS; i += 4)
                add_four(to + i, sums[i / 4 * WARPGROUP_THREADS]);
        }
    }
}

#endif
