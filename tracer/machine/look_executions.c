/* look_executions.c - how often a warp has been at the named barriers of its kernel, by what the indices of its threads
 * decide: of a warp that waits on its way from the kernel's start to where it stands, of one that has left on its way
 * to an exit.  Of one that has left also how often it has arrived on the mbarriers that the code names one by one.
 *
 * Reads: the kernel's control flow for the threads of one warp.  Writes: before_least and before_most of the warp's
 * rows in snapshot.reaches; of a warp that has left it adds them.  Kept by the kernel, as its CTAs go the same ways.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look_executions.h"
#include "sass/flow.h"
#include "sass/threads.h"

enum { WARP_THREADS = 32, IDS = 16, HAS_LEFT = WSDBG_GRAPH_NONE };
/* Following the ways of a warp takes about a microsecond an instruction, and a CTA has up to 32 warps. */
enum { INSTRUCTIONS_MOST = 1 << 14 };
/* Ways from an arrival to an exit; kernels with more name their mbarriers by a stage. */
enum { ARRIVAL_WAYS_MOST = 32 };

struct wsdbg_look_executions {
    struct wsdbg_machine *machine;
    const struct wsdbg_look_seen *seen;
    const uint32_t *deciding, *access_first;
    struct wsdbg_look_tables *tables;
    struct wsdbg_snapshot *out;
    struct waits {
        bool gathers; /* some warp of the CTA waits at a named barrier */
        bool awaits;  /* ... for a phase of an mbarrier */
    } * waits;        /* beside the CTAs */
    /* Beside the grids: further rows in snapshot.accesses, IDS for each access of the kernel: the instruction at one
     * named barrier, WSDBG_NONE; NULL where there are none. */
    uint32_t **by_id;
    struct wsdbg_graph *ways; /* of the threads of one warp, `ways_warp` of `ways_kernel`; NULL where there is none */
    const struct wsdbg_code_kernel *ways_kernel;
    uint32_t ways_warp;
};

/* A grid with its kernel. */
struct of_grid {
    uint32_t row, machine;
    struct wsdbg_code_kernel *kernel;
};

static struct of_grid grid_of(const struct wsdbg_look_executions *all, uint32_t warp)
{
    const uint32_t row = all->out->ctas[all->out->warps[warp].cta].grid;
    return (struct of_grid){row, all->seen->grids[row].machine, all->seen->grids[row].kernel};
}

static bool counts_executions(const struct wsdbg_look_executions *all, uint32_t warp)
{
    const struct waits *waits = &all->waits[all->out->warps[warp].cta];
    const struct of_grid grid = grid_of(all, warp);
    const uint32_t *threads = all->machine->grids[grid.machine].block;
    /* The decisions rest on the index in x alone. */
    return (waits->gathers || waits->awaits) && grid.kernel && threads[1] == 1 && threads[2] == 1 &&
           wsdbg_graph_instruction_count(grid.kernel->function->graph) <= INSTRUCTIONS_MOST;
}

static void find_waits(const struct wsdbg_snapshot *rows, struct waits *waits)
{
    for (uint32_t i = 0; i < rows->warp_count; i++) {
        struct waits *of_cta = &waits[rows->warps[i].cta];
        of_cta->gathers = of_cta->gathers || rows->warps[i].state == WSDBG_WARP_WAIT_NAMED;
        of_cta->awaits = of_cta->awaits || rows->warps[i].state == WSDBG_WARP_WAIT_MBARRIER;
    }
}

static bool is_named(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_NAMED_SYNC || access->kind == WSDBG_ACCESS_NAMED_ARRIVE;
}

static bool has_open_id(const struct wsdbg_access *access)
{
    return is_named(access) && !(access->address.known && access->address.count == 1);
}

