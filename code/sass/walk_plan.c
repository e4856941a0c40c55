/* walk_plan.c - makes the plan that all walks of a kernel share: the instructions that they execute (walk_executed.h),
 * what each of them reads, and of which instructions results are kept.
 *
 * Reads: a graph.  Writes: the plan.
 */
#include "sass/walk_executed.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "flow/dominators.h"
#include "sass/walk_idle.h"
#include "sass/walk_serves.h"
#include "sass/walk_stack.h"
#include "sass/walk_tickets.h"

bool wsdbg_walk_is_step(const struct wsdbg_walk_plan *plan, uint32_t number)
{
    const uint8_t kind = plan->operands[number].kind;
    return (kind && kind != WSDBG_ACCESS_WGMMA && kind != WSDBG_ACCESS_WGMMA_WAIT && kind != WSDBG_ACCESS_STORE &&
            kind != WSDBG_ACCESS_STORE_WAIT) ||
           plan->graph->instructions[number].operation == WSDBG_OP_WARPSYNC;
}

bool wsdbg_walk_is_of_matrices(const struct wsdbg_walk_plan *plan, uint32_t number)
{
    const uint8_t kind = plan->operands[number].kind;
    return kind == WSDBG_ACCESS_WGMMA || kind == WSDBG_ACCESS_WGMMA_WAIT ||
           plan->graph->instructions[number].operation == WSDBG_OP_WARPGROUP;
}

bool wsdbg_walk_is_exchange(const struct wsdbg_graph *graph, uint32_t number)
{
    const uint8_t operation = graph->instructions[number].operation;
    return operation == WSDBG_OP_SHFL || operation == WSDBG_OP_VOTE || operation == WSDBG_OP_VOTEU ||
           operation == WSDBG_OP_MATCH || operation == WSDBG_OP_REDUX;
}

bool wsdbg_walk_is_atomic(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_ATOMG || instruction->operation == WSDBG_OP_ATOM;
}

/* A copy to a uniform register under a guard that lanes may have differently. */
bool wsdbg_walk_is_lent(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_R2UR && !wsdbg_flow_is_unguarded(instruction) &&
           !instruction->guard_is_uniform && instruction->destination_count == 1 &&
           instruction->destinations[0].kind == WSDBG_OPERAND_UNIFORM;
}

static struct wsdbg_error *list_executed(struct wsdbg_walk_plan *plan)
{
    const struct wsdbg_graph *graph = plan->graph;
    uint32_t *keys = calloc((size_t)graph->instruction_count + 1, sizeof *keys);
    uint32_t *numbers = calloc((size_t)graph->instruction_count + 1, sizeof *numbers);
    struct wsdbg_error *error = keys && numbers ? NULL : &wsdbg_error_no_memory;
    for (uint32_t i = 0; !error && i < graph->instruction_count; i++) {
        keys[i] = plan->executes[i] ? graph->block_of[i] : WSDBG_LISTS_NONE;
        numbers[i] = i;
    }
    if (!error)
        error = wsdbg_lists_create(keys, numbers, graph->instruction_count, graph->block_count, &plan->by_block);
    free(keys);
    free(numbers);
    return error;
}

/* The registers that an instruction reads, each with the instruction as its key; returns how many.  NULL: only counts.
 * One that may not execute keeps what it would write: that counts as read. */
static size_t put_reads(const struct wsdbg_walk_plan *plan, uint32_t instruction, uint32_t *keys, uint32_t *numbers)
{
    uint64_t set[WSDBG_WALK_REGISTER_WORDS] = {0};
    size_t count = 0;
    if (!plan->executes[instruction])
        return 0;
    const struct wsdbg_instruction *in = &plan->graph->instructions[instruction];
    walk_need_sources(set, in);
    for (unsigned i = 0; i < in->destination_count && !wsdbg_flow_is_unguarded(in); i++)
        walk_put_span(set, in->destinations[i]);
    for (unsigned word = 0; word < WSDBG_WALK_REGISTER_WORDS; word++)
        for (uint64_t left = set[word]; left; left &= left - 1, count++)
            if (keys) {
                keys[count] = instruction;
                numbers[count] = word * 64 + (uint32_t)__builtin_ctzll(left);
            }
    return count;
}

