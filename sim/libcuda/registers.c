/* registers.c - see registers.h.
 *
 * Reads ELF by hand and not by the tracer's reader of cubins, since libelf's archive cannot be linked into a shared
 * library.  The count is an attribute of the section .nv.info: a symbol's number and the count.  The code of a function
 * is in the section .text.NAME, in instructions of 16 bytes, whose low 12 bits are the operation.
 */
#include "libcuda/registers.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

enum { FORMAT_SIZED = 4, ATTRIBUTE_REGISTERS = 0x2f, REGISTERS_MOST = 256 };
enum { INSTRUCTION_BYTES = 16, OPERATION_MASK = 0xfff, OPERATION_USETMAXREG = 0x9c8 };

static const char code_prefix[] = ".text.";

struct bytes {
    const unsigned char *first;
    size_t count;
};

struct attribute_header {
    uint8_t format, attribute;
    uint16_t size_or_value;
};

static bool part(struct bytes whole, uint64_t offset, uint64_t count, struct bytes *out)
{
    if (offset > whole.count || count > whole.count - offset)
        return false;
    *out = (struct bytes){whole.first + offset, (size_t)count};
    return true;
}

static bool read_at(struct bytes from, uint64_t offset, void *out, size_t count)
{
    struct bytes place;
    if (!part(from, offset, count, &place))
        return false;
    memcpy(out, place.first, count);
    return true;
}

/* A string that ends within the bytes; NULL when it does not. */
static const char *text_at(struct bytes strings, uint64_t offset)
{
    struct bytes rest;
    if (offset >= strings.count || !part(strings, offset, strings.count - offset, &rest))
        return NULL;
    return memchr(rest.first, 0, rest.count) ? (const char *)rest.first : NULL;
}

static bool section_at(struct bytes cubin, const Elf64_Ehdr *header, unsigned number, Elf64_Shdr *out,
                       struct bytes *contents)
{
    *contents = (struct bytes){NULL, 0};
    if (!read_at(cubin, header->e_shoff + (uint64_t)number * sizeof *out, out, sizeof *out))
        return false;
    return out->sh_type == SHT_NOBITS || part(cubin, out->sh_offset, out->sh_size, contents);
}

struct symbols {
    struct bytes rows, names;
};

static bool find_symbols(struct bytes cubin, const Elf64_Ehdr *header, struct symbols *out)
{
    Elf64_Shdr section, names;
    for (unsigned i = 0; i < header->e_shnum; i++)
        if (section_at(cubin, header, i, &section, &out->rows) && section.sh_type == SHT_SYMTAB)
            return section_at(cubin, header, section.sh_link, &names, &out->names);
    return false;
}

static const char *symbol_name(const struct symbols *symbols, uint32_t number)
{
    Elf64_Sym symbol;
    return read_at(symbols->rows, (uint64_t)number * sizeof symbol, &symbol, sizeof symbol)
               ? text_at(symbols->names, symbol.st_name)
               : NULL;
}

static void read_attributes(struct bytes from, const struct symbols *symbols, const struct registers_taker *taker)
{
    struct attribute_header header;
    for (size_t at = 0; read_at(from, at, &header, sizeof header);) {
        uint32_t words[2];
        at += sizeof header;
        if (header.format != FORMAT_SIZED)
            continue;
        if (header.attribute == ATTRIBUTE_REGISTERS && read_at(from, at, words, sizeof words)) {
            const char *name = symbol_name(symbols, words[0]);
            if (name && words[1] && words[1] <= REGISTERS_MOST)
                taker->count(taker->user, name, words[1]);
        }
        at += header.size_or_value;
    }
}

static bool sets_registers(struct bytes code)
{
    uint64_t word;
    for (size_t at = 0; read_at(code, at, &word, sizeof word); at += INSTRUCTION_BYTES)
        if ((word & OPERATION_MASK) == OPERATION_USETMAXREG)
            return true;
    return false;
}

void registers_read(const unsigned char *cubin, size_t byte_count, const struct registers_taker *taker)
{
    const struct bytes whole = {cubin, byte_count};
    struct bytes names, contents;
    struct symbols symbols;
    Elf64_Ehdr header;
    Elf64_Shdr section;
    if (!read_at(whole, 0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_shentsize != sizeof section || !find_symbols(whole, &header, &symbols) ||
        !section_at(whole, &header, header.e_shstrndx, &section, &names))
        return;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        const char *name = section_at(whole, &header, i, &section, &contents) ? text_at(names, section.sh_name) : NULL;
        if (name && strcmp(name, ".nv.info") == 0)
            read_attributes(contents, &symbols, taker);
        else if (name && strncmp(name, code_prefix, sizeof code_prefix - 1) == 0)
            taker->code(taker->user, name + sizeof code_prefix - 1, sets_registers(contents));
    }
}
