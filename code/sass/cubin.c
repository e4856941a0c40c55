/* cubin.c - see cubin.h.  Reads the bytes given through libelf, which checks that sections lie within the file; what
 * lies within a section is checked here.  Writes memory of its own. */
#include "sass/cubin.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MACHINE_CUDA 190
#define ABI_VERSION 8         /* of CUDA 13 */
#define ABI_VERSION_BEFORE 7  /* of CUDA 12: the architecture lies in the flags' first byte */
#define ARCHITECTURE_BYTE 8   /* the shift of the architecture in the header's flags */
#define SYMBOL_BITS 0xffffffu /* of a code section's sh_info; before, the byte above counted registers */
#define SECTION_INFO 0x70000000u
#define SECTION_COMPATIBILITY 0x70000086u
#define REGISTERS_UNLIMITED 255
#define TOOL_NOTE 0x7d0u   /* a note's type: which tool made the file, and how */
#define SYMBOL_KERNEL 0x10 /* in st_other */

enum attribute_format { FORMAT_NONE = 1, FORMAT_BYTE = 2, FORMAT_HALF = 3, FORMAT_SIZED = 4 };
enum attribute_code {
    THREADS_MOST = 0x05,
    SPECIFIC = 0x09, /* of the compatibility notes: made for this architecture alone */
    THREADS_REQUIRED = 0x10,
    FRAME_BYTES = 0x11,
    REGISTERS_MOST = 0x1b,
    REGISTER_COUNT = 0x2f,
    BRANCH_TARGETS = 0x34,
    MBARRIER_COUNT = 0x38,
    MBARRIER_USES = 0x39,
    CLUSTER = 0x3d,
    NAMED_BARRIER_COUNT = 0x4c,
    RECONFIGURES = 0x54,
};
#define COUNT_IN_LOOP 0xffffu
#define USE_BYTES 16

struct attribute {
    enum attribute_format format;
    enum attribute_code code;
    uint16_t value; /* 0 where sized */
    struct wsdbg_image sized;
};

struct function {
    struct wsdbg_cubin_function shown;
    size_t symbol;
};

struct wsdbg_cubin {
    Elf *elf;
    size_t section_names;       /* the number of the section that holds them */
    struct function *functions; /* ordered by symbol */
    size_t function_count;
    struct wsdbg_image compatibility; /* notes; empty where there are none */
};

static struct wsdbg_error *damaged(const char *reason)
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

/* What the file holds of a section; false where that is nothing or lies outside the file. */
static bool contents(Elf_Scn *section, struct wsdbg_image *out)
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
        return damaged("a function whose name lies outside the names");
    GElf_Shdr header;
    if (!section || !gelf_getshdr(section, &header) || !contents(section, &text))
        return damaged("a function without code");
    const uint64_t address = address_of_section(&header, symbol->st_shndx, text.byte_count, symbols);
    const uint64_t offset = symbol->st_value - address;
    if (offset > text.byte_count || symbol->st_size > text.byte_count - offset)
        return damaged("a function that reaches beyond its section");
    if (offset % WSDBG_INSTRUCTION_BYTES || symbol->st_size % WSDBG_INSTRUCTION_BYTES)
        return damaged("a function of broken instructions");
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
            return damaged("its symbols cannot be read");
        if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
            continue;
        struct function *function = &cubin->functions[cubin->function_count];
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
    return damaged("no symbols");
}

static int by_symbol(const void *key, const void *element)
{
    const size_t symbol = *(const size_t *)key, other = ((const struct function *)element)->symbol;
    return (symbol > other) - (symbol < other);
}

static struct wsdbg_cubin_function *function_of_symbol(const struct wsdbg_cubin *cubin, size_t symbol)
{
    struct function *found = cubin->function_count ? bsearch(&symbol, cubin->functions, cubin->function_count,
                                                             sizeof *cubin->functions, by_symbol)
                                                   : NULL;
    return found ? &found->shown : NULL;
}

