/* sheet_test.c - where lines are broken: on memory, and on terminals of some widths. */
#include "base/sheet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char description[] =
    "A paragraph that was broken by hand\nin its source.\n\n- an item that goes on\nhere\n  an example\n";

static char *put(size_t columns, const char *first, size_t indent, size_t most, const char *text)
{
    char *out = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&out, &bytes);
    wsdbg_sheet_put(&(struct wsdbg_sheet){.file = memory, .columns = columns}, NULL, first, indent, most, text);
    fclose(memory);
    return out;
}

static char *put_paragraphs(size_t columns, const char *text)
{
    char *out = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&out, &bytes);
    wsdbg_sheet_put_paragraphs(&(struct wsdbg_sheet){.file = memory, .columns = columns}, text);
    fclose(memory);
    return out;
}

static void check(char *text, const char *wanted)
{
    assert_string_equal(text, wanted);
    free(text);
}

static void a_file_has_the_usual_width(void **state)
{
    (void)state;
    check(put(0, "  ", 2, 12, "one two three"), "  one two\n  three\n");
    check(put(0, "Fix: ", 5, SIZE_MAX, "one two three"), "Fix: one two three\n");
    check(put_paragraphs(0, description), description);
    check(put(0, "  ", 2, 12, ""), "");
}

static void a_terminal_has_its_own(void **state)
{
    (void)state;
    check(put(20, "- ", 2, 116, "one two three four five"), "- one two three\n  four five\n");
    check(put(200, "- ", 2, 12, "one two three"), "- one two\n  three\n");
    check(put_paragraphs(25, description), "A paragraph that was\nbroken by hand in its\nsource.\n\n"
                                           "- an item that goes on\n  here\n  an example\n");
    check(put_paragraphs(80, description), description);
}

static void colours_take_no_columns(void **state)
{
    (void)state;
    check(put(0, "", 2, 12, "\033[1;31merror\033[0m: one two"), "\033[1;31merror\033[0m: one\n  two\n");
}

static void a_margin_leaves_room_for_text(void **state)
{
    (void)state;
    check(put(24, "a first part, it is long: ", 4, 116, "one two"), "a first part, it is long:\n    one two\n");
    check(put(24, "", 30, 116, "one two three four five six"), "one two three four five\n                six\n");
}

static void the_width_is_that_of_the_terminal(void **state)
{
    int master, slave;
    (void)state;
    const struct winsize size = {.ws_row = 24, .ws_col = 72}, unknown = {0};
    assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
    FILE *terminal = fdopen(slave, "w");
    assert_int_equal(wsdbg_sheet_columns(terminal), 72);
    assert_int_equal(wsdbg_sheet_on(stdout, terminal).columns, 72);
    ioctl(slave, TIOCSWINSZ, &unknown);
    assert_int_equal(wsdbg_sheet_columns(terminal), 0);
    fclose(terminal);
    close(master);
    FILE *file = tmpfile();
    assert_int_equal(wsdbg_sheet_columns(file), 0);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_the_usual_width),        cmocka_unit_test(a_terminal_has_its_own),
        cmocka_unit_test(colours_take_no_columns),           cmocka_unit_test(a_margin_leaves_room_for_text),
        cmocka_unit_test(the_width_is_that_of_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
