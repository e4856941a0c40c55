/* time_span.c - see time_span.h. */
#include "viewer/time_span.h"

#define LEAST_NS 1024 /* time stamps count units of 32 ns; a screen has hundreds of columns */

int64_t viewer_time_span_shown_ns(const struct viewer_time_span *span)
{
    return span->span_ns ? span->span_ns : span->all_ns;
}

static void keep_in_range(struct viewer_time_span *span)
{
    if (span->span_ns >= span->all_ns)
        span->span_ns = 0;
    const int64_t most_ns = span->all_ns - viewer_time_span_shown_ns(span);
    span->back_ns = span->back_ns > most_ns ? most_ns : span->back_ns < 0 ? 0 : span->back_ns;
}

void viewer_time_span_set(struct viewer_time_span *span, int64_t all_ns)
{
    span->all_ns = all_ns > LEAST_NS ? all_ns : LEAST_NS;
    keep_in_range(span);
}

int64_t viewer_time_span_cursor_ns(const struct viewer_time_span *span, int columns)
{
    return span->back_ns + viewer_time_span_shown_ns(span) * (2 * span->behind + 1) / (2 * columns);
}

void viewer_time_span_zoom(struct viewer_time_span *span, int columns, bool in)
{
    const int64_t cursor_ns = viewer_time_span_cursor_ns(span, columns), old_ns = viewer_time_span_shown_ns(span);
    const int64_t new_ns = in ? old_ns / 2 : old_ns * 2;
    span->span_ns = new_ns > LEAST_NS ? new_ns : LEAST_NS;
    span->back_ns = cursor_ns - span->span_ns * (2 * span->behind + 1) / (2 * columns);
    keep_in_range(span);
}

void viewer_time_span_scroll(struct viewer_time_span *span, int64_t by_ns)
{
    span->back_ns += by_ns;
    keep_in_range(span);
}

void viewer_time_span_move(struct viewer_time_span *span, int columns, int by)
{
    const int behind = span->behind - by;
    span->behind = behind < 0 ? 0 : behind >= columns ? columns - 1 : behind;
    viewer_time_span_scroll(span, viewer_time_span_shown_ns(span) * (behind - span->behind) / columns);
}
