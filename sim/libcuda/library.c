/* library.c - libraries: programs in no context, whose modules are made in each context that asks for one. */
#include <stdlib.h>

#include "libcuda/context.h"
#include "libcuda/image.h"
#include "libcuda/queue.h"

/* Takes the lock. */
static CUresult enter(CUlibrary library)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    return handle_is(&driver.handles, library, HANDLE_LIBRARY) ? CUDA_SUCCESS : driver_leave(CUDA_ERROR_INVALID_HANDLE);
}

static void library_destroy(struct library *library)
{
    for (size_t i = 0; i < library->kernel_count; i++)
        handle_remove(&driver.handles, &library->kernels[i]);
    handle_remove(&driver.handles, library);
    image_release(library->image);
    free(library->kernels);
    free(library);
}

/* Takes over the image. */
static CUresult library_create(struct image *image, struct library **out)
{
    struct library *library = calloc(1, sizeof *library);
    struct function *kernels = calloc(image_kernel_count(image) + 1, sizeof *kernels);
    if (!library || !kernels) {
        free(library);
        free(kernels);
        image_release(image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    library->image = image;
    library->kernels = kernels;
    library->kernel_count = image_kernel_count(image);
    image_fill_kernels(image, kernels);
    bool added = handle_add(&driver.handles, library, HANDLE_LIBRARY);
    for (size_t i = 0; i < library->kernel_count; i++) {
        kernels[i].library = library;
        kernels[i].settings = &kernels[i].own_settings;
        added &= handle_add(&driver.handles, &kernels[i], HANDLE_KERNEL);
    }
    if (!added) {
        library_destroy(library);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = library;
    return CUDA_SUCCESS;
}

static CUresult load(CUlibrary *out, const void *bytes, const char *path)
{
    struct image *image = NULL;
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || (!bytes && !path))
        return CUDA_ERROR_INVALID_VALUE;
    result = bytes ? image_of_memory(bytes, NULL, 0, &image) : image_of_file(path, NULL, 0, &image);
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    return driver_leave(library_create(image, out));
}

ENTRY(cuLibraryLoadData, CUlibrary *out, const void *bytes, const int *jit, void **jit_values, unsigned jit_count,
      const int *options, void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return load(out, bytes, NULL);
}

ENTRY(cuLibraryLoadFromFile, CUlibrary *out, const char *path, const int *jit, void **jit_values, unsigned jit_count,
      const int *options, void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    return load(out, NULL, path);
}

static struct module *find_module(const struct library *library)
{
    for (struct context *context = driver.contexts; context; context = context->next)
        for (struct module *module = context->modules; module; module = module->next)
            if (module->library == library)
                return module;
    return NULL;
}

/* Waits until no context can be using its modules; one that failed uses nothing any more. */
ENTRY(cuLibraryUnload, CUlibrary library)
{
    CUresult result = enter(library);
    if (result != CUDA_SUCCESS)
        return result;
    for (struct module *module; (module = find_module(library));) {
        queue_wait_all(module->context);
        if (!handle_is(&driver.handles, library, HANDLE_LIBRARY))
            return driver_leave(CUDA_ERROR_INVALID_HANDLE);
        if (module == find_module(library))
            module_destroy(module);
    }
    library_destroy(library);
    return driver_leave(CUDA_SUCCESS);
}

CUresult library_module(struct library *library, struct context *context, struct module **out)
{
    for (struct module *module = context->modules; module; module = module->next)
        if (module->library == library) {
            *out = module;
            return CUDA_SUCCESS;
        }
    return module_create(context, library->image, library, out);
}

/* Takes the lock; the library's module in the current context. */
static CUresult enter_module(CUlibrary library, struct module **out)
{
    struct context *context;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = handle_is(&driver.handles, library, HANDLE_LIBRARY) ? library_module(library, context, out)
                                                                 : CUDA_ERROR_INVALID_HANDLE;
    return result == CUDA_SUCCESS ? result : driver_leave(result);
}

ENTRY(cuLibraryGetModule, CUmodule *out, CUlibrary library)
{
    struct module *module;
    CUresult result = enter_module(library, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *out = module;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuLibraryGetGlobal, CUdeviceptr *out, size_t *byte_count, CUlibrary library, const char *name)
{
    struct module *module;
    uint64_t address, length;
    CUresult result = enter_module(library, &module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!name || (!out && !byte_count))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (!module_variable(module, name, &address, &length))
        return driver_leave(CUDA_ERROR_NOT_FOUND);
    if (out)
        *out = address;
    if (byte_count)
        *byte_count = length;
    return driver_leave(CUDA_SUCCESS);
}

/* ---- kernels ---- */

ENTRY(cuLibraryGetKernel, CUkernel *out, CUlibrary library, const char *name)
{
    CUresult result = enter(library);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !name)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    const size_t number = image_kernel(library->image, name);
    if (number == SIZE_MAX)
        return driver_leave(CUDA_ERROR_NOT_FOUND);
    *out = &library->kernels[number];
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuLibraryGetKernelCount, unsigned *count, CUlibrary library)
{
    CUresult result = enter(library);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *count = (unsigned)library->kernel_count;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuLibraryEnumerateKernels, CUkernel *out, unsigned count, CUlibrary library)
{
    CUresult result = enter(library);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !count)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count && i < library->kernel_count; i++)
        out[i] = &library->kernels[i];
    return driver_leave(CUDA_SUCCESS);
}

/* Takes the lock. */
static CUresult enter_kernel(CUkernel kernel)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    return handle_is(&driver.handles, kernel, HANDLE_KERNEL) ? CUDA_SUCCESS : driver_leave(CUDA_ERROR_INVALID_HANDLE);
}

ENTRY(cuKernelGetFunction, CUfunction *out, CUkernel kernel)
{
    struct context *context;
    struct function *function;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    result = handle_is(&driver.handles, kernel, HANDLE_KERNEL) ? function_find(context, kernel, &function)
                                                               : CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS)
        *out = function;
    return driver_leave(result);
}

ENTRY(cuKernelGetLibrary, CUlibrary *out, CUkernel kernel)
{
    CUresult result = enter_kernel(kernel);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *out = kernel->library;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuKernelGetName, const char **name, CUkernel kernel)
{
    CUresult result = enter_kernel(kernel);
    if (result != CUDA_SUCCESS)
        return result;
    if (!name)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *name = kernel->code->name;
    return driver_leave(CUDA_SUCCESS);
}
