/* ring_setup.c - gives a probed module its ring: slots, history, and the config constant that points at them.
 *
 * Reads:  the module's symbols wsdbg_config_v1 and wsdbg_names_v1.
 * Writes: the context's slots and history in device memory and their mirrors in the segment, or on request in the
 *         segment alone; the config constant, name rows, the context and module rows.
 *
 * Runs before a launch or after a lookup, with the module's context current.  A module without the symbol costs
 * one query.  All copies are asynchronous, on a stream of our own that does not wait for the app's streams, and
 * we wait for them by asking, with a deadline; stream captures of this thread are relaxed meanwhile.
 */
#include "ring_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "captures.h"
#include "clock.h"
#include "contexts.h"
#include "copy_thread.h"
#include "debug_calls.h"
#include "libcuda.h"
#include "messages.h"
#include "own_threads.h"
#include "region.h"
#include "registry.h"
#include "ring_map.h"
#include "ring_memory.h"
#include "sanitizers.h"
#include "segment.h"
#include "state.h"

static CUresult register_memory(void *memory, uint64_t bytes)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (ring_map_is_wanted())
        result =
            shim_driver.cuMemHostRegister_v2(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED && !contexts_ended_by(result))
        result = shim_driver.cuMemHostRegister_v2(memory, bytes, CU_MEMHOSTREGISTER_PORTABLE);
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

/* Events a warp for which the segment has room; 0 = no history. */
static uint32_t depth_that_fits(const struct wsdbg_context_row *row)
{
    const uint32_t wanted = wanted_depth();
    uint32_t depth = wanted;
    while (depth && !region_fits((uint64_t)row->slot_count * sizeof(struct wsdbg_event) * depth))
        depth /= 2;
    if (depth < wanted)
        shim_note("history is %u events a warp instead of %u: the segment's limit is %llu MiB", depth, wanted,
                  (unsigned long long)(atomic_load(&shim_segment)->limit_bytes >> 20));
    return depth;
}

/* History is a convenience: whatever fails here, or where the history is placed, leaves the slots working and a note.
 */
static void add_history(struct shim_context *context, struct wsdbg_context_row *row)
{
    char why[WSDBG_TEXT_BYTES] = "";
    const uint32_t depth = depth_that_fits(row);
    const uint64_t bytes = (uint64_t)row->slot_count * sizeof(struct wsdbg_event) * depth;
    if (!depth)
        return;
    if (!shared_region(context, bytes, &row->history_offset, &context->mirror, &context->history_landing, why)) {
        row->history_offset = 0;
        shim_note("no history: %s", why);
        return;
    }
    context->history_bytes = bytes;
    row->history_depth = depth;
}

static bool refuse(char *why, const char *what, CUresult result)
{
    snprintf(why, WSDBG_TEXT_BYTES, "the driver refused %s (error %d)", what, result);
    return false;
}

/* Words that wsdbg does not read, behind the slots: which lanes of each slot's warp have exited (ring.h). */
static uint64_t leavers_bytes(const struct wsdbg_context_row *row)
{
    return (uint64_t)row->slot_count * sizeof(uint32_t);
}

