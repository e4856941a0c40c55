/* zoo.cuh - what the cases of the zoo share: the frame of a kernel, a ring of stages, the copy, work that takes time.
 *
 * A case is ZOO_CASE(id, attributes) { body }: the body is compiled twice, FIXED is false in zoo_ID and true in
 * zoo_ID_fixed.  The body knows `in` (struct zoo_input), `s` (shared memory), `w` (the warp's probe) and `warp` (its
 * index, uniform).
 * Unless a case says otherwise lane 0 of warp 0 fills the stages of the ring and warps 4 to 7 empty
 * them (warps 4 to 11 with two consumer groups); a full barrier counts one arrival and the bytes, an empty one a lane of each consumer warp.
 */
#ifndef ZOO_CUH
#define ZOO_CUH

#include "../common/sync.cuh"
#include "geometry.h"

enum role { ROLE_PRODUCER, ROLE_CONSUMER, ROLE_EPILOGUE };
enum barrier { BARRIER_FULL, BARRIER_EMPTY, BARRIER_THIRD };

#define CONSUMER_WARPS (4 * CONSUMER_GROUPS)
#define CONSUMER_THREADS (WARPGROUP_THREADS * CONSUMER_GROUPS)
#define BIT(role) (1u << (role))

/* The names of the ring; its arguments are further rows, each after a comma.  -DNAMES_ABSENT: nobody gave any. */
#ifdef NAMES_ABSENT
#define ZOO_RING_NAMES(...) WSDBG_MODULE()
#else
#define ZOO_RING_NAMES(...)                                                                                  \
    WSDBG_MODULE(WSDBG_ROLE(ROLE_PRODUCER, "producer"), WSDBG_ROLE(ROLE_CONSUMER, "consumer"),               \
                 WSDBG_ROLE(ROLE_EPILOGUE, "epilogue"),                                                      \
                 WSDBG_MBARRIER(BARRIER_FULL, "full", STAGES, BIT(ROLE_PRODUCER), BIT(ROLE_CONSUMER)),       \
                 WSDBG_MBARRIER_FREE(BARRIER_EMPTY, "empty", STAGES, BIT(ROLE_CONSUMER), BIT(ROLE_PRODUCER)) \
                     __VA_ARGS__)
#endif

/* A warp says which role it has.  -DPROBED_ROLE=ROLE_PRODUCER: somebody put probes into the code of that role and of
 * what all warps do before; the others write no event from here on, as no lane of them is the first. */
#if defined(PROBED_ROLE) && defined(WSDBG)
#define ROLE_BEGIN(w, role)             \
    do {                                \
        if ((role) == PROBED_ROLE)      \
            WSDBG_ROLE_BEGIN(w, role);  \
        else                            \
            (w).below = UINT32_MAX;     \
    } while (0)
#else
#define ROLE_BEGIN(w, role) WSDBG_ROLE_BEGIN(w, role)
#endif

struct zoo_shared {
    uint64_t full[STAGES];
    uint64_t empty[STAGES];
    uint64_t third[STAGES];
    uint32_t words[4];
    alignas(128) unsigned char slots[STAGES][2 * COPY_BYTES];
};

#define ZOO_CASE(id, attributes)                                                                             \
    template <bool FIXED>                                                                                    \
    DEVICE void id##_body(const struct zoo_input &in, struct zoo_shared *s, struct wsdbg_warp &w, int warp); \
    extern "C" __global__ void attributes zoo_##id(const __grid_constant__ struct zoo_input in)              \
    {                                                                                                        \
        ZOO_FRAME(id, false)                                                                                 \
    }                                                                                                        \
    extern "C" __global__ void attributes zoo_##id##_fixed(const __grid_constant__ struct zoo_input in)      \
    {                                                                                                        \
        ZOO_FRAME(id, true)                                                                                  \
    }                                                                                                        \
    template <bool FIXED>                                                                                    \
    DEVICE void id##_body(const struct zoo_input &in, struct zoo_shared *s, struct wsdbg_warp &w, int warp)

#define ZOO_FRAME(id, fixed)                        \
    __shared__ struct zoo_shared shared;            \
    WSDBG_BEGIN(w);                                 \
    id##_body<fixed>(in, &shared, w, warp_index()); \
    WSDBG_EXIT(w);

