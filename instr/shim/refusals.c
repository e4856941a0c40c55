/* refusals.c - calls by which a kernel was to run and that the driver refused: what was asked for, and what the kernel
 * and the device allow.
 *
 * Reads:  the refused call's arguments; attributes of kernel and device, which are asked of the driver only after a
 *         refusal that was not seen before.  Whatever it answers, the app gets its own call's error alone.
 * Writes: rows of the refusal table; a copy of an image that could not be loaded.
 *
 * Nothing is asked of a kernel for which there is no code: the driver would try to load it once more.  Nor of one that
 * nothing has loaded yet what only a function of the context can tell: the driver would load it, and the app did not.
 */
#include "refusals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "contexts.h"
#include "libcuda.h"
#include "module_image.h"
#include "segment.h"
#include "state.h"
#include "tracking.h"

/* Of the table's rows so many hold questions at most (look-ups, modules, attributes): a library may ask for hundreds of
 * kernels that it never launches, and a refused launch must find room. */
enum { QUESTIONS_MOST = WSDBG_REFUSAL_ROWS / 2 };

#define KEY_FIRST offsetof(struct wsdbg_refusal_row, kind)
#define KEY_BYTES (offsetof(struct wsdbg_refusal_row, name) - KEY_FIRST)

/* The code was not there, or not in a form that this driver and device can use. */
static bool is_about_code(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
    case CUDA_ERROR_INVALID_SOURCE:
        return true;
    default:
        return false;
    }
}

/* Other errors of a launch are those of work before it, of the context or of handles. */
bool refusal_is_about_launch(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
        return true;
    default:
        return is_about_code(result);
    }
}

static struct wsdbg_refusal_row begin_row(enum wsdbg_refusal_kind kind, const char *call, const void *handle,
                                          CUresult result)
{
    struct wsdbg_refusal_row row;
    memset(&row, 0xff, sizeof row); /* every number not known */
    row.time_ns = shim_now_ns();
    row.times = 1;
    row.kind = kind;
    row.handle = (uint64_t)(uintptr_t)handle;
    row.result = result;
    row.flags = row.image = row.reserved = row.reserved_too = 0;
    memset(row.call, 0, sizeof row.call);
    memset(row.name, 0, sizeof row.name);
    snprintf(row.call, sizeof row.call, "%s", call);
    return row;
}

/* Lock held. */
static struct wsdbg_refusal_row *find_same(const struct wsdbg_refusal_row *row)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    for (uint32_t i = 0; i < segment->refusal_count; i++)
        if (memcmp((const char *)&segment->refusals[i] + KEY_FIRST, (const char *)row + KEY_FIRST, KEY_BYTES) == 0)
            return &segment->refusals[i];
    return NULL;
}

/* Lock held. */
static bool has_room(const struct wsdbg_segment *segment, enum wsdbg_refusal_kind kind)
{
    return segment->refusal_count < (kind == WSDBG_REFUSAL_LAUNCH ? WSDBG_REFUSAL_ROWS : QUESTIONS_MOST);
}

/* Counts a refusal like one before it, or for which there is no room; false = the caller is to describe it. */
static bool is_counted(const struct wsdbg_refusal_row *row)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    shim_lock();
    struct wsdbg_refusal_row *same = find_same(row);
    const bool full = !has_room(segment, row->kind);
    if (same)
        __atomic_fetch_add(&same->times, 1, __ATOMIC_RELAXED);
    else if (full)
        __atomic_fetch_add(&segment->refusals_left_out, 1, __ATOMIC_RELAXED);
    shim_unlock();
    return same || full;
}

static void publish(const struct wsdbg_refusal_row *row)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    shim_lock();
    struct wsdbg_refusal_row *same = find_same(row);
    const uint32_t count = segment->refusal_count;
    if (same) {
        __atomic_fetch_add(&same->times, 1, __ATOMIC_RELAXED);
    } else if (has_room(segment, row->kind)) {
        segment->refusals[count] = *row;
        __atomic_store_n(&segment->refusal_count, count + 1, __ATOMIC_RELEASE);
    }
    shim_unlock();
}

/* ---- what kernel and device allow ---- */

static uint32_t device_number(int attribute, CUdevice device)
{
    int value = 0;
    if (shim_driver.cuDeviceGetAttribute(&value, attribute, device) != CUDA_SUCCESS || value < 0)
        return WSDBG_UNKNOWN32;
    return (uint32_t)value;
}

