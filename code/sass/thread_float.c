/* thread_float.c - see thread_float.h.  Pure functions. */
#include "sass/thread_float.h"

#include <math.h>
#include <string.h>

#define WORD_END 4294967296.0f
#define LONG_END (WORD_END * WORD_END)

enum { FORM_BIT = 9, FORM_BITS = 7, RA_BIT = 24, RB_BIT = 32, SIGN_BITS_OF_B = 62, OPCODE_BITS = 0x1ff };
enum {
    FORM_REGISTER = 1,
    FORM_IMMEDIATE = 4,
    FORM_CONSTANT = 5,
    FORM_UNIFORM = 6,
    BANK_BIT = 54,
    BANK_BITS = 31,
    OFFSET_BIT = 38
};
enum { SIGNED = 0x400 };
enum { LONG_TO_FLOAT = 0x112, FLOAT_TO_LONG = 0x111 }; /* opcodes: of whole numbers of 64 bits */
/* FSETP: signs of its sources, its predicate. */
enum { NEGATE_A = 1 << 8, ABSOLUTE_A = 1 << 9, ABSOLUTE_B_BIT = 62, NEGATE_B_BIT = 63 };
enum { PREDICATE_BIT = 23, PREDICATE_BITS = 7, NEGATE_PREDICATE = 1 << 26 };

/* The instructions that are followed: opcode, and the modifiers among the bits 64 to 87 of the instruction.  All
 * others, of other types, roundings or functions, are not.  From forms of the compiler: tests/sass/forms.cu. */
static const struct form {
    uint8_t operation;
    uint16_t opcode;
    uint32_t modifiers, read; /* read: the bits that must be those */
} forms[] = {
    {WSDBG_OP_I2FP, 0x045, 0x201000, 0xffffff},          /* I2FP.F32.U32 */
    {WSDBG_OP_FMUL, 0x020, 0x400000, 0x7fffff},          /* FMUL: to the nearest */
    {WSDBG_OP_MUFU, 0x108, 0x001000, 0xffffff},          /* MUFU.RCP */
    {WSDBG_OP_I2F, 0x106, 0x209000, 0xffffff & ~SIGNED}, /* I2F.U32.RP and I2F.RP */
    {WSDBG_OP_F2I, 0x105, 0x20f000, 0xffffff},           /* F2I.U32.TRUNC.NTZ */
    {WSDBG_OP_F2I, 0x105, 0x21f000, 0xffffff},           /* F2I.FTZ.U32.TRUNC.NTZ */
    {WSDBG_OP_I2F, LONG_TO_FLOAT, 0x309000, 0xffffff},   /* I2F.U64.RP */
    {WSDBG_OP_F2I, FLOAT_TO_LONG, 0x20d800, 0xffffff},   /* F2I.U64.TRUNC */
};

static bool is_followed(const struct wsdbg_instruction *in)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (forms[i].operation == in->operation && forms[i].opcode == (in->words[0] & OPCODE_BITS) &&
            forms[i].modifiers == (in->words[1] & forms[i].read) && !(in->words[0] >> SIGN_BITS_OF_B))
            return true;
    return false;
}

static unsigned form_of(const struct wsdbg_instruction *in)
{
    return in->words[0] >> FORM_BIT & FORM_BITS;
}

/* Source B by the instruction's form. */
static bool source_b(const struct wsdbg_instruction *in, struct wsdbg_operand *out)
{
    const unsigned form = form_of(in);
    const uint8_t number = (uint8_t)(in->words[0] >> RB_BIT);
    if (form == FORM_CONSTANT)
        *out = (struct wsdbg_operand){.kind = WSDBG_OPERAND_CONSTANT,
                                      .number = WSDBG_RZ,
                                      .bank = in->words[0] >> BANK_BIT & BANK_BITS,
                                      .registers = 1,
                                      .value = (uint16_t)(in->words[0] >> OFFSET_BIT)};
    else
        *out = (struct wsdbg_operand){.kind = form == FORM_UNIFORM ? WSDBG_OPERAND_UNIFORM : WSDBG_OPERAND_REGISTER,
                                      .number = number,
                                      .registers = 1};
    return form == FORM_REGISTER || form == FORM_UNIFORM || form == FORM_CONSTANT;
}

static struct wsdbg_operand source_a(const struct wsdbg_instruction *in)
{
    return (struct wsdbg_operand){
        .kind = WSDBG_OPERAND_REGISTER, .number = (uint8_t)(in->words[0] >> RA_BIT), .registers = 1};
}

