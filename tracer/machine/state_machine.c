/* state_machine.c - grids, warps and lanes of a simulated device, from the rows of its file, which were checked before.
 *
 * Reads: the rows.  Writes: the machine.
 */
#include "machine/state_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "translate/ptx_code.h"

enum { COMPUTE_CAPABILITY = 90, CTA_NOT_PRESENT = 18 };

/* The exceptions (CUDBGException_t, as CTA_NOT_PRESENT) that a GPU reports for what the driver calls by these errors.
 */
static const struct {
    int32_t error;
    uint32_t exception;
} exceptions[] = {
    {700, 14}, /* illegal address */
    {710, 12}, /* assertion */
    {715, 4},  /* illegal instruction */
    {716, 6},  /* misaligned address */
    {717, 7},  /* invalid address space */
    {718, 8},  /* invalid program counter */
    {719, 4},  /* launch failure: a trap, an arrival that an mbarrier does not take (measured on an H200) */
};

/* The program counter of a warp that waits at a named barrier is behind it, as on hardware. */
static uint64_t counter_of(const struct wsdbg_state_part *part)
{
    return wsdbg_ptx_address(part->instruction) + (part->wait == WSDBG_STATE_NAMED ? WSDBG_INSTRUCTION_BYTES : 0);
}

static struct wsdbg_machine_wait wait_of(const struct wsdbg_state_part *part)
{
    static const enum wsdbg_warp_state states[WSDBG_STATE_WAIT_COUNT] = {
        [WSDBG_STATE_RUNS] = WSDBG_WARP_RUNNING,
        [WSDBG_STATE_MBARRIER] = WSDBG_WARP_WAIT_MBARRIER,
        [WSDBG_STATE_NAMED] = WSDBG_WARP_WAIT_NAMED,
        [WSDBG_STATE_CLUSTER] = WSDBG_WARP_WAIT_CLUSTER,
        [WSDBG_STATE_REGISTERS] = WSDBG_WARP_WAIT_REGISTERS,
        [WSDBG_STATE_WGMMA] = WSDBG_WARP_WAIT_WGMMA,
        [WSDBG_STATE_BULK] = WSDBG_WARP_WAIT_BULK,
        [WSDBG_STATE_GRID] = WSDBG_WARP_WAIT_GRID_DEPENDENCY,
        [WSDBG_STATE_LANES] = WSDBG_WARP_RECONVERGE,
        [WSDBG_STATE_SLEEPS] = WSDBG_WARP_RUNNING,
        [WSDBG_STATE_SPINS] = WSDBG_WARP_SPIN_GLOBAL,
    };
    struct wsdbg_machine_wait wait = {.state = states[part->wait], .barrier = part->barrier, .count = part->count};
    wait.parity = part->parity;
    wait.of_several = part->wait == WSDBG_STATE_MBARRIER && part->count;
    if (part->wait == WSDBG_STATE_SPINS && part->width_bytes) {
        wait.width_bytes = wsdbg_known_u32(part->width_bytes);
        wait.address = wsdbg_known_u64(part->address);
        wait.value = wsdbg_known_u64(part->value);
    }
    return wait;
}

static void place_lanes(const struct wsdbg_state_grid *grid, uint32_t index, struct wsdbg_machine_warp *warp)
{
    for (uint32_t lane = 0; lane < WSDBG_MACHINE_LANES; lane++) {
        const uint32_t linear = index * WSDBG_MACHINE_LANES + lane;
        warp->lanes[lane].thread[0] = linear % grid->block[0];
        warp->lanes[lane].thread[1] = linear / grid->block[0] % grid->block[1];
        warp->lanes[lane].thread[2] = linear / grid->block[0] / grid->block[1];
    }
}

static uint32_t exception_of(const struct wsdbg_state_header *header)
{
    if (header->fault_of_absent_cta)
        return CTA_NOT_PRESENT;
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (exceptions[i].error == header->fault_error)
            return exceptions[i].exception;
    return 0;
}

/* Of the warp whose lane caused the fault. */
static void set_exception(const struct wsdbg_state_header *header, struct wsdbg_machine_warp *warp)
{
    warp->error_lanes = header->fault_lanes;
    warp->error_pc = wsdbg_known_u64(wsdbg_ptx_address(header->fault_instruction));
    if (header->has_fault_address)
        warp->error_address = wsdbg_known_u64(header->fault_address);
    for (uint32_t lanes = header->fault_lanes; lanes; lanes &= lanes - 1)
        warp->lanes[__builtin_ctz(lanes)].exception = exception_of(header);
}

static void fill_warps(struct state_machine *machine)
{
    struct wsdbg_machine *out = &machine->base;
    for (uint32_t i = 0; i < machine->header.warp_count; i++) {
        const struct wsdbg_state_warp *warp = &machine->warps[i];
        out->warps[i] = (struct wsdbg_machine_warp){.cta = warp->cta,
                                                    .slot = warp->slot,
                                                    .valid_lanes = warp->live,
                                                    .active_lanes = warp->live,
                                                    .registers = wsdbg_known_u32(warp->registers)};
        place_lanes(&machine->grids[machine->ctas[warp->cta].grid], warp->index, &out->warps[i]);
        if (i + 1 == machine->header.fault_warp)
            set_exception(&machine->header, &out->warps[i]);
        struct wsdbg_machine_cta *cta = &out->ctas[warp->cta];
        if (cta->warp_count++ == 0)
            cta->warp_first = i;
    }
    out->warp_count = machine->header.warp_count;
    for (uint32_t i = 0; i < machine->header.part_count; i++) {
        const struct wsdbg_state_part *part = &machine->parts[i];
        out->waits[i] = wait_of(part);
        for (uint32_t lanes = part->lanes; lanes; lanes &= lanes - 1) {
            struct wsdbg_machine_lane *lane = &out->warps[part->warp].lanes[__builtin_ctz(lanes)];
            lane->pc = counter_of(part);
            lane->wait = i + 1;
        }
    }
    out->wait_count = machine->header.part_count;
}

