/* registry.c - the modules, kernels and variables that nvcc's constructors register, and how a host address leads to
 * them.
 *
 * Reads: the fat binaries in the program.  Writes: libraries of the driver, each loaded when something of it is first
 * used.
 *
 * registry.lock guards what is registered, and is never held while the driver is called: a constructor registers with
 * the dynamic loader's lock held, for which a thread in the driver may be waiting. Each binary has a lock of its own
 * for loading, so a constructor can launch its library's kernels while another thread loads another binary.
 * The binary's lock is taken first.
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
    pthread_mutex_t loading; /* guards libraries, failed and managed_known */
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

/* The caller holds binary->loading, here and below up to fill_managed. */
static CUresult load(struct binary *binary)
{
    if (binary->libraries || binary->failed)
        return binary->failed;
    if (binary->image_count == 0)
        return binary->failed = CUDA_ERROR_NO_BINARY_FOR_GPU;
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
    pthread_mutex_lock(&registry.lock);
    const struct managed *row = binary->managed; /* rows are only added, in front */
    pthread_mutex_unlock(&registry.lock);
    for (; row && result == CUDA_SUCCESS && !binary->managed_known; row = row->next) {
        CUdeviceptr address;
        size_t byte_count;
        result = find_variable(binary, row->name, &address, &byte_count); /* all memory here is managed */
        if (result == CUDA_SUCCESS)
            *row->host = (void *)(uintptr_t)address;
    }
    binary->managed_known = result == CUDA_SUCCESS;
    return result;
}

/* What the host address stands for; false: nothing. */
static bool look_up(const void *host, struct registered *out)
{
    pthread_mutex_lock(&registry.lock);
    const struct registered *entry = find(host);
    /* Neither a kernel nor a binary: of a library that was unloaded. */
    const bool is_there = entry && (entry->kernel || entry->binary);
    if (is_there)
        *out = *entry;
    pthread_mutex_unlock(&registry.lock);
    return is_there;
}

/* Finds the kernel in its binary, and keeps it. */
static CUresult find_and_keep(struct registered *entry)
{
    pthread_mutex_lock(&entry->binary->loading);
    const CUresult result = find_kernel(entry->binary, entry->name, &entry->kernel);
    pthread_mutex_unlock(&entry->binary->loading);
    pthread_mutex_lock(&registry.lock);
    struct registered *kept = find(entry->host);
    if (result == CUDA_SUCCESS && kept && kept->binary == entry->binary)
        kept->kernel = entry->kernel;
    pthread_mutex_unlock(&registry.lock);
    return result;
}

cudaError_t runtime_kernel(const void *host_function, CUkernel *out)
{
    struct registered entry;
    CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS)
        return runtime_done(result);
    *out = NULL;
    const bool is_there = look_up(host_function, &entry);
    if (is_there && !entry.kernel)
        result = find_and_keep(&entry);
    if (!is_there || result == CUDA_ERROR_NOT_FOUND)
        return runtime_fail(cudaErrorInvalidDeviceFunction);
    if (result == CUDA_SUCCESS)
        *out = entry.kernel;
    return runtime_done(result);
}

cudaError_t runtime_symbol(const void *host_variable, CUdeviceptr *address, size_t *byte_count)
{
    struct registered entry;
    CUresult result = runtime_enter();
    if (result != CUDA_SUCCESS)
        return runtime_done(result);
    if (!look_up(host_variable, &entry) || !entry.binary)
        return runtime_fail(cudaErrorInvalidSymbol);
    pthread_mutex_lock(&entry.binary->loading);
    result = find_variable(entry.binary, entry.name, address, byte_count);
    pthread_mutex_unlock(&entry.binary->loading);
    return result == CUDA_ERROR_NOT_FOUND ? runtime_fail(cudaErrorInvalidSymbol) : runtime_done(result);
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
    pthread_mutex_init(&binary->loading, NULL);
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
    pthread_mutex_destroy(&binary->loading);
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
    struct binary *binary = (struct binary *)handle;
    CUresult result = binary ? runtime_enter() : CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&binary->loading);
        result = fill_managed(binary);
        pthread_mutex_unlock(&binary->loading);
    }
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
