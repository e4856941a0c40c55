/* elf_sections.h - the sections of a program, library or object of the host that hold code for GPUs. */
#ifndef WSDBG_LINT_ELF_SECTIONS_H
#define WSDBG_LINT_ELF_SECTIONS_H

#include <stdbool.h>

#include "lint/file_span.h"

enum { WSDBG_ELF_SECTIONS_MOST = 64, WSDBG_ELF_NAME_BYTES = 32 };

struct wsdbg_elf_section {
    char name[WSDBG_ELF_NAME_BYTES];
    struct wsdbg_file_span bytes;
};

struct wsdbg_elf_sections {
    struct wsdbg_elf_section rows[WSDBG_ELF_SECTIONS_MOST];
    size_t count;
    bool is_cubin; /* the file itself is one: no rows */
};

/* Finds them in an ELF file: .nv_fatbin, and __nv_relfatbin, which holds what is to be linked. */
struct wsdbg_error *wsdbg_elf_sections_find(const struct wsdbg_file_span *file, struct wsdbg_elf_sections *out);

#endif
