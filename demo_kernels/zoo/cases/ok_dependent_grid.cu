/* ok_dependent_grid - correct: a programmatic dependent waits for the grid before it, which works for long.
 *
 * Looks wrong: a grid of which every warp stands at griddepcontrol.wait.
 *
 * Shaped after: NVIDIA/cutlass#2962, as it should be.
 * Cause: none.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(ok_dependent_grid, )
{
    if (in.part == 0) {
        asm volatile("griddepcontrol.launch_dependents;");
        work(in, in.work_ns);
        if (threadIdx.x == 0)
            store_word(&in.words[0], 1);
    } else {
        GRID_DEPENDENCY_WAIT(w);
        if (threadIdx.x == 0)
            store_word(&in.words[1], load_word(&in.words[0]));
    }
}
