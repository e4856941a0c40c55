/* elf_sections.h - the sections of a program, library or object of the host that hold code for GPUs, or may. */
#ifndef WSDBG_LINT_ELF_SECTIONS_H
#define WSDBG_LINT_ELF_SECTIONS_H

#include <stdbool.h>

#include "lint/file_span.h"

enum { WSDBG_ELF_NAME_BYTES = 32 };

struct wsdbg_elf_section {
    char name[WSDBG_ELF_NAME_BYTES];
    bool is_of_nvcc; /* fatbins and nothing else; false: any contents, images of code perhaps among them */
    struct wsdbg_file_span bytes;
};

struct wsdbg_elf_sections {
    struct wsdbg_elf_section
        *rows; /* as they lie in the file; no byte is in one of nvcc and another, or in two others */
    size_t count, capacity;
    size_t of_nvcc; /* so many of them */
    bool is_cubin;  /* the file itself is one: no rows */
};

/* Finds them in an ELF file: .nv_fatbin, and __nv_relfatbin, which holds what is to be linked; and whatever else has
 * contents of the program's own, code and constants included.  wsdbg_elf_sections_deinit frees what *out holds. */
struct wsdbg_error *wsdbg_elf_sections_find(const struct wsdbg_file_span *file, struct wsdbg_elf_sections *out);
void wsdbg_elf_sections_deinit(struct wsdbg_elf_sections *sections);

#endif
