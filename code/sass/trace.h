/* trace.h - which values registers may hold at an instruction: a node for each written, read or merged value that was
 * asked for, joined as the values flow, and solved until nothing grows any more.
 *
 * A value that goes round a loop grows with every round, for a while number by number, so that a counter which is reset
 * where it reaches a constant is found whole; then it is widened.
 */
#ifndef WSDBG_SASS_TRACE_H
#define WSDBG_SASS_TRACE_H

#include "sass/access.h"
#include "sass/definitions.h"
#include "sass/values.h"

struct wsdbg_trace;

/* The threads whose values are asked for, by their index in x; count 0 = all of the CTA. */
struct wsdbg_thread_range {
    uint32_t first, count;
};

/* `launch` may be NULL, and must outlive *out as the graph must. */
struct wsdbg_error *wsdbg_trace_create(const struct wsdbg_graph *graph, const struct wsdbg_launch_values *launch,
                                       struct wsdbg_thread_range threads, struct wsdbg_trace **out);
void wsdbg_trace_destroy(struct wsdbg_trace *trace); /* NULL is fine */

/* Asks for other threads from now on.  Where values come from is kept, and so is every value that is not a function of
 * the thread's index: that is much cheaper than another trace. */
void wsdbg_trace_turn_to(struct wsdbg_trace *trace, struct wsdbg_thread_range threads);

const struct wsdbg_graph *wsdbg_trace_graph(const struct wsdbg_trace *trace);
const struct wsdbg_launch_values *wsdbg_trace_launch(const struct wsdbg_trace *trace); /* NULL = none */

/* What part `part` of an operand of the instruction may be just before it executes: 32 bits of a wider one, the low
 * ones first; of a MEMORY operand the address.  Out of memory: any value. */
struct wsdbg_values wsdbg_trace_operand(struct wsdbg_trace *trace, uint32_t instruction,
                                        const struct wsdbg_operand *operand, unsigned part);

/* True where the threads asked for are whole warps, as far as they can be told apart. */
bool wsdbg_trace_is_of_warps(const struct wsdbg_trace *trace);

/* The only instruction that may have written a register before this one executes; false where there may be another, and
 * where a register other than a predicate was written in another block. */
bool wsdbg_trace_written(struct wsdbg_trace *trace, uint32_t instruction, unsigned reg, uint32_t *out);

#endif
