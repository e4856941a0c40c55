/* walk_execute.c - executes one instruction for the lanes of a group, those of which a walk knows more than
 * thread_step.h among them: shuffles, votes, places in other CTAs.
 *
 * Reads: the plan, what the launch tells.  Writes: registers; for lane 0 also what its shuffles give to the other
 * lanes, in the plan.
 */
#include "sass/walk_group.h"

#include "sass/walk_bytes.h"
#include "sass/walk_memory.h"
#include "sass/walk_stack.h"
#include "sass/walk_tokens.h"
#include "sass/walk_warp.h"

enum { SHUFFLE_MODE_BIT = 58, SHUFFLE_MODES = 3, ONE_PIECE = 31, RANK_SHIFT = 24 };

/* Whether a shuffle gives each lane what lane 0 has: by index, from lane 0, in one piece of 32 lanes. */
static bool shuffles_from_0(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    const bool by_words = wsdbg_is_machine_code(instruction);
    const bool by_index =
        by_words ? !(instruction->words[0] >> SHUFFLE_MODE_BIT & SHUFFLE_MODES) : instruction->mode == 0;
    uint32_t from = 0, pieces = 0;
    return by_index && instruction->source_count >= 3 && walk_value(lane, &instruction->sources[1], 0, &from) &&
           from == 0 && walk_value(lane, &instruction->sources[2], 0, &pieces) && pieces == ONE_PIECE;
}

/* A shuffle brings the value of lane 0, or one that is not known.  The plan keeps what lane 0 had each time, for lanes
 * that walk without it. */
static void shuffle(struct walk_group *group, uint32_t number, const struct walk_lane *lane)
{
    const struct wsdbg_instruction *instruction = &group->plan->graph->instructions[number];
    struct wsdbg_walk_told *told = wsdbg_walk_told_at(group->plan, number);
    const size_t time = told->times;
    uint32_t value = 0;
    const bool is_mine = instruction->source_count > 0 && walk_value(lane, &instruction->sources[0], 0, &value);
    if (lane->lane == 0 && group->leader == 0 && !wsdbg_walk_tell(told, is_mine, value))
        group->error = &wsdbg_error_no_memory;
    const bool is_told = time < told->count && shuffles_from_0(lane, instruction);
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const bool is_value = is_told && !wsdbg_is_predicate(&instruction->destinations[i]);
        walk_set_register(lane->state, &instruction->destinations[i], is_value && told->known[time],
                          is_value ? told->values[time] : 0);
    }
}

/* The lowest lane that comes there: lane 0, unless its walk and all others before this one ended before they came. */
static uint32_t elected_lane(const struct walk_group *group, uint32_t number)
{
    const struct wsdbg_walk_plan *plan = group->plan;
    return !plan->is_some_lost && plan->issued[number].now >= plan->issued[number].before ? group->leader : 0;
}

static void elect(const struct walk_lane *lane, uint32_t number, const struct wsdbg_instruction *instruction)
{
    const bool serves_each = walk_serves_each(lane->group->plan, number);
    const uint32_t elected = serves_each ? lane->lane : elected_lane(lane->group, number);
    for (unsigned i = 0; i < instruction->destination_count; i++)
        walk_set_register(lane->state, &instruction->destinations[i], true,
                          wsdbg_is_predicate(&instruction->destinations[i]) && lane->lane == elected);
}

/* All lanes are taken to vote alike. */
static void vote(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    const struct wsdbg_operand *asked =
        instruction->source_count ? &instruction->sources[instruction->source_count - 1] : NULL;
    const enum wsdbg_truth truth = asked ? wsdbg_thread_predicate(lane->state, asked) : WSDBG_TRUTH_UNKNOWN;
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *to = &instruction->destinations[i];
        const bool known = wsdbg_is_predicate(to) && truth != WSDBG_TRUTH_UNKNOWN;
        walk_set_register(lane->state, to, known, truth == WSDBG_TRUTH_YES);
    }
}

/* mapa of PTX: the address of a place in another CTA, see WSDBG_WALK_RANKED. */
static void map_to_rank(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    uint32_t address = 0, rank = 0;
    const bool known =
        walk_value(lane, &instruction->sources[0], 0, &address) && walk_value(lane, &instruction->sources[1], 0, &rank);
    address = (address & ~(uint32_t)0 >> (32 - RANK_SHIFT)) | ((WSDBG_WALK_RANKED + rank) << RANK_SHIFT);
    for (unsigned i = 0; i < instruction->destination_count; i++)
        walk_set_register(lane->state, &instruction->destinations[i], known && rank < WSDBG_WALK_RANKED, address);
}

static bool maps_to_rank(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_MOV && instruction->source_count == 2 && !instruction->is_long &&
           !wsdbg_is_machine_code(instruction);
}

/* R2UR with a predicate stands in a loop that serves lanes with the same value together, until all are served.  So a
 * lane is taken to be served at once: the register gets its value, and the predicate says that no lane is left. */
static bool serves_lanes(const struct wsdbg_instruction *instruction)
{
    return instruction->operation == WSDBG_OP_R2UR && instruction->destination_count == 2 &&
           wsdbg_is_predicate(&instruction->destinations[0]) &&
           instruction->destinations[1].kind == WSDBG_OPERAND_UNIFORM && instruction->source_count;
}

static void serve_lane(const struct walk_lane *lane, const struct wsdbg_instruction *instruction)
{
    uint32_t value = 0;
    const bool known = walk_value(lane, &instruction->sources[0], 0, &value);
    walk_set_register(lane->state, &instruction->destinations[0], true, false);
    walk_set_register(lane->state, &instruction->destinations[1], known, value);
}

