/* pdl_not_triggered - a grid polls what its programmatic dependent is to write, and never lets that one start.
 *
 * Launched twice in a stream, the second time as a programmatic dependent.
 *
 * Shaped after: no public report; the order of griddepcontrol as in NVIDIA/cutlass#2962 with the trigger left out.
 * Cause: GLOBAL_SPIN: a word that nothing on the GPU writes.  Roles: the first grid.  Barrier: none, a word of global
 * memory. Fix: griddepcontrol.launch_dependents before the poll.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(pdl_not_triggered, )
{
    if (in.part == 0) {
        if (FIXED)
            asm volatile("griddepcontrol.launch_dependents;");
        if (threadIdx.x == 0)
            POLL_WHILE(w, 0, load_word(&in.words[0]) == 0, 100);
    } else if (threadIdx.x == 0) {
        store_word(&in.words[0], 1);
    }
    BLOCK_SYNC(w);
}
