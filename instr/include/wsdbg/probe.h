/* probe.h - device probes: what a kernel author puts into a warp-specialized kernel (CUDA C++, sm_90).
 *
 * Writes: the warp's state slot and history ring as wsdbg/ring.h lays them out.  Reads nothing.
 *
 *   WSDBG_MODULE(WSDBG_ROLE(0, "producer"), WSDBG_ROLE(1, "consumer"),
 *                WSDBG_MBARRIER(0, "full", STAGES, 1 << 0, 1 << 1), WSDBG_MBARRIER_FREE(1, "empty", STAGES, 1 << 1, 1 << 0));
 *   __global__ void kernel(...) {
 *       WSDBG_BEGIN(w);
 *       WSDBG_ROLE_BEGIN(w, 1);
 *       WSDBG_MBARRIER_WAIT_BEGIN(w, 0, stage, parity, k);   wait...   WSDBG_MBARRIER_WAIT_END(w, 0, stage, parity, k);
 *       WSDBG_EXIT(w);
 *   }
 *
 * Rules kept here: no barrier, no __syncwarp, no branch that splits a warp (the only branch tests a
 * constant), the lowest active lane writes, no memory clobber, two registers of state.
 * -DWSDBG_PROBES=0 makes every macro vanish, arguments included: the SASS is that of a kernel without them.
 * Call a probe where all lanes that take part in the operation are active; a single elected lane is fine.
 */
#ifndef WSDBG_PROBE_H
#define WSDBG_PROBE_H

#include "ring.h"

#ifndef WSDBG_PROBES
#define WSDBG_PROBES 1
#endif

/* A warp's probe state, held in registers: its slot and the number of events so far. */
struct wsdbg_warp {
    uint32_t slot;
    uint32_t count;
};

#if WSDBG_PROBES && defined(__CUDACC__)

/* With relocatable device code every object of a link shares one table and one config. */
#ifdef __CUDACC_RDC__
#define WSDBG_MODULE_LINKAGE __attribute__((weak))
#else
#define WSDBG_MODULE_LINKAGE
#endif

/* Once per .cu file, before the kernels: declares the config and names roles and barriers. */
#define WSDBG_MODULE(...)                                                                  \
    extern "C" {                                                                           \
    __constant__ WSDBG_MODULE_LINKAGE struct wsdbg_config wsdbg_config_v1;                 \
    __device__ WSDBG_MODULE_LINKAGE struct wsdbg_name wsdbg_names_v1[] = {__VA_ARGS__};    \
    }
#define WSDBG_ROLE(id, name) {WSDBG_NAME_ROLE, (id), 0, 0, 0, 0, 0, name}
/* arriving, waiting: bit masks of role ids; pass 0 where you do not want to say. */
#define WSDBG_MBARRIER(id, name, stages, arriving, waiting) \
    {WSDBG_NAME_MBARRIER, (id), (stages), 0, (arriving), (waiting), 0, name}
/* The same for a barrier whose first wait on every stage is meant to pass at once. */
#define WSDBG_MBARRIER_FREE(id, name, stages, arriving, waiting) \
    {WSDBG_NAME_MBARRIER, (id), (stages), 1, (arriving), (waiting), 0, name}
#define WSDBG_NAMED_BARRIER(id, name, arriving, waiting) \
    {WSDBG_NAME_NAMED_BARRIER, (id), 0, 0, (arriving), (waiting), 0, name}
#define WSDBG_MARK_NAME(id, name) {WSDBG_NAME_MARK, (id), 0, 0, 0, 0, 0, name}

/* Writes one event.  `head` = kind | barrier << 8 | stage_and_parity << 16; with `site` the active lanes
 * are added to value.  Expands to nothing but a predicated branch while wsdbg is not there. */
