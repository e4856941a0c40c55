/* overlap.cu - the inner loop of a GEMM on operands that stay in shared memory, twice for each tile: with wgmma that
 * overlap, and with the same that ptxas serializes.
 *
 * The twins differ in what never executes: behind the loop of `serialized_*` stands a printf for a negative number of
 * rounds, and ptxas serializes the wgmma of a function that calls what it cannot see.  `spilled` keeps the accumulators
 * of two tiles in an array that a loop indexes, `scalars` in two variables.  Read by overlap.c.
 *
 * Compiled twice: with WSDBG_PROBES 0 to be timed, with probes for `wsdbg report` to say what was in flight.
 */
#include <cstdint>
#include <cstdio>

#include <wsdbg/probe.h>

WSDBG_MODULE(WSDBG_ROLE(0, "computes"))

#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(groups) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory")
#define WAIT_FOR_ALL(w, rounds)                       \
    do {                                              \
        WSDBG_WGMMA_WAIT_BEGIN(w, (rounds) - 1, 0);   \
        WAIT(0);                                      \
        WSDBG_WGMMA_WAIT_END(w, (rounds) - 1, 0);     \
    } while (0)
#define BEGIN(w)    \
    WSDBG_BEGIN(w); \
    WSDBG_ROLE_BEGIN(w, 0)

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
/* The first wgmma of a tile: to be timed, accumulators begin as zeros.  With the branches of probes behind the loop ptxas
 * would serialize that (C7515), so there the first wgmma reads none. */
#if WSDBG_PROBES
#define BEGINS_AT_ZERO(tile) tile
#define SET_SCALE_D(place) "setp.ne.b32 accumulate, " place ", 0;\n\t"
#define SCALE_D "accumulate"
#else
#define BEGINS_AT_ZERO(tile) tile = {}
#define SET_SCALE_D(place) ""
#define SCALE_D "1"
#endif
#define MULTIPLY(columns, list, a_place, b_place, scale_place, outputs)                                             \
    __device__ __forceinline__ void multiply(Tile<columns> &d, uint64_t a, uint64_t b, int accumulate)              \
    {                                                                                                               \
        asm volatile("{\n\t.reg .pred accumulate;\n\t" SET_SCALE_D(scale_place)                                    \
                     "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32.bf16.bf16 {" list "}, " a_place ", " b_place \
                     ", " SCALE_D ", 1, 1, 0, 0;\n\t}"                                                              \
                     : outputs                                                                                      \
                     : "l"(a), "l"(b), "r"(accumulate));                                                            \
    }
MULTIPLY(64, UP_TO_31, "%32", "%33", "%34", D32(0))
#define D64(i) D32(i), D32((i) + 32)
MULTIPLY(128, UP_TO_63, "%64", "%65", "%66", D64(0))
#define D128 D64(0), D64(64)
MULTIPLY(256, UP_TO_127, "%128", "%129", "%130", D128)

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
    BEGIN(w);
    Tile<COLUMNS> BEGINS_AT_ZERO(d);
    clear_operands(bytes);
    const uint32_t group = threadIdx.x / 128;
    const uint64_t a = descriptor(group * 64 * ROW_BYTES), b = descriptor(blockDim.x / 128 * 64 * ROW_BYTES);
    WSDBG_WGMMA_ISSUE(w, 0, 0);
    for (int round = 0; round < rounds; round++) {
        FENCE();
#pragma unroll
        for (int k = 0; k < STEPS; k++)
            multiply(d, a + K_STEP * k, b + K_STEP * k, round > 0 || k > 0);
        COMMIT();
        WAIT(1);
    }
    WAIT_FOR_ALL(w, rounds);
    put(out + (blockIdx.x * blockDim.x + threadIdx.x) * 128, d);
    if (IS_SERIALIZED && rounds < 0)
        printf("never\n");
    WSDBG_EXIT(w);
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
    BEGIN(w);
    Tile<128> BEGINS_AT_ZERO(upper), BEGINS_AT_ZERO(lower);
    clear_operands(bytes);
    const uint64_t a = descriptor(threadIdx.x / 128 * 64 * ROW_BYTES),
                   b = descriptor(blockDim.x / 128 * 64 * ROW_BYTES);
    WSDBG_WGMMA_ISSUE(w, 0, 0);
    for (int round = 0; round < rounds; round++) {
        FENCE();
#pragma unroll
        for (int k = 0; k < STEPS / 2; k++) {
            multiply(upper, a + K_STEP * k, b + K_STEP * k, round > 0 || k > 0);
            multiply(lower, a + K_STEP * k, b + K_STEP * k, round > 0 || k > 0);
        }
        COMMIT();
        WAIT(1);
    }
    WAIT_FOR_ALL(w, rounds);
    put(out + (blockIdx.x * blockDim.x + threadIdx.x) * 128, upper);
    put(out + (blockIdx.x * blockDim.x + threadIdx.x) * 128 + 64, lower);
    WSDBG_EXIT(w);
}

KERNEL(spilled)
{
    BEGIN(w);
    Tile<128> BEGINS_AT_ZERO(d[2]);
    clear_operands(bytes);
    const uint64_t a = descriptor(threadIdx.x / 128 * 64 * ROW_BYTES),
                   b = descriptor(blockDim.x / 128 * 64 * ROW_BYTES);
    WSDBG_WGMMA_ISSUE(w, 0, 0);
    for (int round = 0; round < rounds; round++) {
        FENCE();
#pragma unroll
        for (int k = 0; k < STEPS / 2; k++)
#pragma unroll 1
            for (int row = 0; row < 2; row++)
                multiply(d[row], a + K_STEP * k, b + K_STEP * k, round > 0 || k > 0);
        COMMIT();
        WAIT(1);
    }
    WAIT_FOR_ALL(w, rounds);
    put(out + (blockIdx.x * blockDim.x + threadIdx.x) * 128, d[0]);
    put(out + (blockIdx.x * blockDim.x + threadIdx.x) * 128 + 64, d[1]);
    WSDBG_EXIT(w);
}
