/* ring_memory.c - device memory for slots and histories that outlives its context.
 *
 * Reads:  WSDBG_SPOOL.
 * Writes: memory of the GPU; one message with a file descriptor to wsdbg (wsdbg/session.h).
 *
 * A fault of a kernel ends its context and everything in it, the record of what led there too.  Memory made with
 * cuMemCreate belongs to whoever holds a handle or an exported file descriptor of it, not to the context: wsdbg gets
 * one, and reads the memory after the context, or the process, is gone.  Where any step of this fails the memory is
 * an ordinary allocation, and only the last copy of the slots survives a fault.
 */
#include "ring_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "armed.h"
#include "contexts.h"
#include "libcuda.h"
#include "messages.h"

static bool driver_can(void)
{
    return shim_driver.cuMemGetAllocationGranularity && shim_driver.cuMemCreate &&
           shim_driver.cuMemExportToShareableHandle && shim_driver.cuMemAddressReserve && shim_driver.cuMemMap &&
           shim_driver.cuMemSetAccess && shim_driver.cuMemRelease && shim_driver.cuMemUnmap &&
           shim_driver.cuMemAddressFree;
}

/* The address of wsdbg's socket; false when there is none to send to. */
static bool socket_address(struct sockaddr_un *address)
{
    const char *spool = armed_or_session_folder();
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (!spool || !*spool)
        return false;
    int length = snprintf(address->sun_path, sizeof address->sun_path, "%s/%s", spool, WSDBG_MEMORY_SOCKET);
    return length > 0 && (size_t)length < sizeof address->sun_path && access(address->sun_path, W_OK) == 0;
}

/* Never blocks: a full queue is a failure like any other. */
static bool send_descriptor(const struct sockaddr_un *address, struct wsdbg_memory_message *message, int fd)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr header;
    } control = {{0}};
    struct iovec data = {.iov_base = message, .iov_len = sizeof *message};
    struct msghdr envelope = {.msg_name = (void *)address,
                              .msg_namelen = sizeof *address,
                              .msg_iov = &data,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof control.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&envelope);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    int wire = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (wire < 0)
        return false;
    ssize_t sent = sendmsg(wire, &envelope, MSG_NOSIGNAL);
    close(wire);
    return sent == (ssize_t)sizeof *message;
}

/* Maps `handle` for this device; undone on failure. */
static CUresult map_memory(uint64_t handle, uint64_t bytes, CUdevice device, CUdeviceptr *address)
{
    const struct cu_memory_access access = {CU_MEM_LOCATION_TYPE_DEVICE, device, CU_MEM_ACCESS_READ_WRITE};
    CUresult result = shim_driver.cuMemAddressReserve(address, bytes, 0, 0, 0);
    if (result != CUDA_SUCCESS)
        return result;
    result = shim_driver.cuMemMap(*address, bytes, 0, handle, 0);
    if (result == CUDA_SUCCESS) {
        result = shim_driver.cuMemSetAccess(*address, bytes, &access, 1);
        if (result == CUDA_SUCCESS)
            return CUDA_SUCCESS;
        shim_driver.cuMemUnmap(*address, bytes);
    }
    shim_driver.cuMemAddressFree(*address, bytes);
    return result;
}

static bool export_memory(uint64_t handle, struct wsdbg_memory_message *message, const struct sockaddr_un *address)
{
    int fd = -1;
    if (shim_driver.cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) !=
        CUDA_SUCCESS)
        return false;
    fcntl(fd, F_SETFD, FD_CLOEXEC); /* a child of the app must not keep the memory */
    bool sent = send_descriptor(address, message, fd);
    close(fd);
    return sent;
}

/* The handle is given back in any case: the mapping and the descriptor keep the memory. */
static bool lasting_memory(uint32_t row, uint32_t kind, uint64_t bytes, uint64_t behind_bytes,
                           struct shim_memory *memory)
{
    struct shim_context *context = &shim_contexts[row];
    struct sockaddr_un address;
    const struct cu_memory_properties properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                    .handle_types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                                    .location_type = CU_MEM_LOCATION_TYPE_DEVICE,
                                                    .location_id = context->device};
    size_t granularity = 0;
    uint64_t handle;
    if (!driver_can() || !socket_address(&address) ||
        shim_driver.cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_GRANULARITY_MINIMUM) !=
            CUDA_SUCCESS ||
        granularity == 0)
        return false;
    const uint64_t allocated = (bytes + behind_bytes + granularity - 1) / granularity * granularity;
    if (shim_driver.cuMemCreate(&handle, allocated, &properties, 0) != CUDA_SUCCESS)
        return false;
    bool lasting = map_memory(handle, allocated, context->device, &memory->address) == CUDA_SUCCESS;
    if (lasting) {
        memory->mapped_bytes = allocated;
        struct wsdbg_memory_message message = {.version = WSDBG_SEGMENT_VERSION,
                                               .process_id = (uint32_t)getpid(),
                                               .context = row,
                                               .kind = kind,
                                               .device_address = memory->address,
                                               .used_bytes = bytes,
                                               .allocated_bytes = allocated,
                                               .device_ordinal = (uint32_t)context->device};
        if (shim_driver.cuDeviceGetUuid_v2)
            shim_driver.cuDeviceGetUuid_v2(message.device_uuid, context->device);
        if (!export_memory(handle, &message, &address))
            shim_note("after a GPU fault the histories of context %u are lost: their memory could not be shared", row);
    }
    shim_driver.cuMemRelease(handle);
    return lasting;
}

CUresult ring_memory_take(uint32_t row, uint32_t kind, uint64_t bytes, uint64_t behind_bytes, CUdeviceptr *address)
{
    struct shim_context *context = &shim_contexts[row];
    struct shim_memory *memory = &context->memory[kind - WSDBG_MEMORY_SLOTS];
    const int error_before = errno;
    *memory = (struct shim_memory){0};
    CUresult result = CUDA_SUCCESS;
    if (!lasting_memory(row, kind, bytes, behind_bytes, memory))
        result = shim_driver.cuMemAlloc_v2(&memory->address, bytes + behind_bytes);
    errno = error_before;
    *address = memory->address;
    return result ? result : shim_driver.cuMemsetD8Async(*address, 0, bytes + behind_bytes, context->stream);
}

void ring_memory_release(uint32_t row)
{
    for (int i = 0; i < 2; i++) {
        struct shim_memory *memory = &shim_contexts[row].memory[i];
        if (memory->mapped_bytes && shim_driver.cuMemUnmap(memory->address, memory->mapped_bytes) == CUDA_SUCCESS)
            shim_driver.cuMemAddressFree(memory->address, memory->mapped_bytes);
        *memory = (struct shim_memory){0};
    }
}
