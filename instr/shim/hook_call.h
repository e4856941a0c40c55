/* hook_call.h - how each hooked call begins and ends, whatever it does. */
#ifndef WSDBG_SHIM_HOOK_CALL_H
#define WSDBG_SHIM_HOOK_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "debug_calls.h"
#include "driver_api.h"
#include "hook_table.h"
#include "state.h"

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

#endif
