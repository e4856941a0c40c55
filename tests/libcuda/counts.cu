/* counts.cu - kernels whose mbarriers expect more, or fewer, arrivals than are made; for tests of verdicts on the simulator.
 *
 * pipeline(): a producer warp and two consumer warpgroups, with two stages.  384 threads; lone_*: one warp or two.
 */
using uint32 = unsigned;

__device__ __forceinline__ uint32 shared_address(const void *pointer)
{
    return (uint32)__cvta_generic_to_shared(pointer);
}

__device__ __forceinline__ void init(unsigned long long *barrier, uint32 count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}

__device__ __forceinline__ void arrive(unsigned long long *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ __forceinline__ void wait(unsigned long long *barrier, uint32 parity)
{
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra AGAIN;\n}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

enum { STAGES = 2, BLOCKS = 8, CONSUMERS = 256, NOBODY = 99 };

__device__ __forceinline__ void pipeline(uint32 releases, uint32 skipping_warp, uint32 skipped_block)
{
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    const uint32 warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        for (uint32 i = 0; i < STAGES; i++) {
            init(&full[i], 1);
            init(&empty[i], releases);
        }
    __syncthreads();
    if (threadIdx.x == 0)
        for (uint32 i = 0; i < BLOCKS; i++) {
            wait(&empty[i % STAGES], i / STAGES % 2 ^ 1);
            arrive(&full[i % STAGES]);
        }
    if (warp >= 4)
        for (uint32 i = 0; i < BLOCKS; i++) {
            wait(&full[i % STAGES], i / STAGES % 2);
            if (warp != skipping_warp || i != skipped_block)
                arrive(&empty[i % STAGES]);
        }
}

extern "C" __global__ void count_right()
{
    pipeline(CONSUMERS, NOBODY, 0);
}

extern "C" __global__ void count_one_too_high()
{
    pipeline(CONSUMERS + 1, NOBODY, 0);
}

/* A phase completes one arrival early, and the last arrival goes to the next one: legal here, for nothing is read. */
extern "C" __global__ void count_one_too_low()
{
    pipeline(CONSUMERS - 1, NOBODY, 0);
}

extern "C" __global__ void release_skipped()
{
    pipeline(CONSUMERS, 6, 3);
}

extern "C" __global__ void release_skipped_at_first()
{
    pipeline(CONSUMERS, 6, 0);
}

/* One arrival of two, and nobody else is there. */
extern "C" __global__ void lone_arrival()
{
    __shared__ unsigned long long done;
    if (threadIdx.x)
        return;
    init(&done, 2);
    arrive(&done);
    wait(&done, 0);
}

/* Warps 1 and 2 arrive twice in the same phase, but wait in between for warp 0, which waits for the phase. */
extern "C" __global__ void second_arrival_behind_a_wait()
{
    __shared__ unsigned long long full, go;
    if (threadIdx.x == 0) {
        init(&full, 4);
        init(&go, 1);
    }
    __syncthreads();
    if (threadIdx.x % 32)
        return;
    if (threadIdx.x == 0) {
        wait(&full, 0);
        arrive(&go);
        return;
    }
    arrive(&full);
    wait(&go, 0);
    arrive(&full);
}

/* No wait at all, and no end soon. */
extern "C" __global__ void long_work()
{
    uint32 x = threadIdx.x;
    for (uint32 i = 0; i < 4000000; i++)
        asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(x));
    if (x == 1)
        asm volatile("trap;");
}

/* Executes instructions for ever. */
extern "C" __global__ void endless()
{
    for (uint32 x = threadIdx.x;;)
        asm volatile("mad.lo.u32 %0, %0, 1664525, 1013904223;" : "+r"(x));
}