static bool is_wanted(const struct wsdbg_state_grid *grid, enum wsdbg_state_choice choice)
{
    return choice == WSDBG_STATE_ALL_GRIDS || !grid->has_probes;
}

bool state_machine_has_wanted(const struct state_machine *machine, enum wsdbg_state_choice choice)
{
    bool any = machine->header.fault_bytes > 0;
    for (uint32_t i = 0; i < machine->header.grid_count; i++)
        any |= is_wanted(&machine->grids[i], choice);
    return any;
}

/* Rows keep their numbers: a grid that is not wanted is of no context, and has no CTAs. */
static void fill_grids(struct state_machine *machine, enum wsdbg_state_choice choice)
{
    struct wsdbg_machine *out = &machine->base;
    for (uint32_t i = 0; i < machine->header.grid_count; i++) {
        const struct wsdbg_state_grid *grid = &machine->grids[i];
        struct wsdbg_machine_grid *row = &out->grids[out->grid_count++];
        *row = (struct wsdbg_machine_grid){.context = is_wanted(grid, choice) ? 0 : WSDBG_NONE,
                                           .module = grid->module,
                                           .grid_id = grid->grid_id,
                                           .function_entry = wsdbg_ptx_address(grid->function_first),
                                           .registers = wsdbg_known_u32(grid->registers)};
        memcpy(row->grid, grid->grid, sizeof row->grid);
        memcpy(row->block, grid->block, sizeof row->block);
        for (unsigned k = 0; k < 3; k++)
            row->cluster[k] = wsdbg_known_u32(grid->cluster[k]);
    }
    for (uint32_t i = 0; i < machine->header.cta_count; i++) {
        const struct wsdbg_state_cta *cta = &machine->ctas[i];
        out->ctas[out->cta_count++] = (struct wsdbg_machine_cta){.grid = cta->grid,
                                                                 .sm = cta->sm,
                                                                 .x = cta->index[0],
                                                                 .y = cta->index[1],
                                                                 .z = cta->index[2],
                                                                 .shared_bytes = wsdbg_known_u32(cta->shared_bytes)};
    }
}

static void fill_arrays(struct state_machine *machine)
{
    struct wsdbg_machine *out = &machine->base;
    for (uint32_t i = 0; i < machine->header.array_count; i++) {
        const struct wsdbg_state_array *array = &machine->arrays[i];
        out->arrays[out->array_count++] =
            (struct wsdbg_machine_array){array->grid, array->id, array->first, array->stride, array->stages};
    }
}

bool state_machine_fill(struct state_machine *machine, enum wsdbg_state_choice choice)
{
    const struct wsdbg_state_header *header = &machine->header;
    struct wsdbg_machine *out = &machine->base;
    out->devices = calloc(1, sizeof *out->devices);
    out->contexts = calloc(1, sizeof *out->contexts);
    out->modules = calloc((size_t)header->module_count + 1, sizeof *out->modules);
    out->grids = calloc((size_t)header->grid_count + 1, sizeof *out->grids);
    out->ctas = calloc((size_t)header->cta_count + 1, sizeof *out->ctas);
    out->warps = calloc((size_t)header->warp_count + 1, sizeof *out->warps);
    out->waits = calloc((size_t)header->part_count + 1, sizeof *out->waits);
    out->arrays = calloc((size_t)header->array_count + 1, sizeof *out->arrays);
    if (!out->devices || !out->contexts || !out->modules || !out->grids || !out->ctas || !out->warps || !out->waits ||
        !out->arrays)
        return false;
    out->devices[out->device_count++] = (struct wsdbg_machine_device){
        .name = "simulated sm_90",
        .sm_count = wsdbg_known_u32(header->sm_count),
        .warps_per_sm = wsdbg_known_u32(header->warps_per_sm),
        .compute_capability = wsdbg_known_u32(COMPUTE_CAPABILITY),
    };
    out->contexts[out->context_count++] = (struct wsdbg_machine_context){
        .handle = header->context, .shared_window = wsdbg_known_u64(header->shared_window)};
    out->contexts[0].error_grid = header->fault_grid;
    snprintf(out->contexts[0].error_words, sizeof out->contexts[0].error_words, "%.*s",
             (int)(header->fault_bytes < WSDBG_ERROR_WORDS_BYTES ? header->fault_bytes : WSDBG_ERROR_WORDS_BYTES - 1),
             (const char *)machine->file + header->fault_offset);
    for (uint32_t i = 0; i < header->module_count; i++)
        out->modules[out->module_count++] = (struct wsdbg_machine_module){
            .handle = machine->modules[i].handle,
            .image = {machine->file + machine->modules[i].text_offset, machine->modules[i].text_bytes}};
    out->time_ns = header->time_ns;
    fill_grids(machine, choice);
    fill_warps(machine);
    fill_arrays(machine);
    return true;
}
