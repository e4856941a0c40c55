/* lanes.h - what a warpgroup did in each column of a stretch of time.  Reads histories through the source, or samples.
 *
 * Long histories are not read whole: where a warp has more events in the window than can be read at a keystroke, its
 * first warp is sampled at evenly spaced events and stands for the group.
 */
#ifndef VIEWER_LANES_H
#define VIEWER_LANES_H

#include "viewer/picture.h"
#include "viewer/samples.h"

#define VIEWER_LANE_COLUMNS 512

/* A column's content: what took most of its time; for a column of activity the most telling kind of it. */
enum viewer_cell {
    VIEWER_CELL_NOTHING, /* before the warps began, or not seen */
    VIEWER_CELL_RUNS,
    VIEWER_CELL_TMA,
    VIEWER_CELL_WGMMA, /* issued, or waited for: the tensor cores work */
    VIEWER_CELL_WAITS,
    VIEWER_CELL_STALLED, /* in a wait that had not ended when the picture was taken */
    VIEWER_CELL_EXITED,
    VIEWER_CELL_UNKNOWN, /* older events were overwritten or not kept */
    VIEWER_CELL_COUNT
};

/* [begin_ns, end_ns) in `columns` (at most VIEWER_LANE_COLUMNS); GPU time for histories, host time for samples. */
struct viewer_window {
    int64_t begin_ns, end_ns;
    int columns;
};

/* Fills `columns` cells.  True: the lane was sampled. */
bool viewer_lane_read(struct viewer_source *source, const struct wsdbg_snapshot *snapshot, uint32_t cta,
                      uint32_t warpgroup, const struct viewer_window *window, unsigned char *cells);
void viewer_lane_sample(const struct viewer_samples *samples, const struct wsdbg_snapshot *snapshot, uint32_t cta,
                        uint32_t warpgroup, const struct viewer_window *window, unsigned char *cells);

/* Number of the first event of a warp that is later than `time_ns` (the count when there is none). */
uint32_t viewer_event_after(struct viewer_source *source, uint32_t warp, int64_t time_ns);
/* The event of the warpgroup nearest to `time_ns`, and whose it is; false when there are no events. */
bool viewer_event_near(struct viewer_source *source, const struct wsdbg_snapshot *snapshot, uint32_t cta,
                       uint32_t warpgroup, int64_t time_ns, uint32_t *warp, struct wsdbg_history_event *event);

#endif
