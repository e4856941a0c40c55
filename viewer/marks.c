/* marks.c - see marks.h. */
#include "viewer/marks.h"

#include <stdlib.h>

void viewer_marks_deinit(struct viewer_marks *marks)
{
    free(marks->warps);
    free(marks->barriers);
    *marks = (struct viewer_marks){0};
}

static void mark(unsigned char *masks, size_t count, uint32_t index, unsigned char mask)
{
    if (index < count)
        masks[index] |= mask;
}

static void mark_verdict(const struct wsdbg_snapshot *s, const struct wsdbg_finding *verdict,
                         struct viewer_marks *marks)
{
    mark(marks->barriers, s->barrier_count, verdict->barrier, VIEWER_MARK_NAMED);
    for (size_t i = 0; i < verdict->evidence_count; i++) {
        mark(marks->warps, s->warp_count, verdict->evidence[i].warp, VIEWER_MARK_NAMED);
        mark(marks->barriers, s->barrier_count, verdict->evidence[i].barrier, VIEWER_MARK_NAMED);
    }
}

struct wsdbg_error *viewer_marks_read(const struct viewer_picture *picture, struct viewer_marks *marks)
{
    const struct wsdbg_snapshot *s = picture->snapshot;
    const struct wsdbg_diagnosis *d = picture->diagnosis;
    viewer_marks_deinit(marks);
    if (!s)
        return NULL;
    marks->warps = calloc(s->warp_count + 1, 1);
    marks->barriers = calloc(s->barrier_count + 1, 1);
    if (!marks->warps || !marks->barriers) {
        viewer_marks_deinit(marks);
        return &wsdbg_error_no_memory;
    }
    for (size_t i = 0; d && i < d->edge_count; i++)
        if (d->edges[i].in_cycle) {
            mark(marks->warps, s->warp_count, d->edges[i].waiter, VIEWER_MARK_CYCLE);
            mark(marks->barriers, s->barrier_count, d->edges[i].barrier, VIEWER_MARK_CYCLE);
        }
    if (d && d->finding_count > 0)
        mark_verdict(s, &d->findings[0], marks);
    return NULL;
}

void viewer_marks_draw(struct viewer_canvas *canvas, int column, unsigned mask)
{
    if (mask & VIEWER_MARK_CYCLE)
        viewer_put_glyph(canvas, 0, column, VIEWER_STYLE_STUCK, VIEWER_GLYPH_CYCLE);
    else if (mask & VIEWER_MARK_NAMED)
        viewer_put_glyph(canvas, 0, column, VIEWER_STYLE_STUCK, VIEWER_GLYPH_MARK);
}

enum viewer_style viewer_marked_style(unsigned mask, enum viewer_style unmarked)
{
    return mask ? VIEWER_STYLE_STUCK : unmarked;
}
