/* thread_step.c - see thread_step.h.  Pure functions.
 *
 * A result has up to 128 bits, of which each written register takes its 32, and where it has one a carry or a condition
 * for the predicate that is written beside it.
 */
#include "sass/thread_step.h"

#include <string.h>

#include "sass/compute.h"
#include "sass/thread_bits.h"
#include "sass/thread_float.h"
#include "sass/thread_load.h"
#include "sass/thread_long.h"

enum { REGISTER_BITS = 32, PAND_BIT = 80, PRMT_MODE_BIT = 72, PRMT_MODES = 7, BYTE_BITS = 8 };
enum { PART_BIT = 76, PARTS = 3, CARRY_BIT = 81, SPECIAL_ZERO = 255, WORDS_MOST = 4 };
#define LOW_WORD UINT64_C(0xffffffff)

struct result {
    bool known;
    uint32_t mask;              /* of a word that is not known: the bits of it that are */
    uint64_t bits, more;        /* more: bits 64 to 127, of loads only */
    enum wsdbg_truth predicate; /* the first one that is written */
    enum wsdbg_truth second;    /* ... and the second, of sums alone; else not known */
    bool has_second;
    bool is_long; /* each register of PTX that is written gets 64 bits */
};

/* An instruction that is executed, and what it may read. */
struct step {
    const struct wsdbg_instruction *instruction;
    const struct wsdbg_thread_world *world;
    const struct wsdbg_thread_state *state;
};

typedef struct result step_fn(const struct step *step);

static const struct result unknown = {.predicate = WSDBG_TRUTH_UNKNOWN};

static struct result known(uint64_t bits)
{
    return (struct result){.known = true, .bits = bits, .predicate = WSDBG_TRUTH_UNKNOWN};
}

static bool is_zero_register(const struct wsdbg_operand *operand)
{
    return (operand->kind == WSDBG_OPERAND_REGISTER && operand->number == WSDBG_RZ) ||
           (operand->kind == WSDBG_OPERAND_UNIFORM && operand->number == WSDBG_URZ);
}

static bool is_predicate(const struct wsdbg_operand *operand)
{
    return operand->kind == WSDBG_OPERAND_PREDICATE || operand->kind == WSDBG_OPERAND_UNIFORM_PREDICATE;
}

static bool register_value(const struct wsdbg_thread_state *state, unsigned reg, uint32_t *value)
{
    if (reg >= WSDBG_REGISTER_COUNT || !state->known[reg])
        return false;
    *value = state->value[reg];
    return true;
}

static bool constant_offset(const struct wsdbg_thread_state *state, const struct wsdbg_operand *operand,
                            uint32_t *offset_bytes)
{
    uint32_t index = 0;
    if (operand->number != WSDBG_RZ && !register_value(state, operand->number, &index))
        return false;
    *offset_bytes = index + (uint32_t)operand->value;
    return true;
}

static bool constant(const struct wsdbg_thread_state *state, const struct wsdbg_thread_world *world,
                     const struct wsdbg_operand *operand, unsigned part, uint32_t *value)
{
    uint32_t offset;
    return world->constant && constant_offset(state, operand, &offset) &&
           world->constant(world->context, operand->bank, offset + part * (uint32_t)sizeof *value, value);
}

bool wsdbg_thread_operand(const struct wsdbg_thread_state *state, const struct wsdbg_thread_world *world,
                          const struct wsdbg_operand *operand, unsigned part, uint32_t *value)
{
    *value = 0;
    switch (operand->kind) {
    case WSDBG_OPERAND_REGISTER:
    case WSDBG_OPERAND_UNIFORM:
        return is_zero_register(operand) || register_value(state, wsdbg_register_of(operand, part), value);
    case WSDBG_OPERAND_IMMEDIATE:
        *value = (uint32_t)operand->value;
        return part == 0;
    case WSDBG_OPERAND_CONSTANT:
        return constant(state, world, operand, part, value);
    case WSDBG_OPERAND_SPECIAL:
        return part == 0 && world->special && world->special(world->context, (uint32_t)operand->value, value);
    default:
        return false;
    }
}

