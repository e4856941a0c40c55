/* call.c - calls of functions: `call (result), name, (arguments);`.
 *
 * Each function has its parameters, results first, at the begin of its local memory; a call copies the arguments there
 * and the results back, with loads and stores of the thread's local memory around it.  Reads tokens; adds instructions.
 */
#include "ptx/function.h"
#include "ptx/operand.h"

enum { ARGUMENTS_MAX = 256, WORD_BYTES = 4, LONG_BYTES = 8 };

struct call {
    uint32_t line;
    const char *text;
    const struct wsdbg_ptx_instruction *instruction; /* its guard, line and place go for the copies too */
    uint32_t callee;                                 /* NONE: through a pointer */
    struct wsdbg_ptx_operand pointer;                /* the register that holds it */
    struct ptx_written values[ARGUMENTS_MAX];        /* results first */
    uint32_t result_count, count;
};

/* Behind `(`: .param variables of the caller, registers or constants. */
static struct wsdbg_error *read_values(struct ptx_parser *parser, struct call *call)
{
    if (ptx_take_mark(&parser->lexer, ')'))
        return NULL;
    do {
        if (call->count == ARGUMENTS_MAX)
            return ptx_error(parser, call->line, "a call with more than %d arguments", ARGUMENTS_MAX);
        PTX_TRY(ptx_read_operand(parser, parser->statement, &call->values[call->count++]));
    } while (ptx_take_mark(&parser->lexer, ','));
    return ptx_expect_mark(parser, ')');
}

/* A register in the callee's place. */
static struct wsdbg_error *read_pointer(struct ptx_parser *parser, struct call *call, struct ptx_slice name)
{
    uint8_t type;
    bool found = false;
    PTX_TRY(ptx_use_register(parser, name, &found, &call->pointer.number, &type));
    if (!found)
        return ptx_error(parser, call->line, "%.*s is neither a function nor a register that holds its address",
                         PTX_NAME(name));
    call->pointer.kind = WSDBG_PTX_OPERAND_REGISTER;
    call->callee = WSDBG_PTX_NONE;
    return NULL;
}

static struct wsdbg_error *read_callee(struct ptx_parser *parser, struct call *call)
{
    struct ptx_slice name;
    PTX_TRY(ptx_expect_name(parser, &name));
    const struct ptx_symbol *symbol = ptx_symbols_find(parser->symbols, name);
    if (!symbol && *name.bytes != '%')
        return ptx_error(parser, call->line, "function %.*s is not declared", PTX_NAME(name));
    if (!symbol || symbol->kind != PTX_SYMBOL_FUNCTION)
        return read_pointer(parser, call, name);
    call->callee = symbol->number;
    if (PTX_ITEM(parser->functions, struct wsdbg_ptx_function, call->callee)->is_kernel)
        return ptx_error(parser, call->line, "%.*s is a kernel, which cannot be called", PTX_NAME(name));
    return NULL;
}

static struct wsdbg_error *read_operands(struct ptx_parser *parser, struct call *call)
{
    struct ptx_lexer *lexer = &parser->lexer;
    if (ptx_take_mark(lexer, '(')) {
        PTX_TRY(read_values(parser, call));
        call->result_count = call->count;
        PTX_TRY(ptx_expect_mark(parser, ','));
    }
    PTX_TRY(read_callee(parser, call));
    const bool is_indirect = call->callee == WSDBG_PTX_NONE;
    bool more = ptx_take_mark(lexer, ',');
    if (more && (!is_indirect || ptx_at_mark(lexer, '('))) {
        PTX_TRY(ptx_expect_mark(parser, '('));
        PTX_TRY(read_values(parser, call));
        more = is_indirect && ptx_take_mark(lexer, ',');
    }
    struct ptx_slice prototype;
    if (more)
        PTX_TRY(ptx_expect_name(parser, &prototype));
    return ptx_expect_mark(parser, ';');
}

/* ---- the copies ---- */

/* A register for copies of up to 4 or of 8 bytes.  For who only reads, each copy has its own. */
static struct wsdbg_error *copy_register(struct ptx_parser *parser, bool is_wide, uint32_t *number)
{
    uint32_t *known = &parser->body.copy_registers[is_wide];
    if (*known == WSDBG_PTX_NONE || parser->is_to_read)
        PTX_TRY(ptx_new_register(parser, is_wide ? WSDBG_PTX_B64 : WSDBG_PTX_B32, known));
    *number = *known;
    return NULL;
}

