/* cubin_notes.c - the notes of the compiler on a kernel and on the module (.nv.info): registers, barriers, frame,
 * targets of branches.  See cubin_parts.h.
 *
 * Reads: sections of a cubin, of whose contents nothing is trusted.  Writes: its functions.
 */
#include "sass/cubin_parts.h"

#include <stdlib.h>
#include <string.h>

#define SECTION_INFO 0x70000000u
#define SECTION_COMPATIBILITY 0x70000086u
#define REGISTERS_UNLIMITED 255

static struct wsdbg_cubin_function *function_of_symbol(const struct wsdbg_cubin *cubin, size_t symbol)
{
    struct cubin_function *found = cubin->function_count ? bsearch(&symbol, cubin->functions, cubin->function_count,
                                                                   sizeof *cubin->functions, cubin_by_symbol)
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

uint32_t cubin_u32_at(const unsigned char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

bool cubin_next_attribute(struct wsdbg_image *rest, struct cubin_attribute *out)
{
    const size_t head = 4;
    if (rest->byte_count < head)
        return false;
    const uint32_t word = cubin_u32_at(rest->bytes);
    *out = (struct cubin_attribute){.format = word & 0xff, .code = word >> 8 & 0xff, .value = (uint16_t)(word >> 16)};
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
static void note_of_module(const struct wsdbg_cubin *cubin, const struct cubin_attribute *attribute)
{
    if ((attribute->code != REGISTER_COUNT && attribute->code != FRAME_BYTES) || attribute->sized.byte_count != 8)
        return;
    struct wsdbg_cubin_function *function = function_of_symbol(cubin, cubin_u32_at(attribute->sized.bytes));
    const uint32_t value = cubin_u32_at(attribute->sized.bytes + 4);
    if (function && attribute->code == REGISTER_COUNT && value <= 256)
        function->registers = (int)value;
    else if (function && attribute->code == FRAME_BYTES && value <= INT32_MAX)
        function->stack_bytes = (int)value;
}

static void note_three(const struct cubin_attribute *attribute, uint32_t out[3])
{
    if (attribute->sized.byte_count == 3 * sizeof *out)
        memcpy(out, attribute->sized.bytes, 3 * sizeof *out);
}

static void note_of_function(struct wsdbg_cubin_function *function, const struct cubin_attribute *attribute)
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
    struct cubin_attribute attribute;
    while (notes.byte_count) {
        if (!cubin_next_attribute(&notes, &attribute))
            return cubin_damaged("an attribute that does not end within its section");
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
    if ((header.sh_type != SECTION_INFO && header.sh_type != SECTION_COMPATIBILITY) || !cubin_contents(section, &notes))
        return NULL;
    if (header.sh_type == SECTION_COMPATIBILITY) {
        cubin->compatibility = notes;
        return NULL;
    }
    struct wsdbg_cubin_function *function = header.sh_info ? function_of_section(cubin, header.sh_info) : NULL;
    return header.sh_info && !function ? NULL : read_notes(cubin, notes, function);
}

struct wsdbg_error *cubin_read_notes(struct wsdbg_cubin *cubin)
{
    Elf_Scn *section = NULL;
    struct wsdbg_error *error = NULL;
    while (!error && (section = elf_nextscn(cubin->elf, section)))
        error = read_section(cubin, section);
    return error;
}
