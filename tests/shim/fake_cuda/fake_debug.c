/* fake_debug.c - the debug interface of the fake libcuda, the inspector's side: a function table, joined with the
 * traced program's side (fake_debugged.c) by a file that FAKE_DEBUG_STATE names.
 *
 * FAKE_CUDA_FAIL_AT, FAKE_CUDA_FAIL, FAKE_CUDA_HANG, FAKE_CUDA_CRASH, FAKE_CUDA_ONCE   as for every call; names as in
 *                             the table
 * FAKE_DEBUG_VERSION=major.minor.revision   what it says it speaks (13.0.163)
 * FAKE_DEBUG_ORDER=10,1,7     kinds of the events of an attach, in this order
 */
#include "fake_debug.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "../../../tracer/evidence/debug_api.h"
#include "fake_internal.h"

extern uint32_t cudbgApiClientPid;
uint32_t cudbgGetAPIVersion(uint32_t *major, uint32_t *minor, uint32_t *revision);
uint32_t cudbgGetAPI(uint32_t major, uint32_t minor, uint32_t revision, const void **out);

static int initialized, complete;
static uint32_t stopped_here;                      /* a bit for each device */
static int pending[16], pending_count, pending_at; /* kinds of events to come */

/* 0, or the error of a call that was asked to fail. */
#define ENTER(name)           \
    do {                      \
        if (fake_enter(name)) \
            return 0x1;       \
    } while (0)
#define NEED_SUSPENDED()                       \
    do {                                       \
        if (!fake_gpu()->suspended)            \
            return WSDBG_DEBUG_RUNNING_DEVICE; \
    } while (0)

static void expect_events(const char *kinds)
{
    char *copy = strdup(kinds), *rest = NULL;
    pending_at = pending_count = 0;
    for (char *word = strtok_r(copy, ",", &rest); word && pending_count < 16; word = strtok_r(NULL, ",", &rest))
        pending[pending_count++] = atoi(word);
    free(copy);
}

static uint32_t debug_initialize(void)
{
    ENTER("initialize");
    fake_debug_find_gpu();
    if (!fake_gpu()->attached || fake_gpu()->client_pid != (uint32_t)getpid())
        return WSDBG_DEBUG_INITIALIZATION_FAILURE;
    const char *order = getenv("FAKE_DEBUG_ORDER");
    prctl(PR_SET_PDEATHSIG, SIGHUP);
    initialized = 1;
    complete = 0;
    expect_events(order ? order : "7,1,1,2,10");
    return 0;
}

static uint32_t debug_finalize(void)
{
    ENTER("finalize");
    initialized = 0;
    return 0;
}

/* The program has code on the first so many devices. */
static uint32_t used_devices(void)
{
    return getenv(FAKE_DEBUG_SECOND_DEVICE) ? 2 : 1;
}

static uint32_t debug_suspendDevice(uint32_t device)
{
    ENTER("suspendDevice");
    if (!initialized || !complete || device >= used_devices() || !fake_gpu()->attached)
        return 0x1;
    fake_gpu()->suspended |= 1u << device;
    stopped_here |= 1u << device;
    fake_gpu()->suspensions++;
    return 0;
}

static uint32_t debug_resumeDevice(uint32_t device)
{
    ENTER("resumeDevice");
    NEED_SUSPENDED();
    if (!(stopped_here & 1u << device))
        return WSDBG_DEBUG_RUNNING_DEVICE; /* whoever resumes has stopped it: what another debugger left is stopped once
                                              more first */
    fake_gpu()->resumed_at_trap += fake_gpu()->halted == FAKE_SHOWS_AS_TRAP;
    fake_gpu()->suspended &= ~(1u << device);
    fake_gpu()->resumed_ns = fake_debug_now_ns();
    stopped_here &= ~(1u << device);
    return 0;
}

/* As the driver's: a trap is a breakpoint to a debugger. */
static uint32_t tell_exception(struct wsdbg_debug_event *event)
{
    fake_gpu()->told = 1;
    memset(event, 0, sizeof *event);
    event->kind = WSDBG_DEBUG_EVENT_ALL_SUSPENDED;
    event->suspended.broken_devices = fake_gpu()->halted == FAKE_SHOWS_AS_TRAP;
    event->suspended.faulted_devices = fake_gpu()->halted == FAKE_SHOWS_AS_EVENT;
    return 0;
}

static int has_load_to_tell(void)
{
    return fake_gpu()->loads_told != __atomic_load_n(&fake_gpu()->loads_asked, __ATOMIC_SEQ_CST) &&
           fake_debug_now_ns() >= fake_gpu()->load_asked_ns + fake_gpu()->load_event_ms * UINT64_C(1000000);
}

