/* look_reaches.c - every access of a grid's kernel as a row, and how each live warp stands to it: what it must have
 * executed on its way, may have, and still can.
 *
 * Reads: accesses and control flow.  Writes: snapshot.accesses, snapshot.reaches; the paths from each place, computed once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"

static struct wsdbg_optional_u32 exactly(const struct wsdbg_value_set *set)
{
    return set->known && set->count == 1 && set->base <= UINT32_MAX ? wsdbg_known_u32((uint32_t)set->base)
                                                                    : (struct wsdbg_optional_u32){0};
}

static struct wsdbg_error *add_access(struct wsdbg_looking *looking, uint32_t grid, const struct wsdbg_access *access)
{
    struct wsdbg_snapshot *out = looking->out;
    const struct wsdbg_value_set *address = &access->address;
    const bool mbarrier = wsdbg_is_mbarrier_access(access->kind);
    const struct wsdbg_code_place place = {looking->grids[grid].kernel->function, access->instruction};
    uint32_t site;
    struct wsdbg_error *error = wsdbg_look_site(looking, &place, out->grids[grid].module, &site);
    if (error)
        return error;
    if (!wsdbg_grow((void **)&out->accesses, &looking->capacity.accesses, out->access_count + 1, sizeof *out->accesses))
        return &wsdbg_error_no_memory;
    struct wsdbg_access_row *row = &out->accesses[out->access_count++];
    *row = (struct wsdbg_access_row){
        .grid = grid,
        .site = site,
        .kind = access->kind,
        .certain = address->known,
        .any_rank = access->is_any_rank,
        .lanes = access->lanes,
        .count = exactly(&access->count),
        .mask = exactly(&access->mask),
    };
    if (!address->known)
        return NULL;
    row->address = wsdbg_known_u32((uint32_t)address->base & (mbarrier ? WSDBG_OFFSET_MASK : UINT32_MAX));
    row->stride = address->count == 1 ? 0 : address->stride;
    row->places = mbarrier ? wsdbg_look_places(&looking->grids[grid], address) : address->count;
    return NULL;
}

static bool is_arrival(enum wsdbg_access_kind kind)
{
    return kind == WSDBG_ACCESS_ARRIVE || kind == WSDBG_ACCESS_ARRIVE_EXPECT || kind == WSDBG_ACCESS_DROP;
}

static bool ends_turn(enum wsdbg_access_kind kind)
{
    return kind == WSDBG_ACCESS_WAIT || kind == WSDBG_ACCESS_NAMED_SYNC || kind == WSDBG_ACCESS_CLUSTER_WAIT ||
           kind == WSDBG_ACCESS_GRID_WAIT || kind == WSDBG_ACCESS_EXIT;
}

bool wsdbg_look_arrives_on_one_place(const struct wsdbg_access *access)
{
    return is_arrival(access->kind) && access->address.known && access->address.count == 1 && !access->is_any_rank;
}

/* Every way from the arrival comes to another one on its place before it comes to a wait or leaves. */
static bool arrives_again(const struct wsdbg_code_kernel *kernel, size_t arrival, uint64_t *others, uint64_t *reached)
{
    const struct wsdbg_access *from = &kernel->accesses[arrival];
    bool any = false;
    for (size_t i = 0; i < kernel->access_count; i++) {
        const struct wsdbg_access *other = &kernel->accesses[i];
        if (i == arrival || !wsdbg_look_arrives_on_one_place(other) || other->address.base != from->address.base)
            continue;
        others[other->instruction / 64] |= (uint64_t)1 << other->instruction % 64;
        any = true;
    }
    if (!any || wsdbg_graph_reach_set(kernel->function->graph, from->instruction, others, reached))
        return false;
    any = false;
    for (size_t i = 0; i < kernel->access_count; i++) {
        const uint32_t bit = kernel->accesses[i].instruction;
        if (!(reached[bit / 64] >> bit % 64 & 1))
            continue;
        if (ends_turn(kernel->accesses[i].kind))
            return false;
        any = any || others[bit / 64] >> bit % 64 & 1;
    }
    return any;
}

static struct wsdbg_error *find_arrivals_again(struct wsdbg_looking *looking, uint32_t grid)
{
    const struct wsdbg_code_kernel *kernel = looking->grids[grid].kernel;
    const size_t words = kernel ? wsdbg_graph_instruction_count(kernel->function->graph) / 64 + 1 : 0;
    uint64_t *sets = calloc(2 * words + 1, sizeof *sets);
    if (!sets)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; kernel && i < kernel->access_count; i++) {
        if (!wsdbg_look_arrives_on_one_place(&kernel->accesses[i]))
            continue;
        memset(sets, 0, 2 * words * sizeof *sets);
        looking->out->accesses[looking->grids[grid].access_first + i].arrives_again =
            arrives_again(kernel, i, sets, sets + words);
    }
    free(sets);
    return NULL;
}

