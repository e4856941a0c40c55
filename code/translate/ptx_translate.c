/* ptx_translate.c - see ptx_translate.h.  Pure: reads one instruction, writes its counterpart.
 *
 * An instruction on numbers of 64 bits is marked is_long (sass/thread_long.h).  What does not read that mark follows
 * the low halves alone: addresses in shared memory and what barriers count fit there.
 */
#include "translate/ptx_translate.h"

#include "translate/ptx_operands.h"

enum {
    COMBINED_BY_OR = 1 << 10,
    COMBINED_BY_XOR = 2 << 10,
    TABLE_AND = 0xc0,
    TABLE_OR = 0xfc,
    TABLE_XOR = 0x3c,
    TABLE_A = 0xf0,
    TABLE_NOT_A = 0x0f,
    LOW_BITS = 32,
    SIGN_OF_BYTE = 0x8880, /* selector of a permutation: the low byte, and its sign in all bytes above */
    SIGN_OF_HALF = 0x9910
};

/* ---- arithmetic ---- */

static bool is_signed(uint8_t type)
{
    return type >= WSDBG_PTX_S8 && type <= WSDBG_PTX_S64;
}

static bool is_whole_number(uint8_t type)
{
    return type >= WSDBG_PTX_B8 && type <= WSDBG_PTX_S64 && type != WSDBG_PTX_B128;
}

static bool is_word(uint8_t type)
{
    return type == WSDBG_PTX_B32 || type == WSDBG_PTX_U32 || type == WSDBG_PTX_S32;
}

/* Of 64 bits the low half is what the operation makes of low halves. */
static bool keeps_low(uint8_t type)
{
    return is_word(type) || type == WSDBG_PTX_B64 || type == WSDBG_PTX_U64 || type == WSDBG_PTX_S64;
}

static bool has_long(uint8_t type)
{
    return type == WSDBG_PTX_B64 || type == WSDBG_PTX_U64 || type == WSDBG_PTX_S64;
}

/* Its numbers have 64 bits, of which its sources are all there. */
static void be_long(const struct wsdbg_ptx_translation *t, bool from_words)
{
    t->out->is_long = true;
    t->out->from_words = from_words;
    for (unsigned i = 0; i < t->out->source_count; i++)
        t->out->is_long &= t->out->sources[i].kind != WSDBG_OPERAND_NONE;
}

static bool is_half(uint8_t type)
{
    return type == WSDBG_PTX_B16 || type == WSDBG_PTX_U16;
}

/* A register of 16 bits holds a number below 2^16: so does an immediate where one may stand. */
static void narrow_immediates(const struct wsdbg_ptx_translation *t)
{
    const int64_t mask = 0xffff;
    const bool is_narrow = is_half(t->from->type) || t->from->type == WSDBG_PTX_S16;
    for (unsigned i = 0; i < t->out->source_count && is_narrow; i++)
        if (t->out->sources[i].kind == WSDBG_OPERAND_IMMEDIATE)
            t->out->sources[i].value &= mask;
}

/* thread_result.c cuts the result. */
static void cut_to_half(const struct wsdbg_ptx_translation *t)
{
    if (!is_half(t->from->type) && t->from->type != WSDBG_PTX_S16)
        return;
    t->out->width_bytes = sizeof(uint16_t);
    narrow_immediates(t);
}

static void translate_move(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_operand from = wsdbg_ptx_plain(t, wsdbg_ptx_source(t, 0));
    wsdbg_ptx_become(t, from.kind == WSDBG_OPERAND_SPECIAL ? WSDBG_OP_S2R : WSDBG_OP_MOV);
    t->out->is_whole = (is_whole_number(t->from->type) || t->from->type == WSDBG_PTX_F32) &&
                       t->from->operands[0].kind == WSDBG_PTX_OPERAND_REGISTER;
    wsdbg_ptx_add(t, from);
    narrow_immediates(t);
    const struct wsdbg_ptx_operand *to = &t->from->operands[0];
    if (has_long(t->from->type) && from.kind != WSDBG_OPERAND_SPECIAL &&
        (to->kind != WSDBG_PTX_OPERAND_VECTOR || to->count == 2))
        be_long(t, false);
}