static struct wsdbg_error *add_memory(struct ptx_parser *parser, const struct call *call,
                                      enum wsdbg_ptx_operation operation, unsigned width,
                                      const struct wsdbg_ptx_operand *address, bool is_callee,
                                      const struct wsdbg_ptx_operand *value)
{
    static const uint8_t types[] = {[1] = WSDBG_PTX_B8, [2] = WSDBG_PTX_B16, [4] = WSDBG_PTX_B32, [8] = WSDBG_PTX_B64};
    struct wsdbg_ptx_instruction memory = *call->instruction;
    const unsigned at = operation == WSDBG_PTX_OP_ld;
    memory.operation = (uint16_t)operation;
    memory.type = memory.source_type = types[width];
    memory.space = WSDBG_PTX_LOCAL;
    memory.vector_length = 1;
    memory.operand_count = 2;
    memory.operands[at] = *address;
    memory.operands[1 - at] = *value;
    memory.operands[1 - at].is_written = operation == WSDBG_PTX_OP_ld;
    if (is_callee) {
        const struct ptx_use use = {PTX_USE_FRAME, false, (uint8_t)at, (uint32_t)parser->instructions.count,
                                    call->callee};
        PTX_TRY(ptx_add_use(parser, &use));
    }
    return ptx_add_instruction(parser, &memory, call->text);
}

/* Between a variable of the caller and a parameter, in the widest steps that both are aligned to, but none wider than
 * the parameter's alignment where that is 4 or more: then each member of a structure has a step of its own. */
static struct wsdbg_error *copy(struct ptx_parser *parser, const struct call *call,
                                const struct wsdbg_ptx_operand *variable, const struct wsdbg_ptx_parameter *parameter,
                                bool is_result)
{
    const uint32_t widest = parameter->alignment < WORD_BYTES ? LONG_BYTES : parameter->alignment;
    struct wsdbg_ptx_operand callers = *variable, callees = *variable, value = {.kind = WSDBG_PTX_OPERAND_REGISTER};
    for (uint32_t done = 0, width; done < parameter->byte_count; done += width) {
        callers.value = variable->value + done;
        callees.value = parameter->offset + done;
        width = LONG_BYTES;
        while (((uint64_t)callers.value | (uint64_t)callees.value | widest) % width ||
               width > parameter->byte_count - done)
            width /= 2;
        PTX_TRY(copy_register(parser, width == LONG_BYTES, &value.number));
        PTX_TRY(add_memory(parser, call, WSDBG_PTX_OP_ld, width, is_result ? &callees : &callers, is_result, &value));
        PTX_TRY(add_memory(parser, call, WSDBG_PTX_OP_st, width, is_result ? &callers : &callees, !is_result, &value));
    }
    return NULL;
}

/* A register or constant as a parameter. */
static struct wsdbg_error *pass_value(struct ptx_parser *parser, const struct call *call,
                                      const struct ptx_written *written, const struct wsdbg_ptx_parameter *parameter)
{
    const struct wsdbg_ptx_operand address = {.kind = WSDBG_PTX_OPERAND_ADDRESS,
                                              .space = WSDBG_PTX_LOCAL,
                                              .number = WSDBG_PTX_NONE,
                                              .value = parameter->offset};
    const uint32_t bytes = parameter->byte_count;
    struct wsdbg_ptx_operand value = written->operand;
    bool good = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    if (written->kind == PTX_WRITTEN_CONSTANT) {
        const enum wsdbg_ptx_type type = bytes == 8   ? WSDBG_PTX_B64
                                         : bytes == 4 ? WSDBG_PTX_B32
                                         : bytes == 2 ? WSDBG_PTX_B16
                                                      : WSDBG_PTX_B8;
        good = good && ptx_constant_as(&written->constant, type, &value.value);
        value.kind = WSDBG_PTX_OPERAND_IMMEDIATE;
    } else {
        good = good && written->kind == PTX_WRITTEN_REGISTER && !written->operand.negated &&
               wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)written->type) == bytes;
    }
    return good ? add_memory(parser, call, WSDBG_PTX_OP_st, bytes, &address, true, &value)
                : ptx_error(parser, call->line, "an argument of the call does not fit parameter %s", parameter->name);
}

