/* fold_picture.c - what makes two warps or two barriers equal, and a group of equals in the words of the report.
 * Reads a snapshot; see fold.h. */
#include "store/fold.h"

#include <stdio.h>
#include <string.h>

#include "store/event_fields.h"
#include "model/place.h"

/* Each level gives up what the one before did, and more. */
#define BIT(key) WSDBG_FOLD_BIT(WSDBG_WARP_KEY_##key)
#define WARPS_0 BIT(WAITING)
#define WARPS_1 (WARPS_0 | BIT(ITERATION) | BIT(HELD) | BIT(VALUE))
#define WARPS_2 (WARPS_1 | BIT(LINE) | BIT(LAST) | BIT(SITE) | BIT(ADDRESS))
#define WARPS_3 (WARPS_2 | BIT(STAGE) | BIT(PARITY) | BIT(PARTS))
#define WARPS_4 (WARPS_3 | BIT(ASKED) | WSDBG_FOLD_MEMBERS)
const uint32_t wsdbg_fold_warp_levels[WSDBG_FOLD_LEVELS] = {WARPS_0, WARPS_1, WARPS_2, WARPS_3, WARPS_4};
#undef BIT

#define BIT(key) WSDBG_FOLD_BIT(WSDBG_BARRIER_KEY_##key)
#define BARRIERS_0 (BIT(OFFSET) | BIT(WORD))
#define BARRIERS_1 (BARRIERS_0 | BIT(COMPLETED))
#define BARRIERS_2 (BARRIERS_1 | BIT(WAITERS))
#define BARRIERS_3 (BARRIERS_2 | BIT(PHASE) | WSDBG_FOLD_MEMBERS)
#define BARRIERS_4 (BARRIERS_3 | BIT(PENDING) | BIT(TX) | BIT(TX_KNOWN))
const uint32_t wsdbg_fold_barrier_levels[WSDBG_FOLD_LEVELS] = {BARRIERS_0, BARRIERS_1, BARRIERS_2, BARRIERS_3,
                                                               BARRIERS_4};
#undef BIT

static int64_t optional(struct wsdbg_optional_u32 value)
{
    return value.known ? value.value : WSDBG_FOLD_UNKNOWN;
}

static const struct wsdbg_barrier *barrier_of(const struct wsdbg_snapshot *s, const struct wsdbg_warp_row *w)
{
    return w->barrier < s->barrier_count ? &s->barriers[w->barrier] : NULL;
}

/* What the warp waits on: the barrier object, or where there is none, what its last event names. */
static void fill_object(const struct wsdbg_snapshot *s, const struct wsdbg_warp_row *w, unsigned fields, int64_t *key)
{
    const struct wsdbg_barrier *b = barrier_of(s, w);
    key[WSDBG_WARP_KEY_KIND] = b ? (int64_t)b->kind : 0;
    key[WSDBG_WARP_KEY_ID] = key[WSDBG_WARP_KEY_STAGE] = WSDBG_FOLD_UNKNOWN;
    if (b) {
        if (b->kind == WSDBG_BARRIER_MBARRIER || b->kind == WSDBG_BARRIER_NAMED)
            key[WSDBG_WARP_KEY_ID] = b->id;
        if (b->kind == WSDBG_BARRIER_MBARRIER)
            key[WSDBG_WARP_KEY_STAGE] = b->stage;
    } else if (w->state == WSDBG_WARP_WAIT_MBARRIER || w->state == WSDBG_WARP_WAIT_NAMED) {
        key[WSDBG_WARP_KEY_KIND] = w->state == WSDBG_WARP_WAIT_NAMED ? WSDBG_BARRIER_NAMED : WSDBG_BARRIER_MBARRIER;
        key[WSDBG_WARP_KEY_ID] = fields & WSDBG_FIELD_BARRIER ? w->last.barrier : WSDBG_FOLD_UNKNOWN;
        key[WSDBG_WARP_KEY_STAGE] = fields & WSDBG_FIELD_STAGE ? w->last.stage : WSDBG_FOLD_UNKNOWN;
    }
}

static const struct wsdbg_part *first_part(const struct wsdbg_snapshot *s, const struct wsdbg_warp_row *w)
{
    return w->part_count > 0 && w->part_first < s->part_count ? &s->parts[w->part_first] : NULL;
}

/* Equal for warps whose lanes are split the same way; FNV-1a over lanes, states and sites. */
static int64_t parts_number(const struct wsdbg_snapshot *s, const struct wsdbg_warp_row *w)
{
    uint64_t number = 0xcbf29ce484222325u;
    if (w->part_count < 2)
        return 0;
    for (uint32_t i = w->part_first; i - w->part_first < w->part_count && i < s->part_count; i++) {
        const uint32_t words[] = {s->parts[i].lanes, (uint32_t)s->parts[i].state, s->parts[i].site};
        for (size_t word = 0; word < sizeof words / sizeof *words; word++)
            number = (number ^ words[word]) * 0x100000001b3u;
    }
    return (int64_t)(number >> 1) + 1;
}

