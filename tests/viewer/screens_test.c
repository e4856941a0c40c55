/* screens_test.c - every view of a real hang, as a reader sees it: golden screens at 80 x 24 and 200 x 60. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "viewer/sessions.h"

/* VIEW(test's name, golden's name, session, keys): a view is one line. */
#define VIEW(test, golden, session, keys)    \
    static void test(void **state)           \
    {                                        \
        (void)state;                         \
        view_screens(golden, session, keys); \
    }

VIEW(the_overview, "overview", "parity-wrong", "")
VIEW(the_cause, "cause", "parity-wrong", "c")
VIEW(the_warps, "warps", "parity-wrong", "w")
VIEW(the_warps_unfolded, "warps-open", "arrive-missing", "wjj" KEY_ENTER "j" KEY_ENTER "j" KEY_ENTER)
VIEW(the_barriers, "barriers", "tx-mismatch", "b")
VIEW(the_graph, "graph", "arrive-missing", "W")
VIEW(the_timeline, "timeline", "arrive-missing", "t")
VIEW(the_source, "source", "parity-wrong", "o")
VIEW(the_registers, "registers", "regs-exhausted", "r")
VIEW(the_log, "log", "parity-wrong", "L")
VIEW(the_help, "help", "parity-wrong", "?")
VIEW(a_session_without_a_hang, "healthy", "healthy", "")

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_overview), cmocka_unit_test(the_cause),  cmocka_unit_test(the_warps),
        cmocka_unit_test(the_barriers), cmocka_unit_test(the_graph),  cmocka_unit_test(the_warps_unfolded),
        cmocka_unit_test(the_timeline), cmocka_unit_test(the_source), cmocka_unit_test(the_registers),
        cmocka_unit_test(the_log),      cmocka_unit_test(the_help),   cmocka_unit_test(a_session_without_a_hang),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
