/* walk.c - executes the instructions of a plan for one thread, and lists its accesses.  See walk.h.
 *
 * Reads: the plan, what the launch tells.  Writes: the steps of the thread; for lane 0 also what its shuffles give to
 * the other lanes, in the plan.
 */
#include "sass/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "sass/walk_plan.h"

enum { CALLS_MOST = 32, MASK_OF_ALL = 0xffff, SPLIT_BIT = 32, SPLIT_BITS = 3, SPLIT_CONVERGED = 3, MASK_ALL = -1 };
enum { COPY_MODE_BIT = 70, COPY_MODES = 3, COPY_COUNTED = 1 };
enum { SHUFFLE_MODE_BIT = 58, SHUFFLE_MODES = 3, RANK_SHIFT = 24 };

enum way { WAY_NEXT, WAY_TAKEN, WAY_ENDS, WAY_UNKNOWN };

struct walking {
    struct wsdbg_walk_plan *plan;
    const struct wsdbg_thread_world *world;
    struct wsdbg_walk_limits limits;
    struct wsdbg_walk *out;
    struct wsdbg_thread_state state;
    uint32_t lane;
    uint32_t calls[CALLS_MOST]; /* blocks that the open calls return to */
    unsigned depth;
    size_t *times; /* by instruction: how often it was executed as a shuffle */
    struct wsdbg_error *error;
};

/* ---- values ---- */

static bool value_of(const struct walking *walking, const struct wsdbg_operand *operand, unsigned part, uint32_t *value)
{
    const struct wsdbg_operand general = {.kind = WSDBG_OPERAND_REGISTER, .number = operand->number};
    const struct wsdbg_operand uniform = {.kind = WSDBG_OPERAND_UNIFORM, .number = operand->uniform};
    uint32_t base = 0, added = 0;
    if (operand->kind != WSDBG_OPERAND_MEMORY)
        return wsdbg_thread_operand(&walking->state, walking->world, operand, part, value);
    if (!wsdbg_thread_operand(&walking->state, walking->world, &general, part, &base) ||
        (part == 0 && !wsdbg_thread_operand(&walking->state, walking->world, &uniform, 0, &added)))
        return false;
    *value = base + added + (part ? 0 : (uint32_t)operand->value);
    return true;
}

static bool source_of(const struct walking *walking, const struct wsdbg_instruction *instruction, int source, int part,
                      uint32_t *value)
{
    return instruction->is_whole && source >= 0 && source < instruction->source_count &&
           value_of(walking, &instruction->sources[source], (unsigned)part, value);
}

static enum wsdbg_truth truth_of(const struct walking *walking, const struct wsdbg_operand *operand)
{
    const struct wsdbg_instruction as_guard = {.guard = operand->number,
                                               .guard_is_negated = operand->is_negated,
                                               .guard_is_uniform = operand->kind == WSDBG_OPERAND_UNIFORM_PREDICATE};
    return wsdbg_thread_executes(&walking->state, &as_guard);
}

static void set_register(struct walking *walking, const struct wsdbg_operand *to, bool known, uint32_t value)
{
    const unsigned reg = wsdbg_register_of(to, 0);
    if (reg == WSDBG_REGISTER_NONE)
        return;
    walking->state.known[reg] = known;
    walking->state.value[reg] = known ? value : 0;
}

static bool is_predicate(const struct wsdbg_operand *operand)
{
    return operand->kind == WSDBG_OPERAND_PREDICATE || operand->kind == WSDBG_OPERAND_UNIFORM_PREDICATE;
}

static void set_predicates(struct walking *walking, const struct wsdbg_instruction *instruction, bool known, bool value)
{
    for (unsigned i = 0; i < instruction->destination_count; i++)
        if (is_predicate(&instruction->destinations[i]))
            set_register(walking, &instruction->destinations[i], known, value);
}

/* ---- what lanes tell each other ---- */

