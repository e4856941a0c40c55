/* decode_name.c - the name of an instruction with its modifiers, as nvdisasm shows them: from a table, in its order.
 *
 * Reads a decoded instruction, writes its text.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sass/decode_form.h"
#include "sass/decode_words.h"

void wsdbg_append(struct wsdbg_instruction_words *text, const char *format, ...)
{
    const size_t room = WSDBG_INSTRUCTION_TEXT_BYTES - text->used;
    va_list arguments;
    va_start(arguments, format);
    const int count = vsnprintf(text->bytes + text->used, room, format, arguments);
    va_end(arguments);
    if (count > 0)
        text->used += (size_t)count < room ? (size_t)count : room - 1;
}

void wsdbg_append_choice(struct wsdbg_instruction_words *out, const char *texts, uint32_t choice)
{
    while (choice-- && *texts) {
        texts += strcspn(texts, "|");
        texts += *texts == '|';
    }
    wsdbg_append(out, "%.*s", (int)strcspn(texts, "|"), texts);
}

#define SCOPES                                                                                                      \
    "|.STRONG.SM|.STRONG.GPU.PRIVATE|.STRONG.GPU|.MMIO.GPU|.CONSTANT.SM|.STRONG.SYS|.CONSTANT.SM.PRIVATE|.MMIO.SYS" \
    "|.CONSTANT.VC|.CONSTANT.VC.PRIVATE|.CONSTANT.GPU"
#define LOAD_ORDER "|.CONSTANT.PRIVATE|.CONSTANT.CTA|.CONSTANT.CTA.PRIVATE|.CONSTANT" SCOPES
#define STORE_ORDER "|.CONSTANT.PRIVATE|.CONSTANT.CTA|.CONSTANT.CTA.PRIVATE|.STRONG.SM.PRIVATE" SCOPES
#define EVICTIONS ".EF||.EL|.LU|.EU|.NA"
#define WIDTHS ".U8|.S8|.U16|.S16||.64|.128"
#define ATOMIC_WIDTHS "|.S32|.64|.S64|.128"
#define ATOMIC_OPERATIONS ".ADD|.MIN|.MAX|.INC|.DEC|.AND|.OR|.XOR|.EXCH|.SAFEADD"
#define ATOMIC_FLOATS                                                                                           \
    ".F16x2.RN|.F16x4.RN|.F16x8.RN|.BF16x2.RN|.BF16x4.RN|.BF16x8.RN||||.F32.FTZ.RN|.F32x2.FTZ.RN|.F32x4.FTZ.RN" \
    "|.F32.RN|.F32x2.RN|.F32x4.RN|.F64.RN"
#define DIMENSIONS ".1D|.2D|.3D|.4D|.5D|.INVALID5|.INVALID6|.INVALID7"
#define COMPARISONS ".F|.LT|.EQ|.LE|.GT|.NE|.GE|.T"
#define SHORT_TYPES ".U32||.U16x2|.S16x2"

/* Bits `count` from `first` choose one of the texts between bars. */
struct modifier {
    uint8_t operation, first, count;
    const char *texts;
};

static const struct modifier modifiers[] = {
#define MODIFIER(id, first, count, texts) {WSDBG_OP_##id, first, count, texts},
#include "sass/operations.def"
};

/* nvdisasm names the multiply-add after what it does with the operands it has. */
static void append_multiply(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in)
{
    const struct wsdbg_operand *a = &in->sources[0], *b = &in->sources[1], *c = &in->sources[2];
    const bool plain = !in->has_carry_in && in->operation == WSDBG_OP_IMAD && !in->is_wide && !in->is_high;
    const bool is_zero = a->kind == WSDBG_OPERAND_REGISTER && a->number == WSDBG_RZ &&
                         b->kind == WSDBG_OPERAND_REGISTER && b->number == WSDBG_RZ;
    const bool c_is_zero = c->kind == WSDBG_OPERAND_REGISTER && c->number == WSDBG_RZ;
    const bool b_is_number = b->kind == WSDBG_OPERAND_IMMEDIATE;
    if (in->is_wide || in->is_high)
        wsdbg_append(out, in->is_wide ? ".WIDE" : ".HI");
    else if (plain && ((is_zero && c->kind != WSDBG_OPERAND_UNIFORM) || (b_is_number && b->value == 0)))
        wsdbg_append(out, ".MOV");
    else if (plain && b_is_number && b->value == 1)
        wsdbg_append(out, ".IADD");
    else if (plain && b_is_number && c_is_zero && b->value > 1 && b->value != 0x10000 &&
             (b->value & (b->value - 1)) == 0)
        wsdbg_append(out, ".SHL");
    wsdbg_append(out, "%s%s", in->is_signed ? "" : ".U32", in->has_carry_in ? ".X" : "");
}

/* ATOMS that counts the lanes that come. */
static bool is_counter(const struct wsdbg_instruction *in)
{
    return in->operation == WSDBG_OP_ATOMS && bits(in, 9, 3) == 7;
}

