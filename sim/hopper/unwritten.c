/* unwritten.c - rows of the table that nobody executes yet fault when they are reached. */
#include "hopper/device.h"

enum hopper_outcome hopper_do_call(struct hopper_step *step)
{
    return hopper_not_written(step);
}

enum hopper_outcome hopper_do_brx(struct hopper_step *step)
{
    return hopper_not_written(step);
}
