/* thread_result.c - see thread_result.h.
 *
 * Reads: an instruction and its sources in one thread.  Writes: nothing.
 *
 * Each operation has a function, and the table `followed` says which one.  The result of an operation without a row is
 * unknown.  An instruction without decoded sources may still be a step with floating-point numbers (thread_float.h).
 */
#include "sass/thread_result.h"

#include "sass/compute.h"
#include "sass/thread_bits.h"
#include "sass/thread_compare.h"
#include "sass/thread_float.h"
#include "sass/thread_load.h"
#include "sass/thread_long.h"

enum { REGISTER_BITS = 32, PAND_BIT = 80, PRMT_MODE_BIT = 72, PRMT_MODES = 7, BYTE_BITS = 8 };
enum { PART_BIT = 76, PARTS = 3, CARRY_BIT = 81, SPECIAL_ZERO = 255 };
#define LOW_WORD UINT64_C(0xffffffff)

typedef struct wsdbg_thread_result step_fn(const struct wsdbg_thread_reader *reader);

static const struct wsdbg_thread_result unknown = {.predicate = WSDBG_TRUTH_UNKNOWN};

static struct wsdbg_thread_result known(uint64_t bits)
{
    return (struct wsdbg_thread_result){.known = true, .bits = bits, .predicate = WSDBG_TRUTH_UNKNOWN};
}

static struct wsdbg_thread_result partly(uint32_t value, uint32_t mask)
{
    return (struct wsdbg_thread_result){
        .known = mask == UINT32_MAX, .mask = mask, .bits = value & mask, .predicate = WSDBG_TRUTH_UNKNOWN};
}

static enum wsdbg_truth truth_of(bool holds)
{
    return holds ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
}

/* The low word of a sum, and its carries.  A sum of three may have two, each with a predicate.  Which of them stands
 * for a single carry is not known; as both are added to the next words, it does not matter. */
static struct wsdbg_thread_result sum_of(const struct wsdbg_thread_reader *reader, uint64_t sum, bool is_of_two)
{
    const struct wsdbg_instruction *in = reader->instruction;
    const bool is_first = (in->words[1] >> (CARRY_BIT - 64) & WSDBG_PT) != WSDBG_PT;
    const uint64_t carry = sum >> REGISTER_BITS;
    struct wsdbg_thread_result result = known(sum & LOW_WORD);
    result.has_second = !is_of_two && in->destination_count == 3;
    if (is_first && (result.has_second || (is_of_two && carry <= 1)))
        result.predicate = truth_of(carry > 0);
    result.second = truth_of(carry > 1);
    return result;
}

static struct wsdbg_thread_result move(const struct wsdbg_thread_reader *reader)
{
    uint32_t word;
    if (!wsdbg_thread_is_plain(reader, 1))
        return unknown;
    const uint32_t mask = wsdbg_thread_source_bits(reader, 0, &word);
    return partly(word, mask);
}

/* Whole words, or a part of one. */
static struct wsdbg_thread_result load(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    uint32_t words[WSDBG_LOAD_WORDS] = {0};
    struct wsdbg_thread_result result = known(0);
    const bool writes_predicate = in->destination_count && wsdbg_is_predicate(&in->destinations[0]);
    if (writes_predicate || !wsdbg_thread_load(in, reader->world, reader->state, words))
        return unknown;
    result.bits = (uint64_t)words[1] << REGISTER_BITS | words[0];
    result.more = (uint64_t)words[3] << REGISTER_BITS | words[2];
    result.is_long = wsdbg_thread_load_is_long(in);
    return result;
}

static struct wsdbg_thread_result special(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    uint32_t value;
    if (in->sources[0].kind == WSDBG_OPERAND_SPECIAL && in->sources[0].value == SPECIAL_ZERO)
        return known(0);
    return in->width_bytes <= sizeof value && wsdbg_thread_source(reader, 0, 0, &value) ? known(value) : unknown;
}

