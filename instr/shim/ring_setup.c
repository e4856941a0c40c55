/* ring_setup.c - gives a probed module its ring: slots, history, and the config constant that points at them.
 *
 * Reads:  the module's symbols wsdbg_config_v1 and wsdbg_names_v1.
 * Writes: the context's slots and history in device memory, their mirrors in the segment, the config constant,
 *         name rows, the context and module rows.
 *
 * Runs before a launch or after a lookup, with the module's context current.  A module without the symbol costs
 * one query.  All copies are asynchronous, on a stream of our own that does not wait for the app's streams, and
 * we wait for them by asking, with a deadline; stream captures of this thread are relaxed meanwhile.
 */
#include "ring_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "contexts.h"
#include "copy_thread.h"
#include "debug_calls.h"
#include "libcuda.h"
#include "messages.h"
#include "own_threads.h"
#include "region.h"
#include "registry.h"
#include "ring_memory.h"
#include "sanitizers.h"
#include "segment.h"
#include "state.h"

#define COPY_DEADLINE_NS 2000000000ull

static void relax_capture(int *mode)
{
    if (shim_driver.cuThreadExchangeStreamCaptureMode)
        shim_driver.cuThreadExchangeStreamCaptureMode(mode);
}

/* Waits for our own stream; 0 = done, NOT_READY = still busy at the deadline. */
static CUresult wait_copy(CUstream stream)
{
    uint64_t deadline = shim_now_ns() + COPY_DEADLINE_NS;
    CUresult result;
    while ((result = shim_driver.cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY && shim_now_ns() < deadline)
        shim_sleep_us(20);
    return result;
}

static CUresult register_memory(void *memory, uint64_t bytes)
{
    const CUresult result = shim_driver.cuMemHostRegister_v2(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE);
    return result == CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED ? CUDA_SUCCESS : result;
}

/* Gives memory in the segment, and the memory to which the copy engine writes (`landing`).  It is the same if the
 * driver can register it.  Otherwise the copy thread copies from `landing` to the segment. */
static bool shared_region(const struct shim_context *context, uint64_t bytes, uint64_t *offset, void **memory,
                          void **landing, char *why)
{
    if (!region_take((uint32_t)(context - shim_contexts), bytes, offset, memory, why))
        return false;
    *landing = *memory;
    CUresult result = register_memory(*memory, bytes);
    if (result != CUDA_SUCCESS && !contexts_ended_by(result) && (*landing = region_landing(*memory)))
        result = register_memory(*landing, bytes);
    if (result == CUDA_SUCCESS)
        return true;
    snprintf(why, WSDBG_TEXT_BYTES, "the driver cannot register shared memory (error %d)", result);
    return false;
}

static uint32_t wanted_depth(void)
{
    const char *text = getenv(WSDBG_ENV_HISTORY);
    unsigned long depth = text && *text ? strtoul(text, NULL, 10) : WSDBG_HISTORY_DEPTH_MAX;
    if (depth > WSDBG_HISTORY_DEPTH_MAX)
        depth = WSDBG_HISTORY_DEPTH_MAX;
    while (depth & (depth - 1))
        depth &= depth - 1;
    return (uint32_t)depth;
}

/* History is a convenience: whatever fails here leaves the slots working and a note. */
static void add_history(struct shim_context *context, struct wsdbg_context_row *row)
{
    const uint32_t index = (uint32_t)(context - shim_contexts);
    uint32_t wanted = wanted_depth(), depth = wanted;
    uint64_t event_bytes = (uint64_t)row->slot_count * sizeof(struct wsdbg_event);
    while (depth && !region_fits(event_bytes * depth))
        depth /= 2;
    if (depth < wanted)
        shim_note("history is %u events a warp instead of %u: the segment's limit is %llu MiB", depth, wanted,
                  (unsigned long long)(atomic_load(&shim_segment)->limit_bytes >> 20));
    if (!depth)
        return;
    CUdeviceptr history = 0;
    char why[WSDBG_TEXT_BYTES] = "";
    uint64_t offset = 0, bytes = event_bytes * depth;
    CUresult result = ring_memory_take(index, WSDBG_MEMORY_HISTORY, bytes, 0, &history);
    if (result != CUDA_SUCCESS) {
        shim_note("no history: the GPU has no %llu MiB for it (error %d)", (unsigned long long)(bytes >> 20), result);
        return;
    }
    if (!shared_region(context, bytes, &offset, &context->mirror, &context->history_landing, why)) {
        shim_note("no history: %s", why);
        return;
    }
    context->history = history;
    context->history_bytes = bytes;
    context->config.history_address = history;
    context->config.history_stride = depth * (uint32_t)sizeof(struct wsdbg_event);
    context->config.history_mask = depth - 1;
    row->history_offset = offset;
    row->history_device_address = history;
    row->history_depth = depth;
}

static bool refuse(char *why, const char *what, CUresult result)
{
    snprintf(why, WSDBG_TEXT_BYTES, "the driver refused %s (error %d)", what, result);
    return false;
}

/* Slots, their mirror, and the streams; the row is filled but not published. */
static bool add_slots(struct shim_context *context, struct wsdbg_context_row *row, char *why)
{
    void *memory = NULL;
    uint64_t bytes = (uint64_t)row->slot_count * sizeof(struct wsdbg_slot);
    CUresult result = shim_driver.cuStreamCreate(&context->stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        result = shim_driver.cuStreamCreate(&context->copy_stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return refuse(why, "a stream", result);
    if (!shared_region(context, bytes + SHIM_BOUNCE_BYTES, &row->slots_offset, &memory, &context->slots_landing, why))
        return false;
    /* Behind the slots, for the GPU alone: the lanes of each slot's warp that are gone (ring.h). */
    const uint64_t leavers_bytes = (uint64_t)row->slot_count * sizeof(uint32_t);
    result = ring_memory_take((uint32_t)(context - shim_contexts), WSDBG_MEMORY_SLOTS, bytes, leavers_bytes,
                              &context->slots);
    if (result != CUDA_SUCCESS)
        return refuse(why, "memory for the slots", result);
    context->slots_mirror = memory;
    context->slots_bytes = bytes;
    context->bounce = (char *)context->slots_landing + bytes;
    context->config = (struct wsdbg_config){.slots_address = context->slots};
    context->config.history_address = context->slots;
    context->config.history_stride = sizeof(struct wsdbg_slot);
    context->config.warps_per_sm = row->warps_per_sm;
    context->config.slot_count = row->slot_count;
    context->config.leavers_offset = (uint32_t)bytes;
    row->slots_device_address = context->slots;
    return true;
}

/* Creates the context's ring; false with a reason. */
static bool create_ring(struct shim_context *context, struct wsdbg_context_row *row, char *why)
{
    struct wsdbg_context_row made = *row;
    made.slot_count = row->sm_count * row->warps_per_sm;
    if (!made.slot_count) {
        snprintf(why, WSDBG_TEXT_BYTES, "the driver does not say how many SMs the device has");
        return false;
    }
    if (!add_slots(context, &made, why))
        return false;
    add_history(context, &made);
    row->slots_offset = made.slots_offset;
    row->slots_device_address = made.slots_device_address;
    row->history_offset = made.history_offset;
    row->history_device_address = made.history_device_address;
    __atomic_store_n(&row->history_depth, made.history_depth, __ATOMIC_RELEASE);
    __atomic_store_n(&row->slot_count, made.slot_count, __ATOMIC_RELEASE);
    return true;
}

static bool have_ring(uint32_t index)
{
    struct shim_context *context = &shim_contexts[index];
    if (atomic_load(&context->ring) != RING_NONE)
        return atomic_load(&context->ring) == RING_READY;
    char why[WSDBG_TEXT_BYTES] = "";
    bool created = create_ring(context, &atomic_load(&shim_segment)->contexts[index], why);
    if (!created) {
        shim_say("no ring for context %u: %s", index, why);
        shim_note("no ring for context %u: %s", index, why);
    }
    atomic_store(&context->ring, created ? RING_READY : RING_FAILED);
    if (created)
        copies_start();
    return created;
}

static CUresult read_names(struct shim_module *module, struct shim_context *context)
{
    CUdeviceptr address = 0;
    size_t bytes = 0;
    uint32_t first = 0;
    if (shim_driver.cuModuleGetGlobal_v2(&address, &bytes, (CUmodule)(uintptr_t)module->module, WSDBG_NAMES_SYMBOL) !=
        CUDA_SUCCESS)
        return CUDA_SUCCESS; /* a module may have no names */
    if (bytes > SHIM_BOUNCE_BYTES)
        bytes = SHIM_BOUNCE_BYTES;
    CUresult result = shim_driver.cuMemcpyDtoHAsync_v2(context->bounce, address, bytes, context->stream);
    if (result == CUDA_SUCCESS)
        result = wait_copy(context->stream);
    if (result != CUDA_SUCCESS)
        return result;
    shim_lock();
    uint32_t count = registry_add_names(context->bounce, (uint32_t)(bytes / sizeof(struct wsdbg_name)), &first);
    struct wsdbg_module_row *row = &atomic_load(&shim_segment)->modules[module->row];
    row->names_first = first;
    __atomic_store_n(&row->names_count, count, __ATOMIC_RELEASE);
    shim_unlock();
    return CUDA_SUCCESS;
}

/* Writes the config and reads it back: probes must never run on an address that did not arrive. */
static CUresult write_config(struct shim_module *module, struct shim_context *context, CUdeviceptr address)
{
    struct wsdbg_config config = context->config;
    char *there = context->bounce, *back = there + sizeof config;
    config.module_id = module->row;
    memcpy(there, &config, sizeof config);
    memset(back, 0xff, sizeof config);
    CUresult result = shim_driver.cuMemcpyHtoDAsync_v2(address, there, sizeof config, context->stream);
    if (result == CUDA_SUCCESS)
        result = shim_driver.cuMemcpyDtoHAsync_v2(back, address, sizeof config, context->stream);
    if (result == CUDA_SUCCESS)
        result = wait_copy(context->stream);
    if (result == CUDA_SUCCESS && memcmp(there, back, sizeof config) != 0) {
        shim_note("the GPU and this process do not see the same shared memory");
        shim_driver.cuMemsetD8Async(address, 0, sizeof config, context->stream);
        result = CUDA_ERROR_UNKNOWN;
    }
    return result;
}

/* One module of a context at a time, since they share the bounce buffer; a bounded wait, not a lock. */
static bool begin_setup(struct shim_context *context)
{
    for (int i = 0; i < 40000; i++) {
        int idle = 0;
        if (atomic_compare_exchange_strong(&context->setup_busy, &idle, 1))
            return true;
        shim_sleep_us(50);
    }
    return false;
}

static int configure_probed(struct shim_module *module, CUdeviceptr address, size_t bytes)
{
    struct shim_context *context = &shim_contexts[module->context];
    if (module->row == WSDBG_UNKNOWN32 || bytes < sizeof(struct wsdbg_config)) {
        shim_note("a probed module has no ring: %s", bytes < sizeof(struct wsdbg_config)
                                                         ? "its probes are of another version"
                                                         : "the module table is full");
        return MODULE_FAILED;
    }
    if (!begin_setup(context))
        return MODULE_FAILED;
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    relax_capture(&mode);
    int state = MODULE_FAILED;
    if (have_ring(module->context)) {
        /* A copy that missed its deadline may still be on its way to or from the bounce memory. */
        CUresult result = wait_copy(context->stream);
        if (result == CUDA_SUCCESS)
            result = read_names(module, context);
        if (result == CUDA_SUCCESS)
            result = write_config(module, context, address);
        if (result == CUDA_SUCCESS)
            state = MODULE_PROBED;
        else
            shim_note("the probes of module %u stay off: copying their set-up gave error %d", module->row, result);
    }
    relax_capture(&mode);
    atomic_store(&context->setup_busy, 0);
    return state;
}

static int configure(struct shim_module *module)
{
    CUdeviceptr address = 0;
    size_t bytes = 0;
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    relax_capture(&mode);
    CUresult result =
        shim_driver.cuModuleGetGlobal_v2(&address, &bytes, (CUmodule)(uintptr_t)module->module, WSDBG_CONFIG_SYMBOL);
    relax_capture(&mode);
    if (result != CUDA_SUCCESS)
        return MODULE_PLAIN;
    if (module->row != WSDBG_UNKNOWN32)
        __atomic_store_n(&atomic_load(&shim_segment)->modules[module->row].probed, 1, __ATOMIC_RELEASE);
    debug_attach_saw_probes();
    return configure_probed(module, address, bytes);
}

void ring_configure(struct shim_module *module)
{
    int state = MODULE_NEW;
    if (module->context == WSDBG_UNKNOWN32 || atomic_load(&shim_exiting))
        return;
    if (atomic_compare_exchange_strong(&module->state, &state, MODULE_BUSY)) {
        sanitizers_ignore_begin();
        state = configure(module);
        sanitizers_ignore_end();
        atomic_store(&module->state, state);
        return;
    }
    /* Another thread is at it: a launch that went ahead of it would run with its probes off. */
    for (int i = 0; i < 40000 && atomic_load(&module->state) == MODULE_BUSY; i++)
        shim_sleep_us(50);
}
