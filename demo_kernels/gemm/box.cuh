/* box.cuh - a box of C on its way from the accumulators to the copy engine.
 *
 * A consumer's box is CONSUMER_M rows of STORE_COLUMNS columns of its tile, in bf16, swizzled.  In C it has the same
 * shape.  If the product is computed transposed, it is STORE_COLUMNS rows of CONSUMER_M columns there.
 */
#ifndef GEMM_BOX_CUH
#define GEMM_BOX_CUH

#include "gemm.cuh"

DEVICE uint32_t pack_bf16(float low, float high)
{
    uint32_t packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

/* The address of the `eight`th group of eight columns of a row, in a buffer whose rows have `columns` (32 or 64).  The
 * swizzle exchanges groups; how depends on the number of the 128 bytes that they lie in. */
DEVICE uint32_t box_address(const bf16 *buffer, int columns, int row, int eight)
{
    const int moved = eight ^ (row * columns / 64 % (columns / 8));
    return shared_address(buffer + row * columns + moved * 8);
}

/* Writes four 8 x 8 matrices of a warp's accumulators.  Lane l gives the address of row l % 8 of matrix l / 8. */
#define WRITE_MATRICES(trans, address, d)                                                                         \
    asm volatile("stmatrix.sync.aligned.m8n8.x4" trans ".shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), \
                 "r"(pack_bf16((d)[0], (d)[1])), "r"(pack_bf16((d)[2], (d)[3])), "r"(pack_bf16((d)[4], (d)[5])),  \
                 "r"(pack_bf16((d)[6], (d)[7]))                                                                   \
                 : "memory")

/* Writes this warp's 16 rows of a box to a buffer, 16 columns an instruction; `d` points to their accumulators. */
DEVICE void write_box(bf16 *buffer, const float *d)
{
    const int lane = threadIdx.x % 32;
    const int row = threadIdx.x % WARPGROUP_THREADS / 32 * 16 + lane % 16;
#pragma unroll
    for (int i = 0; i < STORE_COLUMNS / 16; i++)
        WRITE_MATRICES("", box_address(buffer, STORE_COLUMNS, row, 2 * i + lane / 16), d + 8 * i);
}

/* The same, transposed. */
DEVICE void write_box_transposed(bf16 *buffer, const float *d)
{
    const int lane = threadIdx.x % 32;
    const int eight = threadIdx.x % WARPGROUP_THREADS / 32 * 2 + lane / 8 % 2;
#pragma unroll
    for (int i = 0; i < STORE_COLUMNS / 16; i++)
        WRITE_MATRICES(".trans", box_address(buffer, CONSUMER_M, 16 * i + lane / 16 * 8 + lane % 8, eight), d + 8 * i);
}

/* Writes a box to a buffer and starts its copy to C.  `row`, `column`: of the box in the product that is computed. */
DEVICE void store_box(const struct gemm *g, bf16 *buffer, const float *d, uint32_t barrier, int row, int column)
{
    const int is_transposed = MORE && g->problem->transposed;
    if (is_transposed)
        write_box_transposed(buffer, d);
    else
        write_box(buffer, d);
    fence_shared_for_tma();
    named_sync(barrier, WARPGROUP_THREADS);
    if (threadIdx.x % WARPGROUP_THREADS == 0) {
        tma_store(g->c, buffer, is_transposed ? row : column, is_transposed ? column : row);
        bulk_commit();
    }
}

#endif
