/* report_test.c - the report: the same from memory and from the database, folded, hostile text made safe,
 * JSON with every key of docs/report.schema.json in its type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/example_machine.h"
#include "store/json_schema.h"
#include "base/text.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void same_from_memory_and_file(const struct example *e)
{
    char *folder = example_folder();
    const char *path = example_path(folder, "a.db");
    example_store(e, path);
    for (int json = 0; json < 2; json++) {
        char *memory = example_report(e, json), *stored = example_stored_report(path, json);
        assert_string_equal(memory, stored);
        free(memory);
        free(stored);
    }
    example_clean(folder);
}

static void memory_and_database_give_the_same_report(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 132, 4);
    same_from_memory_and_file(&e);
    e.end.outcome = NULL;
    same_from_memory_and_file(&e);
    example_free(&e);
    example_machine(&e, 4);
    same_from_memory_and_file(&e);
    example_free(&e);
    example_unknown(&e);
    same_from_memory_and_file(&e);
    example_free(&e);
    example_quiet(&e, 100);
    same_from_memory_and_file(&e);
    example_free(&e);
}

static void a_place_in_json_has_all_its_lines(void **state)
{
    (void)state;
    struct example e;
    example_machine(&e, 1);
    char *json = example_report(&e, true);
    assert_non_null(strstr(json, "\"place\": \"gemm.cu:150\""));
    assert_non_null(strstr(json, "\"lines\": \"barrier.h:31 < gemm.cu:150 < gemm.cu:300\""));
    free(json);
    example_free(&e);
}

static void a_processes_main_thread_is_called_so(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 4, 1);
    char *text = example_report(&e, false);
    assert_non_null(strstr(text, "  - thread 78 (trainer) of process 77 in cuStreamSynchronize"));
    free(text);
    e.snapshot.threads[0].thread_id = 77;
    text = example_report(&e, false);
    assert_non_null(strstr(text, "  - main thread of process 77 in cuStreamSynchronize"));
    free(text);
    example_free(&e);
}

/* Whether the report says that names are inferred, in which the author gave the first `given` names of the machine's
 * four: producer, consumer, full, empty. */
static bool says_inferred(uint32_t given, const char *role, const char *barrier)
{
    struct example e;
    char *folder = example_folder();
    const char *path = example_path(folder, "names.db");
    example_machine(&e, 2);
    e.snapshot.modules[0].names_given = given;
    for (uint32_t i = 0; i < 4; i++) {
        const char *name = i < 2 ? role : barrier;
        if (name)
            snprintf(e.snapshot.names[i].name, sizeof e.snapshot.names[i].name, "%s", name);
    }
    example_store(&e, path);
    char *text = example_stored_report(path, false);
    const bool says = strstr(text, "inferred from the code") != NULL;
    free(text);
    example_free(&e);
    example_clean(folder);
    return says;
}

static void names_are_called_inferred_where_one_that_is_shown_is(void **state)
{
    (void)state;
    assert_true(says_inferred(0, NULL, NULL));
    assert_true(says_inferred(2, NULL, NULL)); /* the barriers' */
    assert_false(says_inferred(4, NULL, NULL));
    assert_true(says_inferred(0, NULL, "mbarrier 0x400")); /* the roles' */
    assert_true(says_inferred(0, "warps 0-3", NULL));
    assert_false(says_inferred(0, "warps 0-3", "mbarrier 0x400"));
}

/* Longest line and number of lines. */
static void measure(const char *text, size_t *columns, size_t *lines)
{
    char *copy = strdup(text), *rest = copy, *line;
    *columns = *lines = 0;
    while ((line = strsep(&rest, "\n"))) {
        const size_t width = wsdbg_text_width(line);
        *columns = width > *columns ? width : *columns;
        *lines += 1;
    }
    *lines -= 1;
    free(copy);
}

static void a_hang_fits_a_screen(void **state)
{
    (void)state;
    struct example e;
    size_t columns, lines;
    example_hang(&e, 132, 4);
    char *text = example_report(&e, false);
    measure(text, &columns, &lines);
    assert_true(lines <= 24);
    assert_true(columns <= 120);
    assert_non_null(
        strstr(text, "132 CTAs  warps 0-3   producer  WAIT_MBARRIER  empty[0] parity 0, iteration 0, line 212, 2.1 s"));
    free(text);
    example_free(&e);
}

