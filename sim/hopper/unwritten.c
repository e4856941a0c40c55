/* unwritten.c - rows of the table that nobody executes yet fault when they are reached.
 *
 * These definitions are weak and last in the archive: a function of the same name elsewhere is taken instead.
 */
#include "hopper/device.h"

#define PTX(id, ...)                                                                   \
    __attribute__((weak)) enum hopper_outcome hopper_do_##id(struct hopper_step *step) \
    {                                                                                  \
        return hopper_not_written(step);                                               \
    }
#include "ptx/instructions.def"
#undef PTX

__attribute__((weak)) void hopper_lanes_exited(struct hopper_warp *warp, uint32_t lanes)
{
    (void)warp;
    (void)lanes;
}

__attribute__((weak)) void hopper_warp_freed(struct hopper_warp *warp)
{
    (void)warp;
}

__attribute__((weak)) void hopper_cta_freed(struct hopper_cta *cta)
{
    (void)cta;
}
