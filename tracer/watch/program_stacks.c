/* program_stacks.c - see program_stacks.h.
 *
 * Reads: contexts, host threads, grids and their launches, calls of NCCL; the processes.  Writes: the snapshot's rows.
 */
#include "watch/program_stacks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/console.h"
#include "host/host_stacks.h"
#include "model/launch_site.h"
#include "model/rows.h"

enum { PROCESSES_MOST = 64, WAITING_MOST = 64, CALLS_MOST = 64, LAUNCHES_MOST = 1200 };
#define PROCESS_NS UINT64_C(50000000)
#define SITES_NS UINT64_C(50000000) /* more for a process of which launch sites are wanted */
#define ALL_NS UINT64_C(500000000)

/* What is asked for, of one process.  Its tags number grids, then calls. */
struct wish {
    struct wsdbg_host_wanted wanted[WSDBG_HOST_WANTED_MAX];
    size_t count;
    uint32_t function_first; /* the process's rows of functions begin there */
};

static bool was_read(const struct wsdbg_snapshot *snapshot, uint32_t process_id)
{
    for (size_t i = 0; i < snapshot->host_process_count; i++)
        if (snapshot->host_processes[i].process_id == process_id)
            return true;
    return false;
}

/* ---- launch sites: what is wanted ---- */

static void want(struct wish *wish, struct wsdbg_host_wanted wanted)
{
    if (wish->count < WSDBG_HOST_WANTED_MAX)
        wish->wanted[wish->count++] = wanted;
}

static uint32_t first_function(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    for (uint32_t i = 0; i < s->function_count; i++)
        if (s->functions[i].process_id == process_id)
            return i;
    return WSDBG_NONE;
}

/* The launches that may have made the grid; of graph launches, where the kernel was put into a graph. */
static void want_grid(const struct wsdbg_snapshot *s, uint32_t grid, struct wish *wish)
{
    uint32_t launches[LAUNCHES_MOST];
    bool all, is_graph = false;
    size_t count = wsdbg_grid_launches(s, grid, launches, LAUNCHES_MOST, &all);
    count = count < LAUNCHES_MOST ? count : LAUNCHES_MOST;
    for (size_t i = 0; i < count; i++) {
        const struct wsdbg_launch *launch = &s->launches[launches[i]];
        is_graph |= (launch->flags & WSDBG_LAUNCH_GRAPH) != 0;
        want(wish, (struct wsdbg_host_wanted){.ring = WSDBG_SITES_LAUNCHED, .owner = launch->sequence, .tag = grid});
    }
    if (is_graph && s->grids[grid].function != WSDBG_NONE && s->grids[grid].function >= wish->function_first)
        want(wish, (struct wsdbg_host_wanted){.ring = WSDBG_SITES_CAPTURED,
                                              .function_row = s->grids[grid].function - wish->function_first,
                                              .tag = grid});
}

static bool is_wanted(const struct wsdbg_snapshot *s, uint32_t grid, uint32_t process_id)
{
    const struct wsdbg_grid *row = &s->grids[grid];
    return row->running && row->context < s->context_count && s->contexts[row->context].process_id == process_id;
}

static void want_sites(const struct wsdbg_snapshot *s, uint32_t process_id, struct wish *wish)
{
    size_t calls = 0;
    wish->count = 0;
    wish->function_first = first_function(s, process_id);
    for (uint32_t i = 0; i < s->collective_count && calls < CALLS_MOST; i++) {
        const struct wsdbg_communicator *communicator = &s->communicators[s->collectives[i].communicator];
        if (s->collectives[i].done || communicator->process_id != process_id)
            continue;
        calls++;
        want(wish, (struct wsdbg_host_wanted){.ring = WSDBG_SITES_CALLED,
                                              .owner = s->collectives[i].row.sequence - 1,
                                              .group = communicator->row.number,
                                              .tag = i});
    }
    for (uint32_t i = 0; i < s->grid_count; i++)
        if (is_wanted(s, i, process_id))
            want_grid(s, i, wish);
}

/* ---- ... and what came ---- */

static uint32_t function_of(const struct wsdbg_snapshot *s, const struct wish *wish, uint32_t process_id, uint32_t row)
{
    const uint64_t index = (uint64_t)wish->function_first + row;
    return row != WSDBG_UNKNOWN32 && index < s->function_count && s->functions[index].process_id == process_id
               ? (uint32_t)index
               : WSDBG_NONE;
}

static uint32_t launch_of(const struct wsdbg_snapshot *s, const struct wsdbg_launch_site *site)
{
    for (uint32_t i = 0; i < s->launch_count; i++)
        if (s->launches[i].process_id == site->process_id && s->launches[i].sequence == site->entry)
            return i;
    return WSDBG_NONE;
}

static void connect(const struct wsdbg_snapshot *s, const struct wish *wish, struct wsdbg_launch_site *site)
{
    if (site->kind == WSDBG_SITE_OF_CALL) {
        site->collective = site->tag;
        return;
    }
    site->grid = site->tag;
    site->function = s->grids[site->grid].function;
    if (site->kind == WSDBG_SITE_OF_LAUNCH)
        site->launch = launch_of(s, site);
    site->before = function_of(s, wish, site->process_id, site->rows[1]);
    site->after = function_of(s, wish, site->process_id, site->rows[2]);
}

