/* core_read.c - the tables of a GPU core dump as a machine's state; see machine.h.
 *
 * Reads: the file's tables, from the devices down to the lanes, once.  What a row refers to and is not there stays
 * WSDBG_NONE; what a whole dump lacks becomes a note. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/core_machine.h"

/* More than any machine has; they bound the memory that a file can ask for. */
enum {
    DEVICES_MAX = 256,
    CONTEXTS_MAX = 4096,
    MODULES_MAX = 65536,
    GRIDS_MAX = 4096,
    CTAS_MAX = 1 << 17,
    WARPS_MAX = 1 << 17,
    WARPS_OF_CTA_MAX = 64
};

struct reader {
    struct core_machine *machine;
    struct wsdbg_machine *base;
    struct core_file *file;
    size_t warps_without_lanes, ctas_without_grid;
};

static struct wsdbg_error *count_rows(struct reader *reader, enum core_section_kind kind, size_t most, size_t *count)
{
    size_t sections;
    const struct core_section *section = core_file_sections(reader->file, kind, &sections);
    uint64_t rows = 0;
    for (size_t i = 0; i < sections; i++, section++) {
        rows += section->row_bytes ? section->byte_count / section->row_bytes : 0;
        if (rows > most)
            return core_file_damaged(reader->file, section, "more than %zu rows of its kind with it", most);
    }
    *count = (size_t)rows;
    return NULL;
}

static struct wsdbg_error *make_room(struct reader *reader, enum core_section_kind kind, size_t most, void *rows,
                                     size_t row_bytes, void *places, size_t place_bytes)
{
    size_t count = 0;
    struct wsdbg_error *error = count_rows(reader, kind, most, &count);
    if (error)
        return error;
    void *const first = calloc(count + 1, row_bytes), *const second = calloc(count + 1, place_bytes);
    memcpy(rows, &first, sizeof first);
    memcpy(places, &second, sizeof second);
    return first && second ? NULL : &wsdbg_error_no_memory;
}

#define MAKE_ROOM(reader, kind, most, member)                                                                          \
    make_room(reader, kind, most, &(reader)->base->member, sizeof *(reader)->base->member, &(reader)->machine->member, \
              sizeof *(reader)->machine->member)

static struct wsdbg_error *make_all_room(struct reader *reader)
{
    struct wsdbg_error *error = MAKE_ROOM(reader, CORE_DEVICES, DEVICES_MAX, devices);
    if (!error)
        error = MAKE_ROOM(reader, CORE_CONTEXTS, CONTEXTS_MAX, contexts);
    if (!error)
        error = MAKE_ROOM(reader, CORE_MODULES, MODULES_MAX, modules);
    if (!error)
        error = MAKE_ROOM(reader, CORE_GRIDS, GRIDS_MAX, grids);
    if (!error)
        error = MAKE_ROOM(reader, CORE_CTAS, CTAS_MAX, ctas);
    return error ? error : MAKE_ROOM(reader, CORE_WARPS, WARPS_MAX, warps);
}

/* Takes one row; `parent`: the row of the machine that its table belongs to. */
typedef struct wsdbg_error *take_row(struct reader *reader, uint32_t parent, struct core_row row,
                                     struct core_place place);

/* Every row of every table of a kind that belongs to `owner`. */
static struct wsdbg_error *take_rows(struct reader *reader, enum core_section_kind kind, size_t least_row_bytes,
                                     struct core_place owner, uint32_t parent, take_row *take)
{
    size_t count;
    const struct core_section *section = core_file_sections_of(reader->file, kind, owner.table, owner.row, &count);
    for (size_t i = 0; i < count; i++, section++) {
        struct core_table table;
        struct wsdbg_error *error = core_file_table(reader->file, section, least_row_bytes, &table);
        for (size_t row = 0; !error && row < table.row_count; row++)
            error =
                take(reader, parent, core_table_row(&table, row), (struct core_place){section->number, (uint32_t)row});
        if (error)
            return error;
    }
    return NULL;
}

/* A field that a GPU never has at 0: then nobody filled it. */
static struct wsdbg_optional_u32 filled_u32(struct core_row row, size_t offset)
{
    struct wsdbg_optional_u32 field = core_u32(row, offset);
    field.known = field.value != 0;
    return field;
}

