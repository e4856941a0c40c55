/* probe.h - device probes: what a kernel author puts into a warp-specialized kernel (CUDA C++, sm_90).
 *
 * Writes: the warp's state slot and history ring as wsdbg/ring.h lays them out.  Reads the constant that wsdbg sets.
 *
 *   WSDBG_MODULE(WSDBG_ROLE(0, "producer"), WSDBG_ROLE(1, "consumer"),
 *                WSDBG_MBARRIER(0, "full", STAGES, 1 << 0, 1 << 1), WSDBG_MBARRIER_FREE(1, "empty", STAGES, 1 << 1, 1 << 0))
 *   __global__ void kernel(...) {
 *       WSDBG_BEGIN(w);
 *       if (warpgroup == 0) {
 *           WSDBG_ROLE_BEGIN(w, 0);
 *           setmaxnreg.dec 40...
 *           WSDBG_REGISTERS_RELEASE(w, 40);
 *           for (k...) {                                   // on one lane
 *               wait for empty[stage], with the probes of a wait as below, barrier 1...
 *               WSDBG_MBARRIER_ARRIVE_EXPECT_TX(w, 0, stage, k, bytes);
 *               mbarrier.arrive.expect_tx on full[stage]...
 *               WSDBG_TMA_ISSUE(w, 0, stage, k, bytes, 0); // one for each copy
 *               cp.async.bulk...
 *           }
 *       } else {
 *           WSDBG_ROLE_BEGIN(w, 1);
 *           WSDBG_REGISTERS_REQUEST(w, 232);
 *           setmaxnreg.inc 232...
 *           WSDBG_REGISTERS_GRANTED(w, 232);
 *           for (k...) {
 *               if (!try_wait(full[stage], parity)) {      // a wait that ends at the first look needs no begin
 *                   WSDBG_MBARRIER_WAIT_BEGIN(w, 0, stage, parity, k);
 *                   wait...
 *               }
 *               WSDBG_MBARRIER_WAIT_END(w, 0, stage, parity, k); // better after the wgmma that it lets start
 *               wgmma...
 *               WSDBG_MBARRIER_ARRIVE(w, 1, stage, k);     // on the lanes that arrive
 *               mbarrier.arrive on empty[stage]...
 *           }
 *       }
 *       WSDBG_EXIT(w);
 *   }
 *
 * An event is about fifteen instructions and one 16-byte store.  In a main loop put it where the warp waits
 * anyway (behind an issued wgmma or copy), an arrival's event before the arrival, and none just before a
 * fence.proxy.async, which waits for the store.
 *
 * Rules kept here: no barrier, no __syncwarp, no branch that splits a warp (the only branch tests a
 * constant), the lowest active lane writes, no memory clobber, four registers of state.
 * -DWSDBG_PROBES=0 makes every macro vanish, arguments included: the SASS is that of a kernel without them.
 * Call a probe where all lanes that take part in the operation are active; a single elected lane is fine.
 *
 * WSDBG_BEGIN costs the most: about a hundred instructions, and the first read of the config, which no cache holds.  A
 * kernel that runs only for microseconds should issue its first copies before that:
 *
 *   WSDBG_STATE(w);
 *   ...the barriers are set up, __syncthreads...
 *   if (produces) {
 *       if (lane == 0) {
 *           uint32_t time = WSDBG_TIME();
 *           ...issue the first copies, into slots that are free without a wait...
 *           WSDBG_TELL_AS_OF(w, time);
 *           WSDBG_ENTER_AS(w, 0);       // and the events of those copies
 *           WSDBG_TELL_NOW(w);
 *           ...
 *       }
 *       __syncwarp();
 *       WSDBG_SHARE(w, 0);
 *   } else {
 *       WSDBG_ENTER_AS(w, 1);           // while the first copies are in flight
 *   }
 */
#ifndef WSDBG_PROBE_H
#define WSDBG_PROBE_H

#include "ring.h"

#include <stddef.h>

#ifndef WSDBG_PROBES
#define WSDBG_PROBES 1
#endif

/* A warp's probe state, four registers a thread. */
struct wsdbg_warp {
    uint64_t ring;  /* address of the warp's event 0; 0 = nothing is recorded; probes test the upper half alone */
    uint32_t place; /* slot index (bits 0-15), wsdbg_config.history_mask (16-22), 0 (23), events so far modulo 256 (24-31) */
    uint32_t below; /* mask of the lanes below this one */
    uint32_t as_of; /* the time that events get, 0 = the clock's; takes a register only in a kernel that sets it */
};

