/* decode_text.c - a decoded instruction in the words of nvdisasm: guard, name and modifiers, operands.
 *
 * Reads the instruction and the table of forms; modifiers come from a table of their own, in the order they are shown.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sass/decode_form.h"

struct text {
    char *bytes;
    size_t used;
    bool has_operand;
};

__attribute__((format(printf, 2, 3))) static void append(struct text *text, const char *format, ...)
{
    const size_t room = WSDBG_INSTRUCTION_TEXT_BYTES - text->used;
    va_list arguments;
    va_start(arguments, format);
    const int count = vsnprintf(text->bytes + text->used, room, format, arguments);
    va_end(arguments);
    if (count > 0)
        text->used += (size_t)count < room ? (size_t)count : room - 1;
}

/* --- modifiers --- */

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

static uint32_t bits(const struct wsdbg_instruction *in, unsigned first, unsigned count)
{
    return wsdbg_bits(in->words, first, count);
}

/* The text number `choice` of those between bars. */
static void append_choice(struct text *out, const char *texts, uint32_t choice)
{
    while (choice-- && *texts) {
        texts += strcspn(texts, "|");
        texts += *texts == '|';
    }
    append(out, "%.*s", (int)strcspn(texts, "|"), texts);
}

/* nvdisasm names the multiply-add after what it does with the operands it has. */
static void append_multiply(struct text *out, const struct wsdbg_instruction *in)
{
    const struct wsdbg_operand *a = &in->sources[0], *b = &in->sources[1], *c = &in->sources[2];
    const bool plain = !in->has_carry_in && in->operation == WSDBG_OP_IMAD && !in->is_wide && !in->is_high;
    const bool is_zero = a->kind == WSDBG_OPERAND_REGISTER && a->number == WSDBG_RZ &&
                         b->kind == WSDBG_OPERAND_REGISTER && b->number == WSDBG_RZ;
    const bool c_is_zero = c->kind == WSDBG_OPERAND_REGISTER && c->number == WSDBG_RZ;
    const bool b_is_number = b->kind == WSDBG_OPERAND_IMMEDIATE;
    if (in->is_wide || in->is_high)
        append(out, in->is_wide ? ".WIDE" : ".HI");
    else if (plain && ((is_zero && c->kind != WSDBG_OPERAND_UNIFORM) || (b_is_number && b->value == 0)))
        append(out, ".MOV");
    else if (plain && b_is_number && b->value == 1)
        append(out, ".IADD");
    else if (plain && b_is_number && c_is_zero && b->value > 1 && b->value != 0x10000 &&
             (b->value & (b->value - 1)) == 0)
        append(out, ".SHL");
    append(out, "%s%s", in->is_signed ? "" : ".U32", in->has_carry_in ? ".X" : "");
}

/* ATOMS that counts the lanes that come. */
static bool is_counter(const struct wsdbg_instruction *in)
{
    return in->operation == WSDBG_OP_ATOMS && bits(in, 9, 3) == 7;
}

static void append_atomic_operation(struct text *out, const struct wsdbg_instruction *in)
{
    const unsigned opcode = bits(in, 0, 9);
    if (is_counter(in))
        append(out, ".POPC.INC.32");
    else if (wsdbg_is_float_atomic(in->words))
        append_choice(out, ".ADD|.MIN|.MAX|.INVALID3", bits(in, 88, 2));
    else if (opcode == 0x18d)
        append_choice(out, ".CAS|.CAST|.CAS|.CAST.SPIN", bits(in, 87, 2));
    else if (opcode == 0x1a9 || opcode == 0x18b)
        append_choice(out, ".CAS|.CAST", bits(in, 87, 1));
    else
        append_choice(out, ATOMIC_OPERATIONS, bits(in, 87, in->operation == WSDBG_OP_RED ? 3 : 4));
}

static void append_atomic(struct text *out, const struct wsdbg_instruction *in)
{
    const bool is_shared = in->operation == WSDBG_OP_ATOMS;
    if (!is_shared)
        append_choice(out, "|.E", bits(in, 72, 1));
    append_atomic_operation(out, in);
    if (!is_shared)
        append_choice(out, EVICTIONS, bits(in, 84, 3));
    if (wsdbg_is_float_atomic(in->words))
        append_choice(out, ATOMIC_FLOATS, bits(in, 73, 4));
    else if (!is_counter(in))
        append_choice(out, ATOMIC_WIDTHS, bits(in, 73, 3));
    if (!is_shared)
        append_choice(out, STORE_ORDER, bits(in, 77, 4));
}

