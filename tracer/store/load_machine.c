/* load_machine.c - reads back what a picture has from the machine's own state; machine_rows.c writes it.
 * Numbers in the file may be anything: rows that name no warp, grid or access of the picture are left out. */
#include "model/place.h"
#include "store/load_internal.h"
#include "store/words.h"

/* A site may name one that comes after it: kept is how far behind the first one, until all are there. */
static uint32_t offset_from(int64_t first, int64_t id)
{
    return first > 0 && id >= first && id - first < WSDBG_NONE ? (uint32_t)(id - first) : WSDBG_NONE;
}

struct wsdbg_error *wsdbg_load_sites(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    char place[WSDBG_PLACE_BYTES];
    wsdbg_select_begin(&q, loader->store,
                       "SELECT id, function_id, pc, offset_bytes, instruction, file, line, inlined_at, place FROM site "
                       "WHERE snapshot_id = ?1 ORDER BY id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, &loader->sites, &s->sites, &s->site_count, sizeof *s->sites)) {
        struct wsdbg_site *site = &s->sites[s->site_count - 1];
        site->function = wsdbg_id_map_find(&loader->functions, wsdbg_select_number(&q));
        site->pc = (uint64_t)wsdbg_select_number(&q);
        site->offset_bytes = wsdbg_select_u32(&q);
        wsdbg_select_text(&q, site->instruction, sizeof site->instruction);
        wsdbg_select_text(&q, site->file, sizeof site->file);
        site->line = wsdbg_select_u32(&q);
        site->inlined_at = offset_from(loader->sites.ids[0], wsdbg_select_number(&q));
        wsdbg_select_text(&q, place, sizeof place);
        site->is_passed = wsdbg_place_is_elsewhere(site, place);
    }
    for (size_t i = 0; i < s->site_count; i++) {
        const uint32_t behind = s->sites[i].inlined_at;
        if (behind != WSDBG_NONE)
            s->sites[i].inlined_at = wsdbg_id_map_find(&loader->sites, loader->sites.ids[0] + behind);
    }
    return wsdbg_select_end(&q);
}

static void read_part(struct wsdbg_loader *loader, struct wsdbg_select *q, uint32_t warp, struct wsdbg_part *p)
{
    p->warp = warp;
    p->lanes = (uint32_t)wsdbg_select_number(q);
    p->state = (enum wsdbg_warp_state)wsdbg_word_value(wsdbg_select_string(q), wsdbg_state_word, WSDBG_WARP_STATE_COUNT,
                                                       WSDBG_WARP_UNKNOWN);
    p->site = wsdbg_id_map_find(&loader->sites, wsdbg_select_number(q));
    p->barrier = wsdbg_id_map_find(&loader->barriers, wsdbg_select_number(q));
    p->parity = wsdbg_select_u32(q);
    p->count = wsdbg_select_u32(q);
    p->address = wsdbg_select_u64(q);
    p->width_bytes = wsdbg_select_u32(q);
    p->value = wsdbg_select_u64(q);
    p->seen = wsdbg_select_number(q) != 0;
}

