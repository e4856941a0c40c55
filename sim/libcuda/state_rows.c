/* state_rows.c - see state_rows.h: the walk of hopper/state.h put into the rows of wsdbg/device_state.h.
 *
 * Reads: the gpu.  Writes: memory of its own.
 */
#include "libcuda/state_rows.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "hopper/state.h"
#include "libcuda/image.h"
#include "ptx/parse.h"
#include "wsdbg/device_state.h"
#include "wsdbg/ring.h"

/* Bytes of shared memory that are kept around a barrier: a look reads its neighbours with it. */
enum { AROUND_BYTES = 512, WARPS_PER_MULTIPROCESSOR = 64, ALIGNMENT = 8 };

#define SAME(a, b) _Static_assert((int)(a) == (int)(b), #a)
SAME(WSDBG_STATE_RUNS, WSDBG_GPU_RUNS);
SAME(WSDBG_STATE_MBARRIER, WSDBG_GPU_WAITS_MBARRIER);
SAME(WSDBG_STATE_NAMED, WSDBG_GPU_WAITS_NAMED);
SAME(WSDBG_STATE_LANES, WSDBG_GPU_WAITS_LANES);
SAME(WSDBG_STATE_SPINS, WSDBG_GPU_SPINS);

struct rows {
    void *items;
    size_t count, capacity;
};

struct picture {
    const struct context *context;
    struct wsdbg_state_header header;
    struct rows modules, grids, ctas, pieces, warps, parts, found, arrays, bytes;
    const struct wsdbg_gpu_grid *grid; /* that is being visited, its row not made yet */
    struct rows seen_arrays;           /* of that grid, as wsdbg_gpu_array */
    bool grid_is_listed, cta_is_listed;
    const unsigned char *shared;
    uint32_t shared_end;
    bool failed; /* out of memory */
};

/* A row of zeros at the end; NULL = out of memory. */
static void *add(struct picture *picture, struct rows *rows, size_t count, size_t size)
{
    if (picture->failed || !wsdbg_grow(&rows->items, &rows->capacity, rows->count + count, size)) {
        picture->failed = true;
        return NULL;
    }
    void *item = (char *)rows->items + rows->count * size;
    memset(item, 0, count * size);
    rows->count += count;
    return item;
}

#define ADD(picture, rows, type) ((struct type *)add(picture, &(picture)->rows, 1, sizeof(struct type)))

