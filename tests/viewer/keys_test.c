/* keys_test.c - what a reader types and clicks, and what comes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/harness.h"
#include "viewer/keys.h"
#include "viewer/sessions.h"

enum { TITLE_LINE, TABS_LINE };

static struct screen *open_hang(const char *keys)
{
    session_replayed("arrive-missing");
    struct screen *screen = view_open("arrive-missing");
    screen_expect(screen, "overview]");
    screen_press(screen, keys);
    return screen;
}

/* Column of a text on a line of the screen, from 0. */
static int column_of(struct screen *screen, int line, const char *text)
{
    const char *at = screen_text(screen);
    for (int i = 0; i < line; i++)
        at = strchr(at, '\n') + 1;
    const char *found = strstr(at, text);
    assert_non_null(found);
    return (int)(found - at);
}

/* Line of a text, from 0. */
static int line_of(struct screen *screen, const char *text)
{
    const char *found = strstr(screen_text(screen), text);
    int line = 0;
    assert_non_null(found);
    for (const char *at = screen_text(screen); at < found; at++)
        line += *at == '\n';
    return line;
}

/* The tab of a view while it is the current one, at 80 columns: "regs]". */
static const char *current_tab(size_t view, char out[32])
{
    snprintf(out, 32, "%s]", viewer_views[view]->tab ? viewer_views[view]->tab : viewer_views[view]->name);
    return out;
}

static void views_open_by_letter_by_digit_and_by_tab(void **state)
{
    (void)state;
    char tab[32];
    struct screen *screen = open_hang("");
    for (size_t i = 0; viewer_views[i]; i++) {
        const char letter[] = {viewer_views[i]->key, '\0'}, digit[] = {viewer_digit(i), '\0'};
        screen_press(screen, letter);
        if (letter[0])
            screen_expect(screen, current_tab(i, tab));
        screen_press(screen, "?1"); /* help and back to the overview, to come from elsewhere */
        screen_expect(screen, current_tab(0, tab));
        screen_press(screen, digit);
        if (digit[0])
            screen_expect(screen, current_tab(i, tab));
    }
    screen_press(screen, "1");
    for (size_t i = 0; viewer_views[i]; i++, screen_press(screen, "\t"))
        screen_expect(screen, current_tab(i, tab));
    screen_expect(screen, current_tab(0, tab));
    screen_press(screen, KEY_SHIFT_TAB);
    screen_expect(screen, "help]");
    view_leave(screen);
}

static void no_two_views_have_the_same_key(void **state)
{
    (void)state;
    for (size_t i = 0; viewer_views[i]; i++) {
        const char letter = viewer_views[i]->key;
        if (letter && viewer_action_of(letter))
            fail_msg("the letter %c of the view %s does something else in every view", letter, viewer_views[i]->name);
        if (letter >= '0' && letter <= '9')
            fail_msg("the view %s has a digit for a letter", viewer_views[i]->name);
        for (size_t j = 0; letter && j < i; j++)
            if (viewer_views[j]->key == letter)
                fail_msg("the views %s and %s have the same letter", viewer_views[j]->name, viewer_views[i]->name);
    }
}

static void help_comes_and_goes(void **state)
{
    (void)state;
    struct screen *screen = open_hang("w" KEY_F1);
    screen_expect(screen, "help]");
    screen_press(screen, "?");
    screen_expect(screen, "warps]");
    view_leave(screen);
}

static void the_cursor_moves_by_row_by_page_and_to_the_ends(void **state)
{
    (void)state;
    struct screen *screen = open_hang("?");
    screen_expect(screen, "help]");
    screen_expect_cursor_on(screen, "Keys");
    screen_press(screen, KEY_DOWN "j");
    screen_expect_cursor_on(screen, "Down j");
    screen_press(screen, KEY_UP "k");
    screen_expect_cursor_on(screen, "Keys");
    screen_press(screen, KEY_PAGE_DOWN);
    screen_expect(screen, " 17/");
    screen_press(screen, KEY_PAGE_UP);
    screen_expect_cursor_on(screen, "Keys");
    screen_press(screen, "G");
    screen_expect_cursor_on(screen, "the verdict rests on it");
    screen_press(screen, KEY_DOWN "g");
    screen_expect_cursor_on(screen, "Keys");
    screen_press(screen, KEY_END);
    screen_expect_cursor_on(screen, "the verdict rests on it");
    screen_press(screen, KEY_HOME);
    screen_expect_cursor_on(screen, "Keys");
    view_leave(screen);
}

