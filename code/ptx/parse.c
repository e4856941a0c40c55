/* parse.c - see parse.h: the directives of a module, and the steps from its text to a program: bodies are read, their
 * control flow is studied, kernels are linked with what they call, and source places get their names.
 *
 * Reads the text; makes the program, or an error and nothing.
 */
#include "ptx/parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/constant.h"
#include "ptx/declaration.h"
#include "ptx/function.h"
#include "ptx/operand.h"
#include "ptx/place.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)
enum { TARGET_MAX = 90, VERSION_MIN = 6, VERSION_MAX = 9 };

/* ---- the module's directives ---- */

/* Behind `.version`: 8.5, which the lexer takes for a number. */
static struct wsdbg_error *read_version(struct ptx_parser *parser)
{
    struct wsdbg_ptx_program *program = parser->program;
    const struct ptx_token *token = &parser->lexer.token;
    char text[16];
    int end = 0;
    const size_t length = token->text.length < sizeof text - 1 ? token->text.length : sizeof text - 1;
    memcpy(text, token->text.bytes, length);
    text[length] = '\0';
    if (token->kind != PTX_TOKEN_FLOAT64 ||
        sscanf(text, "%3u.%3u%n", &program->version_major, &program->version_minor, &end) != 2 || text[end])
        return ptx_unexpected(parser, "a version such as 8.5");
    if (program->version_major < VERSION_MIN || program->version_major > VERSION_MAX)
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "%s:%u: PTX %s: versions %d to %d can be read", parser->name,
                                  (unsigned)token->line, text, VERSION_MIN, VERSION_MAX);
    ptx_lexer_next(&parser->lexer);
    return NULL;
}

/* Behind `.target`: sm_90a, and words about textures or debugging. */
static struct wsdbg_error *read_target(struct ptx_parser *parser)
{
    struct wsdbg_ptx_program *program = parser->program;
    do {
        struct ptx_slice word = {NULL, 0};
        const uint32_t line = parser->lexer.token.line;
        PTX_TRY(ptx_expect_name(parser, &word));
        if (word.length < 4 || memcmp(word.bytes, "sm_", 3) != 0)
            continue;
        uint32_t number = 0;
        size_t at = 3;
        for (; at < word.length && isdigit((unsigned char)word.bytes[at]) && number < 1000; at++)
            number = number * 10 + (uint32_t)(word.bytes[at] - '0');
        const bool is_specific = at + 1 == word.length && word.bytes[at] == 'a';
        if ((at < word.length && !is_specific) || number > TARGET_MAX || (is_specific && number != TARGET_MAX))
            return ptx_error(parser, line, "the text is for %.*s; the simulator is an sm_90", PTX_NAME(word));
        program->target = number;
        program->target_is_specific = is_specific;
    } while (ptx_take_mark(&parser->lexer, ','));
    return program->target ? NULL : ptx_unexpected(parser, "a target such as sm_90a");
}

static struct wsdbg_error *read_address_size(struct ptx_parser *parser)
{
    uint64_t bits;
    const uint32_t line = parser->lexer.token.line;
    PTX_TRY(ptx_expect_count(parser, 64, "the address size", &bits));
    return bits == 64 ? NULL : ptx_error(parser, line, "addresses of %u bits; 64 are supported", (unsigned)bits);
}

static struct wsdbg_error *make_graph(const struct ptx_parser *parser, const struct wsdbg_ptx_function *function,
                                      struct wsdbg_ptx_graph *graph)
{
    const struct wsdbg_ptx_instruction *instructions = parser->instructions.items;
    struct wsdbg_error *error = wsdbg_ptx_graph_create(instructions, parser->branch_tables.items, function->first,
                                                       function->end, PTX_EDGES_MAX, graph);
    if (!error || wsdbg_error_code(error) != WSDBG_ERROR_BAD_INPUT)
        return error;
    wsdbg_error_destroy(error);
    return ptx_error(parser, instructions[function->first].text_line, "%s branches to more than %d places",
                     function->name, PTX_EDGES_MAX);
}

/* Where diverging lanes meet again, and which registers may share a number. */
static struct wsdbg_error *study_flow(struct ptx_parser *parser, const struct wsdbg_ptx_function *function)
{
    struct wsdbg_ptx_graph graph;
    PTX_TRY(make_graph(parser, function, &graph));
    struct wsdbg_error *error = ptx_find_reconvergence(parser, &graph);
    if (!error && !parser->is_to_read)
        error = ptx_share_registers(parser, &graph);
    wsdbg_ptx_graph_destroy(&graph);
    return error;
}

