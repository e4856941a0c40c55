/* ranks_test.c - a session of several processes: which rank each is, what it does and whose fault it is, in the report,
 * the page, the queries and the trace. */
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

#include "store/export.h"
#include "store/json_schema.h"

static char *folder;
static const char *path;
static struct example example;

static int set_up(void **state)
{
    (void)state;
    folder = example_folder();
    path = strdup(example_path(folder, "ranks.db"));
    ranks_make(&example);
    example_store(&example, path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    example_free(&example);
    free((char *)path);
    example_clean(folder);
    return 0;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text);
}

static void the_report_begins_with_the_rank_and_puts_the_victim_under_its_origin(void **state)
{
    (void)state;
    char *text = example_report(&example, false);
    static const char first[] = "rank 1 of 2 (local 1, host node-a, process 77)\nHANG: PARITY_WRONG";
    assert_memory_equal(text, first, sizeof first - 1);
    has(text, "Ranks\n"
              "  rank 1 of 2 (local 1, host node-a, process 77): origin; PARITY_WRONG (proven); runs gemm_kernel<128>\n"
              "    rank 0 of 2 (local 0, host node-a, process 78): victim; runs gemm_kernel<128>, polls memory of "
              "another process\n");
    has(text, "  rank 1 on NVIDIA H200,");
    has(text, " of rank 1 in cuStreamSynchronize for 4.0 s");
    has(text, "main thread of rank 0 in cuStreamSynchronize for 4.0 s");
    free(text);
}

static void memory_and_database_give_the_same_report(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        char *live = example_report(&example, json), *stored = example_stored_report(path, json);
        assert_string_equal(live, stored);
        free(live);
        free(stored);
    }
}

static void json_has_every_process_and_follows_its_schema(void **state)
{
    (void)state;
    json_t *schema = schema_load("report.schema.json");
    char *text = example_report(&example, true);
    json_t *value = json_loads(text, 0, NULL);
    schema_check(schema, value, "report");
    json_t *processes = json_object_get(value, "processes"), *second = json_array_get(processes, 1);
    assert_int_equal(json_array_size(processes), 2);
    assert_int_equal(json_integer_value(json_object_get(second, "rank")), 0);
    assert_string_equal(json_string_value(json_object_get(second, "blame")), "victim");
    assert_true(json_is_null(json_object_get(second, "finding")));
    assert_int_equal(
        json_integer_value(json_object_get(json_array_get(json_object_get(value, "findings"), 0), "process")), 0);
    json_decref(value);
    json_decref(schema);
    free(text);
}

static void queries_name_ranks_and_victims(void **state)
{
    (void)state;
    struct wsdbg_store *store;
    example_ok(wsdbg_store_open(path, &store));
    char *ranks = example_query(store, "@ranks", WSDBG_QUERY_CSV);
    has(ranks, "0,0,2,node-a,78,kernel,_Z11gemm_kernelILi128EEvPv,cuStreamSynchronize,4,,,victim,,,78,,rank 1\r\n");
    has(ranks, "1,1,2,node-a,77,kernel,_Z11gemm_kernelILi128EEvPv,cuStreamSynchronize,4,PARITY_WRONG,proven,origin,,,"
               "77,/home/me/train.py:40 in <module>,\r\n");
    char *victims = example_query(store, "@victims", WSDBG_QUERY_CSV);
    has(victims, "0,node-a,78,_Z11gemm_kernelILi128EEvPv,,,rank 1\r\n");
    char *peers = example_query(store, "@peer-waits", WSDBG_QUERY_CSV);
    has(peers, "0,node-a,78,_Z11gemm_kernelILi128EEvPv,,1,0x7008,imported,cuIpcOpenMemHandle #1,8,rank 1\r\n");
    free(peers);
    char *threads = example_query(store, "@threads", WSDBG_QUERY_CSV);
    has(threads, "78,0,78,cuStreamSynchronize,4,16");
    free(ranks);
    free(victims);
    free(threads);
    wsdbg_store_close(store);
}

