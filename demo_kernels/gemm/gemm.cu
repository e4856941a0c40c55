/* gemm.cu - the reference kernel: C = A * B^T, bf16 in and out, fp32 accumulation, warp-specialized for sm_90a.
 *
 * Reads A (m x k) and B (n x k), both row-major, so K is contiguous in both; writes C (m x n) row-major.
 * Three warpgroups: one loads tiles of A and B into a ring of STAGES slots (TMA), two multiply them (wgmma) and
 * store C through shared memory (TMA).  A slot has two mbarriers: `full` completes when its bytes have landed,
 * `empty` when every consumer warp that reads it has released it.
 *
 *   cooperative   a CTA's tile is 128 x TILE_N, each consumer takes 64 rows of it
 *   ping-pong     a CTA's tile is 64 x TILE_N; the consumers take tiles in turn, one stores while the other multiplies
 *   stream-K      cooperative, and the last tiles are shared among CTAs along K (scheduler.cuh)
 *
 * In a cluster the CTAs take tiles one above the other; each loads its part of B's tile for all.
 * GEMM_BUG selects one of the deliberate hangs of bugs.def; BUG(x) is constant and 0 in every other image.
 */
#include "box.cuh"
#include "geometry.h"
#include "scheduler.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

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

/* 40 x 128 + 232 x 256 = 168 x 384, what __launch_bounds__(384, 1) gives the CTA. */
#define PRODUCER_REGISTERS 40
#define CONSUMER_REGISTERS (BUG(regs_exhausted) ? 240 : 232)

/* Of a warp that has nothing else to do. */
#define INIT_THREAD 32

/* Whether this producer warp gives registers back. */
#define RELEASES_REGISTERS (!BUG(regs_no_release) && (!BUG(regs_partial) || threadIdx.x < 32))

enum role { ROLE_PRODUCER, ROLE_CONSUMER_0, ROLE_CONSUMER_1 };
enum barrier { BARRIER_FULL, BARRIER_EMPTY };
enum polled_word { WORD_READY };
enum named_barrier { NAMED_STORE_0 = 1, NAMED_STORE_1, NAMED_TURN_0, NAMED_TURN_1 };

/* An unused slot is free, except where the consumers hand it over first. */
#ifdef GEMM_BUG_double_arrive
#define EMPTY_BARRIER WSDBG_MBARRIER
#else
#define EMPTY_BARRIER WSDBG_MBARRIER_FREE
#endif

WSDBG_MODULE(WSDBG_ROLE(ROLE_PRODUCER, "producer"), WSDBG_ROLE(ROLE_CONSUMER_0, "consumer 0"),
             WSDBG_ROLE(ROLE_CONSUMER_1, "consumer 1"),
             WSDBG_MBARRIER(BARRIER_FULL, "full", STAGES, 1 << ROLE_PRODUCER,
                            1 << ROLE_CONSUMER_0 | 1 << ROLE_CONSUMER_1),
             EMPTY_BARRIER(BARRIER_EMPTY, "empty", STAGES, 1 << ROLE_CONSUMER_0 | 1 << ROLE_CONSUMER_1,
                           1 << ROLE_PRODUCER),
             WSDBG_NAMED_BARRIER(NAMED_STORE_0, "store 0", 1 << ROLE_CONSUMER_0, 1 << ROLE_CONSUMER_0),
             WSDBG_NAMED_BARRIER(NAMED_STORE_1, "store 1", 1 << ROLE_CONSUMER_1, 1 << ROLE_CONSUMER_1),
             WSDBG_NAMED_BARRIER(NAMED_TURN_0, "turn 0", 1 << ROLE_CONSUMER_1, 1 << ROLE_CONSUMER_0),
             WSDBG_NAMED_BARRIER(NAMED_TURN_1, "turn 1", 1 << ROLE_CONSUMER_0, 1 << ROLE_CONSUMER_1))

/* What every role needs.  The first six are constants of the kernel that is instantiated. */
struct gemm {
    int cluster_size;
    int ping_pong;
    int tile_m; /* rows of C a CTA computes at a time */
    int consumer_step;
    int releases;     /* arrivals that free a slot */
    int enters_early; /* warps record their begin before they part into roles, as there they have events already */
    int rank;         /* of this CTA in its cluster */
    struct schedule schedule;
    struct shared_memory *shared;
    const struct gemm_problem *problem;
    const struct tensor_map *a, *b, *c;
};

