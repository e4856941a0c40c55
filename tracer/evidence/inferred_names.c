/* inferred_names.c - names of roles and mbarriers in modules whose events a simulated device wrote: nobody named them.
 *
 * Reads: warps with the kinds of role in their slots, their events.  Writes: names of the module, roles of warps,
 * snapshot.names_inferred.
 *
 * The rules are those of roles/role_kinds.h; this file has what events show for them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "evidence/builder.h"
#include "roles/role_kinds.h"

enum { GROUP_WARPS = WSDBG_ROLE_GROUP_WARPS, GROUPS_MAX = 64, IDS = 256 };

/* What was seen of the barriers with one id.  Masks are of groups. */
struct family {
    bool seen, brings, ended, first_is_free;
    uint32_t stages;
    uint64_t arriving, waiting;
};

struct role_inference {
    struct wsdbg_builder *builder;
    struct wsdbg_snapshot *out;
    uint32_t grid;
    size_t group_count;
    enum wsdbg_role_kind role_kinds[GROUPS_MAX];
    uint32_t roles[GROUPS_MAX]; /* ids */
    struct family families[IDS];
};

typedef void each_warp(struct role_inference *inference, struct wsdbg_warp_row *warp, uint32_t group);

static void for_each_warp(struct role_inference *inference, each_warp *visit)
{
    const struct wsdbg_grid *grid = &inference->out->grids[inference->grid];
    for (uint32_t c = grid->cta_first; c < grid->cta_first + grid->cta_count; c++) {
        const struct wsdbg_cta *cta = &inference->out->ctas[c];
        for (uint32_t w = cta->warp_first; w < cta->warp_first + cta->warp_count; w++)
            visit(inference, &inference->out->warps[w], inference->out->warps[w].warp / GROUP_WARPS);
    }
}

/* ---- what is seen ---- */

static void note_role_kind(struct role_inference *inference, struct wsdbg_warp_row *warp, uint32_t group)
{
    if (group >= inference->group_count)
        inference->group_count = group + 1;
    if (warp->role.known && warp->role.value < WSDBG_ROLE_KIND_STORES)
        wsdbg_role_kind_add(&inference->role_kinds[group], (enum wsdbg_role_kind)(warp->role.value + 1));
}

static void note_wait(struct family *family, const struct wsdbg_history_event *event)
{
    if (event->kind != WSDBG_EVENT_MBARRIER_WAIT_END || event->iteration == WSDBG_NO_ITERATION || family->ended)
        return;
    /* Rounds count from 0, and so does the parity of a barrier that has to be filled first. */
    family->ended = true;
    family->first_is_free = (event->iteration / (family->stages ? family->stages : 1) + event->parity) & 1;
}

static void note_event(struct family *family, uint64_t group, const struct wsdbg_history_event *event)
{
    const bool is_use = event->kind >= WSDBG_EVENT_MBARRIER_INIT && event->kind <= WSDBG_EVENT_TMA_ISSUE;
    if (!is_use)
        return;
    family->seen = true;
    if (event->kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN || event->kind == WSDBG_EVENT_MBARRIER_WAIT_END)
        family->waiting |= group;
    else if (event->kind != WSDBG_EVENT_MBARRIER_INIT)
        family->arriving |= group;
    family->brings |= event->kind == WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX ||
                      event->kind == WSDBG_EVENT_MBARRIER_EXPECT_TX || event->kind == WSDBG_EVENT_TMA_ISSUE;
    note_wait(family, event);
}

static void each_event(struct role_inference *inference, const struct wsdbg_warp_row *warp,
                       void (*note)(struct family *family, uint64_t group, const struct wsdbg_history_event *event))
{
    const uint64_t group = (uint64_t)1 << warp->warp / GROUP_WARPS;
    note(&inference->families[warp->last.barrier], group, &warp->last);
    for (uint32_t i = 0; i < warp->history_count; i++) {
        const struct wsdbg_history_event *event = &inference->out->history[warp->history_first + i];
        note(&inference->families[event->barrier], group, event);
    }
}

static void count_stage(struct family *family, uint64_t group, const struct wsdbg_history_event *event)
{
    (void)group;
    if (event->kind >= WSDBG_EVENT_MBARRIER_INIT && event->kind <= WSDBG_EVENT_TMA_ISSUE &&
        event->stage >= family->stages)
        family->stages = event->stage + 1u;
}

static void count_stages(struct role_inference *inference, struct wsdbg_warp_row *warp, uint32_t group)
{
    (void)group;
    each_event(inference, warp, count_stage);
}

