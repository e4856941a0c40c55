/* described.h - an instruction's fields as words, for tests: "mad s32 wide #4" (4 operands). */
#ifndef WSDBG_TESTS_PTX_DESCRIBED_H
#define WSDBG_TESTS_PTX_DESCRIBED_H

#include "ptx/program.h"

/* Operation; types of d, a, b where they differ; space and source space; v or x and the length; compare, combine,
 * rounding, part, variant; dimensions; shape; flags; operands.  What has its default is left out. */
void describe(const struct wsdbg_ptx_instruction *instruction, char *out, size_t byte_count);

#endif
