/* ring_map.h - a ring in the segment itself, which the GPU maps. */
#ifndef WSDBG_SHIM_RING_MAP_H
#define WSDBG_SHIM_RING_MAP_H

#include <stdbool.h>

#include "contexts.h"

/* wsdbg asks for a ring that the GPU writes into the segment (WSDBG_ENV_RING). */
bool ring_map_is_wanted(void);
/* Has the GPU map the context's slots, and its history where it has one (history_bytes), in the segment's memory, which
 * is registered; its context is current.  True: context->slots and context->history are their addresses, and what the
 * GPU writes there was seen to arrive.  False: a note says why it does not, and nothing has changed. */
bool ring_map(struct shim_context *context);

/* Waits for one of our own streams, two seconds at most; NOT_READY = it is still busy. */
CUresult ring_await(CUstream stream);

#endif
