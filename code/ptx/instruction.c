/* instruction.c - one instruction of a text: guard, opcode, suffixes and operands, as its row of the table has them.
 *
 * Reads tokens; adds to the program's instructions.
 */
#include <string.h>

#include "ptx/function.h"
#include "ptx/operand.h"

enum { SUFFIXES_MAX = 24, ACCESS_BYTES_MOST = 16 };

static struct wsdbg_error *read_guard(struct ptx_parser *parser, struct wsdbg_ptx_instruction *instruction)
{
    struct ptx_slice name;
    bool found;
    uint8_t type;
    instruction->guard = WSDBG_PTX_NONE;
    if (!ptx_take_mark(&parser->lexer, '@'))
        return NULL;
    instruction->guard_negated = ptx_take_mark(&parser->lexer, '!');
    const uint32_t line = parser->lexer.token.line;
    PTX_TRY(ptx_expect_name(parser, &name));
    PTX_TRY(ptx_use_register(parser, name, &found, &instruction->guard, &type));
    return found && type == WSDBG_PTX_PRED
               ? NULL
               : ptx_error(parser, line, "the guard %.*s is no predicate register", PTX_NAME(name));
}

/* add .sat .s32 as "add.sat.s32". */
static struct wsdbg_error *read_opcode(struct ptx_parser *parser, struct ptx_statement *statement)
{
    struct ptx_slice name;
    PTX_TRY(ptx_expect_name(parser, &name));
    statement->opcode_length = 0;
    for (bool is_first = true;; is_first = false) {
        const size_t dot = is_first ? 0 : 1;
        if (statement->opcode_length + dot + name.length >= sizeof statement->opcode)
            return ptx_error(parser, statement->line, "an instruction's name of more than %zu characters",
                             sizeof statement->opcode);
        if (dot)
            statement->opcode[statement->opcode_length++] = '.';
        memcpy(statement->opcode + statement->opcode_length, name.bytes, name.length);
        statement->opcode_length += name.length;
        if (parser->lexer.token.kind != PTX_TOKEN_DOTTED)
            break;
        name = parser->lexer.token.text;
        ptx_lexer_next(&parser->lexer);
    }
    statement->opcode[statement->opcode_length] = '\0';
    return NULL;
}

static struct wsdbg_error *split_suffixes(const struct ptx_parser *parser, const struct ptx_statement *statement,
                                          size_t mnemonic_length, struct ptx_slice *suffixes, size_t *count)
{
    const char *at = statement->opcode + mnemonic_length;
    for (*count = 0; *at; ++*count) {
        if (*count == SUFFIXES_MAX)
            return ptx_error(parser, statement->line, "more than %d suffixes: %s", SUFFIXES_MAX, statement->opcode);
        const char *end = strchr(++at, '.');
        const size_t length = end ? (size_t)(end - at) : strlen(at);
        suffixes[*count] = (struct ptx_slice){at, length};
        at += length;
    }
    return NULL;
}

static struct wsdbg_error *refuse_suffixes(const struct ptx_parser *parser, const struct ptx_statement *statement,
                                           size_t mnemonic_length, const struct ptx_slice *suffixes, size_t count,
                                           size_t fitted)
{
    char text[PTX_STATEMENT_TEXT];
    ptx_statement_text(statement->text, parser->lexer.end, text, sizeof text);
    const char *const reason = ptx_left_out((struct ptx_slice){statement->opcode, statement->opcode_length});
    if (reason)
        return ptx_error(parser, statement->line, "%s: %s", reason, text);
    if (fitted == count)
        return ptx_error(parser, statement->line, "a suffix is missing: %s", text);
    return ptx_error(parser, statement->line, "suffix .%.*s is not one that %.*s has here: %s",
                     PTX_NAME(suffixes[fitted]), (int)mnemonic_length, statement->opcode, text);
}

static bool is_sign(int64_t value)
{
    return value == 1 || value == -1;
}

