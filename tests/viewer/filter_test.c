/* filter_test.c - the grammar of the filter line, and what passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store/example.h"
#include "viewer/filter.h"

enum { CTAS = 4, WARPS = 12 };

/* Warps of the hung example that a line lets through: 4 producers and 8 consumers in each of 4 CTAs. */
static unsigned passing(const char *line)
{
    struct example example;
    struct viewer_filter filter;
    unsigned count = 0;
    example_hang(&example, CTAS, 1);
    example.snapshot.warps[0].state = WSDBG_WARP_EXITED;
    example_ok(viewer_filter_parse(line, &example.snapshot, &filter));
    assert_string_equal(filter.text, line);
    for (uint32_t i = 0; i < example.snapshot.warp_count; i++)
        count += viewer_filter_warp(&filter, &example.snapshot, i);
    example_free(&example);
    return count;
}

static void an_empty_line_lets_all_through(void **state)
{
    (void)state;
    assert_int_equal(passing(""), CTAS * WARPS);
    assert_int_equal(passing("   "), CTAS * WARPS);
}

static void named_words_narrow_together(void **state)
{
    (void)state;
    assert_int_equal(passing("role=producer"), CTAS * 4);
    assert_int_equal(passing("cta=2"), WARPS);
    assert_int_equal(passing("cta=1-2"), 2 * WARPS);
    assert_int_equal(passing("state=EXITED"), 1);
    assert_int_equal(passing("kernel=gemm"), CTAS * WARPS);
    assert_int_equal(passing("role=producer cta=0 state=waiting"), 3);
}

static void a_bare_word_is_what_there_is_of_that_name(void **state)
{
    (void)state;
    assert_int_equal(passing("producer"), CTAS * 4);
    assert_int_equal(passing("waiting"), CTAS * WARPS - 1);
    assert_int_equal(passing("exited"), 1);
    assert_int_equal(passing("gemm"), CTAS * WARPS);
}

static void what_is_not_understood_is_named_and_nothing_changes(void **state)
{
    static const char *const lines[][2] = {{"zebra", "zebra"},       {"cta=9-2", "9-2"},       {"cta=x", "x"},
                                           {"state=BORED", "BORED"}, {"colour=red", "colour"}, {"cta=", "cta"}};
    struct example example;
    (void)state;
    example_hang(&example, CTAS, 1);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct viewer_filter filter = {.text = "as before"};
        example_refused(viewer_filter_parse(lines[i][0], &example.snapshot, &filter), lines[i][1]);
        assert_string_equal(filter.text, "as before");
    }
    example_free(&example);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_line_lets_all_through),
        cmocka_unit_test(named_words_narrow_together),
        cmocka_unit_test(a_bare_word_is_what_there_is_of_that_name),
        cmocka_unit_test(what_is_not_understood_is_named_and_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