static void append_atomic_operation(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in)
{
    const unsigned opcode = bits(in, 0, 9);
    if (is_counter(in))
        wsdbg_append(out, ".POPC.INC.32");
    else if (wsdbg_is_float_atomic(in->words))
        wsdbg_append_choice(out, ".ADD|.MIN|.MAX|.INVALID3", bits(in, 88, 2));
    else if (opcode == 0x18d)
        wsdbg_append_choice(out, ".CAS|.CAST|.CAS|.CAST.SPIN", bits(in, 87, 2));
    else if (opcode == 0x1a9 || opcode == 0x18b)
        wsdbg_append_choice(out, ".CAS|.CAST", bits(in, 87, 1));
    else
        wsdbg_append_choice(out, ATOMIC_OPERATIONS, bits(in, 87, in->operation == WSDBG_OP_RED ? 3 : 4));
}

static void append_atomic(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in)
{
    const bool is_shared = in->operation == WSDBG_OP_ATOMS;
    if (!is_shared)
        wsdbg_append_choice(out, "|.E", bits(in, 72, 1));
    append_atomic_operation(out, in);
    if (!is_shared)
        wsdbg_append_choice(out, EVICTIONS, bits(in, 84, 3));
    if (wsdbg_is_float_atomic(in->words))
        wsdbg_append_choice(out, ATOMIC_FLOATS, bits(in, 73, 4));
    else if (!is_counter(in))
        wsdbg_append_choice(out, ATOMIC_WIDTHS, bits(in, 73, 3));
    if (!is_shared)
        wsdbg_append_choice(out, STORE_ORDER, bits(in, 77, 4));
}

/* Rows and columns, the depth, then types. */
static void append_matrix(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in)
{
    /* A sparse matrix is twice as deep as what is stored of it. */
    const unsigned columns = wsdbg_matrix_columns(in), sparsity = bits(in, 73, 1) ? 2 : 1;
    wsdbg_append(out, "%s", sparsity == 2 ? ".SP" : "");
    switch (in->operation) {
    case WSDBG_OP_HGMMA:
        wsdbg_append(out, ".64x%ux%u", columns, sparsity * (bits(in, 58, 1) ? 8 : 16));
        wsdbg_append_choice(out, ".F16|.F32", bits(in, 75, 1));
        wsdbg_append_choice(out, "|.BF16|.TF32|.INVALID3", bits(in, 76, 2));
        break;
    case WSDBG_OP_QGMMA:
        wsdbg_append(out, ".64x%ux%u", columns, sparsity * 32);
        wsdbg_append_choice(out, ".F16|.F32", bits(in, 75, 1));
        wsdbg_append_choice(out, ".E4M3|.E5M2", bits(in, 76, 1));
        wsdbg_append_choice(out, ".E4M3|.E5M2", bits(in, 77, 1));
        break;
    case WSDBG_OP_IGMMA:
        wsdbg_append(out, ".64x%ux%u", columns, sparsity * 32);
        wsdbg_append_choice(out, ".U8|.S8", bits(in, 76, 2));
        wsdbg_append_choice(out, ".U8|.S8", bits(in, 82, 2));
        wsdbg_append_choice(out, "|.SAT", bits(in, 75, 1));
        break;
    default:
        wsdbg_append(out, ".64x%ux%u.AND.POPC", columns, sparsity * 256);
        break;
    }
}

/* What is shown of one operation alone. */
static void append_own(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in)
{
    switch (in->operation) {
    case WSDBG_OP_IMAD:
    case WSDBG_OP_UIMAD:
        append_multiply(out, in);
        break;
    case WSDBG_OP_CALL:
        wsdbg_append(out, in->is_absolute ? ".ABS" : ".REL");
        wsdbg_append_choice(out, "|.NOINC", bits(in, 86, 1));
        break;
    case WSDBG_OP_BAR:
        if (in->mode == WSDBG_BAR_RED)
            wsdbg_append_choice(out, ".POPC|.AND|.OR|.INVALID3", bits(in, 74, 2));
        wsdbg_append_choice(out, "|.DEFER_BLOCKING", bits(in, 80, 1));
        break;
    case WSDBG_OP_BRA:
        if (bits(in, 32, 2) == 1)
            wsdbg_append_choice(out, "|.ANY", bits(in, 84, 1));
        break;
    case WSDBG_OP_WARPSYNC:
        wsdbg_append(out, "%s%s",
                     bits(in, 85, 1)   ? ".EXCLUSIVE"
                     : bits(in, 86, 1) ? ".COLLECTIVE"
                                       : "",
                     in->source_count && in->sources[in->source_count - 1].kind == WSDBG_OPERAND_REGISTER ? ""
                                                                                                          : ".ALL");
        break;
    default:
        break;
    }
}

void wsdbg_append_name(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in)
{
    wsdbg_append(out, "%s", wsdbg_operation_name((enum wsdbg_operation)in->operation));
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
        if (modifiers[i].operation == in->operation)
            wsdbg_append_choice(out, modifiers[i].texts, bits(in, modifiers[i].first, modifiers[i].count));
    switch (wsdbg_operation_class(in->operation)) {
    case WSDBG_CLASS_ATOMIC:
    case WSDBG_CLASS_REDUCTION:
        append_atomic(out, in);
        break;
    case WSDBG_CLASS_WGMMA:
        append_matrix(out, in);
        break;
    default:
        append_own(out, in);
        break;
    }
}
