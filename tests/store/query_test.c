/* query_test.c - SQL and canned queries: formats, errors, every canned query on empty and full databases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example_machine.h"
#include "store/query.h"

#include <stdlib.h>
#include <string.h>

static char *folder;
static struct wsdbg_store *full, *empty;

static int set_up(void **state)
{
    (void)state;
    struct example e;
    folder = example_folder();
    example_hang(&e, 8, 16);
    example_store(&e, example_path(folder, "full.db"));
    example_ok(wsdbg_store_create(example_path(folder, "empty.db"), &e.info, &empty));
    wsdbg_store_close(empty);
    example_ok(wsdbg_store_open(example_path(folder, "full.db"), &full));
    example_ok(wsdbg_store_open(example_path(folder, "empty.db"), &empty));
    example_free(&e);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wsdbg_store_close(full);
    wsdbg_store_close(empty);
    example_clean(folder);
    return 0;
}

static void gives(const char *sql, enum wsdbg_query_format format, const char *expected)
{
    char *text = example_query(full, sql, format);
    assert_string_equal(text, expected);
    free(text);
}

static void refused(const char *sql, const char *reason)
{
    example_refused(wsdbg_store_query(full, sql, WSDBG_QUERY_CSV, 0, stderr), reason);
}

static void aligned_columns_pad_by_display_width(void **state)
{
    (void)state;
    gives("SELECT 1 AS n, 'é' AS word, NULL AS none UNION ALL SELECT 22, '日本', 5", WSDBG_QUERY_ALIGNED,
          " n  word  none\n 1  é        ?\n22  日本     5\n");
    gives("SELECT 'a' || char(10) || char(27) AS x", WSDBG_QUERY_ALIGNED, "x\na\\n\\x1b\n");
}

static void expect_in_columns(const char *sql, size_t columns, const char *expected)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    example_ok(wsdbg_store_query(full, sql, WSDBG_QUERY_ALIGNED, columns, out));
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void long_texts_are_whole_unless_the_terminal_is_too_narrow(void **state)
{
    (void)state;
    static const char sql[] =
        "SELECT 1 AS n, 'a sentence that is rather long' AS text, 'short' AS word FROM (VALUES (1), (2), (3), (4))";
#define WHOLE "1  a sentence that is rather long  short\n"
#define CUT "1  a sentence that is …  short\n"
#define CUT_NUMBER "1234567890  a sentence …\n"
#define NOTE "(… marks what does not fit on the terminal; a pipe or a file gets it whole)\n"
    static const char whole[] = "n  text                            word\n" WHOLE WHOLE WHOLE WHOLE;
    expect_in_columns(sql, 0, whole);
    expect_in_columns(sql, 40, whole);
    expect_in_columns(sql, 30, "n  text                  word\n" CUT CUT CUT CUT NOTE);
    expect_in_columns("SELECT 1234567890 AS number, 'a sentence that is long' AS text FROM (VALUES (1), (2), (3), (4))",
                      5, "    number  text\n" CUT_NUMBER CUT_NUMBER CUT_NUMBER CUT_NUMBER NOTE);
}

/* A cut would leave too little of the verdict, which is one row. */
static void few_rows_with_long_texts_have_a_line_a_column(void **state)
{
    (void)state;
    static const char sql[] = "SELECT 1 AS n, 'a sentence that is rather long' AS text, NULL AS word";
    expect_in_columns(sql, 0, "n  text                            word\n1  a sentence that is rather long     ?\n");
    expect_in_columns(sql, 30, "n:    1\ntext: a sentence that is\n      rather long\nword: ?\n");
    expect_in_columns("SELECT 'a sentence of some words' AS text UNION ALL SELECT 'b'", 20,
                      "text: a sentence of\n      some words\n\ntext: b\n");
}

/* Programs join them with the tables; people read them. */
static void kernels_of_canned_queries_are_named_as_their_authors_did(void **state)
{
    (void)state;
    static const char mangled[] = "_Z11gemm_kernelILi128EEvPv";
    char *text = example_query(full, "@stuck", WSDBG_QUERY_ALIGNED);
    assert_non_null(strstr(text, "gemm_kernel<128>"));
    assert_null(strstr(text, mangled));
    free(text);
    text = example_query(full, "@stuck", WSDBG_QUERY_CSV);
    assert_non_null(strstr(text, mangled));
    free(text);
    text = example_query(full, "SELECT kernel FROM stuck", WSDBG_QUERY_ALIGNED);
    assert_non_null(strstr(text, mangled));
    free(text);
}

