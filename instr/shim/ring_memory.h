/* ring_memory.h - memory of the GPU that outlives its context. */
#ifndef WSDBG_SHIM_RING_MEMORY_H
#define WSDBG_SHIM_RING_MEMORY_H

#include <stdint.h>

#include "driver_api.h"

/* Zeroed device memory for the ring of context row `row`, its context current: `bytes` that are read, and behind them
 * `behind_bytes` for the GPU alone.  kind: enum wsdbg_memory_kind. */
CUresult ring_memory_take(uint32_t row, uint32_t kind, uint64_t bytes, uint64_t behind_bytes, CUdeviceptr *address);
/* The context is gone: gives back what its end did not free. */
void ring_memory_release(uint32_t row);

#endif
