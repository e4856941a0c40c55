/* schedule.h - which warp runs next, and simulated time; see schedule.c. */
#ifndef WSDBG_HOPPER_SCHEDULE_H
#define WSDBG_HOPPER_SCHEDULE_H

#include "hopper/device.h"

/* One of the ready warps (there must be one), and how many instructions it may execute. */
struct hopper_warp *hopper_choose_warp(struct wsdbg_gpu *gpu, uint32_t *quantum);
void hopper_pass_time(struct wsdbg_gpu *gpu, uint32_t instructions, size_t ready_warps);

#endif
