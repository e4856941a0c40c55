/* thread_operand.c - see thread_operand.h.
 *
 * Reads: an operand or a source of an instruction, the thread's registers, and what the caller knows of constants and
 * special registers.  Writes: nothing.
 */
#include "sass/thread_operand.h"

enum { REGISTER_BITS = 32 };

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
        return wsdbg_thread_is_zero(operand) || register_value(state, wsdbg_register_of(operand, part), value);
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
    if (!wsdbg_is_predicate(operand) ||
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

/* ---- sources of an instruction ---- */

bool wsdbg_thread_source(const struct wsdbg_thread_reader *reader, unsigned source, unsigned part, uint32_t *value)
{
    return source < reader->instruction->source_count &&
           wsdbg_thread_operand(reader->state, reader->world, &reader->instruction->sources[source], part, value);
}

bool wsdbg_thread_addend(const struct wsdbg_thread_reader *reader, unsigned source, uint64_t *value)
{
    uint32_t word;
    if (!wsdbg_thread_source(reader, source, 0, &word))
        return false;
    const struct wsdbg_operand *operand = &reader->instruction->sources[source];
    *value = operand->is_negated || operand->is_inverted ? (uint32_t)~word : word;
    *value += operand->is_negated;
    return true;
}

bool wsdbg_thread_is_plain(const struct wsdbg_thread_reader *reader, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (reader->instruction->sources[i].is_negated || reader->instruction->sources[i].is_inverted)
            return false;
    return true;
}

bool wsdbg_thread_carries(const struct wsdbg_thread_reader *reader, unsigned first, uint64_t *sum)
{
    for (unsigned i = first; i < reader->instruction->source_count; i++) {
        const enum wsdbg_truth carry = wsdbg_thread_predicate(reader->state, &reader->instruction->sources[i]);
        if (carry == WSDBG_TRUTH_UNKNOWN)
            return false;
        *sum += carry == WSDBG_TRUTH_YES;
    }
    return true;
}

uint32_t wsdbg_thread_source_bits(const struct wsdbg_thread_reader *reader, unsigned source, uint32_t *value)
{
    const struct wsdbg_operand *operand = &reader->instruction->sources[source];
    const unsigned reg = wsdbg_register_of(operand, 0);
    if (wsdbg_thread_source(reader, source, 0, value))
        return UINT32_MAX;
    if (operand->kind != WSDBG_OPERAND_REGISTER || reg >= WSDBG_REGISTER_COUNT)
        return 0;
    *value = reader->state->value[reg] & reader->state->bits[reg];
    return reader->state->bits[reg];
}
