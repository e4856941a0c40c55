/* declaration.c - see declaration.h: a declaration's alignment, type, name and dimensions.
 *
 * Reads tokens; writes the declaration.
 */
#include "ptx/declaration.h"

#include "ptx/constant.h"

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
            PTX_TRY(ptx_expect_count(parser, PTX_VARIABLE_BYTES_MAX, "a dimension", &count));
        PTX_TRY(ptx_expect_mark(parser, ']'));
        if (out->dimension_count + 2 > PTX_DIMENSIONS_MAX)
            return ptx_error(parser, out->line, "%.*s has more than %d dimensions", PTX_NAME(out->name),
                             PTX_DIMENSIONS_MAX - 1);
        if (!is_first && !count)
            return ptx_error(parser, out->line, "%.*s has a dimension of 0", PTX_NAME(out->name));
        out->dimensions[out->dimension_count++] = count;
        if (__builtin_mul_overflow(out->byte_count, count ? count : 1, &out->byte_count) ||
            out->byte_count > PTX_VARIABLE_BYTES_MAX)
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

void ptx_note_variable_use(struct ptx_parser *parser, uint32_t variable, uint32_t line)
{
    struct ptx_variable_note *note = PTX_ITEM(parser->variable_notes, struct ptx_variable_note, variable);
    if (!note->used_line)
        note->used_line = line;
}
