/* guard_test.c - databases that somebody made to cost more than reading them: each is refused in words, or read as if
 * nothing was wrong with it, in a bounded time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "store/database.h"

#define ENDLESS "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT * FROM n"

static char *folder;
static char path[256];

static int set_up(void **state)
{
    (void)state;
    struct example e;
    folder = example_folder();
    snprintf(path, sizeof path, "%s", example_path(folder, "x.db"));
    example_hang(&e, 2, 16);
    example_store(&e, path);
    example_free(&e);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wsdbg_limits_set((struct wsdbg_limits){.time_ns = WSDBG_LIMITS_SECONDS * UINT64_C(1000000000)});
    example_clean(folder);
    return 0;
}

static void change(const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

static void check_refused_at_opening(const char *reason)
{
    struct wsdbg_store *store = NULL;
    example_refused(wsdbg_store_open(path, &store), reason);
}

/* ---- the schema ---- */

static void every_table_of_ours_must_be_a_table(void **state)
{
    (void)state;
    change("CREATE TABLE names AS SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'");
    sqlite3 *db;
    sqlite3_stmt *names;
    int tables = 0;
    char *named = folder; /* its database is read while the others are tried */
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT name FROM names", -1, &names, NULL), SQLITE_OK);
    for (; sqlite3_step(names) == SQLITE_ROW; tables++) {
        char sql[512], reason[128];
        const char *name = (const char *)sqlite3_column_text(names, 0);
        set_up(state);
        snprintf(sql, sizeof sql,
                 "PRAGMA legacy_alter_table = ON; ALTER TABLE \"%s\" RENAME TO old; CREATE VIEW \"%s\" AS " ENDLESS,
                 name, name);
        change(sql);
        snprintf(reason, sizeof reason, "x.db: '%s' is a view, not a table", name);
        check_refused_at_opening(reason);
        example_clean(folder);
    }
    sqlite3_finalize(names);
    sqlite3_close(db);
    example_clean(named);
    assert_true(tables > 20);
    set_up(state);
}

static void a_view_that_calls_itself_a_table_is_damage(void **state)
{
    (void)state;
    change("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE VIEW process AS SELECT 1 AS "
           "process_id', rootpage = 0 WHERE name = 'process'");
    check_refused_at_opening("is damaged: malformed database schema (process)");
}

static void no_table_is_made_by_code(void **state)
{
    static const char *const creates[] = {"CREATE VIRTUAL TABLE", "create virtual table", "CREATE/**/VIRTUAL TABLE"};
    for (size_t i = 0; i < sizeof creates / sizeof *creates; i++) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', 'x%zu', 'x%zu', 0, '%s x%zu "
                 "USING dbstat')",
                 i, i, creates[i], i);
        change(sql);
        check_refused_at_opening("' is a virtual table");
        example_clean(folder);
        set_up(state);
    }
}

static void views_are_the_programs_own(void **state)
{
    (void)state;
    char *before = example_stored_report(path, false);
    change("DROP VIEW shown_snapshot; CREATE VIEW shown_snapshot AS " ENDLESS);
    change("DROP VIEW waits; CREATE VIEW waits AS " ENDLESS);
    char *after = example_stored_report(path, false);
    assert_string_equal(after, before);
    struct wsdbg_store *store;
    example_ok(wsdbg_store_open(path, &store));
    char *rows = example_query(store, "@waits", WSDBG_QUERY_CSV);
    assert_non_null(strstr(rows, "consumer"));
    free(rows);
    free(before);
    free(after);
    wsdbg_store_close(store);
}

static void a_view_of_another_name_does_no_harm(void **state)
{
    (void)state;
    change("CREATE VIEW mine AS SELECT count(*) AS n FROM warp");
    struct wsdbg_store *store;
    example_ok(wsdbg_store_open(path, &store));
    char *rows = example_query(store, "SELECT n FROM mine", WSDBG_QUERY_CSV);
    assert_string_equal(rows, "n\r\n24\r\n");
    free(rows);
    wsdbg_store_close(store);
}

/* Older files are migrated in a copy, by statements that change rows. */
static void no_trigger_of_an_older_file_runs(void **state)
{
    (void)state;
    char sql[1 << 16] = "";
    FILE *fixture = fopen(WSDBG_FIXTURES_DIR "/version_1.sql", "r");
    assert_non_null(fixture);
    assert_true(fread(sql, 1, sizeof sql - 1, fixture) > 0);
    fclose(fixture);
    unlink(path);
    change(sql);
    change("CREATE TRIGGER evil AFTER UPDATE ON warp BEGIN DELETE FROM finding; END");
    char *report = example_stored_report(path, false);
    assert_non_null(strstr(report, "HANG: REGS_PARTIAL_WARPGROUP (proven)"));
    free(report);
}

/* ---- pages ---- */

enum { PAGE_BYTES = 4096, CHILDREN = 400, EVENTS = 20000 };

