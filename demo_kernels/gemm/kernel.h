/* kernel.h - one loaded image of the kernel, ready to launch. */
#ifndef GEMM_KERNEL_H
#define GEMM_KERNEL_H

#include "../common/driver.h"
#include "geometry.h"
#include "options.h"
#include "plan.h"

/* The matrices on the device; row-major, K contiguous in A and B. */
struct gemm_matrices {
    CUdeviceptr a, b, c;
};

/* Frees those that were allocated. */
void gemm_matrices_free(const struct device *device, struct gemm_matrices *matrices);

struct gemm_kernel {
    CUmodule module;
    CUfunction function;
    struct gemm_problem problem;
    struct gemm_plan plan;
    CUtensorMap map_a, map_b, map_c, map_a_edge, map_b_edge;
    CUdeviceptr workspace; /* stream-K alone */
    unsigned shared_bytes;
};

/* Loads `variant` of the plan's kernel, with `bug` if that is not NULL, and makes the tensor maps. */
struct wsdbg_error *gemm_kernel_open(const struct device *device, const struct gemm_plan *plan, int m, int n, int k,
                                     enum variant variant, const struct bug *bug, const struct gemm_matrices *matrices,
                                     struct gemm_kernel *out);
void gemm_kernel_close(const struct device *device, struct gemm_kernel *kernel);

/* Puts one launch into the device's stream. */
struct wsdbg_error *gemm_kernel_launch(const struct device *device, struct gemm_kernel *kernel);

#endif
