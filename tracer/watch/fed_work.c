/* fed_work.c - see fed_work.h.  Reads: contexts and host threads. */
#include "watch/fed_work.h"

static enum wsdbg_feeder feeder_of(const struct wsdbg_snapshot *snapshot, uint32_t process_id, uint64_t before_ns)
{
    enum wsdbg_feeder feeder = WSDBG_FEEDER_ANY;
    for (size_t i = 0; i < snapshot->thread_count && feeder != WSDBG_FEEDER_ANOTHER; i++) {
        const struct wsdbg_host_thread *thread = &snapshot->threads[i];
        if (thread->process_id == process_id && thread->since_ns <= before_ns)
            feeder = thread->host_state == WSDBG_HOST_RESTS ? WSDBG_FEEDER_NONE : WSDBG_FEEDER_ANOTHER;
    }
    return feeder;
}

enum wsdbg_feeder wsdbg_work_feeder(const struct wsdbg_snapshot *snapshot, uint64_t age_ns, uint64_t now_ns)
{
    const uint64_t before_ns = now_ns > age_ns / 2 ? now_ns - age_ns / 2 : 0;
    enum wsdbg_feeder feeder = WSDBG_FEEDER_NONE;
    for (size_t i = 0; i < snapshot->context_count && feeder == WSDBG_FEEDER_NONE; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        if (context->alive && context->unfinished_ns.known && !context->attended)
            feeder = feeder_of(snapshot, context->process_id, before_ns);
    }
    return feeder;
}
