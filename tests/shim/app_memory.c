/* app_memory.c - scenarios of app.c with memory of every kind, and work that is given to a stream. */
#include <pthread.h>
#include <stdlib.h>

#include "app.h"

enum { BYTES = 4096, MAPPED_BYTES = 65536, MANY = 1100, RACERS = 8, ROUNDS = 2000 };

/* One of every kind stays at the end, but for a device's: of its five the second was refused and the third freed. */
void memory_kinds(void)
{
    static char registered[BYTES];
    CUcontext first = create(0), second = create(1);
    if (!first || !second)
        return;
    CUdeviceptr device[5] = {0}, other = 0, pitched = 0, pool[2] = {0}, managed = 0, imported = 0;
    struct cu_ipc_handle handle = {{0}};
    CUstream stream = NULL;
    size_t pitch = 0;
    void *host = NULL, *pinned = NULL;
    static char external_memory[8192], graphics_memory[512];
    const struct cu_external_buffer buffer = {.offset = 4096, .bytes = 2048};
    CUdeviceptr external = 0, graphics = 0;
    size_t graphics_bytes = 0;
    DO(cuMemAlloc, &other, BYTES);
    DO(cuCtxSetCurrent, first);
    if (DO(cuStreamCreate, &stream, 1))
        return;
    DO(cuMemAlloc, &device[0], BYTES);
    DO(cuMemAllocManaged, &managed, 0, 1);
    DO(cuMemAllocManaged, &managed, BYTES, 1);
    DO(cuMemAlloc, &device[1], BYTES);
    DO(cuMemFree, device[1]);
    DO(cuMemAllocPitch, &pitched, &pitch, 100, 4, 4);
    DO(cuMemHostAlloc, &host, BYTES, 0);
    DO(cuMemAllocHost, &pinned, BYTES);
    DO(cuMemHostRegister, registered, sizeof registered, 0);
    DO(cuMemAllocAsync, &pool[0], BYTES, stream);
    DO(cuMemAllocAsync, &pool[1], BYTES, stream);
    DO(cuMemFreeAsync, pool[1], stream);
    DO(cuIpcGetMemHandle, &handle, device[0]);
    DO(cuCtxSetCurrent, second);
    DO(cuCtxEnablePeerAccess, first, 0);
    if (DO(cuIpcOpenMemHandle, &imported, handle, 1) == 0 && getenv("APP_CLOSES"))
        DO(cuIpcCloseMemHandle, imported);
    DO(cuExternalMemoryGetMappedBuffer, &external, external_memory, &buffer);
    DO(cuGraphicsResourceGetMappedPointer, &graphics, &graphics_bytes, graphics_memory);
    DO(cuCtxSetCurrent, first);
    DO(cuMemAlloc, &device[2], BYTES);
    if (getenv("APP_CLOSES")) {
        DO(cuMemFreeHost, host);
        DO(cuMemHostUnregister, registered);
        DO(cuCtxDestroy, second);
    }
}

static CUdeviceptr map(uint64_t handle, int32_t device)
{
    CUdeviceptr at = 0;
    const struct cu_memory_access access = {CU_MEM_LOCATION_TYPE_DEVICE, device, CU_MEM_ACCESS_READ_WRITE};
    if (!handle || DO(cuMemAddressReserve, &at, MAPPED_BYTES, 0, 0, 0) || DO(cuMemMap, at, MAPPED_BYTES, 0, handle, 0))
        return 0;
    DO(cuMemSetAccess, at, MAPPED_BYTES, &access, 1);
    return at;
}

/* A memory with two mappings, of which GPU 1 may write the second; one that comes from elsewhere; one that was given
 * away after its handle was; one that network cards may write and that was unmapped. */
void mappings(void)
{
    struct cu_memory_properties properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                              .handle_types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                              .location_type = CU_MEM_LOCATION_TYPE_DEVICE};
    uint64_t handle[3] = {0}, imported = 0, retained = 0;
    int shared = -1;
    create(0);
    for (int i = 0; i < 3; i++) {
        properties.for_network_cards = i == 2;
        DO(cuMemCreate, &handle[i], MAPPED_BYTES, &properties, 0);
    }
    map(handle[0], 0);
    map(handle[0], 1);
    const CUdeviceptr given_away = map(handle[1], 0), unmapped = map(handle[2], 0);
    if (handle[0] && DO(cuMemExportToShareableHandle, &shared, handle[0], 1, 0) == 0 &&
        DO(cuMemImportFromShareableHandle, &imported, (void *)(intptr_t)shared, 1) == 0)
        map(imported, 0);
    if (given_away && DO(cuMemRelease, handle[1]) == 0 &&
        DO(cuMemRetainAllocationHandle, &retained, (void *)(uintptr_t)(given_away + 8)) == 0)
        DO(cuIpcGetMemHandle, &(struct cu_ipc_handle){{0}}, given_away + 16);
    if (unmapped)
        DO(cuMemUnmap, unmapped, MAPPED_BYTES);
}

/* More than there are rows; then all are freed, and one more is made. */
void many_allocations(void)
{
    static CUdeviceptr memory[MANY];
    create(0);
    for (int i = 0; i < MANY; i++)
        if (cu.cuMemAlloc(&memory[i], 64))
            fail("cuMemAlloc");
    for (int i = 0; i < MANY; i++)
        cu.cuMemFree(memory[i]);
    DO(cuMemAlloc, &memory[0], 32);
}

struct racer {
    CUcontext context;
    CUstream stream;
};

static void *allocate_and_free(void *argument)
{
    const struct racer *racer = argument;
    cu.cuCtxSetCurrent(racer->context);
    for (int i = 0; i < ROUNDS; i++) {
        CUdeviceptr memory = 0;
        if (cu.cuMemAllocAsync(&memory, 64, racer->stream) || cu.cuMemFreeAsync(memory, racer->stream))
            fail("memory of a pool in a thread");
    }
    return NULL;
}

/* The same addresses are given out again and again, to whoever asks first. */
void racing_allocations(void)
{
    struct racer racer = {create(0), NULL};
    pthread_t threads[RACERS];
    DO(cuStreamCreate, &racer.stream, 1);
    for (int i = 0; i < RACERS; i++)
        pthread_create(&threads[i], NULL, allocate_and_free, &racer);
    for (int i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
}

static void called_by_stream(void *data)
{
    ++*(int *)data;
}

/* Two copies, a memset, a write, a host function; one refused; what is captured is not given. */
void stream_work(void)
{
    CUdeviceptr memory = 0;
    CUstream stream = NULL;
    CUgraph graph = NULL;
    int called = 0;
    create(0);
    DO(cuStreamCreate, &stream, 1);
    if (DO(cuMemAlloc, &memory, BYTES) || !stream)
        return;
    DO(cuMemcpyAsync, memory, memory + 64, 64, stream);
    DO(cuMemcpyAsync, memory, memory + 64, 64, stream);
    DO(cuMemsetD32Async, memory, 7, 16, stream);
    DO(cuStreamWriteValue32, stream, memory, 1, 0);
    DO(cuStreamWriteValue32, stream, memory, 1, 99);
    DO(cuLaunchHostFunc, stream, called_by_stream, &called);
    if (DO(cuStreamBeginCapture, stream, 0) == 0) {
        DO(cuMemcpyAsync, memory, memory + 64, 64, stream);
        DO(cuStreamEndCapture, stream, &graph);
    }
}