static void csv_quotes_as_rfc_4180_says(void **state)
{
    (void)state;
    gives("SELECT 'a,b' AS x, 'say \"no\"' AS y, NULL AS n, '' AS e, 1.5 AS r", WSDBG_QUERY_CSV,
          "x,y,n,e,r\r\n\"a,b\",\"say \"\"no\"\"\",,\"\",1.5\r\n");
    gives("SELECT 'two' || char(10) || 'lines' AS x", WSDBG_QUERY_CSV, "x\r\n\"two\nlines\"\r\n");
    gives("SELECT char(27) || ']0;title' || char(7) || char(8238) || 'txt.exe' AS x", WSDBG_QUERY_CSV,
          "x\r\n\\x1b]0;title\\x07\\xe2\\x80\\xaetxt.exe\r\n");
}

static void json_keeps_types(void **state)
{
    (void)state;
    gives("SELECT 1 AS i, 0.5 AS r, NULL AS n, 'q\"' AS t, x'00ff' AS b, 9e999 AS inf", WSDBG_QUERY_JSON,
          "[\n  {\"i\": 1, \"r\": 0.5, \"n\": null, \"t\": \"q\\\"\", \"b\": \"00ff\", \"inf\": null}\n]\n");
    gives("SELECT 1 AS i WHERE 0", WSDBG_QUERY_JSON, "[\n]\n");
}

static void errors_say_what_and_where(void **state)
{
    (void)state;
    refused("SELECT absent FROM launch", "no such column: absent at character 8");
    refused("SELECT * FROM warps", "no such table: warps");
    refused("SELECT * FROM warps", "; the tables are access, activity, allocation, ");
    refused("SELECT * FROM warps", ", warp, warp_named");
    refused("SELEC 1", "near \"SELEC\": syntax error at character 1");
    refused("", "no statement");
    refused("-- nothing", "no statement");
    refused("SELECT 1; SELECT 2", "more than one statement");
    refused("SELECT ?1", "a parameter without a value");
    refused("@nothing", "no query @nothing (wsdbg query FILE lists them)");
    refused("@barier 1", "no query @barier; did you mean @barriers?");
    refused("overlap", "no SQL; did you mean @overlap?");
}

static void a_canned_query_takes_its_arguments(void **state)
{
    (void)state;
    static const char heading[] = "kernel,warp,role,state_a,state_b,barrier_a,barrier_b,stage_a,stage_b,parity_a,"
                                  "parity_b,iteration_a,iteration_b\r\n";
    gives("@diff 0 1", WSDBG_QUERY_CSV, heading);
    gives("@diff  0,0,0   7,0,0 ", WSDBG_QUERY_CSV, heading);
    refused("@diff 0", "@diff takes 2 arguments: CTA CTA, not 1");
    refused("@diff 0 1 2", "@diff takes 2 arguments: CTA CTA, not 3");
    refused("@stuck 1", "@stuck takes 0 arguments, not 1");
}

/* No rows would read as "these two are equal". */
static void a_cta_that_was_not_seen_is_not_compared(void **state)
{
    (void)state;
    refused("@diff 0 9999", "@diff: no CTA 9999 was seen; name it as X or X,Y,Z");
    refused("@diff 0,1,0 0", "no CTA 0,1,0 was seen");
    refused("@diff a 0", "no CTA a was seen");
    example_refused(wsdbg_store_query(empty, "@diff 0 1", WSDBG_QUERY_CSV, 0, stderr), "no CTA 0 was seen");
}

static void a_statement_that_writes_is_refused(void **state)
{
    (void)state;
    refused("DELETE FROM warp", "only statements that read are allowed");
}

static void one_statement_may_end_with_a_comment(void **state)
{
    (void)state;
    gives("SELECT 1 AS x; -- done\n ;", WSDBG_QUERY_CSV, "x\r\n1\r\n");
}

