/* gemm.cuh - what the parts of the reference kernel share: which image it is, names for wsdbg, shared memory, the state
 * of a CTA.
 *
 * Probes stand in gemm.cu alone: the lines that they record are that file's.
 */
#ifndef GEMM_GEMM_CUH
#define GEMM_GEMM_CUH

#include "../common/sync.cuh"
#include "geometry.h"
#include "scheduler.cuh"
#include "tma.cuh"

#define BUG(id, ...) BUG_##id,
enum {
    BUG_none, /* the rest comes from the table */
#include "bugs.def"
};
#undef BUG

#ifdef GEMM_BUG
#define BUG_IMAGE 1
#else
#define BUG_IMAGE 0
#define GEMM_BUG BUG_none
#endif
#define BUG(id) (GEMM_BUG == BUG_##id)

/* Whether this image has every kernel of its width.  An image without them leaves out all code that only those kernels
 * need. */
#ifdef GEMM_MORE
#define MORE 1
#define STAGES STAGES_MOST
#else
#define MORE 0
#define STAGES STAGES_OF(2 * CONSUMER_M, TILE_N)
#endif

enum role { ROLE_PRODUCER, ROLE_CONSUMER_0, ROLE_CONSUMER_1 };
enum barrier { BARRIER_FULL, BARRIER_EMPTY, BARRIER_OPEN, BARRIER_LANDED };
enum polled_word { WORD_READY };
enum named_barrier { NAMED_STORE_0 = 1, NAMED_STORE_1, NAMED_TURN_0, NAMED_TURN_1, NAMED_RING };

/* Shared memory in this order: the slots' tiles of A, those of B, the buffers of the stores, the mbarriers. */
struct shared_memory {
    bf16 *a, *b, *c;
    uint64_t *full, *empty;
    uint64_t *open, *landed; /* split-K alone: all CTAs' slots are free; the other CTAs' sums are here, per consumer */
};

/* What every role needs.  The members before `rank` are constants in each kernel. */
struct gemm {
    int cluster_size; /* CTAs that load B's tiles for one another */
    int ping_pong;
    int split_k;
    int tile_m; /* rows of C a CTA computes at a time */
    uint32_t stages;
    int consumer_step;
    int releases;     /* arrivals that free a slot */
    int enters_early; /* warps record their begin before they split into roles, because they have events before that */
    int rank;         /* of this CTA among those that share B */
    int part, splits; /* of this CTA among those that share a tile's k-blocks; how many these are */
    struct schedule schedule;
    struct shared_memory shared;
    const struct gemm_problem *problem;
    const struct tensor_map *a, *b, *c;
    const struct tensor_map *a_edge, *b_edge; /* of tiles that reach over the edge */
};

/* A k-block of this CTA: its number, the slot it lies in, and how often the slot was used before, modulo 2. */
struct position {
    uint32_t iteration, slot, parity;
};

DEVICE struct position position_of(const struct gemm *g, uint32_t iteration)
{
    struct position p;
    p.iteration = iteration;
    p.slot = iteration % g->stages;
    p.parity = iteration / g->stages & 1;
    return p;
}
DEVICE void position_advance(const struct gemm *g, struct position *p)
{
    p->iteration++;
    if (++p->slot == g->stages) {
        p->slot = 0;
        p->parity ^= 1;
    }
}

DEVICE bf16 *slot_a(const struct gemm *g, uint32_t slot)
{
    return g->shared.a + slot * g->tile_m * BLOCK_K;
}
DEVICE bf16 *slot_b(const struct gemm *g, uint32_t slot)
{
    return g->shared.b + slot * TILE_N * BLOCK_K;
}
DEVICE bf16 *store_buffer(const struct gemm *g, int consumer, int buffer)
{
    return g->shared.c + (consumer * STORE_BUFFERS + buffer) * CONSUMER_M * STORE_COLUMNS;
}

DEVICE struct shared_memory shared_memory_at(uint8_t *base, int tile_m, uint32_t stages)
{
    struct shared_memory shared;
    shared.a = (bf16 *)base;
    shared.b = shared.a + stages * tile_m * BLOCK_K;
    shared.c = shared.b + stages * TILE_N * BLOCK_K;
    shared.full = (uint64_t *)((uint8_t *)shared.c + STORE_BYTES_OF(TILE_N));
    shared.empty = shared.full + stages;
    shared.open = shared.empty + stages;
    shared.landed = shared.open + 1;
    return shared;
}

/* How the k-blocks of a tile are shared among CTAs. */
enum sharing { SHARE_NONE, SHARE_STREAM_K, SHARE_SPLIT_K };

/* Makes the state of this CTA.  The first three parameters are constants in each kernel. */
DEVICE struct gemm gemm_make(int cluster_size, int consumers_a_tile, enum sharing sharing,
                             const struct gemm_problem *problem, uint8_t *shared)
{
    struct gemm g;
    g.cluster_size = cluster_size;
    g.ping_pong = consumers_a_tile == 1;
    g.split_k = sharing == SHARE_SPLIT_K;
    g.tile_m = consumers_a_tile * CONSUMER_M;
    g.stages = STAGES_OF(consumers_a_tile * CONSUMER_M, TILE_N);
    g.consumer_step = g.ping_pong ? CONSUMERS : 1;
    g.releases = consumers_a_tile * WARPGROUP_WARPS * cluster_size;
    g.enters_early = MORE || cluster_size > 1 || BUG(double_arrive);
    g.rank = blockIdx.x % cluster_size;
    g.splits = g.split_k ? cluster_ctas() : 1;
    g.part = blockIdx.x % g.splits;
    g.problem = problem;
    const int sharers = g.split_k ? g.splits : cluster_size;
    g.schedule = schedule_make(problem, g.tile_m * cluster_size, TILE_N, blockIdx.x / sharers, gridDim.x / sharers,
                               sharing == SHARE_STREAM_K, MORE && problem->transposed);
    if (g.split_k)
        schedule_split(&g.schedule, g.part, g.splits);
    g.shared = shared_memory_at(shared, g.tile_m, g.stages);
    return g;
}

#endif