/* mov.pred of a predicate or a number, which is what a table of it alone makes. */
static void translate_predicate(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_ptx_operand *from = wsdbg_ptx_source(t, 0);
    struct wsdbg_operand source = wsdbg_ptx_plain(t, from);
    if (from->kind == WSDBG_PTX_OPERAND_IMMEDIATE) {
        source = wsdbg_ptx_always();
        source.is_negated = !from->value;
    }
    wsdbg_ptx_become(t, WSDBG_OP_PLOP3);
    t->out->table = TABLE_A;
    wsdbg_ptx_add(t, source);
    wsdbg_ptx_add(t, wsdbg_ptx_always());
    wsdbg_ptx_add(t, wsdbg_ptx_always());
}

/* mov.b64 of two words. */
static void translate_packing(const struct wsdbg_ptx_translation *t, const struct wsdbg_ptx_operand *words)
{
    wsdbg_ptx_become(t, WSDBG_OP_MOV);
    for (unsigned i = 0; i < 2; i++)
        wsdbg_ptx_add(t, wsdbg_ptx_plain(t, &t->program->vectors[words->number + i]));
    be_long(t, true);
    t->out->is_whole = false;
}

static bool packs_words(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_ptx_operand *from = wsdbg_ptx_source(t, 0);
    return has_long(t->from->type) && from->kind == WSDBG_PTX_OPERAND_VECTOR && from->count == 2;
}

static void translate_sum(const struct wsdbg_ptx_translation *t, bool subtracts)
{
    wsdbg_ptx_become(t, WSDBG_OP_IADD3);
    t->out->is_whole = keeps_low(t->from->type) && !(t->from->flags & (WSDBG_PTX_SAT | WSDBG_PTX_CARRY_OUT));
    wsdbg_ptx_add_sources(t, 2);
    wsdbg_ptx_add(t, wsdbg_ptx_zero());
    struct wsdbg_operand *second = &t->out->sources[1];
    if (!(t->from->flags & WSDBG_PTX_SAT))
        cut_to_half(t);
    if (has_long(t->from->type) && !(t->from->flags & (WSDBG_PTX_SAT | WSDBG_PTX_CARRY_OUT)))
        be_long(t, false);
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
    t->out->is_whole = keeps_low(t->from->type);
    wsdbg_ptx_add_source(t, 0);
    t->out->sources[0].is_negated = !t->out->sources[0].is_negated;
    wsdbg_ptx_add(t, wsdbg_ptx_zero());
    wsdbg_ptx_add(t, wsdbg_ptx_zero());
    if (has_long(t->from->type))
        be_long(t, false);
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
    t->out->is_signed = is_signed(t->from->type);
    /* The high half of IMAD is that of a sum with 64 bits, that of mad.hi has a word added to it. */
    t->out->is_whole = (part == WSDBG_PTX_LOW && keeps_low(t->from->type)) ||
                       (part == WSDBG_PTX_WIDE && is_word(t->from->type)) ||
                       (part == WSDBG_PTX_HIGH && is_word(t->from->type) && !adds) ||
                       (part == WSDBG_PTX_WIDE && is_half(t->from->type) && !adds);
    wsdbg_ptx_add_sources(t, adds ? 3 : 2);
    narrow_immediates(t);
    if (adds && part == WSDBG_PTX_WIDE && is_word(t->from->type) && t->out->sources[2].kind == WSDBG_OPERAND_IMMEDIATE)
        t->out->sources[2].value = wsdbg_ptx_source(t, 2)->value; /* it has 64 bits */
    if (!adds)
        wsdbg_ptx_add(t, wsdbg_ptx_zero());
    if (part == WSDBG_PTX_LOW)
        cut_to_half(t);
    if ((has_long(t->from->type) && (part == WSDBG_PTX_LOW || (part == WSDBG_PTX_HIGH && !adds))) ||
        (is_word(t->from->type) && part == WSDBG_PTX_WIDE))
        be_long(t, part == WSDBG_PTX_WIDE);
}

