/* snapshot_communicators.c - copies communicators of NCCL and the calls on them from a segment into a snapshot.
 *
 * Reads:  the segment's rows; launches and contexts of the snapshot.  Writes: the snapshot's two tables.
 */
#include <string.h>

#include "evidence/builder.h"

static bool is_of_nccl(const struct wsdbg_snapshot *s, uint32_t launch)
{
    const uint32_t function = launch == WSDBG_NONE ? WSDBG_NONE : s->launches[launch].function;
    return function < s->function_count && strncmp(s->functions[function].name, "nccl", 4) == 0;
}

/* The launch by which a call's kernel was given: one of the same thread while the call, or the end of its group,
 * lasted. NCCL names its kernels; of others the last one is taken. */
static uint32_t launch_of(const struct wsdbg_snapshot *s, const struct wsdbg_process_base *base, uint32_t process_id,
                          const struct wsdbg_collective_row *call)
{
    const uint64_t end = call->launches_after ? call->launches_after : UINT64_MAX; /* the call still lasts */
    uint32_t found = WSDBG_NONE;
    if (call->launches_after == 0 && call->issued_ns)
        return WSDBG_NONE;
    for (uint32_t i = 0; i < base->launch_count; i++) {
        const struct wsdbg_launch *launch = &s->launches[base->launch + i];
        if (launch->process_id != process_id || launch->sequence < call->launches_before || launch->sequence >= end ||
            launch->thread_id != call->thread_id || launch->time_ns < call->time_ns)
            continue;
        if (is_of_nccl(s, base->launch + i) || !is_of_nccl(s, found))
            found = base->launch + i;
    }
    return found;
}

/* Everything that the process had launched when the call returned is done. */
static bool is_done(const struct wsdbg_snapshot *s, uint32_t process_id, const struct wsdbg_collective_row *call)
{
    bool any = false;
    if (call->launches_after <= call->launches_before || (call->flags & WSDBG_COLLECTIVE_CAPTURED))
        return false;
    for (size_t i = 0; i < s->context_count; i++) {
        const struct wsdbg_context *context = &s->contexts[i];
        if (context->process_id != process_id || !context->alive)
            continue;
        if (!context->done_launches.known || context->done_launches.value < call->launches_after)
            return false;
        any = true;
    }
    return any;
}

static void add_calls(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker,
                      const struct wsdbg_process_base *base, uint32_t row)
{
    struct wsdbg_snapshot *s = builder->out;
    const uint32_t communicator = (uint32_t)s->communicator_count - 1;
    const struct wsdbg_communicator_row *of = &s->communicators[communicator].row;
    const uint64_t first = of->calls > WSDBG_COLLECTIVE_ROWS ? of->calls - WSDBG_COLLECTIVE_ROWS : 0;
    for (uint64_t n = first; n < of->calls; n++) {
        struct wsdbg_collective *out = &s->collectives[s->collective_count];
        *out = (struct wsdbg_collective){.communicator = communicator};
        if (!wsdbg_segment_read_collective(&tracker->view, row, of, n, &out->row))
            continue;
        out->launch = launch_of(s, base, tracker->head.process_id, &out->row);
        out->done =
            is_done(s, tracker->head.process_id, &out->row) ||
            (out->row.issued_ns && out->row.issued_ns <= of->done_ns && !(out->row.flags & WSDBG_COLLECTIVE_CAPTURED));
        s->collective_count++;
    }
}

void wsdbg_build_communicators(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker,
                               const struct wsdbg_process_base *base)
{
    struct wsdbg_snapshot *s = builder->out;
    for (uint32_t i = 0; i < tracker->head.communicator_count; i++) {
        struct wsdbg_communicator *out = &s->communicators[s->communicator_count];
        *out = (struct wsdbg_communicator){.process_id = tracker->head.process_id, .lacks_calls = tracker->head.is_off};
        if (!wsdbg_segment_read_communicator(&tracker->view, i, &out->row))
            continue;
        out->context = out->row.context < tracker->head.context_count ? base->context + out->row.context : WSDBG_NONE;
        s->communicator_count++;
        add_calls(builder, tracker, base, i);
    }
}
