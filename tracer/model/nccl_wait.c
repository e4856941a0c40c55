/* nccl_wait.c - which calls of NCCL wait on the host, before they have launched a kernel, and which ones may wait in a
 * kernel that no look shows.  See nccl_wait.h.
 *
 * Reads: the communicators, calls, threads, grids and looks of a snapshot.  Writes: nothing.
 */
#include "model/nccl_wait.h"

#include "model/process.h"

/* Whether the process still runs, as far as is known. */
static bool lives(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    const uint32_t process = wsdbg_snapshot_process(snapshot, process_id);
    return process != WSDBG_NONE && snapshot->processes[process].end.kind == WSDBG_END_NONE;
}

/* A call in a group is inside NCCL once the group's end was called: the launches are counted then. */
static bool is_issued(const struct wsdbg_collective_row *row)
{
    return !(row->flags & WSDBG_COLLECTIVE_GROUPED) || row->launches_before;
}

bool wsdbg_collective_waits_on_host(const struct wsdbg_snapshot *snapshot, uint32_t collective)
{
    const struct wsdbg_collective *call = &snapshot->collectives[collective];
    const struct wsdbg_communicator *of = &snapshot->communicators[call->communicator];
    return !call->row.issued_ns && call->launch == WSDBG_NONE && is_issued(&call->row) &&
           !(call->row.flags & (WSDBG_COLLECTIVE_CAPTURED | WSDBG_COLLECTIVE_REFUSED)) && !of->row.ended_ns &&
           !of->lacks_calls && lives(snapshot, of->process_id);
}

bool wsdbg_communicator_is_being_made(const struct wsdbg_snapshot *snapshot, uint32_t communicator)
{
    const struct wsdbg_communicator *of = &snapshot->communicators[communicator];
    return of->row.began_ns && !of->row.ready_ns && !of->row.ended_ns && !of->lacks_calls &&
           lives(snapshot, of->process_id);
}

/* Whether the snapshot shows what the process has on the GPU, or some of it. */
static bool is_seen(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    for (size_t i = 0; i < s->look_count; i++)
        if (!s->looks[i].process_id || s->looks[i].process_id == process_id)
            return true;
    for (size_t i = 0; i < s->grid_count; i++)
        if (s->grids[i].running && s->grids[i].context < s->context_count &&
            s->contexts[s->grids[i].context].process_id == process_id)
            return true;
    return false;
}

const struct wsdbg_host_thread *wsdbg_collective_waits_unseen(const struct wsdbg_snapshot *snapshot,
                                                              uint32_t collective)
{
    const struct wsdbg_collective *call = &snapshot->collectives[collective];
    const struct wsdbg_communicator *of = &snapshot->communicators[call->communicator];
    if (call->done || call->launch == WSDBG_NONE || !call->row.issued_ns || of->row.ended_ns || of->lacks_calls ||
        (call->row.flags & (WSDBG_COLLECTIVE_CAPTURED | WSDBG_COLLECTIVE_REFUSED)) || !lives(snapshot, of->process_id))
        return NULL;
    for (size_t i = 0; i < snapshot->thread_count; i++)
        if (snapshot->threads[i].process_id == of->process_id && snapshot->threads[i].since_ns >= call->row.issued_ns)
            return is_seen(snapshot, of->process_id) ? NULL : &snapshot->threads[i];
    return NULL;
}

static void note(uint64_t time_ns, uint64_t *oldest_ns)
{
    if (!*oldest_ns || time_ns < *oldest_ns)
        *oldest_ns = time_ns;
}

uint64_t wsdbg_nccl_waits_since_ns(const struct wsdbg_snapshot *snapshot)
{
    uint64_t oldest_ns = 0;
    for (uint32_t i = 0; i < snapshot->communicator_count; i++)
        if (wsdbg_communicator_is_being_made(snapshot, i))
            note(snapshot->communicators[i].row.began_ns, &oldest_ns);
    for (uint32_t i = 0; i < snapshot->collective_count; i++)
        if (wsdbg_collective_waits_on_host(snapshot, i))
            note(snapshot->collectives[i].row.time_ns, &oldest_ns);
    return oldest_ns;
}

uint64_t wsdbg_nccl_unseen_since_ns(const struct wsdbg_snapshot *snapshot)
{
    uint64_t oldest_ns = 0;
    for (uint32_t i = 0; i < snapshot->collective_count; i++) {
        const struct wsdbg_host_thread *thread = wsdbg_collective_waits_unseen(snapshot, i);
        if (thread)
            note(thread->since_ns, &oldest_ns);
    }
    return oldest_ns;
}
