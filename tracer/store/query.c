/* query.c - runs one SQL statement or canned query on a store opened for reading.
 * Reads the database; writes rows.  The connection itself refuses to write (open.c). */
#include "store/query.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "base/near_word.h"

static struct wsdbg_error *find_canned(const char *call, const struct wsdbg_canned_query **out)
{
    const size_t length = strcspn(call + 1, " ");
    const char *near = NULL;
    size_t fewest = SIZE_MAX;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), call + 1);
    for (const struct wsdbg_canned_query *query = wsdbg_canned_queries; query->name; query++) {
        if (strlen(query->name) == length && strncmp(query->name, call + 1, length) == 0) {
            *out = query;
            return NULL;
        }
        if (wsdbg_word_is_nearer(word, query->name, &fewest))
            near = query->name;
    }
    if (near)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "no query @%s; did you mean @%s?", word, near);
    return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "no query @%s (wsdbg query FILE lists them)", word);
}

/* The name of a canned query that somebody wrote without its @. */
static bool lacks_its_at(const char *statement)
{
    for (const struct wsdbg_canned_query *query = wsdbg_canned_queries; query->name; query++)
        if (strcmp(query->name, statement) == 0)
            return true;
    return false;
}

/* "; the tables are cta, grid, ...": names that may be asked for; "" where they cannot be read. */
static void say_tables(struct wsdbg_store *store, char *out, size_t bytes)
{
    struct wsdbg_select q;
    out[0] = '\0';
    wsdbg_select_begin(&q, store,
                       "SELECT '; the tables are ' || group_concat(name, ', ') FROM (SELECT name FROM sqlite_schema "
                       "WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY name) WHERE ?1 IS NOT 0",
                       1);
    if (wsdbg_select_next(&q))
        wsdbg_select_text(&q, out, bytes);
    wsdbg_error_destroy(wsdbg_select_end(&q));
}

static struct wsdbg_error *query_error(struct wsdbg_store *store)
{
    static const char no_table[] = "no such table: ";
    char reason[512], tables[1024] = "";
    if (sqlite3_errcode(store->db) == SQLITE_AUTH)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: only statements that read are allowed");
    if (sqlite3_errcode(store->db) == SQLITE_INTERRUPT)
        return wsdbg_limits_late("query");
    const int offset = sqlite3_error_offset(store->db);
    snprintf(reason, sizeof reason, "%s", sqlite3_errmsg(store->db));
    if (strncmp(reason, no_table, sizeof no_table - 1) == 0)
        say_tables(store, tables, sizeof tables);
    if (offset >= 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: %s at character %d%s", reason, offset + 1, tables);
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: %s%s", reason, tables);
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
    return NULL;
}

/* The arguments of canned queries are CTAs.  A comparison with one that was not seen would be empty, and read as
 * "equal". */
static struct wsdbg_error *check_cta(struct wsdbg_store *store, const struct wsdbg_canned_query *canned,
                                     const char *cta, int length)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->db,
                           "SELECT 1 FROM warp_named WHERE ?1 = cta_x || ',' || cta_y || ',' || cta_z "
                           "OR (?1 = CAST(cta_x AS TEXT) AND cta_y + cta_z = 0) LIMIT 1",
                           -1, &statement, NULL) != SQLITE_OK)
        return query_error(store);
    sqlite3_bind_text(statement, 1, cta, length, SQLITE_STATIC);
    const int status = sqlite3_step(statement);
    sqlite3_finalize(statement);
    if (status == SQLITE_ROW)
        return NULL;
    if (status != SQLITE_DONE)
        return query_error(store);
    return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "query: @%s: no CTA %.*s was seen; name it as X or X,Y,Z",
                              canned->name, length, cta);
}

static struct wsdbg_error *check_ctas(struct wsdbg_store *store, const struct wsdbg_canned_query *canned,
                                      const char *call)
{
    struct wsdbg_error *error = NULL;
    const char *at = call + strcspn(call, " ");
    for (at += strspn(at, " "); *at && !error; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        error = check_cta(store, canned, at, (int)length);
        at += length;
    }
    return error;
}

