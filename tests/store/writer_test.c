/* writer_test.c - the writer: one transaction a call, nothing overwritten, one file at the end, fast, and
 * readable after SIGKILL at any moment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example_machine.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t number(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t value = sqlite3_column_type(statement, 0) == SQLITE_NULL ? -1 : sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

static void a_closed_session_is_one_file(void **state)
{
    (void)state;
    struct example e;
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    example_hang(&e, 2, 4);
    example_store(&e, path);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_not_equal(stat(example_path(folder, "a.db-wal"), &status), 0);
    assert_int_not_equal(stat(example_path(folder, "a.db-shm"), &status), 0);
    assert_int_equal(number(path, "SELECT count(*) FROM event"), 2 * 12 * 4);
    assert_int_equal(number(path, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    example_free(&e);
    example_clean(folder);
}

static void an_existing_file_is_not_overwritten(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    FILE *file = fopen(path, "w");
    fputs("mine", file);
    fclose(file);
    example_quiet(&e, 1);
    example_refused(wsdbg_store_create(path, &e.info, &store), "a.db: exists already, not overwritten");
    assert_null(store);
    char text[8] = "";
    file = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "mine");
    example_free(&e);
    example_clean(folder);
}

static void an_unwritable_place_is_refused(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    char *folder = example_folder();
    example_quiet(&e, 1);
    example_refused(wsdbg_store_create(example_path(folder, "no/such/a.db"), &e.info, &store),
                    "No such file or directory");
    example_refused(wsdbg_store_create("/proc/self/a.db", &e.info, &store),
                    "/proc/self/a.db: create the session database");
    assert_null(store);
    example_free(&e);
    example_clean(folder);
}

static void a_new_picture_replaces_the_old_one_and_keeps_launches(void **state)
{
    (void)state;
    struct example first, second;
    struct wsdbg_store *store = NULL;
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    example_hang(&first, 4, 2);
    example_hang(&second, 2, 2);
    second.snapshot.launches[0].sequence = 5;
    example_ok(wsdbg_store_create(path, &first.info, &store));
    example_ok(wsdbg_store_snapshot(store, &first.snapshot));
    example_ok(wsdbg_store_snapshot(store, &second.snapshot));
    wsdbg_store_close(store);
    assert_int_equal(number(path, "SELECT count(*) FROM snapshot"), 1);
    assert_int_equal(number(path, "SELECT count(*) FROM warp"), 24);
    assert_int_equal(number(path, "SELECT count(*) FROM event"), 48);
    assert_int_equal(number(path, "SELECT count(*) FROM context"), 1);
    assert_int_equal(number(path, "SELECT count(*) FROM function"), 1);
    assert_int_equal(number(path, "SELECT count(*) FROM launch"), 2);
    example_free(&first);
    example_free(&second);
    example_clean(folder);
}

/* A look may name the kernel of a graph launch; a later picture without a look does not forget it. */
static void what_a_graph_launch_runs_is_kept(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    example_hang(&e, 4, 2);
    const struct wsdbg_launch named = e.snapshot.launches[0];
    struct wsdbg_launch *row = &e.snapshot.launches[0];
    example_ok(wsdbg_store_create(path, &e.info, &store));
    for (int look = 0; look < 3; look++) {
        *row = named;
        row->function = look == 1 ? named.function : WSDBG_NONE;
        row->grid[0] = look == 1 ? 77 : 0;
        example_ok(wsdbg_store_snapshot(store, &e.snapshot));
    }
    wsdbg_store_close(store);
    assert_int_equal(number(path, "SELECT grid_x FROM launch"), 77);
    assert_int_equal(number(path, "SELECT count(*) FROM launch WHERE function_id IS NOT NULL"), 1);
    example_free(&e);
    example_clean(folder);
}

/* Of a grid whose size nobody knows. */
static void an_unknown_number_of_ctas_is_null(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    example_hang(&e, 4, 2);
    e.snapshot.grids[0].cta_total = 0;
    example_ok(wsdbg_store_create(path, &e.info, &store));
    example_ok(wsdbg_store_snapshot(store, &e.snapshot));
    wsdbg_store_close(store);
    assert_int_equal(number(path, "SELECT count(*) FROM grid WHERE cta_total IS NULL"), 1);
    example_free(&e);
    example_clean(folder);
}

