/* damaged_session.c - see damaged_session.h.  Writes one file at a time into TMPDIR, which is gone before the input is
 * read by anybody but SQLite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fuzz/damaged_session.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "store/example.h"

enum { COLUMNS_MOST = 512, CHANGES_MOST = 64, HEAD_BYTES = 5, FILE_MOST = 1 << 20 };
#define OUTPUT_MOST (UINT64_C(256) << 20)
#define TIME_NS UINT64_C(2000000000)

enum change_kind { CHANGE_BYTES, CHANGE_NUMBER, CHANGE_TEXT, CHANGE_KINDS };

static struct {
    char *folder;
    unsigned char file[FILE_MOST];
    size_t count;
    char *updates[COLUMNS_MOST]; /* a statement a column: ?1 the value, ?2 which row */
    size_t update_count;
} good;

/* ---- the good one ---- */

static void run(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, sqlite3_errmsg(db));
        abort();
    }
}

static void list_columns(sqlite3 *db)
{
    sqlite3_stmt *columns;
    sqlite3_prepare_v2(db,
                       "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = "
                       "'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> 'reach'", /* that one has no rowid */
                       -1, &columns, NULL);
    while (sqlite3_step(columns) == SQLITE_ROW && good.update_count < COLUMNS_MOST) {
        const unsigned char *table = sqlite3_column_text(columns, 0), *column = sqlite3_column_text(columns, 1);
        if (asprintf(
                &good.updates[good.update_count++],
                "UPDATE \"%s\" SET \"%s\" = ?1 WHERE rowid = (SELECT rowid FROM \"%s\" LIMIT 1 OFFSET ?2 %% max(1, "
                "(SELECT count(*) FROM \"%s\")))",
                table, column, table, table) < 0)
            abort();
    }
    sqlite3_finalize(columns);
}

/* Small pages make a small file: damage hits more. */
static void make_good(void)
{
    struct example e;
    sqlite3 *db;
    good.folder = example_folder();
    const char *path = example_path(good.folder, "good.db");
    example_hang(&e, 2, 16);
    example_store(&e, path);
    example_free(&e);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        abort();
    run(db, "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM");
    list_columns(db);
    sqlite3_close(db);
    FILE *file = fopen(path, "rb");
    good.count = file ? fread(good.file, 1, sizeof good.file, file) : 0;
    if (!good.count || fclose(file) != 0)
        abort();
    unlink(path);
    wsdbg_limits_set((struct wsdbg_limits){.time_ns = TIME_NS});
}

/* ---- damage ---- */

struct change {
    enum change_kind kind;
    size_t place, row, count;
    const uint8_t *bytes;
};

static bool next_change(const uint8_t **at, size_t *left, struct change *out)
{
    if (*left < HEAD_BYTES)
        return false;
    const uint8_t *head = *at;
    *at += HEAD_BYTES;
    *left -= HEAD_BYTES;
    *out = (struct change){.kind = (enum change_kind)(head[0] % CHANGE_KINDS),
                           .place = head[1] | (size_t)head[2] << 8,
                           .row = head[3],
                           .count = head[4] < *left ? head[4] : *left,
                           .bytes = *at};
    *at += out->count;
    *left -= out->count;
    return true;
}

static void change_cell(sqlite3 *db, const struct change *change)
{
    sqlite3_stmt *update;
    int64_t number = 0;
    memcpy(&number, change->bytes, change->count < sizeof number ? change->count : sizeof number);
    if (sqlite3_prepare_v2(db, good.updates[change->place % good.update_count], -1, &update, NULL) != SQLITE_OK)
        return;
    if (change->kind == CHANGE_NUMBER)
        sqlite3_bind_int64(update, 1, number);
    else
        sqlite3_bind_text(update, 1, (const char *)change->bytes, (int)change->count, SQLITE_STATIC);
    sqlite3_bind_int64(update, 2, (int64_t)change->row);
    sqlite3_step(update); /* what a constraint forbids stays as it is */
    sqlite3_finalize(update);
}

static void change_cells(const char *path, const uint8_t *bytes, size_t count)
{
    sqlite3 *db;
    struct change change;
    if (sqlite3_open(path, &db) != SQLITE_OK)
        abort();
    run(db, "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN");
    for (size_t i = 0; i < CHANGES_MOST && next_change(&bytes, &count, &change); i++)
        if (change.kind != CHANGE_BYTES)
            change_cell(db, &change);
    run(db, "COMMIT");
    sqlite3_close(db);
}

static void change_bytes(const char *path, const uint8_t *bytes, size_t count)
{
    struct change change;
    FILE *file = fopen(path, "r+b");
    if (!file)
        abort();
    for (size_t i = 0; i < CHANGES_MOST && next_change(&bytes, &count, &change); i++)
        if (change.kind == CHANGE_BYTES &&
            fseek(file, (long)((change.place | change.row << 16) % good.count), SEEK_SET) == 0)
            fwrite(change.bytes, 1, change.count, file);
    fclose(file);
}

struct wsdbg_store *damaged_session_open(const uint8_t *bytes, size_t count)
{
    struct wsdbg_store *store = NULL;
    if (!good.count)
        make_good();
    const char *path = example_path(good.folder, "damaged.db");
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(good.file, good.count, 1, file) != 1 || fclose(file) != 0)
        abort();
    change_cells(path, bytes, count);
    change_bytes(path, bytes, count);
    wsdbg_error_destroy(wsdbg_store_open(path, &store));
    unlink(path);
    return store;
}

/* ---- what is made of it ---- */

static ssize_t count_written(void *cookie, const char *bytes, size_t count)
{
    uint64_t *written = cookie;
    (void)bytes;
    *written += count;
    if (*written > OUTPUT_MOST) {
        fprintf(stderr, "more than %llu bytes are written\n", (unsigned long long)OUTPUT_MOST);
        abort();
    }
    return (ssize_t)count;
}

FILE *damaged_session_output(void)
{
    static uint64_t written;
    written = 0;
    FILE *out = fopencookie(&written, "w", (cookie_io_functions_t){.write = count_written});
    if (!out)
        abort();
    return out;
}
