/* code.c - see code.h.  Reads: the images a machine holds.  Writes: copies of them and what was decoded. */
#include "machine/code_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "translate/ptx_code.h"

enum { KERNELS_MAX = 256 };

struct wsdbg_error *wsdbg_code_create(struct wsdbg_code **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? NULL : &wsdbg_error_no_memory;
}

void wsdbg_code_free_kernel(struct wsdbg_code_kernel *kernel)
{
    for (size_t i = 0; i < kernel->paths_count; i++) {
        free(kernel->paths_list[i].least);
        free(kernel->paths_list[i].before_known);
    }
    for (size_t i = 0; i < kernel->past_count; i++)
        free(kernel->pasts[i].counts);
    free(kernel->paths_list);
    free(kernel->pasts);
    free(kernel->comers);
    free(kernel->leads_to);
    free(kernel->accesses);
    free(kernel);
}

static void clear_graph(struct wsdbg_code_function *function)
{
    wsdbg_wait_sites_destroy(function->sites);
    if (function->joined)
        wsdbg_joined_destroy(function->joined);
    else
        wsdbg_graph_destroy(function->graph);
    function->sites = NULL;
    function->joined = NULL;
    function->graph = NULL;
}

static void clear_module(struct wsdbg_code_module *module)
{
    for (size_t i = 0; i < module->function_count; i++)
        clear_graph(&module->functions[i]);
    free(module->functions);
    wsdbg_lines_close(module->lines);
    wsdbg_cubin_close(module->cubin);
    wsdbg_ptx_code_destroy(module->ptx);
    free(module->bytes);
    *module = (struct wsdbg_code_module){.context = module->context, .handle = module->handle};
}

void wsdbg_code_destroy(struct wsdbg_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->kernel_count; i++)
        wsdbg_code_free_kernel(code->kernels[i]);
    for (size_t i = 0; i < code->module_count; i++) {
        clear_module(code->modules[i]);
        free(code->modules[i]);
    }
    free(code->kernels);
    free(code->modules);
    free(code);
}

/* Kernels of past launches are not kept for ever. */
void wsdbg_code_begin(struct wsdbg_code *code)
{
    code->look++;
    for (; code->kernel_count > KERNELS_MAX; code->kernel_count--)
        wsdbg_code_free_kernel(code->kernels[code->kernel_count - 1]);
}

static void forget_kernels_of(struct wsdbg_code *code, const struct wsdbg_code_module *module)
{
    size_t kept = 0;
    for (size_t i = 0; i < code->kernel_count; i++)
        if (code->kernels[i]->function->module == module)
            wsdbg_code_free_kernel(code->kernels[i]);
        else
            code->kernels[kept++] = code->kernels[i];
    code->kernel_count = kept;
}

static int by_address(const void *left, const void *right)
{
    const uint64_t a = ((const struct wsdbg_code_function *)left)->cubin->address;
    const uint64_t b = ((const struct wsdbg_code_function *)right)->cubin->address;
    return (a > b) - (a < b);
}

static const struct wsdbg_cubin_function *function_of(const struct wsdbg_code_module *module, size_t number)
{
    return module->ptx ? wsdbg_ptx_code_function(module->ptx, number) : wsdbg_cubin_function(module->cubin, number);
}

static struct wsdbg_error *list_functions(struct wsdbg_code_module *module)
{
    const size_t count =
        module->ptx ? wsdbg_ptx_code_function_count(module->ptx) : wsdbg_cubin_function_count(module->cubin);
    module->functions = calloc(count + 1, sizeof *module->functions);
    if (!module->functions)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < count; i++) {
        const struct wsdbg_cubin_function *function = function_of(module, i);
        if (function->address)
            module->functions[module->function_count++] =
                (struct wsdbg_code_function){.module = module, .cubin = function};
    }
    if (module->function_count)
        qsort(module->functions, module->function_count, sizeof *module->functions, by_address);
    return NULL;
}

/* Code of an architecture that is not decoded still tells the names of its functions. */
static struct wsdbg_error *open_cubin(struct wsdbg_code_module *module)
{
    const struct wsdbg_image image = {module->bytes, module->byte_count};
    const bool is_other =
        wsdbg_cubin_architecture(&image, &module->architecture) && module->architecture != WSDBG_SASS_ARCHITECTURE;
    return is_other ? wsdbg_cubin_open_names(&image, &module->cubin) : wsdbg_cubin_open(&image, &module->cubin);
}

