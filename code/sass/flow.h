/* flow.h - what the control flow of a function is made of: the inside of graph.h, for the files of this room that walk
 * along its edges (graph.c builds it, loops.c and reach.c and the value tracer read it).
 *
 * Called pieces of the code are procedures; 0 is the function itself.  The edges within a procedure lead from a call to
 * the instruction after it.
 */
#ifndef WSDBG_SASS_FLOW_H
#define WSDBG_SASS_FLOW_H

#include "flow/lists.h"
#include "sass/graph.h"

#define WSDBG_PROCEDURE_SEVERAL (UINT32_MAX - 1)

struct wsdbg_graph {
    struct wsdbg_instruction *instructions;
    uint32_t instruction_count;
    struct wsdbg_block *blocks;
    uint32_t block_count;
    uint32_t *successors;   /* of all blocks */
    struct wsdbg_way *ways; /* of branches whose targets are noted: ascending */
    uint32_t way_count;
    uint32_t *block_of;              /* by instruction */
    struct wsdbg_lists predecessors; /* by block: blocks, along the edges within a procedure */
    uint32_t procedure_count;
    uint32_t *procedure_entry;  /* by procedure: its first block */
    uint32_t *procedure_at;     /* by block: the one that begins there, or WSDBG_GRAPH_NONE */
    uint32_t *procedure_of;     /* by block: WSDBG_GRAPH_NONE = none comes here, WSDBG_PROCEDURE_SEVERAL */
    struct wsdbg_lists callers; /* by procedure: blocks that call it */
    uint32_t *dominator;        /* by block: the last block that every path to it from its procedure's entry passes
                                   before; itself for an entry, WSDBG_GRAPH_NONE = no path */
    uint32_t *loop_around;      /* by head of a loop: the head of the next one around it, WSDBG_GRAPH_NONE */
};

/* True where the instruction executes whenever it is reached. */
bool wsdbg_flow_is_unguarded(const struct wsdbg_instruction *instruction);
/* True where it ends the kernel with an error, if it executes: BPT.TRAP, what `trap` and __trap() become.  A breakpoint
 * is BPT.INT. */
bool wsdbg_flow_is_trap(const struct wsdbg_instruction *instruction);
/* True where its guard is !PT. */
bool wsdbg_flow_never_executes(const struct wsdbg_instruction *instruction);
/* True where a branch or exit also depends on a predicate of its own, or on how the warp is split. */
bool wsdbg_flow_asks_more_than_guard(const struct wsdbg_instruction *instruction);
bool wsdbg_flow_contains(wsdbg_instruction_set set, uint32_t number);
/* The first of the set from `first` on; `end` where none is before that, or the set is NULL. */
uint32_t wsdbg_flow_next(wsdbg_instruction_set set, uint32_t first, uint32_t end);

/* As wsdbg_graph_create_with_ways, but of instructions that were allocated with malloc and are the graph's own from now
 * on, also where it fails; NULL: out of memory. */
struct wsdbg_error *wsdbg_flow_create_owning(struct wsdbg_instruction *instructions, size_t count,
                                             const struct wsdbg_way *ways, size_t way_count, struct wsdbg_graph **out);
/* The ways of instruction `from`; returns how many. */
uint32_t wsdbg_flow_ways(const struct wsdbg_graph *graph, uint32_t from, const struct wsdbg_way **out);

/* Fills procedure_of, dominator and loop_around, and every block's loop. */
struct wsdbg_error *wsdbg_flow_find_loops(struct wsdbg_graph *graph);

#endif