/* ---- what warps record first ---- */

/* A short product waits for its first copies.  So nothing is recorded before the roles part, and then the loading thread
 * records its begin behind the first copies, the others theirs while those are on their way. */
DEVICE void begin_role(struct wsdbg_warp *w, const struct gemm *g, uint32_t role)
{
    if (g->enters_early)
        WSDBG_ROLE_BEGIN(*w, role);
    else
        WSDBG_ENTER_AS(*w, role);
}

DEVICE void announce_barriers(struct wsdbg_warp *w, const struct gemm *g)
{
#pragma unroll 1
    for (int slot = 0; slot < STAGES; slot++) {
        WSDBG_MBARRIER_INIT(*w, BARRIER_FULL, slot, 1);
        WSDBG_MBARRIER_INIT(*w, BARRIER_EMPTY, slot, g->releases);
    }
}

/* What a warp of the producer has done by now; the barriers' set-up is told as of a time before any arrival's. */
DEVICE void announce_producer(struct wsdbg_warp *w, const struct gemm *g)
{
    WSDBG_TELL_AS_OF(*w, WSDBG_TIME());
    begin_role(w, g, ROLE_PRODUCER);
    if (!g->enters_early && threadIdx.x / 32 == INIT_THREAD / 32)
        announce_barriers(w, g);
    if (RELEASES_REGISTERS)
        WSDBG_REGISTERS_RELEASE(*w, PRODUCER_REGISTERS);
}

/* ---- producer ---- */

/* Loads the A tile of one k-block. */
DEVICE void load_a(const struct gemm *g, struct tile tile, int k_block, uint32_t slot)
{
    const int row = (tile.row * g->cluster_size + g->rank) * g->tile_m;
    tma_load(g->shared->a[slot], g->a, &g->shared->full[slot], k_block * BLOCK_K, row);
}

DEVICE void announce_load_a(struct wsdbg_warp *w, const struct gemm *g, uint32_t slot, uint32_t iteration)
{
    WSDBG_TMA_ISSUE(*w, BARRIER_FULL, slot, iteration, g->tile_m * BLOCK_K * sizeof(bf16), 0);
}

/* Loads the B tile of one k-block; in a cluster, this CTA's part of it for all. */
DEVICE void load_b(const struct gemm *g, struct tile tile, int k_block, uint32_t slot)
{
    const int rows = TILE_N / g->cluster_size;
    const int row = tile.column * TILE_N + g->rank * rows;
    bf16 *const destination = g->shared->b[slot] + g->rank * rows * BLOCK_K;
    uint64_t *const full = &g->shared->full[slot];
    if (g->cluster_size == 1)
        tma_load(destination, g->b, full, k_block * BLOCK_K, row);
    else
        tma_load_multicast(destination, g->b, full, k_block * BLOCK_K, row, (1 << g->cluster_size) - 1);
}

DEVICE void announce_load_b(struct wsdbg_warp *w, const struct gemm *g, uint32_t slot, uint32_t iteration)
{
    WSDBG_TMA_ISSUE(*w, BARRIER_FULL, slot, iteration, TILE_N / g->cluster_size * BLOCK_K * sizeof(bf16),
                    g->cluster_size == 1 ? 0 : (1 << g->cluster_size) - 1);
}

/* Until every slot is free again: then no other CTA of the cluster will arrive on a barrier of this one any more. */
DEVICE void wait_for_releases(struct wsdbg_warp *w, const struct gemm *g, uint32_t iteration)
{
#pragma unroll 1
    for (int slot = 0; slot < STAGES; slot++, iteration++)
        MBARRIER_WAIT(*w, BARRIER_EMPTY, g->shared->empty, slot_of(iteration), round_parity(iteration) ^ 1, iteration);
}

/* Both tiles of one k-block, once the slot is free. */
DEVICE void fill_slot(const struct gemm *g, struct tile tile, int k_block, uint32_t slot, uint32_t bytes)
{
    mbarrier_arrive_expect_tx(&g->shared->full[slot], bytes);
    load_a(g, tile, k_block, slot);
    load_b(g, tile, k_block, slot);
}

