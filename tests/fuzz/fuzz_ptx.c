/* fuzz_ptx.c - any bytes as PTX text; a program that comes of it must hold what program.h says, for whoever executes
 * it. */
#include "fuzz/fuzz_targets.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/parse.h"

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void check_register(const struct wsdbg_ptx_function *function, uint32_t number)
{
    demand(number < function->register_count);
    demand(function->register_types[number] > WSDBG_PTX_NO_TYPE &&
           function->register_types[number] < WSDBG_PTX_TYPE_COUNT);
}

/* An element of a vector holds no vector. */
static void check_operand(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function,
                          const struct wsdbg_ptx_operand *operand, bool is_element)
{
    const uint64_t count = operand->count + (operand->kind == WSDBG_PTX_OPERAND_TENSOR ? 1u : 0u);
    switch ((enum wsdbg_ptx_operand_kind)operand->kind) {
    case WSDBG_PTX_OPERAND_REGISTER:
        check_register(function, operand->number);
        break;
    case WSDBG_PTX_OPERAND_ADDRESS:
        demand(operand->space < WSDBG_PTX_SPACE_COUNT);
        if (operand->number != WSDBG_PTX_NONE)
            check_register(function, operand->number);
        break;
    case WSDBG_PTX_OPERAND_SPECIAL:
        demand(operand->number < WSDBG_PTX_SPECIAL_COUNT);
        break;
    case WSDBG_PTX_OPERAND_VECTOR:
    case WSDBG_PTX_OPERAND_TENSOR:
        demand(!is_element && operand->number + count <= program->vector_count);
        for (uint64_t i = 0; i < count; i++)
            check_operand(program, function, &program->vectors[operand->number + i], true);
        break;
    case WSDBG_PTX_OPERAND_NONE:
    case WSDBG_PTX_OPERAND_IMMEDIATE:
    case WSDBG_PTX_OPERAND_SINK:
        break;
    }
}

static void check_target(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function,
                         const struct wsdbg_ptx_instruction *instruction)
{
    const uint32_t target = instruction->target;
    if (instruction->operation == WSDBG_PTX_OP_bra)
        demand(target >= function->first && target < function->end);
    if (instruction->operation == WSDBG_PTX_OP_call && target != WSDBG_PTX_NONE)
        demand(target >= function->first && target < function->end);
    if (instruction->operation != WSDBG_PTX_OP_brx)
        return;
    demand(target < program->branch_table_count);
    const uint32_t *table = &program->branch_tables[target];
    demand(*table < program->branch_table_count - target);
    for (uint32_t i = 1; i <= *table; i++)
        demand(table[i] >= function->first && table[i] < function->end);
}

static void check_instruction(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function,
                              const struct wsdbg_ptx_instruction *instruction)
{
    demand(instruction->operation > 0 && instruction->operation < WSDBG_PTX_OPERATION_COUNT);
    demand(instruction->operand_count <= WSDBG_PTX_OPERANDS_MAX);
    demand(instruction->place == WSDBG_PTX_NONE || instruction->place < program->place_count);
    if (instruction->reconverge != WSDBG_PTX_NONE)
        demand(instruction->reconverge >= function->first && instruction->reconverge < function->end);
    if (instruction->guard != WSDBG_PTX_NONE) {
        check_register(function, instruction->guard);
        demand(function->register_types[instruction->guard] == WSDBG_PTX_PRED);
    }
    for (unsigned i = 0; i < instruction->operand_count; i++)
        check_operand(program, function, &instruction->operands[i], false);
    check_target(program, function, instruction);
}

static void check_places(const struct wsdbg_ptx_program *program)
{
    for (size_t i = 0; i < program->place_count; i++) {
        demand(program->places[i].file < program->file_count);
        /* The place around it is an earlier row, or the chain would not end. */
        demand(program->places[i].inlined_at == WSDBG_PTX_NONE || program->places[i].inlined_at < i);
    }
}

static void check_function(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function)
{
    char text[64];
    demand(function->first <= function->end && function->end <= program->instruction_count);
    for (uint32_t i = function->first; i < function->end; i++) {
        check_instruction(program, function, &program->instructions[i]);
        wsdbg_ptx_text(program, i, text, sizeof text);
        demand(strlen(text) < sizeof text);
    }
    if (!function->is_kernel)
        return;
    const struct wsdbg_ptx_instruction *last = &program->instructions[function->end - 1];
    demand(last->guard == WSDBG_PTX_NONE); /* nothing runs past the end */
}

typedef struct wsdbg_error *parse_function(const char *text, size_t byte_count, const char *name,
                                           struct wsdbg_ptx_program **out);

static void parse_and_check(parse_function *parse, const uint8_t *bytes, size_t count)
{
    struct wsdbg_ptx_program *program = NULL;
    struct wsdbg_error *error = parse((const char *)bytes, count, "input", &program);
    for (size_t i = 0; !error && i < program->function_count; i++)
        check_function(program, &program->functions[i]);
    if (!error)
        check_places(program);
    wsdbg_ptx_program_destroy(program);
    wsdbg_error_destroy(error);
}

int fuzz_one_input(const uint8_t *bytes, size_t count)
{
    parse_and_check(wsdbg_ptx_parse, bytes, count);
    parse_and_check(wsdbg_ptx_parse_to_read, bytes, count);
    parse_and_check(wsdbg_ptx_parse_to_follow, bytes, count);
    return 0;
}
