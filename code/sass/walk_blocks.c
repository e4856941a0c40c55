/* walk_blocks.c - takes a group of lanes from block to block through a kernel, and both sides of a branch at which they
 * part.  See walk.h; walking.h names the files that do the work at one instruction.
 *
 * Reads: the plan, what the launch tells.  Writes: the walk of the lanes that stay together.
 */
#include "sass/walk.h"

#include <stdlib.h>
#include <string.h>

#include "sass/walk_beside.h"
#include "sass/walk_idle.h"
#include "sass/walk_lead.h"
#include "sass/walk_tokens.h"
#include "sass/walking.h"

enum { ASKS_EACH = 4096 }; /* instructions */
enum { SIDES_MOST = 8, SIDES_WORK = 512 };

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
        return walk_take_matrix_step(walking, number);
    if (walk_was_issued(walking, number))
        return true;
    if (!is_quiet_kind(walking->group.plan->operands[number].kind) ||
        walking_graph(walking)->instructions[number].operation == WSDBG_OP_WARPSYNC)
        return walk_take_step(walking, number);
    walking->out->work += walk_group_execute(&walking->group, number) - 1;
    return !walking->group.error;
}

/* ---- from block to block ---- */

/* The block at which the walk goes on; WSDBG_GRAPH_NONE = it has ended, or is lost. */
static uint32_t leave_call(struct walking *walking, const struct wsdbg_block *block)
{
    const uint32_t next = block->successor_count ? block->successor[0] : WSDBG_GRAPH_NONE;
    if (block->returns)
        return walking->depth ? walking->calls[--walking->depth] : WSDBG_GRAPH_NONE;
    if (block->callee == WSDBG_GRAPH_NONE || walking->depth == WALK_CALLS_MOST) {
        walk_group_forget(&walking->group, NULL);
        walking->group.uncounted = UINT32_MAX;
        walking->traffic = WSDBG_TRAFFIC_ALL;
        return next;
    }
    walking->calls[walking->depth++] = next;
    return walking_graph(walking)->block_of[block->callee];
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

/* Where the walk goes on is not known, but for where its lanes were seen. */
static uint32_t lead_or_lose(struct walking *walking, uint32_t number)
{
    const uint32_t side = walk_lead(walking, number);
    return side == WSDBG_GRAPH_NONE && !walking->group.error ? lose(walking, number) : side;
}

/* A branch with an unknown condition: goes on where its sides meet.  What they write is then not known. */
static uint32_t pass_detour(struct walking *walking, uint32_t number)
{
    const struct wsdbg_block *block = &walking_graph(walking)->blocks[number];
    const struct wsdbg_walk_detour *detour;
    walking->group.error = wsdbg_walk_detour_of(walking->group.plan, number, &detour);
    if (walking->group.error)
        return WSDBG_GRAPH_NONE;
    if (!detour->can_be_passed)
        return lead_or_lose(walking, number);
    walk_group_forget(&walking->group, detour->lost);
    walking->group.uncounted |= detour->has_atomics ? UINT32_MAX : 0;
    walking->traffic |= detour->traffic;
    if (detour->stores && walking->group.plan->follows_stores)
        walk_words_lose(&walking->group.plan->words, &walking->group.place);
    const struct wsdbg_walk_step step = {.instruction = block->first + block->count - 1, .kind = WSDBG_WALK_POLL};
    if (detour->loops && !walk_add_step(walking, step))
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
    enum wsdbg_truth taken = walk_turn_of(&lane, branch).taken;
    bool known = taken != WSDBG_TRUTH_UNKNOWN && walk_group_parts(group, branch);
    *taking = (uint32_t)(taken == WSDBG_TRUTH_YES) << lane.lane;
    for (uint32_t at = 0; known && walk_group_next_followed(group, &at, &lane);) {
        taken = walk_turn_of(&lane, branch).taken;
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
    walk_group_change_lanes(group);
    const bool arrives = run_until(walking, number, detour->meets) && group->lanes == lanes;
    walking->depth = depth; /* where the side is lost in a function that it calls */
    walk_group_spread(group, detour->written);
    if (lanes & before->lanes)
        return arrives;
    walk_drop_steps(walking, steps);
    for (uint32_t left = arrives ? 0 : lanes; left; left &= left - 1)
        walk_beside_forget(group, (uint32_t)__builtin_ctz(left), detour);
    return true;
}

/* The sides have no accesses.  Of their steps only the first poll is kept. */
static void drop_sides(struct walking *walking, size_t first)
{
    const struct wsdbg_walk *out = walking->out;
    size_t polls = 0;
    for (size_t i = first; i < out->count && !polls; i++)
        if (out->steps[i].kind == WSDBG_WALK_POLL) {
            const struct wsdbg_walk_step step = out->steps[first];
            out->steps[first + polls++] = out->steps[i];
            out->steps[i] = step;
        }
    walk_drop_steps(walking, first + polls);
}

/* Behind the sides the lanes walk as before.  Registers that a side writes may differ between them. */
static void bring_together(struct walk_group *group, const struct walk_group *before,
                           const struct wsdbg_walk_detour *detour)
{
    group->lanes = before->lanes;
    group->beside = before->beside;
    group->silent = before->silent;
    group->apart = before->apart;
    group->elsewhere = before->elsewhere;
    group->leader = before->leader;
    walk_group_change_lanes(group);
    walk_tokens_forget(group, detour->written);
    for (unsigned word = 0; word < WSDBG_WALK_REGISTER_WORDS; word++)
        group->varies[word] = before->varies[word] | detour->written[word];
}

/* If the lanes part at the branch behind this block, walks one side after the other, up to the block where the sides
 * meet.  False: the lanes do not part, or the sides cannot be followed like this. */
static bool take_sides(struct walking *walking, uint32_t number, uint32_t *meets)
{
    const struct wsdbg_block *block = &walking_graph(walking)->blocks[number];
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
    drop_sides(walking, steps);
    bring_together(&walking->group, &before, detour);
    if (!arrives) {
        walking->traffic |= detour->traffic;
        walk_group_forget(&walking->group, detour->written);
        walking->group.uncounted |= detour->has_atomics ? UINT32_MAX : 0;
    }
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
    const struct wsdbg_block *block = &walking_graph(walking)->blocks[number];
    const struct wsdbg_instruction *last = &walking_graph(walking)->instructions[block->first + block->count - 1];
    const uint32_t next = block->successor_count ? block->successor[0] : WSDBG_GRAPH_NONE;
    uint32_t meets = walk_idle_to(walking->group.plan, number);
    if (meets != WSDBG_GRAPH_NONE)
        return meets;
    if (last->operation == WSDBG_OP_BRA && take_sides(walking, number, &meets))
        return meets;
    const struct walk_turn turn = walk_turn_together(walking, number);
    if (turn.taken == WSDBG_TRUTH_NO)
        return next;
    if (block->exits || block->calls || block->returns) {
        if (turn.taken == WSDBG_TRUTH_UNKNOWN)
            return block->exits ? lead_or_lose(walking, number) : lose(walking, number);
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
    const struct walk_traffic *traffic = &walking->group.plan->traffic;
    for (uint32_t i = lists->first[number]; i < lists->first[number + 1]; i++) {
        walking->traffic |= traffic->before[lists->numbers[i]];
        if (!execute(walking, lists->numbers[i])) {
            walking->out->lost_at = lists->numbers[i];
            return false;
        }
        walking->traffic |= traffic->own[lists->numbers[i]];
    }
    walking->traffic |= traffic->behind[number];
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
    const struct wsdbg_graph *graph = walking_graph(walking);
    while (number != WSDBG_GRAPH_NONE && number != end && !is_too_long(walking) && !walking->group.error) {
        walk_beside_come_back(&walking->group, number, walking->depth);
        if (!run_block(walking, number))
            return false;
        walking->out->lost_at = graph->blocks[number].first + graph->blocks[number].count - 1;
        walking->length++;
        walking->out->work++;
        number = leave(walking, number);
        walking->out->work += walking->group.plan->searched;
        walking->group.plan->searched = 0;
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
    plan->is_guessed = plan->is_of_present = false;
    run_until(walking, first, WSDBG_GRAPH_NONE);
    out->is_guessed = plan->is_guessed;
    out->is_in_turn = plan->is_guessed && !plan->is_of_present;
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
