/* view_timeline.c - a lane for each warpgroup: what it did when, up to the newest moment seen.
 *
 * From histories where there are any (GPU time), else from the states seen while the viewer was open (host time).
 * Time is told as an age: how long before the newest stamp.  Right of the lanes: for how long, in host time, nothing
 * of the warpgroup has changed.  Reads only the lanes that are drawn, and keeps those it drew last.
 */
#include <curses.h>

#include "viewer/lanes.h"
#include "viewer/marks.h"
#include "viewer/phrases.h"
#include "viewer/time_span.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_WARPS 4u
#define CTA_GROUPS 8u /* warpgroups a CTA can have */
#define LABEL_COLUMNS 26
#define LABEL_COLUMNS_NARROW 14
#define STALL_COLUMNS 14
#define STALL_MARK_COLUMNS 4 /* of them, for what it does since */
#define KEPT_LANES 1024u     /* drawn lanes that are remembered */
#define FIT_WARPS 256u       /* looked at for the longest history */

struct kept_lane {
    uint64_t picture;
    uint32_t cta, warpgroup;
    struct viewer_window window;
    bool sampled;
    unsigned char cells[VIEWER_LANE_COLUMNS];
};

struct timeline {
    bool from_samples;
    bool sampled; /* some lane on the screen was */
    struct viewer_time_span time;
    struct viewer_marks marks;
    struct kept_lane *kept;
};

static void deinit(void *state)
{
    struct timeline *t = state;
    viewer_marks_deinit(&t->marks);
    free(t->kept);
}

static bool has_histories(const struct viewer_context *context)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    if (!context->source->ops->event_count || !context->source->ops->events)
        return false;
    for (uint32_t w = 0; w < s->warp_count; w++)
        if (context->source->ops->event_count(context->source, w) > 0)
            return true;
    return false;
}

/* The longest history's age, of as many warps as a keystroke has time for. */
static int64_t longest_history(const struct viewer_context *context)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const uint32_t step = (uint32_t)(s->warp_count / FIT_WARPS) + 1;
    int64_t longest = 0;
    for (uint32_t w = 0; w < s->warp_count; w += step) {
        struct wsdbg_history_event first;
        if (!viewer_filter_warp(context->filter, s, w) ||
            context->source->ops->events(context->source, w, 0, 1, &first) != 1)
            continue;
        const int64_t age_ns = (int64_t)(viewer_gpu_now_ns(s, w) - first.gpu_time_ns);
        longest = age_ns > longest ? age_ns : longest;
    }
    return longest;
}

static struct wsdbg_error *prepare(struct viewer_context *context)
{
    struct timeline *t = context->state;
    uint64_t first_ns = 0, last_ns = 0;
    int64_t all_ns = 0;
    if (!t->kept && !(t->kept = calloc(KEPT_LANES, sizeof *t->kept)))
        return &wsdbg_error_no_memory;
    t->from_samples = !has_histories(context);
    if (!t->from_samples)
        all_ns = longest_history(context);
    else if (context->samples && viewer_samples_span(context->samples, &first_ns, &last_ns))
        all_ns = (int64_t)(last_ns - first_ns);
    t->sampled = false;
    viewer_time_span_set(&t->time, all_ns);
    return viewer_marks_read(context->picture, &t->marks);
}

static bool add_lanes(const struct viewer_context *context, struct viewer_rows *rows, uint32_t cta)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const struct wsdbg_cta *c = &s->ctas[cta];
    uint32_t group = WSDBG_NONE;
    for (uint32_t w = c->warp_first; w < c->warp_first + c->warp_count; w++) {
        if (s->warps[w].warp / GROUP_WARPS == group || !viewer_filter_warp(context->filter, s, w))
            continue;
        group = s->warps[w].warp / GROUP_WARPS;
        const struct viewer_row row = {.object = {VIEWER_OBJECT_WARPGROUP, cta, group}, .data = w};
        if (!viewer_rows_add(rows, &row))
            return false;
    }
    return true;
}

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    if (!s)
        return NULL;
    struct wsdbg_error *error = prepare(context);
    for (uint32_t grid = 0; !error && grid < s->grid_count; grid++) {
        const struct viewer_row title = {.object = {VIEWER_OBJECT_GRID, grid, 0}};
        const size_t before = rows->count;
        if (s->grid_count > 1 && !viewer_rows_add(rows, &title))
            error = &wsdbg_error_no_memory;
        const uint32_t first = s->grids[grid].cta_first, end = first + s->grids[grid].cta_count;
        for (uint32_t c = first; !error && c < end; c++)
            if (!add_lanes(context, rows, c))
                error = &wsdbg_error_no_memory;
        if (s->grid_count > 1 && rows->count == before + 1)
            rows->count = before;
    }
    return error;
}

