/* probes.cuh - wsdbg's probes, or nothing.
 *
 * With -DWSDBG the macros come from wsdbg/probe.h.  Without it they are empty here, so that a "plain" image
 * is built from the very same source without knowing wsdbg; its SASS is compared with that of -DWSDBG_PROBES=0.
 */
#ifndef DEMO_PROBES_CUH
#define DEMO_PROBES_CUH

#include <stdint.h>

#ifdef WSDBG
#include <wsdbg/probe.h>
#else

struct wsdbg_warp {
};

#define WSDBG_NO_ITERATION 0xffffffffu

#define WSDBG_MODULE(...)
#define WSDBG_STATE(w)   \
    struct wsdbg_warp w; \
    (void)(w)
#define WSDBG_ENTER(w)
#define WSDBG_ENTER_AS(w, role)
#define WSDBG_SHARE(w, lane)
#define WSDBG_TIME() 0u
#define WSDBG_TELL_AS_OF(w, time) (void)(time)
#define WSDBG_TELL_NOW(w)
#define WSDBG_BEGIN(w) WSDBG_STATE(w)
#define WSDBG_ROLE_BEGIN(w, role)
#define WSDBG_EXIT(w)
#define WSDBG_REGISTERS_REQUEST(w, registers)
#define WSDBG_REGISTERS_GRANTED(w, registers)
#define WSDBG_REGISTERS_RELEASE(w, registers)
#define WSDBG_MBARRIER_INIT(w, barrier, stage, arrivals)
#define WSDBG_MBARRIER_WAIT_BEGIN(w, barrier, stage, parity, iteration)
#define WSDBG_MBARRIER_WAIT_END(w, barrier, stage, parity, iteration)
#define WSDBG_MBARRIER_ARRIVE(w, barrier, stage, iteration)
#define WSDBG_MBARRIER_ARRIVE_REMOTE(w, barrier, stage, iteration, cluster_rank)
#define WSDBG_MBARRIER_ARRIVE_EXPECT_TX(w, barrier, stage, iteration, bytes)
#define WSDBG_MBARRIER_EXPECT_TX(w, barrier, stage, iteration, bytes)
#define WSDBG_TMA_ISSUE(w, barrier, stage, iteration, bytes, multicast_mask)
#define WSDBG_TMA_STORE_ISSUE(w, iteration, bytes)
#define WSDBG_BULK_COMMIT(w)
#define WSDBG_BULK_WAIT_BEGIN(w, groups)
#define WSDBG_BULK_WAIT_END(w, groups)
#define WSDBG_WGMMA_ISSUE(w, stage, iteration)
#define WSDBG_WGMMA_COMMIT(w, iteration)
#define WSDBG_WGMMA_WAIT_BEGIN(w, iteration, groups)
#define WSDBG_WGMMA_WAIT_END(w, iteration, groups)
#define WSDBG_NAMED_ARRIVE(w, id, threads)
#define WSDBG_NAMED_SYNC_BEGIN(w, id, threads)
#define WSDBG_NAMED_SYNC_END(w, id, threads)
#define WSDBG_CLUSTER_ARRIVE(w)
#define WSDBG_CLUSTER_WAIT_BEGIN(w)
#define WSDBG_CLUSTER_WAIT_END(w)
#define WSDBG_GRID_DEPENDENCY_WAIT_BEGIN(w)
#define WSDBG_GRID_DEPENDENCY_WAIT_END(w)
#define WSDBG_POLL_BEGIN(w, word, iteration)
#define WSDBG_POLL_END(w, word, iteration)
#define WSDBG_POLL_SYSTEM_BEGIN(w, word, iteration)
#define WSDBG_POLL_SYSTEM_END(w, word, iteration)
#define WSDBG_TILE_BEGIN(w, iteration, tile)

#endif
#endif