static void right_unfolds_left_folds_and_goes_out(void **state)
{
    (void)state;
    struct screen *screen = open_hang("wG");
    screen_expect_cursor_on(screen, "▸ 4 CTAs");
    screen_press(screen, KEY_RIGHT);
    screen_expect_cursor_on(screen, "▾ 4 CTAs");
    screen_press(screen, "jl");
    screen_expect_cursor_on(screen, "▾ CTA (0,0,0)");
    screen_press(screen, KEY_LEFT KEY_LEFT);
    screen_expect_cursor_on(screen, "▾ 4 CTAs");
    screen_press(screen, "h");
    screen_expect_cursor_on(screen, "▸ 4 CTAs");
    screen_expect_gone(screen, "CTA (0,0,0)");
    view_leave(screen);
}

static void enter_goes_to_the_object_and_backspace_back(void **state)
{
    (void)state;
    struct screen *screen = open_hang("c");
    screen_expect(screen, "Evidence:");
    screen_press(screen, "/warp 0\rw"); /* a view opened by its letter is no jump */
    screen_expect(screen, "warps]");
    screen_press(screen, "v/gemm\r" KEY_ENTER);
    screen_expect(screen, "warps]");
    screen_press(screen, KEY_BACKSPACE);
    screen_expect(screen, "overview]");
    screen_expect_cursor_on(screen, "gemm_cooperative");
    screen_press(screen, KEY_BACKSPACE);
    screen_expect(screen, "nowhere to go back to");
    view_leave(screen);
}

static void enter_on_evidence_unfolds_the_way_to_the_warp(void **state)
{
    (void)state;
    struct screen *screen = open_hang("c/Evidence:\r" KEY_DOWN);
    screen_expect_cursor_on(screen, "- ");
    screen_press(screen, KEY_ENTER);
    screen_expect_gone(screen, "cause]");
    screen_press(screen, KEY_BACKSPACE);
    screen_expect(screen, "cause]");
    screen_expect_cursor_on(screen, "- ");
    view_leave(screen);
}

static void search_finds_marks_and_goes_round(void **state)
{
    (void)state;
    struct screen *screen = open_hang("w/CONSUMER");
    screen_expect(screen, "search: CONSUMER");
    screen_press(screen, KEY_ENTER);
    screen_expect_cursor_on(screen, "consumer 0");
    screen_press(screen, "n");
    screen_expect_cursor_on(screen, "consumer 1");
    screen_press(screen, "n");
    screen_expect_cursor_on(screen, "consumer 0");
    screen_press(screen, "N");
    screen_expect_cursor_on(screen, "consumer 1");
    screen_expect_golden_looks(screen, "search-looks");
    screen_press(screen, "/zebra" KEY_ENTER);
    screen_expect(screen, "\"zebra\" is in no row that is open here");
    view_leave(screen);
}

static void a_filter_shows_less_and_says_so(void **state)
{
    (void)state;
    struct screen *screen = open_hang("wfrole=producer cta=1-2 state=EXITED" KEY_ENTER);
    screen_expect(screen, "only role=producer cta=1-2 state=EXITED");
    screen_expect_gone(screen, "consumer 0 ");
    screen_expect_cursor_on(screen, "2 CTAs");
    screen_press(screen, "f\x15" KEY_ENTER);
    screen_expect(screen, "▸ 4 CTAs");
    screen_press(screen, "fconsumer" KEY_ENTER);
    screen_expect_gone(screen, "EXITED");
    view_leave(screen);
}

