/* module.c - modules: a program's variables in device memory, its prepared code, its probes' tables.
 *
 * Reads: a parsed program.  Writes: device memory of its own, with the variables' initial values.
 */
#include <stdlib.h>
#include <string.h>

#include "hopper/gpu.h"
#include "hopper/prepare.h"
#include "hopper/probe.h"

/* Allocates and fills the block of one space's variables. */
static struct wsdbg_error *place_variables(struct wsdbg_gpu *gpu, const struct wsdbg_ptx_program *program,
                                           enum wsdbg_ptx_space space, uint64_t byte_count, uint64_t *address)
{
    if (byte_count == 0)
        return NULL;
    struct wsdbg_error *error = hopper_allocate(gpu, byte_count, 0, address);
    if (error)
        return wsdbg_error_prefix(error, "variables of %llu bytes", (unsigned long long)byte_count);
    for (size_t i = 0; i < program->variable_count; i++) {
        const struct wsdbg_ptx_variable *variable = &program->variables[i];
        if (variable->space == space && variable->initial)
            memcpy((void *)(uintptr_t)(*address + variable->offset), variable->initial, variable->byte_count);
    }
    return NULL;
}

static uint64_t address_of(const struct wsdbg_gpu_module *module, const struct wsdbg_ptx_variable *variable,
                           bool is_generic)
{
    switch (variable->space) {
    case WSDBG_PTX_GLOBAL:
        return module->global_address + variable->offset;
    case WSDBG_PTX_CONST:
        return module->const_address + variable->offset;
    default:
        return (is_generic ? HOPPER_SHARED_WINDOW : 0) + HOPPER_SHARED_START + variable->offset;
    }
}

/* Addresses of variables in initial values. */
static void relocate(const struct wsdbg_gpu_module *module)
{
    const struct wsdbg_ptx_program *program = module->program;
    for (size_t i = 0; i < program->relocation_count; i++) {
        const struct wsdbg_ptx_relocation *row = &program->relocations[i];
        const uint64_t address = address_of(module, &program->variables[row->target], row->is_generic);
        const uint64_t value = (address + (uint64_t)row->addend) >> row->shift;
        const uint64_t at = address_of(module, &program->variables[row->variable], false) + row->offset;
        memcpy((void *)(uintptr_t)at, &value, row->byte_count);
    }
}

struct wsdbg_error *wsdbg_gpu_load(struct wsdbg_gpu *gpu, const struct wsdbg_ptx_program *program,
                                   struct wsdbg_gpu_module **out)
{
    struct wsdbg_gpu_module *module = calloc(1, sizeof *module);
    if (!module)
        return &wsdbg_error_no_memory;
    module->program = program;
    hopper_lock(gpu);
    struct wsdbg_error *error =
        place_variables(gpu, program, WSDBG_PTX_GLOBAL, program->global_bytes, &module->global_address);
    if (!error)
        error = place_variables(gpu, program, WSDBG_PTX_CONST, program->const_bytes, &module->const_address);
    if (!error)
        relocate(module);
    hopper_unlock(gpu);
    if (!error)
        error = hopper_code_create(program, module->global_address, module->const_address, &module->code);
    if (error) {
        wsdbg_gpu_unload(gpu, module);
        return error;
    }
    *out = module;
    return NULL;
}

void wsdbg_gpu_set_text(struct wsdbg_gpu_module *module, const char *text, size_t byte_count)
{
    module->text = text;
    module->text_bytes = byte_count;
}

void wsdbg_gpu_unload(struct wsdbg_gpu *gpu, struct wsdbg_gpu_module *module)
{
    if (!module)
        return;
    hopper_lock(gpu);
    hopper_free(gpu, module->global_address);
    hopper_free(gpu, module->const_address);
    hopper_probes_free(gpu, module->probes);
    hopper_unlock(gpu);
    hopper_code_destroy(module->code);
    free(module);
}

const struct wsdbg_ptx_program *wsdbg_gpu_program(const struct wsdbg_gpu_module *module)
{
    return module->program;
}

bool wsdbg_gpu_variable(const struct wsdbg_gpu_module *module, const char *name, uint64_t *address,
                        uint64_t *byte_count)
{
    for (size_t i = 0; i < module->program->variable_count; i++) {
        const struct wsdbg_ptx_variable *variable = &module->program->variables[i];
        const bool is_const = variable->space == WSDBG_PTX_CONST;
        if ((!is_const && variable->space != WSDBG_PTX_GLOBAL) || strcmp(variable->name, name) != 0)
            continue;
        *address = (is_const ? module->const_address : module->global_address) + variable->offset;
        *byte_count = variable->byte_count;
        return true;
    }
    return false;
}

bool wsdbg_gpu_probe_variable(struct wsdbg_gpu *gpu, struct wsdbg_gpu_module *module, const char *name,
                              uint64_t *address, uint64_t *byte_count)
{
    const bool is_config = strcmp(name, WSDBG_CONFIG_SYMBOL) == 0;
    uint64_t own_address, own_bytes;
    if ((!is_config && strcmp(name, WSDBG_NAMES_SYMBOL) != 0) ||
        wsdbg_gpu_variable(module, WSDBG_CONFIG_SYMBOL, &own_address, &own_bytes))
        return false;
    hopper_lock(gpu);
    if (!module->probes)
        module->probes = hopper_probes_create(gpu, module->program);
    const struct hopper_probes *const probes = module->probes;
    hopper_unlock(gpu);
    if (!probes)
        return false;
    *address = is_config ? probes->config_address : probes->names_address;
    *byte_count = is_config ? sizeof(struct wsdbg_config) : probes->names_bytes;
    return true;
}