/* Where the parts of a line are. */
struct layout {
    int label, lanes, stall; /* columns; stall 0 = no room */
};

static struct layout lay_out(int columns)
{
    struct layout at = {.label = columns >= 70 ? LABEL_COLUMNS : LABEL_COLUMNS_NARROW};
    at.stall = columns >= 60 ? STALL_COLUMNS : 0;
    at.lanes = columns - at.label - at.stall;
    if (at.lanes < 1)
        at.lanes = 1;
    if (at.lanes > VIEWER_LANE_COLUMNS)
        at.lanes = VIEWER_LANE_COLUMNS;
    return at;
}

/* The newest moment that ages are counted from: of the warp's context, or of the samples. */
static int64_t newest_ns(const struct viewer_context *context, uint32_t warp)
{
    const struct timeline *t = context->state;
    uint64_t first_ns = 0, last_ns = 0;
    if (!t->from_samples)
        return (int64_t)viewer_gpu_now_ns(context->picture->snapshot, warp);
    if (context->samples)
        viewer_samples_span(context->samples, &first_ns, &last_ns);
    return (int64_t)last_ns;
}

static struct viewer_window window_of(const struct viewer_context *context, uint32_t warp, int columns)
{
    const struct timeline *t = context->state;
    const int64_t end_ns = newest_ns(context, warp) - t->time.back_ns;
    return (struct viewer_window){end_ns - viewer_time_span_shown_ns(&t->time), end_ns, columns};
}

static bool same_window(const struct viewer_window *a, const struct viewer_window *b)
{
    return a->begin_ns == b->begin_ns && a->end_ns == b->end_ns && a->columns == b->columns;
}

static const struct kept_lane *lane_of(struct viewer_context *context, const struct viewer_row *row, int columns)
{
    struct timeline *t = context->state;
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const uint32_t cta = row->object.index, group = row->object.part;
    const struct viewer_window window = window_of(context, (uint32_t)row->data, columns);
    struct kept_lane *lane = &t->kept[(cta * CTA_GROUPS + group) % KEPT_LANES];
    if (lane->picture != context->picture->number || lane->cta != cta || lane->warpgroup != group ||
        !same_window(&lane->window, &window)) {
        lane->picture = context->picture->number;
        lane->cta = cta;
        lane->warpgroup = group;
        lane->window = window;
        lane->sampled = false;
        memset(lane->cells, VIEWER_CELL_NOTHING, sizeof lane->cells);
        if (!t->from_samples)
            lane->sampled = viewer_lane_read(context->source, s, cta, group, &window, lane->cells);
        else if (context->samples)
            viewer_lane_sample(context->samples, s, cta, group, &window, lane->cells);
    }
    t->sampled = t->sampled || lane->sampled;
    return lane;
}

static const struct look {
    enum viewer_style style;
    enum viewer_glyph glyph;
    const char *word;
} looks[VIEWER_CELL_COUNT] = {
    [VIEWER_CELL_NOTHING] = {VIEWER_STYLE_TEXT, VIEWER_GLYPH_COUNT, NULL},
    [VIEWER_CELL_RUNS] = {VIEWER_STYLE_MOVING, VIEWER_GLYPH_LINE, "runs"},
    [VIEWER_CELL_TMA] = {VIEWER_STYLE_MOVING, VIEWER_GLYPH_HALF_BLOCK, "copies"},
    [VIEWER_CELL_WGMMA] = {VIEWER_STYLE_GOOD, VIEWER_GLYPH_BLOCK, "wgmma"},
    [VIEWER_CELL_WAITS] = {VIEWER_STYLE_WAITING, VIEWER_GLYPH_LIGHT, "waits"},
    [VIEWER_CELL_STALLED] = {VIEWER_STYLE_STUCK, VIEWER_GLYPH_STALL, "stalled"},
    [VIEWER_CELL_EXITED] = {VIEWER_STYLE_GONE, VIEWER_GLYPH_DOT, "exited"},
    [VIEWER_CELL_UNKNOWN] = {VIEWER_STYLE_UNKNOWN, VIEWER_GLYPH_COUNT, NULL},
};

