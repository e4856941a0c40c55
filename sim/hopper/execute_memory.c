/* execute_memory.c - ld and st: of one lane's value, or of a vector of 2, 4 or 8.
 *
 * Reads and writes: memory through access.c.  Values narrower than their register are widened by their type; a register
 * that is wider than the type stores its low bits.
 */
#include "hopper/access.h"
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

/* All lanes' registers as one block of memory; false: something else is asked for. */
static bool load_block(const struct hopper_step *step)
{
    const uint32_t place = step->op->places[0], byte_count = place & HOPPER_PLACE_WIDE ? 8 : 4;
    struct hopper_block block;
    if (place == WSDBG_PTX_NONE || step->op->type_bytes != byte_count || step->warp->is_watched ||
        !hopper_find_block(step, 1, byte_count, &block))
        return false;
    if (byte_count == 4)
        memcpy(hopper_place64(step, place), block.memory, HOPPER_BYTES_32);
    else
        memcpy(hopper_place64(step, place), block.memory, HOPPER_BYTES_64);
    return true;
}

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
    for (unsigned i = 0; i < count; i++)
        load(step, &places, place_of(step, 0, i), i * byte_count, byte_count);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_ldu(struct hopper_step *step)
{
    return hopper_do_ld(step);
}

/* ---- st ---- */

static void store(const struct hopper_step *step, const struct hopper_places *places, uint32_t place, unsigned offset,
                  unsigned byte_count)
{
    if (byte_count == 8 || place & HOPPER_PLACE_WIDE) {
        const uint64_t *wide = (const uint64_t *)(const void *)hopper_place64(step, place);
        HOPPER_LANES_OF (step->lanes)
            memcpy(hopper_place_of(places, lane) + offset, &wide[lane], byte_count);
        return;
    }
    const uint32_t *narrow = (const uint32_t *)(const void *)hopper_place32(step, place);
    if (byte_count == 4) {
        HOPPER_LANES_OF (step->lanes)
            memcpy(hopper_place_of(places, lane) + offset, &narrow[lane], 4);
        return;
    }
    HOPPER_LANES_OF (step->lanes)
        memcpy(hopper_place_of(places, lane) + offset, &narrow[lane], byte_count);
}

static bool store_block(const struct hopper_step *step)
{
    const uint32_t place = step->op->places[1], byte_count = step->op->type_bytes;
    struct hopper_block block;
    if (place == WSDBG_PTX_NONE || (byte_count != 8 && (byte_count != 4 || place & HOPPER_PLACE_WIDE)) ||
        !hopper_find_block(step, 0, byte_count, &block))
        return false;
    if (byte_count == 4)
        memcpy(block.memory, hopper_place32(step, place), HOPPER_BYTES_32);
    else
        memcpy(block.memory, hopper_place64(step, place), HOPPER_BYTES_64);
    hopper_wrote_block(step, &block, byte_count);
    return true;
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
    for (unsigned i = 0; i < count; i++)
        store(step, &places, place_of(step, 1, i), i * byte_count, byte_count);
    hopper_wrote(step, &places, byte_count * count);
    return HOPPER_NEXT;
}
