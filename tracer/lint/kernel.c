/* kernel.c - see kernel.h.  Reads the module; writes memory of the kernel. */
#include "lint/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "model/symbol.h"

struct wsdbg_lint_parts {
    struct wsdbg_graph *graph;
    struct wsdbg_access *accesses;
    size_t access_count;
    bool accesses_were_found;
    struct wsdbg_launch_values launch;
    const struct wsdbg_ptx_program *ptx;
    const struct wsdbg_ptx_function *ptx_function;
    bool ptx_was_sought;
    struct wsdbg_image constants; /* of the compiler's bank */
    bool constants_were_sought;
};
enum { COMPILER_BANK = 2 };

struct wsdbg_error *wsdbg_lint_graph(struct wsdbg_lint_kernel *kernel, const struct wsdbg_graph **out)
{
    struct wsdbg_lint_parts *parts = kernel->parts;
    struct wsdbg_error *error = parts->graph ? NULL : wsdbg_graph_create_of_function(kernel->function, &parts->graph);
    if (!error)
        *out = parts->graph;
    return error;
}

struct wsdbg_error *wsdbg_lint_accesses(struct wsdbg_lint_kernel *kernel, const struct wsdbg_access **out,
                                        size_t *count)
{
    struct wsdbg_lint_parts *parts = kernel->parts;
    const struct wsdbg_graph *graph;
    struct wsdbg_error *error = wsdbg_lint_graph(kernel, &graph);
    if (!error && !parts->accesses_were_found) {
        error = wsdbg_accesses_find(graph, &parts->launch, &parts->accesses, &parts->access_count);
        parts->accesses_were_found = !error;
    }
    if (error)
        return error;
    *out = parts->accesses;
    *count = parts->access_count;
    return NULL;
}

/* What the compiler alone writes: tables of branch targets and numbers too long for an instruction. */
static bool compiler_constant(struct wsdbg_lint_kernel *kernel, uint32_t offset_bytes, uint32_t *value)
{
    struct wsdbg_lint_parts *parts = kernel->parts;
    if (!parts->constants_were_sought && kernel->function && !wsdbg_lint_module_is_relocatable(kernel->module))
        wsdbg_cubin_constants(kernel->module->cubin, kernel->function, COMPILER_BANK, &parts->constants);
    parts->constants_were_sought = true;
    if (offset_bytes > parts->constants.byte_count || parts->constants.byte_count - offset_bytes < sizeof *value)
        return false;
    memcpy(value, parts->constants.bytes + offset_bytes, sizeof *value);
    return true;
}

/* Bank 0 begins with the CTA's threads in x, y and z. */
static bool launch_constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    struct wsdbg_lint_kernel *kernel = context;
    const uint32_t *threads = kernel->function ? kernel->function->threads_required : NULL;
    if (bank == COMPILER_BANK)
        return compiler_constant(kernel, offset_bytes, value);
    if (!threads || !threads[0] || bank != 0 || offset_bytes % 4 || offset_bytes >= 12)
        return false;
    *value = threads[offset_bytes / 4];
    return true;
}

const struct wsdbg_launch_values *wsdbg_lint_launch_values(struct wsdbg_lint_kernel *kernel)
{
    return &kernel->parts->launch;
}

void wsdbg_lint_ptx(struct wsdbg_lint_kernel *kernel, const struct wsdbg_ptx_program **program,
                    const struct wsdbg_ptx_function **function)
{
    struct wsdbg_lint_parts *parts = kernel->parts;
    if (!parts->ptx_was_sought) {
        parts->ptx = wsdbg_lint_module_ptx(kernel->module);
        parts->ptx_function = parts->ptx ? wsdbg_ptx_find_function(parts->ptx, kernel->symbol) : NULL;
        parts->ptx_was_sought = true;
    }
    *program = parts->ptx_function ? parts->ptx : NULL;
    *function = parts->ptx_function;
}

struct wsdbg_lint_place wsdbg_lint_place_of_kernel(void)
{
    return (struct wsdbg_lint_place){.offset_bytes = -1};
}

enum { LEVELS_MOST = WSDBG_PLACE_LEVELS_MAX }; /* of inlined calls; beyond them the caller is not named */

/* Levels of one instruction, the innermost first; the outermost is in the file that the kernel is written in. */
static void name_place(const struct wsdbg_line *levels, size_t count, struct wsdbg_lint_place *place)
{
    if (count == 0 || !levels[0].line)
        return;
    const size_t at = wsdbg_lines_place(levels, count);
    const char *const own = levels[count - 1].file;
    place->file = levels[at].file;
    place->line = levels[at].line;
    if (at > 0) {
        place->inner_file = levels[0].file;
        place->inner_line = levels[0].line;
    }
    if (count == LEVELS_MOST || strcmp(place->file, own) == 0)
        return;
    for (size_t i = count - 1; i > at; i--)
        if (levels[i].line && strcmp(levels[i].file, own) == 0) {
            place->caller_file = own;
            place->caller_line = levels[i].line;
        }
}

struct wsdbg_lint_place wsdbg_lint_place_of_code(struct wsdbg_lint_kernel *kernel, uint32_t instruction)
{
    struct wsdbg_line levels[LEVELS_MOST];
    struct wsdbg_lint_place place = {.offset_bytes = (int64_t)instruction * WSDBG_INSTRUCTION_BYTES};
    const struct wsdbg_lines *lines = wsdbg_lint_module_lines(kernel->module);
    const size_t count =
        lines ? wsdbg_lines_find(lines, kernel->function, (uint64_t)place.offset_bytes, levels, LEVELS_MOST) : 0;
    name_place(levels, count, &place);
    return place;
}

