/* look_walks.c - the walks of a CTA's threads through their kernel (sass/walk.h), where some warp of the CTA waits for
 * an mbarrier or at a named barrier.
 *
 * Reads: the kernel's code, what the launch and memory tell.  Writes: snapshot.walks and steps.  CTAs whose threads can
 * only go the same ways share them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"
#include "translate/ptx_translate.h"
#include "machine/walk_thread.h"
#include "sass/walk.h"

enum { SPECIAL_CTA_X = 37 };
enum { LENGTH_OF_WALK = 1 << 17, WORK_OF_WALK = 1 << 19, STEPS_OF_WALK = 1 << 16, STEPS_OF_LOOK = 1 << 22 };
#define INSTRUCTIONS_MOST 32768u         /* of a kernel that is followed for its named barriers alone */
#define WORK_OF_LOOK (UINT64_C(1) << 23) /* instructions; 0.5 to 2 s */

struct walks {
    const struct wsdbg_look_source *source;
    const struct wsdbg_look_seen *seen;
    const uint32_t *access_first;
    struct wsdbg_look_tables *tables;
    struct wsdbg_snapshot *out;
    uint64_t until_ns, work;      /* work: instructions executed so far */
    struct wsdbg_walk_plan *plan; /* of `kernel` */
    const struct wsdbg_code_kernel *kernel;
    uint32_t *access_at;        /* by instruction: number of the kernel's access + 1 */
    bool is_of_words;           /* it is machine code; else PTX */
    bool asks_cta;              /* the ways may depend on which CTA it is */
    bool has_counters;          /* ... or on numbers from a counter */
    bool was_walked;            /* the CTA at hand was walked before it was led, which took too long */
    bool is_led;                /* some walk of the CTA at hand was led to where its lanes were seen */
    bool *led;                  /* by CTA: ... of that CTA */
    struct walk_memory *memory; /* of the kernel's grid */
};

/* Too much work, or too late.  The context is the struct walks. */
static bool is_late(void *context)
{
    const struct walks *walks = context;
    return walks->work >= WORK_OF_LOOK || wsdbg_look_now_ns() >= walks->until_ns;
}

/* ---- one thread ---- */

static struct walk_thread thread_of(struct walks *walks, uint32_t warp, uint32_t lane)
{
    const struct wsdbg_warp_row *row = &walks->out->warps[warp];
    const struct wsdbg_cta *cta = &walks->out->ctas[row->cta];
    return (struct walk_thread){
        .memory = walks->memory,
        .machine = walks->source->machine,
        .grid = walks->seen->grids[cta->grid].machine,
        .cta = cta,
        .cta_row = walks->seen->ctas[row->cta].machine,
        .sibling = walks->seen->ctas[row->cta].sibling,
        .linear = row->warp * WSDBG_WALK_LANES + lane,
        .lane = lane,
        .seen_at = wsdbg_look_walks_place(walks->seen, walks->out, walks->kernel->function, warp, lane),
        .is_of_words = walks->is_of_words};
}

/* Walks the first of the lanes and those that go with it. */
static struct wsdbg_error *walk_together(struct walks *walks, uint32_t warp, uint32_t lanes, struct wsdbg_walk *walk,
                                         uint32_t *together, bool *has_loaded)
{
    struct walk_thread threads[WSDBG_WALK_LANES];
    struct wsdbg_thread_world worlds[WSDBG_WALK_LANES];
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        threads[lane] = thread_of(walks, warp, lane);
        worlds[lane] = walk_thread_world(&threads[lane]);
    }
    const struct wsdbg_walk_limits limits = {LENGTH_OF_WALK, WORK_OF_WALK, STEPS_OF_WALK, is_late, walks};
    struct wsdbg_error *error = wsdbg_walk_lanes(walks->plan, worlds, lanes, limits, walk, together);
    *has_loaded = false;
    walks->is_led |= walk->is_led;
    for (uint32_t lane = 0; lane < WSDBG_WALK_LANES; lane++) {
        *has_loaded |= threads[lane].has_loaded;
        if (!error && threads[lane].error) {
            error = threads[lane].error;
            free(walk->steps);
            *walk = (struct wsdbg_walk){0};
        } else if (error != threads[lane].error) {
            wsdbg_error_destroy(threads[lane].error);
        }
    }
    return error;
}

/* ---- rows ---- */

