/* view_warps.c - the warps: CTAs that agree are one row, which opens to CTAs, warpgroups and warps.
 * Reads the picture; rows as in folded.h. */
#include "viewer/columns.h"
#include "viewer/fold_tree.h"
#include "viewer/marks.h"
#include "viewer/phrases.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define GROUP_WARPS 4u

enum column { WHERE, MARK, WARPS, ROLE, STATE, WAIT, ITERATION, LINE, REGISTERS, TIME, COLUMN_COUNT };

static const struct viewer_column probed_columns[COLUMN_COUNT] = {
    [WHERE] = {"CTA", 17, 0, false},      [MARK] = {"", 1, 0, false},        [WARPS] = {"WARPS", 6, 6, false},
    [ROLE] = {"ROLE", 11, 5, false},      [STATE] = {"STATE", 14, 0, false}, [WAIT] = {"WAITS FOR", 17, 7, true},
    [ITERATION] = {"ITER", -7, 3, false}, [LINE] = {"LINE", -5, 4, false},   [REGISTERS] = {"REGS/ASKED", 10, 2, false},
    [TIME] = {"TIME", -8, 8, false},
};
/* The machine's own state has no iterations, but says where every warp stands. */
static const struct viewer_column machine_columns[COLUMN_COUNT] = {
    [WHERE] = {"CTA", 17, 0, false}, [MARK] = {"", 1, 0, false},           [WARPS] = {"WARPS", 6, 6, false},
    [ROLE] = {"ROLE", 11, 7, false}, [STATE] = {"STATE", 14, 5, false},    [WAIT] = {"WAITS FOR", 17, 9, true},
    [ITERATION] = {"", 0, 1, false}, [LINE] = {"STANDS AT", 22, 8, false}, [REGISTERS] = {"REGS/ASKED", 10, 2, false},
    [TIME] = {"TIME", -8, 4, false},
};

static const struct viewer_column *columns_of(const struct viewer_context *context)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    return s && s->site_count > 0 ? machine_columns : probed_columns;
}

enum sort { BY_PLACE, BY_TIME, BY_STATE, BY_ROLE };
static const char *const sorts[] = {"place", "time in state", "state", "role", NULL};

static int64_t sort_key(const struct wsdbg_fold_group *group, unsigned sort)
{
    switch (sort) {
    case BY_TIME:
        return -group->high[WSDBG_WARP_KEY_WAITING];
    case BY_STATE:
        return group->low[WSDBG_WARP_KEY_STATE];
    case BY_ROLE:
        return group->low[WSDBG_WARP_KEY_ROLE];
    default:
        return 0;
    }
}

static void deinit(void *state)
{
    viewer_folded_deinit(state);
}

static uint32_t warpgroup_of(const struct wsdbg_fold_row *row)
{
    return row->member / GROUP_WARPS;
}

/* Rows of a run that lie in the warpgroup of its first row. */
static size_t same_warpgroup(const struct wsdbg_fold_row *rows, size_t count)
{
    size_t same = 1;
    while (same < count && warpgroup_of(&rows[same]) == warpgroup_of(&rows[0]))
        same++;
    return same;
}

/* The parts of a warp whose lanes stand at different places. */
static bool add_parts(struct viewer_branch *branch, uint32_t warp, uint8_t depth)
{
    const struct wsdbg_snapshot *s = branch->context->picture->snapshot;
    const struct wsdbg_warp_row *w = &s->warps[warp];
    for (uint32_t i = 0; w->part_count > 1 && i < w->part_count && w->part_first + i < s->part_count; i++)
        if (!viewer_branch_add(branch, (struct viewer_object){VIEWER_OBJECT_PART, warp, w->part_first + i}, depth,
                               NULL))
            return false;
    return true;
}

static bool add_warps(struct viewer_branch *branch, const struct wsdbg_fold_row *rows, size_t count, uint8_t depth)
{
    for (size_t i = 0; i < count; i++)
        if (!viewer_branch_add(branch, (struct viewer_object){VIEWER_OBJECT_WARP, rows[i].source, 0}, depth, NULL) ||
            !add_parts(branch, rows[i].source, depth + 1))
            return false;
    return true;
}

