/* debug_attach.h - the traced process's half of the debug attach to the GPU's own state (struct wsdbg_attach_row). */
#ifndef WSDBG_SHIM_DEBUG_ATTACH_H
#define WSDBG_SHIM_DEBUG_ATTACH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wsdbg/session.h"

/* ---- debug_calls.c: what the program's calls see of it ---- */
/* True while calls wait: from before an inspector's first step to after its last, or while one that stays looks. */
extern _Atomic bool debug_attach_open;
/* True while the driver may load its debugger library. */
extern _Atomic bool debug_attach_loading;
/* True while an inspector is attached and calls go on but for its looks. */
extern _Atomic bool debug_attach_stays;
/* True until the first launch need not wait for an inspector any more. */
extern _Atomic bool debug_attach_awaited;
/* Waits until calls may begin, 10.5 s at most: who stays longer is shown out.  Where an inspector died over a stopped
 * GPU it waits for the attach watchdog too, up to 6 s after that one's last try.  The driver sends the debugger an
 * event for each load, and for each launch unless the inspector stays, and lets the call wait for the answer; in a call
 * that waits so when the inspector is killed the driver crashes.  errno is kept. */
void debug_attach_wait(void);
/* A launch before which an inspector should come in waits for it, once, for as long as WSDBG_ATTACH_FIRST says at most.
 * errno is kept. */
void debug_attach_await(void);
/* A module of the program has probes. */
void debug_attach_saw_probes(void);
/* A launch that began then has returned while an inspector stays: what it costs is summed up. */
void debug_attach_count_launch(uint64_t began_ns);
/* A call that waited for the GPU since `began_ns` has come back while an inspector stays: waits until the inspector has
 * looked for exceptions, as the driver says nothing of one to a call meanwhile.  Some 0.1 ms; 1 ms more where the call
 * took so long that the driver may have handled a bad address in it, 60 ms where the driver was told of something;
 * 1 s at most.  errno is kept. */
void debug_attach_confirm(uint64_t began_ns);
/* Around a call that may make or end a context: it waits until nobody is attached, and nobody attaches meanwhile nor in
 * the 0.2 s after a `change`.  Each context has a thread of the driver's that takes part in an attach; the driver
 * crashes in it while the context is being made or ended (docs/results/live-attach.md).  Inside hook_enter and
 * hook_leave. */
void debug_attach_context_begin(void);
void debug_attach_context_end(bool change);
/* Around a call that loads an image, of which nothing is believed yet: where that is large and an inspector should be
 * cheap, the call waits until nobody is attached, and nobody attaches meanwhile.  Inside hook_enter and hook_leave;
 * `begun` is what the first one said. */
bool debug_attach_code_begin(const void *image);
void debug_attach_code_end(bool begun);
/* Whether calls must wait now; for threads of our own, which try again later. */
bool debug_attach_keeps_out(void);
/* Whether calls wait now, or did later than `ns` (shim_now_ns). */
bool debug_attach_was_since(uint64_t ns);
/* In a forked child: it is its parent that is attached to, and whose attach nobody here would see end. */
void debug_attach_forget(void);

/* For debug_attach.c: from now on calls wait, or go on. */
void debug_calls_keep_out(void);
void debug_calls_let_go(void);
/* Since when calls wait, UINT64_MAX = they do not. */
uint64_t debug_calls_kept_out_ns(void);
/* No context is being made or ended, nor was in the last settle_ns. */
bool debug_calls_contexts_are_settled(uint64_t settle_ns);
/* Reads the environment. */
void debug_calls_start(void);

/* ---- debug_contexts.c ---- */
/* Copies and markers that are under way end before anything of theirs can stand still; they begin none meanwhile. */
void debug_own_calls_wait(void);
/* Row of shim_contexts: a context that the program does not end just now. */
bool debug_context_is_open(int row);
/* Until contexts that were made or ended have settled, 0.4 s at most, while the program's calls go on. */
void debug_contexts_wait(void);
/* NULL = the program has a context, and makes or ends none now.  While debug_attach_open is true it cannot begin to. */
const char *debug_contexts_trouble(void);

/* ---- debug_idle.c ---- */
/* True when everything that the program gave its contexts is done, or is within limit_ns.  While calls wait. */
bool debug_idle(uint64_t limit_ns);

/* ---- debug_attach.c ---- */
/* True when the thread is stuck in the driver: nobody waits for it any more. */
bool debug_attach_is_stuck(void);
/* Starts the thread that serves segment->attach.  It sleeps until wsdbg asks.  An error becomes a note. */
void debug_attach_start(void);
/* exit() has begun: whoever is attached is shown out, an attach that is under way when it has come up; this is waited
 * for 1.3 s at most. */
void debug_attach_stop(void);
/* True in a process that the driver started to serve an attach: it inherits LD_PRELOAD and must be left alone. */
bool debug_attach_is_helper(const char *session);

/* ---- debug_obstacles.c ---- */
/* What of the environment the driver has read by now; call it before the program can change it. */
void debug_obstacles_remember(void);
/* What keeps the driver from letting an inspector in, before it is tried; `text` (WSDBG_TEXT_BYTES) names it. */
enum wsdbg_attach_obstacle debug_obstacles_find(bool debugger_initialized, char *text);
/* A whole small file of /proc, as text; what is more than `size` bytes is cut.  False: there is nothing in it. */
bool debug_read_text(const char *path, char *text, size_t size);

/* ---- debug_turn.c ---- */
/* Reads the environment. */
void debug_turn_start(void);
/* Takes the GPUs of all contexts, those that it has not already; false: somebody else has one, which `text`
 * (WSDBG_TEXT_BYTES) names, and none is held.  The debug attach says so, too. */
bool debug_turn_take(struct wsdbg_attach_row *attach, char *text);
void debug_turn_give_back(struct wsdbg_attach_row *attach);
/* In a forked child: they are its parent's. */
void debug_turn_forget(void);

#endif
