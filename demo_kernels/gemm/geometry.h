/* geometry.h - the sizes that the kernel and its host program must agree on.  C and CUDA. */
#ifndef GEMM_GEOMETRY_H
#define GEMM_GEOMETRY_H

#include <stdint.h>

typedef uint16_t bf16; /* the bits; arithmetic is the tensor cores' and the reference's own */

#define WARPGROUP_THREADS 128
#define WARPGROUP_WARPS 4
#define CONSUMERS 2
#define CTA_THREADS ((1 + CONSUMERS) * WARPGROUP_THREADS)

#define BLOCK_K 64       /* elements of K in a slot: one 128-byte swizzle row */
#define CONSUMER_M 64    /* rows of C a consumer warpgroup computes at a time */
#define STORE_COLUMNS 64 /* columns of C in one store: one swizzle row */
#define STORE_BUFFERS 2

/* Columns of C a CTA computes at a time: one image of the kernel for each number (tiles.def). */
#ifndef TILE_N
#define TILE_N 256
#endif

/* Of narrower tiles more fit: the slots take the same shared memory, but for a remainder. */
#define RING_BYTES 196608
#define STAGES_OF(tile_n) (RING_BYTES / ((CONSUMERS * CONSUMER_M + (tile_n)) * BLOCK_K * 2))
#define STAGES STAGES_OF(TILE_N)
#define STORE_BOXES (TILE_N / STORE_COLUMNS)

/* Every tile is 1024-byte aligned: the swizzle works on address bits. */
struct shared_memory {
    bf16 a[STAGES][CONSUMERS * CONSUMER_M * BLOCK_K];
    bf16 b[STAGES][TILE_N * BLOCK_K];
    bf16 c[CONSUMERS][STORE_BUFFERS][CONSUMER_M * STORE_COLUMNS];
    uint64_t full[STAGES];
    uint64_t empty[STAGES];
};

/* The kernel's first parameter; sizes in elements. */
struct gemm_problem {
    int m, n, k;
    int band_rows; /* cluster tiles in a band of scheduler.cuh */

    /* Stream-K alone: what a consumer of one CTA gives that of another. */
    float *sums;     /* CONSUMER_M x TILE_N for each consumer of each CTA */
    uint32_t *ready; /* whether those are there; 0 between launches */
};

#endif