static struct wsdbg_optional_u64 filled_u64(struct core_row row, size_t offset)
{
    struct wsdbg_optional_u64 field = core_u64(row, offset);
    field.known = field.value != 0;
    return field;
}

static struct wsdbg_error *take_context(struct reader *reader, uint32_t device, struct core_row row,
                                        struct core_place place)
{
    const size_t number = reader->base->context_count++;
    reader->machine->contexts[number] = place;
    reader->base->contexts[number] =
        (struct wsdbg_machine_context){.device = device,
                                       .handle = core_u64(row, CORE_CONTEXT_ID_U64).value,
                                       .shared_window = filled_u64(row, CORE_CONTEXT_SHARED_WINDOW_U64),
                                       .local_window = filled_u64(row, CORE_CONTEXT_LOCAL_WINDOW_U64)};
    return NULL;
}

static struct wsdbg_error *take_module(struct reader *reader, uint32_t context, struct core_row row,
                                       struct core_place place)
{
    const size_t number = reader->base->module_count++;
    reader->machine->modules[number] = place;
    reader->base->modules[number] =
        (struct wsdbg_machine_module){.context = context, .handle = core_u64(row, CORE_MODULE_HANDLE_U64).value};
    return NULL;
}

static uint32_t context_of(const struct wsdbg_machine *base, uint32_t device, uint64_t handle)
{
    for (uint32_t i = 0; i < base->context_count; i++)
        if (base->contexts[i].device == device && base->contexts[i].handle == handle)
            return i;
    return WSDBG_NONE;
}

static uint32_t module_of(const struct wsdbg_machine *base, uint32_t context, uint64_t handle)
{
    for (uint32_t i = 0; i < base->module_count; i++)
        if (base->modules[i].context == context && base->modules[i].handle == handle)
            return i;
    return WSDBG_NONE;
}

/* A launch without clusters has sizes of 0 in the dump: each CTA is a cluster of its own. */
static struct wsdbg_optional_u32 cluster_u32(struct core_row row, size_t offset)
{
    struct wsdbg_optional_u32 size = core_u32(row, offset);
    size.value += size.known && size.value == 0;
    return size;
}

static struct wsdbg_error *take_grid(struct reader *reader, uint32_t device, struct core_row row,
                                     struct core_place place)
{
    struct wsdbg_machine *base = reader->base;
    const size_t number = base->grid_count++;
    struct wsdbg_machine_grid *grid = &base->grids[number];
    *grid = (struct wsdbg_machine_grid){.device = device,
                                        .context = context_of(base, device, core_u64(row, CORE_GRID_CONTEXT_U64).value),
                                        .grid_id = core_u64(row, CORE_GRID_ID_U64).value,
                                        .function_entry = core_u64(row, CORE_GRID_ENTRY_U64).value,
                                        .registers = filled_u32(row, CORE_GRID_REGISTERS)};
    grid->module = module_of(base, grid->context, core_u64(row, CORE_GRID_MODULE_U64).value);
    for (size_t i = 0; i < 3; i++) {
        grid->grid[i] = core_u32(row, CORE_GRID_CTAS + 4 * i).value;
        grid->block[i] = core_u32(row, CORE_GRID_THREADS + 4 * i).value;
        grid->cluster[i] = cluster_u32(row, CORE_GRID_CLUSTER + 4 * i);
    }
    reader->machine->grids[number] = (struct core_grid){place, core_u64(row, CORE_GRID_PARAMETERS_U64).value};
    return NULL;
}

static void take_lanes_row(struct wsdbg_machine_warp *warp, struct core_warp *at, struct core_row row,
                           struct core_place place, uint32_t *seen)
{
    const uint32_t number = core_u32(row, CORE_LANE_NUMBER).value;
    if (number >= WSDBG_MACHINE_LANES)
        return;
    struct wsdbg_machine_lane *lane = &warp->lanes[number];
    *lane = (struct wsdbg_machine_lane){.pc = core_u64(row, CORE_LANE_PC_U64).value,
                                        .exception = core_u32(row, CORE_LANE_EXCEPTION).value,
                                        .state = core_u32(row, CORE_LANE_STATE)};
    for (size_t i = 0; i < 3; i++)
        lane->thread[i] = core_u32(row, CORE_LANE_THREAD + 4 * i).value;
    at->lane_table = place.table;
    at->lane_rows[number] = place.row;
    *seen |= 1u << number;
}