/* The graph of one warp, kept until the next one is asked for. */
static struct wsdbg_error *find_ways(struct wsdbg_look_executions *all, const struct of_grid *grid, uint32_t warp,
                                     const struct wsdbg_graph **out)
{
    struct wsdbg_error *error = NULL;
    if (!all->ways || all->ways_kernel != grid->kernel || all->ways_warp != warp) {
        wsdbg_graph_destroy(all->ways);
        all->ways = NULL;
        all->ways_kernel = grid->kernel;
        all->ways_warp = warp;
        error = wsdbg_code_threads(all->machine, grid->machine, grid->kernel, warp * WARP_THREADS, WARP_THREADS,
                                   &all->ways);
    }
    *out = all->ways;
    return error;
}

/* Passes of one access on the ways to one place; the executions of several places are those of any of them. */
static void add_ways(const struct wsdbg_graph *graph, uint32_t to, uint32_t access, uint64_t *set,
                     struct wsdbg_execution_count *count)
{
    uint8_t least, most;
    set[access / 64] = (uint64_t)1 << access % 64;
    if (wsdbg_graph_passes(graph, 0, to, set, &least, &most)) {
        count->least = !count->known || least < count->least ? least : count->least;
        count->most = !count->known || most > count->most ? most : count->most;
        count->known = true;
    }
    set[access / 64] = 0;
}

static bool counts_arrivals(const struct wsdbg_code_kernel *kernel)
{
    size_t arrivals = 0, exits = 0;
    for (size_t i = 0; i < kernel->access_count; i++) {
        arrivals += wsdbg_look_arrives_on_one_place(&kernel->accesses[i]);
        exits += kernel->accesses[i].kind == WSDBG_ACCESS_EXIT;
    }
    return arrivals * exits <= ARRIVAL_WAYS_MOST;
}

static void count_executions(const struct wsdbg_code_kernel *kernel, const struct wsdbg_graph *graph, uint64_t *set,
                             struct wsdbg_past *past)
{
    const bool arrivals = past->instruction == HAS_LEFT && counts_arrivals(kernel);
    for (size_t i = 0; i < kernel->access_count; i++) {
        if (!is_named(&kernel->accesses[i]) && !(arrivals && wsdbg_look_arrives_on_one_place(&kernel->accesses[i])))
            continue;
        if (past->instruction != HAS_LEFT)
            add_ways(graph, past->instruction, kernel->accesses[i].instruction, set, &past->counts[i]);
        for (size_t k = 0; k < kernel->access_count && past->instruction == HAS_LEFT; k++) {
            const uint32_t exit = kernel->accesses[k].instruction;
            if (kernel->accesses[k].kind == WSDBG_ACCESS_EXIT &&
                !wsdbg_flow_never_executes(wsdbg_graph_instruction(graph, exit)))
                add_ways(graph, exit, kernel->accesses[i].instruction, set, &past->counts[i]);
        }
    }
}

/* An arrival of one lane, mostly the first, that the ways of the whole warp may leave out: what that lane must do, the
 * warp has done. */
static struct wsdbg_error *count_first_lane(struct wsdbg_look_executions *all, const struct of_grid *grid,
                                            uint64_t *set, struct wsdbg_past *past)
{
    const struct wsdbg_code_kernel *kernel = grid->kernel;
    struct wsdbg_past of_lane = {past->warp, past->instruction, NULL};
    struct wsdbg_graph *graph = NULL;
    bool open = false;
    for (size_t i = 0; i < kernel->access_count; i++)
        open |= past->counts[i].known && past->counts[i].least < past->counts[i].most &&
                wsdbg_look_arrives_on_one_place(&kernel->accesses[i]);
    if (!open)
        return NULL;
    of_lane.counts = calloc(kernel->access_count + 1, sizeof *of_lane.counts);
    if (!of_lane.counts)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error =
        wsdbg_code_threads(all->machine, grid->machine, kernel, past->warp * WARP_THREADS, 1, &graph);
    if (!error)
        count_executions(kernel, graph, set, &of_lane);
    for (size_t i = 0; !error && i < kernel->access_count; i++)
        if (of_lane.counts[i].known && past->counts[i].known && of_lane.counts[i].least > past->counts[i].least &&
            wsdbg_look_arrives_on_one_place(&kernel->accesses[i]))
            past->counts[i].least = of_lane.counts[i].least;
    wsdbg_graph_destroy(graph);
    free(of_lane.counts);
    return error;
}

