/* native_names.c - see native_names.h.  Reads: symbols and debug information of the files.  Writes: frames. */
#include "host/native_names.h"

#include <stdlib.h>

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

static void put_line(Dwarf *dwarf, Dwarf_Addr address, struct wsdbg_host_frame *frame)
{
    Dwarf_Die unit;
    int number = 0;
    Dwarf_Line *line = find_unit(dwarf, address, &unit) ? dwarf_getsrc_die(&unit, address) : NULL;
    const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    if (!file || dwarf_lineno(line, &number) != 0 || number <= 0)
        return;
    wsdbg_host_name_put(file, frame->file, sizeof frame->file);
    frame->line = wsdbg_known_u32((uint32_t)number);
}

static void name_lines(Dwarf *dwarf, const struct wsdbg_host_memory *memory, const struct wsdbg_native_place *places,
                       size_t count, struct wsdbg_host_frame *frames)
{
    for (size_t i = 0; dwarf && i < count && !wsdbg_host_memory_is_late(memory); i++)
        put_line(dwarf, places[i].address, &frames[places[i].frame]);
}

void wsdbg_native_name(struct wsdbg_host_modules *modules, const struct wsdbg_host_memory *memory,
                       struct wsdbg_native_place *places, size_t count, struct wsdbg_host_frame *frames)
{
    qsort(places, count, sizeof *places, compare);
    for (size_t first = 0, end; first < count; first = end) {
        const uint32_t file = places[first].file;
        for (end = first; end < count && places[end].file == file;)
            end++;
        const struct wsdbg_host_module *module = wsdbg_host_modules_get(modules, file);
        if (!module)
            continue;
        name_functions(module, places + first, end - first, frames);
        name_lines(wsdbg_host_modules_dwarf(modules, file), memory, places + first, end - first, frames);
    }
}
