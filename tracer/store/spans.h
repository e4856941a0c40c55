/* spans.h - a warp's history as what lasts and what happens: waits and wgmma work from begin to end, and moments.
 *
 * Input: the events of one warp, oldest first.  Read by: the Perfetto export, the timeline of the HTML report.
 */
#ifndef WSDBG_STORE_SPANS_H
#define WSDBG_STORE_SPANS_H

#include "store/load.h"

enum wsdbg_span_kind {
    WSDBG_SPAN_MOMENT, /* an event; a wait that passed at its first look is one, too */
    WSDBG_SPAN_WAIT,   /* from a begin to its end */
    WSDBG_SPAN_OPEN,   /* a wait whose end is not in the history: its last event */
    WSDBG_SPAN_WGMMA   /* some wgmma in flight: from the first issue to the wait that leaves none outstanding */
};

struct wsdbg_wait_span {
    enum wsdbg_span_kind kind;
    struct wsdbg_history_event event; /* the first one of it */
    uint64_t end_gpu_ns;              /* the event's own time for MOMENT and OPEN */
};

/* All zero before a warp's first event. */
struct wsdbg_spans {
    struct wsdbg_history_event wait, wgmma; /* begun and not ended; kind NONE = none */
    bool drains;                            /* the wgmma wait lets none stay outstanding */
};

/* At most this many spans come of one event. */
#define WSDBG_SPANS_AN_EVENT 3

/* Takes the next event; returns how many spans it completed. */
size_t wsdbg_spans_add(struct wsdbg_spans *spans, const struct wsdbg_history_event *event,
                       struct wsdbg_wait_span out[WSDBG_SPANS_AN_EVENT]);
/* After the last event: the wait that is not over, if there is one. */
bool wsdbg_spans_end(struct wsdbg_spans *spans, struct wsdbg_wait_span *out);

/* "empty[3] parity 1", "store 0", "232 a thread": what an event is about; "" = its kind says all.  `module`
 * gives the names. */
void wsdbg_event_object_text(const struct wsdbg_snapshot *snapshot, uint32_t module,
                             const struct wsdbg_history_event *event, char *out, size_t bytes);
/* The same of an event that begins a wait, without its kind: "empty[3] parity 1", "232 registers a thread". */
void wsdbg_wait_object_text(const struct wsdbg_snapshot *snapshot, uint32_t module,
                            const struct wsdbg_history_event *event, char *out, size_t bytes);

/* For how long nothing of a grid has moved when the picture was taken, on the host's clock; 0 = not known, or the grid
 * does not run. */
uint64_t wsdbg_stall_ns(const struct wsdbg_loaded *loaded, uint32_t grid);
/* What is known of the end of a grid's WSDBG_SPAN_OPEN: "never ends" only where the verdict says so of this grid. */
const char *wsdbg_open_words(const struct wsdbg_loaded *loaded, uint32_t grid);

#endif
