/* library.c - libraries: programs in no context, whose modules are made in each context that asks for one.
 *
 * Reads: images.  Writes: libraries, their kernels' handles, modules of contexts.
 */
#include <stdlib.h>

#include "libcuda/context.h"
#include "libcuda/image.h"
#include "libcuda/queue.h"

static void library_destroy(struct library *library)
{
    kernel_set_destroy(&library->kernels);
    handle_remove(&driver.handles, library);
    image_release(library->image);
    free(library);
}

/* Takes over the image. */
static CUresult library_create(struct image *image, struct library **out)
{
    struct library *library = calloc(1, sizeof *library);
    if (!library) {
        image_release(image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    library->image = image;
    if (!kernel_set_create(image, NULL, library, &library->kernels) ||
        !handle_add(&driver.handles, library, HANDLE_LIBRARY)) {
        library_destroy(library);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = library;
    return CUDA_SUCCESS;
}

static CUresult load(CUlibrary *out, const void *bytes, const char *path, struct jit *jit)
{
    struct image *image = NULL;
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    result = image_load(bytes, path, jit, &image);
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    return driver_leave(library_create(image, out));
}

ENTRY(cuLibraryLoadData, CUlibrary *out, const void *bytes, const int *jit_options, void **jit_values,
      unsigned jit_count, const int *options, void **values, unsigned count)
{
    (void)options, (void)values, (void)count;
    struct jit jit = jit_begin(jit_count, jit_options, jit_values);
    return load(out, bytes, NULL, &jit);
}

ENTRY(cuLibraryLoadFromFile, CUlibrary *out, const char *path, const int *jit_options, void **jit_values,
      unsigned jit_count, const int *options, void **values, unsigned count)
{
    (void)options, (void)values, (void)count;
    struct jit jit = jit_begin(jit_count, jit_options, jit_values);
    return load(out, NULL, path, &jit);
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
    CUresult result = driver_enter_handle(library, HANDLE_LIBRARY);
    if (result != CUDA_SUCCESS)
        return result;
    handle_remove(&driver.handles, library);
    kernel_set_withdraw(&library->kernels);
    for (struct module *module; (module = find_module(library));) {
        kernel_set_withdraw(&module->functions);
        queue_wait_for_module(module->context, module->gpu_module);
        if (module == find_module(library))
            module_destroy(module);
    }
    library_destroy(library);
    return driver_leave(CUDA_SUCCESS);
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
    CUresult result = enter_module(library, &module);
    return result == CUDA_SUCCESS ? driver_leave(module_variable(module, name, out, byte_count)) : result;
}

/* All memory here is managed: the host may use it at its address. */
ENTRY(cuLibraryGetManaged, CUdeviceptr *out, size_t *byte_count, CUlibrary library, const char *name)
{
    struct module *module;
    CUresult result = enter_module(library, &module);
    return result == CUDA_SUCCESS ? driver_leave(module_variable(module, name, out, byte_count)) : result;
}

/* ---- kernels ---- */

ENTRY(cuLibraryGetKernel, CUkernel *out, CUlibrary library, const char *name)
{
    CUresult result = driver_enter_handle(library, HANDLE_LIBRARY);
    return result == CUDA_SUCCESS ? driver_leave(kernel_set_find(&library->kernels, name, out)) : result;
}

ENTRY(cuLibraryGetKernelCount, unsigned *count, CUlibrary library)
{
    CUresult result = driver_enter_handle(library, HANDLE_LIBRARY);
    return result == CUDA_SUCCESS ? driver_leave(kernel_set_count(&library->kernels, count)) : result;
}

ENTRY(cuLibraryEnumerateKernels, CUkernel *out, unsigned count, CUlibrary library)
{
    CUresult result = driver_enter_handle(library, HANDLE_LIBRARY);
    return result == CUDA_SUCCESS ? driver_leave(kernel_set_list(&library->kernels, out, count)) : result;
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
    CUresult result = driver_enter_handle(kernel, HANDLE_KERNEL);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *out = kernel->library;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuKernelGetName, const char **name, CUkernel kernel)
{
    CUresult result = driver_enter_handle(kernel, HANDLE_KERNEL);
    if (result != CUDA_SUCCESS)
        return result;
    if (!name)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *name = kernel->code->name;
    return driver_leave(CUDA_SUCCESS);
}
