/* rare.cu - kernels of one CTA that hang under few schedules only, for tests and measurements of wsdbg explore.
 *
 * Each is right under the usual schedule.  64 to 96 threads; the first lane of each warp works.
 */
using uint32 = unsigned;

__device__ uint32 shared_address(const void *pointer)
{
    return (uint32)__cvta_generic_to_shared(pointer);
}

__device__ void init(unsigned long long *barrier, uint32 count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count) : "memory");
}

__device__ void arrive(unsigned long long *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ void wait(unsigned long long *barrier, uint32 parity)
{
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra AGAIN;\n}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

enum { TILES = 8, LONG_WORK = 60 };

/* Some hundred instructions. */
__device__ void work(uint32 rounds)
{
    for (uint32 i = 0; i < rounds; i++)
        asm volatile("{\n.reg .b32 r;\nmov.u32 r, %clock;\n}");
}

/* A scheduler hands out tiles through one slot.  Warp 1 releases it for both consumers, before warp 2 may have read: a
 * tile can be lost for warp 2, which then waits for one more than there are. */
__device__ __forceinline__ void hand_out(uint32 rounds)
{
    __shared__ unsigned long long full, empty;
    __shared__ volatile uint32 tile;
    const uint32 warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        init(&full, 1);
        init(&empty, 1);
    }
    __syncthreads();
    if (threadIdx.x % 32)
        return;
    if (warp == 0)
        for (uint32 i = 0; i < TILES; i++) {
            wait(&empty, (i & 1) ^ 1);
            work(rounds);
            tile = i;
            arrive(&full);
        }
    else
        for (uint32 i = 0, last = 0; last != TILES - 1; i++) {
            wait(&full, i & 1);
            last = tile;
            work(rounds);
            if (warp == 1)
                arrive(&empty);
        }
}

extern "C" __global__ void early_release()
{
    hand_out(0);
}

/* The same with work before each step: warp 2 must stand for long. */
extern "C" __global__ void early_release_far()
{
    hand_out(LONG_WORK);
}

/* As above, but the slot's end is known: warp 2 is lapped, and looks for a phase that is over. */
extern "C" __global__ void lapped()
{
    __shared__ unsigned long long full, empty;
    const uint32 warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        init(&full, 1);
        init(&empty, 1);
    }
    __syncthreads();
    if (threadIdx.x % 32)
        return;
    for (uint32 i = 0; i < TILES + 1; i++) {
        if (warp == 0) {
            wait(&empty, (i & 1) ^ 1);
            arrive(&full);
        } else {
            wait(&full, i & 1);
            if (warp == 1)
                arrive(&empty);
        }
    }
}

/* Nothing orders the arrival behind the initialisation: it is lost when it comes first. */
extern "C" __global__ void late_init()
{
    __shared__ unsigned long long full;
    if (threadIdx.x == 0)
        init(&full, 1);
    if (threadIdx.x == 32)
        arrive(&full);
    __syncthreads();
    if (threadIdx.x == 0)
        wait(&full, 0);
}

/* Warp 2 looks whether there is work, and warp 0 may have taken that back: then nobody makes the second arrival. */
extern "C" __global__ void stale_flag()
{
    __shared__ unsigned long long ready, done;
    __shared__ volatile uint32 more;
    const uint32 warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        init(&ready, 1);
        init(&done, 2);
        more = 1;
    }
    __syncthreads();
    if (threadIdx.x % 32)
        return;
    if (warp == 0) {
        more = 0;
        arrive(&ready);
        wait(&done, 0);
    } else if (warp == 1) {
        wait(&ready, 0);
        arrive(&done);
    } else if (more) { /* the others come to it through `ready` */
        wait(&ready, 0);
        arrive(&done);
    }
}
