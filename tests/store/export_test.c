/* export_test.c - Perfetto traces and DOT graphs: valid whatever the names, in time order where it matters, and saying
 * what the database says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example_machine.h"
#include "store/json_schema.h"
#include "store/opened.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/export.h"

static char *folder;

static int make_folder(void **state)
{
    (void)state;
    folder = example_folder();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    example_clean(folder);
    return 0;
}

/* Takes the store. */
static json_t *trace_of(struct wsdbg_store *store)
{
    char *text = NULL;
    size_t length;
    json_error_t problem;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    example_ok(wsdbg_export_perfetto(store, NULL, out));
    fclose(out);
    wsdbg_store_close(store);
    json_t *trace = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
    if (!trace)
        fail_msg("no JSON at line %d: %s", problem.line, problem.text);
    free(text);
    return trace;
}

static const char *text_of(json_t *event, const char *key)
{
    return json_string_value(json_object_get(event, key));
}

static int64_t number_of(json_t *event, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(event, key));
}

/* Nanoseconds: the file has them as the decimals of a microsecond. */
static int64_t time_of(json_t *event, const char *key)
{
    return (int64_t)(json_number_value(json_object_get(event, key)) * 1000 + 0.5);
}

static bool same_track(json_t *left, json_t *right)
{
    return number_of(left, "pid") == number_of(right, "pid") && number_of(left, "tid") == number_of(right, "tid");
}

static json_t *events_of(json_t *trace)
{
    return json_object_get(trace, "traceEvents");
}

/* A track with anything on it has a name; of a counter its process. */
static void tracks_are_named(json_t *trace)
{
    json_t *event, *other;
    size_t i, k;
    json_array_foreach(events_of(trace), i, event)
    {
        const bool process = number_of(event, "tid") == 0;
        bool named = text_of(event, "ph")[0] == 'M';
        json_array_foreach(events_of(trace), k, other)
        {
            named = named || (same_track(event, other) &&
                              !strcmp(text_of(other, "name"), process ? "process_name" : "thread_name"));
            if (named)
                break;
        }
        if (!named)
            fail_msg("'%s' is on a track without a name", text_of(event, "name"));
    }
}

/* Slices of a track lie in one another or apart. */
static void slices_nest(json_t *trace)
{
    json_t *one, *other;
    size_t i, k;
    json_array_foreach(events_of(trace), i, one)
    {
        if (text_of(one, "ph")[0] != 'X')
            continue;
        const int64_t start = time_of(one, "ts"), end = start + time_of(one, "dur");
        json_array_foreach(events_of(trace), k, other)
        {
            if (k == i || text_of(other, "ph")[0] != 'X' || !same_track(one, other))
                continue;
            const int64_t from = time_of(other, "ts"), to = from + time_of(other, "dur");
            if (from > start && from < end && to > end)
                fail_msg("'%s' and '%s' overlap", text_of(one, "name"), text_of(other, "name"));
        }
    }
}

/* Perfetto draws a counter in the order it comes in. */
static void counters_go_forward(json_t *trace)
{
    json_t *event, *before = NULL;
    size_t i;
    json_array_foreach(events_of(trace), i, event)
    {
        if (text_of(event, "ph")[0] != 'C')
            continue;
        if (before && !strcmp(text_of(before, "name"), text_of(event, "name")))
            assert_true(time_of(before, "ts") <= time_of(event, "ts"));
        before = event;
    }
}

static void check_trace(json_t *trace)
{
    json_t *schema = schema_load("trace.schema.json");
    schema_check(schema, trace, "trace");
    tracks_are_named(trace);
    slices_nest(trace);
    counters_go_forward(trace);
    json_decref(schema);
}

static size_t count_events(json_t *trace, const char *phase, const char *name)
{
    json_t *event;
    size_t i, count = 0;
    json_array_foreach(events_of(trace), i, event)
    {
        count += !strcmp(text_of(event, "ph"), phase) && (!name || !strcmp(text_of(event, "name"), name));
    }
    return count;
}