/* Only lanes that the file has a row for stay valid: of others nothing is known. */
static struct wsdbg_error *take_lanes(struct reader *reader, struct wsdbg_machine_warp *warp, struct core_warp *at)
{
    size_t count;
    uint32_t seen = 0;
    const struct core_section *section =
        core_file_sections_of(reader->file, CORE_LANES, at->place.table, at->place.row, &count);
    if (count) {
        struct core_table table;
        struct wsdbg_error *error = core_file_table(reader->file, section, CORE_LANE_EXCEPTION, &table);
        if (error)
            return error;
        for (size_t row = 0; row < table.row_count; row++)
            take_lanes_row(warp, at, core_table_row(&table, row), (struct core_place){section->number, (uint32_t)row},
                           &seen);
    }
    if (warp->valid_lanes & ~seen)
        reader->warps_without_lanes++;
    warp->valid_lanes &= seen;
    warp->active_lanes &= seen;
    return NULL;
}

static struct wsdbg_error *take_convergence(struct reader *reader, struct wsdbg_machine_warp *warp,
                                            struct core_place place)
{
    size_t count;
    const struct core_section *section =
        core_file_sections_of(reader->file, CORE_CONVERGENCE, place.table, place.row, &count);
    if (!count || section->byte_count < sizeof warp->barriers)
        return NULL;
    warp->barriers_known = true;
    return core_file_read(reader->file, section, 0, warp->barriers, sizeof warp->barriers);
}

static struct wsdbg_error *take_warp(struct reader *reader, uint32_t cta, struct core_row row, struct core_place place)
{
    const uint32_t valid = core_u32(row, CORE_WARP_VALID).value;
    if (!valid)
        return NULL; /* a slot that nobody holds */
    const size_t number = reader->base->warp_count++;
    struct wsdbg_machine_warp *warp = &reader->base->warps[number];
    struct core_warp *at = &reader->machine->warps[number];
    const struct wsdbg_optional_u32 shared_bytes = filled_u32(row, CORE_WARP_SHARED_BYTES);
    *at = (struct core_warp){.place = place};
    *warp = (struct wsdbg_machine_warp){.cta = cta,
                                        .slot = core_u32(row, CORE_WARP_SLOT).value,
                                        .valid_lanes = valid,
                                        .active_lanes = core_u32(row, CORE_WARP_ACTIVE).value & valid,
                                        .registers = filled_u32(row, CORE_WARP_REGISTERS),
                                        .exited_lanes = core_u32(row, CORE_WARP_EXITED)};
    if (core_u32(row, CORE_WARP_ERROR_PC_VALID).value)
        warp->error_pc = core_u64(row, CORE_WARP_ERROR_PC_U64);
    if (shared_bytes.known)
        reader->base->ctas[cta].shared_bytes = shared_bytes;
    struct wsdbg_error *error = take_lanes(reader, warp, at);
    return error ? error : take_convergence(reader, warp, place);
}

/* By thread index; warps of which no lane is known come last.  At most WARPS_OF_CTA_MAX. */
static void order_warps(struct reader *reader, const struct wsdbg_machine_cta *cta)
{
    struct wsdbg_machine_warp *warps = &reader->base->warps[cta->warp_first];
    struct core_warp *at = &reader->machine->warps[cta->warp_first];
    for (uint32_t i = 1; i < cta->warp_count; i++)
        for (uint32_t j = i; j > 0 && wsdbg_machine_warp_index(reader->base, &warps[j - 1]) >
                                          wsdbg_machine_warp_index(reader->base, &warps[j]);
             j--) {
            const struct wsdbg_machine_warp warp = warps[j];
            const struct core_warp its_place = at[j];
            warps[j] = warps[j - 1], warps[j - 1] = warp;
            at[j] = at[j - 1], at[j - 1] = its_place;
        }
}

static uint32_t grid_of(const struct wsdbg_machine *base, uint32_t device, uint64_t grid_id)
{
    for (uint32_t i = 0; i < base->grid_count; i++)
        if (base->grids[i].device == device && base->grids[i].grid_id == grid_id)
            return i;
    return WSDBG_NONE;
}

/* Where the dump says of each warp nothing of its CTA's shared memory, the sections of it do. */
static void measure_shared(struct reader *reader, struct wsdbg_machine_cta *cta, struct core_place place)
{
    size_t count;
    const struct core_section *section =
        core_file_sections_of(reader->file, CORE_SHARED, place.table, place.row, &count);
    if (count == 1 && !section->address && !cta->shared_bytes.known && section->byte_count <= UINT32_MAX)
        cta->shared_bytes = wsdbg_known_u32((uint32_t)section->byte_count);
}

