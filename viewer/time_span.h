/* time_span.h - the stretch of time that the timeline shows, and the cursor in it.  Pure arithmetic.
 *
 * Times are ages: nanoseconds before the newest moment, which stays at 0 while a session goes on.
 */
#ifndef VIEWER_TIME_SPAN_H
#define VIEWER_TIME_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/* All zero = everything, with the cursor at the newest moment. */
struct viewer_time_span {
    int64_t all_ns;  /* age of the oldest moment */
    int64_t span_ns; /* shown; 0 = all */
    int64_t back_ns; /* age of the right edge */
    int behind;      /* columns from the cursor to the right edge */
};

/* There is another oldest moment. */
void viewer_time_span_set(struct viewer_time_span *span, int64_t all_ns);
int64_t viewer_time_span_shown_ns(const struct viewer_time_span *span);
/* Age of the middle of the cursor's column, of `columns`. */
int64_t viewer_time_span_cursor_ns(const struct viewer_time_span *span, int columns);
/* Halves or doubles what is shown; the moment under the cursor stays there, as far as there is time around it. */
void viewer_time_span_zoom(struct viewer_time_span *span, int columns, bool in);
/* Moves the right edge into the past (positive) or towards now. */
void viewer_time_span_scroll(struct viewer_time_span *span, int64_t by_ns);
/* Moves the cursor by columns, to the right if positive; at an edge the time moves instead. */
void viewer_time_span_move(struct viewer_time_span *span, int columns, int by);

#endif
