/* look_accesses.c - every access of a grid's kernel as a row.
 *
 * Reads: accesses, families, control flow.  Writes: snapshot.accesses.
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

static struct wsdbg_error *add_access(struct wsdbg_look_tables *tables, uint32_t grid,
                                      const struct wsdbg_code_kernel *kernel, const struct wsdbg_families *families,
                                      const struct wsdbg_access *access)
{
    struct wsdbg_snapshot *out = tables->out;
    const struct wsdbg_value_set *address = &access->address;
    const bool mbarrier = wsdbg_is_mbarrier_access(access->kind);
    const struct wsdbg_code_place place = {kernel->function, access->instruction};
    uint32_t site;
    struct wsdbg_error *error = wsdbg_look_site(tables, &place, out->grids[grid].module, &site);
    if (error)
        return error;
    if (!wsdbg_grow((void **)&out->accesses, &tables->capacity.accesses, out->access_count + 1, sizeof *out->accesses))
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
    row->places = mbarrier ? wsdbg_family_places(families, address) : address->count;
    return NULL;
}

bool wsdbg_look_arrives_on_one_place(const struct wsdbg_access *access)
{
    return wsdbg_look_is_arrival(access) && access->address.known && access->address.count == 1 && !access->is_any_rank;
}

/* Every way from the arrival reaches another one on its place before it reaches a wait or leaves. */
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
        if (wsdbg_look_ends_turn(&kernel->accesses[i]))
            return false;
        any = any || others[bit / 64] >> bit % 64 & 1;
    }
    return any;
}

static struct wsdbg_error *find_arrivals_again(const struct wsdbg_code_kernel *kernel, struct wsdbg_access_row *rows)
{
    const size_t words = wsdbg_graph_instruction_count(kernel->function->graph) / 64 + 1;
    uint64_t *sets = calloc(2 * words, sizeof *sets);
    if (!sets)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < kernel->access_count; i++) {
        if (!wsdbg_look_arrives_on_one_place(&kernel->accesses[i]))
            continue;
        memset(sets, 0, 2 * words * sizeof *sets);
        rows[i].arrives_again = arrives_again(kernel, i, sets, sets + words);
    }
    free(sets);
    return NULL;
}

struct wsdbg_error *wsdbg_look_accesses(const struct wsdbg_look_seen *seen, const struct wsdbg_families *families,
                                        struct wsdbg_look_tables *tables, uint32_t *access_first)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t grid = 0; !error && grid < tables->out->grid_count; grid++) {
        const struct wsdbg_code_kernel *kernel = seen->grids[grid].kernel;
        access_first[grid] = (uint32_t)tables->out->access_count;
        for (size_t i = 0; kernel && !error && i < kernel->access_count; i++)
            error = add_access(tables, grid, kernel, &families[grid], &kernel->accesses[i]);
        if (kernel && kernel->access_count && !error)
            error = find_arrivals_again(kernel, &tables->out->accesses[access_first[grid]]);
    }
    return error;
}