static bool tell(struct wsdbg_walk_told *told, bool known, uint32_t value)
{
    if (!wsdbg_grow((void **)&told->values, &told->values_capacity, told->count + 1, sizeof *told->values) ||
        !wsdbg_grow((void **)&told->known, &told->known_capacity, told->count + 1, sizeof *told->known))
        return false;
    told->values[told->count] = value;
    told->known[told->count++] = known;
    return true;
}

/* A shuffle brings the value of lane 0.  Where machine code names another lane, the value is not known; of PTX the lane
 * is not read. */
static void shuffle(struct walking *walking, uint32_t number, const struct wsdbg_instruction *instruction)
{
    struct wsdbg_walk_told *told = &walking->plan->told[number];
    const bool by_words = instruction->words[0] || instruction->words[1];
    const bool by_index = by_words && !(instruction->words[0] >> SHUFFLE_MODE_BIT & SHUFFLE_MODES);
    uint32_t value = 0, from = 0;
    bool known = instruction->source_count > 0 && value_of(walking, &instruction->sources[0], 0, &value);
    const size_t time = walking->times[number]++;
    if (walking->lane == 0 && !tell(told, known, value))
        walking->error = &wsdbg_error_no_memory;
    if (by_words && (!by_index || instruction->source_count < 2 ||
                     !value_of(walking, &instruction->sources[1], 0, &from) || from != 0))
        known = false;
    if (walking->lane != 0 && known && time < told->count) {
        known = told->known[time];
        value = told->values[time];
    }
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const bool is_value = !is_predicate(&instruction->destinations[i]);
        set_register(walking, &instruction->destinations[i], is_value && known, value);
    }
}

static void elect(struct walking *walking, const struct wsdbg_instruction *instruction)
{
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const bool is_choice = is_predicate(&instruction->destinations[i]);
        set_register(walking, &instruction->destinations[i], true, is_choice ? walking->lane == 0 : 0);
    }
}

/* All lanes are taken to vote alike. */
static void vote(struct walking *walking, const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *asked =
        instruction->source_count ? &instruction->sources[instruction->source_count - 1] : NULL;
    const enum wsdbg_truth truth = asked && is_predicate(asked) ? truth_of(walking, asked) : WSDBG_TRUTH_UNKNOWN;
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *to = &instruction->destinations[i];
        const bool known = is_predicate(to) && truth != WSDBG_TRUTH_UNKNOWN;
        set_register(walking, to, known, truth == WSDBG_TRUTH_YES);
    }
}

/* mapa of PTX: the address of a place in another CTA, see WSDBG_WALK_RANKED. */
static void map_to_rank(struct walking *walking, const struct wsdbg_instruction *instruction)
{
    uint32_t address = 0, rank = 0;
    const bool known = value_of(walking, &instruction->sources[0], 0, &address) &&
                       value_of(walking, &instruction->sources[1], 0, &rank);
    address = (address & ~(uint32_t)0 >> (32 - RANK_SHIFT)) | ((WSDBG_WALK_RANKED + rank) << RANK_SHIFT);
    for (unsigned i = 0; i < instruction->destination_count; i++)
        set_register(walking, &instruction->destinations[i], known && rank < WSDBG_WALK_RANKED, address);
}

static bool maps_to_rank(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_MOV && instruction->source_count == 2 && !instruction->words[0] &&
           !instruction->words[1];
}

/* Takes the present value of the word, as if it had been stored once before.  Not in a loop: there the word may be
 * polled, and have another value in each round. */
static bool load(struct walking *walking, uint32_t number, const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_graph *graph = walking->plan->graph;
    uint32_t address, value;
    if (graph->blocks[graph->block_of[number]].loop != WSDBG_GRAPH_NONE || !walking->world->shared ||
        instruction->width_bytes != sizeof value || instruction->destination_count != 1 ||
        !source_of(walking, instruction, 0, 0, &address) ||
        !walking->world->shared(walking->world->context, address, &value))
        return false;
    set_register(walking, &instruction->destinations[0], true, value);
    return true;
}

/* ---- steps ---- */

