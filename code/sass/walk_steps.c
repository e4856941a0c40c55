/* walk_steps.c - what the lanes of a walk do at an instruction that may be a step: an access to a barrier, or a
 * WARPSYNC.  See walking.h.
 *
 * Reads: the plan, the lanes' registers.  Writes: the walk's steps; which lanes stay in the group.
 */
#include "sass/walking.h"

#include "base/grow.h"
#include "sass/walk_map.h"
#include "sass/walk_tokens.h"

enum { MASK_OF_ALL = 0xffff, MASK_ALL = -1 };

bool walk_add_step(struct walking *walking, struct wsdbg_walk_step step)
{
    struct wsdbg_walk *out = walking->out;
    if (out->count >= walking->limits.steps)
        return false;
    if (!wsdbg_grow((void **)&out->steps, &out->capacity, out->count + 1, sizeof *out->steps)) {
        walking->group.error = &wsdbg_error_no_memory;
        return false;
    }
    step.traffic = walking->traffic;
    walking->traffic = 0;
    out->steps[out->count++] = step;
    return true;
}

void walk_drop_steps(struct walking *walking, size_t first)
{
    while (walking->out->count > first)
        walking->traffic |= walking->out->steps[--walking->out->count].traffic;
}

static bool number_of(const struct walk_lane *lane, const struct wsdbg_access_operands *operands,
                      const struct wsdbg_instruction *instruction, struct wsdbg_walk_step *step)
{
    uint32_t bits = 0;
    const bool is_arrival = step->kind == WSDBG_ACCESS_ARRIVE || step->kind == WSDBG_ACCESS_DROP;
    step->number =
        is_arrival || (step->kind == WSDBG_ACCESS_COPY_ARRIVE && wsdbg_access_copy_arrival_counts(instruction))
            ? 1
            : operands->sent_bytes;
    step->is_number_known = operands->count < 0 && step->kind != WSDBG_ACCESS_COPY;
    if (operands->map >= 0)
        step->is_number_known = walk_map_bytes(lane, instruction, operands, &step->number);
    if (operands->count < 0)
        return true;
    step->is_number_known = walk_source(lane, instruction, operands->count, 0, &bits);
    step->number = step->is_number_known ? wsdbg_access_number(operands, instruction, bits) : 0;
    if (step->kind == WSDBG_ACCESS_WAIT && !step->is_number_known && operands->count < instruction->source_count)
        step->token = walk_token_of(lane->group, wsdbg_register_of(&instruction->sources[operands->count], 0));
    return step->is_number_known || step->kind == WSDBG_ACCESS_COPY || step->kind == WSDBG_ACCESS_WAIT ||
           step->kind == WSDBG_ACCESS_INIT;
}

/* False: an operand is not known, or the access is of a kind that walks do not follow. */
static bool access_step(const struct walk_lane *lane, const struct wsdbg_access_operands *operands,
                        const struct wsdbg_instruction *instruction, struct wsdbg_walk_step *step)
{
    uint32_t bits = 0;
    step->kind = operands->kind;
    step->may_be_remote = operands->may_be_remote;
    if (step->kind == WSDBG_ACCESS_GRID_WAIT || (instruction->is_no_complete && operands->is_mbarrier))
        return step->kind == WSDBG_ACCESS_GRID_WAIT;
    if (operands->address >= 0 &&
        !walk_source(lane, instruction, operands->address, operands->address_part, &step->address))
        return false;
    if (!number_of(lane, operands, instruction, step))
        return false;
    if (operands->is_multicast && !walk_source(lane, instruction, operands->mask, 0, &bits)) {
        step->mask = MASK_OF_ALL;
        step->is_number_known &= operands->map < 0;
        return !step->is_number_known;
    }
    step->mask = operands->is_multicast ? wsdbg_access_mask(operands, bits) : 0;
    if (instruction->operation == WSDBG_OP_BAR)
        step->address &= 15;
    return true;
}

/* What a lane does at an instruction that may be a step.  LOST: that is not known. */
enum outcome { OUTCOME_LOST, OUTCOME_NONE, OUTCOME_STEP };

static enum outcome outcome_of_warpsync(const struct walk_lane *lane, const struct wsdbg_instruction *instruction,
                                        struct wsdbg_walk_step *step)
{
    uint32_t lanes = (uint32_t)MASK_ALL;
    step->kind = WSDBG_WALK_TOGETHER;
    if (wsdbg_thread_executes(lane->state, instruction) != WSDBG_TRUTH_YES)
        return OUTCOME_NONE;
    if (instruction->source_count && instruction->sources[0].kind == WSDBG_OPERAND_REGISTER &&
        (!walk_value(lane, &instruction->sources[0], 0, &lanes) || lanes != (uint32_t)MASK_ALL))
        return OUTCOME_NONE;
    return OUTCOME_STEP;
}

/* Whether a loop over the addresses of different lanes executes the access for others alone. */
static bool is_of_others(const struct walk_lane *lane, uint32_t number, const struct wsdbg_access_operands *operands,
                         const struct wsdbg_instruction *instruction)
{
    if (lane->group->unelected >> lane->lane & 1 && walk_serves_each(lane->group->plan, number))
        return true;
    if (operands->address < 0 || operands->address >= instruction->source_count)
        return false;
    const struct wsdbg_operand *address = &instruction->sources[operands->address];
    const uint32_t reg = address->kind == WSDBG_OPERAND_MEMORY    ? address->uniform
                         : address->kind == WSDBG_OPERAND_UNIFORM ? address->number
                                                                  : WALK_UNIFORMS;
    return reg < WALK_UNIFORMS && lane->group->unserved[reg] >> lane->lane & 1;
}

