/* look_roles.c - who does what in a kernel whose author said nothing: roles by what the warps can still reach, names of
 * barriers by who arrives and who waits.
 *
 * Reads: paths of warps, families.  Writes: a grid's roles, snapshot.names of its module, the role of each warp.
 *
 * The rules are those of roles/role_kinds.h; this file has what the code that a warp can still reach shows for them.  A
 * role whose code no warp on the GPU can reach is that of the warps that have exited.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"
#include "model/symbol.h"
#include "roles/role_kinds.h"

/* Kinds of accesses that announce bytes or bring them. */
#define BRINGING                                                                      \
    ((uint64_t)1 << WSDBG_ACCESS_ARRIVE_EXPECT | (uint64_t)1 << WSDBG_ACCESS_EXPECT | \
     (uint64_t)1 << WSDBG_ACCESS_COMPLETE | (uint64_t)1 << WSDBG_ACCESS_COPY)

enum { GROUP_WARPS = WSDBG_ROLE_GROUP_WARPS, GROUPS_MAX = WSDBG_LOOK_WARPS_MAX };

struct role_inference {
    const struct wsdbg_look_seen *seen;
    const struct wsdbg_code_kernel *kernel;
    struct wsdbg_families *families;
    struct wsdbg_look_tables *tables;
    struct wsdbg_snapshot *out;
    uint32_t grid;
    const uint64_t *comers; /* see wsdbg_code_comers; NULL = not known */
    size_t group_count;
    uint8_t group_of[WSDBG_LOOK_WARPS_MAX]; /* by warp */
    uint32_t first[GROUPS_MAX];             /* warp of each group; the next group begins behind its last one */
    enum wsdbg_role_kind role_kinds[GROUPS_MAX];
    uint32_t roles[GROUPS_MAX]; /* ids, WSDBG_NONE = there are too many */
    bool any_alive[GROUPS_MAX];
    bool *comes[GROUPS_MAX]; /* to each access: can still */
    bool *came;              /* any live warp can still, or may have */
};

static bool is_load(uint8_t kind)
{
    return kind == WSDBG_ACCESS_COPY;
}

static enum wsdbg_role_kind role_kind_of(const struct wsdbg_code_kernel *kernel, const struct wsdbg_paths *paths)
{
    struct wsdbg_role_operations operations = {0};
    for (size_t i = 0; i < kernel->access_count; i++) {
        if (!paths->after[i])
            continue;
        operations.loads |= is_load(kernel->accesses[i].kind);
        operations.computes |= kernel->accesses[i].kind == WSDBG_ACCESS_WGMMA;
        operations.stores |= kernel->accesses[i].kind == WSDBG_ACCESS_STORE;
    }
    return wsdbg_role_kind_of(operations);
}

static struct wsdbg_error *ask_warp(struct role_inference *inference, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &inference->out->warps[warp];
    const struct wsdbg_code_kernel *kernel = inference->kernel;
    const uint32_t number = inference->group_of[row->warp];
    for (uint32_t p = row->part_first; p < row->part_first + row->part_count; p++) {
        const struct wsdbg_paths *paths;
        struct wsdbg_error *error = wsdbg_look_paths(inference->seen, inference->out, p, &paths);
        if (error)
            return error;
        if (!paths)
            continue;
        wsdbg_role_kind_add(&inference->role_kinds[number], role_kind_of(kernel, paths));
        for (size_t i = 0; i < kernel->access_count; i++) {
            inference->comes[number][i] |= paths->after[i] == 2;
            inference->came[i] |= paths->after[i] || !paths->before_known[i] || paths->most[i];
        }
    }
    inference->any_alive[number] |= row->part_count > 0;
    return NULL;
}

static struct wsdbg_error *ask_warps(struct role_inference *inference)
{
    const struct wsdbg_snapshot *out = inference->out;
    const struct wsdbg_grid *grid = &out->grids[inference->grid];
    struct wsdbg_error *error = NULL;
    for (uint32_t c = grid->cta_first; c < grid->cta_first + grid->cta_count; c++)
        for (uint32_t w = out->ctas[c].warp_first; !error && w < out->ctas[c].warp_first + out->ctas[c].warp_count; w++)
            error = ask_warp(inference, w);
    return error;
}

/* The one group of which no warp is left gets what no living one can or could do. */
static void ask_the_gone(struct role_inference *inference)
{
    const struct wsdbg_code_kernel *kernel = inference->kernel;
    size_t gone = SIZE_MAX;
    for (size_t g = 0; g < inference->group_count; g++) {
        if (inference->any_alive[g])
            continue;
        if (gone != SIZE_MAX)
            return;
        gone = g;
    }
    for (size_t i = 0; gone != SIZE_MAX && i < kernel->access_count; i++) {
        if (inference->came[i])
            continue;
        inference->comes[gone][i] = true;
        if (is_load(kernel->accesses[i].kind))
            inference->role_kinds[gone] = WSDBG_ROLE_KIND_LOADS;
        else if (kernel->accesses[i].kind == WSDBG_ACCESS_WGMMA)
            wsdbg_role_kind_add(&inference->role_kinds[gone], WSDBG_ROLE_KIND_COMPUTES);
    }
}