static void many_different_states_are_folded_further(void **state)
{
    (void)state;
    struct example e;
    size_t columns, lines;
    example_hang(&e, 132, 1);
    for (size_t i = 0; i < e.snapshot.warp_count; i++) {
        e.snapshot.warps[i].last.iteration = (uint32_t)i;
        e.snapshot.warps[i].last.parity = i & 1;
        e.snapshot.warps[i].line = wsdbg_known_u32((uint32_t)i);
    }
    for (size_t i = 0; i < e.snapshot.barrier_count; i++)
        e.snapshot.barriers[i].completed_phases = wsdbg_known_u32((uint32_t)i);
    char *text = example_report(&e, false);
    measure(text, &columns, &lines);
    assert_true(lines <= 30);
    assert_non_null(strstr(text, "132 CTAs  warps 0,2"));
    assert_non_null(strstr(text, "empty[0] parity 0, iteration 0-1574, line 0-1574, 2.1 s"));
    free(text);
    text = example_report(&e, true);
    json_t *root = json_loads(text, 0, NULL);
    assert_int_equal(json_array_size(json_object_get(root, "warps")), 1584);
    json_decref(root);
    free(text);
    example_free(&e);
}

static void hostile_text_is_escaped_and_cut(void **state)
{
    (void)state;
    struct example e;
    size_t columns, lines;
    example_hang(&e, 2, 1);
    struct wsdbg_finding *f = &e.diagnosis.findings[0];
    e.info.command = "./x '\033[2J' \"quoted\"\n\xff";
    memset(e.snapshot.functions[0].name, 'k', sizeof e.snapshot.functions[0].name - 1);
    memset(f->sentence, 'w', sizeof f->sentence - 1);
    snprintf(f->fix, sizeof f->fix, "%%s%%n\r\b'; DROP TABLE warp; --");
    memset(f->evidence[0].text, '\033', sizeof f->evidence[0].text - 1);
    memset(e.snapshot.notes[0], '\x01', sizeof e.snapshot.notes[0] - 1);
    memset(e.snapshot.names[0].name, '\t', sizeof e.snapshot.names[0].name - 1);
    memset(e.snapshot.names[3].name, '\xfe', sizeof e.snapshot.names[3].name - 1);
    same_from_memory_and_file(&e);
    char *text = example_report(&e, false);
    measure(text, &columns, &lines);
    assert_true(columns <= 120);
    for (const char *at = text; *at; at++)
        assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
    assert_non_null(strstr(text, "\\x1b[2J' \"quoted\"\\n\\xff"));
    assert_non_null(strstr(text, "…"));
    free(text);
    example_free(&e);
}

static void warps_without_a_role_are_named_once(void **state)
{
    (void)state;
    char text[224];
    struct wsdbg_report_warps w = {.role_name = "warps 0-3", .members = {.bits = {0xf}}};
    wsdbg_report_who_text(&w, text, sizeof text);
    assert_string_equal(text, "warps 0-3");
    strcpy(w.role_name, "producer");
    wsdbg_report_who_text(&w, text, sizeof text);
    assert_string_equal(text, "producer, warps 0-3");
}

static void check_title(enum wsdbg_cause cause, enum wsdbg_confidence sure, enum wsdbg_title_place place,
                        const char *wanted)
{
    char title[WSDBG_TITLE_BYTES];
    wsdbg_finding_title(cause, sure, place, title);
    assert_string_equal(title, wanted);
}

/* Such a finding may be surer than the one before it, which says why. */
static void what_only_says_that_it_hangs_is_headed_so(void **state)
{
    (void)state;
    check_title(WSDBG_CAUSE_PARITY_WRONG, WSDBG_CONFIDENCE_PROVEN, WSDBG_TITLE_FIRST, "PARITY_WRONG (proven)");
    check_title(WSDBG_CAUSE_WAIT_CYCLE, WSDBG_CONFIDENCE_LIKELY, WSDBG_TITLE_FIRST, "WAIT_CYCLE (likely)");
    check_title(WSDBG_CAUSE_WAIT_CYCLE, WSDBG_CONFIDENCE_LIKELY, WSDBG_TITLE_BESIDE,
                "that it hangs is likely (WAIT_CYCLE)");
    check_title(WSDBG_CAUSE_UNKNOWN, WSDBG_CONFIDENCE_LIKELY, WSDBG_TITLE_FIRST,
                "cause not known (UNKNOWN; that it hangs is likely)");
    check_title(WSDBG_CAUSE_UNKNOWN, WSDBG_CONFIDENCE_POSSIBLE, WSDBG_TITLE_FAULT, "UNKNOWN (possible)");
    check_title(WSDBG_CAUSE_ARRIVE_SHORT, WSDBG_CONFIDENCE_POSSIBLE, WSDBG_TITLE_BESIDE, "ARRIVE_SHORT (possible)");
    assert_int_equal(wsdbg_title_place(1, WSDBG_CAUSE_PARITY_WRONG, false), WSDBG_TITLE_BESIDE);
    assert_int_equal(wsdbg_title_place(1, WSDBG_CAUSE_WAIT_CYCLE, false), WSDBG_TITLE_FIRST);
    assert_int_equal(wsdbg_title_place(0, WSDBG_CAUSE_UNKNOWN, true), WSDBG_TITLE_FAULT);
}

