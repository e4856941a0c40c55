/* cluster.c - mapa and getctarank: addresses of the shared memory of a cluster's CTAs.
 *
 * Reads: the step's operands.  Where such an address leads says access.c.
 */
#include "hopper/execute.h"

#define OFFSET_MASK ((1u << HOPPER_RANK_SHIFT) - 1)

enum hopper_outcome hopper_do_mapa(struct hopper_step *step)
{
    const uint64_t window = step->instruction->space == WSDBG_PTX_GENERIC ? HOPPER_SHARED_WINDOW : 0;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++) {
        if (!(step->lanes >> lane & 1))
            continue;
        const uint64_t address = hopper_source(step, 1, lane) - window, rank = hopper_source(step, 2, lane);
        hopper_result(step, 0, lane, window + ((rank & 0xff) << HOPPER_RANK_SHIFT | (address & OFFSET_MASK)));
    }
    return HOPPER_NEXT;
}

enum hopper_outcome hopper_do_getctarank(struct hopper_step *step)
{
    const uint64_t window = step->instruction->space == WSDBG_PTX_GENERIC ? HOPPER_SHARED_WINDOW : 0;
    for (unsigned lane = 0; lane < HOPPER_LANES; lane++)
        if (step->lanes >> lane & 1)
            hopper_result(step, 0, lane, (hopper_source(step, 1, lane) - window) >> HOPPER_RANK_SHIFT);
    return HOPPER_NEXT;
}
