/* ptx_code.c - see ptx_code.h.  Reads: PTX text.  Writes: its program, and what its kernels are called. */
#include "translate/ptx_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "translate/ptx_translate.h"
#include "ptx/graph.h"
#include "ptx/parse.h"
#include "sass/graph.h"

enum { SHARED_FIRST = 1024 }; /* below it the device keeps what it needs itself, as on hardware */

struct wsdbg_ptx_code {
    struct wsdbg_ptx_program *program;
    struct wsdbg_cubin_function *functions;
    size_t function_count;
    struct wsdbg_shared_variable **shared; /* beside the functions */
    size_t *shared_counts;
};

bool wsdbg_ptx_code_is(const struct wsdbg_image *image)
{
    return image->byte_count > 0 && (image->bytes[0] == '/' || image->bytes[0] == '.' || image->bytes[0] == '\n');
}

static struct wsdbg_error *add_shared(const struct wsdbg_ptx_function *from, struct wsdbg_shared_variable **out,
                                      size_t *count)
{
    *out = calloc(from->shared_count + 1, sizeof **out);
    if (!*out)
        return &wsdbg_error_no_memory;
    for (*count = 0; *count < from->shared_count; ++*count) {
        const struct wsdbg_ptx_shared *variable = &from->shared[*count];
        (*out)[*count] =
            (struct wsdbg_shared_variable){variable->name, SHARED_FIRST + variable->offset, variable->byte_count};
    }
    return NULL;
}

static struct wsdbg_error *make_room(struct wsdbg_ptx_code *code)
{
    const size_t count = code->program->function_count + 1;
    code->functions = calloc(count, sizeof *code->functions);
    code->shared = calloc(count, sizeof *code->shared);
    code->shared_counts = calloc(count, sizeof *code->shared_counts);
    return code->functions && code->shared && code->shared_counts ? NULL : &wsdbg_error_no_memory;
}

struct wsdbg_error *wsdbg_ptx_code_create(const struct wsdbg_image *image, struct wsdbg_ptx_code **out)
{
    struct wsdbg_ptx_code *code = calloc(1, sizeof *code);
    struct wsdbg_error *error = code ? wsdbg_ptx_parse_to_follow((const char *)image->bytes, image->byte_count,
                                                                 "the module's PTX", &code->program)
                                     : &wsdbg_error_no_memory;
    if (!error)
        error = make_room(code);
    for (size_t i = 0; !error && i < code->program->function_count; i++) {
        const struct wsdbg_ptx_function *function = &code->program->functions[i];
        if (!function->is_kernel)
            continue;
        error = add_shared(function, &code->shared[code->function_count], &code->shared_counts[code->function_count]);
        code->functions[code->function_count++] = (struct wsdbg_cubin_function){
            .name = function->name,
            .code = {NULL, (size_t)(function->end - function->first) * WSDBG_INSTRUCTION_BYTES},
            .address = wsdbg_ptx_address(function->first),
            .is_kernel = true,
            .registers = WSDBG_UNKNOWN_COUNT,
            .named_barriers = WSDBG_UNKNOWN_COUNT,
            .mbarriers = WSDBG_UNKNOWN_COUNT,
        };
    }
    if (error) {
        wsdbg_ptx_code_destroy(code);
        return error;
    }
    *out = code;
    return NULL;
}

void wsdbg_ptx_code_destroy(struct wsdbg_ptx_code *code)
{
    if (!code)
        return;
    if (code->program)
        wsdbg_ptx_program_destroy(code->program);
    for (size_t i = 0; i < code->function_count; i++)
        free(code->shared[i]);
    free(code->shared);
    free(code->shared_counts);
    free(code->functions);
    free(code);
}

size_t wsdbg_ptx_code_function_count(const struct wsdbg_ptx_code *code)
{
    return code->function_count;
}

const struct wsdbg_cubin_function *wsdbg_ptx_code_function(const struct wsdbg_ptx_code *code, size_t number)
{
    return &code->functions[number];
}

const struct wsdbg_shared_variable *wsdbg_ptx_code_shared(const struct wsdbg_ptx_code *code,
                                                          const struct wsdbg_cubin_function *function, size_t *count)
{
    *count = code->shared_counts[function - code->functions];
    return code->shared[function - code->functions];
}

