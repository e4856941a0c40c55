/* gemm.cu - the reference kernel: C = A * B^T, bf16 in and out, fp32 accumulation, warp-specialized for sm_90a.
 *
 * Reads A (m x k) and B (n x k), both row-major, so K is contiguous in both; writes C (m x n) row-major.
 * Three warpgroups: one loads tiles of A and B into a ring of slots (TMA), two multiply them (wgmma) and
 * store C through shared memory (TMA).  A slot has two mbarriers: `full` completes when its bytes have landed,
 * `empty` when every consumer warp that reads it has released it.
 *
 *   cooperative   a CTA's tile is 128 x TILE_N; each consumer computes 64 rows of it
 *   ping-pong     a CTA's tile is 64 x TILE_N; the consumers take tiles in turn: one stores while the other multiplies
 *   stream-K      like cooperative, but CTAs share the k-blocks of the last tiles (scheduler.cuh)
 *   split-K       a cluster computes one tile, 128 or 64 rows high; its CTAs share the k-blocks (sums.cuh)
 *
 * In other schedules the CTAs of a cluster compute tiles one above the other.  Each loads a part of B's tile for all.
 * A launch may begin before the previous launch has ended.  It touches the matrices only after that launch has ended.
 * GEMM_BUG selects one of the deliberate hangs of bugs.def; BUG(x) is constant and 0 in every other image.
 */
#include "box.cuh"
#include "gemm.cuh"
#include "loads.cuh"
#include "sums.cuh"

/* 40 x 128 + 232 x 256 = 56 x 128 + 224 x 256 = 168 x 384: the registers of a CTA with __launch_bounds__(384, 1). */
#define PRODUCER_REGISTERS (MORE ? 56 : 40)
#define CONSUMER_REGISTERS (BUG(regs_exhausted) ? 240 : MORE ? 224 : 232)

/* The thread that initialises the barriers.  Its warp has nothing else to do. */
#define INIT_THREAD 32

/* Whether this producer warp gives registers back. */
#define RELEASES_REGISTERS (!BUG(regs_no_release) && (!BUG(regs_partial) || threadIdx.x < 32))

/* A new slot is free, except in the bug double-arrive: there the consumers release it first. */
#ifdef GEMM_BUG_double_arrive
#define EMPTY_BARRIER WSDBG_MBARRIER
#else
#define EMPTY_BARRIER WSDBG_MBARRIER_FREE
#endif

#define CONSUMER_ROLES (1 << ROLE_CONSUMER_0 | 1 << ROLE_CONSUMER_1)
#if MORE
#define SPLIT_K_BARRIERS                                                                     \
    , WSDBG_MBARRIER(BARRIER_OPEN, "open", 1, CONSUMER_ROLES, CONSUMER_ROLES),               \
        WSDBG_MBARRIER(BARRIER_LANDED, "landed", CONSUMERS, CONSUMER_ROLES, CONSUMER_ROLES), \
        WSDBG_NAMED_BARRIER(NAMED_RING, "ring", CONSUMER_ROLES, CONSUMER_ROLES)
#else
#define SPLIT_K_BARRIERS
#endif

WSDBG_MODULE(WSDBG_ROLE(ROLE_PRODUCER, "producer"), WSDBG_ROLE(ROLE_CONSUMER_0, "consumer 0"),
             WSDBG_ROLE(ROLE_CONSUMER_1, "consumer 1"),
             WSDBG_MBARRIER(BARRIER_FULL, "full", STAGES, 1 << ROLE_PRODUCER, CONSUMER_ROLES),
             EMPTY_BARRIER(BARRIER_EMPTY, "empty", STAGES, CONSUMER_ROLES, 1 << ROLE_PRODUCER),
             WSDBG_NAMED_BARRIER(NAMED_STORE_0, "store 0", 1 << ROLE_CONSUMER_0, 1 << ROLE_CONSUMER_0),
             WSDBG_NAMED_BARRIER(NAMED_STORE_1, "store 1", 1 << ROLE_CONSUMER_1, 1 << ROLE_CONSUMER_1),
             WSDBG_NAMED_BARRIER(NAMED_TURN_0, "turn 0", 1 << ROLE_CONSUMER_1, 1 << ROLE_CONSUMER_0),
             WSDBG_NAMED_BARRIER(NAMED_TURN_1, "turn 1", 1 << ROLE_CONSUMER_0, 1 << ROLE_CONSUMER_1) SPLIT_K_BARRIERS)

