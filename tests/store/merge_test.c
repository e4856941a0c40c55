/* merge_test.c - databases of several nodes become one: ids and references, numbers of processes, clocks, the order of
 * findings, whose fault it is; and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/ranks.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/database.h"
#include "store/example_machine.h"
#include "store/merge.h"
#include "store/query.h"

enum { SECOND = 1000000000, MANY = 64 };

static char *folder;

static int set_up(void **state)
{
    (void)state;
    folder = example_folder();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    example_clean(folder);
    return 0;
}

/* A node's session; freed as it is stored. */
struct node {
    const char *file, *host;
    uint32_t rank, world_size; /* of its process; world_size 0 = not known */
    const char *job;
    int64_t booted_later_s; /* than the example's host: its clock shows so much less */
    bool machine, waiting;
};

static void make(const struct node *node)
{
    struct example e;
    if (node->waiting)
        ranks_make_waiting(&e);
    else if (node->machine)
        example_machine(&e, 2);
    else
        example_hang(&e, 2, 3);
    e.info.hostname = node->host;
    e.info.started_unix_ns += (uint64_t)(node->booted_later_s * SECOND);
    if (e.snapshot.process_count == 0) {
        e.snapshot.processes = calloc(1, sizeof *e.snapshot.processes);
        e.snapshot.process_count = 1;
        e.snapshot.processes[0].process_id = e.snapshot.processes[0].pid = e.snapshot.contexts[0].process_id;
    }
    ranks_set(&e, node->rank, node->world_size, node->job);
    example_store(&e, example_path(folder, node->file));
    if (node->waiting)
        e.diagnosis = (struct wsdbg_diagnosis){0};
    example_free(&e);
}

static const struct node node_a = {"a.db", "node-a", 1, 2, "SLURM_JOB_ID=7\n", 0, false, false};
static const struct node node_b = {"b.db", "node-b", 0, 2, "SLURM_JOB_ID=7\n", 100, true, false};

static struct wsdbg_error *merge(const char *const *files, size_t count, struct wsdbg_merge *out)
{
    char *paths[MANY];
    for (size_t i = 0; i < count; i++)
        paths[i] = strdup(example_path(folder, files[i]));
    struct wsdbg_error *error =
        wsdbg_store_merge((const char *const *)paths, count, example_path(folder, "all.db"), out);
    for (size_t i = 0; i < count; i++) {
        if (out->nodes)
            out->nodes[i].path = files[i];
        free(paths[i]);
    }
    return error;
}

/* Both, merged; the caller closes. */
static struct wsdbg_store *merged(const struct node *first, const struct node *second)
{
    struct wsdbg_merge result;
    struct wsdbg_store *store;
    make(first);
    make(second);
    example_ok(merge((const char *const[]){first->file, second->file}, 2, &result));
    wsdbg_merge_deinit(&result);
    example_ok(wsdbg_store_open(example_path(folder, "all.db"), &store));
    return store;
}

static char *ask(const char *file, const char *sql)
{
    struct wsdbg_store *store;
    example_ok(wsdbg_store_open(example_path(folder, file), &store));
    char *text = example_query(store, sql, WSDBG_QUERY_CSV);
    wsdbg_store_close(store);
    return text;
}

static void says(struct wsdbg_store *store, const char *sql, const char *expected)
{
    char *text = example_query(store, sql, WSDBG_QUERY_CSV);
    const char *rows = strchr(text, '\n') + 1;
    if (strcmp(rows, expected) != 0)
        fail_msg("%s gives\n%s, not\n%s", sql, rows, expected);
    free(text);
}

/* ---- rows ---- */

static int64_t rows_of(const char *file, const char *table)
{
    sqlite3 *db;
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\"", table);
    assert_int_equal(sqlite3_open(example_path(folder, file), &db), SQLITE_OK);
    const int64_t count = wsdbg_db_number(db, sql, -1);
    sqlite3_close(db);
    return count;
}

