/* memory.h - what memory there is: of the contexts' devices, and of the host where kernels may use it.
 *
 * All with the lock held.
 */
#ifndef WSDBG_LIBCUDA_MEMORY_H
#define WSDBG_LIBCUDA_MEMORY_H

#include "libcuda/driver.h"

#define MEMORY_DEVICE_BYTES (4ull << 30)

struct memory_place {
    struct context *context;  /* of device memory */
    struct host_memory *host; /* of memory that is the host's to the program, else NULL */
    uint64_t first, byte_count;
    bool is_managed;
    struct pool *pool;
};

/* The allocation that holds all of [address, +byte_count), false when none does. */
bool memory_find(uint64_t address, uint64_t byte_count, struct memory_place *out);
bool memory_is_known(uint64_t address, uint64_t byte_count);

CUresult memory_allocate(struct context *context, uint64_t byte_count, CUdeviceptr *out);
/* The same, and notes that it is of the pool; NULL = of none, but managed. */
CUresult memory_allocate_noted(struct context *context, size_t byte_count, struct pool *pool, CUdeviceptr *out);
/* At once, whatever uses it. */
void memory_free(struct context *context, uint64_t address);
/* Forgets what was noted of allocations: the context ends. */
void memory_forget_notes(struct context *context);
/* The pool that cuMemAllocAsync takes from. */
CUresult pool_current(struct pool **out);
/* Memory of the pool is allocated, or given back. */
void pool_count(struct pool *pool, int64_t byte_count);

/* Memory of the host for all devices, also those that are made later; and not any longer. */
CUresult host_memory_add(void *address, size_t byte_count, unsigned flags, enum host_memory_kind kind);
void host_memory_remove(void *address);
/* The memory that begins there; NULL = none does. */
const struct host_memory *host_memory_find(const void *address);
/* In a forked process: what it shares with others of the host memory that kernels may use becomes its own; the first of
 * what was registered, the second of what cuMemMap mapped. */
bool host_memory_make_own(void);
bool mappings_make_own(void);
/* Whether other processes may have the memory at the address: it can be exported (cuMemExportToShareableHandle), or was
 * the program's before it was registered (cuMemHostRegister). */
bool memory_can_be_shared(uint64_t address);
/* Host memory that was there before the device. */
struct wsdbg_error *host_memory_map_all(struct wsdbg_gpu *gpu);

#endif
