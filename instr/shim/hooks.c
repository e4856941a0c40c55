/* hooks.c - the wrappers of the hooked driver functions.
 *
 * Each row of hook_table.h becomes two functions: the exported symbol (for programs that link libcuda; it
 * forwards to whatever would have been found without us) and the wrapper that dlsym and cuGetProcAddress give
 * out (it forwards to libcuda).  Both run the row's body: record, forward, record the result, and return
 * exactly what the driver returned.
 */
#include "hooks.h"

#include <errno.h>

#include "captures.h"
#include "clock.h"
#include "communicators.h"
#include "contexts.h"
#include "debug_calls.h"
#include "debug_fault.h"
#include "libcuda.h"
#include "registry.h"
#include "shim.h"
#include "work.h"

#define X(symbol, body, parameters, arguments)                                                                \
    SHIM_EXPORT CUresult symbol parameters;                                                                   \
    SHIM_EXPORT CUresult symbol parameters                                                                    \
    {                                                                                                         \
        void *forward = libcuda_next(WSDBG_HOOK_##symbol);                                                    \
        return forward ? body(WSDBG_HOOK_##symbol, forward, HOOK_UNPACK arguments) : CUDA_ERROR_STUB_LIBRARY; \
    }                                                                                                         \
    static CUresult wrap_##symbol parameters                                                                  \
    {                                                                                                         \
        void *forward = libcuda_real(WSDBG_HOOK_##symbol);                                                    \
        return forward ? body(WSDBG_HOOK_##symbol, forward, HOOK_UNPACK arguments) : CUDA_ERROR_STUB_LIBRARY; \
    }
WSDBG_HOOKS(X)
#undef X

/* NULL = the current context. */
static uint32_t row_of_context(CUcontext context)
{
    return context ? contexts_find((uint64_t)(uintptr_t)context) : contexts_current();
}

static bool sync_enter(enum wsdbg_hook_id id, CUcontext context, uint64_t stream)
{
    bool on = hook_enter();
    if (on) {
        int kept = errno;
        registry_thread_enter(hook_name[id], row_of_context(context), stream, shim_now_ns());
        errno = kept;
    }
    return on;
}

/* A call has waited for the stream.  Streams 0 to 2 are the default streams, which mean another stream in each context
 * or thread. */
static void say_waited_for(enum wsdbg_hook_id id, uint64_t stream, uint64_t began_ns)
{
    if (id == WSDBG_HOOK_cuCtxSynchronize)
        communicators_context_done(contexts_current(), began_ns);
    else if (stream > 2 && stream != WSDBG_UNKNOWN64)
        communicators_stream_done(stream, began_ns);
}

static CUresult sync_leave(enum wsdbg_hook_id id, uint64_t stream, bool on, uint64_t began_ns, CUresult result)
{
    if (on) {
        int kept = errno;
        registry_thread_leave();
        if (result == CUDA_SUCCESS)
            say_waited_for(id, stream, began_ns);
        if (result == CUDA_SUCCESS && atomic_load_explicit(&debug_attach_stays, memory_order_relaxed))
            debug_attach_confirm(began_ns);
        if (atomic_load_explicit(&debug_fault_met, memory_order_relaxed))
            result = debug_fault_result(result);
        errno = kept;
    }
    return hook_leave(on, result);
}

#define SYNC_BODY(symbol, find, stream, parameters, arguments) \
    void *forward = find(WSDBG_HOOK_##symbol);                 \
    if (!forward)                                              \
        return CUDA_ERROR_STUB_LIBRARY;                        \
    const uint64_t began_ns = shim_now_ns();                   \
    bool on = sync_enter(WSDBG_HOOK_##symbol, NULL, stream);   \
    return sync_leave(WSDBG_HOOK_##symbol, stream, on, began_ns, ((CUresult(*) parameters)forward)arguments);
#define X(symbol, stream, parameters, arguments)                       \
    SHIM_EXPORT CUresult symbol parameters;                            \
    SHIM_EXPORT CUresult symbol parameters                             \
    {                                                                  \
        SYNC_BODY(symbol, libcuda_next, stream, parameters, arguments) \
    }                                                                  \
    static CUresult wrap_##symbol parameters                           \
    {                                                                  \
        SYNC_BODY(symbol, libcuda_real, stream, parameters, arguments) \
    }
WSDBG_SYNC_HOOKS(X)
#undef X

/* The runtime of CUDA 13 waits for a device with this call. */
CUresult context_synchronize_body(enum wsdbg_hook_id id, void *forward, CUcontext context)
{
    const uint64_t began_ns = shim_now_ns();
    const bool on = sync_enter(id, context, WSDBG_UNKNOWN64);
    const CUresult result = ((CUresult(*)(CUcontext))forward)(context);
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        communicators_context_done(row_of_context(context), began_ns);
        errno = kept;
    }
    return sync_leave(id, WSDBG_UNKNOWN64, on, began_ns, result);
}

static CUresult work_leave(bool on, enum work_kind kind, CUstream stream, uint64_t began_ns, CUresult result)
{
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        if (!captures_holds(stream))
            work_given(contexts_current(), kind, began_ns);
        errno = kept;
    }
    return hook_leave(on, result);
}

#define WORK_BODY(symbol, find, kind, stream, parameters, arguments) \
    void *forward = find(WSDBG_HOOK_##symbol);                       \
    if (!forward)                                                    \
        return CUDA_ERROR_STUB_LIBRARY;                              \
    bool on = hook_enter();                                          \
    const uint64_t began_ns = on ? shim_now_ns() : 0;                \
    return work_leave(on, kind, stream, began_ns, ((CUresult(*) parameters)forward)arguments);
#define X(symbol, kind, stream, parameters, arguments)                       \
    SHIM_EXPORT CUresult symbol parameters;                                  \
    SHIM_EXPORT CUresult symbol parameters                                   \
    {                                                                        \
        WORK_BODY(symbol, libcuda_next, kind, stream, parameters, arguments) \
    }                                                                        \
    static CUresult wrap_##symbol parameters                                 \
    {                                                                        \
        WORK_BODY(symbol, libcuda_real, kind, stream, parameters, arguments) \
    }
WSDBG_WORK_HOOKS(X)
#undef X

#define LOAD_BODY(symbol, find, parameters, arguments)                  \
    void *forward = find(WSDBG_HOOK_##symbol);                          \
    if (!forward)                                                       \
        return CUDA_ERROR_STUB_LIBRARY;                                 \
    bool on = hook_enter();                                             \
    debug_attach_load_begin();                                          \
    const CUresult result = ((CUresult(*) parameters)forward)arguments; \
    debug_attach_load_end();                                            \
    return hook_leave(on, result);
#define X(symbol, parameters, arguments)                       \
    SHIM_EXPORT CUresult symbol parameters;                    \
    SHIM_EXPORT CUresult symbol parameters                     \
    {                                                          \
        LOAD_BODY(symbol, libcuda_next, parameters, arguments) \
    }                                                          \
    static CUresult wrap_##symbol parameters                   \
    {                                                          \
        LOAD_BODY(symbol, libcuda_real, parameters, arguments) \
    }
WSDBG_LOAD_HOOKS(X)
#undef X

#define X(symbol, ...) (void *)wrap_##symbol,
void *const hook_wrapper[WSDBG_HOOK_COUNT] = {WSDBG_HOOKS(X) WSDBG_SYNC_HOOKS(X) WSDBG_WORK_HOOKS(X)
                                                  WSDBG_LOAD_HOOKS(X)};
#undef X
#define X(symbol, ...) (void *)symbol,
void *const hook_exported[WSDBG_HOOK_COUNT] = {WSDBG_HOOKS(X) WSDBG_SYNC_HOOKS(X) WSDBG_WORK_HOOKS(X)
                                                   WSDBG_LOAD_HOOKS(X)};
#undef X