static void make_hostile(struct example *e)
{
    memset(e->snapshot.functions[0].name, '"', sizeof e->snapshot.functions[0].name - 1);
    memset(e->snapshot.names[0].name, '\xfe', sizeof e->snapshot.names[0].name - 1);
    memset(e->snapshot.names[2].name, '\\', sizeof e->snapshot.names[2].name - 1);
    memset(e->snapshot.names[3].name, '\x01', sizeof e->snapshot.names[3].name - 1);
    snprintf(e->diagnosis.findings[0].sentence, sizeof e->diagnosis.findings[0].sentence,
             "a\"b\\c\n\x1b[2J\xff</script>");
    snprintf(e->snapshot.threads[0].call, sizeof e->snapshot.threads[0].call, "\"call\x7f\xc3");
}

/* Calls `check`, which closes the store, for a session of each kind made by hand. */
static void every_example(uint32_t depth, void (*check)(struct wsdbg_store *store))
{
    struct example examples[5];
    example_hang(&examples[0], 4, depth);
    example_unknown(&examples[1]);
    example_quiet(&examples[2], 3);
    example_hang(&examples[3], 2, depth);
    make_hostile(&examples[3]);
    example_machine(&examples[4], 4);
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        check(stored(folder, &examples[i]));
        example_free(&examples[i]);
    }
}

static void trace_follows_the_schema(struct wsdbg_store *store)
{
    json_t *trace = trace_of(store);
    check_trace(trace);
    json_decref(trace);
}

static void traces_of_all_kinds_of_sessions_follow_the_schema(void **state)
{
    (void)state;
    every_example(4, trace_follows_the_schema);
}

static void traces_of_recorded_sessions_follow_the_schema(void **state)
{
    (void)state;
    every_recording(folder, trace_follows_the_schema);
}

static void a_hang_is_marked_and_its_waits_never_end(void **state)
{
    (void)state;
    struct example e;
    json_t *event;
    size_t i, never = 0;
    example_hang(&e, 4, 4);
    json_t *trace = trace_of(stored(folder, &e));
    assert_int_equal(count_events(trace, "X", "stall (host clock): PARITY_WRONG"), 1);
    assert_int_equal(count_events(trace, "i", "stall (host clock): PARITY_WRONG"), 1);
    json_array_foreach(events_of(trace), i, event)
    {
        const char *end = text_of(json_object_get(event, "args"), "end");
        if (!end || strcmp(end, "never ends") != 0)
            continue;
        never++;
        assert_true(time_of(event, "dur") >= 2000000000);
    }
    assert_int_equal(never, e.snapshot.warp_count);
    assert_true(count_events(trace, "s", NULL) > 0);
    assert_int_equal(count_events(trace, "s", NULL), count_events(trace, "f", NULL));
    json_decref(trace);
    example_free(&e);
}

static void without_a_verdict_nothing_never_ends(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 1, 4);
    e.diagnosis.hang = false;
    json_t *trace = trace_of(stored(folder, &e));
    char *text = json_dumps(trace, 0);
    assert_null(strstr(text, "never ends"));
    assert_non_null(strstr(text, "not over in the picture"));
    free(text);
    json_decref(trace);
    example_free(&e);
}

/* After a fault nothing goes on: no wait is said to last longer than the newest time stamp. */
static void waits_of_a_faulted_grid_end_with_its_last_event(void **state)
{
    (void)state;
    json_t *event;
    size_t i, open = 0;
    json_t *trace = trace_of(replayed(folder, "two-async-all"));
    check_trace(trace);
    json_array_foreach(events_of(trace), i, event)
    {
        const char *end = text_of(json_object_get(event, "args"), "end");
        if (!end || number_of(event, "pid") < 10000000 || number_of(event, "pid") >= 20000000)
            continue;
        open++;
        assert_string_equal(end, "not over in the picture");
        assert_true(time_of(event, "dur") < 1000000);
    }
    assert_true(open > 0);
    json_decref(trace);
}

/* Where every arrival is on record, their counts give the pending arrivals that the diagnosis found. */
static void counters_end_at_the_pending_arrivals_of_the_picture(void **state)
{
    (void)state;
    json_t *event, *last = NULL;
    size_t i;
    json_t *trace = trace_of(replayed(folder, "arrive-missing"));
    json_array_foreach(events_of(trace), i, event)
    {
        if (text_of(event, "ph")[0] == 'C' && !strcmp(text_of(event, "name"), "empty[3] of CTA (0,0,0)"))
            last = event;
    }
    assert_non_null(last);
    assert_int_equal(number_of(json_object_get(last, "args"), "pending arrivals"), 4);
    json_decref(trace);
}

