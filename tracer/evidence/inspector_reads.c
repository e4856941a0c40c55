/* inspector_reads.c - the driver's debug interface opened, the GPU stopped, read and resumed; see inspector_child.h. */
#include "evidence/inspector_child.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

/* ---- the interface ---- */

static void put_variable(void *library, const char *name, uint32_t value)
{
    uint32_t *variable = dlsym(library, name);
    if (variable)
        *variable = value;
}

static void copy_table(struct wsdbg_debug_api *api, const unsigned char *table)
{
#define X(name, offset, types)                                                                  \
    _Static_assert((offset) + sizeof api->name <= WSDBG_DEBUG_TABLE_BYTES, "inside the table"); \
    memcpy(&api->name, table + (offset), sizeof api->name);
    WSDBG_DEBUG_FUNCTIONS(X)
#undef X
}

static void take_table(struct wsdbg_inspection *in, void *library, struct wsdbg_inspector_reply *reply)
{
    uint32_t (*get_version)(uint32_t *, uint32_t *, uint32_t *) = NULL;
    uint32_t (*get_api)(uint32_t, uint32_t, uint32_t, const void **) = NULL;
    uint32_t major = 0, minor = 0, revision = 0;
    const void *table = NULL;
    *(void **)&get_version = dlsym(library, "cudbgGetAPIVersion");
    *(void **)&get_api = dlsym(library, "cudbgGetAPI");
    if (!get_version || !get_api || get_version(&major, &minor, &revision) != WSDBG_DEBUG_OK) {
        wsdbg_inspect_fail(reply, "this libcuda has no debug interface");
        return;
    }
    if (!wsdbg_debug_speaks_ours(major, minor, revision)) {
        wsdbg_inspect_fail(reply, "the driver speaks revision %u.%u.%u of the debug interface, wsdbg knows %u.%u.%u",
                           major, minor, revision, WSDBG_DEBUG_MAJOR, WSDBG_DEBUG_MINOR, WSDBG_DEBUG_REVISION);
        return;
    }
    put_variable(library, "cudbgApiClientPid", (uint32_t)getpid());
    put_variable(library, "cudbgApiClientRevision", WSDBG_DEBUG_REVISION);
    put_variable(library, "cudbgSessionId", 0);
    const uint32_t result = get_api(WSDBG_DEBUG_MAJOR, WSDBG_DEBUG_MINOR, WSDBG_DEBUG_REVISION, &table);
    if (result != WSDBG_DEBUG_OK || !table) {
        wsdbg_inspect_fail(reply, "the driver does not give out its debug interface (error %#x)", result);
        return;
    }
    copy_table(&in->api, table);
    in->opened = true;
}

void wsdbg_inspect_open(struct wsdbg_inspection *in, struct wsdbg_inspector_reply *reply)
{
    if (in->opened)
        return;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library)
        take_table(in, library, reply);
    else
        wsdbg_inspect_fail(reply, "libcuda.so.1 cannot be loaded");
}

/* ---- stopping ---- */

enum { RESUME_TRIES = 3 };

bool wsdbg_inspect_has_code(const struct wsdbg_inspector_area *area, uint32_t device)
{
    for (uint32_t i = 0; i < area->image_count; i++)
        if (area->images[i].device == device)
            return true;
    return false;
}

static uint32_t bit_of(uint32_t device)
{
    return device < 32 ? 1u << device : 0;
}

/* Left so by an inspector that died. */
static bool was_stopped(const struct wsdbg_inspection *in, uint32_t device)
{
    return __atomic_load_n(&in->attach->row->stopped_devices, __ATOMIC_ACQUIRE) & bit_of(device);
}

static void list_devices(struct wsdbg_inspection *in)
{
    struct wsdbg_inspector_area *area = in->area;
    uint32_t count = 0;
    if (area->device_count || in->api.getNumDevices(&count) != WSDBG_DEBUG_OK)
        return;
    for (uint32_t device = 0; device < count && area->device_count < WSDBG_INSPECTOR_DEVICES; device++) {
        struct wsdbg_inspector_device row = {.device = device};
        if ((wsdbg_inspect_has_code(area, device) || was_stopped(in, device)) &&
            in->api.getNumSMs(device, &row.sm_count) == WSDBG_DEBUG_OK &&
            in->api.getNumWarps(device, &row.warps_per_sm) == WSDBG_DEBUG_OK)
            area->devices[area->device_count++] = row;
    }
}

/* For the traced process and the attach watchdog, should we die now. */
static void tell_stopped(const struct wsdbg_inspection *in, uint32_t mask)
{
    __atomic_store_n(&in->attach->row->stopped_devices, mask, __ATOMIC_SEQ_CST);
}