/* The parity that a free slot's barrier has gone past.  The opposite one: the phase before the first one counts as
 * complete, so an unused slot is free. */
DEVICE uint32_t empty_parity(uint32_t iteration)
{
    return round_parity(iteration) ^ (BUG(parity_wrong) || BUG(double_arrive) ? 0 : 1);
}

/* One thread: fills the slots in order, k-block after k-block, tile after tile.  All of the first tile waits for the
 * first copies, so they come before the first event, which is told as of then. */
DEVICE void produce(struct wsdbg_warp *w, const struct gemm *g, int tiles)
{
    struct shared_memory *const shared = g->shared;
    const uint32_t bytes = g->tile_m * BLOCK_K * (BUG(tx_mismatch) ? sizeof(float) : sizeof(bf16)) +
                           TILE_N * BLOCK_K * sizeof(bf16);
    struct tile tile = schedule_tile(&g->schedule, 0);
    const bool at_once = !g->enters_early && mbarrier_try_wait(&shared->empty[0], empty_parity(0));
    if (at_once)
        fill_slot(g, tile, tile.k_begin, 0, bytes);
    announce_producer(w, g);
    uint32_t iteration = 0;
    for (int ordinal = 0; ordinal < tiles; ordinal++) {
        if (ordinal > 0) {
            tile = schedule_tile(&g->schedule, ordinal);
            WSDBG_TELL_NOW(*w);
        }
        WSDBG_TILE_BEGIN(*w, iteration, tile.index);
#pragma unroll 1 /* four copies with probes need more than the producer's registers */
        for (int k_block = tile.k_begin; k_block < tile.k_end; k_block++, iteration++) {
            const uint32_t slot = slot_of(iteration);
            const bool is_filled = at_once && iteration == 0;
            if (!is_filled) {
                WSDBG_TELL_NOW(*w);
                MBARRIER_WAIT_ONLY(*w, BARRIER_EMPTY, shared->empty, slot, empty_parity(iteration), iteration);
            }
            WSDBG_MBARRIER_ARRIVE_EXPECT_TX(*w, BARRIER_FULL, slot, iteration, bytes);
            if (!is_filled)
                fill_slot(g, tile, k_block, slot, bytes);
            /* The copies are on their way: time for their events. */
            announce_load_a(w, g, slot, iteration);
            announce_load_b(w, g, slot, iteration);
        }
    }
    WSDBG_TELL_NOW(*w);
    if (g->cluster_size > 1)
        wait_for_releases(w, g, iteration);
}

/* The producer of the bug shared-full-barrier: warp 0 loads A, warp 1 loads B, on one full barrier that waits for
 * one arrival.  Warp 1 takes longer for each block, as a loader does that has to work out more addresses. */
DEVICE void produce_one_operand(struct wsdbg_warp *w, const struct gemm *g, int loads_b)
{
    struct shared_memory *const shared = g->shared;
    uint32_t iteration = 0;
    for (int ordinal = 0; ordinal < g->schedule.count; ordinal++) {
        const struct tile tile = schedule_tile(&g->schedule, ordinal);
        WSDBG_TILE_BEGIN(*w, iteration, tile.index);
#pragma unroll 1
        for (int k_block = tile.k_begin; k_block < tile.k_end; k_block++, iteration++) {
            const uint32_t slot = slot_of(iteration);
            MBARRIER_WAIT(*w, BARRIER_EMPTY, shared->empty, slot, round_parity(iteration) ^ 1, iteration);
            if (loads_b) {
                __nanosleep(2000);
                MBARRIER_EXPECT_TX(*w, BARRIER_FULL, shared->full, slot, iteration, TILE_N * BLOCK_K * sizeof(bf16));
                load_b(g, tile, k_block, slot);
                announce_load_b(w, g, slot, iteration);
            } else {
                MBARRIER_ARRIVE_EXPECT_TX(*w, BARRIER_FULL, shared->full, slot, iteration,
                                          g->tile_m * BLOCK_K * sizeof(bf16));
                load_a(g, tile, k_block, slot);
                announce_load_a(w, g, slot, iteration);
            }
        }
    }
}