enum wsdbg_truth wsdbg_thread_predicate(const struct wsdbg_thread_state *state, const struct wsdbg_operand *operand)
{
    uint32_t value = 1;
    if (!is_predicate(operand) ||
        (operand->number != WSDBG_PT && !register_value(state, wsdbg_register_of(operand, 0), &value)))
        return WSDBG_TRUTH_UNKNOWN;
    return (value != 0) != operand->is_negated ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
}

enum wsdbg_truth wsdbg_thread_executes(const struct wsdbg_thread_state *state,
                                       const struct wsdbg_instruction *instruction)
{
    if (instruction->guard == WSDBG_PT && !instruction->guard_is_uniform)
        return instruction->guard_is_negated ? WSDBG_TRUTH_NO : WSDBG_TRUTH_YES;
    const struct wsdbg_operand guard = {.kind = instruction->guard_is_uniform ? WSDBG_OPERAND_UNIFORM_PREDICATE
                                                                              : WSDBG_OPERAND_PREDICATE,
                                        .number = instruction->guard,
                                        .is_negated = instruction->guard_is_negated};
    return wsdbg_thread_predicate(state, &guard);
}

static bool is_pair_known(const struct wsdbg_thread_state *state, const struct wsdbg_operand *first, uint64_t *value)
{
    const struct wsdbg_thread_world none = {0};
    uint32_t low, high;
    if (!wsdbg_thread_operand(state, &none, first, 0, &low) || !wsdbg_thread_operand(state, &none, first, 1, &high))
        return false;
    *value = (uint64_t)high << REGISTER_BITS | low;
    return true;
}

/* A pair of registers, or beside a pair of uniform ones a single register. */
bool wsdbg_thread_address(const struct wsdbg_thread_state *state, const struct wsdbg_operand *operand,
                          uint64_t *address)
{
    const struct wsdbg_operand general = {.kind = WSDBG_OPERAND_REGISTER, .number = operand->number};
    const struct wsdbg_operand uniform = {.kind = WSDBG_OPERAND_UNIFORM, .number = operand->uniform};
    uint64_t base = 0, added = 0;
    uint32_t low = 0;
    if (operand->kind != WSDBG_OPERAND_MEMORY || !is_pair_known(state, &uniform, &added) ||
        (operand->registers != 2 && operand->uniform == WSDBG_URZ))
        return false;
    if (operand->registers == 2 ? !is_pair_known(state, &general, &base)
                                : !register_value(state, operand->number, &low))
        return false;
    *address = (operand->registers == 2 ? base : low) + added + (uint64_t)operand->value;
    return true;
}

/* ---- sources ---- */

static bool plain(const struct step *step, unsigned source, unsigned part, uint32_t *value)
{
    return source < step->instruction->source_count &&
           wsdbg_thread_operand(step->state, step->world, &step->instruction->sources[source], part, value);
}

/* With its sign: -x is ~x + 1, which gives the carry that the hardware gives. */
static bool addend(const struct step *step, unsigned source, uint64_t *value)
{
    uint32_t word;
    if (!plain(step, source, 0, &word))
        return false;
    const struct wsdbg_operand *operand = &step->instruction->sources[source];
    *value = operand->is_negated || operand->is_inverted ? (uint32_t)~word : word;
    *value += operand->is_negated;
    return true;
}

static bool is_plain(const struct step *step, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (step->instruction->sources[i].is_negated || step->instruction->sources[i].is_inverted)
            return false;
    return true;
}

