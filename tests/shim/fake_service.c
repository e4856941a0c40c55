/* fake_service.c - a library with a thread function that waits in poll() as NCCL's do, for a program that tests whether
 * the observer knows it: built as libnccl.so.2 and under a name that nobody knows.
 */
#include <poll.h>

__attribute__((visibility("default"))) int WSDBG_SERVE(int (*also)(void), int milliseconds);

/* What it calls is no tail, so that it is the one to which poll() returns. */
int WSDBG_SERVE(int (*also)(void), int milliseconds)
{
    struct pollfd none = {.fd = -1, .events = POLLIN};
    volatile int ready = poll(&none, 1, milliseconds);
    return also ? also() + ready : ready;
}
