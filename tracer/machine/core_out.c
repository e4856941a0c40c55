/* core_out.c - see core_out.h.  Writes one file through libelf, which also numbers sections beyond 65280. */
#include "machine/core_out.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file_limit.h"

struct text {
    FILE *stream;
    char *bytes;
    size_t byte_count;
};

struct block {
    struct block *next;
    max_align_t bytes[];
};

struct core_out {
    char *path;
    int fd;
    Elf *elf;
    struct block *blocks;
    struct text names, strings; /* .shstrtab and .strtab */
};

static struct wsdbg_error *elf_failed(const struct core_out *out)
{
    return wsdbg_error_create(WSDBG_ERROR_OTHER, "write %s: %s", out->path, elf_errmsg(-1));
}

void *core_out_block(struct core_out *out, size_t byte_count)
{
    struct block *block = calloc(1, sizeof *block + byte_count);
    if (!block)
        return NULL;
    block->next = out->blocks;
    out->blocks = block;
    return block->bytes;
}

static struct wsdbg_error *add_text(struct text *text, const char *words, uint64_t *offset)
{
    const long at = ftell(text->stream);
    if (at < 0 || fputs(words, text->stream) == EOF || fputc('\0', text->stream) == EOF)
        return &wsdbg_error_no_memory;
    *offset = (uint64_t)at;
    return NULL;
}

struct wsdbg_error *core_out_string(struct core_out *out, const char *text, uint64_t *offset)
{
    return add_text(&out->strings, text, offset);
}

static struct wsdbg_error *add_section(struct core_out *out, const char *name, GElf_Shdr header, void *bytes,
                                       size_t byte_count, uint32_t *number)
{
    GElf_Shdr fresh;
    uint64_t name_offset;
    struct wsdbg_error *error = add_text(&out->names, name, &name_offset);
    if (error)
        return error;
    Elf_Scn *section = elf_newscn(out->elf);
    Elf_Data *data = section ? elf_newdata(section) : NULL;
    if (!data || !gelf_getshdr(section, &fresh))
        return elf_failed(out);
    *data =
        (Elf_Data){.d_buf = bytes, .d_type = ELF_T_BYTE, .d_size = byte_count, .d_align = 1, .d_version = EV_CURRENT};
    header.sh_name = (GElf_Word)name_offset;
    if (!gelf_update_shdr(section, &header))
        return elf_failed(out);
    *number = (uint32_t)elf_ndxscn(section);
    return NULL;
}

struct wsdbg_error *core_out_section(struct core_out *out, const struct core_section *section, uint32_t *number)
{
    uint32_t ignored;
    const GElf_Shdr header = {.sh_type = CORE_SECTION_BASE + section->kind,
                              .sh_flags = SHF_ALLOC,
                              .sh_addr = section->address,
                              .sh_link = section->owner.table,
                              .sh_info = section->owner.row,
                              .sh_entsize = section->row_bytes};
    return add_section(out, section->name, header, section->bytes, section->byte_count, number ? number : &ignored);
}

struct wsdbg_error *core_out_begin_rows(struct core_out *out, size_t row_bytes, size_t most, struct core_rows *rows)
{
    *rows = (struct core_rows){.bytes = core_out_block(out, row_bytes * most), .row_bytes = row_bytes};
    return rows->bytes ? NULL : &wsdbg_error_no_memory;
}

struct core_new_row core_out_add_row(struct core_rows *rows)
{
    return (struct core_new_row){rows->bytes + rows->row_bytes * rows->row_count++, rows->row_bytes};
}

static void put(struct core_new_row row, size_t offset, const void *value, size_t byte_count)
{
    if (offset + byte_count <= row.byte_count)
        memcpy(row.bytes + offset, value, byte_count);
}

void core_put_u32(struct core_new_row row, size_t offset, uint32_t value)
{
    put(row, offset, &value, sizeof value);
}

void core_put_u64(struct core_new_row row, size_t offset, uint64_t value)
{
    put(row, offset, &value, sizeof value);
}