/* Which barrier each instruction is of for this warp, where that is not the same for all. */
static struct wsdbg_error *find_ids(struct wsdbg_look_executions *all, const struct of_grid *grid,
                                    struct wsdbg_past *past)
{
    const struct wsdbg_code_kernel *kernel = grid->kernel;
    struct wsdbg_access *own = NULL;
    size_t open = 0;
    for (size_t i = 0; i < kernel->access_count; i++)
        open += has_open_id(&kernel->accesses[i]);
    if (open == 0)
        return NULL;
    struct wsdbg_error *error = wsdbg_code_accesses_of_threads(all->machine, grid->machine, kernel,
                                                               past->warp * WARP_THREADS, WARP_THREADS, &own);
    for (size_t i = 0; !error && i < kernel->access_count; i++)
        if (has_open_id(&kernel->accesses[i]) && !has_open_id(&own[i]) && own[i].address.base < IDS)
            past->counts[i].id = wsdbg_known_u32((uint32_t)own[i].address.base);
    free(own);
    return error;
}

static struct wsdbg_error *add_past(struct wsdbg_look_executions *all, const struct of_grid *grid, uint32_t warp,
                                    uint32_t instruction, const struct wsdbg_past **out)
{
    struct wsdbg_code_kernel *kernel = grid->kernel;
    const struct wsdbg_graph *graph = NULL;
    struct wsdbg_error *error = find_ways(all, grid, warp, &graph);
    if (error)
        return error;
    if (!wsdbg_grow((void **)&kernel->pasts, &kernel->past_capacity, kernel->past_count + 1, sizeof *kernel->pasts))
        return &wsdbg_error_no_memory;
    struct wsdbg_past *past = &kernel->pasts[kernel->past_count];
    uint64_t *set = calloc(wsdbg_graph_instruction_count(graph) / 64 + 1, sizeof *set);
    *past = (struct wsdbg_past){warp, instruction, calloc(kernel->access_count + 1, sizeof *past->counts)};
    if (!set || !past->counts) {
        free(set);
        free(past->counts);
        return &wsdbg_error_no_memory;
    }
    count_executions(kernel, graph, set, past);
    error = count_first_lane(all, grid, set, past);
    free(set);
    if (!error)
        error = find_ids(all, grid, past);
    if (error) {
        free(past->counts);
        return error;
    }
    kernel->past_count++;
    *out = past;
    return NULL;
}

static struct wsdbg_error *find_past(struct wsdbg_look_executions *all, const struct of_grid *grid, uint32_t warp,
                                     uint32_t instruction, const struct wsdbg_past **out)
{
    for (size_t i = 0; i < grid->kernel->past_count; i++)
        if (grid->kernel->pasts[i].warp == warp && grid->kernel->pasts[i].instruction == instruction) {
            *out = &grid->kernel->pasts[i];
            return NULL;
        }
    return add_past(all, grid, warp, instruction, out);
}

/* Where a waiting warp stands: the part that decides its state. */
static struct wsdbg_error *find_place(struct wsdbg_look_executions *all, uint32_t warp, bool *known,
                                      uint32_t *instruction)
{
    const struct wsdbg_paths *paths = NULL;
    const uint32_t part = all->deciding[warp];
    *known = false;
    if (part == WSDBG_NONE || !wsdbg_warp_state_waits(all->out->parts[part].state))
        return NULL;
    struct wsdbg_error *error = wsdbg_look_paths(all->seen, all->out, part, &paths);
    if (!error && paths) {
        *known = true;
        *instruction = paths->instruction;
    }
    return error;
}

