/* hooks_memory.c - the hooks of calls that allocate memory, free it, or let others than this GPU write it.
 * hooks_mapping.c has those of memory that is made and mapped apart.
 *
 * Reads:  of memory that another process made, its bytes, which its call does not say.
 * Writes: allocation rows, through allocations.c; the calling thread's row while it waits in a free.
 */
#include "hooks.h"

#include <errno.h>

#include "allocations.h"

static bool is_of_host(uint32_t kind)
{
    return kind == WSDBG_ALLOCATION_HOST || kind == WSDBG_ALLOCATION_REGISTERED;
}

/* A call that made memory has come back; `made` lacks where it was made. */
static CUresult leave_made(bool on, CUresult result, struct shim_allocation made)
{
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        made.context = tracking_current_context();
        const bool known = !is_of_host(made.kind) && made.context < WSDBG_CONTEXT_ROWS;
        made.device = known ? (uint32_t)shim_contexts[made.context].device : WSDBG_UNKNOWN32;
        allocations_add(&made);
        errno = kept;
    }
    return hook_leave(on, result);
}

CUresult alloc_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, size_t bytes)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(CUdeviceptr *, size_t))forward)(address, bytes);
    return leave_made(on, result,
                      (struct shim_allocation){.address = result == CUDA_SUCCESS ? *address : 0,
                                               .bytes = bytes,
                                               .kind = WSDBG_ALLOCATION_DEVICE,
                                               .call = "cuMemAlloc",
                                               .call_number = call_number});
}

CUresult alloc_pitch_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, size_t *pitch, size_t width,
                          size_t height, unsigned element)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(CUdeviceptr *, size_t *, size_t, size_t, unsigned))forward)(address, pitch, width,
                                                                                                height, element);
    const bool made = result == CUDA_SUCCESS;
    return leave_made(on, result,
                      (struct shim_allocation){.address = made ? *address : 0,
                                               .bytes = made ? *pitch * height : 0,
                                               .kind = WSDBG_ALLOCATION_PITCHED,
                                               .call = "cuMemAllocPitch",
                                               .call_number = call_number});
}

CUresult alloc_async_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, size_t bytes, CUstream stream)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(CUdeviceptr *, size_t, CUstream))forward)(address, bytes, stream);
    return leave_made(on, result,
                      (struct shim_allocation){.address = result == CUDA_SUCCESS ? *address : 0,
                                               .bytes = bytes,
                                               .kind = WSDBG_ALLOCATION_POOL,
                                               .call = "cuMemAllocAsync",
                                               .call_number = call_number});
}

CUresult alloc_pool_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, size_t bytes, void *pool,
                         CUstream stream)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(CUdeviceptr *, size_t, void *, CUstream))forward)(address, bytes, pool, stream);
    return leave_made(on, result,
                      (struct shim_allocation){.address = result == CUDA_SUCCESS ? *address : 0,
                                               .bytes = bytes,
                                               .kind = WSDBG_ALLOCATION_POOL,
                                               .call = "cuMemAllocFromPoolAsync",
                                               .call_number = call_number});
}

CUresult alloc_managed_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, size_t bytes, unsigned flags)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(CUdeviceptr *, size_t, unsigned))forward)(address, bytes, flags);
    return leave_made(on, result,
                      (struct shim_allocation){.address = result == CUDA_SUCCESS ? *address : 0,
                                               .bytes = bytes,
                                               .kind = WSDBG_ALLOCATION_MANAGED,
                                               .call = "cuMemAllocManaged",
                                               .call_number = call_number});
}

CUresult host_alloc_body(enum wsdbg_hook_id id, void *forward, void **memory, size_t bytes, unsigned flags)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(void **, size_t, unsigned))forward)(memory, bytes, flags);
    return leave_made(on, result,
                      (struct shim_allocation){.address = result == CUDA_SUCCESS ? (uint64_t)(uintptr_t)*memory : 0,
                                               .bytes = bytes,
                                               .kind = WSDBG_ALLOCATION_HOST,
                                               .call = "cuMemHostAlloc",
                                               .call_number = call_number});
}

CUresult alloc_host_body(enum wsdbg_hook_id id, void *forward, void **memory, size_t bytes)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(void **, size_t))forward)(memory, bytes);
    return leave_made(on, result,
                      (struct shim_allocation){.address = result == CUDA_SUCCESS ? (uint64_t)(uintptr_t)*memory : 0,
                                               .bytes = bytes,
                                               .kind = WSDBG_ALLOCATION_HOST,
                                               .call = "cuMemAllocHost",
                                               .call_number = call_number});
}

CUresult host_register_body(enum wsdbg_hook_id id, void *forward, void *memory, size_t bytes, unsigned flags)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(void *, size_t, unsigned))forward)(memory, bytes, flags);
    return leave_made(on, result,
                      (struct shim_allocation){.address = (uint64_t)(uintptr_t)memory,
                                               .bytes = bytes,
                                               .kind = WSDBG_ALLOCATION_REGISTERED,
                                               .call = "cuMemHostRegister",
                                               .call_number = call_number});
}

/* ---- frees ---- */

static CUresult leave_freed(bool on, CUresult result, uint64_t address, uint64_t newest)
{
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        allocations_freed(address, 0, newest);
        errno = kept;
    }
    return hook_leave(on, result);
}

/* A free that waits for the GPU. */
static void begin_wait(bool on, enum wsdbg_hook_id id)
{
    int kept = errno;
    if (on)
        registry_thread_enter(hook_name[id], tracking_current_context(), WSDBG_UNKNOWN64, shim_now_ns());
    errno = kept;
}

static void end_wait(bool on)
{
    if (on)
        registry_thread_leave();
}

