/* graph.c - see graph.h.  Cuts the code into blocks, joins them, and finds what is called.  Reads decoded instructions;
 * writes the graph's own memory. */
#include "sass/branches.h"
#include "sass/cubin_addresses.h"

#include <stdlib.h>
#include <string.h>

enum { SUCCESSORS_LEAST = 2 };

/* Where an instruction leads. */
struct flow {
    bool ends_block;
    bool falls_through;
    bool is_indirect, calls, returns, exits;
    uint32_t target; /* instruction, or WSDBG_GRAPH_NONE */
};

bool wsdbg_flow_is_unguarded(const struct wsdbg_instruction *instruction)
{
    return instruction->guard == WSDBG_PT && !instruction->guard_is_negated;
}

bool wsdbg_flow_is_trap(const struct wsdbg_instruction *instruction)
{
    enum { KIND_SHIFT = 84 - 64, KIND_MASK = 7, TRAP = 3 };
    const bool is_of_kind = (instruction->words[1] >> KIND_SHIFT & KIND_MASK) == TRAP;
    return instruction->operation == WSDBG_OP_KILL ||
           (instruction->operation == WSDBG_OP_BPT && (is_of_kind || !wsdbg_is_machine_code(instruction)));
}

bool wsdbg_flow_never_executes(const struct wsdbg_instruction *instruction)
{
    return instruction->guard == WSDBG_PT && instruction->guard_is_negated;
}

bool wsdbg_flow_contains(wsdbg_instruction_set set, uint32_t number)
{
    return set && (set[number / 64] >> number % 64 & 1);
}

uint32_t wsdbg_flow_next(wsdbg_instruction_set set, uint32_t first, uint32_t end)
{
    while (set && first < end) {
        const uint64_t rest = set[first / 64] >> first % 64;
        const uint32_t left = 64 - first % 64;
        if (rest && (uint32_t)__builtin_ctzll(rest) < end - first)
            return first + (uint32_t)__builtin_ctzll(rest);
        first = left < end - first ? first + left : end;
    }
    return end;
}

bool wsdbg_flow_asks_more_than_guard(const struct wsdbg_instruction *instruction)
{
    const unsigned split = instruction->words[0] >> 32 & 3, predicate = instruction->words[1] >> 23 & 15;
    if (!wsdbg_is_machine_code(instruction))
        return instruction->source_count > 0 && instruction->operation != WSDBG_OP_BRX; /* not made of words */
    return predicate != WSDBG_PT || (instruction->operation == WSDBG_OP_BRA && split);
}

static bool has_condition(const struct wsdbg_instruction *instruction)
{
    return !wsdbg_flow_is_unguarded(instruction) || wsdbg_flow_asks_more_than_guard(instruction);
}

static uint32_t target_of(const struct wsdbg_instruction *instruction, uint32_t number, uint32_t count)
{
    const int64_t at = (int64_t)number * WSDBG_INSTRUCTION_BYTES, end = (int64_t)count * WSDBG_INSTRUCTION_BYTES;
    const int64_t offset = instruction->target_offset_bytes;
    if (!instruction->has_target || instruction->is_absolute || offset < -at || offset >= end - at ||
        offset % WSDBG_INSTRUCTION_BYTES)
        return WSDBG_GRAPH_NONE;
    return (uint32_t)((at + offset) / WSDBG_INSTRUCTION_BYTES);
}

static struct flow flow_of(const struct wsdbg_instruction *instruction, uint32_t number, uint32_t count)
{
    const uint32_t target = target_of(instruction, number, count);
    const bool may_pass = has_condition(instruction);
    const bool executes = !wsdbg_flow_never_executes(instruction);
    switch (executes ? wsdbg_operation_class(instruction->operation) : WSDBG_CLASS_NONE) {
    case WSDBG_CLASS_EXIT:
        return (struct flow){.ends_block = true, .falls_through = may_pass, .exits = true, .target = WSDBG_GRAPH_NONE};
    case WSDBG_CLASS_RETURN:
        return (struct flow){
            .ends_block = true, .falls_through = may_pass, .returns = true, .target = WSDBG_GRAPH_NONE};
    case WSDBG_CLASS_CALL:
        return (struct flow){.ends_block = true, .falls_through = true, .calls = true, .target = target};
    case WSDBG_CLASS_BRANCH:
        return (struct flow){
            .ends_block = true, .falls_through = may_pass, .is_indirect = target == WSDBG_GRAPH_NONE, .target = target};
    case WSDBG_CLASS_CONVERGENCE: /* a collective WARPSYNC names where the lanes go on that take no part */
        if (instruction->operation == WSDBG_OP_WARPSYNC && target != WSDBG_GRAPH_NONE)
            return (struct flow){.ends_block = true, .falls_through = true, .target = target};
        break;
    default:
        break;
    }
    return (struct flow){.falls_through = true, .target = WSDBG_GRAPH_NONE};
}

