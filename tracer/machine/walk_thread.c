/* walk_thread.c - see walk_thread.h. */
#include "machine/walk_thread.h"

#include <string.h>

#include "machine/look.h"
#include "translate/ptx_translate.h"
#include "sass/walk.h"

enum {
    SPECIAL_LANE = 0,
    SPECIAL_THREAD_X = 33,
    SPECIAL_CTA_X = 37,
    SPECIAL_WINDOW_HIGH = 47,
    SPECIAL_WINDOW_LOW = 48,
    SPECIAL_LANE_MASKS = 56, /* five of them */
    SPECIAL_CTA_RANK = 136
};
enum { LANE_MASKS = 5 };
/* Where bank 0 has the grid's size, behind the CTA's threads; and what clusters are (as ptxas 13.0 reads it for the
 * special registers of clusters). */
enum {
    GRID_SIZE_BYTES = 12,
    CLUSTER_FLAG_BYTES = 0x140,
    CLUSTER_SIZE_BYTES = 0x144,
    CLUSTER_SHARE_BYTES = 0x150,
    CLUSTERS_BYTES = 0x15c,
    CLUSTERS_END_BYTES = 0x168,
    CLUSTER_CTAS_BYTES = 0x188
};
#define WINDOW_BYTES (UINT64_C(1) << 24)   /* of generic addresses that are shared or local memory's */
#define NO_MEMORY_HERE (UINT64_C(1) << 50) /* addresses on a GPU have 49 bits */

/* The kernel's image has them: the GPU need not be asked. */
static bool word_of_tables(const struct walk_thread *thread, uint32_t offset_bytes, uint32_t *value)
{
    const struct wsdbg_image *tables = &thread->memory->tables;
    if (tables->byte_count < sizeof *value || offset_bytes > tables->byte_count - sizeof *value)
        return false;
    memcpy(value, tables->bytes + offset_bytes, sizeof *value);
    return true;
}

