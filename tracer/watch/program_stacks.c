/* program_stacks.c - see program_stacks.h.  Reads: contexts, host threads, the processes.  Writes: the snapshot's rows.
 */
#include "watch/program_stacks.h"

#include "base/console.h"
#include "host/host_stacks.h"

enum { PROCESSES_MOST = 64, WAITING_MOST = 64 };
#define PROCESS_NS UINT64_C(50000000)
#define ALL_NS UINT64_C(500000000)

static bool was_read(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (size_t i = 0; i < snapshot->host_process_count; i++)
        if (snapshot->host_processes[i].process_id == process_id)
            return true;
    return false;
}

static struct wsdbg_error *read_process(struct wsdbg_snapshot *snapshot, uint32_t process_id, uint64_t limit_ns)
{
    uint32_t waiting[WAITING_MOST];
    struct wsdbg_host_request request = {.process_id = process_id, .is_traced = true, .waiting = waiting};
    for (size_t i = 0; i < snapshot->thread_count && request.waiting_count < WAITING_MOST; i++)
        if (snapshot->threads[i].process_id == process_id)
            waiting[request.waiting_count++] = snapshot->threads[i].thread_id;
    return wsdbg_host_stacks_read(&request, 1, limit_ns, snapshot);
}

struct wsdbg_error *wsdbg_program_stacks_read(struct wsdbg_snapshot *snapshot)
{
    const uint64_t until_ns = wsdbg_monotonic_ns() + ALL_NS;
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < snapshot->context_count && snapshot->host_process_count < PROCESSES_MOST; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        const uint64_t now_ns = wsdbg_monotonic_ns();
        if (now_ns >= until_ns)
            break;
        if (!context->process_ended && !was_read(snapshot, context->process_id))
            error = read_process(snapshot, context->process_id,
                                 until_ns - now_ns < PROCESS_NS ? until_ns - now_ns : PROCESS_NS);
    }
    return error;
}
