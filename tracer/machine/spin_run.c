/* spin_run.c - see spin_run.h.  Reads: code.  Writes: where the lane is, and what it finds in its registers. */
#include "machine/spin_run.h"

#include <string.h>

#include "machine/spin_access.h"
#include "sass/flow.h"

/* ---- where a way leads ---- */

static bool is_in_loop(const struct wsdbg_graph *graph, uint32_t instruction, uint32_t head)
{
    const uint32_t block = instruction < wsdbg_graph_instruction_count(graph) ? wsdbg_graph_block_of(graph, instruction)
                                                                              : WSDBG_GRAPH_NONE;
    uint32_t loop = block < wsdbg_graph_block_count(graph) ? wsdbg_graph_block(graph, block)->loop : WSDBG_GRAPH_NONE;
    while (loop != WSDBG_GRAPH_NONE && loop != head)
        loop = wsdbg_graph_loop_around(graph, loop);
    return loop == head && head != WSDBG_GRAPH_NONE;
}

const struct wsdbg_spin_place *spin_run_way_that_stays(const struct spin_run *run, const struct spin_ways *ways)
{
    const struct wsdbg_graph *graph = run->code->graph;
    const uint32_t from = wsdbg_spin_in_graph(run->code, run->at);
    const uint32_t to[] = {wsdbg_spin_in_graph(run->code, ways->ways[0]),
                           wsdbg_spin_in_graph(run->code, ways->ways[1])};
    if (from == WSDBG_GRAPH_NONE)
        return NULL;
    for (uint32_t loop = wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, from))->loop; loop != WSDBG_GRAPH_NONE;
         loop = wsdbg_graph_loop_around(graph, loop)) {
        const bool first = is_in_loop(graph, to[0], loop);
        if (first != is_in_loop(graph, to[1], loop))
            return &ways->ways[first ? 0 : 1];
    }
    return NULL;
}

static enum wsdbg_truth both(enum wsdbg_truth a, enum wsdbg_truth b)
{
    if (a == WSDBG_TRUTH_NO || b == WSDBG_TRUTH_NO)
        return WSDBG_TRUTH_NO;
    return a == WSDBG_TRUTH_YES && b == WSDBG_TRUTH_YES ? WSDBG_TRUTH_YES : WSDBG_TRUTH_UNKNOWN;
}

/* `@P0 BRA P1, …` is taken if both predicates are true. */
static enum wsdbg_truth is_taken(const struct spin_run *run, const struct wsdbg_instruction *branch)
{
    enum wsdbg_truth taken = wsdbg_thread_executes(&run->state, branch);
    for (unsigned i = 0; i < branch->source_count; i++)
        if (wsdbg_is_predicate(&branch->sources[i]))
            taken = both(taken, wsdbg_thread_predicate(&run->state, &branch->sources[i]));
        else if (branch->sources[i].kind == WSDBG_OPERAND_UNIFORM)
            return WSDBG_TRUTH_UNKNOWN;
    return taken;
}

static const struct wsdbg_block *block_at(const struct wsdbg_graph *graph, uint32_t number)
{
    return wsdbg_graph_block(graph, wsdbg_graph_block_of(graph, number));
}

bool spin_run_ways(struct spin_run *run, struct spin_ways *out)
{
    const struct wsdbg_graph *graph = wsdbg_spin_graph(run->code, run->at.copy);
    const struct wsdbg_block *block = block_at(graph, run->at.number);
    if (block->is_indirect || block->calls || block->returns || block->successor_count != 2)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t next = block->successor[i];
        out->ways[i] = (struct wsdbg_spin_place){run->at.copy, next < wsdbg_graph_block_count(graph)
                                                                   ? wsdbg_graph_block(graph, next)->first
                                                                   : WSDBG_GRAPH_NONE};
    }
    return true;
}

static enum spin_step go(struct spin_run *run, const struct wsdbg_spin_place *to)
{
    const struct wsdbg_graph *graph = wsdbg_spin_graph(run->code, to->copy);
    if (!graph || to->number >= wsdbg_graph_instruction_count(graph))
        return SPIN_STEP_STOPS;
    run->at = *to;
    return SPIN_STEP_GOES;
}

/* ---- what ends a block ---- */

/* What an assertion that does not hold calls. */
static bool is_assertion(const struct spin_run *run, struct wsdbg_spin_place place)
{
    return strcmp(run->code->joined->copies[place.copy].function->name, "__assert_fail") == 0;
}

static enum spin_step call(struct spin_run *run, const struct wsdbg_instruction *instruction)
{
    struct wsdbg_spin_place to;
    const enum wsdbg_truth executes = wsdbg_thread_executes(&run->state, instruction);
    if (executes == WSDBG_TRUTH_NO)
        return go(run, &(struct wsdbg_spin_place){run->at.copy, run->at.number + 1});
    if (executes != WSDBG_TRUTH_YES || !wsdbg_spin_called(run->code, run->at, &to))
        return SPIN_STEP_STOPS;
    run->traps = is_assertion(run, to);
    return run->traps ? SPIN_STEP_STOPS : go(run, &to);
}

static enum spin_step give_back(struct spin_run *run, const struct wsdbg_instruction *instruction)
{
    struct wsdbg_spin_place to;
    return wsdbg_thread_executes(&run->state, instruction) == WSDBG_TRUTH_YES &&
                   wsdbg_spin_returned(run->code, run->at.copy, &to)
               ? go(run, &to)
               : SPIN_STEP_STOPS;
}

static enum spin_step branch(struct spin_run *run, const struct wsdbg_block *block,
                             const struct wsdbg_instruction *last, uint64_t *why)
{
    const enum wsdbg_truth taken = is_taken(run, last);
    const bool is_branch = last->operation == WSDBG_OP_BRA;
    struct spin_ways ways;
    if (!spin_run_ways(run, &ways) || (block->exits && taken != WSDBG_TRUTH_NO))
        return SPIN_STEP_STOPS;
    const uint64_t depends = is_branch || block->exits ? spin_sources_depend(run, last) : 0;
    run->decides |= depends;
    if (block->exits || (is_branch && spin_run_way_that_stays(run, &ways)))
        run->leaves |= depends;
    if (!is_branch || taken == WSDBG_TRUTH_NO)
        return go(run, &ways.ways[0]);
    if (taken == WSDBG_TRUTH_YES)
        return go(run, &ways.ways[1]);
    *why = (depends & SPIN_NO_LOOK) == SPIN_CLOCK ? SPIN_CLOCK : SPIN_UNSURE;
    return SPIN_STEP_BRANCHES;
}

enum spin_step spin_run_step(struct spin_run *run, uint64_t *why)
{
    const struct wsdbg_graph *graph = wsdbg_spin_graph(run->code, run->at.copy);
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(graph, run->at.number);
    const struct wsdbg_block *block = block_at(graph, run->at.number);
    const uint32_t place = wsdbg_spin_in_graph(run->code, run->at);
    run->home = place < run->home ? place : run->home;
    run->steps++;
    if (!*run->steps_left || !--*run->steps_left)
        return SPIN_STEP_STOPS;
    if (wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_CALL)
        return call(run, instruction);
    if (wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_RETURN)
        return give_back(run, instruction);
    run->traps = wsdbg_flow_is_trap(instruction) && wsdbg_thread_executes(&run->state, instruction) == WSDBG_TRUTH_YES;
    if (run->traps || !spin_execute(run, instruction))
        return SPIN_STEP_STOPS;
    if (run->at.number == block->first + block->count - 1)
        return branch(run, block, instruction, why);
    run->at.number++;
    return SPIN_STEP_GOES;
}
