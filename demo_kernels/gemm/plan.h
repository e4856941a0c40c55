/* plan.h - how a product is computed: which kernel, of which tile, with how many CTAs. */
#ifndef GEMM_PLAN_H
#define GEMM_PLAN_H

#include <stdbool.h>

enum schedule_kind {
    SCHEDULE_COOPERATIVE,
    SCHEDULE_PINGPONG,
    SCHEDULE_STREAMK,
    SCHEDULE_SPLITK,
    SCHEDULE_SPLITK_LOW, /* with tiles of half the height */
    SCHEDULE_AUTO
};

struct gemm_plan {
    int schedule;        /* enum schedule_kind; never SCHEDULE_AUTO */
    int columns;         /* of C in a CTA's tile; a row of tiles.def */
    int cluster;         /* CTAs that share B, or in split-K a tile */
    int ctas;            /* of the grid */
    int band_rows;       /* cluster tiles in a band of scheduler.cuh */
    bool transposed;     /* C^T = B * A^T is computed, so that C's rows are a tile's columns */
    bool overlaps;       /* a launch begins when there is room for it, though the one in front is not over */
    double estimated_ns; /* what a launch is likely to take, of a plan that gemm_plan_all made */
};

#define CLUSTER_MOST 8

/* Whether there is a kernel of this schedule for this cluster and these columns, which are a row of tiles.def. */
bool gemm_plan_exists(const struct gemm_plan *plan);

/* Rows of C a CTA of the plan computes at a time; of C's columns in a transposed one. */
int gemm_plan_rows(const struct gemm_plan *plan);

/* CTAs that share a tile's k-blocks: in split-K those of a cluster. */
int gemm_plan_splits(const struct gemm_plan *plan);

/* Clusters of the plan that run at a time; 0 on a GPU that is smaller than one. */
int gemm_plan_clusters(const struct gemm_plan *plan, int multiprocessors);

/* Tiles of C, each of which a cluster computes at a time. */
int gemm_plan_tiles(const struct gemm_plan *plan, int m, int n);

/* The plan with its `ctas` and `band_rows` where they are 0: one CTA a multiprocessor, whole clusters, and no more than
 * have work. */
struct gemm_plan gemm_plan_complete(struct gemm_plan plan, int m, int n, int k, int multiprocessors);

/* The plan that is likely to be the fastest. */
struct gemm_plan gemm_plan_choose(int m, int n, int k, int multiprocessors);

/* Every plan that there is, the likely fastest first; returns how many, at most GEMM_PLANS_MOST. */
#define GEMM_PLANS_MOST 512
int gemm_plan_all(int m, int n, int k, int multiprocessors, struct gemm_plan *out);

#endif