static void fill_machine(const struct wsdbg_snapshot *s, const struct wsdbg_warp_row *w, int64_t *key)
{
    const struct wsdbg_part *part = first_part(s, w);
    const bool polls = part && part->address.known;
    key[WSDBG_WARP_KEY_SITE] = w->site < s->site_count ? w->site : WSDBG_FOLD_UNKNOWN;
    key[WSDBG_WARP_KEY_PARTS] = parts_number(s, w);
    key[WSDBG_WARP_KEY_ADDRESS] = polls ? (int64_t)part->address.value : WSDBG_FOLD_UNKNOWN;
    key[WSDBG_WARP_KEY_VALUE] = polls && part->value.known ? (int64_t)part->value.value : WSDBG_FOLD_UNKNOWN;
}

static uint64_t seen_at_ns(const struct wsdbg_snapshot *s, uint32_t grid)
{
    const uint32_t context = grid < s->grid_count ? s->grids[grid].context : WSDBG_NONE;
    return context < s->context_count ? wsdbg_snapshot_seen_ns(s, s->contexts[context].process_id) : s->time_ns;
}

void wsdbg_fold_warp(const struct wsdbg_snapshot *s, size_t index, struct wsdbg_fold_row *row)
{
    const struct wsdbg_warp_row *w = &s->warps[index];
    const unsigned fields = wsdbg_event_fields(w->last.kind);
    *row = (struct wsdbg_fold_row){
        .grid = s->ctas[w->cta].grid, .cta = w->cta, .member = w->warp & 255u, .source = (uint32_t)index};
    fill_object(s, w, fields, row->key);
    row->key[WSDBG_WARP_KEY_STATE] = w->state;
    row->key[WSDBG_WARP_KEY_ROLE] = optional(w->role);
    row->key[WSDBG_WARP_KEY_PARITY] = w->parity.known               ? w->parity.value
                                      : fields & WSDBG_FIELD_PARITY ? w->last.parity
                                                                    : WSDBG_FOLD_UNKNOWN;
    row->key[WSDBG_WARP_KEY_ITERATION] = wsdbg_event_has_iteration(&w->last) ? w->last.iteration : WSDBG_FOLD_UNKNOWN;
    row->key[WSDBG_WARP_KEY_LINE] = optional(w->line);
    row->key[WSDBG_WARP_KEY_ASKED] = optional(w->registers_asked);
    row->key[WSDBG_WARP_KEY_HELD] = optional(w->registers_held);
    row->key[WSDBG_WARP_KEY_LAST] = w->last.kind != WSDBG_EVENT_NONE ? w->last.kind : WSDBG_FOLD_UNKNOWN;
    const uint64_t seen_ns = seen_at_ns(s, row->grid);
    const bool timed = w->changed_ns != 0 && w->changed_ns <= seen_ns;
    row->key[WSDBG_WARP_KEY_WAITING] = timed ? (int64_t)(seen_ns - w->changed_ns) : WSDBG_FOLD_UNKNOWN;
    fill_machine(s, w, row->key);
}

static void copy_label(char *out, const char *text)
{
    snprintf(out, WSDBG_REPORT_LABEL_BYTES, "%s", text ? text : "");
}

static uint32_t module_of(const struct wsdbg_snapshot *s, uint32_t cta)
{
    return s->grids[s->ctas[cta].grid].module;
}

static const struct wsdbg_name *barrier_name(const struct wsdbg_snapshot *s, const struct wsdbg_warp_row *w,
                                             int64_t kind, int64_t id)
{
    const struct wsdbg_barrier *b = barrier_of(s, w);
    const struct wsdbg_name *name = b ? b->name : NULL;
    if (!name && id >= 0)
        name = wsdbg_snapshot_name(s, module_of(s, w->cta),
                                   kind == WSDBG_BARRIER_NAMED ? WSDBG_NAME_NAMED_BARRIER : WSDBG_NAME_MBARRIER,
                                   (uint32_t)id);
    return name;
}

static void put_names(const struct wsdbg_snapshot *s, const struct wsdbg_fold_group *g, const struct wsdbg_warp_row *w,
                      struct wsdbg_report_warps *out)
{
    const uint32_t module = module_of(s, w->cta);
    const struct wsdbg_name *role =
        w->role.known ? wsdbg_snapshot_name(s, module, WSDBG_NAME_ROLE, w->role.value) : NULL;
    const struct wsdbg_name *barrier = barrier_name(s, w, g->low[WSDBG_WARP_KEY_KIND], g->low[WSDBG_WARP_KEY_ID]);
    copy_label(out->role_name, role ? role->name : NULL);
    copy_label(out->barrier_name, barrier ? barrier->name : NULL);
    out->role_origin = wsdbg_snapshot_name_origin(s, module, role);
    out->barrier_origin = wsdbg_snapshot_name_origin(s, module, barrier);
}

