/* hooks.h - the bodies of the hooks, and the wrappers that run them.
 *
 * A body gets its row, the real function to forward to, and the call's arguments.  It records, forwards, records
 * the result and returns exactly what the driver returned.
 */
#ifndef WSDBG_SHIM_HOOKS_H
#define WSDBG_SHIM_HOOKS_H

#include "driver_api.h"
#include "hook_call.h"
#include "hook_table.h"

#define HOOK_UNPACK(...) __VA_ARGS__

#define X(symbol, body, parameters, arguments) \
    CUresult body(enum wsdbg_hook_id id, void *forward, HOOK_UNPACK parameters);
WSDBG_HOOKS(X)
#undef X

/* By row. */
extern void *const hook_wrapper[WSDBG_HOOK_COUNT];  /* what dlsym and cuGetProcAddress give out */
extern void *const hook_exported[WSDBG_HOOK_COUNT]; /* the exported symbols */

#endif
