/* migrate_test.c - databases of older schema versions read like one of today's, and their files stay as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "store/report.h"

static char *folder;
static const char *path;

static char *read_file(const char *name, size_t *bytes)
{
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(*bytes + 1, 1);
    assert_int_equal(fread(text, 1, *bytes, file), *bytes);
    fclose(file);
    return text;
}

/* Version 2 has what the tests of version 1 say too, and more. */
static int set_up(const char *fixture)
{
    sqlite3 *db;
    size_t bytes;
    folder = example_folder();
    path = strdup(example_path(folder, "old.db"));
    char *sql = read_file(fixture, &bytes);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    free(sql);
    return 0;
}

/* Of the tests of one version: its database, as that version wrote it. */
#define SET_UP(version)                                                \
    static int set_up_##version(void **state)                          \
    {                                                                  \
        (void)state;                                                   \
        return set_up(WSDBG_FIXTURES_DIR "/version_" #version ".sql"); \
    }
SET_UP(1)
SET_UP(2)
SET_UP(3)
SET_UP(4)
SET_UP(5)
SET_UP(6)
SET_UP(7)
SET_UP(8)
SET_UP(9)
SET_UP(10)

static int tear_down(void **state)
{
    (void)state;
    free((char *)path);
    example_clean(folder);
    return 0;
}

static void the_file_is_not_changed_and_nothing_is_left_beside_it(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    size_t before_bytes, after_bytes;
    char *before = read_file(path, &before_bytes);
    example_ok(wsdbg_store_open(path, &store));
    wsdbg_store_close(store);
    char *after = read_file(path, &after_bytes);
    assert_int_equal(before_bytes, after_bytes);
    assert_memory_equal(before, after, before_bytes);
    int names = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; (entry = readdir(listing));)
        names += entry->d_name[0] != '.';
    closedir(listing);
    assert_int_equal(names, 1);
    free(before);
    free(after);
}

static void the_report_is_the_recorded_sessions(void **state)
{
    (void)state;
    char *text = example_stored_report(path, false);
    assert_non_null(strstr(text, "HANG: REGS_PARTIAL_WARPGROUP (proven)"));
    assert_non_null(strstr(text, "WAIT_REGISTERS"));
    free(text);
}

