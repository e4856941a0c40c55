/* dominators.h - dominators of a graph: the last node that every path to a node passes before it.
 *
 * Machine code asks for those of its blocks, PTX for post-dominators, which are those of the graph with its edges
 * turned round.  Reads edges both ways; writes numbers of nodes in the order of a depth-first walk.
 */
#ifndef WSDBG_FLOW_DOMINATORS_H
#define WSDBG_FLOW_DOMINATORS_H

#include <stdbool.h>

#include "flow/lists.h"

/* A graph with an imagined root, from which an edge leads to each of `roots`. */
struct wsdbg_rooted_graph {
    uint32_t node_count;
    const struct wsdbg_lists *after, *before; /* by node; WSDBG_LISTS_NONE in `after` is passed over */
    const uint32_t *roots;                    /* nodes */
    uint32_t root_count;
    bool takes_rest; /* nodes that no root leads to become roots, too: the last one first, with all that it leads to */
};

/* Nodes have numbers in the order in which a depth-first walk reaches them; the imagined root has 0. */
struct wsdbg_dominators {
    uint32_t count;   /* of the numbers, 0 among them */
    uint32_t *node;   /* by number */
    uint32_t *number; /* by node; 0 = no root leads to it */
    uint32_t *above;  /* by number: that of its immediate dominator, which is less; 0 = it has none */
};

/* In time that grows almost linearly with the graph.  The caller destroys *out. */
struct wsdbg_error *wsdbg_dominators_find(const struct wsdbg_rooted_graph *graph, struct wsdbg_dominators *out);
void wsdbg_dominators_destroy(struct wsdbg_dominators *dominators);

#endif
