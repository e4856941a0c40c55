/* reader_test.c - opening: what is no session database is refused in one line that names file and reason;
 * what is opened cannot be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;
static const char *good; /* a whole session database */

static int set_up(void **state)
{
    (void)state;
    struct example e;
    folder = example_folder();
    good = strdup(example_path(folder, "good.db"));
    example_hang(&e, 8, 16);
    example_store(&e, good);
    example_free(&e);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free((char *)good);
    example_clean(folder);
    return 0;
}

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static char *read_good(size_t *count)
{
    FILE *file = fopen(good, "r");
    fseek(file, 0, SEEK_END);
    *count = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*count);
    assert_int_equal(fread(bytes, 1, *count, file), *count);
    fclose(file);
    return bytes;
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void refused(const char *path, const char *reason)
{
    struct wsdbg_store *store = NULL;
    char expected[256];
    snprintf(expected, sizeof expected, "%s: ", path);
    struct wsdbg_error *error = wsdbg_store_open(path, &store);
    assert_non_null(error);
    assert_non_null(strstr(wsdbg_error_message(error), expected));
    example_refused(error, reason);
    assert_null(store);
}

static void a_whole_one_opens(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    example_ok(wsdbg_store_open(good, &store));
    wsdbg_store_close(store);
}

static void files_that_are_no_database_are_refused(void **state)
{
    (void)state;
    refused(example_path(folder, "missing.db"), "No such file or directory");
    refused(folder, "is a directory");
    const char *path = example_path(folder, "x.db");
    write_file(path, "", 0);
    refused(path, "is empty");
    write_file(path, "hello", 5);
    refused(path, "is not a SQLite database");
    refused("/dev/null", "is not a regular file");
}

static void a_file_without_permission_is_refused(void **state)
{
    (void)state;
    if (geteuid() == 0)
        skip();
    const char *path = example_path(folder, "locked.db");
    write_file(path, "x", 1);
    chmod(path, 0);
    refused(path, "Permission denied");
}

static void a_database_of_somebody_else_is_refused(void **state)
{
    (void)state;
    const char *path = example_path(folder, "other.db");
    run_sql(path, "CREATE TABLE t (a)");
    refused(path, "is a SQLite database, but not one made by wsdbg");
}

static void a_newer_schema_is_refused(void **state)
{
    (void)state;
    size_t count;
    char *bytes = read_good(&count);
    const char *path = example_path(folder, "newer.db");
    write_file(path, bytes, count);
    free(bytes);
    run_sql(path, "PRAGMA user_version = 12");
    refused(path, "made by schema version 12, this wsdbg reads 1 to 11");
}

static void a_truncated_file_is_refused(void **state)
{
    (void)state;
    size_t count;
    char *bytes = read_good(&count);
    const char *path = example_path(folder, "cut.db");
    const size_t lengths[] = {50, 4096, 8192, count / 2, count - 4096};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        write_file(path, bytes, lengths[i]);
        refused(path, "is damaged");
    }
    free(bytes);
}

/* Whatever the damage, opening and reporting end in an error or in text, never in a crash or an endless run. */
static void overwritten_pages_never_crash_the_reader(void **state)
{
    (void)state;
    size_t count;
    char *bytes = read_good(&count);
    const char *path = example_path(folder, "noise.db");
    int refusals = 0;
    srand(7);
    for (int round = 0; round < 60; round++) {
        char *noisy = malloc(count);
        memcpy(noisy, bytes, count);
        for (int i = 0; i < 200; i++)
            noisy[100 + (size_t)rand() % (count - 100)] = (char)rand();
        write_file(path, noisy, count);
        free(noisy);
        struct wsdbg_store *store = NULL;
        struct wsdbg_report report;
        struct wsdbg_error *error = wsdbg_store_open(path, &store);
        if (!error && !(error = wsdbg_report_load(store, &report)))
            wsdbg_report_deinit(&report);
        wsdbg_store_close(store);
        refusals += error != NULL;
        wsdbg_error_destroy(error);
    }
    assert_true(refusals > 50);
    free(bytes);
}

