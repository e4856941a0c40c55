/* execute_memory.c - ld and st: of one lane's value, or of a vector of 2, 4 or 8.
 *
 * Reads and writes: memory through access.c.  Values narrower than their register are widened by their type; a register
 * that is wider than the type stores its low bits.
 */
#include "hopper/access.h"
#include "hopper/race.h"
#include "hopper/values.h"
#include "hopper/wide.h"

static int64_t extend(enum wsdbg_ptx_type type, uint64_t value)
{
    switch (type) {
    case WSDBG_PTX_S8:
        return (int8_t)value;
    case WSDBG_PTX_S16:
        return (int16_t)value;
    case WSDBG_PTX_S32:
        return (int32_t)value;
    default:
        return (int64_t)value;
    }
}

/* ---- ld ---- */

/* Where a destination's or source's value lies: the operand itself, or an element of its vector. */
static uint32_t place_of(const struct hopper_step *step, unsigned number, unsigned element)
{
    const struct wsdbg_ptx_operand *operand = &step->instruction->operands[number];
    if (operand->kind != WSDBG_PTX_OPERAND_VECTOR)
        return step->op->places[number];
    return step->warp->cta->grid->code->vector_places[operand->number + element];
}

static void load(const struct hopper_step *step, const struct hopper_places *places, uint32_t place, unsigned offset,
                 unsigned byte_count)
{
    if (place == WSDBG_PTX_NONE)
        return;
    uint32_t *narrow = (uint32_t *)(void *)hopper_place64(step, place);
    uint64_t *wide = (uint64_t *)(void *)hopper_place64(step, place);
    const bool is_wide = place & HOPPER_PLACE_WIDE;
    if (places->is_uniform && byte_count == 4 && !is_wide && step->lanes == HOPPER_ALL) {
        uint32_t value;
        memcpy(&value, hopper_place_of(places, 0) + offset, sizeof value);
        HOPPER_EACH_LANE ()
            narrow[lane] = value;
        return;
    }
    if (byte_count == 4 && !is_wide) {
        HOPPER_LANES_OF (step->lanes)
            memcpy(&narrow[lane], hopper_place_of(places, lane) + offset, 4);
        return;
    }
    if (byte_count == 8 && is_wide) {
        HOPPER_LANES_OF (step->lanes)
            memcpy(&wide[lane], hopper_place_of(places, lane) + offset, 8);
        return;
    }
    HOPPER_LANES_OF (step->lanes) {
        uint64_t value = 0;
        memcpy(&value, hopper_place_of(places, lane) + offset, byte_count);
        value = (uint64_t)extend(step->instruction->type, value);
        if (is_wide)
            wide[lane] = value;
        else
            narrow[lane] = (uint32_t)value;
    }
}

static unsigned count_of(const struct wsdbg_ptx_operand *operand)
{
    return operand->kind == WSDBG_PTX_OPERAND_VECTOR ? operand->count : 1;
}

/* ---- blocks: registers of all lanes, and memory that has one lane's values behind the other's ---- */

static void deal_2_of_32(const uint32_t *restrict from, uint32_t *restrict a, uint32_t *restrict b)
{
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        a[lane] = from[2 * lane];
        b[lane] = from[2 * lane + 1];
    }
}

static void deal_4_of_32(const uint32_t *restrict from, uint32_t *restrict a, uint32_t *restrict b,
                         uint32_t *restrict c, uint32_t *restrict d)
{
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        a[lane] = from[4 * lane];
        b[lane] = from[4 * lane + 1];
        c[lane] = from[4 * lane + 2];
        d[lane] = from[4 * lane + 3];
    }
}

static void deal_2_of_64(const uint64_t *restrict from, uint64_t *restrict a, uint64_t *restrict b)
{
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        a[lane] = from[2 * lane];
        b[lane] = from[2 * lane + 1];
    }
}

static void gather_2_of_32(uint32_t *restrict to, const uint32_t *a, const uint32_t *b)
{
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        to[2 * lane] = a[lane];
        to[2 * lane + 1] = b[lane];
    }
}

static void gather_4_of_32(uint32_t *restrict to, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                           const uint32_t *d)
{
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        to[4 * lane] = a[lane];
        to[4 * lane + 1] = b[lane];
        to[4 * lane + 2] = c[lane];
        to[4 * lane + 3] = d[lane];
    }
}

static void gather_2_of_64(uint64_t *restrict to, const uint64_t *a, const uint64_t *b)
{
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        to[2 * lane] = a[lane];
        to[2 * lane + 1] = b[lane];
    }
}

static uint32_t *narrow_of(const struct hopper_step *step, unsigned number, unsigned element)
{
    return (uint32_t *)(void *)hopper_place32(step, place_of(step, number, element));
}

static uint64_t *wide_of(const struct hopper_step *step, unsigned number, unsigned element)
{
    return (uint64_t *)(void *)hopper_place64(step, place_of(step, number, element));
}

