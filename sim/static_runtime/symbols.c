/* symbols.c - see symbols.h.  A file may be damaged: no offset or length in it is believed. */
#include "static_runtime/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __x86_64__
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

static const char device_code_section[] = ".nv_fatbin";

static bool is_within(const struct symbols_file *file, uint64_t offset, uint64_t byte_count)
{
    return offset <= file->byte_count && byte_count <= file->byte_count - offset;
}

static const Elf64_Ehdr *header_of(const struct symbols_file *file)
{
    return (const Elf64_Ehdr *)file->bytes;
}

/* Section `number`, NULL where it does not lie within the file. */
static const Elf64_Shdr *section(const struct symbols_file *file, size_t number)
{
    const Elf64_Ehdr *header = header_of(file);
    const uint64_t offset = header->e_shoff + number * sizeof(Elf64_Shdr);
    const bool fits = number < header->e_shnum && header->e_shoff <= file->byte_count && header->e_shoff % 8 == 0 &&
                      is_within(file, offset, sizeof(Elf64_Shdr));
    return fits ? (const Elf64_Shdr *)(file->bytes + offset) : NULL;
}

/* The text at `offset` of the string section; NULL where it does not end within. */
static const char *text_at(const struct symbols_file *file, const Elf64_Shdr *strings, uint64_t offset)
{
    if (!strings || strings->sh_type != SHT_STRTAB || !is_within(file, strings->sh_offset, strings->sh_size) ||
        offset >= strings->sh_size)
        return NULL;
    const char *text = (const char *)file->bytes + strings->sh_offset + offset;
    return memchr(text, '\0', strings->sh_size - offset) ? text : NULL;
}

static const Elf64_Shdr *table_of(const struct symbols_file *file, uint32_t type)
{
    for (size_t i = 0; i < header_of(file)->e_shnum; i++) {
        const Elf64_Shdr *row = section(file, i);
        if (row && row->sh_type == type && row->sh_entsize == sizeof(Elf64_Sym) && row->sh_offset % 8 == 0 &&
            is_within(file, row->sh_offset, row->sh_size))
            return row;
    }
    return NULL;
}

static bool find_device_code(const struct symbols_file *file)
{
    const Elf64_Shdr *names = section(file, header_of(file)->e_shstrndx);
    for (size_t i = 0; i < header_of(file)->e_shnum; i++) {
        const Elf64_Shdr *row = section(file, i);
        const char *name = row ? text_at(file, names, row->sh_name) : NULL;
        if (name && strcmp(name, device_code_section) == 0)
            return true;
    }
    return false;
}

static bool is_readable(const struct symbols_file *file)
{
    const Elf64_Ehdr *header = header_of(file);
    return file->byte_count >= sizeof *header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_machine == MACHINE && header->e_shentsize == sizeof(Elf64_Shdr);
}

bool symbols_open(const char *path, struct symbols_file *out)
{
    struct stat status;
    *out = (struct symbols_file){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED)
            *out = (struct symbols_file){.bytes = bytes, .byte_count = (size_t)status.st_size};
    }
    close(fd);
    if (out->bytes && is_readable(out)) {
        out->has_device_code = find_device_code(out);
        out->has_names = table_of(out, SHT_SYMTAB) != NULL;
        return true;
    }
    symbols_close(out);
    return false;
}

void symbols_close(struct symbols_file *file)
{
    if (file->bytes)
        munmap((void *)(uintptr_t)file->bytes, file->byte_count);
    *file = (struct symbols_file){0};
}

bool symbols_text(const struct symbols_file *file, struct symbols_text *out)
{
    const Elf64_Ehdr *header = header_of(file);
    *out = (struct symbols_text){0};
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff % 8 != 0 ||
        !is_within(file, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr)))
        return false;
    const Elf64_Phdr *rows = (const Elf64_Phdr *)(file->bytes + header->e_phoff);
    for (size_t i = 0; i < header->e_phnum; i++)
        if (rows[i].p_type == PT_LOAD && rows[i].p_flags & PF_X && rows[i].p_filesz > out->byte_count &&
            is_within(file, rows[i].p_offset, rows[i].p_filesz))
            *out = (struct symbols_text){.bytes = file->bytes + rows[i].p_offset,
                                         .address = rows[i].p_vaddr,
                                         .byte_count = rows[i].p_filesz,
                                         .protection = PROT_EXEC | (rows[i].p_flags & PF_R ? PROT_READ : 0) |
                                                       (rows[i].p_flags & PF_W ? PROT_WRITE : 0)};
    return out->byte_count > 0;
}

bool symbols_asks_for(const struct symbols_file *file, const char *name)
{
    const Elf64_Shdr *table = table_of(file, SHT_DYNSYM);
    const Elf64_Shdr *strings = table ? section(file, table->sh_link) : NULL;
    const Elf64_Sym *rows = table ? (const Elf64_Sym *)(file->bytes + table->sh_offset) : NULL;
    for (size_t i = 0; table && i < table->sh_size / sizeof *rows; i++) {
        const char *text = rows[i].st_shndx == SHN_UNDEF ? text_at(file, strings, rows[i].st_name) : NULL;
        if (text && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

void symbols_each(const struct symbols_file *file, bool (*take)(const struct symbols_function *function, void *user),
                  void *user)
{
    const Elf64_Shdr *table = table_of(file, SHT_SYMTAB);
    if (!table)
        table = table_of(file, SHT_DYNSYM);
    if (!table)
        return;
    const Elf64_Shdr *strings = section(file, table->sh_link);
    const Elf64_Sym *rows = (const Elf64_Sym *)(file->bytes + table->sh_offset);
    for (size_t i = 0; i < table->sh_size / sizeof *rows; i++) {
        if (ELF64_ST_TYPE(rows[i].st_info) != STT_FUNC || rows[i].st_shndx == SHN_UNDEF)
            continue;
        const struct symbols_function function = {.name = text_at(file, strings, rows[i].st_name),
                                                  .address = rows[i].st_value,
                                                  .byte_count = rows[i].st_size};
        if (function.name && !take(&function, user))
            return;
    }
}
