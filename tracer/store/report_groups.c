/* report_groups.c - folds a snapshot's warps and barriers into the groups of the report: once exactly, once
 * as coarsely as it takes to fit a screen.  Reads a snapshot, writes the report's four group arrays. */
#include "store/fold.h"
#include "store/report_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/event_fields.h"

enum warp_key {
    W_STATE,
    W_ROLE,
    W_KIND,
    W_ID,
    W_STAGE,
    W_PARITY,
    W_ITERATION,
    W_LINE,
    W_ASKED,
    W_HELD,
    W_LAST,
    W_WAITING
};
enum barrier_key { B_KIND, B_ID, B_PHASE, B_PENDING, B_EXPECTED, B_COMPLETED, B_TX, B_TX_KNOWN, B_WAITERS };

#define BIT(key) (1u << (key))
static const uint32_t warp_levels[] = {
    BIT(W_WAITING),
    BIT(W_WAITING) | BIT(W_ITERATION) | BIT(W_HELD),
    BIT(W_WAITING) | BIT(W_ITERATION) | BIT(W_HELD) | BIT(W_LINE) | BIT(W_LAST),
    BIT(W_WAITING) | BIT(W_ITERATION) | BIT(W_HELD) | BIT(W_LINE) | BIT(W_LAST) | BIT(W_STAGE) | BIT(W_PARITY),
    BIT(W_WAITING) | BIT(W_ITERATION) | BIT(W_HELD) | BIT(W_LINE) | BIT(W_LAST) | BIT(W_STAGE) | BIT(W_PARITY) |
        BIT(W_ASKED) | WSDBG_FOLD_MEMBERS,
};
static const uint32_t barrier_levels[] = {
    0,
    BIT(B_COMPLETED),
    BIT(B_COMPLETED) | BIT(B_WAITERS),
    BIT(B_COMPLETED) | BIT(B_WAITERS) | BIT(B_PHASE) | WSDBG_FOLD_MEMBERS,
    BIT(B_COMPLETED) | BIT(B_WAITERS) | BIT(B_PHASE) | BIT(B_PENDING) | BIT(B_TX) | BIT(B_TX_KNOWN) |
        WSDBG_FOLD_MEMBERS,
};

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
    key[W_KIND] = b ? (int64_t)b->kind : 0;
    key[W_ID] = key[W_STAGE] = WSDBG_FOLD_UNKNOWN;
    if (b) {
        if (b->kind == WSDBG_BARRIER_MBARRIER || b->kind == WSDBG_BARRIER_NAMED)
            key[W_ID] = b->id;
        if (b->kind == WSDBG_BARRIER_MBARRIER)
            key[W_STAGE] = b->stage;
    } else if (w->state == WSDBG_WARP_WAIT_MBARRIER || w->state == WSDBG_WARP_WAIT_NAMED) {
        key[W_KIND] = w->state == WSDBG_WARP_WAIT_NAMED ? WSDBG_BARRIER_NAMED : WSDBG_BARRIER_MBARRIER;
        key[W_ID] = fields & WSDBG_FIELD_BARRIER ? w->last.barrier : WSDBG_FOLD_UNKNOWN;
        key[W_STAGE] = fields & WSDBG_FIELD_STAGE ? w->last.stage : WSDBG_FOLD_UNKNOWN;
    }
}

static void fill_warp(const struct wsdbg_snapshot *s, size_t index, struct wsdbg_fold_row *row)
{
    const struct wsdbg_warp_row *w = &s->warps[index];
    const unsigned fields = wsdbg_event_fields(w->last.kind);
    *row = (struct wsdbg_fold_row){
        .grid = s->ctas[w->cta].grid, .cta = w->cta, .member = w->warp & 255u, .source = (uint32_t)index};
    fill_object(s, w, fields, row->key);
    row->key[W_STATE] = w->state;
    row->key[W_ROLE] = optional(w->role);
    row->key[W_PARITY] = fields & WSDBG_FIELD_PARITY ? w->last.parity : WSDBG_FOLD_UNKNOWN;
    row->key[W_ITERATION] = wsdbg_event_has_iteration(&w->last) ? w->last.iteration : WSDBG_FOLD_UNKNOWN;
    row->key[W_LINE] = optional(w->line);
    row->key[W_ASKED] = optional(w->registers_asked);
    row->key[W_HELD] = optional(w->registers_held);
    row->key[W_LAST] = w->last.kind != WSDBG_EVENT_NONE ? w->last.kind : WSDBG_FOLD_UNKNOWN;
    const bool timed = w->changed_ns != 0 && w->changed_ns <= s->time_ns;
    row->key[W_WAITING] = timed ? (int64_t)(s->time_ns - w->changed_ns) : WSDBG_FOLD_UNKNOWN;
}