/* The streams, and the slots' place in the segment; behind them the bounce memory, and what a mapped ring has there. */
static bool add_slots(struct shim_context *context, struct wsdbg_context_row *row, char *why)
{
    const uint64_t bytes = (uint64_t)row->slot_count * sizeof(struct wsdbg_slot);
    const uint64_t behind_bytes = SHIM_BOUNCE_BYTES + (ring_map_is_wanted() ? leavers_bytes(row) : 0);
    CUresult result = shim_driver.cuStreamCreate(&context->stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        result = shim_driver.cuStreamCreate(&context->copy_stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return refuse(why, "a stream", result);
    if (!shared_region(context, bytes + behind_bytes, &row->slots_offset, &context->slots_mirror,
                       &context->slots_landing, why))
        return false;
    context->slots_bytes = bytes;
    context->bounce = (char *)context->slots_landing + bytes;
    return true;
}

/* Takes memory of the GPU for slots and history. */
static bool take_memory(struct shim_context *context, struct wsdbg_context_row *row, char *why)
{
    const uint32_t index = (uint32_t)(context - shim_contexts);
    CUresult result =
        ring_memory_take(index, WSDBG_MEMORY_SLOTS, context->slots_bytes, leavers_bytes(row), &context->slots);
    if (result != CUDA_SUCCESS)
        return refuse(why, "memory for the slots", result);
    if (context->history_bytes)
        result = ring_memory_take(index, WSDBG_MEMORY_HISTORY, context->history_bytes, 0, &context->history);
    if (result != CUDA_SUCCESS) {
        shim_note("no history: the GPU has no %llu MiB for it (error %d)",
                  (unsigned long long)(context->history_bytes >> 20), result);
        context->history = context->history_bytes = 0;
        row->history_offset = row->history_depth = 0;
    }
    row->slots_device_address = context->slots;
    row->history_device_address = context->history;
    return true;
}

/* What the probes are told; without a history they write every event into the slot. */
static void fill_config(struct shim_context *context, const struct wsdbg_context_row *row)
{
    context->config = (struct wsdbg_config){
        .slots_address = context->slots,
        .history_address = context->slots,
        .history_stride = sizeof(struct wsdbg_slot),
        .warps_per_sm = row->warps_per_sm,
        .slot_count = row->slot_count,
        .leavers_offset = (uint32_t)context->slots_bytes + (context->is_mapped ? SHIM_BOUNCE_BYTES : 0),
    };
    if (!row->history_depth)
        return;
    context->config.history_address = context->history;
    context->config.history_stride = row->history_depth * (uint32_t)sizeof(struct wsdbg_event);
    context->config.history_mask = row->history_depth - 1;
}

static void publish(struct wsdbg_context_row *row, const struct wsdbg_context_row *made, uint32_t *place,
                    bool is_mapped)
{
    row->slots_offset = made->slots_offset;
    row->slots_device_address = made->slots_device_address;
    row->history_offset = made->history_offset;
    row->history_device_address = made->history_device_address;
    *place = is_mapped ? WSDBG_RING_IN_HOST : WSDBG_RING_IN_DEVICE;
    __atomic_store_n(&row->history_depth, made->history_depth, __ATOMIC_RELEASE);
    __atomic_store_n(&row->slot_count, made->slot_count, __ATOMIC_RELEASE);
}

/* Creates the ring of context `index`; false with a reason.  On failure the context keeps what was taken so far, since
 * our stream may still write to it, and nobody tries again.  All of it goes with the context: the driver frees streams,
 * ordinary memory and registrations, ring_memory_release() what was mapped, and another context may take the regions.
 */
static bool create_ring(uint32_t index, char *why)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    struct shim_context *context = &shim_contexts[index];
    struct wsdbg_context_row made = segment->contexts[index];
    made.slot_count = made.sm_count * made.warps_per_sm;
    if (!made.slot_count) {
        snprintf(why, WSDBG_TEXT_BYTES, "the driver does not say how many SMs the device has");
        return false;
    }
    if (made.slot_count > WSDBG_SLOTS_MAX) {
        snprintf(why, WSDBG_TEXT_BYTES, "%u warps at a time are more than probes can tell apart", made.slot_count);
        return false;
    }
    if (!add_slots(context, &made, why))
        return false;
    add_history(context, &made);
    context->is_mapped = ring_map_is_wanted() && ring_map(context);
    if (!context->is_mapped && !take_memory(context, &made, why))
        return false;
    fill_config(context, &made);
    if (context->config.history_address < WSDBG_RING_LEAST) {
        snprintf(why, WSDBG_TEXT_BYTES, "its memory lies where probes take it for none");
        return false;
    }
    publish(&segment->contexts[index], &made, &segment->ring_places[index], context->is_mapped);
    return true;
}

static bool have_ring(uint32_t index)
{
    struct shim_context *context = &shim_contexts[index];
    if (atomic_load(&context->ring) != RING_NONE)
        return atomic_load(&context->ring) == RING_READY;
    char why[WSDBG_TEXT_BYTES] = "";
    bool created = create_ring(index, why);
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
        result = ring_await(context->stream);
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
        result = ring_await(context->stream);
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
    captures_exchange_mode(&mode);
    int state = MODULE_FAILED;
    if (have_ring(module->context)) {
        /* A copy that missed its deadline may still be on its way to or from the bounce memory. */
        CUresult result = ring_await(context->stream);
        if (result == CUDA_SUCCESS)
            result = read_names(module, context);
        if (result == CUDA_SUCCESS)
            result = write_config(module, context, address);
        if (result == CUDA_SUCCESS)
            state = MODULE_PROBED;
        else
            shim_note("the probes of module %u stay off: copying their set-up gave error %d", module->row, result);
    }
    captures_exchange_mode(&mode);
    atomic_store(&context->setup_busy, 0);
    return state;
}

static int configure(struct shim_module *module)
{
    CUdeviceptr address = 0;
    size_t bytes = 0;
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    captures_exchange_mode(&mode);
    CUresult result =
        shim_driver.cuModuleGetGlobal_v2(&address, &bytes, (CUmodule)(uintptr_t)module->module, WSDBG_CONFIG_SYMBOL);
    captures_exchange_mode(&mode);
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
