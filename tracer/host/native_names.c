/* native_names.c - see native_names.h.  Reads: symbols and debug information of the files.  Writes: frames. */
#include "host/native_names.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/grow.h"
#include "host/name_text.h"
#include "model/symbol.h"

enum { UNITS_MOST = 4096, NAME_BYTES = 1024 };

static int compare(const void *left, const void *right)
{
    const struct wsdbg_native_place *a = left, *b = right;
    if (a->file != b->file)
        return (a->file > b->file) - (a->file < b->file);
    return (a->address > b->address) - (a->address < b->address);
}

/* ---- functions ---- */

static void put_function(const struct wsdbg_host_asked *asked, struct wsdbg_host_frame *frame)
{
    char name[NAME_BYTES];
    if (!asked->name || !*asked->name)
        return;
    wsdbg_symbol_name(asked->name, name, sizeof name);
    wsdbg_host_name_put(name, frame->function, sizeof frame->function);
    frame->offset_bytes = wsdbg_known_u64(asked->address - asked->start);
}

static void name_functions(const struct wsdbg_host_module *module, const struct wsdbg_native_place *places,
                           size_t count, struct wsdbg_host_frame *frames)
{
    struct wsdbg_host_asked *asked = calloc(count, sizeof *asked);
    if (!asked)
        return;
    for (size_t i = 0; i < count; i++)
        asked[i].address = places[i].address;
    wsdbg_host_module_name(module, asked, count);
    for (size_t i = 0; i < count; i++)
        put_function(&asked[i], &frames[places[i].frame]);
    free(asked);
}

/* ---- lines ---- */

/* The unit that has the address: by the table of ranges, else one after the other. */
static bool find_unit(Dwarf *dwarf, Dwarf_Addr address, Dwarf_Die *out)
{
    Dwarf_Off offset = 0, next;
    size_t header_bytes;
    if (dwarf_addrdie(dwarf, address, out))
        return true;
    for (int i = 0; i < UNITS_MOST && dwarf_nextcu(dwarf, offset, &next, &header_bytes, NULL, NULL, NULL) == 0; i++) {
        if (dwarf_offdie(dwarf, offset + header_bytes, out) && dwarf_haspc(out, address) == 1)
            return true;
        offset = next;
    }
    return false;
}

static void put_line(Dwarf_Die *unit, Dwarf_Addr address, struct wsdbg_host_frame *frame)
{
    int number = 0;
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (!file || dwarf_lineno(line, &number) != 0 || number <= 0)
        return;
    wsdbg_host_name_put(file, frame->file, sizeof frame->file);
    frame->line = wsdbg_known_u32((uint32_t)number);
}

/* ---- calls that were inlined ---- */

void wsdbg_native_inlines_free(struct wsdbg_native_inlines *inlines)
{
    free(inlines->rows);
    *inlines = (struct wsdbg_native_inlines){0};
}

/* The line of the call takes the place of that in the inlined function. */
static void put_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct wsdbg_host_frame *frame)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0, file = 0;
    Dwarf_Files *files = NULL;
    size_t count = 0;
    frame->file[0] = '\0';
    frame->line = (struct wsdbg_optional_u32){0};
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 || !line || line > UINT32_MAX ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
        return;
    const char *path = dwarf_filesrc(files, file, NULL, NULL);
    if (!path)
        return;
    wsdbg_host_name_put(path, frame->file, sizeof frame->file);
    frame->line = wsdbg_known_u32((uint32_t)line);
}

static void put_inlined(Dwarf_Die *unit, Dwarf_Die *inlined, uint32_t number, struct wsdbg_host_frame *frame,
                        struct wsdbg_native_inlines *inlines)
{
    const char *name = dwarf_diename(inlined);
    if (!wsdbg_grow((void **)&inlines->rows, &inlines->capacity, inlines->count + 1, sizeof *inlines->rows))
        return;
    struct wsdbg_native_inlined *row = &inlines->rows[inlines->count++];
    *row = (struct wsdbg_native_inlined){.before = number, .frame = *frame};
    row->frame.function[0] = '\0';
    row->frame.offset_bytes = (struct wsdbg_optional_u64){0};
    if (name)
        wsdbg_host_name_put(name, row->frame.function, sizeof row->frame.function);
    put_call(unit, inlined, frame);
}

/* The first list of scopes is that of the source.  Which function was inlined into which, the second one tells. */
static void put_inlines(Dwarf_Die *unit, const struct wsdbg_native_place *place, struct wsdbg_host_frame *frame,
                        struct wsdbg_native_inlines *inlines)
{
    Dwarf_Die *innermost = NULL, *scopes = NULL;
    int count = dwarf_getscopes(unit, place->address, &innermost);
    if (count > 0)
        count = dwarf_getscopes_die(&innermost[0], &scopes);
    for (int i = 0; i < count && dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine)
            put_inlined(unit, &scopes[i], place->frame, frame, inlines);
    free(innermost);
    free(scopes);
}

static void name_lines(Dwarf *dwarf, const struct wsdbg_host_memory *memory, const struct wsdbg_native_place *places,
                       size_t count, struct wsdbg_host_frame *frames, struct wsdbg_native_inlines *inlines)
{
    Dwarf_Die unit;
    for (size_t i = 0; dwarf && i < count && !wsdbg_host_memory_is_late(memory); i++) {
        if (!find_unit(dwarf, places[i].address, &unit))
            continue;
        put_line(&unit, places[i].address, &frames[places[i].frame]);
        if (inlines)
            put_inlines(&unit, &places[i], &frames[places[i].frame], inlines);
    }
}

void wsdbg_native_name(struct wsdbg_host_modules *modules, const struct wsdbg_host_memory *memory,
                       struct wsdbg_native_place *places, size_t count, struct wsdbg_host_frame *frames,
                       struct wsdbg_native_inlines *inlines)
{
    if (count > 1)
        qsort(places, count, sizeof *places, compare);
    for (size_t first = 0, end; first < count; first = end) {
        const uint32_t file = places[first].file;
        for (end = first; end < count && places[end].file == file;)
            end++;
        const struct wsdbg_host_module *module = wsdbg_host_modules_get(modules, file);
        if (!module)
            continue;
        name_functions(module, places + first, end - first, frames);
        name_lines(wsdbg_host_modules_dwarf(modules, file), memory, places + first, end - first, frames, inlines);
    }
}