CUresult free_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr address)
{
    bool on = hook_enter();
    const uint64_t newest = allocations_newest();
    begin_wait(on, id);
    CUresult result = ((CUresult(*)(CUdeviceptr))forward)(address);
    end_wait(on);
    return leave_freed(on, result, address, newest);
}

CUresult free_host_body(enum wsdbg_hook_id id, void *forward, void *memory)
{
    bool on = hook_enter();
    const uint64_t newest = allocations_newest();
    begin_wait(on, id);
    CUresult result = ((CUresult(*)(void *))forward)(memory);
    end_wait(on);
    return leave_freed(on, result, (uint64_t)(uintptr_t)memory, newest);
}

CUresult host_unregister_body(enum wsdbg_hook_id id, void *forward, void *memory)
{
    (void)id;
    bool on = hook_enter();
    const uint64_t newest = allocations_newest();
    return leave_freed(on, ((CUresult(*)(void *))forward)(memory), (uint64_t)(uintptr_t)memory, newest);
}

/* What is captured frees the memory when the graph runs. */
CUresult free_async_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr address, CUstream stream)
{
    (void)id;
    bool on = hook_enter();
    const uint64_t newest = allocations_newest();
    CUresult result = ((CUresult(*)(CUdeviceptr, CUstream))forward)(address, stream);
    int kept = errno;
    const bool captured = on && result == CUDA_SUCCESS && observer_is_captured(stream);
    errno = kept;
    return captured ? hook_leave(on, result) : leave_freed(on, result, address, newest);
}

/* ---- other processes ---- */

/* Its first byte and length, as the driver has them. */
static CUresult leave_imported(bool on, CUresult result, const CUdeviceptr *address, const char *call,
                               uint32_t call_number)
{
    struct shim_allocation made = {.kind = WSDBG_ALLOCATION_IMPORTED, .call = call, .call_number = call_number};
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        CUdeviceptr base = 0;
        size_t bytes = 0;
        made.address = *address;
        if (shim_driver.cuMemGetAddressRange_v2 &&
            shim_driver.cuMemGetAddressRange_v2(&base, &bytes, *address) == CUDA_SUCCESS && base <= *address &&
            *address - base < bytes)
            made.bytes = bytes - (*address - base);
        errno = kept;
    }
    return leave_made(on, result, made);
}

CUresult ipc_open_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, struct cu_ipc_handle handle,
                       unsigned flags)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(CUdeviceptr *, struct cu_ipc_handle, unsigned))forward)(address, handle, flags);
    return leave_imported(on, result, address, "cuIpcOpenMemHandle", call_number);
}

CUresult pool_import_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, void *pool, void *data)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(CUdeviceptr *, void *, void *))forward)(address, pool, data);
    return leave_imported(on, result, address, "cuMemPoolImportPointer", call_number);
}

CUresult ipc_close_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr address)
{
    (void)id;
    bool on = hook_enter();
    const uint64_t newest = allocations_newest();
    return leave_freed(on, ((CUresult(*)(CUdeviceptr))forward)(address), address, newest);
}

static CUresult leave_exported(bool on, CUresult result, uint64_t address, uint64_t bytes)
{
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        allocations_mark(address, bytes, WSDBG_ALLOCATION_EXPORTED, 0);
        errno = kept;
    }
    return hook_leave(on, result);
}

CUresult ipc_get_body(enum wsdbg_hook_id id, void *forward, void *handle, CUdeviceptr address)
{
    (void)id;
    bool on = hook_enter();
    return leave_exported(on, ((CUresult(*)(void *, CUdeviceptr))forward)(handle, address), address, 1);
}

CUresult pool_export_body(enum wsdbg_hook_id id, void *forward, void *data, CUdeviceptr address)
{
    (void)id;
    bool on = hook_enter();
    return leave_exported(on, ((CUresult(*)(void *, CUdeviceptr))forward)(data, address), address, 1);
}

CUresult range_handle_body(enum wsdbg_hook_id id, void *forward, void *handle, CUdeviceptr address, size_t bytes,
                           int type, uint64_t flags)
{
    (void)id;
    bool on = hook_enter();
    CUresult result =
        ((CUresult(*)(void *, CUdeviceptr, size_t, int, uint64_t))forward)(handle, address, bytes, type, flags);
    return leave_exported(on, result, address, bytes);
}

/* Who asks for this hands the memory to a network card. */
CUresult pointer_attribute_body(enum wsdbg_hook_id id, void *forward, const void *value, int attribute,
                                CUdeviceptr address)
{
    (void)id;
    bool on = hook_enter();
    CUresult result = ((CUresult(*)(const void *, int, CUdeviceptr))forward)(value, attribute, address);
    return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? leave_exported(on, result, address, 1)
                                                         : hook_leave(on, result);
}

/* ---- other GPUs ---- */

CUresult peer_body(enum wsdbg_hook_id id, void *forward, CUcontext peer, unsigned flags)
{
    (void)id;
    bool on = hook_enter();
    CUresult result = ((CUresult(*)(CUcontext, unsigned))forward)(peer, flags);
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        const uint32_t mine = tracking_current_context();
        if (mine < WSDBG_CONTEXT_ROWS)
            allocations_let_peer(tracking_find_context((uint64_t)(uintptr_t)peer),
                                 (uint32_t)shim_contexts[mine].device);
        errno = kept;
    }
    return hook_leave(on, result);
}

CUresult pool_access_body(enum wsdbg_hook_id id, void *forward, void *pool, const struct cu_memory_access *access,
                          size_t count)
{
    (void)id;
    bool on = hook_enter();
    CUresult result = ((CUresult(*)(void *, const struct cu_memory_access *, size_t))forward)(pool, access, count);
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        allocations_let_into_pools(allocation_writers(access, count).peer_devices);
        errno = kept;
    }
    return hook_leave(on, result);
}
