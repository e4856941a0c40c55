/* register_view.c - see register_view.h.  Reads the kernel's accesses and the graph of each warp's threads. */
#include "lint/register_view.h"

#include <stdlib.h>
#include <string.h>

#include "sass/slice.h"
#include "sass/threads.h"

enum { WARP_THREADS = 32, GRANULE = 8, GROUP_THREADS = 128, THREADS_MOST = 1024, LEAST = 24, MOST = 256 };

/* ---- sites ---- */

/* False where there are too many, or one whose count is not written down. */
static bool read_sites(const struct wsdbg_graph *graph, struct wsdbg_register_view *out)
{
    for (uint32_t i = 0; i < wsdbg_graph_instruction_count(graph); i++) {
        const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(graph, i);
        if (instruction->operation != WSDBG_OP_USETMAXREG)
            continue;
        const struct wsdbg_operand *count = &instruction->sources[0];
        if (out->site_count == WSDBG_VIEW_SITES_MOST || !instruction->source_count ||
            count->kind != WSDBG_OPERAND_IMMEDIATE || count->value < LEAST || count->value > MOST)
            return false;
        out->sites[out->site_count++] =
            (struct wsdbg_register_site){.instruction = i,
                                         .count = (uint32_t)count->value,
                                         .is_request = instruction->mode == WSDBG_MAXREG_TRY_ALLOC};
    }
    return true;
}

/* ---- one warp ---- */

struct paths {
    const struct wsdbg_graph *graph; /* of the warp's threads; a slice */
    uint64_t *reached, *avoid;       /* sets of instructions */
    size_t words;
};

static bool contains(const uint64_t *set, uint32_t number)
{
    return set[number / 64] >> number % 64 & 1;
}

static void insert(uint64_t *set, uint32_t number)
{
    set[number / 64] |= UINT64_C(1) << number % 64;
}

static bool never_executes(const struct wsdbg_instruction *instruction)
{
    return instruction->guard == WSDBG_PT && instruction->guard_is_negated;
}

static struct wsdbg_error *paths_open(const struct wsdbg_graph *graph, struct paths *out)
{
    const size_t words = ((size_t)wsdbg_graph_instruction_count(graph) + 63) / 64;
    *out = (struct paths){graph, calloc(words + 1, 8), calloc(words + 1, 8), words};
    return out->reached && out->avoid ? NULL : &wsdbg_error_no_memory;
}

static void paths_close(struct paths *paths)
{
    free(paths->reached);
    free(paths->avoid);
}

static uint64_t reached_sites(const struct paths *paths, const struct wsdbg_register_view *view)
{
    uint64_t sites = 0;
    for (uint32_t i = 0; i < view->site_count; i++)
        if (contains(paths->reached, view->sites[i].at) &&
            !never_executes(wsdbg_graph_instruction(paths->graph, view->sites[i].at)))
            sites |= UINT64_C(1) << i;
    return sites;
}

/* The sites that a path from just behind site `from` reaches first or later; with `stops` none behind those. */
static uint64_t sites_after(struct paths *paths, const struct wsdbg_register_view *view, uint32_t from, uint64_t stops)
{
    const uint32_t next = view->sites[from].at + 1;
    if (next >= wsdbg_graph_instruction_count(paths->graph))
        return 0;
    memset(paths->avoid, 0, paths->words * sizeof *paths->avoid);
    for (uint32_t i = 0; i < view->site_count; i++)
        if (stops >> i & 1)
            insert(paths->avoid, view->sites[i].at);
    wsdbg_graph_reach_set(paths->graph, next, paths->avoid, paths->reached);
    return reached_sites(paths, view);
}

/* Whether some path from instruction `from` on reaches an exit and none of the sites.  A trap ends the path:
 * nothing hangs. */
static bool exits_without(struct paths *paths, const struct wsdbg_register_view *view, uint32_t from, uint64_t sites)
{
    const uint32_t count = wsdbg_graph_instruction_count(paths->graph);
    memset(paths->avoid, 0, paths->words * sizeof *paths->avoid);
    for (uint32_t i = 0; i < view->site_count; i++)
        if (sites >> i & 1)
            insert(paths->avoid, view->sites[i].at);
    for (uint32_t i = 0; i < count; i++)
        if (wsdbg_graph_instruction(paths->graph, i)->operation == WSDBG_OP_BPT)
            insert(paths->avoid, i);
    if (from >= count || wsdbg_graph_reach_set(paths->graph, from, paths->avoid, paths->reached))
        return true;
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(paths->graph, i);
        if (instruction->operation == WSDBG_OP_EXIT && contains(paths->reached, i) && !never_executes(instruction))
            return true;
    }
    return false;
}

