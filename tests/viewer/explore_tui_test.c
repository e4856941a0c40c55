/* explore_tui_test.c - `wsdbg explore --tui`: a schedule that hangs, run again from its number, on the screen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "viewer/screen.h"

/* The number of the first schedule that hangs, as the search says it. */
static void find_seed(char seed[32])
{
    static const char before[] = "hang in schedule ";
    struct outcome run = WSDBG("explore", "--schedules", "2000", "-o", "found.db", SIM_APP, "lost");
    const char *found = strstr(run.err, before);
    assert_non_null(found);
    assert_int_equal(sscanf(found + sizeof before - 1, "%31[0-9]", seed), 1);
    outcome_free(&run);
}

/* The warps' histories with their simulated times, of the session's newest picture. */
static char *histories_of(const char *database)
{
    struct outcome query = WSDBG("query", database, "--csv",
                                 "SELECT warp, event, iteration, parity, line, gpu_time_ns FROM event_named ORDER BY "
                                 "event_id");
    char *text = strdup(query.out);
    assert_true(count_lines(text) > 2);
    outcome_free(&query);
    return text;
}

static void the_same_hang_is_on_the_screen(void **state)
{
    char seed[32], title[96];
    (void)state;
    find_seed(seed);
    struct screen *screen =
        SCREEN(100, 30, WSDBG_BINARY, "explore", "--tui", "--replay", seed, "-o", "again.db", "--", SIM_APP, "lost");
    screen_expect(screen, "finished");
    screen_expect(screen, "HANG: ");
    screen_expect(screen, "observer driver, evidence simulator"); /* as the report has it: of the picture shown */
    screen_press(screen, "9");
    snprintf(title, sizeof title, "hang in schedule %s of launch 0 (lost)", seed);
    screen_expect(screen, title);
    screen_press(screen, "q");
    assert_int_equal(screen_finish(screen), 124);
    char *found = histories_of("found.db"), *again = histories_of("again.db");
    assert_string_equal(again, found);
    free(found);
    free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_same_hang_is_on_the_screen, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
