/* history.h - a warp's last events: from its slot forward to the newest, then back as ring.h says. */
#ifndef WSDBG_EVIDENCE_HISTORY_H
#define WSDBG_EVIDENCE_HISTORY_H

#include "model/snapshot.h"

struct wsdbg_history_walk {
    struct wsdbg_history_event events[WSDBG_HISTORY_DEPTH_MAX]; /* newest first */
    uint32_t count;                                             /* at least 1 unless the slot has no event */
    struct wsdbg_event last;                                    /* events[0] as the device wrote it */
    bool whole;                                                 /* the last one is the warp's BEGIN */
    bool torn;                                                  /* some entry did not fit; the walk ended there */
};

/* A slot and the ring of its warp, copied no earlier than the slot. */
struct wsdbg_history_source {
    struct wsdbg_event state;         /* the slot's event */
    uint64_t gpu_time_ns;             /* of `state` */
    const struct wsdbg_event *mirror; /* `depth` entries; NULL = the slot's event alone */
    uint32_t depth;
    uint32_t horizon; /* no event can be later than `state` by more time units than this */
};

/* Decodes one event whose time is known to be `gpu_time_ns`. */
struct wsdbg_history_event wsdbg_history_decode(const struct wsdbg_event *event, uint64_t gpu_time_ns);

/* Finds the warp's last event at the moment the slot was copied, and walks back from there.  A ring in which
 * neither the slot's event nor a later one stands is not used: it was copied before the warp moved on, and its
 * entries might be of another occupant. */
void wsdbg_history_walk_back(const struct wsdbg_history_source *source, struct wsdbg_history_walk *out);

#endif