/* tensormap.replace: a dimension, or a value that is always written out. */
static bool is_field_value(const struct wsdbg_ptx_instruction *instruction)
{
    static const int8_t most[] = {
        [WSDBG_PTX_V_BOX_DIM] = 4,        [WSDBG_PTX_V_GLOBAL_DIM] = 4,    [WSDBG_PTX_V_GLOBAL_STRIDE] = 3,
        [WSDBG_PTX_V_ELEMENT_STRIDE] = 4, [WSDBG_PTX_V_ELEMENT_TYPE] = 12, [WSDBG_PTX_V_INTERLEAVE] = 2,
        [WSDBG_PTX_V_SWIZZLE] = 3,        [WSDBG_PTX_V_FILL] = 1};
    const struct wsdbg_ptx_operand *const operand = &instruction->operands[1];
    return instruction->variant == WSDBG_PTX_V_GLOBAL_ADDRESS || instruction->variant == WSDBG_PTX_V_RANK ||
           (operand->value >= 0 && operand->value <= most[instruction->variant]);
}

/* What a constant may be beyond its type. */
static struct wsdbg_error *check_constants(const struct ptx_parser *parser, const struct ptx_statement *statement,
                                           const struct wsdbg_ptx_instruction *instruction)
{
    const struct wsdbg_ptx_operand *operands = instruction->operands;
    bool good = true;
    switch ((enum wsdbg_ptx_operation)instruction->operation) {
    case WSDBG_PTX_OP_ld:
    case WSDBG_PTX_OP_ldu:
    case WSDBG_PTX_OP_st:
    case WSDBG_PTX_OP_st_async:
        if (instruction->vector_length * wsdbg_ptx_type_bytes((enum wsdbg_ptx_type)instruction->type) <=
            ACCESS_BYTES_MOST)
            return NULL;
        return ptx_error(parser, statement->line, "sm_90 accesses at most 128 bits at once: %s", statement->opcode);
    case WSDBG_PTX_OP_setmaxnreg:
        good = operands[0].value >= 24 && operands[0].value <= 256 && operands[0].value % 8 == 0;
        break;
    case WSDBG_PTX_OP_wgmma_mma_async:
        if (instruction->operand_count == 4) /* integers, which have no signs; and not every n */
            return instruction->n % 16 == 0 || instruction->n == 8 || instruction->n == 24
                       ? NULL
                       : ptx_error(parser, statement->line,
                                   "wgmma of 8-bit integers has n 8, 24 or a multiple of 16, not %u",
                                   (unsigned)instruction->n);
        good = is_sign(operands[4].value) && is_sign(operands[5].value);
        for (unsigned i = 6; i < instruction->operand_count; i++)
            good = good && (operands[i].value == 0 || operands[i].value == 1);
        break;
    case WSDBG_PTX_OP_wgmma_wait_group:
    case WSDBG_PTX_OP_bulk_wait_group:
    case WSDBG_PTX_OP_cp_async_wait_group:
        good = operands[0].value >= 0 && operands[0].value <= INT32_MAX;
        break;
    case WSDBG_PTX_OP_tensormap_replace:
        good = is_field_value(instruction);
        break;
    case WSDBG_PTX_OP_tensormap_cp_fenceproxy:
        good = operands[2].value == 128;
        break;
    case WSDBG_PTX_OP_cp_async:
        good = operands[2].value == 16 ||
               (!strncmp(statement->opcode, "cp.async.ca", 11) && (operands[2].value == 4 || operands[2].value == 8));
        break;
    default:
        break;
    }
    if (good)
        return NULL;
    char text[PTX_STATEMENT_TEXT];
    ptx_statement_text(statement->text, parser->lexer.end, text, sizeof text);
    return ptx_error(parser, statement->line, "a constant that the instruction does not take: %s", text);
}

