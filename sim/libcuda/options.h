/* options.h - the simulator's settings, from the environment. */
#ifndef WSDBG_LIBCUDA_OPTIONS_H
#define WSDBG_LIBCUDA_OPTIONS_H

#include "hopper/gpu.h"

/* WSDBG_SIM_MULTIPROCESSORS: 1 to 132.
 * WSDBG_SIM_SCHEDULE: round-robin (default), random, priority or priority:CHANGE_POINTS:LENGTH.
 * WSDBG_SIM_SEED: a number of 64 bits.
 * WSDBG_RACES: look for races; see races.h. */
struct wsdbg_error *options_read(struct wsdbg_gpu_options *out);

#endif