#if WSDBG_PROBES && defined(__CUDACC__)

/* With relocatable device code every object of a link shares one table and one config.  nvcc makes weak symbols of
 * inline variables alone, and drops those that nobody names. */
#ifdef __CUDACC_RDC__
#define WSDBG_MODULE_LINKAGE inline __attribute__((used))
#else
#define WSDBG_MODULE_LINKAGE
#endif

/* The file in which the lines of probes count; define it before the include to say something else than the compiler
 * would.  Nothing is said where objects of other files share the table, nor in C++11, whose constexpr has no loops. */
#if !defined(WSDBG_SOURCE_FILE) && !defined(__CUDACC_RDC__)
#define WSDBG_SOURCE_FILE __FILE__
#endif
#if defined(WSDBG_SOURCE_FILE) && __cplusplus >= 201402L
/* A part of the path of the source file, for the view that shows it.  Of a longer path the end is kept. */
static constexpr struct wsdbg_name wsdbg_source_(const char *path, uint32_t part)
{
    struct wsdbg_name row = {WSDBG_NAME_SOURCE, (uint8_t)part, 0, 0, 0, 0, 0, {0}};
    uint32_t length = 0, at = part * WSDBG_SOURCE_PART;
    while (path[length])
        length++;
    if (length > WSDBG_SOURCE_PART * WSDBG_SOURCE_PARTS)
        at += length - WSDBG_SOURCE_PART * WSDBG_SOURCE_PARTS;
    for (uint32_t i = 0; i < WSDBG_SOURCE_PART && at + i < length; i++)
        row.name[i] = path[at + i];
    return row;
}
#define WSDBG_SOURCE_NAMES                                                    \
    wsdbg_source_(WSDBG_SOURCE_FILE, 0), wsdbg_source_(WSDBG_SOURCE_FILE, 1), \
        wsdbg_source_(WSDBG_SOURCE_FILE, 2), wsdbg_source_(WSDBG_SOURCE_FILE, 3),
#else
#define WSDBG_SOURCE_NAMES
#endif

/* Once per .cu file, before the kernels: declares the config and names roles and barriers.  With -rdc=true (C++17) the
 * files of a link share one list: put it into a header that each of them includes.  Lists of different lengths are an
 * error of nvlink that names wsdbg_names_v1; of two with the same length it takes one. */