/* Of whole numbers; what follows the ways of threads reads it (sass/thread_step.h). */
static void translate_division(const struct wsdbg_ptx_translation *t, bool keeps_rest)
{
    wsdbg_ptx_become(t, WSDBG_OP_MUFU);
    t->out->is_whole = is_word(t->from->type);
    t->out->is_signed = is_signed(t->from->type);
    t->out->mode = keeps_rest;
    wsdbg_ptx_add_sources(t, 2);
    if (has_long(t->from->type))
        be_long(t, false);
}

/* SHF shifts the pair {third, first}: to the left what is first, to the right what is third. */
static void translate_shift(const struct wsdbg_ptx_translation *t, bool right)
{
    const uint8_t type = t->from->type;
    wsdbg_ptx_become(t, WSDBG_OP_SHF);
    t->out->is_whole = right ? is_word(type) || is_half(type) : keeps_low(type);
    t->out->is_right_shift = t->out->is_high = right;
    t->out->is_signed = is_signed(type);
    wsdbg_ptx_add(t, right ? wsdbg_ptx_zero() : wsdbg_ptx_plain(t, wsdbg_ptx_source(t, 0)));
    wsdbg_ptx_add_source(t, 1);
    wsdbg_ptx_add(t, right ? wsdbg_ptx_plain(t, wsdbg_ptx_source(t, 0)) : wsdbg_ptx_zero());
    if (!right)
        cut_to_half(t);
    if (has_long(type))
        be_long(t, false);
}

static void translate_logic(const struct wsdbg_ptx_translation *t, uint8_t table, unsigned count)
{
    const bool is_predicate = t->from->type == WSDBG_PTX_PRED;
    wsdbg_ptx_become(t, is_predicate ? WSDBG_OP_PLOP3 : WSDBG_OP_LOP3);
    t->out->is_whole = is_predicate || keeps_low(t->from->type) || (is_half(t->from->type) && table != TABLE_NOT_A);
    t->out->table = table;
    wsdbg_ptx_add_sources(t, count);
    cut_to_half(t);
    for (unsigned i = count; i < 3; i++)
        wsdbg_ptx_add(t, is_predicate ? wsdbg_ptx_always() : wsdbg_ptx_zero());
    if (has_long(t->from->type))
        be_long(t, false);
}

static void translate_table(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_ptx_operand *table = wsdbg_ptx_source(t, 3);
    wsdbg_ptx_become(t, WSDBG_OP_LOP3);
    t->out->is_whole = table->kind == WSDBG_PTX_OPERAND_IMMEDIATE && !(t->from->flags & WSDBG_PTX_WITH_PREDICATE);
    t->out->table = (uint8_t)table->value;
    wsdbg_ptx_add_sources(t, 3);
}

static bool comparison(uint8_t compare, uint8_t *mode, bool *is_unsigned)
{
    static const struct {
        uint8_t mode;
        bool is_unsigned;
    } modes[] = {
        [WSDBG_PTX_EQ] = {WSDBG_COMPARE_EQ, false}, [WSDBG_PTX_NE] = {WSDBG_COMPARE_NE, false},
        [WSDBG_PTX_LT] = {WSDBG_COMPARE_LT, false}, [WSDBG_PTX_LE] = {WSDBG_COMPARE_LE, false},
        [WSDBG_PTX_GT] = {WSDBG_COMPARE_GT, false}, [WSDBG_PTX_GE] = {WSDBG_COMPARE_GE, false},
        [WSDBG_PTX_LO] = {WSDBG_COMPARE_LT, true},  [WSDBG_PTX_LS] = {WSDBG_COMPARE_LE, true},
        [WSDBG_PTX_HI] = {WSDBG_COMPARE_GT, true},  [WSDBG_PTX_HS] = {WSDBG_COMPARE_GE, true},
    };
    if (compare >= sizeof modes / sizeof *modes)
        return false;
    *mode = modes[compare].mode;
    *is_unsigned = modes[compare].is_unsigned;
    return true;
}