static bool add_step(struct walking *walking, struct wsdbg_walk_step step)
{
    struct wsdbg_walk *out = walking->out;
    if (out->count >= walking->limits.steps)
        return false;
    if (!wsdbg_grow((void **)&out->steps, &out->capacity, out->count + 1, sizeof *out->steps)) {
        walking->error = &wsdbg_error_no_memory;
        return false;
    }
    out->steps[out->count++] = step;
    return true;
}

/* cp.async.mbarrier.arrive: with .noinc it is one of the arrivals that the barrier was initialised for.  Otherwise it
 * raises the pending count by one first, so that it changes nothing. */
static bool counts_arrival(const struct wsdbg_instruction *instruction)
{
    const bool is_of_words = instruction->words[0] || instruction->words[1];
    return is_of_words ? (instruction->words[1] >> (COPY_MODE_BIT - 64) & COPY_MODES) == COPY_COUNTED
                       : instruction->mode == COPY_COUNTED;
}

static bool number_of(const struct walking *walking, const struct wsdbg_access_operands *operands,
                      const struct wsdbg_instruction *instruction, struct wsdbg_walk_step *step)
{
    uint32_t bits = 0;
    const bool is_arrival = step->kind == WSDBG_ACCESS_ARRIVE || step->kind == WSDBG_ACCESS_DROP;
    step->number = is_arrival || (step->kind == WSDBG_ACCESS_COPY_ARRIVE && counts_arrival(instruction));
    step->is_number_known = operands->count < 0 && step->kind != WSDBG_ACCESS_COPY;
    if (operands->count < 0)
        return true;
    step->is_number_known = source_of(walking, instruction, operands->count, 0, &bits);
    step->number = step->is_number_known ? wsdbg_access_number(operands, instruction, bits) : 0;
    return step->is_number_known || step->kind == WSDBG_ACCESS_COPY || step->kind == WSDBG_ACCESS_WAIT;
}

/* False: an operand is not known, or the access is of a kind that walks do not follow. */
static bool access_step(const struct walking *walking, const struct wsdbg_access_operands *operands,
                        const struct wsdbg_instruction *instruction, struct wsdbg_walk_step *step)
{
    uint32_t bits = 0;
    step->kind = operands->kind;
    step->may_be_remote = operands->may_be_remote;
    if (step->kind == WSDBG_ACCESS_GRID_WAIT || (instruction->is_no_complete && operands->is_mbarrier))
        return step->kind == WSDBG_ACCESS_GRID_WAIT;
    if (operands->address >= 0 &&
        !source_of(walking, instruction, operands->address, operands->address_part, &step->address))
        return false;
    if (!number_of(walking, operands, instruction, step))
        return false;
    if (operands->is_multicast && !source_of(walking, instruction, operands->mask, 0, &bits)) {
        step->mask = MASK_OF_ALL;
        return !step->is_number_known;
    }
    step->mask = operands->is_multicast ? wsdbg_access_mask(operands, bits) : 0;
    if (instruction->operation == WSDBG_OP_BAR)
        step->address &= 15;
    return true;
}

static bool step_together(struct walking *walking, const struct wsdbg_instruction *instruction,
                          struct wsdbg_walk_step step)
{
    uint32_t lanes = (uint32_t)MASK_ALL;
    step.kind = WSDBG_WALK_TOGETHER;
    if (instruction->source_count && instruction->sources[0].kind == WSDBG_OPERAND_REGISTER &&
        (!value_of(walking, &instruction->sources[0], 0, &lanes) || lanes != (uint32_t)MASK_ALL))
        return true;
    return add_step(walking, step);
}

static bool is_quiet_kind(uint8_t kind)
{
    return !kind || kind == WSDBG_ACCESS_WGMMA || kind == WSDBG_ACCESS_WGMMA_WAIT || kind == WSDBG_ACCESS_STORE ||
           kind == WSDBG_ACCESS_STORE_WAIT || kind == WSDBG_ACCESS_EXIT || kind == WSDBG_ACCESS_GRID_LAUNCH;
}

/* Executes instructions of which a walk knows more than thread_step.h: they read shared memory or other lanes.  False:
 * it is none of them, or nothing more is known. */
