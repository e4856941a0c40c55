/* look_sites.c - places in the code as rows: their text and source lines; and the functions they lie in.
 *
 * Reads: decoded code.  Writes: snapshot.sites, snapshot.functions, each place and function once.
 */
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"

enum { LEVELS_MAX = 16 };

static void copy_text(char *out, size_t room, const char *text)
{
    snprintf(out, room, "%s", text ? text : "");
}

struct wsdbg_error *wsdbg_look_function(struct wsdbg_looking *looking, const struct wsdbg_code_function *function,
                                        uint32_t module, uint32_t *out)
{
    struct wsdbg_snapshot *snapshot = looking->out;
    for (uint32_t i = 0; i < snapshot->function_count; i++)
        if (snapshot->functions[i].module == module &&
            strcmp(snapshot->functions[i].name, function->cubin->name) == 0) {
            *out = i;
            return NULL;
        }
    if (!wsdbg_grow((void **)&snapshot->functions, &looking->capacity.functions, snapshot->function_count + 1,
                    sizeof *snapshot->functions))
        return &wsdbg_error_no_memory;
    struct wsdbg_function *row = &snapshot->functions[snapshot->function_count];
    *row = (struct wsdbg_function){.module = module};
    copy_text(row->name, sizeof row->name, function->cubin->name);
    if (function->cubin->registers != WSDBG_UNKNOWN_COUNT)
        row->registers = wsdbg_known_u32((uint32_t)function->cubin->registers);
    *out = (uint32_t)snapshot->function_count++;
    return NULL;
}

static struct wsdbg_error *add_site(struct wsdbg_looking *looking, const struct wsdbg_site *site)
{
    struct wsdbg_snapshot *snapshot = looking->out;
    if (!wsdbg_grow((void **)&snapshot->sites, &looking->capacity.sites, snapshot->site_count + 1,
                    sizeof *snapshot->sites))
        return &wsdbg_error_no_memory;
    snapshot->sites[snapshot->site_count++] = *site;
    return NULL;
}

/* The rows of one place lie behind each other: itself, then the calls it was inlined at. */
static struct wsdbg_error *add_levels(struct wsdbg_looking *looking, const struct wsdbg_code_place *place,
                                      struct wsdbg_site *site)
{
    struct wsdbg_line lines[LEVELS_MAX];
    const size_t count = wsdbg_code_lines(place, lines, LEVELS_MAX);
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && (i < count || i == 0); i++) {
        const bool deeper = i + 1 < count;
        if (i < count) {
            copy_text(site->file, sizeof site->file, lines[i].file);
            site->line = wsdbg_known_u32(lines[i].line);
        }
        site->inlined_at = deeper ? (uint32_t)looking->out->site_count + 1 : WSDBG_NONE;
        error = add_site(looking, site);
    }
    return error;
}

/* A row at `likely`, or else the first one of the place. */
static bool find_site(const struct wsdbg_snapshot *snapshot, uint64_t pc, uint32_t function, uint32_t likely,
                      uint32_t *out)
{
    const struct wsdbg_site *sites = snapshot->sites;
    *out = likely;
    if (likely < snapshot->site_count && sites[likely].pc == pc && sites[likely].function == function)
        return true;
    for (*out = 0; *out < snapshot->site_count; ++*out)
        if (sites[*out].pc == pc && sites[*out].function == function)
            return true;
    return false;
}

struct wsdbg_error *wsdbg_look_site(struct wsdbg_looking *looking, const struct wsdbg_code_place *place,
                                    uint32_t module, uint32_t *out)
{
    const uint64_t pc = wsdbg_code_address(place);
    struct wsdbg_site site = {
        .pc = pc,
        .offset_bytes = wsdbg_known_u32(place->instruction * WSDBG_INSTRUCTION_BYTES),
        .inlined_at = WSDBG_NONE,
    };
    struct wsdbg_error *error = wsdbg_look_function(looking, place->function, module, &site.function);
    if (error)
        return error;
    uint32_t *recent = &looking->sites[pc / WSDBG_INSTRUCTION_BYTES % WSDBG_RECENT_PLACES];
    if (find_site(looking->out, pc, site.function, *recent, out)) {
        *recent = *out;
        return NULL;
    }
    wsdbg_instruction_text(wsdbg_graph_instruction(place->function->graph, place->instruction), pc, site.instruction);
    *recent = *out = (uint32_t)looking->out->site_count;
    return add_levels(looking, place, &site);
}
