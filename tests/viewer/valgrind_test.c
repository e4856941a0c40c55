/* valgrind_test.c - one session of every view, folds, search, filter and resizing, under valgrind: nothing is read that
 * was not written, nothing is lost.  Skipped where there is no valgrind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "viewer/keys.h"
#include "viewer/sessions.h"

#define VALGRIND "/usr/bin/valgrind"

/* Memory that ncurses keeps until the process ends is reachable and no leak. */
static void a_session_of_all_views_is_clean(void **state)
{
    (void)state;
    session_replayed("arrive-missing");
    struct screen *screen = SCREEN(80, 24, VALGRIND, "--quiet", "--error-exitcode=9", "--leak-check=full",
                                   "--show-leak-kinds=definite,possible", "--errors-for-leak-kinds=definite,possible",
                                   "--log-file=valgrind.log", WSDBG_BINARY, "view", "arrive-missing.db");
    screen_expect(screen, "overview]");
    for (size_t i = 1; viewer_views[i]; i++) {
        char tab[32];
        snprintf(tab, sizeof tab, "%s]", viewer_views[i]->tab ? viewer_views[i]->tab : viewer_views[i]->name);
        screen_press(screen, "\t");
        screen_expect(screen, tab);
        screen_press(screen, "G" KEY_RIGHT KEY_ENTER KEY_BACKSPACE "gs");
        screen_expect(screen, tab);
        screen_resize(screen, i % 2 ? 80 : 78, i % 2 ? 24 : 12);
    }
    screen_press(screen, "w/consumer\rnNfproducer\r");
    screen_expect(screen, "only producer");
    screen_press(screen, "q");
    const int status = screen_finish(screen);
    char *log = read_file("valgrind.log");
    if (status != 0)
        fail_msg("status %d; valgrind says:\n%s", status, log);
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_session_of_all_views_is_clean)};
    if (access(VALGRIND, X_OK) != 0) {
        fputs(VALGRIND " is not there: skipped\n", stderr);
        return 77;
    }
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