/* An address without a rank is the own CTA's, unless the instruction takes one of the cluster. */
static uint8_t rank_of(const struct wsdbg_cta *cta, const struct wsdbg_walk_step *step, bool is_machine_code)
{
    const uint32_t byte = step->address >> WSDBG_RANK_SHIFT;
    if (cta->cluster_size <= 1 || (!byte && !(is_machine_code && step->may_be_remote)))
        return WSDBG_STEP_OWN_RANK;
    return (uint8_t)walk_rank_named(byte, cta->cluster_rank, is_machine_code);
}

static struct wsdbg_step_row row_of(const struct walks *walks, const struct wsdbg_cta *cta,
                                    const struct wsdbg_walk_step *step)
{
    const uint32_t access = walks->access_at[step->instruction];
    struct wsdbg_step_row row = {.access = access ? walks->access_first[cta->grid] + access - 1 : WSDBG_NONE,
                                 .address = step->address,
                                 .number = step->number,
                                 .mask = step->mask,
                                 .token = step->token,
                                 .kind = step->kind,
                                 .rank = WSDBG_STEP_OWN_RANK,
                                 .number_known = step->is_number_known};
    if (step->kind == WSDBG_WALK_TOGETHER || step->kind == WSDBG_WALK_POLL)
        row.kind = step->kind == WSDBG_WALK_POLL ? WSDBG_STEP_POLL : WSDBG_STEP_TOGETHER;
    if (wsdbg_is_mbarrier_access(step->kind)) {
        row.rank = rank_of(cta, step, walks->is_of_words);
        row.address &= WSDBG_OFFSET_MASK;
    }
    return row;
}

/* What lies behind the place to which a walk was led is not known, nor how far it is to there. */
static bool is_whole(const struct wsdbg_walk *walk)
{
    return walk->is_whole && !walk->is_led;
}

static bool is_alike(const struct walks *walks, const struct wsdbg_walk_row *row, const struct wsdbg_walk *walk,
                     const struct wsdbg_cta *cta)
{
    if (row->step_count != walk->count || row->is_whole != is_whole(walk))
        return false;
    for (size_t i = 0; i < walk->count; i++) {
        const struct wsdbg_step_row a = row_of(walks, cta, &walk->steps[i]),
                                    *b = &walks->out->steps[row->step_first + i];
        if (a.access != b->access || a.address != b->address || a.number != b->number || a.mask != b->mask ||
            a.token != b->token || a.kind != b->kind || a.rank != b->rank || a.number_known != b->number_known)
            return false;
    }
    return true;
}

static struct wsdbg_error *add_walk(struct walks *walks, struct wsdbg_walk_row row, const struct wsdbg_walk *walk)
{
    struct wsdbg_snapshot *out = walks->out;
    struct wsdbg_table_counts *capacity = &walks->tables->capacity;
    const struct wsdbg_cta *cta = &out->ctas[out->warps[row.warp].cta];
    if (!wsdbg_grow((void **)&out->walks, &capacity->walks, out->walk_count + 1, sizeof *out->walks) ||
        !wsdbg_grow((void **)&out->steps, &capacity->steps, out->step_count + walk->count + 1, sizeof *out->steps))
        return &wsdbg_error_no_memory;
    row.step_first = (uint32_t)out->step_count;
    row.step_count = (uint32_t)walk->count;
    row.is_whole = is_whole(walk);
    row.is_guessed = walk->is_guessed;
    row.is_in_turn = walk->is_in_turn;
    for (size_t i = 0; i < walk->count; i++)
        out->steps[out->step_count++] = row_of(walks, cta, &walk->steps[i]);
    out->walks[out->walk_count++] = row;
    return NULL;
}

/* Into the row of a lane that goes the same way, or a new one. */
static struct wsdbg_error *put_walk(struct walks *walks, uint32_t warp, uint32_t lanes, size_t first,
                                    const struct wsdbg_walk *walk, bool has_loaded)
{
    const struct wsdbg_cta *cta = &walks->out->ctas[walks->out->warps[warp].cta];
    for (size_t i = first; i < walks->out->walk_count; i++)
        if (is_alike(walks, &walks->out->walks[i], walk, cta)) {
            walks->out->walks[i].lanes |= lanes;
            walks->out->walks[i].has_loaded |= has_loaded;
            return NULL;
        }
    return add_walk(walks, (struct wsdbg_walk_row){.warp = warp, .lanes = lanes, .has_loaded = has_loaded}, walk);
}

