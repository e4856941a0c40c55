/* walk_matrices.c - the multiplications of a warpgroup (wgmma) in a walk: when a group of them ends, and for which
 * groups a wait waits.  See walking.h.
 *
 * Reads: the instruction at hand.  Writes: the walk's steps; how many multiplications were issued so far.
 */
#include "sass/walking.h"

/* A group that ended and was waited for just before tells no more than the next one, which the warps issue later. */
static void drop_passed_group(struct walking *walking)
{
    const struct wsdbg_walk *out = walking->out;
    if (out->count >= 2 && out->steps[out->count - 1].kind == WSDBG_ACCESS_WGMMA_WAIT &&
        out->steps[out->count - 2].kind == WSDBG_ACCESS_WGMMA &&
        out->steps[out->count - 2].number == out->steps[out->count - 1].number)
        walk_drop_steps(walking, out->count - 2);
}

static bool end_group(struct walking *walking, struct wsdbg_walk_step step)
{
    const uint32_t last = walking->matrices.groups;
    walking->matrices.ended[walking->matrices.groups++ % WALK_MATRIX_GROUPS_MOST] = walking->matrices.issued;
    if (last && walking->matrices.ended[(last - 1) % WALK_MATRIX_GROUPS_MOST] == walking->matrices.issued)
        return true;
    step.kind = WSDBG_ACCESS_WGMMA;
    step.number = walking->matrices.issued;
    drop_passed_group(walking);
    return walk_add_step(walking, step);
}

/* A wait leaves the newest `pending` groups. */
static bool wait_for_groups(struct walking *walking, struct wsdbg_walk_step step, uint32_t pending)
{
    const uint32_t groups = walking->matrices.groups;
    if (pending >= groups || pending >= WALK_MATRIX_GROUPS_MOST)
        return true;
    step.kind = WSDBG_ACCESS_WGMMA_WAIT;
    step.number = walking->matrices.ended[(groups - pending - 1) % WALK_MATRIX_GROUPS_MOST];
    if (step.number <= walking->matrices.waited)
        return true;
    walking->matrices.waited = step.number;
    return walk_add_step(walking, step);
}

bool walk_take_matrix_step(struct walking *walking, uint32_t number)
{
    const struct wsdbg_instruction *instruction = &walking_graph(walking)->instructions[number];
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
