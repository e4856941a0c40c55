/* geometry.h - what the kernel two_async_warps and its host program must agree on.  C and CUDA. */
#ifndef TWO_ASYNC_WARPS_GEOMETRY_H
#define TWO_ASYNC_WARPS_GEOMETRY_H

enum defect { LEFTOVER_ASKS = 1, DOUBLE_ARRIVE = 2, SHARED_FULL = 4 };

#define WARPGROUP_THREADS 128
#define COMPUTE_THREADS (2 * WARPGROUP_THREADS)
#define CTA_THREADS (COMPUTE_THREADS + WARPGROUP_THREADS)
#define STAGES 2
#define COLUMNS_MAX 1024

/* The kernel's parameter: `product` = `a` * `b`, element by element; `columns` a multiple of 4, for the bulk copy. */
struct two_async_warps_problem {
    const float *a, *b;
    float *product;
    int rows, columns;
};

#endif
