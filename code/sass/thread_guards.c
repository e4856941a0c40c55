/* thread_guards.c - which guards and branches may come out differently for other threads: see threads.h.
 *
 * Follows the thread's index from where it is read, register by register, forwards through the blocks until nothing
 * changes.  Too many registers are better than too few: a register that is calculated from a followed one is followed.
 * So is one that it is compared with, because the branch tells something of both.  What is loaded from memory is not:
 * its value is known for no thread; what is read from a table of constants is.
 */
#include "sass/threads.h"

#include "sass/compute.h"
#include "sass/definitions.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, WORDS = (WSDBG_REGISTER_COUNT + WORD_BITS - 1) / WORD_BITS };
enum { CTA_SIZE_BYTES = 12 }; /* bank 0 begins with the CTA's threads in x, y and z */

struct registers {
    uint64_t bits[WORDS];
};

struct following {
    const struct wsdbg_graph *graph;
    struct registers *leaving; /* by block */
    bool *is_due;              /* by block: what is followed where it begins may have changed */
    uint64_t *guards;
};

static bool has(const struct registers *registers, unsigned reg)
{
    return reg != WSDBG_REGISTER_NONE && registers->bits[reg / WORD_BITS] >> reg % WORD_BITS & 1;
}

static void put(struct registers *registers, unsigned reg, bool is_followed)
{
    const uint64_t bit = (uint64_t)1 << reg % WORD_BITS;
    if (reg == WSDBG_REGISTER_NONE)
        return;
    if (is_followed)
        registers->bits[reg / WORD_BITS] |= bit;
    else
        registers->bits[reg / WORD_BITS] &= ~bit;
}

static unsigned span_of(const struct wsdbg_operand *operand)
{
    return operand->registers ? operand->registers : 1;
}

static bool operand_is_followed(const struct registers *registers, const struct wsdbg_operand *operand)
{
    unsigned dimension;
    if (operand->kind == WSDBG_OPERAND_SPECIAL)
        return wsdbg_compute_is_thread(operand, &dimension);
    if (operand->kind == WSDBG_OPERAND_CONSTANT && operand->number == WSDBG_RZ)
        return operand->bank == 0 && operand->value < CTA_SIZE_BYTES;
    if (operand->kind == WSDBG_OPERAND_CONSTANT)
        return has(registers, operand->number);
    for (unsigned part = 0; part < span_of(operand); part++)
        if (has(registers, wsdbg_register_of(operand, part)))
            return true;
    return false;
}

static bool reads_followed(const struct registers *registers, const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (operand_is_followed(registers, &instruction->sources[i]))
            return true;
    return false;
}

static bool compares(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_ISETP || instruction->operation == WSDBG_OP_UISETP;
}

/* What is followed behind the instruction. */
static void pass(struct registers *registers, const struct wsdbg_instruction *instruction)
{
    const bool is_guarded = has(registers, wsdbg_register_of_guard(instruction));
    const bool keeps = !wsdbg_flow_is_unguarded(instruction);
    const bool reads = is_guarded || reads_followed(registers, instruction);
    for (unsigned i = 0; reads && compares(instruction) && i < instruction->source_count; i++)
        put(registers, wsdbg_register_of(&instruction->sources[i], 0), true);
    for (unsigned i = 0; i < instruction->destination_count; i++)
        for (unsigned part = 0; part < span_of(&instruction->destinations[i]); part++) {
            const unsigned reg = wsdbg_register_of(&instruction->destinations[i], part);
            put(registers, reg, reads || (keeps && has(registers, reg)));
        }
}

/* The registers that are followed where the block begins.  In called code that is all of them. */
static struct registers entering(const struct following *following, uint32_t block)
{
    const struct wsdbg_graph *graph = following->graph;
    struct registers registers = {{0}};
    for (uint32_t i = graph->predecessors.first[block]; i < graph->predecessors.first[block + 1]; i++) {
        const uint32_t before = graph->predecessors.numbers[i];
        for (unsigned word = 0; word < WORDS; word++)
            registers.bits[word] |= graph->blocks[before].calls ? UINT64_MAX : following->leaving[before].bits[word];
    }
    const uint32_t procedure = graph->procedure_at[block];
    if (procedure != WSDBG_GRAPH_NONE && procedure != 0)
        memset(registers.bits, 0xff, sizeof registers.bits);
    return registers;
}

/* Follows a block, and notes its guards: from round to round only more is followed.  True where a block before this one
 * is due again. */
static bool pass_block(struct following *following, uint32_t number)
{
    const struct wsdbg_block *block = &following->graph->blocks[number];
    struct registers registers = entering(following, number);
    bool goes_back = false;
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct wsdbg_instruction *instruction = &following->graph->instructions[i];
        const bool is_table = instruction->operation == WSDBG_OP_BRX && reads_followed(&registers, instruction);
        if (is_table || has(&registers, wsdbg_register_of_guard(instruction)))
            following->guards[i / WORD_BITS] |= (uint64_t)1 << i % WORD_BITS;
        pass(&registers, instruction);
    }
    following->is_due[number] = false;
    if (memcmp(&registers, &following->leaving[number], sizeof registers) == 0)
        return false;
    following->leaving[number] = registers;
    for (uint32_t way = 0; way < block->successor_count; way++) {
        const uint32_t next = block->successor[way];
        if (next == WSDBG_GRAPH_NONE)
            continue;
        following->is_due[next] = true;
        goes_back |= next <= number;
    }
    return goes_back;
}

struct wsdbg_error *wsdbg_threads_guards(const struct wsdbg_graph *graph, uint64_t **out)
{
    struct following following = {
        .graph = graph,
        .leaving = calloc((size_t)graph->block_count + 1, sizeof *following.leaving),
        .is_due = malloc((size_t)graph->block_count + 1),
        .guards = calloc((size_t)graph->instruction_count / WORD_BITS + 1, sizeof *following.guards)};
    bool goes_back = following.leaving && following.is_due && following.guards;
    if (!goes_back) {
        free(following.leaving);
        free(following.is_due);
        free(following.guards);
        return &wsdbg_error_no_memory;
    }
    memset(following.is_due, true, graph->block_count);
    while (goes_back) {
        goes_back = false;
        for (uint32_t block = 0; block < graph->block_count; block++)
            goes_back |= following.is_due[block] && pass_block(&following, block);
    }
    free(following.leaving);
    free(following.is_due);
    *out = following.guards;
    return NULL;
}
