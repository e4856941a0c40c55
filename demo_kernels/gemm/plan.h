/* plan.h - how a product is computed: which kernel, of which tile, with how many CTAs. */
#ifndef GEMM_PLAN_H
#define GEMM_PLAN_H

#include <stdbool.h>

enum schedule_kind { SCHEDULE_COOPERATIVE, SCHEDULE_PINGPONG, SCHEDULE_STREAMK, SCHEDULE_AUTO };

struct gemm_plan {
    int schedule;  /* enum schedule_kind; never SCHEDULE_AUTO */
    int columns;   /* of C in a CTA's tile; a row of tiles.def */
    int cluster;   /* CTAs that share B */
    int ctas;      /* of the grid */
    int band_rows; /* cluster tiles in a band of scheduler.cuh */
};

#define CLUSTER_MOST 4

/* Whether there is a kernel of this schedule for this cluster and these columns, which are a row of tiles.def. */
bool gemm_plan_exists(const struct gemm_plan *plan);

/* Rows of C a CTA of the plan computes at a time. */
int gemm_plan_rows(const struct gemm_plan *plan);

/* The plan with its `ctas` and `band_rows` where they are 0: one CTA a multiprocessor, whole clusters, and no more than
 * have work. */
struct gemm_plan gemm_plan_complete(struct gemm_plan plan, int m, int n, int k, int multiprocessors);

/* The plan that is likely to be the fastest. */
struct gemm_plan gemm_plan_choose(int m, int n, int k, int multiprocessors);

/* Every plan that there is; returns how many, at most GEMM_PLANS_MOST. */
#define GEMM_PLANS_MOST 64
int gemm_plan_all(int m, int n, int k, int multiprocessors, struct gemm_plan *out);

#endif
