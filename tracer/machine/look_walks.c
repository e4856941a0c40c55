/* look_walks.c - the walks of a CTA's threads through their kernel (sass/walk.h), where some warp of the CTA waits for
 * an mbarrier or at a named barrier.
 *
 * Reads: the kernel's code, what the launch and memory tell.  Writes: snapshot.walks and steps.  CTAs whose threads can
 * only go the same ways share them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look_walking.h"
#include "translate/ptx_translate.h"

enum { SPECIAL_CTA_X = 37 };
enum { STEPS_OF_LOOK = 1 << 22 };
#define INSTRUCTIONS_MOST 32768u /* of a kernel that is followed for its named barriers alone */

/* ---- CTAs ---- */

static bool has_warp_in(const struct wsdbg_snapshot *rows, uint32_t cta, enum wsdbg_warp_state state)
{
    const struct wsdbg_cta *row = &rows->ctas[cta];
    for (uint32_t w = row->warp_first; w < row->warp_first + row->warp_count; w++)
        if (rows->warps[w].state == state)
            return true;
    return false;
}

/* The CTA, or another one of its cluster, has such a warp. */
static bool cluster_has_warp_in(const struct wsdbg_snapshot *rows, uint32_t cta, enum wsdbg_warp_state state)
{
    const struct wsdbg_cta *row = &rows->ctas[cta];
    const struct wsdbg_grid *grid = &rows->grids[row->grid];
    if (row->cluster_size <= 1)
        return has_warp_in(rows, cta, state);
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count; i++)
        if (rows->ctas[i].cluster_id == row->cluster_id && has_warp_in(rows, i, state))
            return true;
    return false;
}

/* A CTA of the grid that was walked and goes the same ways; WSDBG_NONE. */
static uint32_t walked_alike(const struct wsdbg_look_walking *walks, uint32_t cta, const bool *walked)
{
    const struct wsdbg_cta *row = &walks->out->ctas[cta];
    const struct wsdbg_grid *grid = &walks->out->grids[row->grid];
    for (uint32_t i = grid->cta_first; i < grid->cta_first + grid->cta_count; i++)
        if (!walks->asks_cta && walked[i] && walks->out->ctas[i].cluster_rank == row->cluster_rank &&
            walks->out->ctas[i].warp_count == row->warp_count &&
            (!walks->led[i] || wsdbg_look_walks_stand_alike(walks->seen, walks->out, i, cta)))
            return i;
    return WSDBG_NONE;
}

static struct wsdbg_error *share_walks(struct wsdbg_look_walking *walks, uint32_t from, uint32_t to)
{
    struct wsdbg_snapshot *out = walks->out;
    const struct wsdbg_cta *source = &out->ctas[from], *target = &out->ctas[to];
    const size_t count = out->walk_count;
    for (size_t i = 0; i < count; i++) {
        const uint32_t at = out->walks[i].warp - source->warp_first;
        if (out->walks[i].warp < source->warp_first || at >= source->warp_count)
            continue;
        if (!wsdbg_grow((void **)&out->walks, &walks->tables->capacity.walks, out->walk_count + 1, sizeof *out->walks))
            return &wsdbg_error_no_memory;
        out->walks[out->walk_count] = out->walks[i];
        out->walks[out->walk_count++].warp = target->warp_first + at;
    }
    return NULL;
}

enum { WARPS_MOST = 32 }; /* of a CTA */

/* The order in which the warps of a CTA are walked: those first that store what others load.  The caller's rows have
 * room for WARPS_MOST. */
static uint32_t order_warps(const struct wsdbg_look_walking *walks, const struct wsdbg_cta *row, uint32_t *warps)
{
    const uint32_t end = row->warp_first + (row->warp_count < WARPS_MOST ? row->warp_count : WARPS_MOST);
    uint32_t count = 0;
    for (uint32_t gives = 2; gives-- > 0;)
        for (uint32_t w = row->warp_first; w < end; w++)
            if (wsdbg_walk_plan_gives(walks->plan, w) == gives)
                warps[count++] = w;
    return count;
}

