/* graph.h - the control flow of one function's body, while it is parsed.  Private to ptx/. */
#ifndef WSDBG_PTX_GRAPH_H
#define WSDBG_PTX_GRAPH_H

#include "ptx/parser.h"

/* The other ends of block b's edges: others[first[b] ... first[b + 1]). */
struct ptx_list {
    uint32_t *first, *others;
};

/* Blocks are numbered in the order of the text; block `count` is the exit. */
struct ptx_graph {
    const struct ptx_parser *parser;
    const struct wsdbg_ptx_function *function;
    uint32_t *block_of; /* of an instruction, from function->first */
    uint32_t *first;    /* instruction of a block; first[count] is the function's end */
    uint32_t count;
    uint32_t *edge_from, *edge_to;
    size_t edge_count, edge_room;
    struct ptx_list before, after; /* blocks that lead to a block, and that it leads to */
};

struct wsdbg_error *ptx_graph_make(const struct ptx_parser *parser, const struct wsdbg_ptx_function *function,
                                   struct ptx_graph *graph);
void ptx_graph_free(struct ptx_graph *graph);

/* reconverge.c: fills `reconverge` of the branches. */
struct wsdbg_error *ptx_find_reconvergence(const struct ptx_graph *graph);
/* sharing.c: lets registers whose values are never needed at the same time have one number. */
struct wsdbg_error *ptx_share_registers(struct ptx_parser *parser, const struct ptx_graph *graph);

#endif
