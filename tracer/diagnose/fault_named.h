/* fault_named.h - an error at a named barrier: its uses name different numbers of threads. */
#ifndef WSDBG_DIAGNOSE_FAULT_NAMED_H
#define WSDBG_DIAGNOSE_FAULT_NAMED_H

#include "diagnose/case.h"

/* Adds NAMED_COUNT if the warp was stopped at a use of a named barrier, and other threads of its CTA name another
 * number of threads there.  False: it was not, or nobody knows. */
bool wsdbg_say_named_counts(struct wsdbg_case *c, const struct wsdbg_exception *exception);

#endif