/* Rows from `first` on, in the order of their warps. */
static void sort_walks(struct wsdbg_snapshot *out, size_t first)
{
    for (size_t i = first + 1; i < out->walk_count; i++) {
        const struct wsdbg_walk_row row = out->walks[i];
        size_t at = i;
        for (; at > first && out->walks[at - 1].warp > row.warp; at--)
            out->walks[at] = out->walks[at - 1];
        out->walks[at] = row;
    }
}

static struct wsdbg_error *walk_warps(struct wsdbg_look_walking *walks, uint32_t cta)
{
    const size_t walk_count = walks->out->walk_count;
    uint32_t warps[WARPS_MOST];
    const uint32_t count = order_warps(walks, &walks->out->ctas[cta], warps);
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < count && !wsdbg_look_walking_is_late(walks); i++) {
        wsdbg_walk_plan_begin_warp(walks->plan, warps[i]);
        error = wsdbg_look_walk_warp(walks, warps[i]);
    }
    sort_walks(walks->out, walk_count);
    return error;
}

/* Whether the limits leave room for two more passes that take as long as the one that began at this work and time. */
static bool has_room(const struct wsdbg_look_walking *walks, uint64_t work, uint64_t time_ns)
{
    const uint64_t spent = walks->work - work, now_ns = wsdbg_look_now_ns();
    return walks->work + 2 * spent < WSDBG_WORK_OF_LOOK &&
           (walks->until_ns == UINT64_MAX || now_ns + 2 * (now_ns - time_ns) < walks->until_ns);
}

/* In as many passes as it takes.  Where more passes do not help, or the limits leave no room for them, the last pass
 * believes nothing that was stored. */
static struct wsdbg_error *walk_in_passes(struct wsdbg_look_walking *walks, uint32_t cta, enum wsdbg_walk_belief belief)
{
    const size_t walk_count = walks->out->walk_count, step_count = walks->out->step_count;
    wsdbg_walk_plan_begin_cta(walks->plan, belief);
    for (;;) {
        const uint64_t work = walks->work, time_ns = wsdbg_look_now_ns();
        struct wsdbg_error *error = walk_warps(walks, cta);
        const enum wsdbg_walks_end end =
            error || wsdbg_look_walking_is_late(walks) ? WSDBG_WALKS_HOLD : wsdbg_walk_plan_end_pass(walks->plan);
        if (end == WSDBG_WALKS_HOLD)
            return error;
        walks->out->walk_count = walk_count;
        walks->out->step_count = step_count;
        if (end == WSDBG_WALKS_DOUBTFUL || !has_room(walks, work, time_ns))
            wsdbg_walk_plan_begin_cta(walks->plan, belief & WSDBG_BELIEVE_PRESENT);
    }
}

/* Keeps the walks from `second` on instead of those from `first` on. */
static void keep_second(struct wsdbg_snapshot *out, size_t first, size_t second)
{
    memmove(out->walks + first, out->walks + second, (out->walk_count - second) * sizeof *out->walks);
    out->walk_count = first + (out->walk_count - second);
}

/* Walks the CTA once more, on the belief that CTAs took turns at counters.  If that does not lead more lanes to their
 * ends, it stays as it was, unless that was other than what was seen. */
static struct wsdbg_error *walk_in_turn(struct wsdbg_look_walking *walks, uint32_t cta, size_t first)
{
    struct wsdbg_snapshot *out = walks->out;
    const size_t count = out->walk_count, step_count = out->step_count;
    struct wsdbg_error *error = walk_in_passes(walks, cta, WSDBG_BELIEVE_STORES | WSDBG_BELIEVE_TURNS);
    if (error)
        return error;
    if (!wsdbg_walk_plan_took_turns(walks->plan) || !wsdbg_look_walks_are_better(out, first, count)) {
        out->walk_count = count;
        out->step_count = step_count;
        return NULL;
    }
    keep_second(out, first, count);
    walks->asks_cta = true;
    return NULL;
}

