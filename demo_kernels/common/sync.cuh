/* sync.cuh - the synchronisation instructions of sm_90, one function each, and their probed forms.
 *
 * Functions are the bare PTX.  The macros in capitals pair each with its probe; they are macros so that the
 * line a probe records is the line of the kernel that waits or arrives, not a line of this file.
 * Everywhere: `bar` points into shared memory, `parity` is the parity of the phase whose end is waited for.
 */
#ifndef DEMO_SYNC_CUH
#define DEMO_SYNC_CUH

#include "probes.cuh"

#define DEVICE static __device__ __forceinline__

DEVICE uint32_t shared_address(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

/* True in one lane of the warp, and the compiler knows that it is one.  With `threadIdx.x == 0` it would issue copies
 * in a loop over the lanes. */
DEVICE int elect_lane(void)
{
    uint32_t elected;
    asm volatile("{\n\t.reg .pred elected;\n\telect.sync _|elected, 0xffffffff;\n\tselp.u32 %0, 1, 0, elected;\n\t}"
                 : "=r"(elected));
    return elected;
}

/* ---- mbarriers ---- */

DEVICE void mbarrier_init(uint64_t *bar, uint32_t arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(arrivals) : "memory");
}

/* Makes initialised mbarriers visible to the copy engine and to the other CTAs of the cluster. */
DEVICE void mbarrier_init_fence(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::: "memory");
}

DEVICE void mbarrier_wait(const uint64_t *bar, uint32_t parity)
{
    asm volatile("{\n\t.reg .pred done;\n"
                 "again:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
                 "@!done bra.uni again;\n\t}" ::"r"(shared_address(bar)),
                 "r"(parity)
                 : "memory");
}

DEVICE void mbarrier_arrive(uint64_t *bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}

/* Arrives on the same barrier of the CTA with rank `cluster_rank` in the cluster.  Relaxed: it publishes no writes,
 * only that reads are over, which a completed wgmma group already says; releasing at cluster scope would cost a fence
 * of the whole GPU each time. */
DEVICE void mbarrier_arrive_remote(uint64_t *bar, uint32_t cluster_rank)
{
    asm volatile("{\n\t.reg .b32 remote;\n\t"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
                 "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [remote];\n\t}" ::"r"(shared_address(bar)),
                 "r"(cluster_rank)
                 : "memory");
}

DEVICE void mbarrier_arrive_expect_tx(uint64_t *bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes)
                 : "memory");
}

DEVICE void mbarrier_expect_tx(uint64_t *bar, uint32_t bytes)
{
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes)
                 : "memory");
}

/* One look at the barrier; the hardware may wait for a while.  In most cases the phase is over, or soon will be. */
DEVICE bool mbarrier_try_wait(const uint64_t *bar, uint32_t parity)
{
    uint32_t done;
    asm volatile("{\n\t.reg .pred done;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, done;\n\t}"
                 : "=r"(done)
                 : "r"(shared_address(bar)), "r"(parity)
                 : "memory");
    return done != 0;
}

/* A wait without the event of its end.  It has one event, its begin, if it does not end at the first look. */
#define MBARRIER_WAIT_ONLY(w, id, bars, stage, parity, iteration)       \
    do {                                                                \
        if (!mbarrier_try_wait(&(bars)[stage], parity)) {               \
            WSDBG_MBARRIER_WAIT_BEGIN(w, id, stage, parity, iteration); \
            mbarrier_wait(&(bars)[stage], parity);                      \
        }                                                               \
    } while (0)

/* A wait that ends at the first look costs one event, its end; only a longer one has a begin. */
#define MBARRIER_WAIT(w, id, bars, stage, parity, iteration)       \
    do {                                                           \
        MBARRIER_WAIT_ONLY(w, id, bars, stage, parity, iteration); \
        WSDBG_MBARRIER_WAIT_END(w, id, stage, parity, iteration);  \
    } while (0)

/* The probe comes first: the event of an arrival must not be newer than what the arrival sets off. */
#define MBARRIER_ARRIVE(w, id, bars, stage, iteration)  \
    do {                                                \
        WSDBG_MBARRIER_ARRIVE(w, id, stage, iteration); \
        mbarrier_arrive(&(bars)[stage]);                \
    } while (0)
#define MBARRIER_ARRIVE_REMOTE(w, id, bars, stage, iteration, cluster_rank)  \
    do {                                                                     \
        WSDBG_MBARRIER_ARRIVE_REMOTE(w, id, stage, iteration, cluster_rank); \
        mbarrier_arrive_remote(&(bars)[stage], cluster_rank);                \
    } while (0)
#define MBARRIER_ARRIVE_EXPECT_TX(w, id, bars, stage, iteration, bytes)  \
    do {                                                                 \
        WSDBG_MBARRIER_ARRIVE_EXPECT_TX(w, id, stage, iteration, bytes); \
        mbarrier_arrive_expect_tx(&(bars)[stage], bytes);                \
    } while (0)
