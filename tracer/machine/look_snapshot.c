/* look_snapshot.c - adds what looks found to a snapshot that may hold tables already.
 *
 * Reads: looks, oldest first.  Writes: rows behind those that are there; contexts, modules and functions are found
 * again by handle and name.  Names that an author gave stay; an inferred one that says the same takes its id.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/launch_match.h"
#include "machine/look_compare.h"

enum { IDS = 256, NO_ID = IDS, ROLES_MAX = 32 };
#define UNLISTED_ROW 0x80000000u /* from here on: modules that no observer listed */

/* Rows of a look's tables in the snapshot's. */
struct maps {
    uint32_t *contexts, *modules, *functions;
    uint16_t (*roles)[IDS], (*mbarriers)[IDS]; /* for each of the look's modules; NO_ID: all ids are taken */
};

static void *append(void *rows, size_t *count, size_t added, size_t bytes, const void *from, bool *whole)
{
    void *larger = added ? reallocarray(rows, *count + added, bytes) : rows;
    if (added && !larger) {
        *whole = false;
        return rows;
    }
    if (added && from)
        memcpy((char *)larger + *count * bytes, from, added * bytes);
    *count += added;
    return larger;
}
#define APPEND(to, rows, count, added, from, whole) \
    ((to)->rows = append((to)->rows, &(to)->count, added, sizeof *(to)->rows, from, whole))

static uint32_t map_context(struct wsdbg_snapshot *to, const struct wsdbg_context *context, bool *whole)
{
    for (uint32_t i = 0; i < to->context_count; i++)
        if (to->contexts[i].handle == context->handle &&
            (context->process_id == 0 || to->contexts[i].process_id == context->process_id)) {
            to->contexts[i].alive = to->contexts[i].alive && context->alive;
            to->contexts[i].error = to->contexts[i].error ? to->contexts[i].error : context->error;
            return i;
        }
    APPEND(to, contexts, context_count, 1, context, whole);
    return (uint32_t)to->context_count - 1;
}

static uint32_t find_function(const struct wsdbg_snapshot *to, uint32_t context, uint32_t module, const char *name)
{
    for (uint32_t i = 0; i < to->function_count; i++) {
        const uint32_t its = to->functions[i].module;
        const bool fits = module != WSDBG_NONE ? its == module || its == WSDBG_NONE
                                               : its >= to->module_count || to->modules[its].context == context ||
                                                     to->modules[its].context == WSDBG_NONE;
        if (fits && strcmp(to->functions[i].name, name) == 0)
            return i;
    }
    return WSDBG_NONE;
}

/* A module is the one of a function of the same name; the driver's handle of it is not in the tables. */
static uint32_t map_module(struct wsdbg_snapshot *to, const struct wsdbg_snapshot *from, uint32_t module,
                           const uint32_t *contexts, bool *whole)
{
    struct wsdbg_module row = from->modules[module];
    if (row.context != WSDBG_NONE)
        row.context = contexts[row.context];
    for (size_t i = 0; i < from->function_count; i++) {
        const uint32_t known = from->functions[i].module == module
                                   ? find_function(to, row.context, WSDBG_NONE, from->functions[i].name)
                                   : WSDBG_NONE;
        if (known != WSDBG_NONE && to->functions[known].module < to->module_count)
            return to->functions[known].module;
    }
    row.row = UNLISTED_ROW + (uint32_t)to->module_count;
    row.names_first = row.names_count = 0;
    row.process_id = row.context != WSDBG_NONE ? to->contexts[row.context].process_id : 0;
    APPEND(to, modules, module_count, 1, &row, whole);
    return (uint32_t)to->module_count - 1;
}

static uint32_t map_function(struct wsdbg_snapshot *to, const struct wsdbg_function *function, uint32_t module,
                             bool *whole)
{
    const uint32_t context = module != WSDBG_NONE ? to->modules[module].context : WSDBG_NONE;
    const uint32_t known = find_function(to, context, module, function->name);
    if (known != WSDBG_NONE) {
        if (!to->functions[known].registers.known)
            to->functions[known].registers = function->registers;
        if (to->functions[known].module == WSDBG_NONE)
            to->functions[known].module = module;
        return known;
    }
    struct wsdbg_function row = *function;
    row.module = module;
    row.process_id = module != WSDBG_NONE ? to->modules[module].process_id : 0;
    APPEND(to, functions, function_count, 1, &row, whole);
    return (uint32_t)to->function_count - 1;
}

