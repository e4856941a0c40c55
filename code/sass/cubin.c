/* cubin.c - see cubin.h.  Reads the bytes given through libelf, which checks that sections lie within the file; what
 * lies within a section is checked here.  Writes memory of its own. */
#include "sass/cubin_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA 190
#define ABI_VERSION 8        /* of CUDA 13 */
#define ABI_VERSION_BEFORE 7 /* of CUDA 12: the architecture lies in the flags' first byte */
#define ARCHITECTURE_BYTE 8  /* the shift of the architecture in the header's flags */
#define SYMBOL_KERNEL 0x10   /* in st_other */

struct wsdbg_error *cubin_damaged(const char *reason)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the cubin is damaged: %s", reason);
}

static unsigned architecture_of(unsigned abi_version, uint32_t flags)
{
    return flags >> (abi_version == ABI_VERSION ? ARCHITECTURE_BYTE : 0) & 0xff;
}

bool wsdbg_cubin_architecture(const struct wsdbg_image *image, uint32_t *architecture)
{
    Elf64_Ehdr header;
    if (image->byte_count < sizeof header)
        return false;
    memcpy(&header, image->bytes, sizeof header);
    const unsigned version = header.e_ident[EI_ABIVERSION];
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != MACHINE_CUDA ||
        (version != ABI_VERSION && version != ABI_VERSION_BEFORE))
        return false;
    *architecture = architecture_of(version, header.e_flags);
    return true;
}

static struct wsdbg_error *check_header(Elf *elf)
{
    GElf_Ehdr header;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != MACHINE_CUDA)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "not a cubin");
    const unsigned version = header.e_ident[EI_ABIVERSION];
    if (version != ABI_VERSION && version != ABI_VERSION_BEFORE)
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "a cubin of ABI version %u, only %d and %d are read", version,
                                  ABI_VERSION_BEFORE, ABI_VERSION);
    return NULL;
}

bool cubin_contents(Elf_Scn *section, struct wsdbg_image *out)
{
    const Elf_Data *data = elf_rawdata(section, NULL);
    if (!data || !data->d_buf)
        return false;
    *out = (struct wsdbg_image){data->d_buf, data->d_size};
    return true;
}

/* In an image that the driver relocated, a section and its symbols have the GPU's addresses.  Where a function was
 * loaded later than the image (lazy loading) its symbols alone have them: the one that the section is named after lies
 * at the section's start.  0 = nobody has loaded it. */
static uint64_t address_of_section(const GElf_Shdr *header, size_t number, size_t byte_count, Elf_Data *symbols)
{
    GElf_Sym first;
    if (header->sh_addr)
        return header->sh_addr;
    const bool came_later = gelf_getsym(symbols, (int)(header->sh_info & SYMBOL_BITS), &first) &&
                            first.st_shndx == number && first.st_value >= byte_count &&
                            first.st_value <= UINT64_MAX - byte_count;
    return came_later ? first.st_value : 0;
}

static struct wsdbg_error *read_function(struct wsdbg_cubin *cubin, Elf_Data *symbols, const GElf_Sym *symbol,
                                         const char *name, struct wsdbg_cubin_function *out)
{
    Elf_Scn *section = elf_getscn(cubin->elf, symbol->st_shndx);
    struct wsdbg_image text;
    if (!name)
        return cubin_damaged("a function whose name lies outside the names");
    GElf_Shdr header;
    if (!section || !gelf_getshdr(section, &header) || !cubin_contents(section, &text))
        return cubin_damaged("a function without code");
    const uint64_t address = address_of_section(&header, symbol->st_shndx, text.byte_count, symbols);
    const uint64_t offset = symbol->st_value - address;
    if (offset > text.byte_count || symbol->st_size > text.byte_count - offset)
        return cubin_damaged("a function that reaches beyond its section");
    if (offset % WSDBG_INSTRUCTION_BYTES || symbol->st_size % WSDBG_INSTRUCTION_BYTES)
        return cubin_damaged("a function of broken instructions");
    *out = (struct wsdbg_cubin_function){
        .name = name,
        .code = {text.bytes + offset, symbol->st_size},
        .section = symbol->st_shndx,
        .offset_bytes = offset,
        .address = address ? symbol->st_value : 0,
        .is_kernel = (symbol->st_other & SYMBOL_KERNEL) != 0,
        .registers = WSDBG_UNKNOWN_COUNT,
        .registers_most = WSDBG_UNKNOWN_COUNT,
        .stack_bytes = WSDBG_UNKNOWN_COUNT,
        .named_barriers = WSDBG_UNKNOWN_COUNT,
        .mbarriers = WSDBG_UNKNOWN_COUNT,
    };
    return NULL;
}

