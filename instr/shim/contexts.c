/* contexts.c - contexts as this process knows them.
 *
 * Reads:  the driver's queries: the current context, the device of one and what it is called.
 * Writes: context rows of the segment.
 *
 * The driver uses handles again, so an entry is cleared when its context has ended.  Driver queries are made before the
 * lock is taken, never under it.
 */
#include "contexts.h"

#include "clock.h"
#include "libcuda.h"
#include "messages.h"
#include "rank.h"
#include "registry.h"
#include "segment.h"
#include "state.h"

struct shim_context shim_contexts[WSDBG_CONTEXT_ROWS];

static _Atomic uint32_t context_generation; /* raised when a row begins or ends to stand for a handle */

uint32_t contexts_find(uint64_t handle)
{
    for (uint32_t i = 0; handle && i < WSDBG_CONTEXT_ROWS; i++)
        if (atomic_load_explicit(&shim_contexts[i].handle, memory_order_acquire) == handle)
            return i;
    return WSDBG_UNKNOWN32;
}

uint32_t contexts_find_primary(CUdevice device)
{
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        if (atomic_load(&shim_contexts[i].handle) && !shim_contexts[i].created && shim_contexts[i].device == device)
            return i;
    return WSDBG_UNKNOWN32;
}

static uint32_t device_attribute(int attribute, CUdevice device)
{
    int value = 0;
    if (shim_driver.cuDeviceGetAttribute(&value, attribute, device) != CUDA_SUCCESS || value < 0)
        return 0;
    return (uint32_t)value;
}

static void describe_device(struct wsdbg_context_row *row, CUdevice device)
{
    row->device_ordinal = (uint32_t)device;
    row->sm_count = device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    row->warps_per_sm = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device) / 32;
    row->compute_capability = 10 * device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) +
                              device_attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    if (shim_driver.cuDeviceGetName(row->device_name, sizeof row->device_name, device) != CUDA_SUCCESS)
        row->device_name[0] = '\0';
    row->device_name[sizeof row->device_name - 1] = '\0';
}

uint32_t contexts_add(CUcontext handle, CUdevice device, bool created)
{
    uint64_t key = (uint64_t)(uintptr_t)handle;
    uint32_t index = contexts_find(key);
    if (index != WSDBG_UNKNOWN32 || !key)
        return index;
    struct wsdbg_context_row row = {.handle = key, .created_ns = shim_now_ns(), .state = WSDBG_CONTEXT_ALIVE};
    describe_device(&row, device);
    rank_read(false);
    shim_lock();
    index = contexts_find(key);
    bool full = false;
    if (index == WSDBG_UNKNOWN32) {
        index = registry_add_context(&row);
        full = index == WSDBG_UNKNOWN32;
        if (!full) {
            shim_contexts[index].device = device;
            shim_contexts[index].created = created;
            atomic_store(&shim_contexts[index].handle, key);
            atomic_fetch_add(&context_generation, 1);
        }
    }
    shim_unlock();
    if (full)
        shim_note("more than %d contexts were created; the later ones are not observed", WSDBG_CONTEXT_ROWS);
    return index;
}

uint32_t contexts_current(void)
{
    static SHIM_THREAD_LOCAL CUcontext last;
    static SHIM_THREAD_LOCAL uint32_t last_row, last_generation;
    CUcontext current = NULL;
    if (shim_driver.cuCtxGetCurrent(&current) != CUDA_SUCCESS || !current)
        return WSDBG_UNKNOWN32;
    uint32_t generation = atomic_load_explicit(&context_generation, memory_order_acquire);
    if (current == last && generation == last_generation)
        return last_row;
    uint32_t row = contexts_find((uint64_t)(uintptr_t)current);
    CUdevice device = 0;
    if (row == WSDBG_UNKNOWN32 && shim_driver.cuCtxGetDevice(&device) == CUDA_SUCCESS)
        row = contexts_add(current, device, false);
    last = current;
    last_row = row;
    last_generation = generation;
    return row;
}

void contexts_forget(uint32_t row)
{
    atomic_store(&shim_contexts[row].handle, 0);
    atomic_fetch_add(&context_generation, 1);
}

bool contexts_ended_by(CUresult result)
{
    switch (result) {
    case 214: /* uncorrectable ECC error */
    case 220: /* uncorrectable NVLink error */
    case 700: /* illegal address */
    case 702: /* launch timeout */
    case 710: /* assert */
    case 714: /* hardware stack error */
    case 715: /* illegal instruction */
    case 716: /* misaligned address */
    case 717: /* invalid address space */
    case 718: /* invalid pc */
    case 719: /* launch failed */
        return true;
    default:
        return false;
    }
}

void contexts_check(CUresult result)
{
    if (!contexts_ended_by(result))
        return;
    uint32_t row = contexts_current();
    if (row == WSDBG_UNKNOWN32)
        return;
    struct wsdbg_context_row *shared = &atomic_load(&shim_segment)->contexts[row];
    int32_t none = 0;
    __atomic_compare_exchange_n(&shared->error, &none, result, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->state, WSDBG_CONTEXT_FAULTED, __ATOMIC_RELEASE);
}