#define MBARRIER_EXPECT_TX(w, id, bars, stage, iteration, bytes)  \
    do {                                                          \
        WSDBG_MBARRIER_EXPECT_TX(w, id, stage, iteration, bytes); \
        mbarrier_expect_tx(&(bars)[stage], bytes);                \
    } while (0)

/* ---- named barriers: `threads` counts those that arrive and those that sync ---- */

DEVICE void named_sync(uint32_t id, uint32_t threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

DEVICE void named_arrive(uint32_t id, uint32_t threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

#define NAMED_SYNC(w, id, threads)              \
    do {                                        \
        WSDBG_NAMED_SYNC_BEGIN(w, id, threads); \
        named_sync(id, threads);                \
        WSDBG_NAMED_SYNC_END(w, id, threads);   \
    } while (0)
#define NAMED_ARRIVE(w, id, threads)        \
    do {                                    \
        WSDBG_NAMED_ARRIVE(w, id, threads); \
        named_arrive(id, threads);          \
    } while (0)

/* ---- the cluster barrier: every thread of every CTA of the cluster ---- */

DEVICE void cluster_arrive(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

/* Publishes nothing, so it waits for no store. */
DEVICE void cluster_arrive_relaxed(void)
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

DEVICE void cluster_wait(void)
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

#define CLUSTER_SYNC_AFTER(w, arrive) \
    do {                              \
        WSDBG_CLUSTER_ARRIVE(w);      \
        arrive();                     \
        WSDBG_CLUSTER_WAIT_BEGIN(w);  \
        cluster_wait();               \
        WSDBG_CLUSTER_WAIT_END(w);    \
    } while (0)
#define CLUSTER_SYNC(w) CLUSTER_SYNC_AFTER(w, cluster_arrive)
#define CLUSTER_SYNC_RELAXED(w) CLUSTER_SYNC_AFTER(w, cluster_arrive_relaxed)

DEVICE uint32_t cluster_ctas(void)
{
    uint32_t ctas;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(ctas));
    return ctas;
}

/* The address of `pointer` in the shared memory of the CTA with rank `cluster_rank`. */
DEVICE uint32_t shared_address_of(const void *pointer, uint32_t cluster_rank)
{
    uint32_t address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(pointer)), "r"(cluster_rank));
    return address;
}

/* Stores into another CTA's shared memory; the bytes complete on an mbarrier there. */
DEVICE void store_async(uint32_t address, uint32_t bar, float4 four)
{
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(address),
        "f"(four.x), "f"(four.y), "f"(four.z), "f"(four.w), "r"(bar)
        : "memory");
}

/* ---- waits that lead out of the CTA: memory that is polled, the grid before ---- */

/* A word of global memory by which CTAs of one GPU hand data on: what was written before the release is seen after the
 * acquire that reads it. */
DEVICE void store_release(uint32_t *word, uint32_t value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(word)), "r"(value) : "memory");
}
DEVICE uint32_t load_acquire(const uint32_t *word)
{
    uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(word)) : "memory");
    return value;
}

/* Polls as long as `still` holds; `word` is the id of what it reads. */
#define POLL_WHILE(w, word, still, pause_ns)           \
    do {                                               \
        WSDBG_POLL_BEGIN(w, word, WSDBG_NO_ITERATION); \
        while (still)                                  \
            __nanosleep(pause_ns);                     \
        WSDBG_POLL_END(w, word, WSDBG_NO_ITERATION);   \
    } while (0)
/* The same where the host or another GPU may write the word. */
#define POLL_SYSTEM_WHILE(w, word, still, pause_ns)           \
    do {                                                      \
        WSDBG_POLL_SYSTEM_BEGIN(w, word, WSDBG_NO_ITERATION); \
        while (still)                                         \
            __nanosleep(pause_ns);                            \
        WSDBG_POLL_SYSTEM_END(w, word, WSDBG_NO_ITERATION);   \
    } while (0)

DEVICE void grid_dependency_wait(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

/* Lets the next launch begin early, once every CTA has executed this.  It does if it was launched to overlap. */
DEVICE void grid_launch_dependents(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

#define GRID_DEPENDENCY_WAIT(w)              \
    do {                                     \
        WSDBG_GRID_DEPENDENCY_WAIT_BEGIN(w); \
        grid_dependency_wait();              \
        WSDBG_GRID_DEPENDENCY_WAIT_END(w);   \
    } while (0)

/* ---- the register pool of the CTA: all four warps of a warpgroup, an immediate operand ---- */

#define registers_release(registers) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers))
#define REGISTERS_RELEASE(w, registers)        \
    do {                                       \
        registers_release(registers);          \
        WSDBG_REGISTERS_RELEASE(w, registers); \
    } while (0)
#define REGISTERS_REQUEST(w, registers)                                       \
    do {                                                                      \
        WSDBG_REGISTERS_REQUEST(w, registers);                                \
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers)); \
        WSDBG_REGISTERS_GRANTED(w, registers);                                \
    } while (0)

#endif