/* CTAs of a cluster are neighbours: its place and a CTA's place in it follow from the CTA's place in the grid. */
static uint32_t value_of_cluster(const struct walk_thread *thread, uint32_t number)
{
    const struct wsdbg_machine_grid *grid = &thread->machine->grids[thread->grid];
    const uint32_t at[] = {thread->cta->x, thread->cta->y, thread->cta->z};
    uint32_t size[3];
    wsdbg_look_cluster_size(grid, &thread->machine->ctas[thread->sibling], size);
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

/* What the driver puts into bank 0 of a kernel with clusters: a flag that it has some; their size; its reciprocal as
 * floating-point numbers, with which code divides a CTA's place; how many there are; and how many CTAs each has. */
static bool constant_of_clusters(const struct walk_thread *thread, uint32_t offset_bytes, uint32_t *value)
{
    const uint32_t axis = offset_bytes % 12 / 4; /* of three neighbours; each row of them begins at a multiple of 12 */
    if (thread->cta->cluster_size <= 1 || offset_bytes % 4)
        return false;
    if (offset_bytes == CLUSTER_FLAG_BYTES)
        *value = 1;
    else if (offset_bytes == CLUSTER_CTAS_BYTES)
        *value = value_of_cluster(thread, WSDBG_SPECIAL_CLUSTER_CTAS);
    else if (offset_bytes >= CLUSTER_SIZE_BYTES && offset_bytes < CLUSTER_SHARE_BYTES)
        *value = value_of_cluster(thread, WSDBG_SPECIAL_CLUSTER_SIZE_X + axis);
    else if (offset_bytes >= CLUSTERS_BYTES && offset_bytes < CLUSTERS_END_BYTES)
        *value = value_of_cluster(thread, WSDBG_SPECIAL_CLUSTERS_X + axis);
    else if (offset_bytes >= CLUSTER_SHARE_BYTES && offset_bytes < CLUSTERS_BYTES) {
        const float share = 1.0f / (float)value_of_cluster(thread, WSDBG_SPECIAL_CLUSTER_SIZE_X + axis);
        memcpy(value, &share, sizeof *value);
    } else
        return false;
    return true;
}

static bool ask_constant(struct walk_thread *thread, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    const uint32_t *size = thread->machine->grids[thread->grid].grid;
    bool known = false;
    if (bank == WSDBG_CODE_BANK_OF_TABLES && word_of_tables(thread, offset_bytes, value))
        return true;
    if (!bank && offset_bytes >= GRID_SIZE_BYTES && offset_bytes < 2 * GRID_SIZE_BYTES && offset_bytes % 4 == 0) {
        *value = size[(offset_bytes - GRID_SIZE_BYTES) / 4];
        return true;
    }
    if (!bank && constant_of_clusters(thread, offset_bytes, value))
        return true;
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

/* The generic address at which shared memory begins.  A running GPU does not tell it.  Then any place will do at which
 * no memory can be: a walk takes it from a special register, adds an offset, and loads there. */
static uint64_t shared_window(const struct walk_thread *thread)
{
    const uint32_t context = thread->machine->grids[thread->grid].context;
    const struct wsdbg_optional_u64 unknown = {0}, window = context == WSDBG_NONE
                                                                ? unknown
                                                                : thread->machine->contexts[context].shared_window;
    return window.known ? window.value : NO_MEMORY_HERE;
}

/* SR_EQMASK, SR_LTMASK, SR_LEMASK, SR_GTMASK, SR_GEMASK: the lanes that are equal, less and so on. */
static uint32_t lane_mask(uint32_t lane, uint32_t which)
{
    const uint32_t own = (uint32_t)1 << lane, below = own - 1;
    const uint32_t masks[LANE_MASKS] = {own, below, below | own, ~(below | own), ~below};
    return masks[which];
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
    else if (number == SPECIAL_WINDOW_HIGH)
        *value = (uint32_t)(shared_window(thread) >> 32);
    else if (number == SPECIAL_WINDOW_LOW)
        *value = (uint32_t)shared_window(thread);
    else if (number - SPECIAL_LANE_MASKS < LANE_MASKS)
        *value = lane_mask(thread->lane, number - SPECIAL_LANE_MASKS);
    else if (number == SPECIAL_CTA_RANK)
        *value = thread->cta->cluster_rank;
    else if (number >= WSDBG_SPECIAL_CLUSTER_X && number < WSDBG_SPECIAL_END)
        *value = value_of_cluster(thread, number);
    else
        return false;
    return true;
}

/* ---- memory ---- */

typedef struct wsdbg_error *read_memory(struct wsdbg_machine *machine, uint32_t place, uint64_t address, void *out,
                                        uint32_t byte_count, bool *known);

static bool has_in(const struct walk_block *block, uint32_t place, uint64_t address)
{
    return block->place == place && address - block->address < block->byte_count;
}

/* Reads the block of this size that holds the address.  False: it is not known as a whole. */
static bool read_block(struct walk_thread *thread, struct walk_block *block, read_memory *read, uint32_t place,
                       uint64_t address, uint32_t byte_count)
{
    block->address = address - address % byte_count;
    block->place = place;
    block->byte_count = byte_count;
    block->known = false;
    thread->error = read(thread->machine, place, block->address, block->bytes, byte_count, &block->known);
    return block->known &= !thread->error;
}

static bool find_block(struct walk_thread *thread, struct walk_block *block, read_memory *read, uint32_t place,
                       uint64_t address)
{
    if (has_in(block, place, address))
        return block->known;
    return read_block(thread, block, read, place, address, WALK_BLOCK_BYTES) ||
           (!thread->error && read_block(thread, block, read, place, address, WALK_SMALL_BLOCK_BYTES));
}

/* Where no block is known, the word may be. */
static bool read_word(struct walk_thread *thread, struct walk_block *block, read_memory *read, uint32_t place,
                      uint64_t address, uint32_t *value)
{
    const bool is_in_one = address % WALK_SMALL_BLOCK_BYTES + sizeof *value <= WALK_SMALL_BLOCK_BYTES;
    bool known = false;
    if (thread->error)
        return false;
    if (is_in_one && find_block(thread, block, read, place, address)) {
        memcpy(value, block->bytes + (address - block->address), sizeof *value);
        return true;
    }
    if (!thread->error)
        thread->error = read(thread->machine, place, address, value, sizeof *value, &known);
    return known && !thread->error;
}

static struct wsdbg_error *machine_shared(struct wsdbg_machine *machine, uint32_t cta, uint64_t address, void *out,
                                          uint32_t byte_count, bool *known)
{
    return machine->ops->shared(machine, cta, (uint32_t)address, out, byte_count, known);
}

/* Of the own CTA.  Its addresses may have its rank in their highest byte. */
static bool read_shared(void *context, uint32_t address, uint32_t *value)
{
    struct walk_thread *thread = context;
    const uint32_t byte = address >> WSDBG_RANK_SHIFT, own = thread->cta->cluster_rank;
    const uint32_t at = address & WSDBG_OFFSET_MASK;
    if ((byte && walk_rank_named(byte, own, thread->is_of_words) != own) || thread->cta_row == WSDBG_NONE)
        return false;
    return read_word(thread, &thread->memory->shared[at / WALK_BLOCK_BYTES % WALK_SHARED_KEPT], machine_shared,
                     thread->cta_row, at, value);
}

static struct wsdbg_error *machine_local(struct wsdbg_machine *machine, uint32_t lane, uint64_t address, void *out,
                                         uint32_t byte_count, bool *known)
{
    *known = false;
    if (!machine->ops->local)
        return NULL;
    return machine->ops->local(machine, lane / WSDBG_MACHINE_LANES, lane % WSDBG_MACHINE_LANES, (uint32_t)address, out,
                               byte_count, known);
}

static bool read_local(void *context, uint32_t address, uint32_t *value)
{
    struct walk_thread *thread = context;
    return thread->is_there &&
           read_word(thread, &thread->memory->locals[address / WALK_BLOCK_BYTES % WALK_LOCALS_KEPT], machine_local,
                     thread->warp * WSDBG_MACHINE_LANES + thread->lane, address, value);
}

static bool is_in(struct wsdbg_optional_u64 window, uint64_t address)
{
    return window.known && address >= window.value && address - window.value < WINDOW_BYTES;
}

/* Whether a generic address may be one of global memory.  A live look does not know the windows.  The driver maps no
 * memory there, so an address in one of them cannot be read. */
static bool may_be_global(const struct wsdbg_machine_context *context, uint64_t address)
{
    return !is_in(context->shared_window, address) && !is_in(context->local_window, address);
}

void walk_memory_begin_cta(struct walk_memory *memory)
{
    memory->globals_most = memory->globals_read + (WALK_GLOBALS_READ_MOST - memory->globals_read) / 2;
}

static bool read_global(void *of_thread, uint64_t address, bool is_generic, uint32_t *value)
{
    struct walk_thread *thread = of_thread;
    struct walk_memory *memory = thread->memory;
    struct walk_block *block = &memory->globals[address / WALK_BLOCK_BYTES % WALK_GLOBALS_KEPT];
    const uint32_t context = thread->machine->grids[thread->grid].context;
    if (context == WSDBG_NONE || (is_generic && !may_be_global(&thread->machine->contexts[context], address)))
        return false;
    const bool is_kept = block->known && has_in(block, context, address);
    if (!is_kept && memory->globals_read >= memory->globals_most)
        return false;
    memory->globals_read += !is_kept;
    const bool known = read_word(thread, block, thread->machine->ops->global, context, address, value);
    thread->has_loaded |= known;
    return known;
}

static enum wsdbg_thread_found read_found(void *context, uint32_t instruction, uint32_t times, uint32_t *value)
{
    const struct walk_thread *thread = context;
    const struct wsdbg_machine_atomic atomic = {thread->cta_row, thread->linear / WSDBG_MACHINE_LANES, thread->lane,
                                                instruction};
    if (thread->cta_row == WSDBG_NONE || !thread->machine->ops->found)
        return WSDBG_THREAD_FOUND_UNKNOWN;
    switch (thread->machine->ops->found(thread->machine, &atomic, times, value)) {
    case WSDBG_MACHINE_FOUND:
        return WSDBG_THREAD_FOUND;
    case WSDBG_MACHINE_FOUND_NOT_YET:
        return WSDBG_THREAD_FOUND_NOT_YET;
    default:
        return WSDBG_THREAD_FOUND_UNKNOWN;
    }
}

/* Which CTA of its grid it is, or which cluster. */
static uint32_t turn_of(const struct walk_thread *thread, uint32_t *turns)
{
    const uint32_t *size = thread->machine->grids[thread->grid].grid;
    const struct wsdbg_cta *cta = thread->cta;
    const uint64_t ctas = (uint64_t)size[0] * size[1] * size[2], each = cta->cluster_size > 1 ? cta->cluster_size : 1;
    const uint64_t linear = ((uint64_t)cta->z * size[1] + cta->y) * size[0] + cta->x;
    *turns = (uint32_t)(ctas / each);
    return (uint32_t)(linear / each);
}

struct wsdbg_thread_world walk_thread_world(struct walk_thread *thread)
{
    uint32_t takers;
    const uint32_t taker = turn_of(thread, &takers);
    return (struct wsdbg_thread_world){.context = thread,
                                       .constant = read_constant,
                                       .special = read_special,
                                       .shared = read_shared,
                                       .global = read_global,
                                       .local = read_local,
                                       .found = read_found,
                                       .shared_window = shared_window(thread),
                                       .taker = taker,
                                       .takers = takers,
                                       .seen_at = thread->seen_at};
}