static void a_diagnosed_picture_outlives_later_ones(void **state)
{
    (void)state;
    struct example hang, later;
    struct wsdbg_store *store = NULL;
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    example_hang(&hang, 3, 2);
    example_quiet(&later, 3);
    example_ok(wsdbg_store_create(path, &hang.info, &store));
    example_ok(wsdbg_store_snapshot(store, &hang.snapshot));
    example_ok(wsdbg_store_diagnosis(store, &hang.snapshot, &hang.diagnosis));
    example_ok(wsdbg_store_snapshot(store, &later.snapshot));
    example_ok(wsdbg_store_snapshot(store, &later.snapshot));
    wsdbg_store_close(store);
    assert_int_equal(number(path, "SELECT count(*) FROM snapshot"), 2);
    assert_int_equal(number(path, "SELECT count(*) FROM finding"), 1);
    assert_int_equal(number(path, "SELECT count(*) FROM stuck"), 36);
    assert_int_equal(number(path, "SELECT count(*) FROM cycle"), 2);
    assert_int_equal(number(path, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    example_free(&hang);
    example_free(&later);
    example_clean(folder);
}

/* Two looks lie side by side as long as the verdict that rests on them is the newest one. */
static void the_look_before_a_verdict_is_kept_beside_it(void **state)
{
    (void)state;
    struct example e, later;
    struct wsdbg_store *store = NULL;
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    example_machine(&e, 2);
    example_quiet(&later, 3);
    example_ok(wsdbg_store_create(path, &e.info, &store));
    example_ok(wsdbg_store_snapshot(store, &e.snapshot));
    example_ok(wsdbg_store_diagnosis(store, &e.snapshot, &e.diagnosis));
    example_ok(wsdbg_store_snapshot(store, &later.snapshot));
    example_ok(wsdbg_store_snapshot(store, &later.snapshot));
    assert_int_equal(number(path, "SELECT count(*) FROM snapshot"), 3);
    assert_int_equal(number(path, "SELECT before_id FROM shown_snapshot"), 1);
    assert_int_equal(number(path, "SELECT count(*) FROM warp WHERE state = 'RUNNING'"), 1);
    assert_int_equal(number(path, "SELECT count(*) FROM part"), 2 * (24 + 2));
    example_ok(wsdbg_store_snapshot(store, &e.snapshot));
    example_ok(wsdbg_store_diagnosis(store, &e.snapshot, &e.diagnosis));
    example_ok(wsdbg_store_snapshot(store, &later.snapshot));
    wsdbg_store_close(store);
    assert_int_equal(number(path, "SELECT count(*) FROM snapshot"), 3);
    assert_int_equal(number(path, "SELECT count(*) FROM site"), 2 * 8);
    assert_int_equal(number(path, "SELECT count(*) FROM reach"), 2 * 24 * 4);
    assert_int_equal(number(path, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
    example_free(&e);
    example_free(&later);
    example_clean(folder);
}

static void a_diagnosis_needs_its_snapshot(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    char *folder = example_folder();
    example_hang(&e, 1, 1);
    example_ok(wsdbg_store_create(example_path(folder, "a.db"), &e.info, &store));
    example_refused(wsdbg_store_diagnosis(store, &e.snapshot, &e.diagnosis), "a diagnosis without its snapshot");
    wsdbg_store_close(store);
    example_free(&e);
    example_clean(folder);
}

static void what_is_unknown_is_null(void **state)
{
    (void)state;
    static const char *const columns[] = {"hostname FROM session",
                                          "ended_ns FROM session",
                                          "source FROM snapshot",
                                          "hang FROM snapshot",
                                          "context_id FROM module",
                                          "image_bytes FROM module",
                                          "module_id FROM function",
                                          "registers FROM function",
                                          "function_id FROM launch",
                                          "cluster_x FROM launch",
                                          "stream FROM host_thread",
                                          "launch_id FROM grid",
                                          "function_id FROM grid",
                                          "sm FROM cta",
                                          "name_id FROM barrier",
                                          "phase FROM barrier",
                                          "expected_arrivals FROM barrier",
                                          "pending_arrivals FROM barrier",
                                          "pending_tx_bytes FROM barrier",
                                          "role FROM warp",
                                          "barrier_id FROM warp",
                                          "line FROM warp",
                                          "registers_held FROM warp",
                                          "changed_ns FROM warp",
                                          "last_kind FROM warp",
                                          "last_iteration FROM warp",
                                          "last_value FROM warp",
                                          "waiting_seconds FROM stuck",
                                          "role FROM stuck",
                                          "parity FROM stuck"};
    struct example e;
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    example_unknown(&e);
    example_store(&e, path);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT %s", columns[i]);
        if (number(path, sql) != -1)
            fail_msg("%s is not NULL", columns[i]);
    }
    example_free(&e);
    example_clean(folder);
}

static void a_full_chip_with_histories_is_stored_whole(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    example_hang(&e, 132, 128);
    example_ok(wsdbg_store_create(path, &e.info, &store));
    example_ok(wsdbg_store_snapshot(store, &e.snapshot));
    wsdbg_store_close(store);
    assert_int_equal(number(path, "SELECT count(*) FROM event"), 132 * 12 * 128);
    example_free(&e);
    example_clean(folder);
}

static void ten_thousand_launches_are_kept(void **state)
{
    (void)state;
    struct example e;
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    example_quiet(&e, 10000);
    example_store(&e, path);
    assert_int_equal(number(path, "SELECT count(*) FROM launch"), 10000);
    assert_int_equal(number(path, "SELECT max(sequence) FROM launch"), 9999);
    example_free(&e);
    example_clean(folder);
}

/* A run of hours makes millions.  The first picture is diagnosed: its launches stay, also those that the next picture,
 * which is gone, had too. */
static void of_more_launches_the_newest_are_kept_and_those_of_a_diagnosed_picture(void **state)
{
    (void)state;
    struct example hang, e;
    struct wsdbg_store *store = NULL;
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    example_hang(&hang, 2, 2);
    example_quiet(&e, 10000);
    hang.snapshot.launches = reallocarray(hang.snapshot.launches, 2, sizeof *hang.snapshot.launches);
    assert_non_null(hang.snapshot.launches);
    hang.snapshot.launches[1] = hang.snapshot.launches[0];
    hang.snapshot.launches[1].sequence++;
    hang.snapshot.launch_count = 2;
    example_ok(wsdbg_store_create(path, &hang.info, &store));
    example_ok(wsdbg_store_snapshot(store, &hang.snapshot));
    example_ok(wsdbg_store_diagnosis(store, &hang.snapshot, &hang.diagnosis));
    example_ok(wsdbg_store_snapshot(store, &hang.snapshot));
    for (uint64_t look = 1; look <= 10; look++) {
        for (size_t i = 0; i < e.snapshot.launch_count; i++)
            e.snapshot.launches[i].sequence = look * 10000 + i;
        example_ok(wsdbg_store_snapshot(store, &e.snapshot));
    }
    wsdbg_store_close(store);
    assert_int_equal(number(path, "SELECT count(*) FROM launch"), 65536 + 2);
    assert_int_equal(number(path, "SELECT min(sequence) FROM launch WHERE sequence >= 10000"), 110000 - 65536);
    assert_int_equal(number(path, "SELECT count(*) FROM grid JOIN launch ON launch.id = launch_id"), 1);
    example_free(&hang);
    example_free(&e);
    example_clean(folder);
}

/* Writes pictures for ever, one diagnosed in three, until it is killed. */
static _Noreturn void write_until_killed(const char *path, int ready)
{
    struct example e;
    struct wsdbg_store *store = NULL;
    example_hang(&e, 16, 16);
    if (wsdbg_store_create(path, &e.info, &store) || write(ready, "x", 1) != 1)
        _exit(1);
    for (unsigned i = 0;; i++) {
        if (wsdbg_store_snapshot(store, &e.snapshot))
            _exit(1);
        if (i % 3 == 0 && wsdbg_store_diagnosis(store, &e.snapshot, &e.diagnosis))
            _exit(1);
    }
}

static void kill_after(const char *path, long delay_us)
{
    int ready[2], status;
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        write_until_killed(path, ready[1]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    usleep((useconds_t)delay_us);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void a_writer_killed_at_any_moment_leaves_a_readable_database(void **state)
{
    (void)state;
    srand(20);
    for (int round = 0; round < 25; round++) {
        char *folder = example_folder();
        const char *path = example_path(folder, "a.db");
        struct wsdbg_store *store = NULL;
        kill_after(path, rand() % 60000);
        example_ok(wsdbg_store_open(path, &store));
        char *text = example_query(store,
                                   "SELECT (SELECT count(*) FROM warp) % 192 AS rest, "
                                   "(SELECT count(*) FROM event) % 3072 AS events_rest",
                                   WSDBG_QUERY_CSV);
        assert_string_equal(text, "rest,events_rest\r\n0,0\r\n"); /* whole pictures only */
        free(text);
        wsdbg_store_close(store);
        text = example_stored_report(path, false);
        assert_non_null(strstr(text, "Session: device gpu"));
        free(text);
        example_clean(folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_session_is_one_file),
        cmocka_unit_test(an_existing_file_is_not_overwritten),
        cmocka_unit_test(an_unwritable_place_is_refused),
        cmocka_unit_test(a_new_picture_replaces_the_old_one_and_keeps_launches),
        cmocka_unit_test(what_a_graph_launch_runs_is_kept),
        cmocka_unit_test(an_unknown_number_of_ctas_is_null),
        cmocka_unit_test(a_diagnosed_picture_outlives_later_ones),
        cmocka_unit_test(the_look_before_a_verdict_is_kept_beside_it),
        cmocka_unit_test(a_diagnosis_needs_its_snapshot),
        cmocka_unit_test(what_is_unknown_is_null),
        cmocka_unit_test(a_full_chip_with_histories_is_stored_whole),
        cmocka_unit_test(ten_thousand_launches_are_kept),
        cmocka_unit_test(of_more_launches_the_newest_are_kept_and_those_of_a_diagnosed_picture),
        cmocka_unit_test(a_writer_killed_at_any_moment_leaves_a_readable_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
