/* ptx_compare.c - PTX that compares numbers or picks one of them, in the words of machine code: see ptx_operands.h.
 * Pure.
 */
#include "translate/ptx_numbers.h"

enum { COMBINED_BY_OR = 1 << 10, COMBINED_BY_XOR = 2 << 10 };

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
    return wsdbg_ptx_is_half(from->type) ||
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
    wsdbg_ptx_narrow_immediates(t);
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
                       (wsdbg_ptx_is_word(t->from->type) || compares_halves(t->from, t->out->mode));
    t->out->is_signed = wsdbg_ptx_is_signed(t->from->type) && !is_unsigned;
    t->out->words[1] = combination(t);
    add_compared(t);
    if (wsdbg_ptx_is_long(t->from->type) && comparison(t->from->compare, &t->out->mode, &is_unsigned))
        wsdbg_ptx_be_long(t, false);
}

static void translate_pick(const struct wsdbg_ptx_translation *t, enum wsdbg_operation operation, unsigned count)
{
    wsdbg_ptx_become(t, operation);
    t->out->is_whole = wsdbg_ptx_keeps_low(t->from->type);
    wsdbg_ptx_add_sources(t, count);
    if (wsdbg_ptx_is_long(t->from->type))
        wsdbg_ptx_be_long(t, false);
}

/* selp takes its number as it is, whatever its type. */
static void translate_selection(const struct wsdbg_ptx_translation *t)
{
    const uint8_t type = t->from->type;
    translate_pick(t, WSDBG_OP_SEL, 3);
    if (wsdbg_ptx_is_half(type) || type == WSDBG_PTX_S16 || type == WSDBG_PTX_F32)
        t->out->is_whole = true;
    for (unsigned i = 0; i < t->out->source_count; i++)
        t->out->is_whole &= t->out->sources[i].kind != WSDBG_OPERAND_NONE;
    wsdbg_ptx_narrow_immediates(t);
}

/* Of 64 bits the low half alone does not say which is less. */
static void translate_extremum(const struct wsdbg_ptx_translation *t, bool is_least)
{
    translate_pick(t, WSDBG_OP_IMNMX, 2);
    t->out->is_whole &= wsdbg_ptx_is_word(t->from->type) && !(t->from->flags & WSDBG_PTX_RELU);
    t->out->is_signed = wsdbg_ptx_is_signed(t->from->type);
    wsdbg_ptx_add(t, wsdbg_ptx_always());
    t->out->sources[t->out->source_count - 1].is_negated = !is_least;
}

bool wsdbg_ptx_translate_comparison(const struct wsdbg_ptx_translation *t)
{
    switch (t->from->operation) {
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
    default:
        return false;
    }
}