/* ---- blocks ---- */

uint32_t wsdbg_flow_ways(const struct wsdbg_graph *graph, uint32_t from, const struct wsdbg_way **out)
{
    uint32_t low = 0, high = graph->way_count, count = 0;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (graph->ways[middle].from < from)
            low = middle + 1;
        else
            high = middle;
    }
    *out = graph->ways + low;
    while (low + count < graph->way_count && graph->ways[low + count].from == from)
        count++;
    return count;
}

/* Marks in block_of where blocks begin. */
static void mark_heads(struct wsdbg_graph *graph)
{
    const uint32_t count = graph->instruction_count;
    graph->block_of[0] = 1;
    for (uint32_t i = 0; i < graph->way_count; i++)
        graph->block_of[graph->ways[i].to] = 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct flow flow = flow_of(&graph->instructions[i], i, count);
        if (flow.target != WSDBG_GRAPH_NONE)
            graph->block_of[flow.target] = 1;
        if (flow.ends_block && i + 1 < count)
            graph->block_of[i + 1] = 1;
    }
}

/* From the marks to each instruction's block. */
static struct wsdbg_error *cut(struct wsdbg_graph *graph)
{
    uint32_t heads = 0;
    for (uint32_t i = 0; i < graph->instruction_count; i++)
        heads += graph->block_of[i];
    graph->blocks = calloc(heads ? heads : 1, sizeof *graph->blocks);
    graph->successors = calloc((size_t)heads * SUCCESSORS_LEAST + graph->way_count + 1, sizeof *graph->successors);
    if (!graph->blocks || !graph->successors)
        return &wsdbg_error_no_memory;
    for (uint32_t i = 0; i < graph->instruction_count; i++) {
        if (graph->block_of[i])
            graph->blocks[graph->block_count++].first = i;
        graph->blocks[graph->block_count - 1].count++;
        graph->block_of[i] = graph->block_count - 1;
    }
    return NULL;
}

/* Writes the block's successors to `successors`. */
static void join(struct wsdbg_graph *graph, uint32_t number, uint32_t *successors)
{
    struct wsdbg_block *block = &graph->blocks[number];
    const uint32_t last = block->first + block->count - 1;
    const struct flow flow = flow_of(&graph->instructions[last], last, graph->instruction_count);
    const bool has_next = number + 1 < graph->block_count;
    const bool has_target = flow.target != WSDBG_GRAPH_NONE && !flow.calls;
    const struct wsdbg_way *ways;
    const uint32_t way_count = flow.is_indirect ? wsdbg_flow_ways(graph, last, &ways) : 0;
    successors[0] = flow.falls_through && has_next ? number + 1 : WSDBG_GRAPH_NONE;
    successors[1] = has_target ? graph->block_of[flow.target] : WSDBG_GRAPH_NONE;
    block->successor = successors;
    block->successor_count = way_count ? 1 : SUCCESSORS_LEAST;
    for (uint32_t i = 0; i < way_count; i++)
        if (!i || ways[i].to != ways[i - 1].to)
            successors[block->successor_count++] = graph->block_of[ways[i].to];
    /* Code that runs on behind its end is as good as a branch nobody can follow. */
    block->is_indirect = (flow.is_indirect && !way_count) || (flow.falls_through && !has_next);
    block->calls = flow.calls;
    block->returns = flow.returns;
    block->exits = flow.exits;
    block->callee = flow.calls ? flow.target : WSDBG_GRAPH_NONE;
    block->loop = WSDBG_GRAPH_NONE;
}

static void join_all(struct wsdbg_graph *graph)
{
    uint32_t used = 0;
    for (uint32_t block = 0; block < graph->block_count; block++) {
        join(graph, block, graph->successors + used);
        used += graph->blocks[block].successor_count;
    }
}

