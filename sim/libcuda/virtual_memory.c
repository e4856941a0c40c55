/* virtual_memory.c - memory apart from its addresses (cuMemCreate, cuMemMap, ...): files of memory, mapped where
 * addresses were reserved.  They can be handed to other processes as file descriptors, and outlive the context.
 *
 * What is mapped and may be accessed is known to all devices, like memory of the host.  Access is all or nothing.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libcuda/memory.h"

enum { GRANULARITY = 2 << 20, TYPE_PINNED = 1, LOCATION_DEVICE = 1, ACCESS_MOST = 3, HANDLE_FILE_DESCRIPTOR = 1 };

/* CUmemAllocationProp and CUmemAccessDesc, as far as they matter. */
struct cu_memory_properties {
    int32_t type, handle_types;
    struct cu_memory_location location;
    void *windows;
    uint8_t flags[8];
};
struct cu_memory_access {
    struct cu_memory_location location;
    int32_t flags;
};

/* A CUmemGenericAllocationHandle is its address. */
struct physical_memory {
    int file;
    unsigned users; /* handles given out, and mappings */
    size_t byte_count;
    struct cu_memory_properties properties;
};

struct reservation {
    struct reservation *next;
    uint64_t address;
    size_t byte_count;
};

struct mapping {
    struct mapping *next;
    uint64_t address;
    size_t byte_count;
    struct physical_memory *memory;
    size_t offset; /* in the memory */
    bool is_accessible;
};

static struct physical_memory *memory_of(uint64_t handle)
{
    struct physical_memory *memory = (struct physical_memory *)(uintptr_t)handle;
    return handle_is(&driver.handles, memory, HANDLE_PHYSICAL) ? memory : NULL;
}

static bool holds(uint64_t first, size_t byte_count, uint64_t address, size_t wanted)
{
    return address >= first && wanted <= byte_count && address - first <= byte_count - wanted;
}

/* Takes the lock. */
static CUresult enter(void)
{
    CUresult result = driver_ready();
    if (result == CUDA_SUCCESS)
        driver_lock();
    return result;
}

ENTRY(cuMemGetAllocationGranularity, size_t *byte_count, const struct cu_memory_properties *properties, int option)
{
    CUresult result = driver_ready();
    if (result != CUDA_SUCCESS)
        return result;
    if (!byte_count || !properties || option < 0 || option > 1)
        return CUDA_ERROR_INVALID_VALUE;
    *byte_count = GRANULARITY;
    return CUDA_SUCCESS;
}

/* ---- memory ---- */

static CUresult add_memory(int file, size_t byte_count, const struct cu_memory_properties *properties, uint64_t *handle)
{
    struct physical_memory *memory = calloc(1, sizeof *memory);
    if (!memory || !handle_add(&driver.handles, memory, HANDLE_PHYSICAL)) {
        free(memory);
        close(file);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *memory = (struct physical_memory){file, 1, byte_count, *properties};
    *handle = (uintptr_t)memory;
    return CUDA_SUCCESS;
}

static void release(struct physical_memory *memory)
{
    if (--memory->users)
        return;
    handle_remove(&driver.handles, memory);
    close(memory->file);
    free(memory);
}

/* To go over it raises SIGXFSZ in the program. */
static bool is_over_file_limit(size_t byte_count)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && byte_count > limit.rlim_cur;
}

static bool has_size(int file, size_t byte_count)
{
    return byte_count <= driver.gpu_options.memory_bytes && !is_over_file_limit(byte_count) &&
           ftruncate(file, (off_t)byte_count) == 0;
}

ENTRY(cuMemCreate, uint64_t *handle, size_t byte_count, const struct cu_memory_properties *properties, uint64_t flags)
{
    CUresult result = enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || !properties || flags || !byte_count || byte_count % GRANULARITY || properties->type != TYPE_PINNED ||
        properties->location.type != LOCATION_DEVICE)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    if (properties->location.id != 0)
        return driver_leave(CUDA_ERROR_INVALID_DEVICE);
    if (properties->handle_types & ~HANDLE_FILE_DESCRIPTOR)
        return driver_leave(CUDA_ERROR_NOT_SUPPORTED);
    const int file = memfd_create("wsdbg simulated memory", MFD_CLOEXEC);
    if (file < 0 || !has_size(file, byte_count)) {
        if (file >= 0)
            close(file);
        return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    return driver_leave(add_memory(file, byte_count, properties, handle));
}