/* Walks the CTA once more, led to where its lanes were seen.  If fewer lanes are then known to their ends, it stays as
 * it was: what led walks store may be too much to keep. */
static struct wsdbg_error *walk_led(struct wsdbg_look_walking *walks, uint32_t cta, size_t first)
{
    struct wsdbg_snapshot *out = walks->out;
    const size_t count = out->walk_count, step_count = out->step_count;
    wsdbg_walk_plan_lead(walks->plan);
    struct wsdbg_error *error = walk_warps(walks, cta);
    if (error)
        return error;
    if (wsdbg_look_walking_is_late(walks) ||
        wsdbg_look_walks_whole(out, count, out->walk_count) < wsdbg_look_walks_whole(out, first, count)) {
        out->walk_count = count;
        out->step_count = step_count;
        walks->was_walked = true;
        walks->is_led = false;
        return NULL;
    }
    keep_second(out, first, count);
    return NULL;
}

static bool do_walks_fit(const struct wsdbg_snapshot *out, size_t first)
{
    return wsdbg_look_walks_fit(out, first, out->walk_count);
}

/* What is in shared memory now may be other than what a thread loaded there.  Where a walk leaves out the wait in which
 * its warp stands, the CTA is walked once more without that; and if that does not help, no walk of it is whole. */
static struct wsdbg_error *walk_as_seen(struct wsdbg_look_walking *walks, uint32_t cta)
{
    const size_t walk_count = walks->out->walk_count, step_count = walks->out->step_count;
    const uint64_t work = walks->work, time_ns = wsdbg_look_now_ns();
    struct wsdbg_error *error = walk_in_passes(walks, cta, WSDBG_BELIEVE_BOTH);
    if (!error && !do_walks_fit(walks->out, walk_count) && has_room(walks, work, time_ns)) {
        walks->out->walk_count = walk_count;
        walks->out->step_count = step_count;
        error = walk_in_passes(walks, cta, WSDBG_BELIEVE_STORES);
    }
    if (!error && walks->has_counters && has_room(walks, work, time_ns) &&
        (wsdbg_look_walks_are_lost(walks->out, walk_count) || !do_walks_fit(walks->out, walk_count)))
        error = walk_in_turn(walks, cta, walk_count);
    if (!error && wsdbg_look_walks_are_lost(walks->out, walk_count) && has_room(walks, work, time_ns))
        error = walk_led(walks, cta, walk_count);
    if (!error && !do_walks_fit(walks->out, walk_count))
        for (size_t i = walk_count; i < walks->out->walk_count; i++)
            walks->out->walks[i].is_whole = false;
    return error;
}

/* All of its warps, or none where the time is over: the GPU may be stopped meanwhile. */
static struct wsdbg_error *walk_cta(struct wsdbg_look_walking *walks, uint32_t cta, bool *walked)
{
    const size_t walk_count = walks->out->walk_count, step_count = walks->out->step_count;
    walk_memory_begin_cta(walks->memory);
    walks->is_led = walks->was_walked = false;
    struct wsdbg_error *error = walk_as_seen(walks, cta);
    *walked = walks->was_walked || !wsdbg_look_walking_is_late(walks);
    walks->led[cta] = walks->is_led;
    if (!*walked) {
        walks->out->walk_count = walk_count;
        walks->out->step_count = step_count;
    }
    return error;
}

/* PTX has no words, but for instructions that were put in the words of machine code. */
static bool is_machine_code(const struct wsdbg_code_kernel *kernel)
{
    for (size_t i = 0; i < kernel->access_count; i++) {
        const struct wsdbg_instruction *instruction =
            wsdbg_graph_instruction(kernel->function->graph, kernel->accesses[i].instruction);
        if (wsdbg_is_mbarrier_access(kernel->accesses[i].kind))
            return wsdbg_is_machine_code(instruction);
    }
    return false;
}

