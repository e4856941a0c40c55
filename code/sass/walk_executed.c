/* walk_executed.c - see walk_executed.h: goes backwards through the kernel with the set of registers that are needed,
 * until no block needs more.
 *
 * Reads: a graph.  Writes: plan->executes.
 */
#include "sass/walk_executed.h"

#include <stdlib.h>
#include <string.h>

#include "sass/thread_float.h"
#include "sass/walk_idle.h"
#include "sass/walk_stack.h"

enum { ROUNDS_MOST = 64 };

static bool has(const uint64_t *set, unsigned reg)
{
    return reg < WSDBG_REGISTER_COUNT && set[reg / 64] >> reg % 64 & 1;
}

bool wsdbg_walk_put(uint64_t *set, unsigned reg)
{
    if (reg >= WSDBG_REGISTER_COUNT || has(set, reg))
        return false;
    set[reg / 64] |= (uint64_t)1 << reg % 64;
    return true;
}

bool walk_put_span(uint64_t *set, struct wsdbg_operand operand)
{
    const unsigned count = operand.registers ? operand.registers : 1;
    bool grows = false;
    for (unsigned part = 0; part < count; part++)
        grows |= wsdbg_walk_put(set, wsdbg_register_of(&operand, part));
    return grows;
}

/* A memory operand may have a general and a uniform register; a constant may be indexed by a register. */
static bool need_operand(uint64_t *set, const struct wsdbg_operand *operand)
{
    struct wsdbg_operand general = {
        .kind = WSDBG_OPERAND_REGISTER, .number = operand->number, .registers = operand->registers};
    const struct wsdbg_operand uniform = {.kind = WSDBG_OPERAND_UNIFORM, .number = operand->uniform, .registers = 2};
    if (operand->kind == WSDBG_OPERAND_CONSTANT)
        general.registers = 1;
    if (operand->kind != WSDBG_OPERAND_MEMORY && operand->kind != WSDBG_OPERAND_CONSTANT)
        return walk_put_span(set, *operand);
    const bool grows = walk_put_span(set, general);
    return (operand->kind == WSDBG_OPERAND_MEMORY && walk_put_span(set, uniform)) || grows;
}

/* What an asynchronous store sends to shared memory decides no way: only its address is needed, which names the
 * mbarrier, too.  The walk would else ask for much of global memory, of which it may read only so much. */
static unsigned needed_sources(const struct wsdbg_instruction *instruction)
{
    const bool sends = instruction->operation == WSDBG_OP_STAS || instruction->operation == WSDBG_OP_REDAS;
    return sends && wsdbg_is_machine_code(instruction) && instruction->source_count ? 1 : instruction->source_count;
}

bool walk_need_sources(uint64_t *set, const struct wsdbg_instruction *instruction)
{
    struct wsdbg_operand of_floats[WSDBG_FLOAT_SOURCES_MOST];
    bool grows = wsdbg_walk_put(set, wsdbg_register_of_guard(instruction));
    for (unsigned i = wsdbg_thread_float_sources(instruction, of_floats); i-- > 0;)
        grows |= need_operand(set, &of_floats[i]);
    for (unsigned i = needed_sources(instruction); i-- > 0;)
        grows |= need_operand(set, &instruction->sources[i]);
    return grows;
}

static bool writes_needed(const uint64_t *needed, const struct wsdbg_instruction *instruction)
{
    if (instruction->operation == WSDBG_OP_OTHER)
        return true;
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *to = &instruction->destinations[i];
        for (unsigned part = 0; part == 0 || part < to->registers; part++)
            if (has(needed, wsdbg_register_of(to, part)))
                return true;
    }
    return false;
}

/* What an instruction certainly writes was not needed before it. */
static void forget_written(uint64_t *needed, const struct wsdbg_instruction *instruction)
{
    if (!wsdbg_flow_is_unguarded(instruction) || walk_stack_puts(instruction))
        return;
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *to = &instruction->destinations[i];
        for (unsigned part = 0; part == 0 || part < to->registers; part++) {
            const unsigned reg = wsdbg_register_of(to, part);
            if (reg < WSDBG_REGISTER_COUNT)
                needed[reg / 64] &= ~((uint64_t)1 << reg % 64);
        }
    }
}

bool walk_is_kept(const struct wsdbg_graph *graph, uint32_t number)
{
    return wsdbg_walk_is_exchange(graph, number) || wsdbg_walk_is_lent(&graph->instructions[number]);
}

/* A store that leaves most of the words as they were needs none of them itself: a word that is needed behind it is
 * needed before. */
static void need_to_execute(uint64_t *needed, const struct wsdbg_instruction *instruction)
{
    struct wsdbg_instruction store = *instruction;
    if (walk_stack_puts(instruction) && wsdbg_is_machine_code(instruction)) {
        store.sources[2] = store.sources[store.source_count - 1];
        store.source_count = 3;
    }
    walk_need_sources(needed, &store);
}

/* Whether it ends a block, and its outcome counts. */
static bool ends_block(const struct wsdbg_walk_plan *plan, uint32_t number)
{
    const uint32_t of = plan->graph->block_of[number];
    const struct wsdbg_block *block = &plan->graph->blocks[of];
    return number == block->first + block->count - 1 && walk_idle_to(plan, of) == WSDBG_GRAPH_NONE;
}