static void every_row_is_there_and_refers_to_what_it_did(void **state)
{
    (void)state;
    static const char *const summed[] = {
        "process", "context", "module",   "name", "function", "launch", "host_thread", "note",    "grid",
        "cta",     "site",    "barrier",  "warp", "part",     "access", "reach",       "excerpt", "look",
        "event",   "finding", "evidence", "edge", "member",   "code",   "allocation",  "log"};
    wsdbg_store_close(merged(&node_a, &node_b));
    for (size_t i = 0; i < sizeof summed / sizeof *summed; i++) {
        const int64_t both = rows_of("a.db", summed[i]) + rows_of("b.db", summed[i]),
                      all = rows_of("all.db", summed[i]);
        if (all != both)
            fail_msg("%s has %lld rows, the two have %lld", summed[i], (long long)all, (long long)both);
    }
    assert_int_equal(rows_of("all.db", "pragma_foreign_key_check"), 0);
    assert_int_equal(rows_of("all.db", "node"), 2);
    char *text =
        ask("all.db", "SELECT DISTINCT first_snapshot, last_snapshot, (SELECT id FROM shown_snapshot) FROM launch");
    assert_string_equal(text, "first_snapshot,last_snapshot,(SELECT id FROM shown_snapshot)\r\n2,2,2\r\n1,2,2\r\n");
    free(text);
}

/* Rows of one query in some order: lines, sorted. */
static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static size_t split(char *text, char **lines, size_t most)
{
    size_t count = 0;
    for (char *line = strtok(text, "\r\n"); line && count < most; line = strtok(NULL, "\r\n"))
        lines[count++] = line;
    return count;
}

static void compare_query(const char *query)
{
    enum { LINES_MOST = 4096 };
    static char *lines[2][LINES_MOST];
    char *a = ask("a.db", query), *b = ask("b.db", query), *all = ask("all.db", query);
    size_t apart = split(a, lines[0], LINES_MOST), at = 0;
    apart += split(b, lines[0] + apart, LINES_MOST - apart);
    const size_t whole = split(all, lines[1], LINES_MOST);
    assert_int_equal(whole, apart - 1); /* one heading */
    qsort(lines[0], apart, sizeof **lines, compare_lines);
    qsort(lines[1], whole, sizeof **lines, compare_lines);
    for (size_t i = 0; i < whole; i++, at++) {
        while (at < apart && strcmp(lines[0][at], lines[1][i]) != 0)
            at++;
        if (at == apart)
            fail_msg("%s: no node says \"%s\"", query, lines[1][i]);
    }
    free(a);
    free(b);
    free(all);
}

/* What the views say of each node they say of the whole, but for ids. */
static void views_say_the_same_of_each_node(void **state)
{
    (void)state;
    static const char *const queries[] = {
        "SELECT kernel, cta_x, warp, role, state, barrier, stage, parity, iteration, quiet_ns, line, last_event, "
        "last_event_age_ns, place, instruction FROM warp_named",
        "SELECT kernel, cta_x, warp, event, barrier, stage, value, gpu_time_ns FROM event_named",
        "SELECT kernel, warp, lanes, state, place, barrier, address FROM part_named",
        "SELECT cta_x, waiter_warp, barrier, waker_warp, waker_state, why FROM cycle",
        "SELECT cause, confidence, sentence, cta_count FROM finding",
        "SELECT w.warp, r.after, a.kind, a.address FROM reach r JOIN warp w ON w.id = r.warp_id "
        "JOIN access a ON a.id = r.access_id",
        "SELECT s.line, i.line FROM site s JOIN site i ON i.id = s.inlined_at",
        "@edges",
        "@wakers",
        "@barriers",
        "@evidence",
    };
    static const struct node pairs[][2] = {
        {{"a.db", "node-a", 1, 2, "", 0, false, false}, {"b.db", "node-b", 0, 2, "", 100, true, false}},
        {{"a.db", "node-a", 1, 2, "", 0, true, false}, {"b.db", "node-b", 0, 2, "", 100, true, false}},
        {{"a.db", "node-a", 1, 2, "", 0, false, false}, {"b.db", "node-b", 0, 2, "", 100, false, false}},
    };
    for (size_t pair = 0; pair < sizeof pairs / sizeof *pairs; pair++) {
        wsdbg_store_close(merged(&pairs[pair][0], &pairs[pair][1]));
        for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
            compare_query(queries[i]);
        for (int file = 0; file < 3; file++)
            unlink(example_path(folder, (const char *const[]){"a.db", "b.db", "all.db"}[file]));
    }
}

