/* races.h - races that the device saw go to the file that WSDBG_RACES names, or to stderr ("-"). */
#ifndef WSDBG_LIBCUDA_RACES_H
#define WSDBG_LIBCUDA_RACES_H

#include "hopper/gpu.h"

/* Those behind the first *told; *told counts them then.  A line a race, its fields divided by tabs: code, kernel, memory,
 * then of both sides CTA (x,y,z), warp, "reads" or "writes", "async" or "threads", place; what is missing, what to
 * change. */
void races_tell(const struct wsdbg_gpu *gpu, size_t *told);

#endif
