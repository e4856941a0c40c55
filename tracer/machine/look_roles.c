/* look_roles.c - who does what in a kernel whose author said nothing: roles by what the warps can still come to, names
 * of barriers by who arrives and who waits.
 *
 * Reads: paths of warps, families.  Writes: a grid's roles, snapshot.names of its module, the role of each warp.
 *
 * Warps that can come to a TMA load and not to wgmma load; the other way round they compute.  Four warps in a row have
 * one role unless they differ.  Whose code nobody alive can come to is the role of the warps that are gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"
#include "machine/role_kinds.h"

/* Kinds of accesses that announce bytes or bring them. */
#define BRINGING                                                                      \
    ((uint64_t)1 << WSDBG_ACCESS_ARRIVE_EXPECT | (uint64_t)1 << WSDBG_ACCESS_EXPECT | \
     (uint64_t)1 << WSDBG_ACCESS_COMPLETE | (uint64_t)1 << WSDBG_ACCESS_COPY)

enum { GROUP_WARPS = 4, GROUPS_MAX = WSDBG_LOOK_WARPS_MAX / GROUP_WARPS, ROLES_MAX = 32 };

struct group {
    uint32_t first, count; /* warps */
    enum wsdbg_role_kind role_kind;
    bool any_alive;
    uint32_t role; /* id */
};

struct role_inference {
    struct wsdbg_looking *looking;
    uint32_t grid;
    struct group groups[GROUPS_MAX];
    size_t group_count;
    bool *comes[GROUPS_MAX]; /* to each access: can still */
    bool *came;              /* any live warp can still, or may have */
};

static bool is_load(uint8_t kind)
{
    return kind == WSDBG_ACCESS_COPY;
}

static enum wsdbg_role_kind role_kind_of(const struct wsdbg_code_kernel *kernel, const struct wsdbg_paths *paths)
{
    bool loads = false, computes = false, stores = false;
    for (size_t i = 0; i < kernel->access_count; i++) {
        if (!paths->after[i])
            continue;
        loads |= is_load(kernel->accesses[i].kind);
        computes |= kernel->accesses[i].kind == WSDBG_ACCESS_WGMMA;
        stores |= kernel->accesses[i].kind == WSDBG_ACCESS_STORE;
    }
    if (loads && computes)
        return WSDBG_ROLE_KIND_UNCLEAR;
    return loads      ? WSDBG_ROLE_KIND_LOADS
           : computes ? WSDBG_ROLE_KIND_COMPUTES
           : stores   ? WSDBG_ROLE_KIND_STORES
                      : WSDBG_ROLE_KIND_NONE;
}

static struct wsdbg_error *ask_warp(struct role_inference *inference, uint32_t warp)
{
    struct wsdbg_looking *looking = inference->looking;
    const struct wsdbg_warp_row *row = &looking->out->warps[warp];
    const struct wsdbg_code_kernel *kernel = looking->grids[inference->grid].kernel;
    const uint32_t number = row->warp / GROUP_WARPS;
    for (uint32_t p = row->part_first; p < row->part_first + row->part_count; p++) {
        const struct wsdbg_paths *paths;
        struct wsdbg_error *error = wsdbg_look_paths(looking, p, &paths);
        if (error)
            return error;
        if (!paths)
            continue;
        wsdbg_role_kind_add(&inference->groups[number].role_kind, role_kind_of(kernel, paths));
        for (size_t i = 0; i < kernel->access_count; i++) {
            inference->comes[number][i] |= paths->after[i] == 2;
            inference->came[i] |= paths->after[i] || !paths->before_known[i] || paths->most[i];
        }
    }
    inference->groups[number].any_alive |= row->part_count > 0;
    return NULL;
}

static struct wsdbg_error *ask_warps(struct role_inference *inference)
{
    const struct wsdbg_snapshot *out = inference->looking->out;
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
    const struct wsdbg_code_kernel *kernel = inference->looking->grids[inference->grid].kernel;
    size_t gone = SIZE_MAX;
    for (size_t g = 0; g < inference->group_count; g++) {
        if (inference->groups[g].any_alive)
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
            inference->groups[gone].role_kind = WSDBG_ROLE_KIND_LOADS;
        else if (kernel->accesses[i].kind == WSDBG_ACCESS_WGMMA)
            wsdbg_role_kind_add(&inference->groups[gone].role_kind, WSDBG_ROLE_KIND_COMPUTES);
    }
}

