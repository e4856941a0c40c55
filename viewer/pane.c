/* pane.c - see pane.h. */
#include "viewer/pane.h"

#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 4096
#define PATH_ROWS 8

static bool same_object(struct viewer_object a, struct viewer_object b)
{
    return a.kind == b.kind && a.index == b.index && a.part == b.part;
}

static bool same_row(const struct viewer_row *a, const struct viewer_row *b)
{
    return same_object(a->object, b->object) && a->data == b->data;
}

struct wsdbg_error *viewer_pane_init(struct viewer_pane *pane, const struct viewer_view *view)
{
    *pane = (struct viewer_pane){.view = view, .stale = true};
    pane->context.viewer = pane;
    if (view->state_bytes) {
        pane->context.state = calloc(1, view->state_bytes);
        if (!pane->context.state)
            return &wsdbg_error_no_memory;
    }
    return NULL;
}

void viewer_pane_deinit(struct viewer_pane *pane)
{
    if (pane->view && pane->view->deinit && pane->context.state)
        pane->view->deinit(pane->context.state);
    free(pane->context.state);
    free(pane->rows.rows);
    free(pane->open);
    *pane = (struct viewer_pane){0};
}

/* ---- folds ---- */

static struct viewer_row *find_open(const struct viewer_pane *pane, const struct viewer_row *row)
{
    for (size_t i = 0; i < pane->open_count; i++)
        if (same_row(&pane->open[i], row))
            return &pane->open[i];
    return NULL;
}

bool viewer_is_open(const struct viewer_context *context, const struct viewer_row *row)
{
    return find_open(context->viewer, row) != NULL;
}

static void set_open(struct viewer_pane *pane, const struct viewer_row *row, bool open)
{
    struct viewer_row *found = find_open(pane, row);
    if ((found != NULL) == open)
        return;
    pane->stale = true;
    if (found) {
        *found = pane->open[--pane->open_count];
        return;
    }
    if (pane->open_count == pane->open_capacity) {
        const size_t capacity = pane->open_capacity ? 2 * pane->open_capacity : 16;
        struct viewer_row *grown = realloc(pane->open, capacity * sizeof *grown);
        if (!grown)
            return;
        pane->open = grown;
        pane->open_capacity = capacity;
    }
    pane->open[pane->open_count++] = *row;
}

bool viewer_pane_fold(struct viewer_pane *pane, bool open)
{
    const struct viewer_row *row = viewer_pane_row(pane);
    if (!row || !row->foldable || row->open == open)
        return false;
    set_open(pane, row, open);
    viewer_pane_refresh(pane);
    return true;
}

void viewer_pane_parent(struct viewer_pane *pane)
{
    const struct viewer_row *row = viewer_pane_row(pane);
    if (!row)
        return;
    for (size_t i = pane->selected; i-- > 0;)
        if (pane->rows.rows[i].depth < row->depth) {
            viewer_pane_select(pane, i);
            return;
        }
}

/* ---- rows ---- */

const struct viewer_row *viewer_pane_row(const struct viewer_pane *pane)
{
    return pane->selected < pane->rows.count ? &pane->rows.rows[pane->selected] : NULL;
}

static void stay_inside(struct viewer_pane *pane)
{
    const size_t lines = pane->context.lines > 0 ? (size_t)pane->context.lines : 1;
    if (pane->rows.count == 0)
        pane->selected = 0;
    else if (pane->selected >= pane->rows.count)
        pane->selected = pane->rows.count - 1;
    if (pane->selected < pane->top)
        pane->top = pane->selected;
    if (pane->selected >= pane->top + lines)
        pane->top = pane->selected - lines + 1;
    if (pane->top + lines > pane->rows.count)
        pane->top = pane->rows.count > lines ? pane->rows.count - lines : 0;
    const struct viewer_row *row = viewer_pane_row(pane);
    pane->context.selected = row ? row->object : (struct viewer_object){0};
}

/* The row that stood under the cursor, where it still is. */
static void stand_on(struct viewer_pane *pane, const struct viewer_row *before)
{
    if (pane->selected < pane->rows.count && same_row(&pane->rows.rows[pane->selected], before))
        return;
    for (size_t i = 0; i < pane->rows.count; i++)
        if (same_row(&pane->rows.rows[i], before)) {
            pane->selected = i;
            return;
        }
}