static bool is_of(const struct role_inference *inference, const struct wsdbg_access *access,
                  const struct wsdbg_family *family)
{
    for (uint32_t i = 0; access->address.known && i < family->places; i++)
        if (wsdbg_access_may_be(inference->families, access, family->first + i * family->stride))
            return true;
    return false;
}

/* Whether an access waits for the family, or signals it. */
static bool is_at(const struct role_inference *inference, const struct wsdbg_access *access,
                  const struct wsdbg_family *family, bool waits)
{
    const bool fits = waits ? access->kind == WSDBG_ACCESS_WAIT
                            : access->kind > WSDBG_ACCESS_WAIT && access->kind < WSDBG_ACCESS_INVALIDATE;
    return fits && is_of(inference, access, family);
}

/* Whether warps of a group can reach a wait for the family, or an arrival on it. */
static bool comes_to(const struct role_inference *inference, size_t group, const struct wsdbg_family *family,
                     bool waits)
{
    const struct wsdbg_code_kernel *kernel = inference->kernel;
    for (size_t i = 0; i < kernel->access_count; i++)
        if (inference->comes[group][i] && is_at(inference, &kernel->accesses[i], family, waits))
            return true;
    return false;
}

/* Nothing but what they wait for tells of groups that neither load nor issue wgmma. */
static void ask_the_waiting(struct role_inference *inference)
{
    const struct wsdbg_families *families = inference->families;
    uint64_t waiting = 0;
    for (size_t g = 0; g < inference->group_count; g++)
        for (size_t f = 0; inference->role_kinds[g] == WSDBG_ROLE_KIND_NONE && f < families->count; f++)
            if (families->rows[f].uses & BRINGING && comes_to(inference, g, &families->rows[f], true))
                waiting |= (uint64_t)1 << g;
    wsdbg_role_groups_compute(inference->role_kinds, inference->group_count, waiting);
}

static struct wsdbg_error *add_name(struct role_inference *inference, uint8_t kind, uint32_t id,
                                    struct wsdbg_name **out)
{
    struct wsdbg_snapshot *snapshot = inference->out;
    struct wsdbg_module *module = &snapshot->modules[snapshot->grids[inference->grid].module];
    if (!wsdbg_grow((void **)&snapshot->names, &inference->tables->capacity.names, snapshot->name_count + 1,
                    sizeof *snapshot->names))
        return &wsdbg_error_no_memory;
    if (module->names_count++ == 0)
        module->names_first = (uint32_t)snapshot->name_count;
    *out = &snapshot->names[snapshot->name_count++];
    **out = (struct wsdbg_name){.kind = kind, .id = (uint8_t)id};
    return NULL;
}

/* The first id of this kind that no name of the grid's module has. */
static uint32_t next_id(const struct role_inference *inference, uint8_t kind)
{
    const struct wsdbg_snapshot *snapshot = inference->out;
    const struct wsdbg_module *module = &snapshot->modules[snapshot->grids[inference->grid].module];
    uint32_t next = 0;
    for (uint32_t i = 0; i < module->names_count; i++)
        next += snapshot->names[module->names_first + i].kind == kind;
    return next;
}

static struct wsdbg_error *name_roles(struct role_inference *inference)
{
    const uint32_t warps = inference->out->grids[inference->grid].warps_per_cta;
    for (size_t g = 0; g < inference->group_count; g++) {
        struct wsdbg_name *name;
        inference->roles[g] = next_id(inference, WSDBG_NAME_ROLE);
        if (inference->roles[g] >= WSDBG_ROLES_MAX) {
            inference->roles[g] = WSDBG_NONE;
            continue;
        }
        struct wsdbg_error *error = add_name(inference, WSDBG_NAME_ROLE, inference->roles[g], &name);
        if (error)
            return error;
        const uint32_t end = g + 1 < inference->group_count ? inference->first[g + 1] : warps;
        wsdbg_role_group_name(inference->role_kinds, inference->group_count, g, inference->first[g], end - 1,
                              name->name, sizeof name->name);
    }
    return NULL;
}

/* Whether there are arrivals on the family that another group can reach, or this one cannot. */
static bool others_arrive(const struct role_inference *inference, size_t group, const struct wsdbg_family *family)
{
    const struct wsdbg_code_kernel *kernel = inference->kernel;
    for (size_t g = 0; g < inference->group_count; g++)
        if (g != group && comes_to(inference, g, family, false))
            return true;
    for (size_t i = 0; i < kernel->access_count; i++)
        if (!inference->comes[group][i] && is_at(inference, &kernel->accesses[i], family, false))
            return true;
    return false;
}

