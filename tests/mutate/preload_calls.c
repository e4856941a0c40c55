/* preload_calls.c - replaces the driver's calls that load code, and the look-ups by which programs and runtimes find
 * them.
 *
 * A program gets our function from the linker, from dlsym or from cuGetProcAddress.  Ours calls the function that the
 * program would have got without us, which may be the observer's.  dlsym's assembly is the observer's as well
 * (interpose_entry.c).
 *
 * Reads: the loader's list of libraries.  Writes: pointers to the functions behind ours.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "loader.h"
#include "preload.h"
#include "real_dlsym.h"

#define EXPORTED __attribute__((visibility("default")))

struct lookup {
    uintptr_t decided; /* 0: go on to the next dlsym */
    void *value;
};
struct lookup wsdbg_dlsym_lookup(void *handle, const char *name);
struct lookup wsdbg_dlvsym_lookup(void *handle, const char *name, const char *version);

/* The next ones behind this library's: an observer's, or the C library's. */
void *(*wsdbg_real_dlsym)(void *, const char *);
void *(*wsdbg_real_dlvsym)(void *, const char *, const char *);

void real_dlsym_find(void)
{
    if (__atomic_load_n(&wsdbg_real_dlvsym, __ATOMIC_ACQUIRE))
        return;
    wsdbg_real_dlsym = (void *(*)(void *, const char *))loader_next_function("dlsym");
    __atomic_store_n(&wsdbg_real_dlvsym, (void *(*)(void *, const char *, const char *))loader_next_function("dlvsym"),
                     __ATOMIC_RELEASE);
}

/* ---- the calls ---- */

typedef int result; /* CUresult */
enum { ERROR_NOT_FOUND = 500 };

#define CALLS(X)                                                                                                       \
    X(cuModuleLoad, (void **module, const char *path))                                                                 \
    X(cuModuleLoadData, (void **module, const void *image))                                                            \
    X(cuModuleLoadFatBinary, (void **module, const void *image))                                                       \
    X(cuModuleLoadDataEx, (void **module, const void *image, unsigned count, void *options, void **values))            \
    X(cuLibraryLoadData, (void **library, const void *image, void *jit_options, void **jit_values, unsigned jit_count, \
                          void *options, void **values, unsigned count))                                               \
    X(cuLibraryLoadFromFile, (void **library, const char *path, void *jit_options, void **jit_values,                  \
                              unsigned jit_count, void *options, void **values, unsigned count))                       \
    X(cuGetProcAddress, (const char *name, void **function, int version, uint64_t flags))                              \
    X(cuGetProcAddress_v2, (const char *name, void **function, int version, uint64_t flags, void *status))

#define X(name, parameters) CALL_##name,
enum { CALLS(X) CALL_COUNT };
#undef X
#define X(name, parameters) EXPORTED result name parameters;
CALLS(X)
#undef X
#define X(name, parameters) typedef result(*name##_type) parameters;
CALLS(X)
#undef X
#define X(name, parameters) #name,
static const char *const call_name[] = {CALLS(X)};
#undef X
#define X(name, parameters) (void *)name,
static void *const ours[] = {CALLS(X)};
#undef X

static void *_Atomic behind[CALL_COUNT];

static int call_of(const char *name)
{
    for (int i = 0; name && i < CALL_COUNT; i++)
        if (strcmp(name, call_name[i]) == 0)
            return i;
    return -1;
}

/* Ours instead of the function that was found, which ours will call. */
static void *taken(int call, void *found)
{
    if (call < 0 || !found)
        return found;
    if (found != ours[call])
        atomic_store(&behind[call], found);
    return ours[call];
}

static void *next_of(int call)
{
    void *function = atomic_load(&behind[call]);
    if (!function) {
        function = loader_next_function(call_name[call]);
        atomic_store(&behind[call], function);
    }
    return function;
}
#define NEXT(name, arguments) (next_of(CALL_##name) ? ((name##_type)next_of(CALL_##name))arguments : ERROR_NOT_FOUND)

