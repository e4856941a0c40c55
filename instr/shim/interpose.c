/* interpose.c - decides which pointer a look-up gets: dlsym, dlvsym, cuGetProcAddress.
 *
 * Reads:  the names that are looked up; the real functions of libcuda and NCCL.  Writes: the pointers that are given
 * out.
 *
 * A pointer is replaced only when it is libcuda's own address of a hooked function, so a function of that name
 * in somebody else's library is never touched.  libcuda is taken only after the app has loaded it.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "hooks.h"
#include "hooks_nccl.h"
#include "libcuda.h"
#include "libnccl.h"
#include "real_dlsym.h"
#include "state.h"

struct lookup {
    uintptr_t decided; /* 0: go on to the real function */
    void *value;
};

struct lookup wsdbg_dlsym_lookup(void *handle, const char *name);
struct lookup wsdbg_dlvsym_lookup(void *handle, const char *name, const char *version);

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
    const int id = atomic_load(&shim_state) == SHIM_ASLEEP ? -1 : libcuda_hook_of(pointer);
    return id < 0 ? pointer : hook_wrapper[id];
}

/* Our exports make the names visible everywhere; without libcuda they must not exist. */
static struct lookup own_export(int id)
{
    if (libcuda_is_loaded())
        return (struct lookup){1, hook_exported[id]};
    void *other = wsdbg_real_dlsym(RTLD_NEXT, hook_name[id]);
    return (struct lookup){1, other};
}

/* dlsym for a function of NCCL.  A program asks by dlsym what its NCCL can do.  So a function that no library has must
 * not be found, although the shim exports it.  RTLD_NEXT and the program's own handle would find the shim's. */
static struct lookup nccl_lookup(void *handle, const char *name, enum nccl_hook id)
{
    struct lookup forward = {0, NULL};
    if (handle == RTLD_NEXT || handle == RTLD_DEFAULT)
        return libnccl_has(id) ? forward : (struct lookup){1, libnccl_seen_by_all(name)};
    void *found = wsdbg_real_dlsym(handle, name);
    if (found == nccl_exported[id])
        return libnccl_seen_by_all(name) ? forward : (struct lookup){1, NULL};
    if (!found || atomic_load(&shim_state) == SHIM_ASLEEP || !libnccl_found(id, found))
        return forward;
    return (struct lookup){1, nccl_wrapper[id]};
}

struct lookup wsdbg_dlsym_lookup(void *handle, const char *name)
{
    struct lookup forward = {0, NULL};
    real_dlsym_find();
    const int of_nccl = libnccl_hook_by_name(name);
    if (of_nccl >= 0)
        return nccl_lookup(handle, name, (enum nccl_hook)of_nccl);
    int id = hook_by_name(name);
    if (id < 0 || handle == RTLD_NEXT)
        return forward;
    void *found = wsdbg_real_dlsym(handle, name);
    if (!found)
        return forward;
    if (found == hook_exported[id])
        return own_export(id);
    if (handle == RTLD_DEFAULT || !libcuda_is_loaded())
        return forward;
    return (struct lookup){1, wrapper_of(found)};
}

struct lookup wsdbg_dlvsym_lookup(void *handle, const char *name, const char *version)
{
    struct lookup forward = {0, NULL};
    real_dlsym_find();
    if (hook_by_name(name) < 0 || handle == RTLD_NEXT || handle == RTLD_DEFAULT || !libcuda_is_loaded())
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

/* What the app gets for `pointer`, which the driver returned for `symbol`. */
static void *replaced(const char *symbol, int version, uint64_t flags, void *pointer)
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
    return libcuda_has((enum wsdbg_hook_id)id) ? hook_wrapper[id] : pointer;
}

CUresult proc_address_body(enum wsdbg_hook_id id, void *forward, const char *symbol, void **pointer, int version,
                           uint64_t flags)
{
    (void)id;
    CUresult result = ((CUresult(*)(const char *, void **, int, uint64_t))forward)(symbol, pointer, version, flags);
    if (result == CUDA_SUCCESS && symbol && pointer && *pointer)
        *pointer = replaced(symbol, version, flags, *pointer);
    return result;
}

CUresult proc_address_v2_body(enum wsdbg_hook_id id, void *forward, const char *symbol, void **pointer, int version,
                              uint64_t flags, void *status)
{
    (void)id;
    CUresult result =
        ((CUresult(*)(const char *, void **, int, uint64_t, void *))forward)(symbol, pointer, version, flags, status);
    if (result == CUDA_SUCCESS && symbol && pointer && *pointer)
        *pointer = replaced(symbol, version, flags, *pointer);
    return result;
}
