/* module.c - modules: programs in the memory of one context.
 *
 * Unloading waits for the launches that use it.
 * Reads: images.  Writes: modules, their functions' handles, variables in device memory.
 */
#include <stdlib.h>

#include "libcuda/graph.h"
#include "libcuda/image.h"
#include "libcuda/queue.h"

CUresult module_create(struct context *context, struct image *image, struct library *library, struct module **out)
{
    struct module *module = calloc(1, sizeof *module);
    if (!module)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct wsdbg_error *error = wsdbg_gpu_load(context->gpu, image->program, &module->gpu_module);
    if (error) {
        driver_say_error("a module was not loaded", error);
        free(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    wsdbg_gpu_set_text(module->gpu_module, image->text, image->text_bytes);
    module->context = context;
    module->image = image;
    module->library = library;
    module->next = context->modules;
    context->modules = module;
    image->users++;
    if (!kernel_set_create(image, module, library, &module->functions) ||
        !handle_add(&driver.handles, module, HANDLE_MODULE)) {
        module_destroy(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = module;
    return CUDA_SUCCESS;
}

void module_destroy(struct module *module)
{
    for (struct module **link = &module->context->modules; *link; link = &(*link)->next)
        if (*link == module) {
            *link = module->next;
            break;
        }
    graph_forget_module(module);
    kernel_set_destroy(&module->functions);
    handle_remove(&driver.handles, module);
    wsdbg_gpu_unload(module->context->gpu, module->gpu_module);
    image_release(module->image);
    free(module);
}

CUresult module_variable(struct module *module, const char *name, CUdeviceptr *address, size_t *byte_count)
{
    uint64_t at, length;
    if (!name || (!address && !byte_count))
        return CUDA_ERROR_INVALID_VALUE;
    if (!wsdbg_gpu_variable(module->gpu_module, name, &at, &length) &&
        !wsdbg_gpu_probe_variable(module->context->gpu, module->gpu_module, name, &at, &length))
        return CUDA_ERROR_NOT_FOUND;
    if (address)
        *address = at;
    if (byte_count)
        *byte_count = length;
    return CUDA_SUCCESS;
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

/* ---- loading ---- */

/* Programs are parsed without the lock. */
static CUresult load(CUmodule *out, const void *bytes, const char *path, struct jit *jit)
{
    struct context *context;
    struct image *image = NULL;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    driver_unlock();
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    result = image_load(bytes, path, jit, &image);
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    result = context->is_destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : module_create(context, image, NULL, out);
    image_release(image);
    return driver_leave(result);
}

ENTRY(cuModuleLoad, CUmodule *out, const char *path)
{
    return load(out, NULL, path, NULL);
}

ENTRY(cuModuleLoadData, CUmodule *out, const void *bytes)
{
    return load(out, bytes, NULL, NULL);
}

ENTRY(cuModuleLoadFatBinary, CUmodule *out, const void *bytes)
{
    return load(out, bytes, NULL, NULL);
}

ENTRY(cuModuleLoadDataEx, CUmodule *out, const void *bytes, unsigned count, const int *options, void **values)
{
    struct jit jit = jit_begin(count, options, values);
    return load(out, bytes, NULL, &jit);
}

/* ---- what a module has ---- */

/* Takes the lock; the module may be of another context than the current one. */
static CUresult enter(CUmodule module)
{
    CUresult result = driver_enter_handle(module, HANDLE_MODULE);
    if (result != CUDA_SUCCESS)
        return result;
    return module->context->failure ? driver_leave(module->context->failure) : CUDA_SUCCESS;
}

/* Waits for the context's work: a kernel of the module may be running. */
ENTRY(cuModuleUnload, CUmodule module)
{
    CUresult result = enter(module);
    if (result != CUDA_SUCCESS)
        return result;
    if (module->library)
        return driver_leave(CUDA_ERROR_NOT_PERMITTED);
    handle_remove(&driver.handles, module);
    kernel_set_withdraw(&module->functions);
    result = queue_wait_for_module(module->context, module->gpu_module);
    if (result == CUDA_SUCCESS) /* else it goes, or went, with its context */
        module_destroy(module);
    return driver_leave(result);
}

ENTRY(cuModuleGetFunction, CUfunction *out, CUmodule module, const char *name)
{
    CUresult result = enter(module);
    return result == CUDA_SUCCESS ? driver_leave(kernel_set_find(&module->functions, name, out)) : result;
}

ENTRY(cuModuleGetGlobal_v2, CUdeviceptr *out, size_t *byte_count, CUmodule module, const char *name)
{
    CUresult result = enter(module);
    return result == CUDA_SUCCESS ? driver_leave(module_variable(module, name, out, byte_count)) : result;
}

ENTRY(cuModuleGetFunctionCount, unsigned *count, CUmodule module)
{
    CUresult result = enter(module);
    return result == CUDA_SUCCESS ? driver_leave(kernel_set_count(&module->functions, count)) : result;
}

ENTRY(cuModuleEnumerateFunctions, CUfunction *out, unsigned count, CUmodule module)
{
    CUresult result = enter(module);
    return result == CUDA_SUCCESS ? driver_leave(kernel_set_list(&module->functions, out, count)) : result;
}

ENTRY(cuModuleGetLoadingMode, int *mode)
{
    enum { EAGER = 1 };
    CUresult result = driver_ready();
    if (result == CUDA_SUCCESS && !mode)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *mode = EAGER;
    return result;
}