/* The mode of FSETP for a comparison of floating-point numbers; 0 = none. */
static uint8_t float_comparison(uint8_t compare)
{
    enum {
        LESS = WSDBG_FLOATS_LESS,
        EQUAL = WSDBG_FLOATS_EQUAL,
        GREATER = WSDBG_FLOATS_GREATER,
        UNORDERED = WSDBG_FLOATS_UNORDERED
    };
    static const uint8_t modes[] = {
        [WSDBG_PTX_EQ] = EQUAL,
        [WSDBG_PTX_NE] = LESS | GREATER,
        [WSDBG_PTX_LT] = LESS,
        [WSDBG_PTX_LE] = LESS | EQUAL,
        [WSDBG_PTX_GT] = GREATER,
        [WSDBG_PTX_GE] = GREATER | EQUAL,
        [WSDBG_PTX_EQU] = EQUAL | UNORDERED,
        [WSDBG_PTX_NEU] = LESS | GREATER | UNORDERED,
        [WSDBG_PTX_LTU] = LESS | UNORDERED,
        [WSDBG_PTX_LEU] = LESS | EQUAL | UNORDERED,
        [WSDBG_PTX_GTU] = GREATER | UNORDERED,
        [WSDBG_PTX_GEU] = GREATER | EQUAL | UNORDERED,
        [WSDBG_PTX_NUM] = LESS | EQUAL | GREATER,
        [WSDBG_PTX_NAN] = UNORDERED,
    };
    return compare < sizeof modes ? modes[compare] : 0;
}

/* Registers of 16 bits hold numbers below 2^16: these can be compared, but their signs cannot. */
static bool compares_halves(const struct wsdbg_ptx_instruction *from, uint8_t mode)
{
    return is_half(from->type) ||
           (from->type == WSDBG_PTX_S16 && (mode == WSDBG_COMPARE_EQ || mode == WSDBG_COMPARE_NE));
}

/* How a comparison is combined with its third source, as ISETP and FSETP have it in their words. */
static uint64_t combination(const struct wsdbg_ptx_translation *t)
{
    return t->from->combine == WSDBG_PTX_OR ? COMBINED_BY_OR : t->from->combine == WSDBG_PTX_XOR ? COMBINED_BY_XOR : 0;
}

static void add_compared(const struct wsdbg_ptx_translation *t)
{
    wsdbg_ptx_add_sources(t, 2);
    narrow_immediates(t);
    wsdbg_ptx_add(t, t->from->combine ? wsdbg_ptx_plain(t, wsdbg_ptx_source(t, 2)) : wsdbg_ptx_always());
}

static void translate_float_comparison(const struct wsdbg_ptx_translation *t)
{
    wsdbg_ptx_become(t, WSDBG_OP_FSETP);
    t->out->mode = float_comparison(t->from->compare);
    t->out->is_whole = t->out->mode != 0;
    t->out->words[1] = combination(t) | (t->from->flags & WSDBG_PTX_FTZ ? WSDBG_FLOATS_FLUSHED : 0);
    add_compared(t);
}

static void translate_comparison(const struct wsdbg_ptx_translation *t)
{
    bool is_unsigned = false;
    if (t->from->type == WSDBG_PTX_F32) {
        translate_float_comparison(t);
        return;
    }
    wsdbg_ptx_become(t, WSDBG_OP_ISETP);
    t->out->is_whole = comparison(t->from->compare, &t->out->mode, &is_unsigned) &&
                       (is_word(t->from->type) || compares_halves(t->from, t->out->mode));
    t->out->is_signed = is_signed(t->from->type) && !is_unsigned;
    t->out->words[1] = combination(t);
    add_compared(t);
    if (has_long(t->from->type) && comparison(t->from->compare, &t->out->mode, &is_unsigned))
        be_long(t, false);
}

