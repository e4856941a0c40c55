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

#define OP(name) WSDBG_OP_##name
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
    {OP(SYNCS_PHASECHK), 72, 1, ".TRANS64|.TRANS64.TRYWAIT"},
    {OP(SYNCS_ARRIVE), 73, 2, ".TRANS64|.TRANS64.TMASK|.TRANS64.RED|.TRANS64.INVALID3"},
    {OP(SYNCS_ARRIVE), 75, 1, "|.OPTOUT"},
    {OP(SYNCS_ARRIVE), 84, 3, "|.A1T0|.A0T1|.A0TR|.A0TX|.ART0|.INVALID6|.INVALID7"},
    {OP(SYNCS_EXCH), 72, 1, "|.64"},
    {OP(SYNCS_CCTL), 72, 1, ".IV|.WB"},
    {OP(ARRIVES), 70, 2, ".LDGSTSBAR.64|.LDGSTSBAR.64.ARVCNT|.LDGSTSBAR.64.TRANSCNT|.LDGSTSBAR.64.INVALID3"},
    {OP(BAR), 77, 3, ".SYNC|.ARV|.RED|.SCAN|.SYNCALL"},
    {OP(USETMAXREG), 72, 2, "|.DEALLOC|.TRY_ALLOC|"},
    {OP(USETMAXREG), 74, 1, "|.CTAPOOL"},
    {OP(NANOSLEEP), 86, 1, "|.RAND"},
    {OP(NANOSLEEP), 85, 1, "|.WARP"},
    {OP(NANOSLEEP), 84, 1, "|.SYNCS"},
    {OP(ELECT), 85, 1, "|.IGNOREKILL"},
    {OP(DEPBAR), 47, 1, "|.LE"},
    {OP(WARPGROUP), 79, 2, ".ARRIVE|.WAIT|.DEPBAR.LE|"},
    {OP(BRA), 85, 2, "|.INC|.DEC|.INVALID3"},
    {OP(BRA), 32, 2, "|.U|.DIV|.CONV"},
    {OP(BRX), 85, 2, "|.INC|.DEC|.INVALID3"},
    {OP(BRXU), 85, 2, "|.INC|.DEC|.INVALID3"},
    {OP(JMP), 85, 2, "|.INC|.DEC|.INVALID3"},
    {OP(JMX), 85, 2, "|.INC|.DEC|.INVALID3"},
    {OP(JMXU), 85, 2, "|.INC|.DEC|.INVALID3"},
    {OP(RET), 85, 1, ".REL|.ABS"},
    {OP(RET), 86, 1, "|.NODEC"},
    {OP(EXIT), 84, 2, "|.KEEPREFCOUNT|.PREEMPTED|.INVALID3"},
    {OP(EXIT), 86, 1, "|.NO_ATEXIT"},
    {OP(BPT), 84, 3, "|||.TRAP|.INT"},
    {OP(UTMALDG), 79, 3, DIMENSIONS},
    {OP(UTMALDG), 82, 1, "|.IM2COL"},
    {OP(UTMALDG), 75, 1, "|.MULTICAST"},
    {OP(UTMASTG), 79, 3, DIMENSIONS},
    {OP(UTMASTG), 82, 1, "|.IM2COL"},
    {OP(UTMAREDG), 79, 3, DIMENSIONS},
    {OP(UTMAREDG), 82, 1, "|.IM2COL"},
    {OP(UTMAREDG), 87, 3, ".ADD|.MIN|.MAX|.INC|.DEC|.AND|.OR|.XOR"},
    {OP(UTMAPF), 79, 3, ".L2.1D|.L2.2D|.L2.3D|.L2.4D|.L2.5D"},
    {OP(UTMAPF), 82, 1, "|.IM2COL"},
    {OP(UTMACCTL), 82, 1, ".IV|.PF"},
    {OP(UBLKCP), 73, 1, ".G|.S"},
    {OP(UBLKCP), 74, 1, ".G|.S"},
    {OP(UBLKCP), 75, 1, "|.MULTICAST"},
    {OP(UBLKRED), 73, 1, ".G|.S"},
    {OP(UBLKRED), 74, 1, ".G|.S"},
    {OP(UBLKRED), 87, 3, ".ADD|.MIN|.MAX|.INC|.DEC|.AND|.OR|.XOR"},
    {OP(UBLKRED), 81, 4, "|.S32|.U64||.F16.RN||||.BF16.RN"},
    {OP(UBLKPF), 0, 0, ".L2"},
    {OP(STAS), 73, 2, "|.64|.128|"},
    {OP(REDAS), 87, 4, ".ADD|.MIN|.MAX|.INC|.DEC|.AND|.OR|.XOR"},
    {OP(REDAS), 73, 2, "|.S32|.64|"},
    {OP(LD), 72, 1, "|.E"},
    {OP(LD), 84, 3, EVICTIONS},
    {OP(LD), 68, 2, "|.LTC64B|.LTC128B|.LTC256B"},
    {OP(LD), 73, 3, WIDTHS},
    {OP(LD), 77, 4, LOAD_ORDER},
    {OP(LDG), 72, 1, "|.E"},
    {OP(LDG), 84, 3, EVICTIONS},
    {OP(LDG), 68, 2, "|.LTC64B|.LTC128B|.LTC256B"},
    {OP(LDG), 73, 3, WIDTHS},
    {OP(LDG), 77, 4, LOAD_ORDER},
    {OP(LDS), 73, 3, WIDTHS},
    {OP(LDL), 84, 3, EVICTIONS},
    {OP(LDL), 73, 3, WIDTHS},
    {OP(LDC), 78, 2, "|.IL|.IS|.ISL"},
    {OP(LDC), 73, 3, WIDTHS},
    {OP(ULDC), 73, 3, WIDTHS},
    {OP(ST), 72, 1, "|.E"},
    {OP(ST), 84, 3, EVICTIONS},
    {OP(ST), 73, 3, WIDTHS},
    {OP(ST), 77, 4, STORE_ORDER},
    {OP(STG), 72, 1, "|.E"},
    {OP(STG), 84, 3, EVICTIONS},
    {OP(STG), 73, 3, WIDTHS},
    {OP(STG), 77, 4, STORE_ORDER},
    {OP(STS), 73, 3, WIDTHS},
    {OP(STL), 84, 3, EVICTIONS},
    {OP(STL), 73, 3, WIDTHS},
    {OP(LDGMC), 72, 1, "|.E"},
    {OP(LDGMC), 87, 4, ATOMIC_OPERATIONS},
    {OP(LDGMC), 73, 3, ".32|.S32|.64|.S64"},
    {OP(LDGMC), 77, 4, LOAD_ORDER},
    {OP(LDGSTS), 81, 1, ".E.BYPASS|.E"},
    {OP(LDGSTS), 84, 3, EVICTIONS},
    {OP(LDGSTS), 71, 2, "|.LTC64B|.LTC128B|.LTC256B"},
    {OP(LDGSTS), 73, 3, WIDTHS},
    {OP(LDGSTS), 77, 4, LOAD_ORDER},
    {OP(LDGSTS), 82, 1, "|.ZFILL"},
    {OP(MEMBAR), 79, 2, ".SC|.ALL||.MMIO"},
    {OP(MEMBAR), 76, 3, ".CTA|.SM|.GPU|.SYS|.INVALID4|.VC|.CTA.PARTIAL|.INVALID7"},
    {OP(CCTL), 72, 1, "|.E"},
    {OP(CCTL), 78, 3, "|.U|.C|.I|"},
    {OP(CCTL), 87, 4, ".PF1|.PF2|.WB|.IV|.IVALL|.RS|.IVALLP|.WBALL|.WBALLP|.PML2|.DML2|.RML2"},
    {OP(FENCE), 72, 1, ".VIEW.ASYNC.S|.VIEW.ASYNC.G"},
    {OP(IADD3), 74, 1, "|.X"},
    {OP(UIADD3), 74, 1, "|.X"},
    {OP(LEA), 80, 1, "|.HI"},
    {OP(LEA), 74, 1, "|.X"},
    {OP(LEA), 73, 1, "|.SX32"},
    {OP(ULEA), 80, 1, "|.HI"},
    {OP(ULEA), 74, 1, "|.X"},
    {OP(ULEA), 73, 1, "|.SX32"},
    {OP(LOP3), 80, 1, ".LUT|.LUT.PAND"},
    {OP(ULOP3), 80, 1, ".LUT|.LUT.PAND"},
    {OP(SHF), 76, 1, ".L|.R"},
    {OP(SHF), 75, 1, "|.W"},
    {OP(SHF), 73, 2, ".S64|.U64|.S32|.U32"},
    {OP(SHF), 80, 1, "|.HI"},
    {OP(USHF), 76, 1, ".L|.R"},
    {OP(USHF), 75, 1, "|.W"},
    {OP(USHF), 73, 2, ".S64|.U64|.S32|.U32"},
    {OP(USHF), 80, 1, "|.HI"},
    {OP(PRMT), 72, 3, "|.F4E|.B4E|.RC8|.ECL|.ECR|.RC16|.INVALID7"},
    {OP(UPRMT), 72, 3, "|.F4E|.B4E|.RC8|.ECL|.ECR|.RC16|.INVALID7"},
    {OP(CS2R), 80, 1, ".32|"},
    {OP(ISETP), 76, 3, COMPARISONS},
    {OP(ISETP), 73, 1, ".U32|"},
    {OP(ISETP), 74, 2, ".AND|.OR|.XOR|.INVALID3"},
    {OP(ISETP), 72, 1, "|.EX"},
    {OP(UISETP), 76, 3, COMPARISONS},
    {OP(UISETP), 73, 1, ".U32|"},
    {OP(UISETP), 74, 2, ".AND|.OR|.XOR|.INVALID3"},
    {OP(UISETP), 72, 1, "|.EX"},
    {OP(PLOP3), 0, 0, ".LUT"},
    {OP(UPLOP3), 0, 0, ".LUT"},
    {OP(P2R), 76, 2, "|.B1|.B2|.B3"},
    {OP(SHFL), 58, 2, ".IDX|.UP|.DOWN|.BFLY"},
    {OP(VOTE), 72, 2, ".ALL|.ANY|.EQ|.INVALID3"},
    {OP(VOTEU), 72, 2, ".ALL|.ANY|.EQ|.INVALID3"},
    {OP(FLO), 73, 1, ".U32|"},
    {OP(FLO), 74, 1, "|.SH"},
    {OP(UFLO), 73, 1, ".U32|"},
    {OP(UFLO), 74, 1, "|.SH"},
    {OP(SGXT), 75, 1, "|.W"},
    {OP(SGXT), 73, 1, ".U32|"},
    {OP(IMNMX), 73, 1, ".U32|"},
    {OP(VIADD), 73, 1, "|.16x2"},
    {OP(VIMNMX), 72, 2, SHORT_TYPES},
    {OP(VIMNMX), 76, 1, "|.RELU"},
    {OP(VIMNMX3), 72, 2, SHORT_TYPES},
    {OP(VIMNMX3), 76, 1, "|.RELU"},
    {OP(VIADDMNMX), 72, 2, SHORT_TYPES},
    {OP(VIADDMNMX), 76, 1, "|.RELU"},
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

void wsdbg_append_name(struct wsdbg_instruction_words *out, const struct wsdbg_instruction *in)
{
    wsdbg_append(out, "%s", wsdbg_operation_name((enum wsdbg_operation)in->operation));
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
        if (modifiers[i].operation == in->operation)
            wsdbg_append_choice(out, modifiers[i].texts, bits(in, modifiers[i].first, modifiers[i].count));
    switch (in->operation) {
    case WSDBG_OP_IMAD:
    case WSDBG_OP_UIMAD:
        append_multiply(out, in);
        break;
    case WSDBG_OP_ATOM:
    case WSDBG_OP_ATOMG:
    case WSDBG_OP_ATOMS:
    case WSDBG_OP_RED:
        append_atomic(out, in);
        break;
    case WSDBG_OP_HGMMA:
    case WSDBG_OP_IGMMA:
    case WSDBG_OP_QGMMA:
    case WSDBG_OP_BGMMA:
        append_matrix(out, in);
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
