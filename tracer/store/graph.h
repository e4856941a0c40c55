/* graph.h - the wait-for graph folded for drawing: equal warps are one node, equal barriers another.
 *
 * Made from a snapshot and the edges of its diagnosis.  Read by: the DOT export, the HTML report, the viewer.
 * Nodes use the words of the report, so that a picture and the tables beside it speak of the same groups.
 */
#ifndef WSDBG_STORE_GRAPH_H
#define WSDBG_STORE_GRAPH_H

#include "store/report.h"

/* `waiter` waits on `barrier`, which `waker` could complete. */
struct wsdbg_graph_link {
    uint32_t waiter;  /* index in warps */
    uint32_t barrier; /* index in barriers; WSDBG_NONE = not an object the record knows */
    uint32_t waker;   /* index in warps; WSDBG_NONE = nobody is known */
    bool in_cycle;    /* one of the waits folded into it is */
    bool other_cta;   /* every waker is in another CTA than its waiter */
    const char *why;  /* how the waker is known, as in struct wsdbg_edge; NULL = nobody is known */
};

struct wsdbg_stored_graph {
    struct wsdbg_report_warps *warps; /* those that wait, and those that others wait for */
    uint32_t *warp_sources;           /* for each, an example in the snapshot */
    size_t warp_count;
    struct wsdbg_report_barriers *barriers; /* those waited on */
    uint32_t *barrier_sources;              /* for each, an example in the snapshot */
    size_t barrier_count;
    uint32_t *node_of_warp; /* by warp of the snapshot: index in warps; WSDBG_NONE = has no part in a wait */
    struct wsdbg_graph_link *links; /* no two with the same three ends */
    size_t link_count;
};

/* Folds until it can be drawn.  `diagnosis` NULL = nothing stalled: waits are there, their wakers not known.
 * `out` is owned by the caller; its strings belong to the diagnosis. */
struct wsdbg_error *wsdbg_graph_make(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                                     struct wsdbg_stored_graph *out);
void wsdbg_graph_deinit(struct wsdbg_stored_graph *graph);

#endif