/* Notes for which lanes the instruction leaves a uniform register to others. */
static void note_served(struct walk_group *group, const struct wsdbg_instruction *instruction, uint32_t lane,
                        enum wsdbg_truth executes)
{
    const bool is_left = serves_lanes(instruction) && executes == WSDBG_TRUTH_NO;
    for (unsigned i = 0; i < instruction->destination_count; i++) {
        const struct wsdbg_operand *to = &instruction->destinations[i];
        if (to->kind != WSDBG_OPERAND_UNIFORM || to->number >= WALK_UNIFORMS ||
            (executes == WSDBG_TRUTH_NO && !is_left))
            continue;
        group->unserved[to->number] &= ~((uint32_t)1 << lane);
        group->unserved[to->number] |= (uint32_t)is_left << lane;
    }
}

/* Notes whether a loop that serves each lane serves this one. */
static void note_elected(struct walk_group *group, uint32_t number, uint32_t lane, enum wsdbg_truth executes)
{
    if (group->plan->graph->instructions[number].operation != WSDBG_OP_ELECT || !walk_serves_each(group->plan, number))
        return;
    group->unelected &= ~((uint32_t)1 << lane);
    group->unelected |= (uint32_t)(executes == WSDBG_TRUTH_NO) << lane;
}

static void execute_lane(struct walk_group *group, uint32_t number, const struct walk_lane *lane)
{
    const struct wsdbg_instruction *instruction = &group->plan->graph->instructions[number];
    const enum wsdbg_truth executes = wsdbg_thread_executes(lane->state, instruction);
    note_served(group, instruction, lane->lane, executes);
    note_elected(group, number, lane->lane, executes);
    if (wsdbg_walk_follows_store(group->plan, instruction) && walk_group_has(group, lane->lane))
        walk_keep_store(lane, instruction);
    if (executes == WSDBG_TRUTH_NO)
        return;
    if (executes == WSDBG_TRUTH_UNKNOWN && wsdbg_walk_is_atomic(instruction))
        group->uncounted |= (uint32_t)1 << lane->lane;
    if (executes == WSDBG_TRUTH_UNKNOWN && (maps_to_rank(instruction) || walk_stack_puts(instruction)))
        walk_forget_written(lane, instruction);
    else if (executes == WSDBG_TRUTH_UNKNOWN)
        wsdbg_thread_step(instruction, lane->world, lane->state);
    else if (instruction->operation == WSDBG_OP_SHFL)
        shuffle(group, number, lane);
    else if (instruction->operation == WSDBG_OP_ELECT)
        elect(lane, number, instruction);
    else if (instruction->operation == WSDBG_OP_VOTE || instruction->operation == WSDBG_OP_VOTEU)
        vote(lane, instruction);
    else if (maps_to_rank(instruction))
        map_to_rank(lane, instruction);
    else if (walk_stack_is_generic(instruction) && walk_bytes_execute(lane, instruction))
        return;
    else if (walk_polls_global(lane, number) || walk_is_load_too_many(lane, number))
        walk_forget_written(lane, instruction);
    else if (wsdbg_walk_is_atomic(instruction))
        walk_execute_atomic(lane, number, instruction);
    else if (serves_lanes(instruction))
        serve_lane(lane, instruction);
    else if (!walk_bytes_execute(lane, instruction) &&
             (!walk_reads_shared(lane, instruction) || !walk_load(lane, number, instruction)))
        wsdbg_thread_step(instruction, lane->world, lane->state);
}

/* The leader goes first: a shuffle from lane 0 tells the others the value that lane 0 had. */
unsigned walk_group_execute(struct walk_group *group, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &group->plan->graph->instructions[number];
    const struct walk_lane leader = walk_group_leader(group);
    const bool has_own_results = wsdbg_walk_is_atomic(instruction) && leader.world->found;
    const bool is_told =
        instruction->operation == WSDBG_OP_SHFL || instruction->operation == WSDBG_OP_ELECT || has_own_results;
    const enum wsdbg_truth guard = wsdbg_thread_executes(leader.state, instruction);
    const bool executes = guard == WSDBG_TRUTH_YES;
    bool parts = walk_group_parts(group, number);
    struct walk_lane lane;
    if (instruction->operation == WSDBG_OP_OTHER) {
        walk_group_forget(group, NULL);
        return 1;
    }
    if (walk_warp_exchange(group, number))
        return WSDBG_WALK_LANES;
    if (is_told && !parts) { /* it does not depend on registers alone */
        walk_group_spread_operands(group, number);
        parts = true;
    }
    unsigned lanes = 1;
    execute_lane(group, number, &leader);
    for (uint32_t at = 0; parts && walk_group_next_followed(group, &at, &lane); lanes++)
        execute_lane(group, number, &lane);
    const bool is_counted = wsdbg_walk_is_exchange(group->plan->graph, number) ||
                            instruction->operation == WSDBG_OP_LDS || instruction->operation == WSDBG_OP_LD ||
                            wsdbg_walk_is_atomic(instruction);
    struct wsdbg_walk_told *told = is_counted && executes ? wsdbg_walk_told_at(group->plan, number) : NULL;
    if (told)
        told->times++;
    if (executes && instruction->operation == WSDBG_OP_ELECT)
        group->plan->issued[number].now++;
    walk_tokens_follow(group, instruction, guard);
    if (parts)
        walk_group_compare_written(group, number);
    else
        walk_group_agree_written(group, number);
    return lanes;
}