static bool is_used(const struct wsdbg_snapshot *found, uint32_t module)
{
    for (size_t i = 0; i < found->grid_count; i++)
        if (found->grids[i].module == module)
            return true;
    return false;
}

/* Barriers point into the array of names, which moves. */
static void append_names(struct wsdbg_snapshot *to, size_t added, const struct wsdbg_name *from, bool *whole)
{
    uint32_t *rows = calloc(to->barrier_count + 1, sizeof *rows);
    if (!rows) {
        *whole = false;
        return;
    }
    for (size_t i = 0; i < to->barrier_count; i++)
        rows[i] = to->barriers[i].name ? (uint32_t)(to->barriers[i].name - to->names) : WSDBG_NONE;
    APPEND(to, names, name_count, added, from, whole);
    for (size_t i = 0; i < to->barrier_count; i++)
        to->barriers[i].name = rows[i] != WSDBG_NONE ? &to->names[rows[i]] : NULL;
    free(rows);
}

static uint32_t map_roles(uint32_t roles, const uint16_t map[IDS])
{
    uint32_t mapped = 0;
    for (unsigned i = 0; i < ROLES_MAX; i++)
        if (roles >> i & 1 && map[i] < ROLES_MAX)
            mapped |= 1u << map[i];
    return mapped;
}

/* A name of the module that says the same; else *id is one that none has. */
static const struct wsdbg_name *same_name(const struct wsdbg_snapshot *to, const struct wsdbg_module *module,
                                          const struct wsdbg_name *name, unsigned *id)
{
    *id = 0;
    for (uint32_t i = module->names_first; i < module->names_first + module->names_count; i++) {
        const struct wsdbg_name *other = &to->names[i];
        if (other->kind != name->kind)
            continue;
        if (strcmp(other->name, name->name) == 0 &&
            (name->kind != WSDBG_NAME_MBARRIER || other->stages == 0 || other->stages == name->stages))
            return other;
        if (other->id >= *id)
            *id = other->id + 1u;
    }
    return NULL;
}

/* The module's names become rows behind each other at the end. */
static void gather_names(struct wsdbg_snapshot *to, uint32_t module, bool *whole)
{
    const uint32_t first = to->modules[module].names_first, count = to->modules[module].names_count;
    if (first + count == to->name_count)
        return;
    struct wsdbg_name *copy = malloc((count + 1) * sizeof *copy);
    if (!copy) {
        *whole = false;
        return;
    }
    memcpy(copy, &to->names[first], count * sizeof *copy);
    to->modules[module].names_first = (uint32_t)to->name_count;
    append_names(to, count, copy, whole);
    free(copy);
}

static void map_names(struct wsdbg_snapshot *to, const struct wsdbg_snapshot *from, uint32_t module,
                      const struct maps *maps, bool *whole)
{
    const struct wsdbg_module *source = &from->modules[module];
    const uint32_t target = maps->modules[module];
    if (to->modules[target].names_count == 0)
        to->modules[target].names_first = (uint32_t)to->name_count;
    for (uint32_t i = 0; *whole && i < source->names_count; i++) {
        struct wsdbg_name name = from->names[source->names_first + i];
        uint16_t *map = name.kind == WSDBG_NAME_ROLE ? maps->roles[module] : maps->mbarriers[module];
        const uint8_t its = name.id;
        unsigned id;
        const struct wsdbg_name *same = same_name(to, &to->modules[target], &name, &id);
        map[its] = same ? same->id : id < IDS ? (uint16_t)id : NO_ID;
        if (same || id >= IDS)
            continue;
        name.id = (uint8_t)id;
        name.arriving_roles = map_roles(name.arriving_roles, maps->roles[module]);
        name.waiting_roles = map_roles(name.waiting_roles, maps->roles[module]);
        gather_names(to, target, whole);
        append_names(to, 1, &name, whole);
        to->modules[target].names_count += *whole;
        to->names_inferred = true;
    }
}

