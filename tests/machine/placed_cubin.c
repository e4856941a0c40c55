/* placed_cubin.c - see placed_cubin.h.  Reads a file.  Writes addresses into sections, symbols and calls. */
#include "placed_cubin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { IMAGE_MOST = 4 << 20 };
#define CODE_AT UINT64_C(0x7f1200000000)

static Elf64_Shdr *sections_of(char *bytes)
{
    return (Elf64_Shdr *)(bytes + ((const Elf64_Ehdr *)bytes)->e_shoff);
}

static void place_functions(char *bytes)
{
    Elf64_Shdr *sections = sections_of(bytes);
    const unsigned count = ((const Elf64_Ehdr *)bytes)->e_shnum;
    for (unsigned i = 0; i < count; i++)
        if (sections[i].sh_flags & SHF_EXECINSTR)
            sections[i].sh_addr = CODE_AT + ((uint64_t)i << 16);
    for (unsigned i = 0; i < count; i++) {
        Elf64_Sym *symbols = (Elf64_Sym *)(bytes + sections[i].sh_offset);
        const size_t symbol_count = sections[i].sh_type == SHT_SYMTAB ? sections[i].sh_size / sizeof *symbols : 0;
        for (size_t s = 0; s < symbol_count; s++)
            if (symbols[s].st_shndx < count && sections[symbols[s].st_shndx].sh_flags & SHF_EXECINSTR)
                symbols[s].st_value += sections[symbols[s].st_shndx].sh_addr;
    }
}

static bool has_variables(const Elf64_Ehdr *header, const Elf64_Shdr *section)
{
    static const char name[] = ".nv.global";
    const char *bytes = (const char *)header;
    const Elf64_Shdr *names = (const Elf64_Shdr *)(bytes + header->e_shoff) + header->e_shstrndx;
    return strncmp(bytes + names->sh_offset + section->sh_name, name, sizeof name - 1) == 0;
}

static void place_variables(char *bytes)
{
    Elf64_Shdr *sections = sections_of(bytes);
    const unsigned count = ((const Elf64_Ehdr *)bytes)->e_shnum;
    for (unsigned i = 0; i < count; i++) {
        Elf64_Sym *symbols = (Elf64_Sym *)(bytes + sections[i].sh_offset);
        const size_t symbol_count = sections[i].sh_type == SHT_SYMTAB ? sections[i].sh_size / sizeof *symbols : 0;
        for (size_t s = 0; s < symbol_count; s++)
            if (symbols[s].st_shndx < count && has_variables((const Elf64_Ehdr *)bytes, &sections[symbols[s].st_shndx]))
                symbols[s].st_value += PLACED_VARIABLES_AT;
    }
}

/* CALL.ABS: the address in steps of 4 bytes, its low 8 bits at 16, the others at 34. */
static void place_call(uint64_t words[2], uint64_t address)
{
    enum { OPCODE = 0x943, OPCODES = 0xfff };
    const uint64_t steps = address / 4, high = steps >> 8;
    if ((words[0] & OPCODES) != OPCODE)
        return;
    words[0] |= (steps & 0xff) << 16 | high << 34;
    words[1] |= high >> 30;
}

static void place_calls(char *bytes)
{
    Elf64_Shdr *sections = sections_of(bytes);
    for (unsigned i = 0; i < ((const Elf64_Ehdr *)bytes)->e_shnum; i++) {
        const bool has_addends = sections[i].sh_type == SHT_RELA;
        const size_t entry_bytes = has_addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        if ((!has_addends && sections[i].sh_type != SHT_REL) ||
            !(sections[sections[i].sh_info].sh_flags & SHF_EXECINSTR))
            continue;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(bytes + sections[sections[i].sh_link].sh_offset);
        for (size_t r = 0; r < sections[i].sh_size / entry_bytes; r++) {
            const Elf64_Rel *row = (const Elf64_Rel *)(bytes + sections[i].sh_offset + r * entry_bytes);
            char *at = bytes + sections[sections[i].sh_info].sh_offset + row->r_offset;
            place_call((uint64_t *)at, symbols[ELF64_R_SYM(row->r_info)].st_value);
        }
    }
}

struct wsdbg_image placed_cubin_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(IMAGE_MOST);
    assert_non_null(bytes);
    const size_t byte_count = fread(bytes, 1, IMAGE_MOST, file);
    fclose(file);
    place_functions(bytes);
    place_variables(bytes);
    place_calls(bytes);
    return (struct wsdbg_image){(const unsigned char *)bytes, byte_count};
}
