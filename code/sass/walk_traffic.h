/* walk_traffic.h - which memory the code between two steps of a walk may read and write.  Private to the walks.
 *
 * A walk executes few instructions between two accesses to barriers.  The others count here: what a thread does behind
 * a wait and before its next arrival tells what the wait is for.
 */
#ifndef WSDBG_SASS_WALK_TRAFFIC_H
#define WSDBG_SASS_WALK_TRAFFIC_H

#include "base/error.h"
#include "sass/graph.h"

/* Each value is a set of enum wsdbg_traffic. */
struct walk_traffic {
    uint8_t *own;    /* by instruction: its own */
    uint8_t *before; /* ... that is executed: of those of its block between the last executed one and this one */
    uint8_t *behind; /* by block: of those behind its last executed instruction */
};

/* `executes`: by instruction.  The caller destroys *out, also after an error. */
struct wsdbg_error *walk_traffic_find(const struct wsdbg_graph *graph, const bool *executes, struct walk_traffic *out);
void walk_traffic_destroy(struct walk_traffic *traffic);

#endif