static void a_filter_that_is_not_understood_stays_with_the_reason(void **state)
{
    (void)state;
    struct screen *screen = open_hang("wfcta=9-2" KEY_ENTER);
    screen_expect(screen, "filter: cta=9-2");
    screen_expect(screen, "cta");
    screen_press(screen, "\x15zebra" KEY_ENTER);
    screen_expect(screen, "zebra");
    screen_expect(screen, "▸ 4 CTAs");
    screen_press(screen, KEY_ESCAPE);
    screen_expect_gone(screen, "filter:");
    screen_expect(screen, "▸ 4 CTAs");
    view_leave(screen);
}

static void the_prompt_is_a_line_that_is_edited(void **state)
{
    (void)state;
    struct screen *screen = open_hang("/añ漢");
    screen_expect(screen, "search: añ漢_");
    screen_press(screen, KEY_BACKSPACE);
    screen_expect(screen, "search: añ_");
    screen_press(screen, KEY_BACKSPACE KEY_BACKSPACE "b");
    screen_expect(screen, "search: b_");
    screen_press(screen, KEY_ESCAPE);
    screen_expect_gone(screen, "search:");
    view_leave(screen);
}

static void s_sorts_anew_or_says_that_it_cannot(void **state)
{
    (void)state;
    struct screen *screen = open_hang("w");
    screen_expect(screen, "s by place");
    screen_press(screen, "s");
    screen_expect_gone(screen, "s by place");
    screen_press(screen, "cs");
    screen_expect(screen, "this view has one order only");
    view_leave(screen);
}

static void space_pauses_and_goes_on(void **state)
{
    (void)state;
    struct screen *screen = open_hang(" ");
    screen_expect(screen, "paused");
    screen_press(screen, " ");
    screen_expect_gone(screen, "paused");
    view_leave(screen);
}

static void there_is_no_program_to_type_to_in_a_file(void **state)
{
    (void)state;
    struct screen *screen = open_hang("i");
    screen_expect(screen, "there is no program to type to");
    view_leave(screen);
}

static void the_mouse_selects_opens_and_scrolls(void **state)
{
    (void)state;
    struct screen *screen = open_hang("");
    screen_expect(screen, "[1overview]2cause 3warps");
    screen_click(screen, column_of(screen, TABS_LINE, "warps") + 1, TABS_LINE);
    screen_expect(screen, "consumer 1");
    const int line = line_of(screen, "consumer 1");
    screen_click(screen, 30, line);
    screen_expect_cursor_on(screen, "consumer 1");
    screen_click(screen, 30, line);
    screen_click(screen, 30, line);
    screen_expect(screen, "CTA (0,0,0)");
    screen_press(screen, "?");
    screen_expect(screen, "help]");
    screen_wheel(screen, 1, 10, 12);
    screen_expect_cursor_on(screen, "PgUp");
    screen_wheel(screen, -1, 10, 12);
    screen_expect_cursor_on(screen, "Keys");
    screen_click(screen, 79, TITLE_LINE);
    screen_click(screen, 0, 23); /* the bottom line is no row */
    screen_press(screen, "j");
    screen_expect_cursor_on(screen, "Up k");
    view_leave(screen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_open_by_letter_by_digit_and_by_tab),
        cmocka_unit_test(no_two_views_have_the_same_key),
        cmocka_unit_test(help_comes_and_goes),
        cmocka_unit_test(the_cursor_moves_by_row_by_page_and_to_the_ends),
        cmocka_unit_test(right_unfolds_left_folds_and_goes_out),
        cmocka_unit_test(enter_goes_to_the_object_and_backspace_back),
        cmocka_unit_test(enter_on_evidence_unfolds_the_way_to_the_warp),
        cmocka_unit_test(search_finds_marks_and_goes_round),
        cmocka_unit_test(a_filter_shows_less_and_says_so),
        cmocka_unit_test(a_filter_that_is_not_understood_stays_with_the_reason),
        cmocka_unit_test(the_prompt_is_a_line_that_is_edited),
        cmocka_unit_test(s_sorts_anew_or_says_that_it_cannot),
        cmocka_unit_test(space_pauses_and_goes_on),
        cmocka_unit_test(there_is_no_program_to_type_to_in_a_file),
        cmocka_unit_test(the_mouse_selects_opens_and_scrolls),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
