/* ptx_move.c - PTX that moves or converts a number, in the words of machine code: see ptx_operands.h.  Pure. */
#include "translate/ptx_numbers.h"

enum {
    LOW_BITS = 32,
    LOCAL_WINDOW_HIGH = 0x7fff0000, /* no memory of a GPU is there */
    SIGN_OF_BYTE = 0x8880,          /* selector of a permutation: the low byte, and its sign in all bytes above */
    SIGN_OF_HALF = 0x9910
};

static void translate_move(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_operand from = wsdbg_ptx_plain(t, wsdbg_ptx_source(t, 0));
    wsdbg_ptx_become(t, from.kind == WSDBG_OPERAND_SPECIAL ? WSDBG_OP_S2R : WSDBG_OP_MOV);
    t->out->is_whole = (wsdbg_ptx_is_whole_number(t->from->type) || t->from->type == WSDBG_PTX_F32) &&
                       t->from->operands[0].kind == WSDBG_PTX_OPERAND_REGISTER;
    wsdbg_ptx_add(t, from);
    wsdbg_ptx_narrow_immediates(t);
    const struct wsdbg_ptx_operand *to = &t->from->operands[0];
    if (wsdbg_ptx_is_long(t->from->type) && from.kind != WSDBG_OPERAND_SPECIAL &&
        (to->kind != WSDBG_PTX_OPERAND_VECTOR || to->count == 2))
        wsdbg_ptx_be_long(t, false);
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
    t->out->table = WSDBG_PTX_TABLE_A;
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
    wsdbg_ptx_be_long(t, true);
    t->out->is_whole = false;
}

static bool packs_words(const struct wsdbg_ptx_translation *t)
{
    const struct wsdbg_ptx_operand *from = wsdbg_ptx_source(t, 0);
    return wsdbg_ptx_is_long(t->from->type) && from->kind == WSDBG_PTX_OPERAND_VECTOR && from->count == 2;
}

/* Widening keeps the low half; narrowing an unsigned number is a mask; a permutation repeats the sign of a narrow one.
 */
static void translate_conversion(const struct wsdbg_ptx_translation *t)
{
    const uint8_t to = t->from->type, from = t->from->source_type;
    if (wsdbg_ptx_keeps_low(to) && wsdbg_ptx_keeps_low(from)) {
        wsdbg_ptx_become(t, WSDBG_OP_MOV);
        t->out->is_whole = !(t->from->flags & WSDBG_PTX_SAT);
        t->out->is_signed = wsdbg_ptx_is_signed(from);
        wsdbg_ptx_add_source(t, 0);
        if (wsdbg_ptx_is_long(to) && t->out->is_whole)
            wsdbg_ptx_be_long(t, !wsdbg_ptx_is_long(from));
    } else if (wsdbg_ptx_is_whole_number(to) && wsdbg_ptx_is_whole_number(from) && !wsdbg_ptx_is_signed(from) &&
               !wsdbg_ptx_is_signed(to) && !(t->from->flags & WSDBG_PTX_SAT)) {
        const unsigned bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)to),
                       from_bytes = wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)from);
        const unsigned bits = 8 * (bytes < from_bytes ? bytes : from_bytes);
        wsdbg_ptx_become(t, WSDBG_OP_LOP3);
        t->out->table = WSDBG_PTX_TABLE_AND;
        wsdbg_ptx_add_source(t, 0);
        wsdbg_ptx_add(t, wsdbg_ptx_immediate(bits < LOW_BITS ? (1 << bits) - 1 : -1));
        wsdbg_ptx_add(t, wsdbg_ptx_zero());
        if (wsdbg_ptx_is_long(to))
            wsdbg_ptx_be_long(t, true);
    } else if (wsdbg_ptx_is_word(to) && (from == WSDBG_PTX_S8 || from == WSDBG_PTX_S16) &&
               !(t->from->flags & WSDBG_PTX_SAT)) {
        wsdbg_ptx_become(t, WSDBG_OP_PRMT);
        wsdbg_ptx_add_source(t, 0);
        wsdbg_ptx_add(t, wsdbg_ptx_immediate(from == WSDBG_PTX_S8 ? SIGN_OF_BYTE : SIGN_OF_HALF));
        wsdbg_ptx_add(t, wsdbg_ptx_zero());
    }
}

/* Nothing in shared memory has such an address.  The window itself may lie elsewhere: only its thread asks for it. */
static void translate_to_local_window(const struct wsdbg_ptx_translation *t)
{
    wsdbg_ptx_add(t, wsdbg_ptx_immediate(LOCAL_WINDOW_HIGH));
    wsdbg_ptx_be_long(t, true);
    t->out->is_whole = false;
}

bool wsdbg_ptx_translate_move(const struct wsdbg_ptx_translation *t)
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
    case WSDBG_PTX_OP_cvt:
        translate_conversion(t);
        return true;
    case WSDBG_PTX_OP_cvta: /* windows begin where the low bits of an address are its place in them */
        wsdbg_ptx_become(t, WSDBG_OP_MOV);
        wsdbg_ptx_add_source(t, 0);
        if (t->from->space == WSDBG_PTX_LOCAL && !(t->from->flags & WSDBG_PTX_TO_SHARED))
            translate_to_local_window(t);
        if (t->from->space == WSDBG_PTX_GLOBAL) /* whose addresses are the same */
            wsdbg_ptx_be_long(t, false);
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
