/* view_help.c - what the keys do, made from the key table and the views' own keys.  Reads tables only. */
#include <stdio.h>

#include "viewer/keys.h"

/* What a row shows, in the upper half of its data; the lower half is a number in that table. */
enum part { TITLE, BINDING, VIEW, VIEW_KEY, SORTS, MARK, BLANK };
#define DATA(part, number) ((uint64_t)(part) << 32 | (uint64_t)(number))
#define PART(row) ((enum part)((row)->data >> 32))
#define NUMBER(row) ((uint32_t)(row)->data)

enum { KEY_COLUMNS = 14, INDENT = 2 };
static const char *const titles[] = {"Keys", "Views, and keys of their own", "Marks of warps and barriers"};
static const struct {
    enum viewer_glyph glyph;
    const char *means;
} marks[] = {{VIEWER_GLYPH_CYCLE, "part of a cycle of waits"}, {VIEWER_GLYPH_MARK, "the verdict rests on it"}};

static bool add(struct viewer_rows *rows, enum part part, size_t number, uint32_t index)
{
    const struct viewer_row row = {.object = {VIEWER_OBJECT_NONE, index, 0}, .data = DATA(part, number)};
    return viewer_rows_add(rows, &row);
}

static bool add_view(struct viewer_rows *rows, uint32_t number)
{
    const struct viewer_view *view = viewer_views[number];
    bool fine = add(rows, VIEW, 0, number);
    for (size_t i = 0; fine && view->keys && view->keys[i].keys; i++)
        fine = add(rows, VIEW_KEY, i, number);
    return fine && (!view->sorts || add(rows, SORTS, 0, number));
}

static struct wsdbg_error *build(struct viewer_context *context, struct viewer_rows *rows)
{
    (void)context;
    bool fine = add(rows, TITLE, 0, 0);
    for (size_t i = 0; fine && viewer_bindings[i].action; i++)
        fine = !viewer_bindings[i].text.keys || add(rows, BINDING, i, 0);
    fine = fine && add(rows, BLANK, 0, 0) && add(rows, TITLE, 1, 0);
    for (uint32_t i = 0; fine && viewer_views[i]; i++)
        fine = add_view(rows, i);
    fine = fine && add(rows, BLANK, 0, 0) && add(rows, TITLE, 2, 0);
    for (size_t i = 0; fine && i < sizeof marks / sizeof *marks; i++)
        fine = add(rows, MARK, i, 0);
    return fine ? NULL : &wsdbg_error_no_memory;
}

static void draw_mark(struct viewer_canvas *canvas, uint32_t number)
{
    viewer_put_glyph(canvas, 0, INDENT, VIEWER_STYLE_STUCK, marks[number].glyph);
    viewer_put(canvas, 0, KEY_COLUMNS, VIEWER_STYLE_TEXT, marks[number].means);
}

static void draw_key(struct viewer_canvas *canvas, int indent, const struct viewer_key *key)
{
    viewer_cell(canvas, 0, indent, KEY_COLUMNS - indent, VIEWER_STYLE_STRONG, key->keys);
    viewer_put(canvas, 0, KEY_COLUMNS, VIEWER_STYLE_TEXT, key->does);
}

static void draw_view(struct viewer_canvas *canvas, uint32_t number)
{
    const struct viewer_view *view = viewer_views[number];
    const char digit = viewer_digit(number);
    char keys[16] = "Tab"; /* which opens every view, from the one before it */
    if (digit || view->key)
        snprintf(keys, sizeof keys, "%c %c", digit ? digit : ' ', view->key ? view->key : ' ');
    viewer_cell(canvas, 0, INDENT, 6, VIEWER_STYLE_STRONG, keys);
    viewer_cell(canvas, 0, INDENT + 6, KEY_COLUMNS - INDENT - 6 + 4, VIEWER_STYLE_TITLE, view->name);
    viewer_put(canvas, 0, KEY_COLUMNS + 5, VIEWER_STYLE_TEXT, view->summary ? view->summary : "");
}

static void draw_sorts(struct viewer_canvas *canvas, const struct viewer_view *view)
{
    int at = viewer_put(canvas, 0, KEY_COLUMNS + 5, VIEWER_STYLE_DIM, "s sorts by ");
    for (size_t i = 0; view->sorts[i]; i++)
        at = viewer_print(canvas, 0, at, VIEWER_STYLE_DIM, "%s%s", i ? ", " : "", view->sorts[i]);
}

static void draw_row(struct viewer_context *context, const struct viewer_row *row, struct viewer_canvas *canvas)
{
    const struct viewer_view *view = viewer_views[row->object.index];
    (void)context;
    switch (PART(row)) {
    case TITLE:
        viewer_put(canvas, 0, 0, VIEWER_STYLE_TITLE, titles[NUMBER(row)]);
        break;
    case BINDING:
        draw_key(canvas, INDENT, &viewer_bindings[NUMBER(row)].text);
        break;
    case VIEW:
        draw_view(canvas, row->object.index);
        break;
    case VIEW_KEY:
        viewer_cell(canvas, 0, KEY_COLUMNS + 5, 10, VIEWER_STYLE_STRONG, view->keys[NUMBER(row)].keys);
        viewer_put(canvas, 0, KEY_COLUMNS + 16, VIEWER_STYLE_TEXT, view->keys[NUMBER(row)].does);
        break;
    case SORTS:
        draw_sorts(canvas, view);
        break;
    case MARK:
        draw_mark(canvas, NUMBER(row));
        break;
    case BLANK:
        break;
    }
}

const struct viewer_view viewer_help = {
    .name = "help",
    .summary = "this page",
    .build = build,
    .draw_row = draw_row,
};
