/* code_kernels.c - what the threads of a kernel do by its code: its accesses to barriers, and which warps come to an
 * instruction.  See code.h.
 *
 * Reads: decoded code, constants of the launch.  Writes: the kernels that are kept.
 */
#include "machine/code_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "sass/threads.h"
#include "translate/ptx_code.h"

enum { COMERS_MOST = 64, INSTRUCTIONS_ASKED_MOST = 1 << 14 };

struct constants {
    struct wsdbg_machine *machine;
    uint32_t grid;
    struct wsdbg_error *error; /* the first one */
};

static bool read_constant(void *context, unsigned bank, uint32_t offset_bytes, uint32_t *value)
{
    struct constants *constants = context;
    bool known = false;
    if (!constants->error)
        constants->error = wsdbg_code_constant(constants->machine, constants->grid, bank, offset_bytes, value, &known);
    return known && !constants->error;
}

static struct wsdbg_error *find_accesses(struct wsdbg_machine *machine, uint32_t grid, struct wsdbg_code_kernel *kernel)
{
    struct constants constants = {.machine = machine, .grid = grid};
    const struct wsdbg_launch_values launch = {.context = &constants, .constant = read_constant};
    struct wsdbg_error *error =
        wsdbg_accesses_find(kernel->function->graph, &launch, &kernel->accesses, &kernel->access_count);
    if (!constants.error)
        return error;
    wsdbg_error_destroy(error);
    return constants.error;
}

struct wsdbg_error *wsdbg_code_threads(struct wsdbg_machine *machine, uint32_t grid,
                                       const struct wsdbg_code_kernel *kernel, uint32_t first, uint32_t count,
                                       struct wsdbg_graph **out)
{
    struct constants constants = {.machine = machine, .grid = grid};
    const struct wsdbg_launch_values launch = {.context = &constants, .constant = read_constant};
    *out = NULL;
    struct wsdbg_error *error = wsdbg_graph_create_for_threads(kernel->function->graph, &launch, first, count, out);
    if (!constants.error)
        return error;
    wsdbg_error_destroy(error);
    wsdbg_graph_destroy(*out);
    *out = NULL;
    return constants.error;
}

struct wsdbg_error *wsdbg_code_accesses_of_threads(struct wsdbg_machine *machine, uint32_t grid,
                                                   const struct wsdbg_code_kernel *kernel, uint32_t first,
                                                   uint32_t count, struct wsdbg_access **out)
{
    struct constants constants = {.machine = machine, .grid = grid};
    const struct wsdbg_launch_values launch = {.context = &constants, .constant = read_constant};
    size_t found = 0;
    *out = NULL;
    struct wsdbg_error *error =
        wsdbg_accesses_find_for_threads(kernel->function->graph, &launch, first, count, out, &found);
    if (!constants.error)
        return error;
    wsdbg_error_destroy(error);
    free(*out);
    *out = NULL;
    return constants.error;
}

static struct wsdbg_error *find_comers(struct wsdbg_machine *machine, uint32_t grid, struct wsdbg_code_kernel *kernel,
                                       uint32_t warp_count)
{
    struct constants constants = {.machine = machine, .grid = grid};
    const struct wsdbg_launch_values launch = {.context = &constants, .constant = read_constant, .is_in_x = true};
    struct wsdbg_error *error = wsdbg_threads_comers(kernel->function->graph, &launch, kernel->accesses,
                                                     kernel->access_count, warp_count, kernel->comers);
    if (!constants.error)
        return error;
    wsdbg_error_destroy(error);
    return constants.error;
}

struct wsdbg_error *wsdbg_code_comers(struct wsdbg_machine *machine, uint32_t grid, struct wsdbg_code_kernel *kernel,
                                      const uint64_t **out)
{
    const uint32_t *block = machine->grids[grid].block;
    const uint32_t warp_count = (block[0] + WSDBG_MACHINE_LANES - 1) / WSDBG_MACHINE_LANES;
    *out = NULL;
    if (kernel->comers || block[1] != 1 || block[2] != 1 || warp_count > COMERS_MOST ||
        wsdbg_graph_instruction_count(kernel->function->graph) > INSTRUCTIONS_ASKED_MOST) {
        *out = kernel->comers;
        return NULL;
    }
    kernel->comers = calloc(kernel->access_count + 1, sizeof *kernel->comers);
    struct wsdbg_error *error =
        kernel->comers ? find_comers(machine, grid, kernel, warp_count) : &wsdbg_error_no_memory;
    if (error) {
        free(kernel->comers);
        kernel->comers = NULL;
    }
    *out = kernel->comers;
    return error;
}

static struct wsdbg_error *add_kernel(struct wsdbg_code *code, struct wsdbg_machine *machine, uint32_t grid,
                                      const struct wsdbg_code_kernel *wanted, struct wsdbg_code_kernel **out)
{
    struct wsdbg_code_kernel *kernel = malloc(sizeof *kernel);
    if (!kernel ||
        !wsdbg_grow((void **)&code->kernels, &code->kernel_capacity, code->kernel_count + 1, sizeof *code->kernels)) {
        free(kernel);
        return &wsdbg_error_no_memory;
    }
    *kernel = *wanted;
    struct wsdbg_error *error = find_accesses(machine, grid, kernel);
    if (error) {
        wsdbg_code_free_kernel(kernel);
        return error;
    }
    /* The newest first: the others are dropped before it. */
    memmove(code->kernels + 1, code->kernels, code->kernel_count++ * sizeof *code->kernels);
    *out = code->kernels[0] = kernel;
    return NULL;
}

struct wsdbg_error *wsdbg_code_kernel(struct wsdbg_code *code, struct wsdbg_machine *machine, uint32_t grid,
                                      struct wsdbg_code_kernel **out)
{
    const struct wsdbg_machine_grid *row = &machine->grids[grid];
    struct wsdbg_code_kernel wanted = {.grid_id = row->grid_id, .entry = row->function_entry};
    struct wsdbg_code_place place = {0};
    *out = NULL;
    if (row->context < machine->context_count)
        wanted.context = machine->contexts[row->context].handle;
    /* The module is compared first: a changed one takes its kernels with it. */
    struct wsdbg_error *error =
        row->function_entry ? wsdbg_code_find(code, machine, grid, row->function_entry, &place) : NULL;
    if (error || !place.function)
        return error;
    wanted.function = place.function;
    if (place.function->module->ptx)
        wanted.variables =
            wsdbg_ptx_code_shared(place.function->module->ptx, place.function->cubin, &wanted.variable_count);
    for (size_t i = 0; i < code->kernel_count && !*out; i++)
        if (code->kernels[i]->context == wanted.context && code->kernels[i]->grid_id == wanted.grid_id &&
            code->kernels[i]->entry == wanted.entry && code->kernels[i]->function == wanted.function)
            *out = code->kernels[i];
    return *out ? NULL : add_kernel(code, machine, grid, &wanted, out);
}

struct wsdbg_error *wsdbg_code_prepare(struct wsdbg_code *code, const struct wsdbg_machine *machine)
{
    struct wsdbg_error *error = NULL;
    wsdbg_code_begin(code);
    for (uint32_t i = 0; !error && i < machine->grid_count; i++) {
        struct wsdbg_code_place place;
        error = wsdbg_code_locate(code, machine, i, machine->grids[i].function_entry, &place);
        struct wsdbg_line line;
        if (!error && place.function)
            wsdbg_code_lines(&place, &line, 1);
    }
    return error;
}