/* The predicates from source `first` on, each worth 1. */
static bool carries(const struct step *step, unsigned first, uint64_t *sum)
{
    for (unsigned i = first; i < step->instruction->source_count; i++) {
        const enum wsdbg_truth carry = wsdbg_thread_predicate(step->state, &step->instruction->sources[i]);
        if (carry == WSDBG_TRUTH_UNKNOWN)
            return false;
        *sum += carry == WSDBG_TRUTH_YES;
    }
    return true;
}

static enum wsdbg_truth truth_of(bool holds)
{
    return holds ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
}

/* The low word of a sum, and its carries.  A sum of three may have two, each with a predicate.  Which of them stands
 * for a single carry is not known; as both are added to the next words, it does not matter. */
static struct result sum_of(const struct step *step, uint64_t sum, bool is_of_two)
{
    const struct wsdbg_instruction *in = step->instruction;
    const bool is_first = (in->words[1] >> (CARRY_BIT - 64) & WSDBG_PT) != WSDBG_PT;
    const uint64_t carry = sum >> REGISTER_BITS;
    struct result result = known(sum & LOW_WORD);
    result.has_second = !is_of_two && in->destination_count == 3;
    if (is_first && (result.has_second || (is_of_two && carry <= 1)))
        result.predicate = truth_of(carry > 0);
    result.second = truth_of(carry > 1);
    return result;
}

/* ---- operations ---- */

static struct result partly(uint32_t value, uint32_t mask)
{
    return (struct result){
        .known = mask == UINT32_MAX, .mask = mask, .bits = value & mask, .predicate = WSDBG_TRUTH_UNKNOWN};
}

/* The bits of a source that are known; returns which. */
static uint32_t known_bits(const struct step *step, unsigned source, uint32_t *value)
{
    const struct wsdbg_operand *operand = &step->instruction->sources[source];
    const unsigned reg = wsdbg_register_of(operand, 0);
    if (plain(step, source, 0, value))
        return UINT32_MAX;
    if (operand->kind != WSDBG_OPERAND_REGISTER || reg >= WSDBG_REGISTER_COUNT)
        return 0;
    *value = step->state->value[reg] & step->state->bits[reg];
    return step->state->bits[reg];
}

static struct result move(const struct step *step)
{
    uint32_t word;
    if (!is_plain(step, 1))
        return unknown;
    const uint32_t mask = known_bits(step, 0, &word);
    return partly(word, mask);
}

/* Whole words, or a part of one. */
static struct result load(const struct step *step)
{
    const struct wsdbg_instruction *in = step->instruction;
    uint32_t words[WSDBG_LOAD_WORDS] = {0};
    struct result result = known(0);
    const bool writes_predicate = in->destination_count && is_predicate(&in->destinations[0]);
    if (writes_predicate || !wsdbg_thread_load(in, step->world, step->state, words))
        return unknown;
    result.bits = (uint64_t)words[1] << REGISTER_BITS | words[0];
    result.more = (uint64_t)words[3] << REGISTER_BITS | words[2];
    result.is_long = wsdbg_thread_load_is_long(in);
    return result;
}

static struct result special(const struct step *step)
{
    const struct wsdbg_instruction *in = step->instruction;
    uint32_t value;
    if (in->sources[0].kind == WSDBG_OPERAND_SPECIAL && in->sources[0].value == SPECIAL_ZERO)
        return known(0);
    return in->width_bytes <= sizeof value && plain(step, 0, 0, &value) ? known(value) : unknown;
}

/* Of a sum the low bits are known, as far as they are of all addends: nothing is carried into them. */
static struct result add_low(const struct step *step, unsigned count)
{
    uint64_t sum = 0;
    uint32_t known_in_all = UINT32_MAX, word;
    for (unsigned i = 0; i < count; i++) {
        const struct wsdbg_operand *operand = &step->instruction->sources[i];
        known_in_all &= known_bits(step, i, &word);
        sum += operand->is_negated || operand->is_inverted ? ~word : word;
        sum += operand->is_negated;
    }
    const uint32_t low = known_in_all & ~(known_in_all + 1); /* the ones below the lowest zero */
    return low && carries(step, count, &sum) ? partly((uint32_t)sum, low) : unknown;
}

