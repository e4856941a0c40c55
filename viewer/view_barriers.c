/* view_barriers.c - the barriers: CTAs that agree are one row, which opens to CTAs and stages, and those to the warps
 * that wait there and those that arrived last.  Reads the picture, and histories of what is open. */
#include "viewer/arrivals.h"
#include "viewer/columns.h"
#include "viewer/fold_tree.h"
#include "viewer/marks.h"
#include "viewer/phrases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRIVALS_SHOWN 16       /* of one barrier */
#define IS_WAITER (1ull << 32)  /* in a row's data: a warp that waits */
#define IS_ARRIVAL (2ull << 32) /* in a row's data: number of an arrival */

enum column { WHERE, MARK, NAME, PHASE, ARRIVALS, BYTES, COMPLETED, WAITERS, OFFSET, WORD, COLUMN_COUNT };

/* The last two are there where barriers were seen in memory. */
static const struct viewer_column columns[COLUMN_COUNT] = {
    [WHERE] = {"CTA", 15, 0, false},        [MARK] = {"", 1, 0, false},
    [NAME] = {"BARRIER", 16, 0, true},      [PHASE] = {"PHASE", -5, 5, false},
    [ARRIVALS] = {"PENDING", 14, 7, false}, [BYTES] = {"TX BYTES", -8, 4, false},
    [COMPLETED] = {"DONE", -6, 3, false},   [WAITERS] = {"WAITING", -7, 8, false},
    [OFFSET] = {"SHARED", 13, 2, false},    [WORD] = {"WORD", 16, 1, false},
};

static int column_count(const struct wsdbg_snapshot *s)
{
    for (size_t i = 0; s && i < s->barrier_count; i++)
        if (s->barriers[i].shared_offset.known)
            return COLUMN_COUNT;
    return OFFSET;
}

enum sort { BY_WAITERS, BY_PLACE, BY_PENDING };
static const char *const sorts[] = {"waiting warps", "place", "pending arrivals", NULL};

struct barriers {
    struct viewer_folded folded;
    struct viewer_arrival *arrivals; /* of all open rows */
    size_t arrival_count;
};

static void deinit(void *state)
{
    struct barriers *barriers = state;
    viewer_folded_deinit(&barriers->folded);
    free(barriers->arrivals);
}

static int64_t sort_key(const struct wsdbg_fold_group *group, unsigned sort)
{
    if (sort == BY_WAITERS)
        return group->high[WSDBG_BARRIER_KEY_WAITERS] > 0 ? 0 : 1;
    return sort == BY_PENDING ? -group->high[WSDBG_BARRIER_KEY_PENDING] : 0;
}

static bool add_warp(struct viewer_branch *b, uint32_t warp, uint64_t data, uint8_t depth)
{
    const struct viewer_row row = {.object = {VIEWER_OBJECT_WARP, warp, 0}, .data = data, .depth = depth};
    return viewer_rows_add(b->rows, &row);
}

static bool add_waiters(struct viewer_branch *b, uint32_t barrier, uint8_t depth)
{
    const struct wsdbg_snapshot *s = b->context->picture->snapshot;
    const struct wsdbg_cta *cta = &s->ctas[s->barriers[barrier].cta];
    for (uint32_t w = cta->warp_first; w < cta->warp_first + cta->warp_count; w++)
        if (s->warps[w].barrier == barrier && wsdbg_warp_state_waits(s->warps[w].state) &&
            !add_warp(b, w, IS_WAITER, depth))
            return false;
    return true;
}

static bool add_arrivals(struct viewer_branch *b, uint32_t barrier, uint8_t depth)
{
    struct barriers *state = b->context->state;
    struct viewer_arrival *grown =
        realloc(state->arrivals, (state->arrival_count + ARRIVALS_SHOWN) * sizeof *state->arrivals);
    if (!grown)
        return false;
    state->arrivals = grown;
    const size_t count = viewer_arrivals_read(b->context->source, b->context->picture->snapshot, barrier,
                                              grown + state->arrival_count, ARRIVALS_SHOWN);
    for (size_t i = 0; i < count; i++, state->arrival_count++)
        if (!add_warp(b, grown[state->arrival_count].warp, IS_ARRIVAL | state->arrival_count, depth))
            return false;
    return true;
}

