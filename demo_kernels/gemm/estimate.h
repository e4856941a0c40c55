/* estimate.h - how long a product is likely to take, computed in a certain way. */
#ifndef GEMM_ESTIMATE_H
#define GEMM_ESTIMATE_H

#include "plan.h"

/* Of one launch behind others, in ns, on a Hopper GPU with so many multiprocessors. */
double gemm_plan_estimate_ns(const struct gemm_plan *plan, int m, int n, int k, int multiprocessors);

#endif