struct wsdbg_error *core_out_end_rows(struct core_out *out, enum core_section_kind kind, const char *name,
                                      struct core_place owner, const struct core_rows *rows, uint32_t *number)
{
    const struct core_section section = {.kind = kind,
                                         .name = name,
                                         .owner = owner,
                                         .bytes = rows->bytes,
                                         .byte_count = rows->row_bytes * rows->row_count,
                                         .row_bytes = rows->row_bytes};
    return core_out_section(out, &section, number);
}

static struct wsdbg_error *begin(struct core_out *out)
{
    uint64_t empty;
    out->names.stream = open_memstream(&out->names.bytes, &out->names.byte_count);
    out->strings.stream = open_memstream(&out->strings.bytes, &out->strings.byte_count);
    if (!out->path || !out->names.stream || !out->strings.stream)
        return &wsdbg_error_no_memory;
    wsdbg_file_limit_is_an_error();
    out->fd = open(out->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out->fd < 0)
        return wsdbg_error_os(errno, "write %s", out->path);
    elf_version(EV_CURRENT);
    out->elf = elf_begin(out->fd, ELF_C_WRITE, NULL);
    if (!out->elf || !gelf_newehdr(out->elf, ELFCLASS64))
        return elf_failed(out);
    struct wsdbg_error *error = add_text(&out->names, "", &empty);
    return error ? error : add_text(&out->strings, "", &empty);
}

static struct wsdbg_error *add_texts(struct core_out *out, size_t *names)
{
    uint32_t number;
    const GElf_Shdr header = {.sh_type = SHT_STRTAB};
    if (fflush(out->strings.stream) != 0)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error =
        add_section(out, ".strtab", header, out->strings.bytes, out->strings.byte_count, &number);
    if (!error)
        error = add_section(out, ".shstrtab", header, NULL, 0, &number);
    if (error)
        return error;
    if (fflush(out->names.stream) != 0)
        return &wsdbg_error_no_memory;
    Elf_Data *data = elf_getdata(elf_getscn(out->elf, number), NULL); /* its own name is among them */
    if (!data)
        return elf_failed(out);
    data->d_buf = out->names.bytes;
    data->d_size = out->names.byte_count;
    *names = number;
    return NULL;
}

static struct wsdbg_error *write_header(struct core_out *out, size_t names)
{
    GElf_Ehdr header;
    GElf_Shdr first;
    Elf_Scn *const zeroth = elf_getscn(out->elf, 0);
    if (!gelf_getehdr(out->elf, &header) || !zeroth || !gelf_getshdr(zeroth, &first))
        return elf_failed(out);
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_OSABI] = CORE_OS_ABI;
    header.e_ident[EI_ABIVERSION] = CORE_ABI_VERSION;
    header.e_type = ET_CORE;
    header.e_machine = CORE_MACHINE;
    header.e_version = EV_CURRENT;
    header.e_shstrndx = names < SHN_LORESERVE ? (GElf_Half)names : SHN_XINDEX;
    if (names >= SHN_LORESERVE)
        first.sh_link = (GElf_Word)names;
    if (!gelf_update_ehdr(out->elf, &header) || !gelf_update_shdr(zeroth, &first) ||
        elf_update(out->elf, ELF_C_WRITE) < 0)
        return elf_failed(out);
    return NULL;
}

static void free_out(struct core_out *out)
{
    elf_end(out->elf);
    if (out->fd >= 0)
        close(out->fd);
    if (out->names.stream)
        fclose(out->names.stream);
    if (out->strings.stream)
        fclose(out->strings.stream);
    free(out->names.bytes);
    free(out->strings.bytes);
    while (out->blocks) {
        struct block *block = out->blocks;
        out->blocks = block->next;
        free(block);
    }
    free(out->path);
    free(out);
}

struct wsdbg_error *core_out_close(struct core_out *out, struct wsdbg_error *error)
{
    size_t names = 0;
    if (!error)
        error = add_texts(out, &names);
    if (!error)
        error = write_header(out, names);
    if (error && out->fd >= 0)
        unlink(out->path);
    free_out(out);
    return error;
}

struct wsdbg_error *core_out_open(const char *path, struct core_out **out)
{
    struct core_out *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return &wsdbg_error_no_memory;
    fresh->fd = -1;
    fresh->path = strdup(path);
    struct wsdbg_error *error = begin(fresh);
    if (error)
        return core_out_close(fresh, error);
    *out = fresh;
    return NULL;
}
