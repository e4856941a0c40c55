/* initial.c - the initial values of a variable: numbers, addresses, nested braces.
 *
 * Reads tokens; gives the bytes and adds the program's relocations.
 */
#include <string.h>

#include "base/grow.h"
#include "ptx/constant.h"
#include "ptx/declaration.h"

struct values {
    struct ptx_parser *parser;
    struct ptx_declaration *declaration;
    uint32_t variable;
    unsigned char *bytes;
    size_t room, count; /* bytes, as far as values were given */
};

/* The value's bytes at `offset`, which may lie behind what was given before. */
static struct wsdbg_error *put(struct values *values, uint64_t offset, uint64_t value, uint32_t line)
{
    const struct ptx_declaration *declaration = values->declaration;
    const unsigned width = wsdbg_ptx_type_bytes(declaration->type);
    if (declaration->byte_count && offset + width > declaration->byte_count)
        return ptx_error(values->parser, line, "%.*s has more values than room", PTX_NAME(declaration->name));
    if (offset + width + values->parser->initial_bytes > PTX_INITIAL_BYTES_MAX)
        return ptx_error(values->parser, line, "initial values of more than 64 MiB");
    if (!wsdbg_grow((void **)&values->bytes, &values->room, offset + width, 1))
        return &wsdbg_error_no_memory;
    if (offset > values->count)
        memset(values->bytes + values->count, 0, offset - values->count);
    if (offset + width > values->count)
        values->count = offset + width;
    for (unsigned i = 0; i < width; i++)
        values->bytes[offset + i] = i < 8 ? (unsigned char)(value >> 8 * i) : 0;
    return NULL;
}

/* Whoever only reads the program gets 0. */
static struct wsdbg_error *put_function(struct values *values, uint64_t offset, uint8_t shift, uint32_t function,
                                        uint64_t addend)
{
    const uint64_t address = (uint64_t)ptx_function_address(function) + addend;
    const uint32_t line = values->parser->lexer.token.line;
    return put(values, offset, values->parser->is_to_read ? 0 : address >> (shift == UINT8_MAX ? 0 : shift), line);
}

/* name, generic(name), name+4; or 0xff00(name): a byte of an address. */
static struct wsdbg_error *read_address(struct values *values, uint64_t offset, uint8_t shift)
{
    struct ptx_parser *parser = values->parser;
    const uint32_t line = parser->lexer.token.line;
    const unsigned width = wsdbg_ptx_type_bytes(values->declaration->type);
    struct wsdbg_ptx_relocation relocation = {.variable = values->variable, .offset = offset, .shift = shift};
    struct ptx_constant addend = {.bits = 0};
    struct ptx_slice name;
    PTX_TRY(ptx_expect_name(parser, &name));
    relocation.is_generic = ptx_slice_is(name, "generic") && ptx_take_mark(&parser->lexer, '(');
    if (relocation.is_generic) {
        PTX_TRY(ptx_expect_name(parser, &name));
        PTX_TRY(ptx_expect_mark(parser, ')'));
    }
    if (ptx_at_mark(&parser->lexer, '+') || ptx_at_mark(&parser->lexer, '-'))
        PTX_TRY(ptx_read_constant(parser, &addend));
    const struct ptx_symbol *symbol = ptx_symbols_find(parser->symbols, name);
    const bool is_function = symbol && symbol->kind == PTX_SYMBOL_FUNCTION;
    if (!is_function && (!symbol || symbol->kind != PTX_SYMBOL_VARIABLE))
        return ptx_error(parser, line, "%.*s is not a variable that was declared", PTX_NAME(name));
    if ((width != 8 && width != 1 && (width != 4 || is_function)) || (width == 1) != (shift != UINT8_MAX))
        return ptx_error(parser, line, "an address does not fit a value of %u bytes", width);
    if (is_function)
        return put_function(values, offset, shift, symbol->number, addend.bits);
    if (PTX_ITEM(parser->variables, struct wsdbg_ptx_variable, symbol->number)->space == WSDBG_PTX_SHARED)
        return ptx_error(parser, line, "%.*s lies in shared memory: its address is no initial value", PTX_NAME(name));
    relocation.shift = shift == UINT8_MAX ? 0 : shift;
    relocation.target = symbol->number;
    relocation.byte_count = (uint8_t)width;
    relocation.addend = (int64_t)addend.bits;
    ptx_note_variable_use(parser, symbol->number, line);
    struct wsdbg_ptx_relocation *added = ptx_append(&parser->relocations, sizeof *added);
    if (!added)
        return &wsdbg_error_no_memory;
    *added = relocation;
    return put(values, offset, 0, line);
}

