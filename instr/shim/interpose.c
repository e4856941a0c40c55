/* interpose.c - finds libcuda's functions and decides which pointer a lookup gets.
 *
 * Reads:  the dynamic symbols of libc (the real dlsym) and of libcuda (the real functions).
 * Writes: the table of real functions.
 *
 * A pointer is replaced only when it is libcuda's own address of a hooked function, so a function of that name
 * in somebody else's library is never touched.  libcuda is taken only after the app has loaded it.
 */
#include "shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "loader.h"
#include "sanitizers.h"

struct lookup {
    uintptr_t decided; /* 0: go on to the real function */
    void *value;
};

struct lookup wsdbg_dlsym_lookup(void *handle, const char *name);
struct lookup wsdbg_dlvsym_lookup(void *handle, const char *name, const char *version);
extern void *(*wsdbg_real_dlsym)(void *, const char *);
extern void *(*wsdbg_real_dlvsym)(void *, const char *, const char *);

struct wsdbg_driver shim_driver;

static void *_Atomic real[WSDBG_HOOK_COUNT];
static void *_Atomic next[WSDBG_HOOK_COUNT];
static void *libcuda_handle; /* written before `loaded` */
static _Atomic bool loaded;
static _Atomic bool complete;

/* ---- the real dlsym: libc's, read from its symbol table, since our own export shadows the name ---- */

static void *no_symbol(void *handle, const char *name)
{
    (void)handle;
    (void)name;
    return NULL;
}

static void *no_versioned_symbol(void *handle, const char *name, const char *version)
{
    (void)version;
    return no_symbol(handle, name);
}

void *(*wsdbg_real_dlsym)(void *, const char *) = NULL;
void *(*wsdbg_real_dlvsym)(void *, const char *, const char *) = NULL;

static void find_real_dlsym(void)
{
    sanitizers_pass_by();
    if (__atomic_load_n(&wsdbg_real_dlvsym, __ATOMIC_ACQUIRE))
        return;
    void *symbol = loader_libc_function("dlsym", 0), *versioned = loader_libc_function("dlvsym", 0);
    wsdbg_real_dlsym = symbol ? (void *(*)(void *, const char *))symbol : no_symbol;
    __atomic_store_n(&wsdbg_real_dlvsym,
                     versioned ? (void *(*)(void *, const char *, const char *))versioned : no_versioned_symbol,
                     __ATOMIC_RELEASE);
}

/* ---- libcuda ---- */

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
static bool find_libcuda(void)
{
    if (atomic_load_explicit(&loaded, memory_order_acquire))
        return true;
    int kept = errno;
    const char *path = NULL;
    find_real_dlsym();
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

bool interpose_ready(void)
{
    return find_libcuda() && atomic_load(&complete);
}

void *interpose_libcuda_symbol(const char *name)
{
    return find_libcuda() ? wsdbg_real_dlsym(libcuda_handle, name) : NULL;
}

void *interpose_real(enum wsdbg_hook_id id)
{
    void *function = atomic_load_explicit(&real[id], memory_order_acquire);
    if (!function && find_libcuda())
        function = atomic_load(&real[id]);
    return function;
}

void *interpose_next(enum wsdbg_hook_id id)
{
    void *function = atomic_load_explicit(&next[id], memory_order_acquire);
    if (function)
        return function;
    find_real_dlsym();
    function = wsdbg_real_dlsym(RTLD_NEXT, hook_name[id]);
    if (!function)
        function = interpose_real(id);
    else
        find_libcuda();
    atomic_store(&next[id], function);
    return function;
}

/* ---- lookups ---- */

static int hook_by_name(const char *name)
{
    if (!name || name[0] != 'c' || name[1] != 'u')
        return -1;
    for (int i = 0; i < WSDBG_HOOK_COUNT; i++)
        if (strcmp(hook_name[i], name) == 0)
            return i;
    return -1;
}

static void *wrapper_of(void *pointer)
{
    if (pointer && atomic_load(&shim_state) != SHIM_ASLEEP)
        for (int i = 0; i < WSDBG_HOOK_COUNT; i++)
            if (atomic_load_explicit(&real[i], memory_order_relaxed) == pointer)
                return hook_wrapper[i];
    return pointer;
}

/* Our exports make the names visible everywhere; without libcuda they must not exist. */
static struct lookup own_export(int id)
{
    if (find_libcuda())
        return (struct lookup){1, hook_exported[id]};
    void *other = wsdbg_real_dlsym(RTLD_NEXT, hook_name[id]);
    return (struct lookup){1, other};
}

struct lookup wsdbg_dlsym_lookup(void *handle, const char *name)
{
    struct lookup forward = {0, NULL};
    find_real_dlsym();
    int id = hook_by_name(name);
    if (id < 0 || handle == RTLD_NEXT)
        return forward;
    void *found = wsdbg_real_dlsym(handle, name);
    if (!found)
        return forward;
    if (found == hook_exported[id])
        return own_export(id);
    if (handle == RTLD_DEFAULT || !find_libcuda())
        return forward;
    return (struct lookup){1, wrapper_of(found)};
}

struct lookup wsdbg_dlvsym_lookup(void *handle, const char *name, const char *version)
{
    struct lookup forward = {0, NULL};
    find_real_dlsym();
    if (hook_by_name(name) < 0 || handle == RTLD_NEXT || handle == RTLD_DEFAULT || !find_libcuda())
        return forward;
    void *found = wsdbg_real_dlvsym(handle, name, version);
    return found ? (struct lookup){1, wrapper_of(found)} : forward;
}

/* The newest CUDA whose signatures the hook table knows. */
#define NEWEST_CUDA_VERSION 13099

/* Has, or got from a later CUDA than the hook table's, a version with other parameters. */
static bool has_other_signatures(const char *symbol)
{
    char name[64];
    size_t length = strlen(symbol);
    if (length + 4 > sizeof name || strcmp(symbol, "cuMulticastBindMem") == 0 ||
        strcmp(symbol, "cuMulticastBindAddr") == 0) /* CUDA 13.1 */
        return true;
    memcpy(name, symbol, length);
    for (char version = '2'; version <= '4'; version++) {
        memcpy(name + length, (char[]){'_', 'v', version, '\0'}, 4);
        if (hook_by_name(name) >= 0)
            return true;
    }
    return false;
}

void *interpose_replace(const char *symbol, int version, uint64_t flags, void *pointer)
{
    void *wrapper = wrapper_of(pointer);
    int id = hook_by_name(symbol);
    if (wrapper != pointer || id < 0 || version > NEWEST_CUDA_VERSION || atomic_load(&shim_state) == SHIM_ASLEEP ||
        has_other_signatures(symbol))
        return wrapper;
    /* An address that libcuda does not export: the name says what it is where all versions agree. */
    char name[64];
    size_t length = strlen(symbol);
    if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM && length + 6 < sizeof name) {
        memcpy(name, symbol, length);
        memcpy(name + length, "_ptsz", 6);
        int per_thread = hook_by_name(name);
        if (per_thread < 0)
            memcpy(name + length, "_ptds", 6);
        per_thread = hook_by_name(name);
        id = per_thread >= 0 ? per_thread : id;
    }
    return atomic_load(&real[id]) ? hook_wrapper[id] : pointer;
}

__attribute__((constructor)) static void start(void)
{
    find_real_dlsym();
    sanitizers_started();
    shim_start();
}