static void describe_device(struct wsdbg_refusal_row *row, CUdevice device)
{
    const uint32_t major = device_number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    const uint32_t minor = device_number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    if (major != WSDBG_UNKNOWN32 && minor != WSDBG_UNKNOWN32)
        row->compute_capability = 10 * major + minor;
    row->registers_per_cta = device_number(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, device);
    row->threads_per_cta = device_number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
    row->shared_per_cta = device_number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device);
    row->shared_per_cta_most = device_number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device);
    row->cooperative = device_number(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, device);
    row->sm_count = device_number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
}

/* A function of the current context, or a kernel on a device. */
struct asked {
    CUfunction function; /* NULL: */
    CUkernel kernel;
    CUdevice device;
};

static uint32_t kernel_number(int attribute, const struct asked *asked)
{
    int value = 0;
    CUresult result = CUDA_ERROR_UNKNOWN;
    if (asked->function)
        result = shim_driver.cuFuncGetAttribute(&value, attribute, asked->function);
    else if (asked->kernel && shim_driver.cuKernelGetAttribute)
        result = shim_driver.cuKernelGetAttribute(&value, attribute, asked->kernel, asked->device);
    return result == CUDA_SUCCESS && value >= 0 ? (uint32_t)value : WSDBG_UNKNOWN32;
}

static void describe_kernel(struct wsdbg_refusal_row *row, const struct asked *asked)
{
    row->registers = kernel_number(CU_FUNC_ATTRIBUTE_NUM_REGS, asked);
    row->static_shared_bytes = kernel_number(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, asked);
    row->most_dynamic_shared_bytes = kernel_number(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, asked);
    row->most_threads = kernel_number(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, asked);
    for (int axis = 0; axis < 3; axis++)
        row->required_cluster[axis] = kernel_number(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + axis, asked);
    row->non_portable_cluster = kernel_number(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, asked);
    row->must_have_cluster = kernel_number(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, asked);
}

static void name_kernel(struct wsdbg_refusal_row *row, CUfunction function, CUkernel kernel)
{
    const char *name = NULL;
    CUresult result = CUDA_ERROR_UNKNOWN;
    if (row->name[0])
        return;
    if (function && shim_driver.cuFuncGetName)
        result = shim_driver.cuFuncGetName(&name, function);
    else if (kernel && shim_driver.cuKernelGetName)
        result = shim_driver.cuKernelGetName(&name, kernel);
    if (result == CUDA_SUCCESS && name)
        snprintf(row->name, sizeof row->name, "%s", name);
}

/* How many such CTAs, or clusters of them, would have room at one time. */
static void describe_room(struct wsdbg_refusal_row *row, CUfunction function)
{
    struct cu_launch_attribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    struct cu_launch_config config = {.shared_bytes = row->dynamic_shared_bytes, .attributes = &cluster};
    const bool given = row->cluster[0] != WSDBG_UNKNOWN32;
    const uint64_t threads = (uint64_t)row->block[0] * row->block[1] * row->block[2];
    int count = 0;
    memcpy(config.grid, row->grid, sizeof config.grid);
    memcpy(config.block, row->block, sizeof config.block);
    memcpy(cluster.value.cluster, row->cluster, sizeof row->cluster);
    config.attribute_count = given ? 1 : 0;
    if (threads == 0 || threads > 1024)
        return;
    if ((given || row->required_cluster[0] - 1 < 1024) && shim_driver.cuOccupancyMaxActiveClusters &&
        shim_driver.cuOccupancyMaxActiveClusters(&count, function, &config) == CUDA_SUCCESS && count >= 0)
        row->clusters_most = (uint32_t)count;
    if (row->flags & WSDBG_LAUNCH_COOPERATIVE && shim_driver.cuOccupancyMaxActiveBlocksPerMultiprocessor &&
        shim_driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, function, (int)threads,
                                                                row->dynamic_shared_bytes) == CUDA_SUCCESS &&
        count >= 0)
        row->ctas_per_sm = (uint32_t)count;
}

/* ---- the three kinds ---- */

static void describe_launch(struct wsdbg_refusal_row *row, CUfunction handle, uint32_t function_row)
{
    CUlibrary library = NULL;
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    const bool has_code = !is_about_code(row->result);
    const CUfunction function = tracking_look_into(handle, row->context, &library);
    row->function = function_row;
    if (function_row != WSDBG_UNKNOWN32)
        row->module = segment->functions[function_row].module;
    if (row->module == WSDBG_UNKNOWN32)
        row->module = tracking_module_row(NULL, library);
    if (row->context != WSDBG_UNKNOWN32)
        describe_device(row, shim_contexts[row->context].device);
    name_kernel(row, function, library ? handle : NULL);
    if (!function || !has_code)
        return;
    const struct asked asked = {.function = function};
    describe_kernel(row, &asked);
    describe_room(row, function);
}

