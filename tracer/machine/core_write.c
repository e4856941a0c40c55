/* core_write.c - a machine's rows, and what was read of it, as a GPU core dump; see machine.h and reads.h.
 *
 * Tables are written from the devices down, because a table is named by the number of the section that it became. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine/core_writer.h"

const struct core_row_bytes core_row_bytes_580 = {.device = CORE_DEVICE_BYTES,
                                                  .context = CORE_CONTEXT_BYTES,
                                                  .module = CORE_MODULE_BYTES,
                                                  .grid = CORE_GRID_BYTES,
                                                  .sm = CORE_SM_BYTES,
                                                  .cta = CORE_CTA_BYTES,
                                                  .warp = CORE_WARP_BYTES,
                                                  .lane = CORE_LANE_BYTES};

/* Fields that no GPU has at 0 are 0 where they are not known; of others the row ends before them. */
static uint32_t filled(struct wsdbg_optional_u32 field)
{
    return field.known ? field.value : 0;
}

static uint64_t filled_u64(struct wsdbg_optional_u64 field)
{
    return field.known ? field.value : 0;
}

static size_t shortened(size_t row_bytes, size_t offset, bool known)
{
    return known || row_bytes < offset ? row_bytes : offset;
}

static struct wsdbg_error *write_modules(struct core_writer *writer, uint32_t context, struct core_place owner)
{
    const struct wsdbg_machine *machine = writer->machine;
    struct core_rows table;
    uint32_t number, row = 0;
    struct wsdbg_error *error =
        core_out_begin_rows(writer->out, writer->row_bytes->module, machine->module_count, &table);
    for (size_t i = 0; !error && i < machine->module_count; i++)
        if (machine->modules[i].context == context)
            core_put_u64(core_out_add_row(&table), CORE_MODULE_HANDLE_U64, machine->modules[i].handle);
    if (!error)
        error = core_out_end_rows(writer->out, CORE_MODULES, ".cudbg.modtbl", owner, &table, &number);
    for (size_t i = 0; !error && i < machine->module_count; i++) {
        if (machine->modules[i].context != context)
            continue;
        const struct wsdbg_image image = machine->modules[i].image;
        const struct core_place place = {number, row++};
        const struct core_section section = {.kind = CORE_RELOCATED_IMAGE,
                                             .name = ".cudbg.relfimg",
                                             .owner = place,
                                             .bytes = (void *)(uintptr_t)image.bytes,
                                             .byte_count = image.byte_count};
        if (image.byte_count)
            error = core_out_section(writer->out, &section, NULL);
    }
    return error;
}

static struct wsdbg_error *write_contexts(struct core_writer *writer, uint32_t device, struct core_place owner)
{
    const struct wsdbg_machine *machine = writer->machine;
    struct core_rows table;
    uint32_t number, row_number = 0;
    struct wsdbg_error *error =
        core_out_begin_rows(writer->out, writer->row_bytes->context, machine->context_count, &table);
    for (size_t i = 0; !error && i < machine->context_count; i++) {
        const struct wsdbg_machine_context *context = &machine->contexts[i];
        if (context->device != device)
            continue;
        const struct core_new_row row = core_out_add_row(&table);
        core_put_u64(row, CORE_CONTEXT_ID_U64, context->handle);
        core_put_u64(row, CORE_CONTEXT_SHARED_WINDOW_U64, filled_u64(context->shared_window));
        core_put_u64(row, CORE_CONTEXT_LOCAL_WINDOW_U64, filled_u64(context->local_window));
        core_put_u32(row, CORE_CONTEXT_DEVICE, owner.row);
    }
    if (!error)
        error = core_out_end_rows(writer->out, CORE_CONTEXTS, ".cudbg.ctxtbl", owner, &table, &number);
    for (uint32_t i = 0; !error && i < machine->context_count; i++)
        if (machine->contexts[i].device == device)
            error = write_modules(writer, i, (struct core_place){number, row_number++});
    return error;
}

static void fill_grid(const struct wsdbg_machine *machine, const struct wsdbg_machine_grid *grid,
                      struct core_new_row row)
{
    core_put_u64(row, CORE_GRID_ID_U64, grid->grid_id);
    if (grid->context < machine->context_count)
        core_put_u64(row, CORE_GRID_CONTEXT_U64, machine->contexts[grid->context].handle);
    core_put_u64(row, CORE_GRID_ENTRY_U64, grid->function_entry);
    if (grid->module < machine->module_count)
        core_put_u64(row, CORE_GRID_MODULE_U64, machine->modules[grid->module].handle);
    core_put_u32(row, CORE_GRID_REGISTERS, filled(grid->registers));
    for (size_t i = 0; i < 3; i++) {
        core_put_u32(row, CORE_GRID_CTAS + 4 * i, grid->grid[i]);
        core_put_u32(row, CORE_GRID_THREADS + 4 * i, grid->block[i]);
        core_put_u32(row, CORE_GRID_CLUSTER + 4 * i, filled(grid->cluster[i]));
    }
}

