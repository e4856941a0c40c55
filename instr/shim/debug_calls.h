/* debug_calls.h - what the program's own calls see of an inspector: when they wait for it. */
#ifndef WSDBG_SHIM_DEBUG_CALLS_H
#define WSDBG_SHIM_DEBUG_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "debug_state.h"

/* Waits until calls may begin, 10.5 s at most: an inspector that stays longer is shown out.  Where an inspector died
 * over a stopped GPU it waits for the attach watchdog too, up to 6 s after that one's last try.  The driver sends the
 * debugger an event for each load, and for each launch unless the inspector stays, and lets the call wait for the
 * answer; in a call that waits so when the inspector is killed the driver crashes.  errno is kept. */
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
/* Around a call that may make or end a context: it waits until nobody is attached, and nobody attaches meanwhile nor
 * for a while after a change.  Each context has a thread of the driver's that takes part in an attach; the driver
 * crashes in it while the context is being made or ended (docs/results/live-attach.md).  Inside hook_enter and
 * hook_leave. */
enum debug_context_change { DEBUG_CONTEXT_AS_IT_WAS, DEBUG_CONTEXT_MADE, DEBUG_CONTEXT_ENDED };
void debug_attach_context_begin(void);
void debug_attach_context_end(enum debug_context_change change);
/* Around a call that loads an image, of which nothing is believed yet: where that is large and an inspector should be
 * cheap, the call waits until nobody is attached, and nobody attaches meanwhile.  Inside hook_enter and hook_leave;
 * `code_bytes` is what the first one returned.  An image that the driver refused does not count. */
uint64_t debug_attach_code_begin(const void *image);
void debug_attach_code_end(uint64_t code_bytes, bool is_loaded);
/* Around the driver's part of a call that may load code.  The driver sends the debugger an event, and the call waits
 * for the answer.  So no inspector detaches meanwhile.  Waits like debug_attach_wait().  errno is kept. */
void debug_attach_load_begin(void);
void debug_attach_load_end(void);
/* Whether calls must wait now; for threads of our own, which try again later. */
bool debug_attach_keeps_out(void);
/* Whether calls wait now, or did later than `ns` (shim_now_ns). */
bool debug_attach_was_since(uint64_t ns);

/* For debug_attach.c: from now on calls wait, or go on. */
void debug_calls_keep_out(void);
void debug_calls_let_go(void);
/* No context is being made or ended, nor was made in the last settle_made_ns or ended in the last
 * settle_ended_ns. */
bool debug_calls_contexts_are_settled(uint64_t settle_made_ns, uint64_t settle_ended_ns);
/* Calls in the driver that may wait for the answer to an event: each that loads code, and 1 for all launches. */
uint32_t debug_calls_inside(void);
/* Whether the program loaded much code after wsdbg decided to attach. */
bool debug_calls_code_is_new(void);
/* Until when the inspector may stay without a word: its lease, or what calls wait for at most. */
uint64_t debug_calls_lease_until_ns(void);
/* Reads the environment. */
void debug_calls_start(void);
/* In a forked child. */
void debug_calls_forget(void);

#endif