static bool load_block(const struct hopper_step *step)
{
    struct hopper_block block;
    const unsigned lane_bytes = step->op->lane_bytes, count = lane_bytes / step->op->type_bytes;
    if (!lane_bytes || step->warp->watched_lanes || !hopper_find_block(step, 1, lane_bytes, &block))
        return false;
    step->split->reads_global |= block.space == WSDBG_PTX_GLOBAL;
    if (step->gpu->races)
        hopper_race_loaded_block(step, &block, lane_bytes);
    const uint32_t *const from = (const uint32_t *)(const void *)block.memory;
    const uint64_t *const from_wide = (const uint64_t *)(const void *)block.memory;
    if (count == 1 && lane_bytes == 4)
        memcpy(narrow_of(step, 0, 0), from, HOPPER_BYTES_32);
    else if (count == 1)
        memcpy(wide_of(step, 0, 0), from, HOPPER_BYTES_64);
    else if (count == 2 && lane_bytes == 16)
        deal_2_of_64(from_wide, wide_of(step, 0, 0), wide_of(step, 0, 1));
    else if (count == 2)
        deal_2_of_32(from, narrow_of(step, 0, 0), narrow_of(step, 0, 1));
    else
        deal_4_of_32(from, narrow_of(step, 0, 0), narrow_of(step, 0, 1), narrow_of(step, 0, 2), narrow_of(step, 0, 3));
    return true;
}

static bool store_block(const struct hopper_step *step)
{
    struct hopper_block block;
    const unsigned lane_bytes = step->op->lane_bytes, count = lane_bytes / step->op->type_bytes;
    if (!lane_bytes || !hopper_find_block(step, 0, lane_bytes, &block))
        return false;
    struct hopper_race_before before;
    if (step->gpu->races)
        hopper_race_before_block(&block, lane_bytes, &before);
    uint32_t *const to = (uint32_t *)(void *)block.memory;
    uint64_t *const to_wide = (uint64_t *)(void *)block.memory;
    if (count == 1 && lane_bytes == 4)
        memcpy(to, narrow_of(step, 1, 0), HOPPER_BYTES_32);
    else if (count == 1)
        memcpy(to, wide_of(step, 1, 0), HOPPER_BYTES_64);
    else if (count == 2 && lane_bytes == 16)
        gather_2_of_64(to_wide, wide_of(step, 1, 0), wide_of(step, 1, 1));
    else if (count == 2)
        gather_2_of_32(to, narrow_of(step, 1, 0), narrow_of(step, 1, 1));
    else
        gather_4_of_32(to, narrow_of(step, 1, 0), narrow_of(step, 1, 1), narrow_of(step, 1, 2), narrow_of(step, 1, 3));
    if (step->gpu->races)
        hopper_race_stored_block(step, &block, lane_bytes, &before);
    hopper_wrote_block(step, &block, lane_bytes);
    return true;
}

/* ---- ld ---- */

enum hopper_outcome hopper_do_ld(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    if (instruction->type == WSDBG_PTX_B128)
        return hopper_wide_ld(step);
    const unsigned byte_count = step->op->type_bytes, count = count_of(&instruction->operands[0]);
    struct hopper_places places;
    if (load_block(step))
        return HOPPER_NEXT;
    if (!hopper_resolve(step, 1, byte_count * count, byte_count * count, false, &places))
        return HOPPER_FAULTED;
    hopper_read(step, &places, byte_count * count);
    if (step->gpu->races)
        hopper_race_places(step, &places, byte_count * count, true, false);
    for (unsigned i = 0; i < count; i++)
        load(step, &places, place_of(step, 0, i), i * byte_count, byte_count);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_ldu(struct hopper_step *step)
{
    return hopper_do_ld(step);
}

/* ---- st ---- */

/* True where some byte was another one before. */
static bool store_lane(unsigned char *to, const void *from, unsigned byte_count)
{
    const bool changes = memcmp(to, from, byte_count) != 0;
    memcpy(to, from, byte_count);
    return changes;
}

static bool store(const struct hopper_step *step, const struct hopper_places *places, uint32_t place, unsigned offset,
                  unsigned byte_count)
{
    bool changes = false;
    if (byte_count == 8 || place & HOPPER_PLACE_WIDE) {
        const uint64_t *wide = (const uint64_t *)(const void *)hopper_place64(step, place);
        HOPPER_LANES_OF (step->lanes)
            changes |= store_lane(hopper_place_of(places, lane) + offset, &wide[lane], byte_count);
        return changes;
    }
    const uint32_t *narrow = (const uint32_t *)(const void *)hopper_place32(step, place);
    if (byte_count == 4) {
        HOPPER_LANES_OF (step->lanes)
            changes |= store_lane(hopper_place_of(places, lane) + offset, &narrow[lane], 4);
        return changes;
    }
    HOPPER_LANES_OF (step->lanes)
        changes |= store_lane(hopper_place_of(places, lane) + offset, &narrow[lane], byte_count);
    return changes;
}

enum hopper_outcome hopper_do_st(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    if (instruction->type == WSDBG_PTX_B128)
        return hopper_wide_st(step);
    const unsigned byte_count = step->op->type_bytes, count = count_of(&instruction->operands[1]);
    struct hopper_places places;
    if (store_block(step))
        return HOPPER_NEXT;
    if (!hopper_resolve(step, 0, byte_count * count, byte_count * count, true, &places))
        return HOPPER_FAULTED;
    struct hopper_race_before before;
    if (step->gpu->races)
        hopper_race_before(step, &places, byte_count * count, &before);
    bool changes = false;
    for (unsigned i = 0; i < count; i++)
        changes |= store(step, &places, place_of(step, 1, i), i * byte_count, byte_count);
    if (step->gpu->races)
        hopper_race_stored(step, &places, byte_count * count, &before);
    if (changes)
        hopper_wrote(step, &places, byte_count * count);
    else
        hopper_note_same(step, &places, byte_count * count);
    return HOPPER_NEXT;
}