/* Queries that find nothing in the example.  It has no exited warps, no CTAs that differ, no arrivals, tiles, bytes,
 * wgmma rounds, refusals, log, CUPTI records, memory, calls of NCCL or launch sites, and nothing that only the
 * machine's state has.
 */
static bool without_rows(const char *name)
{
    static const char *const names[] = {
        "exited",  "exited-early", "odd-ctas", "diff",       "arrivals",    "tiles",         "log",         "activity",
        "parts",   "looks",        "wakers",   "words",      "excerpts",    "compare-looks", "overlap",     "stages",
        "refused", "memory",       "victims",  "peer-waits", "collectives", "nccl-calls",    "launch-sites"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void every_canned_query_runs_on_an_empty_and_a_full_session(void **state)
{
    (void)state;
    for (const struct wsdbg_canned_query *query = wsdbg_canned_queries; query->name; query++) {
        char name[64];
        snprintf(name, sizeof name, "@%s%s", query->name, query->arguments ? " 0 1" : "");
        if (!query->arguments) {
            char *text = example_query(empty, name, WSDBG_QUERY_JSON);
            assert_string_equal(text, "[\n]\n");
            free(text);
        }
        char *text = example_query(full, name, WSDBG_QUERY_JSON);
        const bool nothing = strcmp(text, "[\n]\n") == 0;
        if (nothing != without_rows(query->name))
            fail_msg("@%s finds %s", query->name,
                     nothing ? "nothing, but without_rows() does not name it" : "rows, but without_rows() names it");
        free(text);
    }
}

/* NULL: of a size that is not known, of the host's memory no device. */
static void memory_is_told_with_who_may_write_it_and_comes_back_as_it_was(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    struct wsdbg_loaded loaded;
    example_machine(&e, 2);
    example_store(&e, example_path(folder, "memory.db"));
    example_ok(wsdbg_store_open(example_path(folder, "memory.db"), &store));
    char *memory = example_query(store, "@memory", WSDBG_QUERY_CSV);
    assert_non_null(strstr(memory, "\r\n77,cuMemAlloc #6,device,0,0x7f1200000000,4096,3,0,0,0,2,2\r\n"));
    assert_non_null(strstr(memory, "\r\n77,cuIpcOpenMemHandle #1,imported,,0x7f1300000000,,2.998,0,0,0,0,\r\n"));
    assert_non_null(strstr(memory, "\r\n77,cuMemAllocAsync #3,pool,0,0x7f1400000000,512,2.997,1,1,0,0,\r\n"));
    free(memory);
    example_ok(wsdbg_store_load(store, false, &loaded));
    assert_int_equal(loaded.snapshot.allocation_count, e.snapshot.allocation_count);
    for (size_t i = 0; i < e.snapshot.allocation_count; i++) {
        struct wsdbg_allocation_row row = e.snapshot.allocations[i].row;
        row.context = WSDBG_UNKNOWN32; /* the process's own table is not kept */
        assert_memory_equal(&loaded.snapshot.allocations[i].row, &row, sizeof row);
        assert_int_equal(loaded.snapshot.allocations[i].context, 0);
    }
    assert_int_equal(loaded.snapshot.contexts[0].done_given_ns.value, e.snapshot.contexts[0].done_given_ns.value);
    assert_int_equal(loaded.snapshot.contexts[0].graphs.value, 1);
    assert_true(loaded.snapshot.looks[0].held_nothing_back);
    assert_false(loaded.snapshot.looks[1].held_nothing_back);
    wsdbg_loaded_deinit(&loaded);
    wsdbg_store_close(store);
    example_free(&e);
}

static void the_machine_s_own_state_is_asked_for_wakers_and_what_moved(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_store *store = NULL;
    example_machine(&e, 2);
    example_store(&e, example_path(folder, "machine.db"));
    example_free(&e);
    example_ok(wsdbg_store_open(example_path(folder, "machine.db"), &store));
    char *wakers = example_query(store, "@wakers", WSDBG_QUERY_CSV);
    assert_string_equal(wakers, "barrier,stage,by,at,certain,role,state,comes_there,warps\r\n"
                                "empty,0,arrive,gemm.cu:230,0,consumer,WAIT_MBARRIER,can,16\r\n"
                                "empty,0,arrive,gemm.cu:230,0,producer,WAIT_MBARRIER,never,8\r\n"
                                "full,0,TMA load,gemm.cu:154,1,producer,WAIT_MBARRIER,can,8\r\n"
                                "full,0,TMA load,gemm.cu:154,1,consumer,WAIT_MBARRIER,never,16\r\n"
                                "full,0,arrive,gemm.cu:230,0,consumer,WAIT_MBARRIER,can,16\r\n"
                                "full,0,arrive,gemm.cu:230,0,producer,WAIT_MBARRIER,never,8\r\n");
    free(wakers);
    char *moved = example_query(store, "@compare-looks", WSDBG_QUERY_CSV);
    assert_non_null(strstr(moved, ",0,0,0,warp 0,RUNNING,WAIT_MBARRIER,gemm.cu:154,gemm.cu:150\r\n"));
    assert_non_null(strstr(moved, ",0,0,0,full[0],,,ffffe800001ffffc,7ffff800001ffffe\r\n"));
    free(moved);
    wsdbg_store_close(store);
}

static void the_promised_queries_are_there(void **state)
{
    (void)state;
    static const char *const names[] = {
        "@stuck",      "@waits",          "@cycle",         "@verdict", "@launches",     "@registers",
        "@barriers",   "@timeline",       "@last-events",   "@exited",  "@threads",      "@longest-waits",
        "@edges",      "@never-released", "@barrier-waits", "@tiles",   "@arrivals",     "@diff CTA CTA",
        "@iterations", "@exited-early",   "@bytes",         "@tails",   "@log",          "@sites",
        "@parts",      "@looks",          "@wakers",        "@words",   "@compare-looks"};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    wsdbg_store_list_queries(out);
    fclose(out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_non_null(strstr(text, names[i]));
    free(text);
}

static void views_answer_with_names(void **state)
{
    (void)state;
    gives("SELECT role, state, barrier, warps, ctas FROM waits ORDER BY role", WSDBG_QUERY_CSV,
          "role,state,barrier,warps,ctas\r\nconsumer,WAIT_MBARRIER,full,64,8\r\nproducer,WAIT_MBARRIER,empty,32,8\r\n");
    gives("SELECT waiter_role, barrier, stage, waker_role, why FROM cycle", WSDBG_QUERY_CSV,
          "waiter_role,barrier,stage,waker_role,why\r\nproducer,empty,0,consumer,declared\r\n"
          "consumer,full,0,producer,declared\r\n");
    gives("SELECT event, barrier, line FROM timeline ORDER BY gpu_time_ns DESC LIMIT 1", WSDBG_QUERY_CSV,
          "event,barrier,line\r\nmbarrier wait begin,full,260\r\n");
    gives("SELECT waiting_seconds, line FROM stuck WHERE warp = 0 LIMIT 1", WSDBG_QUERY_CSV,
          "waiting_seconds,line\r\n2.1,212\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligned_columns_pad_by_display_width),
        cmocka_unit_test(long_texts_are_whole_unless_the_terminal_is_too_narrow),
        cmocka_unit_test(few_rows_with_long_texts_have_a_line_a_column),
        cmocka_unit_test(kernels_of_canned_queries_are_named_as_their_authors_did),
        cmocka_unit_test(csv_quotes_as_rfc_4180_says),
        cmocka_unit_test(json_keeps_types),
        cmocka_unit_test(errors_say_what_and_where),
        cmocka_unit_test(a_canned_query_takes_its_arguments),
        cmocka_unit_test(a_cta_that_was_not_seen_is_not_compared),
        cmocka_unit_test(a_statement_that_writes_is_refused),
        cmocka_unit_test(one_statement_may_end_with_a_comment),
        cmocka_unit_test(every_canned_query_runs_on_an_empty_and_a_full_session),
        cmocka_unit_test(the_machine_s_own_state_is_asked_for_wakers_and_what_moved),
        cmocka_unit_test(memory_is_told_with_who_may_write_it_and_comes_back_as_it_was),
        cmocka_unit_test(the_promised_queries_are_there),
        cmocka_unit_test(views_answer_with_names),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
