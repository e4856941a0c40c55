/* spin.c - see spin.h.  Reads: code, registers, memory.  Writes: what the lane polls.
 *
 * The lane executes one instruction after the other.  If its registers are what they were at the same place before, and
 * memory is as it was, it does the same for ever: only a write by somebody else can end that.  Values of the clock are
 * not known; the lane then stays in its loop.  A count of rounds changes a register in each round: if the lane has gone
 * round for long enough, and what it loads decides its way, it polls as well, but may have a limit.
 */
#include "machine/spin.h"

#include <string.h>

enum { STEPS_MOST = 4000, LOOKS_MOST = 48, ROUNDS_LEAST = 4, WORD_BYTES = 4, WORDS_MOST = 4 };
/* What a register depends on: bit i = look i. */
#define CLOCK (UINT64_C(1) << 63)

struct look {
    uint32_t instruction;
    bool is_shared;
    uint64_t address;
    uint32_t words[WORDS_MOST], word_count;
    uint32_t times, step; /* step: of the last time */
    uint64_t places;      /* looks through which its address is found */
};

struct runner {
    const struct wsdbg_graph *graph;
    const struct wsdbg_thread_world *world;
    struct wsdbg_thread_state state;
    uint64_t depends[WSDBG_REGISTER_COUNT];
    struct look looks[LOOKS_MOST];
    unsigned look_count;
    uint64_t decides;    /* looks and the clock, on which a branch of the circle depends, */
    uint64_t leaves;     /* ... one that leads out of a loop */
    bool clock_is_taken; /* the way of a branch is not known because of the clock */
    uint32_t at, steps, home;
};

/* ---- what registers depend on ---- */

static uint64_t depends_of(const struct runner *runner, unsigned reg)
{
    return reg < WSDBG_REGISTER_COUNT ? runner->depends[reg] : 0;
}

static uint64_t operand_depends(const struct runner *runner, const struct wsdbg_operand *operand)
{
    const struct wsdbg_operand base = {.kind = WSDBG_OPERAND_REGISTER, .number = operand->number};
    const struct wsdbg_operand uniform = {.kind = WSDBG_OPERAND_UNIFORM, .number = operand->uniform};
    const unsigned parts = operand->registers ? operand->registers : 1;
    uint64_t depends = 0;
    if (operand->kind == WSDBG_OPERAND_MEMORY)
        return depends_of(runner, wsdbg_register_of(&base, 0)) | depends_of(runner, wsdbg_register_of(&uniform, 0));
    for (unsigned part = 0; part < parts; part++)
        depends |= depends_of(runner, wsdbg_register_of(operand, part));
    return depends;
}

/* SR_CLOCKLO to SR_GLOBALTIMERHI. */
static bool reads_clock(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (instruction->sources[i].kind == WSDBG_OPERAND_SPECIAL && instruction->sources[i].value >= 0x50 &&
            instruction->sources[i].value <= 0x53)
            return true;
    return false;
}

static uint64_t sources_depend(const struct runner *runner, const struct wsdbg_instruction *instruction)
{
    uint64_t depends = depends_of(runner, wsdbg_register_of_guard(instruction));
    for (unsigned i = 0; i < instruction->source_count; i++)
        depends |= operand_depends(runner, &instruction->sources[i]);
    return depends | (reads_clock(instruction) ? CLOCK : 0);
}

/* `beside`: what the registers depended on before counts as well. */
static void set_depends(struct runner *runner, const struct wsdbg_instruction *instruction, uint64_t depends,
                        bool beside)
{
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *to = &instruction->destinations[i];
        for (unsigned part = 0; part < (to->registers ? to->registers : 1u); part++) {
            const unsigned reg = wsdbg_register_of(to, part);
            if (reg < WSDBG_REGISTER_COUNT)
                runner->depends[reg] = depends | (beside ? runner->depends[reg] : 0);
        }
    }
}

/* ---- loads ---- */

static bool register_value(const struct runner *runner, enum wsdbg_operand_kind kind, uint16_t number, uint32_t *value)
{
    const struct wsdbg_operand operand = {.kind = kind, .number = number};
    const unsigned reg = wsdbg_register_of(&operand, 0);
    *value = 0;
    if (reg >= WSDBG_REGISTER_COUNT)
        return true; /* RZ, URZ */
    *value = runner->state.value[reg];
    return runner->state.known[reg];
}

