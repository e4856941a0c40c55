/* copy_groups.c - see copy_groups.h: two counts a group and lane, of copies whose source was not read yet and of those
 * not finished.
 *
 * A lane has 16 groups at most under way; one that would open another waits for the oldest.
 * Reads and writes: the groups, the wait of a step's split.
 */
#include "hopper/copy_groups.h"

#include <stdlib.h>

#include "hopper/device.h"

struct hopper_copy_groups *hopper_copy_groups(struct hopper_copy_groups **groups)
{
    if (!*groups)
        *groups = calloc(1, sizeof **groups);
    return *groups;
}

uint32_t hopper_copy_joins(struct hopper_copy_groups *groups, unsigned lane)
{
    const uint32_t group = groups->lanes[lane].open;
    groups->lanes[lane].unread[group % HOPPER_GROUPS]++;
    groups->lanes[lane].unfinished[group % HOPPER_GROUPS]++;
    return group;
}

void hopper_copy_has_read(struct hopper_copy_groups *groups, unsigned lane, uint32_t group)
{
    groups->lanes[lane].unread[group % HOPPER_GROUPS]--;
}

void hopper_copy_finished(struct hopper_copy_groups *groups, unsigned lane, uint32_t group)
{
    groups->lanes[lane].unfinished[group % HOPPER_GROUPS]--;
}

bool hopper_copy_can_commit(const struct hopper_copy_groups *groups, unsigned lane)
{
    return groups->lanes[lane].unfinished[(groups->lanes[lane].open + 1) % HOPPER_GROUPS] == 0;
}

void hopper_copy_commit(struct hopper_copy_groups *groups, unsigned lane)
{
    groups->lanes[lane].open++;
}

bool hopper_copy_waits(const struct hopper_copy_groups *groups, unsigned lane, uint32_t keep, bool unread_only)
{
    const uint32_t *const copies = unread_only ? groups->lanes[lane].unread : groups->lanes[lane].unfinished;
    const uint32_t open = groups->lanes[lane].open;
    for (uint32_t age = keep < HOPPER_GROUPS ? keep + 1 : HOPPER_GROUPS; age < HOPPER_GROUPS; age++)
        if (copies[(open - age) % HOPPER_GROUPS])
            return true;
    return false;
}

enum hopper_outcome hopper_commit_copies(struct hopper_step *step, struct hopper_copy_groups **groups)
{
    if (!hopper_copy_groups(groups))
        return hopper_fault(step, 0, HOPPER_OUT_OF_MEMORY, "no memory for copy groups");
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
        if (step->lanes >> lane & 1 && !hopper_copy_can_commit(*groups, lane)) {
            step->split->wait = (struct hopper_wait){.kind = HOPPER_WAITS_BULK, .groups = HOPPER_GROUPS - 1};
            return HOPPER_BLOCKED;
        }
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
        if (step->lanes >> lane & 1)
            hopper_copy_commit(*groups, lane);
    step->split->wait = (struct hopper_wait){.kind = HOPPER_RUNS};
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_await_copies(struct hopper_step *step, const struct hopper_copy_groups *groups,
                                        uint32_t keep, bool unread_only)
{
    bool waits = false;
    for (unsigned lane = 0; groups && lane < HOPPER_LANES && !waits; lane++)
        waits = step->lanes >> lane & 1 && hopper_copy_waits(groups, lane, keep, unread_only);
    step->split->wait = (struct hopper_wait){.kind = waits ? HOPPER_WAITS_BULK : HOPPER_RUNS, .groups = keep};
    return waits ? HOPPER_BLOCKED : HOPPER_NEXT;
}

bool hopper_engine_is_full(struct hopper_step *step)
{
    if (step->warp->cta->engine_works < HOPPER_WORKS_MOST)
        return false;
    step->split->wait = (struct hopper_wait){.kind = HOPPER_WAITS_BULK, .groups = HOPPER_WORKS_MOST};
    return true;
}
