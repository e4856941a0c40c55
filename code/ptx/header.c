/* header.c - what stands before the body of a kernel or function: name, parameters, limits.
 *
 * Reads tokens; writes program->functions and the scope that the body is in.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/constant.h"
#include "ptx/declaration.h"
#include "ptx/function.h"

enum { PARAMETER_BYTES_MAX = 32764 };

static struct wsdbg_ptx_function *current(struct ptx_parser *parser)
{
    return PTX_ITEM(parser->functions, struct wsdbg_ptx_function, parser->body.function);
}

/* Behind `(`: adds to the declarations. */
static struct wsdbg_error *read_parameters(struct ptx_parser *parser, struct ptx_array *declarations)
{
    if (ptx_take_mark(&parser->lexer, ')'))
        return NULL;
    do {
        struct ptx_declaration declaration = {.alignment = 0};
        if (!ptx_take_dotted(&parser->lexer, "param"))
            return ptx_unexpected(parser, ".param");
        PTX_TRY(ptx_read_declaration(parser, &declaration));
        if (!declaration.byte_count)
            return ptx_error(parser, declaration.line, "parameter %.*s has no size", PTX_NAME(declaration.name));
        struct ptx_declaration *added = ptx_append(declarations, sizeof *added);
        if (!added)
            return &wsdbg_error_no_memory;
        *added = declaration;
    } while (ptx_take_mark(&parser->lexer, ','));
    return ptx_expect_mark(parser, ')');
}

/* A kernel's lie one behind the other in the launch's parameters, a function's at the begin of its local memory. */
static struct wsdbg_error *place_parameter(struct ptx_parser *parser, const struct ptx_declaration *declaration,
                                           uint64_t *offset)
{
    struct wsdbg_ptx_function *function = current(parser);
    if (!function->is_kernel) {
        PTX_TRY(ptx_declare_local(parser, declaration));
        *offset = ptx_symbols_find(parser->symbols, declaration->name)->number;
        return NULL;
    }
    uint64_t total = function->parameter_bytes;
    if (!ptx_take_bytes(&total, declaration->byte_count, declaration->alignment, PARAMETER_BYTES_MAX, offset))
        return ptx_error(parser, declaration->line, "more than %d bytes of parameters", PARAMETER_BYTES_MAX);
    function->parameter_bytes = (uint32_t)total;
    const struct ptx_symbol symbol = {.name = declaration->name,
                                      .kind = PTX_SYMBOL_PARAMETER,
                                      .number = (uint32_t)*offset,
                                      .count = (uint32_t)declaration->byte_count};
    return ptx_declare_name(parser, &symbol, declaration->line);
}

static struct wsdbg_error *place_parameters(struct ptx_parser *parser, const struct ptx_array *declarations)
{
    struct wsdbg_ptx_function *function = current(parser);
    function->parameter_count = declarations->count;
    function->parameters =
        ptx_arena_take(&parser->storage->arena, declarations->count + 1, sizeof *function->parameters);
    if (!function->parameters)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < declarations->count; i++) {
        const struct ptx_declaration *declaration = PTX_ITEM(*declarations, struct ptx_declaration, i);
        uint64_t offset = 0;
        PTX_TRY(place_parameter(parser, declaration, &offset));
        char *name = ptx_arena_text(&parser->storage->arena, declaration->name.bytes, declaration->name.length);
        if (!name)
            return &wsdbg_error_no_memory;
        function->parameters[i] = (struct wsdbg_ptx_parameter){
            name, (uint32_t)offset, (uint32_t)declaration->byte_count, declaration->alignment};
    }
    return NULL;
}

static struct wsdbg_error *read_triple(struct ptx_parser *parser, uint32_t out[3])
{
    uint64_t value;
    out[1] = out[2] = 1;
    for (unsigned i = 0; i < 3; i++) {
        PTX_TRY(ptx_expect_count(parser, UINT32_MAX, "a number", &value));
        out[i] = (uint32_t)value;
        if (!ptx_take_mark(&parser->lexer, ','))
            return NULL;
    }
    return ptx_unexpected(parser, "at most three numbers");
}

struct wsdbg_error *ptx_read_pragma(struct ptx_parser *parser)
{
    do {
        if (parser->lexer.token.kind != PTX_TOKEN_STRING)
            return ptx_unexpected(parser, "a string");
        ptx_lexer_next(&parser->lexer);
    } while (ptx_take_mark(&parser->lexer, ','));
    return ptx_expect_mark(parser, ';');
}

/* .maxntid and its like, up to the body. */
static struct wsdbg_error *read_limits(struct ptx_parser *parser)
{
    static const char *const counted[] = {"minnctapersm", "maxnreg", "maxnctapersm", "maxclusterrank"};
    struct ptx_lexer *lexer = &parser->lexer;
    struct wsdbg_ptx_function *function = current(parser);
    while (lexer->token.kind == PTX_TOKEN_DOTTED) {
        uint64_t value = 0;
        unsigned which = 0;
        if (ptx_take_dotted(lexer, "maxntid")) {
            PTX_TRY(read_triple(parser, function->max_threads));
        } else if (ptx_take_dotted(lexer, "reqntid")) {
            PTX_TRY(read_triple(parser, function->required_threads));
        } else if (ptx_take_dotted(lexer, "reqnctapercluster")) {
            PTX_TRY(read_triple(parser, function->required_cluster));
        } else if (ptx_take_dotted(lexer, "explicitcluster") || ptx_take_dotted(lexer, "noreturn")) {
            continue;
        } else if (ptx_take_dotted(lexer, "pragma")) {
            PTX_TRY(ptx_read_pragma(parser));
        } else {
            while (which < 4 && !ptx_take_dotted(lexer, counted[which]))
                which++;
            if (which == 4)
                return ptx_unexpected(parser, "a directive of a function");
            PTX_TRY(ptx_expect_count(parser, UINT32_MAX, "a number", &value));
            if (which < 2)
                *(which ? &function->max_registers : &function->min_ctas) = (uint32_t)value;
        }
    }
    return NULL;
}