static void every_canned_query_runs(void **state)
{
    (void)state;
    struct wsdbg_store *store = merged(&node_a, &node_b);
    for (const struct wsdbg_canned_query *query = wsdbg_canned_queries; query->name; query++) {
        char name[64];
        snprintf(name, sizeof name, "@%s%s", query->name, query->arguments ? " 0 1" : "");
        free(example_query(store, name, WSDBG_QUERY_CSV));
    }
    wsdbg_store_close(store);
}

/* ---- processes, clocks, findings ---- */

static void a_number_that_two_hosts_use_is_given_once_and_people_see_their_own(void **state)
{
    (void)state;
    struct wsdbg_store *store = merged(&node_a, &node_b);
    says(store, "SELECT process_id, pid, hostname, rank, node_id FROM process ORDER BY node_id",
         "77,77,node-a,1,1\r\n4194305,77,node-b,0,2\r\n");
    wsdbg_store_close(store);
    char *report = example_stored_report(example_path(folder, "all.db"), false);
    assert_non_null(strstr(report, "rank 0 of 2 (local 0, host node-b, process 77)"));
    assert_null(strstr(report, "4194305"));
    free(report);
}

/* Node b booted 100 s later, and began 100 s later: on the clock of a its session begins 100 s after that of a. */
static void host_times_are_on_the_clock_of_the_first_node(void **state)
{
    (void)state;
    static const struct node later = {"b.db", "node-b", 0, 2, "", 100, false, false};
    struct wsdbg_store *store = merged(&node_a, &later);
    says(store,
         "SELECT shift_ns / 1000000000, (started_ns - (SELECT min(started_ns) FROM node)) / 1000000000 FROM node",
         "0,0\r\n100,100\r\n");
    says(store, "SELECT DISTINCT (time_ns - (SELECT started_ns FROM session)) / 1000000000 FROM launch ORDER BY 1",
         "1\r\n101\r\n");
    says(store, "SELECT (seen_ns - (SELECT started_ns FROM session)) / 1000000000 FROM member", "5\r\n105\r\n");
    says(store, "SELECT (time_ns - (SELECT started_ns FROM session)) / 1000000000 FROM snapshot", "105\r\n");
    says(store,
         "SELECT DISTINCT waiting_seconds FROM (SELECT (m.seen_ns - t.since_ns) / 1000000000 AS waiting_seconds "
         "FROM host_thread t JOIN member m ON m.process_id = t.process_id)",
         "4\r\n");
    wsdbg_store_close(store);
}