#define WSDBG_MODULE(...)                                                                                  \
    extern "C" {                                                                                           \
    WSDBG_MODULE_LINKAGE __constant__ struct wsdbg_config wsdbg_config_v1;                                 \
    WSDBG_MODULE_LINKAGE __device__ struct wsdbg_name wsdbg_names_v1[] = {WSDBG_SOURCE_NAMES __VA_ARGS__}; \
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

#else

#define WSDBG_MODULE(...)

#endif

/* In the passes of a fat build for older chips the probes are off: a kernel for them has no clusters and no TMA. */
#if WSDBG_PROBES && defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)

/* Writes one event.  Everything, the packing of the operands too, stands behind the branch: without wsdbg a
 * probe is one predicated jump.  It tests the upper half of `ring`, which the warp has in registers: the config's
 * constant takes longer to read than the jump.  `lanes` adds who takes part to the value, `slot` the store of a milestone.
 * The timer is read whole, one instruction as well: its low half alone wraps after 4.3 s, which would look to the
 * reader like time running backwards. */
#define WSDBG_PTX_EVENT(lanes, slot)                                                       \
    "{\n\t.reg .pred off, writer, whole, last;\n\t"                                        \
    ".reg .b32 active, head, part, value, time, index, gone;\n\t"                          \
    ".reg .b64 base, at;\n\t"                                                              \
    "mov.b64 {index, part}, %8;\n\t"                                                       \
    "setp.eq.u32 off, part, 0;\n\t"                                                        \
    "@off bra.uni done;\n\t"                                                               \
    "mov.u64 at, %%globaltimer;\n\t"                                                       \
    "shr.u64 at, at, 5;\n\t"                                                               \
    "cvt.u32.u64 time, at;\n\t"                                                            \
    "setp.ne.u32 writer, %9, 0;\n\t"                                                       \
    "selp.b32 time, %9, time, writer;\n\t"                                                 \
    "activemask.b32 active;\n\t"                                                           \
    "and.b32 part, %1, active;\n\t"                                                        \
    "setp.eq.u32 writer, part, 0;\n\t"                                                     \
    "shr.u32 index, %0, 16;\n\t"                                                           \
    "shr.u32 part, %0, 24;\n\t"                                                            \
    "and.b32 index, index, part;\n\t"                                                      \
    "and.b32 index, index, 127;\n\t"                                                       \
    "mad.wide.u32 at, index, 16, %8;\n\t"                                                  \
    "and.b32 head, %0, 0xff000000;\n\t"                                                    \
    "or.b32 head, head, %2;\n\t"                                                           \
    "shl.b32 part, %3, 8;\n\t"                                                             \
    "or.b32 head, head, part;\n\t"                                                         \
    "and.b32 part, %4, 127;\n\t"                                                           \
    "shl.b32 part, part, 16;\n\t"                                                          \
    "or.b32 head, head, part;\n\t"                                                         \
    "and.b32 part, %5, 1;\n\t"                                                             \
    "shl.b32 part, part, 23;\n\t"                                                          \
    "or.b32 head, head, part;\n\t"                                                         \
    "mov.u32 value, %7;\n\t" lanes                                                         \
    "@writer st.relaxed.gpu.global.v4.b32 [at], {head, %6, value, time};\n\t" slot         \
    "add.u32 %0, %0, 0x1000000;\n"                                                         \
    "done:\n\t}"

/* Milestones (wsdbg/ring.h) overwrite the slot's event too. */
#define WSDBG_PTX_SLOT                      \
    "ld.const.u64 base, [wsdbg_config_v1];\n\t" \
    "and.b32 part, %0, 0xffff;\n\t"         \
    "mad.wide.u32 at, part, 64, base;\n\t"  \
    "@writer st.relaxed.gpu.global.v4.b32 [at], {head, %6, value, time};\n\t"

/* Lanes that leave without the others put themselves into the slot's word of lanes that are gone.  `last`: writes EXIT
 * into the slot, for nobody is left; `writer`: into the ring too, for all leave at once.  A part alone goes past the
 * branch; each of its lanes does the atomic, as ptxas puts a convergence barrier around one of a single lane. */
#define WSDBG_PTX_LEAVE                                     \
    "setp.eq.u32 whole, active, 0xffffffff;\n\t"            \
    "mov.pred last, writer;\n\t"                            \
    "@whole bra.uni together;\n\t"                          \
    "ld.const.u32 index, [wsdbg_config_v1+36];\n\t"         \
    "setp.eq.u32 whole, index, 0;\n\t"                      \
    "@whole bra.uni together;\n\t"                          \
    "ld.const.u64 base, [wsdbg_config_v1];\n\t"             \
    "mad.wide.u32 base, index, 1, base;\n\t"                \
    "and.b32 part, %0, 0xffff;\n\t"                         \
    "mad.wide.u32 base, part, 4, base;\n\t"                 \
    "atom.relaxed.gpu.global.or.b32 gone, [base], active;\n\t" \
    "or.b32 gone, gone, active;\n\t"                        \
    "setp.eq.and.u32 last, gone, 0xffffffff, writer;\n"    \
    "together:\n\t"                                         \
    "and.pred writer, writer, whole;\n\t"
#define WSDBG_PTX_SLOT_OF_LAST              \
    "ld.const.u64 base, [wsdbg_config_v1];\n\t" \
    "and.b32 part, %0, 0xffff;\n\t"         \
    "mad.wide.u32 at, part, 64, base;\n\t"  \
    "@last st.relaxed.gpu.global.v4.b32 [at], {head, %6, value, time};\n\t"

#define WSDBG_PTX_LANES                     \
    "popc.b32 index, active;\n\t"           \
    "shl.b32 index, index, 21;\n\t"         \
    "or.b32 value, value, index;\n\t"       \
    "popc.b32 index, %1;\n\t"               \
    "shl.b32 index, index, 16;\n\t"         \
    "or.b32 value, value, index;\n\t"

/* A macro, not a function: the PTX names the module's own wsdbg_config_v1. */
#define WSDBG_PTX_OPERANDS(w, kind, barrier, stage, parity, iteration, value)                             \
    : "+r"((w).place)                                                                                     \
    : "r"((w).below), "r"((uint32_t)(kind)), "r"((uint32_t)(barrier)), "r"((uint32_t)(stage)),            \
      "r"((uint32_t)(parity)), "r"((uint32_t)(iteration)), "r"((uint32_t)(value)), "l"((w).ring),         \
      "r"((w).as_of)
#define WSDBG_EVENT(w, kind, barrier, stage, parity, iteration, value) \
    asm volatile(WSDBG_PTX_EVENT("", "") WSDBG_PTX_OPERANDS(w, kind, barrier, stage, parity, iteration, value))
#define WSDBG_MILESTONE(w, kind, barrier, stage, parity, iteration, value) \
    asm volatile(WSDBG_PTX_EVENT("", WSDBG_PTX_SLOT) WSDBG_PTX_OPERANDS(w, kind, barrier, stage, parity, iteration, value))
#define WSDBG_LEAVE(w)                                         \
    asm volatile(WSDBG_PTX_EVENT(WSDBG_PTX_LEAVE, WSDBG_PTX_SLOT_OF_LAST) \
                 WSDBG_PTX_OPERANDS(w, WSDBG_EVENT_EXIT, 0, 0, 0, WSDBG_NO_ITERATION, 0))
/* The same for events whose value is a site. */
#define WSDBG_SITE_(target) ((__LINE__ & 0xffff) | ((uint32_t)(target) << 27))
#define WSDBG_EVENT_AT(w, kind, barrier, stage, parity, iteration, target) \
    asm volatile(WSDBG_PTX_EVENT(WSDBG_PTX_LANES, "")                      \
                 WSDBG_PTX_OPERANDS(w, kind, barrier, stage, parity, iteration, WSDBG_SITE_(target)))
#define WSDBG_MILESTONE_AT(w, kind, barrier, stage, parity, iteration) \
    asm volatile(WSDBG_PTX_EVENT(WSDBG_PTX_LANES, WSDBG_PTX_SLOT)      \
                 WSDBG_PTX_OPERANDS(w, kind, barrier, stage, parity, iteration, WSDBG_SITE_(0)))

/* Read special registers and words of the config exactly here.  The compiler would move plain reads far ahead, before a
 * kernel's first copies, and keep the values in registers. */
#define WSDBG_SPECIAL_(name, text) \
    uint32_t name;                 \
    asm volatile("mov.u32 %0, %%" text ";" : "=r"(name))
#define WSDBG_CONFIG_(type, name)                                   \
    type name;                                                      \
    asm volatile("ld.const.b%2 %0, [wsdbg_config_v1+%1];"           \
                 : "=" WSDBG_LETTER_##type(name)                    \
                 : "n"(offsetof(struct wsdbg_config, name)), "n"(8 * sizeof name))
#define WSDBG_LETTER_uint32_t "r"
#define WSDBG_LETTER_uint64_t "l"

/* Writes 16 bytes of the slot, on the lane that writes for its warp. */
static __device__ __forceinline__ void wsdbg_write_(bool writer, uint64_t at, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    asm volatile("{\n\t.reg .pred writer;\n\tsetp.ne.u32 writer, %0, 0;\n\t"
                 "@writer st.relaxed.sys.global.v4.b32 [%1], {%2, %3, %4, %5};\n\t}"
                 :
                 : "r"((uint32_t)writer), "l"(at), "r"(a), "r"(b), "r"(c), "r"(d));
}

/* Finds this warp's slot.  Nothing is recorded where the history has no address. */
static __device__ __forceinline__ void wsdbg_find_(struct wsdbg_warp &w)
{
    WSDBG_CONFIG_(uint64_t, history_address);
    if (history_address >> 32 == 0)
        return;
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(w.below));
    WSDBG_SPECIAL_(sm, "smid");
    WSDBG_SPECIAL_(warp, "warpid");
    WSDBG_CONFIG_(uint32_t, history_stride);
    WSDBG_CONFIG_(uint32_t, history_mask);
    WSDBG_CONFIG_(uint32_t, warps_per_sm);
    WSDBG_CONFIG_(uint32_t, slot_count);
    const uint32_t index = min(sm * warps_per_sm + warp, slot_count - 1);
    w.ring = history_address + (uint64_t)index * history_stride;
    w.place = index | history_mask << 16;
}

