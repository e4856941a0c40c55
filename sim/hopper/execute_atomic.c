/* execute_atomic.c - atom and red: read, change and write memory, lane after lane.
 *
 * One instruction of one warp is executed at a time, so every access is atomic.  A compare-and-swap that fails, or
 * anything that writes what was there already, changes nothing: spinning warps stay parked.
 */
#include "hopper/access.h"
#include "hopper/float.h"
#include "hopper/values.h"

#include <math.h>

static bool is_float(enum wsdbg_ptx_type type)
{
    return type >= WSDBG_PTX_F16 && type <= WSDBG_PTX_F64;
}

static bool is_less(enum wsdbg_ptx_type type, uint64_t x, uint64_t y)
{
    switch (type) {
    case WSDBG_PTX_S32:
        return (int32_t)x < (int32_t)y;
    case WSDBG_PTX_S64:
        return (int64_t)x < (int64_t)y;
    default:
        return x < y;
    }
}

static uint64_t change_float(enum wsdbg_ptx_variant variant, enum wsdbg_ptx_type type, uint64_t old, uint64_t by)
{
    const double x = hopper_float_value(old, type, 0), y = hopper_float_value(by, type, 0);
    double result;
    if (variant == WSDBG_PTX_V_ADD)
        result = type == WSDBG_PTX_F64 ? x + y : hopper_add_to_odd(x, y);
    else
        result = isnan(x) ? y : isnan(y) ? x : (x < y) == (variant == WSDBG_PTX_V_MIN) ? x : y;
    return hopper_float_bits(result, type, WSDBG_PTX_RN, 0);
}

static uint64_t change_pair(enum wsdbg_ptx_variant variant, enum wsdbg_ptx_type type, uint64_t old, uint64_t by)
{
    const enum wsdbg_ptx_type half = type == WSDBG_PTX_F16X2 ? WSDBG_PTX_F16 : WSDBG_PTX_BF16;
    return change_float(variant, half, old & UINT16_MAX, by & UINT16_MAX) |
           change_float(variant, half, old >> 16 & UINT16_MAX, by >> 16 & UINT16_MAX) << 16;
}

static uint64_t change_integer(enum wsdbg_ptx_variant variant, enum wsdbg_ptx_type type, uint64_t old, uint64_t by)
{
    switch (variant) {
    case WSDBG_PTX_V_ADD:
        return old + by;
    case WSDBG_PTX_V_MIN:
        return is_less(type, old, by) ? old : by;
    case WSDBG_PTX_V_MAX:
        return is_less(type, old, by) ? by : old;
    case WSDBG_PTX_V_INC:
        return old >= by ? 0 : old + 1;
    case WSDBG_PTX_V_DEC:
        return old == 0 || old > by ? by : old - 1;
    case WSDBG_PTX_V_AND:
        return old & by;
    case WSDBG_PTX_V_OR:
        return old | by;
    case WSDBG_PTX_V_XOR:
        return old ^ by;
    default: /* EXCH */
        return by;
    }
}

/* What memory holds afterwards. */
static uint64_t change(const struct wsdbg_ptx_instruction *instruction, uint64_t old, uint64_t by, uint64_t value)
{
    const enum wsdbg_ptx_type type = instruction->type;
    const enum wsdbg_ptx_variant variant = instruction->variant;
    if (variant == WSDBG_PTX_V_CAS)
        return old == by ? value : old;
    if (variant == WSDBG_PTX_V_EXCH)
        return by;
    if (type == WSDBG_PTX_F16X2 || type == WSDBG_PTX_BF16X2)
        return change_pair(variant, type, old, by);
    return is_float(type) ? change_float(variant, type, old, by) : change_integer(variant, type, old, by);
}

/* `first`: the ADDRESS operand; the result, if there is one, is operand 0. */
static enum hopper_outcome execute(struct hopper_step *step, unsigned first)
{
    const struct wsdbg_ptx_instruction *instruction = step->instruction;
    const unsigned byte_count = wsdbg_ptx_type_bytes(instruction->type);
    const uint64_t mask = byte_count == 8 ? UINT64_MAX : (1ull << 8 * byte_count) - 1;
    const bool is_compare = instruction->variant == WSDBG_PTX_V_CAS;
    struct hopper_places places;
    bool has_changed = false;
    if (!hopper_resolve(step, first, byte_count, byte_count, true, &places))
        return HOPPER_FAULTED;
    hopper_read(step, &places, byte_count);
    HOPPER_LANES_OF (step->lanes) {
        uint64_t old = 0;
        memcpy(&old, places.lanes[lane], byte_count);
        const uint64_t by = hopper_source(step, first + 1, lane) & mask;
        const uint64_t value = is_compare ? hopper_source(step, first + 2, lane) & mask : 0;
        const uint64_t now = change(instruction, old, by, value) & mask;
        memcpy(places.lanes[lane], &now, byte_count);
        has_changed |= now != old;
        if (first)
            hopper_result(step, 0, lane, old);
    }
    if (has_changed)
        hopper_wrote(step, &places);
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_atom(struct hopper_step *step)
{
    return execute(step, 1);
}

enum hopper_outcome hopper_do_red(struct hopper_step *step)
{
    return execute(step, 0);
}
