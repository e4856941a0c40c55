/* lines.c - see lines.h.  Reads .debug_line or .nv_debug_line_sass, what relocates it and .debug_str of an ELF file
 * through libelf; what lies within them is checked here and in line_program.c.
 *
 * A cubin's sequences begin at 0 of a function, which their relocation names.  In an image that the driver relocated
 * they begin at the GPU's address of the function.
 */
#include "sass/lines.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/inlined.h"
#include "sass/line_program.h"

/* Where a sequence begins. */
struct place {
    size_t section;        /* SHN_UNDEF: not known, but for its address */
    uint64_t offset_bytes; /* in the section */
};

struct wsdbg_lines {
    Elf *elf;
    struct wsdbg_image table, strings;
    struct wsdbg_line_program program;
    struct place *places; /* one a sequence */
    bool *is_wrapper;     /* one a row of the program */
};

static struct wsdbg_error *damaged(const char *reason)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "the table of source lines is damaged: %s", reason);
}

static bool contents(Elf_Scn *section, struct wsdbg_image *out)
{
    const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
    if (!data || !data->d_buf)
        return false;
    *out = (struct wsdbg_image){data->d_buf, data->d_size};
    return true;
}

/* The number of the section so named; SHN_UNDEF = none. */
static size_t section_named(Elf *elf, const char *wanted)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return SHN_UNDEF;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(elf, section))) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, wanted) == 0)
            return elf_ndxscn(section);
    }
    return SHN_UNDEF;
}

/* --- where sequences begin --- */

static struct place place_of_symbol(Elf *elf, Elf_Data *symbols, uint64_t number, int64_t addend)
{
    const struct place unknown = {.section = SHN_UNDEF};
    GElf_Sym symbol;
    GElf_Shdr header;
    if (number > INT32_MAX || !gelf_getsym(symbols, (int)number, &symbol))
        return unknown;
    Elf_Scn *section = elf_getscn(elf, symbol.st_shndx);
    if (symbol.st_shndx == SHN_UNDEF || !section || !gelf_getshdr(section, &header))
        return unknown;
    return (struct place){symbol.st_shndx, symbol.st_value - header.sh_addr + (uint64_t)addend};
}

static int by_place_in_table(const void *key, const void *element)
{
    const uint64_t at = *(const uint64_t *)key, other = ((const struct wsdbg_line_sequence *)element)->address_at;
    return (at > other) - (at < other);
}

/* The sequence whose address a relocation is for; they are in order of where it stands. */
static const struct wsdbg_line_sequence *sequence_at(const struct wsdbg_line_program *program, uint64_t at)
{
    return program->sequence_count ? bsearch(&at, program->sequences, program->sequence_count,
                                             sizeof *program->sequences, by_place_in_table)
                                   : NULL;
}

static void apply_relocations(struct wsdbg_lines *lines, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *relocations = elf_getdata(section, NULL);
    Elf_Scn *symbol_section = elf_getscn(lines->elf, header->sh_link);
    Elf_Data *symbols = symbol_section ? elf_getdata(symbol_section, NULL) : NULL;
    if (!relocations || !symbols)
        return;
    const bool has_addend = header->sh_type == SHT_RELA;
    const size_t count = relocations->d_size / (has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel));
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Rela found = {0};
        GElf_Rel plain;
        if (has_addend ? !gelf_getrela(relocations, (int)i, &found) : !gelf_getrel(relocations, (int)i, &plain))
            return;
        if (!has_addend)
            found = (GElf_Rela){.r_offset = plain.r_offset, .r_info = plain.r_info};
        const struct wsdbg_line_sequence *sequence = sequence_at(&lines->program, found.r_offset);
        if (sequence)
            lines->places[sequence - lines->program.sequences] =
                place_of_symbol(lines->elf, symbols, GELF_R_SYM(found.r_info),
                                has_addend ? found.r_addend : (int64_t)sequence->address);
    }
}

