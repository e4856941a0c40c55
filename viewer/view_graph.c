/* view_graph.c - the wait-for graph in text: waiter, barrier, waker, as a tree with rails.  Reads wait_tree.h. */
#include "viewer/wait_tree.h"

#include <stdio.h>
#include <string.h>

#include "viewer/phrases.h"

static void deinit(void *state)
{
    viewer_wait_tree_deinit(state);
}

static struct viewer_object object_of(const struct wsdbg_stored_graph *graph, const struct viewer_wait_line *line)
{
    if (line->kind == VIEWER_WAIT_BARRIER && line->barrier != WSDBG_NONE)
        return (struct viewer_object){VIEWER_OBJECT_BARRIER, graph->barrier_sources[line->barrier], 0};
    if (line->kind == VIEWER_WAIT_NOBODY || line->kind == VIEWER_WAIT_BARRIER)
        return (struct viewer_object){VIEWER_OBJECT_NONE, 0, 0};
    return (struct viewer_object){VIEWER_OBJECT_WARP, graph->warp_sources[line->node], 0};
}

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    struct viewer_wait_tree *tree = context->state;
    struct wsdbg_error *error = viewer_wait_tree_read(context, tree);
    for (size_t i = 0; !error && i < tree->count; i++) {
        const struct viewer_row row = {
            .object = object_of(&tree->graph, &tree->lines[i]), .data = i, .depth = tree->lines[i].depth};
        if (!viewer_rows_add(rows, &row))
            error = &wsdbg_error_no_memory;
    }
    return error;
}

#define RAIL_COLUMNS 3

/* Rails of the branches that go on below, this line's own branch, and an arrow where it points to somebody. */
static int draw_rails(const struct viewer_wait_line *line, struct viewer_canvas *canvas)
{
    const enum viewer_style style = line->in_cycle ? VIEWER_STYLE_STUCK : VIEWER_STYLE_DIM;
    for (int d = 1; d < line->depth; d++)
        if (line->rails >> d & 1)
            viewer_put_glyph(canvas, 0, (d - 1) * RAIL_COLUMNS, VIEWER_STYLE_DIM, VIEWER_GLYPH_RAIL);
    if (line->depth == 0)
        return 0;
    const int at = (line->depth - 1) * RAIL_COLUMNS;
    viewer_put_glyph(canvas, 0, at, style, line->last ? VIEWER_GLYPH_LAST_BRANCH : VIEWER_GLYPH_BRANCH);
    viewer_put_glyph(canvas, 0, at + 1, style, VIEWER_GLYPH_LINE);
    viewer_put_glyph(canvas, 0, at + 2, style, VIEWER_GLYPH_ARROW);
    return at + RAIL_COLUMNS + 1;
}

static void group_text(const struct wsdbg_report_warps *w, char *out, size_t bytes)
{
    char role[WSDBG_REPORT_LABEL_BYTES], members[96], ctas[48];
    wsdbg_report_role_beside_warps(w, role, sizeof role);
    wsdbg_report_members_text(&w->members, members, sizeof members);
    wsdbg_report_cta_text(w->cta_count, w->cta, ctas, sizeof ctas);
    const bool says_more = strcmp(role, "-") != 0;
    snprintf(out, bytes, "%s%s%s  %s", says_more ? role : "", says_more ? "  " : "", members, ctas);
}

static const char *role_in_graph(const struct wsdbg_report_warps *w)
{
    if (w->state == WSDBG_WARP_EXITED)
        return "exited: cannot wake anybody";
    return wsdbg_warp_state_waits(w->state) ? NULL : "does not wait";
}

static void draw_node(const struct viewer_context *context, const struct viewer_wait_line *line,
                      const struct wsdbg_report_warps *w, int at, struct viewer_canvas *canvas)
{
    char text[256], since[24];
    const enum viewer_style look = line->in_cycle ? VIEWER_STYLE_STUCK : VIEWER_STYLE_TEXT;
    if (line->kind == VIEWER_WAIT_BACK) {
        viewer_put_glyph(canvas, 0, at, VIEWER_STYLE_STUCK, VIEWER_GLYPH_CYCLE);
        at = viewer_put(canvas, 0, at + 2, look, "back to ");
    }
    group_text(w, text, sizeof text);
    at = viewer_put(canvas, 0, at, look, text) + 2;
    if (line->kind == VIEWER_WAIT_NODE) {
        at = viewer_put(canvas, 0, at, line->in_cycle ? look : viewer_state_style(w->state),
                        wsdbg_warp_state_name(w->state)) +
             2;
        if (role_in_graph(w)) {
            viewer_put_glyph(canvas, 0, at, VIEWER_STYLE_BAD, VIEWER_GLYPH_MARK);
            at = viewer_put(canvas, 0, at + 2, VIEWER_STYLE_STRONG, role_in_graph(w)) + 2;
        }
        viewer_warps_time_text(context->picture, w, since, sizeof since);
        at = since[0] ? viewer_put(canvas, 0, at, VIEWER_STYLE_TEXT, since) + 2 : at;
    } else if (line->kind == VIEWER_WAIT_ABOVE) {
        at = viewer_put(canvas, 0, at, VIEWER_STYLE_DIM, "(see its own lines)") + 2;
    }
    if (line->why && line->why[0])
        viewer_print(canvas, 0, at, VIEWER_STYLE_DIM, "(%s%s)", line->why, line->other_cta ? ", in another CTA" : "");
}

