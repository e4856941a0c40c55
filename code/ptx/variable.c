/* variable.c - declarations of variables, and where global, constant and local ones lie.
 *
 * Reads tokens; writes program->variables and symbols.  Shared ones are placed by shared.c.
 */
#include "ptx/declaration.h"

#define VARIABLE_BYTES_MAX ((uint64_t)1 << 40)
#define LOCAL_BYTES_MAX ((uint64_t)512 << 10) /* of a thread, as on hardware */
enum { ALIGNMENT_MAX = 4096 };

/* .align, .ptr (with what is known of the pointer) and .attribute(...) in any order. */
static struct wsdbg_error *read_modifiers(struct ptx_parser *parser, struct ptx_declaration *out)
{
    struct ptx_lexer *lexer = &parser->lexer;
    uint64_t alignment = 0;
    bool of_pointer = false;
    for (;;) {
        if (ptx_take_dotted(lexer, "align")) {
            const uint32_t line = lexer->token.line;
            PTX_TRY(ptx_expect_count(parser, ALIGNMENT_MAX, "an alignment", &alignment));
            if (alignment == 0 || (alignment & (alignment - 1)))
                return ptx_error(parser, line, "alignment %u is no power of two", (unsigned)alignment);
            if (!of_pointer)
                out->alignment = (uint32_t)alignment;
        } else if (ptx_take_dotted(lexer, "attribute")) { /* .managed: all memory here is */
            while (!ptx_at_mark(lexer, ')') && lexer->token.kind != PTX_TOKEN_END)
                ptx_lexer_next(lexer);
            PTX_TRY(ptx_expect_mark(parser, ')'));
        } else if (ptx_take_dotted(lexer, "ptr")) {
            of_pointer = true;
        } else if (of_pointer && (ptx_take_dotted(lexer, "global") || ptx_take_dotted(lexer, "shared") ||
                                  ptx_take_dotted(lexer, "const") || ptx_take_dotted(lexer, "local"))) {
            continue;
        } else {
            return NULL;
        }
    }
}

/* .v4 .f32: the vector's length becomes the last dimension. */
static struct wsdbg_error *read_type(struct ptx_parser *parser, struct ptx_declaration *out, uint64_t *vector)
{
    struct ptx_lexer *lexer = &parser->lexer;
    *vector = ptx_take_dotted(lexer, "v2") ? 2 : ptx_take_dotted(lexer, "v4") ? 4 : 1;
    out->type = lexer->token.kind == PTX_TOKEN_DOTTED ? ptx_type_named(lexer->token.text) : WSDBG_PTX_NO_TYPE;
    if (out->type == WSDBG_PTX_NO_TYPE)
        return ptx_unexpected(parser, "a type");
    if (!out->is_register && wsdbg_ptx_type_bytes(out->type) == 0)
        return ptx_error(parser, lexer->token.line, "a variable of type .pred");
    ptx_lexer_next(lexer);
    return NULL;
}

static struct wsdbg_error *read_dimensions(struct ptx_parser *parser, struct ptx_declaration *out, uint64_t vector)
{
    struct ptx_lexer *lexer = &parser->lexer;
    out->byte_count = wsdbg_ptx_type_bytes(out->type) * vector;
    while (ptx_at_mark(lexer, '[')) {
        uint64_t count = 0;
        const bool is_first = out->dimension_count == 0;
        ptx_lexer_next(lexer);
        if (!is_first || !ptx_at_mark(lexer, ']'))
            PTX_TRY(ptx_expect_count(parser, VARIABLE_BYTES_MAX, "a dimension", &count));
        PTX_TRY(ptx_expect_mark(parser, ']'));
        if (out->dimension_count + 2 > PTX_DIMENSIONS_MAX)
            return ptx_error(parser, out->line, "%.*s has more than %d dimensions", PTX_NAME(out->name),
                             PTX_DIMENSIONS_MAX - 1);
        if (!is_first && !count)
            return ptx_error(parser, out->line, "%.*s has a dimension of 0", PTX_NAME(out->name));
        out->dimensions[out->dimension_count++] = count;
        if (__builtin_mul_overflow(out->byte_count, count ? count : 1, &out->byte_count) ||
            out->byte_count > VARIABLE_BYTES_MAX)
            return ptx_error(parser, out->line, "%.*s has more than 2^40 bytes", PTX_NAME(out->name));
    }
    if (out->dimension_count && !out->dimensions[0])
        out->byte_count = 0;
    if (vector > 1)
        out->dimensions[out->dimension_count++] = vector;
    return NULL;
}

