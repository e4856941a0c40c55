/* hangs.cu - the cases of stands.def that never end: each launches its kernels and waits in cudaStreamSynchronize. */
#include <cooperative_groups.h>

#include "common/sync.cuh"
#include "stands.cuh"

/* ---- lock ---- */

#define ROW_LENGTH 64
#define STEPS 30

/* Adds a row to a total under a lock.  The defect: an empty row leaves with the lock. */
__global__ void add_row(uint32_t *lock, float *total, const float *row, int length)
{
    if (threadIdx.x == 0)
        while (atomicCAS(lock, 0u, 1u) != 0)
            ;
    __syncthreads();
    if (length == 0)
        return;
    total[threadIdx.x] += row[threadIdx.x % length];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicExch(lock, 0u);
}

int stand_lock(const struct options *)
{
    cudaStream_t stream = new_stream();
    uint32_t *const lock = new_word();
    float *const total = (float *)new_zeroed(ROW_LENGTH * sizeof(float)), *const row = (float *)new_zeroed(
                                                                              ROW_LENGTH * sizeof(float));
    for (int step = 0; step < STEPS - 1; step++)
        add_row<<<POLL_CTAS, ROW_LENGTH, 0, stream>>>(lock, total, row, ROW_LENGTH);
    add_row<<<1, ROW_LENGTH, 0, stream>>>(lock, total, row, 0);
    CHECK(cudaStreamSynchronize(stream));
    printf("%d launches went well\n", STEPS);
    fflush(stdout);
    add_row<<<POLL_CTAS, ROW_LENGTH, 0, stream>>>(lock, total, row, ROW_LENGTH);
    CHECK(cudaStreamSynchronize(stream));
    return 0;
}

/* ---- graph-poll ---- */

int stand_graph_poll(const struct options *options)
{
    cudaStream_t stream = new_stream();
    uint32_t *const word = new_word();
    cudaGraph_t graph;
    load_polls();
    load_code((const void *)compute);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    compute<<<POLL_CTAS, POLL_THREADS, 0, stream>>>(1000, word);
    launch_poll(options, word, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphLaunch(instantiate(graph), stream));
    CHECK(cudaStreamSynchronize(stream));
    return 0;
}

/* ---- peer-poll ---- */

int stand_peer_poll(const struct options *)
{
    cudaStream_t stream = new_stream();
    uint32_t *const word = new_word();
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    write_word<<<1, 1>>>(word, WANTED + 1);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(0));
    poll_volatile<<<POLL_CTAS, POLL_THREADS, 0, stream>>>(word, WANTED); /* what a peer writes is of the system */
    CHECK(cudaStreamSynchronize(stream));
    return 0;
}

/* ---- grid-barrier ---- */

#define BARRIER_CTAS 300
#define BARRIER_SHARED (200 << 10) /* so one CTA fits on a multiprocessor */

__global__ void two_steps(uint32_t *arrived, float *values)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = values[blockIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        values[blockIdx.x] = tile[threadIdx.x] + 1;
        __threadfence();
        atomicAdd(arrived, 1u);
        while (load_word(arrived) < gridDim.x)
            ;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        values[blockIdx.x] += values[(blockIdx.x + 1) % gridDim.x];
}

int stand_grid_barrier(const struct options *)
{
    cudaStream_t stream = new_stream();
    uint32_t *const arrived = new_word();
    float *const values = (float *)new_zeroed(BARRIER_CTAS * sizeof(float));
    CHECK(cudaFuncSetAttribute(two_steps, cudaFuncAttributeMaxDynamicSharedMemorySize, BARRIER_SHARED));
    two_steps<<<BARRIER_CTAS, 128, BARRIER_SHARED, stream>>>(arrived, values);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    return 0;
}

/* ---- coop-gone ---- */

#define CTAS_GONE 12

/* The defect: CTAs without rows return before the others' barrier. */
__global__ void sum_rows(float *sums, int rows)
{
    if (blockIdx.x >= rows)
        return;
    sums[blockIdx.x] += 1;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int row = 1; row < rows; row++)
            sums[0] += sums[row];
}

int stand_coop_gone(const struct options *)
{
    int ctas;
    CHECK(cudaDeviceGetAttribute(&ctas, cudaDevAttrMultiProcessorCount, 0));
    cudaStream_t stream = new_stream();
    float *sums = (float *)new_zeroed(ctas * sizeof(float));
    int rows = ctas - CTAS_GONE;
    void *arguments[] = {&sums, &rows};
    CHECK(cudaLaunchCooperativeKernel((const void *)sum_rows, dim3(ctas), dim3(128), arguments, 0, stream));
    CHECK(cudaStreamSynchronize(stream));
    return 0;
}

/* ---- lane-shuffle ---- */

/* The lower lanes wait in the shuffle for the upper ones, which wait for what lane 0 writes after it. */
__global__ void share_in_halves(uint32_t *word, uint32_t *out)
{
    const uint32_t lane = threadIdx.x;
    uint32_t value = lane + 1;
    if (lane < 16) {
        value = __shfl_sync(0xffffffff, value, 31);
        if (lane == 0)
            atomicExch(word, value);
    } else {
        while (load_word(word) == 0)
            ;
        value = __shfl_sync(0xffffffff, value, 31);
    }
    out[lane] = value;
}

int stand_lane_shuffle(const struct options *)
{
    cudaStream_t stream = new_stream();
    uint32_t *const word = new_word(), *const out = (uint32_t *)new_zeroed(32 * sizeof(uint32_t));
    share_in_halves<<<1, 32, 0, stream>>>(word, out);
    CHECK(cudaStreamSynchronize(stream));
    return 0;
}

/* ---- barrier-register ---- */

#define GROUP_THREADS 128

/* Two warpgroups take turns, each at a barrier of its own; whose turn is over lets the other one go on.  ids, threads
 * and rounds come from the host, so the barrier's id and count are in registers.  The defect: group 1 has two rounds
 * less, and its last hand-over is missing. */
__global__ void take_turns(const uint32_t *ids, uint32_t threads, const uint32_t *rounds, uint32_t *out)
{
    const uint32_t group = threadIdx.x / GROUP_THREADS;
    const uint32_t mine = ids[group], other = ids[1 - group], count = rounds[group];
    uint32_t value = threadIdx.x;
    if (group == 1)
        named_arrive(other, threads);
#pragma unroll 1
    for (uint32_t round = 0; round < count; round++) {
        named_sync(mine, threads);
        value = value * 1664525u + round;
        named_arrive(other, threads);
    }
    out[threadIdx.x] = value;
}

int stand_barrier_register(const struct options *)
{
    const uint32_t table[] = {1, 2, 6, 4}; /* ids, then rounds */
    cudaStream_t stream = new_stream();
    uint32_t *const device = (uint32_t *)new_zeroed(sizeof table), *const out = (uint32_t *)new_zeroed(
                                                                       2 * GROUP_THREADS * sizeof(uint32_t));
    CHECK(cudaMemcpy(device, table, sizeof table, cudaMemcpyHostToDevice));
    take_turns<<<1, 2 * GROUP_THREADS, 0, stream>>>(device, 2 * GROUP_THREADS, device + 2, out);
    CHECK(cudaStreamSynchronize(stream));
    return 0;
}
