/* threads.c - see threads.h.  Reads a graph; writes a copy of its instructions. */
#include "sass/threads.h"

#include "sass/branch_target.h"
#include "sass/compute.h"
#include "sass/trace.h"

#include <stdlib.h>
#include <string.h>

enum { WARP_THREADS = 32, CONDITIONS_MOST = 8 }; /* how deep conditions made of conditions are followed */

enum truth { FALSE, TRUE, EITHER };

static enum truth truth_of(bool value)
{
    return value ? TRUE : FALSE;
}

static enum truth opposite(enum truth truth)
{
    return truth == EITHER ? EITHER : truth_of(truth == FALSE);
}

static enum truth decide(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t before,
                         unsigned predicate, unsigned depth);

static enum truth decide_source(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t number,
                                unsigned source, unsigned depth)
{
    const struct wsdbg_operand *operand = &graph->instructions[number].sources[source];
    const unsigned predicate = wsdbg_register_of(operand, 0);
    if (operand->kind != WSDBG_OPERAND_PREDICATE && operand->kind != WSDBG_OPERAND_UNIFORM_PREDICATE)
        return EITHER;
    const enum truth truth =
        predicate == WSDBG_REGISTER_NONE ? TRUE : decide(trace, graph, number, predicate, depth + 1);
    return operand->is_negated ? opposite(truth) : truth;
}

static enum truth decide_comparison(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t number,
                                    unsigned depth)
{
    const struct wsdbg_instruction *compare = &graph->instructions[number];
    struct wsdbg_values sides[2];
    bool holds;
    if (!compare->is_whole || compare->source_count != 3)
        return EITHER;
    for (unsigned i = 0; i < 2; i++)
        sides[i] = wsdbg_trace_operand(trace, number, &compare->sources[i], 0);
    const enum truth compared = wsdbg_compute_compares(compare, sides, &holds) ? truth_of(holds) : EITHER;
    return (enum truth)wsdbg_compute_combined(compare, compared, decide_source(trace, graph, number, 2, depth));
}

/* LOP3 with a predicate: whether its result is other than 0. */
static enum truth decide_logic(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t number)
{
    const struct wsdbg_instruction *logic = &graph->instructions[number];
    struct wsdbg_values sources[3];
    uint32_t least;
    if (!wsdbg_compute_follows(logic))
        return EITHER;
    for (unsigned i = 0; i < 3; i++)
        sources[i] = wsdbg_trace_operand(trace, number, &logic->sources[i], 0);
    const struct wsdbg_values result = wsdbg_compute(logic, 0, sources);
    if (wsdbg_values_is_one(&result, &least) && !least)
        return FALSE;
    return result.kind == WSDBG_VALUES_LISTED && result.rank == WSDBG_RANK_NONE && result.number[0] ? TRUE : EITHER;
}

static enum truth decide_table(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t number,
                               unsigned depth)
{
    const struct wsdbg_instruction *logic = &graph->instructions[number];
    enum truth sources[3];
    bool may[2] = {false, false};
    if (!logic->is_whole || logic->source_count < 3)
        return EITHER;
    for (unsigned i = 0; i < 3; i++)
        sources[i] = decide_source(trace, graph, number, i, depth);
    for (unsigned row = 0; row < 8; row++) {
        bool is_possible = true;
        for (unsigned i = 0; i < 3; i++)
            is_possible &= sources[i] == EITHER || truth_of(row >> (2 - i) & 1) == sources[i];
        if (is_possible)
            may[logic->table >> row & 1] = true;
    }
    return may[0] && may[1] ? EITHER : truth_of(may[1]);
}

/* A vote of a warp: what all of its lanes say alike.  Known only where the threads asked for are whole warps. */
static enum truth decide_vote(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t number,
                              unsigned depth)
{
    const struct wsdbg_instruction *vote = &graph->instructions[number];
    const bool compares = vote->words[1] >> 8 & 2; /* .EQ: whether all say the same */
    if (compares || !vote->source_count || !wsdbg_trace_is_of_warps(trace))
        return EITHER;
    return decide_source(trace, graph, number, 0, depth);
}

/* What a predicate is before an instruction executes. */
static enum truth decide(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t before,
                         unsigned predicate, unsigned depth)
{
    uint32_t written;
    if (depth > CONDITIONS_MOST || !wsdbg_trace_written(trace, before, predicate, &written))
        return EITHER;
    const struct wsdbg_instruction *instruction = &graph->instructions[written];
    if (!wsdbg_flow_is_unguarded(instruction) || !instruction->destination_count ||
        wsdbg_register_of(&instruction->destinations[0], 0) != predicate)
        return EITHER;
    switch (instruction->operation) {
    case WSDBG_OP_ISETP:
    case WSDBG_OP_UISETP:
        return decide_comparison(trace, graph, written, depth);
    case WSDBG_OP_LOP3:
    case WSDBG_OP_ULOP3:
        return decide_logic(trace, graph, written);
    case WSDBG_OP_PLOP3:
    case WSDBG_OP_UPLOP3:
        return decide_table(trace, graph, written, depth);
    case WSDBG_OP_VOTEU:
        return decide_vote(trace, graph, written, depth);
    default:
        return EITHER;
    }
}

