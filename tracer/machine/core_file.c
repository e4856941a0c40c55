/* core_file.c - see core_file.h.  Reads one file, through libelf where that knows more than a row of bytes.
 *
 * A dump of a whole chip has a hundred thousand sections: they are put in order once, and found by halving. */
#include "machine/core_file.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "machine/core_unpack.h"

#define LOADED_BYTES_MAX ((uint64_t)512 << 20)

struct core_file {
    char *path;
    int fd;
    uint64_t byte_count;
    Elf *elf;
    size_t section_names, strings; /* sections; 0 = none */
    uint64_t section_names_bytes;
    uint64_t loaded_bytes;
    struct core_section *sections;
    size_t section_count;
};

static struct wsdbg_error *bad(const struct core_file *file, uint64_t offset, const char *reason)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: offset %" PRIu64 ": %s", file->path, offset, reason);
}

struct wsdbg_error *core_file_damaged(const struct core_file *file, const struct core_section *section,
                                      const char *format, ...)
{
    char reason[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: section %u at offset %" PRIu64 ": %s", file->path,
                              section->number, section->offset, reason);
}

const char *core_file_path(const struct core_file *file)
{
    return file->path;
}

static struct wsdbg_error *read_at(const struct core_file *file, uint64_t offset, void *out, size_t count)
{
    unsigned char *next = out;
    while (count) {
        const ssize_t got = pread(file->fd, next, count, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return wsdbg_error_os(errno, "read %s", file->path);
        if (got == 0)
            return bad(file, offset, "truncated while it was read");
        next += got;
        offset += (uint64_t)got;
        count -= (size_t)got;
    }
    return NULL;
}

static struct wsdbg_error *check_kind(const struct core_file *file, const Elf64_Ehdr *header)
{
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return bad(file, 0, "not an ELF file, so no GPU core dump");
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return bad(file, EI_CLASS, "not a little-endian 64-bit ELF file, so no GPU core dump");
    if (header->e_type == ET_CORE && header->e_machine != CORE_MACHINE)
        return bad(file, 18, "a core dump of a host program, not of a GPU");
    if (header->e_type != ET_CORE)
        return bad(file, 16, "an ELF file, but no core dump");
    return NULL;
}

/* libelf makes room for as many sections as the file claims: no more than it has bytes for. */
static struct wsdbg_error *check_section_headers(const struct core_file *file, const Elf64_Ehdr *header)
{
    if (header->e_shoff == 0)
        return bad(file, offsetof(Elf64_Ehdr, e_shoff), "a GPU core dump without sections");
    if (header->e_shentsize != sizeof(Elf64_Shdr))
        return bad(file, offsetof(Elf64_Ehdr, e_shentsize), "section headers of an unknown size");
    uint64_t room = header->e_shoff < file->byte_count ? (file->byte_count - header->e_shoff) / sizeof(Elf64_Shdr) : 0;
    uint64_t count = header->e_shnum;
    if (count == 0 && room) {
        Elf64_Shdr first;
        struct wsdbg_error *error = read_at(file, header->e_shoff, &first, sizeof first);
        if (error)
            return error;
        count = first.sh_size;
    }
    if (room > UINT32_MAX)
        room = UINT32_MAX;
    return count <= room && room ? NULL
                                 : bad(file, file->byte_count, "truncated: its section headers lie beyond its end");
}

static struct wsdbg_error *check_header(const struct core_file *file)
{
    Elf64_Ehdr header = {0};
    const size_t there = file->byte_count < sizeof header ? (size_t)file->byte_count : sizeof header;
    struct wsdbg_error *error = read_at(file, 0, &header, there);
    if (error)
        return error;
    if (there < SELFMAG || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return bad(file, 0, "not an ELF file, so no GPU core dump");
    if (there < sizeof header)
        return bad(file, there, "truncated in the ELF header");
    error = check_kind(file, &header);
    return error ? error : check_section_headers(file, &header);
}

/* libelf loads names whole. */
static struct wsdbg_error *count_loaded(struct core_file *file, const struct core_section *section)
{
    if (section->byte_count > LOADED_BYTES_MAX - file->loaded_bytes)
        return core_file_damaged(file, section, "with it, tables and images take more than 512 MiB");
    file->loaded_bytes += section->byte_count;
    return NULL;
}

/* Memory that its address alone tells apart belongs to nobody, whether or not the file names a device. */
static struct core_section section_of(const GElf_Shdr *header, size_t number)
{
    const uint32_t kind = header->sh_type - CORE_SECTION_BASE;
    const bool owned = kind != CORE_GLOBAL && kind != CORE_MANAGED;
    return (struct core_section){.kind = kind,
                                 .table = owned ? header->sh_link : 0,
                                 .row = owned ? header->sh_info : 0,
                                 .number = (uint32_t)number,
                                 .address = header->sh_addr,
                                 .offset = header->sh_offset,
                                 .byte_count = header->sh_size,
                                 .row_bytes = header->sh_entsize};
}

static struct wsdbg_error *check_extent(const struct core_file *file, const struct core_section *section)
{
    if (section->byte_count &&
        (section->offset > file->byte_count || section->byte_count > file->byte_count - section->offset))
        return core_file_damaged(file, section,
                                 "%" PRIu64 " bytes reach beyond the file's end at %" PRIu64 ": truncated?",
                                 section->byte_count, file->byte_count);
    return NULL;
}

static struct wsdbg_error *find_names(struct core_file *file)
{
    GElf_Shdr header;
    size_t number;
    Elf_Scn *names = elf_getshdrstrndx(file->elf, &number) == 0 ? elf_getscn(file->elf, number) : NULL;
    if (!names || number == 0)
        return NULL; /* only .strtab is found by its name, and a dump can be read without */
    if (!gelf_getshdr(names, &header))
        return bad(file, file->byte_count, "the header of its section names cannot be read");
    if (header.sh_type != SHT_STRTAB)
        return NULL;
    const struct core_section section = section_of(&header, number);
    struct wsdbg_error *error = check_extent(file, &section);
    if (!error)
        error = count_loaded(file, &section);
    if (!error) {
        file->section_names = number;
        file->section_names_bytes = header.sh_size;
    }
    return error;
}

static struct wsdbg_error *note_strings(struct core_file *file, const struct core_section *section, size_t name)
{
    const char *words = file->section_names ? elf_strptr(file->elf, file->section_names, name) : NULL;
    if (!words && name < file->section_names_bytes)
        return bad(file, file->byte_count, "its section names cannot be read");
    if (file->strings || !words || strcmp(words, ".strtab") != 0)
        return NULL;
    struct wsdbg_error *error = check_extent(file, section);
    if (!error)
        error = count_loaded(file, section);
    if (!error && section->byte_count && !elf_rawdata(elf_getscn(file->elf, section->number), NULL))
        error = core_file_damaged(file, section, "its texts cannot be read");
    if (!error)
        file->strings = section->number;
    return error;
}

static struct wsdbg_error *collect_sections(struct core_file *file)
{
    Elf_Scn *next = NULL;
    while ((next = elf_nextscn(file->elf, next))) {
        GElf_Shdr header;
        if (!gelf_getshdr(next, &header))
            return bad(file, file->byte_count, "its section headers cannot be read");
        const struct core_section section = section_of(&header, elf_ndxscn(next));
        struct wsdbg_error *error = NULL;
        if (header.sh_type == SHT_STRTAB)
            error = note_strings(file, &section, header.sh_name);
        else if (header.sh_type > CORE_SECTION_BASE && section.kind < CORE_SECTION_KINDS) {
            error = check_extent(file, &section);
            file->sections[file->section_count++] = section;
        }
        if (error)
            return error;
    }
    return NULL;
}

static int order(const void *a, const void *b)
{
    const struct core_section *one = a, *other = b;
    const uint64_t mine[] = {one->kind, one->table, one->row, one->address, one->number};
    const uint64_t theirs[] = {other->kind, other->table, other->row, other->address, other->number};
    size_t i = 0;
    while (i < 4 && mine[i] == theirs[i])
        i++;
    return (mine[i] > theirs[i]) - (mine[i] < theirs[i]);
}

static struct wsdbg_error *index_sections(struct core_file *file)
{
    size_t count;
    elf_version(EV_CURRENT);
    file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
    if (!file->elf || elf_getshdrnum(file->elf, &count) != 0)
        return bad(file, 0, "its section headers cannot be read");
    file->sections = calloc(count + 1, sizeof *file->sections);
    if (!file->sections)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = find_names(file);
    if (!error)
        error = collect_sections(file);
    if (error)
        return error;
    qsort(file->sections, file->section_count, sizeof *file->sections, order);
    return NULL;
}

static struct wsdbg_error *open_file(struct core_file *file)
{
    if (!file->path)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = core_unpack(file->path, &file->fd, &file->byte_count);
    if (!error)
        error = check_header(file);
    return error ? error : index_sections(file);
}

struct wsdbg_error *core_file_open(const char *path, struct core_file **out)
{
    struct core_file *file = calloc(1, sizeof *file);
    if (!file)
        return &wsdbg_error_no_memory;
    file->fd = -1;
    file->path = strdup(path);
    struct wsdbg_error *error = open_file(file);
    if (error) {
        core_file_close(file);
        return error;
    }
    *out = file;
    return NULL;
}

void core_file_close(struct core_file *file)
{
    if (!file)
        return;
    elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    free(file->sections);
    free(file->path);
    free(file);
}

/* The first section that is not ordered before the owner; `past`: before the next owner. */
static size_t boundary(const struct core_file *file, const uint64_t owner[3], bool past)
{
    size_t low = 0, high = file->section_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct core_section *section = &file->sections[middle];
        const uint64_t key[] = {section->kind, section->table, section->row};
        size_t i = 0;
        while (i < 2 && key[i] == owner[i])
            i++;
        if (key[i] < owner[i] || (past && key[i] == owner[i]))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct core_section *between(const struct core_file *file, size_t first, size_t end, size_t *count)
{
    *count = end - first;
    return file->sections + first;
}

const struct core_section *core_file_sections(const struct core_file *file, enum core_section_kind kind, size_t *count)
{
    const uint64_t first[] = {kind, 0, 0}, last[] = {kind, UINT32_MAX, UINT32_MAX};
    return between(file, boundary(file, first, false), boundary(file, last, true), count);
}

const struct core_section *core_file_sections_of(const struct core_file *file, enum core_section_kind kind,
                                                 uint32_t table, uint32_t row, size_t *count)
{
    const uint64_t owner[] = {kind, table, row};
    return between(file, boundary(file, owner, false), boundary(file, owner, true), count);
}

struct wsdbg_error *core_file_contents(struct core_file *file, const struct core_section *section,
                                       struct wsdbg_image *out)
{
    *out = (struct wsdbg_image){NULL, 0};
    if (!section->byte_count)
        return NULL;
    struct wsdbg_error *error = count_loaded(file, section);
    if (error)
        return error;
    const Elf_Data *data = elf_rawdata(elf_getscn(file->elf, section->number), NULL);
    if (!data || !data->d_buf || data->d_size != section->byte_count)
        return core_file_damaged(file, section, "cannot be read");
    *out = (struct wsdbg_image){data->d_buf, data->d_size};
    return NULL;
}

struct wsdbg_error *core_file_table(struct core_file *file, const struct core_section *section, size_t least_row_bytes,
                                    struct core_table *out)
{
    if (section->row_bytes < least_row_bytes)
        return core_file_damaged(file, section, "rows of %" PRIu64 " bytes, at least %zu are needed",
                                 section->row_bytes, least_row_bytes);
    if (section->byte_count % section->row_bytes)
        return core_file_damaged(file, section, "ends within a row");
    struct wsdbg_image contents;
    struct wsdbg_error *error = core_file_contents(file, section, &contents);
    if (error)
        return error;
    *out = (struct core_table){.bytes = contents.bytes,
                               .row_bytes = (size_t)section->row_bytes,
                               .row_count = contents.byte_count / (size_t)section->row_bytes,
                               .number = section->number};
    return NULL;
}

struct wsdbg_error *core_file_read(const struct core_file *file, const struct core_section *section, uint64_t start,
                                   void *out, size_t count)
{
    return read_at(file, section->offset + start, out, count);
}

const char *core_file_string(const struct core_file *file, uint64_t offset)
{
    return file->strings && offset <= SIZE_MAX ? elf_strptr(file->elf, file->strings, (size_t)offset) : NULL;
}
