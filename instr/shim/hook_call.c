/* hook_call.c - see hook_call.h.
 *
 * Reads:  the current context.  Writes: the calling thread's row, the state of a context that an error has ended.
 */
#include "hook_call.h"

#include <errno.h>

#include "clock.h"
#include "contexts.h"
#include "libcuda.h"
#include "life_cycle.h"
#include "registry.h"

bool hook_enter_first(void)
{
    int kept = errno;
    bool on = shim_recording();
    errno = kept;
    return on;
}

void hook_failed(CUresult result)
{
    int kept = errno;
    contexts_check(result);
    errno = kept;
}

void hook_begin_wait(bool on, enum wsdbg_hook_id id)
{
    int kept = errno;
    if (on)
        registry_thread_enter(hook_name[id], contexts_current(), WSDBG_UNKNOWN64, shim_now_ns());
    errno = kept;
}

void hook_end_wait(bool on)
{
    if (on)
        registry_thread_leave();
}
