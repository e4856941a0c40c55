/* pdl_waits_back - a grid polls what its programmatic dependent writes, and that one first waits for the whole grid to
 * end.
 *
 * Launched twice in a stream, the second time as a programmatic dependent.
 *
 * Shaped after: no public report; griddepcontrol.wait as NVIDIA/cutlass#2962 asks for it, in a pair that must not have
 * it. Cause: GRID_DEPENDENCY.  Roles: the second grid waits, the first polls.  Barrier: the grid dependency. Fix: write
 * first, wait later.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(pdl_waits_back, )
{
    if (in.part == 0) {
        asm volatile("griddepcontrol.launch_dependents;");
        if (threadIdx.x == 0)
            POLL_WHILE(w, 0, load_word(&in.words[0]) == 0, 100);
    } else {
        if (!FIXED)
            GRID_DEPENDENCY_WAIT(w);
        if (threadIdx.x == 0)
            store_word(&in.words[0], 1);
        __syncwarp();
        if (FIXED)
            GRID_DEPENDENCY_WAIT(w);
    }
    BLOCK_SYNC(w);
}
