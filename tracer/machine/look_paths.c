/* look_paths.c - the paths of a warp from the place where it stands: which accesses it must have executed on its way,
 * which it may have, and which it can still reach.
 *
 * Reads: control flow.  Writes: the paths from each place, computed once and kept by the kernel.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"

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

/* None of a part that may stand in several copies of a function: ways lead on from each of them. */
struct wsdbg_error *wsdbg_look_paths(const struct wsdbg_look_seen *seen, const struct wsdbg_snapshot *rows,
                                     uint32_t part, const struct wsdbg_paths **out)
{
    const struct wsdbg_look_part *beside = &seen->parts[part];
    const enum wsdbg_warp_state state = rows->parts[part].state;
    const uint32_t cta = rows->warps[rows->parts[part].warp].cta;
    struct wsdbg_code_kernel *kernel = seen->grids[rows->ctas[cta].grid].kernel;
    *out = NULL;
    if (!kernel || beside->place.function != kernel->function || beside->copies > 1)
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