/* Instructions whose execution matters to a path: branches, and what waits or signals. */
static bool matters(const struct wsdbg_instruction *instruction)
{
    return wsdbg_operation_is_control(instruction->operation);
}

/* False where the guard says the same of all threads, so that nothing new would come out. */
static bool is_worth_deciding(const struct wsdbg_launch_values *launch, uint32_t number)
{
    return !launch || !launch->guards || wsdbg_flow_contains(launch->guards, number);
}

static void settle_guard(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t number,
                         struct wsdbg_instruction *instruction)
{
    const unsigned guard = wsdbg_register_of_guard(instruction);
    if (guard == WSDBG_REGISTER_NONE || !matters(instruction))
        return;
    const enum truth truth = decide(trace, graph, number, guard, 0);
    if (truth == EITHER)
        return;
    instruction->guard_is_negated = truth == truth_of(instruction->guard_is_negated);
    instruction->guard = WSDBG_PT;
}

/* A branch by a table that leads all these threads to one place becomes a branch there. */
static void settle_table(struct wsdbg_trace *trace, const struct wsdbg_graph *graph, uint32_t number,
                         struct wsdbg_instruction *instruction)
{
    uint32_t to;
    if (!wsdbg_branch_leads(trace, graph, number, &to))
        return;
    instruction->operation = WSDBG_OP_BRA;
    instruction->source_count = 0;
    instruction->has_target = true;
    instruction->is_absolute = false;
    instruction->target_offset_bytes = ((int64_t)to - (int64_t)number) * WSDBG_INSTRUCTION_BYTES;
}

struct wsdbg_error *wsdbg_graph_create_traced(struct wsdbg_trace *trace, struct wsdbg_graph **out)
{
    const struct wsdbg_graph *graph = wsdbg_trace_graph(trace);
    struct wsdbg_instruction *instructions = malloc(((size_t)graph->instruction_count + 1) * sizeof *instructions);
    if (!instructions)
        return &wsdbg_error_no_memory;
    memcpy(instructions, graph->instructions, graph->instruction_count * sizeof *instructions);
    for (uint32_t i = 0; i < graph->instruction_count; i++)
        if (is_worth_deciding(wsdbg_trace_launch(trace), i)) {
            settle_guard(trace, graph, i, &instructions[i]);
            settle_table(trace, graph, i, &instructions[i]);
        }
    return wsdbg_flow_create_owning(instructions, graph->instruction_count, graph->ways, graph->way_count, out);
}

struct wsdbg_error *wsdbg_graph_create_for_threads(const struct wsdbg_graph *graph,
                                                   const struct wsdbg_launch_values *launch, uint32_t first,
                                                   uint32_t count, struct wsdbg_graph **out)
{
    struct wsdbg_trace *trace;
    struct wsdbg_error *error = wsdbg_trace_create(graph, launch, (struct wsdbg_thread_range){first, count}, &trace);
    if (error)
        return error;
    error = wsdbg_graph_create_traced(trace, out);
    wsdbg_trace_destroy(trace);
    return error;
}

/* ---- who may come somewhere ---- */

enum { DOMINATORS_MOST = 64 };

/* What was found out about one range of threads: by block, whether one of them may reach it. */
struct view {
    const struct wsdbg_graph *graph;
    const struct wsdbg_launch_values *launch;
    struct wsdbg_trace *trace;
    uint8_t *comes; /* 0 = not asked, else 1 + enum truth: FALSE or EITHER */
};

/* Whether the guard or the table of the branch that ends `from` lets some of the threads go on to `to`. */
static bool may_take(const struct view *view, uint32_t from, uint32_t to)
{
    const struct wsdbg_block *block = &view->graph->blocks[from];
    const uint32_t last = block->first + block->count - 1;
    const struct wsdbg_instruction *branch = &view->graph->instructions[last];
    const unsigned guard = wsdbg_register_of_guard(branch);
    uint32_t target;
    if (block->successor[0] != to && is_worth_deciding(view->launch, last) &&
        wsdbg_branch_leads(view->trace, view->graph, last, &target))
        return view->graph->block_of[target] == to;
    if (block->successor[0] == block->successor[1] || guard == WSDBG_REGISTER_NONE ||
        !is_worth_deciding(view->launch, last) || wsdbg_flow_asks_more_than_guard(branch) ||
        (branch->operation != WSDBG_OP_BRA && !block->exits))
        return true;
    const bool is_taken = block->successor[1] == to;
    const enum truth needed = truth_of(is_taken != branch->guard_is_negated);
    const enum truth truth = decide(view->trace, view->graph, last, guard, 0);
    return truth == EITHER || truth == needed;
}

