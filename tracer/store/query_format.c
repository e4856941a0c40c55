/* query_format.c - prints the rows of a statement as CSV (RFC 4180) or a JSON array; a cell as text.
 * Reads a prepared statement, writes text.  NULL is an empty field (an empty text is ""), or null. */
#include "store/query.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

char *wsdbg_query_cell(sqlite3_stmt *statement, int column)
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
            char *text = sqlite3_column_type(statement, i) == SQLITE_NULL ? NULL : wsdbg_query_cell(statement, i);
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
        char *text = wsdbg_query_cell(statement, column);
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

int wsdbg_query_print(sqlite3_stmt *statement, enum wsdbg_query_format format, size_t columns, FILE *out)
{
    switch (format) {
    case WSDBG_QUERY_CSV:
        return print_csv(statement, out);
    case WSDBG_QUERY_JSON:
        return print_json(statement, out);
    case WSDBG_QUERY_ALIGNED:
        break;
    }
    return wsdbg_query_print_aligned(statement, columns, out);
}