/* Of a sum the low bits are known, as far as they are of all addends: nothing is carried into them. */
static struct wsdbg_thread_result add_low(const struct wsdbg_thread_reader *reader, unsigned count)
{
    uint64_t sum = 0;
    uint32_t known_in_all = UINT32_MAX, word;
    for (unsigned i = 0; i < count; i++) {
        const struct wsdbg_operand *operand = &reader->instruction->sources[i];
        known_in_all &= wsdbg_thread_source_bits(reader, i, &word);
        sum += operand->is_negated || operand->is_inverted ? ~word : word;
        sum += operand->is_negated;
    }
    const uint32_t low = known_in_all & ~(known_in_all + 1); /* the ones below the lowest zero */
    return low && wsdbg_thread_carries(reader, count, &sum) ? partly((uint32_t)sum, low) : unknown;
}

static struct wsdbg_thread_result add(const struct wsdbg_thread_reader *reader)
{
    const unsigned count = reader->instruction->operation == WSDBG_OP_VIADD ? 2 : 3;
    uint64_t sum = 0, value;
    unsigned zeros = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!wsdbg_thread_addend(reader, i, &value))
            return add_low(reader, count);
        sum += value;
        zeros += wsdbg_thread_is_zero(&reader->instruction->sources[i]);
    }
    return wsdbg_thread_carries(reader, count, &sum) ? sum_of(reader, sum, zeros > 0) : unknown;
}

static bool product(const struct wsdbg_thread_reader *reader, uint64_t *value)
{
    uint32_t a = 0, b = 0;
    const bool a_known = wsdbg_thread_source(reader, 0, 0, &a), b_known = wsdbg_thread_source(reader, 1, 0, &b);
    *value = reader->instruction->is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
    return wsdbg_thread_is_plain(reader, 2) && ((a_known && b_known) || (a_known && !a) || (b_known && !b));
}

static struct wsdbg_thread_result multiply_add(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    const bool is_long = in->is_wide || in->is_high;
    uint64_t value, carry = 0;
    uint32_t low, high = 0;
    if (in->source_count < 3 || (in->sources[2].is_inverted && is_long) || !product(reader, &value) ||
        !wsdbg_thread_source(reader, 2, 0, &low) ||
        (is_long && (in->has_carry_in || !wsdbg_thread_source(reader, 2, 1, &high))) ||
        (in->has_carry_in && (in->sources[2].is_negated || !wsdbg_thread_carries(reader, 3, &carry))))
        return unknown;
    const uint64_t added = (uint64_t)high << REGISTER_BITS | (in->sources[2].is_inverted ? ~low : low);
    value += (in->sources[2].is_negated ? -added : added) + carry;
    return known(in->is_high ? value >> REGISTER_BITS : in->is_wide ? value : value & LOW_WORD);
}

/* LEA: (A << shift) + B, or of .HI the high word of the 64 bits that are shifted. */
static struct wsdbg_thread_result shift_add(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    const unsigned at = in->has_carry_in ? in->source_count - 2u : in->source_count - 1u;
    uint32_t low, high = 0, shift;
    uint64_t base;
    if (in->source_count < 3 || !wsdbg_thread_is_plain(reader, 1) || !wsdbg_thread_source(reader, 0, 0, &low) ||
        !wsdbg_thread_addend(reader, 1, &base) || !wsdbg_thread_source(reader, at, 0, &shift) || shift >= REGISTER_BITS)
        return unknown;
    if (in->is_high && at == 3 ? !wsdbg_thread_source(reader, 2, 0, &high) : at != 2)
        return unknown;
    if (in->is_high && at == 2)
        high = (int32_t)low < 0 ? UINT32_MAX : 0; /* .SX32 */
    const uint64_t shifted = ((uint64_t)high << REGISTER_BITS | low) << shift;
    uint64_t sum = (in->is_high ? shifted >> REGISTER_BITS : shifted & LOW_WORD) + base;
    return wsdbg_thread_carries(reader, at + 1, &sum) ? sum_of(reader, sum, true) : unknown;
}

