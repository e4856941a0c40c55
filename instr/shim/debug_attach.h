/* debug_attach.h - the traced process's half of the door to the GPU's own state (struct wsdbg_door_row). */
#ifndef WSDBG_SHIM_DEBUG_ATTACH_H
#define WSDBG_SHIM_DEBUG_ATTACH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wsdbg/session.h"

/* True while an inspector is attached, from before its first step to after its last. */
extern _Atomic bool debug_attach_open;
/* True while the driver may load its debugger library. */
extern _Atomic bool debug_attach_loading;
/* Waits until nobody is attached, 8.5 s at most: who stays longer is shown out.  The driver sends the debugger an event
 * for each launch or load and lets the call wait for the answer; in a call that waits so when the inspector is killed
 * the driver crashes.  So no call begins meanwhile: 0.3 s for a look.  errno is kept. */
void debug_attach_wait(void);
/* Around a call that may make or end a context: it waits until nobody is attached, and nobody attaches meanwhile nor in the
 * 0.2 s after a `change`.  Each context has a thread of the driver's that takes part in an attach; the driver crashes in
 * it while the context is being made or ended (docs/results/live-door.md).  Inside hook_enter and hook_leave. */
void debug_attach_context_begin(void);
void debug_attach_context_end(bool change);
/* Whether calls must wait now; for threads of our own, which try again later. */
bool debug_attach_keeps_out(void);
/* Whether somebody is attached now, or was later than `ns` (shim_now_ns). */
bool debug_attach_was_since(uint64_t ns);

/* Starts the thread that serves segment->door.  It sleeps until wsdbg asks.  Trouble becomes a note. */
void debug_attach_start(void);
/* In a forked child: it is its parent that is attached to, and whose door nobody here would see shut. */
void debug_attach_forget(void);
/* exit() has begun: whoever is attached is shown out, an attach that is under way when it has come up; this is waited
 * for 1.3 s at most. */
void debug_attach_stop(void);
/* True in a process that the driver started to serve an attach: it inherits LD_PRELOAD and must be left alone. */
bool debug_attach_is_helper(const char *session);

/* ---- debug_obstacles.c ---- */
/* What of the environment the driver has read by now; call it before the program can change it. */
void debug_obstacles_remember(void);
/* What keeps the driver from letting an inspector in, before it is tried; `text` (WSDBG_TEXT_BYTES) names it. */
enum wsdbg_door_obstacle debug_obstacles_find(bool debugger_initialized, char *text);

#endif