/* The warps of one CTA, by warpgroup where there is more than one of them. */
static bool add_run(struct viewer_branch *branch, const struct wsdbg_fold_row *run, size_t count, uint8_t depth)
{
    if (same_warpgroup(run, count) == count)
        return add_warps(branch, run, count, depth);
    for (size_t i = 0, size; i < count; i += size) {
        const struct viewer_object warpgroup = {VIEWER_OBJECT_WARPGROUP, run[i].cta, warpgroup_of(&run[i])};
        bool open = true;
        size = same_warpgroup(run + i, count - i);
        if (size > 1 && !viewer_branch_add(branch, warpgroup, depth, &open))
            return false;
        if (open && !add_warps(branch, run + i, size, size > 1 ? depth + 1 : depth))
            return false;
    }
    return true;
}

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    struct wsdbg_error *error = viewer_fold_warps(context, wsdbg_fold_warp_levels, sort_key, context->state);
    return error ? error : viewer_fold_tree_build(context, context->state, add_run, rows);
}

/* The warps a row stands for, as one group. */
static bool group_of(const struct viewer_context *context, const struct viewer_row *row,
                     const struct wsdbg_fold_group *whole, struct wsdbg_fold_group *out)
{
    const bool warpgroup = row->object.kind == VIEWER_OBJECT_WARPGROUP;
    if (warpgroup || row->object.kind == VIEWER_OBJECT_CTA)
        return viewer_folded_part(context->state, whole, row->object.index, warpgroup ? row->object.part : WSDBG_NONE,
                                  out);
    *out = *whole;
    if (row->object.kind == VIEWER_OBJECT_WARP) {
        struct wsdbg_fold_row one;
        wsdbg_fold_warp(context->picture->snapshot, row->object.index, &one);
        *out = wsdbg_fold_single(&one);
    }
    return true;
}

/* stands_for_cta: the row is all that its CTA has in the group. */
static void where_text(const struct viewer_row *row, bool stands_for_cta, const struct wsdbg_report_warps *w, char *out,
                       size_t bytes)
{
    if (row->object.kind == VIEWER_OBJECT_WARPGROUP)
        snprintf(out, bytes, "warpgroup %" PRIu32, row->object.part);
    else if (row->object.kind == VIEWER_OBJECT_WARP && !stands_for_cta)
        wsdbg_report_members_text(&w->members, out, bytes);
    else
        wsdbg_report_cta_text(w->cta_count, w->cta, out, bytes);
}

static void registers_text(const struct wsdbg_report_warps *w, char *out, size_t bytes)
{
    char held[24], asked[24];
    wsdbg_range_text(w->registers_held, held, sizeof held);
    wsdbg_range_text(w->registers_asked, asked, sizeof asked);
    if (w->state == WSDBG_WARP_WAIT_REGISTERS)
        snprintf(out, bytes, "%s/%s", held, asked);
    else
        snprintf(out, bytes, "%s", held);
}

/* A number that this state does not have is no "?". */
static void site_text(const struct wsdbg_report_warps *w, struct wsdbg_range range, char *out, size_t bytes)
{
    if (range.known || w->state == WSDBG_WARP_WAIT_MBARRIER || w->state == WSDBG_WARP_UNKNOWN)
        wsdbg_range_text(range, out, bytes);
}

static void draw_group(struct viewer_context *context, const struct viewer_row *row,
                       const struct wsdbg_fold_group *whole, const struct wsdbg_report_warps *w,
                       struct viewer_canvas *canvas)
{
    struct viewer_place at[COLUMN_COUNT];
    char text[COLUMN_COUNT][192] = {""};
    const unsigned mask = viewer_folded_mask(context->state, whole);
    viewer_columns_place(columns_of(context), COLUMN_COUNT, viewer_canvas_columns(canvas), at);
    const enum viewer_style plain = w->state == WSDBG_WARP_EXITED ? VIEWER_STYLE_GONE : VIEWER_STYLE_TEXT;
    wsdbg_members_text(&w->members, text[WARPS], sizeof *text);
    wsdbg_report_role_beside_warps(w, text[ROLE], sizeof *text);
    snprintf(text[STATE], sizeof *text, "%s", wsdbg_warp_state_name(w->state));
    wsdbg_report_wait_text(w, text[WAIT], sizeof *text);
    if (w->state != WSDBG_WARP_EXITED) {
        site_text(w, w->iteration, text[ITERATION], sizeof *text);
        if (w->place[0])
            viewer_tail_text(w->place, at[LINE].width, text[LINE], sizeof *text);
        else
            site_text(w, w->line, text[LINE], sizeof *text);
    }
    if (!text[WAIT][0] && at[STATE].width == 0)
        snprintf(text[WAIT], sizeof *text, "%s", text[STATE]);
    registers_text(w, text[REGISTERS], sizeof *text);
    viewer_warps_time_text(context->picture, w, text[TIME], sizeof *text);
    const bool stands_for_cta = row->depth == 0 || (row->depth == 1 && whole->cta_count > 1);
    where_text(row, stands_for_cta, w, text[WHERE], sizeof *text);
    viewer_draw_fold(canvas, row, at[WHERE].width, plain, text[WHERE]);
    viewer_marks_draw(canvas, at[MARK].at, mask);
    for (int i = WARPS; i < COLUMN_COUNT; i++) {
        enum viewer_style style = strcmp(text[i], "?") == 0 ? VIEWER_STYLE_UNKNOWN : plain;
        if (i == STATE)
            style = viewer_marked_style(mask, viewer_state_style(w->state));
        viewer_columns_cell(canvas, at[i], style, text[i]);
    }
}