static bool is_local_variable(const struct ptx_written *written, const struct wsdbg_ptx_parameter *parameter)
{
    return written->kind == PTX_WRITTEN_VARIABLE && written->operand.space == WSDBG_PTX_LOCAL &&
           written->byte_count >= parameter->byte_count;
}

static struct wsdbg_error *pass(struct ptx_parser *parser, const struct call *call, bool is_result)
{
    const struct wsdbg_ptx_function *callee = PTX_ITEM(parser->functions, struct wsdbg_ptx_function, call->callee);
    for (uint32_t i = is_result ? 0 : call->result_count; i < (is_result ? call->result_count : call->count); i++) {
        const struct wsdbg_ptx_parameter *parameter = &callee->parameters[i];
        if (is_local_variable(&call->values[i], parameter))
            PTX_TRY(copy(parser, call, &call->values[i].operand, parameter, is_result));
        else if (is_result)
            return ptx_error(parser, call->line, "a result of the call does not fit %s", parameter->name);
        else
            PTX_TRY(pass_value(parser, call, &call->values[i], parameter));
    }
    return NULL;
}

static struct wsdbg_error *add_call(struct ptx_parser *parser, const struct call *call)
{
    struct wsdbg_ptx_instruction instruction = *call->instruction;
    uint32_t *callee = ptx_append(&parser->calls, sizeof *callee);
    if (!callee)
        return &wsdbg_error_no_memory;
    *callee = call->callee;
    instruction.operand_count = 2;
    instruction.operands[0] = (struct wsdbg_ptx_operand){.kind = WSDBG_PTX_OPERAND_IMMEDIATE, .value = call->callee};
    instruction.operands[1] = (struct wsdbg_ptx_operand){
        .kind = WSDBG_PTX_OPERAND_ADDRESS, .space = WSDBG_PTX_LOCAL, .number = WSDBG_PTX_NONE};
    const struct ptx_use use = {PTX_USE_FRAME, false, 1, (uint32_t)parser->instructions.count, call->callee};
    PTX_TRY(ptx_add_use(parser, &use));
    return ptx_add_instruction(parser, &instruction, call->text);
}

/* Nothing is known of the callee's parameters: arguments and results that are variables stay where they are. */
static struct wsdbg_error *add_indirect(struct ptx_parser *parser, const struct call *call)
{
    struct wsdbg_ptx_instruction instruction = *call->instruction;
    for (uint32_t i = 0; i < call->result_count; i++)
        if (call->values[i].kind != PTX_WRITTEN_VARIABLE)
            return ptx_error(parser, call->line, "a result of an indirect call that is no variable");
    instruction.target = WSDBG_PTX_NONE;
    instruction.operand_count = 1;
    instruction.operands[0] = call->pointer;
    return ptx_add_instruction(parser, &instruction, call->text);
}

struct wsdbg_error *ptx_read_call(struct ptx_parser *parser, const struct wsdbg_ptx_instruction *instruction,
                                  const char *text)
{
    struct call call = {.line = instruction->text_line, .text = text, .instruction = instruction};
    parser->statement->element_count = 0;
    PTX_TRY(read_operands(parser, &call));
    if (call.callee == WSDBG_PTX_NONE)
        return add_indirect(parser, &call);
    const struct wsdbg_ptx_function *callee = PTX_ITEM(parser->functions, struct wsdbg_ptx_function, call.callee);
    const struct ptx_function_note *note = PTX_ITEM(parser->function_notes, struct ptx_function_note, call.callee);
    if (call.result_count != note->result_count || call.count != callee->parameter_count)
        return ptx_error(parser, call.line, "%s has %u results and %u parameters, the call %u and %u", callee->name,
                         (unsigned)note->result_count, (unsigned)(callee->parameter_count - note->result_count),
                         (unsigned)call.result_count, (unsigned)(call.count - call.result_count));
    PTX_TRY(pass(parser, &call, false));
    PTX_TRY(add_call(parser, &call));
    return pass(parser, &call, true);
}