void wsdbg_fold_sites(const struct wsdbg_fold_group *g, uint32_t sites[2])
{
    const int64_t low = g->low[WSDBG_WARP_KEY_SITE], high = g->high[WSDBG_WARP_KEY_SITE];
    sites[0] = low < 0 || high < 0 ? WSDBG_NONE : (uint32_t)low;
    sites[1] = low < 0 || high < 0 ? WSDBG_NONE : (uint32_t)high;
}

void wsdbg_fold_places_text(const struct wsdbg_fold_group *g, const char *first, const char *last, char *out)
{
    enum { WIDEST = 40 }; /* two fit */
    const bool one_site = g->low[WSDBG_WARP_KEY_SITE] == g->high[WSDBG_WARP_KEY_SITE];
    const bool one_line =
        g->low[WSDBG_WARP_KEY_LINE] >= 0 && g->low[WSDBG_WARP_KEY_LINE] == g->high[WSDBG_WARP_KEY_LINE];
    out[0] = '\0';
    if (one_site)
        snprintf(out, WSDBG_PLACE_BYTES, "%s", first);
    else if (!first[0] || !last[0] || strlen(first) > WIDEST || strlen(last) > WIDEST)
        return;
    else if (strcmp(first, last) == 0)
        snprintf(out, WSDBG_PLACE_BYTES, "%.40s%s", first, one_line ? "" : ", …");
    else
        snprintf(out, WSDBG_PLACE_BYTES, "%.40s, %.40s, …", first, last);
}

/* What a group's warps have in common of the machine's state; parts are those of its first warp. */
static void machine_row(const struct wsdbg_snapshot *s, const struct wsdbg_fold_group *g,
                        const struct wsdbg_warp_row *w, struct wsdbg_report_warps *out)
{
    const struct wsdbg_part *part = first_part(s, w);
    const bool same_site = g->low[WSDBG_WARP_KEY_SITE] == g->high[WSDBG_WARP_KEY_SITE];
    out->site = same_site && w->site < s->site_count ? w->site : WSDBG_NONE;
    out->address = wsdbg_fold_range(g, WSDBG_WARP_KEY_ADDRESS);
    out->value = wsdbg_fold_range(g, WSDBG_WARP_KEY_VALUE);
    if (part && part->address.known)
        out->width_bytes = part->width_bytes;
    if (g->low[WSDBG_WARP_KEY_PARTS] == g->high[WSDBG_WARP_KEY_PARTS]) {
        out->part_first = w->part_first;
        out->part_count = w->part_count;
    }
}

/* The file that the probes of the grid's module name. */
static const char *file_of(const struct wsdbg_snapshot *s, uint32_t grid)
{
    const uint32_t module = grid < s->grid_count ? s->grids[grid].module : WSDBG_NONE;
    return module < s->module_count ? wsdbg_place_file(s->modules[module].source_path) : "";
}

void wsdbg_fold_warps_words(const struct wsdbg_snapshot *s, const struct wsdbg_fold_group *g,
                            struct wsdbg_report_warps *out)
{
    const struct wsdbg_warp_row *w = &s->warps[g->source];
    const struct wsdbg_cta *cta = &s->ctas[g->cta];
    *out = (struct wsdbg_report_warps){.grid = g->grid,
                                       .cta_count = g->cta_count,
                                       .cta = {cta->x, cta->y, cta->z},
                                       .members = g->members,
                                       .state = w->state,
                                       .role = w->role};
    put_names(s, g, w, out);
    if (g->low[WSDBG_WARP_KEY_KIND] != 0)
        snprintf(out->barrier_kind, sizeof out->barrier_kind, "%s",
                 wsdbg_barrier_kind_name((enum wsdbg_barrier_kind)g->low[WSDBG_WARP_KEY_KIND]));
    out->barrier_id = wsdbg_fold_range(g, WSDBG_WARP_KEY_ID);
    out->stage = wsdbg_fold_range(g, WSDBG_WARP_KEY_STAGE);
    out->parity = wsdbg_fold_range(g, WSDBG_WARP_KEY_PARITY);
    out->iteration = wsdbg_fold_range(g, WSDBG_WARP_KEY_ITERATION);
    out->line = wsdbg_fold_range(g, WSDBG_WARP_KEY_LINE);
    out->registers_held = wsdbg_fold_range(g, WSDBG_WARP_KEY_HELD);
    out->registers_asked = wsdbg_fold_range(g, WSDBG_WARP_KEY_ASKED);
    out->waiting_ns = wsdbg_fold_range(g, WSDBG_WARP_KEY_WAITING);
    out->last_event = wsdbg_fold_range(g, WSDBG_WARP_KEY_LAST);
    snprintf(out->file, sizeof out->file, "%.*s", (int)sizeof out->file - 1, file_of(s, g->grid));
    machine_row(s, g, w, out);
}

