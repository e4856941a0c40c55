/* fed_work.c - see fed_work.h.  Reads: contexts and host threads. */
#include "cmd/fed_work.h"

static bool a_thread_waits(const struct wsdbg_snapshot *snapshot, uint32_t process_id, uint64_t before_ns)
{
    for (size_t i = 0; i < snapshot->thread_count; i++)
        if (snapshot->threads[i].process_id == process_id && snapshot->threads[i].since_ns <= before_ns)
            return true;
    return false;
}

bool wsdbg_work_may_be_fed(const struct wsdbg_snapshot *snapshot, uint64_t age_ns, uint64_t now_ns)
{
    const uint64_t before_ns = now_ns > age_ns / 2 ? now_ns - age_ns / 2 : 0;
    for (size_t i = 0; i < snapshot->context_count; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        if (context->alive && context->unfinished_ns.known && !a_thread_waits(snapshot, context->process_id, before_ns))
            return true;
    }
    return false;
}