/* Binds the words of "@name A B" to ?1, ?2, …: as many as the statement has. */
static struct wsdbg_error *bind_arguments(sqlite3_stmt *statement, const struct wsdbg_canned_query *canned,
                                          const char *call)
{
    const int wanted = sqlite3_bind_parameter_count(statement);
    int given = 0;
    const char *at = canned ? call + strcspn(call, " ") : "";
    for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (++given <= wanted)
            sqlite3_bind_text(statement, given, at, (int)length, SQLITE_STATIC);
        at += length;
    }
    if (given == wanted)
        return NULL;
    if (!canned)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: the statement has a parameter without a value");
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: @%s takes %d arguments%s%s, not %d", canned->name, wanted,
                              wanted ? ": " : "", wanted ? canned->arguments : "", given);
}

static struct wsdbg_error *print_rows(struct wsdbg_store *store, const struct wsdbg_query_rows *rows,
                                      enum wsdbg_query_format format)
{
    /* One read transaction: an aligned table is read twice and must be the same table. */
    sqlite3_exec(store->db, "SAVEPOINT query", NULL, NULL, NULL);
    const int status = wsdbg_query_print(rows, format);
    struct wsdbg_error *error = NULL;
    if (status == SQLITE_NOMEM)
        error = &wsdbg_error_no_memory;
    else if (status != SQLITE_DONE)
        error = query_error(store);
    sqlite3_exec(store->db, "RELEASE query", NULL, NULL, NULL);
    return error;
}

struct wsdbg_error *wsdbg_store_query(struct wsdbg_store *store, const char *sql_or_name,
                                      enum wsdbg_query_format format, size_t columns, FILE *out)
{
    const struct wsdbg_canned_query *canned = NULL;
    const char *tail = NULL;
    sqlite3_stmt *statement = NULL;
    struct wsdbg_error *error = sql_or_name[0] == '@' ? find_canned(sql_or_name, &canned) : NULL;
    if (error)
        return error;
    if (!canned && lacks_its_at(sql_or_name))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "query: no SQL; did you mean @%s?", sql_or_name);
    if (sqlite3_prepare_v2(store->db, canned ? canned->sql : sql_or_name, -1, &statement, &tail) != SQLITE_OK)
        return query_error(store);
    error = check_statement(store, statement, tail);
    if (!error)
        error = bind_arguments(statement, canned, sql_or_name);
    if (!error && canned)
        error = check_ctas(store, canned, sql_or_name);
    if (!error)
        error = print_rows(store,
                           &(struct wsdbg_query_rows){.statement = statement,
                                                      .columns = columns,
                                                      .short_names = canned && format == WSDBG_QUERY_ALIGNED,
                                                      .out = out},
                           format);
    sqlite3_finalize(statement);
    return error;
}

static bool rests_on_histories(const struct wsdbg_canned_query *query)
{
    for (const char *const *name = wsdbg_queries_of_histories; *name; name++)
        if (strcmp(*name, query->name) == 0)
            return true;
    return false;
}

struct wsdbg_error *wsdbg_store_lacks_histories(struct wsdbg_store *store, const char *sql_or_name, bool *out)
{
    const struct wsdbg_canned_query *canned = NULL;
    struct wsdbg_select q;
    *out = false;
    struct wsdbg_error *error = sql_or_name[0] == '@' ? find_canned(sql_or_name, &canned) : NULL;
    if (error || !canned || !rests_on_histories(canned))
        return error;
    wsdbg_select_begin(&q, store, "SELECT 1 FROM event LIMIT 1", 0);
    *out = !wsdbg_select_next(&q);
    return wsdbg_select_end(&q);
}

void wsdbg_store_list_queries(FILE *out)
{
    for (const struct wsdbg_canned_query *query = wsdbg_canned_queries; query->name; query++) {
        char call[64];
        snprintf(call, sizeof call, "@%s%s%s", query->name, query->arguments ? " " : "",
                 query->arguments ? query->arguments : "");
        fprintf(out, "%-16s %s\n", call, query->question);
    }
}
