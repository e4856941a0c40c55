/* two_async_warps.cu - an element-wise product whose operands are loaded by two warps of one warpgroup.
 *
 * Two warpgroups multiply; in the third, warp 0 loads rows of `a` and warp 1 rows of `b` into a ring of two slots
 * (cp.async.bulk).  A slot has two mbarriers: `full`, on which both loaders arrive and expect their bytes, and `empty`,
 * on which all compute threads arrive.  No parity is inverted: the compute threads hand over every slot once at the
 * start.
 *
 * DEFECTS is a set of enum defect, constant in each image; with all of them this is the shape of a generated kernel
 * that hung, and ran when it was slowed down.
 */
#include "../common/sync.cuh"
#include "geometry.h"

#ifndef DEFECTS
#define DEFECTS 0
#endif
#define HAS(defect) ((DEFECTS & (defect)) != 0)

/* 152 x 128 + 176 x 256 = 168 x 384, what __launch_bounds__(384, 1) gives the CTA. */
#define LOADER_REGISTERS 152
#define COMPUTE_REGISTERS 176

enum role { ROLE_LOADER_A, ROLE_LOADER_B, ROLE_COMPUTE, ROLE_LEFTOVER };
enum barrier { BARRIER_FULL, BARRIER_EMPTY };

WSDBG_MODULE(WSDBG_ROLE(ROLE_LOADER_A, "loader a"), WSDBG_ROLE(ROLE_LOADER_B, "loader b"),
             WSDBG_ROLE(ROLE_COMPUTE, "compute"), WSDBG_ROLE(ROLE_LEFTOVER, "leftover"),
             WSDBG_MBARRIER(BARRIER_FULL, "full", STAGES, 1 << ROLE_LOADER_A | 1 << ROLE_LOADER_B, 1 << ROLE_COMPUTE),
             WSDBG_MBARRIER(BARRIER_EMPTY, "empty", STAGES, 1 << ROLE_COMPUTE, 1 << ROLE_LOADER_A | 1 << ROLE_LOADER_B))

struct shared_memory {
    float a[STAGES][COLUMNS_MAX];
    float b[STAGES][COLUMNS_MAX];
    uint64_t full[STAGES];
    uint64_t empty[STAGES];
};

/* The rows of this CTA. */
struct rows {
    int first, count;
};

DEVICE struct rows rows_of_cta(const struct two_async_warps_problem *problem)
{
    const int share = (problem->rows + gridDim.x - 1) / gridDim.x;
    struct rows rows;
    rows.first = min((int)blockIdx.x * share, problem->rows);
    rows.count = min(share, problem->rows - rows.first);
    return rows;
}

DEVICE void bulk_load(void *destination, const void *source, uint32_t bytes, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(destination)),
                 "l"(source), "r"(bytes), "r"(shared_address(bar))
                 : "memory");
}

/* One thread: loads this CTA's rows of one operand into that operand's half of the ring. */
DEVICE void load_rows(struct wsdbg_warp *w, struct shared_memory *shared, float (*ring)[COLUMNS_MAX],
                      const float *matrix, struct rows rows, int columns)
{
    const uint32_t bytes = columns * sizeof(float);
#pragma unroll 1
    for (int i = 0; i < rows.count; i++) {
        const uint32_t slot = i % STAGES;
        MBARRIER_WAIT(*w, BARRIER_EMPTY, shared->empty, slot, i / STAGES % 2, i);
        MBARRIER_ARRIVE_EXPECT_TX(*w, BARRIER_FULL, shared->full, slot, i, bytes);
        WSDBG_TMA_ISSUE(*w, BARRIER_FULL, slot, i, bytes, 0);
        bulk_load(ring[slot], matrix + (size_t)(rows.first + i) * columns, bytes, &shared->full[slot]);
    }
}

DEVICE void hand_over_slots(struct wsdbg_warp *w, struct shared_memory *shared)
{
#pragma unroll
    for (int slot = 0; slot < STAGES; slot++)
        MBARRIER_ARRIVE(*w, BARRIER_EMPTY, shared->empty, slot, WSDBG_NO_ITERATION);
}

/* The compute warps; with LEFTOVER_ASKS also two warps of the loading warpgroup, which then multiply nothing. */
DEVICE void compute(struct wsdbg_warp *w, struct shared_memory *shared, const struct two_async_warps_problem *problem,
                    struct rows rows)
{
    REGISTERS_REQUEST(*w, COMPUTE_REGISTERS);
    hand_over_slots(w, shared);
    if (HAS(DOUBLE_ARRIVE)) {
        REGISTERS_REQUEST(*w, COMPUTE_REGISTERS);
        hand_over_slots(w, shared);
    }
#pragma unroll 1
    for (int i = 0; i < rows.count; i++) {
        const uint32_t slot = i % STAGES;
        MBARRIER_WAIT(*w, BARRIER_FULL, shared->full, slot, i / STAGES % 2, i);
        float *const product = problem->product + (size_t)(rows.first + i) * problem->columns;
        if (threadIdx.x < COMPUTE_THREADS)
            for (int column = threadIdx.x; column < problem->columns; column += COMPUTE_THREADS)
                product[column] = shared->a[slot][column] * shared->b[slot][column];
        MBARRIER_ARRIVE(*w, BARRIER_EMPTY, shared->empty, slot, i);
    }
}

DEVICE void init_barriers(struct wsdbg_warp *w, struct shared_memory *shared)
{
    const int loaders = HAS(SHARED_FULL) ? 1 : 2;
    for (int slot = 0; slot < STAGES; slot++) {
        mbarrier_init(&shared->full[slot], loaders);
        WSDBG_MBARRIER_INIT(*w, BARRIER_FULL, slot, loaders);
        mbarrier_init(&shared->empty[slot], COMPUTE_THREADS);
        WSDBG_MBARRIER_INIT(*w, BARRIER_EMPTY, slot, COMPUTE_THREADS);
    }
    mbarrier_init_fence();
}

DEVICE void loader_warp(struct wsdbg_warp *w, struct shared_memory *shared,
                        const struct two_async_warps_problem *problem, struct rows rows, int loads_b)
{
    WSDBG_ROLE_BEGIN(*w, loads_b ? ROLE_LOADER_B : ROLE_LOADER_A);
    REGISTERS_RELEASE(*w, LOADER_REGISTERS);
    if (threadIdx.x % 32 == 0)
        load_rows(w, shared, loads_b ? shared->b : shared->a, loads_b ? problem->b : problem->a, rows,
                  problem->columns);
    __syncwarp();
}

extern "C" __global__ void __launch_bounds__(CTA_THREADS, 1)
    two_async_warps(const __grid_constant__ struct two_async_warps_problem problem)
{
    __shared__ __align__(128) struct shared_memory shared;
    WSDBG_BEGIN(w);
    const struct rows rows = rows_of_cta(&problem);
    if (threadIdx.x == 0)
        init_barriers(&w, &shared);
    __syncthreads();

    const int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
    const int loader = warp - COMPUTE_THREADS / 32;
    if (loader == 0 || loader == 1) {
        loader_warp(&w, &shared, &problem, rows, loader == 1);
    } else if (loader > 1 && !HAS(LEFTOVER_ASKS)) {
        WSDBG_ROLE_BEGIN(w, ROLE_LEFTOVER);
        REGISTERS_RELEASE(w, LOADER_REGISTERS);
    } else {
        WSDBG_ROLE_BEGIN(w, loader > 1 ? ROLE_LEFTOVER : ROLE_COMPUTE);
        compute(&w, &shared, &problem, rows);
    }
    WSDBG_EXIT(w);
}
