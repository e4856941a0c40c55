/* process_rows.c - writes the tables process and member: the processes of the program, and what those that use CUDA do
 * in a picture.  Reads a snapshot. */
#include "model/process.h"
#include "store/tables.h"

/* A process of which no more than its number is known. */
static void write_number(struct wsdbg_insert *insert, uint32_t process_id, uint64_t time_ns)
{
    wsdbg_insert_number(insert, process_id);
    wsdbg_insert_number(insert, (int64_t)time_ns);
    wsdbg_insert_row(insert);
}

static struct wsdbg_error *write_numbers(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, WSDBG_INSERT_PROCESS_NUMBER);
    for (size_t i = 0; i < s->context_count; i++)
        write_number(&insert, s->contexts[i].process_id, s->time_ns);
    for (size_t i = 0; i < s->module_count; i++)
        write_number(&insert, s->modules[i].process_id, s->time_ns);
    for (size_t i = 0; i < s->function_count; i++)
        write_number(&insert, s->functions[i].process_id, s->time_ns);
    for (size_t i = 0; i < s->launch_count; i++)
        write_number(&insert, s->launches[i].process_id, s->time_ns);
    for (size_t i = 0; i < s->allocation_count; i++)
        if (i == 0 || s->allocations[i].process_id != s->allocations[i - 1].process_id)
            write_number(&insert, s->allocations[i].process_id, s->time_ns);
    for (size_t i = 0; i < s->communicator_count; i++)
        write_number(&insert, s->communicators[i].process_id, s->time_ns);
    for (size_t i = 0; i < s->thread_count; i++)
        write_number(&insert, s->threads[i].process_id, s->time_ns);
    for (size_t i = 0; i < s->host_process_count; i++)
        write_number(&insert, s->host_processes[i].process_id, s->time_ns);
    for (size_t i = 0; i < s->activity_count; i++)
        write_number(&insert, s->activities[i].process_id, s->time_ns);
    return wsdbg_insert_end(&insert);
}

struct wsdbg_error *wsdbg_write_processes(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO process (process_id, first_seen_ns, pid, rank, local_rank, world_size, rank_from, "
                       "job, ended, exit_status, signal, hostname) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT hostname FROM session)) "
                       "ON CONFLICT DO UPDATE SET rank = excluded.rank, local_rank = excluded.local_rank, "
                       "world_size = excluded.world_size, rank_from = excluded.rank_from, job = excluded.job, "
                       "ended = excluded.ended, exit_status = excluded.exit_status, signal = excluded.signal");
    for (size_t i = 0; i < s->process_count; i++) {
        const struct wsdbg_process *p = &s->processes[i];
        wsdbg_insert_number(&insert, p->process_id);
        wsdbg_insert_number(&insert, (int64_t)s->time_ns);
        wsdbg_insert_number(&insert, p->pid);
        wsdbg_insert_u32(&insert, p->rank);
        wsdbg_insert_u32(&insert, p->local_rank);
        wsdbg_insert_u32(&insert, p->world_size);
        wsdbg_insert_text(&insert, p->rank_from);
        wsdbg_insert_text(&insert, p->job);
        wsdbg_insert_number(&insert, p->end.kind != WSDBG_END_NONE);
        wsdbg_insert_maybe(&insert, p->end.kind == WSDBG_END_EXITED, p->end.value);
        wsdbg_insert_maybe(&insert, p->end.kind == WSDBG_END_SIGNAL, p->end.value);
        wsdbg_insert_row(&insert);
    }
    struct wsdbg_error *error = wsdbg_insert_end(&insert);
    return error ? error : write_numbers(store, s);
}

struct wsdbg_error *wsdbg_write_members(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO member (snapshot_id, process_id, state, grid_id, call, since_ns, polls_peers) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?)");
    for (uint32_t i = 0; i < s->process_count; i++) {
        const struct wsdbg_process_work work = wsdbg_process_work(s, i);
        const struct wsdbg_host_thread *thread = work.thread < s->thread_count ? &s->threads[work.thread] : NULL;
        wsdbg_insert_number(&insert, store->snapshot_id);
        wsdbg_insert_number(&insert, s->processes[i].process_id);
        wsdbg_insert_string(&insert, wsdbg_process_state_name(work.state));
        wsdbg_insert_offset(&insert, store->first.grid, s->grid_count, work.grid);
        wsdbg_insert_text(&insert, thread ? thread->call : "");
        wsdbg_insert_maybe(&insert, thread != NULL, thread ? (int64_t)thread->since_ns : 0);
        wsdbg_insert_number(&insert, work.polls_peers);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}
