/* look_walks_fit.c - whether the walks of threads agree with where the threads stand.
 *
 * Reads: snapshot.walks and steps, the parts of warps.  Writes nothing.
 */
#include "machine/look.h"

/* Whether a step may be the wait in which the part stands. */
static bool may_stand_at(const struct wsdbg_step_row *step, const struct wsdbg_barrier *barrier)
{
    if (barrier->kind == WSDBG_BARRIER_NAMED)
        return step->kind == WSDBG_ACCESS_NAMED_SYNC && step->address == barrier->id;
    return step->kind == WSDBG_ACCESS_WAIT && step->address == barrier->shared_offset.value;
}

/* Whether it is known which barrier the part waits for. */
static bool is_known_wait(const struct wsdbg_snapshot *out, const struct wsdbg_part *part)
{
    if (part->barrier >= out->barrier_count)
        return false;
    const struct wsdbg_barrier *barrier = &out->barriers[part->barrier];
    return (part->state == WSDBG_WARP_WAIT_NAMED && barrier->kind == WSDBG_BARRIER_NAMED) ||
           (part->state == WSDBG_WARP_WAIT_MBARRIER && barrier->kind == WSDBG_BARRIER_MBARRIER &&
            barrier->shared_offset.known);
}

static bool has_wait_of(const struct wsdbg_snapshot *out, const struct wsdbg_walk_row *walk,
                        const struct wsdbg_part *part)
{
    for (uint32_t k = 0; k < walk->step_count; k++)
        if (may_stand_at(&out->steps[walk->step_first + k], &out->barriers[part->barrier]))
            return true;
    return false;
}

bool wsdbg_look_walks_fit(const struct wsdbg_snapshot *out, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct wsdbg_walk_row *walk = &out->walks[i];
        const struct wsdbg_warp_row *warp = &out->warps[walk->warp];
        for (uint32_t p = warp->part_first; p < warp->part_first + warp->part_count; p++) {
            const struct wsdbg_part *part = &out->parts[p];
            if (walk->is_whole && part->lanes & walk->lanes && is_known_wait(out, part) &&
                !has_wait_of(out, walk, part))
                return false;
        }
    }
    return true;
}

bool wsdbg_look_walks_are_better(const struct wsdbg_snapshot *out, size_t first, size_t second)
{
    const size_t end = out->walk_count;
    return wsdbg_look_walks_fit(out, second, end) &&
           (!wsdbg_look_walks_fit(out, first, second) ||
            wsdbg_look_walks_whole(out, second, end) > wsdbg_look_walks_whole(out, first, second));
}
