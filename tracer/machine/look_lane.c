/* look_lane.c - see look_lane.h.
 *
 * Reads: registers, uniform registers, predicates and constants of the lane.  Writes: nothing.
 */
#include "machine/look_lane.h"

enum { SPECIAL_CTA_RANK = 136 }; /* its number as an operand (walk_thread.c) */
enum { MOVES_MAX = 4 };          /* followed back to find what a register of a loop is */

bool look_lane_general(struct look_lane *lane, uint32_t number, uint32_t *value)
{
    uint32_t known = 0;
    if (number < lane->general_count) {
        *value = lane->general[number];
        return true;
    }
    struct wsdbg_machine *machine = lane->machine;
    if (!lane->error)
        lane->error = machine->ops->registers(machine, lane->warp, lane->lane, number, 1, value, &known);
    return known == 1 && !lane->error;
}

bool look_lane_uniform(struct look_lane *lane, uint32_t number, uint32_t *value)
{
    uint32_t known = 0;
    if (number < lane->uniform_count) {
        *value = lane->uniform[number];
        return true;
    }
    struct wsdbg_machine *machine = lane->machine;
    if (!lane->error)
        lane->error = machine->ops->uniform_registers(machine, lane->warp, number, 1, value, &known);
    return known == 1 && !lane->error;
}

bool look_lane_value(struct look_lane *lane, const struct wsdbg_operand *operand, uint32_t *value)
{
    uint32_t part = 0;
    *value = 0;
    switch (operand->kind) {
    case WSDBG_OPERAND_IMMEDIATE:
        *value = (uint32_t)operand->value;
        return true;
    case WSDBG_OPERAND_REGISTER:
        return operand->number == WSDBG_RZ || look_lane_general(lane, operand->number, value);
    case WSDBG_OPERAND_UNIFORM:
        return operand->number == WSDBG_URZ || look_lane_uniform(lane, operand->number, value);
    case WSDBG_OPERAND_MEMORY:
        if (operand->number != WSDBG_RZ && !look_lane_general(lane, operand->number, value))
            return false;
        if (operand->uniform != WSDBG_URZ && !look_lane_uniform(lane, operand->uniform, &part))
            return false;
        *value += part + (uint32_t)operand->value;
        return true;
    default:
        return false;
    }
}

const struct wsdbg_operand *look_lane_source(const struct wsdbg_instruction *instruction, unsigned number)
{
    for (unsigned i = 0; i < instruction->source_count; i++) {
        const uint8_t kind = instruction->sources[i].kind;
        if ((kind == WSDBG_OPERAND_IMMEDIATE || kind == WSDBG_OPERAND_REGISTER || kind == WSDBG_OPERAND_UNIFORM) &&
            number-- == 0)
            return &instruction->sources[i];
    }
    return NULL;
}

bool look_lane_constant(struct look_lane *lane, uint32_t offset, uint8_t bank, uint32_t *value)
{
    struct wsdbg_machine *machine = lane->machine;
    const uint32_t grid = machine->ctas[lane->cta].grid;
    bool known = false;
    if (!lane->error)
        lane->error = machine->ops->constant(machine, grid, bank, offset, value, sizeof *value, &known);
    return known && !lane->error;
}

/* What a plain move copies, NULL for any other instruction; ptxas also moves by multiplying nothing and adding. */
static const struct wsdbg_operand *moved_operand(const struct wsdbg_instruction *move)
{
    const bool adds_to_zero = move->operation == WSDBG_OP_IMAD && move->is_whole && move->source_count >= 3 &&
                              !move->is_wide && !move->is_high && !move->has_carry_in &&
                              move->sources[0].kind == WSDBG_OPERAND_REGISTER && move->sources[0].number == WSDBG_RZ;
    if (move->guard != WSDBG_PT || move->destination_count == 0 || move->source_count == 0)
        return NULL;
    if (adds_to_zero)
        return move->sources[2].is_negated ? NULL : &move->sources[2];
    switch (move->operation) {
    case WSDBG_OP_MOV:
    case WSDBG_OP_UMOV:
    case WSDBG_OP_LDC:
    case WSDBG_OP_ULDC:
        return &move->sources[0];
    default:
        return NULL;
    }
}

bool look_lane_kept_value(struct look_lane *lane, const struct wsdbg_loop *loop, uint32_t at,
                          struct wsdbg_operand operand, unsigned depth, uint32_t *value)
{
    operand.registers = 1;
    if (!wsdbg_loop_writes(loop, &operand))
        return look_lane_value(lane, &operand, value);
    const uint32_t written = wsdbg_loop_written(loop, at, &operand);
    if (written == WSDBG_NO_INSTRUCTION || depth == MOVES_MAX)
        return false;
    const struct wsdbg_instruction *move = wsdbg_graph_instruction(loop->graph, written);
    const struct wsdbg_operand *from = moved_operand(move);
    if (!from)
        return false;
    const uint32_t half = operand.number - move->destinations[0].number;
    if (from->kind == WSDBG_OPERAND_CONSTANT && from->number == WSDBG_RZ)
        return look_lane_constant(lane, (uint32_t)from->value + 4 * half, from->bank, value);
    return half == 0 && (from->kind == WSDBG_OPERAND_REGISTER || from->kind == WSDBG_OPERAND_UNIFORM) &&
           look_lane_kept_value(lane, loop, written, *from, depth + 1, value);
}

/* ---- what code around a place calculates ---- */

static bool constant_of_lane(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    return look_lane_constant(context, offset_bytes, (uint8_t)bank, value);
}

static bool special_of_lane(void *context, uint32_t number, uint32_t *value)
{
    const struct look_lane *lane = context;
    *value = lane->rank;
    return number == SPECIAL_CTA_RANK;
}

struct wsdbg_thread_world look_lane_world(struct look_lane *lane)
{
    return (struct wsdbg_thread_world){.context = lane, .constant = constant_of_lane, .special = special_of_lane};
}

void look_lane_state(const struct look_lane *lane, struct wsdbg_thread_state *state)
{
    *state = (struct wsdbg_thread_state){0};
    for (uint32_t i = 0; i < lane->general_count; i++) {
        state->value[i] = lane->general[i];
        state->known[i] = true;
    }
    for (uint32_t i = 0; i < lane->uniform_count && i < WSDBG_URZ; i++) {
        state->value[WSDBG_REGISTER_UNIFORM + i] = lane->uniform[i];
        state->known[WSDBG_REGISTER_UNIFORM + i] = true;
    }
}

bool look_lane_value_in(const struct wsdbg_thread_state *state, const struct wsdbg_operand *operand, uint32_t *value)
{
    const struct wsdbg_operand uniform = {.kind = WSDBG_OPERAND_UNIFORM, .number = operand->uniform, .registers = 1};
    struct wsdbg_operand general = *operand;
    const bool is_memory = operand->kind == WSDBG_OPERAND_MEMORY;
    general.kind = is_memory ? WSDBG_OPERAND_REGISTER : operand->kind;
    const unsigned registers[] = {wsdbg_register_of(&general, 0),
                                  is_memory ? wsdbg_register_of(&uniform, 0) : WSDBG_REGISTER_NONE};
    *value = is_memory || operand->kind == WSDBG_OPERAND_IMMEDIATE ? (uint32_t)operand->value : 0;
    for (unsigned i = 0; i < 2; i++) {
        if (registers[i] < WSDBG_REGISTER_COUNT && !state->known[registers[i]])
            return false;
        *value += registers[i] < WSDBG_REGISTER_COUNT ? state->value[registers[i]] : 0;
    }
    return true;
}
