/* copy_thread.h - copies of the rings for wsdbg. */
#ifndef WSDBG_SHIM_COPY_THREAD_H
#define WSDBG_SHIM_COPY_THREAD_H

/* Starts the thread that copies.  Once. */
void copies_start(void);

#endif
