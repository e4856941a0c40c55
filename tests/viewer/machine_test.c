/* machine_test.c - the views of a hang that no probe saw: places, parts, words, code and looks; and of a merged
 * session: ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "viewer/sessions.h"

static int set_up(void **state)
{
    const int failed = scratch_setup(state);
    session_machine("machine");
    session_machine("sourced");
    session_merged("merged");
    session_change("sourced",
                   "INSERT INTO source_file SELECT NULL, id, '/src/gemm.cu', replace(printf('%.*c', 300, '.'), "
                   "'.', '// a line' || char(10)), NULL, NULL, NULL FROM module");
    return failed;
}

static void the_overview_has_the_line_of_the_launch(void **state)
{
    (void)state;
    session_machine("launched");
    session_change("launched", "INSERT INTO launch_site (snapshot_id, process_id, kind, grid_id, launches) "
                               "SELECT g.snapshot_id, c.process_id, 'launch', g.id, 1 FROM grid g JOIN context c "
                               "ON c.id = g.context_id");
    session_change("launched", "INSERT INTO site_frame (launch_site_id, position, kind, function, file, line) "
                               "SELECT id, 0, 'python', 'step', '/a/train.py', 12 FROM launch_site");
    struct screen *screen = view_open("launched");
    screen_expect(screen, "    launched at train.py:12 in step");
    view_leave(screen);
}

/* As of a kernel with probes: __FILE__ is what the compiler was given. */
static void a_source_with_a_relative_path_has_the_same_lines(void **state)
{
    (void)state;
    session_machine("relative");
    session_change("relative", "INSERT INTO source_file SELECT NULL, id, 'gemm.cu', replace(printf('%.*c', 300, '.'), "
                               "'.', '// a line' || char(10)), NULL, NULL, NULL FROM module");
    struct screen *screen = view_open("relative");
    screen_press(screen, "o");
    screen_expect(screen, "●  150  // a line");
    view_leave(screen);
}

/* VIEW(test's name, golden's name, session, keys): a view is one line. */
#define VIEW(test, golden, session, keys)    \
    static void test(void **state)           \
    {                                        \
        (void)state;                         \
        view_screens(golden, session, keys); \
    }

VIEW(the_overview_has_the_looks, "machine-overview", "machine", "")
VIEW(the_cause_says_where_the_evidence_stands, "machine-cause", "machine", "c")
VIEW(the_warps_say_where_they_stand, "machine-warps", "machine", "w")
VIEW(a_split_warp_has_its_parts, "machine-parts", "machine", "wj" KEY_ENTER "jj" KEY_ENTER)
VIEW(the_barriers_have_offset_and_word, "machine-barriers", "machine", "b")
VIEW(the_code_is_marked_where_warps_stand, "machine-code", "machine", "o")
VIEW(a_source_at_hand_comes_first, "machine-source", "sourced", "o")
VIEW(the_code_can_be_asked_for, "machine-code-asked", "sourced", "om")
VIEW(the_registers, "machine-registers", "machine", "r")
VIEW(the_graph, "machine-graph", "machine", "W")
VIEW(the_overview_of_two_nodes_has_their_ranks, "merged-overview", "merged", "")
VIEW(the_warps_of_two_nodes, "merged-warps", "merged", "w")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_overview_has_the_line_of_the_launch),
        cmocka_unit_test(the_overview_has_the_looks),
        cmocka_unit_test(the_cause_says_where_the_evidence_stands),
        cmocka_unit_test(the_warps_say_where_they_stand),
        cmocka_unit_test(a_split_warp_has_its_parts),
        cmocka_unit_test(the_barriers_have_offset_and_word),
        cmocka_unit_test(the_code_is_marked_where_warps_stand),
        cmocka_unit_test(a_source_at_hand_comes_first),
        cmocka_unit_test(a_source_with_a_relative_path_has_the_same_lines),
        cmocka_unit_test(the_code_can_be_asked_for),
        cmocka_unit_test(the_registers),
        cmocka_unit_test(the_graph),
        cmocka_unit_test(the_overview_of_two_nodes_has_their_ranks),
        cmocka_unit_test(the_warps_of_two_nodes),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_teardown);
}
