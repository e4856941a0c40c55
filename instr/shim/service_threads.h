/* service_threads.h - threads of libraries that never give a kernel what it waits for. */
#ifndef WSDBG_SHIM_SERVICE_THREADS_H
#define WSDBG_SHIM_SERVICE_THREADS_H

#include <stdbool.h>

#include "host_call.h"

/* Whether a thread of that name in that call is such a thread, and waits.  Called by one thread at a time. */
bool service_thread_waits(const char *name, const struct host_call *call);

#endif