static uint32_t all_devices(const struct wsdbg_inspector_area *area)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < area->device_count; i++)
        mask |= bit_of(area->devices[i].device);
    return mask;
}

static bool resumes(struct wsdbg_inspection *in, uint32_t device)
{
    uint32_t result = WSDBG_DEBUG_OK;
    for (int i = 0; i < RESUME_TRIES; i++) {
        result = in->api.resumeDevice(device);
        if (result == WSDBG_DEBUG_OK || result == WSDBG_DEBUG_RUNNING_DEVICE)
            return true;
    }
    return false;
}

/* The debug attach still names the devices as stopped until their work runs again.  A device that does not resume stays
 * named: the attach watchdog tries again when this process ends. */
void wsdbg_inspect_resume(struct wsdbg_inspection *in)
{
    if (!in->suspended)
        return;
    in->kept_stopped = 0;
    for (uint32_t i = 0; i < in->area->device_count; i++) {
        wsdbg_inspect_hold(in); /* each device may take long */
        in->kept_stopped |= resumes(in, in->area->devices[i].device) ? 0 : bit_of(in->area->devices[i].device);
    }
    in->suspended = false;
    in->resumed_ns = wsdbg_attach_clock_ns();
    if (in->stays)
        wsdbg_inspect_tell(in, WSDBG_ASK_STAY);
}

void wsdbg_inspect_tell_taken_up(struct wsdbg_inspection *in)
{
    if (in->resumed_ns)
        tell_stopped(in, in->kept_stopped);
    in->resumed_ns = 0;
}

void wsdbg_inspect_forget_stop(struct wsdbg_inspection *in)
{
    in->suspended = false;
    tell_stopped(in, 0);
}

void wsdbg_inspect_suspend(struct wsdbg_inspection *in, uint64_t limit_ns, struct wsdbg_inspector_reply *reply)
{
    if (in->stays) { /* the program may have come to use another one */
        wsdbg_inspect_tell(in, WSDBG_ASK_PAUSE);
        in->area->device_count = 0;
    }
    list_devices(in);
    tell_stopped(in, all_devices(in->area));
    in->suspended = true;
    for (uint32_t i = 0; i < in->area->device_count; i++) {
        wsdbg_inspect_hold(in); /* each device may take long */
        const uint32_t result = in->api.suspendDevice(in->area->devices[i].device);
        if (result == WSDBG_DEBUG_OK || result == WSDBG_DEBUG_SUSPENDED_DEVICE)
            continue;
        wsdbg_inspect_resume(in);
        wsdbg_inspect_fail(reply, "device %u cannot be stopped (error %#x)", in->area->devices[i].device, result);
        return;
    }
    in->resume_by_ns = wsdbg_attach_clock_ns() + limit_ns;
}

/* ---- warps ---- */

static void read_grid(struct wsdbg_inspection *in, uint32_t device, uint64_t grid_id)
{
    struct wsdbg_inspector_area *area = in->area;
    for (uint32_t i = 0; i < area->grid_count; i++)
        if (area->grids[i].device == device && area->grids[i].grid_id == grid_id)
            return;
    if (area->grid_count < WSDBG_INSPECTOR_GRIDS &&
        in->api.getGridInfo(device, grid_id, &area->grids[area->grid_count]) == WSDBG_DEBUG_OK)
        area->grid_count++;
}

static void read_warp(struct wsdbg_inspection *in, uint32_t device, uint32_t sm, uint32_t slot)
{
    struct wsdbg_inspector_area *area = in->area;
    if (area->warp_count >= WSDBG_INSPECTOR_WARPS) {
        area->warps_dropped++;
        return;
    }
    struct wsdbg_inspector_warp *row = &area->warps[area->warp_count];
    memset(row, 0, sizeof *row);
    row->device = device;
    row->sm = sm;
    row->slot = slot;
    if (in->api.readWarpState(device, sm, slot, &row->state) != WSDBG_DEBUG_OK) {
        area->warps_dropped++;
        return;
    }
    row->resources_known = in->api.readWarpResources(device, sm, slot, &row->resources) == WSDBG_DEBUG_OK;
    read_grid(in, device, row->state.grid_id);
    area->warp_count++;
}

/* A lane that is active has neither exited nor is it held back: the convergence state adds nothing to a warp whose
 * lanes are all active and at one place, as most are.  It takes longer than all else that is read of every warp. */
