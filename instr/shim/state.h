/* state.h - whether the library records, whether this thread is inside a call, and the one lock.
 *
 * Words that every part reads; a change is announced to no part.
 */
#ifndef WSDBG_SHIM_STATE_H
#define WSDBG_SHIM_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "shim.h"

enum shim_state {
    SHIM_ASLEEP = 0, /* no session: forward only */
    SHIM_AWAKE = 1,  /* a session, no segment yet */
    SHIM_ON = 2,     /* recording */
    SHIM_OFF = 3,    /* switched itself off: forward only */
    SHIM_ASIDE = 4,  /* will have to, at the first use of CUDA */
};
extern _Atomic int shim_state;
extern _Atomic bool shim_exiting; /* exit() has begun: no new driver calls of our own */

/* Above zero while this thread is inside a hooked driver call or one of ours: nested calls are not recorded. */
extern SHIM_THREAD_LOCAL int shim_depth;

/* A lock that is never held across a driver call. */
void shim_lock(void);
void shim_unlock(void);
/* In a forked child: whoever held it is not there. */
void shim_lock_renew(void);

#endif
