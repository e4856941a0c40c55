/* body.c - see body.h.
 *
 * Reads the symbols; adds to the parser's instructions, registers, uses and references, and gives the branches of a
 * scope their targets when it ends.
 */
#include "ptx/body.h"

/* ---- what is added ---- */

struct wsdbg_error *ptx_add_instruction(struct ptx_parser *parser, const struct wsdbg_ptx_instruction *instruction,
                                        const char *text)
{
    if (parser->instructions.count == PTX_INSTRUCTIONS_MAX)
        return ptx_error(parser, instruction->text_line, "more than %d instructions", PTX_INSTRUCTIONS_MAX);
    struct wsdbg_ptx_instruction *added = ptx_append(&parser->instructions, sizeof *added);
    uint32_t *place = added ? ptx_append(&parser->instruction_text, sizeof *place) : NULL;
    if (!place)
        return &wsdbg_error_no_memory;
    *added = *instruction;
    *place = (uint32_t)(text - parser->storage->text);
    return NULL;
}

struct wsdbg_error *ptx_new_register(struct ptx_parser *parser, uint8_t type, uint32_t *number)
{
    *number = (uint32_t)parser->register_types.count;
    uint8_t *added = ptx_append(&parser->register_types, sizeof *added);
    if (!added)
        return &wsdbg_error_no_memory;
    *added = type;
    return NULL;
}

struct wsdbg_error *ptx_add_use(struct ptx_parser *parser, const struct ptx_use *use)
{
    struct ptx_use *added = ptx_append(&parser->uses, sizeof *added);
    if (!added)
        return &wsdbg_error_no_memory;
    *added = *use;
    return NULL;
}

struct wsdbg_error *ptx_add_reference(struct ptx_parser *parser, struct ptx_slice name, uint32_t line,
                                      enum ptx_reference_kind kind, uint32_t index)
{
    struct ptx_reference *reference = ptx_append(&parser->references, sizeof *reference);
    if (!reference)
        return &wsdbg_error_no_memory;
    *reference = (struct ptx_reference){name, line, (uint8_t)kind, index};
    return NULL;
}

/* ---- scopes ---- */

struct wsdbg_error *ptx_declare_name(struct ptx_parser *parser, const struct ptx_symbol *symbol, uint32_t line)
{
    const struct ptx_symbol *known = ptx_symbols_find(parser->symbols, symbol->name);
    if (known && known->depth == ptx_symbols_depth(parser->symbols))
        return ptx_error(parser, line, "%.*s is declared twice", PTX_NAME(symbol->name));
    return ptx_symbols_add(parser->symbols, symbol) ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *ptx_begin_scope(struct ptx_parser *parser, uint32_t line)
{
    struct ptx_body *body = &parser->body;
    if (body->nesting == PTX_NESTING_MAX)
        return ptx_error(parser, line, "blocks are nested more than %d deep", PTX_NESTING_MAX);
    body->references_of[body->nesting++] = parser->references.count;
    ptx_symbols_push(parser->symbols);
    return NULL;
}

static void resolve(struct ptx_parser *parser, const struct ptx_reference *reference, uint32_t number)
{
    if (reference->kind == PTX_FROM_TABLE)
        *PTX_ITEM(parser->branch_tables, uint32_t, reference->index) = number;
    else
        PTX_ITEM(parser->instructions, struct wsdbg_ptx_instruction, reference->index)->target = number;
}

void ptx_end_scope(struct ptx_parser *parser)
{
    struct ptx_body *body = &parser->body;
    const size_t first = body->references_of[--body->nesting];
    size_t kept = first;
    for (size_t i = first; i < parser->references.count; i++) {
        const struct ptx_reference *reference = PTX_ITEM(parser->references, struct ptx_reference, i);
        const struct ptx_symbol *symbol = ptx_symbols_find(parser->symbols, reference->name);
        const uint8_t kind = reference->kind == PTX_TO_TABLE ? PTX_SYMBOL_TABLE : PTX_SYMBOL_LABEL;
        if (symbol && symbol->kind == kind && symbol->depth == ptx_symbols_depth(parser->symbols))
            resolve(parser, reference, symbol->number);
        else
            *PTX_ITEM(parser->references, struct ptx_reference, kept++) = *reference;
    }
    parser->references.count = kept;
    ptx_symbols_pop(parser->symbols);
}

struct wsdbg_error *ptx_check_references(const struct ptx_parser *parser)
{
    if (!parser->references.count)
        return NULL;
    const struct ptx_reference *reference = PTX_ITEM(parser->references, struct ptx_reference, 0);
    return ptx_error(parser, reference->line, "there is no %s %.*s here",
                     reference->kind == PTX_TO_TABLE ? "table of labels" : "label", PTX_NAME(reference->name));
}
