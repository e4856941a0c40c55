/* operand.c - see operand.h.  Reads tokens and symbols; numbers registers as they are first used. */
#include "ptx/operand.h"

#include <string.h>

#include "ptx/body.h"
#include "ptx/declaration.h"

/* Of a register of a range or a vector. */
static struct wsdbg_error *number_of(struct ptx_parser *parser, const struct ptx_symbol *symbol, uint32_t index,
                                     uint32_t *number)
{
    if (!symbol->numbers[index]) {
        PTX_TRY(ptx_new_register(parser, symbol->type, &symbol->numbers[index]));
        symbol->numbers[index]++;
    }
    *number = symbol->numbers[index] - 1;
    return NULL;
}

struct wsdbg_error *ptx_use_register(struct ptx_parser *parser, struct ptx_slice name, bool *found, uint32_t *number,
                                     uint8_t *type)
{
    uint32_t index;
    struct ptx_symbol *symbol = ptx_symbols_find(parser->symbols, name);
    *found = false;
    if (symbol && symbol->kind != PTX_SYMBOL_REGISTER)
        return NULL;
    if (symbol) {
        if (symbol->number == WSDBG_PTX_NONE)
            PTX_TRY(ptx_new_register(parser, symbol->type, &symbol->number));
        *number = symbol->number;
    } else {
        symbol = ptx_symbols_find_range(parser->symbols, name, &index);
        if (!symbol)
            return NULL;
        PTX_TRY(number_of(parser, symbol, index, number));
    }
    *type = symbol->type;
    *found = true;
    return NULL;
}

/* .x, .y, .z, .w or .r, .g, .b, .a behind the name of a vector. */
static struct wsdbg_error *read_component(struct ptx_parser *parser, struct ptx_symbol *symbol, struct ptx_written *out)
{
    static const char names[] = "xyzwrgba";
    const struct ptx_token *token = &parser->lexer.token;
    const char *const found = token->text.length == 1 ? strchr(names, *token->text.bytes) : NULL;
    const uint32_t index = found && *found ? (uint32_t)(found - names) % 4 : symbol->count;
    if (index >= symbol->count)
        return ptx_error(parser, token->line, "%.*s has no register .%.*s", PTX_NAME(symbol->name),
                         PTX_NAME(token->text));
    ptx_lexer_next(&parser->lexer);
    out->kind = PTX_WRITTEN_REGISTER;
    out->type = symbol->type;
    out->operand.kind = WSDBG_PTX_OPERAND_REGISTER;
    return number_of(parser, symbol, index, &out->operand.number);
}

/* A variable's name (or generic(name)) becomes an address in its space. */
static struct wsdbg_error *use_variable(struct ptx_parser *parser, const struct ptx_symbol *symbol, uint32_t line,
                                        struct ptx_written *out)
{
    out->kind = PTX_WRITTEN_VARIABLE;
    out->operand.kind = WSDBG_PTX_OPERAND_ADDRESS;
    out->operand.number = WSDBG_PTX_NONE;
    if (symbol->kind == PTX_SYMBOL_LOCAL || symbol->kind == PTX_SYMBOL_PARAMETER) {
        out->operand.space = symbol->kind == PTX_SYMBOL_LOCAL ? WSDBG_PTX_LOCAL : WSDBG_PTX_PARAM;
        out->operand.value = symbol->number;
        out->byte_count = symbol->count;
        return NULL;
    }
    if (symbol->kind != PTX_SYMBOL_VARIABLE)
        return ptx_error(parser, line, "%.*s is no value", PTX_NAME(symbol->name));
    const struct wsdbg_ptx_variable *variable = PTX_ITEM(parser->variables, struct wsdbg_ptx_variable, symbol->number);
    out->operand.space = variable->space;
    if (variable->space == WSDBG_PTX_SHARED)
        out->shared = symbol->number;
    else
        out->operand.value = (int64_t)variable->offset;
    ptx_note_variable_use(parser, symbol->number, line);
    return NULL;
}

/* %tid.x and the like: the dimension is a token of its own. */
static bool take_special(struct ptx_parser *parser, struct ptx_slice name, struct ptx_written *out)
{
    const struct ptx_token *token = &parser->lexer.token;
    const bool has_dimension = token->kind == PTX_TOKEN_DOTTED;
    const struct ptx_slice dimension = has_dimension ? token->text : (struct ptx_slice){"", 0};
    if (!ptx_special_find(name, dimension, &out->operand.number, &out->type))
        return false;
    if (has_dimension)
        ptx_lexer_next(&parser->lexer);
    out->kind = PTX_WRITTEN_SPECIAL;
    out->operand.kind = WSDBG_PTX_OPERAND_SPECIAL;
    return true;
}