static void how_clocks_are_tied_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        int64_t booted_later_s;
        enum wsdbg_clock_tie tie;
        bool apart;
    } examples[] = {
        {"node-a", 0, WSDBG_CLOCK_SHARED, false}, /* two wsdbg on one machine, and its clock did not drift */
        {"node-a", 2, WSDBG_CLOCK_WALL, false},   /* another machine of that name */
        {"node-b", 0, WSDBG_CLOCK_WALL, false},        {"node-b", 9000, WSDBG_CLOCK_WALL, true},
        {"node-b", -9000, WSDBG_CLOCK_UNKNOWN, false}, /* before the first one's clock began */
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct wsdbg_merge result;
        const struct node b = {"b.db", examples[i].host, 0, 2, "SLURM_JOB_ID=7\n", examples[i].booted_later_s, true,
                               false};
        make(&node_a);
        make(&b);
        /* Else they are the same session. */
        sqlite3 *db;
        assert_int_equal(sqlite3_open(example_path(folder, "b.db"), &db), SQLITE_OK);
        sqlite3_exec(db, "UPDATE session SET started_ns = started_ns + 5, started_unix_ns = started_unix_ns + 9", NULL,
                     NULL, NULL);
        sqlite3_close(db);
        example_ok(merge((const char *const[]){"a.db", "b.db"}, 2, &result));
        assert_int_equal(result.nodes[0].tie, WSDBG_CLOCK_OWN);
        if (result.nodes[1].tie != examples[i].tie || result.nodes[1].apart != examples[i].apart)
            fail_msg("example %zu: tie %d, apart %d", i, result.nodes[1].tie, result.nodes[1].apart);
        wsdbg_merge_deinit(&result);
        for (int file = 0; file < 3; file++)
            unlink(example_path(folder, (const char *const[]){"a.db", "b.db", "all.db"}[file]));
    }
}

/* Node a has the origin, node b the process that polls what it would write. */
static void the_origin_of_one_node_has_its_victim_on_another(void **state)
{
    (void)state;
    static const struct node waits = {"b.db", "node-b", 0, 2, "", 0, false, true};
    struct wsdbg_store *store = merged(&waits, &node_a);
    says(store, "SELECT rank, blame FROM member JOIN process USING (process_id) ORDER BY rank",
         "0,victim\r\n1,origin\r\n");
    char *victims = example_query(store, "@victims", WSDBG_QUERY_CSV);
    assert_non_null(strstr(victims, "0,node-b,78,"));
    assert_non_null(strstr(victims, ",rank 1\r\n"));
    free(victims);
    wsdbg_store_close(store);
    char *report = example_stored_report(example_path(folder, "all.db"), false);
    assert_non_null(strstr(report, "rank 1 of 2 (local 1, host node-a, process 77)\nHANG: PARITY_WRONG (proven)\n"));
    free(report);
}

static void sql(const char *file, const char *text)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(example_path(folder, file), &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", text, message);
    sqlite3_close(db);
}

/* As one diagnosis would: what is proven first, then the more specific cause. */
static void findings_are_in_the_order_of_one_diagnosis(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    make(&node_a);
    make(&node_b);
    sql("a.db",
        "UPDATE finding SET cause = 'GLOBAL_SPIN', confidence = 'likely'; INSERT INTO finding (snapshot_id, cause, "
        "confidence, cta_count, sentence) SELECT snapshot_id, 'UNKNOWN', 'possible', 1, 'x' FROM finding");
    sql("b.db", "UPDATE finding SET cause = 'ARRIVE_MISSING', confidence = 'likely'");
    example_ok(merge((const char *const[]){"a.db", "b.db"}, 2, &result));
    wsdbg_merge_deinit(&result);
    char *text = ask("all.db", "SELECT id, cause FROM finding ORDER BY id");
    assert_string_equal(text, "id,cause\r\n1,ARRIVE_MISSING\r\n2,GLOBAL_SPIN\r\n3,UNKNOWN\r\n");
    free(text);
}

/* What may be the cause of a likely cycle goes before cycles, also those of other nodes. */
static void what_may_be_the_cause_of_a_cycle_goes_before_others(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    make(&node_a);
    make(&node_b);
    sql("a.db", "UPDATE finding SET cause = 'WAIT_CYCLE', confidence = 'likely'");
    sql("b.db",
        "UPDATE finding SET cause = 'TX_MISMATCH', confidence = 'possible'; INSERT INTO finding (snapshot_id, cause, "
        "confidence, cta_count, sentence) SELECT snapshot_id, 'WAIT_CYCLE', 'likely', 1, 'x' FROM finding");
    example_ok(merge((const char *const[]){"a.db", "b.db"}, 2, &result));
    wsdbg_merge_deinit(&result);
    char *text = ask("all.db", "SELECT id, cause FROM finding ORDER BY id");
    assert_string_equal(text, "id,cause\r\n1,TX_MISMATCH\r\n2,WAIT_CYCLE\r\n3,WAIT_CYCLE\r\n");
    free(text);
}

