/* snapshot_grids.c - groups occupied slots into grids, and says which grids run.
 *
 * Reads: the tracked slots.  Writes: snapshot.grids in order of (context, grid id), and the list of slot
 * entries with the grid each belongs to.
 */
#include <stdlib.h>
#include <string.h>

#include "evidence/builder.h"
#include "base/grow.h"
#include "evidence/slot_reader.h"

/* Open addressing from (context, grid id) to grid index; never more than half full. */
struct grid_table {
    uint32_t *index; /* WSDBG_NONE = free */
    size_t mask;
    size_t grid_capacity, work_capacity;
};

static size_t hash_of(uint32_t context, uint64_t grid_id)
{
    const uint64_t mixed = (grid_id ^ (uint64_t)context << 56) * 0x9e3779b97f4a7c15ull;
    return (size_t)(mixed >> 24);
}

static uint32_t module_index(const struct wsdbg_builder *builder, uint32_t process, uint32_t context,
                             uint32_t module_id)
{
    if (module_id >= builder->request->processes[process]->head.module_count)
        return WSDBG_NONE;
    const uint32_t index = builder->bases[process].module + module_id;
    const struct wsdbg_module *module = &builder->out->modules[index];
    return module->context == context || module->context == WSDBG_NONE ? index : WSDBG_NONE;
}

static struct wsdbg_error *add_grid(struct wsdbg_builder *builder, struct grid_table *table, uint32_t process,
                                    uint32_t context, const struct wsdbg_slot *slot)
{
    struct wsdbg_snapshot *out = builder->out;
    const size_t count = out->grid_count + 1;
    if (!wsdbg_grow((void **)&out->grids, &table->grid_capacity, count, sizeof *out->grids) ||
        !wsdbg_grow((void **)&builder->grids, &table->work_capacity, count, sizeof *builder->grids))
        return &wsdbg_error_no_memory;
    builder->grids[out->grid_count] =
        (struct wsdbg_grid_work){.process = process, .cluster_size = wsdbg_slot_cluster_size(slot)};
    out->grids[out->grid_count++] = (struct wsdbg_grid){
        .context = context,
        .grid_id = slot->grid_id,
        .module = module_index(builder, process, context, slot->module_id),
        .launch = WSDBG_NONE,
        .function = WSDBG_NONE,
        .cta_total = slot->grid_ctas,
        .warps_per_cta = wsdbg_slot_warps(slot),
    };
    return NULL;
}

