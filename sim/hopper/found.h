/* found.h - what a warp's atomics on global memory returned: by them a kernel that hands out tiles with a counter can
 * be followed.
 */
#ifndef WSDBG_HOPPER_FOUND_H
#define WSDBG_HOPPER_FOUND_H

#include "hopper/device.h"

struct wsdbg_gpu_found;

/* Notes what an atomic returned to a lane.  A warp with more results than a scheduler has keeps none, nor
 * does one that adds to more than a device of schedulers has. */
void hopper_found_add(struct hopper_warp *warp, uint32_t lane, uint32_t instruction, uint64_t value);
/* The results so far, in the order of their execution. */
const struct wsdbg_gpu_found *hopper_found_rows(const struct hopper_warp *warp, uint32_t *count);
void hopper_found_free(struct hopper_warp *warp);

#endif
