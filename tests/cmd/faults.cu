/* faults.cu - a kernel that dies of what its argument says, in lane 5 of warp 1; 6 is a copy's. */
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static __device__ uint32_t shared_address(void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

static __device__ void arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

static __device__ void expect(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 64;" ::"r"(shared_address(barrier)) : "memory");
}

__global__ void faults(int which, int *out)
{
    __shared__ uint64_t full[2], spare;
    __shared__ __align__(128) char buffer[64];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(shared_address(full + i)) : "memory");
    __syncthreads();
    if (threadIdx.x == 37) {
        if (which == 0)
            asm volatile("trap;");
        if (which == 1) {
            expect(full + 1);
            for (int i = 0; i < 3; i++)
                arrive(full + 1);
        }
        if (which == 2)
            *(volatile int *)16 = 1;
        if (which == 3)
            assert(which == 2);
        if (which == 4)
            *(volatile int *)((char *)out + 2) = 1;
        if (which == 5)
            arrive(&spare);
        if (which == 6) {
            expect(full);
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 64, [%2];" ::"r"(
                             shared_address(buffer)),
                         "l"((uint64_t)4096), "r"(shared_address(full))
                         : "memory");
        }
    }
    __syncthreads();
    out[threadIdx.x] = which;
}

int main(int argc, char **argv)
{
    int *out;
    cudaMalloc(&out, 4096);
    faults<<<1, 96>>>(argc > 1 ? atoi(argv[1]) : 0, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
