/* machine_rows.c - writes what a picture has from the machine's own state: sites, parts of warps, accesses and how
 * warps stand to them, excerpts, looks, code. Reads a snapshot and the ids of the session tables; rows of the picture
 * have the ids that store->first says. */
#include "store/tables.h"

#include "model/place.h"
#include "store/words.h"

static void write_site(struct wsdbg_insert *insert, struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                       const struct wsdbg_table_ids *ids, uint32_t index)
{
    const struct wsdbg_site *site = &s->sites[index];
    char place[WSDBG_PLACE_BYTES];
    wsdbg_place_text(s, index, place);
    wsdbg_insert_number(insert, store->first.site + index);
    wsdbg_insert_number(insert, store->snapshot_id);
    wsdbg_insert_reference(insert, ids->functions, s->function_count, site->function);
    wsdbg_insert_number(insert, (int64_t)site->pc);
    wsdbg_insert_u32(insert, site->offset_bytes);
    wsdbg_insert_text(insert, site->instruction);
    wsdbg_insert_text(insert, site->file);
    wsdbg_insert_u32(insert, site->line);
    wsdbg_insert_offset(insert, store->first.site, s->site_count, site->inlined_at);
    wsdbg_insert_text(insert, place);
    wsdbg_insert_row(insert);
}