static uint32_t roles_at(const struct role_inference *inference, const struct wsdbg_family *family, bool waits)
{
    uint32_t roles = 0;
    for (size_t g = 0; g < inference->group_count; g++)
        if (inference->roles[g] != WSDBG_NONE && comes_to(inference, g, family, waits))
            roles |= 1u << inference->roles[g];
    return roles;
}

static enum wsdbg_barrier_use use_of(const struct role_inference *inference, const struct wsdbg_family *family)
{
    const bool brings = family->uses & BRINGING;
    bool frees = false;
    for (size_t g = 0; !brings && !frees && g < inference->group_count; g++)
        frees = inference->role_kinds[g] == WSDBG_ROLE_KIND_LOADS && comes_to(inference, g, family, true) &&
                others_arrive(inference, g, family);
    return wsdbg_barrier_use_of(brings, frees);
}

/* The use of a family: how many have the same one, and how many of these come before it. */
struct use_count {
    enum wsdbg_barrier_use use;
    unsigned before, alike;
};

/* Whether a family before this one has the name. */
static bool is_taken(const struct role_inference *inference, size_t family, const char *name)
{
    const struct wsdbg_snapshot *out = inference->out;
    const uint32_t module = out->grids[inference->grid].module;
    for (size_t i = 0; i < family; i++) {
        const uint32_t id = inference->families->rows[i].id;
        const struct wsdbg_name *row = wsdbg_snapshot_name(out, module, WSDBG_NAME_MBARRIER, id);
        if (row && strncmp(row->name, name, sizeof row->name) == 0)
            return true;
    }
    return false;
}

static void set_variable(const char *variable, struct wsdbg_name *name)
{
    snprintf(name->name, sizeof name->name, "%s", variable);
    name->reserved = WSDBG_NAME_OF_VARIABLE;
}

/* What the source calls it comes before what it is used for. */
static void write_name(const struct role_inference *inference, size_t number, const struct use_count *use,
                       struct wsdbg_name *name)
{
    const struct wsdbg_family *family = &inference->families->rows[number];
    char variable[sizeof name->name] = "";
    if (family->variable)
        wsdbg_symbol_variable(family->variable, variable, sizeof variable);
    if (variable[0] && !family->is_all) {
        const size_t length = strnlen(variable, sizeof variable - sizeof "+0xffff");
        snprintf(variable + length, sizeof variable - length, "+%u", family->variable_offset);
    }
    if (variable[0] && !is_taken(inference, number, variable))
        set_variable(variable, name);
    else if (use->use == WSDBG_USE_OTHER || variable[0])
        snprintf(name->name, sizeof name->name, "mbarrier 0x%x", family->first);
    else
        wsdbg_use_name(use->use, use->before, use->alike, name->name, sizeof name->name);
}

static struct wsdbg_error *name_families(struct role_inference *inference)
{
    struct wsdbg_families *families = inference->families;
    unsigned alike[WSDBG_USE_COUNT] = {0}, before[WSDBG_USE_COUNT] = {0};
    for (size_t i = 0; i < families->count; i++)
        alike[use_of(inference, &families->rows[i])] += !families->rows[i].variable;
    for (size_t i = 0; i < families->count; i++) {
        struct wsdbg_family *family = &families->rows[i];
        const enum wsdbg_barrier_use use = use_of(inference, family);
        struct wsdbg_name *name;
        family->id = next_id(inference, WSDBG_NAME_MBARRIER);
        if (family->id > UINT8_MAX)
            continue;
        struct wsdbg_error *error = add_name(inference, WSDBG_NAME_MBARRIER, family->id, &name);
        if (error)
            return error;
        name->stages = (uint8_t)family->places;
        name->arriving_roles = roles_at(inference, family, false);
        name->waiting_roles = roles_at(inference, family, true);
        write_name(inference, i, &(struct use_count){use, before[use], alike[use]}, name);
        before[use] += !family->variable;
    }
    return NULL;
}

static void give_roles(const struct role_inference *inference)
{
    struct wsdbg_snapshot *out = inference->out;
    const struct wsdbg_grid *grid = &out->grids[inference->grid];
    for (uint32_t c = grid->cta_first; c < grid->cta_first + grid->cta_count; c++)
        for (uint32_t w = out->ctas[c].warp_first; w < out->ctas[c].warp_first + out->ctas[c].warp_count; w++) {
            const uint32_t role = inference->roles[inference->group_of[out->warps[w].warp]];
            if (role != WSDBG_NONE)
                out->warps[w].role = wsdbg_known_u32(role);
        }
}