/* The stages of one CTA, and what is open of each. */
static bool add_run(struct viewer_branch *branch, const struct wsdbg_fold_row *run, size_t count, uint8_t depth)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t barrier = run[i].source;
        bool open;
        if (!viewer_branch_add(branch, (struct viewer_object){VIEWER_OBJECT_BARRIER, barrier, 0}, depth, &open))
            return false;
        if (open && (!add_waiters(branch, barrier, depth + 1) || !add_arrivals(branch, barrier, depth + 1)))
            return false;
    }
    return true;
}

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    struct barriers *barriers = context->state;
    barriers->arrival_count = 0;
    struct wsdbg_error *error = viewer_fold_barriers(context, sort_key, &barriers->folded);
    return error ? error : viewer_fold_tree_build(context, &barriers->folded, add_run, rows);
}

/* The barriers a row stands for, as one group. */
static bool group_of(const struct viewer_context *context, const struct viewer_row *row,
                     const struct wsdbg_fold_group *whole, struct wsdbg_fold_group *out)
{
    const struct barriers *barriers = context->state;
    if (row->object.kind == VIEWER_OBJECT_CTA)
        return viewer_folded_part(&barriers->folded, whole, row->object.index, WSDBG_NONE, out);
    *out = *whole;
    if (row->object.kind == VIEWER_OBJECT_BARRIER) {
        struct wsdbg_fold_row one;
        wsdbg_fold_barrier(context->picture->snapshot, row->object.index, &one);
        *out = wsdbg_fold_single(&one);
    }
    return true;
}

static void arrivals_text(const struct wsdbg_report_barriers *b, char *out, size_t bytes)
{
    char pending[24], expected[24];
    wsdbg_range_text(b->pending_arrivals, pending, sizeof pending);
    wsdbg_range_text(b->expected_arrivals, expected, sizeof expected);
    if (b->kind == WSDBG_BARRIER_MBARRIER)
        snprintf(out, bytes, "%s of %s", pending, expected);
    else if (b->kind == WSDBG_BARRIER_NAMED)
        snprintf(out, bytes, "%s thr", expected);
}

static void memory_text(const struct wsdbg_report_barriers *b, char *offset, char *word, size_t bytes)
{
    wsdbg_report_offset_text(b, offset, bytes);
    if (b->word.known)
        snprintf(word, bytes, "%016" PRIx64, b->word.value);
}

static void draw_barriers(const struct viewer_row *row, unsigned mask, const struct wsdbg_report_barriers *b, int count,
                          struct viewer_canvas *canvas)
{
    struct viewer_place at[COLUMN_COUNT];
    char text[COLUMN_COUNT][96] = {""};
    viewer_columns_place(columns, count, viewer_canvas_columns(canvas), at);
    wsdbg_report_cta_text(b->cta_count, b->cta, text[WHERE], sizeof *text);
    wsdbg_report_barrier_waited_text(b, text[NAME], sizeof *text);
    arrivals_text(b, text[ARRIVALS], sizeof *text);
    wsdbg_range_text(b->waiters, text[WAITERS], sizeof *text);
    if (b->kind == WSDBG_BARRIER_MBARRIER) {
        wsdbg_range_text(b->phase, text[PHASE], sizeof *text);
        wsdbg_report_tx_text(b, text[BYTES], sizeof *text);
        wsdbg_range_text(b->completed_phases, text[COMPLETED], sizeof *text);
        memory_text(b, text[OFFSET], text[WORD], sizeof *text);
    }
    viewer_draw_fold(canvas, row, at[WHERE].width, VIEWER_STYLE_TEXT, text[WHERE]);
    viewer_marks_draw(canvas, at[MARK].at, mask);
    const bool waited = b->waiters.known && b->waiters.high > 0;
    for (int i = NAME; i < count; i++) {
        enum viewer_style style = strchr(text[i], '?') ? VIEWER_STYLE_UNKNOWN : VIEWER_STYLE_TEXT;
        if (i == NAME || i == WAITERS)
            style = viewer_marked_style(mask, waited ? VIEWER_STYLE_WAITING : VIEWER_STYLE_TEXT);
        viewer_columns_cell(canvas, at[i], style, text[i]);
    }
}