static struct wsdbg_error *place_sequences(struct wsdbg_lines *lines, size_t table)
{
    const size_t count = lines->program.sequence_count;
    lines->places = calloc(count ? count : 1, sizeof *lines->places);
    if (!lines->places)
        return &wsdbg_error_no_memory;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(lines->elf, section)))
        if (gelf_getshdr(section, &header) && (header.sh_type == SHT_RELA || header.sh_type == SHT_REL) &&
            header.sh_info == table)
            apply_relocations(lines, section, &header);
    return NULL;
}

/* --- which functions are wrappers --- */

static const char *string_at(const struct wsdbg_lines *lines, uint32_t offset)
{
    const struct wsdbg_image *strings = &lines->strings;
    const bool ends = offset < strings->byte_count && memchr(strings->bytes + offset, 0, strings->byte_count - offset);
    return ends ? (const char *)strings->bytes + offset : "";
}

static const char *file_of(const struct wsdbg_lines *lines, const struct wsdbg_line_sequence *sequence,
                           const struct wsdbg_line_row *row)
{
    const struct wsdbg_line_unit *unit = &lines->program.units[sequence->unit];
    return row->file >= 1 && row->file <= unit->file_count ? unit->files[row->file - 1] : "";
}

static const char *function_of(const struct wsdbg_lines *lines, const struct wsdbg_line_row *row)
{
    return row->context ? string_at(lines, row->name) : "";
}

static void fill_inlined_rows(const struct wsdbg_lines *lines, const struct wsdbg_line_sequence *sequence,
                              struct wsdbg_inlined_row *out)
{
    for (size_t i = sequence->first; i < sequence->first + sequence->count; i++) {
        const struct wsdbg_line_row *row = &lines->program.rows[i];
        const bool is_inlined = row->context && row->context <= i - sequence->first;
        out[i] = (struct wsdbg_inlined_row){
            .function = is_inlined ? function_of(lines, row) : "",
            .file = file_of(lines, sequence, row),
            .line = row->line,
            .caller = is_inlined ? (uint32_t)sequence->first + row->context - 1 : WSDBG_NOT_INLINED,
            .kernel = (uint32_t)(sequence - lines->program.sequences),
        };
    }
}

static struct wsdbg_error *mark_wrappers(struct wsdbg_lines *lines)
{
    const struct wsdbg_line_program *program = &lines->program;
    struct wsdbg_inlined_row *rows = calloc(program->row_count + 1, sizeof *rows);
    lines->is_wrapper = calloc(program->row_count + 1, sizeof *lines->is_wrapper);
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    if (rows && lines->is_wrapper) {
        for (size_t i = 0; i < program->row_count; i++)
            rows[i] = (struct wsdbg_inlined_row){.function = "", .file = "", .caller = WSDBG_NOT_INLINED};
        for (size_t i = 0; i < program->sequence_count; i++)
            fill_inlined_rows(lines, &program->sequences[i], rows);
        error = wsdbg_inlined_wrappers(rows, program->row_count, lines->is_wrapper);
    }
    free(rows);
    return error;
}

/* --- opening --- */

static struct wsdbg_error *read_all(struct wsdbg_lines *lines, const char *table_name)
{
    if (!lines->elf || elf_kind(lines->elf) != ELF_K_ELF)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "not a cubin");
    const size_t table = section_named(lines->elf, table_name);
    if (table == SHN_UNDEF)
        return wsdbg_error_create(WSDBG_ERROR_NOT_FOUND, "the cubin was compiled without -lineinfo");
    if (!contents(elf_getscn(lines->elf, table), &lines->table))
        return damaged("it lies outside the file");
    contents(elf_getscn(lines->elf, section_named(lines->elf, ".debug_str")), &lines->strings);
    struct wsdbg_error *error = wsdbg_line_program_read(&lines->table, &lines->program);
    if (!error)
        error = place_sequences(lines, table);
    return error ? error : mark_wrappers(lines);
}

