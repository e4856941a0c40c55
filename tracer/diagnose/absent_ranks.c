/* absent_ranks.c - see absent_ranks.h.  Reads a snapshot.
 *
 * Nobody tells which process is to have which rank of a communicator.  So the missing ranks are known only where as
 * many processes with a context have not come as there are ranks that nobody has taken.  A process that has no context
 * yet is none of them: it starts slowly.
 */
#include "diagnose/absent_ranks.h"

#include "model/nccl_wait.h"

static bool has_come(const struct wsdbg_snapshot *s, uint64_t identity, uint32_t process_id)
{
    for (size_t i = 0; i < s->communicator_count; i++)
        if (s->communicators[i].process_id == process_id && s->communicators[i].row.identity == identity)
            return true;
    return false;
}

static bool may_come(const struct wsdbg_snapshot *s, uint64_t identity, const struct wsdbg_process *other)
{
    if (other->end.kind != WSDBG_END_NONE || has_come(s, identity, other->process_id))
        return false;
    for (size_t i = 0; i < s->context_count; i++)
        if (s->contexts[i].process_id == other->process_id && s->contexts[i].alive)
            return true;
    return false;
}

static bool is_first_of_rank(const struct wsdbg_snapshot *s, size_t communicator)
{
    const struct wsdbg_communicator_row *row = &s->communicators[communicator].row;
    for (size_t i = 0; i < communicator; i++)
        if (s->communicators[i].row.identity == row->identity && s->communicators[i].row.rank == row->rank)
            return false;
    return true;
}

/* Ranks of the communicator that some process has taken, and processes that may take one. */
static uint32_t count_both(const struct wsdbg_snapshot *s, uint64_t identity)
{
    uint32_t count = 0;
    for (size_t i = 0; i < s->communicator_count; i++)
        count += s->communicators[i].row.identity == identity && is_first_of_rank(s, i);
    for (size_t i = 0; i < s->process_count; i++)
        count += may_come(s, identity, &s->processes[i]);
    return count;
}

bool wsdbg_rank_is_absent(const struct wsdbg_snapshot *snapshot, uint32_t communicator, uint32_t process)
{
    const struct wsdbg_communicator_row *row = &snapshot->communicators[communicator].row;
    return wsdbg_communicator_is_being_made(snapshot, communicator) && row->identity && row->rank != WSDBG_UNKNOWN32 &&
           row->rank_count != WSDBG_UNKNOWN32 && may_come(snapshot, row->identity, &snapshot->processes[process]) &&
           count_both(snapshot, row->identity) == row->rank_count;
}
