/* allocations.h - the memory that the program got from the driver: rows of the segment, and the driver's handles of
 * memory that is mapped.
 *
 * Every function is safe from any thread, takes the lock for a moment, and asks the driver nothing.
 */
#ifndef WSDBG_SHIM_ALLOCATIONS_H
#define WSDBG_SHIM_ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver_api.h"

struct shim_allocation {
    uint64_t address;
    uint64_t bytes; /* 0 = not known */
    uint32_t kind;  /* enum wsdbg_allocation_kind */
    uint32_t flags;
    uint32_t context;      /* row */
    uint32_t device;       /* WSDBG_UNKNOWN32 */
    uint32_t peer_devices; /* known when it is made */
    uint64_t memory;       /* the same in all mappings of one memory; 0 = none */
    const char *call;      /* a string that lives for ever */
    uint32_t call_number;
};

/* Memory was allocated or mapped.  What a row says to be at the same address is gone then. */
void allocations_add(const struct shim_allocation *allocation);
/* The newest allocation's number: what is freed by a call that begins now is no newer. */
uint64_t allocations_newest(void);
/* The memory that began at `address`, or, with `bytes`, all that lay in the range, was freed or unmapped. */
void allocations_freed(uint64_t address, uint64_t bytes, uint64_t newest);
/* Ordinary memory of a context that has ended. */
void allocations_end_context(uint32_t context);

/* Whom the program allows to write, by the driver's descriptions. */
struct allocation_writers {
    uint32_t peer_devices; /* bit n: device n, perhaps the one whose memory it is */
    bool host;
};
struct allocation_writers allocation_writers(const struct cu_memory_access *access, size_t count);
/* Memory that meets the range (bytes 0: holds the address): raises its flags, and lets more devices write it. */
void allocations_mark(uint64_t address, uint64_t bytes, uint32_t flags, uint32_t peer_devices);
/* Kernels of the device may write the ordinary memory of the context, now and later. */
void allocations_let_peer(uint32_t context, uint32_t device);
/* ... the memory of pools. */
void allocations_let_into_pools(uint32_t devices);

/* ---- handles of memory that is not, or not only, where it was mapped ---- */
/* A handle was made; of `made` where it is, and what stands for it, are left out. */
void allocation_handle_made(uint64_t handle, const struct shim_allocation *made);
/* The driver gave out the handle of the memory at `address` once more. */
void allocation_handle_retained(uint64_t handle, uint64_t address);
void allocation_handle_released(uint64_t handle);
/* What it stands for was given away; `more` flags say to whom. */
void allocation_handle_exported(uint64_t handle, uint32_t more);
/* The handle was mapped: `as` has address, bytes, context, and call and call_number of the mapping. */
void allocation_handle_mapped(uint64_t handle, const struct shim_allocation *as);

#endif
