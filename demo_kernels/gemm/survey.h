/* survey.h - many products, each computed in one way or in many, against cuBLAS. */
#ifndef GEMM_SURVEY_H
#define GEMM_SURVEY_H

#include "../common/driver.h"
#include "options.h"

/* Reads the sizes in options->shapes, a line each, and prints a JSON line for each: with options->check how many
 * elements differ from cuBLAS's, else what the launches took.  The matrices of all products are the beginnings of the
 * same three. */
struct wsdbg_error *survey_run(const struct device *device, const struct gemm_options *options);

#endif
