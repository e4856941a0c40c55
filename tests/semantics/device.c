/* device.c - see device.h. */
#include "semantics/device.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "semantics/must.h"

enum { CLUSTER_DIMENSION = 4, DYNAMIC_SHARED_BYTES = 8, MAP_BYTES = 128, NOT_FOUND = 500 };

const char *semantics_device_open(struct semantics_device *device, const char *library)
{
    void *const opened = dlopen(library, RTLD_NOW), *context;
    int number;
    if (!opened)
        return dlerror();
#define CALL(name, parameters)                                     \
    if (!(device->name = (int(*) parameters)dlsym(opened, #name))) \
        return "the driver lacks " #name;
    SEMANTICS_CALLS(CALL)
#undef CALL
    if (device->cuInit(0) || device->cuDeviceGet(&number, 0) || device->cuDevicePrimaryCtxRetain(&context, number) ||
        device->cuCtxSetCurrent(context))
        return "no device";
    return NULL;
}

void semantics_device_describe(const struct semantics_device *device, char *name, size_t bytes, int *driver_version)
{
    *driver_version = 0;
    device->cuDriverGetVersion(driver_version);
    if (device->cuDeviceGetName(name, (int)bytes, 0))
        *name = 0;
}

struct running {
    const struct semantics_device *device;
    const struct semantics_unit *unit;
    void *module, *function;
    uint64_t input, output;
    _Alignas(64) unsigned char map[MAP_BYTES];
};

static int encode_map(struct running *running)
{
    const struct semantics_tensor *const tensor = &running->unit->tensor;
    for (unsigned i = 0; i < MAP_BYTES; i++)
        running->map[i] = (unsigned char)(i * 7 + 129); /* a parameter like another */
    if (!tensor->is_there)
        return 0;
    const uint64_t base = (tensor->is_output ? running->output : running->input) + tensor->offset;
    if (tensor->is_im2col)
        return running->device->cuTensorMapEncodeIm2col(
            running->map, (int)tensor->data_type, tensor->rank, (void *)(uintptr_t)base, tensor->sizes,
            tensor->strides_bytes, tensor->lower, tensor->upper, tensor->channels, tensor->pixels,
            tensor->element_strides, (int)tensor->interleave, (int)tensor->swizzle, 0, (int)tensor->fill);
    return running->device->cuTensorMapEncodeTiled(running->map, (int)tensor->data_type, tensor->rank,
                                                   (void *)(uintptr_t)base, tensor->sizes, tensor->strides_bytes,
                                                   tensor->box, tensor->element_strides, (int)tensor->interleave,
                                                   (int)tensor->swizzle, 0, (int)tensor->fill);
}

static int launch(struct running *running)
{
    const struct semantics_unit *const unit = running->unit;
    struct semantics_launch_attribute cluster = {.id = CLUSTER_DIMENSION, .value = {unit->cluster, 1, 1}};
    const struct semantics_launch_config config = {.grid = {unit->ctas, 1, 1},
                                                   .block = {unit->threads, 1, 1},
                                                   .shared_bytes = unit->shared_bytes,
                                                   .attributes = &cluster,
                                                   .attribute_count = unit->cluster ? 1 : 0};
    void *parameters[] = {&running->input, &running->output, running->map};
    return running->device->cuLaunchKernelEx(&config, running->function, parameters, NULL);
}

static int run_steps(struct running *running, const char *image, unsigned char *output, char *step)
{
    const struct semantics_device *const device = running->device;
    const struct semantics_unit *const unit = running->unit;
    const size_t input_bytes = unit->input_bytes ? unit->input_bytes : 8;
    int error;
#define STEP(call)                          \
    if ((error = (call)) != 0) {            \
        snprintf(step, 40, "%.39s", #call); \
        return error;                       \
    }
    STEP(device->cuModuleLoadDataEx(&running->module, image, 0, NULL, NULL))
    STEP(device->cuModuleGetFunction(&running->function, running->module, "main"))
    if (unit->shared_bytes)
        STEP(device->cuFuncSetAttribute(running->function, DYNAMIC_SHARED_BYTES, (int)unit->shared_bytes))
    STEP(device->cuMemAlloc_v2(&running->input, input_bytes))
    STEP(device->cuMemAlloc_v2(&running->output, unit->output_bytes))
    if (unit->input_bytes)
        STEP(device->cuMemcpyHtoD_v2(running->input, unit->input, unit->input_bytes))
    STEP(device->cuMemsetD8_v2(running->output, 0, unit->output_bytes))
    STEP(encode_map(running))
    STEP(launch(running))
    STEP(device->cuCtxSynchronize())
    STEP(device->cuMemcpyDtoH_v2(output, running->output, unit->output_bytes))
#undef STEP
    return 0;
}

int semantics_device_run(const struct semantics_device *device, const struct semantics_unit *unit, const char *image,
                         unsigned char *output, char *step)
{
    struct running running = {.device = device, .unit = unit};
    const int error = run_steps(&running, image, output, step);
    if (running.input)
        device->cuMemFree_v2(running.input);
    if (running.output)
        device->cuMemFree_v2(running.output);
    if (running.module)
        device->cuModuleUnload(running.module);
    return error;
}
