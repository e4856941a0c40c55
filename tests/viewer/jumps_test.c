/* Going about: from object to object and back, the views' own keys, and each view on a second real hang. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "cmd/harness.h"
#include "viewer/sessions.h"

static void from_evidence_to_the_barrier_and_back(void **state)
{
    (void)state;
    session_replayed("arrive-missing");
    struct screen *screen = view_open("arrive-missing");
    screen_press(screen, "c");
    screen_expect(screen, "Evidence:");
    screen_press(screen, "G" KEY_HOME "jjjjjjjj");
    screen_expect_cursor_on(screen, "4 of 8 arrivals");
    screen_press(screen, KEY_ENTER);
    screen_expect_cursor_on(screen, "CTA (0,0,0)");
    screen_expect(screen, "WAITING"); /* the barriers' columns */
    screen_press(screen, KEY_BACKSPACE);
    screen_expect_cursor_on(screen, "4 of 8 arrivals");
    view_leave(screen);
}

static void from_a_lane_to_its_warps_to_their_barrier_and_back(void **state)
{
    (void)state;
    session_replayed("regs-exhausted");
    struct screen *screen = view_open("regs-exhausted");
    screen_press(screen, "t");
    screen_expect(screen, "STILL FOR");
    screen_press(screen, "j");
    screen_expect_cursor_on(screen, "(0,0,0) wg 1");
    screen_press(screen, KEY_ENTER);
    screen_expect_cursor_on(screen, "warp 4");
    screen_press(screen, KEY_ENTER);
    screen_expect_cursor_on(screen, "register pool");
    screen_press(screen, KEY_BACKSPACE);
    screen_expect_cursor_on(screen, "warp 4");
    screen_press(screen, KEY_BACKSPACE);
    screen_expect_cursor_on(screen, "(0,0,0) wg 1");
    view_leave(screen);
}

static void from_the_graph_to_a_warp(void **state)
{
    (void)state;
    session_replayed("parity-wrong");
    struct screen *screen = view_open("parity-wrong");
    screen_press(screen, "Wjj");
    screen_expect_cursor_on(screen, "consumer 0");
    screen_press(screen, KEY_ENTER);
    screen_expect_cursor_on(screen, "warp 4");
    view_leave(screen);
}

/* A source whose lines 132 and 222, where the recorded kernel waits, call probes; or do not. */
static void store_source(const char *name, const char *macro)
{
    char sql[1024];
    snprintf(sql, sizeof sql,
             "INSERT INTO source_file (module_id, path, text) SELECT (SELECT min(id) FROM module), 'kernel.cu', "
             "group_concat(line, char(10)) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
             "i < 230) SELECT CASE WHEN i IN (132, 222) THEN '    %s(w, slot, parity);' ELSE '    step_' || i || '();' "
             "END AS line FROM n)",
             macro);
    session_change(name, sql);
}

static void the_source_is_marked_where_somebody_waits(void **state)
{
    (void)state;
    session_replayed("arrive-missing");
    store_source("arrive-missing", "MBARRIER_WAIT");
    struct screen *screen = view_open("arrive-missing");
    screen_press(screen, "o");
    screen_expect_cursor_on(screen, "producer: empty[3] parity 1");
    screen_press(screen, "]");
    screen_expect_cursor_on(screen, "consumer 1: full[3] parity 0");
    screen_expect_golden(screen, "source-text-80x24");
    screen_press(screen, "[");
    screen_expect_cursor_on(screen, "producer: empty[3] parity 1");
    view_leave(screen);
    session_change("arrive-missing", "DELETE FROM source_file");
}

/* The source opens at the wait of the warp that was selected, again and again, in the middle of the screen. */
static void the_source_opens_where_the_selected_warp_waits(void **state)
{
    (void)state;
    session_replayed("arrive-missing");
    store_source("arrive-missing", "MBARRIER_WAIT");
    struct screen *screen = view_open("arrive-missing");
    screen_press(screen, "w/consumer 1\r");
    screen_expect_cursor_on(screen, "consumer 1");
    screen_press(screen, "o");
    screen_expect_cursor_on(screen, "consumer 1: full[3] parity 0");
    screen_expect_golden(screen, "source-selected-80x24");
    screen_press(screen, "w/producer\r");
    screen_expect_cursor_on(screen, "producer");
    screen_press(screen, "o");
    screen_expect_cursor_on(screen, "producer: empty[3] parity 1");
    view_leave(screen);
    session_change("arrive-missing", "DELETE FROM source_file");
}

static void a_line_without_a_probe_is_not_marked(void **state)
{
    (void)state;
    session_replayed("arrive-missing");
    store_source("arrive-missing", "wait");
    struct screen *screen = view_open("arrive-missing");
    screen_press(screen, "o");
    screen_expect(screen, "no probe at this line of the file");
    view_leave(screen);
    session_change("arrive-missing", "DELETE FROM source_file");
}

static void sorting_by_role_names_the_order(void **state)
{
    (void)state;
    session_replayed("regs-exhausted");
    struct screen *screen = view_open("regs-exhausted");
    screen_press(screen, "wsss");
    screen_expect(screen, "by role");
    view_leave(screen);
}

#define VIEW(test, golden, session, keys)    \
    static void test(void **state)           \
    {                                        \
        (void)state;                         \
        view_screens(golden, session, keys); \
    }

VIEW(the_cause_of_an_exhausted_pool, "cause-registers", "regs-exhausted", "c")
VIEW(warps_that_ask_for_registers, "warps-registers", "regs-exhausted", "w")
VIEW(barriers_of_a_missing_arrival, "barriers-arrive", "arrive-missing", "bj" KEY_ENTER "j" KEY_ENTER)
VIEW(the_graph_of_an_exhausted_pool, "graph-registers", "regs-exhausted", "W")
VIEW(the_graph_of_a_wrong_parity, "graph-parity", "parity-wrong", "W")
VIEW(the_timeline_zoomed, "timeline-zoomed", "regs-exhausted", "t++hhhhhhhhhhhhhhhhhhhh")
VIEW(registers_of_a_partial_warpgroup, "registers-partial", "regs-partial", "r")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_evidence_to_the_barrier_and_back),
        cmocka_unit_test(from_a_lane_to_its_warps_to_their_barrier_and_back),
        cmocka_unit_test(from_the_graph_to_a_warp),
        cmocka_unit_test(the_source_is_marked_where_somebody_waits),
        cmocka_unit_test(the_source_opens_where_the_selected_warp_waits),
        cmocka_unit_test(a_line_without_a_probe_is_not_marked),
        cmocka_unit_test(sorting_by_role_names_the_order),
        cmocka_unit_test(the_cause_of_an_exhausted_pool),
        cmocka_unit_test(warps_that_ask_for_registers),
        cmocka_unit_test(barriers_of_a_missing_arrival),
        cmocka_unit_test(the_graph_of_an_exhausted_pool),
        cmocka_unit_test(the_graph_of_a_wrong_parity),
        cmocka_unit_test(the_timeline_zoomed),
        cmocka_unit_test(registers_of_a_partial_warpgroup),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
