/* look_walks_warp.c - the walks of one warp's lanes, and the rows that keep them.
 *
 * Reads: the kernel's code, what the launch and memory tell.  Writes: snapshot.walks and steps.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "machine/look_walking.h"

enum { LENGTH_OF_WALK = 1 << 17, WORK_OF_WALK = 1 << 19, STEPS_OF_WALK = 1 << 16 };

bool wsdbg_look_walking_is_late(const struct wsdbg_look_walking *walks)
{
    return walks->work >= WSDBG_WORK_OF_LOOK || wsdbg_look_now_ns() >= walks->until_ns;
}

/* The context is the struct wsdbg_look_walking. */
static bool is_late(void *context)
{
    return wsdbg_look_walking_is_late(context);
}

/* ---- one thread ---- */

static struct walk_thread thread_of(struct wsdbg_look_walking *walks, uint32_t warp, uint32_t lane)
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
static struct wsdbg_error *walk_together(struct wsdbg_look_walking *walks, uint32_t warp, uint32_t lanes,
                                         struct wsdbg_walk *walk, uint32_t *together, bool *has_loaded)
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

static struct wsdbg_step_row row_of(const struct wsdbg_look_walking *walks, const struct wsdbg_cta *cta,
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
                                 .number_known = step->is_number_known,
                                 .traffic = step->traffic};
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

static bool is_alike(const struct wsdbg_look_walking *walks, const struct wsdbg_walk_row *row,
                     const struct wsdbg_walk *walk, const struct wsdbg_cta *cta)
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

/* The place up to which a walk goes. */
static struct wsdbg_error *find_lost_site(const struct wsdbg_look_walking *walks, const struct wsdbg_walk_row *row,
                                          const struct wsdbg_walk *walk, struct wsdbg_optional_u32 *out)
{
    const struct wsdbg_snapshot *rows = walks->out;
    const uint32_t module = rows->grids[rows->ctas[rows->warps[row->warp].cta].grid].module;
    const struct wsdbg_code_place place = {walks->kernel->function, walk->lost_at};
    uint32_t site;
    if (row->is_whole)
        return NULL;
    struct wsdbg_error *error = wsdbg_look_site(walks->tables, &place, module, &site);
    if (!error)
        *out = wsdbg_known_u32(site);
    return error;
}

static struct wsdbg_error *add_walk(struct wsdbg_look_walking *walks, struct wsdbg_walk_row row,
                                    const struct wsdbg_walk *walk)
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
    struct wsdbg_error *error = find_lost_site(walks, &row, walk, &row.lost_site);
    if (error)
        return error;
    for (size_t i = 0; i < walk->count; i++)
        out->steps[out->step_count++] = row_of(walks, cta, &walk->steps[i]);
    out->walks[out->walk_count++] = row;
    return NULL;
}

/* What lanes of a row do between their steps may differ. */
static void add_traffic(const struct wsdbg_look_walking *walks, const struct wsdbg_walk_row *row,
                        const struct wsdbg_walk *walk)
{
    for (size_t i = 0; i < walk->count; i++)
        walks->out->steps[row->step_first + i].traffic |= walk->steps[i].traffic;
}

/* Into the row of a lane that goes the same way, or a new one. */
static struct wsdbg_error *put_walk(struct wsdbg_look_walking *walks, uint32_t warp, uint32_t lanes, size_t first,
                                    const struct wsdbg_walk *walk, bool has_loaded)
{
    const struct wsdbg_cta *cta = &walks->out->ctas[walks->out->warps[warp].cta];
    for (size_t i = first; i < walks->out->walk_count; i++)
        if (is_alike(walks, &walks->out->walks[i], walk, cta)) {
            walks->out->walks[i].lanes |= lanes;
            walks->out->walks[i].has_loaded |= has_loaded;
            add_traffic(walks, &walks->out->walks[i], walk);
            return NULL;
        }
    return add_walk(walks, (struct wsdbg_walk_row){.warp = warp, .lanes = lanes, .has_loaded = has_loaded}, walk);
}

static struct wsdbg_error *put_group(struct wsdbg_look_walking *walks, uint32_t warp, uint32_t lanes, size_t first,
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

static uint32_t lanes_of(const struct wsdbg_look_walking *walks, uint32_t warp)
{
    const struct wsdbg_warp_row *row = &walks->out->warps[warp];
    const uint32_t *block =
        walks->source->machine->grids[walks->seen->grids[walks->out->ctas[row->cta].grid].machine].block;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2], first = (uint64_t)row->warp * WSDBG_WALK_LANES;
    return threads <= first ? 0 : threads - first < WSDBG_WALK_LANES ? (uint32_t)(threads - first) : WSDBG_WALK_LANES;
}

static struct wsdbg_error *walk_lanes(struct wsdbg_look_walking *walks, uint32_t warp, uint32_t count, size_t first)
{
    uint32_t left = count < WSDBG_WALK_LANES ? ((uint32_t)1 << count) - 1 : UINT32_MAX, together = 0;
    struct wsdbg_error *error = NULL;
    for (; !error && left && !wsdbg_look_walking_is_late(walks); left &= ~together)
        error = put_group(walks, warp, left, first, &together);
    return error;
}

struct wsdbg_error *wsdbg_look_walk_warp(struct wsdbg_look_walking *walks, uint32_t warp)
{
    const uint32_t lanes = lanes_of(walks, warp);
    return lanes ? walk_lanes(walks, warp, lanes, walks->out->walk_count) : NULL;
}