/* ---- consumer ---- */

/* One arrival of this warp on the slot's empty barrier, in every CTA whose copies write into the slot.  Announced
 * first: an event must not be newer than what the arrival sets off. */
DEVICE void announce_release(struct wsdbg_warp *w, const struct gemm *g, uint32_t iteration)
{
    if (threadIdx.x % 32 != 0)
        return;
    if (g->cluster_size == 1) {
        WSDBG_MBARRIER_ARRIVE(*w, BARRIER_EMPTY, slot_of(iteration), iteration);
    } else {
#pragma unroll
        for (int rank = 0; rank < g->cluster_size; rank++)
            WSDBG_MBARRIER_ARRIVE_REMOTE(*w, BARRIER_EMPTY, slot_of(iteration), iteration, rank);
    }
}

DEVICE void release_slot(const struct gemm *g, uint32_t iteration)
{
    if (threadIdx.x % 32 != 0)
        return;
    uint64_t *const empty = &g->shared->empty[slot_of(iteration)];
    if (g->cluster_size == 1) {
        mbarrier_arrive(empty);
    } else {
#pragma unroll
        for (int rank = 0; rank < g->cluster_size; rank++)
            mbarrier_arrive_remote(empty, rank);
    }
}

/* The other convention for unused slots, which the bug double-arrive follows: no parity is inverted, the consumers
 * release every slot once before its first use. */
DEVICE void hand_over_slots(struct wsdbg_warp *w, const struct gemm *g)
{
    if (threadIdx.x < WARPGROUP_THREADS || threadIdx.x % 32 != 0)
        return;
    for (int slot = 0; slot < STAGES; slot++)
        MBARRIER_ARRIVE(*w, BARRIER_EMPTY, g->shared->empty, slot, WSDBG_NO_ITERATION);
}

/* Until the stores before have left this consumer's buffers, for all its warps. */
DEVICE void wait_for_buffers(struct wsdbg_warp *w, int consumer)
{
    if (threadIdx.x % WARPGROUP_THREADS == 0)
        BULK_WAIT_READ(*w, STORE_BUFFERS - 1 - STORE_BOXES % STORE_BUFFERS); /* an odd box was in the first buffer */
    NAMED_SYNC(*w, NAMED_STORE_0 + consumer, WARPGROUP_THREADS);
}

/* Multiplies `k_blocks` of one tile into `d`.  One group of wgmma stays in flight, so a slot is released when the
 * group after the one that read it has been issued.  While the first group is in flight, all is done that the store of
 * `d` needs, its events too: the store's first fence would wait for them. */
DEVICE void multiply(struct wsdbg_warp *w, const struct gemm *g, int consumer, int k_blocks, uint32_t iteration,
                     bool has_stored, float *d)
{
    struct shared_memory *const shared = g->shared;
    const int a_offset = g->ping_pong ? 0 : consumer * CONSUMER_M * BLOCK_K;
    const int k_step = WGMMA_K * sizeof(bf16) / WGMMA_DESCRIPTOR_BYTES;
#pragma unroll 1
    for (int k_block = 0; k_block < k_blocks; k_block++, iteration++) {
        const uint32_t slot = slot_of(iteration);
        MBARRIER_WAIT_ONLY(*w, BARRIER_FULL, shared->full, slot, round_parity(iteration), iteration);
        const uint64_t a = wgmma_descriptor(shared->a[slot] + a_offset);
        const uint64_t b = wgmma_descriptor(shared->b[slot]);
        if (k_block == 0) /* here the warps of the group may not all be there yet */
            WSDBG_WGMMA_ISSUE(*w, slot, iteration);
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < BLOCK_K / WGMMA_K; step++) {
            wgmma_m64k16(d, a + step * k_step, b + step * k_step, step > 0 || k_block > 0);
            if (BUG(wgmma_serialized))
                asm volatile("add.f32 %0, %0, 0f80000000;" : "+f"(d[0])); /* adds -0: changes no value */
        }
        wgmma_commit();
        /* Events are written while the tensor cores work: the wait that has ended, the release that is next. */
        WSDBG_MBARRIER_WAIT_END(*w, BARRIER_FULL, slot, round_parity(iteration), iteration);
        if (k_block > 0)
            announce_release(w, g, iteration - 1);
        else if (has_stored)
            wait_for_buffers(w, consumer);
        wgmma_wait(1);
        if (k_block > 0)
            release_slot(g, iteration - 1);
    }
    const int releases = !BUG(arrive_missing) || consumer != 0;
    if (releases)
        announce_release(w, g, iteration - 1);
    WSDBG_WGMMA_WAIT_BEGIN(*w, iteration - 1, 0);
    wgmma_wait(0);
    if (releases)
        release_slot(g, iteration - 1);
}

