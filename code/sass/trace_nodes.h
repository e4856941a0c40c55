/* trace_nodes.h - the nodes that a trace of values is made of: the inside of trace.h, for the files that build and
 * solve it (trace_nodes.c keeps them, trace_find.c finds what flows into them, trace_order.c orders them, trace.c
 * solves).
 */
#ifndef WSDBG_SASS_TRACE_NODES_H
#define WSDBG_SASS_TRACE_NODES_H

#include "sass/trace.h"

enum { WSDBG_TRACE_INPUTS_MOST = 256 }; /* of one node: more, and it may be anything */

/* What a node stands for. */
enum wsdbg_trace_kind {
    WSDBG_TRACE_RESULT,   /* what instruction `at` writes to the register */
    WSDBG_TRACE_READ,     /* what the register holds before instruction `at` executes */
    WSDBG_TRACE_ENTRY,    /* what it holds where block `at` begins */
    WSDBG_TRACE_RETURNED, /* what it holds when procedure `at` returns */
};

/* A value that flows into a node: all of another node's, or those that stand in `relations` to the values of `other`.
 */
struct wsdbg_trace_input {
    uint32_t node;  /* WSDBG_GRAPH_NONE = may be anything */
    uint32_t other; /* WSDBG_GRAPH_NONE = `number` */
    uint32_t number;
    uint8_t relations; /* 0 = no condition */
    bool is_signed;
};

struct wsdbg_trace_found {
    struct wsdbg_trace_input inputs[WSDBG_TRACE_INPUTS_MOST];
    uint32_t count;
};

struct wsdbg_trace_node {
    uint64_t key;
    uint32_t first_input, input_count;
    uint32_t first_user; /* in users, 0 = none */
    uint32_t rank;       /* its place in the order in which it is solved */
    uint16_t growth;
    bool is_expanded;
    bool is_of_threads; /* a function of the thread's index in x: another value for other threads */
    uint32_t turn;      /* for which threads it was asked last; 0 = never */
    struct wsdbg_values value;
};

/* A node that uses another one's value, and the next such in the list; 0 ends it. */
struct wsdbg_trace_user {
    uint32_t node, next;
};

struct wsdbg_trace_list {
    void *items;
    uint32_t count, room;
};

struct wsdbg_trace {
    const struct wsdbg_graph *graph;
    const struct wsdbg_launch_values *launch;
    struct wsdbg_thread_range threads;
    struct wsdbg_definitions definitions;
    bool is_lost;    /* a branch nobody can follow is reachable, so any register may hold anything anywhere */
    bool has_failed; /* out of memory, or it took too long */
    uint32_t turn;   /* counts the threads that were asked for, from 1 */
    uint32_t work;   /* values looked at for them */
    struct wsdbg_trace_list nodes, inputs, users;
    struct wsdbg_trace_list path;         /* to the node that is looked at, and how far each on it is */
    struct wsdbg_trace_list order;        /* the nodes that are being solved, what one needs before it */
    struct wsdbg_trace_list queued;       /* which of these are to be looked at: a bit each */
    struct wsdbg_trace_list constants;    /* those asked for so far */
    struct wsdbg_trace_found *found;      /* for the node that is expanded */
    uint32_t *table, table_size;          /* node + 1 by hash of its key */
    uint32_t *returning, returning_count; /* blocks that end in RET */
};

/* One more item of `size` bytes, zeros; NULL = out of memory, and the trace has failed. */
void *wsdbg_trace_append(struct wsdbg_trace *trace, struct wsdbg_trace_list *list, size_t size);

/* A node is found by its key: kind in the highest byte, register, and in the lower half where. */
uint64_t wsdbg_trace_key(enum wsdbg_trace_kind kind, uint32_t at, unsigned reg);
unsigned wsdbg_trace_register_of(uint64_t key);
/* The node of a key, a new one where there is none yet; WSDBG_GRAPH_NONE where there can be no more. */
uint32_t wsdbg_trace_node_of(struct wsdbg_trace *trace, uint64_t key);
/* Valid until the next new one. */
static inline struct wsdbg_trace_node *wsdbg_trace_node_at(const struct wsdbg_trace *trace, uint32_t number)
{
    return (struct wsdbg_trace_node *)trace->nodes.items + number;
}

static inline struct wsdbg_trace_input *wsdbg_trace_inputs_of(const struct wsdbg_trace *trace,
                                                              const struct wsdbg_trace_node *node)
{
    return (struct wsdbg_trace_input *)trace->inputs.items + node->first_input;
}

static inline const struct wsdbg_trace_user *wsdbg_trace_user_at(const struct wsdbg_trace *trace, uint32_t number)
{
    return (const struct wsdbg_trace_user *)trace->users.items + number;
}

/* True where the node has a value for the threads asked for. */
static inline bool wsdbg_trace_is_fresh(const struct wsdbg_trace *trace, uint32_t number)
{
    const struct wsdbg_trace_node *node = wsdbg_trace_node_at(trace, number);
    return node->turn == trace->turn || (node->turn && !node->is_of_threads);
}

/* Gives a node and all that it needs their inputs, and fills `order` with those that have no value for the threads
 * asked for: what one needs stands before it, as far as they do not need each other (trace_order.c). */
void wsdbg_trace_demand(struct wsdbg_trace *trace, uint32_t number);

/* What flows into the node of a key, unless it is a RESULT. */
void wsdbg_trace_find(struct wsdbg_trace *trace, uint64_t key, struct wsdbg_trace_found *found);
/* The value of a register operand as it flows into instruction `number`; a selection's two sides under what selects. */
struct wsdbg_trace_input wsdbg_trace_input_of(struct wsdbg_trace *trace, uint32_t number, unsigned source);

#endif