static bool is_whole(const struct wsdbg_debug_warp *warp)
{
    const struct wsdbg_debug_lane *lead = NULL;
    for (uint32_t lanes = warp->valid_lanes; lanes; lanes &= lanes - 1) {
        const struct wsdbg_debug_lane *lane = &warp->lanes[__builtin_ctz(lanes)];
        lead = lead ? lead : lane;
        if (lane->pc != lead->pc)
            return false;
    }
    return !(warp->valid_lanes & ~warp->active_lanes);
}

/* The rows from `first` on are of one SM, by slot. */
static void read_convergence(struct wsdbg_inspection *in, uint32_t device, uint32_t sm, uint32_t first)
{
    struct wsdbg_debug_convergence states[64];
    struct wsdbg_inspector_warp *asked[64];
    uint64_t mask = 0;
    uint32_t count = 0;
    for (uint32_t i = first; i < in->area->warp_count; i++) {
        struct wsdbg_inspector_warp *warp = &in->area->warps[i];
        if (is_whole(&warp->state))
            continue;
        mask |= 1ull << warp->slot;
        asked[count++] = warp;
    }
    if (!count || in->api.getCbuWarpState(device, sm, mask, states, count) != WSDBG_DEBUG_OK)
        return;
    for (uint32_t i = 0; i < count; i++) {
        asked[i]->convergence = states[i];
        asked[i]->convergence_known = true;
    }
}

static void read_warps(struct wsdbg_inspection *in)
{
    struct wsdbg_inspector_area *area = in->area;
    area->grid_count = area->warp_count = area->warps_dropped = 0;
    for (uint32_t d = 0; d < area->device_count; d++) {
        for (uint32_t sm = 0; sm < area->devices[d].sm_count; sm++) {
            const uint32_t device = area->devices[d].device, first = area->warp_count;
            uint64_t mask = 0;
            if (in->api.readValidWarps(device, sm, &mask) != WSDBG_DEBUG_OK || !mask)
                continue;
            for (uint64_t rest = mask; rest; rest &= rest - 1)
                read_warp(in, device, sm, (uint32_t)__builtin_ctzll(rest));
            read_convergence(in, device, sm, first);
        }
    }
}

/* ---- code ---- */

/* Images in which nobody is known to stand, but which a warp may have called into, are fetched up to so much in all. */
#define OTHER_IMAGES_BYTES (8ull << 20)

static bool fetch_image(struct wsdbg_inspection *in, struct wsdbg_inspector_image *image)
{
    const uint64_t at = (in->image_bytes + 15) / 16 * 16;
    if (image->byte_count > WSDBG_INSPECTOR_IMAGE_BYTES - at ||
        in->api.getElfImageByHandle(image->device, image->handle, WSDBG_DEBUG_IMAGE_RELOCATED,
                                    in->area->image_bytes + at, image->byte_count) != WSDBG_DEBUG_OK)
        return false;
    image->offset = at;
    image->fetched = 1;
    in->image_bytes = at + image->byte_count;
    return true;
}

static bool has_grid(const struct wsdbg_inspector_area *area, const struct wsdbg_inspector_image *image)
{
    for (uint32_t i = 0; i < area->grid_count; i++)
        if (area->grids[i].device == image->device && area->grids[i].module == image->module)
            return true;
    return false;
}

/* With lazy loading an image changes while functions of it are loaded. */
static void forget_fetched(struct wsdbg_inspection *in)
{
    in->image_bytes = 0;
    for (uint32_t i = 0; i < in->area->image_count; i++)
        in->area->images[i].fetched = 0;
}

/* Calls of the program wait while a late look is taken: without an event of the driver nothing was loaded since the
 * look before. */
static void fetch_images(struct wsdbg_inspection *in)
{
    struct wsdbg_inspector_area *area = in->area;
    if (in->stays || in->event_count != in->fetched_events)
        forget_fetched(in);
    in->fetched_events = in->event_count;
    area->images_dropped = in->images_lost;
    for (uint32_t i = 0; i < area->image_count; i++)
        if (!area->images[i].fetched && has_grid(area, &area->images[i]) && !fetch_image(in, &area->images[i]))
            area->images_dropped++;
    for (uint32_t i = 0; (area->grid_count || in->exception) && i < area->image_count; i++)
        if (!area->images[i].fetched && in->image_bytes + area->images[i].byte_count <= OTHER_IMAGES_BYTES)
            fetch_image(in, &area->images[i]);
}

void wsdbg_inspect_warps(struct wsdbg_inspection *in)
{
    read_warps(in);
    fetch_images(in);
}

/* ---- registers and memory ---- */

static uint32_t at_most(uint64_t count, uint32_t limit)
{
    return count < limit ? (uint32_t)count : limit;
}

