/* native_modules.h - the programs and libraries that stacks lead through, each opened once. */
#ifndef WSDBG_HOST_NATIVE_MODULES_H
#define WSDBG_HOST_NATIVE_MODULES_H

#include <elfutils/libdw.h>

#include "host/elf_module.h"

struct wsdbg_host_modules;

/* maps and memory outlive it. */
struct wsdbg_error *wsdbg_host_modules_create(pid_t process, const struct wsdbg_host_maps *maps,
                                              struct wsdbg_host_memory *memory, struct wsdbg_host_modules **out);
void wsdbg_host_modules_destroy(struct wsdbg_host_modules *modules);

const struct wsdbg_host_maps *wsdbg_host_modules_maps(const struct wsdbg_host_modules *modules);
/* NULL = it cannot be read. */
const struct wsdbg_host_module *wsdbg_host_modules_get(struct wsdbg_host_modules *modules, uint32_t file);
/* How its functions are unwound; NULL = it does not say. */
Dwarf_CFI *wsdbg_host_modules_cfi(struct wsdbg_host_modules *modules, uint32_t file);
/* Its debug information; NULL = it has none. */
Dwarf *wsdbg_host_modules_dwarf(struct wsdbg_host_modules *modules, uint32_t file);

#endif
