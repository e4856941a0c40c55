// clean: right kernels that look like wrong ones.
#include "barriers.cuh"

#define KERNEL extern "C" __global__ void

// The count is four, and one thread makes all four arrivals of a phase.
KERNEL __launch_bounds__(64) one_thread_arrives_four_times(float *out, int parts)
{
    __shared__ uint64_t done;
    if (threadIdx.x == 0) {
        INIT(&done, 4);
        INIT_FENCE();
    }
    __syncthreads();
    if (threadIdx.x == 32) {
#pragma unroll 1
        for (int i = 0; i < parts; i++) {
            out[i] = i;
            ARRIVE(&done);
        }
    }
    if (threadIdx.x < 32) {
        WAIT(&done, 0);
        out[threadIdx.x] += 1;
    }
}

// A producer that waits for slots which are free from the start, so often as there are slots.
KERNEL __launch_bounds__(64) first_waits_pass(const unsigned char *in, float *out)
{
    __shared__ uint64_t full[2], empty[2];
    __shared__ alignas(128) unsigned char slots[2][1024];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) {
            INIT(&full[i], 1);
            INIT(&empty[i], 1);
        }
        INIT_FENCE();
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; i++) {
            WAIT(&empty[i], 1);
            ARRIVE_EXPECT(&full[i], 1024);
            COPY(slots[i], in + 1024 * i, 512, &full[i]);
            COPY(slots[i] + 512, in + 1024 * i + 512, 512, &full[i]);
        }
    }
    if (threadIdx.x >= 32)
        for (int i = 0; i < 2; i++) {
            WAIT(&full[i], 0);
            out[threadIdx.x] += slots[i][threadIdx.x];
        }
}

// A last box of another size, announced as such.
KERNEL __launch_bounds__(64) the_last_copy_is_shorter(const unsigned char *in, float *out, int trips)
{
    __shared__ uint64_t full;
    __shared__ alignas(128) unsigned char slot[2048];
    if (threadIdx.x == 0) {
        INIT(&full, 1);
        INIT_FENCE();
    }
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < trips; i++) {
        if (threadIdx.x == 0) {
            const int bytes = i + 1 == trips ? 1024 : 2048;
            ARRIVE_EXPECT(&full, bytes);
            COPY(slot, in + 2048 * i, bytes, &full);
        }
        __syncwarp();
        WAIT(&full, i & 1);
        out[threadIdx.x] += slot[threadIdx.x];
        __syncthreads();
    }
}

// 128 threads arrive on behalf of 128 others: the count is 256.
KERNEL __launch_bounds__(256) both_sides_count(float *out, int trips)
{
    __shared__ float values[128];
#pragma unroll 1
    for (int i = 0; i < trips; i++) {
        if (threadIdx.x < 128) {
            SYNC(2, 256);
            values[threadIdx.x] = i;
            SIGNAL(1, 256);
        } else {
            SIGNAL(2, 256);
            SYNC(1, 256);
            out[threadIdx.x] = values[threadIdx.x - 128];
        }
    }
}

// Each group has its own id, told by the number of its first warp.
KERNEL __launch_bounds__(384) a_barrier_for_each_group(float *out, int trips)
{
    __shared__ float values[384];
    const int group = threadIdx.x / 128;
#pragma unroll 1
    for (int i = 0; i < trips; i++) {
        values[threadIdx.x] = out[threadIdx.x];
        SYNC(1 + group, 128);
        out[threadIdx.x] = values[threadIdx.x ^ 64];
        SYNC(1 + group, 128);
    }
}

// One id with two counts, before and after a barrier of the block.
KERNEL __launch_bounds__(256) an_id_is_used_again(float *out)
{
    __shared__ float values[256];
    values[threadIdx.x] = out[threadIdx.x];
    if (threadIdx.x < 128)
        SYNC(1, 128);
    __syncthreads();
    if (threadIdx.x >= 64)
        SYNC(1, 192);
    out[threadIdx.x] = values[255 - threadIdx.x];
}

// Warps that are not needed leave; the others synchronise without them.
KERNEL __launch_bounds__(256) some_warps_leave(float *out)
{
    __shared__ float values[128];
    if (threadIdx.x >= 128)
        return;
    values[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = values[127 - threadIdx.x];
}

// The two sides of a role reach the same barrier of the block at two places.
KERNEL __launch_bounds__(64) the_block_meets_in_two_branches(float *out)
{
    __shared__ uint64_t done;
    if (threadIdx.x == 0) {
        INIT(&done, 32);
        INIT_FENCE();
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        out[threadIdx.x] = 1;
        __syncthreads();
        ARRIVE(&done);
    } else {
        out[threadIdx.x] = 2;
        out[threadIdx.x + 64] = 2;
        __syncthreads();
        WAIT(&done, 0);
        out[threadIdx.x + 128] = 3;
    }
}

// Threads in rows: 32 of them have index 0 in x, and each arrives.
KERNEL __launch_bounds__(256) rows_of_threads(float *out)
{
    __shared__ uint64_t done;
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        INIT(&done, 32);
        INIT_FENCE();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        ARRIVE(&done);
    WAIT(&done, 0);
    out[threadIdx.x + 8 * threadIdx.y] = 1;
}

// CTA 0 releases what CTA 1 waits for before it leaves.
KERNEL __launch_bounds__(128) __cluster_dims__(2, 1, 1) the_peer_waits(float *out)
{
    __shared__ uint64_t done;
    if (threadIdx.x == 0) {
        INIT(&done, 4);
        INIT_FENCE();
    }
    CLUSTER_SYNC();
    out[threadIdx.x] = 1;
    if (blockIdx.x % 2 == 0) {
        if (is_lane_0())
            ARRIVE_REMOTE(&done, 1);
        __syncwarp();
    } else {
        WAIT(&done, 0);
    }
}

// Initialised by the warp that uses it first, for the others after a barrier of the block.
KERNEL __launch_bounds__(64) the_initialising_warp_goes_ahead(const unsigned char *in, float *out)
{
    __shared__ uint64_t full;
    __shared__ alignas(128) unsigned char slot[1024];
    if (threadIdx.x == 0) {
        INIT(&full, 1);
        INIT_FENCE();
        ARRIVE_EXPECT(&full, 1024);
        COPY(slot, in, 1024, &full);
    }
    __syncthreads();
    WAIT(&full, 0);
    out[threadIdx.x] = slot[threadIdx.x];
}

// Polled a few times, then given up.
KERNEL __launch_bounds__(64) nobody_arrives_and_nobody_stays(float *out, int tries)
{
    __shared__ uint64_t done;
    uint32_t is_done = 0;
    if (threadIdx.x == 0) {
        INIT(&done, 1);
        INIT_FENCE();
    }
    __syncthreads();
    if (threadIdx.x == 0 && tries > 100)
        ARRIVE(&done);
#pragma unroll 1
    for (int i = 0; i < tries && !is_done; i++)
        asm volatile("{ .reg .pred done; mbarrier.test_wait.parity.shared::cta.b64 done, [%1], 0; selp.u32 %0, 1, 0, done; }"
                     : "=r"(is_done)
                     : "r"(shared_address(&done))
                     : "memory");
    out[threadIdx.x] = is_done;
}
