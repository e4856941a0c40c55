/* debug_turn.h - one inspector at a time on a GPU. */
#ifndef WSDBG_SHIM_DEBUG_TURN_H
#define WSDBG_SHIM_DEBUG_TURN_H

#include <stdbool.h>

#include "wsdbg/session.h"

/* Reads the environment. */
void debug_turn_start(void);
/* Takes the GPUs of all contexts, those that it has not already; false: somebody else has one, which `text`
 * (WSDBG_TEXT_BYTES) names, and none is held.  The debug attach says so, too. */
bool debug_turn_take(struct wsdbg_attach_row *attach, char *text);
void debug_turn_give_back(struct wsdbg_attach_row *attach);
/* In a forked child: they are its parent's. */
void debug_turn_forget(void);

#endif
