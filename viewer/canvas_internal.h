/* canvas_internal.h - private to the viewer's frame: making canvases.  Views see canvas.h alone. */
#ifndef VIEWER_CANVAS_INTERNAL_H
#define VIEWER_CANVAS_INTERNAL_H

#include <stddef.h>

#include "viewer/style.h"

#define VIEWER_CELL_BYTES 24 /* a character and the combining ones behind it */

struct viewer_canvas {
    const struct viewer_look *look;
    int top, left, rows, columns;
    char (*cells)[VIEWER_CELL_BYTES]; /* one line of plain text; NULL = the screen */
};

/* A rectangle of the screen, cut to it. */
struct viewer_canvas viewer_canvas_of_screen(const struct viewer_look *look, int top, int left, int rows, int columns);
/* One line of plain text of `columns`; `cells` holds that many. */
struct viewer_canvas viewer_canvas_of_text(const struct viewer_look *look, char (*cells)[VIEWER_CELL_BYTES],
                                           int columns);
/* The line's text, without trailing blanks, into out.  With `map`, map[i] is the column of byte i. */
void viewer_canvas_text(const struct viewer_canvas *canvas, char *out, size_t bytes, int *map);

#endif
