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

static bool has(const uint64_t *set, unsigned reg)
{
    return set[reg / 64] >> reg % 64 & 1;
}

/* The lanes that were to come back at the block; their ways may have written the registers of *written. */
static uint32_t coming_back(const struct walk_group *group, uint32_t block, unsigned depth, uint64_t *written)
{
    uint32_t back = 0;
    for (uint32_t left = group->apart.lanes; left; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const struct wsdbg_walk_detour *detour = group->apart.until[lane].detour;
        if (detour->meets != block || group->apart.until[lane].depth != depth)
            continue;
        back |= (uint32_t)1 << lane;
        for (unsigned word = 0; word < WSDBG_WALK_REGISTER_WORDS; word++)
            written[word] |= detour->written[word];
    }
    return back;
}

/* What its own way cannot have written the lane has as the group has it. */
static void take_alike(struct walk_group *group, uint32_t lane, const uint64_t *written)
{
    const uint64_t *own = group->apart.until[lane].detour->written;
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
        if (has(written, reg) && !has(own, reg) && !has(group->varies, reg))
            walk_copy_register(&group->states[lane], &group->states[group->leader], reg, reg);
}

void walk_beside_come_back(struct walk_group *group, uint32_t block, unsigned depth)
{
    uint64_t written[WSDBG_WALK_REGISTER_WORDS] = {0};
    const uint32_t back = group->apart.lanes ? coming_back(group, block, depth, written) : 0;
    if (!back)
        return;
    walk_group_spread(group, written);
    for (uint32_t left = back; left; left &= left - 1)
        take_alike(group, (uint32_t)__builtin_ctz(left), written);
    for (unsigned word = 0; word < WSDBG_WALK_REGISTER_WORDS; word++)
        group->varies[word] |= written[word];
    group->apart.lanes &= ~back;
    group->beside |= back;
}