/* 0xff00(name) takes the address's byte that the mask has. */
static bool mask_shift(uint64_t mask, uint8_t *shift)
{
    for (*shift = 0; *shift < 64; *shift += 8)
        if (mask == UINT64_C(0xff) << *shift)
            return true;
    return false;
}

static struct wsdbg_error *read_value(struct values *values, uint64_t offset)
{
    struct ptx_parser *parser = values->parser;
    const uint32_t line = parser->lexer.token.line;
    struct ptx_constant constant;
    uint8_t shift = UINT8_MAX;
    int64_t value;
    if (!ptx_at_constant(parser))
        return read_address(values, offset, shift);
    PTX_TRY(ptx_read_constant(parser, &constant));
    if (ptx_at_mark(&parser->lexer, '(')) {
        if (constant.kind != PTX_CONSTANT_INTEGER || !mask_shift(constant.bits, &shift))
            return ptx_error(parser, line, "a mask of an address that is not one byte");
        ptx_lexer_next(&parser->lexer);
        PTX_TRY(read_address(values, offset, shift));
        return ptx_expect_mark(parser, ')');
    }
    if (!ptx_constant_as(&constant, values->declaration->type, &value))
        return ptx_error(parser, line, "a value that is not of %.*s's type", PTX_NAME(values->declaration->name));
    return put(values, offset, (uint64_t)value, line);
}

/* Behind `{` of the dimension `level`; its elements begin at `offset`. */
static struct wsdbg_error *read_braces(struct values *values, unsigned level, uint64_t offset)
{
    struct ptx_parser *parser = values->parser;
    const struct ptx_declaration *declaration = values->declaration;
    uint64_t stride = wsdbg_ptx_type_bytes(declaration->type), begins = offset;
    if (level >= declaration->dimension_count)
        return ptx_unexpected(parser, "a value");
    for (unsigned i = level + 1; i < declaration->dimension_count; i++)
        stride *= declaration->dimensions[i];
    while (!ptx_at_mark(&parser->lexer, '}')) {
        if (declaration->dimensions[level] && offset - begins >= stride * declaration->dimensions[level])
            return ptx_error(parser, parser->lexer.token.line, "%.*s has more values than room",
                             PTX_NAME(declaration->name));
        if (ptx_take_mark(&parser->lexer, '{')) {
            PTX_TRY(read_braces(values, level + 1, offset));
            offset += stride;
        } else {
            PTX_TRY(read_value(values, offset));
            offset += wsdbg_ptx_type_bytes(declaration->type); /* braces of inner dimensions may be left out */
        }
        if (!ptx_take_mark(&parser->lexer, ','))
            break;
    }
    return ptx_expect_mark(parser, '}');
}

static struct wsdbg_error *keep(struct values *values, const unsigned char **bytes)
{
    struct ptx_declaration *declaration = values->declaration;
    if (!declaration->byte_count) {
        uint64_t stride = wsdbg_ptx_type_bytes(declaration->type);
        for (unsigned i = 1; i < declaration->dimension_count; i++)
            stride *= declaration->dimensions[i];
        declaration->byte_count = (values->count + stride - 1) / stride * stride;
    }
    if (declaration->byte_count + values->parser->initial_bytes > PTX_INITIAL_BYTES_MAX)
        return ptx_error(values->parser, declaration->line, "initial values of more than 64 MiB");
    values->parser->initial_bytes += declaration->byte_count;
    unsigned char *copy = ptx_arena_take(&values->parser->storage->arena, declaration->byte_count, 1);
    if (!copy)
        return &wsdbg_error_no_memory;
    if (values->count)
        memcpy(copy, values->bytes, values->count);
    *bytes = copy;
    return NULL;
}

struct wsdbg_error *ptx_read_initial(struct ptx_parser *parser, struct ptx_declaration *declaration, uint32_t variable,
                                     const unsigned char **bytes)
{
    struct values values = {.parser = parser, .declaration = declaration, .variable = variable};
    struct wsdbg_error *error =
        ptx_take_mark(&parser->lexer, '{') ? read_braces(&values, 0, 0) : read_value(&values, 0);
    if (!error)
        error = keep(&values, bytes);
    free(values.bytes);
    return error;
}
