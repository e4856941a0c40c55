/* functions.cu - a producer and a consumer, a function they call, a constant table: what images/functions.fatbin was
 * made from. */
#include <cstdint>
__constant__ int table[4] = {3, 1, 4, 1};
__device__ __noinline__ int pick(int i)
{
    return table[i & 3] * i;
}
__global__ void __launch_bounds__(256, 2) pipe(int *p)
{
    __shared__ uint64_t full[2];
    uint32_t at = (uint32_t)__cvta_generic_to_shared(full);
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at + 8));
    asm volatile("bar.sync 3, 64;");
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        asm volatile("{.reg .b64 t; mbarrier.arrive.shared.b64 t, [%0];}" ::"r"(at + 8));
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 200;");
        asm volatile("{.reg .pred P; L: mbarrier.try_wait.parity.shared.b64 P, [%0], %1; @!P bra L;}" ::"r"(at + 8),
                     "r"(p[0]));
        p[threadIdx.x] = pick(p[threadIdx.x]);
    }
}
__global__ void plain(int *p)
{
    p[threadIdx.x] += 3;
}
