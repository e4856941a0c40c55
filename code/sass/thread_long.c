/* thread_long.c - see thread_long.h.  Pure functions.
 *
 * The operations are those of machine code that code/translate chose, with operands of 64 bits.  With
 * from_words their sources are words, of which is_signed says how they are widened.
 */
#include "sass/thread_long.h"

#include "sass/compute.h"

enum { WORD_BITS = 32, LONG_BITS = 64 };

static bool is_zero(const struct wsdbg_operand *operand)
{
    return operand->kind == WSDBG_OPERAND_REGISTER && operand->number == WSDBG_RZ;
}

/* A register has its high half beside its word; a number has all its bits. */
static bool high_of(const struct wsdbg_thread_reader *reader, unsigned source, uint32_t *high)
{
    const struct wsdbg_operand *operand = &reader->instruction->sources[source];
    const unsigned reg = wsdbg_register_of(operand, 0);
    *high = operand->kind == WSDBG_OPERAND_IMMEDIATE ? (uint32_t)((uint64_t)operand->value >> WORD_BITS) : 0;
    if (operand->kind == WSDBG_OPERAND_IMMEDIATE || is_zero(operand))
        return true;
    if (operand->kind == WSDBG_OPERAND_CONSTANT)
        return wsdbg_thread_source(reader, source, 1, high);
    if (operand->kind != WSDBG_OPERAND_REGISTER || reg >= WSDBG_REGISTER_COUNT || !reader->state->high_known[reg])
        return false;
    *high = reader->state->high[reg];
    return true;
}

static bool value_of(const struct wsdbg_thread_reader *reader, unsigned source, uint64_t *value)
{
    uint32_t low, high;
    if (!wsdbg_thread_source(reader, source, 0, &low))
        return false;
    if (reader->instruction->from_words)
        high = reader->instruction->is_signed && (int32_t)low < 0 ? UINT32_MAX : 0;
    else if (!high_of(reader, source, &high))
        return false;
    *value = (uint64_t)high << WORD_BITS | low;
    if (reader->instruction->sources[source].is_negated)
        *value = 0 - *value;
    return true;
}

/* Words of two registers, or a number that is moved or widened. */
static bool move(const struct wsdbg_thread_reader *reader, uint64_t *out)
{
    uint32_t low, high;
    if (reader->instruction->source_count != 2)
        return value_of(reader, 0, out);
    if (!wsdbg_thread_source(reader, 0, 0, &low) || !wsdbg_thread_source(reader, 1, 0, &high))
        return false;
    *out = (uint64_t)high << WORD_BITS | low;
    return true;
}

static bool add(const struct wsdbg_thread_reader *reader, uint64_t *out)
{
    uint64_t a, b;
    if (!value_of(reader, 0, &a) || !value_of(reader, 1, &b))
        return false;
    *out = a + b;
    return true;
}

static uint64_t high_product(const struct wsdbg_thread_reader *reader, uint64_t a, uint64_t b)
{
    if (reader->instruction->is_signed)
        return (uint64_t)((__int128)(int64_t)a * (int64_t)b >> LONG_BITS);
    return (uint64_t)((unsigned __int128)a * b >> LONG_BITS);
}

/* What is added has 64 bits, also where the factors have 32. */
static bool multiply_add(const struct wsdbg_thread_reader *reader, uint64_t *out)
{
    struct wsdbg_instruction as_long = *reader->instruction;
    uint64_t a, b, c;
    as_long.from_words = false;
    const struct wsdbg_thread_reader added = {&as_long, reader->world, reader->state};
    if (!value_of(reader, 0, &a) || !value_of(reader, 1, &b) || !value_of(&added, 2, &c))
        return false;
    *out = (reader->instruction->is_high ? high_product(reader, a, b) : a * b) + c;
    return true;
}

/* SHF's sources: what is shifted to the left, the distance, what is shifted to the right. */
static bool shift(const struct wsdbg_thread_reader *reader, uint64_t *out)
{
    const bool right = reader->instruction->is_right_shift;
    uint64_t value;
    uint32_t by;
    if (!value_of(reader, right ? 2 : 0, &value) || !wsdbg_thread_source(reader, 1, 0, &by))
        return false;
    const uint64_t filled = right && reader->instruction->is_signed && (int64_t)value < 0 ? UINT64_MAX : 0;
    if (by >= LONG_BITS || by == 0)
        *out = by ? filled : value;
    else if (right)
        *out = value >> by | filled << (LONG_BITS - by);
    else
        *out = value << by;
    return true;
}