static uint32_t debug_getNextEvent(uint32_t queue, struct wsdbg_debug_event *event)
{
    ENTER("getNextEvent");
    if (queue == WSDBG_DEBUG_QUEUE_SYNC && complete && fake_gpu()->halted && !fake_gpu()->told)
        return tell_exception(event);
    if (queue == WSDBG_DEBUG_QUEUE_SYNC && complete && has_load_to_tell()) {
        fake_gpu()->loads_told++;
        *event = (struct wsdbg_debug_event){.kind = WSDBG_DEBUG_EVENT_IMAGE_LOADED};
        return 0;
    }
    if (queue != WSDBG_DEBUG_QUEUE_SYNC || pending_at >= pending_count)
        return WSDBG_DEBUG_NO_EVENT_AVAILABLE;
    memset(event, 0, sizeof *event);
    event->kind = (uint32_t)pending[pending_at++];
    if (event->kind == WSDBG_DEBUG_EVENT_IMAGE_LOADED || event->kind == WSDBG_DEBUG_EVENT_IMAGE_UNLOADED) {
        event->image.device = (uint32_t)pending_at % used_devices();
        event->image.context = FAKE_DEBUG_CONTEXT;
        event->image.module = FAKE_DEBUG_MODULE + (uint64_t)pending_at;
        event->image.byte_count = sizeof FAKE_DEBUG_IMAGE;
        event->image.handle = 0x99;
    }
    complete = complete || event->kind == WSDBG_DEBUG_EVENT_ATTACH_COMPLETE;
    return 0;
}

static uint32_t debug_acknowledgeSyncEvents(void)
{
    ENTER("acknowledgeSyncEvents");
    fake_gpu()->acknowledged++;
    fake_gpu()->loads_answered = fake_gpu()->loads_told;
    return 0;
}

static uint32_t debug_getElfImageByHandle(uint32_t device, uint64_t handle, uint32_t type, void *out,
                                          uint64_t byte_count)
{
    ENTER("getElfImageByHandle");
    if (device != 0 || handle != 0x99 || type != WSDBG_DEBUG_IMAGE_RELOCATED || byte_count != sizeof FAKE_DEBUG_IMAGE)
        return 0x1;
    memcpy(out, FAKE_DEBUG_IMAGE, byte_count);
    return 0;
}

/* As the driver's: what stands at a trap goes on when its debugger leaves. */
static uint32_t debug_requestCleanupOnDetach(uint32_t resume_flag)
{
    ENTER("requestCleanupOnDetach");
    if (resume_flag != 3)
        return 0x1;
    fake_gpu()->left_at_once += fake_debug_is_too_soon();
    if (fake_gpu()->halted == FAKE_SHOWS_AS_TRAP)
        fake_gpu()->suspended = stopped_here = 0;
    fake_gpu()->halted = 0;
    fake_gpu()->cleanups++;
    expect_events("11");
    return 0;
}

static uint32_t debug_setKernelLaunchNotificationMode(uint32_t mode)
{
    ENTER("setKernelLaunchNotificationMode");
    fake_gpu()->deferred = mode == WSDBG_DEBUG_LAUNCHES_DEFERRED;
    return 0;
}

static uint32_t shown_on_sm(void)
{
    return fake_debug_now_ns() >= fake_gpu()->shown_ns ? fake_gpu()->sm_exception : 0;
}

static uint32_t debug_readDeviceExceptionState(uint32_t device, uint64_t *mask, uint32_t words)
{
    ENTER("readDeviceExceptionState");
    memset(mask, 0, words * sizeof *mask);
    mask[0] = shown_on_sm() || fake_gpu()->exception ? 2 : 0;
    return device == 0 ? 0 : 0x1;
}

static uint32_t debug_readSmException(uint32_t device, uint32_t sm, uint32_t *exception, uint64_t *error_pc,
                                      bool *valid)
{
    ENTER("readSmException");
    if (device != 0 || sm >= FAKE_DEBUG_SMS)
        return 0x1;
    *exception = sm == 1 ? shown_on_sm() : 0;
    *error_pc = FAKE_DEBUG_CODE + 0x10;
    *valid = *exception != 0;
    return 0;
}

static uint32_t debug_setNotifyNewEventCallback(void (*notify)(void *), void *data)
{
    ENTER("setNotifyNewEventCallback");
    notify(data);
    return 0;
}

static uint32_t debug_getNumDevices(uint32_t *count)
{
    ENTER("getNumDevices");
    *count = 2;
    return 0;
}

static uint32_t debug_getNumSMs(uint32_t device, uint32_t *count)
{
    ENTER("getNumSMs");
    *count = device < used_devices() ? FAKE_DEBUG_SMS : 0;
    return 0;
}

