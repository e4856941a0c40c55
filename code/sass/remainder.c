/* remainder.c - see remainder.h.  Reads the instructions of one block, back from the last one.
 *
 *     high = x * m >> 32;  sum = (x - high >> 1) + high;  quotient = sum >> s;  result = quotient * -d + x
 *
 * Without `sum` where the reciprocal has 32 bits, without `s` where it is 0; for an even d, x may be shifted first, and
 * x >> p is divided by d >> p.  The quotient of an x below 2^k is x / d rounded down if 2^n <= r * d <= 2^n + 2^(n -
 * k), with r the whole reciprocal and n all that the product is shifted (Granlund and Montgomery, Division by Invariant
 * Integers using Multiplication, theorem 4.2).
 *
 * By a power of two, of a signed x:  sum = (x >> 31, its d - 1 lowest bits) + x;  result = x - (sum & -d).  Of the mask
 * -d the upper bits may be missing where the result is shifted to the left anyway.
 */
#include "sass/remainder.h"

#include "sass/compute.h"

enum { DIVISOR_MOST = 1 << 16, SHIFT_MOST = 16 };

/* A register as some instruction finds it: the instruction of the block that wrote it, WSDBG_GRAPH_NONE = it came into
 * the block. */
struct value {
    unsigned reg;
    uint32_t written;
};

static bool value_of(const struct wsdbg_definitions *definitions, uint32_t number, const struct wsdbg_operand *operand,
                     struct value *out)
{
    const struct wsdbg_graph *graph = definitions->graph;
    const uint32_t first = graph->blocks[graph->block_of[number]].first;
    out->reg = wsdbg_register_of(operand, 0);
    if (out->reg >= WSDBG_REGISTER_PREDICATE || operand->is_inverted ||
        !wsdbg_definition_before(definitions, out->reg, first, number, &out->written))
        return false;
    if (out->written == number)
        out->written = WSDBG_GRAPH_NONE;
    return out->written == WSDBG_GRAPH_NONE || wsdbg_flow_is_unguarded(&graph->instructions[out->written]);
}

static bool is_same(struct value a, struct value b)
{
    return a.reg == b.reg && a.written == b.written;
}

static bool is_value(const struct wsdbg_definitions *definitions, uint32_t number, unsigned source, bool is_negated,
                     struct value expected)
{
    const struct wsdbg_operand *operand = &definitions->graph->instructions[number].sources[source];
    struct value value;
    return operand->is_negated == is_negated && value_of(definitions, number, operand, &value) &&
           is_same(value, expected);
}

/* The instruction that wrote the value, if it is one of the two and has so many sources. */
static const struct wsdbg_instruction *writer_of(const struct wsdbg_definitions *definitions, struct value value,
                                                 uint8_t operation, uint8_t uniform, unsigned sources)
{
    const struct wsdbg_instruction *writer =
        value.written == WSDBG_GRAPH_NONE ? NULL : &definitions->graph->instructions[value.written];
    const bool fits = writer && (writer->operation == operation || writer->operation == uniform) &&
                      writer->source_count >= sources && wsdbg_compute_follows(writer);
    return fits ? writer : NULL;
}

static bool is_number(const struct wsdbg_instruction *instruction, unsigned source, uint32_t number)
{
    uint32_t is;
    return wsdbg_compute_is_number(&instruction->sources[source], &is) && is == number;
}

/* value = of >> shift, both unsigned; a value that is not shifted is its own. */
static bool is_shifted(const struct wsdbg_definitions *definitions, struct value *value, uint32_t *shift)
{
    const struct wsdbg_instruction *writer = writer_of(definitions, *value, WSDBG_OP_SHF, WSDBG_OP_USHF, 3);
    *shift = 0;
    if (!writer)
        return true;
    return writer->is_right_shift && writer->is_high && !writer->is_signed && !writer->is_wide &&
           is_number(writer, 0, 0) && wsdbg_compute_is_number(&writer->sources[1], shift) && *shift <= SHIFT_MOST &&
           !writer->sources[2].is_negated && value_of(definitions, value->written, &writer->sources[2], value);
}

