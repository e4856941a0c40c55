/* fake_memory.c - memory of the fake libcuda: ordinary allocations, copies, and memory that outlives its context.
 *
 * The last kind is a file in memory (memfd): a handle has a descriptor of it, exporting and importing pass
 * descriptors on, an address range is a mapping of it.  Ranges are strict: what is mapped, made accessible, unmapped
 * or freed must be a whole range in the state for it, or the process ends with a message.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_internal.h"

#define GRANULARITY 65536u
#define ELSEWHERE_BYTES (64u << 20)

static CUresult usable(void)
{
    int error = fake_context_error();
    return error ? error : fake_unsafe();
}

/* ---- ordinary memory, copies ---- */

FAKE(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes), (address, bytes))
{
    CUresult error = usable();
    if (!error)
        *address = (CUdeviceptr)(uintptr_t)malloc(bytes);
    return error;
}

FAKE(cuMemFree_v2, (CUdeviceptr address), (address))
{
    free((void *)(uintptr_t)address);
    return fake_context_error();
}

/* Whether the memory is a mapping of a segment's file. */
static int is_in_segment(const void *memory)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        found = sscanf(line, "%lx-%lx", &start, &end) == 2 && start <= (uintptr_t)memory && (uintptr_t)memory < end &&
                strstr(line, "/wsdbg.");
    }
    if (maps)
        fclose(maps);
    return found;
}

/* With FAKE_CUDA_PINS_NO_FILE a segment cannot be pinned, as on a disk. */
FAKE(cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned flags), (memory, bytes, flags))
{
    (void)bytes, (void)flags;
    return getenv("FAKE_CUDA_PINS_NO_FILE") && is_in_segment(memory) ? 1 : usable();
}

/* With FAKE_CUDA_MAPS_NOTHING no kernel may use registered memory, with FAKE_CUDA_MAPS_ELSEWHERE it gets other memory.
 */
FAKE(cuMemHostGetDevicePointer_v2, (CUdeviceptr * address, void *memory, unsigned flags), (address, memory, flags))
{
    if (getenv("FAKE_CUDA_MAPS_NOTHING") || flags)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (getenv("FAKE_CUDA_MAPS_ELSEWHERE"))
        memory =
            mmap(NULL, ELSEWHERE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *address = (CUdeviceptr)(uintptr_t)memory;
    return usable();
}

FAKE(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes))
{
    CUresult error = usable();
    if (!error)
        memcpy(to, (void *)(uintptr_t)from, bytes);
    return error;
}

FAKE(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes))
{
    CUresult error = usable();
    if (!error)
        memcpy((void *)(uintptr_t)to, from, bytes);
    return error;
}

static CUresult copy_async(void *to, const void *from, size_t bytes, CUstream stream)
{
    int error = fake_context_error();
    fake_need(stream, STREAM, "an asynchronous copy");
    if (!error)
        memcpy(to, from, bytes);
    return error;
}

FAKE(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream), (to, from, bytes, stream))
{
    return copy_async(to, (void *)(uintptr_t)from, bytes, stream);
}

FAKE(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream), (to, from, bytes, stream))
{
    return copy_async((void *)(uintptr_t)to, from, getenv("FAKE_CUDA_LOSES") ? 0 : bytes, stream);
}

FAKE(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream), (to, value, bytes, stream))
{
    int error = fake_context_error();
    fake_need(stream, STREAM, "cuMemsetD8Async");
    if (!error)
        memset((void *)(uintptr_t)to, value, bytes);
    return error;
}

/* ---- memory that outlives its context ---- */

struct memory {
    uint32_t kind; /* MEMORY */
    int fd;
};

struct range {
    CUdeviceptr address; /* 0 = free row */
    size_t bytes;
    int mapped;
};

static struct range ranges[64];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The row of exactly this range, in exactly this state; address 0 finds a free row. */
static struct range *find_range(CUdeviceptr address, size_t bytes, int mapped, const char *call)
{
    struct range *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && !found; i++)
        if (ranges[i].address == address && (!address || (ranges[i].bytes == bytes && ranges[i].mapped == mapped)))
            found = &ranges[i];
    if (found && !address)
        *found = (struct range){1, bytes, 0}; /* taken */
    pthread_mutex_unlock(&lock);
    if (!found)
        fake_complain(call);
    return found;
}

static CUresult new_memory(uint64_t *handle, int fd)
{
    if (fd < 0)
        return 2;
    struct memory *memory = calloc(1, sizeof *memory);
    *memory = (struct memory){MEMORY, fd};
    *handle = (uint64_t)(uintptr_t)memory;
    return 0;
}