static struct wsdbg_error *add_accesses(struct wsdbg_looking *looking)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t grid = 0; !error && grid < looking->out->grid_count; grid++) {
        const struct wsdbg_code_kernel *kernel = looking->grids[grid].kernel;
        looking->grids[grid].access_first = (uint32_t)looking->out->access_count;
        for (size_t i = 0; kernel && !error && i < kernel->access_count; i++)
            error = add_access(looking, grid, &kernel->accesses[i]);
        if (!error)
            error = find_arrivals_again(looking, grid);
    }
    return error;
}

/* What a diagnosis asks about the past of: not of what only computes or stores. */
static bool has_past(uint8_t kind)
{
    return kind < WSDBG_ACCESS_WGMMA || kind == WSDBG_ACCESS_GRID_WAIT || kind == WSDBG_ACCESS_GRID_LAUNCH;
}

static struct wsdbg_error *find_leads(struct wsdbg_code_kernel *kernel)
{
    if (kernel->leads_to)
        return NULL;
    const struct wsdbg_graph *graph = kernel->function->graph;
    kernel->set_words = wsdbg_graph_instruction_count(graph) / 64 + 1;
    kernel->leads_to = calloc(kernel->access_count * kernel->set_words + 1, sizeof *kernel->leads_to);
    if (!kernel->leads_to)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < kernel->access_count; i++) {
        uint64_t *row = &kernel->leads_to[i * kernel->set_words];
        /* Through a branch that nobody can follow, to anywhere. */
        if (wsdbg_graph_reach_set(graph, kernel->accesses[i].instruction, NULL, row))
            memset(row, 0xff, kernel->set_words * sizeof *row);
    }
    return NULL;
}

/* How often paths from the kernel's start pass each access: only asked of warps that wait, and of accesses on the way.
 */
static struct wsdbg_error *look_back(struct wsdbg_code_kernel *kernel, struct wsdbg_paths *paths, uint64_t *set)
{
    const uint32_t to = paths->instruction;
    struct wsdbg_error *error = find_leads(kernel);
    for (size_t i = 0; !error && i < kernel->access_count; i++) {
        const uint32_t bit = kernel->accesses[i].instruction;
        const bool on_the_way = kernel->leads_to[i * kernel->set_words + to / 64] >> to % 64 & 1;
        if (!has_past(kernel->accesses[i].kind))
            continue;
        set[bit / 64] = (uint64_t)1 << bit % 64;
        paths->before_known[i] =
            !on_the_way || wsdbg_graph_passes(kernel->function->graph, 0, to, set, &paths->least[i], &paths->most[i]);
        set[bit / 64] = 0;
    }
    return error;
}

static void look_ahead(const struct wsdbg_code_kernel *kernel, struct wsdbg_paths *paths, uint64_t *set)
{
    const bool indirect = wsdbg_graph_reach_set(kernel->function->graph, paths->instruction, NULL, set);
    for (size_t i = 0; i < kernel->access_count; i++) {
        const uint32_t bit = kernel->accesses[i].instruction;
        paths->after[i] = set[bit / 64] >> bit % 64 & 1 ? 2 : indirect;
    }
}

/* Whether a way leads from an arrival at the cluster barrier to the place without a wait for it. */
static bool may_owe_wait(const struct wsdbg_code_kernel *kernel, uint32_t instruction, uint64_t *set)
{
    const struct wsdbg_graph *graph = kernel->function->graph;
    for (size_t i = 0; i < kernel->access_count; i++)
        if (kernel->accesses[i].kind == WSDBG_ACCESS_CLUSTER_WAIT)
            set[kernel->accesses[i].instruction / 64] |= (uint64_t)1 << kernel->accesses[i].instruction % 64;
    for (size_t i = 0; i < kernel->access_count; i++)
        if (kernel->accesses[i].kind == WSDBG_ACCESS_CLUSTER_ARRIVE &&
            wsdbg_graph_reaches(graph, kernel->accesses[i].instruction, instruction, set) != WSDBG_REACHES_NO)
            return true;
    return false;
}

static struct wsdbg_error *fill_paths(struct wsdbg_code_kernel *kernel, bool back, struct wsdbg_paths *paths)
{
    const size_t words = wsdbg_graph_instruction_count(kernel->function->graph) / 64 + 1;
    uint64_t *set = calloc(words, sizeof *set);
    paths->least = calloc(3 * kernel->access_count + 1, 1);
    paths->before_known = calloc(kernel->access_count + 1, sizeof *paths->before_known);
    struct wsdbg_error *error = set && paths->least && paths->before_known ? NULL : &wsdbg_error_no_memory;
    if (!error) {
        paths->most = paths->least + kernel->access_count;
        paths->after = paths->most + kernel->access_count;
    }
    if (!error && back)
        error = look_back(kernel, paths, set);
    if (!error) {
        memset(set, 0, words * sizeof *set);
        paths->may_owe_wait = may_owe_wait(kernel, paths->instruction, set);
        memset(set, 0, words * sizeof *set);
        look_ahead(kernel, paths, set);
    } else {
        free(paths->least);
        free(paths->before_known);
    }
    free(set);
    return error;
}