static bool is_dominated_by(const struct wsdbg_graph *graph, uint32_t block, uint32_t dominator)
{
    for (unsigned step = 0; step < DOMINATORS_MOST && block != WSDBG_GRAPH_NONE && block != dominator; step++) {
        if (graph->dominator[block] == block)
            return false;
        block = graph->dominator[block];
    }
    return block == dominator;
}

/* The one block from which a block is first reached.  Edges back to the block do not count, such as that of a request
 * for registers that is tried again.  False where there are several such blocks, or the block is called. */
static bool first_from(const struct wsdbg_graph *graph, uint32_t block, uint32_t *from)
{
    unsigned count = 0;
    for (uint32_t i = graph->predecessors.first[block]; i < graph->predecessors.first[block + 1] && count < 2; i++) {
        const uint32_t before = graph->predecessors.numbers[i];
        if (is_dominated_by(graph, before, block))
            continue;
        *from = before;
        count++;
    }
    return count == 1 && graph->procedure_at[block] == WSDBG_GRAPH_NONE;
}

/* Asks the block's dominators: a thread that is here took the one way into each of them that has only one. */
static bool may_come(const struct view *view, uint32_t block)
{
    const struct wsdbg_graph *graph = view->graph;
    uint32_t at = block;
    bool may = true;
    for (unsigned step = 0; step < DOMINATORS_MOST && may; step++) {
        uint32_t from;
        if (view->comes[at]) {
            may = view->comes[at] == 1 + EITHER;
            break;
        }
        if (first_from(graph, at, &from))
            may = may_take(view, from, at);
        if (graph->dominator[at] == at || graph->dominator[at] == WSDBG_GRAPH_NONE)
            break;
        at = graph->dominator[at];
    }
    view->comes[block] = (uint8_t)(1 + (may ? EITHER : FALSE));
    return may;
}

static bool may_execute(const struct view *view, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &view->graph->instructions[number];
    const unsigned guard = wsdbg_register_of_guard(instruction);
    const uint32_t block = view->graph->block_of[number];
    if (view->graph->procedure_of[block] == WSDBG_GRAPH_NONE || wsdbg_flow_never_executes(instruction) ||
        !may_come(view, block))
        return false;
    if (guard == WSDBG_REGISTER_NONE || !is_worth_deciding(view->launch, number))
        return true;
    const enum truth truth = decide(view->trace, view->graph, number, guard, 0);
    return truth == EITHER || truth == truth_of(!instruction->guard_is_negated);
}

struct wsdbg_error *wsdbg_threads_may_execute(struct wsdbg_trace *trace, const uint32_t *instructions,
                                              size_t instruction_count, bool *may)
{
    const struct wsdbg_graph *graph = wsdbg_trace_graph(trace);
    struct view view = {.graph = graph,
                        .launch = wsdbg_trace_launch(trace),
                        .trace = trace,
                        .comes = calloc((size_t)graph->block_count + 1, 1)};
    if (!view.comes)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < instruction_count; i++)
        may[i] = may_execute(&view, instructions[i]);
    free(view.comes);
    return NULL;
}

/* Which warps may reach each of the accesses, at the instructions `at`. */
static struct wsdbg_error *ask_warps(struct wsdbg_trace *trace, const uint32_t *at, size_t count, bool *may,
                                     uint32_t warp_count, uint64_t *comers)
{
    struct wsdbg_error *error = NULL;
    for (uint32_t warp = 0; warp < warp_count && !error; warp++) {
        wsdbg_trace_turn_to(trace, (struct wsdbg_thread_range){warp * WARP_THREADS, WARP_THREADS});
        error = wsdbg_threads_may_execute(trace, at, count, may);
        for (size_t i = 0; i < count; i++)
            comers[i] |= (uint64_t)may[i] << warp;
    }
    return error;
}

struct wsdbg_error *wsdbg_threads_comers(const struct wsdbg_graph *graph, const struct wsdbg_launch_values *launch,
                                         const struct wsdbg_access *accesses, size_t access_count, uint32_t warp_count,
                                         uint64_t *comers)
{
    struct wsdbg_launch_values guarded = *launch;
    struct wsdbg_trace *trace = NULL;
    uint64_t *guards = NULL;
    uint32_t *at = calloc(access_count + 1, sizeof *at);
    bool *may = calloc(access_count + 1, sizeof *may);
    struct wsdbg_error *error = at && may ? wsdbg_threads_guards(graph, &guards) : &wsdbg_error_no_memory;
    for (size_t i = 0; !error && i < access_count; i++) {
        at[i] = accesses[i].instruction;
        comers[i] = 0;
    }
    guarded.guards = guards;
    if (!error)
        error = wsdbg_trace_create(graph, &guarded, (struct wsdbg_thread_range){0}, &trace);
    if (!error)
        error = ask_warps(trace, at, access_count, may, warp_count, comers);
    wsdbg_trace_destroy(trace);
    free(guards);
    free(may);
    free(at);
    return error;
}
