/* exit.h - lanes return from functions and exit; see exit.c. */
#ifndef WSDBG_HOPPER_EXIT_H
#define WSDBG_HOPPER_EXIT_H

#include "hopper/device.h"

/* Ends lanes of a split; the split (and warp) may be gone afterwards. */
void hopper_exit_lanes(struct wsdbg_gpu *gpu, struct hopper_warp *warp, struct hopper_split *split, uint32_t lanes);
/* `ret`, and the end of a function: lanes of step->split go on behind its call, or exit. */
void hopper_return(struct hopper_step *step, uint32_t lanes);

#endif
