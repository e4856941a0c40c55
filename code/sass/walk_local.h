/* walk_local.h - local memory in code that comes from PTX.  Private to the walks, part of walk_stack.h.
 *
 * There it begins at address 0, and registers that no code has names for stand for its first words.
 */
#ifndef WSDBG_SASS_WALK_LOCAL_H
#define WSDBG_SASS_WALK_LOCAL_H

#include "sass/definitions.h"

/* The last general registers of all. */
enum { WALK_LOCAL_WORDS = 64, WALK_LOCAL_FIRST = WSDBG_RZ + 1 + WSDBG_MORE_REGISTERS - WALK_LOCAL_WORDS };

/* Gives the loads and stores among the graph's instructions, in this copy of them, the words as operands: all are
 * sources of a load, behind its address.  A store leaves most of them as they were: so they are its last source and its
 * destination.  None of this is done where a store has no address, or stores what is not known, or where the code
 * itself uses some of these registers. */
void walk_local_name(const struct wsdbg_graph *graph, struct wsdbg_instruction *copy);

#endif
