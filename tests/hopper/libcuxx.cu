/* libcuxx.cu - waits as programs write them, with libcu++: they ask a clock how long to sleep between two looks.
 *
 * Those whose name says `lost` wait for an arrival that never comes; the others come to an end.
 */
#include <cuda/barrier>
#include <cuda/pipeline>

using barrier = cuda::barrier<cuda::thread_scope_block>;

/* For everybody, and for as many as never come. */
static __device__ barrier *barrier_for(int missing)
{
    __shared__ alignas(barrier) unsigned char room[sizeof(barrier)];
    barrier *const made = reinterpret_cast<barrier *>(room);
    if (threadIdx.x == 0)
        init(made, blockDim.x + missing);
    __syncthreads();
    return made;
}

extern "C" __global__ void lost_arrival(int *out)
{
    barrier *const all = barrier_for(1);
    all->wait(all->arrive());
    out[threadIdx.x] = 1;
}

extern "C" __global__ void lost_parity(int *out)
{
    barrier_for(1)->wait_parity(false);
    out[threadIdx.x] = 1;
}

extern "C" __global__ void arrival(int *out)
{
    barrier *const all = barrier_for(0);
    if (threadIdx.x / 32 == 1) /* late: the others have come to their longest sleep */
        for (int i = 0; i < 12; i++)
            __nanosleep(1000000);
    all->wait(all->arrive());
    out[threadIdx.x] = 1;
}

/* It gives up after 50 us, and says so. */
extern "C" __global__ void timeout(int *out)
{
    barrier *const all = barrier_for(1);
    const bool has_come = all->try_wait_for(all->arrive(), cuda::std::chrono::microseconds(50));
    out[threadIdx.x] = has_come ? 2 : 1;
}

struct group {
    __device__ unsigned size() const
    {
        return blockDim.x;
    }
    __device__ unsigned thread_rank() const
    {
        return threadIdx.x;
    }
    __device__ void sync() const
    {
        __syncthreads();
    }
};

/* The first warp produces `produced` stages, the others consume `consumed`. */
static __device__ void run_pipeline(int *out, int produced, int consumed)
{
    using state_of = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;
    __shared__ alignas(state_of) unsigned char room[sizeof(state_of)];
    __shared__ int stages[2];
    const auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipeline = cuda::make_pipeline(group{}, reinterpret_cast<state_of *>(room), role);
    if (threadIdx.x < 32) {
        for (int i = 0; i < produced; i++) {
            pipeline.producer_acquire();
            stages[i & 1] = i;
            pipeline.producer_commit();
        }
    } else {
        for (int i = 0; i < consumed; i++) {
            pipeline.consumer_wait();
            out[threadIdx.x] += stages[i & 1];
            pipeline.consumer_release();
        }
    }
    out[threadIdx.x] = 1;
}

extern "C" __global__ void pipeline(int *out)
{
    run_pipeline(out, 6, 6);
}

extern "C" __global__ void lost_commit(int *out)
{
    run_pipeline(out, 5, 6);
}

extern "C" __global__ void lost_release(int *out)
{
    run_pipeline(out, 8, 5);
}
