/* marks.h - which warps and barriers the verdict is about.  Reads a picture's diagnosis. */
#ifndef VIEWER_MARKS_H
#define VIEWER_MARKS_H

#include "viewer/view.h"

enum viewer_mark {
    VIEWER_MARK_NAMED = 1, /* the first finding rests on it */
    VIEWER_MARK_CYCLE = 2  /* is part of a cycle of waits */
};

struct viewer_marks {
    unsigned char *warps, *barriers; /* masks of enum viewer_mark by index */
};

/* Marks the picture anew (`marks` all zero at first).  Both arrays are NULL without a snapshot or after an error. */
struct wsdbg_error *viewer_marks_read(const struct viewer_picture *picture, struct viewer_marks *marks);
void viewer_marks_deinit(struct viewer_marks *marks);
/* "cycle" before "named", a blank for none. */
void viewer_marks_draw(struct viewer_canvas *canvas, int column, unsigned mask);
/* The look of something in its state, marked or not. */
enum viewer_style viewer_marked_style(unsigned mask, enum viewer_style unmarked);

#endif
