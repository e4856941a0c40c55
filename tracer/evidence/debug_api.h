/* debug_api.h - what wsdbg uses of the driver's debug interface, in declarations of its own.
 *
 * Source: NVIDIA's public CUDA debugger API (function order, argument and field order), and the offsets measured with
 * revision 13.0.163 on a driver 580.  The interface is versioned: a client names the revision it was written for and
 * the driver answers in that shape; a driver that is older than this one is refused.
 * Every function returns 0 for success, else enum wsdbg_debug_result.
 */
#ifndef WSDBG_EVIDENCE_DEBUG_API_H
#define WSDBG_EVIDENCE_DEBUG_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WSDBG_DEBUG_MAJOR = 13, WSDBG_DEBUG_MINOR = 0, WSDBG_DEBUG_REVISION = 163 };

/* Whether a driver that says it speaks this revision answers wsdbg's: it answers older clients in their shape. */
static inline bool wsdbg_debug_speaks_ours(uint32_t major, uint32_t minor, uint32_t revision)
{
    return major == WSDBG_DEBUG_MAJOR && (minor > WSDBG_DEBUG_MINOR || revision >= WSDBG_DEBUG_REVISION);
}

enum wsdbg_debug_result {
    WSDBG_DEBUG_OK = 0,
    WSDBG_DEBUG_INVALID_MEMORY_ACCESS = 0x8,
    WSDBG_DEBUG_SUSPENDED_DEVICE = 0xf,
    WSDBG_DEBUG_RUNNING_DEVICE = 0x10,
    WSDBG_DEBUG_INITIALIZATION_FAILURE = 0x14,
    WSDBG_DEBUG_NO_EVENT_AVAILABLE = 0x16
};

enum wsdbg_debug_event_kind {
    WSDBG_DEBUG_EVENT_IMAGE_LOADED = 1,
    WSDBG_DEBUG_EVENT_INTERNAL_ERROR = 4,
    WSDBG_DEBUG_EVENT_CONTEXT_CREATED = 7,
    WSDBG_DEBUG_EVENT_ATTACH_COMPLETE = 10,
    WSDBG_DEBUG_EVENT_DETACH_COMPLETE = 11,
    WSDBG_DEBUG_EVENT_IMAGE_UNLOADED = 12, /* as IMAGE_LOADED */
    WSDBG_DEBUG_EVENT_FUNCTIONS_LOADED = 13,
    WSDBG_DEBUG_EVENT_ALL_SUSPENDED = 14 /* an exception stopped the GPU */
};

enum { WSDBG_DEBUG_QUEUE_SYNC = 0, WSDBG_DEBUG_QUEUE_ASYNC = 1, WSDBG_DEBUG_IMAGE_RELOCATED = 1 };
/* Of setKernelLaunchNotificationMode: no event for each launch that the launch would wait for. */
enum { WSDBG_DEBUG_LAUNCHES_DEFERRED = 1 };

#pragma pack(push, 1)
struct wsdbg_debug_event {
    uint32_t kind;
    union {
        struct {
            uint32_t device;
            uint64_t context, module, byte_count, handle;
            uint32_t properties;
        } image;
        struct {
            uint32_t device, thread_id;
            uint64_t context;
        } context;
        struct {
            /* bit n: device n has a warp at a breakpoint, with an exception */
            uint64_t broken_devices, faulted_devices;
        } suspended;
        unsigned char bytes[88];
    };
};

struct wsdbg_debug_lane {
    uint64_t pc;
    uint32_t thread[3];
    uint32_t exception;
};

struct wsdbg_debug_warp {
    uint64_t grid_id, error_pc;
    uint32_t block[3];
    uint32_t valid_lanes, active_lanes, error_pc_valid;
    struct wsdbg_debug_lane lanes[32];
    uint32_t cluster_index[3], cluster_size[3];
    uint32_t cluster_exception_valid, cluster_exception_block[3];
    uint32_t syscall_lanes;
};

struct wsdbg_debug_convergence {
    uint32_t active, exited, collective;
    uint32_t barriers[16];
    uint32_t lane_state[32];
};

struct wsdbg_debug_grid {
    uint32_t device;
    uint64_t grid_id;
    uint32_t thread_id;
    uint64_t context, module, function, function_entry;
    uint32_t grid[3], block[3];
    uint32_t type;
    uint64_t parent_grid_id;
    uint32_t origin;
    uint32_t cluster[3], preferred_cluster[3];
};
#pragma pack(pop)

struct wsdbg_debug_resources {
    uint32_t shared_bytes, registers;
};

