/* spin_code.h - the code that a lane executes as it is followed: of a kernel that was joined with the functions that it
 * calls (sass/joined.h) the code as the lane has it, with its calls, returns and stack frames.
 *
 * Reads: a kernel's graph, machine code.  Holds: the graph of each function that was asked for.  Private to this room.
 */
#ifndef WSDBG_MACHINE_SPIN_CODE_H
#define WSDBG_MACHINE_SPIN_CODE_H

#include "sass/graph.h"
#include "sass/joined.h"

/* An instruction of a function's own code.  `copy`: the one of the function in the joined code, which tells who called;
 * 0 where the code is not joined. */
struct wsdbg_spin_place {
    uint32_t copy, number;
};

struct wsdbg_spin_code {
    const struct wsdbg_graph *graph;   /* the kernel's */
    const struct wsdbg_joined *joined; /* NULL = the graph is of the kernel's own code */
    struct wsdbg_spin_function {
        const struct wsdbg_cubin_function *function;
        struct wsdbg_graph *graph;
    } * functions;
    size_t function_count, function_capacity;
    uint32_t steps; /* that lanes have made so far: the GPU stands still meanwhile */
};

/* Frees what it holds; the graph and the joined code are the caller's. */
void wsdbg_spin_code_deinit(struct wsdbg_spin_code *code);
/* The graph of the function that the place is in; NULL: it cannot be had. */
const struct wsdbg_graph *wsdbg_spin_graph(struct wsdbg_spin_code *code, uint32_t copy);
/* Where the place is in the kernel's graph; WSDBG_GRAPH_NONE = nowhere. */
uint32_t wsdbg_spin_in_graph(const struct wsdbg_spin_code *code, struct wsdbg_spin_place place);
/* Finds where the call at a place leads.  False: the function that it calls is not in the joined code. */
bool wsdbg_spin_called(const struct wsdbg_spin_code *code, struct wsdbg_spin_place call, struct wsdbg_spin_place *out);
/* Finds the place behind the call that led to a copy.  False: no call did. */
bool wsdbg_spin_returned(const struct wsdbg_spin_code *code, uint32_t copy, struct wsdbg_spin_place *out);

#endif