/* ---- what warps record first ---- */

/* A short product waits mostly for its first copies, so no event may delay them.  The loading thread records its begin
 * after it has issued them.  The other warps record theirs while the copies are in flight. */
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
    for (int slot = 0; slot < g->stages; slot++) {
        WSDBG_MBARRIER_INIT(*w, BARRIER_FULL, slot, 1);
        WSDBG_MBARRIER_INIT(*w, BARRIER_EMPTY, slot, g->releases);
    }
    if (g->split_k) {
        WSDBG_MBARRIER_INIT(*w, BARRIER_OPEN, 0, g->splits);
        WSDBG_MBARRIER_INIT(*w, BARRIER_LANDED, 0, 1);
        WSDBG_MBARRIER_INIT(*w, BARRIER_LANDED, 1, 1);
    }
}

/* From here on, an event gets the time at which it is recorded. */
DEVICE void tell_now(struct wsdbg_warp *w, const struct gemm *g)
{
    if (!g->enters_early)
        WSDBG_TELL_NOW(*w);
}

/* Records what this producer warp has done so far.  The set-up of the barriers gets a time before any arrival. */
DEVICE void announce_producer(struct wsdbg_warp *w, const struct gemm *g)
{
    if (!g->enters_early)
        WSDBG_TELL_AS_OF(*w, WSDBG_TIME());
    begin_role(w, g, ROLE_PRODUCER);
    if (!g->enters_early && threadIdx.x / 32 == INIT_THREAD / 32)
        announce_barriers(w, g);
    if (RELEASES_REGISTERS)
        WSDBG_REGISTERS_RELEASE(*w, PRODUCER_REGISTERS);
}

/* ---- producer ---- */

DEVICE void announce_load_a(struct wsdbg_warp *w, const struct loads *l, struct position p)
{
    if (l->rows_a > 0)
        WSDBG_TMA_ISSUE(*w, BARRIER_FULL, p.slot, p.iteration, l->rows_a * BLOCK_K * sizeof(bf16), 0);
}

DEVICE void announce_load_b(struct wsdbg_warp *w, const struct gemm *g, const struct loads *l, struct position p)
{
    if (l->rows_b > 0)
        WSDBG_TMA_ISSUE(*w, BARRIER_FULL, p.slot, p.iteration, l->rows_b * BLOCK_K * sizeof(bf16),
                        g->cluster_size == 1 ? 0 : (1 << g->cluster_size) - 1);
}

/* Waits until every slot is free again.  After that, no other CTA of the cluster arrives on a barrier of this CTA. */
DEVICE void wait_for_releases(struct wsdbg_warp *w, const struct gemm *g, uint32_t iteration)
{
#pragma unroll 1
    for (int i = 0; i < g->stages; i++) {
        const struct position p = position_of(g, iteration + i);
        MBARRIER_WAIT(*w, BARRIER_EMPTY, g->shared.empty, p.slot, p.parity ^ 1, p.iteration);
    }
}

/* Starts the copies of one k-block, A and B, into a free slot. */
DEVICE void fill_slot(const struct gemm *g, const struct loads *loads, int k_block, uint32_t slot)
{
    mbarrier_arrive_expect_tx(&g->shared.full[slot], loads->bytes);
    load_a(g, loads, k_block, slot);
    load_b(g, loads, k_block, slot);
}

/* The parity to wait for before a slot is filled: the opposite of the slot's own.  An mbarrier counts the phase before
 * its first one as complete, so a new slot is free. */
DEVICE uint32_t empty_parity(struct position p)
{
    return p.parity ^ (BUG(parity_wrong) || BUG(double_arrive) ? 0 : 1);
}

