/* snapshot.c - words of the model, and what is looked up in a snapshot.  See snapshot.h. */
#include "model/snapshot.h"

#include "sass/cubin.h"

static const char *const warp_state_names[WSDBG_WARP_STATE_COUNT] = {
    [WSDBG_WARP_UNKNOWN] = "UNKNOWN",
    [WSDBG_WARP_RUNNING] = "RUNNING",
    [WSDBG_WARP_WAIT_MBARRIER] = "WAIT_MBARRIER",
    [WSDBG_WARP_WAIT_NAMED] = "WAIT_NAMED",
    [WSDBG_WARP_WAIT_CLUSTER] = "WAIT_CLUSTER",
    [WSDBG_WARP_WAIT_REGISTERS] = "WAIT_REGISTERS",
    [WSDBG_WARP_WAIT_WGMMA] = "WAIT_WGMMA",
    [WSDBG_WARP_WAIT_BULK] = "WAIT_BULK",
    [WSDBG_WARP_WAIT_GRID_DEPENDENCY] = "WAIT_GRID_DEPENDENCY",
    [WSDBG_WARP_SPIN_GLOBAL] = "SPIN_GLOBAL",
    [WSDBG_WARP_SPIN_SHARED] = "SPIN_SHARED",
    [WSDBG_WARP_RECONVERGE] = "RECONVERGE",
    [WSDBG_WARP_EXITED] = "EXITED",
};

static const char *const event_kind_names[WSDBG_EVENT_KIND_COUNT] = {
    [WSDBG_EVENT_NONE] = "nothing yet",
    [WSDBG_EVENT_BEGIN] = "kernel begin",
    [WSDBG_EVENT_ROLE_BEGIN] = "role begin",
    [WSDBG_EVENT_REGISTERS_REQUEST] = "register request",
    [WSDBG_EVENT_REGISTERS_GRANTED] = "registers granted",
    [WSDBG_EVENT_REGISTERS_RELEASE] = "registers released",
    [WSDBG_EVENT_MBARRIER_INIT] = "mbarrier init",
    [WSDBG_EVENT_MBARRIER_WAIT_BEGIN] = "mbarrier wait begin",
    [WSDBG_EVENT_MBARRIER_WAIT_END] = "mbarrier wait end",
    [WSDBG_EVENT_MBARRIER_ARRIVE] = "mbarrier arrive",
    [WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX] = "mbarrier arrive.expect_tx",
    [WSDBG_EVENT_MBARRIER_EXPECT_TX] = "mbarrier expect_tx",
    [WSDBG_EVENT_TMA_ISSUE] = "TMA load issue",
    [WSDBG_EVENT_TMA_STORE_ISSUE] = "TMA store issue",
    [WSDBG_EVENT_BULK_COMMIT] = "bulk commit",
    [WSDBG_EVENT_BULK_WAIT_BEGIN] = "bulk wait begin",
    [WSDBG_EVENT_BULK_WAIT_END] = "bulk wait end",
    [WSDBG_EVENT_WGMMA_ISSUE] = "wgmma issue",
    [WSDBG_EVENT_WGMMA_COMMIT] = "wgmma commit",
    [WSDBG_EVENT_WGMMA_WAIT_BEGIN] = "wgmma wait begin",
    [WSDBG_EVENT_WGMMA_WAIT_END] = "wgmma wait end",
    [WSDBG_EVENT_NAMED_ARRIVE] = "named barrier arrive",
    [WSDBG_EVENT_NAMED_SYNC_BEGIN] = "named barrier sync begin",
    [WSDBG_EVENT_NAMED_SYNC_END] = "named barrier sync end",
    [WSDBG_EVENT_CLUSTER_ARRIVE] = "cluster arrive",
    [WSDBG_EVENT_CLUSTER_WAIT_BEGIN] = "cluster wait begin",
    [WSDBG_EVENT_CLUSTER_WAIT_END] = "cluster wait end",
    [WSDBG_EVENT_GRID_DEPENDENCY_WAIT_BEGIN] = "grid dependency wait begin",
    [WSDBG_EVENT_GRID_DEPENDENCY_WAIT_END] = "grid dependency wait end",
    [WSDBG_EVENT_POLL_BEGIN] = "poll begin",
    [WSDBG_EVENT_POLL_END] = "poll end",
    [WSDBG_EVENT_TILE_BEGIN] = "tile begin",
    [WSDBG_EVENT_USER_MARK] = "user mark",
    [WSDBG_EVENT_EXIT] = "exit",
};

