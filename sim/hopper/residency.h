/* residency.h - which CTAs are on the chip; see residency.c. */
#ifndef WSDBG_HOPPER_RESIDENCY_H
#define WSDBG_HOPPER_RESIDENCY_H

#include "hopper/device.h"

/* An SM with nothing on it. */
struct hopper_sm hopper_empty_sm(uint32_t group);
/* Registers that the hardware hands out: 8 a thread at a time, warps in fours. */
uint32_t hopper_registers_of_cta(uint32_t registers_per_thread, uint32_t warps);
/* CTAs of the grid that an empty gpu holds at one time; counting ends at `enough`. */
uint64_t hopper_resident_most(struct wsdbg_gpu *gpu, const struct hopper_grid *grid, uint64_t enough);
/* Takes all that is left of a grid off the gpu. */
void hopper_give_up(struct wsdbg_gpu *gpu, struct hopper_grid *grid);

#endif
