/* state_rows.h - what a simulated device holds at one moment, as the bytes of a state file (wsdbg/device_state.h). */
#ifndef WSDBG_LIBCUDA_STATE_ROWS_H
#define WSDBG_LIBCUDA_STATE_ROWS_H

#include "libcuda/driver.h"

/* Starts with a struct wsdbg_state_header, whose time is 0.  The caller frees it; NULL = out of memory.  With the lock
 * held. */
unsigned char *state_rows_take(const struct context *context, enum wsdbg_gpu_outcome outcome);

#endif
