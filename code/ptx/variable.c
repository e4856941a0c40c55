/* variable.c - variables become the program's, and get their places: global, constant and local ones.
 *
 * Reads tokens; writes program->variables and symbols.  Shared ones are placed by shared.c.
 */
#include "ptx/declaration.h"

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
                        is_const ? PTX_CONST_BYTES_MAX : PTX_VARIABLE_BYTES_MAX, &variable->offset))
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
    if (!ptx_take_bytes(&parser->body.local_bytes, declaration->byte_count, declaration->alignment, PTX_LOCAL_BYTES_MAX,
                        &offset))
        return ptx_error(parser, declaration->line, "%.*s: a thread's local memory is more than 512 KiB",
                         PTX_NAME(declaration->name));
    struct ptx_local *local = ptx_append(&parser->locals, sizeof *local);
    if (!local)
        return &wsdbg_error_no_memory;
    *local = (struct ptx_local){(uint32_t)offset, (uint32_t)declaration->byte_count};
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
