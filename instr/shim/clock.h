/* clock.h - the time by which everything in the segment is stamped, and the number of the thread that asks. */
#ifndef WSDBG_SHIM_CLOCK_H
#define WSDBG_SHIM_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC. */
uint64_t shim_now_ns(void);
/* As the kernel numbers threads; asked for once a thread. */
uint32_t shim_thread_id(void);

#endif