/* The row in snapshot.accesses of the grid's access number `access` at one barrier. */
static struct wsdbg_error *row_of_id(struct wsdbg_look_executions *all, const struct of_grid *grid, uint32_t access,
                                     uint32_t id, uint32_t *out)
{
    struct wsdbg_snapshot *snapshot = all->out;
    const size_t rows = grid->kernel->access_count * IDS;
    uint32_t **by_id = &all->by_id[grid->row];
    if (!*by_id) {
        *by_id = malloc((rows + 1) * sizeof **by_id);
        if (!*by_id)
            return &wsdbg_error_no_memory;
        memset(*by_id, 0xff, rows * sizeof **by_id); /* WSDBG_NONE */
    }
    uint32_t *row = &(*by_id)[access * IDS + id];
    if (*row == WSDBG_NONE) {
        if (!wsdbg_grow((void **)&snapshot->accesses, &all->tables->capacity.accesses, snapshot->access_count + 1,
                        sizeof *snapshot->accesses))
            return &wsdbg_error_no_memory;
        *row = (uint32_t)snapshot->access_count++;
        snapshot->accesses[*row] = snapshot->accesses[all->access_first[grid->row] + access];
        snapshot->accesses[*row].certain = true;
        snapshot->accesses[*row].address = wsdbg_known_u32(id);
        snapshot->accesses[*row].stride = 0;
        snapshot->accesses[*row].places = 1;
    }
    *out = *row;
    return NULL;
}

/* Behind the warp's other rows, in their order. */
static void add_row(struct wsdbg_snapshot *out, size_t first, struct wsdbg_reach row)
{
    size_t at = out->reach_count++;
    for (; at > first && out->reaches[at - 1].access > row.access; at--)
        out->reaches[at] = out->reaches[at - 1];
    out->reaches[at] = row;
}

static struct wsdbg_error *correct(struct wsdbg_look_executions *all, uint32_t warp, size_t first)
{
    struct wsdbg_snapshot *out = all->out;
    const struct of_grid grid = grid_of(all, warp);
    const uint32_t access_first = all->access_first[grid.row];
    const struct wsdbg_past *past;
    uint32_t instruction = 0;
    bool known;
    struct wsdbg_error *error = find_place(all, warp, &known, &instruction);
    if (error || !known)
        return error;
    error = find_past(all, &grid, out->warps[warp].warp, instruction, &past);
    for (size_t i = first, end = out->reach_count; !error && i < end; i++) {
        struct wsdbg_reach *reach = &out->reaches[i];
        const struct wsdbg_execution_count *count = &past->counts[reach->access - access_first];
        if (count->known) {
            reach->before_least = count->least;
            reach->before_most = count->most;
            reach->before_known = true;
        }
        if (!count->id.known)
            continue;
        struct wsdbg_reach own = *reach;
        *reach = (struct wsdbg_reach){.warp = warp, .access = reach->access, .before_known = true};
        error = row_of_id(all, &grid, own.access - access_first, count->id.value, &own.access);
        if (!error)
            add_row(out, end, own);
    }
    return error;
}

/* What the warp's threads do not come to. */
static struct wsdbg_error *narrow(struct wsdbg_look_executions *all, uint32_t warp, size_t first)
{
    struct wsdbg_snapshot *out = all->out;
    const struct of_grid grid = grid_of(all, warp);
    const uint64_t *comers;
    struct wsdbg_error *error = wsdbg_code_comers(all->machine, grid.machine, grid.kernel, &comers);
    for (size_t i = first; !error && comers && i < out->reach_count; i++) {
        struct wsdbg_reach *reach = &out->reaches[i];
        if (!(comers[reach->access - all->access_first[grid.row]] >> out->warps[warp].warp & 1))
            *reach = (struct wsdbg_reach){.warp = reach->warp, .access = reach->access, .before_known = true};
    }
    return error;
}

