/* kernel.cu - every probe once, in a loop that also does some work; and a kernel whose warps enter late.  BARE leaves the
 * probes out by hand. */
#ifdef BARE
#include <stdint.h>
#define WSDBG_MODULE(...)
#define WSDBG_BEGIN(w)
#define WSDBG_STATE(w)
#define PROBE(...)
#else
#include "wsdbg/probe.h"
#define PROBE(...) __VA_ARGS__
#endif

WSDBG_MODULE(WSDBG_ROLE(0, "worker"), WSDBG_MBARRIER(0, "full", 4, 1, 2), WSDBG_MBARRIER_FREE(1, "empty", 4, 2, 1),
             WSDBG_NAMED_BARRIER(3, "order", 1, 1), WSDBG_MARK_NAME(0, "half way"))

extern "C" __global__ void __launch_bounds__(128) every_probe(uint32_t *data, uint32_t rounds)
{
    WSDBG_BEGIN(w);
    PROBE(WSDBG_ROLE_BEGIN(w, 0));
    PROBE(WSDBG_REGISTERS_REQUEST(w, 232));
    PROBE(WSDBG_REGISTERS_GRANTED(w, 232));
    PROBE(WSDBG_REGISTERS_RELEASE(w, 40));
    PROBE(WSDBG_MBARRIER_INIT(w, 0, 0, 1));
#pragma unroll 1
    for (uint32_t k = 0; k < rounds; k++) {
        const uint32_t stage = k & 3u;
        PROBE(WSDBG_TILE_BEGIN(w, k, k));
        PROBE(WSDBG_MBARRIER_WAIT_BEGIN(w, 0, stage, k >> 2, k));
        data[threadIdx.x + k * 128u] += k;
        PROBE(WSDBG_MBARRIER_WAIT_END(w, 0, stage, k >> 2, k));
        PROBE(WSDBG_MBARRIER_ARRIVE_EXPECT_TX(w, 0, stage, k, 4096));
        PROBE(WSDBG_MBARRIER_EXPECT_TX(w, 0, stage, k, 4096));
        PROBE(WSDBG_TMA_ISSUE(w, 0, stage, k, 4096, 3));
        PROBE(WSDBG_WGMMA_ISSUE(w, stage, k));
        PROBE(WSDBG_WGMMA_COMMIT(w, k));
        PROBE(WSDBG_WGMMA_WAIT_BEGIN(w, k, 1));
        PROBE(WSDBG_WGMMA_WAIT_END(w, k, 1));
        PROBE(WSDBG_MBARRIER_ARRIVE(w, 1, stage, k));
        PROBE(WSDBG_MBARRIER_ARRIVE_REMOTE(w, 1, stage, k, 1));
        PROBE(WSDBG_NAMED_ARRIVE(w, 3, 256));
        PROBE(WSDBG_NAMED_SYNC_BEGIN(w, 3, 256));
        PROBE(WSDBG_NAMED_SYNC_END(w, 3, 256));
        PROBE(WSDBG_CLUSTER_ARRIVE(w));
        PROBE(WSDBG_CLUSTER_WAIT_BEGIN(w));
        PROBE(WSDBG_CLUSTER_WAIT_END(w));
        PROBE(WSDBG_TMA_STORE_ISSUE(w, k, 8192));
        PROBE(WSDBG_BULK_COMMIT(w));
        PROBE(WSDBG_BULK_WAIT_BEGIN(w, 0));
        PROBE(WSDBG_BULK_WAIT_END(w, 0));
        PROBE(WSDBG_GRID_DEPENDENCY_WAIT_BEGIN(w));
        PROBE(WSDBG_GRID_DEPENDENCY_WAIT_END(w));
        PROBE(WSDBG_POLL_BEGIN(w, 0, k));
        PROBE(WSDBG_POLL_END(w, 0, k));
        PROBE(WSDBG_POLL_SYSTEM_BEGIN(w, 1, k));
        PROBE(WSDBG_POLL_SYSTEM_END(w, 1, k));
        PROBE(WSDBG_USER_MARK(w, 0, k));
    }
    PROBE(WSDBG_EXIT(w));
}

extern "C" __global__ void __launch_bounds__(128) enters_late(uint32_t *data, uint32_t rounds)
{
    WSDBG_STATE(w);
    data[threadIdx.x] = rounds;
    PROBE(const uint32_t time = WSDBG_TIME());
    data[threadIdx.x + 128u] = rounds;
    PROBE(WSDBG_TELL_AS_OF(w, time));
    PROBE(WSDBG_ENTER_AS(w, 0));
    PROBE(WSDBG_TILE_BEGIN(w, 0, 0));
    PROBE(WSDBG_TELL_NOW(w));
#pragma unroll 1
    for (uint32_t k = 0; k < rounds; k++) {
        PROBE(WSDBG_MBARRIER_ARRIVE(w, 0, k & 3u, k));
        data[threadIdx.x + k * 128u] += k;
    }
    PROBE(WSDBG_SHARE(w, 0));
    PROBE(WSDBG_EXIT(w));
}