/* Copies bytes behind the others; their offset among them. */
static uint64_t add_bytes(struct picture *picture, const void *from, size_t count)
{
    const uint64_t offset = picture->bytes.count;
    const size_t whole = (count + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *room = whole ? add(picture, &picture->bytes, whole, 1) : NULL;
    if (room)
        memcpy(room, from, count);
    return offset;
}

static const struct module *module_of(const struct picture *picture, const struct wsdbg_gpu_module *gpu_module)
{
    const struct module *module = picture->context->modules;
    while (module && module->gpu_module != gpu_module)
        module = module->next;
    return module;
}

static uint32_t list_module(struct picture *picture, const struct wsdbg_gpu_module *gpu_module)
{
    const struct module *module = module_of(picture, gpu_module);
    const struct wsdbg_state_module *listed = picture->modules.items;
    for (uint32_t i = 0; i < picture->modules.count; i++)
        if (listed[i].handle == (uintptr_t)module)
            return i;
    struct wsdbg_state_module *row = ADD(picture, modules, wsdbg_state_module);
    if (!row || !module)
        return 0;
    row->handle = (uintptr_t)module;
    row->text_bytes = module->image->text_bytes;
    row->text_offset = add_bytes(picture, module->image->text, module->image->text_bytes);
    return (uint32_t)picture->modules.count - 1;
}

static void visit_grid(void *data, const struct wsdbg_gpu_grid *grid)
{
    struct picture *picture = data;
    picture->grid = grid;
    picture->grid_is_listed = false;
    picture->seen_arrays.count = 0;
    if (!grid->fault)
        return;
    const char *what = grid->fault->text + grid->fault->what_at;
    const size_t length = strlen(what);
    picture->header.fault_offset = add_bytes(picture, what, length);
    picture->header.fault_bytes = length;
    picture->header.fault_grid = grid->id;
    picture->header.fault_address = grid->fault->address;
    picture->header.has_fault_address = grid->fault->has_address;
    picture->header.fault_of_absent_cta = grid->fault->is_of_absent_cta;
    picture->header.fault_error = grid->fault->driver_error;
}

static void visit_array(void *data, const struct wsdbg_gpu_array *array)
{
    struct picture *picture = data;
    struct wsdbg_gpu_array *row = ADD(picture, seen_arrays, wsdbg_gpu_array);
    if (row)
        *row = *array;
}

static void list_arrays(struct picture *picture)
{
    const struct wsdbg_gpu_array *seen = picture->seen_arrays.items;
    for (size_t i = 0; i < picture->seen_arrays.count; i++) {
        struct wsdbg_state_array *row = ADD(picture, arrays, wsdbg_state_array);
        if (row)
            *row = (struct wsdbg_state_array){.grid = (uint32_t)picture->grids.count - 1,
                                              .id = seen[i].id,
                                              .first = seen[i].first,
                                              .stride = seen[i].stride,
                                              .stages = seen[i].stages};
    }
}

/* When the first of its CTAs is there. */
static void list_grid(struct picture *picture)
{
    const struct wsdbg_gpu_grid *grid = picture->grid;
    const struct wsdbg_gpu_launch *launch = grid->launch;
    const uint32_t module = list_module(picture, launch->module);
    struct wsdbg_state_grid *row = ADD(picture, grids, wsdbg_state_grid);
    picture->grid_is_listed = true;
    if (!row)
        return;
    row->grid_id = grid->id;
    row->module = module;
    row->function_first = launch->function->first;
    row->registers = launch->registers_per_thread;
    row->has_probes = wsdbg_ptx_find_variable(grid->program, WSDBG_CONFIG_SYMBOL) != NULL;
    memcpy(row->grid, launch->grid, sizeof row->grid);
    memcpy(row->block, launch->block, sizeof row->block);
    memcpy(row->cluster, launch->cluster, sizeof row->cluster);
    row->parameter_bytes = launch->function->parameter_bytes;
    row->parameter_offset = add_bytes(picture, launch->parameters, launch->function->parameter_bytes);
    list_arrays(picture);
}

static void visit_cta(void *data, const struct wsdbg_gpu_cta *cta)
{
    struct picture *picture = data;
    picture->cta_is_listed = cta->is_resident && cta->live_warps > 0;
    if (!picture->cta_is_listed)
        return;
    if (!picture->grid_is_listed)
        list_grid(picture);
    struct wsdbg_state_cta *row = ADD(picture, ctas, wsdbg_state_cta);
    if (!row)
        return;
    row->grid = (uint32_t)picture->grids.count - 1;
    memcpy(row->index, cta->index, sizeof row->index);
    row->sm = cta->sm;
    row->shared_bytes = cta->shared_bytes;
    picture->header.shared_first = cta->shared_first;
    picture->shared = cta->shared;
    picture->shared_end = cta->shared_first + cta->shared_bytes;
}

/* Barriers come by address: a piece that meets the one before is added to it. */
static void visit_mbarrier(void *data, const struct wsdbg_gpu_mbarrier *mbarrier)
{
    struct picture *picture = data;
    const uint32_t cta = (uint32_t)picture->ctas.count - 1, least = picture->header.shared_first;
    if (!picture->cta_is_listed || picture->failed)
        return;
    uint32_t first = mbarrier->offset < least + AROUND_BYTES ? least : mbarrier->offset - AROUND_BYTES;
    const uint32_t end =
        mbarrier->offset + AROUND_BYTES < picture->shared_end ? mbarrier->offset + AROUND_BYTES : picture->shared_end;
    struct wsdbg_state_piece *last = picture->pieces.items;
    last = picture->pieces.count ? last + picture->pieces.count - 1 : NULL;
    const bool joins = last && last->cta == cta && first <= last->first + last->byte_count;
    if (joins)
        first = (uint32_t)(last->first + last->byte_count);
    if (end <= first)
        return;
    struct wsdbg_state_piece *row = ADD(picture, pieces, wsdbg_state_piece);
    if (row)
        *row = (struct wsdbg_state_piece){cta, first, add_bytes(picture, picture->shared + first, end - first),
                                          end - first};
}

static void fill_part(struct wsdbg_state_part *row, const struct wsdbg_gpu_part *part)
{
    row->lanes = part->lanes;
    row->instruction = part->instruction;
    row->wait = (uint32_t)part->wait;
    row->parity = part->parity;
    row->width_bytes = part->width_bytes;
    row->address = part->address;
    row->value = part->value;
    switch (part->wait) {
    case WSDBG_GPU_WAITS_MBARRIER:
        row->barrier = part->cta_rank << WSDBG_GPU_RANK_SHIFT | part->offset;
        row->count = part->tests_others;
        break;
    case WSDBG_GPU_WAITS_NAMED:
        row->barrier = part->id;
        row->count = part->threads;
        break;
    case WSDBG_GPU_WAITS_REGISTERS:
        row->count = part->registers;
        break;
    default:
        row->count = part->groups;
        break;
    }
}

static void list_found(struct picture *picture, const struct wsdbg_gpu_warp *warp)
{
    for (uint32_t i = 0; i < warp->found_count; i++) {
        struct wsdbg_state_found *row = ADD(picture, found, wsdbg_state_found);
        if (row)
            *row = (struct wsdbg_state_found){.cta = (uint32_t)picture->ctas.count - 1,
                                              .warp = warp->index,
                                              .lane = warp->found[i].lane,
                                              .instruction = warp->found[i].instruction,
                                              .value = warp->found[i].value};
    }
}

static void visit_warp(void *data, const struct wsdbg_gpu_warp *warp)
{
    struct picture *picture = data;
    if (!picture->cta_is_listed)
        return;
    list_found(picture, warp);
    if (!warp->live)
        return;
    struct wsdbg_state_warp *row = ADD(picture, warps, wsdbg_state_warp);
    if (!row)
        return;
    *row = (struct wsdbg_state_warp){.cta = (uint32_t)picture->ctas.count - 1,
                                     .index = warp->index,
                                     .slot = warp->slot,
                                     .live = warp->live,
                                     .registers = warp->registers_held};
    if (warp->fault_lanes) {
        picture->header.fault_warp = (uint32_t)picture->warps.count;
        picture->header.fault_lanes = warp->fault_lanes;
        picture->header.fault_instruction = warp->fault_instruction;
    }
    for (uint32_t i = 0; i < warp->part_count; i++) {
        struct wsdbg_state_part *part = ADD(picture, parts, wsdbg_state_part);
        if (!part)
            return;
        part->warp = (uint32_t)picture->warps.count - 1;
        fill_part(part, &warp->parts[i]);
    }
}

/* Offsets of bytes become those in the file. */
static void shift_offsets(struct picture *picture, uint64_t by)
{
    struct wsdbg_state_module *modules = picture->modules.items;
    struct wsdbg_state_grid *grids = picture->grids.items;
    struct wsdbg_state_piece *pieces = picture->pieces.items;
    for (size_t i = 0; i < picture->modules.count; i++)
        modules[i].text_offset += by;
    for (size_t i = 0; i < picture->grids.count; i++)
        grids[i].parameter_offset += by;
    for (size_t i = 0; i < picture->pieces.count; i++)
        pieces[i].offset += by;
    if (picture->header.fault_bytes)
        picture->header.fault_offset += by;
}

/* The file's bytes, which the caller frees; NULL = out of memory. */
static unsigned char *put_together(struct picture *picture)
{
    const struct {
        const struct rows *rows;
        size_t size;
    } parts[] = {
        {&picture->modules, sizeof(struct wsdbg_state_module)},
        {&picture->grids, sizeof(struct wsdbg_state_grid)},
        {&picture->ctas, sizeof(struct wsdbg_state_cta)},
        {&picture->pieces, sizeof(struct wsdbg_state_piece)},
        {&picture->warps, sizeof(struct wsdbg_state_warp)},
        {&picture->parts, sizeof(struct wsdbg_state_part)},
        {&picture->found, sizeof(struct wsdbg_state_found)},
        {&picture->arrays, sizeof(struct wsdbg_state_array)},
        {&picture->bytes, 1},
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    struct wsdbg_state_header *header = &picture->header;
    uint64_t byte_count = sizeof *header;
    for (size_t i = 0; i + 1 < PARTS; i++)
        byte_count += parts[i].rows->count * parts[i].size;
    shift_offsets(picture, byte_count);
    byte_count += picture->bytes.count;
    unsigned char *file = picture->failed ? NULL : malloc(byte_count);
    if (!file)
        return NULL;
    header->byte_count = byte_count;
    header->module_count = (uint32_t)picture->modules.count;
    header->grid_count = (uint32_t)picture->grids.count;
    header->cta_count = (uint32_t)picture->ctas.count;
    header->piece_count = (uint32_t)picture->pieces.count;
    header->warp_count = (uint32_t)picture->warps.count;
    header->part_count = (uint32_t)picture->parts.count;
    header->found_count = (uint32_t)picture->found.count;
    header->array_count = (uint32_t)picture->arrays.count;
    memcpy(file, header, sizeof *header);
    size_t at = sizeof *header;
    for (size_t i = 0; i < PARTS; at += parts[i].rows->count * parts[i].size, i++)
        if (parts[i].rows->count)
            memcpy(file + at, parts[i].rows->items, parts[i].rows->count * parts[i].size);
    return file;
}

unsigned char *state_rows_take(const struct context *context, enum wsdbg_gpu_outcome outcome)
{
    static const struct wsdbg_gpu_visitor visitor = {visit_grid, visit_cta, visit_mbarrier, visit_warp, visit_array};
    struct picture picture = {.context = context};
    picture.header = (struct wsdbg_state_header){.magic = WSDBG_STATE_MAGIC,
                                                 .version = WSDBG_STATE_VERSION,
                                                 .process_id = (uint32_t)getpid(),
                                                 .context = (uintptr_t)context,
                                                 .sm_count = wsdbg_gpu_multiprocessors(context->gpu),
                                                 .warps_per_sm = WARPS_PER_MULTIPROCESSOR,
                                                 .host_may_help = outcome == WSDBG_GPU_STALLED,
                                                 .shared_window = WSDBG_GPU_SHARED_WINDOW};
    wsdbg_gpu_walk(context->gpu, &visitor, &picture);
    unsigned char *file = put_together(&picture);
    struct rows *const all[] = {&picture.modules,     &picture.grids, &picture.ctas,  &picture.pieces,
                                &picture.warps,       &picture.parts, &picture.found, &picture.arrays,
                                &picture.seen_arrays, &picture.bytes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]->items);
    return file;
}
