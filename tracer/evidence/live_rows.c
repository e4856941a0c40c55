/* live_rows.c - see live_rows.h.
 *
 * The area is another process's work: counts are cut to their tables and offsets compared before they are used.
 */
#include "evidence/live_rows.h"

#include <stdlib.h>
#include <string.h>

static uint32_t at_most(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

static uint32_t find_device(const struct wsdbg_machine *machine, uint32_t ordinal)
{
    for (uint32_t i = 0; i < machine->device_count; i++)
        if (machine->devices[i].ordinal == ordinal)
            return i;
    return WSDBG_NONE;
}

static uint32_t add_device(struct wsdbg_machine *machine, uint32_t ordinal)
{
    const uint32_t known = find_device(machine, ordinal);
    if (known != WSDBG_NONE)
        return known;
    machine->devices[machine->device_count] = (struct wsdbg_machine_device){.ordinal = ordinal};
    return (uint32_t)machine->device_count++;
}

static uint32_t add_context(struct wsdbg_machine *machine, uint32_t device, uint64_t handle)
{
    for (uint32_t i = 0; i < machine->context_count; i++)
        if (machine->contexts[i].device == device && machine->contexts[i].handle == handle)
            return i;
    machine->contexts[machine->context_count] = (struct wsdbg_machine_context){.device = device, .handle = handle};
    return (uint32_t)machine->context_count++;
}

static struct wsdbg_image image_of(const struct wsdbg_inspector_area *area, const struct wsdbg_inspector_image *image)
{
    if (!image->fetched || image->offset > WSDBG_INSPECTOR_IMAGE_BYTES ||
        image->byte_count > WSDBG_INSPECTOR_IMAGE_BYTES - image->offset)
        return (struct wsdbg_image){0};
    return (struct wsdbg_image){.bytes = area->image_bytes + image->offset, .byte_count = (size_t)image->byte_count};
}

static void add_module(const struct wsdbg_inspector_area *area, const struct wsdbg_inspector_image *image,
                       struct wsdbg_machine *machine)
{
    const uint32_t device = add_device(machine, image->device);
    machine->modules[machine->module_count++] = (struct wsdbg_machine_module){
        .context = add_context(machine, device, image->context),
        .handle = image->module,
        .image = image_of(area, image),
    };
}

static void note_losses(const struct wsdbg_inspector_area *area, struct wsdbg_machine *machine)
{
    if (area->images_dropped)
        wsdbg_machine_note(machine, "%u code images could not be read from the driver", area->images_dropped);
}

/* Room for as many rows as the area could need, so that nothing has to be grown. */
static struct wsdbg_error *make_room(const struct wsdbg_inspector_area *area, uint32_t warps,
                                     struct wsdbg_machine *machine)
{
    const uint32_t images = at_most(area->image_count, WSDBG_INSPECTOR_IMAGES);
    const uint32_t grids = at_most(area->grid_count, WSDBG_INSPECTOR_GRIDS) + warps;
    wsdbg_machine_deinit(machine);
    machine->devices = calloc(WSDBG_INSPECTOR_DEVICES + images + grids + 1, sizeof *machine->devices);
    machine->contexts = calloc(images + grids + 1, sizeof *machine->contexts);
    machine->modules = calloc(images + 1, sizeof *machine->modules);
    machine->grids = calloc(grids + 1, sizeof *machine->grids);
    machine->ctas = calloc(warps + 1, sizeof *machine->ctas);
    machine->warps = calloc(warps + 1, sizeof *machine->warps);
    if (!machine->devices || !machine->contexts || !machine->modules || !machine->grids || !machine->ctas ||
        !machine->warps)
        return &wsdbg_error_no_memory;
    return NULL;
}

static void add_modules(const struct wsdbg_inspector_area *area, struct wsdbg_machine *machine)
{
    for (uint32_t i = 0; i < at_most(area->image_count, WSDBG_INSPECTOR_IMAGES); i++)
        add_module(area, &area->images[i], machine);
    note_losses(area, machine);
}

struct wsdbg_error *wsdbg_live_module_rows(const struct wsdbg_inspector_area *area, struct wsdbg_machine *machine)
{
    struct wsdbg_error *error = make_room(area, 0, machine);
    if (!error)
        add_modules(area, machine);
    return error;
}

/* ---- grids ---- */

static uint32_t find_module(const struct wsdbg_machine *machine, uint32_t context, uint64_t handle)
{
    for (uint32_t i = 0; i < machine->module_count; i++)
        if (machine->modules[i].context == context && machine->modules[i].handle == handle)
            return i;
    return WSDBG_NONE;
}

static void add_grid(const struct wsdbg_debug_grid *from, struct wsdbg_machine *machine)
{
    struct wsdbg_machine_grid *grid = &machine->grids[machine->grid_count++];
    grid->device = add_device(machine, from->device);
    grid->context = add_context(machine, grid->device, from->context);
    grid->module = find_module(machine, grid->context, from->module);
    grid->grid_id = from->grid_id;
    grid->function_entry = from->function_entry;
    for (int axis = 0; axis < 3; axis++) {
        grid->grid[axis] = from->grid[axis];
        grid->block[axis] = from->block[axis];
        if (from->cluster[0] && from->cluster[1] && from->cluster[2])
            grid->cluster[axis] = wsdbg_known_u32(from->cluster[axis]);
    }
}

static uint32_t find_grid(const struct wsdbg_machine *machine, uint32_t device, uint64_t grid_id)
{
    for (uint32_t i = 0; i < machine->grid_count; i++)
        if (machine->grids[i].device == device && machine->grids[i].grid_id == grid_id)
            return i;
    return WSDBG_NONE;
}

/* A grid that the driver told nothing about still has warps. */
static uint32_t grid_of(const struct wsdbg_inspector_warp *warp, struct wsdbg_machine *machine)
{
    const uint32_t device = add_device(machine, warp->device);
    const uint32_t known = find_grid(machine, device, warp->state.grid_id);
    if (known != WSDBG_NONE)
        return known;
    wsdbg_machine_note(machine, "the driver tells nothing of grid %llu", (unsigned long long)warp->state.grid_id);
    machine->grids[machine->grid_count] = (struct wsdbg_machine_grid){
        .device = device, .context = WSDBG_NONE, .module = WSDBG_NONE, .grid_id = warp->state.grid_id};
    return (uint32_t)machine->grid_count++;
}

/* ---- warps ---- */

/* A warp of the area and what it is ordered by. */
struct entry {
    const struct wsdbg_inspector_warp *from;
    uint32_t grid;
    uint64_t first_thread; /* linear thread index of its first valid lane */
};

#define COMPARE(left, right)                  \
    do {                                      \
        if ((left) != (right))                \
            return (left) < (right) ? -1 : 1; \
    } while (0)

static int compare_cta(const struct entry *a, const struct entry *b)
{
    COMPARE(a->grid, b->grid);
    for (int axis = 2; axis >= 0; axis--)
        COMPARE(a->from->state.block[axis], b->from->state.block[axis]);
    COMPARE(a->from->sm, b->from->sm);
    return 0;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    const int cta = compare_cta(a, b);
    if (cta)
        return cta;
    COMPARE(a->first_thread, b->first_thread);
    COMPARE(a->from->slot, b->from->slot);
    return 0;
}

static uint64_t first_thread(const struct wsdbg_machine_grid *grid, const struct wsdbg_debug_warp *warp)
{
    const uint32_t *thread = warp->lanes[warp->valid_lanes ? __builtin_ctz(warp->valid_lanes) : 0].thread;
    return ((uint64_t)thread[2] * grid->block[1] + thread[1]) * grid->block[0] + thread[0];
}

static void fill_lanes(const struct wsdbg_inspector_warp *from, struct wsdbg_machine_warp *warp)
{
    for (int i = 0; i < WSDBG_MACHINE_LANES; i++) {
        const struct wsdbg_debug_lane *lane = &from->state.lanes[i];
        warp->lanes[i].pc = lane->pc;
        memcpy(warp->lanes[i].thread, lane->thread, sizeof lane->thread);
        warp->lanes[i].exception = lane->exception;
        if (from->convergence_known)
            warp->lanes[i].state = wsdbg_known_u32(from->convergence.lane_state[i]);
    }
}

static void fill_warp(const struct wsdbg_inspector_warp *from, uint32_t cta, struct wsdbg_machine_warp *warp)
{
    warp->cta = cta;
    warp->slot = from->slot;
    warp->valid_lanes = from->state.valid_lanes;
    warp->active_lanes = from->state.active_lanes;
    if (from->state.error_pc_valid)
        warp->error_pc = wsdbg_known_u64(from->state.error_pc);
    if (from->resources_known)
        warp->registers = wsdbg_known_u32(from->resources.registers);
    if (from->convergence_known) {
        warp->exited_lanes = wsdbg_known_u32(from->convergence.exited);
        warp->barriers_known = true;
        memcpy(warp->barriers, from->convergence.barriers, sizeof warp->barriers);
    }
    fill_lanes(from, warp);
}

static void fill_cta(const struct wsdbg_inspector_warp *from, uint32_t grid, struct wsdbg_machine_cta *cta)
{
    const uint32_t *size = from->state.cluster_size;
    cta->grid = grid;
    cta->sm = from->sm;
    cta->x = from->state.block[0];
    cta->y = from->state.block[1];
    cta->z = from->state.block[2];
    for (int axis = 0; axis < 3 && size[0] && size[1] && size[2]; axis++) {
        cta->cluster_index[axis] = wsdbg_known_u32(from->state.cluster_index[axis]);
        cta->cluster_size[axis] = wsdbg_known_u32(size[axis]);
    }
    if (from->resources_known)
        cta->shared_bytes = wsdbg_known_u32(from->resources.shared_bytes);
}

static void add_warps(const struct entry *entries, uint32_t count, struct wsdbg_machine *machine,
                      struct wsdbg_live_place *places)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_inspector_warp *from = entries[i].from;
        if (i == 0 || compare_cta(&entries[i - 1], &entries[i]) != 0) {
            fill_cta(from, entries[i].grid, &machine->ctas[machine->cta_count]);
            machine->ctas[machine->cta_count++].warp_first = i;
        }
        fill_warp(from, (uint32_t)machine->cta_count - 1, &machine->warps[i]);
        machine->ctas[machine->cta_count - 1].warp_count++;
        places[i] = (struct wsdbg_live_place){.device = from->device, .sm = from->sm, .slot = from->slot};
    }
    machine->warp_count = count;
}