static bool knows_more(struct walking *walking, uint32_t number, const struct wsdbg_instruction *instruction)
{
    switch (instruction->operation) {
    case WSDBG_OP_LDS:
        return load(walking, number, instruction);
    case WSDBG_OP_SHFL:
        shuffle(walking, number, instruction);
        return true;
    case WSDBG_OP_ELECT:
        elect(walking, instruction);
        return true;
    case WSDBG_OP_VOTE:
    case WSDBG_OP_VOTEU:
        vote(walking, instruction);
        return true;
    default:
        if (maps_to_rank(instruction))
            map_to_rank(walking, instruction);
        return maps_to_rank(instruction);
    }
}

/* Executes an instruction; false where the walk is lost. */
static bool execute(struct walking *walking, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &walking->plan->graph->instructions[number];
    const struct wsdbg_access_operands *operands = &walking->plan->operands[number];
    const enum wsdbg_truth executes = wsdbg_thread_executes(&walking->state, instruction);
    struct wsdbg_walk_step step = {.instruction = number};
    walking->out->work++;
    if (executes == WSDBG_TRUTH_NO)
        return true;
    if (!is_quiet_kind(operands->kind)) {
        if (executes == WSDBG_TRUTH_UNKNOWN || !access_step(walking, operands, instruction, &step) ||
            !add_step(walking, step))
            return false;
        wsdbg_thread_step(instruction, walking->world, &walking->state);
        if (operands->kind == WSDBG_ACCESS_WAIT || operands->kind == WSDBG_ACCESS_REGISTERS_REQUEST)
            set_predicates(walking, instruction, true, true);
        return true;
    }
    if (instruction->operation == WSDBG_OP_WARPSYNC)
        return executes == WSDBG_TRUTH_UNKNOWN || step_together(walking, instruction, step);
    if (executes == WSDBG_TRUTH_UNKNOWN || !knows_more(walking, number, instruction))
        wsdbg_thread_step(instruction, walking->world, &walking->state);
    return !walking->error;
}

/* ---- from block to block ---- */

static enum wsdbg_truth both(enum wsdbg_truth a, enum wsdbg_truth b)
{
    if (a == WSDBG_TRUTH_NO || b == WSDBG_TRUTH_NO)
        return WSDBG_TRUTH_NO;
    return a == WSDBG_TRUTH_YES && b == WSDBG_TRUTH_YES ? WSDBG_TRUTH_YES : WSDBG_TRUTH_UNKNOWN;
}

/* BRA.DIV and BRA.CONV ask whether the warp has diverged: it is taken to be together. */
static enum wsdbg_truth is_taken(const struct walking *walking, const struct wsdbg_instruction *last)
{
    const enum wsdbg_truth guard = wsdbg_thread_executes(&walking->state, last);
    const unsigned split = last->words[0] >> SPLIT_BIT & SPLIT_BITS;
    if (!wsdbg_flow_asks_more_than_guard(last) || !last->source_count)
        return guard;
    if (is_predicate(&last->sources[0]))
        return both(guard, truth_of(walking, &last->sources[0]));
    if (last->sources[0].kind == WSDBG_OPERAND_UNIFORM && last->operation == WSDBG_OP_BRA)
        return both(guard, split == SPLIT_CONVERGED ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO);
    return WSDBG_TRUTH_UNKNOWN;
}

/* The block at which the walk goes on; WSDBG_GRAPH_NONE = it has ended, or is lost. */
static uint32_t leave_call(struct walking *walking, const struct wsdbg_block *block)
{
    const uint32_t next = block->successor_count ? block->successor[0] : WSDBG_GRAPH_NONE;
    if (block->returns)
        return walking->depth ? walking->calls[--walking->depth] : WSDBG_GRAPH_NONE;
    if (block->callee == WSDBG_GRAPH_NONE || walking->depth == CALLS_MOST) {
        walking->state = (struct wsdbg_thread_state){0};
        return next;
    }
    walking->calls[walking->depth++] = next;
    return walking->plan->graph->block_of[block->callee];
}