static struct wsdbg_error *list_reads(struct wsdbg_walk_plan *plan)
{
    const uint32_t instructions = plan->graph->instruction_count;
    size_t most = 0, count = 0;
    for (uint32_t i = 0; i < instructions; i++)
        most += put_reads(plan, i, NULL, NULL);
    uint32_t *keys = calloc(most + 1, sizeof *keys), *numbers = calloc(most + 1, sizeof *numbers);
    struct wsdbg_error *error = keys && numbers ? NULL : &wsdbg_error_no_memory;
    for (uint32_t i = 0; !error && i < instructions; i++)
        count += put_reads(plan, i, keys + count, numbers + count);
    if (!error)
        error = wsdbg_lists_create(keys, numbers, count, instructions, &plan->reads);
    free(keys);
    free(numbers);
    return error;
}

/* Whether the innermost loop around the instruction has accesses: then it does not only wait for a word. */
static bool is_in_working_loop(const struct wsdbg_walk_plan *plan, uint32_t number, uint64_t *blocks)
{
    const struct wsdbg_graph *graph = plan->graph;
    const uint32_t head = graph->blocks[graph->block_of[number]].loop;
    if (head == WSDBG_GRAPH_NONE)
        return false;
    memset(blocks, 0, (graph->block_count + 63) / 64 * sizeof *blocks);
    wsdbg_graph_loop_blocks(graph, head, blocks);
    for (uint32_t i = 0; i < graph->instruction_count; i++)
        if (blocks[graph->block_of[i] / 64] >> graph->block_of[i] % 64 & 1 && wsdbg_walk_is_step(plan, i))
            return true;
    return false;
}

static void keep_told(struct wsdbg_walk_plan *plan, uint32_t instruction, bool only_waits)
{
    const uint8_t operation = plan->graph->instructions[instruction].operation;
    plan->told[plan->told_count].only_waits = only_waits;
    plan->told[plan->told_count++].instruction = instruction;
    plan->exchanges |= walk_is_kept(plan->graph, instruction);
    plan->follows_stores |= !only_waits && (operation == WSDBG_OP_LDS || operation == WSDBG_OP_LD);
}

static bool is_load(const struct wsdbg_graph *graph, uint32_t number)
{
    const uint8_t operation = graph->instructions[number].operation;
    return operation == WSDBG_OP_LDS || operation == WSDBG_OP_LDG || operation == WSDBG_OP_LD ||
           operation == WSDBG_OP_ATOMG || operation == WSDBG_OP_ATOM;
}

static bool writes_any(const struct wsdbg_instruction *instruction, const uint64_t *registers)
{
    bool writes = false;
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT && !writes; reg++)
        writes = registers[reg / 64] >> reg % 64 & 1 && wsdbg_writes(instruction, reg);
    return writes;
}

/* Whether a load from global memory is in a loop that changes its address. */
static bool goes_through_table(const struct wsdbg_walk_plan *plan, uint32_t number, uint64_t *blocks)
{
    const struct wsdbg_graph *graph = plan->graph;
    const struct wsdbg_instruction *load = &graph->instructions[number];
    const uint32_t head = graph->blocks[graph->block_of[number]].loop;
    uint64_t address[WSDBG_WALK_REGISTER_WORDS] = {0};
    if ((load->operation != WSDBG_OP_LDG && load->operation != WSDBG_OP_LD) || head == WSDBG_GRAPH_NONE)
        return false;
    walk_need_sources(address, load);
    memset(blocks, 0, (graph->block_count + 63) / 64 * sizeof *blocks);
    wsdbg_graph_loop_blocks(graph, head, blocks);
    for (uint32_t i = 0; i < graph->instruction_count; i++)
        if (blocks[graph->block_of[i] / 64] >> graph->block_of[i] % 64 & 1 &&
            writes_any(&graph->instructions[i], address))
            return true;
    return false;
}