_Static_assert(sizeof(struct wsdbg_debug_event) == 92, "event layout");
_Static_assert(sizeof(struct wsdbg_debug_warp) == 852, "warp layout");
_Static_assert(offsetof(struct wsdbg_debug_warp, lanes) == 40, "warp layout");
_Static_assert(offsetof(struct wsdbg_debug_warp, cluster_index) == 808, "warp layout");
_Static_assert(sizeof(struct wsdbg_debug_convergence) == 204, "convergence layout");
_Static_assert(sizeof(struct wsdbg_debug_grid) == 112, "grid layout");
_Static_assert(offsetof(struct wsdbg_debug_grid, cluster) == 88, "grid layout");
_Static_assert(sizeof(struct wsdbg_debug_resources) == 8, "resources layout");

/* One entry of the function table: name, byte offset in the table, argument types. */
#define WSDBG_DEBUG_FUNCTIONS(X)                                                                                      \
    X(initialize, 0, (void))                                                                                          \
    X(finalize, 8, (void))                                                                                            \
    X(suspendDevice, 16, (uint32_t device))                                                                           \
    X(resumeDevice, 24, (uint32_t device))                                                                            \
    X(readValidWarps, 88, (uint32_t device, uint32_t sm, uint64_t * mask))                                            \
    X(readParamMemory, 136,                                                                                           \
      (uint32_t device, uint32_t sm, uint32_t warp, uint64_t address, void *out, uint32_t byte_count))                \
    X(readSharedMemory, 144,                                                                                          \
      (uint32_t device, uint32_t sm, uint32_t warp, uint64_t address, void *out, uint32_t byte_count))                \
    X(readLocalMemory, 152,                                                                                           \
      (uint32_t device, uint32_t sm, uint32_t warp, uint32_t lane, uint64_t address, void *out, uint32_t byte_count)) \
    X(getNumDevices, 280, (uint32_t * count))                                                                         \
    X(getNumSMs, 288, (uint32_t device, uint32_t * count))                                                            \
    X(getNumWarps, 296, (uint32_t device, uint32_t * count))                                                          \
    X(acknowledgeSyncEvents, 632, (void))                                                                             \
    X(setKernelLaunchNotificationMode, 712, (uint32_t mode))                                                          \
    X(getNextEvent, 752, (uint32_t queue, struct wsdbg_debug_event * event))                                          \
    X(getElfImageByHandle, 760, (uint32_t device, uint64_t handle, uint32_t type, void *out, uint64_t byte_count))    \
    X(readRegisterRange, 784,                                                                                         \
      (uint32_t device, uint32_t sm, uint32_t warp, uint32_t lane, uint32_t first, uint32_t count, uint32_t * out))   \
    X(readGlobalMemory, 808, (uint64_t address, void *out, uint32_t byte_count))                                      \
    X(requestCleanupOnDetach, 840, (uint32_t resume_flag))                                                            \
    X(readPredicates, 848,                                                                                            \
      (uint32_t device, uint32_t sm, uint32_t warp, uint32_t lane, uint32_t count, uint32_t * out))                   \
    X(readUniformRegisterRange, 920,                                                                                  \
      (uint32_t device, uint32_t sm, uint32_t warp, uint32_t first, uint32_t count, uint32_t * out))                  \
    X(getConstBankAddress, 1048,                                                                                      \
      (uint32_t device, uint64_t grid_id, uint32_t bank, uint64_t * address, uint32_t * byte_count))                  \
    X(readDeviceExceptionState, 904, (uint32_t device, uint64_t * mask, uint32_t words))                              \
    X(readSmException, 1080, (uint32_t device, uint32_t sm, uint32_t * exception, uint64_t * error_pc, bool *valid))  \
    X(getGridInfo, 1096, (uint32_t device, uint64_t grid_id, struct wsdbg_debug_grid * out))                          \
    X(readWarpResources, 1128, (uint32_t device, uint32_t sm, uint32_t warp, struct wsdbg_debug_resources * out))     \
    X(getCbuWarpState, 1136,                                                                                          \
      (uint32_t device, uint32_t sm, uint64_t warps, struct wsdbg_debug_convergence * out, uint32_t count))           \
    X(readWarpState, 1144, (uint32_t device, uint32_t sm, uint32_t warp, struct wsdbg_debug_warp * out))              \
    X(setNotifyNewEventCallback, 1176, (void (*notify)(void *), void *data))

enum { WSDBG_DEBUG_TABLE_BYTES = 1184 };

/* The functions, copied out of the driver's table. */
struct wsdbg_debug_api {
#define X(name, offset, types) uint32_t(*name) types;
    WSDBG_DEBUG_FUNCTIONS(X)
#undef X
};

#endif
