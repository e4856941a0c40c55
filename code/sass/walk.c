/* walk.c - executes the instructions of a plan for a group of lanes, and lists their accesses.  See walk.h.
 *
 * Reads: the plan, what the launch tells.  Writes: the steps of the lanes that stay together.
 */
#include "sass/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "sass/branch_target.h"
#include "sass/walk_beside.h"
#include "sass/walk_group.h"
#include "sass/walk_map.h"

enum { CALLS_MOST = 32, MASK_OF_ALL = 0xffff, SPLIT_BIT = 32, SPLIT_BITS = 3, SPLIT_CONVERGED = 3, MASK_ALL = -1 };
enum { GROUPS_PENDING_MOST = 8 }; /* that a wait can leave */
enum { ASKS_EACH = 4096 };        /* instructions */
enum { SIDES_MOST = 8, SIDES_WORK = 512 };

struct walking {
    struct walk_group group;
    struct wsdbg_walk_limits limits;
    struct wsdbg_walk *out;
    uint64_t length;            /* so far, see wsdbg_walk_limits */
    uint64_t asks_at;           /* how much work is done when the time is asked for again */
    uint32_t calls[CALLS_MOST]; /* blocks that the open calls return to */
    unsigned depth;
    unsigned sides; /* of how many nested branches a side is being walked */
    bool may_store; /* where the walk is lost: some way on stores to shared memory */
    struct {
        uint32_t issued, waited;             /* multiplications so far; those that the last wait was for */
        uint32_t ended[GROUPS_PENDING_MOST]; /* by group, modulo: those issued when it ended */
        uint32_t groups;
    } matrices;
};

static const struct wsdbg_graph *graph_of(const struct walking *walking)
{
    return walking->group.plan->graph;
}

/* ---- steps ---- */

