/* cubin_contents.c - what a cubin holds beside code: options of the compiler, constants, PTX, uses of mbarriers.  See
 * cubin.h.
 *
 * Reads: sections of a cubin, of whose contents nothing is trusted.
 */
#include "sass/cubin_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOOL_NOTE 0x7d0u /* a note's type: which tool made the file, and how */

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
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE || !cubin_contents(section, &note))
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
    struct cubin_attribute attribute;
    while (cubin_next_attribute(&rest, &attribute)) {
        if (attribute.code != SPECIFIC || attribute.format != FORMAT_BYTE)
            continue;
        *is_specific = attribute.value != 0;
        return true;
    }
    return false;
}

struct wsdbg_mbarrier_use wsdbg_cubin_mbarrier_use(const struct wsdbg_cubin_function *function, size_t number)
{
    const unsigned char *record = function->use_records.bytes + number * USE_BYTES;
    const uint32_t packed = cubin_u32_at(record + 12);
    const unsigned kind = packed & 0xff;
    return (struct wsdbg_mbarrier_use){
        .kind = kind < WSDBG_USE_UNKNOWN ? (enum wsdbg_mbarrier_use_kind)kind : WSDBG_USE_UNKNOWN,
        .offset_bytes = cubin_u32_at(record),
        .general_register = (uint8_t)cubin_u32_at(record + 4),
        .uniform_register = (uint8_t)(packed >> 16),
        .immediate_bytes = (int32_t)cubin_u32_at(record + 8),
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
        if (!cubin_contents(section, &constants))
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
        if (name && strcmp(name, ".nv_debug_ptx_txt") == 0 && !cubin_contents(section, &lines))
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