static void note_events(struct role_inference *inference, struct wsdbg_warp_row *warp, uint32_t group)
{
    (void)group;
    each_event(inference, warp, note_event);
}

/* ---- what it means ---- */

static uint64_t groups_with(const struct role_inference *inference, enum wsdbg_role_kind role_kind)
{
    return wsdbg_role_groups_with(inference->role_kinds, inference->group_count, role_kind);
}

/* Warps that arrive on a barrier for which the loading warps wait have waited for the loaded data before. */
static void judge_the_others(struct role_inference *inference)
{
    const uint64_t loading = groups_with(inference, WSDBG_ROLE_KIND_LOADS);
    uint64_t waiting = 0;
    for (size_t id = 0; loading && id < IDS; id++) {
        const struct family *family = &inference->families[id];
        waiting |= family->brings ? family->waiting : family->waiting & loading ? family->arriving : 0;
    }
    wsdbg_role_groups_compute(inference->role_kinds, inference->group_count, waiting);
}

/* Before anything was loaded, the waiting warps tell the use of a barrier. */
static enum wsdbg_barrier_use use_of(const struct role_inference *inference, const struct family *family)
{
    const uint64_t loading = groups_with(inference, WSDBG_ROLE_KIND_LOADS),
                   computing = groups_with(inference, WSDBG_ROLE_KIND_COMPUTES);
    const bool frees = family->waiting & loading && (!family->arriving || family->arriving & ~loading);
    const bool will_bring = loading && family->waiting && !(family->waiting & ~computing) && !family->arriving;
    return wsdbg_barrier_use_of(family->brings || (will_bring && !frees), frees);
}

/* ---- names ---- */

static struct wsdbg_module *module_of(const struct role_inference *inference)
{
    return &inference->out->modules[inference->out->grids[inference->grid].module];
}

static struct wsdbg_error *add_name(struct role_inference *inference, const struct wsdbg_name *name)
{
    struct wsdbg_snapshot *out = inference->out;
    struct wsdbg_module *module = module_of(inference);
    if (!wsdbg_grow((void **)&out->names, &inference->builder->capacity.names, out->name_count + 1, sizeof *out->names))
        return &wsdbg_error_no_memory;
    if (module->names_count++ == 0)
        module->names_first = (uint32_t)out->name_count;
    out->names[out->name_count++] = *name;
    return NULL;
}

/* A role with the same name, of another grid of the module, is the same one. */
static struct wsdbg_error *find_role(struct role_inference *inference, const char *text, uint32_t *id)
{
    const struct wsdbg_module *module = module_of(inference);
    struct wsdbg_name name = {.kind = WSDBG_NAME_ROLE};
    uint32_t next = 0;
    for (uint32_t i = 0; i < module->names_count; i++) {
        const struct wsdbg_name *other = &inference->out->names[module->names_first + i];
        *id = other->id;
        if (other->kind == WSDBG_NAME_ROLE && strcmp(other->name, text) == 0)
            return NULL;
        next += other->kind == WSDBG_NAME_ROLE;
    }
    *id = next < WSDBG_ROLES_MAX ? next : WSDBG_NONE;
    name.id = (uint8_t)next;
    snprintf(name.name, sizeof name.name, "%s", text);
    return next < WSDBG_ROLES_MAX ? add_name(inference, &name) : NULL;
}

static struct wsdbg_error *name_roles(struct role_inference *inference)
{
    const uint32_t warps = inference->out->grids[inference->grid].warps_per_cta;
    struct wsdbg_error *error = NULL;
    for (size_t g = 0; !error && g < inference->group_count; g++) {
        char text[sizeof((struct wsdbg_name *)0)->name];
        wsdbg_role_group_name(inference->role_kinds, inference->group_count, g, (uint32_t)g * GROUP_WARPS,
                              wsdbg_role_group_last(g, warps), text, sizeof text);
        error = find_role(inference, text, &inference->roles[g]);
    }
    return error;
}

static uint32_t roles_of(const struct role_inference *inference, uint64_t groups)
{
    uint32_t roles = 0;
    for (size_t g = 0; g < inference->group_count; g++)
        if (groups >> g & 1 && inference->roles[g] < WSDBG_ROLES_MAX)
            roles |= 1u << inference->roles[g];
    return roles;
}

/* Who arrives and waits: those that were seen to, and before anybody was, those that are there for it.  A group that
 * does both says nothing. */