static bool make_maps(struct maps *maps, const struct wsdbg_snapshot *from)
{
    maps->contexts = calloc(from->context_count + 1, sizeof *maps->contexts);
    maps->modules = calloc(from->module_count + 1, sizeof *maps->modules);
    maps->functions = calloc(from->function_count + 1, sizeof *maps->functions);
    maps->roles = calloc(from->module_count + 1, sizeof *maps->roles);
    maps->mbarriers = calloc(from->module_count + 1, sizeof *maps->mbarriers);
    return maps->contexts && maps->modules && maps->functions && maps->roles && maps->mbarriers;
}

static void free_maps(struct maps *maps)
{
    free(maps->contexts);
    free(maps->modules);
    free(maps->functions);
    free(maps->roles);
    free(maps->mbarriers);
}

/* Tables only: what they lead to comes with add_rows. */
static bool map_tables(struct wsdbg_snapshot *to, const struct wsdbg_snapshot *from, struct maps *maps)
{
    bool whole = make_maps(maps, from);
    for (uint32_t i = 0; whole && i < from->context_count; i++)
        maps->contexts[i] = map_context(to, &from->contexts[i], &whole);
    for (uint32_t i = 0; whole && i < from->module_count; i++)
        maps->modules[i] = is_used(from, i) ? map_module(to, from, i, maps->contexts, &whole) : WSDBG_NONE;
    for (uint32_t i = 0; whole && i < from->function_count; i++) {
        const uint32_t module = from->functions[i].module;
        maps->functions[i] = map_function(to, &from->functions[i],
                                          module < from->module_count ? maps->modules[module] : WSDBG_NONE, &whole);
    }
    for (uint32_t i = 0; whole && i < from->module_count; i++)
        if (maps->modules[i] != WSDBG_NONE)
            map_names(to, from, i, maps, &whole);
    return whole;
}

static uint32_t shifted(uint32_t row, size_t by)
{
    return row == WSDBG_NONE ? WSDBG_NONE : row + (uint32_t)by;
}

struct bases {
    size_t grids, ctas, warps, barriers, sites, accesses, parts, reaches, excerpts, code, exceptions, answers;
};

static void move_grids(struct wsdbg_snapshot *to, const struct bases *base, const struct maps *maps)
{
    for (size_t i = base->grids; i < to->grid_count; i++) {
        struct wsdbg_grid *grid = &to->grids[i];
        grid->context = maps->contexts[grid->context];
        grid->module = grid->module != WSDBG_NONE ? maps->modules[grid->module] : WSDBG_NONE;
        grid->function = grid->function != WSDBG_NONE ? maps->functions[grid->function] : WSDBG_NONE;
        grid->cta_first += (uint32_t)base->ctas;
        grid->running = grid->warps_live > 0 && to->contexts[grid->context].alive;
    }
    for (size_t i = base->ctas; i < to->cta_count; i++) {
        to->ctas[i].grid += (uint32_t)base->grids;
        to->ctas[i].warp_first += (uint32_t)base->warps;
    }
}

static uint32_t module_in(const struct wsdbg_snapshot *found, uint32_t cta)
{
    return found->grids[found->ctas[cta].grid].module;
}

static void move_warps(struct wsdbg_snapshot *to, const struct wsdbg_snapshot *found, const struct bases *base,
                       const struct maps *maps)
{
    for (size_t i = base->warps; i < to->warp_count; i++) {
        struct wsdbg_warp_row *warp = &to->warps[i];
        const uint32_t module = module_in(found, warp->cta);
        if (warp->role.known && module != WSDBG_NONE) {
            warp->role.value = maps->roles[module][warp->role.value % IDS];
            warp->role.known = warp->role.value != NO_ID;
        }
        warp->cta += (uint32_t)base->ctas;
        warp->barrier = shifted(warp->barrier, base->barriers);
        warp->site = shifted(warp->site, base->sites);
        warp->part_first += (uint32_t)base->parts;
    }
    for (size_t i = base->parts; i < to->part_count; i++) {
        to->parts[i].warp += (uint32_t)base->warps;
        to->parts[i].site = shifted(to->parts[i].site, base->sites);
        to->parts[i].barrier = shifted(to->parts[i].barrier, base->barriers);
        if (to->parts[i].writes_site.known)
            to->parts[i].writes_site.value += (uint32_t)base->sites;
    }
}