void viewer_pane_refresh(struct viewer_pane *pane)
{
    if (!pane->stale)
        return;
    const struct viewer_row *row = viewer_pane_row(pane);
    const struct viewer_row before = row ? *row : (struct viewer_row){0};
    pane->stale = false;
    pane->rows.count = 0;
    pane->trouble[0] = '\0';
    struct wsdbg_error *error = pane->view->build(&pane->context, &pane->rows);
    if (error)
        snprintf(pane->trouble, sizeof pane->trouble, "%s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    if (pane->follow && pane->rows.count > 0)
        pane->selected = pane->rows.count - 1;
    else if (row)
        stand_on(pane, &before);
    stay_inside(pane);
}

void viewer_pane_fit(struct viewer_pane *pane, int lines, int columns)
{
    const int header = pane->view->header_lines;
    const int room = lines > header ? lines - header : 0;
    if (room == pane->context.lines && columns == pane->context.columns)
        return;
    pane->context.lines = room;
    pane->context.columns = columns;
    pane->stale = true;
}

void viewer_pane_select(struct viewer_pane *pane, size_t row)
{
    pane->selected = row;
    pane->follow = pane->view->follows && row + 1 >= pane->rows.count;
    stay_inside(pane);
}

void viewer_pane_move(struct viewer_pane *pane, long rows)
{
    const long target = (long)pane->selected + rows;
    viewer_pane_select(pane, target < 0 ? 0 : (size_t)target);
}

size_t viewer_pane_row_at(const struct viewer_pane *pane, int line)
{
    const int below = line - pane->view->header_lines;
    if (below < 0 || below >= pane->context.lines)
        return SIZE_MAX;
    const size_t row = pane->top + (size_t)below;
    return row < pane->rows.count ? row : SIZE_MAX;
}

static size_t row_of(struct viewer_pane *pane, struct viewer_object object)
{
    if (pane->view->find)
        return pane->view->find(&pane->context, &pane->rows, object);
    for (size_t i = 0; i < pane->rows.count; i++)
        if (same_object(pane->rows.rows[i].object, object))
            return i;
    return SIZE_MAX;
}

bool viewer_pane_find(struct viewer_pane *pane, struct viewer_object object)
{
    struct viewer_row path[PATH_ROWS];
    viewer_pane_refresh(pane);
    size_t row = row_of(pane, object);
    if (row == SIZE_MAX && pane->view->path) {
        const size_t count = pane->view->path(&pane->context, object, path, PATH_ROWS);
        for (size_t i = 0; i < count; i++)
            set_open(pane, &path[i], true);
        viewer_pane_refresh(pane);
        row = row_of(pane, object);
    }
    if (row == SIZE_MAX)
        return false;
    viewer_pane_select(pane, row);
    return true;
}

void viewer_pane_arrive(struct viewer_pane *pane, struct viewer_object from)
{
    viewer_pane_refresh(pane);
    if (!pane->view->arrive)
        return;
    const struct viewer_object wanted = pane->view->arrive(&pane->context, from);
    pane->context.visited = pane->context.visited || pane->rows.count > 0;
    if (wanted.kind == VIEWER_OBJECT_NONE || !viewer_pane_find(pane, wanted))
        return;
    const size_t above = pane->context.lines > 0 ? (size_t)pane->context.lines / 2 : 0;
    pane->top = pane->selected > above ? pane->selected - above : 0;
    stay_inside(pane);
}

/* ---- search ---- */

/* The row's text as it would be drawn, and for each byte its column. */
static bool row_text(struct viewer_pane *pane, const struct viewer_row *row, char *out, int *map)
{
    const int columns = pane->context.columns > 0 ? pane->context.columns : 1;
    char(*cells)[VIEWER_CELL_BYTES] = malloc((size_t)columns * sizeof *cells);
    struct viewer_look look;
    if (!cells)
        return false;
    viewer_look_plain(&look, true);
    struct viewer_canvas canvas = viewer_canvas_of_text(&look, cells, columns);
    pane->view->draw_row(&pane->context, row, &canvas);
    viewer_canvas_text(&canvas, out, LINE_BYTES, map);
    free(cells);
    return true;
}

bool viewer_pane_search(struct viewer_pane *pane, const char *needle, int direction)
{
    char text[LINE_BYTES];
    const size_t count = pane->rows.count;
    for (size_t step = 1; step <= count; step++) {
        const size_t row = (pane->selected + (direction > 0 ? step : count - step)) % count;
        if (!row_text(pane, &pane->rows.rows[row], text, NULL) || !strcasestr(text, needle))
            continue;
        viewer_pane_select(pane, row);
        return true;
    }
    return false;
}

/* ---- drawing ---- */

static void change_look(const struct viewer_canvas *canvas, int row, int column, int count, attr_t attributes,
                        short pair)
{
    if (count > 0)
        mvchgat(canvas->top + row, canvas->left + column, count, attributes, pair, NULL);
}

static void highlight(struct viewer_pane *pane, const struct viewer_canvas *canvas, int line,
                      const struct viewer_row *row, const char *needle)
{
    char text[LINE_BYTES];
    int map[LINE_BYTES];
    if (!row_text(pane, row, text, map))
        return;
    for (const char *at = text; (at = strcasestr(at, needle)); at += strlen(needle)) {
        const int from = map[at - text], to = map[at - text + strlen(needle) - 1];
        change_look(canvas, line, from, to - from + 1, (attr_t)canvas->look->attributes[VIEWER_STYLE_MATCH],
                    canvas->look->pairs[VIEWER_STYLE_MATCH]);
    }
}

static void draw_one(struct viewer_pane *pane, struct viewer_canvas *canvas, int line, size_t number,
                     const char *needle)
{
    const struct viewer_row *row = &pane->rows.rows[number];
    struct viewer_canvas strip =
        viewer_canvas_of_screen(canvas->look, canvas->top + line, canvas->left, 1, canvas->columns);
    if (strip.rows < 1)
        return;
    pane->view->draw_row(&pane->context, row, &strip);
    if (needle[0])
        highlight(pane, canvas, line, row, needle);
    if (number == pane->selected)
        change_look(canvas, line, 0, strip.columns, A_REVERSE, 0);
}

static void draw_nothing(struct viewer_pane *pane, struct viewer_canvas *canvas, int line)
{
    const char *why = pane->trouble;
    if (!why[0])
        why = pane->view->nothing ? pane->view->nothing(&pane->context) : "nothing to show";
    viewer_put(canvas, line, 0, pane->trouble[0] ? VIEWER_STYLE_BAD : VIEWER_STYLE_DIM, why);
}

void viewer_pane_draw(struct viewer_pane *pane, struct viewer_canvas *canvas, const char *needle)
{
    const int header = pane->view->header_lines, lines = pane->context.lines;
    viewer_pane_refresh(pane);
    stay_inside(pane);
    if (pane->view->draw_header)
        pane->view->draw_header(&pane->context, canvas);
    for (int line = 0; line < lines && pane->top + (size_t)line < pane->rows.count; line++)
        draw_one(pane, canvas, header + line, pane->top + (size_t)line, needle);
    if (pane->rows.count == 0)
        draw_nothing(pane, canvas, header);
}
