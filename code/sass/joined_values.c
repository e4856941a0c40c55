/* joined_values.c - what an instruction of joined code computes, as far as it has to do with addresses of the stack
 * frame: see joined_frame_parts.h.
 *
 * Reads: the state at hand.  Writes: spans that it finds.
 */
#include "sass/joined_frame_parts.h"
#include "sass/thread_load.h"

enum { SPECIAL_SHARED_HIGH = 0x2f };
enum { STACK_OFFSET = 0x28 }; /* in bank 0 of the constants */

static uint32_t constant_value(const struct wsdbg_operand *operand, unsigned part)
{
    const int64_t offset = operand->value + (int64_t)part * WORD_BYTES;
    if (operand->bank)
        return OTHER;
    if (offset >= WSDBG_PARAMETERS)
        return PASSED;
    if (operand->number != WSDBG_RZ)
        return OTHER;
    if (offset == WSDBG_PARAMETERS_POINTER + WORD_BYTES)
        return PARAMETERS;
    return offset == STACK_OFFSET ? with_number(KIND_LOCAL, 0) : offset == JOINED_WINDOW_OFFSET ? WINDOW : OTHER;
}

uint32_t frame_value_of(const struct frame *frame, const struct wsdbg_operand *operand, unsigned part)
{
    switch (operand->kind) {
    case WSDBG_OPERAND_REGISTER:
    case WSDBG_OPERAND_UNIFORM:
        return wsdbg_register_of(operand, 0) == WSDBG_REGISTER_NONE
                   ? with_number(KIND_NUMBER, 0)
                   : register_value(frame, wsdbg_register_of(operand, part));
    case WSDBG_OPERAND_IMMEDIATE:
        return with_number(KIND_NUMBER, part ? 0 : (int32_t)operand->value);
    case WSDBG_OPERAND_CONSTANT:
        return constant_value(operand, part);
    case WSDBG_OPERAND_SPECIAL:
        return operand->value == SPECIAL_SHARED_HIGH ? SHARED : OTHER;
    default:
        return OTHER;
    }
}

/* What is left of two values that are added to, or masked by, one another: of which memory the address is. */
static uint32_t joint_memory(uint32_t a, uint32_t b)
{
    if (is_of_frame(a) || is_of_frame(b))
        return DERIVED;
    if (a == SHARED || b == SHARED)
        return SHARED;
    if (a == PARAMETERS || b == PARAMETERS)
        return PARAMETERS;
    return a == PASSED || b == PASSED ? PASSED : OTHER;
}

static uint32_t sum_of(uint32_t a, uint32_t b)
{
    const uint32_t kinds[] = {kind_of(a), kind_of(b)};
    if (kinds[0] == KIND_NUMBER && kinds[1] == KIND_NUMBER)
        return with_number(KIND_NUMBER, (int64_t)number_of(a) + number_of(b));
    if (kinds[1] == KIND_NUMBER)
        return sum_of(b, a);
    if (kinds[0] == KIND_NUMBER && kinds[1] != KIND_PLAIN)
        return with_number(kinds[1], (int64_t)number_of(a) + number_of(b));
    if (kinds[0] == KIND_NUMBER && number_of(a) == 0)
        return b;
    if (a == WINDOW && kinds[1] == KIND_LOCAL)
        return with_number(KIND_GENERIC, number_of(b));
    if (b == WINDOW && kinds[0] == KIND_LOCAL)
        return with_number(KIND_GENERIC, number_of(a));
    return joint_memory(a, b);
}

static uint32_t negated(uint32_t value)
{
    if (kind_of(value) == KIND_NUMBER)
        return with_number(KIND_NUMBER, -(int64_t)number_of(value));
    return is_of_frame(value) || value == WINDOW ? DERIVED : value;
}

/* The memory of an address that is added to with a carry, masked, or a product and an address. */
static uint32_t memory_of_sources(const struct frame *frame, const struct wsdbg_instruction *in, unsigned part)
{
    const unsigned first = in->operation == WSDBG_OP_IMAD && in->is_wide ? 2 : 0;
    uint32_t memory = OTHER;
    for (unsigned i = first; i < in->source_count; i++)
        if (!wsdbg_is_predicate(&in->sources[i]))
            memory = joint_memory(memory, frame_value_of(frame, &in->sources[i], first ? part : 0));
    return memory;
}

