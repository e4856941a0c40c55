/* thread_float.c - see thread_float.h.  Pure functions. */
#include "sass/thread_float.h"

#include <math.h>
#include <string.h>

enum { FUNCTION_BIT = 74, FUNCTION_BITS = 15, RECIPROCAL = 4, SIGNED_BIT = 1, ROUND_BIT = 78, ROUND_BITS = 3 };
enum { ROUND_UP = 2, ROUND_TO_ZERO = 3, FORM_BIT = 9, FORM_BITS = 7, RA_BIT = 24, RB_BIT = 32, SIGN_BITS_OF_B = 62 };
enum { FORM_REGISTER = 1, FORM_CONSTANT = 5, FORM_UNIFORM = 6, BANK_BIT = 54, BANK_BITS = 31, OFFSET_BIT = 38 };
/* The modifiers of I2FP.F32.U32 and of a plain FMUL, which rounds to the nearest. */
enum { MODIFIER_BITS = 0xffffff, PLAIN_CONVERSION = 0x201000, PLAIN_PRODUCT = 0x400000, PRODUCT_BITS = 0x7fffff };

static unsigned function_of(const struct wsdbg_instruction *in)
{
    return in->words[1] >> (FUNCTION_BIT - 64) & FUNCTION_BITS;
}

/* Steps of a division.  The code behind them corrects the quotient, so the last bits of the reciprocal do not matter.
 */
static bool divides(const struct wsdbg_instruction *in)
{
    const unsigned round = in->words[1] >> (ROUND_BIT - 64) & ROUND_BITS;
    return (in->operation == WSDBG_OP_I2F && round == ROUND_UP) ||
           (in->operation == WSDBG_OP_MUFU && function_of(in) == RECIPROCAL) ||
           (in->operation == WSDBG_OP_F2I && round == ROUND_TO_ZERO && !(function_of(in) & SIGNED_BIT));
}

static bool converts(const struct wsdbg_instruction *in)
{
    return in->operation == WSDBG_OP_I2FP && (in->words[1] & MODIFIER_BITS) == PLAIN_CONVERSION;
}

static bool multiplies(const struct wsdbg_instruction *in)
{
    return in->operation == WSDBG_OP_FMUL && (in->words[1] & PRODUCT_BITS) == PLAIN_PRODUCT &&
           !(in->words[0] >> SIGN_BITS_OF_B);
}

/* Source B by the instruction's form. */
static bool source_b(const struct wsdbg_instruction *in, struct wsdbg_operand *out)
{
    const unsigned form = in->words[0] >> FORM_BIT & FORM_BITS;
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

unsigned wsdbg_thread_float_sources(const struct wsdbg_instruction *in,
                                    struct wsdbg_operand out[WSDBG_FLOAT_SOURCES_MOST])
{
    const bool has_two = multiplies(in);
    if (!in->words[0] || !(has_two || divides(in) || converts(in)) || !source_b(in, &out[has_two]))
        return 0;
    if (has_two)
        out[0] = (struct wsdbg_operand){
            .kind = WSDBG_OPERAND_REGISTER, .number = (uint8_t)(in->words[0] >> RA_BIT), .registers = 1};
    return has_two + 1u;
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

static float rounded_up(uint32_t whole)
{
    float number = (float)whole;
    if ((double)number < (double)whole)
        number = number_of(bits_of(number) + 1);
    return number;
}

static bool multiply(uint32_t a, uint32_t b, uint32_t *out)
{
    const float product = number_of(a) * number_of(b);
    *out = bits_of(product);
    return isnormal(product) || product == 0;
}

static bool divide(const struct wsdbg_instruction *in, uint32_t bits, uint32_t *out)
{
    const float whole_end = 4294967296.0f, number = number_of(bits);
    switch (in->operation) {
    case WSDBG_OP_I2F:
        *out = bits_of(rounded_up(bits));
        return (int32_t)bits >= 0 || !(function_of(in) & SIGNED_BIT);
    case WSDBG_OP_MUFU:
        *out = number > 0 ? bits_of(1.0f / number) : 0;
        return number > 0;
    default:
        *out = number >= 0 && number < whole_end ? (uint32_t)number : 0;
        return number >= 0 && number < whole_end;
    }
}

bool wsdbg_thread_float(const struct wsdbg_instruction *in, const uint32_t *values, uint32_t *out)
{
    if (in->operation == WSDBG_OP_FMUL)
        return multiply(values[0], values[1], out);
    if (in->operation != WSDBG_OP_I2FP)
        return divide(in, values[0], out);
    *out = bits_of((float)values[0]);
    return true;
}
