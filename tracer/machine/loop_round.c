/* loop_round.c - what a loop makes anew in each round, of registers that it leaves alone.  See loop_round.h.
 *
 * Reads: instructions of a loop, registers of a lane.
 *
 * A loop that tests several mbarriers in turn may use the same registers for all tests.  What they hold now is then of
 * the last test that was made.
 */
#include "machine/loop_round.h"

#include <string.h>

struct round {
    const struct wsdbg_loop *loop;
    const struct wsdbg_lane_values *lane;
    struct wsdbg_thread_state state;
};

static bool is_register(const struct wsdbg_operand *operand)
{
    return operand->kind == WSDBG_OPERAND_REGISTER || operand->kind == WSDBG_OPERAND_UNIFORM;
}

/* Takes a register as it is now if the loop leaves it alone. */
static void take_register(struct round *round, enum wsdbg_operand_kind kind, unsigned number)
{
    const struct wsdbg_operand operand = {.kind = kind, .number = number, .registers = 1};
    const unsigned reg = wsdbg_register_of(&operand, 0);
    uint32_t value;
    if (reg >= WSDBG_REGISTER_COUNT || round->state.known[reg] || wsdbg_loop_writes(round->loop, &operand) ||
        !round->lane->value(round->lane->context, &operand, &value))
        return;
    round->state.known[reg] = true;
    round->state.value[reg] = value;
}

static void take_sources(struct round *round, const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count; i++) {
        const struct wsdbg_operand *source = &instruction->sources[i];
        for (unsigned part = 0; is_register(source) && part < (source->registers ? source->registers : 1u); part++)
            take_register(round, source->kind, source->number + part);
        if (source->kind == WSDBG_OPERAND_MEMORY) {
            take_register(round, WSDBG_OPERAND_REGISTER, source->number);
            take_register(round, WSDBG_OPERAND_UNIFORM, source->uniform);
        }
    }
}

/* A register of the round; one that is constant, as RZ, is 0. */
static bool register_value(const struct round *round, enum wsdbg_operand_kind kind, unsigned number, uint32_t *value)
{
    const struct wsdbg_operand operand = {.kind = kind, .number = number, .registers = 1};
    const unsigned reg = wsdbg_register_of(&operand, 0);
    *value = reg < WSDBG_REGISTER_COUNT ? round->state.value[reg] : 0;
    return reg >= WSDBG_REGISTER_COUNT || round->state.known[reg];
}

static bool address_of(const struct round *round, const struct wsdbg_operand *memory, uint32_t *address)
{
    uint32_t general = 0, uniform = 0;
    if (!register_value(round, WSDBG_OPERAND_REGISTER, memory->number, &general) ||
        !register_value(round, WSDBG_OPERAND_UNIFORM, memory->uniform, &uniform))
        return false;
    *address = general + uniform + (uint32_t)memory->value;
    return true;
}

/* The test's phase is its first source that is not in memory. */
static bool phase_of(const struct round *round, const struct wsdbg_instruction *test, uint32_t *phase)
{
    for (unsigned i = 0; i < test->source_count; i++) {
        const struct wsdbg_operand *source = &test->sources[i];
        if (source->kind == WSDBG_OPERAND_IMMEDIATE) {
            *phase = (uint32_t)source->value;
            return true;
        }
        if (is_register(source))
            return register_value(round, source->kind, source->number, phase);
    }
    return false;
}

bool wsdbg_loop_test_operands(const struct wsdbg_loop *loop, uint32_t at, const struct wsdbg_lane_values *lane,
                              const struct wsdbg_thread_world *world, uint32_t *address, uint32_t *phase)
{
    const uint32_t first = wsdbg_graph_block(loop->graph, wsdbg_graph_block_of(loop->graph, at))->first;
    const struct wsdbg_instruction *test = wsdbg_graph_instruction(loop->graph, at);
    const struct wsdbg_operand *memory = wsdbg_memory_operand(test);
    struct round round = {.loop = loop, .lane = lane};
    for (uint32_t i = first; i <= at; i++) {
        take_sources(&round, wsdbg_graph_instruction(loop->graph, i));
        if (i < at)
            wsdbg_thread_step(wsdbg_graph_instruction(loop->graph, i), world, &round.state);
    }
    return memory && address_of(&round, memory, address) && phase_of(&round, test, phase);
}
