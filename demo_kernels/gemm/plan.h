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
    int band_rows;       /* rows of cluster tiles in a band (scheduler.cuh) */
    bool transposed;     /* computes C^T = B * A^T, so a tile's columns lie along C's rows */
    bool overlaps;       /* a launch may begin before the previous one has ended */
    double estimated_ns; /* the likely time of a launch; gemm_plan_all sets it */
};

/* The most CTAs of a cluster.  Only split-K has more than four. */
#define CLUSTER_MOST 8

/* Whether the CTAs of a cluster share a tile's k-blocks. */
bool gemm_plan_is_split_k(const struct gemm_plan *plan);

/* Whether there is a kernel of this schedule for this cluster and these columns, which are a row of tiles.def. */
bool gemm_plan_exists(const struct gemm_plan *plan);

/* Rows of a CTA's tile.  If the plan is transposed, they are columns of C. */
int gemm_plan_rows(const struct gemm_plan *plan);

/* How many CTAs share a tile's k-blocks: in split-K those of a cluster, else 1. */
int gemm_plan_splits(const struct gemm_plan *plan);

/* How many clusters of the plan run at a time; 0 if the GPU is smaller than one. */
int gemm_plan_clusters(const struct gemm_plan *plan, int multiprocessors);

/* How many tiles C has, how many of them lie one above the other, and how many side by side.  If the plan is
 * transposed, C^T is meant.  A cluster computes one tile at a time. */
int gemm_plan_tiles(const struct gemm_plan *plan, int m, int n);
int gemm_plan_tile_rows(const struct gemm_plan *plan, int m, int n);
int gemm_plan_tile_columns(const struct gemm_plan *plan, int m, int n);

/* Fills in `ctas` and `band_rows` where they are 0: one CTA a multiprocessor, in whole clusters, none without work.
 * Split-K gets a cluster for each tile whatever `ctas` is, and no more CTAs a cluster than there are k-blocks. */
struct gemm_plan gemm_plan_complete(struct gemm_plan plan, int m, int n, int k, int multiprocessors);

/* The plan that is likely to be the fastest. */
struct gemm_plan gemm_plan_choose(int m, int n, int k, int multiprocessors);

/* Every plan that there is, the likely fastest first; returns how many, at most GEMM_PLANS_MOST. */
#define GEMM_PLANS_MOST 512
int gemm_plan_all(int m, int n, int k, int multiprocessors, struct gemm_plan *out);

#endif
