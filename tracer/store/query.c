/* query.c - runs one SQL statement or canned query on a store opened for reading.
 * Reads the database; writes rows.  The connection itself refuses to write (open.c). */
#include "store/query.h"

#include <ctype.h>
#include <string.h>

static struct wsdbg_error *find_sql(const char *sql_or_name, const char **sql)
{
    if (sql_or_name[0] != '@') {
        *sql = sql_or_name;
        return NULL;
    }
    for (const struct wsdbg_canned_query *query = wsdbg_canned_queries; query->name; query++) {
        if (strcmp(query->name, sql_or_name + 1) == 0) {
            *sql = query->sql;
            return NULL;
        }
    }
    return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "no query %s (wsdbg query FILE lists them)", sql_or_name);
}

static struct wsdbg_error *query_error(struct wsdbg_store *store)
{
    const int offset = sqlite3_error_offset(store->db);
    if (offset >= 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: %s at character %d", sqlite3_errmsg(store->db),
                                  offset + 1);
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: %s", sqlite3_errmsg(store->db));
}

/* What follows the statement must be nothing: blanks, semicolons, comments. */
static bool only_blank(struct wsdbg_store *store, const char *tail)
{
    while (tail && *tail) {
        sqlite3_stmt *statement = NULL;
        const char *next = NULL;
        const int status = sqlite3_prepare_v2(store->db, tail, -1, &statement, &next);
        const bool blank = status == SQLITE_OK && !statement;
        sqlite3_finalize(statement);
        if (!blank || next == tail)
            return blank;
        tail = next;
    }
    return true;
}

static struct wsdbg_error *check_statement(struct wsdbg_store *store, sqlite3_stmt *statement, const char *tail)
{
    if (!statement)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: no statement");
    if (!only_blank(store, tail))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: more than one statement");
    if (!sqlite3_stmt_readonly(statement))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: the statement would change the database");
    if (sqlite3_bind_parameter_count(statement) > 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: the statement has a parameter without a value");
    return NULL;
}

struct wsdbg_error *wsdbg_store_query(struct wsdbg_store *store, const char *sql_or_name,
                                      enum wsdbg_query_format format, FILE *out)
{
    const char *sql = NULL, *tail = NULL;
    sqlite3_stmt *statement = NULL;
    struct wsdbg_error *error = find_sql(sql_or_name, &sql);
    if (error)
        return error;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, &tail) != SQLITE_OK)
        return query_error(store);
    error = check_statement(store, statement, tail);
    if (!error) {
        const int status = wsdbg_query_print(statement, format, out);
        if (status == SQLITE_NOMEM)
            error = &wsdbg_error_no_memory;
        else if (status != SQLITE_DONE)
            error = query_error(store);
    }
    sqlite3_finalize(statement);
    return error;
}

void wsdbg_store_list_queries(FILE *out)
{
    for (const struct wsdbg_canned_query *query = wsdbg_canned_queries; query->name; query++)
        fprintf(out, "@%-14s %s\n", query->name, query->question);
}
