/* combine.c - see combine.h: integers and floats of 16 to 64 bits, each type with the operations that sm_90 has for it.
 *
 * Reads: the two values.  Writes: the first, in place.
 */
#include "hopper/combine.h"

#include <math.h>
#include <string.h>

#include "hopper/float.h"

enum number_kind { NO_NUMBER, UNSIGNED, SIGNED, BITS, FLOATING };

static enum number_kind kind_of(enum wsdbg_ptx_type type)
{
    switch (type) {
    case WSDBG_PTX_U32:
    case WSDBG_PTX_U64:
        return UNSIGNED;
    case WSDBG_PTX_S32:
    case WSDBG_PTX_S64:
        return SIGNED;
    case WSDBG_PTX_B32:
    case WSDBG_PTX_B64:
        return BITS;
    case WSDBG_PTX_F16:
    case WSDBG_PTX_BF16:
    case WSDBG_PTX_F32:
    case WSDBG_PTX_F64:
        return FLOATING;
    default:
        return NO_NUMBER;
    }
}

bool hopper_can_combine(struct hopper_combination combination)
{
    const enum number_kind kind = kind_of(combination.type);
    switch (combination.operation) {
    case WSDBG_PTX_V_ADD:
        return kind != NO_NUMBER && kind != BITS && combination.type != WSDBG_PTX_S64;
    case WSDBG_PTX_V_MIN:
    case WSDBG_PTX_V_MAX:
        return kind == UNSIGNED || kind == SIGNED || combination.type == WSDBG_PTX_F16 ||
               combination.type == WSDBG_PTX_BF16;
    case WSDBG_PTX_V_INC:
    case WSDBG_PTX_V_DEC:
        return combination.type == WSDBG_PTX_U32;
    case WSDBG_PTX_V_AND:
    case WSDBG_PTX_V_OR:
    case WSDBG_PTX_V_XOR:
        return kind != NO_NUMBER && kind != FLOATING && combination.type != WSDBG_PTX_S64;
    default:
        return false;
    }
}

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

/* A sum of f64 one part of which is NaN: of both, the memory's in shared and the other in global memory. */
static uint64_t nan_sum(double x, double y, bool is_global)
{
    const double of = is_global ? (isnan(y) ? y : x) : isnan(x) ? x : y;
    return hopper_float_bits(is_global ? of : hopper_quiet(of), WSDBG_PTX_F64, 0, 0);
}

static uint64_t change_float(struct hopper_combination combination, enum wsdbg_ptx_type type, uint64_t old, uint64_t by)
{
    const enum wsdbg_ptx_variant variant = combination.operation;
    const uint32_t flags =
        combination.is_global && combination.is_atomic && type == WSDBG_PTX_F32 && variant == WSDBG_PTX_V_ADD
            ? WSDBG_PTX_FTZ
            : 0;
    const double x = hopper_float_value(old, type, flags), y = hopper_float_value(by, type, flags);
    double result;
    if (type == WSDBG_PTX_F64 && variant == WSDBG_PTX_V_ADD && (isnan(x) || isnan(y)))
        return nan_sum(x, y, combination.is_global);
    if (variant == WSDBG_PTX_V_ADD)
        result = type == WSDBG_PTX_F64 ? x + y : hopper_add_to_odd(x, y);
    else if (x == 0 && y == 0) /* -0 is less than 0 */
        result = (variant == WSDBG_PTX_V_MIN) == (bool)signbit(x) ? x : y;
    else
        result = isnan(x) ? y : isnan(y) ? x : (x < y) == (variant == WSDBG_PTX_V_MIN) ? x : y;
    return hopper_float_bits(result, type, WSDBG_PTX_RN, flags);
}

static uint64_t change_pair(struct hopper_combination combination, uint64_t old, uint64_t by)
{
    const enum wsdbg_ptx_type half = combination.type == WSDBG_PTX_F16X2 ? WSDBG_PTX_F16 : WSDBG_PTX_BF16;
    return change_float(combination, half, old & UINT16_MAX, by & UINT16_MAX) |
           change_float(combination, half, old >> 16 & UINT16_MAX, by >> 16 & UINT16_MAX) << 16;
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
    default:
        return old ^ by;
    }
}

uint64_t hopper_combined(struct hopper_combination combination, uint64_t old, uint64_t by)
{
    if (combination.type == WSDBG_PTX_F16X2 || combination.type == WSDBG_PTX_BF16X2)
        return change_pair(combination, old, by);
    if (is_float(combination.type))
        return change_float(combination, combination.type, old, by);
    return change_integer(combination.operation, combination.type, old, by);
}

void hopper_combine(struct hopper_combination combination, void *to, const void *from, uint32_t byte_count)
{
    const uint32_t bytes = wsdbg_ptx_type_bytes(combination.type);
    for (uint32_t at = 0; bytes && at + bytes <= byte_count; at += bytes) {
        uint64_t old = 0, by = 0;
        memcpy(&old, (const unsigned char *)to + at, bytes);
        memcpy(&by, (const unsigned char *)from + at, bytes);
        const uint64_t now = hopper_combined(combination, old, by);
        memcpy((unsigned char *)to + at, &now, bytes);
    }
}

enum wsdbg_ptx_type hopper_tensor_type(uint32_t data_type)
{
    static const uint8_t types[] = {WSDBG_PTX_NO_TYPE, WSDBG_PTX_NO_TYPE, WSDBG_PTX_U32, WSDBG_PTX_S32, WSDBG_PTX_U64,
                                    WSDBG_PTX_S64,     WSDBG_PTX_F16,     WSDBG_PTX_F32, WSDBG_PTX_F64, WSDBG_PTX_BF16,
                                    WSDBG_PTX_F32,     WSDBG_PTX_F32,     WSDBG_PTX_F32};
    return data_type < sizeof types ? (enum wsdbg_ptx_type)types[data_type] : WSDBG_PTX_NO_TYPE;
}
