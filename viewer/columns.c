/* columns.c - see columns.h.  Pure arithmetic, and cells on a canvas. */
#include "viewer/columns.h"

#include <stdlib.h>

static int needed(const struct viewer_column *columns, int count, const bool *kept)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += kept[i] ? abs(columns[i].width) + 1 : 0;
    return sum - 1;
}

/* The column to give up next; -1 = all that are left must stay. */
static int least(const struct viewer_column *columns, int count, const bool *kept)
{
    int found = -1;
    for (int i = 0; i < count; i++)
        if (kept[i] && columns[i].weight > 0 && (found < 0 || columns[i].weight < columns[found].weight))
            found = i;
    return found;
}

void viewer_columns_place(const struct viewer_column *columns, int count, int room, struct viewer_place *places)
{
    bool kept[VIEWER_COLUMNS_MAX];
    for (int i = 0; i < count; i++)
        kept[i] = true;
    for (int i; needed(columns, count, kept) > room && (i = least(columns, count, kept)) >= 0;)
        kept[i] = false;
    const int left = room - needed(columns, count, kept);
    int at = 0;
    for (int i = 0; i < count; i++) {
        places[i] = (struct viewer_place){at, 0};
        if (!kept[i])
            continue;
        int width = abs(columns[i].width) + (columns[i].grows && left > 0 ? left : 0);
        if (at + width > room)
            width = room > at ? room - at : 0;
        places[i].width = columns[i].width < 0 ? -width : width;
        at += width + 1;
    }
}

void viewer_columns_header(struct viewer_canvas *canvas, int row, const struct viewer_column *columns, int count)
{
    struct viewer_place places[VIEWER_COLUMNS_MAX];
    viewer_columns_place(columns, count, viewer_canvas_columns(canvas), places);
    for (int i = 0; i < count; i++)
        if (places[i].width != 0)
            viewer_cell(canvas, row, places[i].at, places[i].width, VIEWER_STYLE_HEADER, columns[i].title);
}

void viewer_columns_cell(struct viewer_canvas *canvas, struct viewer_place place, enum viewer_style style,
                         const char *text)
{
    if (place.width != 0)
        viewer_cell(canvas, 0, place.at, place.width, style, text);
}

void viewer_draw_fold(struct viewer_canvas *canvas, const struct viewer_row *row, int width, enum viewer_style style,
                      const char *text)
{
    const int at = 2 * row->depth + 2;
    if (row->foldable)
        viewer_put_glyph(canvas, 0, at - 2, VIEWER_STYLE_DIM, row->open ? VIEWER_GLYPH_OPEN : VIEWER_GLYPH_CLOSED);
    if (width > at)
        viewer_cell(canvas, 0, at, width - at, style, text);
}
