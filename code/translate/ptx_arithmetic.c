/* ptx_arithmetic.c - PTX arithmetic, logic, shifts and fields of bits in the words of machine code: see
 * ptx_operands.h.  Pure.
 */
#include "translate/ptx_numbers.h"

/* thread_result.c cuts the result. */
static void cut_to_half(const struct wsdbg_ptx_translation *t)
{
    if (!wsdbg_ptx_is_half(t->from->type) && t->from->type != WSDBG_PTX_S16)
        return;
    t->out->width_bytes = sizeof(uint16_t);
    wsdbg_ptx_narrow_immediates(t);
}

static void translate_sum(const struct wsdbg_ptx_translation *t, bool subtracts)
{
    wsdbg_ptx_become(t, WSDBG_OP_IADD3);
    t->out->is_whole = wsdbg_ptx_keeps_low(t->from->type) && !(t->from->flags & (WSDBG_PTX_SAT | WSDBG_PTX_CARRY_OUT));
    wsdbg_ptx_add_sources(t, 2);
    wsdbg_ptx_add(t, wsdbg_ptx_zero());
    struct wsdbg_operand *second = &t->out->sources[1];
    if (!(t->from->flags & WSDBG_PTX_SAT))
        cut_to_half(t);
    if (wsdbg_ptx_is_long(t->from->type) && !(t->from->flags & (WSDBG_PTX_SAT | WSDBG_PTX_CARRY_OUT)))
        wsdbg_ptx_be_long(t, false);
    if (subtracts && second->kind == WSDBG_OPERAND_IMMEDIATE)
        second->value =
            t->out->is_long ? (int64_t)(0 - (uint64_t)second->value) : (int32_t)(0 - (uint32_t)second->value);
    else if (subtracts)
        second->is_negated = !second->is_negated;
}

/* 0 - a. */
static void translate_negation(const struct wsdbg_ptx_translation *t)
{
    wsdbg_ptx_become(t, WSDBG_OP_IADD3);
    t->out->is_whole = wsdbg_ptx_keeps_low(t->from->type);
    wsdbg_ptx_add_source(t, 0);
    t->out->sources[0].is_negated = !t->out->sources[0].is_negated;
    wsdbg_ptx_add(t, wsdbg_ptx_zero());
    wsdbg_ptx_add(t, wsdbg_ptx_zero());
    if (wsdbg_ptx_is_long(t->from->type))
        wsdbg_ptx_be_long(t, false);
}

/* A product of floating-point numbers that is rounded to the nearest. */
static void translate_float_product(const struct wsdbg_ptx_translation *t)
{
    wsdbg_ptx_become(t, WSDBG_OP_FMUL);
    t->out->is_whole = !(t->from->flags & (WSDBG_PTX_FTZ | WSDBG_PTX_SAT)) &&
                       (t->from->rounding == WSDBG_PTX_ROUND_DEFAULT || t->from->rounding == WSDBG_PTX_RN);
    wsdbg_ptx_add_sources(t, 2);
}

static void translate_product(const struct wsdbg_ptx_translation *t, bool adds)
{
    const uint8_t part = t->from->part;
    if (t->from->type == WSDBG_PTX_F32 && !adds) {
        translate_float_product(t);
        return;
    }
    wsdbg_ptx_become(t, WSDBG_OP_IMAD);
    t->out->is_high = part == WSDBG_PTX_HIGH;
    t->out->is_signed = wsdbg_ptx_is_signed(t->from->type);
    /* The high half of IMAD is that of a sum with 64 bits, that of mad.hi has a word added to it. */
    t->out->is_whole = (part == WSDBG_PTX_LOW && wsdbg_ptx_keeps_low(t->from->type)) ||
                       (part == WSDBG_PTX_WIDE && wsdbg_ptx_is_word(t->from->type)) ||
                       (part == WSDBG_PTX_HIGH && wsdbg_ptx_is_word(t->from->type) && !adds) ||
                       (part == WSDBG_PTX_WIDE && wsdbg_ptx_is_half(t->from->type) && !adds);
    wsdbg_ptx_add_sources(t, adds ? 3 : 2);
    wsdbg_ptx_narrow_immediates(t);
    if (adds && part == WSDBG_PTX_WIDE && wsdbg_ptx_is_word(t->from->type) &&
        t->out->sources[2].kind == WSDBG_OPERAND_IMMEDIATE)
        t->out->sources[2].value = wsdbg_ptx_source(t, 2)->value; /* it has 64 bits */
    if (!adds)
        wsdbg_ptx_add(t, wsdbg_ptx_zero());
    if (part == WSDBG_PTX_LOW)
        cut_to_half(t);
    if ((wsdbg_ptx_is_long(t->from->type) && (part == WSDBG_PTX_LOW || (part == WSDBG_PTX_HIGH && !adds))) ||
        (wsdbg_ptx_is_word(t->from->type) && part == WSDBG_PTX_WIDE))
        wsdbg_ptx_be_long(t, part == WSDBG_PTX_WIDE);
}