/* A branch with an unknown condition: goes on where its sides meet.  What they write is then not known. */
static uint32_t pass_detour(struct walking *walking, uint32_t number)
{
    const struct wsdbg_block *block = &walking->plan->graph->blocks[number];
    const struct wsdbg_walk_detour *detour;
    walking->error = wsdbg_walk_detour_of(walking->plan, number, &detour);
    if (walking->error || !detour->can_be_passed)
        return WSDBG_GRAPH_NONE;
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
        if (detour->written[reg / 64] >> reg % 64 & 1)
            walking->state.known[reg] = false;
    const struct wsdbg_walk_step step = {.instruction = block->first + block->count - 1, .kind = WSDBG_WALK_POLL};
    if (detour->loops && !add_step(walking, step))
        return WSDBG_GRAPH_NONE;
    return detour->meets;
}

static bool ends_for_good(const struct wsdbg_instruction *last)
{
    return last->operation == WSDBG_OP_EXIT;
}

static uint32_t leave(struct walking *walking, uint32_t number)
{
    const struct wsdbg_block *block = &walking->plan->graph->blocks[number];
    const struct wsdbg_instruction *last = &walking->plan->graph->instructions[block->first + block->count - 1];
    const uint32_t next = block->successor_count ? block->successor[0] : WSDBG_GRAPH_NONE;
    const enum wsdbg_truth taken = is_taken(walking, last);
    if (taken == WSDBG_TRUTH_NO)
        return next;
    if (block->exits || block->calls || block->returns) {
        if (taken == WSDBG_TRUTH_UNKNOWN)
            return WSDBG_GRAPH_NONE;
        walking->out->is_whole = block->exits && ends_for_good(last);
        return block->exits ? WSDBG_GRAPH_NONE : leave_call(walking, block);
    }
    if (last->operation != WSDBG_OP_BRA)
        return block->is_indirect ? WSDBG_GRAPH_NONE : next;
    if (taken == WSDBG_TRUTH_UNKNOWN)
        return pass_detour(walking, number);
    return block->successor_count > 1 ? block->successor[1] : WSDBG_GRAPH_NONE;
}

static bool run_block(struct walking *walking, uint32_t number)
{
    const struct wsdbg_lists *lists = &walking->plan->by_block;
    for (uint32_t i = lists->first[number]; i < lists->first[number + 1]; i++) {
        if (!execute(walking, lists->numbers[i])) {
            walking->out->lost_at = lists->numbers[i];
            return false;
        }
    }
    return true;
}

static void walk(struct walking *walking)
{
    const struct wsdbg_graph *graph = walking->plan->graph;
    uint32_t number = graph->instruction_count ? graph->block_of[0] : WSDBG_GRAPH_NONE;
    while (number != WSDBG_GRAPH_NONE && walking->out->work < walking->limits.work && !walking->error) {
        if (!run_block(walking, number))
            return;
        walking->out->lost_at = graph->blocks[number].first + graph->blocks[number].count - 1;
        walking->out->work++;
        number = leave(walking, number);
    }
}

struct wsdbg_error *wsdbg_walk_thread(struct wsdbg_walk_plan *plan, const struct wsdbg_thread_world *world,
                                      uint32_t lane, struct wsdbg_walk_limits limits, struct wsdbg_walk *out)
{
    struct walking *walking = calloc(1, sizeof *walking);
    *out = (struct wsdbg_walk){0};
    if (!walking)
        return &wsdbg_error_no_memory;
    *walking = (struct walking){.plan = plan, .world = world, .limits = limits, .out = out, .lane = lane};
    walking->times = calloc((size_t)plan->graph->instruction_count + 1, sizeof *walking->times);
    for (uint32_t i = 0; lane == 0 && i < plan->graph->instruction_count; i++)
        plan->told[i].count = 0;
    if (walking->times)
        walk(walking);
    struct wsdbg_error *error = walking->times ? walking->error : &wsdbg_error_no_memory;
    free(walking->times);
    free(walking);
    if (error) {
        free(out->steps);
        *out = (struct wsdbg_walk){0};
    }
    return error;
}
