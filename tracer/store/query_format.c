/* query_format.c - prints the rows of a statement as CSV (RFC 4180) or a JSON array; a cell as text.
 * Reads a prepared statement, writes text.  NULL is an empty field (an empty text is ""), or null. */
#include "store/query.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/symbol.h"

enum { NAME_BYTES = 512 };

/* Whether the column has names of kernels: so they are called in all canned queries. */
static bool is_kernel(const struct wsdbg_query_rows *rows, int column)
{
    static const char *const names[] = {"kernel", "after_kernel", "before_kernel"};
    const char *name = sqlite3_column_name(rows->statement, column);
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static char *short_name(const char *symbol)
{
    char name[NAME_BYTES];
    wsdbg_symbol_name(symbol, name, sizeof name);
    return strdup(name);
}

char *wsdbg_query_cell(const struct wsdbg_query_rows *rows, int column)
{
    sqlite3_stmt *statement = rows->statement;
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
        return value && rows->short_names && is_kernel(rows, column) ? short_name(value) : strdup(value ? value : "");
    }
    }
}

/* False = out of memory.  What would do something to a terminal stands as \xNN; the lines of a text stay. */
static bool print_csv_field(const char *raw, FILE *out)
{
    char *text = wsdbg_text_escape_lines(raw);
    const bool is_quoted = text && (!*text || strpbrk(text, ",\"\r\n"));
    fputs(is_quoted ? "\"" : "", out);
    for (const char *at = text; at && *at; at++)
        fprintf(out, *at == '"' ? "\"\"" : "%c", *at);
    fputs(is_quoted ? "\"" : "", out);
    free(text);
    return text != NULL;
}

static bool print_csv_cell(const struct wsdbg_query_rows *rows, int column)
{
    if (sqlite3_column_type(rows->statement, column) == SQLITE_NULL)
        return true;
    char *text = wsdbg_query_cell(rows, column);
    const bool good = text && print_csv_field(text, rows->out);
    free(text);
    return good;
}

static int print_csv(const struct wsdbg_query_rows *rows)
{
    sqlite3_stmt *statement = rows->statement;
    FILE *out = rows->out;
    int status = SQLITE_ROW;
    bool good = true;
    const int columns = sqlite3_column_count(statement);
    for (int i = 0; i < columns; i++) {
        fputs(i ? "," : "", out);
        good = good && print_csv_field(sqlite3_column_name(statement, i), out);
    }
    fputs("\r\n", out);
    while (good && (status = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++) {
            fputs(i ? "," : "", out);
            good = good && print_csv_cell(rows, i);
        }
        fputs("\r\n", out);
    }
    return good ? status : SQLITE_NOMEM;
}

static bool print_json_text(const char *text, FILE *out)
{
    char *clean = wsdbg_text_utf8(text);
    json_t *value = clean ? json_string(clean) : NULL;
    const bool good = value && json_dumpf(value, out, JSON_ENCODE_ANY) == 0;
    json_decref(value);
    free(clean);
    return good;
}

static bool print_json_cell(const struct wsdbg_query_rows *rows, int column)
{
    sqlite3_stmt *statement = rows->statement;
    FILE *out = rows->out;
    const int type = sqlite3_column_type(statement, column);
    const double real = sqlite3_column_double(statement, column);
    if (type == SQLITE_NULL || (type == SQLITE_FLOAT && !isfinite(real))) {
        fputs("null", out);
    } else if (type == SQLITE_INTEGER) {
        fprintf(out, "%" PRId64, (int64_t)sqlite3_column_int64(statement, column));
    } else if (type == SQLITE_FLOAT) {
        fprintf(out, "%.17g", real);
    } else {
        char *text = wsdbg_query_cell(rows, column);
        const bool good = text && print_json_text(text, out);
        free(text);
        return good;
    }
    return true;
}

static int print_json(const struct wsdbg_query_rows *rows)
{
    sqlite3_stmt *statement = rows->statement;
    FILE *out = rows->out;
    int status = SQLITE_ROW;
    bool good = true;
    const char *separator = "\n";
    const int columns = sqlite3_column_count(statement);
    fputc('[', out);
    while (good && (status = sqlite3_step(statement)) == SQLITE_ROW) {
        fprintf(out, "%s  {", separator);
        for (int i = 0; i < columns && good; i++) {
            fputs(i ? ", " : "", out);
            good = print_json_text(sqlite3_column_name(statement, i), out);
            fputs(": ", out);
            good = good && print_json_cell(rows, i);
        }
        fputc('}', out);
        separator = ",\n";
    }
    fputs("\n]\n", out);
    return good ? status : SQLITE_NOMEM;
}

int wsdbg_query_print(const struct wsdbg_query_rows *rows, enum wsdbg_query_format format)
{
    switch (format) {
    case WSDBG_QUERY_CSV:
        return print_csv(rows);
    case WSDBG_QUERY_JSON:
        return print_json(rows);
    case WSDBG_QUERY_ALIGNED:
        break;
    }
    return wsdbg_query_print_aligned(rows);
}