static void writing_is_refused_in_every_way(void **state)
{
    (void)state;
    static const char *const statements[] = {"DELETE FROM launch",
                                             "UPDATE session SET command = 'x'",
                                             "CREATE TABLE t (a)",
                                             "DROP TABLE warp",
                                             "CREATE TEMP TABLE t (a)",
                                             "PRAGMA user_version = 11",
                                             "PRAGMA query_only = OFF",
                                             "ATTACH '/tmp/x.db' AS x",
                                             "VACUUM INTO '/tmp/wsdbg-store-vacuum.db'",
                                             "SELECT load_extension('x')",
                                             "WITH x AS (SELECT 1) INSERT INTO note SELECT 1, 1, 'x' FROM x",
                                             "DETACH main",
                                             "REINDEX",
                                             "ANALYZE",
                                             "BEGIN",
                                             "INSERT INTO note VALUES (1, 1, 'x')"};
    struct wsdbg_store *store = NULL;
    example_ok(wsdbg_store_open(good, &store));
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct wsdbg_error *error = wsdbg_store_query(store, statements[i], WSDBG_QUERY_CSV, 0, stderr);
        if (!error)
            fail_msg("%s was allowed", statements[i]);
        wsdbg_error_destroy(error);
    }
    struct example e;
    example_quiet(&e, 1);
    example_refused(wsdbg_store_snapshot(store, &e.snapshot), "opened for reading only");
    example_free(&e);
    wsdbg_store_close(store);
    assert_int_not_equal(access("/tmp/wsdbg-store-vacuum.db", F_OK), 0);
}

static void a_live_session_can_be_read(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *writer = NULL;
    const char *path = example_path(folder, "live.db");
    example_hang(&e, 2, 2);
    example_ok(wsdbg_store_create(path, &e.info, &writer));
    example_ok(wsdbg_store_snapshot(writer, &e.snapshot));
    char *text = example_stored_report(path, false);
    assert_non_null(strstr(text, "No stall seen so far: the run goes on, or wsdbg was killed."));
    free(text);
    example_ok(wsdbg_store_snapshot(writer, &e.snapshot));
    wsdbg_store_close(writer);
    example_free(&e);
}

/* A warp may claim any range of events; what is not there is not given. */
static void events_that_a_damaged_file_claims_are_not_there(void **state)
{
    (void)state;
    static const char *const claims[] = {"event_first = 9223372036854775807, event_count = 4294967295",
                                         "event_first = -5, event_count = 10", "event_first = 1, event_count = -1",
                                         "event_first = NULL, event_count = 7",
                                         "event_first = 100000000, event_count = 4294967295"};
    size_t count;
    char *bytes = read_good(&count);
    const char *path = example_path(folder, "claims.db");
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        char sql[128];
        struct wsdbg_store *store = NULL;
        struct wsdbg_loaded loaded;
        struct wsdbg_history_event event;
        uint32_t got = 9;
        write_file(path, bytes, count);
        snprintf(sql, sizeof sql, "UPDATE warp SET %s", claims[i]);
        run_sql(path, sql);
        example_ok(wsdbg_store_open(path, &store));
        example_ok(wsdbg_store_load(store, true, &loaded));
        assert_int_equal(loaded.snapshot.history_count, 0);
        example_ok(wsdbg_store_events(store, &loaded, 0, 0, 1, &event, &got));
        assert_int_equal(got, 0);
        wsdbg_loaded_deinit(&loaded);
        wsdbg_store_close(store);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_one_opens),
        cmocka_unit_test(files_that_are_no_database_are_refused),
        cmocka_unit_test(a_file_without_permission_is_refused),
        cmocka_unit_test(a_database_of_somebody_else_is_refused),
        cmocka_unit_test(a_newer_schema_is_refused),
        cmocka_unit_test(a_truncated_file_is_refused),
        cmocka_unit_test(overwritten_pages_never_crash_the_reader),
        cmocka_unit_test(events_that_a_damaged_file_claims_are_not_there),
        cmocka_unit_test(writing_is_refused_in_every_way),
        cmocka_unit_test(a_live_session_can_be_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
