/* ok_host_copy - correct: the kernel polls a word of the GPU's memory, which a copy brings that the host makes after a
 * while, in another stream.
 *
 * Looks wrong: every warp polls or waits for the one that does, nothing on the GPU could end it, and the word is read as
 * one that no host writes.
 *
 * Shaped after: no report; a persistent kernel that gets its work by copies does this.
 * Cause: none: blocked on the outside.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(ok_host_copy, )
{
    if (threadIdx.x == 0)
        POLL_WHILE(w, 0, load_word(&in.words[0]) == 0, 1000);
    BLOCK_SYNC(w);
}
