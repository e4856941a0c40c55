/* box.cuh - a box of C on its way from the accumulators to the copy engine.
 *
 * A consumer's box is CONSUMER_M rows of STORE_COLUMNS columns of bf16: one 128-byte swizzle row each.
 */
#ifndef GEMM_BOX_CUH
#define GEMM_BOX_CUH

#include "../common/sync.cuh"
#include "geometry.h"

DEVICE uint32_t pack_bf16(float low, float high)
{
    uint32_t packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

/* Writes 64 columns of this warp's 16 rows to the swizzled buffer, 16 columns an instruction; `d` points to their 32
 * accumulators.  Lane l names row l % 16 and, of two chunks of eight columns, chunk l / 16. */
DEVICE void write_box(bf16 *buffer, const float *d)
{
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x % WARPGROUP_THREADS / 32 * 16 + lane % 16;
#pragma unroll
    for (int i = 0; i < STORE_COLUMNS / 16; i++) {
        const int chunk = (2 * i + lane / 16) ^ (row % 8);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         shared_address(buffer + row * STORE_COLUMNS + chunk * 8)),
                     "r"(pack_bf16(d[8 * i], d[8 * i + 1])), "r"(pack_bf16(d[8 * i + 2], d[8 * i + 3])),
                     "r"(pack_bf16(d[8 * i + 4], d[8 * i + 5])), "r"(pack_bf16(d[8 * i + 6], d[8 * i + 7]))
                     : "memory");
    }
}

#endif