/* A frame may begin at a multiple of its alignment.  The stack does, so that the place in it tells. */
static uint32_t aligned(const struct frame *frame, const struct wsdbg_instruction *in)
{
    enum { TABLE_OF_AND = 0xc0, ALIGNMENT_MOST = 128 };
    const struct wsdbg_operand *mask = &in->sources[1];
    const uint32_t value = frame_value_of(frame, &in->sources[0], 0);
    const int32_t bits = (int32_t)mask->value;
    const bool is_mask = in->table == TABLE_OF_AND && mask->kind == WSDBG_OPERAND_IMMEDIATE && bits < 0 &&
                         bits >= -ALIGNMENT_MOST && !(-bits & (-bits - 1));
    if (is_mask && kind_of(value) == KIND_LOCAL)
        return with_number(KIND_LOCAL, number_of(value) & bits);
    return memory_of_sources(frame, in, 0);
}

/* Whether the index of this sum was found to be no constant before. */
static bool was_span(const struct frame *frame, const struct wsdbg_instruction *in)
{
    return frame->spans[in - frame->graph->instructions].base != NOTHING;
}

/* Whether a span's sums are of another span. */
static bool is_of(const struct frame *frame, uint32_t value, uint32_t other)
{
    enum { STEPS_MOST = 64 };
    for (unsigned i = 0; i < STEPS_MOST && is_span(value); i++) {
        value = frame->spans[value - FIRST_SPAN].base;
        if (value == other)
            return true;
    }
    return false;
}

/* What an instruction adds to stays the same, but that a place may turn out to be one of several: then it is not known
 * how far the sums reach until they are measured again.  False: it adds to several addresses, or to none. */
static bool note_span(const struct frame *frame, uint32_t number, const struct span *found)
{
    struct span *span = &frame->spans[number];
    if (found->base == NOTHING || found->index == WSDBG_SOURCES_MAX)
        return false;
    if (span->base == found->base && span->index == found->index)
        return true;
    if (span->base != NOTHING &&
        (!is_span(found->base) || (is_span(span->base) && !is_of(frame, found->base, span->base))))
        return false;
    *span = (struct span){.base = found->base, .index = found->index, .is_new = true, .was_known = span->is_known};
    return true;
}

/* An address of the frame plus one register that is none, and nothing else: the sum is a span of this instruction. */
static uint32_t span_of_sources(const struct frame *frame, const struct wsdbg_instruction *in)
{
    const uint32_t number = (uint32_t)(in - frame->graph->instructions);
    struct span span = {.base = NOTHING, .index = WSDBG_SOURCES_MAX};
    for (unsigned i = 0; i < in->source_count; i++) {
        const struct wsdbg_operand *source = &in->sources[i];
        const uint32_t value =
            wsdbg_is_predicate(source) ? with_number(KIND_NUMBER, 0) : frame_value_of(frame, source, 0);
        if (wsdbg_register_of(source, 0) == WSDBG_REGISTER_NONE && value == with_number(KIND_NUMBER, 0))
            continue;
        if ((kind_of(value) >= KIND_LOCAL || is_span(value)) && span.base == NOTHING)
            span.base = value;
        else if (!is_of_frame(value) && value != WINDOW && span.index == WSDBG_SOURCES_MAX && !source->is_negated &&
                 !source->is_inverted)
            span.index = (uint8_t)i;
        else
            return DERIVED;
    }
    return note_span(frame, number, &span) ? FIRST_SPAN + number : DERIVED;
}

static uint32_t sum_of_sources(const struct frame *frame, const struct wsdbg_instruction *in)
{
    uint32_t sum = with_number(KIND_NUMBER, 0);
    for (unsigned i = 0; i < in->source_count; i++) {
        const struct wsdbg_operand *source = &in->sources[i];
        if (wsdbg_is_predicate(source))
            continue;
        const uint32_t value = frame_value_of(frame, source, 0);
        sum = sum_of(sum, source->is_negated || source->is_inverted ? negated(value) : value);
    }
    return sum;
}

