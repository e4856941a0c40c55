/* history.h - a warp's last events, walked back from its slot as ring.h says. */
#ifndef WSDBG_EVIDENCE_HISTORY_H
#define WSDBG_EVIDENCE_HISTORY_H

#include "model/snapshot.h"

struct wsdbg_history_walk {
    struct wsdbg_history_event events[WSDBG_HISTORY_DEPTH_MAX]; /* newest first */
    uint32_t count;                                             /* at least 1 unless the slot has no event */
    bool whole;                                                 /* the last one is the warp's BEGIN */
    bool torn;                                                  /* the walk ended at an entry that does not fit */
};

/* Decodes one event whose time is known to be `gpu_time_ns`. */
struct wsdbg_history_event wsdbg_history_decode(const struct wsdbg_event *event, uint64_t gpu_time_ns);

/* Walks back from `last`, the slot's event at `gpu_time_ns`, through the slot's `depth` mirror entries.
 * The mirror is of use only if it holds `last` itself: else it was copied before the warp moved on, and
 * older entries might be of another occupant.  mirror NULL = the slot's event alone. */
void wsdbg_history_walk_back(const struct wsdbg_event *last, uint64_t gpu_time_ns, const struct wsdbg_event *mirror,
                             uint32_t depth, struct wsdbg_history_walk *out);

#endif