/* A funnel shift of C and A, where the distance is less than a word. */
static struct wsdbg_thread_result shift(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    uint32_t low, high, by;
    if (!wsdbg_thread_is_plain(reader, 3) || !wsdbg_thread_source(reader, 0, 0, &low) ||
        !wsdbg_thread_source(reader, 1, 0, &by) || !wsdbg_thread_source(reader, 2, 0, &high) || by >= REGISTER_BITS)
        return unknown;
    const uint64_t whole = (uint64_t)high << REGISTER_BITS | low;
    if (!in->is_right_shift)
        return known(in->is_high ? whole << by >> REGISTER_BITS : whole << by & LOW_WORD);
    const uint64_t shifted = in->is_signed ? (uint64_t)((int64_t)whole >> by) : whole >> by;
    if (!in->is_high && !in->is_wide)
        return unknown;
    return known(in->is_high ? shifted >> REGISTER_BITS : shifted & LOW_WORD);
}

/* A bit of the result is known where no value of the unknown bits changes it. */
static struct wsdbg_thread_result logic(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    uint32_t value[3], mask[3], may_be[2] = {0, 0};
    if (in->source_count < 3)
        return unknown;
    for (unsigned i = 0; i < 3; i++)
        mask[i] = wsdbg_thread_source_bits(reader, i, &value[i]);
    for (unsigned row = 0; row < 8; row++) {
        uint32_t occurs = UINT32_MAX;
        for (unsigned i = 0; i < 3; i++)
            occurs &= ~mask[i] | (row >> (2 - i) & 1 ? value[i] : ~value[i]);
        may_be[in->table >> row & 1] |= occurs;
    }
    struct wsdbg_thread_result result = partly(may_be[1], ~(may_be[0] & may_be[1]));
    if (in->source_count < 5 || (!result.known && !result.bits)) /* of PTX, or nobody knows whether it is 0 */
        return result;
    const enum wsdbg_truth other = wsdbg_thread_predicate(reader->state, &in->sources[4]);
    const bool by_and = in->words[1] >> (PAND_BIT - 64) & 1;
    if (other != WSDBG_TRUTH_UNKNOWN)
        result.predicate = by_and ? (result.bits && other) : (result.bits || other);
    return result;
}

static struct wsdbg_thread_result pick(const struct wsdbg_thread_reader *reader)
{
    const enum wsdbg_truth first = reader->instruction->source_count < 3
                                       ? WSDBG_TRUTH_UNKNOWN
                                       : wsdbg_thread_predicate(reader->state, &reader->instruction->sources[2]);
    uint32_t value;
    if (first == WSDBG_TRUTH_UNKNOWN || !wsdbg_thread_is_plain(reader, 2))
        return unknown;
    const uint32_t mask = wsdbg_thread_source_bits(reader, first == WSDBG_TRUTH_YES ? 0 : 1, &value);
    return partly(value, mask);
}

/* The less of two words where the condition holds, else the greater. */
static struct wsdbg_thread_result least_or_most(const struct wsdbg_thread_reader *reader, uint32_t a, uint32_t b,
                                                unsigned condition)
{
    const struct wsdbg_instruction *in = reader->instruction;
    const enum wsdbg_truth least = condition < in->source_count
                                       ? wsdbg_thread_predicate(reader->state, &in->sources[condition])
                                       : WSDBG_TRUTH_UNKNOWN;
    const bool is_less = in->is_signed ? (int32_t)a < (int32_t)b : a < b;
    return least == WSDBG_TRUTH_UNKNOWN ? unknown : known(is_less == (least == WSDBG_TRUTH_YES) ? a : b);
}

static struct wsdbg_thread_result extremum(const struct wsdbg_thread_reader *reader)
{
    const bool is_of_words =
        reader->instruction->operation == WSDBG_OP_IMNMX || wsdbg_compute_is_of_words(reader->instruction);
    uint32_t a, b;
    if (!is_of_words || !wsdbg_thread_is_plain(reader, 2) || !wsdbg_thread_source(reader, 0, 0, &a) ||
        !wsdbg_thread_source(reader, 1, 0, &b))
        return unknown;
    return least_or_most(reader, a, b, 2);
}

