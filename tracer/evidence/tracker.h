/* tracker.h - what is remembered of one traced process from look to look.
 *
 * Reads: its segment view.  Writes: per slot the last decoded content, the host time at which it was last
 * seen to change and its unwrapped GPU time.  Both live and recorded sources step one of these per process.
 */
#ifndef WSDBG_EVIDENCE_TRACKER_H
#define WSDBG_EVIDENCE_TRACKER_H

#include "evidence/history.h"
#include "evidence/segment_reader.h"
#include "model/snapshot.h"

struct wsdbg_tracked_slot {
    struct wsdbg_slot slot; /* valid while occupied */
    uint64_t changed_ns;
    uint64_t gpu_time_ns; /* of slot.state */
    bool occupied, foreign, torn;
    bool last_known;         /* a history was read since the slot last changed: */
    struct wsdbg_event last; /* the warp's last event then */
};

struct wsdbg_tracked_context {
    struct wsdbg_context_row row;
    enum wsdbg_ring_memory ring;
    struct wsdbg_tracked_slot *slots;
    uint32_t slot_count;              /* 0 while the slots are not inside the segment */
    uint64_t gpu_now_ns;              /* newest event; 0 = none yet */
    uint64_t gpu_now_seen_ns;         /* host time at which it was seen */
    uint64_t fault_seen_ns;           /* first look at an error that ended it; 0 = none */
    const struct wsdbg_event *mirror; /* of the current view; NULL = histories not to be read */
    bool silent;                      /* at the last wsdbg_tracker_forgive_silence the slots' copy was not fresh */
};

struct wsdbg_tracker {
    struct wsdbg_segment_view view; /* borrowed; may move between looks */
    struct wsdbg_segment_head head;
    bool alive;                   /* the process: a dead one's contexts are gone whatever their rows say */
    struct wsdbg_process_end end; /* as its parent would be told; UNKNOWN = nobody saw it */
    struct wsdbg_tracked_context contexts[WSDBG_CONTEXT_ROWS];
};

/* One look at time now_ns. `view` must have passed wsdbg_segment_check. */
struct wsdbg_error *wsdbg_tracker_look(struct wsdbg_tracker *tracker, const struct wsdbg_segment_view *view, bool alive,
                                       uint64_t now_ns);
/* Looks into the histories of the current view: a warp whose last event is another one than at the history
 * before has moved, though its slot has not.  The first history after a change of the slot is what later ones
 * are compared with. */
void wsdbg_tracker_read_histories(struct wsdbg_tracker *tracker, uint64_t now_ns);
/* What history.h needs to find the last event of slot `index` of a context of the current view. */
struct wsdbg_history_source wsdbg_tracked_history(const struct wsdbg_tracked_context *context, uint32_t index,
                                                  uint64_t now_ns);
/* A copy of the slots older than this says nothing about now. */
#define WSDBG_SLOTS_FRESH_NS UINT64_C(500000000)

/* Live sources: where the slots' copy is not fresh (the process is stopped, the copy cannot finish), no news is
 * not standstill: its slots count as changed now, and the context as silent. */
void wsdbg_tracker_forgive_silence(struct wsdbg_tracker *tracker, uint64_t now_ns);
void wsdbg_tracker_deinit(struct wsdbg_tracker *tracker);

#endif
