/* elf_module.h - a program or library as a process has it mapped: its symbols, by name and by address.
 *
 * The file's first page must be what the process has in its memory.  So a library that was replaced on disk gives no
 * wrong names.
 */
#ifndef WSDBG_HOST_ELF_MODULE_H
#define WSDBG_HOST_ELF_MODULE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/process_maps.h"
#include "host/process_memory.h"

struct wsdbg_host_module;

/* The file `file` of `maps`.  NULL = it cannot be read, is no 64-bit ELF file, or is not what the process has.  Closed
 * by the caller. */
struct wsdbg_host_module *wsdbg_host_module_open(pid_t process, const struct wsdbg_host_maps *maps, uint32_t file,
                                                 struct wsdbg_host_memory *memory);
void wsdbg_host_module_close(struct wsdbg_host_module *module);

Elf *wsdbg_host_module_elf(const struct wsdbg_host_module *module);
/* What is added to an address of the file to get the process's; wraps. */
uint64_t wsdbg_host_module_bias(const struct wsdbg_host_module *module);
/* Whether an address of the file is one of its code. */
bool wsdbg_host_module_has_code(const struct wsdbg_host_module *module, uint64_t address);

/* Where a symbol that the file defines is in the process. */
struct wsdbg_host_symbol {
    uint64_t address, bytes;
};
/* False = it has none of that name. */
bool wsdbg_host_module_symbol(const struct wsdbg_host_module *module, const char *name, struct wsdbg_host_symbol *out);

/* A question for the function at an address of the file. */
struct wsdbg_host_asked {
    uint64_t address; /* of the file */
    const char *name; /* the answer; NULL = no symbol covers the address.  Belongs to the module */
    uint64_t start;   /* of the function */
};
/* Answers all in one pass over the symbols.  `asked` is ordered by address. */
void wsdbg_host_module_name(const struct wsdbg_host_module *module, struct wsdbg_host_asked *asked, size_t count);

#endif