/* difference = x - high, by adding or by multiplying with 1 and adding. */
static bool is_difference(const struct wsdbg_definitions *definitions, struct value difference, struct value x,
                          struct value high)
{
    const struct wsdbg_instruction *adds = writer_of(definitions, difference, WSDBG_OP_IADD3, WSDBG_OP_UIADD3, 3);
    const struct wsdbg_instruction *multiplies = writer_of(definitions, difference, WSDBG_OP_IMAD, WSDBG_OP_UIMAD, 3);
    for (unsigned i = 0; adds && i < 2; i++)
        if (is_value(definitions, difference.written, i, false, x) &&
            is_value(definitions, difference.written, 1 - i, true, high) && is_number(adds, 2, 0))
            return true;
    return multiplies && !multiplies->is_wide && !multiplies->is_high && is_number(multiplies, 1, 1) &&
           is_value(definitions, difference.written, 0, false, x) &&
           is_value(definitions, difference.written, 2, true, high);
}

/* value = (difference >> 1) + high in one instruction, or in two: then one of the sources, `half`, is what is shifted.
 */
static bool is_half_sum_of(const struct wsdbg_definitions *definitions, struct value value, unsigned half,
                           struct value *difference, struct value *high)
{
    const struct wsdbg_instruction *adds = writer_of(definitions, value, WSDBG_OP_IADD3, WSDBG_OP_UIADD3, 3);
    const struct wsdbg_instruction *both = writer_of(definitions, value, WSDBG_OP_LEA, WSDBG_OP_ULEA, 4);
    const struct wsdbg_instruction *sum = adds ? adds : both;
    const uint32_t all_but_one = 31;
    uint32_t shift;
    if (!sum || !is_number(sum, 2, 0) || sum->sources[0].is_negated || sum->sources[1].is_negated ||
        !value_of(definitions, value.written, &sum->sources[half], difference) ||
        !value_of(definitions, value.written, &sum->sources[1 - half], high))
        return false;
    if (both)
        return both->is_high && !both->is_signed && !half && is_number(both, 3, all_but_one);
    return is_shifted(definitions, difference, &shift) && shift == 1;
}

static bool is_half_sum(const struct wsdbg_definitions *definitions, struct value value, struct value *difference,
                        struct value *high)
{
    return is_half_sum_of(definitions, value, 0, difference, high) ||
           is_half_sum_of(definitions, value, 1, difference, high);
}

/* value = (x - high >> 1) + high: then *value becomes `high`, and *is_sum is true. */
static bool is_averaged(const struct wsdbg_definitions *definitions, struct value *value, struct value x, bool *is_sum)
{
    struct value difference, high;
    *is_sum = is_half_sum(definitions, *value, &difference, &high);
    if (!*is_sum)
        return true;
    *value = high;
    return is_difference(definitions, difference, x, high);
}

/* Of PTX: an instruction on 64 bits that wrote the value, if it is the one. */
static const struct wsdbg_instruction *long_writer_of(const struct wsdbg_definitions *definitions, struct value value,
                                                      uint8_t operation)
{
    const struct wsdbg_instruction *writer =
        value.written == WSDBG_GRAPH_NONE ? NULL : &definitions->graph->instructions[value.written];
    return writer && writer->operation == operation && writer->is_long && !writer->is_signed ? writer : NULL;
}

/* Of PTX: value = product >> 32 + *shift, where the product has 64 bits. */
static bool is_long_shifted(const struct wsdbg_definitions *definitions, struct value value, struct value *product,
                            uint32_t *shift)
{
    const struct wsdbg_instruction *shifts = long_writer_of(definitions, value, WSDBG_OP_SHF);
    const uint32_t low = 32;
    if (!shifts || !shifts->is_right_shift || shifts->source_count < 3 ||
        !wsdbg_compute_is_number(&shifts->sources[1], shift) || *shift < low || *shift > low + SHIFT_MOST ||
        !value_of(definitions, value.written, &shifts->sources[2], product))
        return false;
    *shift -= low;
    return true;
}

/* value = the upper half of a product: the instruction that multiplies; NULL = it is none. */
static const struct wsdbg_instruction *high_product_of(const struct wsdbg_definitions *definitions, struct value *value)
{
    const struct wsdbg_instruction *writer = writer_of(definitions, *value, WSDBG_OP_IMAD, WSDBG_OP_UIMAD, 3);
    const struct wsdbg_instruction *narrows = writer_of(definitions, *value, WSDBG_OP_MOV, WSDBG_OP_MOV, 1);
    struct value whole, product;
    uint32_t shift;
    if (narrows && value_of(definitions, value->written, &narrows->sources[0], &whole) &&
        is_long_shifted(definitions, whole, &product, &shift) && !shift) {
        *value = product;
        writer = long_writer_of(definitions, product, WSDBG_OP_IMAD);
        return writer && writer->from_words ? writer : NULL;
    }
    const unsigned part = writer && writer->is_wide ? 1 : 0;
    return writer && (writer->is_wide || writer->is_high) && writer->destination_count &&
                   wsdbg_register_of(&writer->destinations[0], part) == value->reg
               ? writer
               : NULL;
}

