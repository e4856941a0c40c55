/* fault_uninitialised.h - an error at an arrival on an mbarrier that nobody initialises. */
#ifndef WSDBG_DIAGNOSE_FAULT_UNINITIALISED_H
#define WSDBG_DIAGNOSE_FAULT_UNINITIALISED_H

#include "diagnose/case.h"

/* Adds BARRIER_NOT_INIT if the warp was stopped at an arrival on a place in its CTA's shared memory, and by the walks
 * no thread of that CTA initialises an mbarrier there.  False: it was not, or nobody knows. */
bool wsdbg_say_uninitialised(struct wsdbg_case *c, const struct wsdbg_exception *exception);

#endif
