/* clock.c - see clock.h.  Reads: the kernel's clock and the thread's number.  Writes: nothing. */
#include "clock.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

uint64_t shim_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint32_t shim_thread_id(void)
{
    static SHIM_THREAD_LOCAL uint32_t id;
    if (id == 0)
        id = (uint32_t)syscall(SYS_gettid);
    return id;
}
