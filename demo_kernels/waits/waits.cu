/* waits.cu - one small kernel for each row of waits.def: how it waits for ever, or faults, and nothing else.
 *
 * Every kernel gets a word of global memory that starts at 0, and some memory to copy from.
 */
#include "../common/sync.cuh"
#include "geometry.h"

/* The CTA's barriers, then room for a bulk copy. */
struct shared_memory {
    uint64_t bars[4];
    alignas(128) unsigned char bytes[COPY_BYTES];
};

DEVICE struct shared_memory *shared_memory(void)
{
    __shared__ struct shared_memory memory;
    return &memory;
}

DEVICE int warp_index(void)
{
    return __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
}

/* Initialises `count` barriers for `arrivals` each; every thread of the CTA calls it. */
DEVICE void init_bars(int count, uint32_t arrivals)
{
    struct shared_memory *const s = shared_memory();
    if (threadIdx.x == 0) {
        for (int i = 0; i < count; i++)
            mbarrier_init(&s->bars[i], arrivals);
        mbarrier_init_fence();
    }
    __syncthreads();
}

DEVICE void bulk_copy(void *destination, const void *source, uint32_t bytes, uint64_t *bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(destination)),
                 "l"(source), "r"(bytes), "r"(shared_address(bar))
                 : "memory");
}

DEVICE uint32_t load_flag(const uint32_t *flag)
{
    uint32_t value;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}

#define KERNEL(id, attributes)                     \
    extern "C" __global__ void attributes wait_##id( \
        uint32_t *flag, const unsigned char *source, uint64_t limit_ns)

KERNEL(named_count, )
{
    if (warp_index() < 2)
        named_sync(1, 96);
    __syncthreads();
}

KERNEL(block_sync_in_role, )
{
    init_bars(1, 128);
    if (threadIdx.x < 128) {
        __syncthreads();
        mbarrier_arrive(&shared_memory()->bars[0]);
    } else {
        mbarrier_wait(&shared_memory()->bars[0], 0);
        __syncthreads();
    }
}

KERNEL(cluster_missing, __cluster_dims__(2, 1, 1))
{
    init_bars(1, 1);
    cluster_arrive();
    cluster_wait();
    if (blockIdx.x == 0) {
        cluster_arrive();
        cluster_wait();
        if (threadIdx.x == 0)
            mbarrier_arrive_remote(&shared_memory()->bars[0], 1);
    } else {
        mbarrier_wait(&shared_memory()->bars[0], 0);
        cluster_arrive();
        cluster_wait();
    }
}

KERNEL(peer_exited, __cluster_dims__(2, 1, 1))
{
    init_bars(1, 1);
    cluster_arrive();
    cluster_wait();
    if (blockIdx.x == 0)
        mbarrier_wait(&shared_memory()->bars[0], 0);
    else if (load_flag(flag) && threadIdx.x == 0)
        mbarrier_arrive_remote(&shared_memory()->bars[0], 0);
}

KERNEL(lane_split, )
{
    init_bars(1, 31);
    if (warp_index() == 1) {
        if (threadIdx.x % 32 == 0)
            mbarrier_wait(&shared_memory()->bars[0], 0);
        __syncwarp();
        if (threadIdx.x % 32 != 0)
            mbarrier_arrive(&shared_memory()->bars[0]);
    }
    __syncthreads();
}

KERNEL(not_initialised, )
{
    struct shared_memory *const s = shared_memory();
    if (threadIdx.x == 0)
        s->bars[1] = 0;
    init_bars(1, 32);
    if (warp_index() == 0)
        mbarrier_wait(&s->bars[1], 0);
    else
        mbarrier_arrive(&s->bars[0]);
    __syncthreads();
}

KERNEL(arrive_short, )
{
    init_bars(1, 96);
    if (warp_index() < 2)
        mbarrier_arrive(&shared_memory()->bars[0]);
    else
        mbarrier_wait(&shared_memory()->bars[0], 0);
    __syncthreads();
}

KERNEL(tx_no_arrive, )
{
    struct shared_memory *const s = shared_memory();
    init_bars(1, 1);
    if (threadIdx.x == 0) {
        mbarrier_expect_tx(&s->bars[0], COPY_BYTES);
        bulk_copy(s->bytes, source, COPY_BYTES, &s->bars[0]);
    }
    if (warp_index() == 1)
        mbarrier_wait(&s->bars[0], 0);
    __syncthreads();
}

KERNEL(copy_missing, )
{
    struct shared_memory *const s = shared_memory();
    init_bars(1, 1);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect_tx(&s->bars[0], COPY_BYTES);
        if (load_flag(flag))
            bulk_copy(s->bytes, source, COPY_BYTES, &s->bars[0]);
    }
    if (warp_index() == 1)
        mbarrier_wait(&s->bars[0], 0);
    __syncthreads();
}

KERNEL(two_mbarriers, )
{
    struct shared_memory *const s = shared_memory();
    const int warp = warp_index();
    init_bars(2, 32);
    mbarrier_wait(&s->bars[warp], 0);
    mbarrier_arrive(&s->bars[1 - warp]);
}

KERNEL(global_flag, )
{
    while (load_flag(flag) == 0)
        __nanosleep(100);
}

KERNEL(not_resident, )
{
    if (threadIdx.x == 0) {
        atomicAdd(flag, 1);
        while (load_flag(flag) < gridDim.x)
            ;
    }
    __syncthreads();
}

/* Launched twice: the first one (limit_ns != 0) lets the second start, then polls what only the second would write. */
KERNEL(grid_dependency, )
{
    if (limit_ns) {
        asm volatile("griddepcontrol.launch_dependents;");
        while (load_flag(flag) == 0)
            __nanosleep(100);
    } else {
        asm volatile("griddepcontrol.wait;" ::: "memory");
        *flag = 1;
    }
}

KERNEL(spent_phase, )
{
    struct shared_memory *const s = shared_memory();
    init_bars(1, 1);
    if (threadIdx.x == 0)
        mbarrier_arrive_expect_tx(&s->bars[0], COPY_BYTES);
    __syncthreads();
    if (threadIdx.x == 32)
        mbarrier_arrive(&s->bars[0]);
    mbarrier_wait(&s->bars[0], 0);
}

KERNEL(bad_address, )
{
    if (threadIdx.x == 5)
        asm volatile("st.global.u32 [%0], 1;" ::"l"(16ull) : "memory");
}

/* Rounds of arithmetic between barriers until the time is over. */
KERNEL(long_work, )
{
    uint64_t start, now;
    uint32_t value = threadIdx.x;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do {
        for (int i = 0; i < 100000; i++)
            value = value * 1664525u + 1013904223u;
        __syncthreads();
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    } while (__syncthreads_or(now - start < limit_ns));
    if (value == 0x12345678u)
        *flag = value;
}