static void move_barriers(struct wsdbg_snapshot *to, const struct wsdbg_snapshot *found, const struct bases *base,
                          const struct maps *maps)
{
    for (size_t i = base->barriers; i < to->barrier_count; i++) {
        struct wsdbg_barrier *barrier = &to->barriers[i];
        const uint32_t module = module_in(found, barrier->cta);
        const uint32_t id = barrier->name ? maps->mbarriers[module][barrier->id % IDS] : NO_ID;
        if (id != NO_ID)
            barrier->id = id;
        barrier->name =
            id == NO_ID ? NULL : wsdbg_snapshot_name(to, maps->modules[module], WSDBG_NAME_MBARRIER, barrier->id);
        barrier->cta += (uint32_t)base->ctas;
    }
}

static void move_code(struct wsdbg_snapshot *to, const struct bases *base, const struct maps *maps)
{
    for (size_t i = base->sites; i < to->site_count; i++) {
        struct wsdbg_site *site = &to->sites[i];
        site->function = site->function != WSDBG_NONE ? maps->functions[site->function] : WSDBG_NONE;
        site->inlined_at = shifted(site->inlined_at, base->sites);
    }
    for (size_t i = base->code; i < to->code_count; i++)
        to->code[i].function = maps->functions[to->code[i].function];
    for (size_t i = base->accesses; i < to->access_count; i++) {
        to->accesses[i].grid += (uint32_t)base->grids;
        to->accesses[i].site = shifted(to->accesses[i].site, base->sites);
    }
    for (size_t i = base->reaches; i < to->reach_count; i++) {
        to->reaches[i].warp += (uint32_t)base->warps;
        to->reaches[i].access += (uint32_t)base->accesses;
    }
    for (size_t i = base->answers; i < to->answer_count; i++) {
        to->answers[i].wait += (uint32_t)base->accesses;
        to->answers[i].arrival += (uint32_t)base->accesses;
    }
    for (size_t i = base->excerpts; i < to->excerpt_count; i++) {
        to->excerpts[i].cta = shifted(to->excerpts[i].cta, base->ctas);
        to->excerpts[i].warp = shifted(to->excerpts[i].warp, base->warps);
    }
}

static void move_exceptions(struct wsdbg_snapshot *to, const struct bases *base)
{
    for (size_t i = base->exceptions; i < to->exception_count; i++) {
        to->exceptions[i].warp += (uint32_t)base->warps;
        to->exceptions[i].site = shifted(to->exceptions[i].site, base->sites);
        to->exceptions[i].barrier = shifted(to->exceptions[i].barrier, base->barriers);
    }
}

static bool add_rows(struct wsdbg_snapshot *to, const struct wsdbg_snapshot *found, const struct maps *maps)
{
    const struct bases base = {to->grid_count,    to->cta_count,    to->warp_count,      to->barrier_count,
                               to->site_count,    to->access_count, to->part_count,      to->reach_count,
                               to->excerpt_count, to->code_count,   to->exception_count, to->answer_count};
    bool whole = true;
    APPEND(to, grids, grid_count, found->grid_count, found->grids, &whole);
    APPEND(to, ctas, cta_count, found->cta_count, found->ctas, &whole);
    APPEND(to, warps, warp_count, found->warp_count, found->warps, &whole);
    APPEND(to, barriers, barrier_count, found->barrier_count, found->barriers, &whole);
    APPEND(to, sites, site_count, found->site_count, found->sites, &whole);
    APPEND(to, accesses, access_count, found->access_count, found->accesses, &whole);
    APPEND(to, parts, part_count, found->part_count, found->parts, &whole);
    APPEND(to, reaches, reach_count, found->reach_count, found->reaches, &whole);
    APPEND(to, answers, answer_count, found->answer_count, found->answers, &whole);
    APPEND(to, excerpts, excerpt_count, found->excerpt_count, found->excerpts, &whole);
    APPEND(to, code, code_count, found->code_count, found->code, &whole);
    APPEND(to, exceptions, exception_count, found->exception_count, found->exceptions, &whole);
    APPEND(to, notes, note_count, found->note_count, found->notes, &whole);
    if (!whole)
        return false;
    move_grids(to, &base, maps);
    for (size_t i = base.grids; i < to->grid_count; i++)
        wsdbg_find_launch(to, &to->grids[i]);
    move_warps(to, found, &base, maps);
    move_barriers(to, found, &base, maps);
    move_code(to, &base, maps);
    move_exceptions(to, &base);
    return true;
}

