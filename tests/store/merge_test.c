/* merge_test.c - databases of several nodes become one: ids and references, numbers of processes, clocks, the order of
 * findings, whose fault it is. */
#include "store/merge_nodes.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/database.h"
#include "store/example_machine.h"
#include "store/query.h"

enum { SECOND = 1000000000 };

/* ---- rows ---- */

static int64_t rows_of(const char *file, const char *table)
{
    sqlite3 *db;
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\"", table);
    assert_int_equal(sqlite3_open(merge_path(file), &db), SQLITE_OK);
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
    wsdbg_store_close(merge_two(&merge_node_a, &merge_node_b));
    for (size_t i = 0; i < sizeof summed / sizeof *summed; i++) {
        const int64_t both = rows_of("a.db", summed[i]) + rows_of("b.db", summed[i]),
                      all = rows_of("all.db", summed[i]);
        if (all != both)
            fail_msg("%s has %lld rows, the two have %lld", summed[i], (long long)all, (long long)both);
    }
    assert_int_equal(rows_of("all.db", "pragma_foreign_key_check"), 0);
    assert_int_equal(rows_of("all.db", "node"), 2);
    char *text = merge_ask(
        "all.db", "SELECT DISTINCT first_snapshot, last_snapshot, (SELECT id FROM shown_snapshot) FROM launch");
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
    char *a = merge_ask("a.db", query), *b = merge_ask("b.db", query), *all = merge_ask("all.db", query);
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
    static const struct merge_node pairs[][2] = {
        {{"a.db", "node-a", 1, 2, "", 0, false, false}, {"b.db", "node-b", 0, 2, "", 100, true, false}},
        {{"a.db", "node-a", 1, 2, "", 0, true, false}, {"b.db", "node-b", 0, 2, "", 100, true, false}},
        {{"a.db", "node-a", 1, 2, "", 0, false, false}, {"b.db", "node-b", 0, 2, "", 100, false, false}},
    };
    for (size_t pair = 0; pair < sizeof pairs / sizeof *pairs; pair++) {
        wsdbg_store_close(merge_two(&pairs[pair][0], &pairs[pair][1]));
        for (size_t i = 0; i < sizeof queries / sizeof *queries; i++)
            compare_query(queries[i]);
        for (int file = 0; file < 3; file++)
            unlink(merge_path((const char *const[]){"a.db", "b.db", "all.db"}[file]));
    }
}

static void every_canned_query_runs(void **state)
{
    (void)state;
    struct wsdbg_store *store = merge_two(&merge_node_a, &merge_node_b);
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
    struct wsdbg_store *store = merge_two(&merge_node_a, &merge_node_b);
    merge_says(store, "SELECT process_id, pid, hostname, rank, node_id FROM process ORDER BY node_id",
               "77,77,node-a,1,1\r\n4194305,77,node-b,0,2\r\n");
    wsdbg_store_close(store);
    char *report = example_stored_report(merge_path("all.db"), false);
    assert_non_null(strstr(report, "rank 0 of 2 (local 0, host node-b, process 77)"));
    assert_null(strstr(report, "4194305"));
    free(report);
}

/* Node b booted 100 s later, and began 100 s later: on the clock of a its session begins 100 s after that of a. */
static void host_times_are_on_the_clock_of_the_first_node(void **state)
{
    (void)state;
    static const struct merge_node later = {"b.db", "node-b", 0, 2, "", 100, false, false};
    struct wsdbg_store *store = merge_two(&merge_node_a, &later);
    merge_says(store,
               "SELECT shift_ns / 1000000000, (started_ns - (SELECT min(started_ns) FROM node)) / 1000000000 FROM node",
               "0,0\r\n100,100\r\n");
    merge_says(store,
               "SELECT DISTINCT (time_ns - (SELECT started_ns FROM session)) / 1000000000 FROM launch ORDER BY 1",
               "1\r\n101\r\n");
    merge_says(store, "SELECT (seen_ns - (SELECT started_ns FROM session)) / 1000000000 FROM member", "5\r\n105\r\n");
    merge_says(store, "SELECT (time_ns - (SELECT started_ns FROM session)) / 1000000000 FROM snapshot", "105\r\n");
    merge_says(store,
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
        const struct merge_node b = {
            "b.db", examples[i].host, 0, 2, "SLURM_JOB_ID=7\n", examples[i].booted_later_s, true, false};
        merge_make_node(&merge_node_a);
        merge_make_node(&b);
        /* Else they are the same session. */
        sqlite3 *db;
        assert_int_equal(sqlite3_open(merge_path("b.db"), &db), SQLITE_OK);
        sqlite3_exec(db, "UPDATE session SET started_ns = started_ns + 5, started_unix_ns = started_unix_ns + 9", NULL,
                     NULL, NULL);
        sqlite3_close(db);
        example_ok(merge_files((const char *const[]){"a.db", "b.db"}, 2, &result));
        assert_int_equal(result.nodes[0].tie, WSDBG_CLOCK_OWN);
        if (result.nodes[1].tie != examples[i].tie || result.nodes[1].apart != examples[i].apart)
            fail_msg("example %zu: tie %d, apart %d", i, result.nodes[1].tie, result.nodes[1].apart);
        wsdbg_merge_deinit(&result);
        for (int file = 0; file < 3; file++)
            unlink(merge_path((const char *const[]){"a.db", "b.db", "all.db"}[file]));
    }
}

