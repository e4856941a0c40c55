/* hooks_memory.c - the hooks of calls that allocate memory, free it, or let others than this GPU write it.
 * hooks_mapping.c has those of memory that is made and mapped apart.
 *
 * Reads:  of memory that another process made, its bytes, which its call does not say.
 * Writes: allocation rows, through allocations.c; the calling thread's row while it waits in a free.
 */
#include "hooks.h"

#include <errno.h>

#include "allocations.h"
#include "captures.h"
#include "contexts.h"
#include "libcuda.h"

/* A call that makes memory, and how often the program has made it. */
struct maker {
    uint32_t kind; /* enum wsdbg_allocation_kind */
    const char *call;
    _Atomic uint32_t calls;
    bool anywhere; /* not always on the current context's device */
};

struct making {
    bool on;
    const struct maker *by;
    uint32_t call_number;
};

static struct making begin_making(struct maker *by)
{
    const bool on = hook_enter();
    return (struct making){on, by, on ? hook_count(&by->calls) : 0};
}

static void record_made(const struct making *making, uint64_t address, uint64_t bytes)
{
    const uint32_t kind = making->by->kind, context = contexts_current();
    const bool of_host = kind == WSDBG_ALLOCATION_HOST || kind == WSDBG_ALLOCATION_REGISTERED;
    const bool known = !of_host && !making->by->anywhere && context < WSDBG_CONTEXT_ROWS;
    allocations_add(
        &(struct shim_allocation){.address = address,
                                  .bytes = bytes,
                                  .kind = kind,
                                  .context = context,
                                  .device = known ? (uint32_t)shim_contexts[context].device : WSDBG_UNKNOWN32,
                                  .call = making->by->call,
                                  .call_number = making->call_number});
}

/* Where the call went well `address` is its answer. */
static CUresult end_making(const struct making *making, CUresult result, const CUdeviceptr *address, uint64_t bytes)
{
    if (making->on && result == CUDA_SUCCESS) {
        int kept = errno;
        record_made(making, *address, bytes);
        errno = kept;
    }
    return hook_leave(making->on, result);
}

static CUresult end_making_host(const struct making *making, CUresult result, void *const *memory, uint64_t bytes)
{
    const CUdeviceptr address = result == CUDA_SUCCESS ? (uint64_t)(uintptr_t)*memory : 0;
    return end_making(making, result, &address, bytes);
}

CUresult alloc_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, size_t bytes)
{
    static struct maker maker = {WSDBG_ALLOCATION_DEVICE, "cuMemAlloc", 0, false};
    const struct making making = begin_making(&maker);
    (void)id;
    return end_making(&making, ((CUresult(*)(CUdeviceptr *, size_t))forward)(address, bytes), address, bytes);
}

CUresult alloc_pitch_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, size_t *pitch, size_t width,
                          size_t height, unsigned element)
{
    static struct maker maker = {WSDBG_ALLOCATION_PITCHED, "cuMemAllocPitch", 0, false};
    const struct making making = begin_making(&maker);
    (void)id;
    CUresult result = ((CUresult(*)(CUdeviceptr *, size_t *, size_t, size_t, unsigned))forward)(address, pitch, width,
                                                                                                height, element);
    return end_making(&making, result, address, result == CUDA_SUCCESS ? *pitch * height : 0);
}

CUresult alloc_async_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, size_t bytes, CUstream stream)
{
    static struct maker maker = {WSDBG_ALLOCATION_POOL, "cuMemAllocAsync", 0, false};
    const struct making making = begin_making(&maker);
    (void)id;
    CUresult result = ((CUresult(*)(CUdeviceptr *, size_t, CUstream))forward)(address, bytes, stream);
    return end_making(&making, result, address, bytes);
}

CUresult alloc_pool_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, size_t bytes, void *pool,
                         CUstream stream)
{
    static struct maker maker = {WSDBG_ALLOCATION_POOL, "cuMemAllocFromPoolAsync", 0, true};
    const struct making making = begin_making(&maker);
    (void)id;
    CUresult result = ((CUresult(*)(CUdeviceptr *, size_t, void *, CUstream))forward)(address, bytes, pool, stream);
    return end_making(&making, result, address, bytes);
}

