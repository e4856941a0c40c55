/* kernels.c - see kernels.h. */
#include "kernels.h"

#define BYTES_A 16384u
#define BYTES_B 32768u
#define WARPS 12u

static uint32_t tag(const struct gemm *g, uint32_t iteration)
{
    return g->no_iterations ? WSDBG_NO_ITERATION : iteration;
}

static void name_gemm(struct device *d, const struct gemm *g)
{
    if (g->unnamed)
        return;
    const uint32_t consumers = 1u << CONSUMER_0 | 1u << CONSUMER_1;
    device_role(d, PRODUCER, "producer");
    device_role(d, CONSUMER_0, "consumer 0");
    device_role(d, CONSUMER_1, "consumer 1");
    device_mbarrier(d, FULL, "full", g->stages, false, 1u << PRODUCER, consumers);
    device_mbarrier(d, EMPTY, "empty", g->stages, true, consumers, 1u << PRODUCER);
}

static void load(struct device *d, const struct gemm *g, uint32_t cta, uint32_t i)
{
    const uint32_t slot = i % g->stages, bytes = BYTES_A + BYTES_B;
    if (g->bug == GEMM_TX_NO_ARRIVE)
        expect(d, cta, 0, FULL, slot, tag(g, i), bytes);
    else
        arrive_expect(d, cta, 0, FULL, slot, tag(g, i), g->bug == GEMM_TX_MISMATCH ? bytes + BYTES_A : bytes);
    copy(d, cta, 0, FULL, slot, tag(g, i), BYTES_A, 0);
    if (g->bug == GEMM_TMA_LOST && i == 5)
        lost_copy(d, cta, 0, FULL, slot, tag(g, i), BYTES_B);
    else if (g->cluster > 1)
        copy(d, cta, 0, FULL, slot, tag(g, i), BYTES_B / g->cluster, (1u << g->cluster) - 1);
    else
        copy(d, cta, 0, FULL, slot, tag(g, i), BYTES_B, 0);
}

static uint32_t empty_parity(const struct gemm *g, uint32_t i)
{
    const uint32_t right = (i / g->stages & 1) ^ 1;
    const bool wrong = g->bug == GEMM_PARITY_WRONG || (g->bug == GEMM_PARITY_DRIFT && i >= 2 * g->k_blocks);
    return wrong ? right ^ 1 : right;
}

static void produce(struct device *d, const struct gemm *g, uint32_t cta)
{
    const uint32_t tiles = g->tiles - (g->bug == GEMM_WAKER_EXITED);
    for (uint32_t t = 0, i = 0; t < tiles; t++) {
        tile(d, cta, 0, i, cta + t * g->ctas);
        for (uint32_t k = 0; k < g->k_blocks; k++, i++) {
            wait(d, cta, 0, EMPTY, i % g->stages, empty_parity(g, i), tag(g, i));
            load(d, g, cta, i);
        }
    }
}

/* Warp 0 loads A and arrives, warp 1 loads B late and only expects. */
static void produce_shared(struct device *d, const struct gemm *g, uint32_t cta)
{
    for (uint32_t i = 0; i < g->tiles * g->k_blocks; i++) {
        const uint32_t slot = i % g->stages;
        wait(d, cta, 0, EMPTY, slot, empty_parity(g, i), tag(g, i));
        arrive_expect(d, cta, 0, FULL, slot, tag(g, i), BYTES_A);
        copy(d, cta, 0, FULL, slot, tag(g, i), BYTES_A, 0);
        wait(d, cta, 1, EMPTY, slot, empty_parity(g, i), tag(g, i));
        work(d, cta, 1, 40);
        expect(d, cta, 1, FULL, slot, tag(g, i), BYTES_B);
        copy(d, cta, 1, FULL, slot, tag(g, i), BYTES_B, 0);
    }
}

static void release_slot(struct device *d, const struct gemm *g, uint32_t cta, uint32_t warp, uint32_t i)
{
    const uint32_t slot = i % g->stages;
    for (uint32_t rank = 0; rank < g->cluster && g->cluster > 1; rank++)
        arrive_remote(d, cta, warp, EMPTY, slot, tag(g, i), rank);
    if (g->cluster == 1)
        arrive(d, cta, warp, EMPTY, slot, tag(g, i), 1);
    if (g->bug == GEMM_DOUBLE_ARRIVE)
        arrive(d, cta, warp, EMPTY, slot, tag(g, i), 1);
}

static void consume(struct device *d, const struct gemm *g, uint32_t cta, uint32_t warp)
{
    for (uint32_t t = 0, i = 0; t < g->tiles; t++) {
        tile(d, cta, warp, i, cta + t * g->ctas);
        for (uint32_t k = 0; k < g->k_blocks; k++, i++) {
            wait(d, cta, warp, FULL, i % g->stages, i / g->stages & 1, tag(g, i));
            work(d, cta, warp, 3);
            if (k > 0)
                release_slot(d, g, cta, warp, i - 1);
        }
        if (g->bug != GEMM_ARRIVE_MISSING || warp >= 8)
            release_slot(d, g, cta, warp, i - 1);
    }
}

static void init_barriers(struct device *d, const struct gemm *g, uint32_t cta)
{
    for (uint32_t s = 0; s < g->stages; s++) {
        if (g->bug == GEMM_NOT_INIT && s + 1 == g->stages)
            continue;
        init(d, cta, 0, FULL, s, 1);
        init(d, cta, 0, EMPTY, s, 8 * g->cluster + (g->bug == GEMM_ARRIVE_SHORT));
    }
}

