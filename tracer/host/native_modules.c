/* native_modules.c - see native_modules.h.  Reads: the files that the process has mapped.  Writes: nothing. */
#include "host/native_modules.h"

#include <stdlib.h>

/* What was tried is not tried again. */
struct opened {
    struct wsdbg_host_module *module;
    Dwarf_CFI *cfi;
    Dwarf *dwarf;
    bool module_tried, cfi_tried, dwarf_tried;
};

struct wsdbg_host_modules {
    pid_t process;
    const struct wsdbg_host_maps *maps;
    struct wsdbg_host_memory *memory;
    struct opened *rows; /* by file */
};

struct wsdbg_error *wsdbg_host_modules_create(pid_t process, const struct wsdbg_host_maps *maps,
                                              struct wsdbg_host_memory *memory, struct wsdbg_host_modules **out)
{
    struct wsdbg_host_modules *modules = calloc(1, sizeof *modules);
    struct opened *rows = calloc(maps->file_count + 1, sizeof *rows);
    if (!modules || !rows) {
        free(modules);
        free(rows);
        return &wsdbg_error_no_memory;
    }
    *modules = (struct wsdbg_host_modules){process, maps, memory, rows};
    *out = modules;
    return NULL;
}

void wsdbg_host_modules_destroy(struct wsdbg_host_modules *modules)
{
    if (!modules)
        return;
    for (size_t i = 0; i < modules->maps->file_count; i++) {
        dwarf_cfi_end(modules->rows[i].cfi);
        dwarf_end(modules->rows[i].dwarf);
        wsdbg_host_module_close(modules->rows[i].module);
    }
    free(modules->rows);
    free(modules);
}

const struct wsdbg_host_maps *wsdbg_host_modules_maps(const struct wsdbg_host_modules *modules)
{
    return modules->maps;
}

const struct wsdbg_host_module *wsdbg_host_modules_get(struct wsdbg_host_modules *modules, uint32_t file)
{
    struct opened *row = &modules->rows[file];
    if (!row->module_tried)
        row->module = wsdbg_host_module_open(modules->process, modules->maps, file, modules->memory);
    row->module_tried = true;
    return row->module;
}

Dwarf_CFI *wsdbg_host_modules_cfi(struct wsdbg_host_modules *modules, uint32_t file)
{
    const struct wsdbg_host_module *module = wsdbg_host_modules_get(modules, file);
    struct opened *row = &modules->rows[file];
    if (module && !row->cfi_tried)
        row->cfi = dwarf_getcfi_elf(wsdbg_host_module_elf(module));
    row->cfi_tried = true;
    return row->cfi;
}

Dwarf *wsdbg_host_modules_dwarf(struct wsdbg_host_modules *modules, uint32_t file)
{
    const struct wsdbg_host_module *module = wsdbg_host_modules_get(modules, file);
    struct opened *row = &modules->rows[file];
    if (!row->dwarf_tried && wsdbg_host_memory_is_late(modules->memory)) /* reading it may take long */
        return NULL;
    if (module && !row->dwarf_tried)
        row->dwarf = dwarf_begin_elf(wsdbg_host_module_elf(module), DWARF_C_READ, NULL);
    row->dwarf_tried = true;
    return row->dwarf;
}