struct wsdbg_error *ptx_read_declaration(struct ptx_parser *parser, struct ptx_declaration *out)
{
    uint64_t vector;
    PTX_TRY(read_modifiers(parser, out));
    PTX_TRY(read_type(parser, out, &vector));
    PTX_TRY(read_modifiers(parser, out));
    out->line = parser->lexer.token.line;
    PTX_TRY(ptx_expect_name(parser, &out->name));
    PTX_TRY(read_dimensions(parser, out, vector));
    const uint32_t natural = wsdbg_ptx_type_bytes(out->type) * (uint32_t)vector;
    if (!out->alignment)
        out->alignment = natural ? natural : 1;
    return NULL;
}

bool ptx_take_bytes(uint64_t *total, uint64_t byte_count, uint32_t alignment, uint64_t most, uint64_t *offset)
{
    const uint64_t begins = (*total + alignment - 1) / alignment * alignment;
    if (byte_count > most || begins > most - byte_count)
        return false;
    *offset = begins;
    *total = begins + byte_count;
    return true;
}

struct wsdbg_error *ptx_variable_used(struct ptx_parser *parser, uint32_t variable, uint32_t line)
{
    struct ptx_variable_note *note = PTX_ITEM(parser->variable_notes, struct ptx_variable_note, variable);
    if (!note->used_line)
        note->used_line = line;
    return NULL;
}

/* Where a variable of the module lies: global and constant ones in the program's blocks. */
static struct wsdbg_error *place(struct ptx_parser *parser, const struct ptx_declaration *declaration,
                                 struct wsdbg_ptx_variable *variable)
{
    struct wsdbg_ptx_program *program = parser->program;
    variable->byte_count = declaration->byte_count;
    if (variable->space == WSDBG_PTX_SHARED)
        return NULL;
    const bool is_const = variable->space == WSDBG_PTX_CONST;
    uint64_t *total = is_const ? &program->const_bytes : &program->global_bytes;
    if (!ptx_take_bytes(total, variable->byte_count, variable->alignment,
                        is_const ? PTX_CONST_BYTES_MAX : VARIABLE_BYTES_MAX, &variable->offset))
        return ptx_error(parser, declaration->line, "%.*s: the module's %s memory is more than %s",
                         PTX_NAME(declaration->name), is_const ? "constant" : "global",
                         is_const ? "64 KiB" : "2^40 bytes");
    return NULL;
}

/* The program's variable of this name in the current scope, made when it was not declared before. */
static struct wsdbg_error *find_or_add(struct ptx_parser *parser, const struct ptx_declaration *declaration,
                                       enum wsdbg_ptx_space space, uint32_t *index)
{
    const struct ptx_symbol *known = ptx_symbols_find(parser->symbols, declaration->name);
    if (known && known->depth == ptx_symbols_depth(parser->symbols)) {
        const struct ptx_variable_note *note =
            known->kind == PTX_SYMBOL_VARIABLE
                ? PTX_ITEM(parser->variable_notes, struct ptx_variable_note, known->number)
                : NULL;
        if (!note || note->is_defined ||
            PTX_ITEM(parser->variables, struct wsdbg_ptx_variable, known->number)->space != space)
            return ptx_error(parser, declaration->line, "%.*s is declared twice", PTX_NAME(declaration->name));
        *index = known->number;
        return NULL;
    }
    *index = (uint32_t)parser->variables.count;
    struct wsdbg_ptx_variable *variable = ptx_append(&parser->variables, sizeof *variable);
    struct ptx_variable_note *note = variable ? ptx_append(&parser->variable_notes, sizeof *note) : NULL;
    char *name = ptx_arena_text(&parser->storage->arena, declaration->name.bytes, declaration->name.length);
    const struct ptx_symbol symbol = {.name = declaration->name, .kind = PTX_SYMBOL_VARIABLE, .number = *index};
    if (!note || !name || !ptx_symbols_add(parser->symbols, &symbol))
        return &wsdbg_error_no_memory;
    variable->name = name;
    variable->space = (uint8_t)space;
    note->line = declaration->line;
    note->depth = ptx_symbols_depth(parser->symbols);
    return NULL;
}