/* high = the upper half of (x >> before) * m. */
static bool is_high_product(const struct wsdbg_definitions *definitions, struct value high, struct value x,
                            uint32_t *before, uint32_t *m)
{
    const struct wsdbg_instruction *writer = high_product_of(definitions, &high);
    struct value factor;
    *before = 0;
    if (!writer || writer->is_signed || writer->source_count < 3 || !is_number(writer, 2, 0) ||
        !wsdbg_compute_is_number(&writer->sources[1], m) || writer->sources[0].is_negated ||
        !value_of(definitions, high.written, &writer->sources[0], &factor))
        return false;
    return is_same(factor, x) || (is_shifted(definitions, &factor, before) && is_same(factor, x));
}

static bool is_reciprocal(uint32_t before, uint32_t m, bool is_sum, uint32_t shift, uint32_t divisor)
{
    const uint64_t whole = m + ((uint64_t)is_sum << 32), one = (uint64_t)1 << (32 + is_sum + shift);
    const uint32_t rest = divisor >> before;
    return rest << before == divisor && !(is_sum && before) && whole * rest >= one &&
           whole * rest <= one + (one >> (32 - before));
}

bool wsdbg_remainder_at(const struct wsdbg_definitions *definitions, uint32_t instruction, uint32_t *divisor)
{
    const struct wsdbg_instruction *last = &definitions->graph->instructions[instruction];
    struct value x, value;
    uint32_t factor, before, shift, m;
    bool is_sum;
    if ((last->operation != WSDBG_OP_IMAD && last->operation != WSDBG_OP_UIMAD) || !wsdbg_compute_follows(last) ||
        last->is_wide || last->is_high || last->sources[0].is_negated || last->sources[2].is_negated ||
        !wsdbg_compute_is_number(&last->sources[1], &factor))
        return false;
    *divisor = -factor;
    return *divisor > 1 && *divisor <= DIVISOR_MOST && value_of(definitions, instruction, &last->sources[2], &x) &&
           value_of(definitions, instruction, &last->sources[0], &value) && is_shifted(definitions, &value, &shift) &&
           is_averaged(definitions, &value, x, &is_sum) && is_high_product(definitions, value, x, &before, &m) &&
           is_reciprocal(before, m, is_sum, shift, *divisor);
}

/* The least divisor whose reciprocal that may be; 0 = it is none. */
static uint32_t divisor_of(uint32_t before, uint32_t m, bool is_sum, uint32_t shift)
{
    const uint64_t whole = m + ((uint64_t)is_sum << 32), one = (uint64_t)1 << (32 + is_sum + shift);
    const uint64_t divisor = whole ? (one + whole - 1) / whole << before : 0;
    return divisor > 1 && divisor <= DIVISOR_MOST && is_reciprocal(before, m, is_sum, shift, (uint32_t)divisor)
               ? (uint32_t)divisor
               : 0;
}

/* Of PTX: the product has 64 bits, and so has what is shifted. */
static bool is_long_quotient(const struct wsdbg_definitions *definitions, uint32_t number, unsigned reg,
                             struct wsdbg_quotient *quotient)
{
    struct value product;
    uint32_t shift, m;
    if (!is_long_shifted(definitions, (struct value){reg, number}, &product, &shift))
        return false;
    const struct wsdbg_instruction *multiplies = long_writer_of(definitions, product, WSDBG_OP_IMAD);
    if (!multiplies || !multiplies->from_words || multiplies->source_count < 3 || !is_number(multiplies, 2, 0) ||
        !wsdbg_compute_is_number(&multiplies->sources[1], &m))
        return false;
    *quotient = (struct wsdbg_quotient){product.written, 0, divisor_of(0, m, false, shift)};
    return quotient->divisor;
}

/* The dividend of a quotient whose upper half of a product is `high`: what the product multiplies, or what that is
 * shifted from. */
static bool find_dividend(const struct wsdbg_definitions *definitions, struct value high,
                          struct wsdbg_quotient *quotient, struct value *x)
{
    const struct wsdbg_instruction *writer = high_product_of(definitions, &high);
    struct value before;
    uint32_t shift;
    if (!writer || !value_of(definitions, high.written, &writer->sources[0], x))
        return false;
    quotient->at = high.written;
    quotient->source = 0;
    before = *x;
    if (!is_shifted(definitions, &before, &shift) || is_same(before, *x))
        return true;
    quotient->at = x->written;
    quotient->source = 2;
    *x = before;
    return true;
}