static struct wsdbg_error *begin_kernel(struct wsdbg_look_walking *walks, const struct wsdbg_code_kernel *kernel)
{
    const struct wsdbg_graph *graph = kernel->function->graph;
    if (walks->kernel == kernel)
        return NULL;
    wsdbg_walk_plan_destroy(walks->plan);
    free(walks->access_at);
    walks->plan = NULL;
    walks->kernel = kernel;
    walks->is_of_words = is_machine_code(kernel);
    walks->access_at = calloc((size_t)wsdbg_graph_instruction_count(graph) + 1, sizeof *walks->access_at);
    if (!walks->access_at)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < kernel->access_count; i++)
        walks->access_at[kernel->accesses[i].instruction] = (uint32_t)i + 1;
    struct wsdbg_error *error = wsdbg_walk_plan_create(graph, &walks->plan);
    walks->asks_cta = false;
    walks->has_counters = !error && wsdbg_walk_plan_has_counters(walks->plan);
    for (uint32_t i = 0; !error && i < 3; i++)
        walks->asks_cta |= wsdbg_walk_plan_reads_special(walks->plan, SPECIAL_CTA_X + i) ||
                           wsdbg_walk_plan_reads_special(walks->plan, WSDBG_SPECIAL_CLUSTER_X + i);
    return error;
}

static bool has_enough(struct wsdbg_look_walking *walks)
{
    return wsdbg_look_walking_is_late(walks) || walks->out->step_count > STEPS_OF_LOOK;
}

static struct wsdbg_error *walk_or_share(struct wsdbg_look_walking *walks, uint32_t cta, bool *walked)
{
    if (walked[cta] || has_enough(walks))
        return NULL;
    const uint32_t alike = walked_alike(walks, cta, walked);
    walked[cta] = alike != WSDBG_NONE;
    if (alike == WSDBG_NONE)
        return walk_cta(walks, cta, &walked[cta]);
    walks->led[cta] = walks->led[alike];
    return share_walks(walks, alike, cta);
}

/* The CTA at `first` and, behind it among the rows, the others of its cluster: they need not be neighbours. */
static struct wsdbg_error *walk_cluster(struct wsdbg_look_walking *walks, uint32_t first, uint32_t end, bool *walked)
{
    const struct wsdbg_cta *ctas = walks->out->ctas;
    struct wsdbg_error *error = walk_or_share(walks, first, walked);
    uint32_t left = ctas[first].cluster_size > 1 ? ctas[first].cluster_size - 1 : 0;
    for (uint32_t i = first + 1; !error && left && i < end; i++)
        if (ctas[i].cluster_id == ctas[first].cluster_id) {
            error = walk_or_share(walks, i, walked);
            left--;
        }
    return error;
}

/* The CTAs of the grid with a warp in the state, and those of their clusters, unless they are walked already.  Where
 * the work is too much, some clusters are walked whole: one that is walked in part shows nothing. */
static struct wsdbg_error *walk_those_with(struct wsdbg_look_walking *walks, uint32_t grid, enum wsdbg_warp_state state,
                                           bool *walked)
{
    const struct wsdbg_grid *row = &walks->out->grids[grid];
    const uint32_t end = row->cta_first + row->cta_count;
    struct wsdbg_error *error = NULL;
    for (uint32_t i = row->cta_first; !error && i < end && !has_enough(walks); i++)
        if (!walked[i] && cluster_has_warp_in(walks->out, i, state))
            error = walk_cluster(walks, i, end, walked);
    return error;
}

/* Whether an exception stopped a warp of the grid at a barrier.  Other exceptions have no cause among barriers. */
static bool is_stopped_in(const struct wsdbg_snapshot *rows, const struct wsdbg_exception *exception, uint32_t grid)
{
    return rows->ctas[rows->warps[exception->warp].cta].grid == grid && exception->access;
}

/* The first CTA of the grid that is of the same cluster. */
static uint32_t first_of_cluster(const struct wsdbg_snapshot *rows, uint32_t cta)
{
    uint32_t first = rows->grids[rows->ctas[cta].grid].cta_first;
    while (rows->ctas[cta].cluster_size > 1 && rows->ctas[first].cluster_id != rows->ctas[cta].cluster_id)
        first++;
    return rows->ctas[cta].cluster_size > 1 ? first : cta;
}

