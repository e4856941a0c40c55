/* hooks_nccl.h - the wrappers of NCCL's functions. */
#ifndef WSDBG_SHIM_HOOKS_NCCL_H
#define WSDBG_SHIM_HOOKS_NCCL_H

#include "nccl_table.h"

/* dlsym gives these to the program.  They forward to the function that was found first. */
extern void *const nccl_wrapper[NCCL_HOOK_COUNT];
/* The functions that this library exports. */
extern void *const nccl_exported[NCCL_HOOK_COUNT];

#endif
