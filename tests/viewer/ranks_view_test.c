/* ranks_view_test.c - the view of the ranks: none, one without a rank, two of which one waits for the other, 64. */
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
    session_ranks("two", 2);
    session_ranks("many", 64);
    session_example("alone", NULL);
    session_example("none", NULL);
    session_change("none", "DELETE FROM member; DELETE FROM process");
    return failed;
}

static struct screen *open_ranks(const char *session, const char *keys)
{
    struct screen *screen = view_open(session);
    screen_press(screen, "R");
    screen_expect(screen, "rank]");
    screen_press(screen, keys);
    return screen;
}

static void two_ranks_of_which_one_waits_for_the_other(void **state)
{
    (void)state;
    view_screens("ranks", "two", "R");
}

static void a_process_without_a_rank_has_a_line_too(void **state)
{
    (void)state;
    struct screen *screen = open_ranks("alone", "");
    screen_expect(screen, "   ? host            77 kernel    gemm_kernel");
    view_leave(screen);
}

static void without_a_process_it_says_so(void **state)
{
    (void)state;
    struct screen *screen = open_ranks("none", "");
    screen_expect(screen, "No process that uses CUDA is in the picture.");
    view_leave(screen);
}

static void sixty_four_ranks_scroll_in_order(void **state)
{
    (void)state;
    struct screen *screen = open_ranks("many", "");
    screen_expect(screen, "1/64");
    screen_expect(screen, "   0 node-a          78 kernel    ");
    screen_expect(screen, "   2 node-a        1002 no work");
    screen_press(screen, "G");
    screen_expect_cursor_on(screen, "  63 node-a        1063 gone      killed by SIGKILL");
    screen_press(screen, "gj");
    screen_expect_cursor_on(screen, "   1 node-a          77 kernel    ");
    view_leave(screen);
}

static void sorted_by_blame_the_origin_comes_first(void **state)
{
    (void)state;
    struct screen *screen = open_ranks("many", "s");
    screen_expect(screen, "s by blame");
    screen_press(screen, "g");
    screen_expect_cursor_on(screen, "   1 node-a          77 kernel    ");
    screen_press(screen, "j");
    screen_expect_cursor_on(screen, "   0 node-a          78 kernel    ");
    view_leave(screen);
}

static void a_kernel_filters_and_enter_goes_to_its_warps(void **state)
{
    (void)state;
    struct screen *screen = open_ranks("many", "fkernel=gemm\r");
    screen_expect(screen, "1/2");
    screen_press(screen, KEY_ENTER);
    screen_expect(screen, "warps]");
    screen_press(screen, KEY_BACKSPACE);
    screen_expect(screen, "rank]");
    view_leave(screen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_ranks_of_which_one_waits_for_the_other),
        cmocka_unit_test(a_process_without_a_rank_has_a_line_too),
        cmocka_unit_test(without_a_process_it_says_so),
        cmocka_unit_test(sixty_four_ranks_scroll_in_order),
        cmocka_unit_test(sorted_by_blame_the_origin_comes_first),
        cmocka_unit_test(a_kernel_filters_and_enter_goes_to_its_warps),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_teardown);
}
