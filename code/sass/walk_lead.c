/* walk_lead.c - see walk_lead.h.
 *
 * Reads: the plan, where each lane was seen.  Writes: which lanes stay in the group.
 */
#include "sass/walk_lead.h"

#include "sass/walk_beside.h"
#include "sass/walk_ways.h"

/* So often a walk may be led: it does not know when its lanes came to where they were seen, and goes on behind that. */
enum { LEADS_MOST = 128 };

/* The one block behind `block` from which a lane can have come to where it was seen; NONE. */
static uint32_t side_of(struct walking *walking, uint32_t block, const struct walk_lane *lane)
{
    const struct wsdbg_block *row = &walking_graph(walking)->blocks[block];
    const bool *leads = lane->world->seen_at ? walk_ways_to(walking->group.plan, lane->world->seen_at - 1) : NULL;
    uint32_t side = WSDBG_GRAPH_NONE;
    if (lane->world->seen_at && !leads)
        walking->group.error = &wsdbg_error_no_memory;
    for (uint32_t i = 0; leads && i < row->successor_count; i++) {
        if (row->successor[i] == WSDBG_GRAPH_NONE || row->successor[i] == side || !leads[row->successor[i]])
            continue;
        if (side != WSDBG_GRAPH_NONE)
            return WSDBG_GRAPH_NONE;
        side = row->successor[i];
    }
    return side;
}

uint32_t walk_lead(struct walking *walking, uint32_t block)
{
    struct walk_group *group = &walking->group;
    const struct walk_lane leader = walk_group_leader(group);
    struct walk_lane lane;
    if (!group->plan->may_lead || walking->depth || walking->sides || walking->leads == LEADS_MOST)
        return WSDBG_GRAPH_NONE;
    const uint32_t side = side_of(walking, block, &leader);
    for (uint32_t at = 0; side != WSDBG_GRAPH_NONE && walk_group_next_followed(group, &at, &lane);) {
        const uint32_t own = side_of(walking, block, &lane);
        if (own != side)
            walk_beside_leave(group, lane.lane, block, own, walking->depth);
    }
    walking->leads += side != WSDBG_GRAPH_NONE;
    walking->out->is_led |= side != WSDBG_GRAPH_NONE;
    return side;
}