/* The function that a section with code is named after. */
static struct wsdbg_cubin_function *function_of_section(const struct wsdbg_cubin *cubin, size_t number)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_getscn(cubin->elf, number);
    return section && gelf_getshdr(section, &header) ? function_of_symbol(cubin, header.sh_info & SYMBOL_BITS) : NULL;
}

static uint32_t u32_at(const unsigned char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Takes one attribute off the front of `rest`; false where what is left is none. */
static bool next_attribute(struct wsdbg_image *rest, struct attribute *out)
{
    const size_t head = 4;
    if (rest->byte_count < head)
        return false;
    const uint32_t word = u32_at(rest->bytes);
    *out = (struct attribute){.format = word & 0xff, .code = word >> 8 & 0xff, .value = (uint16_t)(word >> 16)};
    size_t used = head;
    if (out->format == FORMAT_SIZED) {
        out->sized = (struct wsdbg_image){rest->bytes + head, out->value};
        used += out->value;
        out->value = 0;
    }
    if (out->format < FORMAT_NONE || out->format > FORMAT_SIZED || used > rest->byte_count)
        return false;
    *rest = (struct wsdbg_image){rest->bytes + used, rest->byte_count - used};
    return true;
}

/* What is noted for the whole module names the symbol that it is about. */
static void note_of_module(const struct wsdbg_cubin *cubin, const struct attribute *attribute)
{
    if ((attribute->code != REGISTER_COUNT && attribute->code != FRAME_BYTES) || attribute->sized.byte_count != 8)
        return;
    struct wsdbg_cubin_function *function = function_of_symbol(cubin, u32_at(attribute->sized.bytes));
    const uint32_t value = u32_at(attribute->sized.bytes + 4);
    if (function && attribute->code == REGISTER_COUNT && value <= 256)
        function->registers = (int)value;
    else if (function && attribute->code == FRAME_BYTES && value <= INT32_MAX)
        function->stack_bytes = (int)value;
}

static void note_three(const struct attribute *attribute, uint32_t out[3])
{
    if (attribute->sized.byte_count == 3 * sizeof *out)
        memcpy(out, attribute->sized.bytes, 3 * sizeof *out);
}

static void note_of_function(struct wsdbg_cubin_function *function, const struct attribute *attribute)
{
    const enum attribute_format format = attribute->format;
    if (attribute->code == RECONFIGURES && format == FORMAT_NONE)
        function->reconfigures = true;
    else if (attribute->code == NAMED_BARRIER_COUNT && format == FORMAT_BYTE)
        function->named_barriers = attribute->value;
    else if (attribute->code == MBARRIER_COUNT && format == FORMAT_HALF)
        function->mbarriers = attribute->value == COUNT_IN_LOOP ? WSDBG_UNKNOWN_COUNT : attribute->value;
    else if (attribute->code == REGISTERS_MOST && format == FORMAT_HALF)
        function->registers_most = attribute->value < REGISTERS_UNLIMITED ? attribute->value : WSDBG_UNKNOWN_COUNT;
    else if (attribute->code == THREADS_MOST && format == FORMAT_SIZED)
        note_three(attribute, function->threads_most);
    else if (attribute->code == THREADS_REQUIRED && format == FORMAT_SIZED)
        note_three(attribute, function->threads_required);
    else if (attribute->code == CLUSTER && format == FORMAT_SIZED)
        note_three(attribute, function->cluster);
    else if (attribute->code == BRANCH_TARGETS && format == FORMAT_SIZED) /* of two notes nobody knows which is whole */
        function->branch_records =
            function->branch_records.bytes ? (struct wsdbg_image){function->branch_records.bytes, 0} : attribute->sized;
    else if (attribute->code == MBARRIER_USES && format == FORMAT_SIZED) {
        function->use_records = attribute->sized;
        function->mbarrier_uses = attribute->sized.byte_count / USE_BYTES;
    }
}

/* A function of NULL: the notes of the module. */
static struct wsdbg_error *read_notes(struct wsdbg_cubin *cubin, struct wsdbg_image notes,
                                      struct wsdbg_cubin_function *function)
{
    struct attribute attribute;
    while (notes.byte_count) {
        if (!next_attribute(&notes, &attribute))
            return damaged("an attribute that does not end within its section");
        if (function)
            note_of_function(function, &attribute);
        else
            note_of_module(cubin, &attribute);
    }
    return NULL;
}

static void note_shared(const struct wsdbg_cubin *cubin, const GElf_Shdr *header)
{
    static const char prefix[] = ".nv.shared.";
    const char *name = elf_strptr(cubin->elf, cubin->section_names, header->sh_name);
    if (!header->sh_info || !name || strncmp(name, prefix, sizeof prefix - 1) != 0)
        return;
    struct wsdbg_cubin_function *function = function_of_section(cubin, header->sh_info);
    if (function)
        function->shared_bytes = header->sh_size;
}

/* What a section says of a function or of the module, if anything. */
static struct wsdbg_error *read_section(struct wsdbg_cubin *cubin, Elf_Scn *section)
{
    GElf_Shdr header;
    struct wsdbg_image notes;
    if (!gelf_getshdr(section, &header))
        return NULL;
    if (header.sh_type == SHT_NOBITS)
        note_shared(cubin, &header);
    if ((header.sh_type != SECTION_INFO && header.sh_type != SECTION_COMPATIBILITY) || !contents(section, &notes))
        return NULL;
    if (header.sh_type == SECTION_COMPATIBILITY) {
        cubin->compatibility = notes;
        return NULL;
    }
    struct wsdbg_cubin_function *function = header.sh_info ? function_of_section(cubin, header.sh_info) : NULL;
    return header.sh_info && !function ? NULL : read_notes(cubin, notes, function);
}

static struct wsdbg_error *read_all_notes(struct wsdbg_cubin *cubin)
{
    Elf_Scn *section = NULL;
    struct wsdbg_error *error = NULL;
    while (!error && (section = elf_nextscn(cubin->elf, section)))
        error = read_section(cubin, section);
    return error;
}

static struct wsdbg_error *read_names(struct wsdbg_cubin *cubin)
{
    struct wsdbg_error *error = check_header(cubin->elf);
    if (error)
        return error;
    if (elf_getshdrstrndx(cubin->elf, &cubin->section_names) != 0)
        return damaged("its sections have no names");
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
    struct wsdbg_error *error = cubin->elf ? read_names(cubin) : damaged("its header cannot be read");
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
                ? read_all_notes(cubin)
                : wsdbg_error_create(WSDBG_ERROR_VERSION, "a cubin for sm_%u, only sm_%d is read", architecture,
                                     WSDBG_SASS_ARCHITECTURE);
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

/* A note of the tool: version, four places in the text behind them, the last but one that of the build, and the last
 * that of the options.  The text is the rest of the note, each word with its zero byte. */
static const char *options_of(const struct wsdbg_image *note)
{
    enum { FIELDS = 6, VERSION = 0, OPTIONS = 5, VERSION_READ = 2 };
    uint32_t header[3], fields[FIELDS];
    static const char owner[] = "NVIDIA Corp";
    const size_t before = sizeof header + sizeof owner + sizeof fields;
    if (note->byte_count < before || memcmp(note->bytes + sizeof header, owner, sizeof owner) != 0)
        return NULL;
    memcpy(header, note->bytes, sizeof header);
    memcpy(fields, note->bytes + sizeof header + sizeof owner, sizeof fields);
    const size_t text_bytes = note->byte_count - before;
    if (header[2] != TOOL_NOTE || fields[VERSION] != VERSION_READ || fields[OPTIONS] >= text_bytes)
        return NULL;
    const char *options = (const char *)note->bytes + before + fields[OPTIONS];
    return memchr(options, '\0', text_bytes - fields[OPTIONS]) ? options : NULL;
}

const char *wsdbg_cubin_compiler_options(const struct wsdbg_cubin *cubin)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(cubin->elf, section))) {
        GElf_Shdr header;
        struct wsdbg_image note;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE || !contents(section, &note))
            continue;
        const char *options = options_of(&note);
        if (options)
            return options;
    }
    return NULL;
}