static void clusters_have_no_counters(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 2, 4); /* in clusters of two: the other CTA could arrive as well */
    json_t *trace = trace_of(stored(folder, &e));
    assert_int_equal(count_events(trace, "C", NULL), 0);
    json_decref(trace);
    example_free(&e);
}

static void no_process_mixes_two_clocks(void **state)
{
    (void)state;
    json_t *event;
    size_t i, clocks = 0;
    json_t *trace = trace_of(replayed(folder, "arrive-missing"));
    json_array_foreach(events_of(trace), i, event)
    {
        if (strcmp(text_of(event, "name"), "process_name") != 0)
            continue;
        const char *name = text_of(json_object_get(event, "args"), "name");
        assert_true((strstr(name, "(host clock)") != NULL) != (strstr(name, "(GPU clock)") != NULL));
        clocks++;
    }
    assert_int_equal(clocks, 3); /* the session, the program, the grid */
    json_decref(trace);
}

/* Takes the store. */
/* Inlined, gcc takes what open_memstream allocates for the local variable that points to it. */
__attribute__((noinline)) static char *dot_of(struct wsdbg_store *store)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    example_ok(wsdbg_export_dot(store, out));
    fclose(out);
    wsdbg_store_close(store);
    return text;
}

/* Strings are closed and escaped, brackets pair outside of them; one statement a line. */
static void check_dot(const char *text)
{
    int depth = 0;
    bool quoted = false;
    for (const char *at = text; *at; at++) {
        if (quoted && *at == '\\')
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        assert_true(depth >= 0);
        assert_true(*at == '\n' ? !quoted : (unsigned char)*at >= 0x20);
    }
    assert_false(quoted);
    assert_int_equal(depth, 0);
    assert_memory_equal(text, "digraph waits {\n", 16);
}

static void graph_is_valid_dot(struct wsdbg_store *store)
{
    char *text = dot_of(store);
    check_dot(text);
    free(text);
}

static void graphs_of_all_kinds_of_sessions_are_valid_dot(void **state)
{
    (void)state;
    every_example(1, graph_is_valid_dot);
}

static void graphviz_itself_draws_the_graph(void **state)
{
    (void)state;
    if (system("dot -V >/dev/null 2>&1") != 0)
        skip();
    char *text = dot_of(replayed(folder, "regs-exhausted"));
    FILE *dot = popen("dot -Tsvg >/dev/null", "w");
    assert_non_null(dot);
    fputs(text, dot);
    assert_int_equal(pclose(dot), 0);
    free(text);
}

static void a_graph_folds_equal_ctas_and_marks_the_cycle(void **state)
{
    (void)state;
    char *text = dot_of(replayed(folder, "arrive-missing"));
    const char *wait = strstr(text, "label=\"empty[3] parity 1\"");
    assert_non_null(strstr(text, "producer\\nwarp 0, 4 CTAs\\nWAIT_MBARRIER"));
    assert_non_null(wait);
    const char *red = strstr(wait, "#c62828"), *line_end = strchr(wait, '\n');
    assert_true(red && red < line_end);
    assert_null(strstr(line_end, "label=\"empty[3] parity 1\""));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_of_all_kinds_of_sessions_follow_the_schema),
        cmocka_unit_test(traces_of_recorded_sessions_follow_the_schema),
        cmocka_unit_test(a_hang_is_marked_and_its_waits_never_end),
        cmocka_unit_test(without_a_verdict_nothing_never_ends),
        cmocka_unit_test(waits_of_a_faulted_grid_end_with_its_last_event),
        cmocka_unit_test(counters_end_at_the_pending_arrivals_of_the_picture),
        cmocka_unit_test(clusters_have_no_counters),
        cmocka_unit_test(no_process_mixes_two_clocks),
        cmocka_unit_test(graphs_of_all_kinds_of_sessions_are_valid_dot),
        cmocka_unit_test(graphviz_itself_draws_the_graph),
        cmocka_unit_test(a_graph_folds_equal_ctas_and_marks_the_cycle),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