/* Stores a consumer's 64 x TILE_N accumulators, in boxes of 64 columns through two buffers.  The stores are probed as
 * one, and the end of the wait for `d` behind them: every event before a proxy fence is a store that the fence waits
 * for.  That each store is committed goes without saying. */
DEVICE void store(struct wsdbg_warp *w, const struct gemm *g, int consumer, struct tile tile, uint32_t iteration,
                  const float *d)
{
    const int leader = threadIdx.x % WARPGROUP_THREADS == 0;
    const int row = (tile.row * g->cluster_size + g->rank) * g->tile_m + (g->ping_pong ? 0 : consumer * CONSUMER_M);
    const int column = tile.column * TILE_N;
    const uint32_t barrier = NAMED_STORE_0 + consumer;
#pragma unroll
    for (int box = 0; box < STORE_BOXES; box++) {
        bf16 *const buffer = g->shared->c[consumer][box % STORE_BUFFERS];
        if (box > 0) {
            if (leader)
                bulk_wait_read(STORE_BUFFERS - 1);
            named_sync(barrier, WARPGROUP_THREADS);
        }
        write_box(buffer, d + box * (WGMMA_ACCUMULATORS * STORE_COLUMNS / TILE_N));
        fence_shared_for_tma();
        named_sync(barrier, WARPGROUP_THREADS);
        if (leader) {
            tma_store(g->c, buffer, column + box * STORE_COLUMNS, row);
            bulk_commit();
        }
    }
    WSDBG_WGMMA_WAIT_END(*w, iteration, 0);
    if (leader)
        WSDBG_TMA_STORE_ISSUE(*w, iteration, CONSUMER_M * TILE_N * sizeof(bf16));
}

/* Where a consumer's sums lie that its CTA gives away: four by four, a thread's fours a warpgroup apart, so that a warp
 * writes and reads whole lines. */
DEVICE float4 *given_sums(const struct gemm *g, int cta, int consumer)
{
    float4 *const all = (float4 *)g->problem->sums;
    return all + (cta * CONSUMERS + consumer) * (CONSUMER_M * TILE_N / 4) + threadIdx.x % WARPGROUP_THREADS;
}

/* Leaves the sums of a tile's first k-blocks to the CTA that has its last ones. */
DEVICE void give(struct wsdbg_warp *w, const struct gemm *g, int consumer, uint32_t iteration, const float *d)
{
    WSDBG_WGMMA_WAIT_END(*w, iteration, 0);
    float4 *const sums = given_sums(g, blockIdx.x, consumer);
#pragma unroll
    for (int i = 0; i < WGMMA_ACCUMULATORS; i += 4)
        __stcg(&sums[i / 4 * WARPGROUP_THREADS], make_float4(d[i], d[i + 1], d[i + 2], d[i + 3]));
    NAMED_SYNC(*w, NAMED_STORE_0 + consumer, WARPGROUP_THREADS);
    if (threadIdx.x % WARPGROUP_THREADS == 0)
        store_release(&g->problem->ready[blockIdx.x * CONSUMERS + consumer], 1);
}