struct sm {
    uint32_t device, number;
};

static struct wsdbg_error *take_cta(struct reader *reader, const struct sm *sm, struct core_row row,
                                    struct core_place place)
{
    struct wsdbg_machine *base = reader->base;
    const uint32_t number = (uint32_t)base->cta_count++;
    struct wsdbg_machine_cta *cta = &base->ctas[number];
    *cta = (struct wsdbg_machine_cta){.grid = grid_of(base, sm->device, core_u64(row, CORE_CTA_GRID_U64).value),
                                      .sm = sm->number,
                                      .x = core_u32(row, CORE_CTA_BLOCK).value,
                                      .y = core_u32(row, CORE_CTA_BLOCK + 4).value,
                                      .z = core_u32(row, CORE_CTA_BLOCK + 8).value,
                                      .warp_first = (uint32_t)base->warp_count};
    for (size_t i = 0; i < 3; i++) {
        cta->cluster_index[i] = core_u32(row, CORE_CTA_CLUSTER_INDEX + 4 * i);
        cta->cluster_size[i] = cluster_u32(row, CORE_CTA_CLUSTER_SIZE + 4 * i);
    }
    reader->ctas_without_grid += cta->grid == WSDBG_NONE;
    reader->machine->ctas[number] = place;
    struct wsdbg_error *error = take_rows(reader, CORE_WARPS, CORE_WARP_ACTIVE + 4, place, number, take_warp);
    if (error)
        return error;
    cta->warp_count = (uint32_t)base->warp_count - cta->warp_first;
    if (cta->warp_count > WARPS_OF_CTA_MAX)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: row %u of section %u: a CTA of %u warps",
                                  core_file_path(reader->file), place.row, place.table, cta->warp_count);
    order_warps(reader, cta);
    measure_shared(reader, cta, place);
    return NULL;
}

static struct wsdbg_error *take_sm(struct reader *reader, uint32_t device, struct core_row row, struct core_place place)
{
    const struct sm sm = {device, core_u32(row, CORE_SM_ID).value};
    size_t count;
    const struct core_section *section = core_file_sections_of(reader->file, CORE_CTAS, place.table, place.row, &count);
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < count; i++) {
        struct core_table table;
        error = core_file_table(reader->file, &section[i], CORE_CTA_BLOCK + 12, &table);
        for (size_t cta = 0; !error && cta < table.row_count; cta++)
            error = take_cta(reader, &sm, core_table_row(&table, cta),
                             (struct core_place){section[i].number, (uint32_t)cta});
    }
    return error;
}

static struct wsdbg_error *take_device(struct reader *reader, uint32_t parent, struct core_row row,
                                       struct core_place place)
{
    (void)parent;
    struct wsdbg_machine *base = reader->base;
    const uint32_t number = (uint32_t)base->device_count++;
    struct wsdbg_machine_device *device = &base->devices[number];
    reader->machine->devices[number] = place;
    *device = (struct wsdbg_machine_device){.ordinal = core_u32(row, CORE_DEVICE_ID).value,
                                            .sm_count = filled_u32(row, CORE_DEVICE_SMS),
                                            .warps_per_sm = filled_u32(row, CORE_DEVICE_WARPS)};
    const char *name = core_file_string(reader->file, core_u64(row, CORE_DEVICE_NAME_STRING).value);
    snprintf(device->name, sizeof device->name, "%s", name ? name : "");
    const uint32_t major = core_u32(row, CORE_DEVICE_SM_MAJOR).value, minor = core_u32(row, CORE_DEVICE_SM_MINOR).value;
    if (major > 0 && major < 1000 && minor < 10)
        device->compute_capability = wsdbg_known_u32(10 * major + minor);

    const uint32_t first_context = (uint32_t)base->context_count;
    struct wsdbg_error *error =
        take_rows(reader, CORE_CONTEXTS, CORE_CONTEXT_SHARED_WINDOW_U64, place, number, take_context);
    for (uint32_t i = first_context; !error && i < base->context_count; i++)
        error = take_rows(reader, CORE_MODULES, CORE_MODULE_BYTES, reader->machine->contexts[i], i, take_module);
    if (!error)
        error = take_rows(reader, CORE_GRIDS, CORE_GRID_THREADS + 12, place, number, take_grid);
    return error ? error : take_rows(reader, CORE_SMS, CORE_SM_ID + 4, place, number, take_sm);
}

