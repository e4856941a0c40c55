/* wait_graph.h - who waits for whom: for each waiting warp the warps that could complete what it waits for.
 *
 * Written by: wait_graph.c from states, names and the ledger.  Read by: the rules, and turned into edges.
 */
#ifndef WSDBG_DIAGNOSE_WAIT_GRAPH_H
#define WSDBG_DIAGNOSE_WAIT_GRAPH_H

#include "diagnose/case.h"

struct wsdbg_wait_node {
    bool waits;
    bool outside;                 /* hardware or another grid completes it, no warp of the case */
    bool open;                    /* others than `wakers` may complete it too */
    struct wsdbg_warp_set wakers; /* also those that exited: they are what it waited for */
    const char *why;
    bool may_progress; /* not proven to be stuck for ever */
    bool in_cycle;
    uint32_t component; /* strongly connected component of live warps: waits lead from higher numbers to lower ones */
    bool at_root;       /* it waits for no live warp outside of its component: here a chain of waits ends */
};

struct wsdbg_wait_graph {
    struct wsdbg_wait_node *nodes; /* by local warp number */
    uint32_t component_count;
    bool cycle;
};

struct wsdbg_error *wsdbg_wait_graph_create(const struct wsdbg_case *c, struct wsdbg_wait_graph **out);
void wsdbg_wait_graph_destroy(struct wsdbg_wait_graph *graph);

/* Waits and cannot be woken by anybody who can still move. */
static inline bool wsdbg_case_stuck(const struct wsdbg_case *c, uint32_t warp)
{
    return c->graph->nodes[warp].waits && !c->graph->nodes[warp].may_progress;
}

/* The live warps that a warp waits for. */
struct wsdbg_warp_set wsdbg_live_wakers(const struct wsdbg_case *c, uint32_t warp);

/* The warps that could still move if those of `freed` could. */
struct wsdbg_warp_set wsdbg_progress_if(const struct wsdbg_case *c, const struct wsdbg_warp_set *freed);

/* The last register event of a warp: 0, or the kind REGISTERS_REQUEST, _GRANTED or _RELEASE. */
uint8_t wsdbg_last_register_event(const struct wsdbg_case *c, uint32_t warp, uint32_t *registers);

#endif