static struct wsdbg_error *open_table(const struct wsdbg_image *cubin, const char *table_name, struct wsdbg_lines **out)
{
    struct wsdbg_lines *lines = calloc(1, sizeof *lines);
    if (!lines)
        return &wsdbg_error_no_memory;
    elf_version(EV_CURRENT);
    /* libelf asks for bytes it may write, and writes none of a file that is only read. */
    lines->elf = elf_memory((char *)(uintptr_t)cubin->bytes, cubin->byte_count);
    struct wsdbg_error *error = read_all(lines, table_name);
    if (error) {
        wsdbg_lines_close(lines);
        return error;
    }
    *out = lines;
    return NULL;
}

struct wsdbg_error *wsdbg_lines_open(const struct wsdbg_image *cubin, struct wsdbg_lines **out)
{
    return open_table(cubin, ".debug_line", out);
}

struct wsdbg_error *wsdbg_lines_open_ptx(const struct wsdbg_image *cubin, struct wsdbg_lines **out)
{
    return open_table(cubin, ".nv_debug_line_sass", out);
}

void wsdbg_lines_close(struct wsdbg_lines *lines)
{
    if (!lines)
        return;
    wsdbg_line_program_deinit(&lines->program);
    free(lines->places);
    free(lines->is_wrapper);
    elf_end(lines->elf);
    free(lines);
}

/* --- finding --- */

/* How far into the sequence the instruction lies; false where it does not. */
static bool offset_in(const struct wsdbg_lines *lines, size_t number, const struct wsdbg_cubin_function *function,
                      uint64_t offset_bytes, uint64_t *out)
{
    const struct wsdbg_line_sequence *sequence = &lines->program.sequences[number];
    const struct place *place = &lines->places[number];
    if (place->section == function->section)
        *out = function->offset_bytes + offset_bytes - place->offset_bytes;
    else if (function->address && sequence->address)
        *out = function->address + offset_bytes - sequence->address;
    else
        return false;
    return *out < sequence->end_bytes;
}

/* The last row that begins at or before: of several at one address the last is the innermost. */
static const struct wsdbg_line_row *row_at(const struct wsdbg_lines *lines, const struct wsdbg_line_sequence *sequence,
                                           uint64_t offset_bytes)
{
    const struct wsdbg_line_row *rows = &lines->program.rows[sequence->first];
    size_t low = 0, high = sequence->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (rows[middle].offset_bytes <= offset_bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &rows[low - 1] : NULL;
}

static size_t levels_of(const struct wsdbg_lines *lines, const struct wsdbg_line_sequence *sequence,
                        const struct wsdbg_line_row *row, struct wsdbg_line *out, size_t most)
{
    const struct wsdbg_line_row *first = lines->program.rows + sequence->first;
    size_t count = 0;
    while (row && count < most) {
        const size_t number = (size_t)(row - first) + 1;
        out[count++] = (struct wsdbg_line){
            .file = file_of(lines, sequence, row),
            .line = row->line,
            .function = function_of(lines, row),
            .is_wrapper = lines->is_wrapper[row - lines->program.rows],
        };
        /* A call comes before what is inlined at it, so this ends. */
        row = row->context && row->context < number ? first + row->context - 1 : NULL;
    }
    return count;
}

size_t wsdbg_lines_place(const struct wsdbg_line *levels, size_t count)
{
    struct wsdbg_inlined_level plain[WSDBG_PLACE_LEVELS_MAX];
    count = count < WSDBG_PLACE_LEVELS_MAX ? count : WSDBG_PLACE_LEVELS_MAX;
    for (size_t i = 0; i < count; i++)
        plain[i] = (struct wsdbg_inlined_level){levels[i].file, levels[i].is_wrapper};
    return wsdbg_inlined_place(plain, count);
}

size_t wsdbg_lines_find(const struct wsdbg_lines *lines, const struct wsdbg_cubin_function *function,
                        uint64_t offset_bytes, struct wsdbg_line *out, size_t most)
{
    for (size_t i = 0; i < lines->program.sequence_count; i++) {
        uint64_t offset;
        if (!offset_in(lines, i, function, offset_bytes, &offset))
            continue;
        const struct wsdbg_line_sequence *sequence = &lines->program.sequences[i];
        const struct wsdbg_line_row *row = row_at(lines, sequence, offset);
        if (row)
            return levels_of(lines, sequence, row, out, most);
    }
    return 0;
}