static void draw_barrier(const struct wsdbg_stored_graph *graph, const struct viewer_wait_line *line, int at,
                         struct viewer_canvas *canvas)
{
    char text[192];
    if (line->one_barrier || line->barrier == WSDBG_NONE)
        wsdbg_report_wait_text(&graph->warps[line->node], text, sizeof text);
    else
        wsdbg_report_barrier_text(&graph->barriers[line->barrier], text, sizeof text);
    const int end = viewer_put(canvas, 0, at, line->in_cycle ? VIEWER_STYLE_STUCK : VIEWER_STYLE_WAITING, text);
    if (line->barrier != WSDBG_NONE) {
        wsdbg_report_barrier_state_text(&graph->barriers[line->barrier], text, sizeof text);
        viewer_put(canvas, 0, end + 2, VIEWER_STYLE_DIM, text);
    }
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct viewer_wait_tree *tree = context->state;
    const struct viewer_wait_line *line = &tree->lines[row->data];
    const int at = draw_rails(line, canvas);
    if (line->kind == VIEWER_WAIT_NOBODY) {
        const int end = viewer_put(canvas, 0, at, VIEWER_STYLE_UNKNOWN, "?");
        viewer_put(canvas, 0, end + 1, VIEWER_STYLE_DIM, "nobody is known that could end this wait");
    } else if (line->kind == VIEWER_WAIT_BARRIER) {
        draw_barrier(&tree->graph, line, at, canvas);
    } else {
        draw_node(context, line, &tree->graph.warps[line->node], at, canvas);
    }
}

static void draw_header(struct viewer_context *context, struct viewer_canvas *canvas)
{
    const char *arrow = viewer_glyph_text(canvas, VIEWER_GLYPH_ARROW);
    if (context->picture->diagnosis)
        viewer_print(canvas, 0, 0, VIEWER_STYLE_HEADER, "WAITS %s ON %s COULD BE ENDED BY", arrow, arrow);
    else
        viewer_print(canvas, 0, 0, VIEWER_STYLE_HEADER, "WAITS %s ON   (no verdict yet: who could end it is not known)",
                     arrow);
}

static const char *nothing(const struct viewer_context *context)
{
    const struct wsdbg_snapshot *s = context->picture->snapshot;
    return s && s->warp_count > 0 ? "No warp that passes the filter waits." : viewer_nothing_text(context);
}

/* The first line of the group that a warp is in. */
static size_t find(struct viewer_context *context, const struct viewer_rows *rows, struct viewer_object object)
{
    const struct viewer_wait_tree *tree = context->state;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].object.kind == object.kind && rows->rows[i].object.index == object.index)
            return i;
    const struct wsdbg_snapshot *snapshot = context->picture->snapshot;
    if (object.kind != VIEWER_OBJECT_WARP || !snapshot || object.index >= snapshot->warp_count)
        return SIZE_MAX;
    const uint32_t node = tree->graph.node_of_warp[object.index];
    for (size_t i = 0; node != WSDBG_NONE && i < rows->count; i++)
        if (tree->lines[rows->rows[i].data].kind == VIEWER_WAIT_NODE && tree->lines[rows->rows[i].data].node == node)
            return i;
    return SIZE_MAX;
}

const struct viewer_view viewer_graph = {
    .name = "graph",
    .key = 'W',
    .summary = "who waits for whom; cycles are marked and closed",
    .state_bytes = sizeof(struct viewer_wait_tree),
    .header_lines = 1,
    .draw_header = draw_header,
    .build = build,
    .draw_row = draw_row,
    .nothing = nothing,
    .find = find,
    .deinit = deinit,
};
