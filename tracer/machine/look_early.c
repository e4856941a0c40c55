/* look_early.c - which arrivals may come before the initialisation of their mbarrier, as far as the code goes: no
 * barrier of several warps stands between.
 *
 * Reads: accesses and control flow.  Writes: may_be_early of rows in snapshot.accesses.  Counted from the kernel's
 * start: an arrival that every way reaches through more of those barriers than any way to the initialisation passes is
 * behind it.  One that every way reaches through fewer is before it on purpose: the word is initialised again, for
 * another use.  What orders them otherwise, a flag in memory, is not seen: the mark is no more than a permission.
 */
#include <stdlib.h>

#include "machine/look.h"

#define PAIRS_MOST 64u /* of accesses; kernels with more have no marks */

static bool orders_warps(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_NAMED_SYNC || access->kind == WSDBG_ACCESS_CLUSTER_WAIT;
}

/* Whether the initialisation may be of the arrival's place. */
static bool may_be_of(const struct wsdbg_families *families, const struct wsdbg_access *init,
                      const struct wsdbg_access *arrival)
{
    return init->kind == WSDBG_ACCESS_INIT &&
           wsdbg_access_may_be(families, init, (uint32_t)arrival->address.base & WSDBG_OFFSET_MASK);
}

bool wsdbg_look_is_unordered(const struct wsdbg_look_passes *one, const struct wsdbg_look_passes *other)
{
    return one->least <= other->most && other->least <= one->most;
}

static bool may_be_early(const struct wsdbg_code_kernel *kernel, const struct wsdbg_families *families,
                         const struct wsdbg_access *arrival, const uint64_t *set)
{
    const struct wsdbg_graph *graph = kernel->function->graph;
    struct wsdbg_look_passes before = {0, 0}, before_init = {0, 0};
    if (!wsdbg_graph_passes(graph, 0, arrival->instruction, set, &before.least, &before.most))
        return false;
    for (size_t i = 0; i < kernel->access_count; i++)
        if (may_be_of(families, &kernel->accesses[i], arrival) &&
            wsdbg_graph_passes(graph, 0, kernel->accesses[i].instruction, set, &before_init.least, &before_init.most) &&
            wsdbg_look_is_unordered(&before, &before_init))
            return true;
    return false;
}

static bool is_small_enough(const struct wsdbg_code_kernel *kernel)
{
    size_t arrivals = 0, inits = 0;
    for (size_t i = 0; i < kernel->access_count; i++) {
        arrivals += wsdbg_look_arrives_on_one_place(&kernel->accesses[i]);
        inits += kernel->accesses[i].kind == WSDBG_ACCESS_INIT;
    }
    return arrivals * inits <= PAIRS_MOST;
}

static struct wsdbg_error *judge_kernel(const struct wsdbg_code_kernel *kernel, const struct wsdbg_families *families,
                                        struct wsdbg_access_row *rows)
{
    uint64_t *set = calloc(wsdbg_graph_instruction_count(kernel->function->graph) / 64 + 1, sizeof *set);
    if (!set)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < kernel->access_count; i++)
        if (orders_warps(&kernel->accesses[i]))
            set[kernel->accesses[i].instruction / 64] |= (uint64_t)1 << kernel->accesses[i].instruction % 64;
    for (size_t i = 0; i < kernel->access_count; i++)
        if (wsdbg_look_arrives_on_one_place(&kernel->accesses[i]))
            rows[i].may_be_early = may_be_early(kernel, families, &kernel->accesses[i], set);
    free(set);
    return NULL;
}

struct wsdbg_error *wsdbg_look_early(const struct wsdbg_look_seen *seen, const struct wsdbg_families *families,
                                     const uint32_t *access_first, struct wsdbg_snapshot *out)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t grid = 0; !error && grid < out->grid_count; grid++) {
        const struct wsdbg_code_kernel *kernel = seen->grids[grid].kernel;
        if (kernel && kernel->access_count && is_small_enough(kernel))
            error = judge_kernel(kernel, &families[grid], &out->accesses[access_first[grid]]);
    }
    return error;
}