static struct wsdbg_error *put_group(struct walks *walks, uint32_t warp, uint32_t lanes, size_t first,
                                     uint32_t *together)
{
    struct wsdbg_walk walk;
    bool has_loaded;
    struct wsdbg_error *error = walk_together(walks, warp, lanes, &walk, together, &has_loaded);
    if (error)
        return error;
    walks->work += walk.work;
    error = put_walk(walks, warp, *together, first, &walk, has_loaded);
    free(walk.steps);
    return error;
}

static uint32_t lanes_of(const struct walks *walks, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &walks->out->warps[warp];
    const uint32_t *block =
        walks->source->machine->grids[walks->seen->grids[walks->out->ctas[row->cta].grid].machine].block;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2], first = (uint64_t)row->warp * WSDBG_WALK_LANES;
    return threads <= first ? 0 : threads - first < WSDBG_WALK_LANES ? (uint32_t)(threads - first) : WSDBG_WALK_LANES;
}

static struct wsdbg_error *walk_lanes(struct walks *walks, uint32_t warp, uint32_t count, size_t first)
{
    uint32_t left = count < WSDBG_WALK_LANES ? ((uint32_t)1 << count) - 1 : UINT32_MAX, together = 0;
    struct wsdbg_error *error = NULL;
    for (; !error && left && !is_late(walks); left &= ~together)
        error = put_group(walks, warp, left, first, &together);
    return error;
}

static struct wsdbg_error *walk_warp(struct walks *walks, uint32_t warp)
{
    const uint32_t lanes = lanes_of(walks, warp);
    return lanes ? walk_lanes(walks, warp, lanes, walks->out->walk_count) : NULL;
}

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
static uint32_t walked_alike(const struct walks *walks, uint32_t cta, const bool *walked)
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

static struct wsdbg_error *share_walks(struct walks *walks, uint32_t from, uint32_t to)
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
static uint32_t order_warps(const struct walks *walks, const struct wsdbg_cta *row, uint32_t *warps)
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

static struct wsdbg_error *walk_warps(struct walks *walks, uint32_t cta)
{
    const size_t walk_count = walks->out->walk_count;
    uint32_t warps[WARPS_MOST];
    const uint32_t count = order_warps(walks, &walks->out->ctas[cta], warps);
    struct wsdbg_error *error = NULL;
    for (uint32_t i = 0; !error && i < count && !is_late(walks); i++) {
        wsdbg_walk_plan_begin_warp(walks->plan, warps[i]);
        error = walk_warp(walks, warps[i]);
    }
    sort_walks(walks->out, walk_count);
    return error;
}

/* Whether the limits leave room for two more passes that take as long as the one that began at this work and time. */
static bool has_room(const struct walks *walks, uint64_t work, uint64_t time_ns)
{
    const uint64_t spent = walks->work - work, now_ns = wsdbg_look_now_ns();
    return walks->work + 2 * spent < WORK_OF_LOOK &&
           (walks->until_ns == UINT64_MAX || now_ns + 2 * (now_ns - time_ns) < walks->until_ns);
}

/* In as many passes as it takes.  Where more passes do not help, or the limits leave no room for them, the last pass
 * believes nothing that was stored. */