/* Adds the sums of the k-blocks before tile.k_begin, always in the same order: those of the nearest cluster first. */
DEVICE void take(struct wsdbg_warp *w, const struct gemm *g, int consumer, struct tile tile, float *d)
{
    int giver = g->schedule.first;
    do {
        giver--;
        const int cta = giver * g->cluster_size + g->rank;
        uint32_t *const ready = &g->problem->ready[cta * CONSUMERS + consumer];
        if (threadIdx.x % WARPGROUP_THREADS == 0) {
            POLL_WHILE(*w, WORD_READY, load_acquire(ready) == 0, 20);
            *ready = 0; /* for the next launch */
        }
        NAMED_SYNC(*w, NAMED_STORE_0 + consumer, WARPGROUP_THREADS);
        const float4 *const sums = given_sums(g, cta, consumer);
#pragma unroll
        for (int i = 0; i < WGMMA_ACCUMULATORS; i += 4) {
            const float4 four = __ldcg(&sums[i / 4 * WARPGROUP_THREADS]);
            d[i] += four.x;
            d[i + 1] += four.y;
            d[i + 2] += four.z;
            d[i + 3] += four.w;
        }
    } while (schedule_begin_in(&g->schedule, tile, giver) > 0);
}

/* One warpgroup: multiplies and stores its tiles.  In ping-pong, a consumer multiplies only when the other one has
 * done so with the tile before, so that the tensor cores see one tile at a time and the stores hide behind them. */
DEVICE void consume(struct wsdbg_warp *w, const struct gemm *g, int consumer)
{
    float d[WGMMA_ACCUMULATORS];
    const int first = g->ping_pong ? consumer : 0;
    for (int ordinal = first; ordinal < g->schedule.count; ordinal += g->consumer_step) {
        const struct tile tile = schedule_tile(&g->schedule, ordinal);
        const uint32_t iteration = tile.iteration;
        const int k_blocks = tile.k_end - tile.k_begin;
        WSDBG_TILE_BEGIN(*w, iteration, tile.index);
        if (g->ping_pong && ordinal > 0)
            NAMED_SYNC(*w, NAMED_TURN_0 + consumer, CONSUMERS * WARPGROUP_THREADS);
        multiply(w, g, consumer, k_blocks, iteration, ordinal > first, d);
        if (g->ping_pong && ordinal + 1 < g->schedule.count)
            NAMED_ARRIVE(*w, NAMED_TURN_0 + (1 - consumer), CONSUMERS * WARPGROUP_THREADS);
        if (tile.k_end < g->schedule.k_blocks) {
            give(w, g, consumer, iteration + k_blocks - 1, d);
            continue;
        }
        if (tile.k_begin > 0)
            take(w, g, consumer, tile, d);
        store(w, g, consumer, tile, iteration + k_blocks - 1, d);
    }
    if (threadIdx.x % WARPGROUP_THREADS == 0) {
        WSDBG_BULK_WAIT_BEGIN(*w, 0);
        bulk_wait_read(0); /* that it has ended, the warp's exit tells */
    }
}

/* ---- the kernel ---- */

DEVICE void init_barriers(struct shared_memory *shared, int releases)
{
    for (int slot = 0; slot < STAGES; slot++) {
        mbarrier_init(&shared->full[slot], 1);
        mbarrier_init(&shared->empty[slot], releases);
    }
    mbarrier_init_fence();
}

DEVICE void producer_warpgroup(struct wsdbg_warp *w, const struct gemm *g)
{
    const int warp = threadIdx.x / 32;
    const int elected = threadIdx.x % 32 == 0;
    const int tiles = g->schedule.count - (BUG(waker_exited) ? 1 : 0);
    const int produces = BUG(shared_full_barrier) ? warp < 2 : warp == 0 && tiles > 0;
    if (RELEASES_REGISTERS)
        registers_release(PRODUCER_REGISTERS);
    if (produces && !BUG(shared_full_barrier)) {
        if (elected)
            produce(w, g, tiles);
        __syncwarp();
        WSDBG_SHARE(*w, 0);
    } else {
        announce_producer(w, g);
        WSDBG_TELL_NOW(*w);
        if (produces && elected)
            produce_one_operand(w, g, warp == 1);
        __syncwarp();
    }
}

DEVICE void consumer_warpgroup(struct wsdbg_warp *w, const struct gemm *g, int consumer)
{
    begin_role(w, g, ROLE_CONSUMER_0 + consumer);
    REGISTERS_REQUEST(*w, CONSUMER_REGISTERS);
    consume(w, g, consumer);
}