#define WSDBG_PTX_EVENT(lanes)                                                             \
    "{\n\t.reg .pred off, writer, deep;\n\t"                                               \
    ".reg .b32 active, below, head, value, time, depth, index;\n\t"                        \
    ".reg .b64 base, at;\n\t"                                                              \
    "ld.const.u64 base, [wsdbg_config_v1];\n\t"                                            \
    "setp.eq.u64 off, base, 0;\n\t"                                                        \
    "@off bra.uni done;\n\t"                                                               \
    "activemask.b32 active;\n\t"                                                           \
    "mov.u32 below, %%lanemask_lt;\n\t"                                                    \
    "and.b32 below, below, active;\n\t"                                                    \
    "setp.eq.u32 writer, below, 0;\n\t"                                                    \
    "mov.u32 value, %4;\n\t" lanes                                                         \
    "shl.b32 head, %0, 24;\n\t"                                                            \
    "or.b32 head, head, %2;\n\t"                                                           \
    "mov.u32 time, %%globaltimer_lo;\n\t"                                                  \
    "shr.u32 time, time, 5;\n\t"                                                           \
    "mul.wide.u32 at, %1, 64;\n\t"                                                         \
    "add.u64 at, at, base;\n\t"                                                            \
    "@writer st.relaxed.sys.global.v4.b32 [at], {head, %3, value, time};\n\t"              \
    "ld.const.u64 base, [wsdbg_config_v1+8];\n\t"                                          \
    "ld.const.u32 depth, [wsdbg_config_v1+16];\n\t"                                        \
    "setp.ne.u64 deep, base, 0;\n\t"                                                       \
    "and.pred writer, writer, deep;\n\t"                                                   \
    "sub.u32 index, depth, 1;\n\t"                                                         \
    "and.b32 index, index, %0;\n\t"                                                        \
    "mad.lo.u32 index, %1, depth, index;\n\t"                                              \
    "mul.wide.u32 at, index, 16;\n\t"                                                      \
    "add.u64 at, at, base;\n\t"                                                            \
    "@writer st.relaxed.gpu.global.v4.b32 [at], {head, %3, value, time};\n\t"              \
    "add.u32 %0, %0, 1;\n"                                                                 \
    "done:\n\t}"

#define WSDBG_PTX_LANES                     \
    "popc.b32 index, active;\n\t"           \
    "shl.b32 index, index, 21;\n\t"         \
    "or.b32 value, value, index;\n\t"       \
    "mov.u32 index, %%laneid;\n\t"          \
    "shl.b32 index, index, 16;\n\t"         \
    "or.b32 value, value, index;\n\t"

/* A macro, not a function: the PTX names the module's own wsdbg_config_v1. */
#define WSDBG_EVENT(w, kind, barrier, stage, iteration, value)                                     \
    asm volatile(WSDBG_PTX_EVENT("")                                                               \
                 : "+r"((w).count)                                                                 \
                 : "r"((w).slot), "r"((uint32_t)(kind) | ((uint32_t)(barrier) << 8) | ((uint32_t)(stage) << 16)), \
                   "r"((uint32_t)(iteration)), "r"((uint32_t)(value)))
#define WSDBG_EVENT_AT(w, kind, barrier, stage, iteration, target)                                 \
    asm volatile(WSDBG_PTX_EVENT(WSDBG_PTX_LANES)                                                  \
                 : "+r"((w).count)                                                                 \
                 : "r"((w).slot), "r"((uint32_t)(kind) | ((uint32_t)(barrier) << 8) | ((uint32_t)(stage) << 16)), \
                   "r"((uint32_t)(iteration)), "r"((uint32_t)(__LINE__ & 0xffff) | ((uint32_t)(target) << 27)))

static __device__ __forceinline__ uint32_t wsdbg_special_(const int which)
{
    uint32_t v = 0;
    switch (which) {
    case 0: asm volatile("mov.u32 %0, %%smid;" : "=r"(v)); break;
    case 1: asm volatile("mov.u32 %0, %%warpid;" : "=r"(v)); break;
    case 2: asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(v)); break;
    case 3: asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(v)); break;
    case 4: asm volatile("{ .reg .b32 a, b; mov.u32 a, %%clusterid.y; mov.u32 b, %%nclusterid.x; mov.u32 %0, %%clusterid.x; mad.lo.u32 %0, a, b, %0; }" : "=r"(v)); break;
    }
    return v;
}