/* Writes the words of the slot that say who the warp is; role_word is 0 while the role is not known.  Each word is
 * computed just before it is written, because few registers may be free here. */
static __device__ __forceinline__ void wsdbg_identify_(const struct wsdbg_warp &w, uint32_t role_word)
{
    if (w.ring >> 32 == 0)
        return;
    uint32_t active;
    asm volatile("activemask.b32 %0;" : "=r"(active));
    const bool writer = (active & w.below) == 0;
    WSDBG_CONFIG_(uint64_t, slots_address);
    const uint32_t index = w.place & 0xffffu;
    const uint64_t slot = slots_address + (uint64_t)index * sizeof(struct wsdbg_slot);
    wsdbg_write_(writer, slot, 0, 0, 0, 0);
    unsigned long long grid_id;
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(grid_id));
    const uint32_t grid_low = (uint32_t)grid_id, grid_high = (uint32_t)(grid_id >> 32);
    WSDBG_SPECIAL_(cta_x, "ctaid.x");
    WSDBG_SPECIAL_(cta_y, "ctaid.y");
    wsdbg_write_(writer, slot + 16, grid_low, grid_high, cta_x, cta_y);
    uint32_t check = WSDBG_IDENTITY_SEED ^ grid_low ^ grid_high ^ cta_x ^ cta_y;
    WSDBG_SPECIAL_(x, "tid.x");
    WSDBG_SPECIAL_(y, "tid.y");
    WSDBG_SPECIAL_(z, "tid.z");
    WSDBG_SPECIAL_(size_x, "ntid.x");
    WSDBG_SPECIAL_(size_y, "ntid.y");
    WSDBG_SPECIAL_(size_z, "ntid.z");
    WSDBG_SPECIAL_(rank, "cluster_ctarank");
    WSDBG_SPECIAL_(ranks, "cluster_nctarank");
    const uint32_t warps = (size_x * size_y * size_z + 31u) / 32u;
    const uint32_t warp = ((z * size_y + y) * size_x + x) / 32u | (warps << 8) | (rank << 16) | (ranks << 24);
    WSDBG_SPECIAL_(cta_z, "ctaid.z");
    WSDBG_SPECIAL_(sm, "smid");
    WSDBG_SPECIAL_(warp_of_sm, "warpid");
    const uint32_t placement = sm | (warp_of_sm << 16);
    WSDBG_CONFIG_(uint32_t, module_id);
    wsdbg_write_(writer, slot + 32, cta_z, warp, placement, module_id);
    check ^= cta_z ^ warp ^ placement ^ module_id;
    WSDBG_SPECIAL_(cluster_x, "clusterid.x");
    WSDBG_SPECIAL_(cluster_y, "clusterid.y");
    WSDBG_SPECIAL_(clusters_x, "nclusterid.x");
    WSDBG_SPECIAL_(ctas_x, "nctaid.x");
    WSDBG_SPECIAL_(ctas_y, "nctaid.y");
    WSDBG_SPECIAL_(ctas_z, "nctaid.z");
    const uint32_t cluster = cluster_y * clusters_x + cluster_x, ctas = ctas_x * ctas_y * ctas_z;
    wsdbg_write_(writer, slot + 48, cluster, role_word, ctas, check ^ cluster ^ ctas);
    WSDBG_CONFIG_(uint32_t, leavers_offset);
    asm volatile("{\n\t.reg .pred writer;\n\tsetp.ne.u32 writer, %0, 0;\n\t"
                 "@writer st.relaxed.gpu.global.b32 [%1], %2;\n\t}"
                 :
                 : "r"((uint32_t)(writer && leavers_offset != 0)),
                   "l"(slots_address + leavers_offset + (uint64_t)index * sizeof(uint32_t)), "r"(~active));
}