/* A finding beside the verdict: its head, and all of its sentence. */
static void a_finding_beside_the_first_is_shown_whole(void **state)
{
    (void)state;
    struct example e;
    example_hang(&e, 4, 1);
    struct wsdbg_finding findings[2] = {e.diagnosis.findings[0], e.diagnosis.findings[0]};
    findings[1].cause = WSDBG_CAUSE_WAIT_CYCLE;
    findings[1].confidence = WSDBG_CONFIDENCE_LIKELY;
    memset(findings[1].sentence, 'x', sizeof findings[1].sentence - 1);
    for (size_t i = 9; i < sizeof findings[1].sentence - 1; i += 10)
        findings[1].sentence[i] = ' ';
    strcpy(findings[1].sentence + sizeof findings[1].sentence - 9, " the_end");
    struct wsdbg_finding *own = e.diagnosis.findings;
    e.diagnosis.findings = findings;
    e.diagnosis.finding_count = 2;
    char *text = example_report(&e, false);
    assert_non_null(strstr(text, "Also: that it hangs is likely (WAIT_CYCLE): xxxxxxxxx"));
    assert_non_null(strstr(text, "the_end\n"));
    free(text);
    e.diagnosis.findings = own;
    e.diagnosis.finding_count = 1;
    example_free(&e);
}

static void unknown_is_null_and_a_question_mark(void **state)
{
    (void)state;
    static const char *const paths[][2] = {{"grids", "kernel"},
                                           {"grids", "registers"},
                                           {"grids", "launch"},
                                           {"grids", "process_id"},
                                           {"warps", "role"},
                                           {"warps", "parity"},
                                           {"warps", "stage"},
                                           {"warps", "iteration"},
                                           {"warps", "line"},
                                           {"warps", "quiet_seconds"},
                                           {"barriers", "phase"},
                                           {"barriers", "pending_arrivals"},
                                           {"barriers", "expected_arrivals"},
                                           {"barriers", "pending_tx_bytes"},
                                           {"host_stacks", "threads"},
                                           {"host_stacks", "python"},
                                           {"host_threads", "stream"},
                                           {"host_threads", "waiting_ns"}};
    struct example e;
    example_unknown(&e);
    char *text = example_report(&e, true);
    json_t *root = json_loads(text, 0, NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        json_t *row = json_array_get(json_object_get(root, paths[i][0]), 0);
        if (!json_is_null(json_object_get(row, paths[i][1])))
            fail_msg("%s.%s is not null", paths[i][0], paths[i][1]);
    }
    assert_true(json_is_null(json_object_get(root, "cause")));
    assert_true(json_is_null(json_object_get(root, "hang")));
    json_decref(root);
    free(text);
    example_free(&e);
}

static void a_session_without_a_snapshot_says_so(void **state)
{
    (void)state;
    struct example e;
    struct wsdbg_report report;
    char *text = NULL;
    size_t length;
    example_quiet(&e, 0);
    example_ok(wsdbg_report_gather(&e.info, NULL, NULL, &e.end, &report));
    FILE *out = open_memstream(&text, &length);
    wsdbg_report_render_text(&report, &(struct wsdbg_sheet){.file = out});
    fclose(out);
    assert_non_null(strstr(text, "Launches: ?"));
    free(text);
    wsdbg_report_deinit(&report);
    example_free(&e);
}

static void json_follows_its_schema(void **state)
{
    (void)state;
    json_t *schema = schema_load("report.schema.json");
    struct example examples[4];
    example_hang(&examples[0], 4, 1);
    example_unknown(&examples[1]);
    example_quiet(&examples[2], 2);
    example_machine(&examples[3], 4);
    for (int i = 0; i < 4; i++) {
        char *text = example_report(&examples[i], true);
        json_t *value = json_loads(text, 0, NULL);
        assert_non_null(value);
        schema_check(schema, value, "report");
        assert_int_equal(json_integer_value(json_object_get(value, "schema_version")), 4);
        if (i == 0)
            assert_string_equal(json_string_value(json_object_get(value, "cause")), "PARITY_WRONG");
        json_decref(value);
        free(text);
        example_free(&examples[i]);
    }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_and_database_give_the_same_report),
        cmocka_unit_test(a_place_in_json_has_all_its_lines),
        cmocka_unit_test(a_processes_main_thread_is_called_so),
        cmocka_unit_test(names_are_called_inferred_where_one_that_is_shown_is),
        cmocka_unit_test(a_hang_fits_a_screen),
        cmocka_unit_test(many_different_states_are_folded_further),
        cmocka_unit_test(hostile_text_is_escaped_and_cut),
        cmocka_unit_test(warps_without_a_role_are_named_once),
        cmocka_unit_test(what_only_says_that_it_hangs_is_headed_so),
        cmocka_unit_test(a_finding_beside_the_first_is_shown_whole),
        cmocka_unit_test(unknown_is_null_and_a_question_mark),
        cmocka_unit_test(a_session_without_a_snapshot_says_so),
        cmocka_unit_test(json_follows_its_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
