/* registry.c - the modules, kernels and variables that nvcc's constructors register, and how a host address leads to
 * them.
 *
 * Reads: the fat binaries in the program.  Writes: libraries of the driver, each loaded when something of it is first
 * used. One lock guards all of it; constructors of libraries that are loaded meanwhile run in other threads.
 */
#include "libcudart/runtime.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* What nvcc passes to __cudaRegisterFatBinary (fatbinary_section.h). */
struct fat_binary_wrapper {
    int magic, version; /* version 2: relocatable device code that nvlink has linked */
    const void *data;
    const void *const *linked; /* of version 2: fat binaries, one a translation unit, NULL at the end */
};

enum { WRAPPER_MAGIC = 0x466243b1, IMAGES_MAX = 256 };

struct managed {
    struct managed *next;
    void **host;
    const char *name;
};

/* Images that nvlink has linked are still loaded one by one: the simulator cannot link them, so a reference from one to
 * another is an error. */
struct binary {
    const void *const *images;
    const void *image; /* the only one where there is no array */
    size_t image_count;
    CUlibrary *libraries; /* as many; NULL = not loaded yet */
    CUresult failed;      /* what loading came to; not tried again */
    struct managed *managed;
    bool managed_known; /* the program's pointers to managed variables are filled in */
};

/* A host address and what it stands for. */
struct registered {
    const void *host;
    struct binary *binary; /* NULL = `host` is the kernel itself */
    const char *name;
    CUkernel kernel;
};

static struct {
    pthread_mutex_t lock;
    void *entries; /* tsearch's root of struct registered, by host address */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int compare(const void *a, const void *b)
{
    const uintptr_t left = (uintptr_t)((const struct registered *)a)->host,
                    right = (uintptr_t)((const struct registered *)b)->host;
    return left < right ? -1 : left > right;
}

static struct registered *find(const void *host)
{
    const struct registered key = {.host = host};
    void *node = tfind(&key, &registry.entries, compare);
    return node ? *(struct registered **)node : NULL;
}

/* False without memory. */
static bool add(const struct registered *row)
{
    struct registered *entry = malloc(sizeof *entry);
    if (!entry)
        return false;
    *entry = *row;
    void *node = tsearch(entry, &registry.entries, compare);
    if (!node || *(struct registered **)node != entry) {
        /* The same address again, of a library that was unloaded and came back. */
        if (node)
            **(struct registered **)node = *row;
        free(entry);
    }
    return node != NULL;
}

static void add_locked(const struct registered *row)
{
    pthread_mutex_lock(&registry.lock);
    if (!add(row))
        runtime_fail(cudaErrorMemoryAllocation);
    pthread_mutex_unlock(&registry.lock);
}

static CUresult load(struct binary *binary)
{
    if (binary->libraries || binary->failed)
        return binary->failed;
    binary->libraries = calloc(binary->image_count, sizeof *binary->libraries);
    if (!binary->libraries)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < binary->image_count && binary->failed == CUDA_SUCCESS; i++)
        binary->failed = cuLibraryLoadData(&binary->libraries[i], binary->images[i], NULL, NULL, 0, NULL, NULL, 0);
    return binary->failed;
}

/* Asked for by its number, because the simulated driver says on stderr which kernels a library has where it lacks one.
 */
static CUresult find_in(CUlibrary library, const char *name, CUkernel *out)
{
    unsigned count = 0;
    CUresult result = cuLibraryGetKernelCount(&count, library);
    CUkernel *kernels = result == CUDA_SUCCESS && count ? calloc(count, sizeof *kernels) : NULL;
    if (kernels)
        result = cuLibraryEnumerateKernels(kernels, count, library);
    *out = NULL;
    for (unsigned i = 0; kernels && i < count && result == CUDA_SUCCESS && !*out; i++) {
        const char *found = NULL;
        result = cuKernelGetName(&found, kernels[i]);
        if (result == CUDA_SUCCESS && strcmp(found, name) == 0)
            *out = kernels[i];
    }
    free(kernels);
    return result == CUDA_SUCCESS && !*out ? CUDA_ERROR_NOT_FOUND : result;
}