static void draw_cells(const struct kept_lane *lane, int at, struct viewer_canvas *canvas)
{
    for (int i = 0; i < lane->window.columns; i++) {
        const struct look *look = &looks[lane->cells[i]];
        if (look->word)
            viewer_put_glyph(canvas, 0, at + i, look->style, look->glyph);
        else if (lane->cells[i] == VIEWER_CELL_UNKNOWN)
            viewer_put(canvas, 0, at + i, look->style, "?");
    }
}

static uint64_t seen_ns(const struct viewer_context *context, const struct viewer_row *row)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    return viewer_context_seen_ns(context->picture, s->grids[s->ctas[row->object.index].grid].context);
}

/* Host time since the last of the warpgroup's slots changed; only of warps that have not left. */
static bool still_since(const struct viewer_context *context, const struct viewer_row *row, uint64_t *since_ns)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const struct wsdbg_cta *c = &s->ctas[row->object.index];
    *since_ns = 0;
    for (uint32_t w = c->warp_first; w < c->warp_first + c->warp_count; w++)
        if (s->warps[w].warp / GROUP_WARPS == row->object.part && s->warps[w].state != WSDBG_WARP_EXITED &&
            s->warps[w].changed_ns > *since_ns)
            *since_ns = s->warps[w].changed_ns;
    return *since_ns != 0 && *since_ns <= seen_ns(context, row);
}

static bool waits_now(const struct wsdbg_snapshot *s, const struct viewer_row *row)
{
    const struct wsdbg_cta *c = &s->ctas[row->object.index];
    for (uint32_t w = c->warp_first; w < c->warp_first + c->warp_count; w++)
        if (s->warps[w].warp / GROUP_WARPS == row->object.part && wsdbg_warp_state_waits(s->warps[w].state))
            return true;
    return false;
}

/* After the newest stamp, not to scale: what the warpgroup has been doing since, and for how long. */
static void draw_stall(const struct viewer_context *context, const struct viewer_row *row, int at,
                       struct viewer_canvas *canvas)
{
    uint64_t since_ns;
    char text[24];
    if (!still_since(context, row, &since_ns))
        return;
    viewer_duration_text(seen_ns(context, row) - since_ns, text, sizeof text);
    /* A warp that waits in a run that goes on is not stalled. */
    const enum viewer_cell waits = context->picture->diagnosis ? VIEWER_CELL_STALLED : VIEWER_CELL_WAITS;
    const struct look *look = &looks[waits_now(context->picture->snapshot, row) ? waits : VIEWER_CELL_RUNS];
    for (int i = 1; i <= STALL_MARK_COLUMNS; i++)
        viewer_put_glyph(canvas, 0, at + i, look->style, look->glyph);
    const int used = STALL_MARK_COLUMNS + 1;
    viewer_cell(canvas, 0, at + used, -(STALL_COLUMNS - used), VIEWER_STYLE_TEXT, text);
}

static unsigned mask_of(const struct viewer_context *context, const struct viewer_row *row)
{
    const struct timeline *t = context->state;
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const struct wsdbg_cta *c = &s->ctas[row->object.index];
    unsigned mask = 0;
    for (uint32_t w = c->warp_first; w < c->warp_first + c->warp_count && t->marks.warps; w++)
        if (s->warps[w].warp / GROUP_WARPS == row->object.part)
            mask |= t->marks.warps[w];
    return mask;
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    if (row->object.kind == VIEWER_OBJECT_GRID) {
        viewer_draw_grid_title(s, row->object.index, canvas);
        return;
    }
    const struct layout at = lay_out(viewer_canvas_columns(canvas));
    const struct wsdbg_cta *cta = &s->ctas[row->object.index];
    const unsigned mask = mask_of(context, row);
    char role[64], label[128];
    viewer_role_text(s, &s->warps[row->data], role, sizeof role);
    snprintf(label, sizeof label, "(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") wg %" PRIu32 " %s", cta->x, cta->y, cta->z,
             row->object.part, role);
    viewer_marks_draw(canvas, 0, mask);
    viewer_cell(canvas, 0, 1, at.label - 2, viewer_marked_style(mask, VIEWER_STYLE_TEXT), label);
    if (!viewer_canvas_is_text(canvas))
        draw_cells(lane_of(context, row, at.lanes), at.label, canvas);
    if (at.stall)
        draw_stall(context, row, at.label + at.lanes, canvas);
}