static struct wsdbg_error *read_name(struct ptx_parser *parser, struct ptx_written *out)
{
    const uint32_t line = parser->lexer.token.line;
    PTX_TRY(ptx_expect_name(parser, &out->name));
    if (ptx_slice_is(out->name, "_")) {
        out->kind = PTX_WRITTEN_SINK;
        out->operand.kind = WSDBG_PTX_OPERAND_SINK;
        return NULL;
    }
    bool is_register;
    PTX_TRY(ptx_use_register(parser, out->name, &is_register, &out->operand.number, &out->type));
    if (is_register) {
        out->kind = PTX_WRITTEN_REGISTER;
        out->operand.kind = WSDBG_PTX_OPERAND_REGISTER;
        return NULL;
    }
    struct ptx_symbol *symbol = ptx_symbols_find(parser->symbols, out->name);
    if (symbol && symbol->kind == PTX_SYMBOL_VECTOR && parser->lexer.token.kind == PTX_TOKEN_DOTTED)
        return read_component(parser, symbol, out);
    if (!symbol && take_special(parser, out->name, out))
        return NULL;
    if (ptx_slice_is(out->name, "generic") && ptx_take_mark(&parser->lexer, '(')) {
        PTX_TRY(ptx_expect_name(parser, &out->name));
        PTX_TRY(ptx_expect_mark(parser, ')'));
        symbol = ptx_symbols_find(parser->symbols, out->name);
        if (!symbol)
            return ptx_error(parser, line, "%.*s is not declared", PTX_NAME(out->name));
        out->operand.from_generic = 1;
    }
    const bool is_value = symbol && (symbol->kind == PTX_SYMBOL_VARIABLE || symbol->kind == PTX_SYMBOL_LOCAL ||
                                     symbol->kind == PTX_SYMBOL_PARAMETER);
    out->kind = PTX_WRITTEN_NAME;
    return is_value ? use_variable(parser, symbol, line, out) : NULL;
}

/* +4, +-4, -4 behind a name: added to the operand's value. */
static struct wsdbg_error *read_offset(struct ptx_parser *parser, struct ptx_written *out)
{
    const bool is_minus = ptx_at_mark(&parser->lexer, '-');
    struct ptx_constant offset;
    if (!is_minus && !ptx_at_mark(&parser->lexer, '+'))
        return NULL;
    const uint32_t line = parser->lexer.token.line;
    PTX_TRY(ptx_read_constant(parser, &offset)); /* its own sign begins it */
    if (offset.kind != PTX_CONSTANT_INTEGER)
        return ptx_error(parser, line, "an address with a floating-point offset");
    out->operand.value = (int64_t)((uint64_t)out->operand.value + offset.bits);
    return NULL;
}

static struct wsdbg_error *add_element(struct ptx_parser *parser, struct ptx_statement *statement,
                                       const struct ptx_written *element)
{
    if (statement->element_count == PTX_ELEMENTS_MAX)
        return ptx_error(parser, statement->line, "an instruction has more than %d elements", PTX_ELEMENTS_MAX);
    statement->elements[statement->element_count++] = *element;
    return NULL;
}

/* A vector's name alone stands for all its registers. */
static struct wsdbg_error *use_vector(struct ptx_parser *parser, struct ptx_statement *statement,
                                      const struct ptx_symbol *symbol, struct ptx_written *out)
{
    out->kind = PTX_WRITTEN_VECTOR;
    out->first = (uint32_t)statement->element_count;
    for (out->count = 0; out->count < symbol->count; out->count++) {
        struct ptx_written element = {.kind = PTX_WRITTEN_REGISTER, .type = symbol->type, .shared = WSDBG_PTX_NONE};
        element.operand.kind = WSDBG_PTX_OPERAND_REGISTER;
        PTX_TRY(number_of(parser, symbol, out->count, &element.operand.number));
        PTX_TRY(add_element(parser, statement, &element));
    }
    return NULL;
}

/* Behind `{`: single values up to `}`. */
static struct wsdbg_error *read_elements(struct ptx_parser *parser, struct ptx_statement *statement,
                                         struct ptx_written *out)
{
    const uint32_t line = parser->lexer.token.line;
    do {
        struct ptx_written element = {.shared = WSDBG_PTX_NONE};
        if (ptx_at_mark(&parser->lexer, '{') || ptx_at_mark(&parser->lexer, '['))
            return ptx_unexpected(parser, "an element of a vector");
        PTX_TRY(ptx_read_operand(parser, statement, &element));
        if (element.kind == PTX_WRITTEN_VECTOR)
            return ptx_error(parser, line, "a vector of vectors");
        PTX_TRY(add_element(parser, statement, &element));
        if (++out->count > PTX_VECTOR_MAX)
            return ptx_error(parser, line, "a vector of more than %d elements", PTX_VECTOR_MAX);
    } while (ptx_take_mark(&parser->lexer, ','));
    return ptx_expect_mark(parser, '}');
}

