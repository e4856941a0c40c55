/* joined.h - a function and all that it calls as one graph: each call has a copy of the called function of its own.
 *
 * A compiler that does not optimise (nvcc -G) makes a function of each small one in the source, and of each wait for a
 * barrier.  With a copy for each call such code is as code in which the functions were inlined: what one call passes to
 * a function does not mix with what another one passes, and a return leads to where the call was.
 *
 * Reads: machine code of functions that have addresses.  Holds: the graph, and where each instruction of it comes from.
 */
#ifndef WSDBG_SASS_JOINED_H
#define WSDBG_SASS_JOINED_H

#include "sass/graph.h"

/* A copy of a function.  The first one is the function itself that all others are joined to. */
struct wsdbg_joined_copy {
    const struct wsdbg_cubin_function *function;
    uint32_t caller, call; /* the copy whose instruction `call` calls it; of the first one WSDBG_GRAPH_NONE */
    uint32_t first, count; /* in struct wsdbg_joined.places: where each of its instructions is in the graph */
};

/* Where an instruction of the graph comes from. */
struct wsdbg_joined_origin {
    uint32_t copy, instruction;
};

struct wsdbg_joined {
    struct wsdbg_graph *graph;
    struct wsdbg_joined_copy *copies;
    uint32_t copy_count;
    uint32_t *places; /* an instruction that the graph leaves out is where the next one is; NONE = no way leads there */
    struct wsdbg_joined_origin *origins; /* by instruction of the graph */
};

/* The functions of a module. */
struct wsdbg_joined_module {
    void *context;
    /* The function that begins at this address; NULL = none is known. */
    const struct wsdbg_cubin_function *(*function_at)(void *context, uint64_t address);
};

/* *out is NULL where the code is optimised and calls no other function that is known, or where the whole would be too
 * large.  A call of a function that is being called already, or of an address in a register, stays a call of what is
 * not known. */
struct wsdbg_error *wsdbg_joined_create(const struct wsdbg_cubin_function *function,
                                        const struct wsdbg_joined_module *module, struct wsdbg_joined **out);
void wsdbg_joined_destroy(struct wsdbg_joined *joined); /* NULL is fine */

/* Where an instruction of a function is in the graph: a copy of the function, and the instruction of the graph.  That
 * may be one of another copy, which comes next, if this one was left out. */
struct wsdbg_joined_place {
    uint32_t copy, instruction;
};

/* The places of instruction `number` of a function, one for each copy, at most `most`; returns how many there are. */
size_t wsdbg_joined_places(const struct wsdbg_joined *joined, const struct wsdbg_cubin_function *function,
                           uint32_t number, struct wsdbg_joined_place *out, size_t most);

#endif