void wsdbg_fold_warps_row(const struct wsdbg_snapshot *s, const struct wsdbg_fold_group *g,
                          struct wsdbg_report_warps *out)
{
    uint32_t sites[2];
    char first[WSDBG_PLACE_BYTES], last[WSDBG_PLACE_BYTES] = "";
    wsdbg_fold_warps_words(s, g, out);
    wsdbg_fold_sites(g, sites);
    wsdbg_place_text(s, sites[0], first);
    if (sites[1] != sites[0])
        wsdbg_place_text(s, sites[1], last);
    wsdbg_fold_places_text(g, first, last, out->place);
}

void wsdbg_fold_barrier(const struct wsdbg_snapshot *s, size_t index, struct wsdbg_fold_row *row)
{
    const struct wsdbg_barrier *b = &s->barriers[index];
    const bool mbarrier = b->kind == WSDBG_BARRIER_MBARRIER;
    *row = (struct wsdbg_fold_row){.grid = s->ctas[b->cta].grid,
                                   .cta = b->cta,
                                   .member = mbarrier ? b->stage & 255u : 0,
                                   .source = (uint32_t)index,
                                   .is_waited = b->waiters > 0};
    row->key[WSDBG_BARRIER_KEY_KIND] = b->kind;
    row->key[WSDBG_BARRIER_KEY_ID] = mbarrier || b->kind == WSDBG_BARRIER_NAMED ? b->id : WSDBG_FOLD_UNKNOWN;
    row->key[WSDBG_BARRIER_KEY_PHASE] = optional(b->phase);
    row->key[WSDBG_BARRIER_KEY_PENDING] = optional(b->pending_arrivals);
    row->key[WSDBG_BARRIER_KEY_EXPECTED] = optional(b->expected_arrivals);
    row->key[WSDBG_BARRIER_KEY_COMPLETED] = optional(b->completed_phases);
    row->key[WSDBG_BARRIER_KEY_TX] =
        b->pending_tx_bytes.known ? (int64_t)b->pending_tx_bytes.value : WSDBG_FOLD_UNKNOWN;
    row->key[WSDBG_BARRIER_KEY_TX_KNOWN] = b->pending_tx_bytes.known;
    row->key[WSDBG_BARRIER_KEY_WAITERS] = b->waiters;
    row->key[WSDBG_BARRIER_KEY_OFFSET] = optional(b->shared_offset);
    row->key[WSDBG_BARRIER_KEY_WORD] = b->word.known ? (int64_t)b->word.value : WSDBG_FOLD_UNKNOWN;
}

void wsdbg_fold_barriers_row(const struct wsdbg_snapshot *s, const struct wsdbg_fold_group *g,
                             struct wsdbg_report_barriers *out)
{
    const struct wsdbg_barrier *b = &s->barriers[g->source];
    const struct wsdbg_cta *cta = &s->ctas[g->cta];
    *out = (struct wsdbg_report_barriers){.grid = g->grid,
                                          .cta_count = g->cta_count,
                                          .cta = {cta->x, cta->y, cta->z},
                                          .members = g->members,
                                          .waited = g->waited,
                                          .kind = b->kind,
                                          .pending_tx_known = g->low[WSDBG_BARRIER_KEY_TX_KNOWN] != 0};
    copy_label(out->name, b->name ? b->name->name : NULL);
    out->name_origin = wsdbg_snapshot_name_origin(s, module_of(s, b->cta), b->name);
    out->id = wsdbg_fold_range(g, WSDBG_BARRIER_KEY_ID);
    out->phase = wsdbg_fold_range(g, WSDBG_BARRIER_KEY_PHASE);
    out->pending_arrivals = wsdbg_fold_range(g, WSDBG_BARRIER_KEY_PENDING);
    out->expected_arrivals = wsdbg_fold_range(g, WSDBG_BARRIER_KEY_EXPECTED);
    out->completed_phases = wsdbg_fold_range(g, WSDBG_BARRIER_KEY_COMPLETED);
    out->pending_tx_bytes = wsdbg_fold_range(g, WSDBG_BARRIER_KEY_TX);
    out->waiters = wsdbg_fold_range(g, WSDBG_BARRIER_KEY_WAITERS);
    out->shared_offset = wsdbg_fold_range(g, WSDBG_BARRIER_KEY_OFFSET);
    if (b->word.known && g->low[WSDBG_BARRIER_KEY_WORD] == g->high[WSDBG_BARRIER_KEY_WORD])
        out->word = b->word;
}