CUresult alloc_managed_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, size_t bytes, unsigned flags)
{
    static struct maker maker = {WSDBG_ALLOCATION_MANAGED, "cuMemAllocManaged", 0, true};
    const struct making making = begin_making(&maker);
    (void)id;
    CUresult result = ((CUresult(*)(CUdeviceptr *, size_t, unsigned))forward)(address, bytes, flags);
    return end_making(&making, result, address, bytes);
}

CUresult host_alloc_body(enum wsdbg_hook_id id, void *forward, void **memory, size_t bytes, unsigned flags)
{
    static struct maker maker = {WSDBG_ALLOCATION_HOST, "cuMemHostAlloc", 0, false};
    const struct making making = begin_making(&maker);
    (void)id;
    CUresult result = ((CUresult(*)(void **, size_t, unsigned))forward)(memory, bytes, flags);
    return end_making_host(&making, result, memory, bytes);
}

CUresult alloc_host_body(enum wsdbg_hook_id id, void *forward, void **memory, size_t bytes)
{
    static struct maker maker = {WSDBG_ALLOCATION_HOST, "cuMemAllocHost", 0, false};
    const struct making making = begin_making(&maker);
    (void)id;
    return end_making_host(&making, ((CUresult(*)(void **, size_t))forward)(memory, bytes), memory, bytes);
}

CUresult host_register_body(enum wsdbg_hook_id id, void *forward, void *memory, size_t bytes, unsigned flags)
{
    static struct maker maker = {WSDBG_ALLOCATION_REGISTERED, "cuMemHostRegister", 0, false};
    const struct making making = begin_making(&maker);
    (void)id;
    CUresult result = ((CUresult(*)(void *, size_t, unsigned))forward)(memory, bytes, flags);
    return end_making_host(&making, result, &memory, bytes);
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

CUresult free_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr address)
{
    bool on = hook_enter();
    const uint64_t newest = allocations_newest();
    hook_begin_wait(on, id);
    CUresult result = ((CUresult(*)(CUdeviceptr))forward)(address);
    hook_end_wait(on);
    return leave_freed(on, result, address, newest);
}

CUresult free_host_body(enum wsdbg_hook_id id, void *forward, void *memory)
{
    bool on = hook_enter();
    const uint64_t newest = allocations_newest();
    hook_begin_wait(on, id);
    CUresult result = ((CUresult(*)(void *))forward)(memory);
    hook_end_wait(on);
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
    const bool captured = on && result == CUDA_SUCCESS && captures_holds(stream);
    errno = kept;
    return captured ? hook_leave(on, result) : leave_freed(on, result, address, newest);
}

/* ---- other processes ---- */

/* From there to its end, as the driver has it; 0 = not known. */
static uint64_t bytes_behind(CUdeviceptr address)
{
    CUdeviceptr base = 0;
    size_t bytes = 0;
    const bool told = shim_driver.cuMemGetAddressRange_v2 &&
                      shim_driver.cuMemGetAddressRange_v2(&base, &bytes, address) == CUDA_SUCCESS;
    return told && base <= address && address - base < bytes ? bytes - (address - base) : 0;
}

static CUresult end_import(const struct making *making, CUresult result, const CUdeviceptr *address)
{
    int kept = errno;
    const uint64_t bytes = making->on && result == CUDA_SUCCESS ? bytes_behind(*address) : 0;
    errno = kept;
    return end_making(making, result, address, bytes);
}

CUresult ipc_open_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, struct cu_ipc_handle handle,
                       unsigned flags)
{
    static struct maker maker = {WSDBG_ALLOCATION_IMPORTED, "cuIpcOpenMemHandle", 0, true};
    const struct making making = begin_making(&maker);
    (void)id;
    CUresult result = ((CUresult(*)(CUdeviceptr *, struct cu_ipc_handle, unsigned))forward)(address, handle, flags);
    return end_import(&making, result, address);
}

