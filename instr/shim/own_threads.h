/* own_threads.h - threads of the library's own, and how it sleeps. */
#ifndef WSDBG_SHIM_OWN_THREADS_H
#define WSDBG_SHIM_OWN_THREADS_H

#include <stdbool.h>

/* Sleeps `us` microseconds; errno is kept. */
void shim_sleep_us(unsigned us);
/* Starts a detached thread that takes no signals.  When `serve` returns it is parked for ever. */
bool shim_start_thread(void *(*serve)(void *));
/* Such a thread's first call: nothing that it does is the app's, and its name says so. */
void shim_thread_is_ours(void);
/* Makes all of them park, and waits for that, 0.3 s at most. */
void shim_park_threads(void);
/* In a forked child: they are its parent's. */
void shim_threads_forget(void);

#endif
