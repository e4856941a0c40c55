/* arrivals.h - who arrived last at a barrier.  Reads histories through the source, from their newest end. */
#ifndef VIEWER_ARRIVALS_H
#define VIEWER_ARRIVALS_H

#include "viewer/picture.h"

struct viewer_arrival {
    uint32_t warp;
    struct wsdbg_history_event event;
};

/* The newest arrival, copy or sync of each warp that reaches the barrier, newest first; returns how many, at most
 * `capacity`.  Looks at the last 2048 events of a warp. */
size_t viewer_arrivals_read(struct viewer_source *source, const struct wsdbg_snapshot *snapshot, uint32_t barrier,
                            struct viewer_arrival *out, size_t capacity);

#endif
