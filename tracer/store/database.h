/* database.h - private to the room: the open database, inserting and selecting rows.
 *
 * An insert or select remembers its first failure; every later call on it does nothing, and its end function
 * returns the failure as an error.  So a table writer is one straight line.
 */
#ifndef WSDBG_STORE_DATABASE_H
#define WSDBG_STORE_DATABASE_H

#include <sqlite3.h>

#include "store/store.h"

#define WSDBG_STORE_APPLICATION_ID 0x57534442
#define WSDBG_STORE_SCHEMA_VERSION 11

/* Ids of a picture's rows are consecutive: index i has the id of index 0 plus i. */
struct wsdbg_picture_ids {
    int64_t grid, cta, barrier, warp, event, site, access;
};

struct wsdbg_store {
    sqlite3 *db;
    char *path;
    bool writing;
    struct wsdbg_progress *progress; /* of storing a snapshot; NULL = nobody asked */
    int64_t snapshot_id;             /* the picture stored last, 0 = none */
    struct wsdbg_picture_ids first;  /* of that picture */
    struct wsdbg_picture_ids next;   /* no id is used twice: a reader's old id must not find a new row */
    int64_t *module_ids;             /* by module index of that picture */
    size_t module_count;
    uint64_t began_ns; /* reading, by the clock of base/limits.h */
    bool is_untimed;   /* ... may take any time */
    char *kept;        /* the text that a reading call returned last */
};

/* schema.sql and views.sql. */
extern const char wsdbg_schema_sql[], wsdbg_views_sql[];

/* "PATH: doing: SQLite's message". */
struct wsdbg_error *wsdbg_db_error(sqlite3 *db, const char *path, const char *doing);
struct wsdbg_error *wsdbg_db_exec(struct wsdbg_store *store, const char *sql);
/* Begin an immediate transaction; end it: commits, or rolls back where `error` is set.  Returns the error. */
struct wsdbg_error *wsdbg_db_begin(struct wsdbg_store *store);
struct wsdbg_error *wsdbg_db_end(struct wsdbg_store *store, struct wsdbg_error *error);
/* The first column of the first row, `fallback` if there is none or it fails. */
int64_t wsdbg_db_number(sqlite3 *db, const char *sql, int64_t fallback);
/* More rows no table of the file has.  Pages of a damaged one may refer to one another so that there is no end of
 * rows, and readers keep rows in memory: a select fails that gives more. */
uint64_t wsdbg_db_rows_most(struct wsdbg_store *store);

struct wsdbg_insert {
    struct wsdbg_store *store;
    sqlite3_stmt *statement;
    int column;
    int status;
};

void wsdbg_insert_begin(struct wsdbg_insert *insert, struct wsdbg_store *store, const char *sql);
void wsdbg_insert_null(struct wsdbg_insert *insert);
void wsdbg_insert_number(struct wsdbg_insert *insert, int64_t value);
/* The number, or NULL where `known` is false. */
void wsdbg_insert_maybe(struct wsdbg_insert *insert, bool known, int64_t value);
void wsdbg_insert_u32(struct wsdbg_insert *insert, struct wsdbg_optional_u32 value);
void wsdbg_insert_u64(struct wsdbg_insert *insert, struct wsdbg_optional_u64 value);
void wsdbg_insert_real(struct wsdbg_insert *insert, double value);
/* NULL for a NULL or empty string.  The text must stay until the row is stepped. */
void wsdbg_insert_text(struct wsdbg_insert *insert, const char *text);
/* The string even when it is empty: for columns that are NOT NULL. */
void wsdbg_insert_string(struct wsdbg_insert *insert, const char *text);
/* Runs the row.  Returns the first column of RETURNING, 0 where there is none or on failure. */
int64_t wsdbg_insert_row(struct wsdbg_insert *insert);
struct wsdbg_error *wsdbg_insert_end(struct wsdbg_insert *insert);

struct wsdbg_select {
    struct wsdbg_store *store;
    sqlite3_stmt *statement;
    int column;
    int status;
    uint64_t rows;   /* of all its runs */
    bool is_endless; /* more than there can be */
};

/* `parameter` is bound to ?1 where the statement has one. */
void wsdbg_select_begin(struct wsdbg_select *select, struct wsdbg_store *store, const char *sql, int64_t parameter);
/* Makes the statement ready to be bound and run again. */
void wsdbg_select_restart(struct wsdbg_select *select);
/* Binds parameter ?`number`; before the first row. */
void wsdbg_select_bind(struct wsdbg_select *select, int number, int64_t value);
bool wsdbg_select_next(struct wsdbg_select *select);
/* Getters take the columns from left to right. */
int64_t wsdbg_select_number(struct wsdbg_select *select);
/* `unknown` for NULL. */
int64_t wsdbg_select_or(struct wsdbg_select *select, int64_t unknown);
double wsdbg_select_real(struct wsdbg_select *select);
struct wsdbg_optional_u32 wsdbg_select_u32(struct wsdbg_select *select);
struct wsdbg_optional_u64 wsdbg_select_u64(struct wsdbg_select *select);
/* Cuts at `bytes` - 1; "" for NULL. */
void wsdbg_select_text(struct wsdbg_select *select, char *out, size_t bytes);
/* Owned by the statement until the next row; NULL for NULL. */
const char *wsdbg_select_string(struct wsdbg_select *select);
void wsdbg_select_fail(struct wsdbg_select *select, int status);
struct wsdbg_error *wsdbg_select_end(struct wsdbg_select *select);

/* Appends one zeroed row to a growing array; false when out of memory. */
bool wsdbg_array_push(void *array_pointer, size_t *count, size_t row_bytes);

#endif
