/* memory_rows.c - writes and reads the table allocation: the memory that processes got from the driver, as a picture
 * has it.  Programs may allocate without end, so it is not kept for the whole session. */
#include "store/load_internal.h"
#include "store/tables.h"
#include "store/words.h"

struct wsdbg_error *wsdbg_write_allocations(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                            const struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO allocation (snapshot_id, process_id, number, context_id, kind, device_ordinal, "
                       "address, bytes, call, call_number, time_ns, freed_ns, peer_devices, exported, host_access) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->allocation_count; i++) {
        const struct wsdbg_allocation *a = &s->allocations[i];
        const char *kind = wsdbg_allocation_kind_name(a->row.kind);
        wsdbg_insert_number(&insert, store->snapshot_id);
        wsdbg_insert_number(&insert, a->process_id);
        wsdbg_insert_number(&insert, (int64_t)a->row.number);
        wsdbg_insert_reference(&insert, ids->contexts, s->context_count, a->context);
        wsdbg_insert_text(&insert, kind ? kind : "");
        wsdbg_insert_maybe(&insert, a->row.device != WSDBG_UNKNOWN32, a->row.device);
        wsdbg_insert_number(&insert, (int64_t)a->row.address);
        wsdbg_insert_maybe(&insert, a->row.bytes != 0, (int64_t)a->row.bytes);
        wsdbg_insert_string(&insert, a->row.call);
        wsdbg_insert_number(&insert, a->row.call_number);
        wsdbg_insert_number(&insert, (int64_t)a->row.time_ns);
        wsdbg_insert_maybe(&insert, a->row.freed_ns != 0, (int64_t)a->row.freed_ns);
        wsdbg_insert_number(&insert, a->row.peer_devices);
        wsdbg_insert_number(&insert, (a->row.flags & WSDBG_ALLOCATION_EXPORTED) != 0);
        wsdbg_insert_number(&insert, (a->row.flags & WSDBG_ALLOCATION_HOST_ACCESS) != 0);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static void read_row(struct wsdbg_select *q, struct wsdbg_allocation_row *row)
{
    row->kind = wsdbg_word_value(wsdbg_select_string(q), wsdbg_allocation_kind_name, WSDBG_ALLOCATION_IMPORTED + 1, 0);
    const struct wsdbg_optional_u32 device = wsdbg_select_u32(q);
    row->device = device.known ? device.value : WSDBG_UNKNOWN32;
    row->address = (uint64_t)wsdbg_select_number(q);
    row->bytes = (uint64_t)wsdbg_select_number(q);
    wsdbg_select_text(q, row->call, sizeof row->call);
    row->call_number = (uint32_t)wsdbg_select_number(q);
    row->time_ns = (uint64_t)wsdbg_select_number(q);
    row->freed_ns = (uint64_t)wsdbg_select_number(q);
    row->peer_devices = (uint32_t)wsdbg_select_number(q);
    row->flags = wsdbg_select_number(q) ? WSDBG_ALLOCATION_EXPORTED : 0;
    row->flags |= wsdbg_select_number(q) ? WSDBG_ALLOCATION_HOST_ACCESS : 0;
}

struct wsdbg_error *wsdbg_load_allocations(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT process_id, number, context_id, kind, device_ordinal, address, bytes, call, "
                       "call_number, time_ns, freed_ns, peer_devices, exported, host_access FROM allocation "
                       "WHERE snapshot_id = ?1 ORDER BY id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, NULL, &s->allocations, &s->allocation_count, sizeof *s->allocations)) {
        struct wsdbg_allocation *a = &s->allocations[s->allocation_count - 1];
        a->process_id = (uint32_t)wsdbg_select_number(&q);
        a->row.number = (uint64_t)wsdbg_select_number(&q);
        a->context = wsdbg_id_map_find(&loader->contexts, wsdbg_select_number(&q));
        a->row.context = WSDBG_UNKNOWN32;
        read_row(&q, &a->row);
    }
    return wsdbg_select_end(&q);
}