static void the_session_is_that_of_all(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    make(&node_a);
    make(&node_b);
    sql("b.db", "UPDATE session SET exit_status = 0, hang = 0, outcome = 'exited 0', command = './b'");
    sql("b.db", "INSERT INTO log (time_ns, origin, text) SELECT started_ns, 'wsdbg', 'hello' FROM session");
    example_ok(merge((const char *const[]){"a.db", "b.db"}, 2, &result));
    assert_string_equal(result.same, "SLURM_JOB_ID=7");
    assert_int_equal(result.untied, 0);
    assert_int_equal(result.world_size.value, 2);
    wsdbg_merge_deinit(&result);
    char *text = ask("all.db", "SELECT command, hostname, exit_status, hang, outcome FROM session");
    assert_non_null(strstr(text, "./gemm --bug parity-wrong | ./b,\"node-a, node-b\",124,1,"
                                 "\"2 nodes: 1 killed after a hang, 1 exited 0\""));
    free(text);
    text = ask("all.db", "SELECT id, text FROM log");
    assert_string_equal(text, "id,text\r\n1,node-b: hello\r\n");
    free(text);
}

/* Only the nodes that found a hang count. */
static void a_stall_is_proven_if_each_hang_is(void **state)
{
    static const char *const others[] = {"hang = 0, stall_proven = 0", "stall_proven = 0", "stall_proven = NULL"};
    static const char *const files[] = {"a.db", "b.db", "all.db"};
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct wsdbg_merge result;
        char change[96];
        make(&node_a);
        make(&node_b);
        snprintf(change, sizeof change, "UPDATE session SET %s", others[i]);
        sql("a.db", "UPDATE session SET stall_proven = 1");
        sql("b.db", change);
        example_ok(merge(files, 2, &result));
        wsdbg_merge_deinit(&result);
        char *text = ask("all.db", "SELECT stall_proven FROM session");
        assert_string_equal(text, i == 0 ? "stall_proven\r\n1\r\n" : "stall_proven\r\n0\r\n");
        free(text);
        for (size_t k = 0; k < sizeof files / sizeof *files; k++)
            unlink(example_path(folder, files[k]));
    }
}

/* ---- what is refused, and leaves no file ---- */

static void refused(const char *const *files, size_t count, const char *reason)
{
    struct wsdbg_merge result;
    example_refused(merge(files, count, &result), reason);
    wsdbg_merge_deinit(&result);
    assert_int_not_equal(access(example_path(folder, "all.db"), F_OK), 0);
    assert_int_not_equal(access(example_path(folder, "all.db-wal"), F_OK), 0);
}

static void databases_that_do_not_belong_together_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct node b;
        const char *reason;
    } examples[] = {
        {{"b.db", "node-b", 0, 2, "SLURM_JOB_ID=8\n", 0, false, false},
         "are of different runs: SLURM_JOB_ID is 7 in the one and 8 in the other"},
        {{"b.db", "node-b", 0, 4, "", 0, false, false},
         "are of different runs: the world size is 2 in the one and 4 in the other"},
        {{"b.db", "node-b", 1, 2, "SLURM_JOB_ID=7\n", 0, false, false}, "both have rank 1"},
        {{"b.db", "node-a", 0, 2, "SLURM_JOB_ID=7\n", 0, false, false}, "are the same session"},
    };
    make(&node_a);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        make(&examples[i].b);
        refused((const char *const[]){"a.db", "b.db"}, 2, examples[i].reason);
        unlink(example_path(folder, "b.db"));
    }
    refused((const char *const[]){"a.db", "a.db"}, 2, "are the same session");
}

