/* kernels.h - warp programs for the model device: the reference GEMM's pipeline and the two-async-warps kernel,
 * healthy or with one deliberate defect.
 */
#ifndef TEST_DIAGNOSE_KERNELS_H
#define TEST_DIAGNOSE_KERNELS_H

#include "device.h"
#include "diagnose/finding.h"

enum { FULL = 0, EMPTY = 1 };
enum { PRODUCER = 0, CONSUMER_0 = 1, CONSUMER_1 = 2 };

enum gemm_bug {
    GEMM_HEALTHY,
    GEMM_REGS_PARTIAL,
    GEMM_REGS_EXHAUSTED,
    GEMM_REGS_NO_RELEASE,
    GEMM_PARITY_WRONG,
    GEMM_PARITY_DRIFT, /* the producer's phase is reset at the third tile */
    GEMM_SHARED_FULL,
    GEMM_DOUBLE_ARRIVE,
    GEMM_TX_MISMATCH,
    GEMM_ARRIVE_MISSING,
    GEMM_WAKER_EXITED,
    GEMM_ARRIVE_SHORT, /* empty initialised for 9 of 8 */
    GEMM_TX_NO_ARRIVE, /* expect_tx without an arrival */
    GEMM_TMA_LOST,     /* a copy that never lands */
    GEMM_NOT_INIT,     /* the last stage is never initialised */
    GEMM_BUG_COUNT
};

struct gemm {
    enum gemm_bug bug;
    uint32_t ctas, stages, tiles, k_blocks, cluster;
    bool unnamed;
    bool no_iterations;
};

/* The reference GEMM: warps 0-3 producer (warp 0 works), 4-7 and 8-11 consumers; a slot is released one
 * k-block late, as with one wgmma group in flight. */
struct device *gemm_create(struct gemm gemm);

enum { ASYNC_LEFTOVER_ASKS = 1, ASYNC_DOUBLED = 2, ASYNC_SHARED_FULL = 4 };
/* The structure of two async warps in one warpgroup; `defects` of the flags above. */
struct device *two_async_warps_create(uint32_t defects, uint32_t iterations);

/* Runs, snapshots with `depth`, diagnoses.  The caller deinits both. */
void examine(struct device *device, uint32_t seed, uint32_t depth, struct wsdbg_snapshot *snapshot,
             struct wsdbg_diagnosis *diagnosis);

struct result {
    struct wsdbg_snapshot snapshot;
    struct wsdbg_diagnosis diagnosis;
};

/* Runs the device to its end (or `steps` turns), judges it by the last `depth` events a warp, and destroys it. */
struct result judge(struct device *device, uint32_t steps, uint32_t depth);
/* The same when CUDA error `code` ends the context at that moment. */
struct result judge_dead(struct device *device, uint32_t steps, uint32_t depth, int32_t code);
void done(struct result *result);

#endif