/* Runs on one thread: fills the slots in order, k-block after k-block, tile after tile.  All consumers wait for the
 * first copies, so these are issued before any event is recorded.  Their events get the time right after the copies. */
DEVICE void produce(struct wsdbg_warp *w, const struct gemm *g, int tiles)
{
    const struct shared_memory *const shared = &g->shared;
    struct position p = position_of(g, 0);
    struct tile tile = schedule_tile(&g->schedule, 0);
    struct loads loads = loads_of(g, tile);
    if (MORE)
        grid_dependency_wait(); /* the previous launch may still write A and B, and read C */
    const bool at_once = !g->enters_early && mbarrier_try_wait(&shared->empty[0], empty_parity(p));
    if (at_once)
        fill_slot(g, &loads, tile.k_begin, 0);
    if (!MORE)
        announce_producer(w, g);
    for (int ordinal = 0; ordinal < tiles; ordinal++) {
        if (ordinal > 0) {
            tile = schedule_tile(&g->schedule, ordinal);
            loads = loads_of(g, tile);
            tell_now(w, g);
        }
        WSDBG_TILE_BEGIN(*w, p.iteration, tile.index);
#pragma unroll 1 /* unrolled by four, the loop with probes needs more registers than the producer has */
        for (int k_block = tile.k_begin; k_block < tile.k_end; k_block++) {
            const bool is_filled = at_once && p.iteration == 0;
            if (!is_filled) {
                tell_now(w, g);
                MBARRIER_WAIT_ONLY(*w, BARRIER_EMPTY, shared->empty, p.slot, empty_parity(p), p.iteration);
            }
            WSDBG_MBARRIER_ARRIVE_EXPECT_TX(*w, BARRIER_FULL, p.slot, p.iteration, loads.bytes);
            if (!is_filled)
                fill_slot(g, &loads, k_block, p.slot);
            /* The copies are in flight: now there is time for their events. */
            announce_load_a(w, &loads, p);
            announce_load_b(w, g, &loads, p);
            position_advance(g, &p);
        }
    }
    tell_now(w, g);
    if (g->cluster_size > 1)
        wait_for_releases(w, g, p.iteration);
}

/* The producer of the bug shared-full-barrier: warp 0 loads A, warp 1 loads B, on one full barrier that waits for
 * one arrival.  Warp 1 takes longer for each block, like a loader that computes more addresses. */
DEVICE void produce_one_operand(struct wsdbg_warp *w, const struct gemm *g, int loads_b)
{
    const struct shared_memory *const shared = &g->shared;
    struct position p = position_of(g, 0);
    for (int ordinal = 0; ordinal < g->schedule.count; ordinal++) {
        const struct tile tile = schedule_tile(&g->schedule, ordinal);
        const struct loads loads = loads_of(g, tile);
        WSDBG_TILE_BEGIN(*w, p.iteration, tile.index);
#pragma unroll 1
        for (int k_block = tile.k_begin; k_block < tile.k_end; k_block++) {
            MBARRIER_WAIT(*w, BARRIER_EMPTY, shared->empty, p.slot, p.parity ^ 1, p.iteration);
            if (loads_b) {
                __nanosleep(2000);
                MBARRIER_EXPECT_TX(*w, BARRIER_FULL, shared->full, p.slot, p.iteration,
                                   TILE_N * BLOCK_K * sizeof(bf16));
                load_b(g, &loads, k_block, p.slot);
                announce_load_b(w, g, &loads, p);
            } else {
                MBARRIER_ARRIVE_EXPECT_TX(*w, BARRIER_FULL, shared->full, p.slot, p.iteration,
                                          g->tile_m * BLOCK_K * sizeof(bf16));
                load_a(g, &loads, k_block, p.slot);
                announce_load_a(w, &loads, p);
            }
            position_advance(g, &p);
        }
    }
}

/* ---- consumer ---- */

