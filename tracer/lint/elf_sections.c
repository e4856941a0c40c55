/* elf_sections.c - see elf_sections.h.  Reads the header, the table of sections and their names, and nothing else: the
 * file may be a gigabyte. */
#include "lint/elf_sections.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define MACHINE_CUDA 190
#define NAMES_MOST (16u << 20)  /* bytes of section names */
#define TABLE_MOST (256u << 20) /* bytes of the table of sections */
enum { SECTIONS_MOST = 1 << 20, SECTIONS_OF_NVCC_MOST = 64 };

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
    return error ? error : wsdbg_file_span_read_all(&rows, TABLE_MOST, (unsigned char **)(void *)&table->rows);
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

/* ---- which of them ---- */

static bool is_of_nvcc(const char *name)
{
    return strcmp(name, ".nv_fatbin") == 0 || strcmp(name, "__nv_relfatbin") == 0;
}

/* Contents that a compiler, an assembler's .incbin or objcopy put there.  What debuggers read is long and holds none.
 */
static bool may_hold_images(const Elf64_Shdr *row, const char *name)
{
    return row->sh_type == SHT_PROGBITS && !(row->sh_flags & SHF_COMPRESSED) && row->sh_size >= sizeof(Elf64_Ehdr) &&
           strncmp(name, ".debug", strlen(".debug")) != 0;
}

static struct wsdbg_error *pick_row(const struct table *table, const Elf64_Shdr *row, struct wsdbg_elf_sections *out)
{
    const char *name = row->sh_name < table->names_bytes ? table->names + row->sh_name : "";
    const bool of_nvcc = is_of_nvcc(name) && row->sh_type != SHT_NOBITS && row->sh_size;
    if (!of_nvcc && !may_hold_images(row, name))
        return NULL;
    if (out->count == SECTIONS_MOST || (of_nvcc && out->of_nvcc == SECTIONS_OF_NVCC_MOST))
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "more than %d sections that may hold GPU code",
                                  of_nvcc ? SECTIONS_OF_NVCC_MOST : SECTIONS_MOST);
    if (!wsdbg_grow((void **)&out->rows, &out->capacity, out->count + 1, sizeof *out->rows))
        return &wsdbg_error_no_memory;
    struct wsdbg_elf_section *section = &out->rows[out->count++];
    *section = (struct wsdbg_elf_section){.is_of_nvcc = of_nvcc};
    strncpy(section->name, name, sizeof section->name - 1);
    out->of_nvcc += of_nvcc;
    return wsdbg_file_span_part(&table->file, row->sh_offset, row->sh_size, section->name, &section->bytes);
}

static int by_place(const void *left, const void *right)
{
    const struct wsdbg_elf_section *a = left, *b = right;
    if (a->is_of_nvcc != b->is_of_nvcc)
        return a->is_of_nvcc ? -1 : 1;
    return (a->bytes.first > b->bytes.first) - (a->bytes.first < b->bytes.first);
}

static int by_first_byte(const void *left, const void *right)
{
    const struct wsdbg_elf_section *a = left, *b = right;
    return (a->bytes.first > b->bytes.first) - (a->bytes.first < b->bytes.first);
}

/* Takes away what `other` has too: all behind its beginning, else all before its end. */
static void cut_off(struct wsdbg_file_span *span, const struct wsdbg_file_span *other)
{
    const uint64_t end = span->first + span->byte_count, end_of_other = other->first + other->byte_count;
    if (end <= other->first || span->first >= end_of_other)
        return;
    if (span->first < other->first) {
        span->byte_count = other->first - span->first;
        return;
    }
    span->first = end_of_other < end ? end_of_other : end;
    span->byte_count = end - span->first;
}

/* A file may name the same bytes in any number of sections: each is read once. */
static void part_sections(struct wsdbg_elf_sections *sections)
{
    struct wsdbg_file_span seen = {0};
    if (!sections->count)
        return;
    qsort(sections->rows, sections->count, sizeof *sections->rows, by_place);
    for (size_t i = sections->of_nvcc; i < sections->count; i++) {
        struct wsdbg_file_span *bytes = &sections->rows[i].bytes;
        for (size_t j = 0; j < sections->of_nvcc; j++)
            cut_off(bytes, &sections->rows[j].bytes);
        cut_off(bytes, &seen);
        if (bytes->first + bytes->byte_count > seen.byte_count)
            seen.byte_count = bytes->first + bytes->byte_count;
    }
    qsort(sections->rows, sections->count, sizeof *sections->rows, by_first_byte);
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
    for (size_t i = 0; !error && i < table.count; i++)
        error = pick_row(&table, &table.rows[i], out);
    free(table.rows);
    free(table.names);
    if (error)
        wsdbg_elf_sections_deinit(out);
    else
        part_sections(out);
    return error;
}

void wsdbg_elf_sections_deinit(struct wsdbg_elf_sections *sections)
{
    free(sections->rows);
    *sections = (struct wsdbg_elf_sections){0};
}
