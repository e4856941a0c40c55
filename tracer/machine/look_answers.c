/* look_answers.c - which waits of a kernel are always answered: whoever comes through the wait reaches an arrival of a
 * kind before its loop begins the next round.  And after which waits bytes may be announced without an arrival, or
 * copied before more are announced.
 *
 * Reads: accesses and control flow.  Writes: snapshot.answers.  An arrival of an elected lane counts as reached
 * where its guard elects, or the branch around it.  A wait behind the loop is not answered in it, nor one from which a
 * way leads out of the loop to such a wait.  Where something cannot be followed there is no row.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "machine/look.h"

#define PAIRS_MOST 1024u /* of waits and arrivals; kernels with more have no rows of arrivals */
#define COPY_PAIRS_MOST 4096u

struct way {
    const struct wsdbg_graph *graph;
    uint64_t *stops;     /* instructions: the arrivals */
    bool *visited;       /* blocks */
    bool *leads_to_head; /* accesses: waits from which the arrival's loop can begin another round */
    uint32_t *stack;
};

static bool is_arrival(const struct wsdbg_access *access)
{
    return wsdbg_look_is_arrival(access) && access->address.known;
}

static bool is_expect(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_EXPECT && access->address.known;
}

static bool is_copy(const struct wsdbg_access *access)
{
    return access->kind == WSDBG_ACCESS_COPY && access->address.known;
}

static bool announces(const struct wsdbg_access *access)
{
    return (access->kind == WSDBG_ACCESS_EXPECT || access->kind == WSDBG_ACCESS_ARRIVE_EXPECT) && access->address.known;
}

/* Whether a guard may skip it for the warp as a whole. */
static bool may_be_skipped(const struct wsdbg_graph *graph, const struct wsdbg_access *access)
{
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(graph, access->instruction);
    return access->lanes != WSDBG_LANES_ONE && instruction->guard != WSDBG_PT;
}

/* Where a warp has reached the arrival: at the branch that takes the elected lane there, if nothing else stands in its
 * way, as the other lanes go around it. */
static uint32_t stop_of(const struct wsdbg_graph *graph, const struct wsdbg_access *access)
{
    const bool is_guarded = wsdbg_graph_instruction(graph, access->instruction)->guard != WSDBG_PT;
    return access->picked_at == WSDBG_GRAPH_NONE || is_guarded ? access->instruction : access->picked_at;
}

static bool stops_in(const struct way *way, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (way->stops[i / 64] >> i % 64 & 1)
            return true;
    return false;
}

static void push(struct way *way, uint32_t block, uint32_t *depth)
{
    if (block != WSDBG_GRAPH_NONE && !way->visited[block]) {
        way->visited[block] = true;
        way->stack[(*depth)++] = block;
    }
}

/* Blocks that some way from behind the instruction leads to, past all stops or, where they do not count, through them.
 * False: not all of them are known. */
static bool walk(struct way *way, uint32_t from, bool stops_count)
{
    uint32_t depth = 0;
    bool known = true;
    const struct wsdbg_block *block = wsdbg_graph_block(way->graph, wsdbg_graph_block_of(way->graph, from));
    memset(way->visited, 0, wsdbg_graph_block_count(way->graph) * sizeof *way->visited);
    for (uint32_t first = from + 1;;) {
        if (!stops_count || !stops_in(way, first, block->first + block->count)) {
            known = known && !block->is_indirect && !block->returns;
            for (uint32_t s = 0; s < block->successor_count; s++)
                push(way, block->successor[s], &depth);
        }
        if (depth == 0)
            return known;
        block = wsdbg_graph_block(way->graph, way->stack[--depth]);
        first = block->first;
    }
}

/* Notes the waits that are behind the loop for good: nothing in it answers them. */
static void find_waits_of_loop(struct way *way, const struct wsdbg_code_kernel *kernel, uint32_t head)
{
    for (size_t i = 0; i < kernel->access_count; i++)
        if (kernel->accesses[i].kind == WSDBG_ACCESS_WAIT) {
            walk(way, kernel->accesses[i].instruction, false);
            way->leads_to_head[i] = way->visited[head];
        }
}

/* No way from behind the wait leads past all stops to the loop's head, or to a wait behind the loop. */
static bool never_leads_past(struct way *way, const struct wsdbg_code_kernel *kernel, size_t wait, uint32_t head)
{
    if (!way->leads_to_head[wait] || !walk(way, kernel->accesses[wait].instruction, true) || way->visited[head])
        return false;
    for (size_t i = 0; i < kernel->access_count; i++)
        if (kernel->accesses[i].kind == WSDBG_ACCESS_WAIT && !way->leads_to_head[i] &&
            way->visited[wsdbg_graph_block_of(way->graph, kernel->accesses[i].instruction)])
            return false;
    return true;
}

