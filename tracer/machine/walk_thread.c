/* walk_thread.c - see walk_thread.h. */
#include "machine/walk_thread.h"

#include "machine/look.h"
#include "machine/ptx_translate.h"
#include "sass/walk.h"

enum { SPECIAL_LANE = 0, SPECIAL_THREAD_X = 33, SPECIAL_CTA_X = 37, SPECIAL_CTA_RANK = 136 };
enum { GRID_SIZE_BYTES = 12 };           /* where bank 0 has it, behind the CTA's threads */
#define WINDOW_BYTES (UINT64_C(1) << 24) /* of generic addresses that are shared or local memory's */

static bool ask_constant(struct walk_thread *thread, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    const uint32_t *size = thread->machine->grids[thread->grid].grid;
    bool known = false;
    if (!bank && offset_bytes >= GRID_SIZE_BYTES && offset_bytes < 2 * GRID_SIZE_BYTES && offset_bytes % 4 == 0) {
        *value = size[(offset_bytes - GRID_SIZE_BYTES) / 4];
        return true;
    }
    if (!thread->error)
        thread->error = wsdbg_code_constant(thread->machine, thread->grid, bank, offset_bytes, value, &known);
    return known && !thread->error;
}

static bool read_constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    struct walk_thread *thread = context;
    struct walk_word *kept = &thread->memory->constants[offset_bytes / 4 % WALK_CONSTANTS_KEPT];
    if (bank || offset_bytes % 4 || offset_bytes / 4 >= WALK_CONSTANTS_KEPT)
        return ask_constant(thread, bank, offset_bytes, value);
    if (!kept->asked)
        kept->known = ask_constant(thread, bank, offset_bytes, &kept->value);
    kept->asked = true;
    *value = kept->value;
    return kept->known;
}

/* CTAs of a cluster are neighbours: its place and a CTA's place in it follow from the CTA's place in the grid. */
static uint32_t value_of_cluster(const struct walk_thread *thread, uint32_t number)
{
    const struct wsdbg_machine_grid *grid = &thread->machine->grids[thread->grid];
    const uint32_t at[] = {thread->cta->x, thread->cta->y, thread->cta->z};
    uint32_t size[3];
    wsdbg_look_cluster_size(grid, &thread->machine->ctas[thread->cta_row], size);
    if (number >= WSDBG_SPECIAL_CLUSTER_CTAS)
        return thread->cta->cluster_size;
    if (number >= WSDBG_SPECIAL_CLUSTER_SIZE_X)
        return size[number - WSDBG_SPECIAL_CLUSTER_SIZE_X];
    if (number >= WSDBG_SPECIAL_CTA_OF_CLUSTER_X)
        return at[number - WSDBG_SPECIAL_CTA_OF_CLUSTER_X] % size[number - WSDBG_SPECIAL_CTA_OF_CLUSTER_X];
    if (number >= WSDBG_SPECIAL_CLUSTERS_X)
        return grid->grid[number - WSDBG_SPECIAL_CLUSTERS_X] / size[number - WSDBG_SPECIAL_CLUSTERS_X];
    return at[number - WSDBG_SPECIAL_CLUSTER_X] / size[number - WSDBG_SPECIAL_CLUSTER_X];
}

static bool read_special(void *context, uint32_t number, uint32_t *value)
{
    const struct walk_thread *thread = context;
    const uint32_t *block = thread->machine->grids[thread->grid].block;
    const uint32_t at[] = {thread->linear % block[0], thread->linear / block[0] % block[1],
                           thread->linear / block[0] / block[1]};
    const uint32_t ctas[] = {thread->cta->x, thread->cta->y, thread->cta->z};
    if (number == SPECIAL_LANE)
        *value = thread->lane;
    else if (number - SPECIAL_THREAD_X < 3)
        *value = at[number - SPECIAL_THREAD_X];
    else if (number - SPECIAL_CTA_X < 3)
        *value = ctas[number - SPECIAL_CTA_X];
    else if (number == SPECIAL_CTA_RANK)
        *value = thread->cta->cluster_rank;
    else if (number >= WSDBG_SPECIAL_CLUSTER_X && number < WSDBG_SPECIAL_END && thread->cta_row != WSDBG_NONE)
        *value = value_of_cluster(thread, number);
    else
        return false;
    return true;
}

/* Of the own CTA.  Its addresses may have its rank in their highest byte. */
static bool read_shared(void *context, uint32_t address, uint32_t *value)
{
    struct walk_thread *thread = context;
    const uint32_t byte = address >> WSDBG_RANK_SHIFT,
                   rank = byte >= WSDBG_WALK_RANKED ? byte - WSDBG_WALK_RANKED : byte;
    bool known = false;
    if (byte && rank != thread->cta->cluster_rank)
        return false;
    if (!thread->error && thread->cta_row != WSDBG_NONE)
        thread->error = thread->machine->ops->shared(thread->machine, thread->cta_row, address & WSDBG_OFFSET_MASK,
                                                     value, sizeof *value, &known);
    return known && !thread->error;
}

/* ---- global memory ---- */

static bool is_in(struct wsdbg_optional_u64 window, uint64_t address)
{
    return window.known && address >= window.value && address - window.value < WINDOW_BYTES;
}

static bool is_global(const struct wsdbg_machine_context *context, uint64_t address)
{
    return context->shared_window.known && !is_in(context->shared_window, address) &&
           !is_in(context->local_window, address);
}

static bool ask_global(struct walk_thread *thread, uint32_t context, uint64_t address, uint32_t *value)
{
    bool known = false;
    if (thread->error || thread->memory->globals_read++ >= WALK_GLOBALS_READ_MOST)
        return false;
    thread->error = thread->machine->ops->global(thread->machine, context, address, value, sizeof *value, &known);
    return known && !thread->error;
}

static bool read_global(void *of_thread, uint64_t address, bool is_generic, uint32_t *value)
{
    struct walk_thread *thread = of_thread;
    struct walk_word *kept = &thread->memory->globals[address / sizeof *value % WALK_GLOBALS_KEPT];
    const uint32_t context = thread->machine->grids[thread->grid].context;
    if (context == WSDBG_NONE || (is_generic && !is_global(&thread->machine->contexts[context], address)))
        return false;
    if (!kept->asked || kept->address != address) {
        *kept = (struct walk_word){.address = address, .asked = true};
        kept->known = ask_global(thread, context, address, &kept->value);
    }
    *value = kept->value;
    return kept->known;
}

struct wsdbg_thread_world walk_thread_world(struct walk_thread *thread)
{
    return (struct wsdbg_thread_world){thread, read_constant, read_special, read_shared, read_global};
}
