/* exit.c - lanes leave: a function, for the place it was called from, or the kernel.
 *
 * Reads: the stack of calls of a split.  Writes: splits, the warp's live lanes; barriers and the scheduler are told.
 */
#include "hopper/exit.h"

#include "hopper/split.h"

void hopper_exit_lanes(struct wsdbg_gpu *gpu, struct hopper_warp *warp, struct hopper_split *split, uint32_t lanes)
{
    warp->live &= ~lanes;
    split->lanes &= ~lanes;
    if (!split->lanes)
        hopper_split_remove(warp, (uint32_t)(split - warp->splits));
    for (uint32_t i = 0; i < warp->split_count; i++)
        if (warp->splits[i].wait.kind == HOPPER_WAITS_LANES)
            warp->splits[i].again = true;
    hopper_lanes_exited(warp, lanes);
    hopper_changed_barrier(warp->cta);
    if (!warp->live)
        hopper_warp_done(gpu, warp);
}

void hopper_return(struct hopper_step *step, uint32_t lanes)
{
    struct hopper_split *split = step->split;
    const uint32_t rest = split->lanes & ~lanes;
    if (rest) {
        hopper_split_add(step->warp, split, rest, split->pc + 1);
        split->lanes = lanes;
    }
    if (split->depth == 0)
        hopper_exit_lanes(step->gpu, step->warp, split, lanes);
    else
        split->pc = split->returns[--split->depth];
}
