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

static uint64_t load(const unsigned char *from, unsigned byte_count)
{
    uint64_t value = 0;
    memcpy(&value, from, byte_count);
    return value;
}

static void load_scalar(const struct hopper_step *step, const struct hopper_places *places, unsigned byte_count)
{
    const enum wsdbg_ptx_type type = step->instruction->type;
    if (byte_count == 4 && !hopper_is_wide(step, 0)) {
        uint32_t *to = hopper_destination(step, 0);
        if (to)
            HOPPER_LANES_OF(step->lanes)
        memcpy(&to[lane], places->lanes[lane], sizeof *to);
        return;
    }
    HOPPER_LANES_OF(step->lanes)
    hopper_result(step, 0, lane, (uint64_t)extend(type, load(places->lanes[lane], byte_count)));
}

enum hopper_outcome hopper_do_ld(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const unsigned byte_count = wsdbg_ptx_type_bytes(instruction->type);
    const bool is_vector = instruction->operands[0].kind == WSDBG_PTX_OPERAND_VECTOR;
    const unsigned count = is_vector ? instruction->operands[0].count : 1;
    struct hopper_places places;
    if (!hopper_resolve(step, 1, byte_count * count, byte_count * count, false, &places))
        return HOPPER_FAULTED;
    hopper_read(step, &places, (unsigned)__builtin_ctz(step->lanes), byte_count);
    if (!is_vector) {
        load_scalar(step, &places, byte_count);
        return HOPPER_NEXT;
    }
    for (unsigned i = 0; i < count; i++)
        HOPPER_LANES_OF(step->lanes)
    hopper_result_element(step, 0, i, lane,
                          (uint64_t)extend(instruction->type, load(places.lanes[lane] + i * byte_count, byte_count)));
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_ldu(struct hopper_step *step)
{
    return hopper_do_ld(step);
}

enum hopper_outcome hopper_do_st(struct hopper_step *step)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const unsigned byte_count = wsdbg_ptx_type_bytes(instruction->type);
    const bool is_vector = instruction->operands[1].kind == WSDBG_PTX_OPERAND_VECTOR;
    const unsigned count = is_vector ? instruction->operands[1].count : 1;
    struct hopper_places places;
    if (!hopper_resolve(step, 0, byte_count * count, byte_count * count, true, &places))
        return HOPPER_FAULTED;
    for (unsigned i = 0; i < count; i++)
        HOPPER_LANES_OF(step->lanes)
        {
            const uint64_t value = is_vector ? hopper_element(step, 1, i, lane) : hopper_source(step, 1, lane);
            memcpy(places.lanes[lane] + i * byte_count, &value, byte_count);
        }
    hopper_wrote(step, &places);
    return HOPPER_NEXT;
}
