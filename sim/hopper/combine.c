/* combine.c - see combine.h. */
#include "hopper/combine.h"

#include <string.h>

#include "hopper/number.h"

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
        return kind != NO_NUMBER && kind != BITS;
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
        return kind != NO_NUMBER && kind != FLOATING;
    default:
        return false;
    }
}

/* Signed numbers come sign-extended. */
static uint64_t combine_integers(enum wsdbg_ptx_variant operation, bool is_signed, uint64_t a, uint64_t b)
{
    const bool a_is_less = is_signed ? (int64_t)a < (int64_t)b : a < b;
    switch (operation) {
    case WSDBG_PTX_V_MIN:
        return a_is_less ? a : b;
    case WSDBG_PTX_V_MAX:
        return a_is_less ? b : a;
    case WSDBG_PTX_V_INC:
        return a >= b ? 0 : a + 1;
    case WSDBG_PTX_V_DEC:
        return a == 0 || a > b ? b : a - 1;
    case WSDBG_PTX_V_AND:
        return a & b;
    case WSDBG_PTX_V_OR:
        return a | b;
    case WSDBG_PTX_V_XOR:
        return a ^ b;
    default:
        return a + b;
    }
}

/* A number that is NaN gives way to the other one. */
static double combine_floats(enum wsdbg_ptx_variant operation, double a, double b)
{
    if (operation == WSDBG_PTX_V_ADD)
        return a + b;
    if (a != a)
        return b;
    if (b != b)
        return a;
    return (operation == WSDBG_PTX_V_MIN) == (a < b) ? a : b;
}

static void combine_short(struct hopper_combination combination, unsigned char *to, const unsigned char *from)
{
    const bool is_bf16 = combination.type == WSDBG_PTX_BF16;
    uint16_t a, b, result;
    memcpy(&a, to, sizeof a);
    memcpy(&b, from, sizeof b);

    const float x = is_bf16 ? hopper_bf16_to_float(a) : hopper_f16_to_float(a);
    const float y = is_bf16 ? hopper_bf16_to_float(b) : hopper_f16_to_float(b);
    const float value =
        combination.operation == WSDBG_PTX_V_ADD ? x + y : (float)combine_floats(combination.operation, x, y);
    result = is_bf16 ? hopper_float_to_bf16(value) : hopper_float_to_f16(value);
    memcpy(to, &result, sizeof result);
}

static void combine_float(struct hopper_combination combination, unsigned char *to, const unsigned char *from)
{
    float a, b;
    double x, y;
    if (combination.type == WSDBG_PTX_F32) {
        memcpy(&a, to, sizeof a);
        memcpy(&b, from, sizeof b);
        a += b;
        memcpy(to, &a, sizeof a);
    } else {
        memcpy(&x, to, sizeof x);
        memcpy(&y, from, sizeof y);
        x += y;
        memcpy(to, &x, sizeof x);
    }
}

static void combine_word(struct hopper_combination combination, unsigned char *to, const unsigned char *from)
{
    const bool is_signed = kind_of(combination.type) == SIGNED;
    if (wsdbg_ptx_type_bytes(combination.type) == sizeof(uint64_t)) {
        uint64_t a, b;
        memcpy(&a, to, sizeof a);
        memcpy(&b, from, sizeof b);
        a = combine_integers(combination.operation, is_signed, a, b);
        memcpy(to, &a, sizeof a);
        return;
    }
    uint32_t a, b;
    memcpy(&a, to, sizeof a);
    memcpy(&b, from, sizeof b);
    if (is_signed)
        a = (uint32_t)combine_integers(combination.operation, true, (uint64_t)(int32_t)a, (uint64_t)(int32_t)b);
    else
        a = (uint32_t)combine_integers(combination.operation, false, a, b);
    memcpy(to, &a, sizeof a);
}

void hopper_combine(struct hopper_combination combination, void *to, const void *from, uint32_t byte_count)
{
    const uint32_t bytes = wsdbg_ptx_type_bytes(combination.type);
    const bool is_float = kind_of(combination.type) == FLOATING;
    for (uint32_t at = 0; bytes && at + bytes <= byte_count; at += bytes) {
        unsigned char *const element = (unsigned char *)to + at;
        const unsigned char *const other = (const unsigned char *)from + at;
        if (is_float && bytes == sizeof(uint16_t))
            combine_short(combination, element, other);
        else if (is_float)
            combine_float(combination, element, other);
        else
            combine_word(combination, element, other);
    }
}

enum wsdbg_ptx_type hopper_tensor_type(uint32_t data_type)
{
    static const uint8_t types[] = {WSDBG_PTX_NO_TYPE, WSDBG_PTX_NO_TYPE, WSDBG_PTX_U32, WSDBG_PTX_S32, WSDBG_PTX_U64,
                                    WSDBG_PTX_S64,     WSDBG_PTX_F16,     WSDBG_PTX_F32, WSDBG_PTX_F64, WSDBG_PTX_BF16,
                                    WSDBG_PTX_F32,     WSDBG_PTX_F32,     WSDBG_PTX_F32};
    return data_type < sizeof types ? (enum wsdbg_ptx_type)types[data_type] : WSDBG_PTX_NO_TYPE;
}