static bool add_step(struct walking *walking, struct wsdbg_walk_step step)
{
    struct wsdbg_walk *out = walking->out;
    if (out->count >= walking->limits.steps)
        return false;
    if (!wsdbg_grow((void **)&out->steps, &out->capacity, out->count + 1, sizeof *out->steps)) {
        walking->group.error = &wsdbg_error_no_memory;
        return false;
    }
    out->steps[out->count++] = step;
    return true;
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

/* What a lane does at an instruction that may be a step. */
enum deed { DEED_LOST, DEED_NONE, DEED_STEP };

static enum deed together_of(const struct walk_lane *lane, const struct wsdbg_instruction *instruction,
                             struct wsdbg_walk_step *step)
{
    uint32_t lanes = (uint32_t)MASK_ALL;
    step->kind = WSDBG_WALK_TOGETHER;
    if (wsdbg_thread_executes(lane->state, instruction) != WSDBG_TRUTH_YES)
        return DEED_NONE;
    if (instruction->source_count && instruction->sources[0].kind == WSDBG_OPERAND_REGISTER &&
        (!walk_value(lane, &instruction->sources[0], 0, &lanes) || lanes != (uint32_t)MASK_ALL))
        return DEED_NONE;
    return DEED_STEP;
}

static enum deed deed_of(const struct walk_lane *lane, uint32_t number, struct wsdbg_walk_step *step)
{
    const struct wsdbg_instruction *instruction = &lane->group->plan->graph->instructions[number];
    const struct wsdbg_access_operands *operands = &lane->group->plan->operands[number];
    const enum wsdbg_truth executes = wsdbg_thread_executes(lane->state, instruction);
    *step = (struct wsdbg_walk_step){.instruction = number};
    if (instruction->operation == WSDBG_OP_WARPSYNC)
        return together_of(lane, instruction, step);
    if (executes == WSDBG_TRUTH_NO)
        return DEED_NONE;
    return executes == WSDBG_TRUTH_YES && access_step(lane, operands, instruction, step) ? DEED_STEP : DEED_LOST;
}

static bool is_same_step(const struct wsdbg_walk_step *a, const struct wsdbg_walk_step *b)
{
    return a->address == b->address && a->number == b->number && a->mask == b->mask && a->kind == b->kind &&
           a->is_number_known == b->is_number_known;
}

/* A bulk copy of machine code takes its operands from uniform registers, and a warp issues it once, for all its lanes.
 * The first lane that is walked does; the others leave its group and pass the copy by. */
static bool is_of_whole_warp(const struct walking *walking, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &graph_of(walking)->instructions[number];
    return walking->group.plan->operands[number].kind == WSDBG_ACCESS_COPY && wsdbg_is_machine_code(instruction);
}

/* True where other lanes of the warp, which were walked before, have issued the copy. */
static bool was_issued(struct walking *walking, uint32_t number)
{
    struct wsdbg_walk_plan *plan = walking->group.plan;
    const struct walk_lane leader = walk_group_leader(&walking->group);
    if (!is_of_whole_warp(walking, number) ||
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

/* Adds the leader's step, if it makes one; who does something else leaves the group.  False where the walk is lost. */
static bool take_step(struct walking *walking, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &graph_of(walking)->instructions[number];
    const uint8_t kind = walking->group.plan->operands[number].kind;
    const bool parts = walk_group_parts(&walking->group, number);
    const struct walk_lane leader = walk_group_leader(&walking->group);
    struct wsdbg_walk_step step, other;
    struct walk_lane lane;
    const enum deed deed = deed_of(&leader, number, &step);
    for (uint32_t at = 0; parts && walk_group_next(&walking->group, &at, &lane);)
        if (deed_of(&lane, number, &other) != deed || (deed == DEED_STEP && !is_same_step(&step, &other)))
            walk_group_drop(&walking->group, lane.lane);
    if (deed == DEED_LOST || (deed == DEED_STEP && !add_step(walking, step)))
        return false;
    if (deed == DEED_STEP && is_of_whole_warp(walking, number))
        issue_alone(walking);
    if (instruction->operation == WSDBG_OP_WARPSYNC) {
        if (wsdbg_thread_executes(leader.state, instruction) != WSDBG_TRUTH_NO)
            walking->group.is_partial = deed != DEED_STEP;
        return true;
    }
    if (deed == DEED_STEP)
        walk_group_join(&walking->group, &step);
    walk_group_execute(&walking->group, number);
    if (deed == DEED_STEP && (kind == WSDBG_ACCESS_WAIT || kind == WSDBG_ACCESS_REGISTERS_REQUEST))
        walk_group_set_predicates(&walking->group, number, true);
    return !walking->group.error;
}

/* ---- multiplications of a warpgroup ---- */

/* A group that ended and was waited for just before tells no more than the next one, which the warps issue later. */
static void drop_passed_group(struct wsdbg_walk *out)
{
    if (out->count >= 2 && out->steps[out->count - 1].kind == WSDBG_ACCESS_WGMMA_WAIT &&
        out->steps[out->count - 2].kind == WSDBG_ACCESS_WGMMA &&
        out->steps[out->count - 2].number == out->steps[out->count - 1].number)
        out->count -= 2;
}

static bool end_group(struct walking *walking, struct wsdbg_walk_step step)
{
    const uint32_t last = walking->matrices.groups;
    walking->matrices.ended[walking->matrices.groups++ % GROUPS_PENDING_MOST] = walking->matrices.issued;
    if (last && walking->matrices.ended[(last - 1) % GROUPS_PENDING_MOST] == walking->matrices.issued)
        return true;
    step.kind = WSDBG_ACCESS_WGMMA;
    step.number = walking->matrices.issued;
    drop_passed_group(walking->out);
    return add_step(walking, step);
}

/* A wait leaves the newest `pending` groups. */
static bool wait_for_groups(struct walking *walking, struct wsdbg_walk_step step, uint32_t pending)
{
    const uint32_t groups = walking->matrices.groups;
    if (pending >= groups || pending >= GROUPS_PENDING_MOST)
        return true;
    step.kind = WSDBG_ACCESS_WGMMA_WAIT;
    step.number = walking->matrices.ended[(groups - pending - 1) % GROUPS_PENDING_MOST];
    if (step.number <= walking->matrices.waited)
        return true;
    walking->matrices.waited = step.number;
    return add_step(walking, step);
}

/* One that may not execute is taken to. */
static bool take_matrix_step(struct walking *walking, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &graph_of(walking)->instructions[number];
    const struct walk_lane leader = walk_group_leader(&walking->group);
    const struct wsdbg_walk_step step = {.instruction = number, .is_number_known = true};
    uint32_t pending;
    if (wsdbg_thread_executes(leader.state, instruction) == WSDBG_TRUTH_NO)
        return true;
    walk_group_execute(&walking->group, number);
    if (instruction->operation != WSDBG_OP_WARPGROUP) {
        walking->matrices.issued++;
        return !instruction->ends_group || end_group(walking, step);
    }
    if (instruction->mode == WSDBG_WARPGROUP_COMMIT)
        return end_group(walking, step);
    return instruction->mode != WSDBG_WARPGROUP_DEPBAR || !walk_source(&leader, instruction, 0, 0, &pending) ||
           wait_for_groups(walking, step, pending);
}
static bool is_quiet_kind(uint8_t kind)
{
    return !kind || kind == WSDBG_ACCESS_STORE || kind == WSDBG_ACCESS_STORE_WAIT || kind == WSDBG_ACCESS_EXIT ||
           kind == WSDBG_ACCESS_GRID_LAUNCH;
}

/* Executes an instruction; false where the walk is lost. */
static bool execute(struct walking *walking, uint32_t number)
{
    walking->length++;
    walking->out->work++;
    if (wsdbg_walk_is_of_matrices(walking->group.plan, number))
        return take_matrix_step(walking, number);
    if (was_issued(walking, number))
        return true;
    if (!is_quiet_kind(walking->group.plan->operands[number].kind) ||
        graph_of(walking)->instructions[number].operation == WSDBG_OP_WARPSYNC)
        return take_step(walking, number);
    walking->out->work += walk_group_execute(&walking->group, number) - 1;
    return !walking->group.error;
}

/* ---- from block to block ---- */

static enum wsdbg_truth both(enum wsdbg_truth a, enum wsdbg_truth b)
{
    if (a == WSDBG_TRUTH_NO || b == WSDBG_TRUTH_NO)
        return WSDBG_TRUTH_NO;
    return a == WSDBG_TRUTH_YES && b == WSDBG_TRUTH_YES ? WSDBG_TRUTH_YES : WSDBG_TRUTH_UNKNOWN;
}

/* BRA.DIV and BRA.CONV ask whether the warp has diverged: it is taken to be together. */
static enum wsdbg_truth is_taken(const struct walk_lane *lane, const struct wsdbg_instruction *last)
{
    const enum wsdbg_truth guard = wsdbg_thread_executes(lane->state, last);
    const unsigned split = last->words[0] >> SPLIT_BIT & SPLIT_BITS;
    if (!wsdbg_flow_asks_more_than_guard(last) || !last->source_count)
        return guard;
    if (wsdbg_is_predicate(&last->sources[0]))
        return both(guard, wsdbg_thread_predicate(lane->state, &last->sources[0]));
    if (last->sources[0].kind == WSDBG_OPERAND_UNIFORM && last->operation == WSDBG_OP_BRA)
        return both(guard, split == SPLIT_CONVERGED ? WSDBG_TRUTH_YES : WSDBG_TRUTH_NO);
    return WSDBG_TRUTH_UNKNOWN;
}

/* Where a lane goes on behind a block.  `to`: of a branch through a register, whose noted targets each have the value
 * that leads there; NONE = not known. */
struct turn {
    enum wsdbg_truth taken;
    uint32_t to;
};

static uint32_t through_register(const struct walk_lane *lane, uint32_t branch)
{
    const struct wsdbg_graph *graph = lane->group->plan->graph;
    const struct wsdbg_instruction *last = &graph->instructions[branch];
    const struct wsdbg_way *ways;
    uint32_t value;
    if (!wsdbg_branch_asks_register(last) || !walk_value(lane, &last->sources[0], 0, &value))
        return WSDBG_GRAPH_NONE;
    const uint32_t count = wsdbg_flow_ways(graph, branch, &ways);
    for (uint32_t i = 0; i < count; i++)
        if (ways[i].value == value)
            return graph->block_of[ways[i].to];
    return WSDBG_GRAPH_NONE;
}

static struct turn turn_of(const struct walk_lane *lane, uint32_t branch)
{
    const struct wsdbg_instruction *last = &lane->group->plan->graph->instructions[branch];
    struct turn turn = {is_taken(lane, last), WSDBG_GRAPH_NONE};
    if (turn.taken == WSDBG_TRUTH_YES && last->operation == WSDBG_OP_BRX)
        turn.to = through_register(lane, branch);
    return turn;
}

/* The block behind `block` that a turn leads to; WSDBG_GRAPH_NONE = not known, or none. */
static uint32_t block_behind(const struct wsdbg_block *block, const struct turn *turn)
{
    const uint32_t side = turn->taken == WSDBG_TRUTH_YES;
    if (turn->to != WSDBG_GRAPH_NONE || turn->taken == WSDBG_TRUTH_UNKNOWN || side >= block->successor_count)
        return turn->to;
    return block->successor[side];
}

/* The leader's turn behind the block; who takes another one leaves the group. */
static struct turn turn_together(struct walking *walking, uint32_t number)
{
    const struct wsdbg_block *block = &graph_of(walking)->blocks[number];
    const uint32_t branch = block->first + block->count - 1;
    const bool parts = walk_group_parts(&walking->group, branch);
    const struct walk_lane leader = walk_group_leader(&walking->group);
    const struct turn turn = turn_of(&leader, branch);
    struct walk_lane lane;
    for (uint32_t at = 0; parts && walk_group_next_followed(&walking->group, &at, &lane);) {
        const struct turn other = turn_of(&lane, branch);
        if (other.taken == turn.taken && other.to == turn.to)
            continue;
        if (block->exits && other.taken == WSDBG_TRUTH_YES)
            walk_beside_exit(&walking->group, lane.lane);
        else
            walk_beside_leave(&walking->group, lane.lane, number, block_behind(block, &other), walking->depth);
    }
    return turn;
}

/* The block at which the walk goes on; WSDBG_GRAPH_NONE = it has ended, or is lost. */
static uint32_t leave_call(struct walking *walking, const struct wsdbg_block *block)
{
    const uint32_t next = block->successor_count ? block->successor[0] : WSDBG_GRAPH_NONE;
    if (block->returns)
        return walking->depth ? walking->calls[--walking->depth] : WSDBG_GRAPH_NONE;
    if (block->callee == WSDBG_GRAPH_NONE || walking->depth == CALLS_MOST) {
        walk_group_forget(&walking->group, NULL);
        return next;
    }
    walking->calls[walking->depth++] = next;
    return graph_of(walking)->block_of[block->callee];
}

/* Where the walk goes on is not known.  If nothing is left to do on any way, it has ended. */
static uint32_t lose(struct walking *walking, uint32_t number)
{
    bool acts = true;
    if (!walking->depth)
        walking->group.error = wsdbg_walk_acts_behind(walking->group.plan, number, &acts);
    if (!walking->depth && !walking->group.error)
        walking->group.error = wsdbg_walk_stores_behind(walking->group.plan, number, &walking->may_store);
    walking->out->is_whole = !acts;
    return WSDBG_GRAPH_NONE;
}

/* A branch with an unknown condition: goes on where its sides meet.  What they write is then not known. */
static uint32_t pass_detour(struct walking *walking, uint32_t number)
{
    const struct wsdbg_block *block = &graph_of(walking)->blocks[number];
    const struct wsdbg_walk_detour *detour;
    walking->group.error = wsdbg_walk_detour_of(walking->group.plan, number, &detour);
    if (walking->group.error || !detour->can_be_passed)
        return walking->group.error ? WSDBG_GRAPH_NONE : lose(walking, number);
    walk_group_forget(&walking->group, detour->written);
    if (detour->stores && walking->group.plan->follows_stores)
        walk_words_lose(&walking->group.plan->words, &walking->group.place);
    const struct wsdbg_walk_step step = {.instruction = block->first + block->count - 1, .kind = WSDBG_WALK_POLL};
    if (detour->loops && !add_step(walking, step))
        return WSDBG_GRAPH_NONE;
    return detour->meets;
}

/* ---- lanes that part and meet again ---- */

static bool run_until(struct walking *walking, uint32_t number, uint32_t end);

/* *taking: the lanes that take the branch.  False: all lanes do the same, or it is not known what some lane does.  One
 * beside the group of which that is not known is not followed any more. */
static bool lanes_part(struct walking *walking, uint32_t branch, uint32_t *taking)
{
    struct walk_group *group = &walking->group;
    struct walk_lane lane = walk_group_leader(group);
    enum wsdbg_truth taken = turn_of(&lane, branch).taken;
    bool known = taken != WSDBG_TRUTH_UNKNOWN && walk_group_parts(group, branch);
    *taking = (uint32_t)(taken == WSDBG_TRUTH_YES) << lane.lane;
    for (uint32_t at = 0; known && walk_group_next_followed(group, &at, &lane);) {
        taken = turn_of(&lane, branch).taken;
        if (taken == WSDBG_TRUTH_UNKNOWN)
            group->beside &= ~((uint32_t)1 << lane.lane);
        known = taken != WSDBG_TRUTH_UNKNOWN || !(group->lanes >> lane.lane & 1);
        *taking |= (uint32_t)(taken == WSDBG_TRUTH_YES) << lane.lane;
    }
    return known && *taking && *taking != (group->lanes | group->beside);
}

/* Walks one side.  False: it is not known that all of its lanes reach the end of the side together.  A side that only
 * lanes beside the group take leaves nothing but their registers. */
static bool walk_side(struct walking *walking, const struct walk_group *before, uint32_t lanes, uint32_t number,
                      const struct wsdbg_walk_detour *detour)
{
    struct walk_group *group = &walking->group;
    const size_t steps = walking->out->count;
    const unsigned depth = walking->depth;
    memcpy(group->varies, before->varies, sizeof before->varies);
    group->lanes = lanes;
    group->beside = group->apart.lanes = 0;
    group->elsewhere = before->elsewhere | before->apart.lanes | ((before->lanes | before->beside) & ~lanes);
    group->silent = before->silent | before->beside;
    group->leader = (uint32_t)__builtin_ctz(lanes);
    const bool arrives = run_until(walking, number, detour->meets) && group->lanes == lanes;
    walking->depth = depth; /* where the side is lost in a function that it calls */
    walk_group_spread(group, detour->written);
    if (lanes & before->lanes)
        return arrives;
    walking->out->count = steps;
    for (uint32_t left = arrives ? 0 : lanes; left; left &= left - 1)
        walk_beside_forget(group, (uint32_t)__builtin_ctz(left), detour);
    return true;
}

/* The sides have no accesses.  Of their steps only the first poll is kept. */
static void drop_steps(struct wsdbg_walk *out, size_t first)
{
    size_t polls = 0;
    for (size_t i = first; i < out->count && !polls; i++)
        if (out->steps[i].kind == WSDBG_WALK_POLL)
            out->steps[first + polls++] = out->steps[i];
    out->count = first + polls;
}

/* If the lanes part at the branch behind this block, walks one side after the other, up to the block where the sides
 * meet.  False: the lanes do not part, or the sides cannot be followed like this. */
static bool take_sides(struct walking *walking, uint32_t number, uint32_t *meets)
{
    const struct wsdbg_block *block = &graph_of(walking)->blocks[number];
    const size_t steps = walking->out->count;
    const struct wsdbg_walk_detour *detour;
    uint32_t taking;
    if (block->successor_count < 2 || walking->sides == SIDES_MOST ||
        !lanes_part(walking, block->first + block->count - 1, &taking))
        return false;
    walking->group.error = wsdbg_walk_detour_of(walking->group.plan, number, &detour);
    if (walking->group.error || !detour->can_be_passed || detour->loops || detour->exchanges)
        return false;
    walk_group_spread(&walking->group, NULL);
    const struct walk_group before = walking->group;
    const uint32_t followed = before.lanes | before.beside;
    walking->out->work += SIDES_WORK;
    walking->sides++;
    bool arrives = walk_side(walking, &before, followed & ~taking, block->successor[0], detour);
    arrives &= walk_side(walking, &before, taking, block->successor[1], detour);
    walking->sides--;
    walking->out->is_whole = false;
    walking->may_store = true;
    drop_steps(walking->out, steps);
    walking->group.lanes = before.lanes;
    walking->group.beside = before.beside;
    walking->group.silent = before.silent;
    walking->group.apart = before.apart;
    walking->group.elsewhere = before.elsewhere;
    walking->group.leader = before.leader;
    for (unsigned word = 0; word < WSDBG_WALK_REGISTER_WORDS; word++)
        walking->group.varies[word] = before.varies[word] | detour->written[word];
    if (!arrives)
        walk_group_forget(&walking->group, detour->written);
    if (!arrives && detour->stores && walking->group.plan->follows_stores)
        walk_words_lose(&walking->group.plan->words, &walking->group.place);
    *meets = detour->meets;
    return true;
}

/* The side of a branch with an unknown condition that does not lead to a trap, if the other one does; else NONE.  A
 * kernel that traps does not hang. */
static uint32_t side_that_works(const struct walking *walking, const struct wsdbg_block *block)
{
    const struct wsdbg_walk_plan *plan = walking->group.plan;
    if (block->successor_count != 2 || block->successor[0] == WSDBG_GRAPH_NONE ||
        block->successor[1] == WSDBG_GRAPH_NONE)
        return WSDBG_GRAPH_NONE;
    const bool fails[2] = {wsdbg_walk_fails(plan, block->successor[0]), wsdbg_walk_fails(plan, block->successor[1])};
    return fails[0] == fails[1] ? WSDBG_GRAPH_NONE : block->successor[fails[0]];
}

static bool ends_for_good(const struct wsdbg_instruction *last)
{
    return last->operation == WSDBG_OP_EXIT;
}

static uint32_t leave(struct walking *walking, uint32_t number)
{
    const struct wsdbg_block *block = &graph_of(walking)->blocks[number];
    const struct wsdbg_instruction *last = &graph_of(walking)->instructions[block->first + block->count - 1];
    const uint32_t next = block->successor_count ? block->successor[0] : WSDBG_GRAPH_NONE;
    uint32_t meets;
    if (last->operation == WSDBG_OP_BRA && take_sides(walking, number, &meets))
        return meets;
    const struct turn turn = turn_together(walking, number);
    if (turn.taken == WSDBG_TRUTH_NO)
        return next;
    if (block->exits || block->calls || block->returns) {
        if (turn.taken == WSDBG_TRUTH_UNKNOWN)
            return lose(walking, number);
        walking->out->is_whole = block->exits && ends_for_good(last);
        return block->exits ? WSDBG_GRAPH_NONE : leave_call(walking, block);
    }
    if (last->operation == WSDBG_OP_BRX)
        return turn.to;
    if (last->operation != WSDBG_OP_BRA)
        return block->is_indirect ? WSDBG_GRAPH_NONE : next;
    if (turn.taken == WSDBG_TRUTH_UNKNOWN) {
        const uint32_t side = side_that_works(walking, block);
        return side == WSDBG_GRAPH_NONE ? pass_detour(walking, number) : side;
    }
    return block->successor_count > 1 ? block->successor[1] : WSDBG_GRAPH_NONE;
}

static bool run_block(struct walking *walking, uint32_t number)
{
    const struct wsdbg_lists *lists = &walking->group.plan->by_block;
    for (uint32_t i = lists->first[number]; i < lists->first[number + 1]; i++) {
        if (!execute(walking, lists->numbers[i])) {
            walking->out->lost_at = lists->numbers[i];
            return false;
        }
    }
    return true;
}

/* Asked from time to time: a clock takes longer than a block. */
static bool is_over(struct walking *walking)
{
    const struct wsdbg_walk_limits *limits = &walking->limits;
    if (!limits->is_over || walking->out->work < walking->asks_at)
        return false;
    walking->asks_at = walking->out->work + ASKS_EACH;
    return limits->is_over(limits->context);
}

static bool is_too_long(const struct walking *walking)
{
    return walking->length >= walking->limits.length || walking->out->work >= walking->limits.work;
}

/* Walks from block `number` on.  False: the walk ended before it reached block `end`. */
static bool run_until(struct walking *walking, uint32_t number, uint32_t end)
{
    const struct wsdbg_graph *graph = graph_of(walking);
    while (number != WSDBG_GRAPH_NONE && number != end && !is_too_long(walking) && !walking->group.error) {
        walk_beside_come_back(&walking->group, number, walking->depth);
        if (!run_block(walking, number))
            return false;
        walking->out->lost_at = graph->blocks[number].first + graph->blocks[number].count - 1;
        walking->length++;
        walking->out->work++;
        number = leave(walking, number);
        if (is_over(walking))
            return false;
    }
    return number == end;
}

struct wsdbg_error *wsdbg_walk_lanes(struct wsdbg_walk_plan *plan, const struct wsdbg_thread_world *worlds,
                                     uint32_t lanes, struct wsdbg_walk_limits limits, struct wsdbg_walk *out,
                                     uint32_t *together)
{
    struct walking *walking = calloc(1, sizeof *walking);
    *out = (struct wsdbg_walk){0};
    *together = lanes;
    if (!walking)
        return &wsdbg_error_no_memory;
    *walking = (struct walking){
        .group = walk_group_begin(plan, worlds, lanes), .limits = limits, .out = out, .may_store = true};
    const uint32_t first = plan->graph->instruction_count ? plan->graph->block_of[0] : WSDBG_GRAPH_NONE;
    plan->is_guessed = false;
    run_until(walking, first, WSDBG_GRAPH_NONE);
    out->is_guessed = plan->is_guessed;
    walk_words_end(&plan->words, &walking->group.place);
    plan->is_some_lost |= !out->is_whole;
    if (!out->is_whole && plan->follows_stores && walking->may_store)
        walk_words_lose(&plan->words, &walking->group.place);
    *together = walking->group.lanes;
    struct wsdbg_error *error = walking->group.error;
    free(walking);
    if (error) {
        free(out->steps);
        *out = (struct wsdbg_walk){0};
    }
    return error;
}
