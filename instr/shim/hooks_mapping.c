/* hooks_mapping.c - the hooks of memory that is made, or brought from another process, as a handle and then mapped.
 *
 * Writes: handles and allocation rows, through allocations.c.
 */
#include "hooks.h"

#include <errno.h>

#include "allocations.h"
#include "contexts.h"

static bool lies_with_host(const struct cu_memory_properties *properties)
{
    return properties->location_type != CU_MEM_LOCATION_TYPE_DEVICE;
}

CUresult mem_create_body(enum wsdbg_hook_id id, void *forward, uint64_t *handle, size_t bytes,
                         const struct cu_memory_properties *properties, uint64_t flags)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(uint64_t *, size_t, const struct cu_memory_properties *, uint64_t))forward)(
        handle, bytes, properties, flags);
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        const bool host = lies_with_host(properties);
        const uint32_t exported =
            properties->for_network_cards ? WSDBG_ALLOCATION_EXPORTED | WSDBG_ALLOCATION_CARDS : 0;
        allocation_handle_made(
            *handle, &(struct shim_allocation){.kind = WSDBG_ALLOCATION_VMM,
                                               .flags = exported | (host ? WSDBG_ALLOCATION_HOST_ACCESS : 0),
                                               .device = host ? WSDBG_UNKNOWN32 : (uint32_t)properties->location_id,
                                               .call = "cuMemCreate",
                                               .call_number = call_number});
        errno = kept;
    }
    return hook_leave(on, result);
}

CUresult mem_import_body(enum wsdbg_hook_id id, void *forward, uint64_t *handle, void *shared, int type)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result = ((CUresult(*)(uint64_t *, void *, int))forward)(handle, shared, type);
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        allocation_handle_made(*handle, &(struct shim_allocation){.kind = WSDBG_ALLOCATION_VMM_IMPORTED,
                                                                  .device = WSDBG_UNKNOWN32,
                                                                  .call = "cuMemImportFromShareableHandle",
                                                                  .call_number = call_number});
        errno = kept;
    }
    return hook_leave(on, result);
}

static CUresult leave_exported(bool on, CUresult result, uint64_t handle, bool elsewhere)
{
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        allocation_handle_exported(handle, elsewhere ? WSDBG_ALLOCATION_ELSEWHERE : 0);
        errno = kept;
    }
    return hook_leave(on, result);
}

/* A file descriptor stays on this machine; other handles may not. */
CUresult mem_export_body(enum wsdbg_hook_id id, void *forward, void *shared, uint64_t handle, int type, uint64_t flags)
{
    (void)id;
    bool on = hook_enter();
    return leave_exported(on, ((CUresult(*)(void *, uint64_t, int, uint64_t))forward)(shared, handle, type, flags),
                          handle, type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

/* What is bound to a multicast object other GPUs write through it. */
CUresult multicast_mem_body(enum wsdbg_hook_id id, void *forward, uint64_t multicast, size_t at, uint64_t handle,
                            size_t from, size_t bytes, uint64_t flags)
{
    (void)id;
    bool on = hook_enter();
    return leave_exported(on,
                          ((CUresult(*)(uint64_t, size_t, uint64_t, size_t, size_t, uint64_t))forward)(
                              multicast, at, handle, from, bytes, flags),
                          handle, true);
}

CUresult multicast_address_body(enum wsdbg_hook_id id, void *forward, uint64_t multicast, size_t at,
                                CUdeviceptr address, size_t bytes, uint64_t flags)
{
    (void)id;
    bool on = hook_enter();
    CUresult result =
        ((CUresult(*)(uint64_t, size_t, CUdeviceptr, size_t, uint64_t))forward)(multicast, at, address, bytes, flags);
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        allocations_mark(address, bytes, WSDBG_ALLOCATION_EXPORTED | WSDBG_ALLOCATION_ELSEWHERE, 0);
        errno = kept;
    }
    return hook_leave(on, result);
}

CUresult mem_retain_body(enum wsdbg_hook_id id, void *forward, uint64_t *handle, void *address)
{
    (void)id;
    bool on = hook_enter();
    CUresult result = ((CUresult(*)(uint64_t *, void *))forward)(handle, address);
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        allocation_handle_retained(*handle, (uint64_t)(uintptr_t)address);
        errno = kept;
    }
    return hook_leave(on, result);
}

/* Let go before the driver may give its number to another one. */
CUresult mem_release_body(enum wsdbg_hook_id id, void *forward, uint64_t handle)
{
    (void)id;
    bool on = hook_enter();
    int kept = errno;
    if (on)
        allocation_handle_released(handle);
    errno = kept;
    return hook_leave(on, ((CUresult(*)(uint64_t))forward)(handle));
}

CUresult mem_map_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr address, size_t bytes, size_t offset,
                      uint64_t handle, uint64_t flags)
{
    static _Atomic uint32_t calls;
    (void)id;
    bool on = hook_enter();
    const uint32_t call_number = on ? hook_count(&calls) : 0;
    CUresult result =
        ((CUresult(*)(CUdeviceptr, size_t, size_t, uint64_t, uint64_t))forward)(address, bytes, offset, handle, flags);
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        allocation_handle_mapped(handle, &(struct shim_allocation){.address = address,
                                                                   .bytes = bytes,
                                                                   .context = contexts_current(),
                                                                   .call = "cuMemMap",
                                                                   .call_number = call_number});
        errno = kept;
    }
    return hook_leave(on, result);
}

CUresult mem_unmap_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr address, size_t bytes)
{
    (void)id;
    bool on = hook_enter();
    const uint64_t newest = allocations_newest();
    CUresult result = ((CUresult(*)(CUdeviceptr, size_t))forward)(address, bytes);
    if (on && result == CUDA_SUCCESS && bytes) {
        int kept = errno;
        allocations_freed(address, bytes, newest);
        errno = kept;
    }
    return hook_leave(on, result);
}

CUresult mem_access_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr address, size_t bytes,
                         const struct cu_memory_access *access, size_t count)
{
    (void)id;
    bool on = hook_enter();
    CUresult result = ((CUresult(*)(CUdeviceptr, size_t, const struct cu_memory_access *, size_t))forward)(
        address, bytes, access, count);
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        const struct allocation_writers writers = allocation_writers(access, count);
        allocations_mark(address, bytes, writers.host ? WSDBG_ALLOCATION_HOST_ACCESS : 0, writers.peer_devices);
        errno = kept;
    }
    return hook_leave(on, result);
}
