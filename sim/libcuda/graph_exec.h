/* graph_exec.h - graphs that were made ready to run. */
#ifndef WSDBG_LIBCUDA_GRAPH_EXEC_H
#define WSDBG_LIBCUDA_GRAPH_EXEC_H

#include "libcuda/graph.h"

/* One node, in the order in which they are queued.  Steps of one lane are queued in one stream. */
struct graph_step {
    struct graph_node *node; /* NULL = only joins what is before it */
    size_t *before, before_count;
    size_t lane;
    bool is_marked;    /* a step of another lane comes after it */
    struct mark *mark; /* of the launch that is being queued */
};

struct graph_exec {
    struct graph *graph; /* a clone; its nodes' origins are the program's nodes */
    struct graph_step *steps;
    size_t step_count, lane_count;
    uint64_t flags;
    struct context *context; /* of the streams; NULL = not launched yet */
    struct stream **lanes;   /* of all but lane 0, which is the stream of the launch */
    struct mark *last;       /* the end of the last launch */
};

/* Steps for the graph; false: no memory. */
bool graph_exec_plan(struct graph_exec *exec);
void graph_exec_free_plan(struct graph_exec *exec);
/* The node of the ready graph that was made of the program's node, NULL = none. */
struct graph_node *graph_exec_node(const struct graph_exec *exec, const struct graph_node *origin);

#endif