static uint32_t big(const unsigned char *bytes, int count)
{
    uint32_t value = 0;
    for (int i = 0; i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

static void put_big(unsigned char *bytes, int count, uint32_t value)
{
    for (int i = count; i-- > 0; value >>= 8)
        bytes[i] = (unsigned char)value;
}

/* An interior page of a table all of whose children are one page. */
static void fill_interior(unsigned char *page, uint32_t child)
{
    memset(page, 0, PAGE_BYTES);
    page[0] = 5;
    put_big(page + 3, 2, CHILDREN);
    put_big(page + 5, 2, PAGE_BYTES - 5 * CHILDREN);
    put_big(page + 8, 4, child);
    for (uint32_t i = 0; i < CHILDREN; i++) {
        const uint32_t cell = PAGE_BYTES - 5 * (i + 1);
        put_big(page + cell, 4, child);
        page[cell + 4] = 0x7f;
        put_big(page + 12 + 2 * i, 2, cell);
    }
}

/* Events whose pages refer to the same page again and again: 400 * 400 * 400 times some 200 rows, in a file of 1 MiB.
 */
static void make_events_endless(void)
{
    sqlite3 *db;
    sqlite3_stmt *root_of;
    change("DELETE FROM event; INSERT INTO event SELECT value, 1, 1, 1, 1, 1, 1, 1, 1, value FROM ("
           "WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 20000) "
           "SELECT value FROM n); UPDATE warp SET event_first = 1, event_count = 20; VACUUM");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_prepare_v2(db, "SELECT rootpage FROM sqlite_schema WHERE name = 'event'", -1, &root_of, NULL);
    assert_int_equal(sqlite3_step(root_of), SQLITE_ROW);
    const long root = sqlite3_column_int(root_of, 0);
    sqlite3_finalize(root_of);
    sqlite3_close(db);
    unsigned char page[PAGE_BYTES];
    FILE *file = fopen(path, "r+");
    assert_int_equal(fseek(file, (root - 1) * PAGE_BYTES, SEEK_SET), 0);
    assert_int_equal(fread(page, sizeof page, 1, file), 1);
    assert_int_equal(page[0], 5);
    uint32_t child[3]; /* of the root: a leaf, and two that become interior pages */
    for (uint32_t i = 0; i < 3; i++)
        child[i] = big(page + big(page + 12 + 2 * i, 2), 4);
    const long pages[] = {(long)child[1], (long)child[2], root};
    for (uint32_t i = 0; i < 3; i++) {
        fill_interior(page, child[i]);
        fseek(file, (pages[i] - 1) * PAGE_BYTES, SEEK_SET);
        assert_int_equal(fwrite(page, sizeof page, 1, file), 1);
    }
    fclose(file);
}

static void rows_without_end_are_not_kept_in_memory(void **state)
{
    (void)state;
    struct wsdbg_store *store;
    struct wsdbg_loaded loaded;
    make_events_endless();
    change("UPDATE warp SET event_first = 1, event_count = 100000 WHERE id = (SELECT min(id) FROM warp)");
    example_ok(wsdbg_store_open(path, &store));
    example_refused(wsdbg_store_load(store, true, &loaded),
                    "x.db: is damaged: more rows than a file of its size can hold");
    wsdbg_store_close(store);
}

/* Room for them is made before they are read. */
static void all_warps_have_no_more_events_than_the_file_has_bytes(void **state)
{
    (void)state;
    struct wsdbg_store *store;
    struct wsdbg_loaded loaded;
    change("UPDATE warp SET event_first = 1, event_count = 150000");
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    uint64_t events = 0;
    for (uint32_t i = 0; i < loaded.snapshot.warp_count; i++)
        events += loaded.events[i].count;
    assert_int_equal(loaded.snapshot.warp_count, 24);
    assert_int_equal(loaded.events[0].count, 150000);
    assert_true(events <= 300000); /* the file has some 250 KiB */
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

/* ---- time ---- */

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

static void a_question_without_end_is_given_up(void **state)
{
    (void)state;
    struct wsdbg_store *store;
    struct timespec begin;
    make_events_endless();
    wsdbg_limits_set((struct wsdbg_limits){.time_ns = 300000000});
    example_ok(wsdbg_store_open(path, &store));
    clock_gettime(CLOCK_MONOTONIC, &begin);
    example_refused(
        wsdbg_store_query(store, "SELECT count(*) FROM event WHERE value <> line", WSDBG_QUERY_CSV, 0, stderr),
        "takes longer than 0.3 s; --time-limit allows more");
    assert_true(seconds_since(&begin) < 5);
    wsdbg_store_close(store);
}

static void the_time_counts_from_where_it_is_restarted(void **state)
{
    (void)state;
    struct wsdbg_store *store;
    struct wsdbg_loaded loaded;
    wsdbg_limits_set((struct wsdbg_limits){.time_ns = 50000000});
    example_ok(wsdbg_store_open(path, &store));
    usleep(100000);
    wsdbg_store_restart_time(store);
    example_ok(wsdbg_store_load(store, false, &loaded));
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

static void without_a_limit_it_may_take_any_time(void **state)
{
    (void)state;
    struct wsdbg_store *store;
    wsdbg_limits_set((struct wsdbg_limits){.time_ns = 1000000});
    struct wsdbg_error *error = wsdbg_store_open(path, &store);
    if (error) { /* a machine on which opening takes longer */
        wsdbg_error_destroy(error);
        wsdbg_limits_set((struct wsdbg_limits){.time_ns = 1000000000});
        example_ok(wsdbg_store_open(path, &store));
    }
    wsdbg_store_lift_time_limit(store);
    char *rows = example_query(
        store, "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n LIMIT 2000000) SELECT max(id) FROM n",
        WSDBG_QUERY_CSV);
    assert_string_equal(rows, "max(id)\r\n2000000\r\n");
    free(rows);
    wsdbg_store_close(store);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(every_table_of_ours_must_be_a_table),
        TEST(a_view_that_calls_itself_a_table_is_damage),
        TEST(no_table_is_made_by_code),
        TEST(views_are_the_programs_own),
        TEST(a_view_of_another_name_does_no_harm),
        TEST(no_trigger_of_an_older_file_runs),
        TEST(rows_without_end_are_not_kept_in_memory),
        TEST(all_warps_have_no_more_events_than_the_file_has_bytes),
        TEST(a_question_without_end_is_given_up),
        TEST(the_time_counts_from_where_it_is_restarted),
        TEST(without_a_limit_it_may_take_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