/* The first instruction of the machine code that comes of a line of the PTX. */
static bool code_of_ptx_line(struct wsdbg_lint_kernel *kernel, uint32_t ptx_line, uint32_t *out)
{
    struct wsdbg_line line;
    const struct wsdbg_lines *lines = kernel->function ? wsdbg_lint_module_ptx_lines(kernel->module) : NULL;
    for (size_t offset = 0; lines && offset < kernel->function->code.byte_count; offset += WSDBG_INSTRUCTION_BYTES)
        if (wsdbg_lines_find(lines, kernel->function, offset, &line, 1) && line.line == ptx_line) {
            *out = (uint32_t)(offset / WSDBG_INSTRUCTION_BYTES);
            return true;
        }
    return false;
}

static size_t levels_of_ptx(const struct wsdbg_ptx_program *program, uint32_t number,
                            struct wsdbg_line levels[LEVELS_MOST])
{
    const struct wsdbg_ptx_place *places[LEVELS_MOST];
    const size_t count = wsdbg_ptx_levels(program, number, places, LEVELS_MOST);
    for (size_t i = 0; i < count; i++)
        levels[i] = (struct wsdbg_line){
            .file = program->files[places[i]->file], .line = places[i]->line, .is_wrapper = places[i]->is_wrapper};
    return count;
}

struct wsdbg_lint_place wsdbg_lint_place_of_ptx(struct wsdbg_lint_kernel *kernel, uint32_t instruction)
{
    struct wsdbg_lint_place place = wsdbg_lint_place_of_kernel();
    const struct wsdbg_ptx_program *program = wsdbg_lint_module_ptx(kernel->module);
    const struct wsdbg_ptx_instruction *at = &program->instructions[instruction];
    struct wsdbg_line levels[LEVELS_MOST];
    uint32_t code;
    if (at->place != WSDBG_PTX_NONE) {
        name_place(levels, levels_of_ptx(program, at->place, levels), &place);
    } else if (code_of_ptx_line(kernel, at->text_line, &code)) {
        place = wsdbg_lint_place_of_code(kernel, code);
    }
    place.ptx_line = at->text_line;
    return place;
}

static uint32_t product(const uint32_t count[3])
{
    const uint64_t all = (uint64_t)count[0] * (count[1] ? count[1] : 1) * (count[2] ? count[2] : 1);
    return all <= 1024 ? (uint32_t)all : 0;
}

static bool is_flat(const uint32_t count[3])
{
    return count[0] && count[1] <= 1 && count[2] <= 1;
}

static uint32_t known(int count)
{
    return count > 0 ? (uint32_t)count : 0;
}

static void take_code_facts(const struct wsdbg_cubin_function *function, struct wsdbg_lint_launch *out)
{
    const uint32_t *threads = function->threads_required[0] ? function->threads_required : function->threads_most;
    *out = (struct wsdbg_lint_launch){
        .threads_most = product(function->threads_most),
        .threads_required = product(function->threads_required),
        .is_one_dimensional = is_flat(threads),
        .registers = known(function->registers),
        .registers_most = known(function->registers_most),
        .shared_bytes = function->shared_bytes,
        .stack_bytes = known(function->stack_bytes),
    };
    memcpy(out->cluster, function->cluster, sizeof out->cluster);
}

static void take_ptx_facts(const struct wsdbg_ptx_function *function, struct wsdbg_lint_launch *out)
{
    const uint32_t *threads = function->required_threads[0] ? function->required_threads : function->max_threads;
    *out = (struct wsdbg_lint_launch){
        .threads_most = product(function->max_threads),
        .threads_required = product(function->required_threads),
        .is_one_dimensional = is_flat(threads),
        .blocks_per_sm_least = function->min_ctas,
        .registers_most = function->max_registers,
        .shared_bytes = function->shared_bytes,
        .stack_bytes = function->local_bytes,
    };
    memcpy(out->cluster, function->required_cluster, sizeof out->cluster);
}

struct wsdbg_error *wsdbg_lint_kernel_open(struct wsdbg_lint_module *module,
                                           const struct wsdbg_cubin_function *function,
                                           const struct wsdbg_ptx_function *ptx, struct wsdbg_lint_kernel *out)
{
    *out = (struct wsdbg_lint_kernel){.module = module,
                                      .symbol = function ? function->name : ptx->name,
                                      .function = function,
                                      .ptx_interests = module->ptx_interests,
                                      .parts = calloc(1, sizeof *out->parts)};
    if (!out->parts)
        return &wsdbg_error_no_memory;
    out->parts->launch = (struct wsdbg_launch_values){.context = out, .constant = launch_constant};
    wsdbg_symbol_name(out->symbol, out->name, sizeof out->name);
    if (function) {
        out->code_interests = wsdbg_lint_scan_code(&function->code);
        take_code_facts(function, &out->launch);
    } else {
        take_ptx_facts(ptx, &out->launch);
    }
    return NULL;
}

void wsdbg_lint_kernel_close(struct wsdbg_lint_kernel *kernel)
{
    if (!kernel->parts)
        return;
    wsdbg_graph_destroy(kernel->parts->graph);
    free(kernel->parts->accesses);
    free(kernel->parts);
}
