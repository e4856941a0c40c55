/* execute_wide.c - values of 128 bits: mov, ld, st, and atom that exchanges or compares them.
 *
 * A register of 128 bits is two of 64, one behind the other: the low halves of 32 lanes, then the high ones.
 * Reads and writes: such registers, memory.
 */
#include "hopper/wide.h"

#include <string.h>

#include "hopper/access.h"
#include "hopper/race.h"
#include "hopper/values.h"

enum { BYTES = 16 };

struct wide {
    uint64_t low, high;
};

static uint64_t *halves_of(const struct hopper_step *step, const struct wsdbg_ptx_operand *operand)
{
    return hopper_register64(step->warp, operand->number);
}

/* Elements of a vector: two of 64 bits, or four of 32. */
static uint64_t half_of(const struct hopper_step *step, unsigned number, unsigned half, unsigned lane)
{
    if (step->instruction->operands[number].count == 2)
        return hopper_element(step, number, half, lane);
    return hopper_element(step, number, 2 * half, lane) | hopper_element(step, number, 2 * half + 1, lane) << 32;
}

static void write_half(const struct hopper_step *step, unsigned number, unsigned half, unsigned lane, uint64_t value)
{
    if (step->instruction->operands[number].count == 2) {
        hopper_result_element(step, number, half, lane, value);
        return;
    }
    hopper_result_element(step, number, 2 * half, lane, (uint32_t)value);
    hopper_result_element(step, number, 2 * half + 1, lane, value >> 32);
}

/* Operand `number`: a register, a constant, or a vector. */
static struct wide read_value(const struct hopper_step *step, unsigned number, unsigned lane)
{
    const struct wsdbg_ptx_operand *const operand = &step->instruction->operands[number];
    if (operand->kind == WSDBG_PTX_OPERAND_VECTOR)
        return (struct wide){half_of(step, number, 0, lane), half_of(step, number, 1, lane)};
    if (operand->kind == WSDBG_PTX_OPERAND_IMMEDIATE)
        return (struct wide){(uint64_t)operand->value, operand->value < 0 ? UINT64_MAX : 0};
    const uint64_t *const halves = halves_of(step, operand);
    return (struct wide){halves[lane], halves[HOPPER_LANES + lane]};
}

static void write_value(const struct hopper_step *step, unsigned number, unsigned lane, struct wide value)
{
    const struct wsdbg_ptx_operand *const operand = &step->instruction->operands[number];
    if (operand->kind == WSDBG_PTX_OPERAND_VECTOR) {
        write_half(step, number, 0, lane, value.low);
        write_half(step, number, 1, lane, value.high);
    } else if (operand->kind == WSDBG_PTX_OPERAND_REGISTER) {
        uint64_t *const halves = halves_of(step, operand);
        halves[lane] = value.low;
        halves[HOPPER_LANES + lane] = value.high;
    }
}

enum hopper_outcome hopper_wide_mov(struct hopper_step *step)
{
    HOPPER_LANES_OF (step->lanes)
        write_value(step, 0, lane, read_value(step, 1, lane));
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_wide_ld(struct hopper_step *step)
{
    struct hopper_places places;
    if (!hopper_resolve(step, 1, BYTES, BYTES, false, &places))
        return HOPPER_FAULTED;
    hopper_read(step, &places, BYTES);
    if (step->gpu->races)
        hopper_race_places(step, &places, BYTES, true, false);
    HOPPER_LANES_OF (step->lanes) {
        struct wide value;
        memcpy(&value, hopper_place_of(&places, lane), sizeof value);
        write_value(step, 0, lane, value);
    }
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_wide_st(struct hopper_step *step)
{
    struct hopper_places places;
    if (!hopper_resolve(step, 0, BYTES, BYTES, true, &places))
        return HOPPER_FAULTED;
    HOPPER_LANES_OF (step->lanes) {
        const struct wide value = read_value(step, 1, lane);
        memcpy(hopper_place_of(&places, lane), &value, sizeof value);
    }
    if (step->gpu->races)
        hopper_race_places(step, &places, BYTES, false, true);
    hopper_wrote(step, &places, BYTES);
    return HOPPER_NEXT;
}

/* d, [a], b, of cas c: lane after lane.  What does not change memory wakes nobody. */
enum hopper_outcome hopper_wide_atom(struct hopper_step *step)
{
    const bool compares = step->instruction->variant == WSDBG_PTX_V_CAS;
    struct hopper_places places;
    bool has_changed = false;
    if (!hopper_resolve(step, 1, BYTES, BYTES, true, &places))
        return HOPPER_FAULTED;
    hopper_read(step, &places, BYTES);
    if (step->gpu->races)
        hopper_race_places(step, &places, BYTES, true, true);
    HOPPER_LANES_OF (step->lanes) {
        unsigned char *const at = hopper_place_of(&places, lane);
        const struct wide by = read_value(step, 2, lane);
        struct wide old, now = by;
        memcpy(&old, at, sizeof old);
        if (compares)
            now = old.low == by.low && old.high == by.high ? read_value(step, 3, lane) : old;
        memcpy(at, &now, sizeof now);
        has_changed |= now.low != old.low || now.high != old.high;
        write_value(step, 0, lane, old);
    }
    if (has_changed)
        hopper_wrote(step, &places, BYTES);
    return HOPPER_NEXT;
}