static struct wsdbg_error *take_devices(struct reader *reader)
{
    size_t count;
    const struct core_section *section = core_file_sections(reader->file, CORE_DEVICES, &count);
    if (!count)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: a GPU core dump without a table of devices",
                                  core_file_path(reader->file));
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < count; i++) {
        struct core_table table;
        error = core_file_table(reader->file, &section[i], CORE_DEVICE_SM_MINOR + 4, &table);
        for (size_t row = 0; !error && row < table.row_count; row++)
            error = take_device(reader, 0, core_table_row(&table, row),
                                (struct core_place){section[i].number, (uint32_t)row});
    }
    return error;
}

/* Images of modules that run: of the others, which may be large, nothing is asked. */
static struct wsdbg_error *take_images(struct reader *reader)
{
    struct wsdbg_machine *base = reader->base;
    for (size_t i = 0; i < base->grid_count; i++) {
        const uint32_t module = base->grids[i].module;
        if (module == WSDBG_NONE || base->modules[module].image.byte_count)
            continue;
        size_t count;
        const struct core_place place = reader->machine->modules[module];
        const struct core_section *section =
            core_file_sections_of(reader->file, CORE_RELOCATED_IMAGE, place.table, place.row, &count);
        struct wsdbg_error *error =
            count ? core_file_contents(reader->file, section, &base->modules[module].image) : NULL;
        if (error)
            return error;
    }
    return NULL;
}

static bool any(const struct reader *reader, enum core_section_kind kind)
{
    size_t count;
    core_file_sections(reader->file, kind, &count);
    return count > 0;
}

static void note_what_is_missing(struct reader *reader)
{
    struct wsdbg_machine *base = reader->base;
    size_t without_code = 0;
    for (size_t i = 0; i < base->grid_count; i++)
        without_code += base->grids[i].module == WSDBG_NONE || !base->modules[base->grids[i].module].image.byte_count;
    if (!base->warp_count) {
        wsdbg_machine_note(base, "the core dump holds no running kernel");
        return;
    }
    if (!any(reader, CORE_SHARED))
        wsdbg_machine_note(base, "the core dump holds no shared memory, so no barrier's count is known%s",
                           (core_meta_skipped(reader->file).value & CORE_SKIPPED_SHARED)
                               ? ": make it without skip_shared_memory in CUDA_COREDUMP_GENERATION_FLAGS"
                               : "");
    if (!any(reader, CORE_REGISTERS))
        wsdbg_machine_note(base,
                           "the core dump holds no registers, so which barrier a warp waits for may not be known");
    if (without_code)
        wsdbg_machine_note(base, "the core dump lacks the machine code of %zu of %zu kernels", without_code,
                           base->grid_count);
    if (reader->warps_without_lanes)
        wsdbg_machine_note(base, "the core dump lacks lanes of %zu warps: where they stand is not known",
                           reader->warps_without_lanes);
    if (reader->ctas_without_grid)
        wsdbg_machine_note(base, "the core dump does not say to which kernel %zu CTAs belong",
                           reader->ctas_without_grid);
}

static struct wsdbg_error *read_machine(struct core_machine *machine, const char *path)
{
    struct wsdbg_error *error = core_file_open(path, &machine->file);
    if (error)
        return error;
    struct reader reader = {.machine = machine, .base = &machine->base, .file = machine->file};
    error = make_all_room(&reader);
    if (!error)
        error = take_devices(&reader);
    if (!error)
        error = take_images(&reader);
    if (error)
        return error;
    machine->base.time_ns = core_meta_time_ns(machine->file);
    note_what_is_missing(&reader);
    return NULL;
}

struct wsdbg_error *wsdbg_machine_open_core(const char *path, struct wsdbg_machine **out)
{
    struct core_machine *machine = calloc(1, sizeof *machine);
    if (!machine)
        return &wsdbg_error_no_memory;
    machine->base.ops = &core_machine_ops;
    machine->base.source = "core";
    struct wsdbg_error *error = read_machine(machine, path);
    if (error) {
        machine->base.ops->close(&machine->base);
        return error;
    }
    *out = &machine->base;
    return NULL;
}