static struct wsdbg_error *write_grids(struct core_writer *writer, uint32_t device, struct core_place owner)
{
    const struct wsdbg_machine *machine = writer->machine;
    struct core_rows table;
    uint32_t number, row = 0;
    const bool clusters = machine->grid_count && machine->grids[0].cluster[0].known;
    struct wsdbg_error *error = core_out_begin_rows(
        writer->out, shortened(writer->row_bytes->grid, CORE_GRID_CLUSTER, clusters), machine->grid_count, &table);
    for (size_t i = 0; !error && i < machine->grid_count; i++)
        if (machine->grids[i].device == device)
            fill_grid(machine, &machine->grids[i], core_out_add_row(&table));
    if (!error)
        error = core_out_end_rows(writer->out, CORE_GRIDS, ".cudbg.gridtbl", owner, &table, &number);
    for (size_t i = 0; !error && i < machine->grid_count; i++)
        if (machine->grids[i].device == device)
            writer->grids[i] = (struct core_place){number, row++};
    return error;
}

static void fill_lane(const struct wsdbg_machine_lane *lane, uint64_t entry, uint32_t number, struct core_new_row row)
{
    core_put_u64(row, CORE_LANE_PC_U64, lane->pc);
    core_put_u64(row, CORE_LANE_OFFSET_U64, entry && lane->pc >= entry ? lane->pc - entry : 0);
    core_put_u32(row, CORE_LANE_NUMBER, number);
    for (size_t i = 0; i < 3; i++)
        core_put_u32(row, CORE_LANE_THREAD + 4 * i, lane->thread[i]);
    core_put_u32(row, CORE_LANE_EXCEPTION, lane->exception);
    core_put_u32(row, CORE_LANE_STATE, filled(lane->state));
}

static struct wsdbg_error *write_lanes(struct core_writer *writer, uint32_t number)
{
    const struct wsdbg_machine_warp *warp = &writer->machine->warps[number];
    const uint32_t grid = writer->machine->ctas[warp->cta].grid;
    const uint64_t entry = grid < writer->machine->grid_count ? writer->machine->grids[grid].function_entry : 0;
    const bool states = warp->valid_lanes && warp->lanes[__builtin_ctz(warp->valid_lanes)].state.known;
    struct core_rows table;
    struct wsdbg_error *error = core_out_begin_rows(
        writer->out, shortened(writer->row_bytes->lane, CORE_LANE_STATE, states), WSDBG_MACHINE_LANES, &table);
    for (uint32_t lane = 0; !error && lane < WSDBG_MACHINE_LANES; lane++)
        if (warp->valid_lanes >> lane & 1)
            fill_lane(&warp->lanes[lane], entry, lane, core_out_add_row(&table));
    if (!error)
        error = core_out_end_rows(writer->out, CORE_LANES, ".cudbg.lntbl", writer->warps[number], &table,
                                  &writer->lane_tables[number]);
    const struct core_section convergence = {.kind = CORE_CONVERGENCE,
                                             .name = ".cudbg.cbu_bar",
                                             .owner = writer->warps[number],
                                             .bytes = (void *)(uintptr_t)warp->barriers,
                                             .byte_count = sizeof warp->barriers,
                                             .row_bytes = 4};
    if (!error && warp->barriers_known)
        error = core_out_section(writer->out, &convergence, NULL);
    return error;
}

static void fill_warp(const struct wsdbg_machine *machine, const struct wsdbg_machine_warp *warp,
                      struct core_new_row row)
{
    core_put_u64(row, CORE_WARP_ERROR_PC_U64, filled_u64(warp->error_pc));
    core_put_u32(row, CORE_WARP_ERROR_PC_VALID, warp->error_pc.known);
    core_put_u32(row, CORE_WARP_SLOT, warp->slot);
    core_put_u32(row, CORE_WARP_VALID, warp->valid_lanes);
    core_put_u32(row, CORE_WARP_ACTIVE, warp->active_lanes);
    core_put_u32(row, CORE_WARP_REGISTERS, filled(warp->registers));
    core_put_u32(row, CORE_WARP_SHARED_BYTES, filled(machine->ctas[warp->cta].shared_bytes));
    core_put_u32(row, CORE_WARP_EXITED, filled(warp->exited_lanes));
}

