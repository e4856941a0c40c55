/* geometry.h - the sizes that the kernel and its host program must agree on.  C and CUDA. */
#ifndef GEMM_GEOMETRY_H
#define GEMM_GEOMETRY_H

#include <stdint.h>

typedef uint16_t bf16; /* the bits; arithmetic is the tensor cores' and the reference's own */

#define WARPGROUP_THREADS 128
#define WARPGROUP_WARPS 4
#define CONSUMERS 2
#define CTA_THREADS ((1 + CONSUMERS) * WARPGROUP_THREADS)

#define BLOCK_K 64    /* elements of K in a slot: one 128-byte swizzle row */
#define CONSUMER_M 64 /* rows of C a consumer warpgroup computes at a time */

/* Columns of C a CTA computes at a time: one image of the kernel for each number (tiles.def). */
#ifndef TILE_N
#define TILE_N 256
#endif

/* Columns of a tile in one store: a swizzle row of 128 bytes, or of 64 where the tile is no multiple of that. */
#define STORE_COLUMNS_OF(columns) ((columns) % 64 ? 32 : 64)
#define STORE_COLUMNS STORE_COLUMNS_OF(TILE_N)
#define STORE_BOXES (TILE_N / STORE_COLUMNS)
#define STORE_BUFFERS 2

/* Shared memory: a ring of slots, each with a tile of A and one of B, and its two mbarriers; and the buffers of the
 * stores.  As many slots as there is room for.  Every tile is 1024-byte aligned: the swizzle works on address bits. */
#define SHARED_BYTES_MOST 232448
#define STORE_BYTES_OF(columns) (CONSUMERS * STORE_BUFFERS * CONSUMER_M * STORE_COLUMNS_OF(columns) * 2)
#define SLOT_BYTES_OF(rows, columns) (((rows) + (columns)) * BLOCK_K * 2 + 2 * 8)
#define OTHER_BYTES_OF(columns) (STORE_BYTES_OF(columns) + 3 * 8) /* three more mbarriers, of split-K */
#define STAGES_OF(rows, columns) ((SHARED_BYTES_MOST - OTHER_BYTES_OF(columns)) / SLOT_BYTES_OF(rows, columns))
#define SHARED_BYTES_OF(rows, columns) \
    (OTHER_BYTES_OF(columns) + STAGES_OF(rows, columns) * SLOT_BYTES_OF(rows, columns))

#ifdef __CUDACC__
#define GEMM_SHARED static __device__ __forceinline__
#else
#define GEMM_SHARED static inline
#endif
GEMM_SHARED int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}

/* Rows that each CTA of a cluster loads of so many: whole groups of eight, in which the swizzle repeats. */
GEMM_SHARED int rows_of_part(int rows, int cluster)
{
    return divide_up(rows, 8 * cluster) * 8;
}

/* Of the lowest tile, which has the most. */
#define STAGES_MOST STAGES_OF(CONSUMER_M, TILE_N)

/* CTAs that share a tile's k-blocks, at most (split-K). */
#define SPLITS_MOST 8

/* The kernel's first parameter; sizes in elements. */
struct gemm_problem {
    int m, n, k;
    int band_rows;  /* cluster tiles in a band of scheduler.cuh */
    int transposed; /* C^T = B * A^T is computed: A and B have changed places, a tile's rows are columns of C */

    /* Stream-K alone: what a consumer of one CTA gives that of another. */
    float *sums;     /* CONSUMER_M x TILE_N for each consumer of each CTA */
    uint32_t *ready; /* whether those are there; 0 between launches */
};

#endif