/* Launches for which the grid's rows from `first` on stand. */
static size_t launches_read(const struct wsdbg_snapshot *s, size_t first, uint32_t grid)
{
    size_t count = 0;
    for (size_t i = first; i < s->launch_site_count; i++)
        if (s->launch_sites[i].kind == WSDBG_SITE_OF_LAUNCH && s->launch_sites[i].grid == grid)
            count += s->launch_sites[i].count;
    return count;
}

/* Launches that were not asked for, or that left the table, may have made the grid too. */
static struct wsdbg_error *add_others(struct wsdbg_snapshot *s, size_t first, uint32_t process_id, uint32_t grid)
{
    bool all;
    const size_t count = wsdbg_grid_launches(s, grid, NULL, 0, &all), read = launches_read(s, first, grid);
    if (count == 0 || (all && read >= count))
        return NULL;
    struct wsdbg_error *error = wsdbg_rows_reserve(s, &(struct wsdbg_table_counts){.launch_sites = 1});
    if (error)
        return error;
    struct wsdbg_launch_site *site = &s->launch_sites[s->launch_site_count++];
    *site = (struct wsdbg_launch_site){.process_id = process_id,
                                       .kind = WSDBG_SITE_OF_LAUNCH,
                                       .grid = grid,
                                       .collective = WSDBG_NONE,
                                       .launch = WSDBG_NONE,
                                       .count = read < count ? (uint32_t)(count - read) : 0,
                                       .function = s->grids[grid].function,
                                       .before = WSDBG_NONE,
                                       .after = WSDBG_NONE};
    snprintf(site->end, sizeof site->end, "%s",
             read < count ? "too many launches may be this one" : "a launch that left the table may be this one");
    return NULL;
}

/* Of the rows from `first` on.  Nothing came back from a process that keeps no sites. */
static struct wsdbg_error *take_sites(struct wsdbg_snapshot *s, const struct wish *wish, uint32_t process_id,
                                      size_t first)
{
    struct wsdbg_error *error = NULL;
    const size_t end = s->launch_site_count;
    bool any = false;
    for (size_t i = first; i < end; i++) {
        if (s->launch_sites[i].process_id != process_id)
            continue;
        any = true;
        connect(s, wish, &s->launch_sites[i]);
    }
    for (uint32_t i = 0; any && i < s->grid_count && !error; i++)
        if (is_wanted(s, i, process_id))
            error = add_others(s, first, process_id, i);
    return error;
}

/* ---- processes ---- */

/* What is read together. */
struct batch {
    struct wish wishes[WSDBG_HOST_TOGETHER];
    uint32_t waiting[WSDBG_HOST_TOGETHER][WAITING_MOST];
    struct wsdbg_host_request requests[WSDBG_HOST_TOGETHER];
    size_t count;
    bool wants_sites;
};

static bool is_in(const struct batch *batch, uint32_t process_id)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->requests[i].process_id == process_id)
            return true;
    return false;
}

static void add_process(const struct wsdbg_snapshot *snapshot, uint32_t process_id, struct batch *batch)
{
    uint32_t *waiting = batch->waiting[batch->count];
    struct wish *wish = &batch->wishes[batch->count];
    struct wsdbg_host_request request = {.process_id = process_id, .is_traced = true, .waiting = waiting};
    for (size_t i = 0; i < snapshot->thread_count && request.waiting_count < WAITING_MOST; i++)
        if (snapshot->threads[i].process_id == process_id)
            waiting[request.waiting_count++] = snapshot->threads[i].thread_id;
    want_sites(snapshot, process_id, wish);
    request.wanted = wish->wanted;
    request.wanted_count = wish->count;
    batch->wants_sites |= wish->count > 0;
    batch->requests[batch->count++] = request;
}

/* The next ones that were not read. */
static void fill_batch(const struct wsdbg_snapshot *snapshot, struct batch *batch)
{
    batch->count = 0;
    batch->wants_sites = false;
    for (size_t i = 0; i < snapshot->context_count && batch->count < WSDBG_HOST_TOGETHER; i++) {
        const struct wsdbg_context *context = &snapshot->contexts[i];
        if (!context->process_ended && !was_read(snapshot, context->process_id) && !is_in(batch, context->process_id))
            add_process(snapshot, context->process_id, batch);
    }
}

/* Rows of sites come in the order of the requests. */
static struct wsdbg_error *read_batch(struct wsdbg_snapshot *snapshot, const struct batch *batch, uint64_t limit_ns)
{
    const size_t first = snapshot->launch_site_count;
    struct wsdbg_error *error =
        wsdbg_host_stacks_read(batch->requests, batch->count, limit_ns + (batch->wants_sites ? SITES_NS : 0), snapshot);
    for (size_t i = 0; !error && i < batch->count; i++)
        error = take_sites(snapshot, &batch->wishes[i], batch->requests[i].process_id, first);
    return error;
}

struct wsdbg_error *wsdbg_program_stacks_read(struct wsdbg_snapshot *snapshot)
{
    const uint64_t until_ns = wsdbg_monotonic_ns() + ALL_NS;
    struct batch *batch = malloc(sizeof *batch); /* large for a stack */
    struct wsdbg_error *error = batch ? NULL : &wsdbg_error_no_memory;
    while (!error && snapshot->host_process_count < PROCESSES_MOST) {
        const uint64_t now_ns = wsdbg_monotonic_ns();
        fill_batch(snapshot, batch);
        if (now_ns >= until_ns || batch->count == 0)
            break;
        error = read_batch(snapshot, batch, until_ns - now_ns < PROCESS_NS ? until_ns - now_ns : PROCESS_NS);
    }
    free(batch);
    return error;
}
