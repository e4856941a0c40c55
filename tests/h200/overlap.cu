/* overlap.cu - the inner loop of a GEMM on operands that stay in shared memory, twice for each tile: with wgmma that
 * overlap, and with the same that ptxas serializes.
 *
 * The twins differ in what never executes: behind the loop of `serialized_*` stands a printf for a negative number of
 * rounds, and ptxas serializes the wgmma of a function that calls what it cannot see.  `spilled` keeps the accumulators
 * of two tiles in an array that a loop indexes, `scalars` in two variables.  Read by overlap.c.
 */
#include <cstdint>
#include <cstdio>

#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(groups) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory")

#define ROW_BYTES 128 /* 64 bf16: the swizzle's width */
#define K_STEP 2      /* 16 bf16 in a descriptor's units */
#define STEPS 4       /* of K a stage */

extern __shared__ __align__(1024) unsigned char operands[]; /* A of each warpgroup (64 rows), then B (up to 256) */

/* K-major, 128-byte swizzle, groups of eight rows 1024 bytes apart: as in demo_kernels/gemm/wgmma.cuh. */
__device__ __forceinline__ uint64_t descriptor(uint32_t offset_bytes)
{
    const uint64_t start = ((uint32_t)__cvta_generic_to_shared(operands) + offset_bytes) / 16;
    return start | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

template <int COLUMNS> struct Tile {
    float at[COLUMNS / 2];
};

#define D4(i) "+f"(d.at[(i)]), "+f"(d.at[(i) + 1]), "+f"(d.at[(i) + 2]), "+f"(d.at[(i) + 3])
#define D16(i) D4(i), D4((i) + 4), D4((i) + 8), D4((i) + 12)
#define D32(i) D16(i), D16((i) + 16)
#define N32(a) "%" #a "0, %" #a "1, %" #a "2, %" #a "3, %" #a "4, %" #a "5, %" #a "6, %" #a "7, %" #a "8, %" #a "9"
#define UP_TO_31 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, " N32(1) ", " N32(2) ", %30, %31"
#define UP_TO_63 UP_TO_31 ", %32, %33, %34, %35, %36, %37, %38, %39, " N32(4) ", " N32(5) ", %60, %61, %62, %63"
#define UP_TO_127                                                                                     \
    UP_TO_63 ", %64, %65, %66, %67, %68, %69, " N32(7) ", " N32(8) ", " N32(9) ", " N32(10) ", " N32( \
        11) ", %120, %121, %122, %123, %124, %125, %126, %127"
#define MULTIPLY(columns, list, a_place, b_place, outputs)                                                 \
    __device__ __forceinline__ void multiply(Tile<columns> &d, uint64_t a, uint64_t b)                     \
    {                                                                                                      \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.bf16.bf16 {" list "}, " a_place \
                     ", " b_place ", 1, 1, 1, 0, 0;"                                                       \
                     : outputs                                                                             \
                     : "l"(a), "l"(b));                                                                    \
    }
MULTIPLY(64, UP_TO_31, "%32", "%33", D32(0))
#define D64(i) D32(i), D32((i) + 32)
MULTIPLY(128, UP_TO_63, "%64", "%65", D64(0))
#define D128 D64(0), D64(64)
MULTIPLY(256, UP_TO_127, "%128", "%129", D128)

template <int COLUMNS> __device__ __forceinline__ void put(float *out, const Tile<COLUMNS> &d)
{
#pragma unroll
    for (int i = 0; i < COLUMNS / 2; i++)
        out[i] = d.at[i];
}

/* Finite numbers; which ones does not matter to the time. */
__device__ __forceinline__ void clear_operands(uint32_t bytes)
{
    for (uint32_t i = threadIdx.x * 16; i < bytes; i += blockDim.x * 16)
        *(uint4 *)(operands + i) = make_uint4(0, 0, 0, 0);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
}

template <int COLUMNS, bool IS_SERIALIZED> __device__ __forceinline__ void run(float *out, int rounds, uint32_t bytes)
{
    Tile<COLUMNS> d = {};
    clear_operands(bytes);
    const uint32_t group = threadIdx.x / 128;
    const uint64_t a = descriptor(group * 64 * ROW_BYTES), b = descriptor(blockDim.x / 128 * 64 * ROW_BYTES);
    for (int round = 0; round < rounds; round++) {
        FENCE();
#pragma unroll
        for (int k = 0; k < STEPS; k++)
            multiply(d, a + K_STEP * k, b + K_STEP * k);
        COMMIT();
        WAIT(1);
    }
    WAIT(0);
    put(out + (blockIdx.x * blockDim.x + threadIdx.x) * 128, d);
    if (IS_SERIALIZED && rounds < 0)
        printf("never\n");
}

#define KERNEL(name) extern "C" __global__ void __launch_bounds__(256, 1) name(float *out, int rounds, uint32_t bytes)
#define TWINS(columns)                           \
    KERNEL(overlapped_##columns)                 \
    {                                            \
        run<columns, false>(out, rounds, bytes); \
    }                                            \
    KERNEL(serialized_##columns)                 \
    {                                            \
        run<columns, true>(out, rounds, bytes);  \
    }
TWINS(64)
TWINS(128)
TWINS(256)

/* Two tiles of 64 x 128 a warpgroup, on the same operands. */
KERNEL(scalars)
{
    Tile<128> upper = {}, lower = {};
    clear_operands(bytes);
    const uint64_t a = descriptor(threadIdx.x / 128 * 64 * ROW_BYTES),
                   b = descriptor(blockDim.x / 128 * 64 * ROW_BYTES);
    for (int round = 0; round < rounds; round++) {
        FENCE();
#pragma unroll
        for (int k = 0; k < STEPS / 2; k++) {
            multiply(upper, a + K_STEP * k, b + K_STEP * k);
            multiply(lower, a + K_STEP * k, b + K_STEP * k);
        }
        COMMIT();
        WAIT(1);
    }
    WAIT(0);
    put(out + (blockIdx.x * blockDim.x + threadIdx.x) * 128, upper);
    put(out + (blockIdx.x * blockDim.x + threadIdx.x) * 128 + 64, lower);
}

KERNEL(spilled)
{
    Tile<128> d[2] = {};
    clear_operands(bytes);
    const uint64_t a = descriptor(threadIdx.x / 128 * 64 * ROW_BYTES),
                   b = descriptor(blockDim.x / 128 * 64 * ROW_BYTES);
    for (int round = 0; round < rounds; round++) {
        FENCE();
#pragma unroll
        for (int k = 0; k < STEPS / 2; k++)
#pragma unroll 1
            for (int row = 0; row < 2; row++)
                multiply(d[row], a + K_STEP * k, b + K_STEP * k);
        COMMIT();
        WAIT(1);
    }
    WAIT(0);
    put(out + (blockIdx.x * blockDim.x + threadIdx.x) * 128, d[0]);
    put(out + (blockIdx.x * blockDim.x + threadIdx.x) * 128 + 64, d[1]);
}