static bool shared_address(const struct runner *runner, const struct wsdbg_operand *memory, uint64_t *address)
{
    uint32_t general, uniform;
    if (!register_value(runner, WSDBG_OPERAND_REGISTER, memory->number, &general) ||
        !register_value(runner, WSDBG_OPERAND_UNIFORM, memory->uniform, &uniform))
        return false;
    *address = (uint32_t)(general + uniform + (uint32_t)memory->value);
    return true;
}

static bool word_at(const struct runner *runner, bool is_shared, uint64_t address, uint32_t *value)
{
    const struct wsdbg_thread_world *world = runner->world;
    return is_shared ? world->shared && world->shared(world->context, (uint32_t)address, value)
                     : world->global && world->global(world->context, address, false, value);
}

/* A generic address in the window is one of the own CTA's shared memory, whose first byte the window names. */
static bool is_in_window(const struct wsdbg_thread_world *world, uint64_t *address)
{
    enum { SHARED_BYTES_MOST = 1 << 18 };
    if (!world->shared_window || *address - world->shared_window >= SHARED_BYTES_MOST)
        return false;
    *address -= world->shared_window;
    return true;
}

static const struct wsdbg_operand *memory_of(const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->source_count; i++)
        if (instruction->sources[i].kind == WSDBG_OPERAND_MEMORY)
            return &instruction->sources[i];
    return NULL;
}

static void fill(struct runner *runner, const struct wsdbg_instruction *load, const struct look *look)
{
    unsigned word = 0;
    for (unsigned i = 0; i < load->destination_count; i++)
        for (unsigned part = 0; part < (load->destinations[i].registers ? load->destinations[i].registers : 1u);
             part++, word++) {
            const unsigned reg = wsdbg_register_of(&load->destinations[i], part);
            if (reg >= WSDBG_REGISTER_COUNT)
                continue;
            wsdbg_thread_forget(&runner->state, reg);
            runner->state.known[reg] = word < look->word_count;
            runner->state.value[reg] = word < look->word_count ? look->words[word] : 0;
        }
}

static bool read_words(const struct runner *runner, struct look *look)
{
    for (uint32_t i = 0; i < look->word_count; i++)
        if (!word_at(runner, look->is_shared, look->address + (uint64_t)WORD_BYTES * i, &look->words[i]))
            return false;
    return true;
}

/* The row of a look that was made before, or a new one; NULL: there are too many, or the memory is not known. */
static struct look *look_of(struct runner *runner, const struct look *look)
{
    for (unsigned i = 0; i < runner->look_count; i++) {
        struct look *row = &runner->looks[i];
        if (row->instruction == look->instruction && row->address == look->address)
            return row;
    }
    struct look *row = &runner->looks[runner->look_count];
    if (runner->look_count == LOOKS_MOST)
        return NULL;
    *row = *look;
    runner->look_count++;
    return read_words(runner, row) ? row : NULL;
}

/* False: what it loads is not known. */
static bool load(struct runner *runner, uint32_t number, const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *memory = memory_of(instruction);
    const enum wsdbg_operation_space space = wsdbg_operation_space(instruction->operation);
    struct look look = {.instruction = number,
                        .is_shared = space == WSDBG_SPACE_SHARED,
                        .word_count = instruction->width_bytes / WORD_BYTES};
    if (!memory || !look.word_count || instruction->width_bytes % WORD_BYTES || look.word_count > WORDS_MOST ||
        !(look.is_shared ? shared_address(runner, memory, &look.address)
                         : wsdbg_thread_address(&runner->state, memory, &look.address)))
        return false;
    if (space == WSDBG_SPACE_GENERIC)
        look.is_shared = is_in_window(runner->world, &look.address);
    struct look *row = look_of(runner, &look);
    if (!row)
        return false;
    const uint64_t places = operand_depends(runner, memory);
    row->times++;
    row->step = runner->steps;
    row->places |= places;
    fill(runner, instruction, row);
    set_depends(runner, instruction, UINT64_C(1) << (row - runner->looks) | places, false);
    return true;
}

/* ---- instructions ---- */

static bool is_load_of_memory(const struct wsdbg_instruction *instruction)
{
    const enum wsdbg_operation_space space = wsdbg_operation_space(instruction->operation);
    return wsdbg_operation_class(instruction->operation) == WSDBG_CLASS_LOAD &&
           (space == WSDBG_SPACE_SHARED || space == WSDBG_SPACE_GLOBAL || space == WSDBG_SPACE_GENERIC);
}

/* Whether the lane may have to wait there for other lanes or warps. */
static bool meets_others(enum wsdbg_operation operation)
{
    return operation == WSDBG_OP_BAR || operation == WSDBG_OP_WARPSYNC || operation == WSDBG_OP_ELECT;
}