/* Widening keeps the low half; narrowing an unsigned number is a mask; a permutation repeats the sign of a narrow one.
 */
static void translate_conversion(const struct wsdbg_ptx_translation *t)
{
    const uint8_t to = t->from->type, from = t->from->source_type;
    if (keeps_low(to) && keeps_low(from)) {
        wsdbg_ptx_become(t, WSDBG_OP_MOV);
        t->out->is_whole = !(t->from->flags & WSDBG_PTX_SAT);
        t->out->is_signed = is_signed(from);
        wsdbg_ptx_add_source(t, 0);
        if (has_long(to) && t->out->is_whole)
            be_long(t, !has_long(from));
    } else if (is_whole_number(to) && is_whole_number(from) && !is_signed(from) && !is_signed(to) &&
               !(t->from->flags & WSDBG_PTX_SAT)) {
        const unsigned bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)to),
                       from_bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)from);
        const unsigned bits = 8 * (bytes < from_bytes ? bytes : from_bytes);
        wsdbg_ptx_become(t, WSDBG_OP_LOP3);
        t->out->table = TABLE_AND;
        wsdbg_ptx_add_source(t, 0);
        wsdbg_ptx_add(t, wsdbg_ptx_immediate(bits < LOW_BITS ? (1 << bits) - 1 : -1));
        wsdbg_ptx_add(t, wsdbg_ptx_zero());
        if (has_long(to))
            be_long(t, true);
    } else if (is_word(to) && (from == WSDBG_PTX_S8 || from == WSDBG_PTX_S16) && !(t->from->flags & WSDBG_PTX_SAT)) {
        wsdbg_ptx_become(t, WSDBG_OP_PRMT);
        wsdbg_ptx_add_source(t, 0);
        wsdbg_ptx_add(t, wsdbg_ptx_immediate(from == WSDBG_PTX_S8 ? SIGN_OF_BYTE : SIGN_OF_HALF));
        wsdbg_ptx_add(t, wsdbg_ptx_zero());
    }
}

static void translate_pick(const struct wsdbg_ptx_translation *t, enum wsdbg_operation operation, unsigned count)
{
    wsdbg_ptx_become(t, operation);
    t->out->is_whole = keeps_low(t->from->type);
    wsdbg_ptx_add_sources(t, count);
    if (has_long(t->from->type))
        be_long(t, false);
}

/* A choice takes its number as it is, whatever its type. */
/* A field of bits; what follows the ways of threads reads it (sass/thread_step.h). */
static void translate_field(const struct wsdbg_ptx_translation *t, unsigned count)
{
    wsdbg_ptx_become(t, WSDBG_OP_SGXT);
    t->out->is_whole = is_word(t->from->type);
    t->out->is_signed = is_signed(t->from->type);
    wsdbg_ptx_add_sources(t, count);
}

static void translate_selection(const struct wsdbg_ptx_translation *t)
{
    const uint8_t type = t->from->type;
    translate_pick(t, WSDBG_OP_SEL, 3);
    if (is_half(type) || type == WSDBG_PTX_S16 || type == WSDBG_PTX_F32)
        t->out->is_whole = true;
    for (unsigned i = 0; i < t->out->source_count; i++)
        t->out->is_whole &= t->out->sources[i].kind != WSDBG_OPERAND_NONE;
    narrow_immediates(t);
}

/* Of 64 bits the low half alone does not say which is less. */
static void translate_extremum(const struct wsdbg_ptx_translation *t, bool is_least)
{
    translate_pick(t, WSDBG_OP_IMNMX, 2);
    t->out->is_whole &= is_word(t->from->type) && !(t->from->flags & WSDBG_PTX_RELU);
    t->out->is_signed = is_signed(t->from->type);
    wsdbg_ptx_add(t, wsdbg_ptx_always());
    t->out->sources[t->out->source_count - 1].is_negated = !is_least;
}