/* Records one arrival of this warp on the slot's empty barrier, in every CTA whose copies write into the slot.  It is
 * recorded before the arrival: an event must not be newer than what the arrival causes. */
DEVICE void announce_release(struct wsdbg_warp *w, const struct gemm *g, struct position p)
{
    if (threadIdx.x % 32 != 0)
        return;
    if (g->cluster_size == 1) {
        WSDBG_MBARRIER_ARRIVE(*w, BARRIER_EMPTY, p.slot, p.iteration);
    } else {
#pragma unroll
        for (int rank = 0; rank < g->cluster_size; rank++)
            WSDBG_MBARRIER_ARRIVE_REMOTE(*w, BARRIER_EMPTY, p.slot, p.iteration, rank);
    }
}

DEVICE void release_slot(const struct gemm *g, struct position p)
{
    if (threadIdx.x % 32 != 0)
        return;
    uint64_t *const empty = &g->shared.empty[p.slot];
    if (g->cluster_size == 1) {
        mbarrier_arrive(empty);
    } else {
#pragma unroll
        for (int rank = 0; rank < g->cluster_size; rank++)
            mbarrier_arrive_remote(empty, rank);
    }
}

/* The other convention for new slots, used by the bug double-arrive: no parity is inverted.  Instead the consumers
 * release every slot once before its first use. */
DEVICE void hand_over_slots(struct wsdbg_warp *w, const struct gemm *g)
{
    if (threadIdx.x < WARPGROUP_THREADS || threadIdx.x % 32 != 0)
        return;
    for (int slot = 0; slot < g->stages; slot++)
        MBARRIER_ARRIVE(*w, BARRIER_EMPTY, g->shared.empty, slot, WSDBG_NO_ITERATION);
}

/* Makes all warps of this consumer wait until earlier stores have read the first of its store buffers. */
DEVICE void wait_for_buffers(struct wsdbg_warp *w, int consumer)
{
    if (threadIdx.x % WARPGROUP_THREADS == 0)
        BULK_WAIT_READ(*w, STORE_BUFFERS - 1 - STORE_BOXES % STORE_BUFFERS); /* the last of an odd number is in it */
    NAMED_SYNC(*w, NAMED_STORE_0 + consumer, WARPGROUP_THREADS);
}

/* Issues the product of the k-block in a slot as one group of wgmma.  `is_first`: the sums begin with it. */
DEVICE void issue_products(const struct gemm *g, int consumer, uint32_t slot, int is_first, float *d)
{
    const int k_step = WGMMA_K * sizeof(bf16) / WGMMA_DESCRIPTOR_BYTES;
    const uint64_t a = wgmma_descriptor(slot_a(g, slot) + (g->ping_pong ? 0 : consumer * CONSUMER_M * BLOCK_K));
    const uint64_t b = wgmma_descriptor(slot_b(g, slot));
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < BLOCK_K / WGMMA_K; step++) {
        wgmma_m64k16(d, a + step * k_step, b + step * k_step, step > 0 || !is_first);
        if (BUG(wgmma_serialized))
            asm volatile("add.f32 %0, %0, 0f80000000;" : "+f"(d[0])); /* adds -0: changes no value */
    }
    wgmma_commit();
}

/* Multiplies `k_blocks` of one tile into `d`.  One group of wgmma stays in flight: a slot is released when the group
 * after the one that read it has been issued.  While the first group is in flight, the consumer waits for the buffers
 * that the store of `d` needs.  The events of this wait are recorded then, too: the store's first fence would wait for
 * them.  While the last group is in flight, the other consumer gets its turn. */