static void draw_waiter(const struct viewer_context *context, const struct viewer_row *row,
                        struct viewer_canvas *canvas)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    struct wsdbg_fold_row one;
    struct wsdbg_report_warps w;
    char warp[96], wait[192];
    wsdbg_fold_warp(s, row->object.index, &one);
    const struct wsdbg_fold_group group = wsdbg_fold_single(&one);
    wsdbg_fold_warps_row(s, &group, &w);
    wsdbg_report_wait_text(&w, wait, sizeof wait);
    viewer_warp_text(s, row->object.index, warp, sizeof warp);
    const int at = viewer_print(canvas, 0, 2 * row->depth + 2, VIEWER_STYLE_WAITING, "%s waits", warp);
    viewer_print(canvas, 0, at, VIEWER_STYLE_TEXT, ": %s", wait);
}

static void draw_arrival(const struct viewer_context *context, const struct viewer_row *row,
                         struct viewer_canvas *canvas)
{
    const struct barriers *barriers = context->state;
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const struct viewer_arrival *arrival = &barriers->arrivals[row->data & UINT32_MAX];
    const uint64_t newest_ns = viewer_gpu_now_ns(s, arrival->warp), time_ns = arrival->event.gpu_time_ns;
    char warp[96], what[160], age[24];
    viewer_warp_text(s, arrival->warp, warp, sizeof warp);
    viewer_event_text(s, arrival->warp, &arrival->event, what, sizeof what);
    viewer_duration_text(newest_ns > time_ns ? newest_ns - time_ns : 0, age, sizeof age);
    const int at = viewer_print(canvas, 0, 2 * row->depth + 2, VIEWER_STYLE_TEXT, "last: -%s %s: ", age, warp);
    viewer_put(canvas, 0, at, VIEWER_STYLE_DIM, what);
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct barriers *barriers = context->state;
    if (row->object.kind == VIEWER_OBJECT_GRID) {
        viewer_draw_grid_title(context->picture->snapshot, row->object.index, canvas);
        return;
    }
    if (row->object.kind == VIEWER_OBJECT_WARP) {
        (row->data & IS_WAITER ? draw_waiter : draw_arrival)(context, row, canvas);
        return;
    }
    const struct wsdbg_fold_group *whole = viewer_folded_group(&barriers->folded, (uint32_t)row->data);
    struct wsdbg_fold_group group;
    struct wsdbg_report_barriers b;
    if (!whole || !group_of(context, row, whole, &group))
        return;
    wsdbg_fold_barriers_row(context->picture->snapshot, &group, &b);
    draw_barriers(row, viewer_folded_mask(&barriers->folded, whole), &b, column_count(context->picture->snapshot),
                  canvas);
}

static void draw_header(struct viewer_context *context, struct viewer_canvas *canvas)
{
    viewer_columns_header(canvas, 0, columns, column_count(context->picture->snapshot));
}

static const char *nothing(const struct viewer_context *context)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    return s && s->warp_count > 0 && s->barrier_count == 0 ? "No barrier was seen." : viewer_nothing_text(context);
}

/* The folds that hide a barrier. */
static size_t path(struct viewer_context *context, struct viewer_object object, struct viewer_row *out, size_t capacity)
{
    struct barriers *barriers = context->state;
    if (object.kind != VIEWER_OBJECT_BARRIER)
        return 0;
    const uint32_t cta = context->picture->snapshot->barriers[object.index].cta;
    return viewer_fold_tree_path(&barriers->folded, object.index, cta, out, capacity);
}

const struct viewer_view viewer_barriers = {
    .name = "barriers",
    .key = 'b',
    .summary = "barriers: phase, arrivals, bytes, who waits, who arrived last",
    .state_bytes = sizeof(struct barriers),
    .header_lines = 1,
    .draw_header = draw_header,
    .build = build,
    .draw_row = draw_row,
    .nothing = nothing,
    .sorts = sorts,
    .path = path,
    .deinit = deinit,
};