static struct wsdbg_error *add_row(struct wsdbg_look_tables *tables, struct wsdbg_answer_row row)
{
    struct wsdbg_snapshot *out = tables->out;
    if (!wsdbg_grow((void **)&out->answers, &tables->capacity.answers, out->answer_count + 1, sizeof *out->answers))
        return &wsdbg_error_no_memory;
    out->answers[out->answer_count++] = row;
    return NULL;
}

/* The stops are the accesses of a kind on the places of an access. */
static void stop_at(struct way *way, const struct wsdbg_code_kernel *kernel,
                    bool (*is_stop)(const struct wsdbg_access *), const struct wsdbg_access *access)
{
    memset(way->stops, 0, (wsdbg_graph_instruction_count(way->graph) / 64 + 1) * sizeof *way->stops);
    for (size_t i = 0; i < kernel->access_count; i++) {
        const struct wsdbg_access *other = &kernel->accesses[i];
        if (is_stop(other) && wsdbg_look_on_same_places(other, access) && !may_be_skipped(way->graph, other)) {
            const uint32_t stop = stop_of(way->graph, other);
            way->stops[stop / 64] |= (uint64_t)1 << stop % 64;
        }
    }
}

/* `first`: the row of the kernel's first access. */
static struct wsdbg_error *judge_arrival(const struct wsdbg_code_kernel *kernel, uint32_t first, size_t arrival,
                                         struct way *way, struct wsdbg_look_tables *tables)
{
    const uint32_t of = kernel->accesses[arrival].instruction;
    const uint32_t head = wsdbg_graph_block(way->graph, wsdbg_graph_block_of(way->graph, of))->loop;
    if (head == WSDBG_GRAPH_NONE)
        return NULL;
    stop_at(way, kernel, is_arrival, &kernel->accesses[arrival]);
    find_waits_of_loop(way, kernel, head);
    struct wsdbg_error *error = NULL;
    for (size_t i = 0; !error && i < kernel->access_count; i++)
        if (kernel->accesses[i].kind == WSDBG_ACCESS_WAIT && never_leads_past(way, kernel, i, head))
            error = add_row(
                tables, (struct wsdbg_answer_row){.wait = first + (uint32_t)i, .arrival = first + (uint32_t)arrival});
    return error;
}

/* After a walk from behind an instruction: some way leads past all stops to another one. */
static bool has_come_to(const struct way *way, uint32_t from, uint32_t to)
{
    const uint32_t block = wsdbg_graph_block_of(way->graph, to);
    return (block == wsdbg_graph_block_of(way->graph, from) && to > from && !stops_in(way, from + 1, to)) ||
           (way->visited[block] && !stops_in(way, wsdbg_graph_block(way->graph, block)->first, to));
}

static bool comes_to(struct way *way, uint32_t from, uint32_t to)
{
    walk(way, from, true);
    return has_come_to(way, from, to);
}

static struct wsdbg_error *judge_expect(const struct wsdbg_code_kernel *kernel, uint32_t first, size_t expect,
                                        struct way *way, struct wsdbg_look_tables *tables)
{
    const uint32_t announces_at = kernel->accesses[expect].instruction;
    struct wsdbg_error *error = NULL;
    stop_at(way, kernel, is_arrival, &kernel->accesses[expect]);
    for (size_t i = 0; !error && i < kernel->access_count; i++) {
        const uint32_t wait = kernel->accesses[i].instruction;
        if (kernel->accesses[i].kind == WSDBG_ACCESS_WAIT && comes_to(way, wait, announces_at) &&
            comes_to(way, announces_at, wait))
            error =
                add_row(tables, (struct wsdbg_answer_row){
                                    .wait = first + (uint32_t)i, .arrival = first + (uint32_t)expect, .is_bare = true});
    }
    return error;
}

/* Some way leads from a copy to a wait past all stops: its turn ends without an announcement behind it. */
static bool ends_turn_bare(struct way *way, const struct wsdbg_code_kernel *kernel, uint32_t copy)
{
    walk(way, copy, true);
    for (size_t i = 0; i < kernel->access_count; i++)
        if (kernel->accesses[i].kind == WSDBG_ACCESS_WAIT && has_come_to(way, copy, kernel->accesses[i].instruction))
            return true;
    return false;
}

