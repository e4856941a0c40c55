/* grid_dependency.c - griddepcontrol: a grid that begins before the one it depends on is over.
 *
 * Reads: the state of the grid before.  Writes: that this CTA lets dependents begin.
 */
#include "hopper/gpu.h"
#include "hopper/execute.h"

enum hopper_outcome hopper_do_griddepcontrol_wait(struct hopper_step *step)
{
    const struct wsdbg_grid_run *const before = step->warp->cta->grid->launch.after;
    const bool is_over = !before || wsdbg_gpu_state(before) >= WSDBG_GRID_DONE;
    step->split->wait = (struct hopper_wait){.kind = is_over ? HOPPER_RUNS : HOPPER_WAITS_GRID};
    return is_over ? HOPPER_NEXT : HOPPER_BLOCKED;
}

enum hopper_outcome hopper_do_griddepcontrol_launch_dependents(struct hopper_step *step)
{
    hopper_cta_triggered(step->warp->cta);
    return HOPPER_NEXT;
}
