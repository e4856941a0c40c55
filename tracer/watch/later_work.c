/* later_work.c - see later_work.h.  Reads: contexts, host threads, collectives. */
#include "watch/later_work.h"

#include "model/collective.h"

static enum wsdbg_submitter submitter_of(const struct wsdbg_snapshot *snapshot, uint32_t process_id, uint64_t before_ns)
{
    enum wsdbg_submitter submitter = WSDBG_SUBMITTER_ANY;
    for (size_t i = 0; i < snapshot->thread_count && submitter != WSDBG_SUBMITTER_ANOTHER; i++) {
        const struct wsdbg_host_thread *thread = &snapshot->threads[i];
        if (thread->process_id == process_id && thread->since_ns <= before_ns)
            submitter = thread->host_state == WSDBG_HOST_ALL_BLOCKED ? WSDBG_SUBMITTER_NONE : WSDBG_SUBMITTER_ANOTHER;
    }
    return submitter;
}

enum wsdbg_submitter wsdbg_work_submitter(const struct wsdbg_snapshot *snapshot, uint64_t age_ns, uint64_t now_ns)
{
    const uint64_t before_ns = now_ns > age_ns / 2 ? now_ns - age_ns / 2 : 0;
    enum wsdbg_submitter submitter = WSDBG_SUBMITTER_NONE;
    for (size_t i = 0; i < snapshot->context_count && submitter == WSDBG_SUBMITTER_NONE; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        if (context->alive && context->unfinished_ns.known && !context->attended &&
            !wsdbg_collective_peer_is_gone(snapshot, context->process_id))
            submitter = submitter_of(snapshot, context->process_id, before_ns);
    }
    return submitter;
}
