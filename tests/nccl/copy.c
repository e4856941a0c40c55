/* copy.c - a library with a function of NCCL that returns COPY.  With PASSES_ON it is a profiler in front of NCCL: it
 * adds COPY to the result of the next library's function. */
#include <dlfcn.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int ncclGroupStart(void);

EXPORT int ncclGroupStart(void)
{
#ifdef PASSES_ON
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "ncclGroupStart");
    return next ? COPY + next() : -1;
#else
    return COPY;
#endif
}
