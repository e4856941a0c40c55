/* estimate.h - how long a product is likely to take with a plan. */
#ifndef GEMM_ESTIMATE_H
#define GEMM_ESTIMATE_H

#include "plan.h"

/* The likely time of one launch among many, in ns, on a Hopper GPU with so many multiprocessors. */
double gemm_plan_estimate_ns(const struct gemm_plan *plan, int m, int n, int k, int multiprocessors);

#endif