static struct wsdbg_error *load_parts(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT p.warp_id, p.lanes, p.state, p.site_id, p.barrier_id, p.parity, p.count, p.address, "
                       "p.width_bytes, p.value, p.seen FROM part p JOIN warp w ON w.id = p.warp_id "
                       "JOIN cta c ON c.id = w.cta_id JOIN grid g ON g.id = c.grid_id WHERE g.snapshot_id = ?1 "
                       "ORDER BY p.warp_id, p.id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q)) {
        const uint32_t warp = wsdbg_id_map_find(&loader->warps, wsdbg_select_number(&q));
        if (warp == WSDBG_NONE)
            continue;
        if (!wsdbg_load_row(&q, NULL, &s->parts, &s->part_count, sizeof *s->parts))
            break;
        read_part(loader, &q, warp, &s->parts[s->part_count - 1]);
        wsdbg_load_count(&s->warps[warp].part_first, &s->warps[warp].part_count, s->part_count - 1);
    }
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_accesses(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT a.id, a.grid_id, a.site_id, a.kind, a.certain, a.any_rank, a.lanes, a.address, "
                       "a.stride, a.places, a.count FROM access a JOIN grid g ON g.id = a.grid_id "
                       "WHERE g.snapshot_id = ?1 ORDER BY a.id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q) &&
           wsdbg_load_row(&q, &loader->accesses, &s->accesses, &s->access_count, sizeof *s->accesses)) {
        struct wsdbg_access_row *a = &s->accesses[s->access_count - 1];
        a->grid = wsdbg_id_map_find(&loader->grids, wsdbg_select_number(&q));
        a->site = wsdbg_id_map_find(&loader->sites, wsdbg_select_number(&q));
        a->kind = wsdbg_word_value(wsdbg_select_string(&q), wsdbg_access_word, WSDBG_ACCESS_KIND_COUNT, 0);
        a->certain = wsdbg_select_number(&q) != 0;
        a->any_rank = wsdbg_select_number(&q) != 0;
        a->lanes =
            wsdbg_word_value(wsdbg_select_string(&q), wsdbg_lanes_word, WSDBG_LANES_ALL + 1, WSDBG_LANES_UNKNOWN);
        a->address = wsdbg_select_u32(&q);
        a->stride = (uint32_t)wsdbg_select_number(&q);
        a->places = (uint32_t)wsdbg_select_number(&q);
        a->count = wsdbg_select_u32(&q);
    }
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_reaches(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(&q, loader->store,
                       "SELECT r.warp_id, r.access_id, r.before_least, r.before_most, r.after FROM reach r "
                       "JOIN warp w ON w.id = r.warp_id JOIN cta c ON c.id = w.cta_id JOIN grid g ON g.id = c.grid_id "
                       "WHERE g.snapshot_id = ?1 ORDER BY r.warp_id, r.access_id",
                       loader->snapshot_id);
    while (wsdbg_select_next(&q)) {
        const uint32_t warp = wsdbg_id_map_find(&loader->warps, wsdbg_select_number(&q));
        const uint32_t access = wsdbg_id_map_find(&loader->accesses, wsdbg_select_number(&q));
        if (warp == WSDBG_NONE || access == WSDBG_NONE)
            continue;
        if (!wsdbg_load_row(&q, NULL, &s->reaches, &s->reach_count, sizeof *s->reaches))
            break;
        const struct wsdbg_optional_u32 least = wsdbg_select_u32(&q), most = wsdbg_select_u32(&q);
        s->reaches[s->reach_count - 1] = (struct wsdbg_reach){
            .warp = warp,
            .access = access,
            .before_known = least.known && most.known,
            .before_least = (uint8_t)least.value,
            .before_most = (uint8_t)most.value,
            .after = (uint8_t)wsdbg_word_value(wsdbg_select_string(&q), wsdbg_after_word, 3, 1),
        };
    }
    return wsdbg_select_end(&q);
}

/* Whether a word goes on where the excerpt ends. */
static bool continues(const struct wsdbg_excerpt *e, const struct wsdbg_excerpt *word)
{
    const bool registers = e->kind == WSDBG_EXCERPT_REGISTERS || e->kind == WSDBG_EXCERPT_UNIFORM;
    return e->count < WSDBG_EXCERPT_WORDS && e->kind == word->kind && e->cta == word->cta && e->warp == word->warp &&
           e->lane == word->lane && word->first == e->first + (registers ? e->count : 4 * (uint64_t)e->count);
}