/* The slot's role word: the role outlives the event that began it. */
static __device__ __forceinline__ void wsdbg_role_(const struct wsdbg_config *config, const struct wsdbg_warp &w, uint32_t role)
{
    if (w.ring >> 32 == 0)
        return;
    asm volatile("{\n\t.reg .pred writer;\n\t.reg .b32 active, below;\n\t.reg .b64 at;\n\t"
                 "activemask.b32 active;\n\tmov.u32 below, %%lanemask_lt;\n\tand.b32 below, below, active;\n\t"
                 "setp.eq.u32 writer, below, 0;\n\t"
                 "mul.wide.u32 at, %0, 64;\n\tadd.u64 at, at, %1;\n\t"
                 "@writer st.relaxed.sys.global.b32 [at+52], %2;\n\t}" ::"r"(w.place & 0xffffu), "l"(config->slots_address), "r"(role + 1u));
}

static __device__ __forceinline__ void wsdbg_share_(struct wsdbg_warp &w, uint32_t lane)
{
    w.ring = __shfl_sync(0xffffffffu, (unsigned long long)w.ring, lane);
    w.place = __shfl_sync(0xffffffffu, w.place, lane);
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(w.below));
}

/* The time of an event that happens now, in the units of wsdbg_event.time. */
static __device__ __forceinline__ uint32_t wsdbg_time_(void)
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return (uint32_t)(ns >> WSDBG_TIME_SHIFT);
}

