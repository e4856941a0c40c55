/* walk_local.h - local memory in code that comes from PTX.  Private to the walks, part of walk_stack.h.
 *
 * It begins at address 0 there.  The last general registers stand for its first words: code hardly ever has so many.
 */
#ifndef WSDBG_SASS_WALK_LOCAL_H
#define WSDBG_SASS_WALK_LOCAL_H

#include "sass/definitions.h"

/* The last general registers of all. */
enum { WALK_LOCAL_WORDS = 128, WALK_LOCAL_FIRST = WSDBG_RZ + 1 + WSDBG_MORE_REGISTERS - WALK_LOCAL_WORDS };

/* Gives the loads and stores in this copy of the graph's instructions the words as operands.  The words are a source of
 * a load, behind its address.  A store leaves most of the words as they were, so they are its last source and its
 * destination.  The copy stays as it is if a store has no address or stores what cannot be followed, or if the code
 * uses some of these registers itself. */
void walk_local_name(const struct wsdbg_graph *graph, struct wsdbg_instruction *copy);

#endif