static void every_warp_finds_its_events(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_loaded loaded;
    struct wsdbg_history_event last;
    uint32_t events = 0, got = 0;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    for (uint32_t i = 0; i < loaded.snapshot.warp_count; i++) {
        const uint32_t count = loaded.events[i].count;
        events += count;
        assert_true(count > 0);
        example_ok(wsdbg_store_events(store, &loaded, i, count - 1, 1, &last, &got));
        assert_int_equal(got, 1);
        assert_int_equal(last.kind, loaded.snapshot.warps[i].last.kind);
        assert_int_equal(last.gpu_time_ns, loaded.snapshot.warps[i].last.gpu_time_ns);
    }
    assert_int_equal(events, 116);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

static void what_version_1_did_not_store_is_missing_not_wrong(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_loaded loaded;
    struct wsdbg_source_file file = {.path = "?", .text = "?"};
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(wsdbg_store_log_count(store), 0);
    example_ok(wsdbg_store_source_file(store, &loaded.snapshot.modules[0], &file));
    assert_null(file.path);
    assert_null(file.text);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

static void the_log_and_the_source_of_version_2_are_kept(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_loaded loaded;
    struct wsdbg_source_file file;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(wsdbg_store_log_count(store), 2);
    example_ok(wsdbg_store_source_file(store, &loaded.snapshot.modules[0], &file));
    assert_string_equal(file.path, "leftover.cu");
    assert_string_equal(file.text, "text of version 2\n");
    assert_null(file.text_missing);
    assert_null(file.ptx);
    wsdbg_source_file_deinit(&file);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

static void what_version_3_did_not_see_is_not_known(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_loaded loaded;
    struct wsdbg_source_file file;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(loaded.snapshot.site_count + loaded.snapshot.part_count + loaded.snapshot.look_count, 0);
    assert_int_equal(loaded.snapshot.warps[0].site, WSDBG_NONE);
    assert_false(loaded.snapshot.warps[0].parity.known);
    assert_false(loaded.snapshot.barriers[0].word.known);
    assert_false(loaded.snapshot.names_inferred);
    example_ok(wsdbg_store_source_file(store, &loaded.snapshot.modules[0], &file));
    assert_string_equal(file.text_missing, "not found");
    assert_string_equal(file.ptx, "// PTX of version 3");
    wsdbg_source_file_deinit(&file);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

static void what_version_4_saw_is_kept_and_nothing_was_refused(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_source_file file;
    struct wsdbg_report report;
    struct wsdbg_loaded loaded;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    example_ok(wsdbg_store_source_file(store, &loaded.snapshot.modules[0], &file));
    assert_string_equal(file.text, "text of version 4\n");
    example_ok(wsdbg_report_load(store, &report));
    assert_int_equal(report.refusal_count, 0);
    wsdbg_report_deinit(&report);
    wsdbg_source_file_deinit(&file);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

static void of_memory_and_work_version_5_knew_nothing(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_source_file file;
    struct wsdbg_report report;
    struct wsdbg_loaded loaded;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(loaded.snapshot.allocation_count, 0);
    assert_false(loaded.snapshot.contexts[0].given_ns.known);
    assert_false(loaded.snapshot.contexts[0].kernels.known);
    example_ok(wsdbg_store_source_file(store, &loaded.snapshot.modules[0], &file));
    assert_string_equal(file.text, "text of version 5\n");
    example_ok(wsdbg_report_load(store, &report));
    assert_int_equal(report.refusal_count, 1);
    wsdbg_report_deinit(&report);
    wsdbg_source_file_deinit(&file);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

static void of_ranks_version_6_knew_nothing_but_the_host(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_loaded loaded;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(loaded.snapshot.process_count, 0);
    assert_int_equal(loaded.snapshot.allocation_count, 1);
    assert_int_equal(loaded.snapshot.contexts[0].kernels.value, 3);
    assert_int_equal(loaded.diagnosis.findings[0].process_id.value, 2897);
    char *text = example_query(store, "SELECT pid, hostname, rank, ended FROM process", WSDBG_QUERY_CSV);
    assert_string_equal(text, "pid,hostname,rank,ended\r\n2897,host,,\r\n");
    free(text);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

static void of_stacks_version_6_knew_nothing(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_source_file file;
    struct wsdbg_loaded loaded;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(loaded.snapshot.host_process_count, 0);
    assert_int_equal(loaded.snapshot.allocation_count, 1);
    assert_int_equal(loaded.snapshot.allocations[0].row.bytes, 512);
    assert_int_equal(loaded.snapshot.contexts[0].kernels.value, 3);
    example_ok(wsdbg_store_source_file(store, &loaded.snapshot.modules[0], &file));
    assert_string_equal(file.text, "text of version 6\n");
    wsdbg_source_file_deinit(&file);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

static void of_collectives_version_7_knew_nothing_but_the_ranks(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_source_file file;
    struct wsdbg_loaded loaded;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(loaded.snapshot.communicator_count, 0);
    assert_int_equal(loaded.snapshot.collective_count, 0);
    assert_int_equal(loaded.snapshot.contexts[0].kernels.value, 3);
    example_ok(wsdbg_store_source_file(store, &loaded.snapshot.modules[0], &file));
    assert_string_equal(file.text, "text of version 7\n");
    char *text = example_query(store, "SELECT pid, rank, rank_from FROM process", WSDBG_QUERY_CSV);
    assert_string_equal(text, "pid,rank,rank_from\r\n2897,1,RANK\r\n");
    free(text);
    wsdbg_source_file_deinit(&file);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

static void of_launch_sites_version_8_knew_nothing_but_the_calls(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_source_file file;
    struct wsdbg_loaded loaded;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(loaded.snapshot.launch_site_count, 0);
    assert_int_equal(loaded.snapshot.site_frame_count, 0);
    assert_int_equal(loaded.snapshot.collective_count, 1);
    assert_int_equal(loaded.snapshot.collectives[0].row.count, 64);
    example_ok(wsdbg_store_source_file(store, &loaded.snapshot.modules[0], &file));
    assert_string_equal(file.text, "text of version 8\n");
    wsdbg_source_file_deinit(&file);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
}

static void of_rings_version_9_knew_nothing(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_report report;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_report_load(store, &report));
    assert_null(report.ring);
    wsdbg_report_deinit(&report);
    wsdbg_store_close(store);
}

static char *inferred_of_names(struct wsdbg_store *store)
{
    return example_query(store, "SELECT module_id, inferred, count(*) AS n FROM name GROUP BY 1, 2", WSDBG_QUERY_CSV);
}

/* Version 10 knew of a picture only that it has names that were inferred. */
static void of_each_name_version_10_knew_nothing(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    struct wsdbg_loaded loaded;
    example_ok(wsdbg_store_open(path, &store));
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(loaded.snapshot.modules[0].names_count, 6);
    assert_true(loaded.snapshot.modules[0].names_undecided);
    assert_false(loaded.info.stall_proven);
    char *text = inferred_of_names(store);
    assert_string_equal(text, "module_id,inferred,n\r\n1,,6\r\n");
    free(text);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
    text = example_stored_report(path, false);
    assert_non_null(strstr(text, "(names of roles and barriers may be inferred from the code)"));
    assert_non_null(strstr(text, "stall after "));
    free(text);
}

static void change(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* A kernel with probes, whose author named its roles, beside one without. */
static void names_of_a_module_without_probes_are_inferred(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    change("INSERT INTO module (id, process_id, context_id, \"row\", probed) SELECT 2, process_id, context_id, 7, 0 "
           "FROM module;"
           "INSERT INTO name (module_id, position, kind, identifier, name, first_free) "
           "VALUES (2, 0, 'role', 0, 'producer', 0)");
    example_ok(wsdbg_store_open(path, &store));
    char *text = inferred_of_names(store);
    assert_string_equal(text, "module_id,inferred,n\r\n1,,6\r\n2,1,1\r\n");
    free(text);
    wsdbg_store_close(store);
}

static void of_a_picture_without_inferred_names_nothing_is_said(void **state)
{
    (void)state;
    change("UPDATE snapshot SET names_inferred = 0");
    char *text = example_stored_report(path, false);
    assert_null(strstr(text, "inferred from the code"));
    free(text);
}

/* Columns of every table and view, in order. */
static const char layout_sql[] = "SELECT m.type, m.name, group_concat(c.name) AS columns FROM sqlite_schema m "
                                 "JOIN pragma_table_info(m.name) c WHERE m.type IN ('table', 'view') "
                                 "AND m.name NOT LIKE 'sqlite%' GROUP BY m.name ORDER BY m.name";

static char *layout(const char *database)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(sqlite3_open(database, &db), SQLITE_OK);
    if (strcmp(database, ":memory:") == 0) {
        assert_int_equal(sqlite3_exec(db, wsdbg_schema_sql, NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, wsdbg_views_sql, NULL, NULL, NULL), SQLITE_OK);
    }
    assert_int_equal(sqlite3_prepare_v2(db, layout_sql, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW)
        fprintf(out, "%s %s: %s\n", sqlite3_column_text(statement, 0), sqlite3_column_text(statement, 1),
                sqlite3_column_text(statement, 2));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    fclose(out);
    return text;
}

static void it_has_the_tables_views_and_columns_of_today(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    char *today = layout(":memory:");
    example_ok(wsdbg_store_open(path, &store));
    sqlite3 *copy;
    const char *saved = example_path(folder, "migrated.db");
    assert_int_equal(sqlite3_open(saved, &copy), SQLITE_OK);
    sqlite3_backup *backup = sqlite3_backup_init(copy, "main", store->db, "main");
    assert_non_null(backup);
    assert_int_equal(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    sqlite3_backup_finish(backup);
    sqlite3_close(copy);
    wsdbg_store_close(store);
    char *migrated = layout(saved);
    assert_string_equal(migrated, today);
    free(migrated);
    free(today);
}

static void the_migrated_copy_cannot_be_written(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    example_ok(wsdbg_store_open(path, &store));
    example_refused(wsdbg_store_query(store, "DELETE FROM launch", WSDBG_QUERY_CSV, 0, stderr),
                    "only statements that read");
    wsdbg_store_close(store);
}

static void a_damaged_old_database_is_refused(void **state)
{
    (void)state;
    struct wsdbg_store *store = NULL;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "DROP TABLE event", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    example_refused(wsdbg_store_open(path, &store), "read schema version 1: ");
    assert_null(store);
}

#define EVERY_VERSION                                                                                         \
    cmocka_unit_test(the_file_is_not_changed_and_nothing_is_left_beside_it),                                  \
        cmocka_unit_test(the_report_is_the_recorded_sessions), cmocka_unit_test(every_warp_finds_its_events), \
        cmocka_unit_test(it_has_the_tables_views_and_columns_of_today),                                       \
        cmocka_unit_test(the_migrated_copy_cannot_be_written)

/* Runs the tests of one version's database: those of every version, and its own. */
#define VERSION(version, ...)                                                 \
    do {                                                                      \
        const struct CMUnitTest tests[] = {EVERY_VERSION, __VA_ARGS__};       \
        failed += cmocka_run_group_tests(tests, set_up_##version, tear_down); \
    } while (0)

int main(void)
{
    int failed = 0;
    VERSION(1, cmocka_unit_test(what_version_1_did_not_store_is_missing_not_wrong),
            cmocka_unit_test(a_damaged_old_database_is_refused));
    VERSION(2, cmocka_unit_test(the_log_and_the_source_of_version_2_are_kept));
    VERSION(3, cmocka_unit_test(what_version_3_did_not_see_is_not_known));
    VERSION(4, cmocka_unit_test(what_version_4_saw_is_kept_and_nothing_was_refused));
    VERSION(5, cmocka_unit_test(of_memory_and_work_version_5_knew_nothing));
    VERSION(6, cmocka_unit_test(of_ranks_version_6_knew_nothing_but_the_host),
            cmocka_unit_test(of_stacks_version_6_knew_nothing));
    VERSION(7, cmocka_unit_test(of_collectives_version_7_knew_nothing_but_the_ranks));
    VERSION(8, cmocka_unit_test(of_launch_sites_version_8_knew_nothing_but_the_calls));
    VERSION(9, cmocka_unit_test(of_rings_version_9_knew_nothing));
    VERSION(10, cmocka_unit_test(of_each_name_version_10_knew_nothing),
            cmocka_unit_test(names_of_a_module_without_probes_are_inferred),
            cmocka_unit_test(of_a_picture_without_inferred_names_nothing_is_said));
    return failed;
}