static struct wsdbg_error *keep_register_types(struct ptx_parser *parser, struct wsdbg_ptx_function *function)
{
    function->register_count = (uint32_t)parser->register_types.count;
    uint8_t *types = ptx_arena_take(&parser->storage->arena, function->register_count, 1);
    if (!types)
        return &wsdbg_error_no_memory;
    if (function->register_count)
        memcpy(types, parser->register_types.items, function->register_count);
    function->register_types = types;
    return NULL;
}

static struct wsdbg_error *read_function(struct ptx_parser *parser, bool is_kernel)
{
    bool has_body;
    PTX_TRY(ptx_read_function(parser, is_kernel, &has_body));
    if (!has_body)
        return NULL;
    struct wsdbg_ptx_function *function = PTX_ITEM(parser->functions, struct wsdbg_ptx_function, parser->body.function);
    PTX_TRY(study_flow(parser, function));
    return keep_register_types(parser, function);
}

static struct wsdbg_error *read_linked(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    bool is_extern = false;
    while (ptx_at_dotted(lexer, "extern") || ptx_at_dotted(lexer, "visible") || ptx_at_dotted(lexer, "weak") ||
           ptx_at_dotted(lexer, "common")) {
        is_extern = is_extern || ptx_at_dotted(lexer, "extern");
        ptx_lexer_next(lexer);
    }
    if (ptx_take_dotted(lexer, "entry"))
        return read_function(parser, true);
    if (ptx_take_dotted(lexer, "func"))
        return read_function(parser, false);
    if (ptx_at_dotted(lexer, "global") || ptx_at_dotted(lexer, "const") || ptx_at_dotted(lexer, "shared"))
        return ptx_read_variable(parser, is_extern);
    return ptx_unexpected(parser, "a directive of a module");
}

static struct wsdbg_error *read_directive(struct ptx_parser *parser)
{
    struct ptx_lexer *lexer = &parser->lexer;
    if (ptx_take_mark(lexer, ';'))
        return NULL;
    if (ptx_take_dotted(lexer, "file"))
        return ptx_read_file(parser);
    if (ptx_take_dotted(lexer, "section"))
        return ptx_read_section(parser);
    if (ptx_take_dotted(lexer, "address_size"))
        return read_address_size(parser);
    if (lexer->token.kind != PTX_TOKEN_DOTTED)
        return ptx_unexpected(parser, "a directive");
    return read_linked(parser);
}

static struct wsdbg_error *check_variables(const struct ptx_parser *parser)
{
    for (size_t i = 0; i < parser->variable_notes.count; i++) {
        const struct ptx_variable_note *note = PTX_ITEM(parser->variable_notes, struct ptx_variable_note, i);
        if (note->used_line && !note->is_defined)
            return ptx_error(parser, note->used_line, "%s is declared .extern and defined nowhere",
                             PTX_ITEM(parser->variables, struct wsdbg_ptx_variable, i)->name);
    }
    return NULL;
}

static struct wsdbg_error *read_module(struct ptx_parser *parser)
{
    if (!ptx_take_dotted(&parser->lexer, "version"))
        return ptx_unexpected(parser, ".version at the beginning");
    PTX_TRY(read_version(parser));
    if (!ptx_take_dotted(&parser->lexer, "target"))
        return ptx_unexpected(parser, ".target behind .version");
    PTX_TRY(read_target(parser));
    while (parser->lexer.token.kind != PTX_TOKEN_END)
        PTX_TRY(read_directive(parser));
    PTX_TRY(check_variables(parser));
    PTX_TRY(ptx_link(parser));
    return ptx_finish_places(parser);
}

/* ---- making and freeing ---- */

/* The program owns the arrays from here on. */
static void hand_over(struct ptx_parser *parser)
{
    struct wsdbg_ptx_program *program = parser->program;
#define HAND_OVER(array, items_field, count_field) \
    (program->items_field = parser->array.items, program->count_field = parser->array.count, parser->array.items = NULL)
    HAND_OVER(instructions, instructions, instruction_count);
    HAND_OVER(vectors, vectors, vector_count);
    HAND_OVER(branch_tables, branch_tables, branch_table_count);
    HAND_OVER(functions, functions, function_count);
    HAND_OVER(variables, variables, variable_count);
    HAND_OVER(relocations, relocations, relocation_count);
    HAND_OVER(places, places, place_count);
    HAND_OVER(files, files, file_count);
#undef HAND_OVER
    parser->storage->instruction_text = parser->instruction_text.items;
    parser->instruction_text.items = NULL;
}