/* False: it does something that others may see, or what it does is not known. */
static bool execute(struct runner *runner, uint32_t number)
{
    const struct wsdbg_instruction *instruction = wsdbg_graph_instruction(runner->graph, number);
    const enum wsdbg_truth executes = wsdbg_thread_executes(&runner->state, instruction);
    const uint64_t guard = depends_of(runner, wsdbg_register_of_guard(instruction));
    if (executes == WSDBG_TRUTH_NO) {
        set_depends(runner, instruction, guard, true);
        return true;
    }
    if (is_load_of_memory(instruction))
        return executes == WSDBG_TRUTH_YES && load(runner, number, instruction);
    if (!wsdbg_operation_fits_wait_loop(instruction->operation) || meets_others(instruction->operation))
        return false;
    const uint64_t depends = sources_depend(runner, instruction);
    wsdbg_thread_step(instruction, runner->world, &runner->state);
    set_depends(runner, instruction, depends, executes != WSDBG_TRUTH_YES);
    return true;
}

/* ---- branches ---- */

static enum wsdbg_truth both(enum wsdbg_truth a, enum wsdbg_truth b)
{
    if (a == WSDBG_TRUTH_NO || b == WSDBG_TRUTH_NO)
        return WSDBG_TRUTH_NO;
    return a == WSDBG_TRUTH_YES && b == WSDBG_TRUTH_YES ? WSDBG_TRUTH_YES : WSDBG_TRUTH_UNKNOWN;
}

/* `@P0 BRA P1, …` is taken if both predicates are true. */
static enum wsdbg_truth is_taken(const struct runner *runner, const struct wsdbg_instruction *branch)
{
    enum wsdbg_truth taken = wsdbg_thread_executes(&runner->state, branch);
    for (unsigned i = 0; i < branch->source_count; i++)
        if (wsdbg_is_predicate(&branch->sources[i]))
            taken = both(taken, wsdbg_thread_predicate(&runner->state, &branch->sources[i]));
        else if (branch->sources[i].kind == WSDBG_OPERAND_UNIFORM)
            return WSDBG_TRUTH_UNKNOWN;
    return taken;
}

static bool is_in_loop(const struct wsdbg_graph *graph, uint32_t block, uint32_t head)
{
    uint32_t loop = block < wsdbg_graph_block_count(graph) ? wsdbg_graph_block(graph, block)->loop : WSDBG_GRAPH_NONE;
    while (loop != WSDBG_GRAPH_NONE && loop != head)
        loop = wsdbg_graph_loop_around(graph, loop);
    return loop == head && head != WSDBG_GRAPH_NONE;
}

/* Of two ways the one that stays in a loop which the other one leaves; WSDBG_GRAPH_NONE: there is no such loop. */
static uint32_t way_that_stays(const struct wsdbg_graph *graph, const struct wsdbg_block *block)
{
    for (uint32_t loop = block->loop; loop != WSDBG_GRAPH_NONE; loop = wsdbg_graph_loop_around(graph, loop)) {
        const bool first = is_in_loop(graph, block->successor[0], loop);
        if (first != is_in_loop(graph, block->successor[1], loop))
            return block->successor[first ? 0 : 1];
    }
    return WSDBG_GRAPH_NONE;
}

/* The block behind this one; WSDBG_GRAPH_NONE: the lane's way ends there, or is not known. */
static uint32_t next_block(struct runner *runner, const struct wsdbg_block *block)
{
    const struct wsdbg_instruction *last = wsdbg_graph_instruction(runner->graph, block->first + block->count - 1);
    const enum wsdbg_truth taken = is_taken(runner, last);
    const bool is_branch = last->operation == WSDBG_OP_BRA;
    if (block->is_indirect || block->calls || block->returns || block->successor_count != 2 ||
        (block->exits && taken != WSDBG_TRUTH_NO))
        return WSDBG_GRAPH_NONE;
    const uint64_t depends = is_branch || block->exits ? sources_depend(runner, last) : 0;
    runner->decides |= depends;
    if (block->exits || way_that_stays(runner->graph, block) != WSDBG_GRAPH_NONE)
        runner->leaves |= depends;
    if (!is_branch || taken == WSDBG_TRUTH_NO)
        return block->successor[0];
    if (taken == WSDBG_TRUTH_YES)
        return block->successor[1];
    if (!(depends & CLOCK))
        return WSDBG_GRAPH_NONE;
    runner->clock_is_taken = true;
    return way_that_stays(runner->graph, block);
}

