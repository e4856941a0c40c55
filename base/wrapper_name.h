/* wrapper_name.h - whether a function is, by its name, one that only wraps a barrier's or a copy's instruction. */
#ifndef WSDBG_BASE_WRAPPER_NAME_H
#define WSDBG_BASE_WRAPPER_NAME_H

#include <stdbool.h>

/* Whether a name, mangled or plain, is that of a wrapper.  `cutlass::arch::ClusterBarrier::wait`,
 * `cuda::ptx::mbarrier_try_wait` and a user's `mbarrier_wait` are.  There are three cases:
 *  - The function is in the namespace cute, cuda, std, cooperative_groups or cutlass::arch.
 *  - It is a member that waits, arrives, acquires, ... of a class named after a barrier, a pipeline or a semaphore.
 *  - Its own name contains "mbar", "barrier_wait", "try_wait" or the like, and otherwise only words that go with it.
 * Names are compared word by word: "block" does not contain "lock".  "" and names that cannot be read are no wrappers.
 * The name alone does not prove that a function is a wrapper: the caller must check its size too. */
bool wsdbg_is_wrapper_name(const char *symbol);
/* Whether a function is one of wsdbg's own headers.  Such a function is a wrapper, however large it is. */
bool wsdbg_is_own_name(const char *symbol);
/* Whether a function, by its name, waits or arrives: "wait_full", no "try_wait" and no "__cvta_generic_to_shared". */
bool wsdbg_is_waiting_name(const char *symbol);

#endif