static struct wsdbg_thread_result add_and_pick(const struct wsdbg_thread_reader *reader)
{
    uint64_t a, b;
    uint32_t c;
    if (!wsdbg_compute_is_of_words(reader->instruction) || !wsdbg_thread_addend(reader, 0, &a) ||
        !wsdbg_thread_addend(reader, 1, &b) || !wsdbg_thread_source(reader, 2, 0, &c))
        return unknown;
    return least_or_most(reader, (uint32_t)(a + b), c, 3);
}

static struct wsdbg_thread_result permute(const struct wsdbg_thread_reader *reader)
{
    uint32_t low, selector, high, bits = 0, mask = 0;
    if (reader->instruction->words[1] >> (PRMT_MODE_BIT - 64) & PRMT_MODES || reader->instruction->source_count < 3 ||
        !wsdbg_thread_is_plain(reader, 3) || !wsdbg_thread_source(reader, 1, 0, &selector))
        return unknown;
    const uint64_t low_mask = wsdbg_thread_source_bits(reader, 0, &low),
                   high_mask = wsdbg_thread_source_bits(reader, 2, &high);
    const uint64_t bytes = (uint64_t)high << REGISTER_BITS | low, masks = high_mask << REGISTER_BITS | low_mask;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned nibble = selector >> 4 * i & 15, at = BYTE_BITS * (nibble & 7);
        const uint32_t byte = bytes >> at & 0xff, byte_mask = masks >> at & 0xff;
        const bool is_sign = nibble & 8;
        bits |= (is_sign ? (byte & 0x80 ? 0xffu : 0) : byte) << BYTE_BITS * i;
        mask |= (is_sign ? (byte_mask & 0x80 ? 0xffu : 0) : byte_mask) << BYTE_BITS * i;
    }
    return partly(bits, mask);
}

static struct wsdbg_thread_result only(enum wsdbg_truth predicate)
{
    return (struct wsdbg_thread_result){.predicate = predicate};
}

static struct wsdbg_thread_result compare(const struct wsdbg_thread_reader *reader)
{
    return only(wsdbg_thread_compare_words(reader));
}

static struct wsdbg_thread_result compare_floats(const struct wsdbg_thread_reader *reader)
{
    return only(wsdbg_thread_compare_floats(reader));
}

static struct wsdbg_thread_result combine(const struct wsdbg_thread_reader *reader)
{
    return only(wsdbg_thread_combine(reader));
}

static bool value_of_float_source(const struct wsdbg_thread_reader *reader, const struct wsdbg_operand *source,
                                  uint64_t *value)
{
    uint32_t low, high = 0;
    if (!wsdbg_thread_operand(reader->state, reader->world, source, 0, &low) ||
        (source->registers > 1 && !wsdbg_thread_operand(reader->state, reader->world, source, 1, &high)))
        return false;
    *value = (uint64_t)high << REGISTER_BITS | low;
    return true;
}

static struct wsdbg_thread_result step_of_floats(const struct wsdbg_thread_reader *reader)
{
    struct wsdbg_operand sources[WSDBG_FLOAT_SOURCES_MOST];
    uint64_t values[WSDBG_FLOAT_SOURCES_MOST], out;
    if (reader->instruction->operation == WSDBG_OP_FSETP)
        return compare_floats(reader);
    const unsigned count = wsdbg_thread_float_sources(reader->instruction, sources);
    for (unsigned i = 0; i < count; i++)
        if (!value_of_float_source(reader, &sources[i], &values[i]))
            return unknown;
    return count && wsdbg_thread_float(reader->instruction, values, &out) ? known(out) : unknown;
}

/* PTX has one instruction for a division, machine code a row of steps. */
static struct wsdbg_thread_result divide(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    uint32_t a, b;
    if (!wsdbg_thread_source(reader, 0, 0, &a) || !wsdbg_thread_source(reader, 1, 0, &b) || b == 0 ||
        (in->is_signed && a == 1u << 31))
        return unknown;
    const uint32_t quotient = in->is_signed ? (uint32_t)((int32_t)a / (int32_t)b) : a / b;
    return known(in->mode ? a - quotient * b : quotient);
}

