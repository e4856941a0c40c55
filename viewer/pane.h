/* pane.h - private to the viewer's frame: one view with its rows, cursor, folds and search.
 *
 * Reads: the picture, through the view.  Writes: a canvas.  The cursor stands on a row's object, not on its number,
 * so that it stays where it is when rows come and go.
 */
#ifndef VIEWER_PANE_H
#define VIEWER_PANE_H

#include "viewer/canvas_internal.h"
#include "viewer/view.h"

struct viewer_pane {
    const struct viewer_view *view;
    struct viewer_context context;
    struct viewer_rows rows;
    size_t selected, top;
    bool follow; /* the reader went to the last row of a view whose rows are followed */
    struct viewer_row *open; /* rows that were unfolded: object and data */
    size_t open_count, open_capacity;
    bool stale;        /* the rows are of another picture, filter or size */
    char trouble[160]; /* why the rows could not be made, "" = nothing */
};

struct wsdbg_error *viewer_pane_init(struct viewer_pane *pane, const struct viewer_view *view);
void viewer_pane_deinit(struct viewer_pane *pane);

/* The room for header lines and rows; another one makes the rows stale. */
void viewer_pane_fit(struct viewer_pane *pane, int lines, int columns);
/* Makes the rows again if they are stale. */
void viewer_pane_refresh(struct viewer_pane *pane);
/* Header lines and rows; `needle` ("" = none) is highlighted. */
void viewer_pane_draw(struct viewer_pane *pane, struct viewer_canvas *canvas, const char *needle);

/* Moves the cursor by `rows`, at most to either end. */
void viewer_pane_move(struct viewer_pane *pane, long rows);
void viewer_pane_select(struct viewer_pane *pane, size_t row);
const struct viewer_row *viewer_pane_row(const struct viewer_pane *pane);
/* The row at a line of the canvas, SIZE_MAX = none. */
size_t viewer_pane_row_at(const struct viewer_pane *pane, int line);

/* Opens or closes the row under the cursor; false when it cannot be. */
bool viewer_pane_fold(struct viewer_pane *pane, bool open);
/* Moves to the row that holds the one under the cursor. */
void viewer_pane_parent(struct viewer_pane *pane);
/* Stands on the row of an object, unfolding what hides it; false when it has none here. */
bool viewer_pane_find(struct viewer_pane *pane, struct viewer_object object);
/* Stands on what the view wants to show somebody who comes from `from` in another view, in the middle of the screen. */
void viewer_pane_arrive(struct viewer_pane *pane, struct viewer_object from);
/* Moves to the next row (direction 1) or the one before (-1) whose text has the needle, round the end. */
bool viewer_pane_search(struct viewer_pane *pane, const char *needle, int direction);

#endif
