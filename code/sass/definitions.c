/* definitions.c - see definitions.h.  Reads a graph; writes memory of its own. */
#include "sass/definitions.h"

#include <stdlib.h>

enum { NARROW_MOST = 8 }; /* more registers in a row than that are not listed one by one */
enum { WIDE_LOOKED_AT = 256 };

static unsigned numbered(unsigned first, unsigned number, unsigned constant)
{
    return number < constant ? first + number : WSDBG_REGISTER_NONE;
}

static unsigned general(unsigned number)
{
    return number > WSDBG_RZ ? numbered(WSDBG_REGISTER_MORE, number - WSDBG_RZ - 1, WSDBG_MORE_REGISTERS)
                             : numbered(0, number, WSDBG_RZ);
}

static unsigned predicate(unsigned number)
{
    return number > WSDBG_PT ? numbered(WSDBG_REGISTER_MORE_PREDICATES, number - WSDBG_PT - 1, WSDBG_MORE_PREDICATES)
                             : numbered(WSDBG_REGISTER_PREDICATE, number, WSDBG_PT);
}

unsigned wsdbg_register_of(const struct wsdbg_operand *operand, unsigned part)
{
    const unsigned number = operand->number + part;
    switch (operand->kind) {
    case WSDBG_OPERAND_REGISTER:
        return operand->number == WSDBG_RZ ? WSDBG_REGISTER_NONE : general(number);
    case WSDBG_OPERAND_UNIFORM:
        return operand->number == WSDBG_URZ ? WSDBG_REGISTER_NONE : numbered(WSDBG_REGISTER_UNIFORM, number, WSDBG_URZ);
    case WSDBG_OPERAND_PREDICATE:
        return predicate(number);
    case WSDBG_OPERAND_UNIFORM_PREDICATE:
        return numbered(WSDBG_REGISTER_UNIFORM_PREDICATE, number, WSDBG_PT);
    default:
        return WSDBG_REGISTER_NONE;
    }
}

unsigned wsdbg_register_of_guard(const struct wsdbg_instruction *instruction)
{
    return instruction->guard_is_uniform ? numbered(WSDBG_REGISTER_UNIFORM_PREDICATE, instruction->guard, WSDBG_PT)
                                         : predicate(instruction->guard);
}

/* How many registers in a row the operand is. */
static unsigned span_of(const struct wsdbg_operand *operand)
{
    const bool is_row = operand->kind == WSDBG_OPERAND_REGISTER || operand->kind == WSDBG_OPERAND_UNIFORM;
    return is_row && operand->registers > 1 ? operand->registers : 1;
}

static bool is_wide(const struct wsdbg_instruction *instruction)
{
    if (instruction->operation == WSDBG_OP_OTHER)
        return true;
    for (unsigned i = 0; i < instruction->destination_count; i++)
        if (span_of(&instruction->destinations[i]) > NARROW_MOST)
            return true;
    return false;
}

bool wsdbg_writes(const struct wsdbg_instruction *instruction, unsigned reg)
{
    if (instruction->operation == WSDBG_OP_OTHER)
        return true;
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *destination = &instruction->destinations[i];
        const unsigned first = wsdbg_register_of(destination, 0);
        if (first != WSDBG_REGISTER_NONE && reg >= first && reg - first < span_of(destination))
            return true;
    }
    return false;
}

/* Notes the registers that an instruction writes; NULL lists: counts only. */
static size_t note(const struct wsdbg_instruction *instruction, uint32_t number, uint32_t *registers, uint32_t *numbers)
{
    size_t count = 0;
    for (unsigned i = 0; i < instruction->destination_count; i++)
        for (unsigned part = 0; part < span_of(&instruction->destinations[i]); part++) {
            const unsigned reg = wsdbg_register_of(&instruction->destinations[i], part);
            if (reg == WSDBG_REGISTER_NONE)
                continue;
            if (registers) {
                registers[count] = reg;
                numbers[count] = number;
            }
            count++;
        }
    return count;
}

static struct wsdbg_error *list(struct wsdbg_definitions *definitions, size_t count)
{
    const struct wsdbg_graph *graph = definitions->graph;
    uint32_t *registers = calloc(count + 1, sizeof *registers), *numbers = calloc(count + 1, sizeof *numbers);
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    size_t listed = 0;
    if (registers && numbers) {
        for (uint32_t i = 0; i < graph->instruction_count; i++) {
            if (is_wide(&graph->instructions[i]))
                definitions->wide[definitions->wide_count++] = i;
            else
                listed += note(&graph->instructions[i], i, registers + listed, numbers + listed);
        }
        error = wsdbg_lists_create(registers, numbers, listed, WSDBG_REGISTER_COUNT, &definitions->by_register);
    }
    free(registers);
    free(numbers);
    return error;
}

struct wsdbg_error *wsdbg_definitions_create(const struct wsdbg_graph *graph, struct wsdbg_definitions *out)
{
    struct wsdbg_definitions definitions = {.graph = graph};
    size_t wide = 0, count = 0;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        definitions.has_others |= graph->instructions[i].operation == WSDBG_OP_OTHER;
        if (is_wide(&graph->instructions[i]))
            wide++;
        else
            count += note(&graph->instructions[i], i, NULL, NULL);
    }
    definitions.wide = calloc(wide + 1, sizeof *definitions.wide);
    struct wsdbg_error *error = definitions.wide ? list(&definitions, count) : &wsdbg_error_no_memory;
    if (error) {
        wsdbg_definitions_destroy(&definitions);
        return error;
    }
    *out = definitions;
    return NULL;
}

void wsdbg_definitions_destroy(struct wsdbg_definitions *definitions)
{
    wsdbg_lists_destroy(&definitions->by_register);
    free(definitions->wide);
    *definitions = (struct wsdbg_definitions){0};
}

/* How many of the ascending numbers are below `end`. */
static uint32_t count_below(const uint32_t *numbers, uint32_t count, uint32_t end)
{
    uint32_t low = 0;
    while (count > low) {
        const uint32_t middle = low + (count - low) / 2;
        if (numbers[middle] < end)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

bool wsdbg_definition_before(const struct wsdbg_definitions *definitions, unsigned reg, uint32_t first, uint32_t end,
                             uint32_t *out)
{
    const uint32_t *numbers = definitions->by_register.numbers + definitions->by_register.first[reg];
    const uint32_t count = definitions->by_register.first[reg + 1] - definitions->by_register.first[reg];
    const uint32_t below = count_below(numbers, count, end);
    uint32_t least = first; /* a wide one counts only behind the listed one */
    *out = end;
    if (below && numbers[below - 1] >= first) {
        *out = numbers[below - 1];
        least = *out;
    }
    if (reg >= WSDBG_REGISTER_UNIFORM && !definitions->has_others)
        return true;
    uint32_t wide = count_below(definitions->wide, definitions->wide_count, end);
    for (uint32_t looked_at = 0; wide && definitions->wide[wide - 1] >= least; wide--, looked_at++) {
        if (looked_at == WIDE_LOOKED_AT)
            return false;
        if (!wsdbg_writes(&definitions->graph->instructions[definitions->wide[wide - 1]], reg))
            continue;
        *out = definitions->wide[wide - 1];
        return true;
    }
    return true;
}
