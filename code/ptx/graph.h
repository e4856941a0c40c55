/* graph.h - the control flow of PTX: where an instruction leads, and the blocks of a function's body or of a linked
 * kernel, with the edges between them.
 *
 * Reads instructions and tables of labels: a program's, or a parser's while it makes one.
 */
#ifndef WSDBG_PTX_GRAPH_H
#define WSDBG_PTX_GRAPH_H

#include "flow/lists.h"
#include "ptx/program.h"

/* Where an instruction leads within its function: a call is passed. */
struct wsdbg_ptx_ways {
    const uint32_t *targets; /* instructions: of a branch, or the labels of a branch by a table */
    uint32_t target_count;
    bool leaves;  /* it may end its function or its thread */
    bool goes_on; /* it may lead to the next instruction */
};
struct wsdbg_ptx_ways wsdbg_ptx_ways(const struct wsdbg_ptx_instruction *instruction, const uint32_t *branch_tables);

/* Behind the last instruction of the kernel's own: the first one of the functions that it calls, or its end. */
uint32_t wsdbg_ptx_own_end(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *kernel);

/* Blocks are numbered in the order of the text; block `count` is the exit. */
struct wsdbg_ptx_graph {
    uint32_t begin, end; /* instructions */
    uint32_t *block_of;  /* of an instruction, from `begin` */
    uint32_t *first;     /* instruction of a block; first[count] is `end` */
    uint32_t count;
    size_t edge_count;
    struct wsdbg_lists before, after; /* by block: those that lead to it, and that it leads to, targets first */
};

/* The graph of instructions[begin] to instructions[end - 1], whose branches stay among them.  BAD_INPUT where there are
 * more than edges_most edges.  The caller destroys *out. */
struct wsdbg_error *wsdbg_ptx_graph_create(const struct wsdbg_ptx_instruction *instructions,
                                           const uint32_t *branch_tables, uint32_t begin, uint32_t end,
                                           uint32_t edges_most, struct wsdbg_ptx_graph *out);
void wsdbg_ptx_graph_destroy(struct wsdbg_ptx_graph *graph);

#endif