static struct result add(const struct step *step)
{
    const unsigned count = step->instruction->operation == WSDBG_OP_VIADD ? 2 : 3;
    uint64_t sum = 0, value;
    unsigned zeros = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!addend(step, i, &value))
            return add_low(step, count);
        sum += value;
        zeros += is_zero_register(&step->instruction->sources[i]);
    }
    return carries(step, count, &sum) ? sum_of(step, sum, zeros > 0) : unknown;
}

static bool product(const struct step *step, uint64_t *value)
{
    uint32_t a = 0, b = 0;
    const bool a_known = plain(step, 0, 0, &a), b_known = plain(step, 1, 0, &b);
    *value = step->instruction->is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : (uint64_t)a * b;
    return is_plain(step, 2) && ((a_known && b_known) || (a_known && !a) || (b_known && !b));
}

static struct result multiply_add(const struct step *step)
{
    const struct wsdbg_instruction *in = step->instruction;
    const bool is_long = in->is_wide || in->is_high;
    uint64_t value, carry = 0;
    uint32_t low, high = 0;
    if (in->source_count < 3 || in->sources[2].is_inverted || !product(step, &value) || !plain(step, 2, 0, &low) ||
        (is_long && (in->has_carry_in || !plain(step, 2, 1, &high))) ||
        (in->has_carry_in && (in->sources[2].is_negated || !carries(step, 3, &carry))))
        return unknown;
    const uint64_t added = (uint64_t)high << REGISTER_BITS | low;
    value += (in->sources[2].is_negated ? -added : added) + carry;
    return known(in->is_high ? value >> REGISTER_BITS : in->is_wide ? value : value & LOW_WORD);
}

/* LEA: (A << shift) + B, or of .HI the high word of the 64 bits that are shifted. */
static struct result shift_add(const struct step *step)
{
    const struct wsdbg_instruction *in = step->instruction;
    const unsigned at = in->has_carry_in ? in->source_count - 2u : in->source_count - 1u;
    uint32_t low, high = 0, shift;
    uint64_t base;
    if (in->source_count < 3 || !is_plain(step, 1) || !plain(step, 0, 0, &low) || !addend(step, 1, &base) ||
        !plain(step, at, 0, &shift) || shift >= REGISTER_BITS)
        return unknown;
    if (in->is_high && at == 3 ? !plain(step, 2, 0, &high) : at != 2)
        return unknown;
    if (in->is_high && at == 2)
        high = (int32_t)low < 0 ? UINT32_MAX : 0; /* .SX32 */
    const uint64_t shifted = ((uint64_t)high << REGISTER_BITS | low) << shift;
    uint64_t sum = (in->is_high ? shifted >> REGISTER_BITS : shifted & LOW_WORD) + base;
    return carries(step, at + 1, &sum) ? sum_of(step, sum, true) : unknown;
}

