/* query_format.c - prints the rows of a statement: aligned columns, CSV (RFC 4180), or a JSON array.
 * Reads a prepared statement, writes text.  NULL is `?`, an empty field (an empty text is ""), or null. */
#include "store/query.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Wider cells are cut: a table must stay readable. */
#define CELL_COLUMNS 60

/* A cell as text: numbers short but exact enough, blobs as hexadecimal.  NULL = no memory. */
static char *cell_text(sqlite3_stmt *statement, int column)
{
    char *text = NULL;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_FLOAT:
        return asprintf(&text, "%.15g", sqlite3_column_double(statement, column)) < 0 ? NULL : text;
    case SQLITE_BLOB: {
        const unsigned char *bytes = sqlite3_column_blob(statement, column);
        const int count = sqlite3_column_bytes(statement, column);
        text = calloc(2 * (size_t)count + 1, 1);
        for (int i = 0; text && i < count; i++)
            sprintf(text + 2 * i, "%02x", bytes[i]);
        return text;
    }
    default: {
        const char *value = (const char *)sqlite3_column_text(statement, column);
        return strdup(value ? value : "");
    }
    }
}

struct table {
    char **cells; /* escaped, the header row first */
    size_t cell_count;
    bool *numeric;
    size_t *widths;
    int columns;
};

static bool add_cell(struct table *table, char *text, int column)
{
    char *cell = text ? wsdbg_text_escape(text) : NULL;
    free(text);
    if (!cell || !wsdbg_array_push(&table->cells, &table->cell_count, sizeof *table->cells)) {
        free(cell);
        return false;
    }
    wsdbg_text_cut(cell, CELL_COLUMNS);
    table->cells[table->cell_count - 1] = cell;
    const size_t width = wsdbg_text_width(cell);
    if (width > table->widths[column])
        table->widths[column] = width;
    return true;
}

static bool add_row(struct table *table, sqlite3_stmt *statement)
{
    for (int i = 0; i < table->columns; i++) {
        const int type = sqlite3_column_type(statement, i);
        if (type != SQLITE_NULL && type != SQLITE_INTEGER && type != SQLITE_FLOAT)
            table->numeric[i] = false;
        char *text = type == SQLITE_NULL ? strdup("?") : cell_text(statement, i);
        if (!add_cell(table, text, i))
            return false;
    }
    return true;
}

static int read_table(struct table *table, sqlite3_stmt *statement)
{
    table->columns = sqlite3_column_count(statement);
    table->numeric = calloc((size_t)table->columns + 1, sizeof *table->numeric);
    table->widths = calloc((size_t)table->columns + 1, sizeof *table->widths);
    if (!table->numeric || !table->widths)
        return SQLITE_NOMEM;
    for (int i = 0; i < table->columns; i++) {
        table->numeric[i] = true;
        if (!add_cell(table, strdup(sqlite3_column_name(statement, i)), i))
            return SQLITE_NOMEM;
    }
    int status;
    while ((status = sqlite3_step(statement)) == SQLITE_ROW)
        if (!add_row(table, statement))
            return SQLITE_NOMEM;
    return status;
}

static void print_table(const struct table *table, FILE *out)
{
    for (size_t i = 0; i < table->cell_count; i++) {
        const int column = (int)(i % (size_t)table->columns);
        const bool last = column == table->columns - 1;
        const int pad = (int)(table->widths[column] - wsdbg_text_width(table->cells[i]));
        const char *separator = last ? "\n" : "  ";
        if (table->numeric[column])
            fprintf(out, "%*s%s%s", pad, "", table->cells[i], separator);
        else
            fprintf(out, "%s%*s%s", table->cells[i], last ? 0 : pad, "", separator);
    }
}

static int print_aligned(sqlite3_stmt *statement, FILE *out)
{
    struct table table = {0};
    const int status = read_table(&table, statement);
    if (status == SQLITE_DONE)
        print_table(&table, out);
    for (size_t i = 0; i < table.cell_count; i++)
        free(table.cells[i]);
    free(table.cells);
    free(table.numeric);
    free(table.widths);
    return status;
}

static void print_csv_field(const char *text, FILE *out)
{
    if (*text && !strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', out);
}

static int print_csv(sqlite3_stmt *statement, FILE *out)
{
    int status;
    const int columns = sqlite3_column_count(statement);
    for (int i = 0; i < columns; i++) {
        fputs(i ? "," : "", out);
        print_csv_field(sqlite3_column_name(statement, i), out);
    }
    fputs("\r\n", out);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++) {
            char *text = sqlite3_column_type(statement, i) == SQLITE_NULL ? NULL : cell_text(statement, i);
            fputs(i ? "," : "", out);
            if (text)
                print_csv_field(text, out);
            free(text);
        }
        fputs("\r\n", out);
    }
    return status;
}

static void print_json_text(const char *text, FILE *out)
{
    char *clean = wsdbg_text_utf8(text);
    json_t *value = clean ? json_string(clean) : NULL;
    if (!value || json_dumpf(value, out, JSON_ENCODE_ANY) != 0)
        fputs("null", out);
    json_decref(value);
    free(clean);
}

static void print_json_cell(sqlite3_stmt *statement, int column, FILE *out)
{
    const int type = sqlite3_column_type(statement, column);
    const double real = sqlite3_column_double(statement, column);
    if (type == SQLITE_NULL || (type == SQLITE_FLOAT && !isfinite(real))) {
        fputs("null", out);
    } else if (type == SQLITE_INTEGER) {
        fprintf(out, "%" PRId64, (int64_t)sqlite3_column_int64(statement, column));
    } else if (type == SQLITE_FLOAT) {
        fprintf(out, "%.17g", real);
    } else {
        char *text = cell_text(statement, column);
        print_json_text(text ? text : "", out);
        free(text);
    }
}

static int print_json(sqlite3_stmt *statement, FILE *out)
{
    int status;
    const char *separator = "\n";
    const int columns = sqlite3_column_count(statement);
    fputc('[', out);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        fprintf(out, "%s  {", separator);
        for (int i = 0; i < columns; i++) {
            fputs(i ? ", " : "", out);
            print_json_text(sqlite3_column_name(statement, i), out);
            fputs(": ", out);
            print_json_cell(statement, i, out);
        }
        fputc('}', out);
        separator = ",\n";
    }
    fputs("\n]\n", out);
    return status;
}

int wsdbg_query_print(sqlite3_stmt *statement, enum wsdbg_query_format format, FILE *out)
{
    switch (format) {
    case WSDBG_QUERY_CSV:
        return print_csv(statement, out);
    case WSDBG_QUERY_JSON:
        return print_json(statement, out);
    case WSDBG_QUERY_ALIGNED:
        break;
    }
    return print_aligned(statement, out);
}