static enum outcome outcome_of(const struct walk_lane *lane, uint32_t number, struct wsdbg_walk_step *step)
{
    const struct wsdbg_instruction *instruction = &lane->group->plan->graph->instructions[number];
    const struct wsdbg_access_operands *operands = &lane->group->plan->operands[number];
    const enum wsdbg_truth executes = wsdbg_thread_executes(lane->state, instruction);
    *step = (struct wsdbg_walk_step){.instruction = number};
    if (instruction->operation == WSDBG_OP_WARPSYNC)
        return outcome_of_warpsync(lane, instruction, step);
    if (executes == WSDBG_TRUTH_NO || is_of_others(lane, number, operands, instruction))
        return OUTCOME_NONE;
    return executes == WSDBG_TRUTH_YES && access_step(lane, operands, instruction, step) ? OUTCOME_STEP : OUTCOME_LOST;
}

static bool is_same_step(const struct wsdbg_walk_step *a, const struct wsdbg_walk_step *b)
{
    return a->address == b->address && a->number == b->number && a->mask == b->mask && a->kind == b->kind &&
           a->is_number_known == b->is_number_known;
}

/* A bulk copy of machine code takes its operands from uniform registers, and a warp issues it once, for all its lanes.
 * The first lane that is walked does; the others leave its group and pass the copy by.  In a loop that serves each lane
 * they make a copy of their own. */
static bool is_of_whole_warp(const struct walking *walking, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &walking_graph(walking)->instructions[number];
    return walking->group.plan->operands[number].kind == WSDBG_ACCESS_COPY && wsdbg_is_machine_code(instruction);
}

bool walk_was_issued(struct walking *walking, uint32_t number)
{
    struct wsdbg_walk_plan *plan = walking->group.plan;
    const struct walk_lane leader = walk_group_leader(&walking->group);
    if (!is_of_whole_warp(walking, number) || walk_serves_each(plan, number) ||
        wsdbg_thread_executes(leader.state, &plan->graph->instructions[number]) == WSDBG_TRUTH_NO)
        return false;
    return plan->issued[number].now++ < plan->issued[number].before;
}

static void issue_alone(struct walking *walking)
{
    struct walk_lane lane;
    for (uint32_t at = 0; walk_group_next(&walking->group, &at, &lane);)
        walk_group_drop(&walking->group, lane.lane);
}

/* Notes for which lanes a WARPSYNC waits. */
static void note_awaited(struct walking *walking, uint32_t number, bool is_partial)
{
    const struct wsdbg_instruction *instruction = &walking_graph(walking)->instructions[number];
    struct walk_group *group = &walking->group;
    struct walk_lane lane = walk_group_leader(group);
    uint32_t mask = 0, other = 0;
    group->is_partial = is_partial;
    group->awaited = 0;
    walk_group_spread_operands(group, number);
    if (!is_partial || !instruction->source_count || !walk_value(&lane, &instruction->sources[0], 0, &mask))
        return;
    for (uint32_t at = 0; walk_group_next_followed(group, &at, &lane);)
        if (!walk_value(&lane, &instruction->sources[0], 0, &other) || other != mask)
            return;
    group->awaited = mask;
}

bool walk_take_step(struct walking *walking, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &walking_graph(walking)->instructions[number];
    const uint8_t kind = walking->group.plan->operands[number].kind;
    const bool parts = walk_group_parts(&walking->group, number);
    const struct walk_lane leader = walk_group_leader(&walking->group);
    struct wsdbg_walk_step step, other;
    struct walk_lane lane;
    const enum outcome outcome = outcome_of(&leader, number, &step);
    for (uint32_t at = 0; parts && walk_group_next(&walking->group, &at, &lane);)
        if (outcome_of(&lane, number, &other) != outcome || (outcome == OUTCOME_STEP && !is_same_step(&step, &other)))
            walk_group_drop(&walking->group, lane.lane);
    if (outcome == OUTCOME_LOST || (outcome == OUTCOME_STEP && !walk_add_step(walking, step)))
        return false;
    if (outcome == OUTCOME_STEP && is_of_whole_warp(walking, number))
        issue_alone(walking);
    if (instruction->operation == WSDBG_OP_WARPSYNC) {
        if (outcome == OUTCOME_STEP && !wsdbg_is_machine_code(instruction))
            walk_group_meet(&walking->group);
        if (wsdbg_thread_executes(leader.state, instruction) != WSDBG_TRUTH_NO)
            note_awaited(walking, number, outcome != OUTCOME_STEP);
        return true;
    }
    if (outcome == OUTCOME_STEP)
        walk_group_join(&walking->group, &step);
    walk_group_execute(&walking->group, number);
    if (outcome == OUTCOME_STEP &&
        (kind == WSDBG_ACCESS_ARRIVE || kind == WSDBG_ACCESS_ARRIVE_EXPECT || kind == WSDBG_ACCESS_DROP))
        walk_tokens_give(&walking->group, instruction, (uint32_t)walking->out->count - 1);
    if (outcome == OUTCOME_STEP && (kind == WSDBG_ACCESS_WAIT || kind == WSDBG_ACCESS_REGISTERS_REQUEST))
        walk_group_set_predicates(&walking->group, number, true);
    return !walking->group.error;
}
