/* libcudacxx.cu - kernels written with libcu++ (cuda::barrier, cuda::pipeline): their code looks different from wsdbg's own
 * kernels.  Run as mutate_libcudacxx CASE.  Exit status: 0 = the sums are right, 1 = they are wrong, 2 = no such case.
 */
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

enum { THREADS = 128, STAGES = 2, BLOCKS = 9, CTAS = 2, HALF = THREADS / 2 };

/* All threads load and add. */
__global__ void __launch_bounds__(THREADS) unified(const int *in, int *out)
{
    __shared__ int buffer[STAGES][THREADS];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    int sum = 0, loaded = 0;
    for (int i = 0; i < BLOCKS; i++) {
        for (; loaded < BLOCKS && loaded < i + STAGES; loaded++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, buffer[loaded % STAGES], in + loaded * THREADS, sizeof(int) * THREADS, pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += buffer[i % STAGES][(threadIdx.x + 1) % THREADS];
        pipeline.consumer_release();
    }
    atomicAdd(out + blockIdx.x, sum);
}

/* One half of the block loads, the other adds. */
__global__ void __launch_bounds__(THREADS) partitioned(const int *in, int *out)
{
    __shared__ int buffer[STAGES][HALF];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    const bool produces = threadIdx.x < HALF;
    auto pipeline = cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sum = 0;
    if (produces) {
        for (int i = 0; i < BLOCKS; i++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(&buffer[i % STAGES][threadIdx.x], in + i * HALF + threadIdx.x, sizeof(int), pipeline);
            pipeline.producer_commit();
        }
    } else {
        for (int i = 0; i < BLOCKS; i++) {
            pipeline.consumer_wait();
            sum += buffer[i % STAGES][threadIdx.x - HALF];
            pipeline.consumer_release();
        }
        atomicAdd(out + blockIdx.x, sum);
    }
}

/* One half of the block fills buffers, the other adds; barriers say when a buffer is free and when it is filled. */
__global__ void __launch_bounds__(THREADS) buffers(const int *in, int *out)
{
    __shared__ int buffer[STAGES][HALF];
    __shared__ block_barrier ready[STAGES], filled[STAGES];
    auto block = cg::this_thread_block();
    if (block.thread_rank() < STAGES) {
        init(&ready[threadIdx.x], THREADS);
        init(&filled[threadIdx.x], THREADS);
    }
    block.sync();
    if (threadIdx.x < HALF) {
        for (int i = 0; i < BLOCKS; i++) {
            ready[i % STAGES].arrive_and_wait();
            buffer[i % STAGES][threadIdx.x] = in[i * HALF + threadIdx.x];
            auto token = filled[i % STAGES].arrive();
            (void)token;
        }
    } else {
        int sum = 0;
        for (int stage = 0; stage < STAGES; stage++)
            (void)ready[stage].arrive();
        for (int i = 0; i < BLOCKS; i++) {
            filled[i % STAGES].arrive_and_wait();
            sum += buffer[i % STAGES][threadIdx.x - HALF];
            if (i + STAGES < BLOCKS)
                (void)ready[i % STAGES].arrive();
        }
        atomicAdd(out + blockIdx.x, sum);
    }
}

/* One thread copies whole blocks with cp.async.bulk and announces their bytes; the other warps add. */
__global__ void __launch_bounds__(THREADS) bulk(const int *in, int *out)
{
    __shared__ alignas(128) int buffer[STAGES][THREADS];
    __shared__ block_barrier filled[STAGES], released[STAGES];
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            init(&filled[stage], 1);
            init(&released[stage], THREADS - 32);
        }
        cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < BLOCKS && threadIdx.x == 0; i++) {
            const int stage = i % STAGES;
            if (i >= STAGES)
                released[stage].wait_parity((i / STAGES - 1) % 2);
            cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, buffer[stage], in + i * THREADS,
                                     sizeof buffer[stage], cuda::device::barrier_native_handle(filled[stage]));
            (void)cuda::device::barrier_arrive_tx(filled[stage], 1, sizeof buffer[stage]);
        }
    } else {
        int sum = 0;
        for (int i = 0; i < BLOCKS; i++) {
            const int stage = i % STAGES;
            filled[stage].wait_parity(i / STAGES % 2);
            sum += buffer[stage][threadIdx.x];
            if (threadIdx.x < 64)
                sum += buffer[stage][threadIdx.x - 32];
            (void)released[stage].arrive();
        }
        atomicAdd(out + blockIdx.x, sum);
    }
}

struct kernel_case {
    const char *name;
    void (*kernel)(const int *, int *);
    int width; /* numbers in a block of the input */
};
static const kernel_case cases[] = {
    {"unified", unified, THREADS}, {"partitioned", partitioned, HALF}, {"buffers", buffers, HALF}, {"bulk", bulk, THREADS}};

static bool run(const kernel_case &at)
{
    int host[BLOCKS * THREADS], sums[CTAS] = {}, expected = 0, *in, *out;
    for (int i = 0; i < BLOCKS * THREADS; i++)
        host[i] = i % 7;
    for (int i = 0; i < BLOCKS * at.width; i++)
        expected += host[i];
    bool done = cudaMalloc(&in, sizeof host) == cudaSuccess && cudaMalloc(&out, sizeof sums) == cudaSuccess &&
                cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice) == cudaSuccess &&
                cudaMemset(out, 0, sizeof sums) == cudaSuccess;
    if (done) {
        at.kernel<<<CTAS, THREADS>>>(in, out);
        done = cudaDeviceSynchronize() == cudaSuccess &&
               cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost) == cudaSuccess;
    }
    if (!done)
        fprintf(stderr, "%s: %s\n", at.name, cudaGetErrorString(cudaGetLastError()));
    for (int cta = 0; cta < CTAS && done; cta++)
        if (sums[cta] != expected) {
            fprintf(stderr, "%s: CTA %d has %d, expected %d\n", at.name, cta, sums[cta], expected);
            return false;
        }
    return done;
}

int main(int count, char **words)
{
    for (const kernel_case &at : cases)
        if (count == 2 && strcmp(words[1], at.name) == 0)
            return run(at) ? 0 : 1;
    fputs("usage: mutate_libcudacxx unified|partitioned|buffers|bulk\n", stderr);
    return 2;
}