ENTRY(cuMemRelease, uint64_t handle)
{
    CUresult result = enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct physical_memory *memory = memory_of(handle);
    if (!memory)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    release(memory);
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuMemGetAllocationPropertiesFromHandle, struct cu_memory_properties *properties, uint64_t handle)
{
    CUresult result = enter();
    if (result != CUDA_SUCCESS)
        return result;
    const struct physical_memory *memory = memory_of(handle);
    if (!properties || !memory)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    *properties = memory->properties;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuMemExportToShareableHandle, void *out, uint64_t handle, int type, uint64_t flags)
{
    CUresult result = enter();
    if (result != CUDA_SUCCESS)
        return result;
    const struct physical_memory *memory = memory_of(handle);
    if (!out || !memory || flags || type != HANDLE_FILE_DESCRIPTOR ||
        !(memory->properties.handle_types & HANDLE_FILE_DESCRIPTOR))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    const int file = dup(memory->file);
    if (file < 0)
        return driver_leave(CUDA_ERROR_OPERATING_SYSTEM);
    *(int *)out = file;
    return driver_leave(CUDA_SUCCESS);
}

ENTRY(cuMemImportFromShareableHandle, uint64_t *handle, void *shared, int type)
{
    static const struct cu_memory_properties properties = {
        TYPE_PINNED, HANDLE_FILE_DESCRIPTOR, {LOCATION_DEVICE, 0}, NULL, {0}};
    CUresult result = enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || type != HANDLE_FILE_DESCRIPTOR)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    const int file = dup((int)(intptr_t)shared);
    const off_t byte_count = file < 0 ? -1 : lseek(file, 0, SEEK_END);
    if (byte_count <= 0 || byte_count % GRANULARITY) {
        if (file >= 0)
            close(file);
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    }
    return driver_leave(add_memory(file, (size_t)byte_count, &properties, handle));
}

/* ---- addresses ---- */

ENTRY(cuMemAddressReserve, uint64_t *address, size_t byte_count, size_t alignment, uint64_t wanted, uint64_t flags)
{
    (void)wanted; /* a hint */
    CUresult result = enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!address || flags || !byte_count || byte_count % GRANULARITY || alignment & (alignment - 1))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    const size_t step = alignment > GRANULARITY ? alignment : GRANULARITY;
    struct reservation *reservation = malloc(sizeof *reservation);
    char *room = MAP_FAILED;
    if (reservation && byte_count + step > byte_count)
        room = mmap(NULL, byte_count + step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
        free(reservation);
        return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    char *first = room + (step - (uintptr_t)room % step) % step;
    if (first > room)
        munmap(room, (size_t)(first - room));
    munmap(first + byte_count, (size_t)(room + step - first));
    *reservation = (struct reservation){driver.reservations, (uintptr_t)first, byte_count};
    driver.reservations = reservation;
    *address = reservation->address;
    return driver_leave(CUDA_SUCCESS);
}

static bool overlaps_mapping(uint64_t address, size_t byte_count)
{
    for (const struct mapping *mapping = driver.mappings; mapping; mapping = mapping->next)
        if (address < mapping->address + mapping->byte_count && mapping->address < address + byte_count)
            return true;
    return false;
}

ENTRY(cuMemAddressFree, uint64_t address, size_t byte_count)
{
    CUresult result = enter();
    if (result != CUDA_SUCCESS)
        return result;
    for (struct reservation **link = &driver.reservations; *link; link = &(*link)->next) {
        struct reservation *reservation = *link;
        if (reservation->address != address || reservation->byte_count != byte_count)
            continue;
        if (overlaps_mapping(address, byte_count))
            break;
        *link = reservation->next;
        munmap((void *)(uintptr_t)address, byte_count);
        free(reservation);
        return driver_leave(CUDA_SUCCESS);
    }
    return driver_leave(CUDA_ERROR_INVALID_VALUE);
}

static bool is_reserved(uint64_t address, size_t byte_count)
{
    for (const struct reservation *reservation = driver.reservations; reservation; reservation = reservation->next)
        if (holds(reservation->address, reservation->byte_count, address, byte_count))
            return true;
    return false;
}

/* ---- memory at addresses ---- */