/* Declares the probe state `w` of this warp; its probes do nothing until it enters. */
#define WSDBG_STATE(w) struct wsdbg_warp w = {0, 0, 0, 0}
/* Records that the warp began.  All lanes enter, or one lane enters and later shares its state (WSDBG_SHARE). */
#define WSDBG_ENTER(w)                                                         \
    do {                                                                       \
        wsdbg_find_(w);                                                        \
        wsdbg_identify_(w, 0);                                                 \
        WSDBG_MILESTONE(w, WSDBG_EVENT_BEGIN, 0, 0, 0, WSDBG_NO_ITERATION, 0); \
    } while (0)
/* WSDBG_ENTER and WSDBG_ROLE_BEGIN in one.  Costs less than both, because the slot's event is written once. */
#define WSDBG_ENTER_AS(w, role)                                                        \
    do {                                                                               \
        wsdbg_find_(w);                                                                \
        wsdbg_identify_(w, (role) + 1u);                                               \
        WSDBG_EVENT(w, WSDBG_EVENT_BEGIN, 0, 0, 0, WSDBG_NO_ITERATION, 0);             \
        WSDBG_MILESTONE(w, WSDBG_EVENT_ROLE_BEGIN, 0, 0, 0, WSDBG_NO_ITERATION, role); \
    } while (0)
/* An event can be recorded later than it happens, so that its probe delays nothing.  Take WSDBG_TIME where it happens,
 * and give it to WSDBG_TELL_AS_OF before the probe.  A warp's events keep their order: no time may be before the last. */
#define WSDBG_TIME() wsdbg_time_()
#define WSDBG_TELL_AS_OF(w, time) ((w).as_of = (time))
#define WSDBG_TELL_NOW(w) ((w).as_of = 0)
/* Gives all 32 lanes the state of `lane`, which entered alone.  They are converged here, and must leave together. */
#define WSDBG_SHARE(w, lane) wsdbg_share_(w, lane)

/* Both at once: declares the state and records that the warp began. First thing in the kernel. */
#define WSDBG_BEGIN(w) \
    WSDBG_STATE(w);    \
    WSDBG_ENTER(w)
#define WSDBG_ROLE_BEGIN(w, role)                                 \
    do {                                                          \
        wsdbg_role_(&wsdbg_config_v1, w, (role));          \
        WSDBG_MILESTONE(w, WSDBG_EVENT_ROLE_BEGIN, 0, 0, 0, WSDBG_NO_ITERATION, role); \
    } while (0)

#else /* probes compiled out */

#define WSDBG_STATE(w) __attribute__((unused)) struct wsdbg_warp w = {0, 0, 0, 0}
#define WSDBG_ENTER(w) ((void)0)
#define WSDBG_ENTER_AS(w, role) ((void)0)
#define WSDBG_SHARE(w, lane) ((void)0)
#define WSDBG_TIME() 0u
#define WSDBG_TELL_AS_OF(w, time) ((void)(time))
#define WSDBG_TELL_NOW(w) ((void)0)
#define WSDBG_BEGIN(w) WSDBG_STATE(w)
#define WSDBG_ROLE_BEGIN(w, role) ((void)0)
#define WSDBG_EVENT(...) ((void)0)
#define WSDBG_EVENT_AT(...) ((void)0)
#define WSDBG_MILESTONE(...) ((void)0)
#define WSDBG_MILESTONE_AT(...) ((void)0)
#define WSDBG_LEAVE(...) ((void)0)

#endif

/* Last thing on every path that leaves the kernel.  Lanes need not come together for it: the last part to leave tells. */
#define WSDBG_EXIT(w) WSDBG_LEAVE(w)