/* The driver refuses a range that goes beyond what the warp has: then the largest part of it that it gives. */
static uint32_t longest(struct wsdbg_inspection *in, uint32_t count, const uint64_t *a,
                        uint32_t (*read)(struct wsdbg_inspection *, const uint64_t *, uint32_t))
{
    uint32_t good = 0, bad = count + 1;
    for (uint32_t tried = count; good + 1 < bad; tried = good + (bad - good) / 2) {
        if (read(in, a, tried) == WSDBG_DEBUG_OK)
            good = tried;
        else
            bad = tried;
    }
    return good && read(in, a, good) == WSDBG_DEBUG_OK ? good : 0;
}

static uint32_t registers(struct wsdbg_inspection *in, const uint64_t *a, uint32_t count)
{
    return in->api.readRegisterRange((uint32_t)a[0], (uint32_t)a[1], (uint32_t)a[2], (uint32_t)a[3], (uint32_t)a[4],
                                     count, (uint32_t *)(void *)in->area->read);
}

static uint32_t uniform_registers(struct wsdbg_inspection *in, const uint64_t *a, uint32_t count)
{
    return in->api.readUniformRegisterRange((uint32_t)a[0], (uint32_t)a[1], (uint32_t)a[2], (uint32_t)a[4], count,
                                            (uint32_t *)(void *)in->area->read);
}

enum { PREDICATES = 7 };

static void read_predicates(struct wsdbg_inspection *in, const uint64_t *a, struct wsdbg_inspector_reply *reply)
{
    uint32_t each[PREDICATES];
    if (in->api.readPredicates((uint32_t)a[0], (uint32_t)a[1], (uint32_t)a[2], (uint32_t)a[3], PREDICATES, each) !=
        WSDBG_DEBUG_OK)
        return;
    reply->values[0] = PREDICATES;
    for (int i = 0; i < PREDICATES; i++)
        reply->values[1] |= (uint64_t)(each[i] != 0) << i;
}

static bool read_constant(struct wsdbg_inspection *in, const uint64_t *a, uint32_t byte_count)
{
    uint64_t address = 0;
    uint32_t bank_bytes = 0;
    if (in->api.getConstBankAddress((uint32_t)a[0], a[6], (uint32_t)a[5], &address, &bank_bytes) != WSDBG_DEBUG_OK ||
        a[3] > bank_bytes || byte_count > bank_bytes - a[3])
        return false;
    return in->api.readGlobalMemory(address + a[3], in->area->read, byte_count) == WSDBG_DEBUG_OK;
}

void wsdbg_inspect_read(struct wsdbg_inspection *in, const struct wsdbg_inspector_request *request,
                        struct wsdbg_inspector_reply *reply)
{
    const uint64_t *a = request->arguments;
    const uint32_t words = at_most(a[5], WSDBG_INSPECTOR_READ_BYTES / 4);
    const uint32_t byte_count = at_most(a[4], WSDBG_INSPECTOR_READ_BYTES);
    bool came = false;
    switch (request->step) {
    case WSDBG_INSPECT_WARPS:
        wsdbg_inspect_warps(in);
        if (in->area->warps_dropped) /* a warp without a row counts as exited: none may lack one for another reason */
            wsdbg_inspect_fail(reply, "the driver did not give the state of %u warps", in->area->warps_dropped);
        break;
    case WSDBG_INSPECT_REGISTERS:
        reply->values[0] = longest(in, words, a, registers);
        break;
    case WSDBG_INSPECT_UNIFORM:
        reply->values[0] = longest(in, words, a, uniform_registers);
        break;
    case WSDBG_INSPECT_PREDICATES:
        read_predicates(in, a, reply);
        break;
    case WSDBG_INSPECT_SHARED:
        came = in->api.readSharedMemory((uint32_t)a[0], (uint32_t)a[1], (uint32_t)a[2], a[3], in->area->read,
                                        byte_count) == WSDBG_DEBUG_OK;
        break;
    case WSDBG_INSPECT_LOCAL:
        came = in->api.readLocalMemory((uint32_t)a[0], (uint32_t)a[1], (uint32_t)a[2], (uint32_t)a[5], a[3],
                                       in->area->read, byte_count) == WSDBG_DEBUG_OK;
        break;
    case WSDBG_INSPECT_GLOBAL:
        came = in->api.readGlobalMemory(a[3], in->area->read, byte_count) == WSDBG_DEBUG_OK;
        break;
    case WSDBG_INSPECT_CONSTANT:
        came = read_constant(in, a, byte_count);
        break;
    default:
        wsdbg_inspect_fail(reply, "no such step");
        break;
    }
    if (came)
        reply->values[0] = byte_count;
}
