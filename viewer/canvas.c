/* canvas.c - see canvas.h.  Reads: text and looks.  Writes: the ncurses screen, or cells of text. */
#include "viewer/canvas_internal.h"

#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"

#define CHARACTER_BYTES 8

struct viewer_canvas viewer_canvas_of_screen(const struct viewer_look *look, int top, int left, int rows, int columns)
{
    if (top + rows > LINES)
        rows = LINES - top;
    if (left + columns > COLS)
        columns = COLS - left;
    return (struct viewer_canvas){
        .look = look, .top = top, .left = left, .rows = rows > 0 ? rows : 0, .columns = columns > 0 ? columns : 0};
}

struct viewer_canvas viewer_canvas_of_text(const struct viewer_look *look, char (*cells)[VIEWER_CELL_BYTES],
                                           int columns)
{
    for (int i = 0; i < columns; i++)
        strcpy(cells[i], " ");
    return (struct viewer_canvas){.look = look, .rows = 1, .columns = columns, .cells = cells};
}

int viewer_canvas_columns(const struct viewer_canvas *canvas)
{
    return canvas->columns;
}

int viewer_canvas_rows(const struct viewer_canvas *canvas)
{
    return canvas->rows;
}

bool viewer_canvas_is_text(const struct viewer_canvas *canvas)
{
    return canvas->cells != NULL;
}

const char *viewer_glyph_text(const struct viewer_canvas *canvas, enum viewer_glyph glyph)
{
    return viewer_look_glyph(canvas->look, glyph);
}

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e)
            return false;
    return true;
}

static void put_cell(struct viewer_canvas *canvas, int column, const char *character, size_t bytes, int width)
{
    char *cell = canvas->cells[width == 0 && column > 0 ? column - 1 : column];
    size_t have = width == 0 ? strlen(cell) : 0;
    if (have + bytes >= VIEWER_CELL_BYTES)
        return;
    memcpy(cell + have, character, bytes);
    cell[have + bytes] = '\0';
    for (int i = 1; i < width; i++)
        canvas->cells[column + i][0] = '\0';
}

static void put_screen(struct viewer_canvas *canvas, int row, int column, enum viewer_style style,
                       const char *character, size_t bytes)
{
    attr_set((attr_t)canvas->look->attributes[style], canvas->look->pairs[style], NULL);
    mvaddnstr(canvas->top + row, canvas->left + column, character, (int)bytes);
}

/* Text that is printable ASCII goes to the screen in one call. */
static int put_plain(struct viewer_canvas *canvas, int row, int column, enum viewer_style style, const char *text)
{
    const int length = (int)strlen(text), end = column + length;
    int from = column < 0 ? -column : 0;
    int count = (end > canvas->columns ? canvas->columns - column : length) - from;
    if (row >= 0 && row < canvas->rows && count > 0)
        put_screen(canvas, row, column + from, style, text + from, (size_t)count);
    return end;
}

/* A character that the C library, and so ncurses, takes for another width would shift what stands right of it. */
static bool can_show(const struct viewer_canvas *canvas, unsigned value, int width)
{
    return value < 0x80 || (canvas->look->utf8 && (canvas->cells || wcwidth((wchar_t)value) == width));
}

/* A combining character (width 0) joins the one before it; a wide one that does not fit whole is left out. */
static int put_characters(struct viewer_canvas *canvas, int row, int column, enum viewer_style style, const char *text)
{
    while (*text) {
        unsigned value;
        char character[CHARACTER_BYTES] = "";
        const size_t bytes = wsdbg_text_next(text, &value);
        memcpy(character, text, bytes < sizeof character ? bytes : 0);
        const int width = (int)wsdbg_text_width(character);
        const char *shown = can_show(canvas, value, width) ? character : "??";
        const size_t shown_bytes = shown == character ? bytes : (size_t)width;
        if (row >= 0 && row < canvas->rows && column >= 0 && column + width <= canvas->columns && shown_bytes > 0) {
            if (canvas->cells)
                put_cell(canvas, column, shown, shown_bytes, width);
            else if (width > 0)
                put_screen(canvas, row, column, style, shown, shown_bytes);
            else
                addnstr(shown, (int)shown_bytes);
        }
        column += width;
        text += bytes;
    }
    return column;
}

int viewer_put(struct viewer_canvas *canvas, int row, int column, enum viewer_style style, const char *text)
{
    if (!canvas->cells && is_plain(text))
        return put_plain(canvas, row, column, style, text);
    char *escaped = wsdbg_text_escape(text);
    if (!escaped)
        return column;
    const int end = put_characters(canvas, row, column, style, escaped);
    free(escaped);
    return end;
}

int viewer_print(struct viewer_canvas *canvas, int row, int column, enum viewer_style style, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return viewer_put(canvas, row, column, style, text);
}

int viewer_put_glyph(struct viewer_canvas *canvas, int row, int column, enum viewer_style style,
                     enum viewer_glyph glyph)
{
    return viewer_put(canvas, row, column, style, viewer_glyph_text(canvas, glyph));
}

static size_t bytes_that_fit(const char *text, int columns)
{
    size_t bytes = 0;
    int used = 0;
    while (text[bytes]) {
        unsigned value;
        char character[CHARACTER_BYTES] = "";
        const size_t length = wsdbg_text_next(text + bytes, &value);
        memcpy(character, text + bytes, length < sizeof character ? length : 0);
        used += (int)wsdbg_text_width(character);
        if (used > columns)
            break;
        bytes += length;
    }
    return bytes;
}

int viewer_cell(struct viewer_canvas *canvas, int row, int column, int width, enum viewer_style style, const char *text)
{
    const int room = width < 0 ? -width : width;
    char *escaped = wsdbg_text_escape(text);
    if (!escaped || room == 0) {
        free(escaped);
        return column + room;
    }
    const int needed = (int)wsdbg_text_width(escaped);
    if (needed > room) {
        escaped[bytes_that_fit(escaped, room - 1)] = '\0';
        const int end = viewer_put(canvas, row, column, style, escaped);
        viewer_put_glyph(canvas, row, end, style, VIEWER_GLYPH_ELLIPSIS);
    } else {
        viewer_put(canvas, row, width < 0 ? column + room - needed : column, style, escaped);
    }
    free(escaped);
    return column + room;
}

void viewer_canvas_text(const struct viewer_canvas *canvas, char *out, size_t bytes, int *map)
{
    size_t length = 0, end = 0;
    for (int column = 0; column < canvas->columns; column++) {
        const char *cell = canvas->cells[column];
        const size_t cell_bytes = strlen(cell);
        if (length + cell_bytes >= bytes)
            break;
        for (size_t i = 0; map && i < cell_bytes; i++)
            map[length + i] = column;
        memcpy(out + length, cell, cell_bytes);
        length += cell_bytes;
        if (strcmp(cell, " ") != 0)
            end = length;
    }
    out[end] = '\0';
}