static uint32_t debug_getNumWarps(uint32_t device, uint32_t *count)
{
    ENTER("getNumWarps");
    (void)device;
    *count = 64;
    return 0;
}

/* Slots 1, 3 and 6 hold the third, the first and the second warp: its lanes go apart, all go on, stand together but for
 * one that has gone ahead into a barrier. */
static const uint32_t slots[FAKE_DEBUG_WARPS] = {1, 3, 6}, warp_in_slot[8] = {[1] = 2, [3] = 0, [6] = 1};

static uint32_t debug_readValidWarps(uint32_t device, uint32_t sm, uint64_t *mask)
{
    ENTER("readValidWarps");
    NEED_SUSPENDED();
    *mask = 0;
    for (int i = 0; i < FAKE_DEBUG_WARPS; i++)
        *mask |= 1ull << slots[i];
    return device < used_devices() && sm < FAKE_DEBUG_SMS ? 0 : 0xc;
}

static uint32_t debug_readWarpState(uint32_t device, uint32_t sm, uint32_t warp, struct wsdbg_debug_warp *out)
{
    ENTER("readWarpState");
    NEED_SUSPENDED();
    (void)device;
    memset(out, 0, sizeof *out);
    out->grid_id = FAKE_DEBUG_GRID;
    out->block[0] = FAKE_DEBUG_SMS - 1 - sm;
    out->valid_lanes = 0xffffffff;
    out->active_lanes = warp_in_slot[warp] == 0 ? out->valid_lanes : 1;
    out->cluster_size[0] = 2;
    out->cluster_size[1] = out->cluster_size[2] = 1;
    for (uint32_t lane = 0; lane < 32; lane++) {
        out->lanes[lane].pc = FAKE_DEBUG_CODE + (warp_in_slot[warp] == 2 ? 16 * lane : 0);
        out->lanes[lane].thread[0] = warp_in_slot[warp] * 32 + lane;
    }
    if (fake_gpu()->exception && warp_in_slot[warp] == 1) {
        out->lanes[0].exception = fake_gpu()->exception;
        out->error_pc = FAKE_DEBUG_CODE - 0x20;
        out->error_pc_valid = 1;
    }
    return 0;
}

static uint32_t debug_readWarpResources(uint32_t device, uint32_t sm, uint32_t warp, struct wsdbg_debug_resources *out)
{
    ENTER("readWarpResources");
    NEED_SUSPENDED();
    (void)device, (void)sm;
    *out = (struct wsdbg_debug_resources){.shared_bytes = FAKE_DEBUG_SHARED_BYTES, .registers = warp == 3 ? 24 : 40};
    return 0;
}

static uint32_t debug_getCbuWarpState(uint32_t device, uint32_t sm, uint64_t warps, struct wsdbg_debug_convergence *out,
                                      uint32_t count)
{
    ENTER("getCbuWarpState");
    NEED_SUSPENDED();
    (void)device, (void)sm;
    if (count != (uint32_t)__builtin_popcountll(warps))
        return 0x1;
    memset(out, 0, count * sizeof *out);
    for (; warps; warps &= warps - 1, out++)
        out->barriers[2] = 0xf0u + (uint32_t)__builtin_ctzll(warps);
    return 0;
}

static uint32_t debug_getGridInfo(uint32_t device, uint64_t grid_id, struct wsdbg_debug_grid *out)
{
    ENTER("getGridInfo");
    memset(out, 0, sizeof *out);
    out->device = device;
    out->grid_id = grid_id;
    out->context = FAKE_DEBUG_CONTEXT;
    out->module = FAKE_DEBUG_MODULE + 3;
    out->function_entry = FAKE_DEBUG_CODE;
    for (int axis = 0; axis < 3; axis++)
        out->grid[axis] = out->block[axis] = out->cluster[axis] = 1;
    out->grid[0] = out->cluster[0] = 2;
    out->block[0] = 32 * FAKE_DEBUG_WARPS;
    return grid_id == FAKE_DEBUG_GRID ? 0 : 0x15;
}

static uint32_t debug_readRegisterRange(uint32_t device, uint32_t sm, uint32_t warp, uint32_t lane, uint32_t first,
                                        uint32_t count, uint32_t *out)
{
    ENTER("readRegisterRange");
    NEED_SUSPENDED();
    (void)device;
    if (first > FAKE_DEBUG_REGISTERS || count > FAKE_DEBUG_REGISTERS - first)
        return 0x1;
    for (uint32_t i = 0; i < count; i++)
        out[i] = sm << 24 | warp << 16 | lane << 8 | (first + i);
    return 0;
}

