/* merge_refused_test.c - what a merge of sessions refuses, and that it leaves no file then. */
#include "store/merge_nodes.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/database.h"

static void refused(const char *const *files, size_t count, const char *reason)
{
    struct wsdbg_merge result;
    example_refused(merge_files(files, count, &result), reason);
    wsdbg_merge_deinit(&result);
    assert_int_not_equal(access(merge_path("all.db"), F_OK), 0);
    assert_int_not_equal(access(merge_path("all.db-wal"), F_OK), 0);
}

static void databases_that_do_not_belong_together_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct merge_node b;
        const char *reason;
    } examples[] = {
        {{"b.db", "node-b", 0, 2, "SLURM_JOB_ID=8\n", 0, false, false},
         "are of different runs: SLURM_JOB_ID is 7 in the one and 8 in the other"},
        {{"b.db", "node-b", 0, 4, "", 0, false, false},
         "are of different runs: the world size is 2 in the one and 4 in the other"},
        {{"b.db", "node-b", 1, 2, "SLURM_JOB_ID=7\n", 0, false, false}, "both have rank 1"},
        {{"b.db", "node-a", 0, 2, "SLURM_JOB_ID=7\n", 0, false, false}, "are the same session"},
    };
    merge_make_node(&merge_node_a);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        merge_make_node(&examples[i].b);
        refused((const char *const[]){"a.db", "b.db"}, 2, examples[i].reason);
        unlink(merge_path("b.db"));
    }
    refused((const char *const[]){"a.db", "a.db"}, 2, "are the same session");
}

/* Unknown on one side is no difference, and is told. */
static void a_run_that_one_of_them_does_not_name_is_taken(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    static const struct merge_node silent = {"b.db", "node-b", 0, 0, "", 0, false, false};
    merge_make_node(&merge_node_a);
    merge_make_node(&silent);
    example_ok(merge_files((const char *const[]){"a.db", "b.db"}, 2, &result));
    assert_int_equal(result.untied, 2);
    assert_string_equal(result.same, "");
    wsdbg_merge_deinit(&result);
}

static void files_that_are_no_sessions_of_a_run_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *change, *reason;
    } examples[] = {
        {"PRAGMA user_version = 99", "made by schema version 99"},
        {"PRAGMA application_id = 1", "not one made by wsdbg"},
        {"ALTER TABLE warp RENAME TO w; CREATE VIEW warp AS SELECT * FROM w", "'warp' is a view, not a table"},
        {"DROP TABLE part", "no such table: main.part"},
        {"UPDATE grid SET context_id = 99", "FOREIGN KEY constraint failed"},
        {"UPDATE launch SET process_id = 5", "a row of table launch refers to nothing in column process_id"},
        {"UPDATE context SET given_ns = 'x'", "refers to nothing in column given_ns"},
        {"UPDATE session SET started_ns = 9223372036854775807", "a time is 9223372036854775807 ns"},
        {"UPDATE warp SET event_first = 9223372036854775807", "refers to nothing in column event_first"},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        merge_make_node(&merge_node_a);
        merge_make_node(&merge_node_b);
        merge_execute("b.db", examples[i].change);
        refused((const char *const[]){"a.db", "b.db"}, 2, examples[i].reason);
        unlink(merge_path("a.db"));
        unlink(merge_path("b.db"));
    }
}

/* Whatever the damage, it ends in an error and no file, or in a database that can be read. */
static void damaged_pages_never_crash_a_merge(void **state)
{
    (void)state;
    enum { ROUNDS = 40, CHANGES = 6 };
    char path[256];
    merge_make_node(&merge_node_a);
    merge_make_node(&merge_node_b);
    snprintf(path, sizeof path, "%s", merge_path("b.db"));
    FILE *file = fopen(path, "r");
    fseek(file, 0, SEEK_END);
    const size_t bytes = (size_t)ftell(file);
    char *good = malloc(bytes);
    rewind(file);
    assert_int_equal(fread(good, 1, bytes, file), bytes);
    fclose(file);
    srand(7);
    int refusals = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct wsdbg_merge result;
        file = fopen(path, "w");
        fwrite(good, 1, bytes, file);
        for (int i = 0; i < CHANGES; i++) {
            fseek(file, 4096 + rand() % (long)(bytes - 4096), SEEK_SET);
            fputc(rand(), file);
        }
        fclose(file);
        struct wsdbg_error *error = merge_files((const char *const[]){"a.db", "b.db"}, 2, &result);
        wsdbg_merge_deinit(&result);
        refusals += error != NULL;
        if (!error)
            free(example_stored_report(merge_path("all.db"), false));
        wsdbg_error_destroy(error);
        assert_int_equal(access(merge_path("all.db"), F_OK) == 0, !error);
        unlink(merge_path("all.db"));
    }
    assert_true(refusals > 0 && refusals < ROUNDS);
    free(good);
}

/* A trigger of a stranger's file does nothing: it is not copied, and none runs where rows are only read. */
static void a_trigger_in_an_input_is_left_where_it_is(void **state)
{
    (void)state;
    merge_make_node(&merge_node_a);
    merge_make_node(&merge_node_b);
    merge_execute("b.db", "CREATE TRIGGER mine AFTER INSERT ON warp BEGIN DELETE FROM grid; END");
    struct wsdbg_merge result;
    example_ok(merge_files((const char *const[]){"a.db", "b.db"}, 2, &result));
    wsdbg_merge_deinit(&result);
    char *text = merge_ask("all.db", "SELECT name FROM sqlite_schema WHERE type = 'trigger'");
    assert_string_equal(text, "name\r\nwarp_events\r\n");
    free(text);
}

static void a_merged_one_is_not_merged_again_and_nothing_is_overwritten(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    wsdbg_store_close(merge_two(&merge_node_a, &merge_node_b));
    example_refused(merge_files((const char *const[]){"a.db", "b.db"}, 2, &result), "exists already, not overwritten");
    wsdbg_merge_deinit(&result);
    assert_int_equal(rename(merge_path("all.db"), merge_path("first.db")), 0);
    refused((const char *const[]){"first.db", "a.db"}, 2, "was made by wsdbg merge");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, merge_set_up, merge_tear_down)
        TEST(databases_that_do_not_belong_together_are_refused),
        TEST(a_run_that_one_of_them_does_not_name_is_taken),
        TEST(files_that_are_no_sessions_of_a_run_are_refused),
        TEST(damaged_pages_never_crash_a_merge),
        TEST(a_trigger_in_an_input_is_left_where_it_is),
        TEST(a_merged_one_is_not_merged_again_and_nothing_is_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
