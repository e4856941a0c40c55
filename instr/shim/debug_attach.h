/* debug_attach.h - the traced process's half of the debug attach to the GPU's own state (struct wsdbg_attach_row). */
#ifndef WSDBG_SHIM_DEBUG_ATTACH_H
#define WSDBG_SHIM_DEBUG_ATTACH_H

#include <stdbool.h>

/* Starts the thread that serves segment->attach.  It sleeps until wsdbg asks.  An error becomes a note. */
void debug_attach_start(void);
/* exit() has begun: an attached inspector is shown out, and one that is just attaching as soon as it has attached.
 * Waits 1.3 s at most. */
void debug_attach_stop(void);
/* True in a process that the driver started to serve an attach: it inherits LD_PRELOAD and must be left alone. */
bool debug_attach_is_helper(const char *session);
/* In a forked child: the inspector is attached to the parent, and the child would not see that attach end. */
void debug_attach_forget(void);

#endif
