/* rounds.h - addresses that go round a ring with a quotient: a + s * i - s * d * (i / d) is a + s * (i mod d), where i
 * grows in a loop.  A compiler that unrolls such a loop keeps two registers, or more, for i and a + s * i, and writes
 * the difference nowhere else.
 *
 * Reads: a trace whose values are known.  A counter is taken not to wrap.
 */
#ifndef WSDBG_SASS_ROUNDS_H
#define WSDBG_SASS_ROUNDS_H

#include "sass/trace.h"

/* The values of part `part` of an operand, as wsdbg_trace_operand has asked for them just before; false: it goes round
 * no ring that is known. */
bool wsdbg_rounds_of(struct wsdbg_trace *trace, uint32_t instruction, const struct wsdbg_operand *operand,
                     unsigned part, struct wsdbg_values *out);

#endif
