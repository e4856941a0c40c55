/* joined_spans.c - how far addresses of the stack frame reach that have an index added: see joined_frame_parts.h.
 *
 * Reads: the indexes that the code counts (trace.h).  Writes: spans.
 */
#include "sass/joined_frame_parts.h"
#include "sass/trace.h"

/* How far the sums reach.  An index that counts up and whose end is not known does not wrap: it would no longer count.
 */
static void measure_span(struct frame *frame, struct span *span, const struct wsdbg_values *index)
{
    enum { REACH_MOST = 1 << 16 };
    const struct span *base = is_span(span->base) ? &frame->spans[span->base - FIRST_SPAN] : NULL;
    uint32_t first = 0, stride = 0, count = 0;
    const bool is_up = wsdbg_values_range(index, &first, &stride, &count) && first < REACH_MOST && stride < REACH_MOST;
    const uint64_t reach = count ? (uint64_t)stride * (count - 1) : REACH_MOST;
    span->is_known = is_up && reach <= REACH_MOST && (!base || base->is_known);
    span->root = base ? base->root : span->base;
    span->first = (int32_t)first + (base ? base->first : 0);
    span->last = (int32_t)(first + (uint32_t)reach) + (base ? base->last : 0);
}

struct wsdbg_error *frame_measure_spans(struct frame *frame)
{
    struct wsdbg_trace *trace;
    struct wsdbg_error *error = wsdbg_trace_create(frame->graph, NULL, (struct wsdbg_thread_range){0}, &trace);
    for (uint32_t i = 0; !error && i < frame->graph->instruction_count; i++) {
        struct span *span = &frame->spans[i];
        span->is_new = span->was_known = false;
        if (span->base == NOTHING)
            continue;
        const struct wsdbg_operand *added = &frame->graph->instructions[i].sources[span->index];
        const struct wsdbg_values index = added->kind == WSDBG_OPERAND_IMMEDIATE
                                              ? wsdbg_values_one((uint32_t)added->value)
                                              : wsdbg_trace_operand(trace, i, added, 0);
        measure_span(frame, span, &index);
    }
    if (!error)
        wsdbg_trace_destroy(trace);
    return error;
}

bool frame_has_new_spans(const struct frame *frame)
{
    for (uint32_t i = 0; i < frame->graph->instruction_count; i++)
        if (frame->spans[i].is_new)
            return true;
    return false;
}