struct wsdbg_error *wsdbg_write_sites(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                      const struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, "INSERT INTO site VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (uint32_t i = 0; i < s->site_count; i++)
        write_site(&insert, store, s, ids, i);
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_parts(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO part (warp_id, lanes, state, site_id, barrier_id, parity, count, address, "
                       "width_bytes, value, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->part_count; i++) {
        const struct wsdbg_part *p = &s->parts[i];
        wsdbg_insert_offset(&insert, store->first.warp, s->warp_count, p->warp);
        wsdbg_insert_number(&insert, p->lanes);
        wsdbg_insert_string(&insert, wsdbg_warp_state_name(p->state));
        wsdbg_insert_offset(&insert, store->first.site, s->site_count, p->site);
        wsdbg_insert_offset(&insert, store->first.barrier, s->barrier_count, p->barrier);
        wsdbg_insert_u32(&insert, p->parity);
        wsdbg_insert_u32(&insert, p->count);
        wsdbg_insert_u64(&insert, p->address);
        wsdbg_insert_u32(&insert, p->width_bytes);
        wsdbg_insert_u64(&insert, p->value);
        wsdbg_insert_number(&insert, p->seen);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_accesses(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, "INSERT INTO access VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->access_count; i++) {
        const struct wsdbg_access_row *a = &s->accesses[i];
        wsdbg_insert_number(&insert, store->first.access + (int64_t)i);
        wsdbg_insert_offset(&insert, store->first.grid, s->grid_count, a->grid);
        wsdbg_insert_offset(&insert, store->first.site, s->site_count, a->site);
        wsdbg_insert_string(&insert, wsdbg_access_word(a->kind));
        wsdbg_insert_number(&insert, a->certain);
        wsdbg_insert_number(&insert, a->any_rank);
        wsdbg_insert_text(&insert, wsdbg_lanes_word(a->lanes));
        wsdbg_insert_u32(&insert, a->address);
        wsdbg_insert_number(&insert, a->stride);
        wsdbg_insert_number(&insert, a->places);
        wsdbg_insert_u32(&insert, a->count);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

/* A row that names no warp or access has nothing to say. */
static struct wsdbg_error *write_reaches(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store, "INSERT OR IGNORE INTO reach VALUES (?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->reach_count; i++) {
        const struct wsdbg_reach *r = &s->reaches[i];
        if (r->warp >= s->warp_count || r->access >= s->access_count)
            continue;
        wsdbg_insert_number(&insert, store->first.warp + r->warp);
        wsdbg_insert_number(&insert, store->first.access + r->access);
        wsdbg_insert_maybe(&insert, r->before_known, r->before_least);
        wsdbg_insert_maybe(&insert, r->before_known, r->before_most);
        wsdbg_insert_string(&insert, wsdbg_after_word(r->after));
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static void write_excerpt(struct wsdbg_insert *insert, struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                          const struct wsdbg_excerpt *e)
{
    const bool registers = e->kind == WSDBG_EXCERPT_REGISTERS || e->kind == WSDBG_EXCERPT_UNIFORM;
    for (uint32_t word = 0; word < e->count && word < WSDBG_EXCERPT_WORDS; word++) {
        wsdbg_insert_number(insert, store->snapshot_id);
        wsdbg_insert_string(insert, wsdbg_excerpt_word(e->kind));
        wsdbg_insert_offset(insert, store->first.cta, s->cta_count, e->cta);
        wsdbg_insert_offset(insert, store->first.warp, s->warp_count, e->warp);
        wsdbg_insert_maybe(insert, e->kind == WSDBG_EXCERPT_REGISTERS, e->lane);
        wsdbg_insert_number(insert, (int64_t)(e->first + (registers ? word : 4 * (uint64_t)word)));
        wsdbg_insert_number(insert, e->words[word]);
        wsdbg_insert_row(insert);
    }
}

static struct wsdbg_error *write_excerpts(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO excerpt (snapshot_id, kind, cta_id, warp_id, lane, place, value) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->excerpt_count; i++)
        write_excerpt(&insert, store, s, &s->excerpts[i]);
    return wsdbg_insert_end(&insert);
}

/* Code belongs to the session: a function keeps the rows that earlier pictures needed. */
static struct wsdbg_error *write_code(struct wsdbg_store *store, const struct wsdbg_snapshot *s,
                                      const struct wsdbg_table_ids *ids)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO code (function_id, offset_bytes, text, file, line) VALUES (?, ?, ?, ?, ?) "
                       "ON CONFLICT DO UPDATE SET text = excluded.text, file = excluded.file, line = excluded.line");
    for (size_t i = 0; i < s->code_count; i++) {
        const struct wsdbg_code_row *c = &s->code[i];
        if (c->function >= s->function_count)
            continue;
        wsdbg_insert_reference(&insert, ids->functions, s->function_count, c->function);
        wsdbg_insert_number(&insert, c->offset_bytes);
        wsdbg_insert_text(&insert, c->text);
        wsdbg_insert_text(&insert, c->file);
        wsdbg_insert_u32(&insert, c->line);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

static struct wsdbg_error *write_looks(struct wsdbg_store *store, const struct wsdbg_snapshot *s)
{
    struct wsdbg_insert insert;
    wsdbg_insert_begin(&insert, store,
                       "INSERT INTO look (snapshot_id, time_ns, attach_ns, suspend_ns, read_ns, resume_ns, detach_ns, "
                       "warps, warps_read, moved, barriers_changed, held_nothing_back) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (size_t i = 0; i < s->look_count; i++) {
        const struct wsdbg_look_row *l = &s->looks[i];
        const bool lengths_known = wsdbg_look_lengths_known(l);
        wsdbg_insert_number(&insert, store->snapshot_id);
        wsdbg_insert_maybe(&insert, l->time_ns != 0, (int64_t)l->time_ns);
        wsdbg_insert_maybe(&insert, lengths_known, (int64_t)l->attach_ns);
        wsdbg_insert_maybe(&insert, lengths_known, (int64_t)l->suspend_ns);
        wsdbg_insert_maybe(&insert, lengths_known, (int64_t)l->read_ns);
        wsdbg_insert_maybe(&insert, lengths_known, (int64_t)l->resume_ns);
        wsdbg_insert_maybe(&insert, lengths_known, (int64_t)l->detach_ns);
        wsdbg_insert_number(&insert, l->warps);
        wsdbg_insert_number(&insert, l->warps_read);
        wsdbg_insert_maybe(&insert, i > 0, l->moved);
        wsdbg_insert_u32(&insert, l->barriers_changed);
        wsdbg_insert_maybe(&insert, lengths_known, l->held_nothing_back);
        wsdbg_insert_row(&insert);
    }
    return wsdbg_insert_end(&insert);
}

struct wsdbg_error *wsdbg_write_machine(struct wsdbg_store *store, const struct wsdbg_snapshot *snapshot,
                                        const struct wsdbg_table_ids *ids)
{
    struct wsdbg_error *error = write_parts(store, snapshot);
    if (!error)
        error = write_accesses(store, snapshot);
    if (!error)
        error = write_reaches(store, snapshot);
    if (!error)
        error = write_excerpts(store, snapshot);
    if (!error)
        error = write_code(store, snapshot, ids);
    if (!error)
        error = write_looks(store, snapshot);
    return error;
}
