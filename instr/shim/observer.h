/* observer.h - what an observer reports to, whatever it learns it from.
 *
 * Free of driver types, so that the CUPTI observer can include it beside cuda.h.  Every function may be called
 * from any thread.
 */
#ifndef WSDBG_SHIM_OBSERVER_H
#define WSDBG_SHIM_OBSERVER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wsdbg/session.h"

extern _Atomic bool shim_hooks_record_launches; /* false while CUPTI reports them */

/* A launch is about to happen in the current context: fills the row's context, function, thread, time and
 * captured flag, sets up the ring of its module, and with `record` publishes it.  Returns the entry for
 * observer_launch_end. */
uint64_t observer_launch_begin(struct wsdbg_launch_row *row, void *function, bool record);
void observer_launch_end(uint64_t entry, int result);

/* A module was loaded by a call that no hook saw; `image` is its cubin. */
void observer_unseen_module(const void *image);
/* True when a hook of this library is running on this thread. */
bool observer_inside_hook(void);
/* Keeps the hooks of this library quiet while the observer itself calls the driver on this thread. */
void observer_quiet(int change);

/* Subscribes to CUPTI; false: `why` (WSDBG_TEXT_BYTES) names who or what is in the way.  Only in
 * libwsdbg-cupti.so, NULL elsewhere. */
__attribute__((weak)) bool cupti_start(char *why);

#endif