static CUresult find_kernel(struct binary *binary, const char *name, CUkernel *out)
{
    CUresult result = load(binary);
    if (result != CUDA_SUCCESS)
        return result;
    if (binary->image_count == 1)
        return cuLibraryGetKernel(out, binary->libraries[0], name);
    result = CUDA_ERROR_NOT_FOUND;
    for (size_t i = 0; i < binary->image_count && result == CUDA_ERROR_NOT_FOUND; i++)
        result = find_in(binary->libraries[i], name, out);
    return result;
}

static CUresult find_variable(struct binary *binary, const char *name, CUdeviceptr *address, size_t *byte_count)
{
    CUresult result = load(binary);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_NOT_FOUND;
    for (size_t i = 0; i < binary->image_count && result == CUDA_ERROR_NOT_FOUND; i++)
        result = cuLibraryGetGlobal(address, byte_count, binary->libraries[i], name);
    return result;
}

static CUresult fill_managed(struct binary *binary)
{
    CUresult result = load(binary);
    for (struct managed *row = binary->managed; row && result == CUDA_SUCCESS && !binary->managed_known;
         row = row->next) {
        CUdeviceptr address;
        size_t byte_count;
        result = find_variable(binary, row->name, &address, &byte_count); /* all memory here is managed */
        if (result == CUDA_SUCCESS)
            *row->host = (void *)(uintptr_t)address;
    }
    binary->managed_known = result == CUDA_SUCCESS;
    return result;
}

cudaError_t runtime_kernel(const void *host_function, CUkernel *out)
{
    CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS)
        return runtime_done(result);
    pthread_mutex_lock(&registry.lock);
    struct registered *entry = find(host_function);
    if (entry && !entry->kernel && !entry->binary)
        entry = NULL; /* of a library that was unloaded */
    if (entry && !entry->kernel) {
        result = find_kernel(entry->binary, entry->name, &entry->kernel);
    }
    *out = entry && result == CUDA_SUCCESS ? entry->kernel : NULL;
    pthread_mutex_unlock(&registry.lock);
    if (!entry || result == CUDA_ERROR_NOT_FOUND)
        return runtime_fail(cudaErrorInvalidDeviceFunction);
    return runtime_done(result);
}

cudaError_t runtime_symbol(const void *host_variable, CUdeviceptr *address, size_t *byte_count)
{
    CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS)
        return runtime_done(result);
    pthread_mutex_lock(&registry.lock);
    const struct registered *entry = find(host_variable);
    if (entry && entry->binary)
        result = find_variable(entry->binary, entry->name, address, byte_count);
    pthread_mutex_unlock(&registry.lock);
    if (!entry || !entry->binary || result == CUDA_ERROR_NOT_FOUND)
        return runtime_fail(cudaErrorInvalidSymbol);
    return runtime_done(result);
}

cudaError_t runtime_note_kernel(CUkernel kernel)
{
    pthread_mutex_lock(&registry.lock);
    const bool added = add(&(struct registered){.host = kernel, .kernel = kernel});
    pthread_mutex_unlock(&registry.lock);
    return added ? cudaSuccess : runtime_fail(cudaErrorMemoryAllocation);
}

#define REGISTER(type, symbol, ...)                                  \
    __attribute__((visibility("default"))) type symbol(__VA_ARGS__); \
    type symbol(__VA_ARGS__)

REGISTER(void **, __cudaRegisterFatBinary, const struct fat_binary_wrapper *wrapper)
{
    struct binary *binary = calloc(1, sizeof *binary);
    if (!binary) {
        runtime_fail(cudaErrorMemoryAllocation);
        return NULL;
    }
    if (!wrapper || wrapper->magic != WRAPPER_MAGIC) {
        free(binary);
        runtime_fail(cudaErrorInvalidKernelImage);
        return NULL;
    }
    binary->images = wrapper->version == 2 && wrapper->linked ? wrapper->linked : &binary->image;
    binary->image = wrapper->data;
    binary->image_count = 1;
    if (binary->images != &binary->image)
        for (binary->image_count = 0; binary->image_count < IMAGES_MAX && binary->images[binary->image_count];)
            binary->image_count++;
    return (void **)binary;
}