/* What cudaIpc gives away stays on its machine. */
static void memory_of_another_host_is_not_shared_by_ipc(void **state)
{
    (void)state;
    struct wsdbg_store *store;
    sqlite3 *db;
    char *other = strdup(example_path(folder, "hosts.db"));
    example_store(&example, other);
    assert_int_equal(sqlite3_open(other, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "UPDATE process SET hostname = 'node-b' WHERE process_id = 77", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    example_ok(wsdbg_store_open(other, &store));
    char *peers = example_query(store, "@peer-waits", WSDBG_QUERY_CSV);
    has(peers, "0,node-a,78,_Z11gemm_kernelILi128EEvPv,,1,0x7008,imported,cuIpcOpenMemHandle #1,8,\r\n");
    free(peers);
    wsdbg_store_close(store);
    free(other);
}

static void the_page_and_the_trace_name_ranks(void **state)
{
    (void)state;
    struct wsdbg_store *store;
    char *text = NULL;
    size_t length;
    example_ok(wsdbg_store_open(path, &store));
    FILE *out = open_memstream(&text, &length);
    example_ok(wsdbg_report_html(store, out));
    example_ok(wsdbg_export_perfetto(store, NULL, out));
    fclose(out);
    has(text, "<p class=\"cause\">rank 1 of 2 (local 1, host node-a, process 77)</p>");
    has(text, "<tr><td>0</td><td>0</td><td>node-a</td><td>78</td>");
    has(text, "<td>train.py:40 in &lt;module&gt;</td><td>PARITY_WRONG (proven)</td><td>origin</td><td></td></tr>");
    has(text, "<td>victim</td><td>rank 1</td></tr>");
    has(text, "rank 0 (node-a, 78)");
    free(text);
    wsdbg_store_close(store);
}

/* The process of an event, and what its track or process is called; NULL = it is no name. */
static const char *name_given(json_t *event, const char *what, json_int_t *pid)
{
    *pid = json_integer_value(json_object_get(event, "pid"));
    return strcmp(json_string_value(json_object_get(event, "name")), what) == 0
               ? json_string_value(json_object_get(json_object_get(event, "args"), "name"))
               : NULL;
}

static json_t *trace_of_ranks(void)
{
    struct wsdbg_store *store;
    char *text = NULL;
    size_t length;
    example_ok(wsdbg_store_open(path, &store));
    FILE *out = open_memstream(&text, &length);
    example_ok(wsdbg_export_perfetto(store, NULL, out));
    fclose(out);
    wsdbg_store_close(store);
    json_t *trace = json_loads(text, 0, NULL), *schema = schema_load("trace.schema.json");
    free(text);
    schema_check(schema, trace, "trace");
    json_decref(schema);
    return trace;
}

/* Host threads, kernels and warps of both ranks; each track says its clock. */
static void a_rank_is_one_process_of_the_trace(void **state)
{
    (void)state;
    static const char *const processes[] = {"77 rank 1 (node-a, 77)", "78 rank 0 (node-a, 78)",
                                            "30000000 wsdbg session (host clock)"};
    json_t *trace = trace_of_ranks(), *event;
    size_t i, named = 0, host = 0, gpu = 0;
    json_int_t pid;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, event)
    {
        const char *process = name_given(event, "process_name", &pid);
        const char *track = name_given(event, "thread_name", &pid);
        char text[256];
        bool known = false;
        snprintf(text, sizeof text, "%lld %s", (long long)pid, process ? process : "");
        for (size_t k = 0; process && k < sizeof processes / sizeof *processes; k++)
            known |= strcmp(text, processes[k]) == 0;
        if (process && !known)
            fail_msg("another process: %s", text);
        named += known;
        if (!track || pid == 30000000)
            continue;
        const bool is_host = strstr(track, "(host clock)"), is_gpu = strstr(track, "(GPU clock)");
        assert_true(is_host != is_gpu);
        host += is_host;
        gpu += is_gpu;
    }
    assert_int_equal(named, 3);
    assert_int_equal(host, 4); /* of each rank the thread that waits and the kernel that runs */
    assert_int_equal(gpu, example.snapshot.warp_count);
    json_decref(trace);
}

/* One process with a rank needs no list; processes without any are called as ever. */
static void there_is_a_list_only_of_several_ranks(void **state)
{
    (void)state;
    struct example alone;
    example_hang(&alone, 1, 0);
    char *text = example_report(&alone, false);
    assert_memory_equal(text, "HANG: ", 6);
    assert_null(strstr(text, "Ranks\n"));
    has(text, "of process 77 in");
    free(text);
    alone.snapshot.processes[0].rank = wsdbg_known_u32(3);
    text = example_report(&alone, false);
    assert_memory_equal(text, "rank 3 (host ", 13);
    assert_null(strstr(text, "Ranks\n"));
    free(text);
    example_free(&alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_begins_with_the_rank_and_puts_the_victim_under_its_origin),
        cmocka_unit_test(memory_and_database_give_the_same_report),
        cmocka_unit_test(json_has_every_process_and_follows_its_schema),
        cmocka_unit_test(queries_name_ranks_and_victims),
        cmocka_unit_test(memory_of_another_host_is_not_shared_by_ipc),
        cmocka_unit_test(the_page_and_the_trace_name_ranks),
        cmocka_unit_test(a_rank_is_one_process_of_the_trace),
        cmocka_unit_test(there_is_a_list_only_of_several_ranks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