/* Claims this warp's slot and writes who it is.  Call once, first thing in the kernel, by all threads. */
static __device__ __forceinline__ struct wsdbg_warp wsdbg_begin_(const struct wsdbg_config *config)
{
    struct wsdbg_warp w = {0, 0};
    if (config->slots_address == 0)
        return w;
    const uint32_t placement = wsdbg_special_(0) | (wsdbg_special_(1) << 16);
    w.slot = min((placement & 0xffffu) * config->warps_per_sm + (placement >> 16), config->slot_count - 1);
    const uint32_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const uint32_t warps = (blockDim.x * blockDim.y * blockDim.z + 31u) / 32u;
    unsigned long long grid_id;
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid_id));
    const uint32_t grid_low = (uint32_t)grid_id, grid_high = (uint32_t)(grid_id >> 32);
    const uint32_t warp = (thread / 32u) | (warps << 8) | (wsdbg_special_(2) << 16) | (wsdbg_special_(3) << 24);
    const uint32_t cluster = wsdbg_special_(4);
    const uint32_t ctas = gridDim.x * gridDim.y * gridDim.z;
    const uint32_t check = WSDBG_IDENTITY_SEED ^ grid_low ^ grid_high ^ blockIdx.x ^ blockIdx.y ^ blockIdx.z ^ warp ^
                           placement ^ config->module_id ^ cluster ^ ctas;
    asm volatile("{\n\t.reg .pred writer;\n\t.reg .b32 active, below;\n\t.reg .b64 at;\n\t"
                 "activemask.b32 active;\n\tmov.u32 below, %%lanemask_lt;\n\tand.b32 below, below, active;\n\t"
                 "setp.eq.u32 writer, below, 0;\n\t"
                 "mul.wide.u32 at, %0, 64;\n\tadd.u64 at, at, %1;\n\t"
                 "@writer st.relaxed.sys.global.v4.b32 [at], {0, 0, 0, 0};\n\t"
                 "@writer st.relaxed.sys.global.v4.b32 [at+16], {%2, %3, %4, %5};\n\t"
                 "@writer st.relaxed.sys.global.v4.b32 [at+32], {%6, %7, %8, %9};\n\t"
                 "@writer st.relaxed.sys.global.v4.b32 [at+48], {%10, 0, %11, %12};\n\t}"
                 :
                 : "r"(w.slot), "l"(config->slots_address), "r"(grid_low), "r"(grid_high), "r"(blockIdx.x), "r"(blockIdx.y),
                   "r"(blockIdx.z), "r"(warp), "r"(placement), "r"(config->module_id), "r"(cluster), "r"(ctas), "r"(check));
    return w;
}

/* The slot's role word: the role outlives the event that began it. */
static __device__ __forceinline__ void wsdbg_role_(const struct wsdbg_config *config, uint32_t slot, uint32_t role)
{
    if (config->slots_address == 0)
        return;
    asm volatile("{\n\t.reg .pred writer;\n\t.reg .b32 active, below;\n\t.reg .b64 at;\n\t"
                 "activemask.b32 active;\n\tmov.u32 below, %%lanemask_lt;\n\tand.b32 below, below, active;\n\t"
                 "setp.eq.u32 writer, below, 0;\n\t"
                 "mul.wide.u32 at, %0, 64;\n\tadd.u64 at, at, %1;\n\t"
                 "@writer st.relaxed.sys.global.b32 [at+52], %2;\n\t}" ::"r"(slot), "l"(config->slots_address), "r"(role + 1u));
}

#define WSDBG_STAGE_(stage, parity) \
    (((uint32_t)(stage) & WSDBG_STAGE_MASK) | (((uint32_t)(parity) & 1u) << WSDBG_PARITY_SHIFT))

/* Declares the probe state `w` of this warp and records that the warp began. First thing in the kernel. */
#define WSDBG_BEGIN(w)                                            \
    struct wsdbg_warp w = wsdbg_begin_(&wsdbg_config_v1);         \
    WSDBG_EVENT(w, WSDBG_EVENT_BEGIN, 0, 0, WSDBG_NO_ITERATION, 0)