static struct wsdbg_error *walk_in_passes(struct walks *walks, uint32_t cta, enum wsdbg_walk_belief belief)
{
    const size_t walk_count = walks->out->walk_count, step_count = walks->out->step_count;
    wsdbg_walk_plan_begin_cta(walks->plan, belief);
    for (;;) {
        const uint64_t work = walks->work, time_ns = wsdbg_look_now_ns();
        struct wsdbg_error *error = walk_warps(walks, cta);
        const enum wsdbg_walks_end end =
            error || is_late(walks) ? WSDBG_WALKS_HOLD : wsdbg_walk_plan_end_pass(walks->plan);
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
 * ends, it stays as it was. */
static struct wsdbg_error *walk_in_turn(struct walks *walks, uint32_t cta, size_t first)
{
    struct wsdbg_snapshot *out = walks->out;
    const size_t count = out->walk_count;
    struct wsdbg_error *error = walk_in_passes(walks, cta, WSDBG_BELIEVE_STORES | WSDBG_BELIEVE_TURNS);
    if (error)
        return error;
    if (!wsdbg_walk_plan_took_turns(walks->plan) || !wsdbg_look_walks_fit(out, count) ||
        wsdbg_look_walks_whole(out, count, out->walk_count) <= wsdbg_look_walks_whole(out, first, count)) {
        out->walk_count = count;
        return NULL;
    }
    keep_second(out, first, count);
    walks->asks_cta = true;
    return NULL;
}

/* Walks the CTA once more, led to where its lanes were seen.  If fewer lanes are then known to their ends, it stays as
 * it was: what led walks store may be too much to keep. */
static struct wsdbg_error *walk_led(struct walks *walks, uint32_t cta, size_t first)
{
    struct wsdbg_snapshot *out = walks->out;
    const size_t count = out->walk_count;
    wsdbg_walk_plan_lead(walks->plan);
    struct wsdbg_error *error = walk_warps(walks, cta);
    if (error)
        return error;
    if (is_late(walks) ||
        wsdbg_look_walks_whole(out, count, out->walk_count) < wsdbg_look_walks_whole(out, first, count)) {
        out->walk_count = count;
        walks->was_walked = true;
        walks->is_led = false;
        return NULL;
    }
    keep_second(out, first, count);
    return NULL;
}

/* What is in shared memory now may be other than what a thread loaded there.  Where a walk leaves out the wait in which
 * its warp stands, the CTA is walked once more without that; and if that does not help, no walk of it is whole. */
static struct wsdbg_error *walk_as_seen(struct walks *walks, uint32_t cta)
{
    const size_t walk_count = walks->out->walk_count, step_count = walks->out->step_count;
    const uint64_t work = walks->work, time_ns = wsdbg_look_now_ns();
    struct wsdbg_error *error = walk_in_passes(walks, cta, WSDBG_BELIEVE_BOTH);
    if (!error && !wsdbg_look_walks_fit(walks->out, walk_count) && has_room(walks, work, time_ns)) {
        walks->out->walk_count = walk_count;
        walks->out->step_count = step_count;
        error = walk_in_passes(walks, cta, WSDBG_BELIEVE_STORES);
    }
    if (!error && walks->has_counters && wsdbg_look_walks_are_lost(walks->out, walk_count) &&
        has_room(walks, work, time_ns))
        error = walk_in_turn(walks, cta, walk_count);
    if (!error && wsdbg_look_walks_are_lost(walks->out, walk_count) && has_room(walks, work, time_ns))
        error = walk_led(walks, cta, walk_count);
    if (!error && !wsdbg_look_walks_fit(walks->out, walk_count))
        for (size_t i = walk_count; i < walks->out->walk_count; i++)
            walks->out->walks[i].is_whole = false;
    return error;
}

/* All of its warps, or none where the time is over: the GPU may be stopped meanwhile. */
static struct wsdbg_error *walk_cta(struct walks *walks, uint32_t cta, bool *walked)
{
    const size_t walk_count = walks->out->walk_count, step_count = walks->out->step_count;
    walk_memory_begin_cta(walks->memory);
    walks->is_led = walks->was_walked = false;
    struct wsdbg_error *error = walk_as_seen(walks, cta);
    *walked = walks->was_walked || !is_late(walks);
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

static struct wsdbg_error *begin_kernel(struct walks *walks, const struct wsdbg_code_kernel *kernel)
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

static bool has_enough(struct walks *walks)
{
    return is_late(walks) || walks->out->step_count > STEPS_OF_LOOK;
}

static struct wsdbg_error *walk_or_share(struct walks *walks, uint32_t cta, bool *walked)
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
static struct wsdbg_error *walk_cluster(struct walks *walks, uint32_t first, uint32_t end, bool *walked)
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
static struct wsdbg_error *walk_those_with(struct walks *walks, uint32_t grid, enum wsdbg_warp_state state,
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
static struct wsdbg_error *walk_those_stopped(struct walks *walks, uint32_t grid, bool *walked)
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
static struct wsdbg_error *walk_grid(struct walks *walks, uint32_t grid, bool *walked)
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
    struct walks walks = {.source = source,
                          .seen = seen,
                          .access_first = access_first,
                          .tables = tables,
                          .out = tables->out,
                          .until_ns = for_ns == WSDBG_WALKS_COUNTED ? UINT64_MAX : wsdbg_look_now_ns() + for_ns};
    bool *walked = calloc(tables->out->cta_count + 1, sizeof *walked);
    walks.memory = calloc(1, sizeof *walks.memory);
    walks.led = calloc(tables->out->cta_count + 1, sizeof *walks.led);
    struct wsdbg_error *error = walked && walks.memory && walks.led ? NULL : &wsdbg_error_no_memory;
    for (uint32_t grid = 0; !error && grid < tables->out->grid_count && !is_late(&walks); grid++) {
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
