/* Zoom, scrolling and the cursor of the timeline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "viewer/time_span.h"

#define COLUMNS 100

static struct viewer_time_span span_of(int64_t all_ns)
{
    struct viewer_time_span span = {0};
    viewer_time_span_set(&span, all_ns);
    return span;
}

static void at_first_all_is_shown_and_the_cursor_is_at_the_newest(void **state)
{
    (void)state;
    const struct viewer_time_span span = span_of(100000);
    assert_int_equal(viewer_time_span_shown_ns(&span), 100000);
    assert_int_equal(viewer_time_span_cursor_ns(&span, COLUMNS), 500); /* middle of the last column */
}

static void zooming_keeps_the_moment_under_the_cursor(void **state)
{
    (void)state;
    struct viewer_time_span span = span_of(1000000);
    viewer_time_span_move(&span, COLUMNS, -50);
    const int64_t before_ns = viewer_time_span_cursor_ns(&span, COLUMNS);
    for (int i = 0; i < 4; i++)
        viewer_time_span_zoom(&span, COLUMNS, true);
    assert_int_equal(viewer_time_span_shown_ns(&span), 1000000 / 16);
    assert_in_range(viewer_time_span_cursor_ns(&span, COLUMNS), before_ns - 5, before_ns + 5);
}

static void zooming_out_ends_at_all_there_is(void **state)
{
    (void)state;
    struct viewer_time_span span = span_of(100000);
    viewer_time_span_zoom(&span, COLUMNS, true);
    viewer_time_span_zoom(&span, COLUMNS, false);
    viewer_time_span_zoom(&span, COLUMNS, false);
    assert_int_equal(viewer_time_span_shown_ns(&span), 100000);
    assert_int_equal(span.back_ns, 0);
}

static void zooming_in_ends_at_what_a_time_stamp_tells_apart(void **state)
{
    (void)state;
    struct viewer_time_span span = span_of(100000);
    for (int i = 0; i < 100; i++)
        viewer_time_span_zoom(&span, COLUMNS, true);
    assert_int_equal(viewer_time_span_shown_ns(&span), 1024);
}

static void scrolling_stops_at_both_ends(void **state)
{
    (void)state;
    struct viewer_time_span span = span_of(100000);
    viewer_time_span_zoom(&span, COLUMNS, true);
    viewer_time_span_scroll(&span, 1000000);
    assert_int_equal(span.back_ns, 50000);
    viewer_time_span_scroll(&span, -1000000);
    assert_int_equal(span.back_ns, 0);
}

static void a_cursor_at_the_edge_moves_the_time(void **state)
{
    (void)state;
    struct viewer_time_span span = span_of(100000);
    viewer_time_span_zoom(&span, COLUMNS, true);
    viewer_time_span_scroll(&span, -1000);
    viewer_time_span_move(&span, COLUMNS, -(COLUMNS - 1));
    assert_int_equal(span.back_ns, 0);
    viewer_time_span_move(&span, COLUMNS, -1);
    assert_int_equal(span.behind, COLUMNS - 1);
    assert_int_equal(span.back_ns, 500); /* one column of 50000 / 100 */
}

static void without_time_nothing_divides_by_zero(void **state)
{
    (void)state;
    struct viewer_time_span span = span_of(0);
    viewer_time_span_zoom(&span, 1, true);
    viewer_time_span_move(&span, 1, 1);
    assert_in_range(viewer_time_span_cursor_ns(&span, 1), 0, 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_first_all_is_shown_and_the_cursor_is_at_the_newest),
        cmocka_unit_test(zooming_keeps_the_moment_under_the_cursor),
        cmocka_unit_test(zooming_out_ends_at_all_there_is),
        cmocka_unit_test(zooming_in_ends_at_what_a_time_stamp_tells_apart),
        cmocka_unit_test(scrolling_stops_at_both_ends),
        cmocka_unit_test(a_cursor_at_the_edge_moves_the_time),
        cmocka_unit_test(without_time_nothing_divides_by_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
