/* state.c - see state.h.  Reads: nothing.  Writes: nothing beside its own words. */
#include "state.h"

#include <pthread.h>

_Atomic int shim_state = SHIM_ASLEEP;
_Atomic bool shim_exiting;
SHIM_THREAD_LOCAL int shim_depth;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void shim_lock(void)
{
    pthread_mutex_lock(&lock);
}

void shim_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void shim_lock_renew(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
}
