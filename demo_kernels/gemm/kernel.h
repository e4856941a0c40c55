/* kernel.h - one loaded image of the kernel, ready to launch. */
#ifndef GEMM_KERNEL_H
#define GEMM_KERNEL_H

#include "../common/driver.h"
#include "geometry.h"
#include "options.h"

/* The matrices on the device; row-major, K contiguous in A and B. */
struct gemm_matrices {
    CUdeviceptr a, b, c;
};

struct gemm_kernel {
    CUmodule module;
    CUfunction function;
    struct gemm_problem problem;
    CUtensorMap map_a, map_b, map_c;
    unsigned ctas;
};

/* Loads the image that `options` name, as `variant`, and encodes the tensor maps. */
struct wsdbg_error *gemm_kernel_open(const struct device *device, const struct gemm_options *options,
                                     enum variant variant, const struct gemm_matrices *matrices,
                                     struct gemm_kernel *out);
void gemm_kernel_close(const struct device *device, struct gemm_kernel *kernel);

/* Puts one launch into the device's stream. */
struct wsdbg_error *gemm_kernel_launch(const struct device *device, struct gemm_kernel *kernel);

#endif
