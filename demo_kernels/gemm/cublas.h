/* cublas.h - cuBLAS as an optional rival, found at run time. */
#ifndef GEMM_CUBLAS_H
#define GEMM_CUBLAS_H

#include "../common/driver.h"
#include "geometry.h"
#include "kernel.h"

struct cublas;

/* Opens libcublas for `device`'s stream; an error when it is not installed. */
struct wsdbg_error *cublas_open(const struct device *device, struct cublas **out);
void cublas_close(struct cublas *cublas);

/* Puts C = A * B^T, computed in fp32, into the device's stream. */
struct wsdbg_error *cublas_launch(const struct cublas *cublas, const struct gemm_problem *problem,
                                  const struct gemm_matrices *matrices);

#endif
