/* launch_site_rows.c - writes and reads the tables launch_site and site_frame: where in the program kernels were
 * launched and NCCL was called, as a picture has it. */
#include <string.h>

#include "model/launch_site.h"
#include "store/host_frames.h"
#include "store/load_internal.h"
#include "store/tables.h"
#include "store/words.h"

/* ---- writing ---- */

/* Writes the four columns by which the INSERT finds the row of the call. */
static void write_call(struct wsdbg_insert *insert, const struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                       const struct wsdbg_launch_site *site)
{
    const bool known = site->collective < s->collective_count;
    const struct wsdbg_collective *call = known ? &s->collectives[site->collective] : NULL;
    wsdbg_insert_number(insert, store->snapshot_id);
    wsdbg_insert_number(insert, site->process_id);
    wsdbg_insert_maybe(insert, known, known ? (int64_t)s->communicators[call->communicator].row.number : 0);
    wsdbg_insert_maybe(insert, known, known ? (int64_t)call->row.sequence : 0);
}

static void write_site(struct wsdbg_insert *insert, const struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                       const struct wsdbg_table_ids *ids, const struct wsdbg_launch_site *site)
{
    char place[WSDBG_SITE_PLACE_BYTES]; /* read when the row is inserted */
    wsdbg_launch_site_place(s, site, place, sizeof place);
    wsdbg_insert_number(insert, store->snapshot_id);
    wsdbg_insert_number(insert, site->process_id);
    wsdbg_insert_maybe(insert, site->thread_id != 0, site->thread_id);
    wsdbg_insert_string(insert, wsdbg_launch_site_kind_name(site->kind));
    wsdbg_insert_offset(insert, store->first.grid, s->grid_count, site->grid);
    write_call(insert, store, s, site);
    wsdbg_insert_reference(insert, ids->launches, s->launch_count, site->launch);
    wsdbg_insert_maybe(insert, site->count != 0, site->count);
    wsdbg_insert_reference(insert, ids->functions, s->function_count, site->function);
    wsdbg_insert_reference(insert, ids->functions, s->function_count, site->before);
    wsdbg_insert_reference(insert, ids->functions, s->function_count, site->after);
    wsdbg_insert_maybe(insert, site->time_ns != 0, (int64_t)site->time_ns);
    wsdbg_insert_text(insert, strcmp(place, "?") == 0 ? NULL : place);
    wsdbg_insert_text(insert, site->end);
    wsdbg_insert_row(insert);
}

struct wsdbg_error *wsdbg_write_launch_sites(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                             const struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert sites, frames;
    if (s->launch_site_count == 0)
        return NULL;
    wsdbg_insert_begin(&sites, store,
                       "INSERT INTO launch_site (snapshot_id, process_id, thread_id, kind, grid_id, collective_id, "
                       "launch_id, launches, function_id, before_id, after_id, time_ns, place, ends) "
                       "VALUES (?, ?, ?, ?, ?, (SELECT k.id FROM communicator c JOIN collective k "
                       "ON k.communicator_id = c.id WHERE c.snapshot_id = ? AND c.process_id = ? AND c.number = ? "
                       "AND k.call = ?), ?, ?, ?, ?, ?, ?, ?, ?)");
    wsdbg_insert_begin(&frames, store,
                       "INSERT INTO site_frame (launch_site_id, position, kind, function, file, line, module, "
                       "offset_bytes, left_out) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->launch_site_count; i++) {
        const struct wsdbg_launch_site *site = &s->launch_sites[i];
        write_site(&sites, store, s, ids, site);
        const int64_t id = sqlite3_last_insert_rowid(store->db);
        for (uint32_t f = 0; f < site->frame_count && site->frame_first + f < s->site_frame_count; f++)
            wsdbg_write_frame(&frames, id, f, &s->site_frames[site->frame_first + f]);
    }
    struct wsdbg_error *first = wsdbg_insert_end(&sites), *second = wsdbg_insert_end(&frames);
    if (first)
        wsdbg_error_destroy(second);
    return first ? first : second;
}

/* ---- reading ---- */

static const char *kind_word(unsigned value)
{
    return wsdbg_launch_site_kind_name(value);
}

static void read_site(struct wsdbg_select *q, const struct wsdbg_loader *loader, struct wsdbg_launch_site *site)
{
    site->process_id = (uint32_t)wsdbg_select_number(q);
    site->thread_id = (uint32_t)wsdbg_select_number(q);
    site->kind = wsdbg_word_value(wsdbg_select_string(q), kind_word, WSDBG_SITE_KINDS, 0);
    site->grid = wsdbg_id_map_find(&loader->grids, wsdbg_select_number(q));
    site->collective = wsdbg_id_map_find(&loader->collectives, wsdbg_select_number(q));
    site->launch = wsdbg_id_map_find(&loader->launches, wsdbg_select_number(q));
    site->count = (uint32_t)wsdbg_select_number(q);
    site->function = wsdbg_id_map_find(&loader->functions, wsdbg_select_number(q));
    site->before = wsdbg_id_map_find(&loader->functions, wsdbg_select_number(q));
    site->after = wsdbg_id_map_find(&loader->functions, wsdbg_select_number(q));
    site->time_ns = (uint64_t)wsdbg_select_number(q);
    wsdbg_select_text(q, site->end, sizeof site->end);
}

static struct wsdbg_error *load_sites(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT id, process_id, thread_id, kind, grid_id, collective_id, launch_id, launches, "
                       "function_id, before_id, after_id, time_ns, ends FROM launch_site WHERE snapshot_id = ?1 "
                       "ORDER BY id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, &loader->launch_sites, &s->launch_sites, &s->launch_site_count, sizeof *s->launch_sites))
        read_site(&q, loader, &s->launch_sites[s->launch_site_count - 1]);
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_frames(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT f.launch_site_id, f.kind, f.function, f.file, f.line, f.module, f.offset_bytes, "
                       "f.left_out FROM site_frame f JOIN launch_site l ON l.id = f.launch_site_id "
                       "WHERE l.snapshot_id = ?1 ORDER BY f.launch_site_id, f.position, f.id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, NULL, &s->site_frames, &s->site_frame_count, sizeof *s->site_frames)) {
        struct wsdbg_host_frame *f = &s->site_frames[s->site_frame_count - 1];
        f->stack = wsdbg_id_map_find(&loader->launch_sites, wsdbg_select_number(&q));
        wsdbg_read_frame(&q, f);
        if (f->stack < s->launch_site_count)
            wsdbg_load_count(&s->launch_sites[f->stack].frame_first, &s->launch_sites[f->stack].frame_count,
                             s->site_frame_count - 1);
    }
    return wsdbg_select_end(&q);
}

struct wsdbg_error *wsdbg_load_launch_sites(struct wsdbg_loader *loader)
{
    struct wsdbg_error *error = load_sites(loader);
    return error ? error : load_frames(loader);
}
