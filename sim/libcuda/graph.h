/* graph.h - graphs: nodes that do one operation each, and the nodes that each one comes after.
 *
 * All with the lock held.
 */
#ifndef WSDBG_LIBCUDA_GRAPH_H
#define WSDBG_LIBCUDA_GRAPH_H

#include "libcuda/operation.h"

struct graph_node {
    struct graph_node *next; /* of the graph, in the order in which they were made */
    struct graph *graph;
    int type;                    /* CU_GRAPH_... */
    struct operation *operation; /* of kernels, copies, fills, calls and writes; else NULL.  NULL, too, when the
                                    kernel's module was unloaded */
    struct event *event;
    struct graph *child;
    struct node_list before;   /* that it comes after */
    struct graph_node *origin; /* in a clone: the node that it was made of, which may be gone */
    bool is_disabled;
    size_t number;     /* in a walk of the graph */
    void **parameters; /* of a kernel, as it was last asked for them; NULL = nobody did */
};

struct graph {
    struct graph_node *first, *last;
    size_t count;
    struct graph_node *parent; /* NULL = the program's own */
    bool is_hidden;            /* of a ready graph, or of a capture that is not ended: the program cannot destroy it */
};

struct graph *graph_create(void);
void graph_destroy(struct graph *graph); /* NULL is fine */
/* A copy of all of it.  NULL = no memory. */
struct graph *graph_clone(const struct graph *graph);
/* Takes the operation, also when this fails (NULL, no memory). */
struct graph_node *graph_add(struct graph *graph, int type, struct operation *operation,
                             const struct node_list *before);
void graph_remove(struct graph_node *node);
/* Nodes of any graph lose the kernels of a module that goes. */
void graph_forget_module(const struct module *module);
/* A node that would run has lost its kernel. */
bool graph_has_lost_kernel(const struct graph *graph);
/* Whether the edges lead from no node to itself. */
bool graph_has_order(struct graph *graph);

bool node_list_has(const struct node_list *list, const struct graph_node *node);
/* False without memory. */
bool node_list_add(struct node_list *list, struct graph_node *node);
void node_list_remove(struct node_list *list, const struct graph_node *node);
bool node_list_set(struct node_list *list, const struct node_list *from);
void node_list_clear(struct node_list *list);

#endif
