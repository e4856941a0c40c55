/* libcuda.c - finds libcuda and its functions, once the program has loaded it.
 *
 * Reads:  the loader's list, the dynamic symbols of libcuda and of what is preloaded behind us.
 * Writes: the tables of real functions and shim_driver.
 */
#include "libcuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "messages.h"
#include "real_dlsym.h"
#include "state.h"

#define X(symbol, ...) #symbol,
const char *const hook_name[WSDBG_HOOK_COUNT] = {WSDBG_HOOKS(X) WSDBG_SYNC_HOOKS(X) WSDBG_WORK_HOOKS(X)
                                                     WSDBG_LOAD_HOOKS(X)};
#undef X

struct wsdbg_driver shim_driver;

static void *_Atomic real[WSDBG_HOOK_COUNT];
static void *_Atomic next[WSDBG_HOOK_COUNT];
static void *libcuda_handle; /* written before `loaded` */
static _Atomic bool loaded;
static _Atomic bool complete;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int visit_libcuda(struct dl_phdr_info *object, size_t size, void *path)
{
    (void)size;
    if (strncmp(base_name(object->dlpi_name), "libcuda.so", 10) != 0)
        return 0;
    *(const char **)path = object->dlpi_name;
    return 1;
}

/* Two threads may do this at once: they store the same values. */
static void read_libcuda(void *libcuda)
{
    bool all = true;
    libcuda_handle = libcuda;
    for (int i = 0; i < WSDBG_HOOK_COUNT; i++)
        atomic_store(&real[i], wsdbg_real_dlsym(libcuda, hook_name[i]));
#define X(symbol, types, needed)                                                \
    shim_driver.symbol = (CUresult(*) types)wsdbg_real_dlsym(libcuda, #symbol); \
    if (needed && !shim_driver.symbol)                                          \
        all = false;
    WSDBG_DRIVER_CALLS(X)
#undef X
    /* The last lookup must have succeeded: a failed one would leave an error for the app's dlerror(). */
    wsdbg_real_dlsym(libcuda, "cuInit");
    atomic_store(&complete, all);
    atomic_store(&loaded, true);
    if (!all && atomic_load(&shim_state) == SHIM_AWAKE)
        shim_off("this libcuda lacks functions that wsdbg needs; not observing this process");
}

/* The handle stays open for ever: libcuda must not go away under our pointers. */
bool libcuda_is_loaded(void)
{
    if (atomic_load_explicit(&loaded, memory_order_acquire))
        return true;
    int kept = errno;
    const char *path = NULL;
    real_dlsym_find();
    if (dl_iterate_phdr(visit_libcuda, &path)) {
        void *libcuda = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
        if (!libcuda)
            libcuda = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
        if (libcuda)
            read_libcuda(libcuda);
    }
    errno = kept;
    return atomic_load(&loaded);
}

bool libcuda_ready(void)
{
    return libcuda_is_loaded() && atomic_load(&complete);
}

void *libcuda_symbol(const char *name)
{
    return libcuda_is_loaded() ? wsdbg_real_dlsym(libcuda_handle, name) : NULL;
}

void *libcuda_real(enum wsdbg_hook_id id)
{
    void *function = atomic_load_explicit(&real[id], memory_order_acquire);
    if (!function && libcuda_is_loaded())
        function = atomic_load(&real[id]);
    return function;
}

int libcuda_hook_of(const void *function)
{
    for (int i = 0; function && i < WSDBG_HOOK_COUNT; i++)
        if (atomic_load_explicit(&real[i], memory_order_relaxed) == function)
            return i;
    return -1;
}

bool libcuda_has(enum wsdbg_hook_id id)
{
    return atomic_load(&real[id]) != NULL;
}

void *libcuda_next(enum wsdbg_hook_id id)
{
    void *function = atomic_load_explicit(&next[id], memory_order_acquire);
    if (function)
        return function;
    real_dlsym_find();
    function = wsdbg_real_dlsym(RTLD_NEXT, hook_name[id]);
    if (!function)
        function = libcuda_real(id);
    else
        libcuda_is_loaded();
    atomic_store(&next[id], function);
    return function;
}
