/* launch.c - launches: from what the driver's calls are given to what the gpu takes, queued in a stream.
 *
 * What the driver refuses at the call is refused here, in words; what shows only when the kernel runs fails the
 * context. Reads: parameters, which may be pointers to nothing; settings of functions.  Writes: operations.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libcuda/image.h"
#include "libcuda/launch.h"
#include "libcuda/queue.h"

enum { PORTABLE_CLUSTER_CTAS = 8 };

/* `extra`: words that name what follows them, up to the end word. */
static CUresult take_extra(void *const *extra, const struct wsdbg_ptx_function *code, unsigned char *out)
{
    const void *buffer = NULL;
    size_t byte_count = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
            byte_count = *(const size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (byte_count < code->parameter_bytes || (!buffer && code->parameter_bytes)) {
        driver_say("a launch is refused: %s: a buffer of %zu bytes, its parameters have %u", code->name,
                   buffer ? byte_count : 0, code->parameter_bytes);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (code->parameter_bytes)
        memcpy(out, buffer, code->parameter_bytes);
    return CUDA_SUCCESS;
}

/* False: some of it is not there.  Where the system does not answer, it is read as the driver would. */
static bool read_own_memory(const void *from, size_t byte_count, void *to)
{
    const struct iovec there = {(void *)(uintptr_t)from, byte_count}, here = {to, byte_count};
    if (!from)
        return false;
    const ssize_t count = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (count < 0 && errno != EFAULT)
        memcpy(to, from, byte_count);
    return count < 0 ? errno != EFAULT : (size_t)count == byte_count;
}

static CUresult take_parameters(const struct launch_request *request, const struct wsdbg_ptx_function *code,
                                unsigned char *out)
{
    if (request->parameters && request->extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (request->extra)
        return take_extra(request->extra, code, out);
    if (code->parameter_count && !request->parameters) {
        driver_say("a launch is refused: %s: it has %zu parameters, none were given", code->name,
                   code->parameter_count);
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < code->parameter_count; i++)
        if (!read_own_memory(request->parameters[i], code->parameters[i].byte_count,
                             out + code->parameters[i].offset)) {
            driver_say("a launch is refused: %s: parameter %zu of %zu: no %u bytes can be read at %p", code->name,
                       i + 1, code->parameter_count, code->parameters[i].byte_count, request->parameters[i]);
            return CUDA_ERROR_INVALID_VALUE;
        }
    return CUDA_SUCCESS;
}

/* What the function's settings allow; the rest the gpu checks. */
static CUresult check_settings(const struct launch_request *request, const struct function *function)
{
    const struct function_settings *settings = function->settings;
    const uint64_t cluster = (uint64_t)request->cluster[0] * request->cluster[1] * request->cluster[2];
    if (request->shared_bytes > (uint32_t)settings->max_dynamic_shared) {
        driver_say("a launch is refused: %s: %u bytes of dynamic shared memory, the function's "
                   "MAX_DYNAMIC_SHARED_SIZE_BYTES is %d",
                   function->code->name, request->shared_bytes, settings->max_dynamic_shared);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (cluster > PORTABLE_CLUSTER_CTAS && !settings->non_portable_cluster) {
        driver_say("a launch is refused: %s: clusters of %llu CTAs: for more than %d the function's "
                   "NON_PORTABLE_CLUSTER_SIZE_ALLOWED must be set",
                   function->code->name, (unsigned long long)cluster, PORTABLE_CLUSTER_CTAS);
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    return CUDA_SUCCESS;
}

static void describe(const struct launch_request *request, const struct function *function,
                     struct wsdbg_gpu_launch *out)
{
    const uint32_t *cluster = request->cluster[0] ? request->cluster : function->settings->required_cluster;
    *out = (struct wsdbg_gpu_launch){.module = function->module->gpu_module,
                                     .function = function->code,
                                     .dynamic_shared_bytes = request->shared_bytes,
                                     .registers_per_thread = function->registers,
                                     .keeps_registers = function->keeps_registers,
                                     .is_cooperative = request->is_cooperative};
    memcpy(out->grid, request->grid, sizeof out->grid);
    memcpy(out->block, request->block, sizeof out->block);
    for (int i = 0; i < 3 && cluster[0]; i++)
        out->cluster[i] = cluster[i] ? cluster[i] : 1;
}

/* An operation for the launch, checked as far as it can be before its turn comes. */
static CUresult prepare(const struct launch_request *request, const struct function *function, struct operation **out)
{
    CUresult result = check_settings(request, function);
    if (result != CUDA_SUCCESS)
        return result;
    struct operation *operation = operation_create(OPERATION_LAUNCH);
    if (!operation)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct launch_operation *launch = &operation->launch;
    launch->parameters = calloc(1, (size_t)function->code->parameter_bytes + 1);
    launch->is_programmatic = request->is_programmatic;
    result =
        launch->parameters ? take_parameters(request, function->code, launch->parameters) : CUDA_ERROR_OUT_OF_MEMORY;
    describe(request, function, &launch->launch);
    launch->launch.parameters = launch->parameters;
    if (result == CUDA_SUCCESS)
        *out = operation;
    else
        operation_destroy(operation);
    return result;
}

CUresult launch_make(struct context *context, const struct launch_request *request, struct operation **out)
{
    struct function *function;
    int driver_error = CUDA_ERROR_LAUNCH_FAILED;
    CUresult result = function_find(context, request->function, &function);
    if (result == CUDA_SUCCESS && function->module->context != context)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS)
        result = prepare(request, function, out);
    if (result != CUDA_SUCCESS)
        return result;
    (*out)->launch.function = function;
    struct wsdbg_error *error = wsdbg_gpu_check(context->gpu, &(*out)->launch.launch, &driver_error);
    if (!error)
        return CUDA_SUCCESS;
    driver_say_error("a launch is refused", error);
    operation_destroy(*out);
    return driver_error;
}

static CUresult launch(const struct launch_request *request, bool per_thread)
{
    struct context *context;
    struct stream *stream;
    struct function *function;
    struct operation *operation;
    CUresult result = driver_enter(&context);
    if (result != CUDA_SUCCESS)
        return result;
    result = function_find(context, request->function, &function);
    if (result == CUDA_SUCCESS)
        result = stream_find(context, request->stream, per_thread, &stream);
    if (result == CUDA_SUCCESS && function->module->context != stream->context)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS)
        result = launch_make(stream->context, request, &operation);
    return driver_leave(result == CUDA_SUCCESS ? queue_add(stream, operation) : result);
}

static CUresult launch_plain(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared_bytes, CUstream stream, void *const *parameters,
                             void *const *extra, bool is_cooperative, bool per_thread)
{
    const struct launch_request request = {.function = function,
                                           .grid = {gx, gy, gz},
                                           .block = {bx, by, bz},
                                           .shared_bytes = shared_bytes,
                                           .stream = stream,
                                           .parameters = parameters,
                                           .extra = extra,
                                           .is_cooperative = is_cooperative};
    return launch(&request, per_thread);
}

STREAM_ENTRY(cuLaunchKernel, _ptsz,
             (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
              unsigned shared_bytes, CUstream stream, void **parameters, void **extra),
             launch_plain, function, gx, gy, gz, bx, by, bz, shared_bytes, stream, parameters, extra, false)
STREAM_ENTRY(cuLaunchCooperativeKernel, _ptsz,
             (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
              unsigned shared_bytes, CUstream stream, void **parameters),
             launch_plain, function, gx, gy, gz, bx, by, bz, shared_bytes, stream, parameters, NULL, true)

/* Attributes about caches, priorities and placement change nothing that a program could see here. */
static CUresult take_attribute(const struct cu_launch_attribute *attribute, struct launch_request *request)
{
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        request->is_cooperative = attribute->value.cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        memcpy(request->cluster, attribute->value.cluster, sizeof request->cluster);
        return request->cluster[0] && request->cluster[1] && request->cluster[2] ? CUDA_SUCCESS
                                                                                 : CUDA_ERROR_INVALID_VALUE;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        request->is_programmatic = attribute->value.programmatic != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        driver_say("launch attribute %u is not simulated", attribute->id);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return attribute->id <= CU_LAUNCH_ATTRIBUTE_LAST ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult launch_with(const struct cu_launch_config *config, CUfunction function, void *const *parameters,
                            void *const *extra, bool per_thread)
{
    CUresult result = CUDA_SUCCESS;
    if (!config || (config->attribute_count && !config->attributes))
        return CUDA_ERROR_INVALID_VALUE;
    struct launch_request request = {.function = function,
                                     .shared_bytes = config->shared_bytes,
                                     .stream = config->stream,
                                     .parameters = parameters,
                                     .extra = extra};
    memcpy(request.grid, config->grid, sizeof request.grid);
    memcpy(request.block, config->block, sizeof request.block);
    for (uint32_t i = 0; i < config->attribute_count && result == CUDA_SUCCESS; i++)
        result = take_attribute(&config->attributes[i], &request);
    return result == CUDA_SUCCESS ? launch(&request, per_thread) : result;
}

STREAM_ENTRY(cuLaunchKernelEx, _ptsz,
             (const struct cu_launch_config *config, CUfunction function, void **parameters, void **extra), launch_with,
             config, function, parameters, extra)