/* The CTAs in which an exception stopped a warp at a barrier, and those of their clusters. */
static struct wsdbg_error *walk_those_stopped(struct wsdbg_look_walking *walks, uint32_t grid, bool *walked)
{
    const struct wsdbg_snapshot *rows = walks->out;
    const uint32_t end = rows->grids[grid].cta_first + rows->grids[grid].cta_count;
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < rows->exception_count && !has_enough(walks); i++)
        if (is_stopped_in(rows, &rows->exceptions[i], grid))
            error = walk_cluster(walks, first_of_cluster(rows, rows->warps[rows->exceptions[i].warp].cta), end, walked);
    return error;
}

/* Time may be short.  A warp that was stopped shows most, then waits for mbarriers do. */
static struct wsdbg_error *walk_grid(struct wsdbg_look_walking *walks, uint32_t grid, bool *walked)
{
    *walks->memory = (struct walk_memory){.tables = wsdbg_code_tables(walks->kernel->function)};
    struct wsdbg_error *error = walk_those_stopped(walks, grid, walked);
    if (!error)
        error = walk_those_with(walks, grid, WSDBG_WARP_WAIT_MBARRIER, walked);
    return error ? error : walk_those_with(walks, grid, WSDBG_WARP_WAIT_NAMED, walked);
}

/* A kernel that waits for no mbarrier may be very large, as NCCL's are, and is not read whole. */
static bool is_small(const struct wsdbg_code_kernel *kernel)
{
    return wsdbg_graph_instruction_count(kernel->function->graph) <= INSTRUCTIONS_MOST;
}

static bool grid_is_asked(const struct wsdbg_snapshot *rows, uint32_t grid, const struct wsdbg_code_kernel *kernel)
{
    const struct wsdbg_grid *row = &rows->grids[grid];
    bool by_named = false;
    for (size_t i = 0; i < rows->exception_count; i++)
        if (is_stopped_in(rows, &rows->exceptions[i], grid))
            return true;
    for (uint32_t i = row->cta_first; i < row->cta_first + row->cta_count; i++) {
        if (has_warp_in(rows, i, WSDBG_WARP_WAIT_MBARRIER))
            return true;
        by_named |= has_warp_in(rows, i, WSDBG_WARP_WAIT_NAMED);
    }
    return by_named && is_small(kernel);
}

struct wsdbg_error *wsdbg_look_walks(const struct wsdbg_look_source *source, const struct wsdbg_look_seen *seen,
                                     const uint32_t *access_first, struct wsdbg_look_tables *tables)
{
    const uint64_t for_ns = source->budget.walks_ns;
    struct wsdbg_look_walking walks = {.source = source,
                                       .seen = seen,
                                       .access_first = access_first,
                                       .tables = tables,
                                       .out = tables->out,
                                       .until_ns =
                                           for_ns == WSDBG_WALKS_COUNTED ? UINT64_MAX : wsdbg_look_now_ns() + for_ns};
    bool *walked = calloc(tables->out->cta_count + 1, sizeof *walked);
    walks.memory = calloc(1, sizeof *walks.memory);
    walks.led = calloc(tables->out->cta_count + 1, sizeof *walks.led);
    struct wsdbg_error *error = walked && walks.memory && walks.led ? NULL : &wsdbg_error_no_memory;
    for (uint32_t grid = 0; !error && grid < tables->out->grid_count && !wsdbg_look_walking_is_late(&walks); grid++) {
        const struct wsdbg_code_kernel *kernel = seen->grids[grid].kernel;
        if (!kernel || seen->grids[grid].machine == WSDBG_NONE || !grid_is_asked(tables->out, grid, kernel))
            continue;
        error = begin_kernel(&walks, kernel);
        if (!error)
            error = walk_grid(&walks, grid, walked);
    }
    wsdbg_walk_plan_destroy(walks.plan);
    free(walks.access_at);
    free(walks.memory);
    free(walks.led);
    free(walked);
    return error;
}