ENTRY(cuMemMap, uint64_t address, size_t byte_count, size_t offset, uint64_t handle, uint64_t flags)
{
    CUresult result = enter();
    if (result != CUDA_SUCCESS)
        return result;
    struct physical_memory *memory = memory_of(handle);
    if (!memory || flags || !byte_count || address % GRANULARITY || byte_count % GRANULARITY || offset % GRANULARITY ||
        !holds(0, memory->byte_count, offset, byte_count) || !is_reserved(address, byte_count) ||
        overlaps_mapping(address, byte_count))
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    struct mapping *mapping = malloc(sizeof *mapping);
    if (!mapping || mmap((void *)(uintptr_t)address, byte_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                         memory->file, (off_t)offset) == MAP_FAILED) {
        free(mapping);
        return driver_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    *mapping = (struct mapping){driver.mappings, address, byte_count, memory, offset, false};
    driver.mappings = mapping;
    memory->users++;
    return driver_leave(CUDA_SUCCESS);
}

/* All mappings in the range, which they must fill. */
static size_t mapped_bytes(uint64_t address, size_t byte_count)
{
    size_t sum = 0;
    for (const struct mapping *mapping = driver.mappings; mapping; mapping = mapping->next)
        if (holds(address, byte_count, mapping->address, mapping->byte_count))
            sum += mapping->byte_count;
    return sum;
}

static CUresult set_access(struct mapping *mapping, bool is_accessible)
{
    CUresult result = CUDA_SUCCESS;
    if (mapping->is_accessible == is_accessible)
        return result;
    void *const first = (void *)(uintptr_t)mapping->address;
    if (is_accessible)
        result = host_memory_add(first, mapping->byte_count, 0, HOST_MEMORY_MAPPING);
    else
        host_memory_remove(first);
    if (result == CUDA_SUCCESS)
        mapping->is_accessible = is_accessible;
    return result;
}

ENTRY(cuMemSetAccess, uint64_t address, size_t byte_count, const struct cu_memory_access *access, size_t count)
{
    CUresult result = enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!access || count != 1 || access->location.type != LOCATION_DEVICE || access->location.id != 0 ||
        access->flags < 0 || access->flags > ACCESS_MOST || !byte_count ||
        mapped_bytes(address, byte_count) != byte_count)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    for (struct mapping *mapping = driver.mappings; mapping && result == CUDA_SUCCESS; mapping = mapping->next)
        if (holds(address, byte_count, mapping->address, mapping->byte_count))
            result = set_access(mapping, access->flags != 0);
    return driver_leave(result);
}

bool mappings_make_own(void)
{
    for (const struct mapping *mapping = driver.mappings; mapping; mapping = mapping->next)
        if (mmap((void *)(uintptr_t)mapping->address, mapping->byte_count, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_FIXED, mapping->memory->file, (off_t)mapping->offset) == MAP_FAILED)
            return false;
    return true;
}

bool memory_can_be_shared(uint64_t address)
{
    struct memory_place place;
    if (memory_find(address, 1, &place) && place.host && place.host->kind == HOST_MEMORY_REGISTERED)
        return true;
    for (const struct mapping *mapping = driver.mappings; mapping; mapping = mapping->next)
        if (holds(mapping->address, mapping->byte_count, address, 1))
            return mapping->memory->properties.handle_types & HANDLE_FILE_DESCRIPTOR;
    return false;
}

/* A kernel that goes on using the addresses faults; a copy under way ends in memory that is nobody's. */
static void unmap(struct mapping **link)
{
    struct mapping *mapping = *link;
    set_access(mapping, false);
    mmap((void *)(uintptr_t)mapping->address, mapping->byte_count, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    *link = mapping->next;
    release(mapping->memory);
    free(mapping);
}

ENTRY(cuMemUnmap, uint64_t address, size_t byte_count)
{
    CUresult result = enter();
    if (result != CUDA_SUCCESS)
        return result;
    if (!byte_count || mapped_bytes(address, byte_count) != byte_count)
        return driver_leave(CUDA_ERROR_INVALID_VALUE);
    for (struct mapping **link = &driver.mappings; *link;)
        if (holds(address, byte_count, (*link)->address, (*link)->byte_count))
            unmap(link);
        else
            link = &(*link)->next;
    return driver_leave(CUDA_SUCCESS);
}
