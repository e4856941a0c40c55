/* communicator_rows.c - writes and reads the tables communicator and collective: communicators of NCCL as a picture has
 * them, and the newest calls on each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/collective.h"
#include "store/load_internal.h"
#include "store/tables.h"
#include "store/words.h"

/* ---- writing ---- */

static void write_known(struct wsdbg_insert *insert, uint32_t value)
{
    wsdbg_insert_maybe(insert, value != WSDBG_UNKNOWN32, value);
}

static void write_time(struct wsdbg_insert *insert, uint64_t time_ns)
{
    wsdbg_insert_maybe(insert, time_ns != 0, (int64_t)time_ns);
}

static void write_communicator(struct wsdbg_insert *insert, const struct wsdbg_store *store,
                               const struct wsdbg_snapshot *s, const struct wsdbg_table_ids *ids, size_t index)
{
    const struct wsdbg_communicator *c = &s->communicators[index];
    const char *state = wsdbg_communicator_state_name(c->row.end);
    char identity[20]; /* read when the row is inserted */
    snprintf(identity, sizeof identity, "%016" PRIx64, c->row.identity);
    wsdbg_insert_number(insert, store->snapshot_id);
    wsdbg_insert_number(insert, c->process_id);
    wsdbg_insert_number(insert, (int64_t)c->row.number);
    wsdbg_insert_reference(insert, ids->contexts, s->context_count, c->context);
    wsdbg_insert_text(insert, c->row.identity ? identity : NULL);
    write_known(insert, c->row.rank);
    write_known(insert, c->row.rank_count);
    write_known(insert, c->row.device);
    wsdbg_insert_string(insert, c->row.made_by);
    wsdbg_insert_number(insert, (int64_t)c->row.began_ns);
    write_time(insert, c->row.ready_ns);
    write_time(insert, c->row.ended_ns);
    wsdbg_insert_string(insert, state ? state : "unknown");
    wsdbg_insert_maybe(insert, c->row.error != 0, c->row.error);
    wsdbg_insert_number(insert, (int64_t)c->row.calls);
    wsdbg_insert_number(insert, (int64_t)c->row.collectives);
    wsdbg_insert_row(insert);
}

static void write_call(struct wsdbg_insert *insert, int64_t communicator_id, const struct wsdbg_snapshot *s,
                       const struct wsdbg_table_ids *ids, const struct wsdbg_collective *call)
{
    const struct wsdbg_collective_row *row = &call->row;
    wsdbg_insert_number(insert, communicator_id);
    wsdbg_insert_number(insert, (int64_t)row->sequence);
    wsdbg_insert_maybe(insert, row->number != 0, (int64_t)row->number);
    wsdbg_insert_text(insert, wsdbg_collective_operation_name(row->operation));
    wsdbg_insert_number(insert, (int64_t)row->count);
    wsdbg_insert_text(insert, wsdbg_collective_datatype_name(row->datatype));
    wsdbg_insert_text(insert, wsdbg_collective_reduction_name(row->reduction));
    write_known(insert, row->peer);
    wsdbg_insert_number(insert, (int64_t)row->stream);
    wsdbg_insert_number(insert, row->thread_id);
    wsdbg_insert_reference(insert, ids->launches, s->launch_count, call->launch);
    wsdbg_insert_number(insert, (int64_t)row->time_ns);
    write_time(insert, row->issued_ns);
    wsdbg_insert_maybe(insert, call->done, 1);
    wsdbg_insert_number(insert, (row->flags & WSDBG_COLLECTIVE_CAPTURED) != 0);
    wsdbg_insert_number(insert, (row->flags & WSDBG_COLLECTIVE_GROUPED) != 0);
    wsdbg_insert_number(insert, (row->flags & WSDBG_COLLECTIVE_REFUSED) != 0);
    wsdbg_insert_row(insert);
}

struct wsdbg_error *wsdbg_write_communicators(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                              const struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert communicators, calls;
    size_t call = 0;
    if (s->communicator_count == 0)
        return NULL;
    wsdbg_insert_begin(&communicators, store,
                       "INSERT INTO communicator (snapshot_id, process_id, number, context_id, identity, rank, "
                       "rank_count, device_ordinal, made_by, began_ns, ready_ns, closed_ns, state, error, calls, "
                       "collectives) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    wsdbg_insert_begin(&calls, store,
                       "INSERT INTO collective (communicator_id, call, number, operation, count, datatype, reduction, "
                       "peer, stream, thread_id, launch_id, time_ns, issued_ns, done, captured, grouped, refused) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->communicator_count; i++) {
        write_communicator(&communicators, store, s, ids, i);
        const int64_t id = sqlite3_last_insert_rowid(store->db);
        for (; call < s->collective_count && s->collectives[call].communicator == i; call++)
            write_call(&calls, id, s, ids, &s->collectives[call]);
    }
    struct wsdbg_error *first = wsdbg_insert_end(&communicators), *second = wsdbg_insert_end(&calls);
    if (first)
        wsdbg_error_destroy(second);
    return first ? first : second;
}