static unsigned compared_sources(const struct wsdbg_instruction *in, struct wsdbg_operand *out)
{
    out[0] = source_a(in);
    out[1] = (struct wsdbg_operand){.kind = WSDBG_OPERAND_IMMEDIATE, .value = (int32_t)(in->words[0] >> RB_BIT)};
    out[2] = (struct wsdbg_operand){.kind = WSDBG_OPERAND_PREDICATE,
                                    .number = in->words[1] >> PREDICATE_BIT & PREDICATE_BITS,
                                    .registers = 1,
                                    .is_negated = (in->words[1] & NEGATE_PREDICATE) != 0};
    return form_of(in) == FORM_IMMEDIATE || source_b(in, &out[1]) ? WSDBG_FLOAT_SOURCES_MOST : 0;
}

unsigned wsdbg_thread_float_sources(const struct wsdbg_instruction *in,
                                    struct wsdbg_operand out[WSDBG_FLOAT_SOURCES_MOST])
{
    const bool compares = in->operation == WSDBG_OP_FSETP, multiplies = in->operation == WSDBG_OP_FMUL;
    const unsigned count = compares ? 3 : multiplies ? 2 : 1;
    if (in->is_whole && (compares || multiplies)) { /* PTX */
        memcpy(out, in->sources, count * sizeof *out);
        return in->source_count == count ? count : 0;
    }
    if (compares)
        return compared_sources(in, out);
    if (!is_followed(in) || !source_b(in, &out[multiplies]))
        return 0;
    if ((in->words[0] & OPCODE_BITS) == LONG_TO_FLOAT)
        out[0].registers = 2;
    if (multiplies)
        out[0] = source_a(in);
    return count;
}

static uint32_t bits_of(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static float number_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static float rounded_up(uint64_t whole)
{
    const float nearest = (float)whole;
    const bool is_less = nearest < LONG_END && (uint64_t)nearest < whole;
    return is_less ? number_of(bits_of(nearest) + 1) : nearest;
}

static bool multiply(uint32_t a, uint32_t b, uint64_t *out)
{
    const float product = number_of(a) * number_of(b);
    *out = bits_of(product);
    return isnormal(product) || product == 0;
}

/* Steps of a division.  The code behind them corrects the quotient, so the last bit of the reciprocal, which differs
 * from that of the hardware, does not matter. */
static bool divide(const struct wsdbg_instruction *in, uint64_t whole, uint64_t *out)
{
    const float whole_end = (in->words[0] & OPCODE_BITS) == FLOAT_TO_LONG ? LONG_END : WORD_END;
    const float number = number_of((uint32_t)whole);
    switch (in->operation) {
    case WSDBG_OP_I2F:
        *out = bits_of(rounded_up(whole));
        return (int32_t)whole >= 0 || !(in->words[1] & SIGNED);
    case WSDBG_OP_MUFU:
        *out = number > 0 ? bits_of(1.0f / number) : 0;
        return number > 0 && isnormal(number) && isnormal(1.0f / number);
    default:
        *out = number >= 0 && number < whole_end ? (uint64_t)number : 0;
        return number >= 0 && number < whole_end;
    }
}

bool wsdbg_thread_float(const struct wsdbg_instruction *in, const uint64_t *values, uint64_t *out)
{
    if (in->operation == WSDBG_OP_FMUL)
        return multiply((uint32_t)values[0], (uint32_t)values[1], out);
    if (in->operation != WSDBG_OP_I2FP)
        return divide(in, values[0], out);
    *out = bits_of((float)values[0]);
    return true;
}

/* ---- comparisons ---- */

static float signed_as(float number, bool is_absolute, bool is_negated)
{
    const float magnitude = is_absolute ? fabsf(number) : number;
    return is_negated ? -magnitude : magnitude;
}

static float compared(const struct wsdbg_instruction *in, uint32_t bits)
{
    const float number = number_of(bits);
    return in->words[1] & WSDBG_FLOATS_FLUSHED && fpclassify(number) == FP_SUBNORMAL ? 0.0f : number;
}

bool wsdbg_thread_float_compare(const struct wsdbg_instruction *in, uint32_t a_bits, uint32_t b_bits)
{
    float a = compared(in, a_bits), b = compared(in, b_bits);
    if (!in->is_whole)
        a = signed_as(a, in->words[1] & ABSOLUTE_A, in->words[1] & NEGATE_A);
    if (!in->is_whole && form_of(in) != FORM_IMMEDIATE)
        b = signed_as(b, in->words[0] >> ABSOLUTE_B_BIT & 1, in->words[0] >> NEGATE_B_BIT & 1);
    if (isunordered(a, b))
        return in->mode & WSDBG_FLOATS_UNORDERED;
    return in->mode & (a < b ? WSDBG_FLOATS_LESS : a > b ? WSDBG_FLOATS_GREATER : WSDBG_FLOATS_EQUAL);
}