static bool translate_arithmetic(const struct wsdbg_ptx_translation *t)
{
    switch (t->from->operation) {
    case WSDBG_PTX_OP_mov:
        if (t->from->type == WSDBG_PTX_PRED)
            translate_predicate(t);
        else if (packs_words(t))
            translate_packing(t, wsdbg_ptx_source(t, 0));
        else
            translate_move(t);
        return true;
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
        translate_logic(t, TABLE_AND, 2);
        return true;
    case WSDBG_PTX_OP_or:
        translate_logic(t, TABLE_OR, 2);
        return true;
    case WSDBG_PTX_OP_xor:
        translate_logic(t, TABLE_XOR, 2);
        return true;
    case WSDBG_PTX_OP_not:
        translate_logic(t, TABLE_NOT_A, 1);
        return true;
    case WSDBG_PTX_OP_lop3:
        translate_table(t);
        return true;
    case WSDBG_PTX_OP_setp:
        translate_comparison(t);
        return true;
    case WSDBG_PTX_OP_selp:
        translate_selection(t);
        return true;
    case WSDBG_PTX_OP_min:
    case WSDBG_PTX_OP_max:
        translate_extremum(t, t->from->operation == WSDBG_PTX_OP_min);
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
    case WSDBG_PTX_OP_cvt:
        translate_conversion(t);
        return true;
    case WSDBG_PTX_OP_cvta: /* windows begin where the low bits of an address are its place in them */
        wsdbg_ptx_become(t, WSDBG_OP_MOV);
        wsdbg_ptx_add_source(t, 0);
        if (t->from->space == WSDBG_PTX_GLOBAL) /* whose addresses are the same */
            be_long(t, false);
        return true;
    case WSDBG_PTX_OP_mapa: /* whose CTA's it is, accesses by cluster addresses leave open; a walk asks (sass/walk.h) */
        wsdbg_ptx_become(t, WSDBG_OP_MOV);
        wsdbg_ptx_add_sources(t, 2);
        t->out->is_whole = t->out->sources[0].kind != WSDBG_OPERAND_NONE;
        return true;
    default:
        return false;
    }
}

/* ---- memory ---- */

/* Without a scope a volatile access has that of the system, but in shared memory. */
static bool is_system(const struct wsdbg_ptx_translation *t)
{
    const bool has_scope = t->from->space == WSDBG_PTX_GLOBAL || t->from->space == WSDBG_PTX_GENERIC;
    return has_scope && t->from->flags & (WSDBG_PTX_SYSTEM | WSDBG_PTX_VOLATILE);
}

static bool is_register_of(const struct wsdbg_ptx_translation *t, const struct wsdbg_ptx_operand *operand, size_t bytes)
{
    return operand->kind == WSDBG_PTX_OPERAND_REGISTER &&
           wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)t->function->register_types[operand->number]) == bytes;
}

/* A parameter is a constant.  An address of one, in a register, is its place among the constants. */
static void translate_parameter(const struct wsdbg_ptx_translation *t, const struct wsdbg_ptx_operand *place)
{
    const bool has_base = place->number != WSDBG_PTX_NONE;
    struct wsdbg_operand base = wsdbg_ptx_zero();
    t->out->operation = WSDBG_OP_LDC;
    t->out->is_signed = is_signed(t->from->type);
    t->out->is_whole = t->out->width_bytes > 0 && (!has_base || wsdbg_ptx_numbered(t, place->number, &base));
    t->out->is_long = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)t->from->type) == sizeof(uint64_t) ||
                      is_register_of(t, &t->from->operands[0], sizeof(uint64_t));
    if (is_register_of(t, &t->from->operands[0], sizeof(uint16_t))) { /* it holds a number below 2^16 */
        t->out->is_whole &= t->from->type != WSDBG_PTX_S8;
        t->out->is_signed = false;
    }
    wsdbg_ptx_add(t, (struct wsdbg_operand){.kind = WSDBG_OPERAND_CONSTANT,
                                            .number = base.number,
                                            .registers = 1,
                                            .value = place->value + (has_base ? 0 : WSDBG_PTX_PARAMETERS)});
}

