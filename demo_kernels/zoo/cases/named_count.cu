/* named_count - five warps take part in a named barrier whose count says two: in pairs they pass, the fifth waits.
 *
 * Shaped after: Dao-AILab/quack#146.
 * Cause: NAMED_COUNT.  Roles: the epilogue's loaders.  Barrier: named barrier 2.
 * Fix: the count is the number of warps that take part, times 32.
 */
#include "../zoo.cuh"

ZOO_RING_NAMES()

#define LOADING_WARPS 5

ZOO_CASE(named_count, )
{
    const uint32_t count = FIXED ? LOADING_WARPS * 32 : 2 * 32;
    if (warp < LOADING_WARPS) {
        ROLE_BEGIN(w, ROLE_EPILOGUE);
        s->slots[0][threadIdx.x] = (unsigned char)in.part;
        NAMED_SYNC(w, 2, count);
        consume(s, 0);
    }
}