/* Those of the CTA's warps whose exited lanes are known, or those of which they are not: their rows end before them. */
static struct wsdbg_error *write_some_warps(struct core_writer *writer, const struct wsdbg_machine_cta *cta,
                                            struct core_place owner, bool exited)
{
    const struct wsdbg_machine_warp *warps = writer->machine->warps;
    const uint32_t end = cta->warp_first + cta->warp_count;
    struct core_rows table;
    uint32_t number, row = 0;
    struct wsdbg_error *error = core_out_begin_rows(
        writer->out, shortened(writer->row_bytes->warp, CORE_WARP_EXITED, exited), cta->warp_count, &table);
    for (uint32_t i = cta->warp_first; !error && i < end; i++)
        if (warps[i].exited_lanes.known == exited)
            fill_warp(writer->machine, &warps[i], core_out_add_row(&table));
    if (!error)
        error = core_out_end_rows(writer->out, CORE_WARPS, ".cudbg.wptbl", owner, &table, &number);
    for (uint32_t i = cta->warp_first; !error && i < end; i++) {
        if (warps[i].exited_lanes.known != exited)
            continue;
        writer->warps[i] = (struct core_place){number, row++};
        error = write_lanes(writer, i);
    }
    return error;
}

static struct wsdbg_error *write_warps(struct core_writer *writer, const struct wsdbg_machine_cta *cta,
                                       struct core_place owner)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        known += writer->machine->warps[cta->warp_first + i].exited_lanes.known;
    struct wsdbg_error *error = known ? write_some_warps(writer, cta, owner, true) : NULL;
    return error || known == cta->warp_count ? error : write_some_warps(writer, cta, owner, false);
}

static void fill_cta(const struct wsdbg_machine *machine, const struct wsdbg_machine_cta *cta, struct core_new_row row)
{
    core_put_u64(row, CORE_CTA_GRID_U64, cta->grid < machine->grid_count ? machine->grids[cta->grid].grid_id : 0);
    core_put_u32(row, CORE_CTA_BLOCK, cta->x);
    core_put_u32(row, CORE_CTA_BLOCK + 4, cta->y);
    core_put_u32(row, CORE_CTA_BLOCK + 8, cta->z);
    for (size_t i = 0; i < 3; i++) {
        core_put_u32(row, CORE_CTA_CLUSTER_INDEX + 4 * i, filled(cta->cluster_index[i]));
        core_put_u32(row, CORE_CTA_CLUSTER_SIZE + 4 * i, filled(cta->cluster_size[i]));
    }
}

/* A CTA whose grid is not known is the first device's. */
static bool is_on(const struct wsdbg_machine *machine, const struct wsdbg_machine_cta *cta, uint32_t device)
{
    return (cta->grid < machine->grid_count ? machine->grids[cta->grid].device : 0) == device;
}

