/* bench.h - times the kernel against a rival, side by side. */
#ifndef GEMM_BENCH_H
#define GEMM_BENCH_H

#include "kernel.h"

/* Times `kernel` and the rival of `options` in alternating order and prints JSON lines on stdout: one a
 * contestant (milliseconds a launch: median, quartiles, extremes; TFLOP/s at the median), then their ratio. */
struct wsdbg_error *bench_run(const struct device *device, const struct gemm_options *options,
                              struct gemm_kernel *kernel, const struct gemm_matrices *matrices);

#endif
