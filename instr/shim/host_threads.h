/* host_threads.h - whether the program's threads go on while one waits for the GPU. */
#ifndef WSDBG_SHIM_HOST_THREADS_H
#define WSDBG_SHIM_HOST_THREADS_H

#include <stdbool.h>

#include "wsdbg/session.h"

/* Starts the thread that follows the program's own ones while some of them wait.  Once. */
void host_threads_start(void);
/* Whether a thread is blocked.  name: the text of its file comm in /proc, without the end of line.  call_text: that of
 * its file syscall. */
bool host_thread_is_blocked(const char *name, const char *call_text);

#endif
