/* merge_ranks_test.c - two nodes, with a rank each: what merging finds in their calls of NCCL, which no node could see.
 *
 * Both ranks have a kernel that stands still.  On node a it is that of all_reduce #2 of 64 elements, of rank 1.
 */
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

#include "store/database.h"
#include "store/merge.h"
#include "store/query.h"

#define SECOND INT64_C(1000000000)

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

static void sql(const char *file, char *text)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(example_path(folder, file), &db), SQLITE_OK);
    if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", text, message);
    sqlite3_close(db);
    sqlite3_free(text);
}

static void make(const char *file, uint32_t rank, int64_t booted_later_s)
{
    struct example e;
    example_hang(&e, 1, 1);
    e.info.hostname = file;
    e.info.started_unix_ns += (uint64_t)(booted_later_s * SECOND);
    ranks_set(&e, rank, 2, "SLURM_JOB_ID=7\n");
    example_store(&e, example_path(folder, file));
    example_free(&e);
    sql(file, sqlite3_mprintf("UPDATE finding SET cause = 'GLOBAL_SPIN', confidence = 'likely'; INSERT INTO "
                              "communicator (snapshot_id, process_id, number, identity, rank, rank_count, made_by, "
                              "began_ns, ready_ns, state, calls, collectives) SELECT s.id, process_id, 1, "
                              "'00000000000000aa', %u, 2, 'ncclCommInitRank', 1, 2, 'lives', 0, 0 FROM process, "
                              "shown_snapshot s",
                              rank));
}

/* A call so long before the node's picture; `stands`: its kernel is the one of the picture. */
static void call(const char *file, int number, int elements, double before_s, bool stands)
{
    sql(file,
        sqlite3_mprintf(
            "INSERT INTO collective (communicator_id, call, number, operation, count, datatype, reduction, stream, "
            "thread_id, launch_id, time_ns, issued_ns, done, captured, grouped, refused) SELECT c.id, %d, %d, "
            "'all_reduce', %d, 'float32', 'sum', 0, 0, iif(%d, (SELECT launch_id FROM grid LIMIT 1), NULL), "
            "s.time_ns - %lld, s.time_ns, iif(%d, NULL, 1), 0, 0, 0 FROM communicator c, shown_snapshot s; UPDATE "
            "communicator SET calls = calls + 1, collectives = collectives + 1",
            number - 1, number, elements, stands, (long long)(before_s * 1e9), stands));
}

static void merge(void)
{
    struct wsdbg_merge result;
    char *a = strdup(example_path(folder, "a.db")), *b = strdup(example_path(folder, "b.db"));
    example_ok(wsdbg_store_merge((const char *const[]){a, b}, 2, example_path(folder, "all.db"), &result));
    wsdbg_merge_deinit(&result);
    free(a);
    free(b);
}

static void expect(const char *title, const char *query, const char *expected)
{
    struct wsdbg_store *store;
    example_ok(wsdbg_store_open(example_path(folder, "all.db"), &store));
    char *text = example_query(store, query, WSDBG_QUERY_CSV);
    const char *rows = strchr(text, '\n') + 1;
    if (strcmp(rows, expected) != 0)
        fail_msg("%s: %s, not %s", title, rows, expected);
    free(text);
    wsdbg_store_close(store);
}

static const struct {
    const char *title;
    double first_s, second_s; /* how long before its picture each rank made its newest call */
    int elements;             /* of rank 0's all_reduce #2; 0 = it made none */
    int64_t booted_later_s;   /* the host of rank 0 */
    const char *findings;
} examples[] = {
    {"other sizes", 2, 2, 32, 0, "1,RANK_MISMATCH,likely\r\n2,GLOBAL_SPIN,likely\r\n3,GLOBAL_SPIN,likely\r\n"},
    {"the same size", 2, 2, 64, 0, "1,GLOBAL_SPIN,likely\r\n2,GLOBAL_SPIN,likely\r\n"},
    {"none", 2, 2, 0, 0, "1,RANK_MISSING,possible\r\n2,GLOBAL_SPIN,possible\r\n3,GLOBAL_SPIN,likely\r\n"},
    {"a picture of before the call", 0.2, 2, 0, 0, "1,GLOBAL_SPIN,likely\r\n2,GLOBAL_SPIN,likely\r\n"},
    {"clocks that cannot be aligned", 2, 2, 32, -9000, "1,GLOBAL_SPIN,likely\r\n2,GLOBAL_SPIN,likely\r\n"},
};

static void check(size_t i)
{
    make("a.db", 1, 0);
    make("b.db", 0, examples[i].booted_later_s);
    call("a.db", 1, 64, examples[i].first_s + 1, false);
    call("a.db", 2, 64, examples[i].first_s, true);
    call("b.db", 1, 64, examples[i].second_s + 1, false);
    if (examples[i].elements)
        call("b.db", 2, examples[i].elements, examples[i].second_s, false);
    merge();
    expect(examples[i].title, "SELECT id, cause, confidence FROM finding ORDER BY id", examples[i].findings);
}

static void calls_of_all_ranks_are_compared(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        check(i);
        tear_down(NULL);
        set_up(NULL);
    }
}

static void a_cause_that_is_found_then_is_a_hang(void **state)
{
    (void)state;
    make("a.db", 1, 0);
    make("b.db", 0, 0);
    call("a.db", 1, 64, 2, true);
    call("b.db", 1, 32, 2, false);
    for (size_t i = 0; i < 2; i++)
        sql(i ? "b.db" : "a.db",
            sqlite3_mprintf("UPDATE finding SET confidence = 'possible'; UPDATE snapshot SET hang = "
                            "0; UPDATE session SET hang = 0"));
    merge();
    expect("hang", "SELECT s.hang, x.hang FROM shown_snapshot s, session x", "1,1\r\n");
    expect("evidence", "SELECT count(*), min(finding_id), max(finding_id) FROM evidence WHERE text LIKE '%called%'",
           "2,1,1\r\n");
    expect("whose", "SELECT rank FROM finding JOIN process USING (process_id) ORDER BY finding.id LIMIT 1", "1\r\n");
    expect("grid",
           "SELECT p.rank FROM finding f JOIN grid g ON g.id = f.grid_id JOIN context c ON c.id = g.context_id JOIN "
           "process p ON "
           "p.process_id = c.process_id ORDER BY f.id LIMIT 1",
           "1\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_of_all_ranks_are_compared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cause_that_is_found_then_is_a_hang, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