static uint64_t requests(const struct wsdbg_register_view *view)
{
    uint64_t sites = 0;
    for (uint32_t i = 0; i < view->site_count; i++)
        sites |= (uint64_t)view->sites[i].is_request << i;
    return sites;
}

static uint32_t least_of(const struct wsdbg_register_view *view, uint64_t sites, uint32_t least)
{
    for (uint32_t i = 0; i < view->site_count; i++)
        if (sites >> i & 1 && view->sites[i].count < least)
            least = view->sites[i].count;
    return least;
}

/* What one request leads to: what the warp holds in the end, and a further one without a release between.  The loop
 * around a request that is not served yet is the same request. */
static void follow_request(struct paths *paths, const struct wsdbg_register_view *view, uint32_t site,
                           struct wsdbg_register_warp *warp)
{
    const uint64_t itself = UINT64_C(1) << site, all = requests(view);
    const uint32_t count = view->sites[site].count;
    const uint64_t later = sites_after(paths, view, site, 0);
    const uint32_t held = least_of(view, later & ~all, count);
    warp->held_least = held < warp->held_least ? held : warp->held_least;
    const uint64_t again = sites_after(paths, view, site, ~all) & all & ~itself;
    for (uint32_t i = 0; i < view->site_count; i++)
        if (again >> i & 1 && view->sites[i].count != count) {
            warp->asks_before = count;
            warp->asks_again = view->sites[i].count;
        }
}

/* The least that the warp can hold when it exits: the count of a site behind which it may reach no other one.  What
 * it then holds does not come back. */
static uint32_t held_at_exit(struct paths *paths, const struct wsdbg_register_view *view, uint64_t reached)
{
    uint32_t least = exits_without(paths, view, 0, reached) ? view->launch : UINT32_MAX;
    for (uint32_t i = 0; i < view->site_count; i++)
        if (reached >> i & 1 && view->sites[i].count < least &&
            exits_without(paths, view, view->sites[i].at + 1, reached))
            least = view->sites[i].count;
    return least;
}

static void follow_requests(struct paths *paths, const struct wsdbg_register_view *view,
                            struct wsdbg_register_warp *warp)
{
    const uint64_t asked = warp->reached & requests(view);
    warp->asks = asked != 0;
    const uint32_t exits_with = held_at_exit(paths, view, warp->reached);
    if (!warp->asks) {
        warp->held_least = least_of(view, warp->reached, view->launch);
        warp->exits_with = exits_with == UINT32_MAX ? warp->held_least : exits_with;
        return;
    }
    warp->held_least = UINT32_MAX;
    warp->ask_least = least_of(view, asked, MOST);
    for (uint32_t i = 0; i < view->site_count; i++)
        if (asked >> i & 1) {
            warp->ask_most = view->sites[i].count > warp->ask_most ? view->sites[i].count : warp->ask_most;
            follow_request(paths, view, i, warp);
        }
    warp->exits_with = exits_with == UINT32_MAX ? warp->held_least : exits_with;
    warp->asks_always = !exits_without(paths, view, 0, asked);
    warp->is_undecided = !warp->asks_always && (reached_sites(paths, view) & ~requests(view)) != 0;
}

/* The sites that thread `thread` reaches. */
static struct wsdbg_error *sites_of_thread(struct wsdbg_trace *trace, const struct wsdbg_register_view *view,
                                           uint32_t thread, uint64_t *out)
{
    struct wsdbg_graph *graph = NULL;
    struct paths paths = {0};
    wsdbg_trace_turn_to(trace, (struct wsdbg_thread_range){thread, 1});
    struct wsdbg_error *error = wsdbg_graph_create_traced(trace, &graph);
    if (!error)
        error = paths_open(graph, &paths);
    if (!error) {
        wsdbg_graph_reach_set(graph, 0, NULL, paths.reached);
        *out = reached_sites(&paths, view);
    }
    paths_close(&paths);
    wsdbg_graph_destroy(graph);
    return error;
}