/* The function as dlsym finds it in the loaded libcuda. */
static void *driver_function(const char *name)
{
    real_dlsym_find();
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return library ? wsdbg_real_dlsym(library, name) : NULL;
}

bool preload_is_simulated(void)
{
    static const char simulated[] = "wsdbg simulated";
    char name[64] = "";
    result (*const get_name)(char *, int, int) = (result(*)(char *, int, int))driver_function("cuDeviceGetName");
    return get_name && get_name(name, sizeof name, 0) == 0 && strncmp(name, simulated, sizeof simulated - 1) == 0;
}

/* ---- look-ups ---- */

struct lookup wsdbg_dlsym_lookup(void *handle, const char *name)
{
    real_dlsym_find();
    const int call = call_of(name);
    if (call < 0 || handle == RTLD_NEXT || handle == RTLD_DEFAULT)
        return (struct lookup){0, NULL};
    void *found = wsdbg_real_dlsym(handle, name);
    return found ? (struct lookup){1, taken(call, found)} : (struct lookup){0, NULL};
}

struct lookup wsdbg_dlvsym_lookup(void *handle, const char *name, const char *version)
{
    (void)handle;
    (void)name;
    (void)version;
    real_dlsym_find();
    return (struct lookup){0, NULL};
}

result cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    const result status = NEXT(cuGetProcAddress, (name, function, version, flags));
    if (status == 0 && function)
        *function = taken(call_of(name), *function);
    return status;
}

/* Since CUDA 12 the name cuGetProcAddress stands for cuGetProcAddress_v2, which has five parameters. */
result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, void *state)
{
    enum { FIRST_WITH_STATUS = 12000 };
    const result status = NEXT(cuGetProcAddress_v2, (name, function, version, flags, state));
    int call = call_of(name);
    if (call == CALL_cuGetProcAddress && version >= FIRST_WITH_STATUS)
        call = CALL_cuGetProcAddress_v2;
    if (status == 0 && function)
        *function = taken(call, *function);
    return status;
}

/* ---- code ---- */

result cuModuleLoadData(void **module, const void *image)
{
    return NEXT(cuModuleLoadData, (module, preload_image(image)));
}

result cuModuleLoadFatBinary(void **module, const void *image)
{
    return NEXT(cuModuleLoadFatBinary, (module, preload_image(image)));
}

result cuModuleLoadDataEx(void **module, const void *image, unsigned count, void *options, void **values)
{
    return NEXT(cuModuleLoadDataEx, (module, preload_image(image), count, options, values));
}

result cuLibraryLoadData(void **library, const void *image, void *jit_options, void **jit_values, unsigned jit_count,
                         void *options, void **values, unsigned count)
{
    return NEXT(cuLibraryLoadData,
                (library, preload_image(image), jit_options, jit_values, jit_count, options, values, count));
}

/* A file whose PTX is replaced is loaded from memory. */
result cuModuleLoad(void **module, const char *path)
{
    const void *image = preload_file(path);
    void *load = next_of(CALL_cuModuleLoadData);
    if (image && !load)
        load = driver_function("cuModuleLoadData");
    return image && load ? ((cuModuleLoadData_type)load)(module, image) : NEXT(cuModuleLoad, (module, path));
}

result cuLibraryLoadFromFile(void **library, const char *path, void *jit_options, void **jit_values, unsigned jit_count,
                             void *options, void **values, unsigned count)
{
    const void *image = preload_file(path);
    void *load = next_of(CALL_cuLibraryLoadData);
    if (image && !load)
        load = driver_function("cuLibraryLoadData");
    return image && load ? ((cuLibraryLoadData_type)load)(library, image, jit_options, jit_values, jit_count, options,
                                                          values, count)
                         : NEXT(cuLibraryLoadFromFile,
                                (library, path, jit_options, jit_values, jit_count, options, values, count));
}