/* ---- reading ---- */

static uint32_t known(struct wsdbg_select *q)
{
    const struct wsdbg_optional_u32 value = wsdbg_select_u32(q);
    return value.known ? value.value : WSDBG_UNKNOWN32;
}

static struct wsdbg_error *load_communicators(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(
        &q, loader->store,
        "SELECT id, process_id, number, context_id, identity, rank, rank_count, device_ordinal, made_by, "
        "began_ns, ready_ns, closed_ns, state, error, calls, collectives FROM communicator "
        "WHERE snapshot_id = ?1 ORDER BY id",
        loader->snapshot_id);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, &loader->communicators, &s->communicators,
                                                   &s->communicator_count, sizeof *s->communicators)) {
        struct wsdbg_communicator *c = &s->communicators[s->communicator_count - 1];
        c->process_id = (uint32_t)wsdbg_select_number(&q);
        c->row.number = (uint64_t)wsdbg_select_number(&q);
        c->context = wsdbg_id_map_find(&loader->contexts, wsdbg_select_number(&q));
        c->row.context = WSDBG_UNKNOWN32;
        const char *identity = wsdbg_select_string(&q);
        c->row.identity = identity ? strtoull(identity, NULL, 16) : 0;
        c->row.rank = known(&q);
        c->row.rank_count = known(&q);
        c->row.device = known(&q);
        wsdbg_select_text(&q, c->row.made_by, sizeof c->row.made_by);
        c->row.began_ns = (uint64_t)wsdbg_select_number(&q);
        c->row.ready_ns = (uint64_t)wsdbg_select_number(&q);
        c->row.ended_ns = (uint64_t)wsdbg_select_number(&q);
        c->row.end = wsdbg_word_value(wsdbg_select_string(&q), wsdbg_communicator_state_name,
                                      WSDBG_COMMUNICATOR_ABORTED + 1, WSDBG_COMMUNICATOR_ABORTED);
        c->row.error = (int32_t)wsdbg_select_number(&q);
        c->row.calls = (uint64_t)wsdbg_select_number(&q);
        c->row.collectives = (uint64_t)wsdbg_select_number(&q);
    }
    return wsdbg_select_end(&q);
}

static void read_call(struct wsdbg_select *q, struct wsdbg_loader *loader, struct wsdbg_collective *call)
{
    struct wsdbg_collective_row *row = &call->row;
    call->communicator = wsdbg_id_map_find(&loader->communicators, wsdbg_select_number(q));
    row->sequence = (uint64_t)wsdbg_select_number(q);
    row->number = (uint64_t)wsdbg_select_number(q);
    row->operation =
        wsdbg_word_value(wsdbg_select_string(q), wsdbg_collective_operation_name, WSDBG_COLLECTIVE_RECEIVE + 1, 0);
    row->count = (uint64_t)wsdbg_select_number(q);
    row->datatype = wsdbg_word_value(wsdbg_select_string(q), wsdbg_collective_datatype_name, 12, WSDBG_UNKNOWN32);
    row->reduction = wsdbg_word_value(wsdbg_select_string(q), wsdbg_collective_reduction_name, 5, WSDBG_UNKNOWN32);
    row->peer = known(q);
    row->stream = (uint64_t)wsdbg_select_number(q);
    row->thread_id = (uint32_t)wsdbg_select_number(q);
    call->launch = wsdbg_id_map_find(&loader->launches, wsdbg_select_number(q));
    row->time_ns = (uint64_t)wsdbg_select_number(q);
    row->issued_ns = (uint64_t)wsdbg_select_number(q);
    call->done = wsdbg_select_number(q) != 0;
    row->flags = wsdbg_select_number(q) ? WSDBG_COLLECTIVE_CAPTURED : 0;
    row->flags |= wsdbg_select_number(q) ? WSDBG_COLLECTIVE_GROUPED : 0;
    row->flags |= wsdbg_select_number(q) ? WSDBG_COLLECTIVE_REFUSED : 0;
}

struct wsdbg_error *wsdbg_load_communicators(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    struct wsdbg_error *error = load_communicators(loader);
    if (error)
        return error;
    wsdbg_select_begin(
        &q, loader->store,
        "SELECT k.id, k.communicator_id, k.call, k.number, k.operation, k.count, k.datatype, k.reduction, k.peer, "
        "k.stream, k.thread_id, k.launch_id, k.time_ns, k.issued_ns, k.done, k.captured, k.grouped, "
        "k.refused FROM communicator c JOIN collective k ON k.communicator_id = c.id "
        "WHERE c.snapshot_id = ?1 ORDER BY c.id, k.id",
        loader->snapshot_id);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, &loader->collectives, &s->collectives, &s->collective_count, sizeof *s->collectives))
        read_call(&q, loader, &s->collectives[s->collective_count - 1]);
    return wsdbg_select_end(&q);
}