static struct wsdbg_error *find_predecessors(struct wsdbg_graph *graph)
{
    const size_t most = (size_t)graph->block_count * SUCCESSORS_LEAST + graph->way_count + 1;
    uint32_t *to = calloc(most, sizeof *to), *from = calloc(most, sizeof *from);
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    size_t count = 0;
    if (to && from) {
        for (uint32_t number = 0; number < graph->block_count; number++) {
            const struct wsdbg_block *block = &graph->blocks[number];
            for (uint32_t way = 0; way < block->successor_count; way++) {
                const bool is_twice = way && block->successor[way] == block->successor[0];
                from[count] = number;
                to[count++] = is_twice ? WSDBG_GRAPH_NONE : block->successor[way];
            }
        }
        error = wsdbg_lists_create(to, from, count, graph->block_count, &graph->predecessors);
    }
    free(to);
    free(from);
    return error;
}

/* ---- procedures ---- */

static void number_procedures(struct wsdbg_graph *graph)
{
    for (uint32_t block = 0; block < graph->block_count; block++)
        graph->procedure_at[block] = WSDBG_GRAPH_NONE;
    graph->procedure_at[0] = graph->procedure_count++;
    for (uint32_t block = 0; block < graph->block_count; block++) {
        if (graph->blocks[block].callee == WSDBG_GRAPH_NONE)
            continue;
        const uint32_t entry = graph->block_of[graph->blocks[block].callee];
        if (graph->procedure_at[entry] != WSDBG_GRAPH_NONE)
            continue;
        graph->procedure_entry[graph->procedure_count] = entry;
        graph->procedure_at[entry] = graph->procedure_count++;
    }
}

static struct wsdbg_error *find_procedures(struct wsdbg_graph *graph)
{
    const uint32_t count = graph->block_count;
    graph->procedure_entry = calloc((size_t)count + 1, sizeof *graph->procedure_entry);
    graph->procedure_at = calloc((size_t)count + 1, sizeof *graph->procedure_at);
    uint32_t *callees = calloc((size_t)count + 1, sizeof *callees),
             *callers = calloc((size_t)count + 1, sizeof *callers);
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    if (graph->procedure_entry && graph->procedure_at && callees && callers) {
        if (count)
            number_procedures(graph);
        for (uint32_t block = 0; block < count; block++) {
            const uint32_t callee = graph->blocks[block].callee;
            callers[block] = block;
            callees[block] =
                callee == WSDBG_GRAPH_NONE ? WSDBG_GRAPH_NONE : graph->procedure_at[graph->block_of[callee]];
        }
        error = wsdbg_lists_create(callees, callers, count, graph->procedure_count, &graph->callers);
    }
    free(callees);
    free(callers);
    return error;
}

/* ---- the whole ---- */

static struct wsdbg_error *build(struct wsdbg_graph *graph)
{
    const uint32_t count = graph->instruction_count;
    graph->block_of = calloc(count ? count : 1, sizeof *graph->block_of);
    if (!graph->block_of)
        return &wsdbg_error_no_memory;
    if (count)
        mark_heads(graph);
    struct wsdbg_error *error = cut(graph);
    if (error)
        return error;
    join_all(graph);
    error = find_predecessors(graph);
    if (!error)
        error = find_procedures(graph);
    return error ? error : wsdbg_flow_find_loops(graph);
}

static struct wsdbg_error *check_count(size_t count)
{
    return count <= WSDBG_GRAPH_INSTRUCTIONS_MOST
               ? NULL
               : wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "a function of %zu instructions, more than %u are not read",
                                    count, WSDBG_GRAPH_INSTRUCTIONS_MOST);
}

static int by_way(const void *a, const void *b)
{
    const struct wsdbg_way *first = a, *second = b;
    if (first->from != second->from)
        return first->from < second->from ? -1 : 1;
    if (first->to != second->to)
        return first->to < second->to ? -1 : 1;
    return (first->value > second->value) - (first->value < second->value);
}

static struct wsdbg_error *take_ways(struct wsdbg_graph *graph, const struct wsdbg_way *ways, size_t count)
{
    graph->ways = calloc(count + 1, sizeof *graph->ways);
    if (!graph->ways)
        return &wsdbg_error_no_memory;
    if (count)
        memcpy(graph->ways, ways, count * sizeof *ways);
    qsort(graph->ways, count, sizeof *graph->ways, by_way);
    graph->way_count = (uint32_t)count;
    return NULL;
}

static struct wsdbg_instruction *room_for(size_t count)
{
    return malloc((count ? count : 1) * sizeof(struct wsdbg_instruction));
}