static void program_warp(struct device *d, const struct gemm *g, uint32_t cta, uint32_t warp)
{
    if (warp == 0)
        init_barriers(d, g, cta);
    named_sync(d, cta, warp, 0, WARPS * 32);
    if (g->cluster > 1)
        cluster_sync(d, cta, warp);
    role(d, cta, warp, warp / 4);
    if (warp >= 4) {
        request(d, cta, warp, g->bug == GEMM_REGS_EXHAUSTED ? 240 : 232);
        consume(d, g, cta, warp);
    } else {
        if (g->bug != GEMM_REGS_NO_RELEASE && (g->bug != GEMM_REGS_PARTIAL || warp == 0))
            release(d, cta, warp, 40);
        if (g->bug == GEMM_SHARED_FULL && warp < 2) {
            if (warp == 1)
                produce_shared(d, g, cta);
        } else if (warp == 0)
            produce(d, g, cta);
    }
}

struct device *gemm_create(struct gemm gemm)
{
    gemm.cluster = gemm.cluster ? gemm.cluster : 1;
    struct device *d = device_create(gemm.ctas, WARPS, gemm.cluster, 168);
    name_gemm(d, &gemm);
    for (uint32_t cta = 0; cta < gemm.ctas; cta++) {
        for (uint32_t warp = 0; warp < WARPS; warp++)
            program_warp(d, &gemm, cta, warp);
        for (uint32_t warp = 0; warp < WARPS; warp++) {
            if (gemm.cluster > 1)
                cluster_sync(d, cta, warp);
            leave(d, cta, warp);
        }
    }
    return d;
}

static void async_loader(struct device *d, uint32_t warp, uint32_t iterations)
{
    role(d, 0, warp, 1);
    release(d, 0, warp, 152);
    for (uint32_t i = 0; i < iterations; i++) {
        wait(d, 0, warp, EMPTY, i % 2, i / 2 % 2, i);
        arrive_expect(d, 0, warp, FULL, i % 2, i, 1024);
        copy(d, 0, warp, FULL, i % 2, i, 1024, 0);
    }
    leave(d, 0, warp);
}

static void async_computer(struct device *d, uint32_t warp, uint32_t defects, uint32_t iterations, bool leftover)
{
    role(d, 0, warp, 0);
    for (uint32_t turn = 0; turn < (defects & ASYNC_DOUBLED ? 2u : 1u); turn++) {
        if (!leftover || (defects & ASYNC_LEFTOVER_ASKS))
            request(d, 0, warp, 176);
        else
            release(d, 0, warp, 152);
        for (uint32_t s = 0; s < 2 && !leftover; s++)
            arrive(d, 0, warp, EMPTY, s, WSDBG_NO_ITERATION, 32);
    }
    for (uint32_t i = 0; i < iterations && !leftover; i++) {
        wait(d, 0, warp, FULL, i % 2, i / 2 % 2, i);
        work(d, 0, warp, 3);
        arrive(d, 0, warp, EMPTY, i % 2, i, 32);
    }
    leave(d, 0, warp);
}

struct device *two_async_warps_create(uint32_t defects, uint32_t iterations)
{
    struct device *d = device_create(1, WARPS, 1, 168);
    device_role(d, 0, "compute");
    device_role(d, 1, "load");
    device_mbarrier(d, FULL, "full", 2, false, 1 << 1, 1 << 0);
    device_mbarrier(d, EMPTY, "empty", 2, false, 1 << 0, 1 << 1);
    for (uint32_t s = 0; s < 2; s++) {
        init(d, 0, 0, FULL, s, defects & ASYNC_SHARED_FULL ? 1 : 2);
        init(d, 0, 0, EMPTY, s, 256);
    }
    for (uint32_t warp = 0; warp < WARPS; warp++) {
        named_sync(d, 0, warp, 0, WARPS * 32);
        if (warp == 8 || warp == 9) {
            /* The computers are through their first arrivals before the loaders look. */
            work(d, 0, warp, 40);
            async_loader(d, warp, iterations);
        } else {
            async_computer(d, warp, defects, iterations, warp > 9);
        }
    }
    return d;
}

void examine(struct device *device, uint32_t seed, uint32_t depth, struct wsdbg_snapshot *snapshot,
             struct wsdbg_diagnosis *diagnosis)
{
    device_run(device, seed);
    device_snapshot(device, depth, snapshot);
    struct wsdbg_error *error = wsdbg_diagnose(snapshot, diagnosis);
    must(!error);
}

static struct result look(struct device *device, uint32_t steps, uint32_t depth)
{
    struct result result;
    if (steps)
        device_run_for(device, 1, steps);
    else
        device_run(device, 1);
    device_snapshot(device, depth, &result.snapshot);
    device_destroy(device);
    return result;
}

struct result judge(struct device *device, uint32_t steps, uint32_t depth)
{
    struct result result = look(device, steps, depth);
    struct wsdbg_error *error = wsdbg_diagnose(&result.snapshot, &result.diagnosis);
    must(!error);
    return result;
}

struct result judge_dead(struct device *device, uint32_t steps, uint32_t depth, int32_t code)
{
    struct result result = look(device, steps, depth);
    result.snapshot.contexts[0].error = code;
    result.snapshot.contexts[0].alive = false;
    result.snapshot.grids[0].running = false;
    struct wsdbg_error *error = wsdbg_diagnose(&result.snapshot, &result.diagnosis);
    must(!error);
    return result;
}

void done(struct result *result)
{
    wsdbg_diagnosis_deinit(&result->diagnosis);
    wsdbg_snapshot_deinit(&result->snapshot);
}