/* All places of one wait have the same paths: that of the instruction that waits; behind a BAR, of the one after it.
 */
static uint32_t paths_of(const struct wsdbg_look_part *part, enum wsdbg_warp_state state)
{
    if (state == WSDBG_WARP_WAIT_NAMED || state == WSDBG_WARP_RECONVERGE || !wsdbg_warp_state_waits(state))
        return part->place.instruction;
    return part->site.instruction;
}

struct wsdbg_error *wsdbg_look_paths(struct wsdbg_looking *looking, uint32_t part, const struct wsdbg_paths **out)
{
    const struct wsdbg_look_part *beside = &looking->parts[part];
    const enum wsdbg_warp_state state = looking->out->parts[part].state;
    const uint32_t cta = looking->out->warps[looking->out->parts[part].warp].cta;
    struct wsdbg_code_kernel *kernel = looking->grids[looking->out->ctas[cta].grid].kernel;
    *out = NULL;
    if (!kernel || beside->place.function != kernel->function)
        return NULL;
    const uint32_t instruction = paths_of(beside, state);
    const bool back = wsdbg_warp_state_waits(state);
    for (size_t i = 0; i < kernel->paths_count; i++)
        if (kernel->paths_list[i].instruction == instruction && (kernel->paths_list[i].looked_back || !back)) {
            *out = &kernel->paths_list[i];
            return NULL;
        }
    if (!wsdbg_grow((void **)&kernel->paths_list, &kernel->paths_capacity, kernel->paths_count + 1,
                    sizeof *kernel->paths_list))
        return &wsdbg_error_no_memory;
    struct wsdbg_paths *paths = &kernel->paths_list[kernel->paths_count];
    *paths = (struct wsdbg_paths){.instruction = instruction, .looked_back = back};
    struct wsdbg_error *error = fill_paths(kernel, back, paths);
    if (error)
        return error;
    kernel->paths_count++;
    *out = paths;
    return NULL;
}

/* Before: of the part that the others wait for; after: of any of them. */
static struct wsdbg_error *add_reaches_of(struct wsdbg_looking *looking, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &looking->out->warps[warp];
    const struct wsdbg_look_grid *grid = &looking->grids[looking->out->ctas[row->cta].grid];
    const size_t first = looking->out->reach_count, count = grid->kernel ? grid->kernel->access_count : 0;
    struct wsdbg_reach *reaches = &looking->out->reaches[first];
    for (uint32_t p = row->part_first; p < row->part_first + row->part_count; p++) {
        const struct wsdbg_paths *paths;
        struct wsdbg_error *error = wsdbg_look_paths(looking, p, &paths);
        if (error)
            return error;
        if (!paths) {
            looking->out->reach_count = first; /* a part stands where nobody knows how it goes on */
            return NULL;
        }
        looking->out->reach_count = first + count;
        for (size_t i = 0; i < count; i++) {
            const uint8_t after =
                p == row->part_first || paths->after[i] > reaches[i].after ? paths->after[i] : reaches[i].after;
            if (p == looking->warps[warp].decides || p == row->part_first)
                reaches[i] = (struct wsdbg_reach){
                    .before_least = paths->least[i],
                    .before_most = paths->most[i],
                    .before_known = paths->before_known[i],
                };
            reaches[i].warp = warp;
            reaches[i].access = grid->access_first + (uint32_t)i;
            reaches[i].after = after;
        }
    }
    return NULL;
}

struct wsdbg_error *wsdbg_look_reaches(struct wsdbg_looking *looking)
{
    size_t most = 0;
    struct wsdbg_error *error = add_accesses(looking);
    wsdbg_look_find_gatherings(looking);
    for (uint32_t i = 0; i < looking->out->warp_count; i++) {
        const struct wsdbg_look_grid *grid = &looking->grids[looking->out->ctas[looking->out->warps[i].cta].grid];
        most += grid->kernel ? 2 * grid->kernel->access_count : 0;
    }
    looking->out->reaches = error ? NULL : malloc((most + 1) * sizeof *looking->out->reaches);
    if (!error && !looking->out->reaches)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; !error && i < looking->out->warp_count; i++) {
        const size_t first = looking->out->reach_count;
        if (looking->out->warps[i].part_count)
            error = add_reaches_of(looking, i);
        if (!error && wsdbg_look_counts_executions(looking, i))
            error = wsdbg_look_executions(looking, i, first);
    }
    return error;
}