DEVICE void multiply(struct wsdbg_warp *w, const struct gemm *g, int consumer, int k_blocks, uint32_t iteration,
                     bool has_stored, int gives_turn, float *d)
{
    const int releases_last = !BUG(arrive_missing) || consumer != 0;
    struct position p = position_of(g, iteration), before = p;
#pragma unroll 1
    for (int k_block = 0; k_block < k_blocks; k_block++) {
        MBARRIER_WAIT_ONLY(*w, BARRIER_FULL, g->shared.full, p.slot, p.parity, p.iteration);
        if (k_block == 0) /* here some warps of the warpgroup may still be missing */
            WSDBG_WGMMA_ISSUE(*w, p.slot, p.iteration);
        issue_products(g, consumer, p.slot, k_block == 0, d);
        /* Events are recorded while the tensor cores work: the end of the wait, then the next release. */
        WSDBG_MBARRIER_WAIT_END(*w, BARRIER_FULL, p.slot, p.parity, p.iteration);
        if (k_block > 0)
            announce_release(w, g, before);
        else if (has_stored)
            wait_for_buffers(w, consumer);
        wgmma_wait(1);
        if (k_block > 0)
            release_slot(g, before);
        before = p;
        position_advance(g, &p);
    }
    if (releases_last)
        announce_release(w, g, before);
    if (gives_turn)
        NAMED_ARRIVE(*w, NAMED_TURN_0 + (1 - consumer), CONSUMERS * WARPGROUP_THREADS);
    WSDBG_WGMMA_WAIT_BEGIN(*w, before.iteration, 0);
    wgmma_wait(0);
    if (releases_last)
        release_slot(g, before);
}

/* Stores a consumer's 64 x TILE_N accumulators box by box, through two buffers.  In split-K it stores only the boxes
 * that this CTA owns.  One event stands for all stores.  It and the end of the wait for `d` are recorded after them:
 * a proxy fence waits for every event before it.  Commits have no events, because every store is committed. */
DEVICE void store(struct wsdbg_warp *w, const struct gemm *g, int consumer, struct tile tile, uint32_t iteration,
                  const float *d)
{
    const int leader = threadIdx.x % WARPGROUP_THREADS == 0;
    const int row = (tile.row * g->cluster_size + g->rank) * g->tile_m + (g->ping_pong ? 0 : consumer * CONSUMER_M);
    const int column = tile.column * TILE_N;
    const uint32_t barrier = NAMED_STORE_0 + consumer;
#pragma unroll
    for (int box = 0; box < STORE_BOXES; box++) {
        if (g->split_k && box_owner(g, consumer, box) != g->part)
            continue;
        const int turn = g->split_k ? box_number(consumer, box) / g->splits : box;
        if (box > 0) {
            if (leader)
                bulk_wait_read(STORE_BUFFERS - 1);
            named_sync(barrier, WARPGROUP_THREADS);
        }
        store_box(g, store_buffer(g, consumer, turn % STORE_BUFFERS), d + box * BOX_ACCUMULATORS, barrier, row,
                  column + box * STORE_COLUMNS);
    }
    WSDBG_WGMMA_WAIT_END(*w, iteration, 0);
    if (leader)
        WSDBG_TMA_STORE_ISSUE(*w, iteration, CONSUMER_M * TILE_N * sizeof(bf16));
}

/* Gives this CTA's sums of a tile to the CTA that has the tile's last k-blocks. */
DEVICE void give(struct wsdbg_warp *w, const struct gemm *g, int consumer, uint32_t iteration, const float *d)
{
    WSDBG_WGMMA_WAIT_END(*w, iteration, 0);
    write_given(g, consumer, d);
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
        add_given(g, cta, consumer, d);
    } while (schedule_begin_in(&g->schedule, tile, giver) > 0);
}

/* Adds the other CTAs' sums to the boxes that this CTA owns.  The sums land in its slots, so they are sent only after
 * both its consumers have read the last slot. */
