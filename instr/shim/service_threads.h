/* service_threads.h - threads of libraries that never give a kernel what it waits for. */
#ifndef WSDBG_SHIM_SERVICE_THREADS_H
#define WSDBG_SHIM_SERVICE_THREADS_H

#include <stdbool.h>

#include "host_call.h"

/* Whether a thread of that name in that call counts as blocked: it is a library's own thread, which waits and never
 * gives a kernel what it waits for.  Called by one thread at a time. */
bool service_thread_is_blocked(const char *name, const struct host_call *call);

#endif