/* Node a has the origin, node b the process that polls what it would write. */
static void the_origin_of_one_node_has_its_victim_on_another(void **state)
{
    (void)state;
    static const struct merge_node waits = {"b.db", "node-b", 0, 2, "", 0, false, true};
    struct wsdbg_store *store = merge_two(&waits, &merge_node_a);
    merge_says(store, "SELECT rank, blame FROM member JOIN process USING (process_id) ORDER BY rank",
               "0,victim\r\n1,origin\r\n");
    char *victims = example_query(store, "@victims", WSDBG_QUERY_CSV);
    assert_non_null(strstr(victims, "0,node-b,78,"));
    assert_non_null(strstr(victims, ",rank 1\r\n"));
    free(victims);
    wsdbg_store_close(store);
    char *report = example_stored_report(merge_path("all.db"), false);
    assert_non_null(strstr(report, "rank 1 of 2 (local 1, host node-a, process 77)\nHANG: PARITY_WRONG (proven)\n"));
    free(report);
}

/* As one diagnosis would: what is proven first, then the more specific cause. */
static void findings_are_in_the_order_of_one_diagnosis(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    merge_make_node(&merge_node_a);
    merge_make_node(&merge_node_b);
    merge_execute(
        "a.db",
        "UPDATE finding SET cause = 'GLOBAL_SPIN', confidence = 'likely'; INSERT INTO finding (snapshot_id, cause, "
        "confidence, cta_count, sentence) SELECT snapshot_id, 'UNKNOWN', 'possible', 1, 'x' FROM finding");
    merge_execute("b.db", "UPDATE finding SET cause = 'ARRIVE_MISSING', confidence = 'likely'");
    example_ok(merge_files((const char *const[]){"a.db", "b.db"}, 2, &result));
    wsdbg_merge_deinit(&result);
    char *text = merge_ask("all.db", "SELECT id, cause FROM finding ORDER BY id");
    assert_string_equal(text, "id,cause\r\n1,ARRIVE_MISSING\r\n2,GLOBAL_SPIN\r\n3,UNKNOWN\r\n");
    free(text);
}

/* What may be the cause of a likely cycle goes before cycles, also those of other nodes. */
static void what_may_be_the_cause_of_a_cycle_goes_before_others(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    merge_make_node(&merge_node_a);
    merge_make_node(&merge_node_b);
    merge_execute("a.db", "UPDATE finding SET cause = 'WAIT_CYCLE', confidence = 'likely'");
    merge_execute(
        "b.db",
        "UPDATE finding SET cause = 'TX_MISMATCH', confidence = 'possible'; INSERT INTO finding (snapshot_id, cause, "
        "confidence, cta_count, sentence) SELECT snapshot_id, 'WAIT_CYCLE', 'likely', 1, 'x' FROM finding");
    example_ok(merge_files((const char *const[]){"a.db", "b.db"}, 2, &result));
    wsdbg_merge_deinit(&result);
    char *text = merge_ask("all.db", "SELECT id, cause FROM finding ORDER BY id");
    assert_string_equal(text, "id,cause\r\n1,TX_MISMATCH\r\n2,WAIT_CYCLE\r\n3,WAIT_CYCLE\r\n");
    free(text);
}

