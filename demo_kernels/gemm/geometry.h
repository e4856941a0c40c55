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

/* Columns of a CTA's tile.  Each width has an image of its own (tiles.def). */
#ifndef TILE_N
#define TILE_N 256
#endif

/* Columns of a tile in one store: a swizzle row of 128 bytes, or of 64 bytes if `columns` is no multiple of 64. */
#define STORE_COLUMNS_OF(columns) ((columns) % 64 ? 32 : 64)
#define STORE_COLUMNS STORE_COLUMNS_OF(TILE_N)
#define STORE_BOXES (TILE_N / STORE_COLUMNS)
#define STORE_BUFFERS 2

/* Shared memory holds the buffers of the stores, and a ring of as many slots as fit.  A slot has a tile of A, one of B,
 * and two mbarriers.  Every tile is 1024-byte aligned: the swizzle works on address bits. */
#define SHARED_BYTES_MOST 232448
#define STORE_BYTES_OF(columns) (CONSUMERS * STORE_BUFFERS * CONSUMER_M * STORE_COLUMNS_OF(columns) * 2)
#define SLOT_BYTES_OF(rows, columns) (((rows) + (columns)) * BLOCK_K * 2 + 2 * 8)
#define OTHER_BYTES_OF(columns) (STORE_BYTES_OF(columns) + 3 * 8) /* and split-K's three mbarriers */
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

/* How many of `rows` each CTA of a cluster loads: whole groups of eight, the rows after which the swizzle repeats. */
GEMM_SHARED int rows_of_part(int rows, int cluster)
{
    return divide_up(rows, 8 * cluster) * 8;
}

/* The most slots that a kernel of this width has: those of the lower tile. */
#define STAGES_MOST STAGES_OF(CONSUMER_M, TILE_N)

/* Stream-K has no wider tiles: their own sums leave no registers for those that are added. */
#define STREAMK_COLUMNS_MOST 192

/* The kernel's first parameter; sizes in elements. */
struct gemm_problem {
    int m, n, k;
    int band_rows;  /* rows of cluster tiles in a band (scheduler.cuh) */
    int transposed; /* C^T = B * A^T is computed: A and B change places, and a tile's rows are columns of C */

    /* Stream-K alone: the sums that a consumer gives to a consumer of another CTA. */
    float *sums;     /* CONSUMER_M x TILE_N for each consumer of each CTA */
    uint32_t *ready; /* 1 when those are there; 0 between launches */
};

#endif