/* Tries the row's forms; the error is that of the form which fits best. */
static struct wsdbg_error *match(struct ptx_parser *parser, const struct ptx_statement *statement,
                                 enum wsdbg_ptx_operation operation, size_t mnemonic_length,
                                 struct wsdbg_ptx_instruction *instruction)
{
    const struct ptx_table *table = parser->table;
    const struct wsdbg_ptx_instruction plain = *instruction;
    struct ptx_slice suffixes[SUFFIXES_MAX];
    size_t count, most_fitted = 0;
    struct wsdbg_error *error = NULL;
    PTX_TRY(split_suffixes(parser, statement, mnemonic_length, suffixes, &count));
    for (uint32_t i = table->first_form[operation]; i < table->first_form[operation + 1]; i++) {
        const struct ptx_form *form = &table->forms[i];
        const size_t vectors = parser->vectors.count, uses = parser->uses.count;
        const size_t references = parser->references.count;
        size_t fitted;
        if (form->mnemonic.bytes && (form->mnemonic.length != mnemonic_length ||
                                     memcmp(form->mnemonic.bytes, statement->opcode, mnemonic_length) != 0))
            continue;
        *instruction = plain;
        if (!ptx_form_suffixes(table, form, suffixes, count, instruction, &fitted)) {
            most_fitted = fitted > most_fitted ? fitted : most_fitted;
            continue;
        }
        wsdbg_error_destroy(error);
        error = ptx_bind(parser, statement, form, instruction);
        if (!error)
            return check_constants(parser, statement, instruction);
        parser->vectors.count = vectors;
        parser->uses.count = uses;
        parser->references.count = references;
    }
    return error ? error : refuse_suffixes(parser, statement, mnemonic_length, suffixes, count, most_fitted);
}

/* A called function's parameters, and those that a caller prepares, lie in local memory; only kernels' have their own.
 */
static void choose_parameters(const struct ptx_parser *parser, const struct ptx_statement *statement,
                              struct wsdbg_ptx_instruction *instruction)
{
    bool is_local = !PTX_ITEM(parser->functions, struct wsdbg_ptx_function, parser->body.function)->is_kernel &&
                    !strstr(statement->opcode, "param::entry");
    for (unsigned i = 0; i < instruction->operand_count; i++)
        is_local = is_local || (instruction->operands[i].kind == WSDBG_PTX_OPERAND_ADDRESS &&
                                instruction->operands[i].space == WSDBG_PTX_LOCAL);
    if (instruction->space == WSDBG_PTX_PARAM && (is_local || instruction->operation == WSDBG_PTX_OP_st))
        instruction->space = WSDBG_PTX_LOCAL;
}

static struct wsdbg_error *unknown_instruction(const struct ptx_parser *parser, const struct ptx_statement *statement)
{
    char text[PTX_STATEMENT_TEXT];
    ptx_statement_text(statement->text, parser->lexer.end, text, sizeof text);
    const char *const reason = ptx_left_out((struct ptx_slice){statement->opcode, statement->opcode_length});
    if (reason)
        return ptx_error(parser, statement->line, "%s: %s", reason, text);
    return ptx_error(parser, statement->line, "the simulator does not know this instruction: %s", text);
}

struct wsdbg_error *ptx_read_instruction(struct ptx_parser *parser)
{
    struct ptx_statement *statement = parser->statement;
    struct wsdbg_ptx_instruction instruction = {.target = WSDBG_PTX_NONE, .reconverge = WSDBG_PTX_NONE};
    size_t mnemonic_length;
    statement->line = parser->lexer.token.line;
    statement->text = parser->lexer.token.text.bytes;
    PTX_TRY(read_guard(parser, &instruction));
    PTX_TRY(read_opcode(parser, statement));
    const enum wsdbg_ptx_operation operation = ptx_table_find(
        parser->table, (struct ptx_slice){statement->opcode, statement->opcode_length}, &mnemonic_length);
    if (operation == WSDBG_PTX_NO_OPERATION)
        return unknown_instruction(parser, statement);
    instruction.operation = (uint16_t)operation;
    instruction.text_line = statement->line;
    instruction.place = parser->body.place;
    if (operation == WSDBG_PTX_OP_call) {
        statement->operand_count = 0;
        PTX_TRY(match(parser, statement, operation, mnemonic_length, &instruction));
        return ptx_read_call(parser, &instruction, statement->text);
    }
    PTX_TRY(ptx_read_operands(parser, statement));
    PTX_TRY(match(parser, statement, operation, mnemonic_length, &instruction));
    choose_parameters(parser, statement, &instruction);
    return ptx_add_instruction(parser, &instruction, statement->text);
}