bool wsdbg_cubin_is_specific(const struct wsdbg_cubin *cubin, bool *is_specific)
{
    struct wsdbg_image rest = cubin->compatibility;
    struct attribute attribute;
    while (next_attribute(&rest, &attribute)) {
        if (attribute.code != SPECIFIC || attribute.format != FORMAT_BYTE)
            continue;
        *is_specific = attribute.value != 0;
        return true;
    }
    return false;
}

size_t wsdbg_cubin_function_count(const struct wsdbg_cubin *cubin)
{
    return cubin->function_count;
}

const struct wsdbg_cubin_function *wsdbg_cubin_function(const struct wsdbg_cubin *cubin, size_t number)
{
    return &cubin->functions[number].shown;
}

struct wsdbg_mbarrier_use wsdbg_cubin_mbarrier_use(const struct wsdbg_cubin_function *function, size_t number)
{
    const unsigned char *record = function->use_records.bytes + number * USE_BYTES;
    const uint32_t packed = u32_at(record + 12);
    const unsigned kind = packed & 0xff;
    return (struct wsdbg_mbarrier_use){
        .kind = kind < WSDBG_USE_UNKNOWN ? (enum wsdbg_mbarrier_use_kind)kind : WSDBG_USE_UNKNOWN,
        .offset_bytes = u32_at(record),
        .general_register = (uint8_t)u32_at(record + 4),
        .uniform_register = (uint8_t)(packed >> 16),
        .immediate_bytes = (int32_t)u32_at(record + 8),
    };
}

