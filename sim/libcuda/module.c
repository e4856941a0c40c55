/* module.c - modules: programs in the memory of one context. */
#include <stdlib.h>

#include "libcuda/image.h"
#include "libcuda/queue.h"

CUresult module_create(struct context *context, struct image *image, struct library *library, struct module **out)
{
    struct module *module = calloc(1, sizeof *module);
    struct wsdbg_error *error = NULL;
    if (!module)
        return CUDA_ERROR_OUT_OF_MEMORY;
    module->function_count = image_kernel_count(image);
    module->functions = calloc(module->function_count + 1, sizeof *module->functions);
    if (module->functions)
        error = wsdbg_gpu_load(context->gpu, image->program, &module->gpu_module);
    if (!module->functions || error) {
        if (error)
            driver_say_error("a module was not loaded", error);
        free(module->functions);
        free(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->context = context;
    module->image = image;
    module->library = library;
    image_fill_kernels(image, module->functions);
    bool added = handle_add(&driver.handles, module, HANDLE_MODULE);
    for (size_t i = 0; i < module->function_count; i++) {
        struct function *function = &module->functions[i];
        function->module = module;
        function->library = library;
        function->settings = library ? &library->kernels[i].own_settings : &function->own_settings;
        added &= handle_add(&driver.handles, function, HANDLE_FUNCTION);
    }
    module->next = context->modules;
    context->modules = module;
    image->users++;
    if (!added) {
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
    for (size_t i = 0; i < module->function_count; i++)
        handle_remove(&driver.handles, &module->functions[i]);
    handle_remove(&driver.handles, module);
    wsdbg_gpu_unload(module->context->gpu, module->gpu_module);
    image_release(module->image);
    free(module->functions);
    free(module);
}

bool module_variable(struct module *module, const char *name, uint64_t *address, uint64_t *byte_count)
{
    return wsdbg_gpu_variable(module->gpu_module, name, address, byte_count) ||
           wsdbg_gpu_probe_variable(module->context->gpu, module->gpu_module, name, address, byte_count);
}

/* ---- loading ---- */

enum { JIT_ERROR_LOG = 5, JIT_ERROR_LOG_BYTES = 6 };

struct jit_log {
    char *text;
    size_t byte_count;
};

/* Of the options of the compiler only the place for its complaints matters. */
static struct jit_log find_log(unsigned count, const int *options, void *const *values)
{
    struct jit_log log = {NULL, 0};
    for (unsigned i = 0; options && values && i < count; i++) {
        if (options[i] == JIT_ERROR_LOG)
            log.text = values[i];
        else if (options[i] == JIT_ERROR_LOG_BYTES)
            log.byte_count = (uintptr_t)values[i] & UINT32_MAX;
    }
    if (log.text && log.byte_count)
        log.text[0] = '\0';
    return log;
}

/* Programs are parsed without the lock. */
static CUresult load(CUmodule *out, const void *bytes, const char *path, struct jit_log log)
{
    struct context *context;
    struct image *image = NULL;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    driver_unlock();
    if (!out || (!bytes && !path))
        return CUDA_ERROR_INVALID_VALUE;
    result = bytes ? image_of_memory(bytes, log.text, log.byte_count, &image)
                   : image_of_file(path, log.text, log.byte_count, &image);
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    result = context->is_destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : module_create(context, image, NULL, out);
    image_release(image);
    return driver_leave(result);
}

ENTRY(cuModuleLoad, CUmodule *out, const char *path)
{
    return load(out, NULL, path, (struct jit_log){NULL, 0});
}

ENTRY(cuModuleLoadData, CUmodule *out, const void *bytes)
{
    return load(out, bytes, NULL, (struct jit_log){NULL, 0});
}

ENTRY(cuModuleLoadFatBinary, CUmodule *out, const void *bytes)
{
    return load(out, bytes, NULL, (struct jit_log){NULL, 0});
}

ENTRY(cuModuleLoadDataEx, CUmodule *out, const void *bytes, unsigned count, const int *options, void **values)
{
    return load(out, bytes, NULL, find_log(count, options, values));
}

/* ---- what a module has ---- */

/* Takes the lock; the module may be of another context than the current one. */
static CUresult enter(CUmodule module)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    if (!handle_is(&driver.handles, module, HANDLE_MODULE))
        return driver_leave(CUDA_ERROR_INVALID_HANDLE);
    return module->context->failure ? driver_leave(module->context->failure) : CUDA_SUCCESS;
}

/* Waits for the context's work: a kernel of the module may be running. */
ENTRY(cuModuleUnload, CUmodule module)
{
    CUresult result = enter(module);
    if (result != CUDA_SUCCESS)
        return result;
    result = module->library ? CUDA_ERROR_NOT_PERMITTED : queue_wait_all(module->context);
    if (result == CUDA_SUCCESS && handle_is(&driver.handles, module, HANDLE_MODULE))
        module_destroy(module);
    return driver_leave(result);
}

ENTRY(cuModuleGetFunction, CUfunction *out, CUmodule module, const char *name)
{
    CUresult result = enter(module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !name)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    const size_t number = image_kernel(module->image, name);
    if (number == SIZE_MAX)
        return driver_leave(CUDA_ERROR_NOT_FOUND);
    *out = &module->functions[number];
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuModuleGetGlobal_v2, CUdeviceptr *out, size_t *byte_count, CUmodule module, const char *name)
{
    uint64_t address, length;
    CUresult result = enter(module);
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

ENTRY(cuModuleGetFunctionCount, unsigned *count, CUmodule module)
{
    CUresult result = enter(module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!count)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *count = (unsigned)module->function_count;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuModuleEnumerateFunctions, CUfunction *out, unsigned count, CUmodule module)
{
    CUresult result = enter(module);
    if (result != CUDA_SUCCESS)
        return result;
    if (!out || !count)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count && i < module->function_count; i++)
        out[i] = &module->functions[i];
    return driver_leave(CUDA_SUCCESS);
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