static void add_devices(const struct wsdbg_inspector_area *area, struct wsdbg_machine *machine)
{
    for (uint32_t i = 0; i < at_most(area->device_count, WSDBG_INSPECTOR_DEVICES); i++) {
        const uint32_t row = add_device(machine, area->devices[i].device);
        machine->devices[row].sm_count = wsdbg_known_u32(area->devices[i].sm_count);
        machine->devices[row].warps_per_sm = wsdbg_known_u32(area->devices[i].warps_per_sm);
    }
}

struct wsdbg_error *wsdbg_live_rows(const struct wsdbg_inspector_area *area, struct wsdbg_machine *machine,
                                    struct wsdbg_live_place **places)
{
    const uint32_t count = at_most(area->warp_count, WSDBG_INSPECTOR_WARPS);
    struct entry *entries = calloc(count + 1, sizeof *entries);
    struct wsdbg_live_place *made = calloc(count + 1, sizeof *made);
    struct wsdbg_error *error = entries && made ? make_room(area, count, machine) : &wsdbg_error_no_memory;
    if (!error) {
        add_devices(area, machine);
        add_modules(area, machine);
        for (uint32_t i = 0; i < at_most(area->grid_count, WSDBG_INSPECTOR_GRIDS); i++)
            add_grid(&area->grids[i], machine);
        for (uint32_t i = 0; i < count; i++) {
            entries[i] = (struct entry){.from = &area->warps[i], .grid = grid_of(&area->warps[i], machine)};
            entries[i].first_thread = first_thread(&machine->grids[entries[i].grid], &area->warps[i].state);
        }
        qsort(entries, count, sizeof *entries, compare_entries);
        add_warps(entries, count, machine, made);
        *places = made;
        made = NULL;
    }
    free(entries);
    free(made);
    return error;
}
