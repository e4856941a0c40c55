/* look_sites.c - places in the code as rows: their text and source lines; and the functions they lie in.
 *
 * Reads: decoded code.  Writes: snapshot.sites, snapshot.functions, each place and function once.
 */
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/inlined.h"
#include "machine/look.h"

enum { LEVELS_MAX = 16 };

static void copy_text(char *out, size_t room, const char *text)
{
    snprintf(out, room, "%s", text ? text : "");
}

/* A row's name may be the beginning of a longer one. */
static bool is_named(const struct wsdbg_function *row, const char *name)
{
    return strncmp(row->name, name, sizeof row->name - 1) == 0;
}

struct wsdbg_error *wsdbg_look_function(struct wsdbg_look_tables *tables, const struct wsdbg_cubin_function *function,
                                        uint32_t module, uint32_t *out)
{
    struct wsdbg_snapshot *snapshot = tables->out;
    for (uint32_t i = 0; i < snapshot->function_count; i++)
        if (snapshot->functions[i].module == module && is_named(&snapshot->functions[i], function->name)) {
            *out = i;
            return NULL;
        }
    if (!wsdbg_grow((void **)&snapshot->functions, &tables->capacity.functions, snapshot->function_count + 1,
                    sizeof *snapshot->functions))
        return &wsdbg_error_no_memory;
    struct wsdbg_function *row = &snapshot->functions[snapshot->function_count];
    *row = (struct wsdbg_function){.module = module};
    copy_text(row->name, sizeof row->name, function->name);
    if (function->registers != WSDBG_UNKNOWN_COUNT)
        row->registers = wsdbg_known_u32((uint32_t)function->registers);
    *out = (uint32_t)snapshot->function_count++;
    return NULL;
}

static struct wsdbg_error *add_site(struct wsdbg_look_tables *tables, const struct wsdbg_site *site)
{
    struct wsdbg_snapshot *snapshot = tables->out;
    if (!wsdbg_grow((void **)&snapshot->sites, &tables->capacity.sites, snapshot->site_count + 1,
                    sizeof *snapshot->sites))
        return &wsdbg_error_no_memory;
    snapshot->sites[snapshot->site_count++] = *site;
    return NULL;
}

/* The rows of one place lie behind each other: itself, then the calls it was inlined at. */
static struct wsdbg_error *add_levels(struct wsdbg_look_tables *tables, const struct wsdbg_code_place *place,
                                      struct wsdbg_site *site)
{
    struct wsdbg_line lines[LEVELS_MAX];
    const size_t count = wsdbg_code_lines(place, lines, LEVELS_MAX);
    const size_t passed = count ? wsdbg_lines_place(lines, count) : 0; /* levels that the place passes over */
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && (i < count || i == 0); i++) {
        const bool deeper = i + 1 < count;
        if (i < count) {
            copy_text(site->file, sizeof site->file, lines[i].file);
            site->line = wsdbg_known_u32(lines[i].line);
            site->is_passed = i < passed;
        }
        site->inlined_at = deeper ? (uint32_t)tables->out->site_count + 1 : WSDBG_NONE;
        error = add_site(tables, site);
    }
    return error;
}

struct wsdbg_error *wsdbg_look_site(struct wsdbg_look_tables *tables, const struct wsdbg_code_place *place,
                                    uint32_t module, uint32_t *out)
{
    const uint64_t pc = wsdbg_code_address(place);
    struct wsdbg_site site = {
        .pc = pc,
        .inlined_at = WSDBG_NONE,
    };
    uint32_t number;
    const struct wsdbg_cubin_function *function = wsdbg_code_origin(place, &number);
    site.offset_bytes = wsdbg_known_u32(number * WSDBG_INSTRUCTION_BYTES);
    struct wsdbg_error *error = wsdbg_look_function(tables, function, module, &site.function);
    if (error)
        return error;
    for (size_t i = 0; i < tables->site_count; i++)
        if (tables->sites[i].pc == pc && tables->sites[i].function == site.function &&
            tables->sites[i].instruction == place->instruction) {
            *out = tables->sites[i].site;
            return NULL;
        }
    if (!wsdbg_grow((void **)&tables->sites, &tables->site_capacity, tables->site_count + 1, sizeof *tables->sites))
        return &wsdbg_error_no_memory;
    if (wsdbg_code_is_decoded(place)) {
        const struct wsdbg_instruction *instruction =
            wsdbg_graph_instruction(place->function->graph, place->instruction);
        site.is_wgmma = wsdbg_operation_is_of_wgmma(instruction->operation);
        site.is_system = instruction->is_system;
    }
    wsdbg_code_text(place, pc, site.instruction);
    *out = (uint32_t)tables->out->site_count;
    tables->sites[tables->site_count++] = (struct wsdbg_look_site){pc, site.function, *out, place->instruction};
    return add_levels(tables, place, &site);
}