static const char *const barrier_kind_names[WSDBG_BARRIER_KIND_END] = {
    [WSDBG_BARRIER_MBARRIER] = "mbarrier",
    [WSDBG_BARRIER_NAMED] = "named barrier",
    [WSDBG_BARRIER_CLUSTER] = "cluster barrier",
    [WSDBG_BARRIER_REGISTERS] = "register pool",
    [WSDBG_BARRIER_WGMMA] = "wgmma group",
    [WSDBG_BARRIER_BULK] = "bulk-store group",
    [WSDBG_BARRIER_GRID_DEPENDENCY] = "grid dependency",
    [WSDBG_BARRIER_GLOBAL_FLAG] = "global flag",
    [WSDBG_BARRIER_SHARED_FLAG] = "shared flag",
};

const char *wsdbg_warp_state_name(enum wsdbg_warp_state state)
{
    return (unsigned)state < WSDBG_WARP_STATE_COUNT ? warp_state_names[state] : "UNKNOWN";
}

const char *wsdbg_host_motion_name(enum wsdbg_host_motion motion)
{
    static const char *const names[WSDBG_HOST_MOTION_COUNT] = {"unknown", "sleeps", "runs", "moves"};
    return (unsigned)motion < WSDBG_HOST_MOTION_COUNT ? names[motion] : names[WSDBG_HOST_MOTION_UNKNOWN];
}

const char *wsdbg_launch_site_kind_name(enum wsdbg_launch_site_kind kind)
{
    static const char *const names[WSDBG_SITE_KINDS] = {"unknown", "launch", "node", "call"};
    return (unsigned)kind < WSDBG_SITE_KINDS ? names[kind] : names[0];
}

const char *wsdbg_host_frame_kind_name(enum wsdbg_host_frame_kind kind)
{
    static const char *const names[WSDBG_HOST_FRAME_KINDS] = {"unknown", "python", "native", "left out"};
    return (unsigned)kind < WSDBG_HOST_FRAME_KINDS ? names[kind] : names[0];
}

const char *wsdbg_event_kind_name(enum wsdbg_event_kind kind)
{
    return (unsigned)kind < WSDBG_EVENT_KIND_COUNT ? event_kind_names[kind] : "unknown event";
}

const char *wsdbg_barrier_kind_name(enum wsdbg_barrier_kind kind)
{
    return (unsigned)kind < WSDBG_BARRIER_KIND_END && barrier_kind_names[kind] ? barrier_kind_names[kind]
                                                                               : "unknown barrier";
}

bool wsdbg_warp_state_waits(enum wsdbg_warp_state state)
{
    return state >= WSDBG_WARP_WAIT_MBARRIER && state <= WSDBG_WARP_RECONVERGE;
}

bool wsdbg_warp_state_polls(enum wsdbg_warp_state state)
{
    return state == WSDBG_WARP_SPIN_GLOBAL || state == WSDBG_WARP_SPIN_SHARED;
}

const char *wsdbg_allocation_kind_name(unsigned kind)
{
    static const char *const names[] = {[WSDBG_ALLOCATION_DEVICE] = "device",
                                        [WSDBG_ALLOCATION_PITCHED] = "pitched",
                                        [WSDBG_ALLOCATION_POOL] = "pool",
                                        [WSDBG_ALLOCATION_HOST] = "host",
                                        [WSDBG_ALLOCATION_REGISTERED] = "registered host",
                                        [WSDBG_ALLOCATION_MANAGED] = "managed",
                                        [WSDBG_ALLOCATION_VMM] = "mapped",
                                        [WSDBG_ALLOCATION_VMM_IMPORTED] = "mapped import",
                                        [WSDBG_ALLOCATION_VMM_UNKNOWN] = "mapped unknown",
                                        [WSDBG_ALLOCATION_IMPORTED] = "imported"};
    return kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

uint64_t wsdbg_snapshot_seen_ns(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (size_t i = 0; i < snapshot->process_count; i++)
        if (snapshot->processes[i].process_id == process_id && snapshot->processes[i].seen_ns.known)
            return snapshot->processes[i].seen_ns.value;
    return snapshot->time_ns;
}

static bool holds(const struct wsdbg_allocation_row *row, uint64_t address, uint64_t used_ns)
{
    const bool there = !row->freed_ns || (used_ns && row->freed_ns > used_ns);
    return there && row->address <= address && address - row->address < (row->bytes ? row->bytes : 1);
}

const struct wsdbg_allocation *wsdbg_snapshot_allocation(const struct wsdbg_snapshot *snapshot, uint32_t process_id,
                                                         uint64_t address, uint64_t used_ns)
{
    const struct wsdbg_allocation *best = NULL;
    for (size_t i = 0; i < snapshot->allocation_count; i++) {
        const struct wsdbg_allocation *a = &snapshot->allocations[i];
        if (a->process_id != process_id || !holds(&a->row, address, used_ns))
            continue;
        const bool late = used_ns && a->row.time_ns > used_ns, best_late = best && best->row.time_ns > used_ns;
        if (!best || (late != best_late ? best_late : a->row.number > best->row.number))
            best = a;
    }
    return best;
}

uint32_t wsdbg_snapshot_same_grid(const struct wsdbg_snapshot *snapshot, uint32_t grid,
                                  const struct wsdbg_snapshot *other)
{
    const struct wsdbg_grid *mine = &snapshot->grids[grid];
    for (uint32_t i = 0; i < other->grid_count; i++)
        if (other->grids[i].context == mine->context && other->grids[i].grid_id == mine->grid_id)
            return i;
    return WSDBG_NONE;
}

static bool is_same_cta(const struct wsdbg_cta *a, const struct wsdbg_cta *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z;
}

/* Mostly at the same place in both grids: both are in order. */
uint32_t wsdbg_snapshot_same_cta(const struct wsdbg_snapshot *snapshot, uint32_t cta,
                                 const struct wsdbg_snapshot *other, uint32_t other_grid)
{
    const struct wsdbg_cta *mine = &snapshot->ctas[cta];
    const struct wsdbg_grid *grid = &other->grids[other_grid];
    const uint32_t at = cta - snapshot->grids[mine->grid].cta_first;
    if (at < grid->cta_count && (uint64_t)grid->cta_first + at < other->cta_count &&
        is_same_cta(&other->ctas[grid->cta_first + at], mine))
        return grid->cta_first + at;
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count && i < other->cta_count; i++)
        if (is_same_cta(&other->ctas[i], mine))
            return i;
    return WSDBG_NONE;
}

