/* exit_handlers.c - keeps the driver's debugger library from cleaning up when the program exits.
 *
 * An attach loads libcudadebugger.so into the program.  It registers handlers for exit() that walk the contexts it was
 * attached to; a program that has destroyed its context since (cudaDeviceReset, cuDevicePrimaryCtxRelease) crashes in
 * them (driver 580.159.04, see docs/results/live-attach.md).  Nobody is attached any more by then, so there is nothing
 * to clean up: what that library registers is not passed on.  Everybody else's handlers are.
 *
 * Reads: which library registers a handler, while an attach is under way; afterwards its handle is known.
 */
#include <dlfcn.h>
#include <string.h>

#include "debug_state.h"
#include "loader.h"
#include "shim.h"

typedef int (*registration)(void (*)(void *), void *, void *);

int __cxa_atexit(void (*handler)(void *), void *argument, void *library);

static void *_Atomic debugger; /* its handle in registrations, NULL = not seen yet */

/* Asked only while the driver loads it: at any other time the lock of the look-up could block the program. */
static bool is_debugger(void (*handler)(void *))
{
    Dl_info info;
    void *address;
    memcpy(&address, &handler, sizeof address);
    return dladdr(address, &info) && info.dli_fname && strstr(info.dli_fname, "libcudadebugger.so");
}

SHIM_EXPORT int __cxa_atexit(void (*handler)(void *), void *argument, void *library)
{
    static registration _Atomic real;
    registration forward = atomic_load_explicit(&real, memory_order_acquire);
    if (!forward) {
        void *found = loader_libc_function("__cxa_atexit", 0);
        found = found ? found : dlsym(RTLD_NEXT, "__cxa_atexit");
        memcpy(&forward, &found, sizeof forward);
        atomic_store(&real, forward);
    }
    if (library && library == atomic_load_explicit(&debugger, memory_order_relaxed))
        return 0;
    if (library && atomic_load_explicit(&debug_attach_loading, memory_order_relaxed) && is_debugger(handler)) {
        atomic_store(&debugger, library);
        return 0;
    }
    return forward ? forward(handler, argument, library) : -1;
}
