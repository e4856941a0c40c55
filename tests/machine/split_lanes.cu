/* split_lanes.cu - warps of which some lanes wait for others, which poll a word in global memory: images/split_lanes*.fatbin
 * are made of it (images/README.md).  look_writers_test.c says of each kernel what is to be found in it.
 */
#include <cooperative_groups.h>
#include <cstdint>

#define ALL 0xffffffffu
#define HALF 16

__device__ __forceinline__ uint32_t load(const uint32_t *word)
{
    uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    return value;
}

__device__ __forceinline__ void store_release(uint32_t *word, uint32_t value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

__device__ __forceinline__ void add_release(uint32_t *word, uint32_t value)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

__device__ __forceinline__ void take(uint32_t *lock)
{
    while (atomicCAS(lock, 0u, 1u) != 0)
        ;
}

__device__ __forceinline__ uint32_t is_elected()
{
    uint32_t is_one;
    asm volatile("{ .reg .pred one; elect.sync _|one, -1; selp.u32 %0, 1, 0, one; }" : "=r"(is_one));
    return is_one;
}

/* The lower lanes wait in the shuffle for the upper ones, which poll; then lane 0 does `deed`. */
#define SHARE(polled, deed)                                                                                            \
    const uint32_t lane = threadIdx.x % 32;                                                                            \
    uint32_t value = lane + 1;                                                                                         \
    if (lane < HALF) {                                                                                                 \
        value = __shfl_sync(ALL, value, 31);                                                                           \
        if (lane == 0)                                                                                                 \
            deed;                                                                                                      \
    } else {                                                                                                           \
        while (load(polled) == 0)                                                                                      \
            ;                                                                                                          \
        value = __shfl_sync(ALL, value, 31);                                                                           \
    }                                                                                                                  \
    out[lane] = value

struct work {
    uint32_t *flag, *out;
};

__device__ uint32_t global_word;
typedef void function(uint32_t *, uint32_t);

__noinline__ __device__ void set(uint32_t *word, uint32_t value)
{
    atomicExch(word, value);
}

extern "C" {

/* ---- the waiting lanes write the word ---- */

__global__ void by_exchange(uint32_t *word, uint32_t *out)
{
    SHARE(word, atomicExch(word, value));
}

__global__ void by_release(uint32_t *word, uint32_t *out)
{
    SHARE(word, store_release(word, value));
}

__global__ void by_reduction(uint32_t *word, uint32_t *out)
{
    SHARE(word, add_release(word, 1));
}

__global__ void by_added_lanes(uint32_t *word, uint32_t *out)
{
    SHARE(word, atomicAdd(word, 1));
}

__global__ void in_struct(work *given, uint32_t *)
{
    const work here = *given;
    uint32_t *const out = here.out;
    SHARE(here.flag, store_release(here.flag, value));
}

__global__ void by_block(uint32_t *words, uint32_t *out)
{
    SHARE(&words[blockIdx.x], atomicExch(&words[blockIdx.x], value));
}

__global__ void by_index(uint32_t *words, uint32_t *out, int stride)
{
    SHARE(&words[blockIdx.x * stride + 5], words[blockIdx.x * stride + 5] = value);
}

__global__ void of_module(uint32_t *, uint32_t *out)
{
    SHARE(&global_word, atomicExch(&global_word, value));
}

__global__ void for_data(uint32_t *word, uint32_t *out)
{
    SHARE(word, if (value > 3) atomicExch(word, value));
}

__global__ void in_sync(uint32_t *word, uint32_t *out)
{
    const uint32_t lane = threadIdx.x;
    if (lane < HALF) {
        __syncwarp();
        if (lane == 3)
            atomicExch(word, 1u);
    } else {
        while (load(word) == 0)
            ;
        __syncwarp();
    }
    out[lane] = lane;
}

__global__ void of_wide(unsigned long long *word, uint32_t *out)
{
    const uint32_t lane = threadIdx.x;
    uint32_t value = lane + 1;
    if (lane >= HALF) {
        value = __shfl_sync(ALL, value, 0);
        if (lane == 31)
            atomicExch(word, (unsigned long long)value << 32);
    } else {
        while (*(volatile unsigned long long *)word == 0)
            ;
        value = __shfl_sync(ALL, value, 0);
    }
    out[lane] = value;
}

__global__ void in_rows(uint32_t *word, uint32_t *out)
{
    uint32_t value = threadIdx.x + 1;
    if (threadIdx.y == 0) {
        value = __shfl_sync(ALL, value, 31);
        if (threadIdx.x == 2)
            atomicExch(word, value);
    } else {
        while (load(word) == 0)
            ;
        value = __shfl_sync(ALL, value, 31);
    }
    out[threadIdx.y * blockDim.x + threadIdx.x] = value;
}

/* A path from the poll through the next round leads to the store, too. */
__global__ void in_rounds(uint32_t *words, uint32_t *out, int rounds)
{
    const uint32_t lane = threadIdx.x;
    uint32_t value = lane + 1;
    for (int round = 0; round < rounds; round++) {
        if (lane < HALF) {
            value = __shfl_sync(ALL, value, 31);
            if (lane == 0)
                store_release(words + round, value);
        } else {
            while (load(words + round) == 0)
                ;
            value = __shfl_sync(ALL, value, 31);
        }
    }
    out[lane] = value;
}

/* The lane that has the lock waits for those that want it. */
__global__ void holds_lock(uint32_t *lock, uint32_t *out)
{
    take(lock);
    __threadfence();
    __syncwarp();
    out[0] += 1;
    __threadfence();
    atomicExch(lock, 0u);
}

/* ---- they do not ---- */

__global__ void polls_lock(uint32_t *lock, uint32_t *out, int length)
{
    if (threadIdx.x == 0)
        take(lock);
    __syncthreads();
    if (length == 0)
        return;
    out[threadIdx.x] += 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicExch(lock, 0u);
}

__global__ void polls_lock_elected(uint32_t *lock, uint32_t *out)
{
    if (is_elected())
        take(lock);
    __syncwarp();
    out[threadIdx.x] += 1;
    __threadfence();
    if (is_elected())
        atomicExch(lock, 0u);
}

/* Which lane is elected behind the wait nobody can say. */
__global__ void polls_elected(uint32_t *word, uint32_t *out)
{
    if (is_elected())
        while (load(word) == 0)
            ;
    __syncwarp();
    out[threadIdx.x] += 1;
    if (is_elected())
        atomicExch(word, 2u);
}

/* Which lane gives it back says nothing of who has it. */
__global__ void another_unlocks(uint32_t *lock, uint32_t *out)
{
    if (threadIdx.x == 0)
        take(lock);
    __syncwarp();
    out[threadIdx.x] += 1;
    __threadfence();
    __syncwarp();
    if (threadIdx.x == 1)
        atomicExch(lock, 0u);
}

/* The poll would go on with what is written. */
__global__ void another_resets(uint32_t *flag, uint32_t *out)
{
    if (threadIdx.x == 0)
        while (load(flag) == 0)
            ;
    __syncwarp();
    out[threadIdx.x] += 1;
    __syncwarp();
    if (threadIdx.x == 1)
        *flag = 0;
}

/* The lanes that would write the word poll it first. */
__global__ void polls_again(uint32_t *word, uint32_t *out)
{
    const uint32_t lane = threadIdx.x;
    if (lane >= HALF)
        while (load(word) == 0)
            ;
    __syncwarp();
    if (lane < HALF) {
        while (load(word) == 0)
            ;
        if (lane == 0)
            atomicExch(word, 2u);
    }
    out[lane] = lane;
}

__global__ void another_word(uint32_t *word, uint32_t *out)
{
    SHARE(word, atomicExch(word + 1, value));
}

__global__ void before_only(uint32_t *word, uint32_t *out)
{
    const uint32_t lane = threadIdx.x;
    uint32_t value = lane + 1;
    if (lane < HALF) {
        if (lane == 0)
            atomicExch(word, value);
        value = __shfl_sync(ALL, value, 31);
    } else {
        while (load(word) != 7)
            ;
        value = __shfl_sync(ALL, value, 31);
    }
    out[lane] = value;
}

__global__ void in_called(uint32_t *word, uint32_t *out)
{
    SHARE(word, set(word, value));
}

__global__ void in_pointed(uint32_t *word, uint32_t *out, function *pointed)
{
    SHARE(word, pointed(word, value));
}

/* The address is only known behind the wait. */
__global__ void of_table(uint32_t *word, uint32_t *out, uint32_t **table)
{
    SHARE(word, atomicExch(table[value & 1], value));
}
}