DEVICE void share_sums(struct wsdbg_warp *w, const struct gemm *g, int consumer, float *d)
{
    const int thread = threadIdx.x % WARPGROUP_THREADS;
    if (!g->ping_pong)
        NAMED_SYNC(*w, NAMED_RING, CONSUMERS * WARPGROUP_THREADS);
    if (consumer == 0 && thread < g->splits)
        MBARRIER_ARRIVE_REMOTE(*w, BARRIER_OPEN, g->shared.open, 0, WSDBG_NO_ITERATION, thread);
    if (thread == 0)
        MBARRIER_ARRIVE_EXPECT_TX(*w, BARRIER_LANDED, g->shared.landed, consumer, WSDBG_NO_ITERATION,
                                  sent_bytes(g, consumer));
    MBARRIER_WAIT(*w, BARRIER_OPEN, g->shared.open, 0, 0, WSDBG_NO_ITERATION);
#pragma unroll
    for (int box = 0; box < STORE_BOXES; box++) {
        const int owner = box_owner(g, consumer, box);
        if (owner == g->part)
            continue;
        if (thread == 0)
            WSDBG_TMA_ISSUE(*w, BARRIER_LANDED, consumer, WSDBG_NO_ITERATION, BOX_SUMS_BYTES, 1 << owner);
        send_box(g, consumer, box, d);
    }
    MBARRIER_WAIT(*w, BARRIER_LANDED, g->shared.landed, consumer, 0, WSDBG_NO_ITERATION);
    add_boxes(g, consumer, d);
}

/* One warpgroup: multiplies and stores its tiles.  In ping-pong, a consumer multiplies only after the other one has
 * multiplied the tile before.  So the tensor cores work on one tile at a time, and one consumer stores meanwhile. */
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
        multiply(w, g, consumer, k_blocks, iteration, MORE || ordinal > first,
                 g->ping_pong && ordinal + 1 < g->schedule.count, d);
        if (g->schedule.stream_k && tile.k_end < g->schedule.k_blocks) {
            give(w, g, consumer, iteration + k_blocks - 1, d);
            continue;
        }
        if (g->schedule.stream_k && tile.k_begin > 0)
            take(w, g, consumer, tile, d);
        if (g->split_k)
            share_sums(w, g, consumer, d);
        store(w, g, consumer, tile, iteration + k_blocks - 1, d);
    }
    if (threadIdx.x % WARPGROUP_THREADS == 0) {
        WSDBG_BULK_WAIT_BEGIN(*w, 0);
        bulk_wait_read(0); /* the warp's exit shows that it has ended */
    }
}

/* ---- the kernel ---- */

DEVICE void init_barriers(const struct gemm *g)
{
    for (int slot = 0; slot < g->stages; slot++) {
        mbarrier_init(&g->shared.full[slot], 1);
        mbarrier_init(&g->shared.empty[slot], g->releases);
    }
    if (g->split_k) {
        mbarrier_init(g->shared.open, g->splits);
        mbarrier_init(&g->shared.landed[0], 1);
        mbarrier_init(&g->shared.landed[1], 1);
    }
    mbarrier_init_fence();
}

DEVICE void producer_warpgroup(struct wsdbg_warp *w, const struct gemm *g)
{
    const int warp = threadIdx.x / 32;
    const int elected = MORE ? elect_lane() : threadIdx.x % 32 == 0;
    const int tiles = g->schedule.count - (BUG(waker_exited) ? 1 : 0);
    const int produces = BUG(shared_full_barrier) ? warp < 2 : warp == 0 && tiles > 0;
    if (RELEASES_REGISTERS)
        registers_release(PRODUCER_REGISTERS);
    if (produces && !MORE && !BUG(shared_full_barrier)) {
        if (elected)
            produce(w, g, tiles);
        __syncwarp();
        WSDBG_SHARE(*w, 0);
        return;
    }
    announce_producer(w, g);
    tell_now(w, g);
    if (produces && elected && BUG(shared_full_barrier))
        produce_one_operand(w, g, warp == 1);
    else if (produces && elected)
        produce(w, g, tiles);
    __syncwarp();
}

DEVICE void consumer_warpgroup(struct wsdbg_warp *w, const struct gemm *g, int consumer)
{
    begin_role(w, g, ROLE_CONSUMER_0 + consumer);
    REGISTERS_REQUEST(*w, CONSUMER_REGISTERS);
    consume(w, g, consumer);
}