/* ---- groups ---- */

/* Whether the threads of a warp reach a load; to wgmma, or a wait for what is loaded. */
struct tasks {
    bool loads, computes;
};

static struct tasks tasks_of(const struct role_inference *inference, uint32_t warp)
{
    const struct wsdbg_code_kernel *kernel = inference->kernel;
    struct tasks tasks = {0};
    for (size_t i = 0; i < kernel->access_count; i++) {
        const struct wsdbg_access *access = &kernel->accesses[i];
        if (!(inference->comers[i] >> warp & 1))
            continue;
        tasks.loads |= is_load(access->kind);
        tasks.computes |= access->kind == WSDBG_ACCESS_WGMMA;
        for (size_t f = 0; access->kind == WSDBG_ACCESS_WAIT && !tasks.computes && f < inference->families->count; f++)
            tasks.computes = inference->families->rows[f].uses & BRINGING &&
                             is_at(inference, access, &inference->families->rows[f], true);
    }
    return tasks;
}

/* Among four warps in a row are some that load and others that compute: `loads[w]` tells them apart. */
static bool is_mixed(const struct role_inference *inference, uint32_t first, uint32_t end, bool *loads)
{
    bool any_loads = false, any_computes = false;
    for (uint32_t w = first; w < end; w++) {
        const struct tasks tasks = tasks_of(inference, w);
        loads[w] = tasks.loads;
        any_loads |= tasks.loads;
        any_computes |= tasks.computes && !tasks.loads;
    }
    return any_loads && any_computes;
}

/* Four warps in a row are a group; those of a mixed one belong to what is beside them and does the same. */
static void find_groups(struct role_inference *inference, uint32_t warps)
{
    bool loads[WSDBG_LOOK_WARPS_MAX] = {false}, was_mixed = false;
    for (uint32_t w = 0; w < warps; w++) {
        const uint32_t first = w / GROUP_WARPS * GROUP_WARPS;
        const uint32_t end = first + GROUP_WARPS < warps ? first + GROUP_WARPS : warps;
        bool begins = w == first;
        const bool mixed = inference->comers && is_mixed(inference, first, end, loads);
        if (mixed || (begins && was_mixed))
            begins = w == 0 || loads[w] != loads[w - 1] || (!mixed && end - first == GROUP_WARPS);
        was_mixed = mixed;
        if (begins)
            inference->first[inference->group_count++] = w;
        if (mixed)
            inference->role_kinds[inference->group_count - 1] =
                loads[w] ? WSDBG_ROLE_KIND_LOADS : WSDBG_ROLE_KIND_COMPUTES;
        inference->group_of[w] = (uint8_t)(inference->group_count - 1);
    }
}

static struct wsdbg_error *infer(struct role_inference *inference)
{
    struct wsdbg_error *error = ask_warps(inference);
    if (error)
        return error;
    ask_the_gone(inference);
    ask_the_waiting(inference);
    error = name_roles(inference);
    return error ? error : name_families(inference);
}

static struct wsdbg_error *infer_roles_of_grid(const struct wsdbg_look_source *source,
                                               const struct wsdbg_look_seen *seen, uint32_t grid,
                                               struct wsdbg_look_tables *tables, struct wsdbg_families *families)
{
    struct wsdbg_code_kernel *kernel = seen->grids[grid].kernel;
    const uint32_t warps = tables->out->grids[grid].warps_per_cta;
    struct role_inference inference = {
        .seen = seen, .kernel = kernel, .families = families, .tables = tables, .out = tables->out, .grid = grid};
    struct wsdbg_error *error =
        wsdbg_code_comers(source->machine, seen->grids[grid].machine, kernel, &inference.comers);
    if (error)
        return error;
    find_groups(&inference, warps);
    bool *flags = calloc((inference.group_count + 1) * kernel->access_count + 1, sizeof *flags);
    if (!flags)
        return &wsdbg_error_no_memory;
    inference.came = flags;
    for (size_t g = 0; g < inference.group_count; g++)
        inference.comes[g] = flags + (g + 1) * kernel->access_count;
    error = infer(&inference);
    if (!error)
        give_roles(&inference);
    free(flags);
    return error;
}

/* A module's names are rows behind each other. */
struct wsdbg_error *wsdbg_look_roles(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                     struct wsdbg_look_tables *tables, struct wsdbg_families *families)
{
    const struct wsdbg_snapshot *out = tables->out;
    struct wsdbg_error *error = NULL;
    for (uint32_t m = 0; m < out->module_count; m++)
        for (uint32_t g = 0; !error && g < out->grid_count; g++)
            if (out->grids[g].module == m && seen->grids[g].kernel)
                error = infer_roles_of_grid(source, seen, g, tables, &families[g]);
    return error;
}
