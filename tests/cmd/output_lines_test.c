/* output_lines_test.c - what a program writes to its terminal, as lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "program/output_lines.h"

/* Lines so far, each followed by '|'. */
struct seen {
    char text[16384];
    struct wsdbg_output_lines *lines;
};

static void note(void *owner, const char *text)
{
    struct seen *seen = owner;
    strcat(strcat(seen->text, text), "|");
}

static void start(struct seen *seen)
{
    seen->text[0] = '\0';
    assert_null(wsdbg_output_lines_create(note, seen, &seen->lines));
}

static const char *after(struct seen *seen, const char *bytes)
{
    wsdbg_output_lines_add(seen->lines, bytes, strlen(bytes));
    return seen->text;
}

#define LINES_OF(bytes, expected)                           \
    do {                                                    \
        struct seen seen;                                   \
        start(&seen);                                       \
        assert_string_equal(after(&seen, bytes), expected); \
        wsdbg_output_lines_destroy(seen.lines);             \
    } while (0)

static void lines_end_with_a_newline_whatever_comes_before_it(void **state)
{
    (void)state;
    LINES_OF("one\ntwo\r\nthree", "one|two|");
    LINES_OF("\n\n", "||");
}

static void a_carriage_return_starts_the_line_again(void **state)
{
    (void)state;
    LINES_OF("10 %\r20 %\r100 %\ndone\n", "100 %|done|");
    LINES_OF("abc\b\bx\n", "ax|");
    LINES_OF("\xc3\xa4\xc3\xb6\bo\n", "\xc3\xa4o|");
}

static void escape_sequences_are_left_out(void **state)
{
    (void)state;
    LINES_OF("\033[1;31mred\033[0m\n", "red|");
    LINES_OF("\033]0;a title\007text\n", "text|");
    LINES_OF("\033]8;;http://x\033\\link\033]8;;\033\\\n", "link|");
    LINES_OF("\033(B\033=plain\n", "plain|");
    LINES_OF("\033Pq#0;2;0;0;0\033\\after\n", "after|");
}

static void a_broken_sequence_does_not_swallow_the_next_line(void **state)
{
    (void)state;
    LINES_OF("\033[31\nnext\n", "|next|");
    LINES_OF("\033]never ended\nnext\n", "next|");
}

static void a_sequence_may_come_in_pieces(void **state)
{
    struct seen seen;
    (void)state;
    start(&seen);
    after(&seen, "a\033");
    after(&seen, "[3");
    after(&seen, "1mb\n");
    assert_string_equal(seen.text, "ab|");
    wsdbg_output_lines_destroy(seen.lines);
}

static void control_characters_go_and_tabs_become_spaces(void **state)
{
    (void)state;
    LINES_OF("a\tb\x01\x7f\n", "a       b|");
    LINES_OF("\xff\xfe kept for the screen to escape\n", "\xff\xfe kept for the screen to escape|");
}

static void a_prompt_is_unfinished_until_its_end(void **state)
{
    struct seen seen;
    (void)state;
    start(&seen);
    after(&seen, "name? ");
    assert_string_equal(wsdbg_output_lines_unfinished(seen.lines), "name? ");
    assert_string_equal(seen.text, "");
    wsdbg_output_lines_finish(seen.lines);
    assert_string_equal(seen.text, "name? |");
    assert_string_equal(wsdbg_output_lines_unfinished(seen.lines), "");
    wsdbg_output_lines_finish(seen.lines);
    assert_string_equal(seen.text, "name? |");
    wsdbg_output_lines_destroy(seen.lines);
}

static void a_line_without_an_end_comes_in_pieces(void **state)
{
    struct seen seen;
    char byte = 'x';
    (void)state;
    start(&seen);
    for (int i = 0; i < 10000; i++)
        wsdbg_output_lines_add(seen.lines, &byte, 1);
    assert_int_equal(strcspn(seen.text, "|"), 4095);
    assert_int_equal(strlen(wsdbg_output_lines_unfinished(seen.lines)), 10000 - 2 * 4095);
    wsdbg_output_lines_destroy(seen.lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_with_a_newline_whatever_comes_before_it),
        cmocka_unit_test(a_carriage_return_starts_the_line_again),
        cmocka_unit_test(escape_sequences_are_left_out),
        cmocka_unit_test(a_broken_sequence_does_not_swallow_the_next_line),
        cmocka_unit_test(a_sequence_may_come_in_pieces),
        cmocka_unit_test(control_characters_go_and_tabs_become_spaces),
        cmocka_unit_test(a_prompt_is_unfinished_until_its_end),
        cmocka_unit_test(a_line_without_an_end_comes_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