static struct wsdbg_error *read_symbols(struct wsdbg_cubin *cubin, Elf_Scn *section, size_t names)
{
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
    if (!count)
        return NULL;
    cubin->functions = calloc(count, sizeof *cubin->functions);
    if (!cubin->functions)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return cubin_damaged("its symbols cannot be read");
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
            continue;
        struct cubin_function *function = &cubin->functions[cubin->function_count];
        struct wsdbg_error *error =
            read_function(cubin, data, &symbol, elf_strptr(cubin->elf, names, symbol.st_name), &function->shown);
        if (error)
            return error;
        function->symbol = i;
        cubin->function_count++;
    }
    return NULL;
}

static struct wsdbg_error *read_functions(struct wsdbg_cubin *cubin)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(cubin->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            return read_symbols(cubin, section, header.sh_link);
    return cubin_damaged("no symbols");
}

int cubin_by_symbol(const void *key, const void *element)
{
    const size_t symbol = *(const size_t *)key, other = ((const struct cubin_function *)element)->symbol;
    return (symbol > other) - (symbol < other);
}

static struct wsdbg_error *read_names(struct wsdbg_cubin *cubin)
{
    struct wsdbg_error *error = check_header(cubin->elf);
    if (error)
        return error;
    if (elf_getshdrstrndx(cubin->elf, &cubin->section_names) != 0)
        return cubin_damaged("its sections have no names");
    return read_functions(cubin);
}

struct wsdbg_error *wsdbg_cubin_open_names(const struct wsdbg_image *image, struct wsdbg_cubin **out)
{
    if (image->byte_count < SELFMAG || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "not a cubin");
    struct wsdbg_cubin *cubin = calloc(1, sizeof *cubin);
    if (!cubin)
        return &wsdbg_error_no_memory;
    elf_version(EV_CURRENT);
    /* libelf asks for bytes it may write, and writes none of a file that is only read. */
    cubin->elf = elf_memory((char *)(uintptr_t)image->bytes, image->byte_count);
    struct wsdbg_error *error = cubin->elf ? read_names(cubin) : cubin_damaged("its header cannot be read");
    if (error) {
        wsdbg_cubin_close(cubin);
        return error;
    }
    *out = cubin;
    return NULL;
}

struct wsdbg_error *wsdbg_cubin_open(const struct wsdbg_image *image, struct wsdbg_cubin **out)
{
    struct wsdbg_cubin *cubin;
    uint32_t architecture = 0;
    struct wsdbg_error *error = wsdbg_cubin_open_names(image, &cubin);
    if (error)
        return error;
    error = wsdbg_cubin_architecture(image, &architecture) && architecture == WSDBG_SASS_ARCHITECTURE
                ? cubin_read_notes(cubin)
                : wsdbg_error_create(WSDBG_ERROR_VERSION, "a cubin for sm_%u, only sm_%d is read", architecture,
                                     WSDBG_SASS_ARCHITECTURE);
    if (!error)
        error = cubin_read_relocations(cubin);
    if (error) {
        wsdbg_cubin_close(cubin);
        return error;
    }
    *out = cubin;
    return NULL;
}

void wsdbg_cubin_close(struct wsdbg_cubin *cubin)
{
    if (!cubin)
        return;
    elf_end(cubin->elf);
    free(cubin->functions);
    free(cubin->numbers);
    free(cubin);
}

struct wsdbg_error *wsdbg_cubin_of_image(const struct wsdbg_image *image, size_t most, char **out, size_t *byte_count)
{
    struct wsdbg_fatbin_entry entry = {
        .packing = WSDBG_FATBIN_PLAIN, .stored = *image, .plain_bytes = image->byte_count};
    if (wsdbg_fatbin_is(image)) {
        bool found;
        struct wsdbg_error *error =
            wsdbg_fatbin_pick(image, WSDBG_FATBIN_CUBIN, WSDBG_SASS_ARCHITECTURE, &entry, &found);
        if (error)
            return error;
        if (!found)
            return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "the module holds no cubin for sm_90");
    }
    return wsdbg_error_prefix(wsdbg_fatbin_unpack(&entry, most, out, byte_count), "the cubin of the module");
}

size_t wsdbg_cubin_function_count(const struct wsdbg_cubin *cubin)
{
    return cubin->function_count;
}

const struct wsdbg_cubin_function *wsdbg_cubin_function(const struct wsdbg_cubin *cubin, size_t number)
{
    return &cubin->functions[number].shown;
}
