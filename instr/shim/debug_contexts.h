/* debug_contexts.h - whether the program's contexts are in a state in which an inspector may come in. */
#ifndef WSDBG_SHIM_DEBUG_CONTEXTS_H
#define WSDBG_SHIM_DEBUG_CONTEXTS_H

#include <stdbool.h>

/* Copies and markers that are under way end before anything of theirs can stand still; they begin none meanwhile. */
void debug_own_calls_wait(void);
/* Row of shim_contexts: a context that the program does not end just now. */
bool debug_context_is_open(int row);
/* Until contexts that were made or ended have settled, 0.4 s at most, while the program's calls go on. */
void debug_contexts_wait(void);
/* NULL = the program has a context, and makes or ends none now.  While debug_attach_open is true it cannot begin to. */
const char *debug_contexts_trouble(void);

#endif