/* Finds or adds the slot's grid; *grid = WSDBG_NONE if the slot contradicts the grid it names. */
static struct wsdbg_error *grid_of(struct wsdbg_builder *builder, struct grid_table *table, uint32_t process,
                                   uint32_t context, const struct wsdbg_slot *slot, uint32_t *grid)
{
    size_t at = hash_of(context, slot->grid_id) & table->mask;
    for (; table->index[at] != WSDBG_NONE; at = (at + 1) & table->mask) {
        const uint32_t i = table->index[at];
        const struct wsdbg_grid *found = &builder->out->grids[i];
        if (found->context != context || found->grid_id != slot->grid_id)
            continue;
        const bool agrees = found->cta_total == slot->grid_ctas && found->warps_per_cta == wsdbg_slot_warps(slot) &&
                            builder->grids[i].cluster_size == wsdbg_slot_cluster_size(slot) &&
                            found->module == module_index(builder, process, context, slot->module_id);
        *grid = agrees ? i : WSDBG_NONE;
        return NULL;
    }
    struct wsdbg_error *error = add_grid(builder, table, process, context, slot);
    if (error)
        return error;
    *grid = table->index[at] = (uint32_t)builder->out->grid_count - 1;
    return NULL;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void count_slot(struct wsdbg_builder *builder, uint32_t grid, const struct wsdbg_tracked_slot *tracked)
{
    struct wsdbg_grid *row = &builder->out->grids[grid];
    struct wsdbg_grid_work *work = &builder->grids[grid];
    if (wsdbg_event_state(tracked->slot.state.kind) == WSDBG_WARP_EXITED)
        row->warps_exited++;
    else
        row->warps_live++;
    work->slots++;
    const uint8_t last_kind = tracked->last_known ? tracked->last.kind : tracked->slot.state.kind;
    work->waits_for_dependency |= wsdbg_event_state(last_kind) == WSDBG_WARP_WAIT_GRID_DEPENDENCY;
    work->max_x = larger(work->max_x, tracked->slot.cta_x);
    work->max_y = larger(work->max_y, tracked->slot.cta_y);
    work->max_z = larger(work->max_z, tracked->slot.cta_z);
    if (tracked->changed_ns > work->changed_ns)
        work->changed_ns = tracked->changed_ns;
}

static struct wsdbg_error *collect_context(struct wsdbg_builder *builder, struct grid_table *table, uint32_t process,
                                           uint32_t context)
{
    const struct wsdbg_tracked_context *tracked = &builder->request->processes[process]->contexts[context];
    for (uint32_t i = 0; i < tracked->slot_count; i++) {
        const struct wsdbg_tracked_slot *slot = &tracked->slots[i];
        uint32_t grid;
        if (!slot->occupied)
            continue;
        struct wsdbg_error *error =
            grid_of(builder, table, process, builder->bases[process].context + context, &slot->slot, &grid);
        if (error)
            return error;
        if (grid == WSDBG_NONE) {
            builder->out->foreign_slots++;
            continue;
        }
        count_slot(builder, grid, slot);
        builder->entries[builder->entry_count++] = (struct wsdbg_slot_entry){.tracked = slot, .grid = grid, .slot = i};
    }
    return NULL;
}

struct ordered_grid {
    struct wsdbg_grid row;
    struct wsdbg_grid_work work;
    uint32_t before; /* index before sorting */
};

static int compare_grids(const void *left, const void *right)
{
    const struct wsdbg_grid *a = &((const struct ordered_grid *)left)->row;
    const struct wsdbg_grid *b = &((const struct ordered_grid *)right)->row;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    return (a->grid_id > b->grid_id) - (a->grid_id < b->grid_id);
}

static struct wsdbg_error *sort_grids(struct wsdbg_builder *builder)
{
    const size_t count = builder->out->grid_count;
    if (count < 2)
        return NULL;
    struct ordered_grid *ordered = malloc(count * sizeof *ordered);
    uint32_t *after = malloc(count * sizeof *after);
    if (!ordered || !after) {
        free(ordered);
        free(after);
        return &wsdbg_error_no_memory;
    }
    for (size_t i = 0; i < count; i++)
        ordered[i] = (struct ordered_grid){builder->out->grids[i], builder->grids[i], (uint32_t)i};
    qsort(ordered, count, sizeof *ordered, compare_grids);
    for (size_t i = 0; i < count; i++) {
        builder->out->grids[i] = ordered[i].row;
        builder->grids[i] = ordered[i].work;
        after[ordered[i].before] = (uint32_t)i;
    }
    for (size_t i = 0; i < builder->entry_count; i++)
        builder->entries[i].grid = after[builder->entries[i].grid];
    free(ordered);
    free(after);
    return NULL;
}

static struct wsdbg_error *collect(struct wsdbg_builder *builder, size_t slot_count)
{
    struct grid_table table = {.mask = 63};
    while (table.mask < 2 * slot_count)
        table.mask = 2 * table.mask + 1;
    builder->entries = malloc((slot_count + 1) * sizeof *builder->entries);
    table.index = malloc((table.mask + 1) * sizeof *table.index);
    struct wsdbg_error *error = builder->entries && table.index ? NULL : &wsdbg_error_no_memory;
    if (!error)
        memset(table.index, 0xff, (table.mask + 1) * sizeof *table.index);
    for (uint32_t p = 0; !error && p < builder->request->process_count; p++)
        for (uint32_t c = 0; !error && c < builder->request->processes[p]->head.context_count; c++)
            error = collect_context(builder, &table, p, c);
    free(table.index);
    return error;
}

struct wsdbg_error *wsdbg_build_grids(struct wsdbg_builder *builder)
{
    size_t slot_count = 0;
    for (size_t p = 0; p < builder->request->process_count; p++)
        for (uint32_t c = 0; c < builder->request->processes[p]->head.context_count; c++)
            slot_count += builder->request->processes[p]->contexts[c].slot_count;
    struct wsdbg_error *error = collect(builder, slot_count);
    return error ? error : sort_grids(builder);
}

/* All that its context had been given up to its launch is done. */
static bool is_done(const struct wsdbg_builder *builder, size_t grid)
{
    const struct wsdbg_grid *row = &builder->out->grids[grid];
    const struct wsdbg_optional_u64 done = builder->out->contexts[row->context].done_launches;
    return done.known && row->launch != WSDBG_NONE && builder->out->launches[row->launch].sequence < done.value;
}

/* A later grid that started on the same stream means that this one is done, also where a path of its code
 * lacks the exit probe.  Not so while the later one waits for a grid dependency, or if it may start early. */
static bool superseded(const struct wsdbg_builder *builder, size_t grid)
{
    const struct wsdbg_snapshot *out = builder->out;
    const struct wsdbg_grid_work *work = &builder->grids[grid];
    for (size_t i = grid + 1; work->ordered && i < out->grid_count && out->grids[i].context == out->grids[grid].context;
         i++) {
        const struct wsdbg_grid_work *later = &builder->grids[i];
        if (later->ordered && later->stream == work->stream && later->thread_id == work->thread_id &&
            !later->waits_for_dependency && !later->may_overlap)
            return true;
    }
    return false;
}

void wsdbg_mark_running(struct wsdbg_builder *builder)
{
    for (size_t i = 0; i < builder->out->grid_count; i++) {
        struct wsdbg_grid *grid = &builder->out->grids[i];
        const bool unfinished = grid->warps_live > 0 && !is_done(builder, i) && !superseded(builder, i);
        grid->running = unfinished && builder->out->contexts[grid->context].alive;
        builder->grids[i].listed = unfinished || (builder->request->histories && builder->request->ended_grids &&
                                                  !builder->request->processes[builder->grids[i].process]->alive);
    }
}