/* The compiler knows that it is uniform.  All lanes must come to it: before any branch that splits the warp. */
DEVICE int warp_index(void)
{
    return __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
}

/* Every thread of the CTA.  The lanes of a warp come together first: apart they would write its record over each other. */
#define BLOCK_SYNC(w)                         \
    do {                                      \
        __syncwarp();                         \
        WSDBG_NAMED_SYNC_BEGIN(w, 0, blockDim.x); \
        __syncthreads();                      \
        WSDBG_NAMED_SYNC_END(w, 0, blockDim.x);   \
    } while (0)

DEVICE bool is_lane_0(void)
{
    return threadIdx.x % 32 == 0;
}

/* Initialises one stage of a barrier: one thread. */
#define MBARRIER_INIT(w, id, bars, stage, arrivals)  \
    do {                                             \
        mbarrier_init(&(bars)[stage], arrivals);     \
        WSDBG_MBARRIER_INIT(w, id, stage, arrivals); \
    } while (0)

/* Initialises the ring; every thread of the CTA calls it. */
#define RING_INIT(w, s, full_arrivals, empty_arrivals)                               \
    do {                                                                             \
        if (threadIdx.x == 0) {                                                      \
            for (int stage_ = 0; stage_ < STAGES; stage_++) {                        \
                MBARRIER_INIT(w, BARRIER_FULL, (s)->full, stage_, full_arrivals);    \
                MBARRIER_INIT(w, BARRIER_EMPTY, (s)->empty, stage_, empty_arrivals); \
            }                                                                        \
            mbarrier_init_fence();                                                   \
        }                                                                            \
        __syncthreads();                                                             \
    } while (0)

DEVICE void bulk_copy(void *destination, const void *source, uint32_t bytes, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(destination)),
                 "l"(source), "r"(bytes), "r"(shared_address(bar))
                 : "memory");
}

/* Into the same place of every CTA of `mask`, each of which has its own barrier completed. */
DEVICE void bulk_copy_multicast(void *destination, const void *source, uint32_t bytes, uint64_t *bar, uint16_t mask)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(destination)),
                 "l"(source), "r"(bytes), "r"(shared_address(bar)), "h"(mask)
                 : "memory");
}

/* Fills a stage; its bytes complete on full[stage]. */
#define LOAD_STAGE(w, s, stage, iteration, source, bytes)               \
    do {                                                                \
        WSDBG_TMA_ISSUE(w, BARRIER_FULL, stage, iteration, bytes, 0);   \
        bulk_copy((s)->slots[stage], source, bytes, &(s)->full[stage]); \
    } while (0)

/* Reads a stage: one warp. */
DEVICE void consume(const struct zoo_shared *s, uint32_t stage)
{
    asm volatile("{\n\t.reg .b32 value;\n\tld.volatile.shared.u32 value, [%0];\n\t}" ::"r"(
                     shared_address(&s->slots[stage][threadIdx.x % WARPGROUP_THREADS * 4]))
                 : "memory");
}

/* Gives a stage back: a lane of the warp, when all lanes have read. */
#define RELEASE_STAGE(w, s, stage, iteration)                                \
    do {                                                                     \
        __syncwarp();                                                        \
        if (is_lane_0())                                                     \
            MBARRIER_ARRIVE(w, BARRIER_EMPTY, (s)->empty, stage, iteration); \
    } while (0)

/* A word of global memory that another CTA or grid of this GPU writes. */
DEVICE uint32_t load_word(const uint32_t *word)
{
    uint32_t value;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

DEVICE void store_word(uint32_t *word, uint32_t value)
{
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

DEVICE uint64_t time_ns(void)
{
    uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}

/* Arithmetic until `ns` are over: a warp that works. */
DEVICE void work(const struct zoo_input &in, uint64_t ns)
{
    const uint64_t start = time_ns();
    uint32_t value = threadIdx.x;
    do {
        for (int i = 0; i < 1000; i++)
            value = value * 1664525u + 1013904223u;
    } while (time_ns() - start < ns);
    if (value == 0x12345678u)
        in.words[WORDS - 1] = value;
}

/* Late, as after a load that misses: long against all that the other warps do. */
DEVICE void be_late(void)
{
    for (int i = 0; i < 50; i++)
        __nanosleep(1000);
}

#endif
