/* options.h - the simulator's settings, from the environment. */
#ifndef WSDBG_LIBCUDA_OPTIONS_H
#define WSDBG_LIBCUDA_OPTIONS_H

#include "hopper/gpu.h"

/* Those of base/sim_settings.h.
 * WSDBG_RACES: look for races; see races.h. */
struct wsdbg_error *options_read(struct wsdbg_gpu_options *out);

#endif