/* setmaxnreg: request before .inc, granted after it, release after .dec; registers = its operand. */
#define WSDBG_REGISTERS_REQUEST(w, registers) \
    WSDBG_MILESTONE(w, WSDBG_EVENT_REGISTERS_REQUEST, 0, 0, 0, WSDBG_NO_ITERATION, registers)
#define WSDBG_REGISTERS_GRANTED(w, registers) \
    WSDBG_MILESTONE(w, WSDBG_EVENT_REGISTERS_GRANTED, 0, 0, 0, WSDBG_NO_ITERATION, registers)
#define WSDBG_REGISTERS_RELEASE(w, registers) \
    WSDBG_MILESTONE(w, WSDBG_EVENT_REGISTERS_RELEASE, 0, 0, 0, WSDBG_NO_ITERATION, registers)

/* mbarriers. barrier = id in WSDBG_MODULE, iteration = the author's running count of uses over all stages
 * (so iteration / stages is the number of earlier rounds of this stage), or WSDBG_NO_ITERATION. */
#define WSDBG_MBARRIER_INIT(w, barrier, stage, arrivals) \
    WSDBG_EVENT(w, WSDBG_EVENT_MBARRIER_INIT, barrier, stage, 0, WSDBG_NO_ITERATION, arrivals)
#define WSDBG_MBARRIER_WAIT_BEGIN(w, barrier, stage, parity, iteration) \
    WSDBG_MILESTONE_AT(w, WSDBG_EVENT_MBARRIER_WAIT_BEGIN, barrier, stage, parity, iteration)
#define WSDBG_MBARRIER_WAIT_END(w, barrier, stage, parity, iteration) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_MBARRIER_WAIT_END, barrier, stage, parity, iteration, 0)
/* Every active lane arrives once. Remote: the target CTA's rank in the cluster. */
#define WSDBG_MBARRIER_ARRIVE(w, barrier, stage, iteration) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_MBARRIER_ARRIVE, barrier, stage, 0, iteration, 0)
#define WSDBG_MBARRIER_ARRIVE_REMOTE(w, barrier, stage, iteration, cluster_rank) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_MBARRIER_ARRIVE, barrier, stage, 0, iteration, (cluster_rank) + 1u)
/* One lane arrives and expects bytes; EXPECT_TX expects without arriving. */
#define WSDBG_MBARRIER_ARRIVE_EXPECT_TX(w, barrier, stage, iteration, bytes) \
    WSDBG_EVENT(w, WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX, barrier, stage, 0, iteration, bytes)
#define WSDBG_MBARRIER_EXPECT_TX(w, barrier, stage, iteration, bytes) \
    WSDBG_EVENT(w, WSDBG_EVENT_MBARRIER_EXPECT_TX, barrier, stage, 0, iteration, bytes)

/* Bulk copies. Load: bytes that reach each destination CTA and the multicast mask (0 = own CTA). */
#define WSDBG_TMA_ISSUE(w, barrier, stage, iteration, bytes, multicast_mask) \
    WSDBG_EVENT(w, WSDBG_EVENT_TMA_ISSUE, barrier, stage, 0, iteration, \
                (uint32_t)(bytes) | ((uint32_t)(multicast_mask) << 24))
#define WSDBG_TMA_STORE_ISSUE(w, iteration, bytes) \
    WSDBG_EVENT(w, WSDBG_EVENT_TMA_STORE_ISSUE, 0, 0, 0, iteration, bytes)
#define WSDBG_BULK_COMMIT(w) WSDBG_EVENT(w, WSDBG_EVENT_BULK_COMMIT, 0, 0, 0, WSDBG_NO_ITERATION, 0)
#define WSDBG_BULK_WAIT_BEGIN(w, groups) WSDBG_MILESTONE(w, WSDBG_EVENT_BULK_WAIT_BEGIN, 0, 0, 0, WSDBG_NO_ITERATION, groups)
#define WSDBG_BULK_WAIT_END(w, groups) WSDBG_EVENT(w, WSDBG_EVENT_BULK_WAIT_END, 0, 0, 0, WSDBG_NO_ITERATION, groups)

/* wgmma; ISSUE stands before the first one of a group, groups = committed groups that may stay outstanding. */
#define WSDBG_WGMMA_ISSUE(w, stage, iteration) \
    WSDBG_EVENT(w, WSDBG_EVENT_WGMMA_ISSUE, 0, stage, 0, iteration, 0)