struct wsdbg_error *wsdbg_flow_create_owning(struct wsdbg_instruction *instructions, size_t count,
                                             const struct wsdbg_way *ways, size_t way_count, struct wsdbg_graph **out)
{
    struct wsdbg_graph *graph = instructions ? calloc(1, sizeof *graph) : NULL;
    if (!graph) {
        free(instructions);
        return &wsdbg_error_no_memory;
    }
    graph->instructions = instructions;
    graph->instruction_count = (uint32_t)count;
    struct wsdbg_error *error = take_ways(graph, ways, way_count);
    if (!error)
        error = build(graph);
    if (error) {
        wsdbg_graph_destroy(graph);
        return error;
    }
    *out = graph;
    return NULL;
}

/* NULL: out of memory. */
static struct wsdbg_instruction *decoded(const struct wsdbg_image *code, size_t count)
{
    struct wsdbg_instruction *instructions = room_for(count);
    if (instructions)
        wsdbg_decode_all(code->bytes, count, instructions);
    return instructions;
}

struct wsdbg_error *wsdbg_graph_create(const struct wsdbg_image *code, struct wsdbg_graph **out)
{
    const size_t count = code->byte_count / WSDBG_INSTRUCTION_BYTES;
    struct wsdbg_error *error = check_count(count);
    return error ? error : wsdbg_flow_create_owning(decoded(code, count), count, NULL, 0, out);
}

static struct wsdbg_error *create_of_function(const struct wsdbg_cubin_function *function, const struct wsdbg_way *ways,
                                              size_t way_count, struct wsdbg_graph **out)
{
    const size_t count = function->code.byte_count / WSDBG_INSTRUCTION_BYTES;
    struct wsdbg_error *error = check_count(count);
    if (error)
        return error;
    struct wsdbg_instruction *instructions = decoded(&function->code, count);
    if (instructions)
        wsdbg_cubin_put_addresses(function, instructions);
    return wsdbg_flow_create_owning(instructions, count, ways, way_count, out);
}

struct wsdbg_error *wsdbg_graph_create_of_function(const struct wsdbg_cubin_function *function,
                                                   struct wsdbg_graph **out)
{
    struct wsdbg_way *ways;
    size_t way_count;
    struct wsdbg_error *error = wsdbg_branches_noted(function, &ways, &way_count);
    if (!error)
        error = create_of_function(function, ways, way_count, out);
    free(ways);
    return error;
}

struct wsdbg_error *wsdbg_graph_create_with_ways(const struct wsdbg_instruction *instructions, size_t count,
                                                 const struct wsdbg_way *ways, size_t way_count,
                                                 struct wsdbg_graph **out)
{
    struct wsdbg_error *error = check_count(count);
    if (error)
        return error;
    struct wsdbg_instruction *own = room_for(count);
    if (own && count)
        memcpy(own, instructions, count * sizeof *own);
    return wsdbg_flow_create_owning(own, count, ways, way_count, out);
}

struct wsdbg_error *wsdbg_graph_create_decoded(const struct wsdbg_instruction *instructions, size_t count,
                                               struct wsdbg_graph **out)
{
    return wsdbg_graph_create_with_ways(instructions, count, NULL, 0, out);
}

void wsdbg_graph_destroy(struct wsdbg_graph *graph)
{
    if (!graph)
        return;
    free(graph->instructions);
    free(graph->blocks);
    free(graph->successors);
    free(graph->ways);
    free(graph->block_of);
    wsdbg_lists_destroy(&graph->predecessors);
    free(graph->procedure_entry);
    free(graph->procedure_at);
    free(graph->procedure_of);
    wsdbg_lists_destroy(&graph->callers);
    free(graph->dominator);
    free(graph->loop_around);
    free(graph);
}

uint32_t wsdbg_graph_instruction_count(const struct wsdbg_graph *graph)
{
    return graph->instruction_count;
}

const struct wsdbg_instruction *wsdbg_graph_instruction(const struct wsdbg_graph *graph, uint32_t number)
{
    return &graph->instructions[number];
}

uint32_t wsdbg_graph_block_count(const struct wsdbg_graph *graph)
{
    return graph->block_count;
}

const struct wsdbg_block *wsdbg_graph_block(const struct wsdbg_graph *graph, uint32_t block)
{
    return &graph->blocks[block];
}

uint32_t wsdbg_graph_block_of(const struct wsdbg_graph *graph, uint32_t number)
{
    return graph->block_of[number];
}