static uint64_t combine(uint8_t table, const uint64_t values[3])
{
    uint64_t bits = 0;
    for (unsigned row = 0; row < 8; row++)
        if (table >> row & 1)
            bits |= (row & 4 ? values[0] : ~values[0]) & (row & 2 ? values[1] : ~values[1]) &
                    (row & 1 ? values[2] : ~values[2]);
    return bits;
}

/* High halves that are not known may not matter: an address has its low bits cut out, say.  Each bit of the result
 * depends on the same bit of the sources alone, so it is enough to try all zeros and all ones. */
static bool logic(const struct wsdbg_thread_reader *reader, uint64_t *out)
{
    enum { SOURCES = 3 };
    uint64_t values[SOURCES];
    unsigned unknown = 0;
    for (unsigned i = 0; i < SOURCES; i++) {
        uint32_t low;
        if (value_of(reader, i, &values[i]))
            continue;
        if (!wsdbg_thread_source(reader, i, 0, &low) || reader->instruction->sources[i].is_negated)
            return false;
        values[i] = low;
        unknown |= 1u << i;
    }
    *out = combine(reader->instruction->table, values);
    for (unsigned ones = 1; ones < 1u << SOURCES; ones++) {
        uint64_t tried[SOURCES];
        for (unsigned i = 0; i < SOURCES; i++)
            tried[i] = values[i] | (ones >> i & 1 ? UINT64_MAX << WORD_BITS : 0);
        if (!(ones & ~unknown) && combine(reader->instruction->table, tried) != *out)
            return false;
    }
    return true;
}

static enum wsdbg_truth condition_of(const struct wsdbg_thread_reader *reader)
{
    return reader->instruction->source_count < 3
               ? WSDBG_TRUTH_UNKNOWN
               : wsdbg_thread_predicate(reader->state, &reader->instruction->sources[2]);
}

static bool pick(const struct wsdbg_thread_reader *reader, uint64_t *out)
{
    const enum wsdbg_truth first = condition_of(reader);
    return first != WSDBG_TRUTH_UNKNOWN && value_of(reader, first == WSDBG_TRUTH_YES ? 0 : 1, out);
}

/* The less of both where the condition holds, else the greater. */
static bool extremum(const struct wsdbg_thread_reader *reader, uint64_t *out)
{
    const enum wsdbg_truth least = condition_of(reader);
    uint64_t a, b;
    if (least == WSDBG_TRUTH_UNKNOWN || !value_of(reader, 0, &a) || !value_of(reader, 1, &b))
        return false;
    const bool is_less = reader->instruction->is_signed ? (int64_t)a < (int64_t)b : a < b;
    *out = is_less == (least == WSDBG_TRUTH_YES) ? a : b;
    return true;
}

static bool divide(const struct wsdbg_thread_reader *reader, uint64_t *out)
{
    uint64_t a, b;
    if (!value_of(reader, 0, &a) || !value_of(reader, 1, &b) || b == 0)
        return false;
    const bool is_signed = reader->instruction->is_signed;
    if (is_signed && a == (uint64_t)1 << (LONG_BITS - 1))
        return false;
    const uint64_t quotient = is_signed ? (uint64_t)((int64_t)a / (int64_t)b) : a / b;
    *out = reader->instruction->mode ? a - quotient * b : quotient;
    return true;
}

bool wsdbg_thread_long(const struct wsdbg_thread_reader *reader, uint64_t *out)
{
    switch (reader->instruction->operation) {
    case WSDBG_OP_MOV:
        return move(reader, out);
    case WSDBG_OP_IADD3:
        return add(reader, out);
    case WSDBG_OP_IMAD:
        return multiply_add(reader, out);
    case WSDBG_OP_SHF:
        return shift(reader, out);
    case WSDBG_OP_LOP3:
        return logic(reader, out);
    case WSDBG_OP_SEL:
        return pick(reader, out);
    case WSDBG_OP_IMNMX:
        return extremum(reader, out);
    case WSDBG_OP_MUFU:
        return divide(reader, out);
    default:
        return false;
    }
}

enum wsdbg_truth wsdbg_thread_compares_long(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *instruction = reader->instruction;
    uint64_t a, b;
    if (!value_of(reader, 0, &a) || !value_of(reader, 1, &b))
        return WSDBG_TRUTH_UNKNOWN;
    const bool less = instruction->is_signed ? (int64_t)a < (int64_t)b : a < b;
    const unsigned relation = a == b ? WSDBG_VALUES_EQUAL : less ? WSDBG_VALUES_LESS : WSDBG_VALUES_GREATER;
    return wsdbg_compute_relations(instruction, true, false) & relation ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
}
