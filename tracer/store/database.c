/* database.c - see database.h: the thin layer over SQLite's C API.  Reads and writes one open database. */
#include "store/database.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"

enum { ROWS_BETWEEN_LOOKS = 1 << 20 };

struct wsdbg_error *wsdbg_db_error(sqlite3 *db, const char *path, const char *doing)
{
    if (db && sqlite3_errcode(db) == SQLITE_NOMEM)
        return &wsdbg_error_no_memory;
    if (db && sqlite3_errcode(db) == SQLITE_INTERRUPT)
        return wsdbg_limits_late(path);
    const char *reason = db ? sqlite3_errmsg(db) : "out of memory";
    return wsdbg_error_create(WSDBG_ERROR_OTHER, "%s: %s: %s", path, doing, reason);
}

struct wsdbg_error *wsdbg_db_exec(struct wsdbg_store *store, const char *sql)
{
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return NULL;
    return wsdbg_db_error(store->db, store->path, "write the session database");
}

struct wsdbg_error *wsdbg_db_begin(struct wsdbg_store *store)
{
    if (!store->writing)
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "%s: opened for reading only", store->path);
    return wsdbg_db_exec(store, "BEGIN IMMEDIATE");
}

struct wsdbg_error *wsdbg_db_end(struct wsdbg_store *store, struct wsdbg_error *error)
{
    if (!error)
        error = wsdbg_db_exec(store, "COMMIT");
    if (error && !sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return error;
}

int64_t wsdbg_db_number(sqlite3 *db, const char *sql, int64_t fallback)
{
    sqlite3_stmt *statement = NULL;
    int64_t value = fallback;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

uint64_t wsdbg_db_rows_most(struct wsdbg_store *store)
{
    const uint64_t pages = (uint64_t)wsdbg_db_number(store->db, "PRAGMA page_count", 0);
    return pages * (uint64_t)wsdbg_db_number(store->db, "PRAGMA page_size", 0); /* a row has a byte at least */
}

void wsdbg_insert_begin(struct wsdbg_insert *insert, struct wsdbg_store *store, const char *sql)
{
    *insert = (struct wsdbg_insert){.store = store};
    insert->status = sqlite3_prepare_v2(store->db, sql, -1, &insert->statement, NULL);
}

static void note_status(struct wsdbg_insert *insert, int status)
{
    if (insert->status == SQLITE_OK)
        insert->status = status;
}

void wsdbg_insert_null(struct wsdbg_insert *insert)
{
    note_status(insert, sqlite3_bind_null(insert->statement, ++insert->column));
}

void wsdbg_insert_number(struct wsdbg_insert *insert, int64_t value)
{
    note_status(insert, sqlite3_bind_int64(insert->statement, ++insert->column, value));
}

void wsdbg_insert_maybe(struct wsdbg_insert *insert, bool known, int64_t value)
{
    if (known)
        wsdbg_insert_number(insert, value);
    else
        wsdbg_insert_null(insert);
}

void wsdbg_insert_u32(struct wsdbg_insert *insert, struct wsdbg_optional_u32 value)
{
    wsdbg_insert_maybe(insert, value.known, value.value);
}

void wsdbg_insert_u64(struct wsdbg_insert *insert, struct wsdbg_optional_u64 value)
{
    wsdbg_insert_maybe(insert, value.known, (int64_t)value.value);
}

void wsdbg_insert_real(struct wsdbg_insert *insert, double value)
{
    note_status(insert, sqlite3_bind_double(insert->statement, ++insert->column, value));
}

void wsdbg_insert_string(struct wsdbg_insert *insert, const char *text)
{
    note_status(insert, sqlite3_bind_text(insert->statement, ++insert->column, text, -1, SQLITE_STATIC));
}

void wsdbg_insert_text(struct wsdbg_insert *insert, const char *text)
{
    if (text && *text)
        wsdbg_insert_string(insert, text);
    else
        wsdbg_insert_null(insert);
}

int64_t wsdbg_insert_row(struct wsdbg_insert *insert)
{
    int64_t value = 0;
    if (insert->status != SQLITE_OK)
        return 0;
    int status = sqlite3_step(insert->statement);
    if (status == SQLITE_ROW) {
        value = sqlite3_column_int64(insert->statement, 0);
        status = sqlite3_step(insert->statement);
    }
    if (status != SQLITE_DONE)
        insert->status = status;
    sqlite3_reset(insert->statement);
    insert->column = 0;
    return value;
}

struct wsdbg_error *wsdbg_insert_end(struct wsdbg_insert *insert)
{
    struct wsdbg_error *error = NULL;
    if (insert->status != SQLITE_OK)
        error = wsdbg_db_error(insert->store->db, insert->store->path, "write the session database");
    sqlite3_finalize(insert->statement);
    return error;
}

void wsdbg_select_begin(struct wsdbg_select *select, struct wsdbg_store *store, const char *sql, int64_t parameter)
{
    *select = (struct wsdbg_select){.store = store};
    select->status = sqlite3_prepare_v2(store->db, sql, -1, &select->statement, NULL);
    if (select->status == SQLITE_OK && sqlite3_bind_parameter_count(select->statement) > 0)
        select->status = sqlite3_bind_int64(select->statement, 1, parameter);
}

void wsdbg_select_restart(struct wsdbg_select *select)
{
    sqlite3_reset(select->statement);
}

void wsdbg_select_bind(struct wsdbg_select *select, int number, int64_t value)
{
    if (select->status == SQLITE_OK)
        select->status = sqlite3_bind_int64(select->statement, number, value);
}

bool wsdbg_select_next(struct wsdbg_select *select)
{
    if (select->status != SQLITE_OK)
        return false;
    select->column = 0;
    const int status = sqlite3_step(select->statement);
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        select->status = status;
    else if (status == SQLITE_ROW && ++select->rows % ROWS_BETWEEN_LOOKS == 0)
        select->is_endless = select->rows > wsdbg_db_rows_most(select->store);
    if (select->is_endless)
        select->status = SQLITE_CORRUPT;
    return status == SQLITE_ROW && !select->is_endless;
}

int64_t wsdbg_select_number(struct wsdbg_select *select)
{
    return sqlite3_column_int64(select->statement, select->column++);
}

int64_t wsdbg_select_or(struct wsdbg_select *select, int64_t unknown)
{
    const int column = select->column++;
    if (sqlite3_column_type(select->statement, column) == SQLITE_NULL)
        return unknown;
    return sqlite3_column_int64(select->statement, column);
}

double wsdbg_select_real(struct wsdbg_select *select)
{
    return sqlite3_column_double(select->statement, select->column++);
}

struct wsdbg_optional_u32 wsdbg_select_u32(struct wsdbg_select *select)
{
    const struct wsdbg_optional_u64 value = wsdbg_select_u64(select);
    return (struct wsdbg_optional_u32){.value = (uint32_t)value.value, .known = value.known};
}

struct wsdbg_optional_u64 wsdbg_select_u64(struct wsdbg_select *select)
{
    const bool known = sqlite3_column_type(select->statement, select->column) != SQLITE_NULL;
    return (struct wsdbg_optional_u64){.value = (uint64_t)wsdbg_select_number(select), .known = known};
}

const char *wsdbg_select_string(struct wsdbg_select *select)
{
    return (const char *)sqlite3_column_text(select->statement, select->column++);
}

void wsdbg_select_text(struct wsdbg_select *select, char *out, size_t bytes)
{
    const char *text = wsdbg_select_string(select);
    const size_t length = text ? strnlen(text, bytes - 1) : 0;
    if (length > 0)
        memcpy(out, text, length);
    out[length] = '\0';
}

void wsdbg_select_fail(struct wsdbg_select *select, int status)
{
    if (select->status == SQLITE_OK)
        select->status = status;
}

struct wsdbg_error *wsdbg_select_end(struct wsdbg_select *select)
{
    struct wsdbg_error *error = NULL;
    if (select->status == SQLITE_NOMEM)
        error = &wsdbg_error_no_memory;
    else if (select->is_endless)
        error = wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: is damaged: more rows than a file of its size can hold",
                                   select->store->path);
    else if (select->status != SQLITE_OK)
        error = wsdbg_db_error(select->store->db, select->store->path, "read the session database");
    sqlite3_finalize(select->statement);
    return error;
}

bool wsdbg_array_push(void *array_pointer, size_t *count, size_t row_bytes)
{
    void **array = array_pointer;
    if ((*count & (*count - 1)) == 0) {
        void *larger = realloc(*array, (*count ? *count * 2 : 1) * row_bytes);
        if (!larger)
            return false;
        *array = larger;
    }
    memset((char *)*array + *count * row_bytes, 0, row_bytes);
    *count += 1;
    return true;
}