/* The body of every kernel below.  Each gives constants for the first three parameters. */
DEVICE void gemm_body(int cluster_size, int consumers_a_tile, enum sharing sharing, const struct gemm_problem *problem,
                      const struct tensor_map *a, const struct tensor_map *b, const struct tensor_map *c,
                      const struct tensor_map *a_edge, const struct tensor_map *b_edge)
{
    extern __shared__ __align__(1024) uint8_t dynamic_shared[];
    const int inits = threadIdx.x == INIT_THREAD;
    if (MORE)
        grid_launch_dependents();
    if (threadIdx.x == 0) {
        tma_prefetch_map(a);
        tma_prefetch_map(b);
        tma_prefetch_map(c);
    }
    uint32_t address = shared_address(dynamic_shared);
    asm("" : "+r"(address)); /* computed once: the compiler would compute it again for every k-block */
    struct gemm g =
        gemm_make(cluster_size, consumers_a_tile, sharing, problem, (uint8_t *)__cvta_shared_to_generic(address));
    g.a = a;
    g.b = b;
    g.c = c;
    g.a_edge = a_edge;
    g.b_edge = b_edge;
    /* Before the first event: the fence in init_barriers would wait for it. */
    if (inits)
        init_barriers(&g);
    WSDBG_STATE(w);
    if (g.enters_early)
        WSDBG_ENTER(w);
    if (cluster_size > 1 || g.split_k)
        CLUSTER_SYNC_RELAXED(w); /* the fence in init_barriers has published the barriers */
    else
        __syncthreads();
    if (g.enters_early && inits)
        announce_barriers(&w, &g);
    if (BUG(double_arrive)) {
        hand_over_slots(&w, &g);
        hand_over_slots(&w, &g);
        /* The producer looks only after both arrivals, so it never sees the phase between them. */
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

/* Only images with every kernel of their width have maps of the tiles that reach over the edge. */
#define MAP(name) const __grid_constant__ struct tensor_map name
#if MORE
#define EDGE_MAPS , MAP(a_edge), MAP(b_edge)
#define EDGE_MAPS_AT &a_edge, &b_edge
#else
#define EDGE_MAPS
#define EDGE_MAPS_AT &a, &b
#endif
#define GEMM_KERNEL(name, cluster_size, consumers_a_tile, sharing, attributes)                      \
    extern "C" __global__ void attributes __launch_bounds__(CTA_THREADS, 1)                         \
        name(const __grid_constant__ struct gemm_problem problem, MAP(a), MAP(b), MAP(c) EDGE_MAPS) \
    {                                                                                               \
        gemm_body(cluster_size, consumers_a_tile, sharing, &problem, &a, &b, &c, EDGE_MAPS_AT);     \
    }

GEMM_KERNEL(gemm_cooperative, 1, 2, SHARE_NONE, )
#if !BUG_IMAGE /* the bugs need one kernel only */
GEMM_KERNEL(gemm_cooperative_cluster2, 2, 2, SHARE_NONE, __cluster_dims__(2, 1, 1))
GEMM_KERNEL(gemm_pingpong, 1, 1, SHARE_NONE, )
GEMM_KERNEL(gemm_pingpong_cluster2, 2, 1, SHARE_NONE, __cluster_dims__(2, 1, 1))
#endif
#if MORE
GEMM_KERNEL(gemm_cooperative_cluster4, 4, 2, SHARE_NONE, __cluster_dims__(4, 1, 1))
GEMM_KERNEL(gemm_splitk, 1, 2, SHARE_SPLIT_K, ) /* the launch sets the size of the cluster */
GEMM_KERNEL(gemm_splitk_low, 1, 1, SHARE_SPLIT_K, )
#if TILE_N <= STREAMK_COLUMNS_MOST
GEMM_KERNEL(gemm_streamk, 1, 2, SHARE_STREAM_K, )
GEMM_KERNEL(gemm_streamk_cluster2, 2, 2, SHARE_STREAM_K, __cluster_dims__(2, 1, 1))
GEMM_KERNEL(gemm_streamk_cluster4, 4, 2, SHARE_STREAM_K, __cluster_dims__(4, 1, 1))
#endif
#endif