/* Unknown on one side is no difference, and is told. */
static void a_run_that_one_of_them_does_not_name_is_taken(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    static const struct node silent = {"b.db", "node-b", 0, 0, "", 0, false, false};
    make(&node_a);
    make(&silent);
    example_ok(merge((const char *const[]){"a.db", "b.db"}, 2, &result));
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
        make(&node_a);
        make(&node_b);
        sql("b.db", examples[i].change);
        refused((const char *const[]){"a.db", "b.db"}, 2, examples[i].reason);
        unlink(example_path(folder, "a.db"));
        unlink(example_path(folder, "b.db"));
    }
}

/* Whatever the damage, it ends in an error and no file, or in a database that can be read. */
static void damaged_pages_never_crash_a_merge(void **state)
{
    (void)state;
    enum { ROUNDS = 40, CHANGES = 6 };
    char path[256];
    make(&node_a);
    make(&node_b);
    snprintf(path, sizeof path, "%s", example_path(folder, "b.db"));
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
        struct wsdbg_error *error = merge((const char *const[]){"a.db", "b.db"}, 2, &result);
        wsdbg_merge_deinit(&result);
        refusals += error != NULL;
        if (!error)
            free(example_stored_report(example_path(folder, "all.db"), false));
        wsdbg_error_destroy(error);
        assert_int_equal(access(example_path(folder, "all.db"), F_OK) == 0, !error);
        unlink(example_path(folder, "all.db"));
    }
    assert_true(refusals > 0 && refusals < ROUNDS);
    free(good);
}

/* A trigger of a stranger's file does nothing: it is not copied, and none runs where rows are only read. */
static void a_trigger_in_an_input_is_left_where_it_is(void **state)
{
    (void)state;
    make(&node_a);
    make(&node_b);
    sql("b.db", "CREATE TRIGGER mine AFTER INSERT ON warp BEGIN DELETE FROM grid; END");
    struct wsdbg_merge result;
    example_ok(merge((const char *const[]){"a.db", "b.db"}, 2, &result));
    wsdbg_merge_deinit(&result);
    char *text = ask("all.db", "SELECT name FROM sqlite_schema WHERE type = 'trigger'");
    assert_string_equal(text, "name\r\nwarp_events\r\n");
    free(text);
}

static void a_merged_one_is_not_merged_again_and_nothing_is_overwritten(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    wsdbg_store_close(merged(&node_a, &node_b));
    example_refused(merge((const char *const[]){"a.db", "b.db"}, 2, &result), "exists already, not overwritten");
    wsdbg_merge_deinit(&result);
    assert_int_equal(rename(example_path(folder, "all.db"), example_path(folder, "first.db")), 0);
    refused((const char *const[]){"first.db", "a.db"}, 2, "was made by wsdbg merge");
}