/* Behind `[`: register, variable or number, with an offset; or a tensor's map, then coordinates. */
static struct wsdbg_error *read_address(struct ptx_parser *parser, struct ptx_statement *statement,
                                        struct ptx_written *out)
{
    const uint32_t line = parser->lexer.token.line;
    struct ptx_written base = {.shared = WSDBG_PTX_NONE};
    if (ptx_at_constant(parser)) {
        PTX_TRY(ptx_read_constant(parser, &base.constant));
        if (base.constant.kind != PTX_CONSTANT_INTEGER)
            return ptx_error(parser, line, "a floating-point number as address");
        base.operand.number = WSDBG_PTX_NONE;
        base.operand.value = (int64_t)base.constant.bits;
    } else {
        PTX_TRY(read_name(parser, &base));
        if (base.kind == PTX_WRITTEN_NAME)
            return ptx_error(parser, line, "%.*s is not declared", PTX_NAME(base.name));
        if (base.kind != PTX_WRITTEN_REGISTER && base.kind != PTX_WRITTEN_VARIABLE)
            return ptx_error(parser, line, "%.*s is no address", PTX_NAME(base.name));
        PTX_TRY(read_offset(parser, &base));
    }
    base.kind = PTX_WRITTEN_ADDRESS;
    base.operand.kind = WSDBG_PTX_OPERAND_ADDRESS;
    if (ptx_take_mark(&parser->lexer, ',')) {
        *out = (struct ptx_written){
            .kind = PTX_WRITTEN_MAP, .shared = WSDBG_PTX_NONE, .first = (uint32_t)statement->element_count};
        PTX_TRY(add_element(parser, statement, &base));
        PTX_TRY(ptx_expect_mark(parser, '{'));
        PTX_TRY(read_elements(parser, statement, out));
        out->count++;
    } else {
        *out = base;
    }
    return ptx_expect_mark(parser, ']');
}

struct wsdbg_error *ptx_read_operand(struct ptx_parser *parser, struct ptx_statement *statement,
                                     struct ptx_written *out)
{
    *out = (struct ptx_written){.shared = WSDBG_PTX_NONE};
    if (ptx_take_mark(&parser->lexer, '['))
        return read_address(parser, statement, out);
    if (ptx_take_mark(&parser->lexer, '{')) {
        out->kind = PTX_WRITTEN_VECTOR;
        out->first = (uint32_t)statement->element_count;
        return read_elements(parser, statement, out);
    }
    /* `!` is also an operator of constants. */
    struct ptx_lexer before = parser->lexer;
    if (ptx_take_mark(&parser->lexer, '!')) {
        if (parser->lexer.token.kind == PTX_TOKEN_NAME && !ptx_at_constant(parser)) {
            PTX_TRY(read_name(parser, out));
            out->operand.negated = true;
            return NULL;
        }
        parser->lexer = before;
    }
    if (ptx_at_constant(parser)) {
        out->kind = PTX_WRITTEN_CONSTANT;
        return ptx_read_constant(parser, &out->constant);
    }
    if (parser->lexer.token.kind != PTX_TOKEN_NAME)
        return ptx_unexpected(parser, "an operand");
    PTX_TRY(read_name(parser, out));
    const struct ptx_symbol *const symbol =
        out->kind == PTX_WRITTEN_NAME ? ptx_symbols_find(parser->symbols, out->name) : NULL;
    if (symbol && symbol->kind == PTX_SYMBOL_VECTOR)
        return use_vector(parser, statement, symbol, out);
    return out->kind == PTX_WRITTEN_VARIABLE ? read_offset(parser, out) : NULL;
}

struct wsdbg_error *ptx_read_operands(struct ptx_parser *parser, struct ptx_statement *statement)
{
    bool is_joined = false;
    statement->operand_count = statement->element_count = 0;
    if (ptx_take_mark(&parser->lexer, ';'))
        return NULL;
    do {
        if (statement->operand_count == PTX_WRITTEN_MAX)
            return ptx_error(parser, statement->line, "an instruction has more than %d operands", PTX_WRITTEN_MAX);
        struct ptx_written *operand = &statement->operands[statement->operand_count++];
        PTX_TRY(ptx_read_operand(parser, statement, operand));
        operand->is_joined = is_joined;
        is_joined = ptx_at_mark(&parser->lexer, '|');
    } while (ptx_take_mark(&parser->lexer, ',') || ptx_take_mark(&parser->lexer, '|'));
    return ptx_expect_mark(parser, ';');
}
