/* print.h - what kernels print; see print.c.  Private to hopper/. */
#ifndef WSDBG_HOPPER_PRINT_H
#define WSDBG_HOPPER_PRINT_H

#include "hopper/warp.h"

/* The text of a format in global memory, with arguments from a generic address of the lane's on, goes to
 * options.print.  *count: how many of them there were.  False after a fault. */
bool hopper_print(const struct hopper_step *step, unsigned lane, uint64_t format, uint64_t arguments, int *count);
/* Text of unknown length at a global address, cut to `room`; "?" where there is none. */
void hopper_read_text(struct wsdbg_gpu *gpu, uint64_t address, char *out, size_t room);

#endif