/* Rows and columns, the depth, then types. */
static void append_matrix(struct text *out, const struct wsdbg_instruction *in)
{
    /* A sparse matrix is twice as deep as what is stored of it. */
    const unsigned columns = wsdbg_matrix_columns(in), sparsity = bits(in, 73, 1) ? 2 : 1;
    append(out, "%s", sparsity == 2 ? ".SP" : "");
    switch (in->operation) {
    case WSDBG_OP_HGMMA:
        append(out, ".64x%ux%u", columns, sparsity * (bits(in, 58, 1) ? 8 : 16));
        append_choice(out, ".F16|.F32", bits(in, 75, 1));
        append_choice(out, "|.BF16|.TF32|.INVALID3", bits(in, 76, 2));
        break;
    case WSDBG_OP_QGMMA:
        append(out, ".64x%ux%u", columns, sparsity * 32);
        append_choice(out, ".F16|.F32", bits(in, 75, 1));
        append_choice(out, ".E4M3|.E5M2", bits(in, 76, 1));
        append_choice(out, ".E4M3|.E5M2", bits(in, 77, 1));
        break;
    case WSDBG_OP_IGMMA:
        append(out, ".64x%ux%u", columns, sparsity * 32);
        append_choice(out, ".U8|.S8", bits(in, 76, 2));
        append_choice(out, ".U8|.S8", bits(in, 82, 2));
        append_choice(out, "|.SAT", bits(in, 75, 1));
        break;
    default:
        append(out, ".64x%ux%u.AND.POPC", columns, sparsity * 256);
        break;
    }
}

static void append_name(struct text *out, const struct wsdbg_instruction *in)
{
    append(out, "%s", wsdbg_operation_name((enum wsdbg_operation)in->operation));
    for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
        if (modifiers[i].operation == in->operation)
            append_choice(out, modifiers[i].texts, bits(in, modifiers[i].first, modifiers[i].count));
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
        append(out, in->is_absolute ? ".ABS" : ".REL");
        append_choice(out, "|.NOINC", bits(in, 86, 1));
        break;
    case WSDBG_OP_BAR:
        if (in->mode == WSDBG_BAR_RED)
            append_choice(out, ".POPC|.AND|.OR|.INVALID3", bits(in, 74, 2));
        append_choice(out, "|.DEFER_BLOCKING", bits(in, 80, 1));
        break;
    case WSDBG_OP_BRA:
        if (bits(in, 32, 2) == 1)
            append_choice(out, "|.ANY", bits(in, 84, 1));
        break;
    case WSDBG_OP_WARPSYNC:
        append(out, "%s%s",
               bits(in, 85, 1)   ? ".EXCLUSIVE"
               : bits(in, 86, 1) ? ".COLLECTIVE"
                                 : "",
               in->source_count && in->sources[in->source_count - 1].kind == WSDBG_OPERAND_REGISTER ? "" : ".ALL");
        break;
    default:
        break;
    }
}

/* --- operands --- */

static void append_register(struct text *out, const char *prefix, unsigned number, unsigned zero)
{
    if (number == zero)
        append(out, "%sZ", prefix);
    else
        append(out, "%s%u", prefix, number);
}

static void append_predicate(struct text *out, const char *prefix, const struct wsdbg_operand *operand)
{
    append(out, "%s", operand->is_negated ? "!" : "");
    if (operand->registers == WSDBG_PT)
        append(out, "PR");
    else if (operand->number == WSDBG_PT)
        append(out, "%sT", prefix);
    else
        append(out, "%s%u", prefix, operand->number);
}

static void append_number(struct text *out, int64_t value)
{
    if (value < 0)
        append(out, "-0x%" PRIx64, (uint64_t)-value);
    else
        append(out, "0x%" PRIx64, (uint64_t)value);
}

static void append_offset(struct text *out, int64_t value, bool is_first)
{
    if (value || is_first) {
        append(out, "%s", is_first ? "" : "+");
        append_number(out, value);
    }
}