/* Of a load or store. */
static uint8_t width_of(const struct wsdbg_ptx_translation *t)
{
    return (uint8_t)(wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)t->from->type) *
                     (t->from->vector_length ? t->from->vector_length : 1));
}

/* The load of a parameter is its value; of others only the destination is known. */
static void translate_load(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_ptx_operand *place = wsdbg_ptx_source(t, 0);
    wsdbg_ptx_become(t, WSDBG_OP_LD);
    t->out->width_bytes = width_of(t);
    if (t->from->space == WSDBG_PTX_PARAM || place->space == WSDBG_PTX_PARAM) {
        translate_parameter(t, place);
        return;
    }
    t->out->is_system = is_system(t);
    t->out->is_signed = is_signed(t->from->type);
    if (t->from->space == WSDBG_PTX_LOCAL)
        t->out->operation = WSDBG_OP_LDL;
    else if (t->from->space == WSDBG_PTX_SHARED || t->from->space == WSDBG_PTX_SHARED_CLUSTER)
        t->out->operation = WSDBG_OP_LDS;
    else if (t->from->space == WSDBG_PTX_GLOBAL)
        t->out->operation = WSDBG_OP_LDG;
    else if (t->from->space != WSDBG_PTX_GENERIC)
        t->out->operation = WSDBG_OP_MOV, t->out->is_whole = false; /* of constants: nothing that changes */
    if (t->out->operation != WSDBG_OP_MOV)
        wsdbg_ptx_add(t, wsdbg_ptx_memory(t, place));
}

static enum wsdbg_operation by_space(uint8_t space, enum wsdbg_operation shared, enum wsdbg_operation global,
                                     enum wsdbg_operation generic)
{
    if (space == WSDBG_PTX_SHARED || space == WSDBG_PTX_SHARED_CLUSTER)
        return shared;
    return space == WSDBG_PTX_GLOBAL ? global : generic;
}

/* What is stored: one source, or one for each element of a vector. */
static void translate_stored(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_ptx_operand *value = wsdbg_ptx_source(t, 1);
    t->out->width_bytes = width_of(t);
    if (value->kind != WSDBG_PTX_OPERAND_VECTOR)
        wsdbg_ptx_add_source(t, 1);
    for (unsigned i = 0; value->kind == WSDBG_PTX_OPERAND_VECTOR && i < value->count; i++)
        wsdbg_ptx_add(t, wsdbg_ptx_plain(t, &t->program->vectors[value->number + i]));
}

static bool translate_memory(const struct wsdbg_ptx_translation *t)
{
    const uint8_t space = t->from->space;
    switch (t->from->operation) {
    case WSDBG_PTX_OP_ld:
    case WSDBG_PTX_OP_ldu:
        translate_load(t);
        return true;
    case WSDBG_PTX_OP_st:
        wsdbg_ptx_become(t, space == WSDBG_PTX_LOCAL ? WSDBG_OP_STL
                                                     : by_space(space, WSDBG_OP_STS, WSDBG_OP_STG, WSDBG_OP_ST));
        break;
    case WSDBG_PTX_OP_atom:
        wsdbg_ptx_become(t, by_space(space, WSDBG_OP_ATOMS, WSDBG_OP_ATOMG, WSDBG_OP_ATOM));
        t->out->width_bytes = width_of(t);
        break;
    case WSDBG_PTX_OP_red:
        wsdbg_ptx_become(t, WSDBG_OP_RED);
        break;
    case WSDBG_PTX_OP_cp_async:
        wsdbg_ptx_become(t, WSDBG_OP_LDGSTS);
        return true;
    case WSDBG_PTX_OP_membar:
    case WSDBG_PTX_OP_fence:
        wsdbg_ptx_become(t, WSDBG_OP_MEMBAR);
        return true;
    case WSDBG_PTX_OP_stmatrix:
        wsdbg_ptx_become(t, WSDBG_OP_STSM);
        t->out->is_whole = false;
        return true;
    default:
        return false;
    }
    t->out->is_system = is_system(t);
    wsdbg_ptx_add(t, wsdbg_ptx_memory(t, wsdbg_ptx_source(t, 0)));
    if (t->from->operation == WSDBG_PTX_OP_st)
        translate_stored(t);
    return true;
}