bool wsdbg_quotient_at(const struct wsdbg_definitions *definitions, uint32_t instruction, unsigned reg,
                       struct wsdbg_quotient *quotient)
{
    struct value value = {reg, instruction}, difference, high, x;
    uint32_t shift, before, m;
    bool is_sum;
    if (is_long_quotient(definitions, instruction, reg, quotient))
        return true;
    if (!is_shifted(definitions, &value, &shift))
        return false;
    if (!is_half_sum(definitions, value, &difference, &high))
        high = value;
    if (!find_dividend(definitions, high, quotient, &x) || !is_averaged(definitions, &value, x, &is_sum) ||
        !is_high_product(definitions, value, x, &before, &m))
        return false;
    quotient->divisor = divisor_of(before, m, is_sum, shift);
    return quotient->divisor;
}

/* value is d - 1 where x is negative, else 0. */
static bool is_bias(const struct wsdbg_definitions *definitions, struct value value, struct value x, uint32_t divisor)
{
    const uint32_t sign = 31, kept = 32 - (uint32_t)__builtin_ctz(divisor);
    const struct wsdbg_instruction *writer = writer_of(definitions, value, WSDBG_OP_SHF, WSDBG_OP_USHF, 3);
    struct value from;
    if (!writer || !writer->is_right_shift || !writer->is_high || writer->is_signed || writer->is_wide ||
        !is_number(writer, 0, 0) || !is_number(writer, 1, kept) || writer->sources[2].is_negated ||
        !value_of(definitions, value.written, &writer->sources[2], &from))
        return false;
    if (is_same(from, x))
        return kept == sign;
    const struct wsdbg_instruction *spread = writer_of(definitions, from, WSDBG_OP_SHF, WSDBG_OP_USHF, 3);
    return spread && spread->is_right_shift && spread->is_high && spread->is_signed && !spread->is_wide &&
           is_number(spread, 0, 0) && is_number(spread, 1, sign) && is_value(definitions, from.written, 2, false, x);
}

static bool is_biased(const struct wsdbg_definitions *definitions, struct value sum, struct value x, uint32_t divisor)
{
    const struct wsdbg_instruction *adds = writer_of(definitions, sum, WSDBG_OP_IADD3, WSDBG_OP_UIADD3, 3);
    struct value bias;
    if (!adds || !is_number(adds, 2, 0) || adds->sources[0].is_negated || adds->sources[1].is_negated)
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (is_value(definitions, sum.written, i, false, x) &&
            value_of(definitions, sum.written, &adds->sources[1 - i], &bias) && is_bias(definitions, bias, x, divisor))
            return true;
    return false;
}

bool wsdbg_signed_remainder_at(const struct wsdbg_definitions *definitions, uint32_t instruction, uint32_t *divisor,
                               uint32_t *below)
{
    enum { AND = 0xc0 };
    const struct wsdbg_instruction *last = &definitions->graph->instructions[instruction];
    struct value x, whole, sum;
    uint32_t mask;
    if ((last->operation != WSDBG_OP_IADD3 && last->operation != WSDBG_OP_UIADD3) || !wsdbg_compute_follows(last) ||
        last->source_count != 3 || last->sources[0].is_negated || !last->sources[1].is_negated ||
        !is_number(last, 2, 0) || !value_of(definitions, instruction, &last->sources[0], &x) ||
        !value_of(definitions, instruction, &last->sources[1], &whole))
        return false;
    const struct wsdbg_instruction *ands = writer_of(definitions, whole, WSDBG_OP_LOP3, WSDBG_OP_ULOP3, 3);
    if (!ands || ands->table != AND || !wsdbg_compute_is_number(&ands->sources[1], &mask) || mask == 0 ||
        ands->sources[0].is_negated || !value_of(definitions, whole.written, &ands->sources[0], &sum))
        return false;
    *divisor = mask & -mask;
    const uint32_t past = mask + *divisor; /* one bit above the mask's, 0 where it reaches to the top */
    *below = past && past < (uint32_t)1 << 31 ? past : (uint32_t)1 << 31;
    return *divisor > 1 && *divisor <= DIVISOR_MOST && !(past & (past - 1)) && is_biased(definitions, sum, x, *divisor);
}
