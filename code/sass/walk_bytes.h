/* walk_bytes.h - executes loads and stores of the local memory that walk_stack.h follows.  Private to the walks.
 *
 * What is known is kept bit by bit, as it is of each register: so a word that was stored in part is known in part.
 */
#ifndef WSDBG_SASS_WALK_BYTES_H
#define WSDBG_SASS_WALK_BYTES_H

#include "sass/walk_group.h"

/* Executes it, if it is such an instruction; false: it is none. */
bool walk_bytes_execute(const struct walk_lane *lane, const struct wsdbg_instruction *instruction);

#endif