static void draw_scale(const struct viewer_context *context, const struct layout *at, struct viewer_canvas *canvas)
{
    const struct timeline *t = context->state;
    char span[24], column[24];
    viewer_duration_text((uint64_t)viewer_time_span_shown_ns(&t->time), span, sizeof span);
    viewer_duration_text((uint64_t)(viewer_time_span_shown_ns(&t->time) / at->lanes), column, sizeof column);
    const char *what = t->from_samples ? "States seen by this viewer (no histories), host time"
                       : t->sampled    ? "Histories, GPU time, sampled: + shows every event"
                                       : "Histories, GPU time";
    viewer_print(canvas, 0, 0, VIEWER_STYLE_TEXT, "%s; %s shown, %s a column", what, span, column);
}

static void draw_legend(struct viewer_canvas *canvas)
{
    int at = 0;
    for (int i = 0; i < VIEWER_CELL_COUNT; i++)
        if (looks[i].word) {
            viewer_put_glyph(canvas, 1, at, looks[i].style, looks[i].glyph);
            at = viewer_put(canvas, 1, at + 2, VIEWER_STYLE_DIM, looks[i].word) + 2;
        }
}

#define AGE_COLUMNS 9 /* "-18.4 us" */

/* The age of a column at `at`, unless the cursor's mark is in the way. */
static void draw_age(struct viewer_canvas *canvas, int at, int width, int cursor, const char *text)
{
    if (cursor < at || cursor >= at + abs(width))
        viewer_cell(canvas, 3, at, width, VIEWER_STYLE_HEADER, text);
}

/* Ages at the edges, and the cursor's between them. */
static void draw_axis(const struct timeline *t, const struct layout *at, struct viewer_canvas *canvas)
{
    char left[32] = "-", right[32] = "-", here[32] = "-";
    const int cursor = at->label + at->lanes - 1 - t->time.behind, edge = at->label + at->lanes;
    viewer_duration_text((uint64_t)(t->time.back_ns + viewer_time_span_shown_ns(&t->time)), left + 1, sizeof left - 1);
    viewer_duration_text((uint64_t)t->time.back_ns, right + 1, sizeof right - 1);
    viewer_duration_text((uint64_t)viewer_time_span_cursor_ns(&t->time, at->lanes), here + 1, sizeof here - 1);
    viewer_cell(canvas, 3, 0, at->label, VIEWER_STYLE_HEADER, " CTA     WARPGROUP");
    draw_age(canvas, at->label, AGE_COLUMNS, cursor, left);
    draw_age(canvas, edge - AGE_COLUMNS, -AGE_COLUMNS, cursor, t->time.back_ns ? right : "newest");
    viewer_put_glyph(canvas, 3, cursor, VIEWER_STYLE_STRONG, VIEWER_GLYPH_MARK);
    const bool before = cursor - AGE_COLUMNS - 1 > at->label + AGE_COLUMNS;
    if (before || cursor + 2 * AGE_COLUMNS + 1 < edge)
        viewer_cell(canvas, 3, before ? cursor - AGE_COLUMNS - 1 : cursor + 2, before ? -AGE_COLUMNS : AGE_COLUMNS,
                    VIEWER_STYLE_STRONG, here);
    if (at->stall)
        viewer_cell(canvas, 3, edge + 1, -(STALL_COLUMNS - 1), VIEWER_STYLE_HEADER, "STILL FOR");
}

