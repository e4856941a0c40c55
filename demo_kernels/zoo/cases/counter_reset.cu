/* counter_reset - the leader of a barrier across the grid sets the counter back to zero before all others have read it.
 *
 * Shaped after: flashinfer-ai/flashinfer#3615.
 * Cause: GLOBAL_SPIN.  Roles: the late CTAs poll.  Barrier: none, a word of global memory.
 * Fix: the counter only grows; each barrier waits for its own multiple.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(counter_reset, )
{
    if (threadIdx.x == 0) {
        atomicAdd(&in.words[0], 1);
        if (blockIdx.x != 0)
            be_late();
        POLL_WHILE(w, 0, load_word(&in.words[0]) < gridDim.x, 20);
        if (!FIXED && blockIdx.x == 0)
            store_word(&in.words[0], 0);
    }
    BLOCK_SYNC(w);
}
