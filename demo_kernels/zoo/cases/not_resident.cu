/* not_resident - the workers, the first CTAs of the grid, fill the GPU and wait for a scheduler CTA that comes after
 * them.
 *
 * Launched with more CTAs than fit, one a multiprocessor; the last one is the scheduler.
 *
 * Shaped after: mirage-project/mirage#775 (80 scheduler and 128 worker CTAs on 148 multiprocessors).
 * Cause: NOT_RESIDENT.  Roles: the workers poll.  Barrier: none, a word of global memory.
 * Fix: the scheduler is CTA 0; better no more CTAs than fit.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(not_resident, )
{
    const bool is_scheduler = blockIdx.x == (FIXED ? 0 : gridDim.x - 1);
    if (threadIdx.x == 0) {
        if (is_scheduler)
            store_word(&in.words[0], 1);
        POLL_WHILE(w, 0, load_word(&in.words[0]) == 0, 100);
    }
    BLOCK_SYNC(w);
}