/* A funnel shift of C and A, where the distance is less than a word. */
static struct result shift(const struct step *step)
{
    const struct wsdbg_instruction *in = step->instruction;
    uint32_t low, high, by;
    if (!is_plain(step, 3) || !plain(step, 0, 0, &low) || !plain(step, 1, 0, &by) || !plain(step, 2, 0, &high) ||
        by >= REGISTER_BITS)
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
static struct result logic(const struct step *step)
{
    const struct wsdbg_instruction *in = step->instruction;
    uint32_t value[3], mask[3], may_be[2] = {0, 0};
    if (in->source_count < 3)
        return unknown;
    for (unsigned i = 0; i < 3; i++)
        mask[i] = known_bits(step, i, &value[i]);
    for (unsigned row = 0; row < 8; row++) {
        uint32_t occurs = UINT32_MAX;
        for (unsigned i = 0; i < 3; i++)
            occurs &= ~mask[i] | (row >> (2 - i) & 1 ? value[i] : ~value[i]);
        may_be[in->table >> row & 1] |= occurs;
    }
    struct result result = partly(may_be[1], ~(may_be[0] & may_be[1]));
    if (in->source_count < 5 || (!result.known && !result.bits)) /* of PTX, or nobody knows whether it is 0 */
        return result;
    const enum wsdbg_truth other = wsdbg_thread_predicate(step->state, &in->sources[4]);
    const bool by_and = in->words[1] >> (PAND_BIT - 64) & 1;
    if (other != WSDBG_TRUTH_UNKNOWN)
        result.predicate = by_and ? (result.bits && other) : (result.bits || other);
    return result;
}

static struct result pick(const struct step *step)
{
    const enum wsdbg_truth first = step->instruction->source_count < 3
                                       ? WSDBG_TRUTH_UNKNOWN
                                       : wsdbg_thread_predicate(step->state, &step->instruction->sources[2]);
    uint32_t value;
    if (first == WSDBG_TRUTH_UNKNOWN || !is_plain(step, 2))
        return unknown;
    const uint32_t mask = known_bits(step, first == WSDBG_TRUTH_YES ? 0 : 1, &value);
    return partly(value, mask);
}

/* The less of two words where the condition holds, else the greater. */
static struct result least_or_most(const struct step *step, uint32_t a, uint32_t b, unsigned condition)
{
    const struct wsdbg_instruction *in = step->instruction;
    const enum wsdbg_truth least = condition < in->source_count
                                       ? wsdbg_thread_predicate(step->state, &in->sources[condition])
                                       : WSDBG_TRUTH_UNKNOWN;
    const bool is_less = in->is_signed ? (int32_t)a < (int32_t)b : a < b;
    return least == WSDBG_TRUTH_UNKNOWN ? unknown : known(is_less == (least == WSDBG_TRUTH_YES) ? a : b);
}

static struct result extremum(const struct step *step)
{
    const bool is_of_words =
        step->instruction->operation == WSDBG_OP_IMNMX || wsdbg_compute_is_of_words(step->instruction);
    uint32_t a, b;
    if (!is_of_words || !is_plain(step, 2) || !plain(step, 0, 0, &a) || !plain(step, 1, 0, &b))
        return unknown;
    return least_or_most(step, a, b, 2);
}

static struct result add_and_pick(const struct step *step)
{
    uint64_t a, b;
    uint32_t c;
    if (!wsdbg_compute_is_of_words(step->instruction) || !addend(step, 0, &a) || !addend(step, 1, &b) ||
        !plain(step, 2, 0, &c))
        return unknown;
    return least_or_most(step, (uint32_t)(a + b), c, 3);
}

static struct result permute(const struct step *step)
{
    uint32_t low, selector, high, bits = 0, mask = 0;
    if (step->instruction->words[1] >> (PRMT_MODE_BIT - 64) & PRMT_MODES || step->instruction->source_count < 3 ||
        !is_plain(step, 3) || !plain(step, 1, 0, &selector))
        return unknown;
    const uint64_t low_mask = known_bits(step, 0, &low), high_mask = known_bits(step, 2, &high);
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

/* Whether the words stand in the relation; of .EX the lower words say what equal ones leave open. */
static enum wsdbg_truth compared(const struct step *step, uint32_t a, uint32_t b)
{
    const struct wsdbg_instruction *in = step->instruction;
    const bool less = in->is_signed ? (int32_t)a < (int32_t)b : a < b;
    const unsigned relation = a == b ? WSDBG_VALUES_EQUAL : less ? WSDBG_VALUES_LESS : WSDBG_VALUES_GREATER;
    if (in->mode == WSDBG_COMPARE_F || in->mode == WSDBG_COMPARE_T)
        return in->mode == WSDBG_COMPARE_T ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
    if (in->source_count > 3 && a == b)
        return wsdbg_thread_predicate(step->state, &in->sources[3]);
    return wsdbg_compute_relations(in, true, false) & relation ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
}

static enum wsdbg_truth compared_long(const struct step *step)
{
    const struct wsdbg_instruction *in = step->instruction;
    const enum wsdbg_truth truth = wsdbg_thread_compares_long(in, step->world, step->state);
    const enum wsdbg_truth third =
        in->source_count < 3 ? WSDBG_TRUTH_UNKNOWN : wsdbg_thread_predicate(step->state, &in->sources[2]);
    return (enum wsdbg_truth)wsdbg_compute_combined(in, truth, third);
}

static struct result compare(const struct step *step)
{
    const struct wsdbg_instruction *in = step->instruction;
    enum wsdbg_truth truth = WSDBG_TRUTH_UNKNOWN;
    uint32_t a, b;
    if (in->source_count < 3 || !is_plain(step, 2))
        return unknown;
    if (plain(step, 0, 0, &a) && plain(step, 1, 0, &b))
        truth = compared(step, a, b);
    const enum wsdbg_truth third = wsdbg_thread_predicate(step->state, &in->sources[2]);
    return (struct result){.predicate = (enum wsdbg_truth)wsdbg_compute_combined(in, truth, third)};
}

/* Of three predicates, by a table. */
static struct result combine(const struct step *step)
{
    unsigned outcomes = 0;
    for (unsigned row = 0; row < 8; row++) {
        bool is_possible = step->instruction->source_count >= 3;
        for (unsigned i = 0; i < 3 && is_possible; i++) {
            const enum wsdbg_truth truth = wsdbg_thread_predicate(step->state, &step->instruction->sources[i]);
            is_possible = truth == WSDBG_TRUTH_UNKNOWN || (row >> (2 - i) & 1) == (truth == WSDBG_TRUTH_YES);
        }
        if (is_possible)
            outcomes |= 1u << (step->instruction->table >> row & 1);
    }
    const enum wsdbg_truth truths[] = {WSDBG_TRUTH_UNKNOWN, WSDBG_TRUTH_NO, WSDBG_TRUTH_YES, WSDBG_TRUTH_UNKNOWN};
    return (struct result){.predicate = truths[outcomes]};
}

/* ---- numbers with a point, and divisions ---- */

static struct result compare_floats(const struct step *step)
{
    struct wsdbg_operand sources[WSDBG_FLOAT_SOURCES_MOST];
    enum wsdbg_truth truth = WSDBG_TRUTH_UNKNOWN;
    uint32_t a, b;
    if (!wsdbg_thread_float_sources(step->instruction, sources))
        return unknown;
    if (wsdbg_thread_operand(step->state, step->world, &sources[0], 0, &a) &&
        wsdbg_thread_operand(step->state, step->world, &sources[1], 0, &b))
        truth = wsdbg_thread_float_compare(step->instruction, a, b) ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
    const enum wsdbg_truth third = wsdbg_thread_predicate(step->state, &sources[2]);
    return (struct result){.predicate = (enum wsdbg_truth)wsdbg_compute_combined(step->instruction, truth, third)};
}

static struct result step_of_floats(const struct step *step)
{
    struct wsdbg_operand sources[WSDBG_FLOAT_SOURCES_MOST];
    uint32_t values[WSDBG_FLOAT_SOURCES_MOST], out;
    if (step->instruction->operation == WSDBG_OP_FSETP)
        return compare_floats(step);
    const unsigned count = wsdbg_thread_float_sources(step->instruction, sources);
    for (unsigned i = 0; i < count; i++)
        if (!wsdbg_thread_operand(step->state, step->world, &sources[i], 0, &values[i]))
            return unknown;
    return count && wsdbg_thread_float(step->instruction, values, &out) ? known(out) : unknown;
}

/* PTX has one instruction for a division, machine code a row of steps. */
static struct result divide(const struct step *step)
{
    const struct wsdbg_instruction *in = step->instruction;
    uint32_t a, b;
    if (!plain(step, 0, 0, &a) || !plain(step, 1, 0, &b) || b == 0 || (in->is_signed && a == 1u << 31))
        return unknown;
    const uint32_t quotient = in->is_signed ? (uint32_t)((int32_t)a / (int32_t)b) : a / b;
    return known(in->mode ? a - quotient * b : quotient);
}

static struct result absolute(const struct step *step)
{
    uint32_t number;
    if (!is_plain(step, 1) || !plain(step, 0, 0, &number))
        return unknown;
    return known((int32_t)number < 0 ? -number : number);
}

static struct result count_bits(const struct step *step)
{
    uint32_t number, out;
    if (!is_plain(step, 1) || !plain(step, 0, 0, &number) || !wsdbg_thread_bits(step->instruction, number, &out))
        return unknown;
    return known(out);
}

/* P2R: the predicates of the mask take the place of the bits of source A. */
static struct result from_predicates(const struct step *step)
{
    const struct wsdbg_instruction *in = step->instruction;
    uint32_t word, mask, bits = 0, told = 0;
    if (in->source_count < 3 || in->words[1] >> (PART_BIT - 64) & PARTS || !plain(step, 2, 0, &mask))
        return unknown;
    const uint32_t word_mask = known_bits(step, 1, &word);
    for (unsigned i = 0; i < WSDBG_PT; i++) {
        const struct wsdbg_operand one = {.kind = WSDBG_OPERAND_PREDICATE, .number = (uint16_t)i, .registers = 1};
        const enum wsdbg_truth truth = wsdbg_thread_predicate(step->state, &one);
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

/* ---- registers that are written ---- */

static uint32_t word_of(const struct result *result, unsigned word)
{
    return (uint32_t)((word < 2 ? result->bits : result->more) >> REGISTER_BITS * (word & 1));
}

void wsdbg_thread_forget(struct wsdbg_thread_state *state, unsigned reg)
{
    state->known[reg] = state->high_known[reg] = false;
    state->value[reg] = state->bits[reg] = state->high[reg] = 0;
}

uint32_t wsdbg_thread_known_bits(const struct wsdbg_thread_state *state, unsigned reg)
{
    return state->known[reg] ? UINT32_MAX : state->bits[reg];
}

void wsdbg_thread_set_bits(struct wsdbg_thread_state *state, unsigned reg, uint32_t value, uint32_t mask)
{
    state->known[reg] = mask == UINT32_MAX;
    state->bits[reg] = mask;
    state->value[reg] = value & mask;
}

/* Writes a register; one whose instruction may not execute stays known where it holds this already. */
static void set(struct wsdbg_thread_state *state, unsigned reg, const struct result *result, unsigned word,
                bool is_certain)
{
    if (reg >= WSDBG_REGISTER_COUNT)
        return;
    const bool known = result->known && word < WORDS_MOST, has_high = known && result->is_long && word + 1 < WORDS_MOST;
    const uint32_t value = word < WORDS_MOST ? word_of(result, word) : 0,
                   high = has_high ? word_of(result, word + 1) : 0;
    uint32_t mask = known ? UINT32_MAX : word == 0 ? result->mask : 0;
    const bool high_stays = is_certain || (state->high_known[reg] && state->high[reg] == high);
    if (!is_certain)
        mask &= wsdbg_thread_known_bits(state, reg) & ~(state->value[reg] ^ value);
    wsdbg_thread_forget(state, reg);
    wsdbg_thread_set_bits(state, reg, value, mask);
    state->high_known[reg] = has_high && high_stays;
    state->high[reg] = state->high_known[reg] ? high : 0;
}

static void set_predicate(struct wsdbg_thread_state *state, unsigned reg, enum wsdbg_truth truth, bool is_certain)
{
    const struct result result = {.known = truth != WSDBG_TRUTH_UNKNOWN, .bits = truth == WSDBG_TRUTH_YES};
    set(state, reg, &result, 0, is_certain);
}

static void write_all(const struct wsdbg_instruction *instruction, const struct result *result, bool is_certain,
                      struct wsdbg_thread_state *state)
{
    const unsigned apart = wsdbg_compute_words_apart(instruction);
    bool has_predicate = false;
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *to = &instruction->destinations[i];
        if (is_predicate(to)) {
            const enum wsdbg_truth other = result->has_second ? result->second : WSDBG_TRUTH_UNKNOWN;
            const enum wsdbg_truth truth = has_predicate ? other : result->predicate;
            set_predicate(state, wsdbg_register_of(to, 0), truth, is_certain);
            for (unsigned part = 1; part < to->registers; part++)
                set_predicate(state, wsdbg_register_of(to, part), WSDBG_TRUTH_UNKNOWN, is_certain);
            has_predicate = true;
            continue;
        }
        for (unsigned part = 0; part == 0 || part < to->registers; part++)
            set(state, wsdbg_register_of(to, part), result, i * apart + part, is_certain);
    }
}

/* Forgets what differs from another state; true where that was anything. */
bool wsdbg_thread_meet(struct wsdbg_thread_state *state, const struct wsdbg_thread_state *other)
{
    bool changes = false;
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++) {
        const uint32_t mask = wsdbg_thread_known_bits(state, reg);
        const uint32_t both =
            mask ? mask & wsdbg_thread_known_bits(other, reg) & ~(state->value[reg] ^ other->value[reg]) : 0;
        if (both != mask) {
            wsdbg_thread_set_bits(state, reg, state->value[reg], both);
            changes = true;
        }
        if (state->high_known[reg] && (!other->high_known[reg] || other->high[reg] != state->high[reg])) {
            state->high_known[reg] = false;
            changes = true;
        }
    }
    return changes;
}

/* Of PTX: the low 16 bits of a sum, a product or a shifted number, which a register of 16 bits gets.  The sources are
 * right though the instruction is not whole. */
static bool is_cut_to_half(const struct wsdbg_instruction *instruction)
{
    const uint8_t operation = instruction->operation;
    return (operation == WSDBG_OP_IADD3 || operation == WSDBG_OP_IMAD || operation == WSDBG_OP_SHF) &&
           instruction->width_bytes == sizeof(uint16_t) && !instruction->words[0] && !instruction->words[1];
}

static struct result result_of(const struct step *step)
{
    const struct wsdbg_instruction *in = step->instruction;
    const bool is_of_halves = is_cut_to_half(in);
    step_fn *const follow =
        (in->is_whole || is_of_halves) && in->source_count ? followed[in->operation] : step_of_floats;
    struct result result = follow ? follow(step) : unknown;
    if (is_of_halves)
        return result.known ? known(result.bits & UINT16_MAX) : unknown;
    if (!in->is_long || in->operation == WSDBG_OP_LDC)
        return result;
    if (in->operation == WSDBG_OP_ISETP)
        return (struct result){.predicate = compared_long(step)};
    result.is_long = in->destination_count == 1;
    if (wsdbg_thread_long(in, step->world, step->state, &result.bits))
        result.known = true;
    else
        result.is_long = false;
    return result;
}

void wsdbg_thread_step(const struct wsdbg_instruction *instruction, const struct wsdbg_thread_world *world,
                       struct wsdbg_thread_state *state)
{
    const struct step step = {instruction, world, state};
    const enum wsdbg_truth executes = wsdbg_thread_executes(state, instruction);
    if (executes == WSDBG_TRUTH_NO)
        return;
    if (instruction->operation == WSDBG_OP_OTHER) {
        *state = (struct wsdbg_thread_state){0};
        return;
    }
    const struct result result = result_of(&step);
    write_all(instruction, &result, executes == WSDBG_TRUTH_YES, state);
}
