/* debug_attach.h - the traced process's half of the debug attach to the GPU's own state (struct wsdbg_attach_row). */
#ifndef WSDBG_SHIM_DEBUG_ATTACH_H
#define WSDBG_SHIM_DEBUG_ATTACH_H

#include <stdbool.h>

/* Starts the thread that serves segment->attach.  It sleeps until wsdbg asks.  An error becomes a note. */
void debug_attach_start(void);
/* exit() has begun: whoever is attached is shown out, an attach that is under way when it has come up; this is waited
 * for 1.3 s at most. */
void debug_attach_stop(void);
/* True in a process that the driver started to serve an attach: it inherits LD_PRELOAD and must be left alone. */
bool debug_attach_is_helper(const char *session);
/* In a forked child: it is its parent that is attached to, and whose attach nobody here would see end. */
void debug_attach_forget(void);

#endif
