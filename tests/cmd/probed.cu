// probed.cu - a ring of buffers between two warpgroups, with probes, on plain copies.  One thread of the second one leaves out
// one arrival, so that the first one waits forever; the other CTA ends.
#include <cstdint>
#include <cstdio>
#include <wsdbg/probe.h>

#define STAGES 3
#define TILE 128
#define TILES 16

WSDBG_MODULE(WSDBG_ROLE(0, "loader"), WSDBG_ROLE(1, "adder"), WSDBG_MBARRIER(0, "ready", STAGES, 1 << 0, 1 << 1),
             WSDBG_MBARRIER_FREE(1, "drained", STAGES, 1 << 1, 1 << 0))

__device__ uint32_t address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ void init(uint64_t *b, int n)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address(b)), "r"(n));
}
__device__ __forceinline__ void arrive(uint64_t *b)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address(b)) : "memory");
}
__device__ __forceinline__ void wait(uint64_t *b, uint32_t parity)
{
    asm volatile("{\n.reg .pred p;\nL%=:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra L%=;\n}" ::"r"(address(b)),
                 "r"(parity)
                 : "memory");
}

__global__ void pipe(const float *in, float *out)
{
    __shared__ alignas(8) uint64_t ready[STAGES], drained[STAGES];
    __shared__ float buffer[STAGES][TILE];
    const int t = threadIdx.x % TILE;
    float sum = 0;
    WSDBG_BEGIN(w);
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; s++) {
            init(&ready[s], TILE);
            init(&drained[s], TILE);
        }
    __syncthreads();
    if (threadIdx.x < TILE) {
        WSDBG_ROLE_BEGIN(w, 0);
        for (int k = 0; k < TILES; k++) {
            const int s = k % STAGES, r = k / STAGES;
            WSDBG_MBARRIER_WAIT_BEGIN(w, 1, s, (r & 1) ^ 1, k);
            wait(&drained[s], (r & 1) ^ 1); // the loader waits here
            WSDBG_MBARRIER_WAIT_END(w, 1, s, (r & 1) ^ 1, k);
            buffer[s][t] = in[(blockIdx.x * TILES + k) * TILE + t];
            WSDBG_MBARRIER_ARRIVE(w, 0, s, k);
            arrive(&ready[s]);
        }
    } else {
        WSDBG_ROLE_BEGIN(w, 1);
        for (int k = 0; k < TILES; k++) {
            const int s = k % STAGES, r = k / STAGES;
            WSDBG_MBARRIER_WAIT_BEGIN(w, 0, s, r & 1, k);
            wait(&ready[s], r & 1);
            WSDBG_MBARRIER_WAIT_END(w, 0, s, r & 1, k);
            const float value = buffer[s][TILE - 1 - t];
            if (value < 0)
                continue; // forgets to release the buffer
            sum += value;
            WSDBG_MBARRIER_ARRIVE(w, 1, s, k);
            arrive(&drained[s]);
        }
        out[blockIdx.x * TILE + t] = sum;
    }
    WSDBG_EXIT(w);
}

int main()
{
    static float host[2 * TILES * TILE];
    float *in, *out;
    host[5 * TILE + 17] = -1;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, 2 * TILE * sizeof *out);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    pipe<<<2, 2 * TILE>>>(in, out);
    return cudaDeviceSynchronize() != cudaSuccess;
}