/* Lanes that reach different sites part at a branch on the thread's index: the first and the last show it. */
static struct wsdbg_error *find_split(struct wsdbg_trace *trace, const struct wsdbg_register_view *view,
                                      uint32_t number, struct wsdbg_register_warp *warp)
{
    uint64_t first = 0, last = 0;
    if (!warp->reached)
        return NULL;
    struct wsdbg_error *error = sites_of_thread(trace, view, number * WARP_THREADS, &first);
    if (!error)
        error = sites_of_thread(trace, view, number * WARP_THREADS + WARP_THREADS - 1, &last);
    warp->split = first ^ last;
    return error;
}

static struct wsdbg_error *read_warp(struct wsdbg_trace *trace, const struct wsdbg_register_view *view, uint32_t number,
                                     struct wsdbg_register_warp *out)
{
    struct wsdbg_graph *graph = NULL;
    struct paths paths = {0};
    *out = (struct wsdbg_register_warp){0};
    wsdbg_trace_turn_to(trace, (struct wsdbg_thread_range){number * WARP_THREADS, WARP_THREADS});
    struct wsdbg_error *error = wsdbg_graph_create_traced(trace, &graph);
    if (!error)
        error = paths_open(graph, &paths);
    if (!error) {
        wsdbg_graph_reach_set(graph, 0, NULL, paths.reached);
        out->reached = reached_sites(&paths, view);
        follow_requests(&paths, view, out);
        error = wsdbg_register_steps_read(graph, &out->steps);
    }
    paths_close(&paths);
    wsdbg_graph_destroy(graph);
    return error ? error : find_split(trace, view, number, out);
}

/* ---- the CTA ---- */

/* Reads as many warps as the CTA's size needs.  If that is not known, goes on warpgroup by warpgroup until every site
 * was reached. */
static struct wsdbg_error *read_warps(struct wsdbg_lint_kernel *kernel, const struct wsdbg_graph *graph,
                                      struct wsdbg_register_view *out)
{
    const uint64_t all = out->site_count == 64 ? UINT64_MAX : (UINT64_C(1) << out->site_count) - 1;
    uint64_t reached = 0;
    const uint32_t said = (out->threads + WARP_THREADS - 1) / WARP_THREADS;
    struct wsdbg_trace *trace = NULL;
    struct wsdbg_error *error =
        wsdbg_trace_create(graph, wsdbg_lint_launch_values(kernel), (struct wsdbg_thread_range){0, 0}, &trace);
    for (;;) {
        const bool is_done =
            said ? out->warp_count == said : out->warp_count % WSDBG_VIEW_GROUP_WARPS == 0 && reached == all;
        if (error || is_done || out->warp_count == WSDBG_VIEW_WARPS_MOST)
            break;
        error = read_warp(trace, out, out->warp_count, &out->warps[out->warp_count]);
        reached |= out->warps[out->warp_count++].reached;
    }
    wsdbg_trace_destroy(trace);
    if (!said) {
        out->threads_are_assumed = true;
        out->threads = out->warp_count * WARP_THREADS;
    }
    return error;
}

/* The code that leads to the sites; notes where they are in it. */
static struct wsdbg_error *make_slice(const struct wsdbg_graph *graph, struct wsdbg_register_view *view,
                                      struct wsdbg_graph **out)
{
    uint32_t *numbers = NULL, site = 0;
    uint64_t *set = calloc((size_t)wsdbg_graph_instruction_count(graph) / 64 + 1, sizeof *set);
    if (!set)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < view->site_count; i++)
        insert(set, view->sites[i].instruction);
    struct wsdbg_error *error = wsdbg_graph_create_leading_to(graph, set, out, &numbers);
    for (uint32_t at = 0; !error && at < wsdbg_graph_instruction_count(*out) && site < view->site_count; at++)
        if (numbers[at] == view->sites[site].instruction)
            view->sites[site++].at = at;
    free(numbers);
    free(set);
    return error;
}

