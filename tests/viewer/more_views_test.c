/* more_views_test.c - views that have no digit, because there are more views than digits: they have tabs and keys, and
 * the others keep theirs.  The program is more_views.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "viewer/sessions.h"

static struct screen *open_more(int columns, const char *keys)
{
    session_replayed("arrive-missing");
    struct screen *screen = SCREEN(columns, 24, MORE_VIEWS, "arrive-missing.db");
    screen_expect(screen, "overview]");
    screen_press(screen, keys);
    return screen;
}

static void the_digits_stay_on_the_tabs(void **state)
{
    (void)state;
    struct screen *screen = open_more(80, "");
    screen_expect(screen, "[1overview]2caus 3warp 4barr 5grap 6time 7sour 8regs 9log rank memo note 0help");
    screen_press(screen, "4");
    screen_expect(screen, " 1over 2caus 3warp[4barriers]5grap 6time 7sour 8regs 9log rank memo note 0help");
    screen_resize(screen, 200, 24);
    screen_expect(screen, "[4 barriers]5 graph 6 timeline 7 source 8 registers 9 log R ranks M memory notes 0 help");
    view_leave(screen);
}

static void letters_and_tab_open_what_has_no_digit(void **state)
{
    (void)state;
    struct screen *screen = open_more(80, "M");
    screen_expect(screen, "memory]");
    screen_expect(screen, "a row of an added view");
    screen_press(screen, "\t");
    screen_expect(screen, "[notes]");
    screen_press(screen, "\t");
    screen_expect(screen, "[0help]");
    screen_press(screen, KEY_SHIFT_TAB);
    screen_expect(screen, "[notes]");
    screen_press(screen, "10");
    screen_expect(screen, "[0help]");
    view_leave(screen);
}

static void help_names_the_keys_that_there_are(void **state)
{
    (void)state;
    struct screen *screen = open_more(80, "?G");
    screen_expect(screen, "  9 L   log ");
    screen_expect(screen, "    M   memory     has a letter and no digit");
    screen_expect(screen, "  Tab   notes      has neither a letter nor a digit");
    screen_expect(screen, "  0     help       this page");
    view_leave(screen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digits_stay_on_the_tabs),
        cmocka_unit_test(letters_and_tab_open_what_has_no_digit),
        cmocka_unit_test(help_names_the_keys_that_there_are),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
