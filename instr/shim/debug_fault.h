/* debug_fault.h - gives a program the error of its kernel that an attached inspector has made the driver forget. */
#ifndef WSDBG_SHIM_DEBUG_FAULT_H
#define WSDBG_SHIM_DEBUG_FAULT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "driver_api.h"

/* Makes ready, in each context, what brings an error again: in a context that had one nothing can be loaded any more.
 * On a thread of ours, while calls wait and no context has work; some 20 ms a context, once.  False: it cannot be had. */
bool debug_fault_prepare(void);
/* An exception has stopped the kernels of the context (0 = not known: the only one); `exception` as the debug interface
 * numbers it.  From now on no call that waits says that all went well. */
void debug_fault_meet(uint32_t exception, uint64_t context);
/* Nobody is attached any more: makes the driver find the error again.  On a thread of ours; some 0.1 s. */
void debug_fault_give_back(void);
/* True from the first such exception on. */
extern _Atomic bool debug_fault_met;
/* The result of a call that waited: what it would have been without the inspector.  It waits until that is known, 20 s
 * at most: a load from a bad address took the driver 4 s. */
CUresult debug_fault_result(CUresult result);
/* In a forked child. */
void debug_fault_forget(void);

#endif
