/* compute.h - what an arithmetic instruction of PTX makes of known values. */
#ifndef WSDBG_MUTATE_COMPUTE_H
#define WSDBG_MUTATE_COMPUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/program.h"

/* Whether the value of source number `source` matters (not the lanes' mask of a shuffle). */
bool compute_needs(const struct wsdbg_ptx_instruction *at, unsigned source);
/* The first destination; false: the instruction is not one that is computed here. */
bool compute_value(const struct wsdbg_ptx_instruction *at, const int64_t *source, int64_t *out);

#endif
