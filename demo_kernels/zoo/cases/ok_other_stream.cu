/* ok_other_stream - correct: a grid polls a word that a grid of another stream writes when its long work is done.
 *
 * Looks wrong: all of the first grid polls memory that nothing in it writes.
 *
 * Shaped after: no report; kernels that exchange data through memory do this.
 * Cause: none.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

ZOO_CASE(ok_other_stream, )
{
    if (in.part == 1) {
        work(in, in.work_ns);
        if (threadIdx.x == 0)
            store_word(&in.words[0], 1);
    } else if (threadIdx.x == 0) {
        POLL_WHILE(w, 0, load_word(&in.words[0]) == 0, 100);
    }
    BLOCK_SYNC(w);
}