/* The body of every kernel below; `cluster_size`, `ping_pong` and `stream_k` are constants there. */
DEVICE void gemm_body(int cluster_size, int ping_pong, int stream_k, const struct gemm_problem *problem,
                      const struct tensor_map *a, const struct tensor_map *b, const struct tensor_map *c)
{
    extern __shared__ __align__(1024) uint8_t dynamic_shared[];
    struct shared_memory *const shared = (struct shared_memory *)dynamic_shared;
    const int inits = threadIdx.x == INIT_THREAD;
    if (threadIdx.x == 0) {
        tma_prefetch_map(a);
        tma_prefetch_map(b);
        tma_prefetch_map(c);
    }
    struct gemm g;
    g.cluster_size = cluster_size;
    g.ping_pong = ping_pong;
    g.releases = (ping_pong ? 1 : CONSUMERS) * WARPGROUP_WARPS * cluster_size;
    g.enters_early = cluster_size > 1 || BUG(double_arrive);
    /* Before the first event, for which the fence in there would wait. */
    if (inits)
        init_barriers(shared, g.releases);
    g.tile_m = ping_pong ? CONSUMER_M : CONSUMERS * CONSUMER_M;
    g.consumer_step = ping_pong ? CONSUMERS : 1;
    g.rank = blockIdx.x % cluster_size;
    g.problem = problem;
    g.schedule = schedule_make(problem, g.tile_m * cluster_size, TILE_N, blockIdx.x / cluster_size,
                               gridDim.x / cluster_size, stream_k);
    g.shared = shared;
    g.a = a;
    g.b = b;
    g.c = c;
    WSDBG_STATE(w);
    if (g.enters_early)
        WSDBG_ENTER(w);
    if (cluster_size > 1)
        CLUSTER_SYNC_RELAXED(w); /* the fence in init_barriers has published the barriers */
    else
        __syncthreads();
    if (g.enters_early && inits)
        announce_barriers(&w, &g);
    if (BUG(double_arrive)) {
        hand_over_slots(&w, &g);
        hand_over_slots(&w, &g);
        /* Both before the producer's first look: it never sees the phase between. */
        __syncthreads();
    }

    /* Uniform over the warpgroup, and the compiler can see it: setmaxnreg is ignored otherwise. */
    const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / WARPGROUP_THREADS, 0);
    if (warpgroup == 0)
        producer_warpgroup(&w, &g);
    else
        consumer_warpgroup(&w, &g, warpgroup - 1);
    WSDBG_EXIT(w);
}

#define GEMM_KERNEL(name, cluster_size, ping_pong, stream_k, attributes)                                       \
    extern "C" __global__ void attributes __launch_bounds__(CTA_THREADS, 1)                                    \
        name(const __grid_constant__ struct gemm_problem problem, const __grid_constant__ struct tensor_map a, \
             const __grid_constant__ struct tensor_map b, const __grid_constant__ struct tensor_map c)         \
    {                                                                                                          \
        gemm_body(cluster_size, ping_pong, stream_k, &problem, &a, &b, &c);                                    \
    }

GEMM_KERNEL(gemm_cooperative, 1, 0, 0, )
#if !BUG_IMAGE /* the bugs need one kernel only */
GEMM_KERNEL(gemm_cooperative_cluster2, 2, 0, 0, __cluster_dims__(2, 1, 1))
GEMM_KERNEL(gemm_pingpong, 1, 1, 0, )
GEMM_KERNEL(gemm_pingpong_cluster2, 2, 1, 0, __cluster_dims__(2, 1, 1))
#endif
#ifdef GEMM_MORE
GEMM_KERNEL(gemm_cooperative_cluster4, 4, 0, 0, __cluster_dims__(4, 1, 1))
#if TILE_N < 256 /* with the sums of 256 columns no registers are left for what is added to them */
GEMM_KERNEL(gemm_streamk, 1, 0, 1, )
GEMM_KERNEL(gemm_streamk_cluster2, 2, 0, 1, __cluster_dims__(2, 1, 1))
GEMM_KERNEL(gemm_streamk_cluster4, 4, 0, 1, __cluster_dims__(4, 1, 1))
#endif
#endif