static void free_parser(struct ptx_parser *parser)
{
    struct ptx_array *const arrays[] = {
        &parser->instructions,   &parser->instruction_text, &parser->vectors,     &parser->branch_tables,
        &parser->functions,      &parser->variables,        &parser->relocations, &parser->places,
        &parser->files,          &parser->references,       &parser->uses,        &parser->register_types,
        &parser->variable_notes, &parser->function_notes,   &parser->calls,       &parser->locals,
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]->items);
    ptx_symbols_destroy(parser->symbols);
    ptx_places_destroy(parser->place_index);
    free(parser->table);
    free(parser->statement);
}

static struct wsdbg_error *make_parser(struct ptx_parser *parser, const char *text, size_t byte_count)
{
    parser->program = calloc(1, sizeof *parser->program);
    parser->storage = calloc(1, sizeof *parser->storage);
    if (parser->program)
        parser->program->storage = parser->storage;
    parser->symbols = ptx_symbols_create();
    parser->place_index = ptx_places_create();
    parser->statement = calloc(1, sizeof *parser->statement);
    if (!parser->program || !parser->storage || !parser->symbols || !parser->place_index || !parser->statement)
        return &wsdbg_error_no_memory;
    parser->storage->text = ptx_arena_text(&parser->storage->arena, text, byte_count);
    parser->storage->text_length = byte_count;
    if (!parser->storage->text)
        return &wsdbg_error_no_memory;
    ptx_lexer_begin(&parser->lexer, parser->storage->text, byte_count);
    return ptx_table_create(&parser->table);
}

enum purpose { TO_EXECUTE, TO_READ, TO_FOLLOW };

static struct wsdbg_error *parse(const char *text, size_t byte_count, const char *name, enum purpose purpose,
                                 struct wsdbg_ptx_program **out)
{
    struct ptx_parser parser = {
        .name = name, .is_to_read = purpose != TO_EXECUTE, .promotes_local = purpose == TO_FOLLOW};
    if (byte_count > TEXT_BYTES_MAX)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s:1: PTX text of more than 64 MiB", name);
    struct wsdbg_error *error = make_parser(&parser, text, byte_count);
    if (!error)
        error = read_module(&parser);
    if (!error)
        hand_over(&parser);
    free_parser(&parser);
    if (!error) {
        *out = parser.program;
    } else if (parser.program) {
        if (!parser.program->storage)
            free(parser.storage);
        wsdbg_ptx_program_destroy(parser.program);
    } else {
        free(parser.storage);
    }
    return error;
}

struct wsdbg_error *wsdbg_ptx_parse(const char *text, size_t byte_count, const char *name,
                                    struct wsdbg_ptx_program **out)
{
    return parse(text, byte_count, name, TO_EXECUTE, out);
}

struct wsdbg_error *wsdbg_ptx_parse_to_read(const char *text, size_t byte_count, const char *name,
                                            struct wsdbg_ptx_program **out)
{
    return parse(text, byte_count, name, TO_READ, out);
}

struct wsdbg_error *wsdbg_ptx_parse_to_follow(const char *text, size_t byte_count, const char *name,
                                              struct wsdbg_ptx_program **out)
{
    return parse(text, byte_count, name, TO_FOLLOW, out);
}

void wsdbg_ptx_program_destroy(struct wsdbg_ptx_program *program)
{
    if (!program)
        return;
    struct ptx_storage *storage = program->storage;
    if (storage) {
        ptx_arena_destroy(&storage->arena);
        free((void *)(uintptr_t)storage->instruction_text);
    }
    free(storage);
    free(program->instructions);
    free(program->vectors);
    free(program->branch_tables);
    free(program->functions);
    free(program->variables);
    free(program->relocations);
    free(program->places);
    free(program->files);
    free(program);
}

const struct wsdbg_ptx_function *wsdbg_ptx_find_function(const struct wsdbg_ptx_program *program, const char *name)
{
    for (size_t i = 0; i < program->function_count; i++)
        if (strcmp(program->functions[i].name, name) == 0)
            return &program->functions[i];
    return NULL;
}

const struct wsdbg_ptx_variable *wsdbg_ptx_find_variable(const struct wsdbg_ptx_program *program, const char *name)
{
    for (size_t i = 0; i < program->variable_count; i++)
        if (strcmp(program->variables[i].name, name) == 0)
            return &program->variables[i];
    return NULL;
}
