/* query_aligned.c - prints the rows of a statement as aligned columns.  Reads a prepared statement, writes text.
 *
 * The statement runs twice, first for the widths, then for the rows, so that a table of any length needs no memory;
 * the caller's transaction makes both runs see the same rows.
 */
#include "store/query.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/sheet.h"
#include "base/text.h"

#define GAP 2          /* columns between two cells */
#define LEAST 12       /* a text column is not made narrower for the others' sake */
#define UPRIGHT_MOST 3 /* rows */
#define CUT_BYTES 4    /* room for the ellipsis that wsdbg_text_cut may add */

struct layout {
    const struct wsdbg_query_rows *rows;
    sqlite3_stmt *statement;
    int columns;
    size_t count; /* of rows */
    size_t *widths;
    bool *numeric;
    bool cut;
};

/* A copy of the cell's text, or the column's name.  NULL = no memory. */
static char *cell_source(const struct layout *layout, int column, bool heading)
{
    sqlite3_stmt *statement = layout->statement;
    if (heading)
        return strdup(sqlite3_column_name(statement, column));
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return strdup("?");
    return wsdbg_query_cell(layout->rows, column);
}

/* A cell as the table shows it, with room to be cut.  NULL = no memory. */
static char *shown_cell(const struct layout *layout, int column, bool heading)
{
    char *text = cell_source(layout, column, heading);
    char *escaped = text ? wsdbg_text_escape(text) : NULL;
    free(text);
    char *cell = escaped ? realloc(escaped, strlen(escaped) + CUT_BYTES) : NULL;
    if (!cell)
        free(escaped);
    return cell;
}

static bool measure_row(struct layout *layout, bool heading)
{
    for (int i = 0; i < layout->columns; i++) {
        char *cell = shown_cell(layout, i, heading);
        if (!cell)
            return false;
        const size_t width = wsdbg_text_width(cell);
        const int type = heading ? SQLITE_NULL : sqlite3_column_type(layout->statement, i);
        if (width > layout->widths[i])
            layout->widths[i] = width;
        if (type != SQLITE_NULL && type != SQLITE_INTEGER && type != SQLITE_FLOAT)
            layout->numeric[i] = false;
        free(cell);
    }
    return true;
}

static int measure(struct layout *layout)
{
    int status;
    for (int i = 0; i < layout->columns; i++)
        layout->numeric[i] = true;
    if (!measure_row(layout, true))
        return SQLITE_NOMEM;
    for (; (status = sqlite3_step(layout->statement)) == SQLITE_ROW; layout->count++)
        if (!measure_row(layout, false))
            return SQLITE_NOMEM;
    sqlite3_reset(layout->statement);
    return status;
}

/* Takes from the widest text column until the table fits, or nothing more can be taken. */
static void fit(struct layout *layout, size_t columns)
{
    size_t total = 0;
    for (int i = 0; i < layout->columns; i++)
        total += layout->widths[i] + (i ? GAP : 0);
    for (; total > columns; total--) {
        int widest = -1;
        for (int i = 0; i < layout->columns; i++)
            if (!layout->numeric[i] && layout->widths[i] > (widest < 0 ? LEAST : layout->widths[widest]))
                widest = i;
        if (widest < 0)
            return;
        layout->widths[widest]--;
        layout->cut = true;
    }
}

static bool print_row(const struct layout *layout, bool heading, FILE *out)
{
    for (int i = 0; i < layout->columns; i++) {
        char *cell = shown_cell(layout, i, heading);
        if (!cell)
            return false;
        wsdbg_text_cut(cell, layout->widths[i]);
        const bool last = i == layout->columns - 1;
        const int pad = (int)(layout->widths[i] - wsdbg_text_width(cell));
        if (layout->numeric[i])
            fprintf(out, "%*s%s", pad, "", cell);
        else
            fprintf(out, "%s%*s", cell, last ? 0 : pad, "");
        fprintf(out, "%*s", last ? 0 : GAP, "");
        free(cell);
    }
    fputc('\n', out);
    return true;
}

static int print_rows(const struct layout *layout, FILE *out)
{
    int status;
    if (!print_row(layout, true, out))
        return SQLITE_NOMEM;
    while ((status = sqlite3_step(layout->statement)) == SQLITE_ROW)
        if (!print_row(layout, false, out))
            return SQLITE_NOMEM;
    if (layout->cut)
        fputs("(… marks what does not fit on the terminal; a pipe or a file gets it whole)\n", out);
    return status;
}

/* ---- few rows whose texts do not fit: each column in a line of its own ---- */

static size_t widest_name(const struct layout *layout)
{
    size_t widest = 0;
    for (int i = 0; i < layout->columns; i++) {
        const size_t width = wsdbg_text_width(sqlite3_column_name(layout->statement, i));
        widest = width > widest ? width : widest;
    }
    return widest;
}

static bool put_column(const struct layout *layout, int column, size_t name_columns)
{
    const struct wsdbg_sheet sheet = {.file = layout->rows->out, .columns = layout->rows->columns};
    char *name = shown_cell(layout, column, true), *cell = shown_cell(layout, column, false), *first = NULL;
    const bool good =
        name && cell && asprintf(&first, "%s:%*s", name, (int)(name_columns - wsdbg_text_width(name)) + 1, "") >= 0;
    if (good)
        wsdbg_sheet_put(&sheet, NULL, first, name_columns + GAP, SIZE_MAX, *cell ? cell : " ");
    if (good)
        free(first);
    free(name);
    free(cell);
    return good;
}

static int print_upright(const struct layout *layout)
{
    int status;
    const size_t name_columns = widest_name(layout);
    for (bool begins = true; (status = sqlite3_step(layout->statement)) == SQLITE_ROW; begins = false) {
        fputs(begins ? "" : "\n", layout->rows->out);
        for (int i = 0; i < layout->columns; i++)
            if (!put_column(layout, i, name_columns))
                return SQLITE_NOMEM;
    }
    return status;
}

int wsdbg_query_print_aligned(const struct wsdbg_query_rows *rows)
{
    struct layout layout = {
        .rows = rows, .statement = rows->statement, .columns = sqlite3_column_count(rows->statement)};
    layout.widths = calloc((size_t)layout.columns + 1, sizeof *layout.widths);
    layout.numeric = calloc((size_t)layout.columns + 1, sizeof *layout.numeric);
    int status = layout.widths && layout.numeric ? measure(&layout) : SQLITE_NOMEM;
    if (status == SQLITE_DONE) {
        if (rows->columns)
            fit(&layout, rows->columns);
        status = layout.cut && layout.count <= UPRIGHT_MOST ? print_upright(&layout) : print_rows(&layout, rows->out);
    }
    free(layout.widths);
    free(layout.numeric);
    return status;
}