/* Not all sources may be decoded: then any field of the words may name a register. */
static bool fields_are_of_frame(const struct frame *frame, const struct wsdbg_instruction *in)
{
    enum { A_SHIFT = 24, B_SHIFT = 32 };
    const uint8_t fields[] = {(uint8_t)(in->words[0] >> A_SHIFT), (uint8_t)(in->words[0] >> B_SHIFT),
                              (uint8_t)in->words[1]};
    for (unsigned i = 0; i < sizeof fields; i++)
        if (fields[i] != JOINED_STACK_POINTER && fields[i] < WSDBG_RZ && is_of_frame(frame->state[fields[i]]))
            return true;
    return false;
}

static bool sources_are_of_frame(const struct frame *frame, const struct wsdbg_instruction *in)
{
    for (unsigned i = 0; i < in->source_count; i++)
        for (unsigned part = 0; part == 0 || part < in->sources[i].registers; part++)
            if (is_of_frame(frame_value_of(frame, &in->sources[i], part)))
                return true;
    /* No address is made from floating-point numbers. */
    return !in->is_whole && wsdbg_operation_class(in->operation) != WSDBG_CLASS_FLOAT && fields_are_of_frame(frame, in);
}

/* What an instruction that computes writes. */
uint32_t frame_computed(const struct frame *frame, const struct wsdbg_instruction *in, unsigned part)
{
    static const struct wsdbg_operand zero = {.kind = WSDBG_OPERAND_REGISTER, .number = WSDBG_RZ};
    const bool has_one_source = in->source_count >= 1 && in->is_whole;
    switch (in->operation) {
    case WSDBG_OP_MOV:
    case WSDBG_OP_UMOV:
    case WSDBG_OP_R2UR:
    case WSDBG_OP_LDC:
    case WSDBG_OP_ULDC:
        return has_one_source ? frame_value_of(frame, &in->sources[0], part) : OTHER;
    case WSDBG_OP_IADD3:
    case WSDBG_OP_UIADD3:
    case WSDBG_OP_VIADD:
        if (in->is_whole && !in->has_carry_in && part == 0) {
            const uint32_t sum = sum_of_sources(frame, in);
            return sum == DERIVED || was_span(frame, in) ? span_of_sources(frame, in) : sum;
        }
        if (in->is_whole && part == 0)
            return memory_of_sources(frame, in, part);
        break;
    case WSDBG_OP_LOP3:
        if (in->is_whole && part == 0)
            return aligned(frame, in);
        break;
    case WSDBG_OP_S2R:
        return frame_value_of(frame, &in->sources[0], 0);
    case WSDBG_OP_IMAD:
        if (in->is_whole && in->is_wide && part == 1 && in->source_count == 3 && !sources_are_of_frame(frame, in))
            return memory_of_sources(frame, in, part);
        if (in->is_whole && in->source_count == 3 && !in->is_wide && !in->is_high && !in->has_carry_in &&
            (frame_value_of(frame, &in->sources[0], 0) == frame_value_of(frame, &zero, 0) ||
             frame_value_of(frame, &in->sources[1], 0) == frame_value_of(frame, &zero, 0)))
            return frame_value_of(frame, &in->sources[2], 0);
        break;
    default:
        break;
    }
    return sources_are_of_frame(frame, in) ? DERIVED : OTHER;
}

/* Whether the instruction executes, as far as its guard is known. */
enum wsdbg_truth frame_executes(const struct frame *frame, const struct wsdbg_instruction *in)
{
    const unsigned reg = wsdbg_register_of_guard(in);
    if (wsdbg_flow_is_unguarded(in))
        return WSDBG_TRUTH_YES;
    if (reg == WSDBG_REGISTER_NONE || kind_of(register_value(frame, reg)) != KIND_NUMBER)
        return wsdbg_flow_never_executes(in) ? WSDBG_TRUTH_NO : WSDBG_TRUTH_UNKNOWN;
    return (number_of(register_value(frame, reg)) != 0) != in->guard_is_negated ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO;
}