static void copy_label(char *out, const char *text)
{
    snprintf(out, WSDBG_REPORT_LABEL_BYTES, "%s", text ? text : "");
}

static const char *barrier_name(const struct wsdbg_snapshot *s, const struct wsdbg_warp_row *w, int64_t kind,
                                int64_t id)
{
    const struct wsdbg_barrier *b = barrier_of(s, w);
    const struct wsdbg_name *name = b ? b->name : NULL;
    if (!name && id >= 0)
        name = wsdbg_snapshot_name(s, s->grids[s->ctas[w->cta].grid].module,
                                   kind == WSDBG_BARRIER_NAMED ? WSDBG_NAME_NAMED_BARRIER : WSDBG_NAME_MBARRIER,
                                   (uint32_t)id);
    return name ? name->name : NULL;
}

static void convert_warps(const struct wsdbg_snapshot *s, const struct wsdbg_fold_group *g,
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
    copy_label(out->role_name, wsdbg_snapshot_role_name(s, w));
    if (g->low[W_KIND] != 0)
        snprintf(out->barrier_kind, sizeof out->barrier_kind, "%s",
                 wsdbg_barrier_kind_name((enum wsdbg_barrier_kind)g->low[W_KIND]));
    copy_label(out->barrier_name, barrier_name(s, w, g->low[W_KIND], g->low[W_ID]));
    out->barrier_id = wsdbg_fold_range(g, W_ID);
    out->stage = wsdbg_fold_range(g, W_STAGE);
    out->parity = wsdbg_fold_range(g, W_PARITY);
    out->iteration = wsdbg_fold_range(g, W_ITERATION);
    out->line = wsdbg_fold_range(g, W_LINE);
    out->registers_held = wsdbg_fold_range(g, W_HELD);
    out->registers_asked = wsdbg_fold_range(g, W_ASKED);
    out->waiting_ns = wsdbg_fold_range(g, W_WAITING);
    out->last_event = wsdbg_fold_range(g, W_LAST);
}

static struct wsdbg_error *fold_warps_at(const struct wsdbg_snapshot *s, struct wsdbg_fold_row *rows, uint32_t ignored,
                                         struct wsdbg_report_warps **out, size_t *count)
{
    struct wsdbg_fold_group *groups;
    size_t group_count;
    struct wsdbg_error *error = wsdbg_fold_rows(rows, s->warp_count, ignored, &groups, &group_count);
    if (error)
        return error;
    free(*out);
    *out = calloc(group_count + 1, sizeof **out);
    *count = *out ? group_count : 0;
    for (size_t i = 0; i < *count; i++)
        convert_warps(s, &groups[i], &(*out)[i]);
    free(groups);
    return *out ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_report_fold_warps(const struct wsdbg_snapshot *s, struct wsdbg_report *report)
{
    struct wsdbg_fold_row *rows = calloc(s->warp_count + 1, sizeof *rows);
    if (!rows)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < s->warp_count; i++)
        fill_warp(s, i, &rows[i]);
    struct wsdbg_error *error = fold_warps_at(s, rows, warp_levels[0], &report->warps, &report->warps_count);
    for (size_t level = 0; !error && level < sizeof warp_levels / sizeof *warp_levels; level++) {
        error = fold_warps_at(s, rows, warp_levels[level], &report->rows, &report->row_count);
        if (report->row_count <= WSDBG_REPORT_WARP_LINES)
            break;
    }
    free(rows);
    return error;
}

