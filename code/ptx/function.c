/* function.c - bodies of kernels and functions: statements and blocks of them, labels, registers, directives.
 *
 * Reads tokens; writes program->functions, and what body.h keeps of a body.
 */
#include <stdlib.h>

#include "ptx/declaration.h"
#include "ptx/function.h"
#include "ptx/place.h"

enum { REGISTERS_MAX = 1 << 20, DECLARED_MAX = 1 << 22 };

static struct wsdbg_ptx_function *current(struct ptx_parser *parser)
{
    return PTX_ITEM(parser->functions, struct wsdbg_ptx_function, parser->body.function);
}

static struct ptx_function_note *current_note(struct ptx_parser *parser)
{
    return PTX_ITEM(parser->function_notes, struct ptx_function_note, parser->body.function);
}

/* ---- labels ---- */

/* NAME: .branchtargets L1, L2; */
static struct wsdbg_error *read_branch_table(struct ptx_parser *parser, struct ptx_slice name, uint32_t line)
{
    const uint32_t table = (uint32_t)parser->branch_tables.count;
    const struct ptx_symbol symbol = {.name = name, .kind = PTX_SYMBOL_TABLE, .number = table};
    uint32_t *word = ptx_append(&parser->branch_tables, sizeof *word), count = 0;
    if (!word)
        return &wsdbg_error_no_memory;
    do {
        struct ptx_slice label;
        const uint32_t label_line = parser->lexer.token.line;
        PTX_TRY(ptx_expect_name(parser, &label));
        PTX_TRY(ptx_add_reference(parser, label, label_line, PTX_FROM_TABLE, (uint32_t)parser->branch_tables.count));
        if (!ptx_append(&parser->branch_tables, sizeof *word))
            return &wsdbg_error_no_memory;
        if (++count > PTX_LABELS_MAX)
            return ptx_error(parser, label_line, "a table of more than %d labels", PTX_LABELS_MAX);
    } while (ptx_take_mark(&parser->lexer, ','));
    *PTX_ITEM(parser->branch_tables, uint32_t, table) = count;
    PTX_TRY(ptx_declare_name(parser, &symbol, line));
    return ptx_expect_mark(parser, ';');
}

/* A name with a colon behind it. */
static struct wsdbg_error *read_label(struct ptx_parser *parser)
{
    const uint32_t line = parser->lexer.token.line;
    struct ptx_symbol symbol = {.kind = PTX_SYMBOL_LABEL, .number = (uint32_t)parser->instructions.count};
    PTX_TRY(ptx_expect_name(parser, &symbol.name));
    PTX_TRY(ptx_expect_mark(parser, ':'));
    if (ptx_take_dotted(&parser->lexer, "branchtargets"))
        return read_branch_table(parser, symbol.name, line);
    if (ptx_at_dotted(&parser->lexer, "callprototype") || ptx_at_dotted(&parser->lexer, "calltargets")) {
        symbol.kind = PTX_SYMBOL_PROTOTYPE; /* only indirect calls use it */
        while (!ptx_at_mark(&parser->lexer, ';') && parser->lexer.token.kind != PTX_TOKEN_END)
            ptx_lexer_next(&parser->lexer);
        PTX_TRY(ptx_expect_mark(parser, ';'));
    }
    parser->body.label_at_end = true;
    return ptx_declare_name(parser, &symbol, line);
}

/* ---- the body ---- */

/* A range or a vector of `count` registers. */
static struct wsdbg_error *declare_registers(struct ptx_parser *parser, struct ptx_symbol *symbol, uint64_t count,
                                             uint32_t line)
{
    parser->body.declared_registers += count;
    if (parser->body.declared_registers > DECLARED_MAX)
        return ptx_error(parser, line, "a function with more than %d registers", DECLARED_MAX);
    symbol->count = (uint32_t)count;
    symbol->numbers = calloc(count + 1, sizeof *symbol->numbers);
    struct wsdbg_error *error = symbol->numbers ? NULL : &wsdbg_error_no_memory;
    if (!error && symbol->kind == PTX_SYMBOL_VECTOR)
        error = ptx_declare_name(parser, symbol, line);
    else if (!error && !ptx_symbols_add(parser->symbols, symbol))
        error = &wsdbg_error_no_memory;
    if (error)
        free(symbol->numbers);
    return error;
}

/* Behind `.reg`: a type, then names or ranges of names; or of vectors, names alone. */
static struct wsdbg_error *read_registers(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    const unsigned length = ptx_take_dotted(lexer, "v2") ? 2 : ptx_take_dotted(lexer, "v4") ? 4 : 1;
    const enum wsdbg_ptx_type type =
        lexer->token.kind == PTX_TOKEN_DOTTED ? ptx_type_named(lexer->token.text) : WSDBG_PTX_NO_TYPE;
    if (type == WSDBG_PTX_NO_TYPE)
        return ptx_unexpected(parser, "the type of a register");
    ptx_lexer_next(lexer);
    do {
        struct ptx_symbol symbol = {.kind = PTX_SYMBOL_REGISTER, .type = (uint8_t)type, .number = WSDBG_PTX_NONE};
        const uint32_t line = lexer->token.line;
        PTX_TRY(ptx_expect_name(parser, &symbol.name));
        if (ptx_take_mark(lexer, '<')) {
            const uint64_t count = lexer->token.integer; /* no expression: `>` ends it */
            if (lexer->token.kind != PTX_TOKEN_INTEGER || count > REGISTERS_MAX)
                return ptx_unexpected(parser, "a number of registers up to 1048576");
            if (length > 1)
                return ptx_error(parser, line, "%.*s is a range of vectors, which is not supported",
                                 PTX_NAME(symbol.name));
            ptx_lexer_next(lexer);
            PTX_TRY(ptx_expect_mark(parser, '>'));
            symbol.kind = PTX_SYMBOL_RANGE;
            PTX_TRY(declare_registers(parser, &symbol, count, line));
        } else if (length > 1) {
            symbol.kind = PTX_SYMBOL_VECTOR;
            PTX_TRY(declare_registers(parser, &symbol, length, line));
        } else {
            PTX_TRY(ptx_declare_name(parser, &symbol, line));
        }
    } while (ptx_take_mark(lexer, ','));
    return ptx_expect_mark(parser, ';');
}

