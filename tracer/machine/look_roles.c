/* look_roles.c - who does what in a kernel whose author said nothing: roles by what the warps can still come to, names
 * of barriers by who arrives and who waits.
 *
 * Reads: stances, families.  Writes: a grid's roles, snapshot.names of its module, the role of each warp.
 *
 * Warps that can come to a TMA load and not to wgmma load; the other way round they compute.  Four warps in a row have
 * one role unless they differ.  Whose code nobody alive can come to is the role of the warps that are gone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"
#include "machine/trades.h"

/* Kinds of accesses that announce bytes or bring them. */
#define BRINGING                                                                      \
    ((uint64_t)1 << WSDBG_ACCESS_ARRIVE_EXPECT | (uint64_t)1 << WSDBG_ACCESS_EXPECT | \
     (uint64_t)1 << WSDBG_ACCESS_COMPLETE | (uint64_t)1 << WSDBG_ACCESS_COPY)

enum { GROUP_WARPS = 4, GROUPS_MAX = WSDBG_LOOK_WARPS_MAX / GROUP_WARPS, ROLES_MAX = 32 };

struct group {
    uint32_t first, count; /* warps */
    enum wsdbg_trade trade;
    bool any_alive;
    uint32_t role; /* id */
};

struct cast {
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

static enum wsdbg_trade trade_of(const struct wsdbg_code_kernel *kernel, const struct wsdbg_stance *stance)
{
    bool loads = false, computes = false, stores = false;
    for (size_t i = 0; i < kernel->access_count; i++) {
        if (!stance->after[i])
            continue;
        loads |= is_load(kernel->accesses[i].kind);
        computes |= kernel->accesses[i].kind == WSDBG_ACCESS_WGMMA;
        stores |= kernel->accesses[i].kind == WSDBG_ACCESS_STORE;
    }
    if (loads && computes)
        return WSDBG_TRADE_UNCLEAR;
    return loads ? WSDBG_TRADE_LOADS : computes ? WSDBG_TRADE_COMPUTES : stores ? WSDBG_TRADE_STORES : WSDBG_TRADE_NONE;
}

static struct wsdbg_error *ask_warp(struct cast *cast, uint32_t warp)
{
    struct wsdbg_looking *looking = cast->looking;
    const struct wsdbg_warp_row *row = &looking->out->warps[warp];
    const struct wsdbg_code_kernel *kernel = looking->grids[cast->grid].kernel;
    const uint32_t number = row->warp / GROUP_WARPS;
    for (uint32_t p = row->part_first; p < row->part_first + row->part_count; p++) {
        const struct wsdbg_stance *stance;
        struct wsdbg_error *error = wsdbg_look_stance(looking, p, &stance);
        if (error)
            return error;
        if (!stance)
            continue;
        wsdbg_trade_add(&cast->groups[number].trade, trade_of(kernel, stance));
        for (size_t i = 0; i < kernel->access_count; i++) {
            cast->comes[number][i] |= stance->after[i] == 2;
            cast->came[i] |= stance->after[i] || !stance->before_known[i] || stance->most[i];
        }
    }
    cast->groups[number].any_alive |= row->part_count > 0;
    return NULL;
}

static struct wsdbg_error *ask_warps(struct cast *cast)
{
    const struct wsdbg_snapshot *out = cast->looking->out;
    const struct wsdbg_grid *grid = &out->grids[cast->grid];
    struct wsdbg_error *error = NULL;
    for (uint32_t c = grid->cta_first; c < grid->cta_first + grid->cta_count; c++)
        for (uint32_t w = out->ctas[c].warp_first; !error && w < out->ctas[c].warp_first + out->ctas[c].warp_count; w++)
            error = ask_warp(cast, w);
    return error;
}

/* The one group of which no warp is left gets what no living one can or could do. */
static void ask_the_gone(struct cast *cast)
{
    const struct wsdbg_code_kernel *kernel = cast->looking->grids[cast->grid].kernel;
    size_t gone = SIZE_MAX;
    for (size_t g = 0; g < cast->group_count; g++) {
        if (cast->groups[g].any_alive)
            continue;
        if (gone != SIZE_MAX)
            return;
        gone = g;
    }
    for (size_t i = 0; gone != SIZE_MAX && i < kernel->access_count; i++) {
        if (cast->came[i])
            continue;
        cast->comes[gone][i] = true;
        if (is_load(kernel->accesses[i].kind))
            cast->groups[gone].trade = WSDBG_TRADE_LOADS;
        else if (kernel->accesses[i].kind == WSDBG_ACCESS_WGMMA)
            wsdbg_trade_add(&cast->groups[gone].trade, WSDBG_TRADE_COMPUTES);
    }
}

static bool is_of(const struct cast *cast, const struct wsdbg_access *access, const struct wsdbg_family *family)
{
    const struct wsdbg_look_grid *grid = &cast->looking->grids[cast->grid];
    for (uint32_t i = 0; access->address.known && i < family->places; i++)
        if (wsdbg_access_may_be(grid, access, family->first + i * family->stride))
            return true;
    return false;
}

/* Whether an access waits for the family, or signals it. */
static bool is_at(const struct cast *cast, const struct wsdbg_access *access, const struct wsdbg_family *family,
                  bool waits)
{
    const bool fits = waits ? access->kind == WSDBG_ACCESS_WAIT
                            : access->kind > WSDBG_ACCESS_WAIT && access->kind < WSDBG_ACCESS_INVALIDATE;
    return fits && is_of(cast, access, family);
}

/* Whether warps of a group can come to a wait for the family, or to an arrival on it. */
static bool comes_to(const struct cast *cast, size_t group, const struct wsdbg_family *family, bool waits)
{
    const struct wsdbg_code_kernel *kernel = cast->looking->grids[cast->grid].kernel;
    for (size_t i = 0; i < kernel->access_count; i++)
        if (cast->comes[group][i] && is_at(cast, &kernel->accesses[i], family, waits))
            return true;
    return false;
}

/* Where somebody loads, who waits for what is loaded computes, with or without wgmma. */
static void ask_the_waiting(struct cast *cast)
{
    const struct wsdbg_look_grid *grid = &cast->looking->grids[cast->grid];
    bool somebody_loads = false;
    for (size_t g = 0; g < cast->group_count; g++)
        somebody_loads |= cast->groups[g].trade == WSDBG_TRADE_LOADS;
    for (size_t g = 0; somebody_loads && g < cast->group_count; g++)
        for (size_t f = 0; cast->groups[g].trade == WSDBG_TRADE_NONE && f < grid->family_count; f++)
            if (grid->families[f].uses & BRINGING && comes_to(cast, g, &grid->families[f], true))
                cast->groups[g].trade = WSDBG_TRADE_COMPUTES;
}

static struct wsdbg_error *add_name(struct cast *cast, uint8_t kind, uint32_t id, struct wsdbg_name **out)
{
    struct wsdbg_snapshot *snapshot = cast->looking->out;
    struct wsdbg_module *module = &snapshot->modules[snapshot->grids[cast->grid].module];
    if (!wsdbg_grow((void **)&snapshot->names, &cast->looking->capacity.names, snapshot->name_count + 1,
                    sizeof *snapshot->names))
        return &wsdbg_error_no_memory;
    if (module->names_count++ == 0)
        module->names_first = (uint32_t)snapshot->name_count;
    *out = &snapshot->names[snapshot->name_count++];
    **out = (struct wsdbg_name){.kind = kind, .id = (uint8_t)id};
    return NULL;
}

/* The first id of this kind that no name of the grid's module has. */
static uint32_t next_id(const struct cast *cast, uint8_t kind)
{
    const struct wsdbg_snapshot *snapshot = cast->looking->out;
    const struct wsdbg_module *module = &snapshot->modules[snapshot->grids[cast->grid].module];
    uint32_t next = 0;
    for (uint32_t i = 0; i < module->names_count; i++)
        next += snapshot->names[module->names_first + i].kind == kind;
    return next;
}

static void write_role(const struct cast *cast, size_t number, char *out, size_t room)
{
    const struct group *group = &cast->groups[number];
    unsigned before = 0, alike = 0;
    for (size_t g = 0; g < cast->group_count; g++) {
        before += g < number && cast->groups[g].trade == group->trade;
        alike += cast->groups[g].trade == group->trade;
    }
    wsdbg_trade_name(group->trade, before, alike, group->first, group->count, out, room);
}

static struct wsdbg_error *name_roles(struct cast *cast)
{
    for (size_t g = 0; g < cast->group_count; g++) {
        struct group *group = &cast->groups[g];
        struct wsdbg_name *name;
        group->role = next_id(cast, WSDBG_NAME_ROLE);
        if (group->role >= ROLES_MAX) {
            group->role = WSDBG_NONE;
            continue;
        }
        struct wsdbg_error *error = add_name(cast, WSDBG_NAME_ROLE, group->role, &name);
        if (error)
            return error;
        write_role(cast, g, name->name, sizeof name->name);
        for (uint32_t w = group->first; w < group->first + group->count; w++)
            cast->looking->grids[cast->grid].role_of_warp[w] = group->role;
    }
    return NULL;
}

/* Whether there are arrivals on the family that another group can come to, or this one cannot. */
static bool others_arrive(const struct cast *cast, size_t group, const struct wsdbg_family *family)
{
    const struct wsdbg_code_kernel *kernel = cast->looking->grids[cast->grid].kernel;
    for (size_t g = 0; g < cast->group_count; g++)
        if (g != group && comes_to(cast, g, family, false))
            return true;
    for (size_t i = 0; i < kernel->access_count; i++)
        if (!cast->comes[group][i] && is_at(cast, &kernel->accesses[i], family, false))
            return true;
    return false;
}

static uint32_t roles_at(const struct cast *cast, const struct wsdbg_family *family, bool waits)
{
    uint32_t roles = 0;
    for (size_t g = 0; g < cast->group_count; g++)
        if (cast->groups[g].role != WSDBG_NONE && comes_to(cast, g, family, waits))
            roles |= 1u << cast->groups[g].role;
    return roles;
}

static enum wsdbg_barrier_use use_of(const struct cast *cast, const struct wsdbg_family *family)
{
    if (family->uses & BRINGING)
        return WSDBG_USE_FULL;
    for (size_t g = 0; g < cast->group_count; g++)
        if (cast->groups[g].trade == WSDBG_TRADE_LOADS && comes_to(cast, g, family, true) &&
            others_arrive(cast, g, family))
            return WSDBG_USE_EMPTY;
    return WSDBG_USE_OTHER;
}

static struct wsdbg_error *name_families(struct cast *cast)
{
    struct wsdbg_look_grid *grid = &cast->looking->grids[cast->grid];
    unsigned alike[WSDBG_USE_COUNT] = {0}, before[WSDBG_USE_COUNT] = {0};
    for (size_t i = 0; i < grid->family_count; i++)
        alike[use_of(cast, &grid->families[i])]++;
    for (size_t i = 0; i < grid->family_count; i++) {
        struct wsdbg_family *family = &grid->families[i];
        const enum wsdbg_barrier_use use = use_of(cast, family);
        struct wsdbg_name *name;
        family->id = next_id(cast, WSDBG_NAME_MBARRIER);
        if (family->id > UINT8_MAX)
            continue;
        struct wsdbg_error *error = add_name(cast, WSDBG_NAME_MBARRIER, family->id, &name);
        if (error)
            return error;
        name->stages = (uint8_t)family->places;
        name->arriving_roles = roles_at(cast, family, false);
        name->waiting_roles = roles_at(cast, family, true);
        if (use == WSDBG_USE_OTHER)
            snprintf(name->name, sizeof name->name, "mbarrier 0x%x", family->first);
        else
            wsdbg_use_name(use, before[use]++, alike[use], name->name, sizeof name->name);
    }
    return NULL;
}

static void give_roles(const struct cast *cast)
{
    const struct wsdbg_snapshot *out = cast->looking->out;
    const struct wsdbg_grid *grid = &out->grids[cast->grid];
    for (uint32_t c = grid->cta_first; c < grid->cta_first + grid->cta_count; c++)
        for (uint32_t w = out->ctas[c].warp_first; w < out->ctas[c].warp_first + out->ctas[c].warp_count; w++) {
            const uint32_t role = cast->looking->grids[cast->grid].role_of_warp[out->warps[w].warp];
            if (role != WSDBG_NONE)
                out->warps[w].role = wsdbg_known_u32(role);
        }
}

static struct wsdbg_error *cast_grid(struct wsdbg_looking *looking, uint32_t number)
{
    const struct wsdbg_code_kernel *kernel = looking->grids[number].kernel;
    const uint32_t warps = looking->out->grids[number].warps_per_cta;
    struct cast cast = {.looking = looking, .grid = number};
    memset(looking->grids[number].role_of_warp, 0xff, sizeof looking->grids[number].role_of_warp);
    for (; cast.group_count * GROUP_WARPS < warps; cast.group_count++) {
        const uint32_t first = (uint32_t)cast.group_count * GROUP_WARPS;
        cast.groups[cast.group_count] =
            (struct group){.first = first, .count = warps - first < GROUP_WARPS ? warps - first : GROUP_WARPS};
    }
    bool *flags = calloc((cast.group_count + 1) * kernel->access_count + 1, sizeof *flags);
    if (!flags)
        return &wsdbg_error_no_memory;
    cast.came = flags;
    for (size_t g = 0; g < cast.group_count; g++)
        cast.comes[g] = flags + (g + 1) * kernel->access_count;
    struct wsdbg_error *error = ask_warps(&cast);
    if (!error) {
        ask_the_gone(&cast);
        ask_the_waiting(&cast);
        error = name_roles(&cast);
    }
    if (!error)
        error = name_families(&cast);
    give_roles(&cast);
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
                error = cast_grid(looking, g);
    return error;
}
