/* joined_numbers.c - instructions of joined code that compute numbers from numbers alone: see joined_frame_parts.h.
 *
 * Reads: the state at hand.  Writes: the numbers, as walks calculate them (thread_step.h).
 *
 * Code that is not optimised has conditions which never change.  Where they are numbers, the branch is decided.
 */
#include "sass/joined_frame_parts.h"

/* Calls `take` for each register that an operand reads; false: `take` was false for one, or it reads something else. */
static bool for_each_number(struct frame *frame, const struct wsdbg_operand *operand,
                            bool (*take)(struct frame *frame, unsigned reg))
{
    switch (operand->kind) {
    case WSDBG_OPERAND_IMMEDIATE:
        return true;
    case WSDBG_OPERAND_REGISTER:
    case WSDBG_OPERAND_UNIFORM:
    case WSDBG_OPERAND_PREDICATE:
        break;
    default:
        return false;
    }
    for (unsigned part = 0; part == 0 || part < operand->registers; part++) {
        const unsigned reg = wsdbg_register_of(operand, part);
        if (reg != WSDBG_REGISTER_NONE && !take(frame, reg))
            return false;
    }
    return true;
}

static bool take_number(struct frame *frame, unsigned reg)
{
    const uint32_t value = register_value(frame, reg);
    if (kind_of(value) != KIND_NUMBER)
        return false;
    frame->scratch->known[reg] = true;
    frame->scratch->value[reg] = (uint32_t)number_of(value);
    return true;
}

static bool forget_number(struct frame *frame, unsigned reg)
{
    wsdbg_thread_forget(frame->scratch, reg);
    return true;
}

/* What an instruction makes of numbers alone; false: not all that it reads are numbers. */
static bool calculate(struct frame *frame, const struct wsdbg_instruction *in)
{
    static const struct wsdbg_thread_world nothing = {0};
    const enum wsdbg_operation_class class = wsdbg_operation_class(in->operation);
    struct wsdbg_instruction always = *in;
    bool are_numbers = (class == WSDBG_CLASS_INTEGER || class == WSDBG_CLASS_MOVE) && in->is_whole && in->source_count;
    for (unsigned i = 0; i < in->source_count && are_numbers; i++)
        are_numbers = for_each_number(frame, &in->sources[i], take_number);
    always.guard = WSDBG_PT;
    always.guard_is_negated = false;
    if (are_numbers)
        wsdbg_thread_step(&always, &nothing, frame->scratch);
    return are_numbers;
}

static uint32_t calculated(const struct frame *frame, unsigned reg)
{
    const bool known = reg < WSDBG_REGISTER_COUNT && frame->scratch->known[reg];
    return known ? with_number(KIND_NUMBER, (int32_t)frame->scratch->value[reg]) : OTHER;
}

static void forget_calculated(struct frame *frame, const struct wsdbg_instruction *in)
{
    for (unsigned i = 0; i < in->source_count; i++)
        for_each_number(frame, &in->sources[i], forget_number);
    for (unsigned i = 0; i < in->destination_count; i++)
        for_each_number(frame, &in->destinations[i], forget_number);
}

/* Numbers that are written; false: the instruction does not work on numbers alone. */
bool frame_write_numbers(struct frame *frame, const struct wsdbg_instruction *in)
{
    const bool are_numbers = calculate(frame, in);
    for (unsigned i = 0; i < in->destination_count && are_numbers; i++)
        for (unsigned part = 0; part == 0 || part < in->destinations[i].registers; part++) {
            const unsigned reg = wsdbg_register_of(&in->destinations[i], part);
            if (reg != WSDBG_REGISTER_NONE)
                frame_write(frame, in, reg, calculated(frame, reg));
        }
    forget_calculated(frame, in);
    return are_numbers;
}
