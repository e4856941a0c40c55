/* compute.c - see compute.h.  Reads an instruction and its sources; writes its result. */
#include "compute.h"

static bool is_signed(unsigned type)
{
    return type >= WSDBG_PTX_S8 && type <= WSDBG_PTX_S64;
}

/* The low bits of the value, as many as the type has, extended by sign or by zeros. */
static int64_t as_type(unsigned type, int64_t value)
{
    const unsigned bits = type == WSDBG_PTX_PRED ? 1 : wsdbg_ptx_type_bits((enum wsdbg_ptx_type)type);
    if (bits == 0 || bits >= 64)
        return value;
    const uint64_t mask = (1ull << bits) - 1, low = (uint64_t)value & mask;
    return is_signed(type) && low >> (bits - 1) ? (int64_t)(low | ~mask) : (int64_t)low;
}

static bool compares(unsigned compare, unsigned type, int64_t a, int64_t b, bool *out)
{
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    const bool is_less = is_signed(type) ? a < b : ua < ub;
    switch (compare) {
    case WSDBG_PTX_EQ:
        *out = a == b;
        return true;
    case WSDBG_PTX_NE:
        *out = a != b;
        return true;
    case WSDBG_PTX_LT:
        *out = is_less;
        return true;
    case WSDBG_PTX_LE:
        *out = is_less || a == b;
        return true;
    case WSDBG_PTX_GT:
        *out = !is_less && a != b;
        return true;
    case WSDBG_PTX_GE:
        *out = !is_less;
        return true;
    case WSDBG_PTX_LO:
        *out = ua < ub;
        return true;
    case WSDBG_PTX_LS:
        *out = ua <= ub;
        return true;
    case WSDBG_PTX_HI:
        *out = ua > ub;
        return true;
    case WSDBG_PTX_HS:
        *out = ua >= ub;
        return true;
    default:
        return false;
    }
}

static bool set_predicate(const struct wsdbg_ptx_instruction *at, const int64_t *source, int64_t *out)
{
    const unsigned type = at->type;
    bool result;
    if (type >= WSDBG_PTX_F16 ||
        !compares(at->compare, type, as_type(type, source[0]), as_type(type, source[1]), &result))
        return false;
    const bool other = source[2] != 0;
    switch (at->combine) {
    case WSDBG_PTX_AND:
        result = result && other;
        break;
    case WSDBG_PTX_OR:
        result = result || other;
        break;
    case WSDBG_PTX_XOR:
        result = result != other;
        break;
    default:
        break;
    }
    *out = result;
    return true;
}

static int64_t shifted_right(unsigned type, int64_t value, int64_t by)
{
    const unsigned bits = wsdbg_ptx_type_bits((enum wsdbg_ptx_type)type);
    const uint64_t steps = (uint64_t)by & UINT32_MAX;
    value = as_type(type, value);
    if (is_signed(type))
        return value >> (steps >= bits ? bits - 1 : steps);
    return steps >= bits ? 0 : (int64_t)((uint64_t)value >> steps);
}

/* The product: its low half (.lo) or the whole (.wide). */
static int64_t product(const struct wsdbg_ptx_instruction *at, const int64_t *source)
{
    const uint64_t result = (uint64_t)as_type(at->type, source[0]) * (uint64_t)as_type(at->type, source[1]);
    return at->part == WSDBG_PTX_LOW ? as_type(at->type, (int64_t)result) : (int64_t)result;
}

static int64_t looked_up(const int64_t *source)
{
    uint32_t out = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        const unsigned row =
            (unsigned)((source[0] >> bit & 1) << 2 | (source[1] >> bit & 1) << 1 | (source[2] >> bit & 1));
        out |= (uint32_t)(source[3] >> row & 1) << bit;
    }
    return out;
}

static int64_t field(unsigned type, const int64_t *source)
{
    const unsigned position = (unsigned)source[1] & 255, length = (unsigned)source[2] & 255;
    const int64_t value = shifted_right(type, source[0], position);
    const uint64_t mask = length >= 64 ? UINT64_MAX : (1ull << length) - 1;
    const uint64_t low = (uint64_t)value & mask;
    return is_signed(type) && length && length < 64 && low >> (length - 1) ? (int64_t)(low | ~mask) : (int64_t)low;
}

bool compute_needs(const struct wsdbg_ptx_instruction *at, unsigned source)
{
    switch (at->operation) {
    case WSDBG_PTX_OP_shfl:
        return source < 2;
    case WSDBG_PTX_OP_mapa:
        return source == 0;
    default:
        return true;
    }
}

static bool is_computed(unsigned type)
{
    return type < WSDBG_PTX_F16 && type != WSDBG_PTX_B128;
}

bool compute_value(const struct wsdbg_ptx_instruction *at, const int64_t *source, int64_t *out)
{
    const unsigned type = at->type;
    const uint64_t a = (uint64_t)source[0], b = (uint64_t)source[1];
    if (!is_computed(type) || at->flags & WSDBG_PTX_CARRY_OUT)
        return false;
    switch (at->operation) {
    case WSDBG_PTX_OP_mov:
    case WSDBG_PTX_OP_cvta:
    case WSDBG_PTX_OP_mapa:
        *out = source[0];
        return true;
    case WSDBG_PTX_OP_shfl: /* from lane 0; the caller asked for the sources there */
        *out = source[0];
        return at->variant == WSDBG_PTX_V_IDX && b == 0;
    case WSDBG_PTX_OP_cvt:
        *out = as_type(type, as_type(at->source_type, source[0]));
        return is_computed(at->source_type);
    case WSDBG_PTX_OP_add:
        *out = as_type(type, (int64_t)(a + b));
        return true;
    case WSDBG_PTX_OP_sub:
        *out = as_type(type, (int64_t)(a - b));
        return true;
    case WSDBG_PTX_OP_mul:
        *out = product(at, source);
        return at->part != WSDBG_PTX_HIGH;
    case WSDBG_PTX_OP_mad:
        *out = product(at, source) + source[2];
        if (at->part == WSDBG_PTX_LOW)
            *out = as_type(type, *out);
        return at->part != WSDBG_PTX_HIGH;
    case WSDBG_PTX_OP_and:
        *out = as_type(type, (int64_t)(a & b));
        return true;
    case WSDBG_PTX_OP_or:
        *out = as_type(type, (int64_t)(a | b));
        return true;
    case WSDBG_PTX_OP_xor:
        *out = as_type(type, (int64_t)(a ^ b));
        return true;
    case WSDBG_PTX_OP_not:
        *out = as_type(type, (int64_t)~a);
        return true;
    case WSDBG_PTX_OP_lop3:
        *out = looked_up(source);
        return !(at->flags & WSDBG_PTX_WITH_PREDICATE);
    case WSDBG_PTX_OP_shl:
        *out = b >= wsdbg_ptx_type_bits((enum wsdbg_ptx_type)type) ? 0 : as_type(type, (int64_t)(a << b));
        return true;
    case WSDBG_PTX_OP_shr:
        *out = shifted_right(type, source[0], source[1]);
        return true;
    case WSDBG_PTX_OP_bfe:
        *out = field(type, source);
        return true;
    case WSDBG_PTX_OP_setp:
        return set_predicate(at, source, out);
    case WSDBG_PTX_OP_selp:
        *out = source[source[2] ? 0 : 1];
        return true;
    default:
        return false;
    }
}
