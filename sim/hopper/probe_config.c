/* probe_config.c - configs and names tables of modules without probes, made when somebody asks for them.
 *
 * Reads: where the module's PTX says its source lies.  Writes: the two tables, in the device's memory.
 */
#include <stdlib.h>
#include <string.h>

#include "hopper/gpu.h"
#include "hopper/probe.h"

enum { NAMES_ROWS = 1 + WSDBG_SOURCE_PARTS };

uint32_t hopper_probe_main_file(const struct wsdbg_ptx_program *program, uint32_t place)
{
    while (program->places[place].inlined_at != WSDBG_PTX_NONE)
        place = program->places[place].inlined_at;
    return program->places[place].file;
}

static const char *source_path(const struct wsdbg_ptx_program *program)
{
    for (size_t i = 0; i < program->instruction_count; i++)
        if (program->instructions[i].place != WSDBG_PTX_NONE)
            return program->files[hopper_probe_main_file(program, program->instructions[i].place)];
    return "";
}

/* One row says that nobody named anything, the others the path of the source; of a longer path the end is kept. */
static void fill_names(const struct wsdbg_ptx_program *program, struct wsdbg_name rows[NAMES_ROWS])
{
    const char *path = source_path(program);
    const size_t length = strlen(path), most = (size_t)WSDBG_SOURCE_PART * WSDBG_SOURCE_PARTS;
    path += length > most ? length - most : 0;
    memset(rows, 0, NAMES_ROWS * sizeof *rows);
    rows[0].kind = WSDBG_NAME_INFERRED;
    for (uint32_t part = 0; part < WSDBG_SOURCE_PARTS; part++) {
        struct wsdbg_name *const row = &rows[1 + part];
        row->kind = WSDBG_NAME_SOURCE;
        row->id = (uint8_t)part;
        const size_t count = strnlen(path, WSDBG_SOURCE_PART);
        memcpy(row->name, path, count);
        path += count;
    }
}

struct hopper_probes *hopper_probes_create(struct wsdbg_gpu *gpu, const struct wsdbg_ptx_program *program)
{
    struct hopper_probes *const probes = calloc(1, sizeof *probes);
    if (!probes)
        return NULL;
    probes->names_bytes = NAMES_ROWS * sizeof(struct wsdbg_name);
    struct wsdbg_error *error = hopper_probe_make_code(probes, program) ? NULL : &wsdbg_error_no_memory;
    if (!error)
        error = hopper_allocate(gpu, sizeof(struct wsdbg_config), 0, &probes->config_address);
    if (!error)
        error = hopper_allocate(gpu, probes->names_bytes, 0, &probes->names_address);
    if (error) {
        wsdbg_error_destroy(error);
        hopper_probes_free(gpu, probes);
        return NULL;
    }
    memset((void *)(uintptr_t)probes->config_address, 0, sizeof(struct wsdbg_config));
    fill_names(program, (void *)(uintptr_t)probes->names_address);
    return probes;
}

void hopper_probes_free(struct wsdbg_gpu *gpu, struct hopper_probes *probes)
{
    if (!probes)
        return;
    hopper_free(gpu, probes->config_address);
    hopper_free(gpu, probes->names_address);
    hopper_probe_free_code(probes);
    free(probes->role_kinds);
    free(probes);
}

void wsdbg_gpu_stop_probes(const struct wsdbg_gpu_module *module)
{
    if (module->probes)
        memset((void *)(uintptr_t)module->probes->config_address, 0, sizeof(struct wsdbg_config));
}
