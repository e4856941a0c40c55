/* columns.h - the columns of a view: which of them fit, and where.  Narrow screens lose the least important ones. */
#ifndef VIEWER_COLUMNS_H
#define VIEWER_COLUMNS_H

#include "viewer/view.h"

#define VIEWER_COLUMNS_MAX 12

struct viewer_column {
    const char *title;
    int width;  /* negative = right-aligned */
    int weight; /* the lowest one leaves first; those of weight 0 stay */
    bool grows; /* takes the room that is left; one column of a view */
};

struct viewer_place {
    int at, width; /* width 0 = no room; negative = right-aligned */
};

/* Fills a place for each of `count` columns (at most VIEWER_COLUMNS_MAX) in `room` screen columns. */
void viewer_columns_place(const struct viewer_column *columns, int count, int room, struct viewer_place *places);
/* Draws the titles on row `row` of the canvas. */
void viewer_columns_header(struct viewer_canvas *canvas, int row, const struct viewer_column *columns, int count);
/* Draws one cell on a row of one line; nothing where the column has no room. */
void viewer_columns_cell(struct viewer_canvas *canvas, struct viewer_place place, enum viewer_style style,
                         const char *text);
/* Draws the first column of a tree: indentation, the mark of a fold, text. */
void viewer_draw_fold(struct viewer_canvas *canvas, const struct viewer_row *row, int width, enum viewer_style style,
                      const char *text);

#endif