static void the_session_is_that_of_all(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    merge_make_node(&merge_node_a);
    merge_make_node(&merge_node_b);
    merge_execute("b.db", "UPDATE session SET exit_status = 0, hang = 0, outcome = 'exited 0', command = './b'");
    merge_execute("b.db", "INSERT INTO log (time_ns, origin, text) SELECT started_ns, 'wsdbg', 'hello' FROM session");
    example_ok(merge_files((const char *const[]){"a.db", "b.db"}, 2, &result));
    assert_string_equal(result.same, "SLURM_JOB_ID=7");
    assert_int_equal(result.untied, 0);
    assert_int_equal(result.world_size.value, 2);
    wsdbg_merge_deinit(&result);
    char *text = merge_ask("all.db", "SELECT command, hostname, exit_status, hang, outcome FROM session");
    assert_non_null(strstr(text, "./gemm --bug parity-wrong | ./b,\"node-a, node-b\",124,1,"
                                 "\"2 nodes: 1 killed after a hang, 1 exited 0\""));
    free(text);
    text = merge_ask("all.db", "SELECT id, text FROM log");
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
        merge_make_node(&merge_node_a);
        merge_make_node(&merge_node_b);
        snprintf(change, sizeof change, "UPDATE session SET %s", others[i]);
        merge_execute("a.db", "UPDATE session SET stall_proven = 1");
        merge_execute("b.db", change);
        example_ok(merge_files(files, 2, &result));
        wsdbg_merge_deinit(&result);
        char *text = merge_ask("all.db", "SELECT stall_proven FROM session");
        assert_string_equal(text, i == 0 ? "stall_proven\r\n1\r\n" : "stall_proven\r\n0\r\n");
        free(text);
        for (size_t k = 0; k < sizeof files / sizeof *files; k++)
            unlink(merge_path(files[k]));
    }
}

/* ---- what is refused, and leaves no file ---- */

static void an_older_one_is_merged_with_what_it_has(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    sqlite3 *db;
    char *text = calloc(1, 1 << 17);
    FILE *file = fopen(WSDBG_FIXTURES_DIR "/version_6.sql", "r");
    assert_true(fread(text, 1, (1 << 17) - 1, file) > 0);
    fclose(file);
    assert_int_equal(sqlite3_open(merge_path("old.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    free(text);
    merge_make_node(&merge_node_a);
    example_ok(merge_files((const char *const[]){"a.db", "old.db"}, 2, &result));
    wsdbg_merge_deinit(&result);
    text = merge_ask("all.db", "SELECT p.pid, p.rank, m.state, m.seen_ns IS NOT NULL AS seen FROM process p "
                               "JOIN member m USING (process_id) ORDER BY p.node_id");
    assert_string_equal(text, "pid,rank,state,seen\r\n77,1,kernel,1\r\n2897,,unknown,1\r\n");
    free(text);
}

/* ---- many ---- */

static void many_ranks_are_merged(void **state)
{
    (void)state;
    struct wsdbg_merge result;
    char names[NODES_MOST][16], hosts[NODES_MOST][16];
    const char *files[NODES_MOST];
    for (uint32_t i = 0; i < NODES_MOST; i++) {
        snprintf(names[i], sizeof names[i], "%u.db", i);
        snprintf(hosts[i], sizeof hosts[i], "node-%u", i);
        const struct merge_node node = {files[i] = names[i], hosts[i],   i,     NODES_MOST,
                                        "SLURM_JOB_ID=7\n",  (int64_t)i, i % 2, false};
        merge_make_node(&node);
    }
    example_ok(merge_files(files, NODES_MOST, &result));
    assert_int_equal(result.node_count, NODES_MOST);
    assert_int_equal(result.untied, 0);
    wsdbg_merge_deinit(&result);
    char *text =
        merge_ask("all.db", "SELECT count(*), count(DISTINCT process_id), count(DISTINCT rank), count(DISTINCT pid) "
                            "FROM process");
    assert_non_null(strstr(text, "\n64,64,64,1\r\n"));
    free(text);
    char *report = example_stored_report(merge_path("all.db"), false);
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
#define TEST(function) cmocka_unit_test_setup_teardown(function, merge_set_up, merge_tear_down)
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
        TEST(an_older_one_is_merged_with_what_it_has),
        TEST(many_ranks_are_merged),
        TEST(every_time_of_the_schema_is_known_to_be_of_the_host_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