/* Shuffles, votes and lent copies; and loads in loops, unless the loop only waits for the loaded word. */
static bool find_told(struct wsdbg_walk_plan *plan)
{
    const struct wsdbg_graph *graph = plan->graph;
    free(plan->told);
    plan->told_count = 0;
    uint64_t *blocks = calloc(graph->block_count / 64 + 1, sizeof *blocks);
    size_t count = 0;
    for (uint32_t i = 0; i < graph->instruction_count; i++)
        count += walk_is_kept(graph, i) || is_load(graph, i);
    plan->told = calloc(count + 1, sizeof *plan->told);
    for (uint32_t i = 0; plan->told && blocks && i < graph->instruction_count; i++) {
        const bool is_of_work = is_load(graph, i) && is_in_working_loop(plan, i, blocks);
        const bool is_counted = wsdbg_walk_is_atomic(&graph->instructions[i]) || goes_through_table(plan, i, blocks);
        if (plan->executes[i] && (walk_is_kept(graph, i) || is_of_work || is_counted))
            keep_told(plan, i, !walk_is_kept(graph, i) && !is_of_work);
    }
    free(blocks);
    return plan->told && blocks;
}

struct wsdbg_walk_told *wsdbg_walk_told_at(const struct wsdbg_walk_plan *plan, uint32_t instruction)
{
    size_t low = 0, high = plan->told_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (plan->told[middle].instruction < instruction)
            low = middle + 1;
        else
            high = middle;
    }
    return low < plan->told_count && plan->told[low].instruction == instruction ? &plan->told[low] : NULL;
}

bool wsdbg_walk_tell(struct wsdbg_walk_told *told, bool known, uint32_t value)
{
    if (!wsdbg_grow((void **)&told->values, &told->values_capacity, told->count + 1, sizeof *told->values) ||
        !wsdbg_grow((void **)&told->known, &told->known_capacity, told->count + 1, sizeof *told->known))
        return false;
    told->values[told->count] = value;
    told->known[told->count++] = known;
    return true;
}

static bool writes_generic(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_ST || instruction->operation == WSDBG_OP_ATOM;
}

static void find_writers(struct wsdbg_walk_plan *plan)
{
    for (uint32_t i = 0; i < plan->graph->instruction_count; i++) {
        const struct wsdbg_instruction *instruction = &plan->graph->instructions[i];
        plan->has_generic_writers |= writes_generic(instruction) || instruction->operation == WSDBG_OP_ATOMS;
    }
}

/* What is stored to shared memory is executed, too.  A generic store may be one to shared memory: where it goes is
 * known only if it is followed. */
static struct wsdbg_error *follow_stores(struct wsdbg_walk_plan *plan)
{
    for (uint32_t i = 0; i < plan->graph->instruction_count; i++)
        plan->follows_generic_stores |= writes_generic(&plan->graph->instructions[i]);
    const size_t byte_count = ((size_t)plan->graph->instruction_count + 1) * sizeof *plan->decides;
    plan->decides = malloc(byte_count);
    if (!plan->decides)
        return &wsdbg_error_no_memory;
    memcpy(plan->decides, plan->executes, byte_count);
    return NULL;
}

struct wsdbg_error *wsdbg_walk_plan_create(const struct wsdbg_graph *graph, struct wsdbg_walk_plan **out)
{
    struct wsdbg_walk_plan *plan = calloc(1, sizeof *plan);
    struct wsdbg_error *error = &wsdbg_error_no_memory;
    *out = NULL;
    struct wsdbg_instruction *instructions = NULL;
    if (plan && !walk_stack_follow(graph, &instructions)) {
        plan->own = *graph;
        plan->own.instructions = instructions;
        graph = plan->graph = &plan->own;
        plan->takes_present = true;
        plan->executes = calloc((size_t)graph->instruction_count + 1, sizeof *plan->executes);
        plan->detours = calloc((size_t)graph->block_count + 1, sizeof *plan->detours);
        plan->states = calloc(WSDBG_WALK_LANES, sizeof *plan->states);
        plan->operands = calloc((size_t)graph->instruction_count + 1, sizeof *plan->operands);
        plan->serves = calloc((size_t)graph->block_count + 1, sizeof *plan->serves);
        plan->issued = calloc((size_t)graph->instruction_count + 1, sizeof *plan->issued);
    }
    if (plan && plan->executes && plan->detours && plan->states && plan->operands && plan->issued && plan->serves) {
        for (uint32_t i = 0; i < graph->instruction_count; i++)
            plan->operands[i] = wsdbg_access_operands_of(&graph->instructions[i]);
        walk_serves_find(graph, plan->operands, plan->serves);
        error = walk_find_executed(plan, false);
        if (!error && !find_told(plan))
            error = &wsdbg_error_no_memory;
        if (!error && plan->follows_stores)
            error = follow_stores(plan);
        if (!error)
            error = walk_find_executed(plan, true);
        if (!error && !find_told(plan))
            error = &wsdbg_error_no_memory;
        find_writers(plan);
        if (!error)
            error = list_executed(plan);
        if (!error)
            error = list_reads(plan);
        if (!error)
            error = walk_traffic_find(graph, plan->executes, &plan->traffic);
        if (!error)
            error = walk_idle_add_traffic(plan);
    }
    if (error)
        wsdbg_walk_plan_destroy(plan);
    else
        *out = plan;
    return error;
}