static void fill_barrier(const struct wsdbg_snapshot *s, size_t index, struct wsdbg_fold_row *row)
{
    const struct wsdbg_barrier *b = &s->barriers[index];
    const bool mbarrier = b->kind == WSDBG_BARRIER_MBARRIER;
    *row = (struct wsdbg_fold_row){.grid = s->ctas[b->cta].grid,
                                   .cta = b->cta,
                                   .member = mbarrier ? b->stage & 255u : 0,
                                   .source = (uint32_t)index};
    row->key[B_KIND] = b->kind;
    row->key[B_ID] = mbarrier || b->kind == WSDBG_BARRIER_NAMED ? b->id : WSDBG_FOLD_UNKNOWN;
    row->key[B_PHASE] = optional(b->phase);
    row->key[B_PENDING] = optional(b->pending_arrivals);
    row->key[B_EXPECTED] = optional(b->expected_arrivals);
    row->key[B_COMPLETED] = optional(b->completed_phases);
    row->key[B_TX] = b->pending_tx_bytes.known ? (int64_t)b->pending_tx_bytes.value : WSDBG_FOLD_UNKNOWN;
    row->key[B_TX_KNOWN] = b->pending_tx_bytes.known;
    row->key[B_WAITERS] = b->waiters;
}

static void convert_barriers(const struct wsdbg_snapshot *s, const struct wsdbg_fold_group *g,
                             struct wsdbg_report_barriers *out)
{
    const struct wsdbg_barrier *b = &s->barriers[g->source];
    const struct wsdbg_cta *cta = &s->ctas[g->cta];
    *out = (struct wsdbg_report_barriers){.grid = g->grid,
                                          .cta_count = g->cta_count,
                                          .cta = {cta->x, cta->y, cta->z},
                                          .members = g->members,
                                          .kind = b->kind,
                                          .pending_tx_known = g->low[B_TX_KNOWN] != 0};
    copy_label(out->name, b->name ? b->name->name : NULL);
    out->id = wsdbg_fold_range(g, B_ID);
    out->phase = wsdbg_fold_range(g, B_PHASE);
    out->pending_arrivals = wsdbg_fold_range(g, B_PENDING);
    out->expected_arrivals = wsdbg_fold_range(g, B_EXPECTED);
    out->completed_phases = wsdbg_fold_range(g, B_COMPLETED);
    out->pending_tx_bytes = wsdbg_fold_range(g, B_TX);
    out->waiters = wsdbg_fold_range(g, B_WAITERS);
}

static struct wsdbg_error *fold_barriers_at(const struct wsdbg_snapshot *s, struct wsdbg_fold_row *rows,
                                            uint32_t ignored, struct wsdbg_report_barriers **out, size_t *count)
{
    struct wsdbg_fold_group *groups;
    size_t group_count;
    struct wsdbg_error *error = wsdbg_fold_rows(rows, s->barrier_count, ignored, &groups, &group_count);
    if (error)
        return error;
    free(*out);
    *out = calloc(group_count + 1, sizeof **out);
    *count = *out ? group_count : 0;
    for (size_t i = 0; i < *count; i++)
        convert_barriers(s, &groups[i], &(*out)[i]);
    free(groups);
    return *out ? NULL : &wsdbg_error_no_memory;
}

/* Barriers somebody waits on come first; the order within is the fold's. */
static void waited_first(struct wsdbg_report_barriers *rows, size_t count)
{
    size_t waited = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].waiters.high <= 0)
            continue;
        const struct wsdbg_report_barriers row = rows[i];
        memmove(&rows[waited + 1], &rows[waited], (i - waited) * sizeof *rows);
        rows[waited++] = row;
    }
}

struct wsdbg_error *wsdbg_report_fold_barriers(const struct wsdbg_snapshot *s, struct wsdbg_report *report)
{
    struct wsdbg_fold_row *rows = calloc(s->barrier_count + 1, sizeof *rows);
    if (!rows)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < s->barrier_count; i++)
        fill_barrier(s, i, &rows[i]);
    struct wsdbg_error *error =
        fold_barriers_at(s, rows, barrier_levels[0], &report->barriers, &report->barriers_count);
    for (size_t level = 0; !error && level < sizeof barrier_levels / sizeof *barrier_levels; level++) {
        error = fold_barriers_at(s, rows, barrier_levels[level], &report->barrier_rows, &report->barrier_row_count);
        if (report->barrier_row_count <= WSDBG_REPORT_BARRIER_LINES)
            break;
    }
    if (!error)
        waited_first(report->barrier_rows, report->barrier_row_count);
    free(rows);
    return error;
}