FAKE(cuDeviceGetUuid_v2, (uint8_t * uuid, CUdevice device), (uuid, device))
{
    memset(uuid, 0x60 + device, 16);
    return device < 0 || device > 1 ? 101 : 0;
}

FAKE(cuMemGetAllocationGranularity, (size_t * bytes, const struct cu_memory_properties *properties, int which),
     (bytes, properties, which))
{
    *bytes = GRANULARITY;
    return properties->type == CU_MEM_ALLOCATION_TYPE_PINNED && which == CU_MEM_GRANULARITY_MINIMUM ? 0 : 1;
}

FAKE(cuMemCreate, (uint64_t * handle, size_t bytes, const struct cu_memory_properties *properties, uint64_t flags),
     (handle, bytes, properties, flags))
{
    CUresult error = usable();
    if (error)
        return error;
    if (flags || bytes == 0 || bytes % GRANULARITY || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->handle_types != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        properties->location_type != CU_MEM_LOCATION_TYPE_DEVICE)
        return 1;
    int fd = memfd_create(FAKE_GPU_MEMORY, MFD_CLOEXEC);
    return fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 ? new_memory(handle, fd) : 2;
}

static struct memory *memory_of(uint64_t handle, const char *call)
{
    return fake_need((void *)(uintptr_t)handle, MEMORY, call);
}

FAKE(cuMemExportToShareableHandle, (void *shareable, uint64_t handle, int type, uint64_t flags),
     (shareable, handle, type, flags))
{
    *(int *)shareable = dup(memory_of(handle, "cuMemExportToShareableHandle")->fd);
    return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && !flags && *(int *)shareable >= 0 ? 0 : 1;
}

FAKE(cuMemImportFromShareableHandle, (uint64_t * handle, void *shareable, int type), (handle, shareable, type))
{
    CUresult error = usable();
    if (error)
        return error;
    return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ? new_memory(handle, dup((int)(intptr_t)shareable)) : 1;
}

FAKE(cuMemRelease, (uint64_t handle), (handle))
{
    struct memory *memory = memory_of(handle, "cuMemRelease");
    close(memory->fd);
    memory->kind = DEAD;
    return 0;
}

/* Nothing can be read there until memory is mapped and made accessible. */
static void *nothing_at(void *address, size_t bytes)
{
    return mmap(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address ? MAP_FIXED : 0), -1,
                0);
}

FAKE(cuMemAddressReserve, (CUdeviceptr * address, size_t bytes, size_t alignment, CUdeviceptr wish, uint64_t flags),
     (address, bytes, alignment, wish, flags))
{
    if (bytes == 0 || bytes % GRANULARITY || alignment || wish || flags)
        return 1;
    struct range *range = find_range(0, bytes, 0, "cuMemAddressReserve: no rows left");
    range->address = (CUdeviceptr)(uintptr_t)nothing_at(NULL, bytes);
    *address = range->address;
    return 0;
}

FAKE(cuMemMap, (CUdeviceptr address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags),
     (address, bytes, offset, handle, flags))
{
    CUresult error = fake_unsafe();
    if (error)
        return error;
    struct range *range = find_range(address, bytes, 0, "cuMemMap: not a reserved range");
    struct stat status;
    int fd = memory_of(handle, "cuMemMap")->fd;
    if (offset || flags || fstat(fd, &status) != 0 || (size_t)status.st_size < bytes)
        return 1;
    void *at = mmap((void *)(uintptr_t)address, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, fd, 0);
    range->mapped = at != MAP_FAILED;
    return range->mapped ? 0 : 2;
}

FAKE(cuMemSetAccess, (CUdeviceptr address, size_t bytes, const struct cu_memory_access *access, size_t count),
     (address, bytes, access, count))
{
    find_range(address, bytes, 1, "cuMemSetAccess: not a mapped range");
    if (count != 1 || access->location_type != CU_MEM_LOCATION_TYPE_DEVICE || access->location_id > 1)
        return 1;
    int rights = access->flags == CU_MEM_ACCESS_READ_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    return mprotect((void *)(uintptr_t)address, bytes, rights) == 0 ? 0 : 1;
}

FAKE(cuMemUnmap, (CUdeviceptr address, size_t bytes), (address, bytes))
{
    CUresult error = fake_unsafe();
    if (error)
        return error;
    find_range(address, bytes, 1, "cuMemUnmap: not a mapped range")->mapped = 0;
    nothing_at((void *)(uintptr_t)address, bytes);
    return 0;
}

FAKE(cuMemAddressFree, (CUdeviceptr address, size_t bytes), (address, bytes))
{
    struct range *range = find_range(address, bytes, 0, "cuMemAddressFree: not a reserved range");
    munmap((void *)(uintptr_t)address, bytes);
    range->address = 0;
    return 0;
}