static bool is_arrival(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_ARRIVE || access->kind == WSDBG_ACCESS_ARRIVE_EXPECT ||
           access->kind == WSDBG_ACCESS_DROP || access->kind == WSDBG_ACCESS_COPY_ARRIVE;
}

/* How often a warp that has left may have reach an arrival that was not counted. */
static struct wsdbg_execution_count count_of_comer(const uint64_t *comers, size_t access, uint32_t warp)
{
    const bool came = comers[access] >> warp & 1;
    return (struct wsdbg_execution_count){.known = true, .most = came ? UINT8_MAX : 0};
}

static struct wsdbg_error *add(struct wsdbg_look_executions *all, uint32_t warp)
{
    struct wsdbg_snapshot *out = all->out;
    const struct of_grid grid = grid_of(all, warp);
    const uint32_t access_first = all->access_first[grid.row];
    const size_t first = out->reach_count;
    const struct wsdbg_past *past;
    const uint64_t *comers = NULL;
    struct wsdbg_error *error = find_past(all, &grid, out->warps[warp].warp, HAS_LEFT, &past);
    if (!error)
        error = wsdbg_code_comers(all->machine, grid.machine, grid.kernel, &comers);
    for (uint32_t i = 0; !error && i < grid.kernel->access_count; i++) {
        struct wsdbg_execution_count count = past->counts[i];
        if (!count.known && comers && is_arrival(&grid.kernel->accesses[i]))
            count = count_of_comer(comers, i, out->warps[warp].warp);
        struct wsdbg_reach row = {.warp = warp,
                                  .access = access_first + i,
                                  .before_least = count.least,
                                  .before_most = count.most,
                                  .before_known = true};
        if (!count.known)
            continue;
        if (count.id.known)
            error = row_of_id(all, &grid, i, count.id.value, &row.access);
        if (!error)
            add_row(out, first, row);
    }
    return error;
}

struct wsdbg_error *wsdbg_look_count_executions(struct wsdbg_look_executions *all, uint32_t warp, size_t first)
{
    if (!counts_executions(all, warp))
        return NULL;
    if (all->out->warps[warp].state == WSDBG_WARP_EXITED)
        return add(all, warp);
    if (all->out->reach_count == first)
        return NULL;
    struct wsdbg_error *error = narrow(all, warp, first);
    return error || !all->waits[all->out->warps[warp].cta].gathers ? error : correct(all, warp, first);
}

struct wsdbg_error *wsdbg_look_executions_create(const struct wsdbg_look_source *source,
                                                 const struct wsdbg_look_seen *seen, const uint32_t *deciding,
                                                 const uint32_t *access_first, struct wsdbg_look_tables *tables,
                                                 struct wsdbg_look_executions **out)
{
    struct wsdbg_look_executions *all = malloc(sizeof *all);
    if (!all)
        return &wsdbg_error_no_memory;
    *all = (struct wsdbg_look_executions){.machine = source->machine,
                                          .seen = seen,
                                          .deciding = deciding,
                                          .access_first = access_first,
                                          .tables = tables,
                                          .out = tables->out};
    all->waits = calloc(all->out->cta_count + 1, sizeof *all->waits);
    all->by_id = calloc(all->out->grid_count + 1, sizeof *all->by_id);
    if (!all->waits || !all->by_id) {
        wsdbg_look_executions_destroy(all);
        return &wsdbg_error_no_memory;
    }
    find_waits(all->out, all->waits);
    *out = all;
    return NULL;
}

void wsdbg_look_executions_destroy(struct wsdbg_look_executions *all)
{
    if (!all)
        return;
    wsdbg_graph_destroy(all->ways);
    for (size_t i = 0; all->by_id && i < all->out->grid_count; i++)
        free(all->by_id[i]);
    free(all->by_id);
    free(all->waits);
    free(all);
}