/* The lane under the cursor: the event nearest to the cursor's column. */
static void draw_event(const struct viewer_context *context, const struct layout *at, struct viewer_canvas *canvas)
{
    const struct timeline *t = context->state;
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    const struct viewer_object lane = context->selected;
    struct wsdbg_history_event event;
    uint32_t warp;
    char who[96], what[192], age[24];
    if (t->from_samples || lane.kind != VIEWER_OBJECT_WARPGROUP || lane.index >= s->cta_count ||
        s->ctas[lane.index].warp_count == 0)
        return;
    const int64_t now_ns = newest_ns(context, s->ctas[lane.index].warp_first);
    if (!viewer_event_near(context->source, s, lane.index, lane.part,
                           now_ns - viewer_time_span_cursor_ns(&t->time, at->lanes), &warp, &event))
        return;
    viewer_warp_text(s, warp, who, sizeof who);
    viewer_event_text(s, warp, &event, what, sizeof what);
    const int64_t age_ns = now_ns - (int64_t)event.gpu_time_ns;
    viewer_duration_text(age_ns > 0 ? (uint64_t)age_ns : 0, age, sizeof age);
    viewer_print(canvas, 2, 0, VIEWER_STYLE_STRONG, "-%s %s: %s", age, who, what);
}

static void draw_header(struct viewer_context *context, struct viewer_canvas *canvas)
{
    struct timeline *t = context->state;
    if (!context->picture->snapshot || context->picture->snapshot->warp_count == 0)
        return;
    const struct layout at = lay_out(viewer_canvas_columns(canvas));
    if (t->time.behind >= at.lanes)
        t->time.behind = at.lanes - 1;
    draw_scale(context, &at, canvas);
    draw_legend(canvas);
    draw_event(context, &at, canvas);
    draw_axis(t, &at, canvas);
}

static bool press(struct viewer_context *context, int key)
{
    struct timeline *t = context->state;
    const int columns = lay_out(context->columns).lanes;
    const int64_t shown_ns = viewer_time_span_shown_ns(&t->time);
    switch (key) {
    case '+':
    case '=':
    case '-':
        viewer_time_span_zoom(&t->time, columns, key != '-');
        break;
    case '0':
        t->time.span_ns = t->time.back_ns = 0;
        break;
    case '<':
        viewer_time_span_scroll(&t->time, shown_ns / 2);
        break;
    case '>':
        viewer_time_span_scroll(&t->time, -shown_ns / 2);
        break;
    case 'h':
    case KEY_LEFT:
        viewer_time_span_move(&t->time, columns, -1);
        break;
    case 'l':
    case KEY_RIGHT:
        viewer_time_span_move(&t->time, columns, 1);
        break;
    default:
        return false;
    }
    return true;
}

/* A warp is found in its warpgroup's lane. */
static size_t find(struct viewer_context *context, const struct viewer_rows *rows, struct viewer_object object)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    uint32_t cta = object.index, group = object.part;
    if (object.kind == VIEWER_OBJECT_WARP && s && object.index < s->warp_count) {
        cta = s->warps[object.index].cta;
        group = s->warps[object.index].warp / GROUP_WARPS;
    } else if (object.kind != VIEWER_OBJECT_WARPGROUP && object.kind != VIEWER_OBJECT_CTA) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].object.kind == VIEWER_OBJECT_WARPGROUP && rows->rows[i].object.index == cta &&
            (object.kind == VIEWER_OBJECT_CTA || rows->rows[i].object.part == group))
            return i;
    return SIZE_MAX;
}

static const struct viewer_key keys[] = {{"+ -", "zoom in and out at the time cursor"},
                                         {"0", "show all of the time"},
                                         {"Left Right", "move the time cursor (h l too)"},
                                         {"< >", "scroll by half a screen of time"},
                                         {NULL, NULL}};

const struct viewer_view viewer_timeline = {
    .name = "timeline",
    .tab = "time",
    .key = 't',
    .summary = "a lane for each warpgroup: what it did when, and since when it stands still",
    .state_bytes = sizeof(struct timeline),
    .header_lines = 4,
    .draw_header = draw_header,
    .build = build,
    .draw_row = draw_row,
    .nothing = viewer_nothing_text,
    .press = press,
    .keys = keys,
    .find = find,
    .deinit = deinit,
};