/* The function of this name: a new one, or one that was only declared until now. */
static struct wsdbg_error *find_or_add(struct ptx_parser *parser, struct ptx_slice name, bool is_kernel, uint32_t line)
{
    const struct ptx_symbol *known = ptx_symbols_find(parser->symbols, name);
    const struct ptx_symbol symbol = {
        .name = name, .kind = PTX_SYMBOL_FUNCTION, .number = (uint32_t)parser->functions.count};
    parser->body = (struct ptx_body){.place = WSDBG_PTX_NONE, .copy_registers = {WSDBG_PTX_NONE, WSDBG_PTX_NONE}};
    if (known && known->kind == PTX_SYMBOL_FUNCTION && !is_kernel &&
        !PTX_ITEM(parser->functions, struct wsdbg_ptx_function, known->number)->is_kernel) {
        parser->body.function = known->number;
        return NULL;
    }
    PTX_TRY(ptx_declare_name(parser, &symbol, line));
    parser->body.function = symbol.number;
    struct wsdbg_ptx_function *function = ptx_append(&parser->functions, sizeof *function);
    struct ptx_function_note *note = function ? ptx_append(&parser->function_notes, sizeof *note) : NULL;
    if (!note)
        return &wsdbg_error_no_memory;
    function->is_kernel = is_kernel;
    function->name = ptx_arena_text(&parser->storage->arena, name.bytes, name.length);
    note->line = line;
    return function->name ? NULL : &wsdbg_error_no_memory;
}

/* A second declaration must agree with the first: calls in between were made for it. */
static struct wsdbg_error *check_again(const struct ptx_parser *parser, const struct wsdbg_ptx_function *before,
                                       uint32_t results, uint32_t line)
{
    const struct wsdbg_ptx_function *now =
        PTX_ITEM(parser->functions, struct wsdbg_ptx_function, parser->body.function);
    const struct ptx_function_note *note =
        PTX_ITEM(parser->function_notes, struct ptx_function_note, parser->body.function);
    bool same = now->parameter_count == before->parameter_count && note->result_count == results;
    for (size_t i = 0; same && i < now->parameter_count; i++)
        same = now->parameters[i].offset == before->parameters[i].offset &&
               now->parameters[i].byte_count == before->parameters[i].byte_count;
    return same ? NULL : ptx_error(parser, line, "%s is declared with other parameters before", now->name);
}

static struct wsdbg_error *read_signature(struct ptx_parser *parser, bool is_kernel, struct ptx_array *declarations)
{
    struct ptx_slice name;
    if (!is_kernel && ptx_take_mark(&parser->lexer, '('))
        PTX_TRY(read_parameters(parser, declarations));
    const uint32_t results = (uint32_t)declarations->count, line = parser->lexer.token.line;
    PTX_TRY(ptx_expect_name(parser, &name));
    if (ptx_take_mark(&parser->lexer, '('))
        PTX_TRY(read_parameters(parser, declarations));
    const size_t functions_before = parser->functions.count;
    PTX_TRY(find_or_add(parser, name, is_kernel, line));
    PTX_TRY(ptx_begin_scope(parser, line));
    const struct wsdbg_ptx_function before = *current(parser);
    struct ptx_function_note *note = PTX_ITEM(parser->function_notes, struct ptx_function_note, parser->body.function);
    const uint32_t results_before = note->result_count;
    PTX_TRY(place_parameters(parser, declarations));
    note->result_count = results;
    return functions_before == parser->functions.count ? check_again(parser, &before, results_before, line) : NULL;
}

struct wsdbg_error *ptx_read_header(struct ptx_parser *parser, bool is_kernel, bool *has_body)
{
    struct ptx_array declarations = {NULL, 0, 0};
    const size_t locals = parser->locals.count;
    struct wsdbg_error *error = read_signature(parser, is_kernel, &declarations);
    free(declarations.items);
    if (error)
        return error;
    PTX_TRY(read_limits(parser));
    *has_body = !ptx_at_mark(&parser->lexer, ';');
    if (!*has_body && is_kernel)
        return ptx_unexpected(parser, "{");
    const uint32_t line = parser->lexer.token.line;
    PTX_TRY(ptx_expect_mark(parser, *has_body ? '{' : ';'));
    struct ptx_function_note *note = PTX_ITEM(parser->function_notes, struct ptx_function_note, parser->body.function);
    if (*has_body && note->has_body)
        return ptx_error(parser, line, "%s has a body already", current(parser)->name);
    if (!note->has_body) {
        current(parser)->local_bytes = (uint32_t)parser->body.local_bytes;
        note->frame_alignment = parser->body.local_alignment ? parser->body.local_alignment : 1;
        note->locals = (struct ptx_range){locals, parser->locals.count};
    }
    note->has_body = note->has_body || *has_body;
    return NULL;
}