static struct wsdbg_thread_result absolute(const struct wsdbg_thread_reader *reader)
{
    uint32_t number;
    if (!wsdbg_thread_is_plain(reader, 1) || !wsdbg_thread_source(reader, 0, 0, &number))
        return unknown;
    return known((int32_t)number < 0 ? -number : number);
}

static struct wsdbg_thread_result count_bits(const struct wsdbg_thread_reader *reader)
{
    uint32_t number, out;
    if (!wsdbg_thread_is_plain(reader, 1) || !wsdbg_thread_source(reader, 0, 0, &number) ||
        !wsdbg_thread_bits(reader->instruction, number, &out))
        return unknown;
    return known(out);
}

/* bfe of PTX: the field of the first source, without its sign. */
static struct wsdbg_thread_result extract_field(const struct wsdbg_thread_reader *reader, uint32_t first,
                                                uint32_t length)
{
    const uint32_t field = wsdbg_thread_field(first, length), from = first & 0xff;
    uint32_t word;
    const uint32_t mask = wsdbg_thread_source_bits(reader, 0, &word);
    if (!field)
        return known(0);
    return reader->instruction->is_signed ? unknown
                                          : partly((word & field) >> from, (mask & field) >> from | ~(field >> from));
}

/* bfi of PTX: the second source with the field replaced by the low bits of the first. */
static struct wsdbg_thread_result insert_field(const struct wsdbg_thread_reader *reader, uint32_t first,
                                               uint32_t length)
{
    const uint32_t field = wsdbg_thread_field(first, length), from = field ? first & 0xff : 0;
    uint32_t word, other;
    const uint32_t mask = wsdbg_thread_source_bits(reader, 0, &word),
                   other_mask = wsdbg_thread_source_bits(reader, 1, &other);
    return partly((word << from & field) | (other & ~field), (mask << from & field) | (other_mask & ~field));
}

/* SGXT of machine code: the low bits of a word, with their sign in those above, or zeros. */
static struct wsdbg_thread_result extend(const struct wsdbg_thread_reader *reader)
{
    uint32_t word, length;
    const uint32_t mask = wsdbg_thread_source_bits(reader, 0, &word);
    if (reader->instruction->source_count < 2 || !wsdbg_thread_is_plain(reader, 2) ||
        !wsdbg_thread_source(reader, 1, 0, &length) || !length || length >= REGISTER_BITS)
        return unknown;
    const uint32_t field = wsdbg_thread_field(0, length), sign = field ^ field >> 1;
    if (!reader->instruction->is_signed)
        return partly(word & field, mask | ~field);
    return partly(word & sign ? word | ~field : word & field, mask & sign ? mask | ~field : mask & field);
}

/* Of PTX, with the place and the length of the field as the last sources. */
static struct wsdbg_thread_result field(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    uint32_t first, length;
    if (wsdbg_is_machine_code(in))
        return extend(reader);
    if (in->source_count < 3 || !wsdbg_thread_source(reader, in->source_count - 2u, 0, &first) ||
        !wsdbg_thread_source(reader, in->source_count - 1u, 0, &length))
        return unknown;
    return in->source_count == 3 ? extract_field(reader, first, length) : insert_field(reader, first, length);
}

/* P2R: the predicates of the mask take the place of the bits of source A. */
static struct wsdbg_thread_result from_predicates(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    uint32_t word, mask, bits = 0, told = 0;
    if (in->source_count < 3 || in->words[1] >> (PART_BIT - 64) & PARTS || !wsdbg_thread_source(reader, 2, 0, &mask))
        return unknown;
    const uint32_t word_mask = wsdbg_thread_source_bits(reader, 1, &word);
    for (unsigned i = 0; i < WSDBG_PT; i++) {
        const struct wsdbg_operand one = {.kind = WSDBG_OPERAND_PREDICATE, .number = (uint16_t)i, .registers = 1};
        const enum wsdbg_truth truth = wsdbg_thread_predicate(reader->state, &one);
        bits |= (uint32_t)(truth == WSDBG_TRUTH_YES) << i;
        told |= (uint32_t)(truth != WSDBG_TRUTH_UNKNOWN) << i;
    }
    return partly((word & ~mask) | (bits & mask), (word_mask & ~mask) | (told & mask));
}

