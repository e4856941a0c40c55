/* other_observer.c - another preloaded observer: it counts calls of ncclGroupStart and forwards each to the next
 * function of that name. */
#include <dlfcn.h>

int ncclGroupStart(void);
extern int other_observer_calls;

__attribute__((visibility("default"))) int other_observer_calls;

__attribute__((visibility("default"))) int ncclGroupStart(void)
{
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "ncclGroupStart");
    other_observer_calls++;
    volatile int result = next && other_observer_calls < 10 ? next() : 7; /* no tail call: the caller is this library */
    return result;
}
