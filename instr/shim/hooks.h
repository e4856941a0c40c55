/* hooks.h - what the bodies of the hooks share.
 *
 * A body gets its row, the real function to forward to, and the call's arguments.  It records, forwards, records
 * the result and returns exactly what the driver returned.
 */
#ifndef WSDBG_SHIM_HOOKS_H
#define WSDBG_SHIM_HOOKS_H

#include "shim.h"
#include "debug_attach.h"

#define HOOK_UNPACK(...) __VA_ARGS__

/* The rare case of hook_enter: switched off, asleep, or nothing recorded yet. */
bool hook_enter_first(void);

/* Begins a hooked call on this thread; true when it is to be recorded.  errno is kept. */
static inline bool hook_enter(void)
{
    shim_depth++;
    if (atomic_load_explicit(&debug_attach_open, memory_order_relaxed) && shim_depth == 1)
        debug_attach_wait();
    if (atomic_load_explicit(&shim_state, memory_order_acquire) == SHIM_ON)
        return shim_depth == 1;
    return hook_enter_first();
}

/* The number of a call among those of its name, from 1. */
static inline uint32_t hook_count(_Atomic uint32_t *calls)
{
    return atomic_fetch_add_explicit(calls, 1, memory_order_relaxed) + 1;
}

/* Looks whether `result` ends the context.  errno is kept. */
void hook_failed(CUresult result);

/* Around a call that may wait for the GPU; nothing where it is not recorded.  errno is kept. */
void hook_begin_wait(bool on, enum wsdbg_hook_id id);
void hook_end_wait(bool on);

/* Ends the call; returns `result`. */
static inline CUresult hook_leave(bool on, CUresult result)
{
    if (on && result != CUDA_SUCCESS)
        hook_failed(result);
    shim_depth--;
    return result;
}

#define X(symbol, body, parameters, arguments) \
    CUresult body(enum wsdbg_hook_id id, void *forward, HOOK_UNPACK parameters);
WSDBG_HOOKS(X)
#undef X

#endif