static step_fn *const followed[WSDBG_OP_COUNT] = {
    [WSDBG_OP_P2R] = from_predicates,
    [WSDBG_OP_IABS] = absolute,
    [WSDBG_OP_POPC] = count_bits,
    [WSDBG_OP_UPOPC] = count_bits,
    [WSDBG_OP_FLO] = count_bits,
    [WSDBG_OP_UFLO] = count_bits,
    [WSDBG_OP_BREV] = count_bits,
    [WSDBG_OP_FSETP] = compare_floats,
    [WSDBG_OP_FMUL] = step_of_floats,
    [WSDBG_OP_MUFU] = divide,
    [WSDBG_OP_SGXT] = field,
    [WSDBG_OP_MOV] = move,
    [WSDBG_OP_UMOV] = move,
    [WSDBG_OP_R2UR] = move,
    [WSDBG_OP_LDC] = load,
    [WSDBG_OP_ULDC] = load,
    [WSDBG_OP_LD] = load,
    [WSDBG_OP_LDG] = load,
    [WSDBG_OP_S2R] = special,
    [WSDBG_OP_S2UR] = special,
    [WSDBG_OP_CS2R] = special,
    [WSDBG_OP_IADD3] = add,
    [WSDBG_OP_UIADD3] = add,
    [WSDBG_OP_VIADD] = add,
    [WSDBG_OP_IMAD] = multiply_add,
    [WSDBG_OP_UIMAD] = multiply_add,
    [WSDBG_OP_LEA] = shift_add,
    [WSDBG_OP_ULEA] = shift_add,
    [WSDBG_OP_SHF] = shift,
    [WSDBG_OP_USHF] = shift,
    [WSDBG_OP_LOP3] = logic,
    [WSDBG_OP_ULOP3] = logic,
    [WSDBG_OP_SEL] = pick,
    [WSDBG_OP_USEL] = pick,
    [WSDBG_OP_PRMT] = permute,
    [WSDBG_OP_UPRMT] = permute,
    [WSDBG_OP_ISETP] = compare,
    [WSDBG_OP_UISETP] = compare,
    [WSDBG_OP_PLOP3] = combine,
    [WSDBG_OP_UPLOP3] = combine,
    [WSDBG_OP_IMNMX] = extremum,
    [WSDBG_OP_VIMNMX] = extremum,
    [WSDBG_OP_VIADDMNMX] = add_and_pick,
};

/* Of PTX: the low 16 bits of a sum, a product, a logical result or a shifted number, which a register of 16 bits gets.
 * The sources are right though the instruction is not whole. */
static bool is_cut_to_half(const struct wsdbg_instruction *instruction)
{
    const uint8_t operation = instruction->operation;
    return (operation == WSDBG_OP_IADD3 || operation == WSDBG_OP_IMAD || operation == WSDBG_OP_LOP3 ||
            operation == WSDBG_OP_SHF) &&
           instruction->width_bytes == sizeof(uint16_t) && !wsdbg_is_machine_code(instruction);
}

struct wsdbg_thread_result wsdbg_thread_result(const struct wsdbg_thread_reader *reader)
{
    const struct wsdbg_instruction *in = reader->instruction;
    const bool is_of_halves = is_cut_to_half(in);
    step_fn *const follow =
        (in->is_whole || is_of_halves) && in->source_count ? followed[in->operation] : step_of_floats;
    struct wsdbg_thread_result result = follow ? follow(reader) : unknown;
    if (is_of_halves)
        return result.known ? known(result.bits & UINT16_MAX) : unknown;
    if (!in->is_long || in->operation == WSDBG_OP_LDC)
        return result;
    if (in->operation == WSDBG_OP_ISETP)
        return only(wsdbg_thread_compare_long(reader));
    result.is_long = in->destination_count == 1;
    if (wsdbg_thread_long(reader, &result.bits))
        result.known = true;
    else
        result.is_long = false;
    return result;
}