struct wsdbg_error *wsdbg_register_view_read(struct wsdbg_lint_kernel *kernel, struct wsdbg_register_view *out,
                                             bool *is_whole)
{
    const struct wsdbg_lint_launch *launch = &kernel->launch;
    const struct wsdbg_graph *graph;
    struct wsdbg_graph *slice = NULL;
    *out = (struct wsdbg_register_view){.threads =
                                            launch->threads_required ? launch->threads_required : launch->threads_most,
                                        .launch = (launch->registers + GRANULE - 1) / GRANULE * GRANULE};
    *is_whole = false;
    struct wsdbg_error *error = wsdbg_lint_graph(kernel, &graph);
    if (error)
        return error;
    if (!read_sites(graph, out) || !out->site_count || !out->launch || out->threads > THREADS_MOST ||
        (out->threads && !launch->is_one_dimensional))
        return NULL;
    error = make_slice(graph, out, &slice);
    if (!error)
        error = read_warps(kernel, slice, out);
    wsdbg_graph_destroy(slice);
    bool is_undecided = false;
    for (uint32_t i = 0; i < out->warp_count; i++)
        is_undecided = is_undecided || out->warps[i].is_undecided;
    *is_whole = !error && !is_undecided;
    return error;
}

/* ---- accounts ---- */

uint32_t wsdbg_register_view_pool(const struct wsdbg_register_view *view, uint32_t file)
{
    uint32_t pool = 0;
    for (uint32_t i = file; i < view->warp_count; i += WSDBG_VIEW_FILES)
        pool += view->launch;
    return pool;
}

/* What the file's warps hold at least when `last`, which asks, is the only one not served yet, and what that needs. */
static uint32_t needed(const struct wsdbg_register_view *view, uint32_t file, uint32_t last)
{
    uint32_t sum = 0;
    for (uint32_t i = file; i < view->warp_count; i += WSDBG_VIEW_FILES)
        sum += i == last ? view->warps[i].ask_least : view->warps[i].held_least;
    return sum;
}

/* All warps exit in the end, or the kernel hangs. */
static uint32_t held_by_exited(const struct wsdbg_register_view *view, uint32_t file)
{
    uint32_t sum = 0;
    for (uint32_t i = file; i < view->warp_count; i += WSDBG_VIEW_FILES)
        sum += view->warps[i].exits_with;
    return sum;
}

static bool file_starves(const struct wsdbg_register_view *view, uint32_t file)
{
    const uint32_t pool = wsdbg_register_view_pool(view, file);
    bool asks = false;
    if (held_by_exited(view, file) > pool)
        return true;
    for (uint32_t i = file; i < view->warp_count; i += WSDBG_VIEW_FILES) {
        if (view->warps[i].asks && needed(view, file, i) <= pool)
            return false;
        asks = asks || view->warps[i].asks;
    }
    return asks;
}

bool wsdbg_register_view_starves(const struct wsdbg_register_view *view, uint32_t *file)
{
    for (*file = 0; *file < WSDBG_VIEW_FILES; (*file)++)
        if (file_starves(view, *file))
            return true;
    return false;
}

uint32_t wsdbg_register_view_demand(const struct wsdbg_register_view *view, uint32_t file)
{
    uint32_t sum = 0;
    for (uint32_t i = file; i < view->warp_count; i += WSDBG_VIEW_FILES)
        sum += view->warps[i].asks ? view->warps[i].ask_most : view->warps[i].held_least;
    return sum;
}

uint32_t wsdbg_register_view_largest(const struct wsdbg_register_view *view, uint32_t others)
{
    uint32_t largest = MOST;
    for (uint32_t file = 0; file < WSDBG_VIEW_FILES; file++) {
        const uint32_t pool = wsdbg_register_view_pool(view, file);
        uint32_t asking = 0, held = 0;
        for (uint32_t i = file; i < view->warp_count; i += WSDBG_VIEW_FILES) {
            const struct wsdbg_register_warp *warp = &view->warps[i];
            asking += warp->asks;
            held += warp->asks ? 0 : warp->held_least < others ? warp->held_least : others;
        }
        const uint32_t fits = asking && held < pool ? (pool - held) / asking / GRANULE * GRANULE : 0;
        largest = asking && fits < largest ? fits : largest;
    }
    return largest < LEAST ? 0 : largest;
}
