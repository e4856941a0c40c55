/* wait_tree.h - the wait-for graph as lines of an indented tree: waiters, what they wait on, who could wake them.
 *
 * Nodes are those of store/graph.h; each stands open once, later lines point back to it.  Reads the picture: edges of
 * the diagnosis, and before a verdict the waits alone.
 */
#ifndef VIEWER_WAIT_TREE_H
#define VIEWER_WAIT_TREE_H

#include "store/graph.h"
#include "viewer/view.h"

enum viewer_wait_kind {
    VIEWER_WAIT_NODE,    /* warps, and what they do */
    VIEWER_WAIT_BARRIER, /* what the node above waits on */
    VIEWER_WAIT_BACK,    /* a waker that stands above on this branch: the cycle closes */
    VIEWER_WAIT_ABOVE,   /* a waker that stands open elsewhere */
    VIEWER_WAIT_NOBODY   /* nobody is known that could end the wait */
};

struct viewer_wait_line {
    enum viewer_wait_kind kind;
    uint32_t node;    /* in graph.warps; for a barrier that of its waiter; WSDBG_NONE for NOBODY */
    uint32_t barrier; /* BARRIER: in graph.barriers; WSDBG_NONE = not an object the record knows */
    bool one_barrier; /* BARRIER: the only one that the node waits on */
    uint8_t depth;
    bool last;      /* of its siblings */
    uint64_t rails; /* bit d: a rail runs past at depth d */
    bool in_cycle, other_cta;
    const char *why; /* how the waker is known; NULL = a root */
};

struct viewer_wait_tree {
    struct wsdbg_stored_graph graph;
    struct viewer_wait_line *lines;
    size_t count, capacity;
};

/* Makes the tree anew (`tree` all zero at first); only waiters that pass the filter are roots. */
struct wsdbg_error *viewer_wait_tree_read(const struct viewer_context *context, struct viewer_wait_tree *tree);
void viewer_wait_tree_deinit(struct viewer_wait_tree *tree);

#endif