static struct wsdbg_error *declare(struct ptx_parser *parser, struct ptx_declaration *declaration,
                                   enum wsdbg_ptx_space space, bool is_extern)
{
    uint32_t index = 0;
    const unsigned char *initial = NULL;
    PTX_TRY(find_or_add(parser, declaration, space, &index));
    if (ptx_at_mark(&parser->lexer, '=') && (is_extern || space == WSDBG_PTX_SHARED))
        return ptx_error(parser, declaration->line, "%.*s cannot have initial values", PTX_NAME(declaration->name));
    if (ptx_take_mark(&parser->lexer, '='))
        PTX_TRY(ptx_read_initial(parser, declaration, index, &initial));
    if (!is_extern && !declaration->byte_count && declaration->dimension_count && !declaration->dimensions[0] &&
        space != WSDBG_PTX_GLOBAL)
        return ptx_error(parser, declaration->line, "%.*s has no size", PTX_NAME(declaration->name));
    struct wsdbg_ptx_variable *variable = PTX_ITEM(parser->variables, struct wsdbg_ptx_variable, index);
    struct ptx_variable_note *note = PTX_ITEM(parser->variable_notes, struct ptx_variable_note, index);
    variable->alignment = declaration->alignment;
    variable->initial = initial;
    note->is_dynamic = is_extern && space == WSDBG_PTX_SHARED && !declaration->byte_count;
    note->is_defined = !is_extern || note->is_dynamic;
    return place(parser, declaration, variable);
}

struct wsdbg_error *ptx_declare_local(struct ptx_parser *parser, const struct ptx_declaration *declaration)
{
    uint64_t offset;
    const struct ptx_symbol *known = ptx_symbols_find(parser->symbols, declaration->name);
    if (known && known->depth == ptx_symbols_depth(parser->symbols))
        return ptx_error(parser, declaration->line, "%.*s is declared twice", PTX_NAME(declaration->name));
    if (!ptx_symbols_depth(parser->symbols) || !declaration->byte_count)
        return ptx_error(parser, declaration->line, "%.*s cannot be declared so", PTX_NAME(declaration->name));
    if (!ptx_take_bytes(&parser->body.local_bytes, declaration->byte_count, declaration->alignment, LOCAL_BYTES_MAX,
                        &offset))
        return ptx_error(parser, declaration->line, "%.*s: a thread's local memory is more than 512 KiB",
                         PTX_NAME(declaration->name));
    if (declaration->alignment > parser->body.local_alignment)
        parser->body.local_alignment = declaration->alignment;
    const struct ptx_symbol symbol = {.name = declaration->name,
                                      .kind = PTX_SYMBOL_LOCAL,
                                      .number = (uint32_t)offset,
                                      .count = (uint32_t)declaration->byte_count};
    return ptx_symbols_add(parser->symbols, &symbol) ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *ptx_read_variable(struct ptx_parser *parser, bool is_extern)
{
    struct ptx_lexer *lexer = &parser->lexer;
    struct ptx_declaration declaration = {.alignment = 0};
    const bool is_local = ptx_at_dotted(lexer, "local") || ptx_at_dotted(lexer, "param");
    const enum wsdbg_ptx_space space = ptx_at_dotted(lexer, "shared")  ? WSDBG_PTX_SHARED
                                       : ptx_at_dotted(lexer, "const") ? WSDBG_PTX_CONST
                                                                       : WSDBG_PTX_GLOBAL;
    ptx_lexer_next(lexer);
    PTX_TRY(ptx_read_declaration(parser, &declaration));
    PTX_TRY(is_local ? ptx_declare_local(parser, &declaration) : declare(parser, &declaration, space, is_extern));
    return ptx_expect_mark(parser, ';');
}
