/* shapes_work.c - see shapes_work.h.
 *
 * Reads: the image and the table of demo_kernels/waits.  Writes: device memory of its own.  A step turns every value v
 * into v * 1664525 + 1013904223, ROUNDS times, modulo 2^32; what many steps make of it is an affine function too, so
 * that the host knows the result without doing the work.
 */
#include "shapes_work.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../demo_kernels/common/image.h"

IMAGE(waits)

enum { VALUES = 4096, THREADS = 128, ROUNDS = 500000, SOURCE_BYTES = 1024 };
#define FACTOR 1664525u
#define SUMMAND 1013904223u

static const char step_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry shapes_step(.param .u64 values, .param .u32 rounds)\n{\n"
    " .reg .u64 %a, %o;\n .reg .u32 %v, %n, %i, %b, %w;\n .reg .pred %p;\n"
    " ld.param.u64 %a, [values];\n ld.param.u32 %n, [rounds];\n"
    " mov.u32 %i, %tid.x;\n mov.u32 %b, %ctaid.x;\n mov.u32 %w, %ntid.x;\n mad.lo.u32 %i, %b, %w, %i;\n"
    " mul.wide.u32 %o, %i, 4;\n add.u64 %a, %a, %o;\n ld.global.u32 %v, [%a];\n"
    "AGAIN: mad.lo.u32 %v, %v, 1664525, 1013904223;\n sub.u32 %n, %n, 1;\n setp.ne.u32 %p, %n, 0;\n @%p bra AGAIN;\n"
    " st.global.u32 [%a], %v;\n ret;\n}\n";

static const struct hang_row rows[] = {
#define WAIT(id, name, cause, role, barrier, kind, ctas, threads, story) {#id, cause, ctas, threads},
#include "../../demo_kernels/waits/waits.def"
#undef WAIT
};

const struct hang_row *hang_find(const char *id)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].id, id) == 0)
            return &rows[i];
    return NULL;
}

#define SYMBOL_TEXT(symbol) #symbol
#define SYMBOL(function) SYMBOL_TEXT(function)

static struct wsdbg_error *find_more(struct shapes_driver *more)
{
    void *const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "no NVIDIA driver: %s", dlerror());
#define SHAPES_FIND(function)                                                 \
    more->function = (__typeof__(&function))dlsym(library, SYMBOL(function)); \
    if (!more->function)                                                      \
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "the NVIDIA driver has no %s", SYMBOL(function));
    SHAPES_FUNCTIONS(SHAPES_FIND)
#undef SHAPES_FIND
    more->context_create = (CUresult(*)(CUcontext *, unsigned, CUdevice))dlsym(library, "cuCtxCreate_v2");
    return more->context_create ? NULL
                                : wsdbg_error_create(WSDBG_ERROR_VERSION, "the NVIDIA driver has no cuCtxCreate_v2");
}

struct wsdbg_error *shapes_open(struct device *device, struct shapes_driver *more)
{
    /* Streams that share a hardware queue with a kernel that hangs would stand still too. */
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
    struct wsdbg_error *error = find_more(more);
    return error ? error : device_open(device);
}

struct wsdbg_error *lane_call(const struct lane *lane, CUresult result, const char *what)
{
    return device_check(&lane->device, result, what);
}

struct wsdbg_error *lane_enter(const struct lane *lane)
{
    return lane_call(lane, lane->device.cu.cuCtxSetCurrent(lane->device.context), "cuCtxSetCurrent");
}

static struct wsdbg_error *open_context(struct lane *lane, int ordinal)
{
    struct device *device = &lane->device;
    struct wsdbg_error *error = lane_call(lane, device->cu.cuDeviceGet(&device->handle, ordinal), "cuDeviceGet");
    if (!error)
        error = lane_call(lane, lane->more->context_create(&device->context, 0, device->handle), "cuCtxCreate");
    lane->own_context = !error;
    return error;
}

static struct wsdbg_error *load(struct lane *lane)
{
    char hang[64];
    snprintf(hang, sizeof hang, "wait_%s", lane->row->id);
    CUmodule module;
    struct wsdbg_error *error = device_load(&lane->device, step_ptx, "shapes_step", 0, &module, &lane->step);
    return error ? error : device_load(&lane->device, image_waits, hang, 0, &module, &lane->hang);
}

static struct wsdbg_error *allocate(struct lane *lane)
{
    lane->host = malloc(VALUES * sizeof *lane->host);
    if (!lane->host)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < VALUES; i++)
        lane->host[i] = i;
    struct wsdbg_error *error = device_upload(&lane->device, lane->host, VALUES * sizeof *lane->host, &lane->values);
    if (!error)
        error = device_upload(&lane->device, NULL, SOURCE_BYTES, &lane->source);
    return error ? error : device_upload(&lane->device, NULL, sizeof(uint32_t), &lane->flag);
}

/* The first step loads code and must not be the first thing behind a kernel that hangs. */
static struct wsdbg_error *warm_up(struct lane *lane)
{
    struct wsdbg_error *error = lane_step(lane);
    return error ? error : lane_check(lane);
}

