/* ring_map.h - a ring in the segment itself, which the GPU maps. */
#ifndef WSDBG_SHIM_RING_MAP_H
#define WSDBG_SHIM_RING_MAP_H

#include <stdbool.h>

#include "contexts.h"

/* wsdbg asks for a ring that the GPU writes into the segment (WSDBG_ENV_RING). */
bool ring_map_is_wanted(void);
/* Has the GPU map the context's slots, and its history where it has one (history_bytes).  Both lie in the segment,
 * whose memory is registered with the driver.  The context is current.  True: context->slots and context->history are
 * the addresses for the GPU, and a trial write of the GPU has arrived there.  False: nothing has changed, and a note
 * says why. */
bool ring_map(struct shim_context *context);

/* Waits for one of our own streams, two seconds at most; NOT_READY = it is still busy. */
CUresult ring_await(CUstream stream);

#endif
