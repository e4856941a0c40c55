/* walk_beside.c - see walk_beside.h.  Reads: the plan.  Writes: the group's lanes and registers. */
#include "sass/walk_beside.h"

/* The registers that the lane's own way writes.  One that leads straight to the meeting place writes none. */
static void forget(const struct walk_lane *lane, const struct wsdbg_walk_detour *detour, uint32_t to)
{
    for (unsigned reg = 0; to != detour->meets && reg < WSDBG_REGISTER_COUNT; reg++)
        if (detour->written[reg / 64] >> reg % 64 & 1)
            wsdbg_thread_forget(lane->state, reg);
}

void walk_beside_leave(struct walk_group *group, uint32_t lane, uint32_t block, uint32_t to, unsigned depth)
{
    const struct wsdbg_block *row = &group->plan->graph->blocks[block];
    const struct walk_lane left = walk_group_lane(group, lane);
    const struct wsdbg_walk_detour *detour;
    walk_group_drop(group, lane);
    if (!(group->beside >> lane & 1))
        return;
    group->beside &= ~((uint32_t)1 << lane);
    if (row->exits || row->calls || row->returns)
        return;
    struct wsdbg_error *error = wsdbg_walk_detour_of(group->plan, block, &detour);
    group->error = group->error ? group->error : error;
    if (error || !detour->is_met)
        return;
    group->beside |= (uint32_t)1 << lane;
    walk_group_spread(group, detour->written);
    group->beside &= ~((uint32_t)1 << lane);
    forget(&left, detour, to);
    group->apart.lanes |= (uint32_t)1 << lane;
    group->apart.until[lane].detour = detour;
    group->apart.until[lane].depth = depth;
}

void walk_beside_come_back(struct walk_group *group, uint32_t block, unsigned depth)
{
    for (uint32_t left = group->apart.lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const struct wsdbg_walk_detour *detour = group->apart.until[lane].detour;
        if (detour->meets != block || group->apart.until[lane].depth != depth)
            continue;
        walk_group_spread(group, detour->written);
        for (unsigned word = 0; word < WSDBG_WALK_REGISTER_WORDS; word++)
            group->varies[word] |= detour->written[word];
        group->apart.lanes &= ~((uint32_t)1 << lane);
        group->beside |= (uint32_t)1 << lane;
    }
}