CUresult pool_import_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, void *pool, void *data)
{
    static struct maker maker = {WSDBG_ALLOCATION_IMPORTED, "cuMemPoolImportPointer", 0, true};
    const struct making making = begin_making(&maker);
    (void)id;
    CUresult result = ((CUresult(*)(CUdeviceptr *, void *, void *))forward)(address, pool, data);
    return end_import(&making, result, address);
}

/* Of graphics and other interfaces, which may write it at any time. */
CUresult external_buffer_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, void *memory,
                              const struct cu_external_buffer *buffer)
{
    static struct maker maker = {WSDBG_ALLOCATION_IMPORTED, "cuExternalMemoryGetMappedBuffer", 0, true};
    const struct making making = begin_making(&maker);
    (void)id;
    CUresult result =
        ((CUresult(*)(CUdeviceptr *, void *, const struct cu_external_buffer *))forward)(address, memory, buffer);
    return end_making(&making, result, address, result == CUDA_SUCCESS ? buffer->bytes : 0);
}

CUresult mapped_pointer_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr *address, size_t *bytes, void *resource)
{
    static struct maker maker = {WSDBG_ALLOCATION_IMPORTED, "cuGraphicsResourceGetMappedPointer", 0, true};
    const struct making making = begin_making(&maker);
    (void)id;
    CUresult result = ((CUresult(*)(CUdeviceptr *, size_t *, void *))forward)(address, bytes, resource);
    return end_making(&making, result, address, result == CUDA_SUCCESS && bytes ? *bytes : 0);
}

CUresult ipc_close_body(enum wsdbg_hook_id id, void *forward, CUdeviceptr address)
{
    (void)id;
    bool on = hook_enter();
    const uint64_t newest = allocations_newest();
    return leave_freed(on, ((CUresult(*)(CUdeviceptr))forward)(address), address, newest);
}

static CUresult leave_exported(bool on, CUresult result, uint64_t address, uint64_t bytes, uint32_t more)
{
    if (on && result == CUDA_SUCCESS) {
        int kept = errno;
        allocations_mark(address, bytes, WSDBG_ALLOCATION_EXPORTED | more, 0);
        errno = kept;
    }
    return hook_leave(on, result);
}

CUresult ipc_get_body(enum wsdbg_hook_id id, void *forward, void *handle, CUdeviceptr address)
{
    (void)id;
    bool on = hook_enter();
    return leave_exported(on, ((CUresult(*)(void *, CUdeviceptr))forward)(handle, address), address, 1, 0);
}

CUresult pool_export_body(enum wsdbg_hook_id id, void *forward, void *data, CUdeviceptr address)
{
    (void)id;
    bool on = hook_enter();
    return leave_exported(on, ((CUresult(*)(void *, CUdeviceptr))forward)(data, address), address, 1, 0);
}

CUresult range_handle_body(enum wsdbg_hook_id id, void *forward, void *handle, CUdeviceptr address, size_t bytes,
                           int type, uint64_t flags)
{
    (void)id;
    bool on = hook_enter();
    CUresult result =
        ((CUresult(*)(void *, CUdeviceptr, size_t, int, uint64_t))forward)(handle, address, bytes, type, flags);
    return leave_exported(on, result, address, bytes, WSDBG_ALLOCATION_ELSEWHERE);
}

/* Who asks for this hands the memory to a network card. */
CUresult pointer_attribute_body(enum wsdbg_hook_id id, void *forward, const void *value, int attribute,
                                CUdeviceptr address)
{
    (void)id;
    bool on = hook_enter();
    CUresult result = ((CUresult(*)(const void *, int, CUdeviceptr))forward)(value, attribute, address);
    return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
               ? leave_exported(on, result, address, 1, WSDBG_ALLOCATION_ELSEWHERE)
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
        const uint32_t mine = contexts_current();
        if (mine < WSDBG_CONTEXT_ROWS)
            allocations_let_peer(contexts_find((uint64_t)(uintptr_t)peer), (uint32_t)shim_contexts[mine].device);
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
