/* wrapper_name.h - whether a function is, by its name, one that only wraps a barrier's or a copy's instruction. */
#ifndef WSDBG_BASE_WRAPPER_NAME_H
#define WSDBG_BASE_WRAPPER_NAME_H

#include <stdbool.h>

/* True of `cutlass::arch::ClusterBarrier::wait`, `cuda::ptx::mbarrier_try_wait`, a user's `mbarrier_wait` and the like,
 * mangled or plain:
 *  - all of the namespaces cute, cuda, std, cooperative_groups and cutlass::arch;
 *  - a member that waits, arrives, acquires, ... of a class named after a barrier, a pipeline or a semaphore;
 *  - a function whose own name has "mbar", "barrier_wait", "try_wait" or the like in it, and only words that go with
 * it. Names are compared word by word: "block" is no "lock".  "" and names that cannot be read are none.  A name alone
 * does not prove it: the caller asks for the function's size as well. */
bool wsdbg_is_wrapper_name(const char *symbol);
/* True of a function of wsdbg's own headers, whatever its size. */
bool wsdbg_is_own_name(const char *symbol);
/* Whether a function, by its name, waits or arrives: "wait_full", no "try_wait" and no "__cvta_generic_to_shared". */
bool wsdbg_is_waiting_name(const char *symbol);

#endif