#define WSDBG_WGMMA_COMMIT(w, iteration) WSDBG_EVENT(w, WSDBG_EVENT_WGMMA_COMMIT, 0, 0, 0, iteration, 0)
#define WSDBG_WGMMA_WAIT_BEGIN(w, iteration, groups) \
    WSDBG_EVENT(w, WSDBG_EVENT_WGMMA_WAIT_BEGIN, 0, 0, 0, iteration, groups)
#define WSDBG_WGMMA_WAIT_END(w, iteration, groups) WSDBG_EVENT(w, WSDBG_EVENT_WGMMA_WAIT_END, 0, 0, 0, iteration, groups)

/* bar.arrive / bar.sync: hardware id 0..15 and the thread count of the instruction. */
#define WSDBG_NAMED_ARRIVE(w, id, threads) \
    WSDBG_EVENT(w, WSDBG_EVENT_NAMED_ARRIVE, id, 0, 0, WSDBG_NO_ITERATION, threads)
#define WSDBG_NAMED_SYNC_BEGIN(w, id, threads) \
    WSDBG_MILESTONE(w, WSDBG_EVENT_NAMED_SYNC_BEGIN, id, 0, 0, WSDBG_NO_ITERATION, threads)
#define WSDBG_NAMED_SYNC_END(w, id, threads) \
    WSDBG_EVENT(w, WSDBG_EVENT_NAMED_SYNC_END, id, 0, 0, WSDBG_NO_ITERATION, threads)

#define WSDBG_CLUSTER_ARRIVE(w) WSDBG_EVENT_AT(w, WSDBG_EVENT_CLUSTER_ARRIVE, 0, 0, 0, WSDBG_NO_ITERATION, 0)
#define WSDBG_CLUSTER_WAIT_BEGIN(w) WSDBG_MILESTONE_AT(w, WSDBG_EVENT_CLUSTER_WAIT_BEGIN, 0, 0, 0, WSDBG_NO_ITERATION)
#define WSDBG_CLUSTER_WAIT_END(w) WSDBG_EVENT_AT(w, WSDBG_EVENT_CLUSTER_WAIT_END, 0, 0, 0, WSDBG_NO_ITERATION, 0)
#define WSDBG_GRID_DEPENDENCY_WAIT_BEGIN(w) \
    WSDBG_MILESTONE_AT(w, WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN, 0, 0, 0, WSDBG_NO_ITERATION)
#define WSDBG_GRID_DEPENDENCY_WAIT_END(w) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_GRID_DEPENDENCY_WAIT_END, 0, 0, 0, WSDBG_NO_ITERATION, 0)

/* A loop that polls a word of global memory: a flag, a counter, a barrier across the grid.  BEGIN before the loop, END
 * after it, on the lanes that poll.  word = an id of your choice, the same for all who poll that word, 0..255;
 * iteration = which use of it this is, or WSDBG_NO_ITERATION.  SYSTEM where the host or another GPU may write it: such a
 * wait alone is never called a hang. */
#define WSDBG_POLL_BEGIN(w, word, iteration) \
    WSDBG_MILESTONE_AT(w, WSDBG_EVENT_POLL_BEGIN, word, WSDBG_POLL_OF_GPU, 0, iteration)
#define WSDBG_POLL_END(w, word, iteration) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_POLL_END, word, WSDBG_POLL_OF_GPU, 0, iteration, 0)
#define WSDBG_POLL_SYSTEM_BEGIN(w, word, iteration) \
    WSDBG_MILESTONE_AT(w, WSDBG_EVENT_POLL_BEGIN, word, WSDBG_POLL_OF_SYSTEM, 0, iteration)
#define WSDBG_POLL_SYSTEM_END(w, word, iteration) \
    WSDBG_EVENT_AT(w, WSDBG_EVENT_POLL_END, word, WSDBG_POLL_OF_SYSTEM, 0, iteration, 0)

#define WSDBG_TILE_BEGIN(w, iteration, tile) WSDBG_MILESTONE(w, WSDBG_EVENT_TILE_BEGIN, 0, 0, 0, iteration, tile)
#define WSDBG_USER_MARK(w, id, value) WSDBG_MILESTONE(w, WSDBG_EVENT_USER_MARK, id, 0, 0, WSDBG_NO_ITERATION, value)

#endif