static void an_older_one_is_merged_with_what_it_has(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    sqlite3 *db;
    char *text = calloc(1, 1 << 17);
    FILE *file = fopen(WSDBG_FIXTURES_DIR "/version_6.sql", "r");
    assert_true(fread(text, 1, (1 << 17) - 1, file) > 0);
    fclose(file);
    assert_int_equal(sqlite3_open(example_path(folder, "old.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    free(text);
    make(&node_a);
    example_ok(merge((const char *const[]){"a.db", "old.db"}, 2, &result));
    wsdbg_merge_deinit(&result);
    text = ask("all.db", "SELECT p.pid, p.rank, m.state, m.seen_ns IS NOT NULL AS seen FROM process p "
                         "JOIN member m USING (process_id) ORDER BY p.node_id");
    assert_string_equal(text, "pid,rank,state,seen\r\n77,1,kernel,1\r\n2897,,unknown,1\r\n");
    free(text);
}

/* ---- many ---- */

static void many_ranks_are_merged(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    char names[MANY][16], hosts[MANY][16];
    const char *files[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "%u.db", i);
        snprintf(hosts[i], sizeof hosts[i], "node-%u", i);
        const struct node node = {files[i] = names[i], hosts[i], i, MANY, "SLURM_JOB_ID=7\n", (int64_t)i, i % 2, false};
        make(&node);
    }
    example_ok(merge(files, MANY, &result));
    assert_int_equal(result.node_count, MANY);
    assert_int_equal(result.untied, 0);
    wsdbg_merge_deinit(&result);
    char *text = ask("all.db", "SELECT count(*), count(DISTINCT process_id), count(DISTINCT rank), count(DISTINCT pid) "
                               "FROM process");
    assert_non_null(strstr(text, "\n64,64,64,1\r\n"));
    free(text);
    char *report = example_stored_report(example_path(folder, "all.db"), false);
    assert_non_null(strstr(report, "  … and 56 more (@ranks)\n"));
    free(report);
}

/* Who adds a column with a time says here, or in merge_copy.c, which clock it is of. */
static void every_time_of_the_schema_is_known_to_be_of_the_host_or_not(void **state)
{
    (void)state;
    static const char *const shifted[] = {"time_ns",  "first_seen_ns", "since_ns",      "changed_ns",
                                          "freed_ns", "given_ns",      "done_given_ns", "seen_ns",
                                          "began_ns", "ready_ns",      "closed_ns",     "issued_ns"};
    static const char *const of_whole_tables[] = {"session", "node", "snapshot"};
    static const char *const others[] = {"gpu_time_ns", "gpu_now_ns", "last_gpu_time_ns", "state_age_ns",
                                         "start_ns",    "end_ns",     "attach_ns",        "suspend_ns",
                                         "read_ns",     "resume_ns",  "detach_ns"};
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, wsdbg_schema_sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_prepare_v2(db,
                       "SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c "
                       "WHERE m.type = 'table' AND c.name LIKE '%\\_ns' ESCAPE '\\'",
                       -1, &statement, NULL);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(statement, 0),
                   *column = (const char *)sqlite3_column_text(statement, 1);
        bool known = false;
        for (size_t i = 0; i < sizeof shifted / sizeof *shifted; i++)
            known |= strcmp(column, shifted[i]) == 0;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            known |= strcmp(column, others[i]) == 0;
        for (size_t i = 0; i < sizeof of_whole_tables / sizeof *of_whole_tables; i++)
            known |= strcmp(table, of_whole_tables[i]) == 0;
        if (!known)
            fail_msg("%s.%s: of which clock is it? merge_copy.c shifts the host's", table, column);
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
        TEST(every_row_is_there_and_refers_to_what_it_did),
        TEST(views_say_the_same_of_each_node),
        TEST(every_canned_query_runs),
        TEST(a_number_that_two_hosts_use_is_given_once_and_people_see_their_own),
        TEST(host_times_are_on_the_clock_of_the_first_node),
        TEST(how_clocks_are_tied_is_told),
        TEST(the_origin_of_one_node_has_its_victim_on_another),
        TEST(findings_are_in_the_order_of_one_diagnosis),
        TEST(what_may_be_the_cause_of_a_cycle_goes_before_others),
        TEST(the_session_is_that_of_all),
        TEST(a_stall_is_proven_if_each_hang_is),
        TEST(databases_that_do_not_belong_together_are_refused),
        TEST(a_run_that_one_of_them_does_not_name_is_taken),
        TEST(files_that_are_no_sessions_of_a_run_are_refused),
        TEST(damaged_pages_never_crash_a_merge),
        TEST(a_trigger_in_an_input_is_left_where_it_is),
        TEST(a_merged_one_is_not_merged_again_and_nothing_is_overwritten),
        TEST(an_older_one_is_merged_with_what_it_has),
        TEST(many_ranks_are_merged),
        TEST(every_time_of_the_schema_is_known_to_be_of_the_host_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