static struct wsdbg_error *read_module(struct wsdbg_code_module *module, const struct wsdbg_image *image)
{
    module->bytes = malloc(image->byte_count + 1);
    if (!module->bytes)
        return &wsdbg_error_no_memory;
    memcpy(module->bytes, image->bytes, image->byte_count);
    module->byte_count = image->byte_count;
    struct wsdbg_error *error =
        wsdbg_ptx_code_is(image) ? wsdbg_ptx_code_create(image, &module->ptx) : open_cubin(module);
    if (!error)
        return list_functions(module);
    if (error == &wsdbg_error_no_memory)
        return error;
    snprintf(module->reason, sizeof module->reason, "%s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    return NULL;
}

static struct wsdbg_error *record_of(struct wsdbg_code *code, uint64_t context, uint64_t handle,
                                     struct wsdbg_code_module **out)
{
    for (size_t i = 0; i < code->module_count; i++)
        if (code->modules[i]->context == context && code->modules[i]->handle == handle) {
            *out = code->modules[i];
            return NULL;
        }
    *out = calloc(1, sizeof **out);
    if (!*out ||
        !wsdbg_grow((void **)&code->modules, &code->module_capacity, code->module_count + 1, sizeof *code->modules)) {
        free(*out);
        return &wsdbg_error_no_memory;
    }
    **out = (struct wsdbg_code_module){.context = context, .handle = handle};
    code->modules[code->module_count++] = *out;
    return NULL;
}

/* The record of a machine's module, read again where its bytes changed: lazily loaded functions get their addresses
 * there. */
static struct wsdbg_error *follow(struct wsdbg_code *code, const struct wsdbg_machine *machine, uint32_t module,
                                  struct wsdbg_code_module **out)
{
    const struct wsdbg_machine_module *shown = &machine->modules[module];
    const uint64_t context =
        shown->context < machine->context_count ? machine->contexts[shown->context].handle : shown->context;
    struct wsdbg_error *error = record_of(code, context, shown->handle, out);
    if (error || (*out)->compared == code->look)
        return error;
    (*out)->compared = code->look;
    if (shown->image.byte_count == 0 || ((*out)->byte_count == shown->image.byte_count &&
                                         memcmp((*out)->bytes, shown->image.bytes, shown->image.byte_count) == 0))
        return NULL;
    forget_kernels_of(code, *out);
    clear_module(*out);
    (*out)->compared = code->look;
    return read_module(*out, &shown->image);
}

static struct wsdbg_code_function *function_at(struct wsdbg_code_module *module, uint64_t pc)
{
    size_t low = 0, high = module->function_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (module->functions[middle].cubin->address <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    /* A function may lie within another one's range; the one that begins last is the nearest. */
    while (low-- > 0) {
        const struct wsdbg_cubin_function *cubin = module->functions[low].cubin;
        if (pc - cubin->address < cubin->code.byte_count)
            return &module->functions[low];
    }
    return NULL;
}

static const struct wsdbg_cubin_function *function_that_begins(void *module, uint64_t address)
{
    const struct wsdbg_code_function *function = function_at(module, address);
    return function && function->cubin->address == address ? function->cubin : NULL;
}

/* A kernel is joined with the functions that it calls. */
static struct wsdbg_error *make_code_graph(struct wsdbg_code_module *record, struct wsdbg_code_function *function)
{
    const struct wsdbg_joined_module module = {record, function_that_begins};
    if (record->ptx)
        return wsdbg_ptx_code_graph(record->ptx, function->cubin, &function->graph);
    struct wsdbg_error *error =
        function->cubin->is_kernel ? wsdbg_joined_create(function->cubin, &module, &function->joined) : NULL;
    if (error || function->joined) {
        function->graph = error ? NULL : function->joined->graph;
        return error;
    }
    return wsdbg_graph_create_of_function(function->cubin, &function->graph);
}

static struct wsdbg_error *make_graph(struct wsdbg_code_module *record, struct wsdbg_code_function *function)
{
    struct wsdbg_error *error = make_code_graph(record, function);
    if (!error && function->graph)
        error = wsdbg_wait_sites_create(function->graph, &function->sites);
    if (error)
        clear_graph(function);
    return error;
}

/* The instruction of the graph that an instruction of the function itself is. */
static bool place_of_own(const struct wsdbg_code_function *function, uint32_t *number)
{
    if (!function->joined)
        return *number < wsdbg_graph_instruction_count(function->graph);
    struct wsdbg_joined_place place;
    const bool is_found = wsdbg_joined_places(function->joined, function->cubin, *number, &place, 1) > 0;
    *number = is_found ? place.instruction : *number;
    return is_found;
}

static struct wsdbg_error *place_in(struct wsdbg_code *code, const struct wsdbg_machine *machine, uint32_t module,
                                    uint64_t pc, struct wsdbg_code_place *out)
{
    struct wsdbg_code_module *record;
    struct wsdbg_error *error = follow(code, machine, module, &record);
    struct wsdbg_code_function *function = error ? NULL : function_at(record, pc);
    if (!function)
        return error;
    const bool is_decoded = record->ptx || record->architecture == WSDBG_SASS_ARCHITECTURE;
    if (!function->graph && is_decoded)
        error = make_graph(record, function);
    if (error)
        return error;
    uint32_t number = (uint32_t)((pc - function->cubin->address) / WSDBG_INSTRUCTION_BYTES);
    if (!is_decoded || place_of_own(function, &number))
        *out = (struct wsdbg_code_place){.function = function, .instruction = number};
    return NULL;
}

struct wsdbg_error *wsdbg_code_locate(struct wsdbg_code *code, const struct wsdbg_machine *machine, uint32_t grid,
                                      uint64_t pc, struct wsdbg_code_place *out)
{
    *out = (struct wsdbg_code_place){0};
    const struct wsdbg_machine_grid *row = &machine->grids[grid];
    struct wsdbg_error *error = NULL;
    if (row->module < machine->module_count)
        error = place_in(code, machine, row->module, pc, out);
    for (uint32_t i = 0; !error && !out->function && i < machine->module_count; i++)
        if (i != row->module && machine->modules[i].context == row->context)
            error = place_in(code, machine, i, pc, out);
    return error;
}

struct wsdbg_error *wsdbg_code_find(struct wsdbg_code *code, const struct wsdbg_machine *machine, uint32_t grid,
                                    uint64_t pc, struct wsdbg_code_place *out)
{
    struct wsdbg_error *error = wsdbg_code_locate(code, machine, grid, pc, out);
    if (!wsdbg_code_is_decoded(out))
        *out = (struct wsdbg_code_place){0};
    return error;
}

/* What was read of a machine's module; NULL if nothing was. */
static const struct wsdbg_code_module *seen_module(const struct wsdbg_code *code, const struct wsdbg_machine *machine,
                                                   uint32_t module)
{
    const struct wsdbg_machine_module *shown = module < machine->module_count ? &machine->modules[module] : NULL;
    if (!shown || shown->context >= machine->context_count)
        return NULL;
    for (size_t i = 0; i < code->module_count; i++)
        if (code->modules[i]->handle == shown->handle &&
            code->modules[i]->context == machine->contexts[shown->context].handle)
            return code->modules[i];
    return NULL;
}

uint32_t wsdbg_code_architecture(const struct wsdbg_code *code, const struct wsdbg_machine *machine, uint32_t module)
{
    const struct wsdbg_code_module *record = seen_module(code, machine, module);
    return record ? record->architecture : 0;
}

const char *wsdbg_code_reason(struct wsdbg_code *code, const struct wsdbg_machine *machine, uint32_t module)
{
    if (module >= machine->module_count || machine->modules[module].image.byte_count == 0)
        return "its image is not there";
    const struct wsdbg_code_module *record = seen_module(code, machine, module);
    return record && !record->cubin && !record->ptx ? record->reason : "";
}

/* Bank 0 begins with the CTA's threads, which the grid's row has too. */
struct wsdbg_error *wsdbg_code_constant(struct wsdbg_machine *machine, uint32_t grid, unsigned bank,
                                        uint32_t offset_bytes, uint32_t *value, bool *known)
{
    const uint32_t *threads = machine->grids[grid].block;
    *known = !bank && offset_bytes < sizeof machine->grids->block && offset_bytes % sizeof *threads == 0;
    if (!*known)
        return machine->ops->constant(machine, grid, bank, offset_bytes, value, sizeof *value, known);
    *value = threads[offset_bytes / sizeof *threads];
    return NULL;
}

struct wsdbg_image wsdbg_code_tables(const struct wsdbg_code_function *function)
{
    struct wsdbg_image tables = {0};
    const struct wsdbg_cubin *cubin = function->module->cubin;
    if (!cubin || !wsdbg_cubin_constants(cubin, function->cubin, WSDBG_CODE_BANK_OF_TABLES, &tables))
        return (struct wsdbg_image){0};
    return tables;
}

/* ---- where an instruction is in its function ---- */

const struct wsdbg_cubin_function *wsdbg_code_origin(const struct wsdbg_code_place *place, uint32_t *number)
{
    const struct wsdbg_joined *joined = place->function->joined;
    *number = place->instruction;
    if (!joined)
        return place->function->cubin;
    const struct wsdbg_joined_origin *origin = &joined->origins[place->instruction];
    *number = origin->instruction;
    return joined->copies[origin->copy].function;
}

/* The lines of an instruction, and behind them those of the calls that lead to its copy. */
static size_t lines_of_copies(const struct wsdbg_lines *lines, const struct wsdbg_code_place *place,
                              struct wsdbg_line *out, size_t most)
{
    const struct wsdbg_joined *joined = place->function->joined;
    struct wsdbg_joined_origin at = joined->origins[place->instruction];
    size_t count = 0;
    while (at.copy != WSDBG_GRAPH_NONE && count < most) {
        const struct wsdbg_joined_copy *copy = &joined->copies[at.copy];
        const uint64_t offset = (uint64_t)at.instruction * WSDBG_INSTRUCTION_BYTES;
        count += wsdbg_lines_find(lines, copy->function, offset, out + count, most - count);
        at = (struct wsdbg_joined_origin){copy->caller, copy->call};
    }
    return count;
}

size_t wsdbg_code_lines(const struct wsdbg_code_place *place, struct wsdbg_line *out, size_t most)
{
    struct wsdbg_code_module *module = place->function->module;
    if (module->ptx)
        return wsdbg_ptx_code_lines(module->ptx, place->function->cubin, place->instruction, out, most);
    if (!module->lines_tried) {
        module->lines_tried = true;
        wsdbg_error_destroy(wsdbg_lines_open(&(struct wsdbg_image){module->bytes, module->byte_count}, &module->lines));
    }
    const uint64_t offset = (uint64_t)place->instruction * WSDBG_INSTRUCTION_BYTES;
    if (module->lines && place->function->joined)
        return lines_of_copies(module->lines, place, out, most);
    return module->lines ? wsdbg_lines_find(module->lines, place->function->cubin, offset, out, most) : 0;
}

void wsdbg_code_text(const struct wsdbg_code_place *place, uint64_t address, char out[WSDBG_INSTRUCTION_TEXT_BYTES])
{
    const struct wsdbg_ptx_code *ptx = place->function->module->ptx;
    out[0] = '\0';
    if (!wsdbg_code_is_decoded(place))
        return;
    if (ptx) {
        wsdbg_ptx_code_text(ptx, place->function->cubin, place->instruction, out);
    } else if (place->function->joined) {
        uint32_t number;
        struct wsdbg_instruction instruction;
        const struct wsdbg_cubin_function *function = wsdbg_code_origin(place, &number);
        wsdbg_decode(function->code.bytes + (size_t)number * WSDBG_INSTRUCTION_BYTES, &instruction);
        wsdbg_instruction_text(&instruction, address, out);
    } else {
        wsdbg_instruction_text(wsdbg_graph_instruction(place->function->graph, place->instruction), address, out);
    }
}

uint64_t wsdbg_code_address(const struct wsdbg_code_place *place)
{
    uint32_t number;
    const struct wsdbg_cubin_function *function = wsdbg_code_origin(place, &number);
    return function->address + (uint64_t)number * WSDBG_INSTRUCTION_BYTES;
}