void wsdbg_walk_plan_begin_cta(struct wsdbg_walk_plan *plan, enum wsdbg_walk_belief belief)
{
    walk_words_forget(&plan->words);
    plan->walks = 0;
    plan->lacks_loads = plan->may_lead = false;
    plan->takes_present = belief & WSDBG_BELIEVE_PRESENT;
    plan->supposes = belief & WSDBG_BELIEVE_TURNS;
    plan->took_turns = false;
    if (!(belief & WSDBG_BELIEVE_STORES))
        walk_words_spoil(&plan->words);
}

void wsdbg_walk_plan_begin_warp(struct wsdbg_walk_plan *plan, uint32_t warp)
{
    plan->loads_for_stores = 0;
    walk_words_begin_warp(&plan->words, warp);
}

bool wsdbg_walk_plan_gives(const struct wsdbg_walk_plan *plan, uint32_t warp)
{
    return walk_words_gives(&plan->words, warp);
}

enum wsdbg_walks_end wsdbg_walk_plan_end_pass(struct wsdbg_walk_plan *plan)
{
    switch (walk_words_end_pass(&plan->words)) {
    case WALK_WORDS_HOLD:
        return WSDBG_WALKS_HOLD;
    case WALK_WORDS_AGAIN:
        return WSDBG_WALKS_AGAIN;
    case WALK_WORDS_DOUBTFUL:
        break;
    }
    return WSDBG_WALKS_DOUBTFUL;
}

void wsdbg_walk_plan_lead(struct wsdbg_walk_plan *plan)
{
    plan->may_lead = true;
    walk_words_go_on(&plan->words);
}

bool wsdbg_walk_plan_has_counters(const struct wsdbg_walk_plan *plan)
{
    return walk_tickets_may_be_taken(plan);
}

bool wsdbg_walk_plan_took_turns(const struct wsdbg_walk_plan *plan)
{
    return plan->took_turns;
}

void wsdbg_walk_plan_destroy(struct wsdbg_walk_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->told_count; i++) {
        free(plan->told[i].values);
        free(plan->told[i].known);
        free(plan->told[i].exchanges);
    }
    if (plan->after)
        wsdbg_dominators_destroy(plan->after);
    free(plan->after);
    walk_traffic_destroy(&plan->traffic);
    wsdbg_lists_destroy(&plan->by_block);
    wsdbg_lists_destroy(&plan->reads);
    free(plan->executes);
    free(plan->decides);
    free(plan->operands);
    free(plan->detours);
    free(plan->idle_to);
    free(plan->acts);
    free(plan->stores);
    for (unsigned i = 0; i < WSDBG_WALK_PLACES_KEPT; i++)
        free(plan->places[i].leads);
    free(plan->told);
    free(plan->states);
    free(plan->issued);
    free(plan->serves);
    free(plan->own.instructions);
    walk_words_free(&plan->words);
    free(plan);
}

bool wsdbg_walk_plan_reads_special(const struct wsdbg_walk_plan *plan, uint32_t number)
{
    for (uint32_t i = 0; i < plan->graph->instruction_count; i++) {
        const struct wsdbg_instruction *instruction = &plan->graph->instructions[i];
        for (unsigned k = 0; plan->executes[i] && k < instruction->source_count; k++)
            if (instruction->sources[k].kind == WSDBG_OPERAND_SPECIAL && instruction->sources[k].value == number)
                return true;
    }
    return false;
}