struct wsdbg_error *lane_open(const struct device *device, const struct shapes_driver *more, int ordinal,
                              const char *hang, struct lane *out)
{
    *out = (struct lane){.device = *device, .more = more, .factor = 1, .row = hang_find(hang)};
    if (!out->row)
        return wsdbg_error_create(WSDBG_ERROR_OTHER, "there is no kernel '%s'", hang);
    out->device.stream = NULL;
    struct wsdbg_error *error = ordinal >= 0 ? open_context(out, ordinal) : NULL;
    if (!error)
        error = lane_enter(out);
    if (!error)
        error = lane_call(out, out->device.cu.cuStreamCreate(&out->device.stream, CU_STREAM_NON_BLOCKING),
                          "cuStreamCreate");
    if (!error)
        error = load(out);
    if (!error)
        error = allocate(out);
    return error ? error : warm_up(out);
}

void lane_close(struct lane *lane)
{
    free(lane->host);
    if (lane->own_context)
        lane->more->cuCtxDestroy(lane->device.context);
    *lane = (struct lane){0};
}

struct affine {
    uint32_t factor, summand;
};

static struct affine then(struct affine first, struct affine second)
{
    return (struct affine){first.factor * second.factor, first.summand * second.factor + second.summand};
}

/* By squaring. */
static struct affine rounds(unsigned count)
{
    struct affine power = {FACTOR, SUMMAND}, out = {1, 0};
    for (; count; count /= 2, power = then(power, power))
        if (count % 2)
            out = then(out, power);
    return out;
}

void lane_count_steps(struct lane *lane, unsigned count)
{
    struct affine done = {lane->factor, lane->summand};
    for (unsigned i = 0; i < count; i++)
        done = then(done, rounds(ROUNDS));
    lane->factor = done.factor;
    lane->summand = done.summand;
    lane->steps += count;
}

struct wsdbg_error *lane_step(struct lane *lane)
{
    uint32_t round_count = ROUNDS;
    void *parameters[] = {&lane->values, &round_count};
    struct wsdbg_error *error = lane_enter(lane);
    if (!error)
        error = lane_call(lane,
                          lane->device.cu.cuLaunchKernel(lane->step, VALUES / THREADS, 1, 1, THREADS, 1, 1, 0,
                                                         lane->device.stream, parameters, NULL),
                          "cuLaunchKernel");
    if (!error)
        lane_count_steps(lane, 1);
    return error;
}

struct wsdbg_error *lane_wait(struct lane *lane)
{
    struct wsdbg_error *error = lane_enter(lane);
    return error ? error
                 : lane_call(lane, lane->device.cu.cuStreamSynchronize(lane->device.stream), "cuStreamSynchronize");
}

struct wsdbg_error *lane_check(struct lane *lane)
{
    struct wsdbg_error *error = lane_enter(lane);
    if (!error)
        error = lane_call(
            lane,
            lane->more->cuMemcpyDtoHAsync(lane->host, lane->values, VALUES * sizeof *lane->host, lane->device.stream),
            "cuMemcpyDtoHAsync");
    if (!error)
        error = lane_wait(lane);
    for (uint32_t i = 0; !error && i < VALUES; i++)
        if (lane->host[i] != i * lane->factor + lane->summand)
            error =
                wsdbg_error_create(WSDBG_ERROR_OTHER, "wrong result: value %u is %u, not %u after %llu steps", i,
                                   lane->host[i], i * lane->factor + lane->summand, (unsigned long long)lane->steps);
    return error;
}

struct wsdbg_error *lane_hang(struct lane *lane)
{
    uint64_t limit_ns = 0;
    void *parameters[] = {&lane->flag, &lane->source, &limit_ns};
    struct wsdbg_error *error = lane_enter(lane);
    return error ? error
                 : lane_call(lane,
                             lane->device.cu.cuLaunchKernel(lane->hang, lane->row->ctas, 1, 1, lane->row->threads, 1, 1,
                                                            0, lane->device.stream, parameters, NULL),
                             "cuLaunchKernel");
}

void lane_step_node(struct lane *lane, struct node_words *words)
{
    *words = (struct node_words){.pointers = {lane->values}, .rounds = ROUNDS};
    words->parameters[0] = &words->pointers[0];
    words->parameters[1] = &words->rounds;
    words->node = (CUDA_KERNEL_NODE_PARAMS){.func = lane->step,
                                            .gridDimX = VALUES / THREADS,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = THREADS,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = words->parameters};
}

void lane_hang_node(struct lane *lane, struct node_words *words)
{
    *words = (struct node_words){.pointers = {lane->flag, lane->source}};
    words->parameters[0] = &words->pointers[0];
    words->parameters[1] = &words->pointers[1];
    words->parameters[2] = &words->limit_ns;
    words->node = (CUDA_KERNEL_NODE_PARAMS){.func = lane->hang,
                                            .gridDimX = lane->row->ctas,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = lane->row->threads,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = words->parameters};
}