void refusal_launch(const char *call, const struct wsdbg_launch_row *launch, CUfunction handle, CUresult result)
{
    const int kept = errno;
    if (!handle || !refusal_is_about_launch(result))
        return;
    struct wsdbg_refusal_row row = begin_row(WSDBG_REFUSAL_LAUNCH, call, handle, result);
    row.context = launch->context;
    memcpy(row.grid, launch->grid, sizeof row.grid);
    memcpy(row.block, launch->block, sizeof row.block);
    memcpy(row.cluster, launch->cluster, sizeof row.cluster);
    row.dynamic_shared_bytes = launch->dynamic_shared_bytes;
    row.flags = launch->flags;
    if (!is_counted(&row)) {
        describe_launch(&row, handle, launch->function);
        publish(&row);
    }
    errno = kept;
}

void refusal_node(const char *call, CUfunction handle, const struct cu_kernel_node *kernel, CUresult result)
{
    const int kept = errno;
    struct wsdbg_launch_row row = {.context = contexts_current()};
    memcpy(row.grid, kernel->grid, sizeof row.grid);
    memcpy(row.block, kernel->block, sizeof row.block);
    memset(row.cluster, 0xff, sizeof row.cluster);
    row.dynamic_shared_bytes = kernel->shared_bytes;
    row.function = tracking_seen_function(handle, row.context);
    refusal_launch(call, &row, handle, result);
    errno = kept;
}

void refusal_graph(const char *call, const void *graph, CUresult result)
{
    const int kept = errno;
    if (!refusal_is_about_launch(result))
        return;
    struct wsdbg_refusal_row row = begin_row(WSDBG_REFUSAL_LAUNCH, call, graph, result);
    row.context = contexts_current();
    row.flags = WSDBG_LAUNCH_GRAPH;
    if (!is_counted(&row)) {
        if (row.context != WSDBG_UNKNOWN32)
            describe_device(&row, shim_contexts[row.context].device);
        publish(&row);
    }
    errno = kept;
}

void refusal_code(const char *call, const struct refused_code *code, CUresult result)
{
    static _Atomic uint32_t images;
    const int kept = errno;
    if (!is_about_code(result))
        return;
    const void *const handle = code->kernel    ? code->kernel
                               : code->library ? code->library
                               : code->module  ? code->module
                                               : code->image;
    struct wsdbg_refusal_row row = begin_row(WSDBG_REFUSAL_CODE, call, handle, result);
    row.context = contexts_current();
    if (code->name)
        snprintf(row.name, sizeof row.name, "%s", code->name);
    if (!is_counted(&row)) {
        CUlibrary library = code->library;
        if (code->kernel)
            tracking_look_into(code->kernel, row.context, &library);
        name_kernel(&row, NULL, code->kernel);
        row.module = tracking_module_row(code->module, library);
        if (row.context != WSDBG_UNKNOWN32)
            describe_device(&row, shim_contexts[row.context].device);
        const uint32_t image = code->image ? atomic_fetch_add(&images, 1) + 1 : 0;
        if (image && image <= WSDBG_REFUSAL_ROWS && image_keep_refused(code->image, image))
            row.image = image;
        publish(&row);
    }
    errno = kept;
}

void refusal_setting(const char *call, const struct refused_setting *setting, CUresult result)
{
    const int kept = errno;
    if (!refusal_is_about_launch(result))
        return;
    void *const handle = setting->function ? setting->function : setting->kernel;
    struct wsdbg_refusal_row row = begin_row(WSDBG_REFUSAL_SETTING, call, handle, result);
    row.context = contexts_current();
    row.attribute = (uint32_t)setting->attribute;
    row.value = (uint32_t)setting->value;
    if (!is_counted(&row)) {
        CUlibrary library = NULL;
        const bool has_code = !is_about_code(result);
        const bool of_context = setting->function && row.context != WSDBG_UNKNOWN32;
        struct asked asked = {.kernel = setting->kernel, .device = setting->device};
        if (of_context)
            asked.device = shim_contexts[row.context].device;
        if (setting->function)
            asked.function = tracking_look_into(setting->function, row.context, &library);
        if (!asked.function && library)
            asked.kernel = setting->function;
        if (of_context || setting->kernel)
            describe_device(&row, asked.device);
        name_kernel(&row, asked.function, asked.kernel);
        row.module = tracking_module_row(NULL, library);
        if (has_code)
            describe_kernel(&row, &asked);
        publish(&row);
    }
    errno = kept;
}
