/* wgmma.cuh - one warpgroup's matrix instruction: 64 x N += 64 x 16 times 16 x N, bf16 into fp32; N is TILE_N.
 *
 * Both operands lie in shared memory, K contiguous, as 128-byte rows (64 elements) in the copy engine's
 * 128-byte swizzle.  The accumulator is N / 2 registers a thread: row = 16 * warp + lane / 4 (+ 8 for elements
 * 2 and 3 of each four), column = 8 * (index / 4) + 2 * (lane % 4) + index % 2.
 */
#ifndef GEMM_WGMMA_CUH
#define GEMM_WGMMA_CUH

#include "../common/sync.cuh"

#define WGMMA_M 64
#define WGMMA_N TILE_N
#define WGMMA_K 16
#define WGMMA_ACCUMULATORS (WGMMA_M * WGMMA_N / 128)

/* Adding one to a descriptor moves its start by 16 bytes. */
#define WGMMA_DESCRIPTOR_BYTES 16

/* Descriptor of a K-major operand whose first row starts at `tile`, 1024-byte aligned: groups of eight rows are
 * 1024 bytes apart (bits 32-45), the layout is the 128-byte swizzle (bits 62-63); the leading offset is unused. */
DEVICE uint64_t wgmma_descriptor(const void *tile)
{
    const uint64_t start = (shared_address(tile) & 0x3ffff) / WGMMA_DESCRIPTOR_BYTES;
    const uint64_t eight_rows = 1024 / WGMMA_DESCRIPTOR_BYTES;
    return start | (1ull << 16) | (eight_rows << 32) | (1ull << 62);
}

/* Orders earlier accesses to the accumulators before the next wgmma. */
DEVICE void wgmma_fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

DEVICE void wgmma_commit(void)
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most `groups` (a constant) committed groups of this warpgroup are unfinished.  The wait depends on no
 * other warpgroup, so only the last wait of a tile is probed. */
#define wgmma_wait(groups) asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory")

/* The accumulators as operands of the instruction, and the text that names them. */
#define WGMMA_D4(i) "+f"(d[(i)]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define WGMMA_D16(i) WGMMA_D4(i), WGMMA_D4((i) + 4), WGMMA_D4((i) + 8), WGMMA_D4((i) + 12)
#define WGMMA_D32 WGMMA_D16(0), WGMMA_D16(16)
#define WGMMA_D48 WGMMA_D32, WGMMA_D16(32)
#define WGMMA_D64 WGMMA_D48, WGMMA_D16(48)
#define WGMMA_D80 WGMMA_D64, WGMMA_D16(64)
#define WGMMA_D96 WGMMA_D80, WGMMA_D16(80)
#define WGMMA_D112 WGMMA_D96, WGMMA_D16(96)
#define WGMMA_D128 WGMMA_D112, WGMMA_D16(112)
#define WGMMA_TEXT_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_TEXT_32 WGMMA_TEXT_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_TEXT_48 WGMMA_TEXT_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_TEXT_64 WGMMA_TEXT_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_TEXT_80 WGMMA_TEXT_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define WGMMA_TEXT_96 WGMMA_TEXT_80 ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA_TEXT_112 \
    WGMMA_TEXT_96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define WGMMA_TEXT_128 \
    WGMMA_TEXT_112 ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

/* a, b and accumulate are the operands that follow the accumulators. */
#define WGMMA_TEXT(n, accumulators, a, b, accumulate)                                                              \
    "{\n\t.reg .pred accumulate;\n\tsetp.ne.b32 accumulate, " accumulate ", 0;\n\t"                                \
    "wgmma.mma_async.sync.aligned.m64n" n "k16.f32.bf16.bf16 {" accumulators "}, " a ", " b ", accumulate, 1, 1, " \
    "0, 0;\n\t}"

/* The instruction for a tile of `n` columns.  A thread has `accumulators` = n / 2 of the sums. */
#define WGMMA(n, accumulators, a_text, b_text, accumulate_text)                             \
    asm volatile(WGMMA_TEXT(#n, WGMMA_TEXT_##accumulators, a_text, b_text, accumulate_text) \
                 : WGMMA_D##accumulators                                                    \
                 : "l"(a), "l"(b), "r"(accumulate))

/* d = a * b, or d += a * b when `accumulate` is not 0. */
DEVICE void wgmma_m64k16(float *d, uint64_t a, uint64_t b, int accumulate)
{
#if WGMMA_N == 256
    WGMMA(256, 128, "%128", "%129", "%130");
#elif WGMMA_N == 224
    WGMMA(224, 112, "%112", "%113", "%114");
#elif WGMMA_N == 192
    WGMMA(192, 96, "%96", "%97", "%98");
#elif WGMMA_N == 160
    WGMMA(160, 80, "%80", "%81", "%82");
#elif WGMMA_N == 128
    WGMMA(128, 64, "%64", "%65", "%66");
#elif WGMMA_N == 96
    WGMMA(96, 48, "%48", "%49", "%50");
#elif WGMMA_N == 64
    WGMMA(64, 32, "%32", "%33", "%34");
#else
#error "TILE_N is a multiple of 32 from 64 to 256"
#endif
}

#endif
