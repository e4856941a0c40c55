/* cubin_relocations.c - what cubin_addresses.h puts into instructions.  The image that a driver gives to debuggers has
 * zeros where the code has addresses, and says of which symbols they are.
 *
 * Reads: relocations and symbols.  Writes: numbers of functions.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "sass/cubin_parts.h"

/* Of an address the low and the high word, as the immediate number of a MOV.  (Measured on images of driver 580.) */
enum { RELOCATE_LOW = 0x38, RELOCATE_HIGH = 0x39, HIGH_SHIFT = 32 };

struct relocations {
    Elf_Data *rows, *symbols;
    size_t section; /* of the code */
};

static bool opens(struct wsdbg_cubin *cubin, Elf_Scn *section, const GElf_Shdr *header, struct relocations *out)
{
    Elf_Scn *symbols = header->sh_type == SHT_RELA ? elf_getscn(cubin->elf, header->sh_link) : NULL;
    GElf_Shdr code;
    Elf_Scn *of = symbols ? elf_getscn(cubin->elf, header->sh_info) : NULL;
    if (!of || !gelf_getshdr(of, &code) || !(code.sh_flags & SHF_EXECINSTR))
        return false;
    out->rows = elf_getdata(section, NULL);
    out->symbols = elf_getdata(symbols, NULL);
    out->section = header->sh_info;
    return out->rows && out->symbols;
}

/* An address of the GPU has more than 32 bits.  A symbol that has less was not loaded. */
static bool number_of(const struct relocations *relocations, int row, struct cubin_number *out)
{
    GElf_Rela found;
    GElf_Sym symbol;
    if (!gelf_getrela(relocations->rows, row, &found) ||
        !gelf_getsym(relocations->symbols, (int)GELF_R_SYM(found.r_info), &symbol) || symbol.st_shndx == SHN_UNDEF ||
        symbol.st_value <= UINT32_MAX)
        return false;
    const uint64_t address = symbol.st_value + (uint64_t)found.r_addend;
    const uint64_t type = GELF_R_TYPE(found.r_info);
    *out = (struct cubin_number){.section = relocations->section,
                                 .offset_bytes = found.r_offset,
                                 .value = (uint32_t)(type == RELOCATE_HIGH ? address >> HIGH_SHIFT : address)};
    return (type == RELOCATE_LOW || type == RELOCATE_HIGH) && found.r_offset % WSDBG_INSTRUCTION_BYTES == 0;
}

static struct wsdbg_error *read_rows(struct wsdbg_cubin *cubin, const struct relocations *relocations, size_t *capacity)
{
    const size_t count = relocations->rows->d_size / sizeof(Elf64_Rela);
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        struct cubin_number number;
        if (!number_of(relocations, (int)i, &number))
            continue;
        if (!wsdbg_grow((void **)&cubin->numbers, capacity, cubin->number_count + 1, sizeof *cubin->numbers))
            return &wsdbg_error_no_memory;
        cubin->numbers[cubin->number_count++] = number;
    }
    return NULL;
}

struct wsdbg_error *cubin_read_relocations(struct wsdbg_cubin *cubin)
{
    struct wsdbg_error *error = NULL;
    struct relocations relocations;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t capacity = 0;
    while (!error && (section = elf_nextscn(cubin->elf, section)))
        if (gelf_getshdr(section, &header) && opens(cubin, section, &header, &relocations))
            error = read_rows(cubin, &relocations, &capacity);
    if (!error && cubin->number_count)
        qsort(cubin->numbers, cubin->number_count, sizeof *cubin->numbers, cubin_number_by_place);
    for (size_t i = 0; !error && i < cubin->function_count; i++) {
        cubin->functions[i].shown.numbers = cubin->numbers;
        cubin->functions[i].shown.number_count = cubin->functions[i].shown.address ? cubin->number_count : 0;
    }
    return error;
}
