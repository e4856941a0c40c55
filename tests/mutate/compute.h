/* compute.h - the result of an arithmetic PTX instruction whose sources are known. */
#ifndef WSDBG_MUTATE_COMPUTE_H
#define WSDBG_MUTATE_COMPUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/program.h"

/* Whether compute_value reads this source; the lane mask of a shuffle, for example, it does not. */
bool compute_needs(const struct wsdbg_ptx_instruction *at, unsigned source);
/* The value of the first destination; false: this instruction is not computed here. */
bool compute_value(const struct wsdbg_ptx_instruction *at, const int64_t *source, int64_t *out);

#endif