static bool is_of(const struct role_inference *inference, const struct wsdbg_access *access,
                  const struct wsdbg_family *family)
{
    const struct wsdbg_look_grid *grid = &inference->looking->grids[inference->grid];
    for (uint32_t i = 0; access->address.known && i < family->places; i++)
        if (wsdbg_access_may_be(grid, access, family->first + i * family->stride))
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

/* Whether warps of a group can come to a wait for the family, or to an arrival on it. */
static bool comes_to(const struct role_inference *inference, size_t group, const struct wsdbg_family *family,
                     bool waits)
{
    const struct wsdbg_code_kernel *kernel = inference->looking->grids[inference->grid].kernel;
    for (size_t i = 0; i < kernel->access_count; i++)
        if (inference->comes[group][i] && is_at(inference, &kernel->accesses[i], family, waits))
            return true;
    return false;
}

/* Where somebody loads, who waits for what is loaded computes, with or without wgmma. */
static void ask_the_waiting(struct role_inference *inference)
{
    const struct wsdbg_look_grid *grid = &inference->looking->grids[inference->grid];
    bool somebody_loads = false;
    for (size_t g = 0; g < inference->group_count; g++)
        somebody_loads |= inference->groups[g].role_kind == WSDBG_ROLE_KIND_LOADS;
    for (size_t g = 0; somebody_loads && g < inference->group_count; g++)
        for (size_t f = 0; inference->groups[g].role_kind == WSDBG_ROLE_KIND_NONE && f < grid->family_count; f++)
            if (grid->families[f].uses & BRINGING && comes_to(inference, g, &grid->families[f], true))
                inference->groups[g].role_kind = WSDBG_ROLE_KIND_COMPUTES;
}

static struct wsdbg_error *add_name(struct role_inference *inference, uint8_t kind, uint32_t id,
                                    struct wsdbg_name **out)
{
    struct wsdbg_snapshot *snapshot = inference->looking->out;
    struct wsdbg_module *module = &snapshot->modules[snapshot->grids[inference->grid].module];
    if (!wsdbg_grow((void **)&snapshot->names, &inference->looking->capacity.names, snapshot->name_count + 1,
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
    const struct wsdbg_snapshot *snapshot = inference->looking->out;
    const struct wsdbg_module *module = &snapshot->modules[snapshot->grids[inference->grid].module];
    uint32_t next = 0;
    for (uint32_t i = 0; i < module->names_count; i++)
        next += snapshot->names[module->names_first + i].kind == kind;
    return next;
}

static void write_role(const struct role_inference *inference, size_t number, char *out, size_t room)
{
    const struct group *group = &inference->groups[number];
    unsigned before = 0, alike = 0;
    for (size_t g = 0; g < inference->group_count; g++) {
        before += g < number && inference->groups[g].role_kind == group->role_kind;
        alike += inference->groups[g].role_kind == group->role_kind;
    }
    wsdbg_role_kind_name(group->role_kind, before, alike, group->first, group->count, out, room);
}

static struct wsdbg_error *name_roles(struct role_inference *inference)
{
    for (size_t g = 0; g < inference->group_count; g++) {
        struct group *group = &inference->groups[g];
        struct wsdbg_name *name;
        group->role = next_id(inference, WSDBG_NAME_ROLE);
        if (group->role >= ROLES_MAX) {
            group->role = WSDBG_NONE;
            continue;
        }
        struct wsdbg_error *error = add_name(inference, WSDBG_NAME_ROLE, group->role, &name);
        if (error)
            return error;
        write_role(inference, g, name->name, sizeof name->name);
        for (uint32_t w = group->first; w < group->first + group->count; w++)
            inference->looking->grids[inference->grid].role_of_warp[w] = group->role;
    }
    return NULL;
}

/* Whether there are arrivals on the family that another group can come to, or this one cannot. */
static bool others_arrive(const struct role_inference *inference, size_t group, const struct wsdbg_family *family)
{
    const struct wsdbg_code_kernel *kernel = inference->looking->grids[inference->grid].kernel;
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
        if (inference->groups[g].role != WSDBG_NONE && comes_to(inference, g, family, waits))
            roles |= 1u << inference->groups[g].role;
    return roles;
}

static enum wsdbg_barrier_use use_of(const struct role_inference *inference, const struct wsdbg_family *family)
{
    if (family->uses & BRINGING)
        return WSDBG_USE_FULL;
    for (size_t g = 0; g < inference->group_count; g++)
        if (inference->groups[g].role_kind == WSDBG_ROLE_KIND_LOADS && comes_to(inference, g, family, true) &&
            others_arrive(inference, g, family))
            return WSDBG_USE_EMPTY;
    return WSDBG_USE_OTHER;
}

static struct wsdbg_error *name_families(struct role_inference *inference)
{
    struct wsdbg_look_grid *grid = &inference->looking->grids[inference->grid];
    unsigned alike[WSDBG_USE_COUNT] = {0}, before[WSDBG_USE_COUNT] = {0};
    for (size_t i = 0; i < grid->family_count; i++)
        alike[use_of(inference, &grid->families[i])]++;
    for (size_t i = 0; i < grid->family_count; i++) {
        struct wsdbg_family *family = &grid->families[i];
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
        if (use == WSDBG_USE_OTHER)
            snprintf(name->name, sizeof name->name, "mbarrier 0x%x", family->first);
        else
            wsdbg_use_name(use, before[use]++, alike[use], name->name, sizeof name->name);
    }
    return NULL;
}

static void give_roles(const struct role_inference *inference)
{
    const struct wsdbg_snapshot *out = inference->looking->out;
    const struct wsdbg_grid *grid = &out->grids[inference->grid];
    for (uint32_t c = grid->cta_first; c < grid->cta_first + grid->cta_count; c++)
        for (uint32_t w = out->ctas[c].warp_first; w < out->ctas[c].warp_first + out->ctas[c].warp_count; w++) {
            const uint32_t role = inference->looking->grids[inference->grid].role_of_warp[out->warps[w].warp];
            if (role != WSDBG_NONE)
                out->warps[w].role = wsdbg_known_u32(role);
        }
}

static struct wsdbg_error *infer_roles_of_grid(struct wsdbg_looking *looking, uint32_t number)
{
    const struct wsdbg_code_kernel *kernel = looking->grids[number].kernel;
    const uint32_t warps = looking->out->grids[number].warps_per_cta;
    struct role_inference inference = {.looking = looking, .grid = number};
    memset(looking->grids[number].role_of_warp, 0xff, sizeof looking->grids[number].role_of_warp);
    for (; inference.group_count * GROUP_WARPS < warps; inference.group_count++) {
        const uint32_t first = (uint32_t)inference.group_count * GROUP_WARPS;
        inference.groups[inference.group_count] =
            (struct group){.first = first, .count = warps - first < GROUP_WARPS ? warps - first : GROUP_WARPS};
    }
    bool *flags = calloc((inference.group_count + 1) * kernel->access_count + 1, sizeof *flags);
    if (!flags)
        return &wsdbg_error_no_memory;
    inference.came = flags;
    for (size_t g = 0; g < inference.group_count; g++)
        inference.comes[g] = flags + (g + 1) * kernel->access_count;
    struct wsdbg_error *error = ask_warps(&inference);
    if (!error) {
        ask_the_gone(&inference);
        ask_the_waiting(&inference);
        error = name_roles(&inference);
    }
    if (!error)
        error = name_families(&inference);
    give_roles(&inference);
    free(flags);
    return error;
}

/* A module's names are rows behind each other. */
struct wsdbg_error *wsdbg_look_roles(struct wsdbg_looking *looking)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t m = 0; m < looking->out->module_count; m++)
        for (uint32_t g = 0; !error && g < looking->out->grid_count; g++)
            if (looking->out->grids[g].module == m && looking->grids[g].kernel)
                error = infer_roles_of_grid(looking, g);
    return error;
}
