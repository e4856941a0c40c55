/* canvas.h - where views draw: a rectangle of terminal cells, clipped, with styles that mean something.
 *
 * Two backends behind one set of calls: the ncurses screen, and a line of plain text (what search looks through).
 * Text is escaped (control characters, broken UTF-8) and cut to the rectangle by display width, so a view may pass
 * any name as it is.  Colours: none with NO_COLOR, else 8, 16 or 256 as the terminal has; every style stays told
 * apart without colour (bold, underline, reverse).
 */
#ifndef VIEWER_CANVAS_H
#define VIEWER_CANVAS_H

#include <stdarg.h>
#include <stdbool.h>

#include "model/snapshot.h"

enum viewer_style {
    VIEWER_STYLE_TEXT,
    VIEWER_STYLE_DIM,
    VIEWER_STYLE_STRONG,
    VIEWER_STYLE_TITLE,
    VIEWER_STYLE_HEADER,  /* column titles */
    VIEWER_STYLE_MOVING,  /* runs */
    VIEWER_STYLE_WAITING, /* waits for somebody */
    VIEWER_STYLE_STUCK,   /* is part of a cycle, or named by the verdict */
    VIEWER_STYLE_GONE,    /* exited */
    VIEWER_STYLE_UNKNOWN, /* ? */
    VIEWER_STYLE_GOOD,
    VIEWER_STYLE_BAD,
    VIEWER_STYLE_MATCH,   /* found by search */
    VIEWER_STYLE_COUNT
};

enum viewer_glyph {
    VIEWER_GLYPH_CLOSED, VIEWER_GLYPH_OPEN, VIEWER_GLYPH_ARROW, VIEWER_GLYPH_BRANCH, VIEWER_GLYPH_LAST_BRANCH,
    VIEWER_GLYPH_RAIL, VIEWER_GLYPH_LINE, VIEWER_GLYPH_BLOCK, VIEWER_GLYPH_HALF_BLOCK, VIEWER_GLYPH_LIGHT,
    VIEWER_GLYPH_MARK, VIEWER_GLYPH_STALL, VIEWER_GLYPH_CYCLE, VIEWER_GLYPH_ELLIPSIS, VIEWER_GLYPH_DOT, VIEWER_GLYPH_COUNT
};

struct viewer_canvas;

int viewer_canvas_columns(const struct viewer_canvas *canvas);
int viewer_canvas_rows(const struct viewer_canvas *canvas);

/* True for a line of text that nobody looks at: pictures in it need not be drawn. */
bool viewer_canvas_is_text(const struct viewer_canvas *canvas);

/* Writes at (row, column), clipped.  Returns the column after it.  A column past the edge is fine. */
int viewer_put(struct viewer_canvas *canvas, int row, int column, enum viewer_style style, const char *text);
int viewer_print(struct viewer_canvas *canvas, int row, int column, enum viewer_style style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Writes text in exactly `width` columns: padded, or cut with an ellipsis; right-aligned when width is negative. */
int viewer_cell(struct viewer_canvas *canvas, int row, int column, int width, enum viewer_style style,
                const char *text);
int viewer_put_glyph(struct viewer_canvas *canvas, int row, int column, enum viewer_style style,
                     enum viewer_glyph glyph);
/* The glyph as text: UTF-8, or ASCII where the terminal has no UTF-8. */
const char *viewer_glyph_text(const struct viewer_canvas *canvas, enum viewer_glyph glyph);

/* The style for a warp in a state. */
enum viewer_style viewer_state_style(enum wsdbg_warp_state state);

#endif