/* ---- the circle ---- */

/* Executes one instruction.  False: the lane's way is not known, or it does more than look. */
static bool step(struct runner *runner)
{
    const struct wsdbg_block *block = wsdbg_graph_block(runner->graph, wsdbg_graph_block_of(runner->graph, runner->at));
    const bool is_last = runner->at == block->first + block->count - 1;
    const uint32_t number = runner->at;
    runner->home = number < runner->home ? number : runner->home;
    runner->steps++;
    if (!execute(runner, number))
        return false;
    if (!is_last) {
        runner->at++;
        return true;
    }
    const uint32_t next = next_block(runner, block);
    if (next >= wsdbg_graph_block_count(runner->graph))
        return false;
    runner->at = wsdbg_graph_block(runner->graph, next)->first;
    return true;
}

/* Values that depend on the clock are not known, and need not be the same. */
static bool is_same(const struct wsdbg_thread_state *a, const struct wsdbg_thread_state *b)
{
    return memcmp(a->known, b->known, sizeof a->known) == 0 && memcmp(a->value, b->value, sizeof a->value) == 0;
}

/* Forgets what belongs to the way so far, so that it is known of the circle alone. */
static void begin_circle(struct runner *runner)
{
    for (size_t i = 0; i < WSDBG_REGISTER_COUNT; i++)
        runner->depends[i] &= CLOCK;
    runner->look_count = 0;
    runner->decides = runner->leaves = 0;
    runner->clock_is_taken = false;
    runner->home = runner->at;
}

/* What decides how long the loop goes on, looked at in each of several rounds. */
static bool goes_round(const struct runner *runner)
{
    bool any = false;
    for (unsigned i = 0; i < runner->look_count; i++) {
        if (runner->looks[i].times < ROUNDS_LEAST)
            return false;
        any |= runner->leaves >> i & 1;
    }
    return any;
}

/* Of the looks that decide the way the last one that is no pointer to another one; of a circle of pointers any. */
static const struct look *deciding_look(const struct runner *runner)
{
    const struct look *last = NULL;
    uint64_t pointers = 0;
    for (unsigned i = 0; i < runner->look_count; i++)
        pointers |= runner->decides >> i & 1 ? runner->looks[i].places : 0;
    const uint64_t ends = runner->decides & ~pointers & ~CLOCK, from = ends ? ends : runner->decides;
    for (unsigned i = 0; i < runner->look_count; i++)
        if (from >> i & 1 && (!last || runner->looks[i].step > last->step))
            last = &runner->looks[i];
    return last;
}

static bool tell(const struct runner *runner, bool may_time_out, struct wsdbg_spin *out)
{
    const struct look *last = deciding_look(runner);
    if (!last)
        return false;
    *out = (struct wsdbg_spin){.load = last->instruction,
                               .home = runner->home,
                               .is_shared = last->is_shared,
                               .may_time_out = may_time_out,
                               .address = last->address,
                               .width_bytes = last->word_count > 1 ? 2 * WORD_BYTES : WORD_BYTES,
                               .value = (uint64_t)(last->word_count > 1 ? last->words[1] : 0) << 32 | last->words[0]};
    return true;
}

/* The state is noted behind 1, 2, 4, … 2048 steps and compared with each later one (Brent's way to find a circle).
 * Twice round, so that what the first round depends on is known. */
bool wsdbg_spin_find(const struct wsdbg_graph *graph, uint32_t instruction, const struct wsdbg_thread_state *state,
                     const struct wsdbg_thread_world *world, struct wsdbg_spin *out)
{
    struct runner runner = {.graph = graph, .world = world, .state = *state, .at = instruction, .home = instruction};
    struct wsdbg_thread_state noted = *state;
    uint32_t noted_at = instruction, next_note = 1;
    unsigned rounds = 0;
    if (!wsdbg_is_machine_code(wsdbg_graph_instruction(graph, instruction)))
        return false;
    while (runner.steps < STEPS_MOST) {
        if (!step(&runner))
            return false;
        if (runner.at == noted_at && is_same(&runner.state, &noted) && ++rounds == 2)
            return tell(&runner, runner.clock_is_taken, out);
        if (runner.steps != next_note)
            continue;
        noted = runner.state;
        noted_at = runner.at;
        next_note *= 2;
        rounds = 0;
        begin_circle(&runner);
    }
    return goes_round(&runner) && tell(&runner, true, out);
}