static struct wsdbg_error *load_excerpts(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(
        &q, loader->store,
        "SELECT kind, cta_id, warp_id, lane, place, value FROM excerpt WHERE snapshot_id = ?1 ORDER BY id",
        loader->snapshot_id);
    while (wsdbg_select_next(&q)) {
        struct wsdbg_excerpt word = {.count = 1};
        word.kind = wsdbg_word_value(wsdbg_select_string(&q), wsdbg_excerpt_word, WSDBG_EXCERPT_GLOBAL + 1, 0);
        word.cta = wsdbg_id_map_find(&loader->ctas, wsdbg_select_number(&q));
        word.warp = wsdbg_id_map_find(&loader->warps, wsdbg_select_number(&q));
        word.lane = (uint32_t)wsdbg_select_number(&q);
        word.first = (uint64_t)wsdbg_select_number(&q);
        word.words[0] = (uint32_t)wsdbg_select_number(&q);
        struct wsdbg_excerpt *last = s->excerpt_count ? &s->excerpts[s->excerpt_count - 1] : NULL;
        if (last && continues(last, &word))
            last->words[last->count++] = word.words[0];
        else if (wsdbg_load_row(&q, NULL, &s->excerpts, &s->excerpt_count, sizeof *s->excerpts))
            s->excerpts[s->excerpt_count - 1] = word;
    }
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_code(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(
        &q, loader->store,
        "SELECT function_id, offset_bytes, text, file, line FROM code ORDER BY function_id, offset_bytes", 0);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, NULL, &s->code, &s->code_count, sizeof *s->code)) {
        struct wsdbg_code_row *c = &s->code[s->code_count - 1];
        c->function = wsdbg_id_map_find(&loader->functions, wsdbg_select_number(&q));
        c->offset_bytes = (uint32_t)wsdbg_select_number(&q);
        wsdbg_select_text(&q, c->text, sizeof c->text);
        wsdbg_select_text(&q, c->file, sizeof c->file);
        c->line = wsdbg_select_u32(&q);
    }
    return wsdbg_select_end(&q);
}

static struct wsdbg_error *load_looks(struct wsdbg_loader *loader)
{
    struct wsdbg_snapshot *s = &loader->loaded->snapshot;
    struct wsdbg_select q;
    wsdbg_select_begin(
        &q, loader->store,
        "SELECT time_ns, attach_ns, suspend_ns, read_ns, resume_ns, detach_ns, warps, warps_read, moved, "
        "barriers_changed, held_nothing_back FROM look WHERE snapshot_id = ?1 ORDER BY id",
        loader->snapshot_id);
    while (wsdbg_select_next(&q) && wsdbg_load_row(&q, NULL, &s->looks, &s->look_count, sizeof *s->looks)) {
        struct wsdbg_look_row *l = &s->looks[s->look_count - 1];
        l->time_ns = (uint64_t)wsdbg_select_number(&q);
        l->attach_ns = (uint64_t)wsdbg_select_number(&q);
        l->suspend_ns = (uint64_t)wsdbg_select_number(&q);
        l->read_ns = (uint64_t)wsdbg_select_number(&q);
        l->resume_ns = (uint64_t)wsdbg_select_number(&q);
        l->detach_ns = (uint64_t)wsdbg_select_number(&q);
        l->warps = (uint32_t)wsdbg_select_number(&q);
        l->warps_read = (uint32_t)wsdbg_select_number(&q);
        l->moved = (uint32_t)wsdbg_select_number(&q);
        l->barriers_changed = wsdbg_select_u32(&q);
        l->held_nothing_back = wsdbg_select_number(&q) != 0;
    }
    return wsdbg_select_end(&q);
}

struct wsdbg_error *wsdbg_load_machine(struct wsdbg_loader *loader)
{
    struct wsdbg_error *error = load_parts(loader);
    if (!error)
        error = load_accesses(loader);
    if (!error)
        error = load_reaches(loader);
    if (!error)
        error = load_excerpts(loader);
    if (!error)
        error = load_code(loader);
    if (!error)
        error = load_looks(loader);
    return error;
}