#define WSDBG_ROLE_BEGIN(w, role)                                 \
    do {                                                          \
        wsdbg_role_(&wsdbg_config_v1, (w).slot, (role));          \
        WSDBG_EVENT(w, WSDBG_EVENT_ROLE_BEGIN, 0, 0, WSDBG_NO_ITERATION, role); \
    } while (0)

#else /* probes compiled out */

#define WSDBG_MODULE(...)
#define WSDBG_STAGE_(stage, parity) 0
#define WSDBG_BEGIN(w) struct wsdbg_warp w = {0, 0}; (void)(w)
#define WSDBG_ROLE_BEGIN(w, role) ((void)0)
#define WSDBG_EVENT(...) ((void)0)
#define WSDBG_EVENT_AT(...) ((void)0)

#endif

/* Last thing on every path that leaves the kernel. */
#define WSDBG_EXIT(w) WSDBG_EVENT(w, WSDBG_EVENT_EXIT, 0, 0, WSDBG_NO_ITERATION, 0)

/* setmaxnreg: request before .inc, granted after it, release after .dec; registers = its operand. */
#define WSDBG_REGISTERS_REQUEST(w, registers) \
    WSDBG_EVENT(w, WSDBG_EVENT_REGISTERS_REQUEST, 0, 0, WSDBG_NO_ITERATION, registers)
#define WSDBG_REGISTERS_GRANTED(w, registers) \
    WSDBG_EVENT(w, WSDBG_EVENT_REGISTERS_GRANTED, 0, 0, WSDBG_NO_ITERATION, registers)
#define WSDBG_REGISTERS_RELEASE(w, registers) \
    WSDBG_EVENT(w, WSDBG_EVENT_REGISTERS_RELEASE, 0, 0, WSDBG_NO_ITERATION, registers)

/* mbarriers. barrier = id in WSDBG_MODULE, iteration = the author's running count of uses over all stages
 * (so iteration / stages is the number of earlier rounds of this stage), or WSDBG_NO_ITERATION. */
#define WSDBG_MBARRIER_INIT(w, barrier, stage, arrivals) \
    WSDBG_EVENT(w, WSDBG_EVENT_MBARRIER_INIT, barrier, WSDBG_STAGE_(stage, 0), WSDBG_NO_ITERATION, arrivals)
#define WSDBG_MBARRIER_WAIT_BEGIN(w, barrier, stage, parity, iteration) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, barrier, WSDBG_STAGE_(stage, parity), iteration, 0)
#define WSDBG_MBARRIER_WAIT_END(w, barrier, stage, parity, iteration) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_MBARRIER_WAIT_END, barrier, WSDBG_STAGE_(stage, parity), iteration, 0)
/* Every active lane arrives once. Remote: the target CTA's rank in the cluster. */
#define WSDBG_MBARRIER_ARRIVE(w, barrier, stage, iteration) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_MBARRIER_ARRIVE, barrier, WSDBG_STAGE_(stage, 0), iteration, 0)
#define WSDBG_MBARRIER_ARRIVE_REMOTE(w, barrier, stage, iteration, cluster_rank) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_MBARRIER_ARRIVE, barrier, WSDBG_STAGE_(stage, 0), iteration, (cluster_rank) + 1u)
/* One lane arrives and expects bytes; EXPECT_TX expects without arriving. */
#define WSDBG_MBARRIER_ARRIVE_EXPECT_TX(w, barrier, stage, iteration, bytes) \
    WSDBG_EVENT(w, WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX, barrier, WSDBG_STAGE_(stage, 0), iteration, bytes)
#define WSDBG_MBARRIER_EXPECT_TX(w, barrier, stage, iteration, bytes) \
    WSDBG_EVENT(w, WSDBG_EVENT_MBARRIER_EXPECT_TX, barrier, WSDBG_STAGE_(stage, 0), iteration, bytes)

/* Bulk copies. Load: bytes that reach each destination CTA and the multicast mask (0 = own CTA). */
#define WSDBG_TMA_ISSUE(w, barrier, stage, iteration, bytes, multicast_mask) \
    WSDBG_EVENT(w, WSDBG_EVENT_TMA_ISSUE, barrier, WSDBG_STAGE_(stage, 0), iteration, \
                (uint32_t)(bytes) | ((uint32_t)(multicast_mask) << 24))
