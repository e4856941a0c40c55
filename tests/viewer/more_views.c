/* more_views.c - a viewer with two views more than the program has: what it looks like once somebody adds some.  It
 * brings its own table of views, in place of viewer/views.c.  Use: more_views FILE.db */
#include <stdio.h>

#include "store/store.h"
#include "viewer/keys.h"
#include "viewer/viewer.h"

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    (void)context;
    return viewer_rows_add(rows, &(struct viewer_row){0}) ? NULL : &wsdbg_error_no_memory;
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    (void)context;
    (void)row;
    viewer_put(canvas, 0, 0, VIEWER_STYLE_TEXT, "a row of an added view");
}

static const struct viewer_view with_letter = {
    .name = "memory", .key = 'M', .summary = "has a letter and no digit", .build = build, .draw_row = draw_row};
static const struct viewer_view without_keys = {
    .name = "notes", .summary = "has neither a letter nor a digit", .build = build, .draw_row = draw_row};

const struct viewer_view *const viewer_views[] = {
    &viewer_overview,
    &viewer_cause,
    &viewer_warps,
    &viewer_barriers,
    &viewer_graph,
    &viewer_timeline,
    &viewer_source_lines,
    &viewer_registers,
    &viewer_log,
    &viewer_ranks,
    &with_letter,
    &without_keys,
    &viewer_help,
    NULL,
};

static int leave_with(struct wsdbg_error *error)
{
    if (error)
        fprintf(stderr, "more_views: %s\n", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return error ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct wsdbg_store *store;
    struct viewer_source *source;
    struct viewer *viewer = NULL;
    int signal_number = 0;
    struct wsdbg_error *error = wsdbg_store_open(argc > 1 ? argv[1] : "", &store);
    if (!error)
        error = viewer_source_open_database(store, &source);
    if (!error)
        error = viewer_open(&(struct viewer_options){.title = argv[1]}, source, &viewer);
    if (!error)
        error = viewer_run(viewer, &signal_number);
    viewer_close(viewer);
    return leave_with(error);
}