/* What the look before saw, with tables of its own that are the first rows of the snapshot's. */
static struct wsdbg_snapshot *snapshot_before(const struct wsdbg_snapshot *tables, const struct wsdbg_look *look,
                                              const struct maps *maps)
{
    struct wsdbg_snapshot only = {
        .contexts = tables->contexts,
        .context_count = tables->context_count,
        .modules = tables->modules,
        .module_count = tables->module_count,
        .names = tables->names,
        .name_count = tables->name_count,
        .functions = tables->functions,
        .function_count = tables->function_count,
        .time_ns = look->row.time_ns,
        .source = look->found.source,
        .names_inferred = tables->names_inferred,
    };
    struct wsdbg_snapshot *before = calloc(1, sizeof *before);
    if (before && (wsdbg_snapshot_copy(&only, before) || !add_rows(before, &look->found, maps))) {
        wsdbg_snapshot_deinit(before);
        free(before);
        return NULL;
    }
    return before;
}

static void add_times(struct wsdbg_look *const *looks, size_t count, struct wsdbg_snapshot *to, bool *whole)
{
    for (size_t i = 0; i < count && *whole; i++) {
        const struct wsdbg_look_row *row = &looks[i]->row;
        if (i > 0 && (row->moved || (row->barriers_changed.known && row->barriers_changed.value)) &&
            row->time_ns > to->progress_ns)
            to->progress_ns = row->time_ns;
        APPEND(to, looks, look_count, 1, row, whole);
    }
}

static bool add_before(struct wsdbg_look *const *looks, size_t count, struct wsdbg_snapshot *to)
{
    struct maps maps = {0};
    if (count < 2 || to->before)
        return true;
    const bool whole = map_tables(to, &looks[count - 2]->found, &maps);
    if (whole)
        to->before = snapshot_before(to, looks[count - 2], &maps);
    free_maps(&maps);
    return whole && to->before;
}

static bool add_newest(const struct wsdbg_look *look, const struct wsdbg_look_motion *motion, struct wsdbg_snapshot *to)
{
    struct maps maps = {0};
    const size_t first_warp = to->warp_count;
    const bool whole = map_tables(to, &look->found, &maps) && add_rows(to, &look->found, &maps);
    free_maps(&maps);
    if (whole && motion)
        wsdbg_look_show_motion(to, first_warp, look->found.warp_count, motion);
    return whole;
}

struct wsdbg_error *wsdbg_look_snapshot(struct wsdbg_look *const *looks, size_t count, struct wsdbg_snapshot *snapshot)
{
    if (count == 0)
        return NULL;
    struct wsdbg_look *newest = looks[count - 1];
    struct wsdbg_look_motion *motion = calloc(newest->found.warp_count + 1, sizeof *motion);
    bool whole = motion != NULL;
    for (size_t i = 1; whole && i < count; i++)
        wsdbg_look_compare(looks[i - 1], looks[i], i + 1 == count ? motion : NULL);
    whole = whole && add_before(looks, count, snapshot) && add_newest(newest, count > 1 ? motion : NULL, snapshot);
    free(motion);
    if (whole)
        add_times(looks, count, snapshot, &whole);
    if (!snapshot->source)
        snapshot->source = newest->found.source;
    if (!snapshot->time_ns)
        snapshot->time_ns = newest->row.time_ns;
    return whole ? NULL : &wsdbg_error_no_memory;
}