/* The program's number of a kernel's first instruction. */
static uint32_t first_of(const struct wsdbg_cubin_function *function)
{
    return (uint32_t)(function->address / WSDBG_INSTRUCTION_BYTES) - 1;
}

/* The labels of the kernel's branches by a table: the index leads to the label.  *out is freed by the caller. */
static struct wsdbg_error *ways_of(const struct wsdbg_ptx_program *program, const struct wsdbg_ptx_function *function,
                                   struct wsdbg_way **out, size_t *count)
{
    size_t room = 0;
    *out = NULL;
    *count = 0;
    for (uint32_t i = function->first; i < function->end; i++) {
        const struct wsdbg_ptx_instruction *instruction = &program->instructions[i];
        if (instruction->operation != WSDBG_PTX_OP_brx)
            continue;
        const struct wsdbg_ptx_ways ways = wsdbg_ptx_ways(instruction, program->branch_tables);
        if (!wsdbg_grow((void **)out, &room, *count + ways.target_count, sizeof **out)) {
            free(*out);
            *out = NULL;
            return &wsdbg_error_no_memory;
        }
        for (uint32_t k = 0; k < ways.target_count; k++)
            (*out)[(*count)++] = (struct wsdbg_way){i - function->first, ways.targets[k] - function->first, k};
    }
    return NULL;
}

struct wsdbg_error *wsdbg_ptx_code_graph(const struct wsdbg_ptx_code *code, const struct wsdbg_cubin_function *function,
                                         struct wsdbg_graph **out)
{
    const struct wsdbg_ptx_function *source = wsdbg_ptx_find_function(code->program, function->name);
    const size_t count = function->code.byte_count / WSDBG_INSTRUCTION_BYTES;
    struct wsdbg_ptx_registers registers;
    struct wsdbg_way *ways;
    size_t way_count;
    struct wsdbg_error *error = wsdbg_ptx_registers_create(code->program, source, &registers);
    if (error)
        return error;
    struct wsdbg_instruction *instructions = calloc(count + 1, sizeof *instructions);
    for (size_t i = 0; instructions && i < count; i++)
        wsdbg_ptx_translate(code->program, source, &registers, SHARED_FIRST, source->first + (uint32_t)i,
                            &instructions[i]);
    error = instructions ? ways_of(code->program, source, &ways, &way_count) : &wsdbg_error_no_memory;
    if (!error) {
        error = wsdbg_graph_create_with_ways(instructions, count, ways, way_count, out);
        free(ways);
    }
    free(instructions);
    wsdbg_ptx_registers_destroy(&registers);
    return error;
}

void wsdbg_ptx_code_text(const struct wsdbg_ptx_code *code, const struct wsdbg_cubin_function *function,
                         uint32_t instruction, char out[WSDBG_INSTRUCTION_TEXT_BYTES])
{
    wsdbg_ptx_text(code->program, first_of(function) + instruction, out, WSDBG_INSTRUCTION_TEXT_BYTES);
}

size_t wsdbg_ptx_code_lines(const struct wsdbg_ptx_code *code, const struct wsdbg_cubin_function *function,
                            uint32_t instruction, struct wsdbg_line *out, size_t most)
{
    const struct wsdbg_ptx_program *program = code->program;
    const struct wsdbg_ptx_instruction *const read = &program->instructions[first_of(function) + instruction];
    const struct wsdbg_ptx_place *places[WSDBG_PLACE_LEVELS_MAX];
    if (read->place >= program->place_count && most) {
        out[0] = (struct wsdbg_line){.file = WSDBG_FILE_OF_PTX, .line = read->text_line, .function = ""};
        return 1;
    }
    const size_t count =
        wsdbg_ptx_levels(program, read->place, places, most < WSDBG_PLACE_LEVELS_MAX ? most : WSDBG_PLACE_LEVELS_MAX);
    for (size_t i = 0; i < count; i++)
        out[i] = (struct wsdbg_line){.file = program->files[places[i]->file],
                                     .line = places[i]->line,
                                     .function = places[i]->function_name ? places[i]->function_name : "",
                                     .is_wrapper = places[i]->is_wrapper};
    return count;
}