struct liveness {
    uint64_t (*at_begin)[WSDBG_WALK_REGISTER_WORDS]; /* by block: registers that are needed from there on */
    uint64_t at_return[WSDBG_WALK_REGISTER_WORDS];   /* behind some call */
};

static void add_set(uint64_t *to, const uint64_t *set)
{
    for (unsigned word = 0; word < WSDBG_WALK_REGISTER_WORDS; word++)
        to[word] |= set[word];
}

/* The registers that are needed behind a block. */
static void live_behind(const struct wsdbg_walk_plan *plan, const struct liveness *liveness, uint32_t number,
                        uint64_t *out)
{
    const struct wsdbg_graph *graph = plan->graph;
    const struct wsdbg_block *block = &graph->blocks[number];
    const uint32_t idle_to = walk_idle_to(plan, number);
    memset(out, block->is_indirect ? 0xff : 0, WSDBG_WALK_REGISTER_WORDS * sizeof *out);
    if (idle_to != WSDBG_GRAPH_NONE) {
        add_set(out, liveness->at_begin[idle_to]);
        return;
    }
    for (uint32_t i = 0; i < block->successor_count; i++)
        if (block->successor[i] != WSDBG_GRAPH_NONE)
            add_set(out, liveness->at_begin[block->successor[i]]);
    if (block->returns)
        add_set(out, liveness->at_return);
    if (block->calls && block->callee == WSDBG_GRAPH_NONE)
        memset(out, 0xff, WSDBG_WALK_REGISTER_WORDS * sizeof *out);
    else if (block->calls)
        add_set(out, liveness->at_begin[graph->block_of[block->callee]]);
}

/* Backwards through a block; true where more is executed, or needed at its begin. */
static bool pass_block(struct wsdbg_walk_plan *plan, struct liveness *liveness, uint32_t number)
{
    const struct wsdbg_graph *graph = plan->graph;
    const struct wsdbg_block *block = &graph->blocks[number];
    uint64_t needed[WSDBG_WALK_REGISTER_WORDS];
    bool grows = false;
    live_behind(plan, liveness, number, needed);
    if (block->calls && block->successor_count && block->successor[0] != WSDBG_GRAPH_NONE)
        add_set(liveness->at_return, liveness->at_begin[block->successor[0]]);
    for (uint32_t i = block->first + block->count; i-- > block->first;) {
        const struct wsdbg_instruction *instruction = &graph->instructions[i];
        const bool is_matrix = wsdbg_walk_is_of_matrices(plan, i);
        const bool executes = is_matrix || wsdbg_walk_is_step(plan, i) || ends_block(plan, i) ||
                              writes_needed(needed, instruction) ||
                              (plan->follows_stores && wsdbg_walk_follows_store(plan, instruction));
        forget_written(needed, instruction);
        if (!executes)
            continue;
        grows |= !plan->executes[i];
        plan->executes[i] = true;
        if (is_matrix)
            wsdbg_walk_put(needed, wsdbg_register_of_guard(instruction));
        else
            need_to_execute(needed, instruction);
    }
    for (unsigned word = 0; word < WSDBG_WALK_REGISTER_WORDS; word++)
        grows |= (needed[word] & ~liveness->at_begin[number][word]) != 0;
    add_set(liveness->at_begin[number], needed);
    return grows;
}

/* False: it takes too many rounds. */
static bool pass_all(struct wsdbg_walk_plan *plan, struct liveness *liveness)
{
    const uint32_t blocks = plan->graph->block_count;
    bool grows = true;
    memset(liveness->at_begin, 0, blocks * sizeof *liveness->at_begin);
    memset(liveness->at_return, 0, sizeof liveness->at_return);
    memset(plan->executes, 0, plan->graph->instruction_count * sizeof *plan->executes);
    for (unsigned round = 0; grows && round < ROUNDS_MOST; round++) {
        grows = false;
        for (uint32_t block = blocks; block-- > 0;)
            grows |= pass_block(plan, liveness, block);
    }
    return !grows;
}

/* Where a loop is idle, less is needed before it: then others may be, too. */
struct wsdbg_error *walk_find_executed(struct wsdbg_walk_plan *plan, bool leaves_out_idle)
{
    enum { TIMES_MOST = 4 };
    const struct wsdbg_graph *graph = plan->graph;
    struct liveness liveness = {.at_begin = calloc((size_t)graph->block_count + 1, sizeof *liveness.at_begin)};
    struct wsdbg_error *error = liveness.at_begin ? NULL : &wsdbg_error_no_memory;
    bool is_known = !error && pass_all(plan, &liveness), found = is_known && leaves_out_idle;
    for (unsigned time = 1; !error && found && is_known && time < TIMES_MOST; time++) {
        error = walk_idle_find(plan, (const uint64_t(*)[WSDBG_WALK_REGISTER_WORDS])liveness.at_begin, &found);
        if (!error && found)
            is_known = pass_all(plan, &liveness);
    }
    if (!error && !is_known)
        memset(plan->executes, 1, graph->instruction_count * sizeof *plan->executes);
    free(liveness.at_begin);
    return error;
}