static struct wsdbg_error *read_body_directive(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    if (ptx_take_dotted(lexer, "loc"))
        return ptx_read_location(parser);
    if (ptx_take_dotted(lexer, "reg"))
        return read_registers(parser);
    if (ptx_take_dotted(lexer, "pragma"))
        return ptx_read_pragma(parser);
    const bool is_extern = ptx_take_dotted(lexer, "extern");
    if (ptx_at_dotted(lexer, "shared") || ptx_at_dotted(lexer, "local") || ptx_at_dotted(lexer, "param") ||
        ptx_at_dotted(lexer, "global") || ptx_at_dotted(lexer, "const"))
        return ptx_read_variable(parser, is_extern);
    return ptx_unexpected(parser, "a directive that a body may have");
}

static bool at_label(const struct ptx_parser *parser)
{
    struct ptx_lexer ahead = parser->lexer;
    if (ahead.token.kind != PTX_TOKEN_NAME)
        return false;
    ptx_lexer_next(&ahead);
    return ptx_at_mark(&ahead, ':');
}

static struct wsdbg_error *read_statement(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    if (lexer->token.kind == PTX_TOKEN_DOTTED)
        return read_body_directive(parser);
    if (ptx_take_mark(lexer, ';'))
        return NULL;
    if (at_label(parser))
        return read_label(parser);
    if (lexer->token.kind != PTX_TOKEN_NAME && !ptx_at_mark(lexer, '@'))
        return ptx_unexpected(parser, "an instruction");
    parser->body.label_at_end = false;
    return ptx_read_instruction(parser);
}

/* The last instruction may be passed: then lanes return there. */
static bool falls_off(const struct ptx_parser *parser)
{
    const size_t count = parser->instructions.count;
    const struct wsdbg_ptx_function *function =
        PTX_ITEM(parser->functions, struct wsdbg_ptx_function, parser->body.function);
    if (parser->body.label_at_end || count == function->first)
        return true;
    const struct wsdbg_ptx_instruction *last = PTX_ITEM(parser->instructions, struct wsdbg_ptx_instruction, count - 1);
    return last->guard != WSDBG_PTX_NONE ||
           (last->operation != WSDBG_PTX_OP_ret && last->operation != WSDBG_PTX_OP_exit &&
            last->operation != WSDBG_PTX_OP_bra && last->operation != WSDBG_PTX_OP_brx);
}

static struct wsdbg_error *end_body(struct ptx_parser *parser, uint32_t line, const char *text)
{
    if (falls_off(parser)) {
        const struct wsdbg_ptx_instruction ends = {.operation = WSDBG_PTX_OP_ret,
                                                   .guard = WSDBG_PTX_NONE,
                                                   .target = WSDBG_PTX_NONE,
                                                   .reconverge = WSDBG_PTX_NONE,
                                                   .text_line = line,
                                                   .place = parser->body.place,
                                                   .vector_length = 1};
        PTX_TRY(ptx_add_instruction(parser, &ends, text));
    }
    ptx_end_scope(parser);
    PTX_TRY(ptx_check_references(parser));
    struct wsdbg_ptx_function *function = current(parser);
    struct ptx_function_note *note = current_note(parser);
    function->end = (uint32_t)parser->instructions.count;
    function->local_bytes = (uint32_t)parser->body.local_bytes;
    note->frame_alignment = parser->body.local_alignment ? parser->body.local_alignment : 1;
    note->vectors.end = parser->vectors.count;
    note->branch_tables.end = parser->branch_tables.count;
    note->locals.end = parser->locals.count;
    note->uses.end = parser->uses.count;
    note->calls.end = parser->calls.count;
    return NULL;
}

/* Behind `{`, with the scope of the parameters around it. */
static struct wsdbg_error *read_body(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    const uint32_t outermost = parser->body.nesting;
    struct ptx_function_note *note = current_note(parser);
    parser->register_types.count = 0;
    current(parser)->first = (uint32_t)parser->instructions.count;
    note->vectors.first = parser->vectors.count;
    note->branch_tables.first = parser->branch_tables.count;
    note->uses.first = parser->uses.count;
    note->calls.first = parser->calls.count;
    for (;;) {
        const uint32_t line = lexer->token.line;
        const char *text = lexer->token.text.bytes;
        if (ptx_take_mark(lexer, '{')) {
            PTX_TRY(ptx_begin_scope(parser, line));
        } else if (!ptx_take_mark(lexer, '}')) {
            if (lexer->token.kind == PTX_TOKEN_END)
                return ptx_unexpected(parser, "}");
            PTX_TRY(read_statement(parser));
        } else if (parser->body.nesting == outermost) {
            return end_body(parser, line, text);
        } else {
            ptx_end_scope(parser);
        }
    }
}

struct wsdbg_error *ptx_read_function(struct ptx_parser *parser, bool is_kernel, bool *has_body)
{
    PTX_TRY(ptx_read_header(parser, is_kernel, has_body));
    if (*has_body)
        return read_body(parser);
    ptx_end_scope(parser);
    return NULL;
}
