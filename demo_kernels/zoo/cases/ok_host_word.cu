/* ok_host_word - correct: the kernel polls a word in the host's memory, which the host sets after a while.
 *
 * Looks wrong: every warp polls or waits for the one that does, and nothing on the GPU could end it.
 *
 * Shaped after: marin-community/marin#8311 (ranks that wait for others are victims).
 * Cause: none: blocked on the outside.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(ok_host_word, )
{
    volatile uint32_t *const word = in.host_word;
    if (threadIdx.x == 0)
        POLL_SYSTEM_WHILE(w, 0, *word == 0, 1000);
    BLOCK_SYNC(w);
}