static void append_constant(struct text *out, const struct wsdbg_operand *operand, bool shows_zero)
{
    append(out, "c[0x%x][", operand->bank);
    if (operand->number != WSDBG_RZ)
        append(out, "R%u", operand->number);
    else if (operand->value == 0 && shows_zero)
        append(out, "RZ");
    append_offset(out, operand->value, operand->number == WSDBG_RZ && (operand->value || !shows_zero));
    append(out, "]");
}

static void append_special(struct text *out, int64_t number)
{
    static const struct {
        uint8_t number;
        const char *name;
    } names[] = {
        {0x00, "SR_LANEID"},
        {0x01, "SR_CLOCK"},
        {0x02, "SR_VIRTCFG"},
        {0x03, "SR_VIRTID"},
        {0x20, "SR_TID"},
        {0x21, "SR_TID.X"},
        {0x22, "SR_TID.Y"},
        {0x23, "SR_TID.Z"},
        {0x25, "SR_CTAID.X"},
        {0x26, "SR_CTAID.Y"},
        {0x27, "SR_CTAID.Z"},
        {0x28, "SR_NTID"},
        {0x2e, "SR_LWINHI"},
        {0x2f, "SR_SWINHI"},
        {0x30, "SR_SWINLO"},
        {0x31, "SR_SWINSZ"},
        {0x32, "SR_SMEMSZ"},
        {0x33, "SR_SMEMBANKS"},
        {0x34, "SR_LWINLO"},
        {0x35, "SR_LWINSZ"},
        {0x36, "SR_LMEMLOSZ"},
        {0x37, "SR_LMEMHIOFF"},
        {0x38, "SR_EQMASK"},
        {0x39, "SR_LTMASK"},
        {0x3a, "SR_LEMASK"},
        {0x3b, "SR_GTMASK"},
        {0x3c, "SR_GEMASK"},
        {0x3d, "SR_REGALLOC"},
        {0x3e, "SR_BARRIERALLOC"},
        {0x43, "SR_VIRTUALSMID"},
        {0x44, "SR_VIRTUALENGINEID"},
        {0x50, "SR_CLOCKLO"},
        {0x51, "SR_CLOCKHI"},
        {0x52, "SR_GLOBALTIMERLO"},
        {0x53, "SR_GLOBALTIMERHI"},
        {0x86, "SR_WARPGROUP_INFO"},
        {0x87, "SR_WARPGROUPID"},
        {0x88, "SR_CgaCtaId"},
        {0x89, "SR_GpcLocalCgaId"},
        {0x8b, "SR_CTARegPoolSz"},
        {0xff, "SRZ"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number) {
            append(out, "%s", names[i].name);
            return;
        }
    append(out, "SR%" PRId64, number);
}

/* Where a descriptor stands beside an address, its number lies where the uniform register would. */
static void append_address(struct text *out, const struct wsdbg_instruction *in, const struct wsdbg_form *form,
                           enum wsdbg_field field, const struct wsdbg_operand *operand)
{
    const unsigned uniform_at = field == FIELD_MEMORY_UB ? 32 : 64;
    const bool has_uniform = field == FIELD_MEMORY_UB || field == FIELD_MEMORY_UC || field == FIELD_COPY_FROM;
    const bool has_descriptor =
        (form->flags & FORM_DESCRIPTOR_76 && bits(in, 76, 1)) || (form->flags & FORM_DESCRIPTOR_71 && bits(in, 71, 1));
    if (has_descriptor && has_uniform) {
        append(out, "desc[");
        append_register(out, "UR", bits(in, uniform_at, 6), WSDBG_URZ);
        append(out, "]");
    }
    append(out, "[");
    const bool has_base = operand->number != WSDBG_RZ;
    const bool is_place = (form->flags & FORM_PAIR) != 0;
    const bool shows_uniform =
        field == FIELD_MEMORY_U || (has_uniform && !has_descriptor && !(is_place && operand->uniform == WSDBG_URZ));
    const bool is_short = form->flags & FORM_GLOBAL && wsdbg_is_short_base(in, form);
    if (has_base || is_short || (!shows_uniform && !operand->value)) {
        append_register(out, "R", operand->number, WSDBG_RZ);
        append_choice(out, "|.X4|.X8|.X16",
                      in->operation == WSDBG_OP_LDS || in->operation == WSDBG_OP_STS || in->operation == WSDBG_OP_ATOMS
                          ? bits(in, 78, 2)
                          : 0);
        append(out, "%s", is_short ? ".U32" : has_uniform && operand->registers == 2 ? ".64" : "");
    }
    if (shows_uniform) {
        append(out, "%s", has_base || is_short ? "+" : "");
        append_register(out, "UR", operand->uniform, WSDBG_URZ);
    }
    const bool is_bare = !has_base && !shows_uniform;
    if (operand->value)
        append_offset(out, is_bare ? operand->value & 0xffffff : operand->value, is_bare);
    append(out, "]");
}

static void append_transposition(struct text *out, const struct wsdbg_instruction *in, enum wsdbg_field field)
{
    if (in->operation != WSDBG_OP_HGMMA && in->operation != WSDBG_OP_QGMMA)
        return;
    const bool is_both = field == FIELD_DESCRIPTORS_A;
    append(out, "%s%s%s%s", is_both && bits(in, 61, 1) ? ".tnspA" : "", bits(in, 62, 1) ? ".tnspB" : "",
           is_both && bits(in, 72, 1) ? ".negA" : "", bits(in, 63, 1) ? ".negB" : "");
}

static void append_operand(struct text *out, const struct wsdbg_instruction *in, const struct wsdbg_form *form,
                           enum wsdbg_field field, const struct wsdbg_operand *operand)
{
    append(out, "%s", out->has_operand ? ", " : " ");
    out->has_operand = true;
    const char *sign = operand->is_negated ? "-" : operand->is_inverted ? "~" : "";
    const bool is_bundle = (field == FIELD_BUNDLE_A || field == FIELD_BUNDLE_B) && in->operation != WSDBG_OP_BRXU &&
                           in->operation != WSDBG_OP_JMXU;
    const bool is_descriptor = field == FIELD_DESCRIPTORS_A || field == FIELD_DESCRIPTORS_B;
    switch ((enum wsdbg_operand_kind)operand->kind) {
    case WSDBG_OPERAND_NONE:
        break;
    case WSDBG_OPERAND_REGISTER:
        append(out, "%s", sign);
        append_register(out, "R", operand->number, WSDBG_RZ);
        append_choice(out, "|.B1|.B2|.B3", in->operation == WSDBG_OP_R2P && field == FIELD_A ? bits(in, 76, 2) : 0);
        break;
    case WSDBG_OPERAND_UNIFORM:
        append(out, "%s%s", sign, is_descriptor ? "gdesc[" : is_bundle ? "[" : "");
        append_register(out, "UR", operand->number, WSDBG_URZ);
        append(out, "%s", is_descriptor || is_bundle ? "]" : "");
        if (is_descriptor)
            append_transposition(out, in, field);
        break;
    case WSDBG_OPERAND_PREDICATE:
        append_predicate(out, "P", operand);
        break;
    case WSDBG_OPERAND_UNIFORM_PREDICATE:
        append_predicate(out, "UP", operand);
        break;
    case WSDBG_OPERAND_IMMEDIATE:
        append(out, "%s", field == FIELD_SCOREBOARD ? "SB" : field == FIELD_GROUPS ? "gsb0, " : "");
        if (field == FIELD_SCOREBOARD)
            append(out, "%" PRId64, operand->value);
        else
            append_number(out, operand->value);
        break;
    case WSDBG_OPERAND_CONSTANT:
        append(out, "%s", sign);
        append_constant(out, operand, in->operation == WSDBG_OP_LDC);
        break;
    case WSDBG_OPERAND_MEMORY:
        append_address(out, in, form, field, operand);
        break;
    case WSDBG_OPERAND_SPECIAL:
        append_special(out, operand->value);
        break;
    case WSDBG_OPERAND_BARRIER:
        append(out, "B%u", operand->number);
        break;
    }
}

/* The operands in the order of the form's fields; those that are not there were not read either. */
static void append_operands(struct text *out, const struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    uint8_t destination_fields[WSDBG_DESTINATIONS_MAX], source_fields[WSDBG_SOURCES_MAX];
    wsdbg_form_fields(in, form, destination_fields, source_fields);
    const unsigned first = form->flags & FORM_CONDITION && in->source_count && source_fields[0] == FIELD_PQ_OR_NONE;
    if (first)
        append_operand(out, in, form, FIELD_PQ_OR_NONE, &in->sources[0]);
    for (unsigned i = 0; i < in->destination_count; i++)
        append_operand(out, in, form, destination_fields[i], &in->destinations[i]);
    for (unsigned i = first; i < in->source_count; i++)
        append_operand(out, in, form, source_fields[i], &in->sources[i]);
}

static void append_scoreboards(struct text *out, const struct wsdbg_instruction *in)
{
    const uint32_t mask = bits(in, 32, 6);
    const char *separator = "";
    append(out, "%s", mask ? ", {" : "");
    for (unsigned i = 6; i-- > 0;)
        if (mask >> i & 1) {
            append(out, "%s%u", separator, i);
            separator = ",";
        }
    append(out, "%s", mask ? "}" : "");
}

static void append_target(struct text *out, const struct wsdbg_instruction *in, const struct wsdbg_form *form,
                          uint64_t address)
{
    if (!(form->flags & (FORM_TARGET | FORM_TARGET_FAR)) || (in->operation == WSDBG_OP_WARPSYNC && !in->has_target))
        return;
    const bool is_added = (form->flags & FORM_TARGET_ADDED) != 0;
    if (is_added && in->is_absolute) {
        if (in->target_offset_bytes || in->operation != WSDBG_OP_CALL) {
            append(out, " ");
            append_number(out, in->target_offset_bytes);
        }
        return;
    }
    const uint64_t target = (uint64_t)in->target_offset_bytes + (in->is_absolute ? 0 : address);
    append(out, "%s0x%" PRIx64, out->has_operand && !is_added ? ", " : " ", target);
}

/* What stands behind the operands. */
static void append_extras(struct text *out, const struct wsdbg_instruction *in, const struct wsdbg_form *form)
{
    if (in->operation == WSDBG_OP_DEPBAR)
        append_scoreboards(out, in);
    if (form->flags & FORM_DESCRIPTOR_40 && bits(in, 76, 1)) {
        append(out, ", desc[");
        append_register(out, "UR", bits(in, 40, 6), WSDBG_URZ);
        append(out, "]");
    }
    if (in->operation >= WSDBG_OP_HGMMA && in->operation <= WSDBG_OP_BGMMA && bits(in, 84, 3) == 0)
        append(out, ", gsb0");
}

/* nvdisasm shows a number that HFMA2 loads as two of half precision, the upper first. */
static void append_half(struct text *out, uint32_t bits)
{
    const unsigned exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    const char *sign = bits >> 15 ? "-" : "";
    if (exponent == 0x1f)
        append(out, fraction ? "%sQNAN " : "%sINF ", bits >> 15 ? "-" : "+");
    else if (bits == 0x8000)
        append(out, "-0.0");
    else
        append(out, "%s%.20g", sign, exponent ? ldexp(fraction + 1024, (int)exponent - 25) : ldexp(fraction, -24));
}

static void append_loaded_number(struct text *out, const struct wsdbg_instruction *in)
{
    append(out, "%s%s ", wsdbg_operation_name(WSDBG_OP_HFMA2), bits(in, 0, 9) == 0x035 ? ".MMA" : "");
    append_register(out, "R", in->destinations[0].number, WSDBG_RZ);
    append(out, ", -RZ, RZ, ");
    append_half(out, bits(in, 48, 16));
    append(out, ", ");
    append_half(out, bits(in, 32, 16));
}

void wsdbg_instruction_text(const struct wsdbg_instruction *in, uint64_t address,
                            char out[WSDBG_INSTRUCTION_TEXT_BYTES])
{
    struct text text = {.bytes = out};
    out[0] = '\0';
    const struct wsdbg_form *form = wsdbg_form_of(in->words);
    if (in->operation == WSDBG_OP_OTHER || !form)
        return;
    if (in->guard != WSDBG_PT || in->guard_is_negated) {
        const struct wsdbg_operand guard = {.number = in->guard, .is_negated = in->guard_is_negated};
        append(&text, "@");
        append_predicate(&text, in->guard_is_uniform ? "UP" : "P", &guard);
        append(&text, " ");
    }
    if (form->operation == WSDBG_OP_HFMA2 && in->operation == WSDBG_OP_MOV) {
        append_loaded_number(&text, in);
        return;
    }
    append_name(&text, in);
    append_operands(&text, in, form);
    append_target(&text, in, form, address);
    append_extras(&text, in, form);
    if (wsdbg_form_is_half(in->words, form))
        append(&text, "%s...", text.has_operand ? ", " : " ");
}