/* A number without a sign by a power of two is shifted or masked, as machine code does it: *shift is its logarithm. */
static bool divides_by_power_of_2(const struct wsdbg_ptx_translation *t, unsigned *shift)
{
    const struct wsdbg_ptx_operand *by = wsdbg_ptx_source(t, 1);
    const uint32_t divisor = (uint32_t)by->value;
    *shift = divisor ? (unsigned)__builtin_ctz(divisor) : 0;
    return by->kind == WSDBG_PTX_OPERAND_IMMEDIATE && wsdbg_ptx_is_word(t->from->type) &&
           !wsdbg_ptx_is_signed(t->from->type) && divisor && !(divisor & (divisor - 1));
}

static void translate_power_of_2(const struct wsdbg_ptx_translation *t, bool keeps_rest, unsigned shift)
{
    wsdbg_ptx_become(t, keeps_rest ? WSDBG_OP_LOP3 : WSDBG_OP_SHF);
    wsdbg_ptx_add(t, keeps_rest ? wsdbg_ptx_plain(t, wsdbg_ptx_source(t, 0)) : wsdbg_ptx_zero());
    wsdbg_ptx_add(t, wsdbg_ptx_immediate(keeps_rest ? (int32_t)(((uint32_t)1 << shift) - 1) : (int32_t)shift));
    wsdbg_ptx_add(t, keeps_rest ? wsdbg_ptx_zero() : wsdbg_ptx_plain(t, wsdbg_ptx_source(t, 0)));
    if (keeps_rest)
        t->out->table = WSDBG_PTX_TABLE_AND;
    else
        t->out->is_right_shift = t->out->is_high = true;
}

/* div and rem of whole numbers.  MUFU stands for both; only a walk reads its sources (sass/thread_result.c). */
static void translate_division(const struct wsdbg_ptx_translation *t, bool keeps_rest)
{
    unsigned shift;
    if (divides_by_power_of_2(t, &shift)) {
        translate_power_of_2(t, keeps_rest, shift);
        return;
    }
    wsdbg_ptx_become(t, WSDBG_OP_MUFU);
    t->out->is_whole = wsdbg_ptx_is_word(t->from->type);
    t->out->is_signed = wsdbg_ptx_is_signed(t->from->type);
    t->out->mode = keeps_rest;
    wsdbg_ptx_add_sources(t, 2);
    if (wsdbg_ptx_is_long(t->from->type))
        wsdbg_ptx_be_long(t, false);
}

/* SHF shifts the pair {third, first}: to the left what is first, to the right what is third. */
static void translate_shift(const struct wsdbg_ptx_translation *t, bool right)
{
    const uint8_t type = t->from->type;
    wsdbg_ptx_become(t, WSDBG_OP_SHF);
    t->out->is_whole = right ? wsdbg_ptx_is_word(type) || wsdbg_ptx_is_half(type) : wsdbg_ptx_keeps_low(type);
    t->out->is_right_shift = t->out->is_high = right;
    t->out->is_signed = wsdbg_ptx_is_signed(type);
    wsdbg_ptx_add(t, right ? wsdbg_ptx_zero() : wsdbg_ptx_plain(t, wsdbg_ptx_source(t, 0)));
    wsdbg_ptx_add_source(t, 1);
    wsdbg_ptx_add(t, right ? wsdbg_ptx_plain(t, wsdbg_ptx_source(t, 0)) : wsdbg_ptx_zero());
    if (!right)
        cut_to_half(t);
    if (wsdbg_ptx_is_long(type))
        wsdbg_ptx_be_long(t, false);
}