static void draw_part(const struct wsdbg_snapshot *s, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    struct wsdbg_report_part part;
    char text[512];
    if (row->object.part >= s->part_count)
        return;
    wsdbg_report_part(s, row->object.part, &part);
    wsdbg_report_part_text(&part, text, sizeof text);
    viewer_put(canvas, 0, 2 * row->depth + 2, viewer_state_style(s->parts[row->object.part].state), text);
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct viewer_folded *f = context->state;
    if (row->object.kind == VIEWER_OBJECT_GRID) {
        viewer_draw_grid_title(context->picture->snapshot, row->object.index, canvas);
        return;
    }
    if (row->object.kind == VIEWER_OBJECT_PART) {
        draw_part(context->picture->snapshot, row, canvas);
        return;
    }
    const struct wsdbg_fold_group *whole = viewer_folded_group(f, (uint32_t)row->data);
    struct wsdbg_fold_group group;
    struct wsdbg_report_warps w;
    if (!whole || !group_of(context, row, whole, &group))
        return;
    wsdbg_fold_warps_row(context->picture->snapshot, &group, &w);
    draw_group(context, row, whole, &w, canvas);
}

static void draw_header(struct viewer_context *context, struct viewer_canvas *canvas)
{
    viewer_columns_header(canvas, 0, columns_of(context), COLUMN_COUNT);
}

/* Whether a warp is the object or a part of it. */
static bool belongs(const struct wsdbg_snapshot *s, uint32_t warp, struct viewer_object object)
{
    const struct wsdbg_warp_row *w = &s->warps[warp];
    switch (object.kind) {
    case VIEWER_OBJECT_WARP:
        return warp == object.index;
    case VIEWER_OBJECT_CTA:
        return w->cta == object.index;
    case VIEWER_OBJECT_WARPGROUP:
        return w->cta == object.index && w->warp / GROUP_WARPS == object.part;
    default:
        return false;
    }
}

/* The object's own row, or that of the first of its warps that has one. */
static size_t find(struct viewer_context *context, const struct viewer_rows *rows, struct viewer_object object)
{
    for (size_t i = 0; i < rows->count; i++)
        if (memcmp(&rows->rows[i].object, &object, sizeof object) == 0)
            return i;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].object.kind == VIEWER_OBJECT_WARP &&
            belongs(context->picture->snapshot, rows->rows[i].object.index, object))
            return i;
    return SIZE_MAX;
}

/* The folds that hide an object, or the first of its warps. */
static size_t path(struct viewer_context *context, struct viewer_object object, struct viewer_row *out, size_t capacity)
{
    const struct viewer_folded *f = context->state;
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    uint32_t warp = 0;
    while (s && warp < s->warp_count && !belongs(s, warp, object))
        warp++;
    if (!s || warp == s->warp_count)
        return 0;
    const uint32_t cta = s->warps[warp].cta;
    const size_t count = viewer_fold_tree_path(f, warp, cta, out, capacity);
    if (count == 0 || count == capacity)
        return count;
    out[count] = out[count - 1];
    out[count].object = (struct viewer_object){VIEWER_OBJECT_WARPGROUP, cta, s->warps[warp].warp / GROUP_WARPS};
    return count + 1;
}

const struct viewer_view viewer_warps = {
    .name = "warps",
    .key = 'w',
    .summary = "warps and what they wait for; equal ones are one row",
    .state_bytes = sizeof(struct viewer_folded),
    .header_lines = 1,
    .draw_header = draw_header,
    .build = build,
    .draw_row = draw_row,
    .nothing = viewer_nothing_text,
    .sorts = sorts,
    .find = find,
    .path = path,
    .deinit = deinit,
};