static struct wsdbg_error *write_ctas(struct core_writer *writer, uint32_t device, uint32_t sm, struct core_place owner)
{
    const struct wsdbg_machine *machine = writer->machine;
    struct core_rows table;
    uint32_t number, row = 0;
    const bool clusters = machine->cta_count && machine->ctas[0].cluster_size[0].known;
    struct wsdbg_error *error = core_out_begin_rows(
        writer->out, shortened(writer->row_bytes->cta, CORE_CTA_CLUSTER_INDEX, clusters), machine->cta_count, &table);
    for (size_t i = 0; !error && i < machine->cta_count; i++)
        if (machine->ctas[i].sm == sm && is_on(machine, &machine->ctas[i], device))
            fill_cta(machine, &machine->ctas[i], core_out_add_row(&table));
    if (!error)
        error = core_out_end_rows(writer->out, CORE_CTAS, ".cudbg.ctatbl", owner, &table, &number);
    for (size_t i = 0; !error && i < machine->cta_count; i++) {
        if (machine->ctas[i].sm != sm || !is_on(machine, &machine->ctas[i], device))
            continue;
        writer->ctas[i] = (struct core_place){number, row++};
        error = write_warps(writer, &machine->ctas[i], writer->ctas[i]);
    }
    return error;
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

static struct wsdbg_error *write_sms(struct core_writer *writer, uint32_t device, struct core_place owner)
{
    const struct wsdbg_machine *machine = writer->machine;
    uint32_t *sms = core_out_block(writer->out, (machine->cta_count + 1) * sizeof *sms);
    if (!sms)
        return &wsdbg_error_no_memory;
    size_t count = 0, distinct = 0;
    for (size_t i = 0; i < machine->cta_count; i++)
        if (is_on(machine, &machine->ctas[i], device))
            sms[count++] = machine->ctas[i].sm;
    qsort(sms, count, sizeof *sms, compare_u32);
    for (size_t i = 0; i < count; i++)
        if (distinct == 0 || sms[distinct - 1] != sms[i])
            sms[distinct++] = sms[i];
    struct core_rows table;
    uint32_t number;
    struct wsdbg_error *error = core_out_begin_rows(writer->out, writer->row_bytes->sm, distinct, &table);
    for (size_t i = 0; !error && i < distinct; i++)
        core_put_u32(core_out_add_row(&table), CORE_SM_ID, sms[i]);
    if (!error)
        error = core_out_end_rows(writer->out, CORE_SMS, ".cudbg.smtbl", owner, &table, &number);
    for (uint32_t i = 0; !error && i < distinct; i++)
        error = write_ctas(writer, device, sms[i], (struct core_place){number, i});
    return error;
}

static struct wsdbg_error *fill_device(struct core_writer *writer, const struct wsdbg_machine_device *device,
                                       struct core_new_row row)
{
    uint64_t name;
    struct wsdbg_error *error = core_out_string(writer->out, device->name, &name);
    if (error)
        return error;
    core_put_u64(row, CORE_DEVICE_NAME_STRING, name);
    core_put_u32(row, CORE_DEVICE_ID, device->ordinal);
    core_put_u32(row, CORE_DEVICE_SMS, filled(device->sm_count));
    core_put_u32(row, CORE_DEVICE_WARPS, filled(device->warps_per_sm));
    core_put_u32(row, CORE_DEVICE_LANES, WSDBG_MACHINE_LANES);
    core_put_u32(row, CORE_DEVICE_SM_MAJOR, filled(device->compute_capability) / 10);
    core_put_u32(row, CORE_DEVICE_SM_MINOR, filled(device->compute_capability) % 10);
    return NULL;
}

static struct wsdbg_error *write_devices(struct core_writer *writer)
{
    const struct wsdbg_machine *machine = writer->machine;
    struct core_rows table;
    uint32_t number;
    struct wsdbg_error *error =
        core_out_begin_rows(writer->out, writer->row_bytes->device, machine->device_count, &table);
    for (size_t i = 0; !error && i < machine->device_count; i++)
        error = fill_device(writer, &machine->devices[i], core_out_add_row(&table));
    if (!error)
        error =
            core_out_end_rows(writer->out, CORE_DEVICES, ".cudbg.devtbl", (struct core_place){0, 0}, &table, &number);
    for (uint32_t i = 0; !error && i < machine->device_count; i++) {
        const struct core_place place = {number, i};
        error = write_contexts(writer, i, place);
        if (!error)
            error = write_grids(writer, i, place);
        if (!error)
            error = write_sms(writer, i, place);
    }
    return error;
}

/* Looks at a program that stands still differ in nothing else. */
static struct wsdbg_error *write_time(struct core_writer *writer)
{
    char name[sizeof CORE_LOOK_NAME + 32];
    struct core_rows table;
    uint32_t number;
    uint64_t at;
    if (!writer->machine->time_ns)
        return NULL;
    snprintf(name, sizeof name, CORE_LOOK_NAME "%" PRIu64 " ns", writer->machine->time_ns);
    struct wsdbg_error *error = core_out_string(writer->out, name, &at);
    if (!error)
        error = core_out_begin_rows(writer->out, CORE_META_BYTES, 1, &table);
    if (error)
        return error;
    core_put_u64(core_out_add_row(&table), CORE_META_GENERATOR_STRING, at);
    return core_out_end_rows(writer->out, CORE_META, ".cudbg.meta", (struct core_place){0, 0}, &table, &number);
}

static struct wsdbg_error *write_all(struct core_writer *writer, const struct wsdbg_machine_reads *reads)
{
    const struct wsdbg_machine *machine = writer->machine;
    writer->grids = core_out_block(writer->out, (machine->grid_count + 1) * sizeof *writer->grids);
    writer->ctas = core_out_block(writer->out, (machine->cta_count + 1) * sizeof *writer->ctas);
    writer->warps = core_out_block(writer->out, (machine->warp_count + 1) * sizeof *writer->warps);
    writer->lane_tables = core_out_block(writer->out, (machine->warp_count + 1) * sizeof *writer->lane_tables);
    if (!writer->grids || !writer->ctas || !writer->warps || !writer->lane_tables)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = write_time(writer);
    if (!error)
        error = write_devices(writer);
    return error ? error : core_write_blocks(writer, reads);
}

struct wsdbg_error *core_write(const struct wsdbg_machine *machine, const struct wsdbg_machine_reads *reads,
                               const struct core_row_bytes *row_bytes, const char *path)
{
    struct core_writer writer = {.machine = machine, .row_bytes = row_bytes};
    struct wsdbg_error *error = core_out_open(path, &writer.out);
    return error ? error : core_out_close(writer.out, write_all(&writer, reads));
}

struct wsdbg_error *wsdbg_machine_write_core(const struct wsdbg_machine *machine,
                                             const struct wsdbg_machine_reads *reads, const char *path)
{
    return core_write(machine, reads, &core_row_bytes_580, path);
}