static void set_roles(const struct role_inference *inference, const struct family *family, enum wsdbg_barrier_use use,
                      struct wsdbg_name *name)
{
    const uint64_t loading = groups_with(inference, WSDBG_ROLE_KIND_LOADS),
                   computing = groups_with(inference, WSDBG_ROLE_KIND_COMPUTES);
    uint64_t arriving = family->arriving, waiting = family->waiting;
    if (!arriving && use != WSDBG_USE_OTHER)
        arriving = use == WSDBG_USE_FULL ? loading : computing;
    if (!waiting && use != WSDBG_USE_OTHER)
        waiting = use == WSDBG_USE_FULL ? computing : loading;
    if (use != WSDBG_USE_OTHER && !(arriving & waiting)) {
        name->arriving_roles = roles_of(inference, arriving);
        name->waiting_roles = roles_of(inference, waiting);
    }
    /* What copies fill is never free at first, even if the iterations on record seem to say so. */
    const bool may_be_free = use != WSDBG_USE_FULL;
    name->first_free =
        may_be_free && (family->ended ? family->first_is_free : use == WSDBG_USE_EMPTY && !family->arriving);
}

static struct wsdbg_error *name_families(struct role_inference *inference)
{
    const uint32_t module = inference->out->grids[inference->grid].module;
    unsigned alike[WSDBG_USE_COUNT] = {0}, before[WSDBG_USE_COUNT] = {0};
    struct wsdbg_error *error = NULL;
    for (size_t id = 0; id < IDS; id++)
        alike[use_of(inference, &inference->families[id])] += inference->families[id].seen;
    for (uint32_t id = 0; !error && id < IDS; id++) {
        const struct family *family = &inference->families[id];
        const enum wsdbg_barrier_use use = use_of(inference, family);
        struct wsdbg_name name = {.kind = WSDBG_NAME_MBARRIER, .id = (uint8_t)id, .stages = (uint8_t)family->stages};
        if (!family->seen || wsdbg_snapshot_name(inference->out, module, WSDBG_NAME_MBARRIER, id))
            continue;
        set_roles(inference, family, use, &name);
        if (use == WSDBG_USE_OTHER)
            snprintf(name.name, sizeof name.name, "mbarrier %u", id);
        else
            wsdbg_use_name(use, before[use]++, alike[use], name.name, sizeof name.name);
        error = add_name(inference, &name);
    }
    return error;
}

static void give_role(struct role_inference *inference, struct wsdbg_warp_row *warp, uint32_t group)
{
    const uint32_t role = inference->roles[group];
    warp->role = role == WSDBG_NONE ? (struct wsdbg_optional_u32){0} : wsdbg_known_u32(role);
}

static struct wsdbg_error *infer_roles_of_grid(struct wsdbg_builder *builder, uint32_t grid)
{
    struct role_inference *inference = calloc(1, sizeof *inference);
    if (!inference)
        return &wsdbg_error_no_memory;
    inference->builder = builder;
    inference->out = builder->out;
    inference->grid = grid;
    for_each_warp(inference, note_role_kind);
    for_each_warp(inference, count_stages);
    for_each_warp(inference, note_events);
    judge_the_others(inference);
    struct wsdbg_error *error = name_roles(inference);
    if (!error)
        error = name_families(inference);
    if (!error)
        for_each_warp(inference, give_role);
    free(inference);
    return error;
}

static void forget_role(struct role_inference *inference, struct wsdbg_warp_row *warp, uint32_t group)
{
    (void)inference;
    (void)group;
    warp->role = (struct wsdbg_optional_u32){0};
}

/* Last events alone would give other names at each look: then there are none. */
static struct wsdbg_error *infer_roles_if_whole(struct wsdbg_builder *builder, uint32_t grid)
{
    struct role_inference nobody = {.out = builder->out, .grid = grid};
    if (builder->request->histories)
        return infer_roles_of_grid(builder, grid);
    for_each_warp(&nobody, forget_role);
    return NULL;
}

/* A module's names are rows behind each other. */
struct wsdbg_error *wsdbg_build_names(struct wsdbg_builder *builder)
{
    struct wsdbg_snapshot *out = builder->out;
    struct wsdbg_error *error = NULL;
    for (uint32_t m = 0; m < out->module_count; m++)
        for (uint32_t g = 0; !error && out->modules[m].unnamed && g < out->grid_count; g++)
            if (out->grids[g].module == m && out->grids[g].cta_count > 0) {
                out->names_inferred = true;
                error = infer_roles_if_whole(builder, g);
            }
    return error;
}