bool wsdbg_cubin_constants(const struct wsdbg_cubin *cubin, const struct wsdbg_cubin_function *function, unsigned bank,
                           struct wsdbg_image *out)
{
    char prefix[32];
    const size_t count = (size_t)snprintf(prefix, sizeof prefix, ".nv.constant%u", bank);
    bool found = false;
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(cubin->elf, section))) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || (header.sh_info != 0 && header.sh_info != function->section))
            continue;
        const char *name = elf_strptr(cubin->elf, cubin->section_names, header.sh_name);
        if (!name || strncmp(name, prefix, count) != 0 || (name[count] != '\0' && name[count] != '.'))
            continue;
        struct wsdbg_image constants;
        if (!contents(section, &constants))
            continue;
        *out = constants;
        found = true;
        if (header.sh_info)
            break; /* the function's own go before the module's */
    }
    return found;
}

/* A section of lines that end with a zero byte each. */
struct wsdbg_error *wsdbg_cubin_ptx(const struct wsdbg_cubin *cubin, size_t most, char **out, size_t *byte_count)
{
    struct wsdbg_image lines = {0};
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; !lines.byte_count && (section = elf_nextscn(cubin->elf, section));) {
        const char *name =
            gelf_getshdr(section, &header) ? elf_strptr(cubin->elf, cubin->section_names, header.sh_name) : NULL;
        if (name && strcmp(name, ".nv_debug_ptx_txt") == 0 && !contents(section, &lines))
            break;
    }
    if (!lines.byte_count)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "the cubin holds no PTX");
    if (lines.byte_count > most)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the PTX in the cubin: %zu bytes, at most %zu are read",
                                  lines.byte_count, most);
    char *text = malloc(lines.byte_count + 1);
    if (!text)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < lines.byte_count; i++)
        text[i] = lines.bytes[i] ? (char)lines.bytes[i] : '\n';
    text[lines.byte_count] = '\0';
    *out = text;
    *byte_count = lines.byte_count;
    return NULL;
}
