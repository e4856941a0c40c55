/* walk_beside.c - see walk_beside.h.  Reads: the plan.  Writes: the group's lanes and registers. */
#include "sass/walk_beside.h"

void walk_beside_forget(struct walk_group *group, uint32_t lane, const struct wsdbg_walk_detour *detour)
{
    for (unsigned reg = 0; reg < WSDBG_REGISTER_COUNT; reg++)
        if (detour->written[reg / 64] >> reg % 64 & 1)
            wsdbg_thread_forget(&group->states[lane], reg);
    group->uncounted |= (uint32_t)detour->has_atomics << lane;
}

/* The lane comes back where the ways behind the block meet. */
static void wait_apart(struct walk_group *group, uint32_t lane, const struct wsdbg_walk_detour *detour, uint32_t to,
                       unsigned depth)
{
    walk_group_spread(group, detour->written);
    if (to != detour->meets) /* else its way writes nothing */
        walk_beside_forget(group, lane, detour);
    group->apart.lanes |= (uint32_t)1 << lane;
    group->apart.until[lane].detour = detour;
    group->apart.until[lane].depth = depth;
}

void walk_beside_exit(struct walk_group *group, uint32_t lane)
{
    walk_group_drop(group, lane);
    group->beside &= ~((uint32_t)1 << lane);
    group->elsewhere |= (uint32_t)1 << lane;
}

void walk_beside_leave(struct walk_group *group, uint32_t lane, uint32_t block, uint32_t to, unsigned depth)
{
    const struct wsdbg_block *row = &group->plan->graph->blocks[block];
    const bool stays = !row->exits && !row->calls && !row->returns;
    const struct wsdbg_walk_detour *detour;
    walk_group_drop(group, lane);
    if (!(group->beside >> lane & 1))
        return;
    struct wsdbg_error *error = stays ? wsdbg_walk_detour_of(group->plan, block, &detour) : NULL;
    group->error = group->error ? group->error : error;
    if (stays && !error && detour->is_met) {
        wait_apart(group, lane, detour, to, depth);
    } else if (stays && !depth && to != WSDBG_GRAPH_NONE) {
        group->left |= (uint32_t)1 << lane;
        group->left_to[lane] = to;
    }
    group->beside &= ~((uint32_t)1 << lane);
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
    walk_group_change_lanes(group);
}