#define WSDBG_TMA_STORE_ISSUE(w, iteration, bytes) \
    WSDBG_EVENT(w, WSDBG_EVENT_TMA_STORE_ISSUE, 0, 0, iteration, bytes)
#define WSDBG_BULK_COMMIT(w) WSDBG_EVENT(w, WSDBG_EVENT_BULK_COMMIT, 0, 0, WSDBG_NO_ITERATION, 0)
#define WSDBG_BULK_WAIT_BEGIN(w, groups) WSDBG_EVENT(w, WSDBG_EVENT_BULK_WAIT_BEGIN, 0, 0, WSDBG_NO_ITERATION, groups)
#define WSDBG_BULK_WAIT_END(w, groups) WSDBG_EVENT(w, WSDBG_EVENT_BULK_WAIT_END, 0, 0, WSDBG_NO_ITERATION, groups)

/* wgmma; groups = committed groups that may stay outstanding. */
#define WSDBG_WGMMA_ISSUE(w, stage, iteration) \
    WSDBG_EVENT(w, WSDBG_EVENT_WGMMA_ISSUE, 0, WSDBG_STAGE_(stage, 0), iteration, 0)
#define WSDBG_WGMMA_COMMIT(w, iteration) WSDBG_EVENT(w, WSDBG_EVENT_WGMMA_COMMIT, 0, 0, iteration, 0)
#define WSDBG_WGMMA_WAIT_BEGIN(w, iteration, groups) \
    WSDBG_EVENT(w, WSDBG_EVENT_WGMMA_WAIT_BEGIN, 0, 0, iteration, groups)
#define WSDBG_WGMMA_WAIT_END(w, iteration, groups) WSDBG_EVENT(w, WSDBG_EVENT_WGMMA_WAIT_END, 0, 0, iteration, groups)

/* bar.arrive / bar.sync: hardware id 0..15 and the thread count of the instruction. */
#define WSDBG_NAMED_ARRIVE(w, id, threads) \
    WSDBG_EVENT(w, WSDBG_EVENT_NAMED_ARRIVE, id, 0, WSDBG_NO_ITERATION, threads)
#define WSDBG_NAMED_SYNC_BEGIN(w, id, threads) \
    WSDBG_EVENT(w, WSDBG_EVENT_NAMED_SYNC_BEGIN, id, 0, WSDBG_NO_ITERATION, threads)
#define WSDBG_NAMED_SYNC_END(w, id, threads) \
    WSDBG_EVENT(w, WSDBG_EVENT_NAMED_SYNC_END, id, 0, WSDBG_NO_ITERATION, threads)

#define WSDBG_CLUSTER_ARRIVE(w) WSDBG_EVENT_AT(w, WSDBG_EVENT_CLUSTER_ARRIVE, 0, 0, WSDBG_NO_ITERATION, 0)
#define WSDBG_CLUSTER_WAIT_BEGIN(w) WSDBG_EVENT_AT(w, WSDBG_EVENT_CLUSTER_WAIT_BEGIN, 0, 0, WSDBG_NO_ITERATION, 0)
#define WSDBG_CLUSTER_WAIT_END(w) WSDBG_EVENT_AT(w, WSDBG_EVENT_CLUSTER_WAIT_END, 0, 0, WSDBG_NO_ITERATION, 0)
#define WSDBG_GRID_DEPENDENCY_WAIT_BEGIN(w) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN, 0, 0, WSDBG_NO_ITERATION, 0)
#define WSDBG_GRID_DEPENDENCY_WAIT_END(w) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_GRID_DEPENDENCY_WAIT_END, 0, 0, WSDBG_NO_ITERATION, 0)

#define WSDBG_TILE_BEGIN(w, iteration, tile) WSDBG_EVENT(w, WSDBG_EVENT_TILE_BEGIN, 0, 0, iteration, tile)
#define WSDBG_USER_MARK(w, id, value) WSDBG_EVENT(w, WSDBG_EVENT_USER_MARK, id, 0, WSDBG_NO_ITERATION, value)

#endif