/* Adds the announcements that have the same guard as the copy.  Every thread that executes the copy executes them. */
static void stop_under_guard(struct way *way, const struct wsdbg_code_kernel *kernel, const struct wsdbg_access *copy)
{
    const struct wsdbg_instruction *guarded = wsdbg_graph_instruction(way->graph, copy->instruction);
    for (size_t i = 0; i < kernel->access_count; i++) {
        const uint32_t at = kernel->accesses[i].instruction;
        const struct wsdbg_instruction *other = wsdbg_graph_instruction(way->graph, at);
        if (announces(&kernel->accesses[i]) && wsdbg_look_on_same_places(&kernel->accesses[i], copy) &&
            other->guard == guarded->guard && other->guard_is_negated == guarded->guard_is_negated &&
            other->guard_is_uniform == guarded->guard_is_uniform)
            way->stops[at / 64] |= (uint64_t)1 << at % 64;
    }
}

static struct wsdbg_error *judge_copy(const struct wsdbg_code_kernel *kernel, uint32_t first, size_t copy,
                                      struct way *way, struct wsdbg_look_tables *tables)
{
    struct wsdbg_error *error = NULL;
    stop_at(way, kernel, announces, &kernel->accesses[copy]);
    stop_under_guard(way, kernel, &kernel->accesses[copy]);
    if (!ends_turn_bare(way, kernel, kernel->accesses[copy].instruction))
        return NULL;
    for (size_t i = 0; !error && i < kernel->access_count; i++)
        if (kernel->accesses[i].kind == WSDBG_ACCESS_WAIT &&
            comes_to(way, kernel->accesses[i].instruction, kernel->accesses[copy].instruction))
            error =
                add_row(tables, (struct wsdbg_answer_row){
                                    .wait = first + (uint32_t)i, .arrival = first + (uint32_t)copy, .is_bare = true});
    return error;
}

static size_t count_waits(const struct wsdbg_code_kernel *kernel)
{
    size_t waits = 0;
    for (size_t i = 0; i < kernel->access_count; i++)
        waits += kernel->accesses[i].kind == WSDBG_ACCESS_WAIT;
    return waits;
}

static bool has_few_arrivals(const struct wsdbg_code_kernel *kernel)
{
    size_t arrivals = 0;
    for (size_t i = 0; i < kernel->access_count; i++)
        arrivals += is_arrival(&kernel->accesses[i]) || is_expect(&kernel->accesses[i]);
    return arrivals * count_waits(kernel) <= PAIRS_MOST;
}

static bool has_few_copies(const struct wsdbg_code_kernel *kernel)
{
    size_t copies = 0;
    for (size_t i = 0; i < kernel->access_count; i++)
        copies += is_copy(&kernel->accesses[i]);
    return copies * count_waits(kernel) <= COPY_PAIRS_MOST;
}

static struct wsdbg_error *judge_kernel(const struct wsdbg_code_kernel *kernel, uint32_t first,
                                        struct wsdbg_look_tables *tables)
{
    struct way way = {.graph = kernel->function->graph};
    const uint32_t blocks = wsdbg_graph_block_count(way.graph);
    way.stops = calloc(wsdbg_graph_instruction_count(way.graph) / 64 + 1, sizeof *way.stops);
    way.visited = calloc((size_t)blocks + 1, sizeof *way.visited);
    way.stack = calloc((size_t)blocks + 1, sizeof *way.stack);
    way.leads_to_head = calloc(kernel->access_count + 1, sizeof *way.leads_to_head);
    struct wsdbg_error *error =
        way.stops && way.visited && way.stack && way.leads_to_head ? NULL : &wsdbg_error_no_memory;
    const bool has_arrivals = has_few_arrivals(kernel), has_copies = has_few_copies(kernel);
    for (size_t i = 0; !error && i < kernel->access_count; i++)
        if (has_arrivals && is_arrival(&kernel->accesses[i]))
            error = judge_arrival(kernel, first, i, &way, tables);
        else if (has_arrivals && is_expect(&kernel->accesses[i]))
            error = judge_expect(kernel, first, i, &way, tables);
        else if (has_copies && is_copy(&kernel->accesses[i]))
            error = judge_copy(kernel, first, i, &way, tables);
    free(way.stops);
    free(way.visited);
    free(way.stack);
    free(way.leads_to_head);
    return error;
}

struct wsdbg_error *wsdbg_look_answers(const struct wsdbg_look_seen *seen, const uint32_t *access_first,
                                       struct wsdbg_look_tables *tables)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t grid = 0; !error && grid < tables->out->grid_count; grid++) {
        const struct wsdbg_code_kernel *kernel = seen->grids[grid].kernel;
        if (kernel)
            error = judge_kernel(kernel, access_first[grid], tables);
    }
    return error;
}
