/* look_snapshot.c - adds what looks found to a snapshot that may hold tables already.
 *
 * Reads: looks, oldest first.  Writes: rows behind those that are there; contexts, modules and functions are found
 * again by handle and name.  Names that an author gave stay; an inferred one that says the same takes its id.
 */
#include <stdlib.h>
#include <string.h>

#include "machine/launch_match.h"
#include "machine/look_compare.h"
#include "model/rows.h"

enum { IDS = 256, NO_ID = IDS, ROLES_MAX = 32 };
#define UNLISTED_ROW 0x80000000u /* from here on: modules that no observer listed */

/* Rows of a look's tables in the snapshot's. */
struct maps {
    uint32_t *contexts, *modules, *names, *functions;
    uint16_t (*roles)[IDS], (*mbarriers)[IDS]; /* for each of the look's modules; NO_ID: all ids are taken */
};

/* *whole becomes false where there is no memory. */
#define ADD_ROW(to, table, count, row, whole)                                 \
    do {                                                                      \
        if (wsdbg_rows_reserve(to, &(struct wsdbg_table_counts){.table = 1})) \
            *(whole) = false;                                                 \
        else                                                                  \
            (to)->table[(to)->count++] = *(row);                              \
    } while (0)

static uint32_t map_context(struct wsdbg_snapshot *to, const struct wsdbg_context *context, bool *whole)
{
    for (uint32_t i = 0; i < to->context_count; i++)
        if (to->contexts[i].handle == context->handle &&
            (context->process_id == 0 || to->contexts[i].process_id == context->process_id)) {
            to->contexts[i].alive = to->contexts[i].alive && context->alive;
            to->contexts[i].error = to->contexts[i].error ? to->contexts[i].error : context->error;
            if (context->error_words[0]) {
                to->contexts[i].error_grid = context->error_grid;
                memcpy(to->contexts[i].error_words, context->error_words, sizeof context->error_words);
            }
            return i;
        }
    ADD_ROW(to, contexts, context_count, context, whole);
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
    row.names_first = row.names_count = row.names_given = 0;
    row.process_id = row.context != WSDBG_NONE ? to->contexts[row.context].process_id : 0;
    ADD_ROW(to, modules, module_count, &row, whole);
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
    ADD_ROW(to, functions, function_count, &row, whole);
    return (uint32_t)to->function_count - 1;
}

static bool is_used(const struct wsdbg_snapshot *found, uint32_t module)
{
    for (size_t i = 0; i < found->grid_count; i++)
        if (found->grids[i].module == module)
            return true;
    return false;
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
    if (wsdbg_rows_reserve(to, &(struct wsdbg_table_counts){.names = count})) {
        *whole = false;
        return;
    }
    memcpy(&to->names[to->name_count], &to->names[first], count * sizeof *to->names);
    to->modules[module].names_first = (uint32_t)to->name_count;
    to->name_count += count;
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
        ADD_ROW(to, names, name_count, &name, whole);
        to->modules[target].names_count += *whole;
        to->names_inferred = true;
    }
}

/* Where the names are, once all have their places. */
static void find_names(const struct wsdbg_snapshot *to, const struct wsdbg_snapshot *from, const struct maps *maps)
{
    memset(maps->names, 0xff, from->name_count * sizeof *maps->names);
    for (uint32_t m = 0; m < from->module_count; m++)
        for (uint32_t i = 0; maps->modules[m] != WSDBG_NONE && i < from->modules[m].names_count; i++) {
            const uint32_t row = from->modules[m].names_first + i;
            const struct wsdbg_name *name = &from->names[row];
            const uint16_t *ids = name->kind == WSDBG_NAME_ROLE ? maps->roles[m] : maps->mbarriers[m];
            const struct wsdbg_name *found = wsdbg_snapshot_name(to, maps->modules[m], name->kind, ids[name->id]);
            maps->names[row] = found ? (uint32_t)(found - to->names) : WSDBG_NONE;
        }
}

static bool make_maps(struct maps *maps, const struct wsdbg_snapshot *from)
{
    maps->contexts = calloc(from->context_count + 1, sizeof *maps->contexts);
    maps->modules = calloc(from->module_count + 1, sizeof *maps->modules);
    maps->names = calloc(from->name_count + 1, sizeof *maps->names);
    maps->functions = calloc(from->function_count + 1, sizeof *maps->functions);
    maps->roles = calloc(from->module_count + 1, sizeof *maps->roles);
    maps->mbarriers = calloc(from->module_count + 1, sizeof *maps->mbarriers);
    return maps->contexts && maps->modules && maps->names && maps->functions && maps->roles && maps->mbarriers;
}

static void free_maps(struct maps *maps)
{
    free(maps->contexts);
    free(maps->modules);
    free(maps->names);
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
    if (whole)
        find_names(to, from, maps);
    return whole;
}

static uint32_t module_in(const struct wsdbg_snapshot *found, uint32_t cta)
{
    return found->grids[found->ctas[cta].grid].module;
}

/* Roles and mbarriers are known by the ids of their names, which may be others in the snapshot. */
static void give_ids(struct wsdbg_snapshot *to, const struct wsdbg_snapshot *found, const struct maps *maps)
{
    const size_t first_warp = to->warp_count - found->warp_count,
                 first_barrier = to->barrier_count - found->barrier_count;
    for (size_t i = 0; i < found->warp_count; i++) {
        struct wsdbg_optional_u32 *role = &to->warps[first_warp + i].role;
        const uint32_t module = module_in(found, found->warps[i].cta);
        if (role->known && module != WSDBG_NONE) {
            role->value = maps->roles[module][role->value % IDS];
            role->known = role->value != NO_ID;
        }
    }
    for (size_t i = first_barrier; i < to->barrier_count; i++)
        if (to->barriers[i].name)
            to->barriers[i].id = to->barriers[i].name->id;
}

static bool add_rows(struct wsdbg_snapshot *to, const struct wsdbg_snapshot *found, const struct maps *maps)
{
    const struct wsdbg_table_maps again = {.contexts = {.numbers = maps->contexts},
                                           .modules = {.numbers = maps->modules},
                                           .names = {.numbers = maps->names},
                                           .functions = {.numbers = maps->functions}};
    if (wsdbg_rows_append(to, found, &again))
        return false;
    for (size_t i = to->grid_count - found->grid_count; i < to->grid_count; i++) {
        to->grids[i].running = to->grids[i].warps_live > 0 && to->contexts[to->grids[i].context].alive;
        wsdbg_find_launch(to, &to->grids[i]);
    }
    give_ids(to, found, maps);
    return true;
}

/* What the look before saw, with tables of its own that are the first rows of the snapshot's. */
static struct wsdbg_snapshot *snapshot_before(const struct wsdbg_snapshot *tables, const struct wsdbg_look *look,
                                              const struct maps *maps)
{
    struct wsdbg_snapshot only = {
        .time_ns = look->row.time_ns,
        .source = look->found.source,
        .names_inferred = tables->names_inferred,
    };
    wsdbg_rows_borrow(tables, WSDBG_TABLES_SHARED, &only);
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
        ADD_ROW(to, looks, look_count, row, whole);
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
