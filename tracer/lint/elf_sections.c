/* elf_sections.c - see elf_sections.h.  Reads the header, the table of sections and their names, and nothing else: the
 * file may be a gigabyte. */
#include "lint/elf_sections.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA 190
#define NAMES_MOST (16u << 20) /* bytes of section names */

struct table {
    struct wsdbg_file_span file;
    Elf64_Shdr *rows;
    size_t count;
    char *names; /* ends with a zero byte */
    size_t names_bytes;
};

static struct wsdbg_error *read_header(const struct wsdbg_file_span *file, Elf64_Ehdr *header)
{
    struct wsdbg_error *error = wsdbg_file_span_read(file, 0, header, sizeof *header);
    if (error)
        return error;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "not a 64-bit little-endian ELF file");
    if (header->e_machine != MACHINE_CUDA && (!header->e_shoff || header->e_shentsize != sizeof(Elf64_Shdr)))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "an ELF file without a table of sections");
    return NULL;
}

/* Files with very many sections keep their number, and that of the names, in section 0. */
static struct wsdbg_error *read_rows(const Elf64_Ehdr *header, struct table *table, size_t *names)
{
    Elf64_Shdr first;
    struct wsdbg_file_span rows;
    struct wsdbg_error *error = wsdbg_file_span_read(&table->file, header->e_shoff, &first, sizeof first);
    if (error)
        return error;
    const uint64_t count = header->e_shnum ? header->e_shnum : first.sh_size;
    if (count > table->file.byte_count / sizeof(Elf64_Shdr))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "cut short or damaged: more sections than the file can hold");
    *names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
    table->count = (size_t)count;
    error =
        wsdbg_file_span_part(&table->file, header->e_shoff, count * sizeof(Elf64_Shdr), "the table of sections", &rows);
    return error ? error
                 : wsdbg_file_span_read_all(&rows, table->file.byte_count, (unsigned char **)(void *)&table->rows);
}

static struct wsdbg_error *read_table(const Elf64_Ehdr *header, struct table *table)
{
    size_t names = 0;
    struct wsdbg_file_span span;
    struct wsdbg_error *error = read_rows(header, table, &names);
    if (error)
        return error;
    if (names >= table->count)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "damaged: its sections have no names");
    error = wsdbg_file_span_part(&table->file, table->rows[names].sh_offset, table->rows[names].sh_size,
                                 "the names of sections", &span);
    table->names_bytes = (size_t)table->rows[names].sh_size;
    return error ? error : wsdbg_file_span_read_all(&span, NAMES_MOST, (unsigned char **)(void *)&table->names);
}

static bool holds_gpu_code(const char *name)
{
    return strcmp(name, ".nv_fatbin") == 0 || strcmp(name, "__nv_relfatbin") == 0;
}

static struct wsdbg_error *pick(const struct table *table, struct wsdbg_elf_sections *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const Elf64_Shdr *row = &table->rows[i];
        const char *name = row->sh_name < table->names_bytes ? table->names + row->sh_name : "";
        if (row->sh_type == SHT_NOBITS || !holds_gpu_code(name) || !row->sh_size)
            continue;
        if (out->count == WSDBG_ELF_SECTIONS_MOST)
            return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "more than %d sections with GPU code",
                                      WSDBG_ELF_SECTIONS_MOST);
        struct wsdbg_elf_section *section = &out->rows[out->count++];
        strncpy(section->name, name, sizeof section->name - 1);
        struct wsdbg_error *error =
            wsdbg_file_span_part(&table->file, row->sh_offset, row->sh_size, section->name, &section->bytes);
        if (error)
            return error;
    }
    return NULL;
}

struct wsdbg_error *wsdbg_elf_sections_find(const struct wsdbg_file_span *file, struct wsdbg_elf_sections *out)
{
    Elf64_Ehdr header;
    struct table table = {.file = *file};
    *out = (struct wsdbg_elf_sections){0};
    struct wsdbg_error *error = read_header(file, &header);
    if (!error && header.e_machine == MACHINE_CUDA) {
        out->is_cubin = true;
        return NULL;
    }
    if (!error)
        error = read_table(&header, &table);
    if (!error)
        error = pick(&table, out);
    free(table.rows);
    free(table.names);
    return error;
}