bool wsdbg_snapshot_cta_has_left(const struct wsdbg_snapshot *snapshot, uint32_t cta)
{
    const struct wsdbg_cta *row = &snapshot->ctas[cta];
    for (uint32_t w = row->warp_first; w < row->warp_first + row->warp_count; w++)
        if (snapshot->warps[w].state != WSDBG_WARP_EXITED)
            return false;
    return true;
}

const struct wsdbg_site *wsdbg_snapshot_site(const struct wsdbg_snapshot *snapshot, uint32_t site)
{
    return site < snapshot->site_count ? &snapshot->sites[site] : NULL;
}

const struct wsdbg_name *wsdbg_snapshot_name(const struct wsdbg_snapshot *snapshot, uint32_t module,
                                             enum wsdbg_name_kind kind, uint32_t id)
{
    if (module >= snapshot->module_count)
        return NULL;
    const struct wsdbg_module *m = &snapshot->modules[module];
    for (uint32_t i = m->names_first; i < m->names_first + m->names_count && i < snapshot->name_count; i++)
        if (snapshot->names[i].kind == kind && snapshot->names[i].id == id)
            return &snapshot->names[i];
    return NULL;
}

enum wsdbg_name_origin wsdbg_snapshot_name_origin(const struct wsdbg_snapshot *snapshot, uint32_t module,
                                                  const struct wsdbg_name *name)
{
    if (module >= snapshot->module_count || !name)
        return WSDBG_ORIGIN_AUTHOR;
    const struct wsdbg_module *m = &snapshot->modules[module];
    if (m->names_undecided)
        return snapshot->names_inferred ? WSDBG_ORIGIN_UNKNOWN : WSDBG_ORIGIN_AUTHOR;
    const bool is_given = (size_t)(name - snapshot->names) - m->names_first < m->names_given;
    return is_given || name->reserved == WSDBG_NAME_OF_VARIABLE ? WSDBG_ORIGIN_AUTHOR : WSDBG_ORIGIN_CODE;
}

const char *wsdbg_snapshot_role_name(const struct wsdbg_snapshot *snapshot, const struct wsdbg_warp_row *warp)
{
    if (!warp->role.known)
        return NULL;
    const uint32_t module = snapshot->grids[snapshot->ctas[warp->cta].grid].module;
    const struct wsdbg_name *name = wsdbg_snapshot_name(snapshot, module, WSDBG_NAME_ROLE, warp->role.value);
    return name ? name->name : NULL;
}

const char *wsdbg_snapshot_grid_name(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid)
{
    return grid->function < snapshot->function_count ? snapshot->functions[grid->function].name : NULL;
}

bool wsdbg_causes_are_known(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid)
{
    if (grid->context >= snapshot->context_count)
        return true;
    const struct wsdbg_optional_u32 capability = snapshot->contexts[grid->context].compute_capability;
    return !capability.known || capability.value == WSDBG_SASS_ARCHITECTURE;
}