static void translate_logic(const struct wsdbg_ptx_translation *t, uint8_t table, unsigned count)
{
    const bool is_predicate = t->from->type == WSDBG_PTX_PRED;
    wsdbg_ptx_become(t, is_predicate ? WSDBG_OP_PLOP3 : WSDBG_OP_LOP3);
    t->out->is_whole = is_predicate || wsdbg_ptx_keeps_low(t->from->type) ||
                       (wsdbg_ptx_is_half(t->from->type) && table != WSDBG_PTX_TABLE_NOT_A);
    t->out->table = table;
    wsdbg_ptx_add_sources(t, count);
    cut_to_half(t);
    for (unsigned i = count; i < 3; i++)
        wsdbg_ptx_add(t, is_predicate ? wsdbg_ptx_always() : wsdbg_ptx_zero());
    if (wsdbg_ptx_is_long(t->from->type))
        wsdbg_ptx_be_long(t, false);
}

static void translate_table(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_ptx_operand *table = wsdbg_ptx_source(t, 3);
    wsdbg_ptx_become(t, WSDBG_OP_LOP3);
    t->out->is_whole = table->kind == WSDBG_PTX_OPERAND_IMMEDIATE && !(t->from->flags & WSDBG_PTX_WITH_PREDICATE);
    t->out->table = (uint8_t)table->value;
    wsdbg_ptx_add_sources(t, 3);
}

/* bfe and bfi.  SGXT stands for both; only a walk reads its sources (sass/thread_result.c). */
static void translate_field(const struct wsdbg_ptx_translation *t, unsigned count)
{
    wsdbg_ptx_become(t, WSDBG_OP_SGXT);
    t->out->is_whole = wsdbg_ptx_is_word(t->from->type);
    t->out->is_signed = wsdbg_ptx_is_signed(t->from->type);
    wsdbg_ptx_add_sources(t, count);
}

bool wsdbg_ptx_translate_arithmetic(const struct wsdbg_ptx_translation *t)
{
    switch (t->from->operation) {
    case WSDBG_PTX_OP_add:
    case WSDBG_PTX_OP_sub:
        translate_sum(t, t->from->operation == WSDBG_PTX_OP_sub);
        return true;
    case WSDBG_PTX_OP_neg:
        translate_negation(t);
        return true;
    case WSDBG_PTX_OP_mul:
    case WSDBG_PTX_OP_mad:
        translate_product(t, t->from->operation == WSDBG_PTX_OP_mad);
        return true;
    case WSDBG_PTX_OP_div:
    case WSDBG_PTX_OP_rem:
        translate_division(t, t->from->operation == WSDBG_PTX_OP_rem);
        return true;
    case WSDBG_PTX_OP_shl:
    case WSDBG_PTX_OP_shr:
        translate_shift(t, t->from->operation == WSDBG_PTX_OP_shr);
        return true;
    case WSDBG_PTX_OP_and:
        translate_logic(t, WSDBG_PTX_TABLE_AND, 2);
        return true;
    case WSDBG_PTX_OP_or:
        translate_logic(t, WSDBG_PTX_TABLE_OR, 2);
        return true;
    case WSDBG_PTX_OP_xor:
        translate_logic(t, WSDBG_PTX_TABLE_XOR, 2);
        return true;
    case WSDBG_PTX_OP_not:
        translate_logic(t, WSDBG_PTX_TABLE_NOT_A, 1);
        return true;
    case WSDBG_PTX_OP_lop3:
        translate_table(t);
        return true;
    case WSDBG_PTX_OP_bfe:
        translate_field(t, 3);
        return true;
    case WSDBG_PTX_OP_bfi:
        translate_field(t, 4);
        return true;
    case WSDBG_PTX_OP_prmt: /* the selector comes before the other source */
        wsdbg_ptx_become(t, WSDBG_OP_PRMT);
        t->out->is_whole = t->from->variant == WSDBG_PTX_NO_VARIANT;
        wsdbg_ptx_add_source(t, 0);
        wsdbg_ptx_add_source(t, 2);
        wsdbg_ptx_add_source(t, 1);
        return true;
    default:
        return false;
    }
}
