/* thread_float.h - the few steps with floating-point numbers that give whole ones.  Private to this room: part of
 * thread_step.h.
 *
 * The compiler divides whole numbers by way of a reciprocal (I2F, MUFU.RCP, F2I), and multiplies with a reciprocal that
 * the driver has among the constants to get a CTA's cluster (I2FP, FMUL, F2I).  Whether a factor is zero decides which
 * matrices a kernel loads (FSETP).  These instructions are decoded in halves only: their sources are read from their
 * words.  A comparison in PTX has its sources.
 */
#ifndef WSDBG_SASS_THREAD_FLOAT_H
#define WSDBG_SASS_THREAD_FLOAT_H

#include "sass/thread_operand.h"

enum { WSDBG_FLOAT_SOURCES_MOST = 3 };
/* The sources of a step with floating-point numbers that is followed (thread_float.h), which are not among the
 * instruction's; returns how many, 0 = it is no such step. */
unsigned wsdbg_thread_float_sources(const struct wsdbg_instruction *instruction,
                                    struct wsdbg_operand out[WSDBG_FLOAT_SOURCES_MOST]);
/* What such a step makes of the values of its sources (wsdbg_thread_float_sources), which have one word or two; false
 * where that is not known. */
bool wsdbg_thread_float(const struct wsdbg_instruction *instruction, const uint64_t *values, uint64_t *out);
/* Whether the two numbers stand in a relation of FSETP; its third source, a predicate, does not count. */
bool wsdbg_thread_float_compare(const struct wsdbg_instruction *fsetp, uint32_t a, uint32_t b);

#endif
