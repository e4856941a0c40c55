/* function.c - kernels: found by handle, described, set.
 *
 * A handle is a function of a module or a kernel of a library, which has a function in each context that uses it.
 * Reads: programs.  Writes: the settings that launches obey.
 */
#include "libcuda/context.h"
#include "libcuda/image.h"

enum { CTA_THREADS_MOST = 1024 };

CUresult function_find(struct context *context, CUfunction handle, struct function **out)
{
    if (handle_is(&driver.handles, handle, HANDLE_FUNCTION)) {
        *out = handle;
        return CUDA_SUCCESS;
    }
    if (!handle_is(&driver.handles, handle, HANDLE_KERNEL))
        return CUDA_ERROR_INVALID_HANDLE;
    struct module *module;
    struct library *library = handle->library;
    CUresult result = library_module(library, context, &module);
    if (result == CUDA_SUCCESS)
        *out = &module->functions.rows[handle - library->kernels.rows];
    return result;
}

/* Takes the lock. */
static CUresult enter(const struct function *function)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    driver_lock();
    if (handle_is(&driver.handles, function, HANDLE_FUNCTION) || handle_is(&driver.handles, function, HANDLE_KERNEL))
        return CUDA_SUCCESS;
    return driver_leave(CUDA_ERROR_INVALID_HANDLE);
}

static uint32_t registers_of(const struct function *function)
{
    const struct image *image = function->module ? function->module->image : function->library->image;
    return function->registers ? function->registers
                               : wsdbg_gpu_usual_registers(image->program, function->code, CTA_THREADS_MOST);
}

/* What the kernel says, and not more than the registers of a multiprocessor allow. */
static int max_threads(const struct function *function)
{
    const uint32_t *said =
        function->code->max_threads[0] ? function->code->max_threads : function->code->required_threads;
    const uint64_t wanted = said[0] ? (uint64_t)said[0] * said[1] * said[2] : CTA_THREADS_MOST;
    const uint32_t most = wsdbg_gpu_threads_most(registers_of(function));
    return (int)(wanted < most ? wanted : most);
}

static int required_cluster(const struct function *function, int dimension)
{
    const uint32_t set = function->settings->required_cluster[dimension];
    return (int)(set ? set : function->code->required_cluster[dimension]);
}

static CUresult get_attribute(const struct function *function, int attribute, int *value)
{
    const struct wsdbg_ptx_function *code = function->code;
    const struct function_settings *settings = function->settings;
    const struct image *image = function->module ? function->module->image : function->library->image;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = max_threads(function);
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)code->shared_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = (int)image->program->const_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)code->local_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = (int)registers_of(function);
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = (int)image->program->target;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 90;
        break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = settings->max_dynamic_shared;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = settings->carveout;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        *value = 0;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = required_cluster(function, attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = settings->non_portable_cluster;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = settings->cluster_policy;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult set_required_cluster(struct function *function, int dimension, int value)
{
    if (function->code->required_cluster[0])
        return CUDA_ERROR_NOT_PERMITTED;
    if (value < 0 || value > 16)
        return CUDA_ERROR_INVALID_VALUE;
    function->settings->required_cluster[dimension] = (uint32_t)value;
    return CUDA_SUCCESS;
}

static CUresult set_attribute(struct function *function, int attribute, int value)
{
    struct function_settings *settings = function->settings;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value > FUNCTION_SHARED_MOST - (int)function->code->shared_bytes)
            return CUDA_ERROR_INVALID_VALUE;
        settings->max_dynamic_shared = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        settings->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return set_required_cluster(function, attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, value);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        settings->non_portable_cluster = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        settings->cluster_policy = value;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuFuncGetAttribute, int *value, int attribute, CUfunction function)
{
    CUresult result = enter(function);
    if (result != CUDA_SUCCESS)
        return result;
    return driver_leave(value ? get_attribute(function, attribute, value) : CUDA_ERROR_INVALID_VALUE);
}

ENTRY(cuFuncSetAttribute, CUfunction function, int attribute, int value)
{
    CUresult result = enter(function);
    return result == CUDA_SUCCESS ? driver_leave(set_attribute(function, attribute, value)) : result;
}

ENTRY(cuKernelGetAttribute, int *value, int attribute, CUkernel kernel, CUdevice device)
{
    return device != 0 ? CUDA_ERROR_INVALID_DEVICE : cuFuncGetAttribute(value, attribute, kernel);
}

ENTRY(cuKernelSetAttribute, int attribute, int value, CUkernel kernel, CUdevice device)
{
    return device != 0 ? CUDA_ERROR_INVALID_DEVICE : cuFuncSetAttribute(kernel, attribute, value);
}

/* Nothing is cached, and shared memory has no banks to be configured. */
static CUresult accept_setting(CUfunction function, int value, int most)
{
    CUresult result = enter(function);
    if (result != CUDA_SUCCESS)
        return result;
    return driver_leave(value < 0 || value > most ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
}

ENTRY(cuFuncSetCacheConfig, CUfunction function, int config)
{
    return accept_setting(function, config, 3);
}

ENTRY(cuKernelSetCacheConfig, CUkernel kernel, int config, CUdevice device)
{
    return device != 0 ? CUDA_ERROR_INVALID_DEVICE : accept_setting(kernel, config, 3);
}

ENTRY(cuFuncSetSharedMemConfig, CUfunction function, int config)
{
    return accept_setting(function, config, 2);
}

ENTRY(cuFuncGetModule, CUmodule *out, CUfunction function)
{
    CUresult result = enter(function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!function->module)
        return driver_leave(CUDA_ERROR_INVALID_HANDLE);
    if (!out)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *out = function->module;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuFuncGetName, const char **name, CUfunction function)
{
    CUresult result = enter(function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!name)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *name = function->code->name;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuFuncGetParamInfo, CUfunction function, size_t number, size_t *offset, size_t *byte_count)
{
    CUresult result = enter(function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!offset || number >= function->code->parameter_count)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *offset = function->code->parameters[number].offset;
    if (byte_count)
        *byte_count = function->code->parameters[number].byte_count;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuKernelGetParamInfo, CUkernel kernel, size_t number, size_t *offset, size_t *byte_count)
{
    return cuFuncGetParamInfo(kernel, number, offset, byte_count);
}

ENTRY(cuFuncIsLoaded, int *state, CUfunction function)
{
    enum { LOADED = 1 };
    CUresult result = enter(function);
    if (result != CUDA_SUCCESS)
        return result;
    if (!state)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *state = LOADED;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuFuncLoad, CUfunction function)
{
    CUresult result = enter(function);
    return result == CUDA_SUCCESS ? driver_leave(result) : result;
}