/* ---- control flow ---- */

static void translate_jump(const struct wsdbg_ptx_translation *t, enum wsdbg_operation operation)
{
    t->out->operation = operation;
    t->out->has_target = t->from->target >= t->function->first && t->from->target < t->function->end;
    t->out->target_offset_bytes = ((int64_t)t->from->target - t->index) * 16;
}

static bool translate_flow(const struct wsdbg_ptx_translation *t)
{
    const bool is_own = t->index < t->registers->own_end;
    switch (t->from->operation) {
    case WSDBG_PTX_OP_bra:
        translate_jump(t, WSDBG_OP_BRA);
        return true;
    case WSDBG_PTX_OP_brx:
        t->out->operation = WSDBG_OP_BRX;
        wsdbg_ptx_add_source(t, 0);
        return true;
    case WSDBG_PTX_OP_call:
        if (t->from->target == WSDBG_PTX_NONE) /* it has no code: it prints, or says that something failed */
            t->out->operation = WSDBG_OP_NOP;
        else
            translate_jump(t, WSDBG_OP_CALL);
        return true;
    case WSDBG_PTX_OP_ret:
        t->out->operation = is_own ? WSDBG_OP_EXIT : WSDBG_OP_RET;
        return true;
    case WSDBG_PTX_OP_exit:
        t->out->operation = WSDBG_OP_EXIT;
        return true;
    case WSDBG_PTX_OP_trap:
        t->out->operation = WSDBG_OP_KILL;
        return true;
    default:
        return false;
    }
}

static void set_guard(const struct wsdbg_ptx_translation *t)
{
    struct wsdbg_operand guard = wsdbg_ptx_always();
    if (t->from->guard != WSDBG_PTX_NONE && !wsdbg_ptx_numbered(t, t->from->guard, &guard))
        guard = (struct wsdbg_operand){.kind = WSDBG_OPERAND_UNIFORM_PREDICATE, .number = WSDBG_PTX_UNKNOWN_PREDICATE};
    t->out->guard = guard.number;
    t->out->guard_is_uniform = guard.kind == WSDBG_OPERAND_UNIFORM_PREDICATE;
    t->out->guard_is_negated = t->from->guard != WSDBG_PTX_NONE && t->from->guard_negated;
}

void wsdbg_ptx_translate(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function,
                         const struct wsdbg_ptx_registers *registers, uint32_t shared_first, uint32_t index,
                         struct wsdbg_instruction *out)
{
    bool writes_more = false;
    struct wsdbg_ptx_translation t = {.program = program,
                                      .function = function,
                                      .registers = registers,
                                      .from = &program->instructions[index],
                                      .shared_first = shared_first,
                                      .index = index,
                                      .writes_more = &writes_more,
                                      .out = out};
    *out = (struct wsdbg_instruction){.operation = WSDBG_OP_FMUL};
    set_guard(&t);
    wsdbg_ptx_add_destinations(&t);
    if (!translate_flow(&t) && !translate_arithmetic(&t) && !translate_memory(&t) && !wsdbg_ptx_translate_lanes(&t))
        wsdbg_ptx_translate_barrier(&t);
    if (writes_more)
        out->operation = WSDBG_OP_OTHER; /* it may write anything */
}
