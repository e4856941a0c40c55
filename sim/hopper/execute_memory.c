/* execute_memory.c - ld and st: of one lane's value, or of a vector of 2, 4 or 8.
 *
 * Reads and writes: memory through access.c.  Values narrower than their register are widened by their type; a register
 * that is wider than the type stores its low bits.
 */
#include "hopper/access.h"
#include "hopper/values.h"

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
    if (places->dense_bytes == 4) {
        memcpy(narrow, hopper_place_of(places, 0), HOPPER_BYTES_32);
        return;
    }
    if (places->dense_bytes) {
        memcpy(wide, hopper_place_of(places, 0), HOPPER_BYTES_64);
        return;
    }
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

/* Where the values lie: ADDRESS operand `number`, values of operand `values`. */
static bool resolve(const struct hopper_step *step, unsigned number, unsigned values, bool for_writing,
                    struct hopper_places *places)
{
    const unsigned byte_count = step->op->type_bytes;
    const unsigned count = count_of(&step->instruction->operands[values]);
    const bool is_wide = hopper_is_wide(step, values);
    if (count == 1 && byte_count == (is_wide ? 8 : 4)) /* the register is as wide as the value */
        return hopper_resolve_values(step, number, byte_count, for_writing, places);
    return hopper_resolve(step, number, byte_count * count, byte_count * count, for_writing, places);
}

enum hopper_outcome hopper_do_ld(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const unsigned byte_count = step->op->type_bytes, count = count_of(&instruction->operands[0]);
    struct hopper_places places;
    if (!resolve(step, 1, 0, false, &places))
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
        if (places->dense_bytes) {
            memcpy(hopper_place_of(places, 0), wide, HOPPER_BYTES_64);
            return;
        }
        HOPPER_LANES_OF (step->lanes)
            memcpy(hopper_place_of(places, lane) + offset, &wide[lane], byte_count);
        return;
    }
    const uint32_t *narrow = (const uint32_t *)(const void *)hopper_place32(step, place);
    if (places->dense_bytes) {
        memcpy(hopper_place_of(places, 0), narrow, HOPPER_BYTES_32);
        return;
    }
    if (byte_count == 4) {
        HOPPER_LANES_OF (step->lanes)
            memcpy(hopper_place_of(places, lane) + offset, &narrow[lane], 4);
        return;
    }
    HOPPER_LANES_OF (step->lanes)
        memcpy(hopper_place_of(places, lane) + offset, &narrow[lane], byte_count);
}

enum hopper_outcome hopper_do_st(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const unsigned byte_count = step->op->type_bytes, count = count_of(&instruction->operands[1]);
    struct hopper_places places;
    if (!resolve(step, 0, 1, true, &places))
        return HOPPER_FAULTED;
    for (unsigned i = 0; i < count; i++)
        store(step, &places, place_of(step, 1, i), i * byte_count, byte_count);
    hopper_wrote(step, &places, byte_count * count);
    return HOPPER_NEXT;
}