REGISTER(void, __cudaRegisterFatBinaryEnd, void **handle)
{
    (void)handle;
}

static void forget_binary(const void *node, VISIT order, void *binary)
{
    struct registered *entry = *(struct registered *const *)node;
    if ((order == postorder || order == leaf) && entry->binary == binary)
        *entry = (struct registered){.host = entry->host};
}

/* The rows of the binary stay, without a meaning: the library that had them may be unloaded and its addresses be used
 * again. */
REGISTER(void, __cudaUnregisterFatBinary, void **handle)
{
    struct binary *binary = (struct binary *)handle;
    if (!binary)
        return;
    pthread_mutex_lock(&registry.lock);
    twalk_r(registry.entries, forget_binary, binary);
    pthread_mutex_unlock(&registry.lock);
    /* The driver may be gone at exit; it says so, and nobody needs the answer. */
    for (size_t i = 0; binary->libraries && i < binary->image_count; i++)
        if (binary->libraries[i])
            cuLibraryUnload(binary->libraries[i]);
    free(binary->libraries);
    while (binary->managed) {
        struct managed *next = binary->managed->next;
        free(binary->managed);
        binary->managed = next;
    }
    free(binary);
}

REGISTER(void, __cudaRegisterFunction, void **handle, const char *host, char *device, const char *name,
         int thread_limit, void *thread, void *block, void *block_size, void *grid_size, int *warp_size)
{
    (void)device, (void)thread_limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
    if (handle)
        add_locked(&(struct registered){.host = host, .binary = (struct binary *)handle, .name = name});
}

REGISTER(void, __cudaRegisterVar, void **handle, char *host, char *device, const char *name, int is_extern,
         size_t byte_count, int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)byte_count, (void)is_constant, (void)is_global;
    if (handle)
        add_locked(&(struct registered){.host = host, .binary = (struct binary *)handle, .name = name});
}

REGISTER(void, __cudaRegisterManagedVar, void **handle, void **host, char *device, const char *name, int is_extern,
         size_t byte_count, int is_constant, int is_global)
{
    struct binary *binary = (struct binary *)handle;
    struct managed *row = malloc(sizeof *row);
    __cudaRegisterVar(handle, (char *)host, device, name, is_extern, byte_count, is_constant, is_global);
    if (!row || !binary) {
        free(row);
        runtime_fail(cudaErrorMemoryAllocation);
        return;
    }
    pthread_mutex_lock(&registry.lock);
    *row = (struct managed){.next = binary->managed, .host = host, .name = name};
    binary->managed = row;
    pthread_mutex_unlock(&registry.lock);
}

REGISTER(char, __cudaInitModule, void **handle)
{
    CUresult result = handle ? runtime_enter() : CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&registry.lock);
    if (result == CUDA_SUCCESS)
        result = fill_managed((struct binary *)handle);
    pthread_mutex_unlock(&registry.lock);
    return runtime_done(result) == cudaSuccess;
}

RUNTIME(__cudaGetKernel, CUkernel *kernel, const void *host_function)
{
    return runtime_kernel(host_function, kernel);
}

RUNTIME(cudaGetKernel, CUkernel *kernel, const void *host_function)
{
    return runtime_kernel(host_function, kernel);
}

RUNTIME(cudaGetFuncBySymbol, CUfunction *function, const void *host_function)
{
    CUkernel kernel;
    const cudaError_t error = runtime_kernel(host_function, &kernel);
    return error ? error : runtime_done(cuKernelGetFunction(function, kernel));
}

RUNTIME(cudaGetSymbolAddress, void **out, const void *symbol)
{
    CUdeviceptr address = 0;
    size_t byte_count;
    if (!out)
        return runtime_fail(cudaErrorInvalidValue);
    const cudaError_t error = runtime_symbol(symbol, &address, &byte_count);
    if (!error)
        *out = (void *)(uintptr_t)address;
    return error;
}

RUNTIME(cudaGetSymbolSize, size_t *byte_count, const void *symbol)
{
    CUdeviceptr address;
    return runtime_symbol(symbol, &address, byte_count);
}
