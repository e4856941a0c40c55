/* parity_k_not_multiple - the parity comes from the k index of the tile, the stage from the iteration of the kernel.
 *
 * That agrees while a tile's k-blocks fill whole rounds of the ring; here a tile has one more.  The producer lets the
 * ring run empty at the end of a tile.
 *
 * Shaped after: tile-ai/tilelang#3087.
 * Cause: PARITY_DRIFT.  Roles: the producer waits at the start of the second tile, and with it the consumers.  Barrier:
 * empty[1]. Fix: stage and parity from the same counter.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define TILES 3
#define K_BLOCKS (STAGES + 1)

ZOO_CASE(parity_k_not_multiple, )
{
    RING_INIT(w, s, 1, CONSUMER_WARPS);
    if (warp == 0 && is_lane_0()) {
        ROLE_BEGIN(w, ROLE_PRODUCER);
#pragma unroll 1
        for (int tile = 0; tile < TILES; tile++) {
            WSDBG_TILE_BEGIN(w, tile * K_BLOCKS, tile);
            for (int k = 0; k < K_BLOCKS; k++) {
                const int i = tile * K_BLOCKS + k;
                const uint32_t stage = i % STAGES, round = (FIXED ? i : k) / STAGES;
                MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, stage, (round ^ 1) & 1, i);
                MBARRIER_ARRIVE_EXPECT_TX(w, BARRIER_FULL, s->full, stage, i, COPY_BYTES);
                LOAD_STAGE(w, s, stage, i, in.source + i * COPY_BYTES, COPY_BYTES);
            }
#pragma unroll 1
            for (int i = (tile + 1) * K_BLOCKS - STAGES; i < (tile + 1) * K_BLOCKS; i++)
                MBARRIER_WAIT(w, BARRIER_EMPTY, s->empty, i % STAGES, i / STAGES % 2, i);
        }
    } else if (warp >= 4) {
        ROLE_BEGIN(w, ROLE_CONSUMER);
#pragma unroll 1
        for (int i = 0; i < TILES * K_BLOCKS; i++) {
            const uint32_t stage = i % STAGES;
            MBARRIER_WAIT(w, BARRIER_FULL, s->full, stage, i / STAGES % 2, i);
            consume(s, stage);
            RELEASE_STAGE(w, s, stage, i);
        }
    }
}