static uint32_t debug_readUniformRegisterRange(uint32_t device, uint32_t sm, uint32_t warp, uint32_t first,
                                               uint32_t count, uint32_t *out)
{
    ENTER("readUniformRegisterRange");
    NEED_SUSPENDED();
    (void)device;
    if (first > FAKE_DEBUG_UNIFORM || count > FAKE_DEBUG_UNIFORM - first)
        return 0x1;
    for (uint32_t i = 0; i < count; i++)
        out[i] = sm << 24 | warp << 16 | (first + i);
    return 0;
}

/* P1 and P3 are true. */
static uint32_t debug_readPredicates(uint32_t device, uint32_t sm, uint32_t warp, uint32_t lane, uint32_t count,
                                     uint32_t *out)
{
    ENTER("readPredicates");
    NEED_SUSPENDED();
    (void)device, (void)sm, (void)warp, (void)lane;
    for (uint32_t i = 0; i < count; i++)
        out[i] = i == 1 || i == 3;
    return 0;
}

static void put_addresses(uint64_t address, void *out, uint32_t byte_count)
{
    for (uint32_t i = 0; i < byte_count; i++)
        ((unsigned char *)out)[i] = (unsigned char)(address + i);
}

static uint32_t debug_readSharedMemory(uint32_t device, uint32_t sm, uint32_t warp, uint64_t address, void *out,
                                       uint32_t byte_count)
{
    ENTER("readSharedMemory");
    NEED_SUSPENDED();
    (void)device, (void)sm, (void)warp;
    if (address > FAKE_DEBUG_SHARED_BYTES || byte_count > FAKE_DEBUG_SHARED_BYTES - address)
        return WSDBG_DEBUG_INVALID_MEMORY_ACCESS;
    put_addresses(address, out, byte_count);
    return 0;
}

/* What a lane has there also tells which lane it is. */
static uint32_t debug_readLocalMemory(uint32_t device, uint32_t sm, uint32_t warp, uint32_t lane, uint64_t address,
                                      void *out, uint32_t byte_count)
{
    ENTER("readLocalMemory");
    NEED_SUSPENDED();
    (void)device, (void)sm, (void)warp;
    if (address < FAKE_DEBUG_LOCAL || address + byte_count > FAKE_DEBUG_LOCAL + FAKE_DEBUG_LOCAL_BYTES)
        return WSDBG_DEBUG_INVALID_MEMORY_ACCESS;
    put_addresses(address + lane, out, byte_count);
    return 0;
}

static uint32_t debug_readParamMemory(uint32_t device, uint32_t sm, uint32_t warp, uint64_t address, void *out,
                                      uint32_t byte_count)
{
    (void)device, (void)sm, (void)warp, (void)address, (void)out, (void)byte_count;
    return 0x1;
}

static uint32_t debug_readGlobalMemory(uint64_t address, void *out, uint32_t byte_count)
{
    ENTER("readGlobalMemory");
    NEED_SUSPENDED();
    if (address < FAKE_DEBUG_GLOBAL || address + byte_count > FAKE_DEBUG_GLOBAL + FAKE_DEBUG_BANK_BYTES)
        return WSDBG_DEBUG_INVALID_MEMORY_ACCESS;
    put_addresses(address, out, byte_count);
    return 0;
}

static uint32_t debug_getConstBankAddress(uint32_t device, uint64_t grid_id, uint32_t bank, uint64_t *address,
                                          uint32_t *byte_count)
{
    ENTER("getConstBankAddress");
    (void)device;
    *address = FAKE_DEBUG_GLOBAL;
    *byte_count = FAKE_DEBUG_BANK_BYTES;
    return grid_id == FAKE_DEBUG_GRID && bank == 0 ? 0 : 0x1;
}

/* ---- handing it out ---- */

EXPORT uint32_t cudbgGetAPIVersion(uint32_t *major, uint32_t *minor, uint32_t *revision)
{
    const char *version = getenv("FAKE_DEBUG_VERSION");
    ENTER("cudbgGetAPIVersion");
    return sscanf(version ? version : "13.0.163", "%u.%u.%u", major, minor, revision) == 3 ? 0 : 0x1;
}

EXPORT uint32_t cudbgGetAPI(uint32_t major, uint32_t minor, uint32_t revision, const void **out)
{
    static unsigned char table[WSDBG_DEBUG_TABLE_BYTES];
    ENTER("cudbgGetAPI");
    if (major != 13 || minor != 0 || revision != 163 || cudbgApiClientPid != (uint32_t)getpid())
        return 0x13;
#define X(name, offset, types)                                \
    {                                                         \
        uint32_t(*function) types = debug_##name;             \
        memcpy(table + (offset), &function, sizeof function); \
    }
    WSDBG_DEBUG_FUNCTIONS(X)
#undef X
    *out = table;
    return 0;
}
