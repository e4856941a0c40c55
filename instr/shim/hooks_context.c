/* hooks_context.c - the hooks of start, contexts and queries.
 *
 * Writes: context rows, through contexts.c and tracking.c.
 */
#include "hooks.h"

#include <errno.h>

#include "clock.h"
#include "contexts.h"
#include "debug_calls.h"
#include "debug_fault.h"
#include "libcuda.h"
#include "registry.h"
#include "state.h"
#include "tracking.h"

CUresult init_body(enum wsdbg_hook_id id, void *forward, unsigned flags)
{
    (void)id;
    shim_depth++;
    CUresult result = ((CUresult(*)(unsigned))forward)(flags);
    shim_depth--;
    return result;
}

static CUresult created(bool on, CUresult result, CUcontext *context, CUdevice device)
{
    const int kept = errno;
    debug_attach_context_end(DEBUG_CONTEXT_MADE);
    if (on && result == CUDA_SUCCESS)
        contexts_add(*context, device, true);
    errno = kept;
    return hook_leave(on, result);
}

CUresult create_body(enum wsdbg_hook_id id, void *forward, CUcontext *context, unsigned flags, CUdevice device)
{
    (void)id;
    bool on = hook_enter();
    debug_attach_context_begin();
    CUresult result = ((CUresult(*)(CUcontext *, unsigned, CUdevice))forward)(context, flags, device);
    return created(on, result, context, device);
}

CUresult create_v3_body(enum wsdbg_hook_id id, void *forward, CUcontext *context, void *affinity, int count,
                        unsigned flags, CUdevice device)
{
    (void)id;
    bool on = hook_enter();
    debug_attach_context_begin();
    CUresult result =
        ((CUresult(*)(CUcontext *, void *, int, unsigned, CUdevice))forward)(context, affinity, count, flags, device);
    return created(on, result, context, device);
}

CUresult create_v4_body(enum wsdbg_hook_id id, void *forward, CUcontext *context, void *parameters, unsigned flags,
                        CUdevice device)
{
    (void)id;
    bool on = hook_enter();
    debug_attach_context_begin();
    CUresult result =
        ((CUresult(*)(CUcontext *, void *, unsigned, CUdevice))forward)(context, parameters, flags, device);
    return created(on, result, context, device);
}

CUresult retain_body(enum wsdbg_hook_id id, void *forward, CUcontext *context, CUdevice device)
{
    (void)id;
    bool on = hook_enter();
    const bool first = on && contexts_find_primary(device) == WSDBG_UNKNOWN32;
    if (first)
        debug_attach_context_begin();
    CUresult result = ((CUresult(*)(CUcontext *, CUdevice))forward)(context, device);
    const int kept = errno;
    if (first)
        debug_attach_context_end(DEBUG_CONTEXT_MADE);
    if (on && result == CUDA_SUCCESS)
        contexts_add(*context, device, false);
    errno = kept;
    return hook_leave(on, result);
}

CUresult destroy_body(enum wsdbg_hook_id id, void *forward, CUcontext context)
{
    bool on = hook_enter();
    uint32_t row = on ? contexts_find((uint64_t)(uintptr_t)context) : WSDBG_UNKNOWN32;
    tracking_close_begin(row);
    if (on)
        registry_thread_enter(hook_name[id], row, WSDBG_UNKNOWN64, shim_now_ns());
    debug_attach_context_begin();
    CUresult result = ((CUresult(*)(CUcontext))forward)(context);
    const int kept = errno;
    debug_attach_context_end(DEBUG_CONTEXT_ENDED);
    if (on)
        registry_thread_leave();
    tracking_close_end(row, result == CUDA_SUCCESS);
    errno = kept;
    return hook_leave(on, result);
}

/* Release ends the context when it was the last one, Reset always: the driver says whether it is still there. */
CUresult release_body(enum wsdbg_hook_id id, void *forward, CUdevice device)
{
    bool on = hook_enter();
    uint32_t row = on ? contexts_find_primary(device) : WSDBG_UNKNOWN32;
    tracking_close_begin(row);
    if (on)
        registry_thread_enter(hook_name[id], row, WSDBG_UNKNOWN64, shim_now_ns());
    debug_attach_context_begin();
    CUresult result = ((CUresult(*)(CUdevice))forward)(device);
    const int kept = errno;
    if (on)
        registry_thread_leave();
    bool reset = id == WSDBG_HOOK_cuDevicePrimaryCtxReset || id == WSDBG_HOOK_cuDevicePrimaryCtxReset_v2;
    unsigned flags = 0;
    int active = 1;
    if (row != WSDBG_UNKNOWN32 && !reset)
        shim_driver.cuDevicePrimaryCtxGetState(device, &flags, &active);
    tracking_close_end(row, result == CUDA_SUCCESS && (reset || !active));
    debug_attach_context_end(reset || !active ? DEBUG_CONTEXT_ENDED : DEBUG_CONTEXT_AS_IT_WAS);
    errno = kept;
    return hook_leave(on, result);
}

CUresult query_body(enum wsdbg_hook_id id, void *forward, void *handle)
{
    (void)id;
    bool on = hook_enter();
    CUresult result = ((CUresult(*)(void *))forward)(handle);
    const int kept = errno;
    if (on && result == CUDA_SUCCESS && atomic_load_explicit(&debug_attach_stays, memory_order_relaxed))
        debug_attach_confirm(shim_now_ns());
    if (on && atomic_load_explicit(&debug_fault_met, memory_order_relaxed))
        result = debug_fault_result(result);
    errno = kept;
    return hook_leave(on, result);
}
