/* stand_aside.c - the observer makes no system call of its own any more in a program that limits its own (seccomp).
 *
 * Reads:  /proc/thread-self/status at the first use of CUDA, WSDBG_FILTERS.
 * Writes: $WSDBG_SPOOL/<pid>.off.
 *
 * A filter may end the process for a call that nobody but the observer makes, on any of its threads.
 */
#include "stand_aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wsdbg/session.h"
#include "debug_attach.h"
#include "messages.h"
#include "own_files.h"
#include "own_threads.h"
#include "state.h"

static _Atomic pid_t process; /* which this is, as far as fork() tells: not in a child that vfork() made */
static char *told;            /* WSDBG_TEXT_BYTES of the reason's file, to be filled without a system call */
static const char limits_words[] = "the program limits its own system calls (seccomp): not observing it from there on";

/* The reason's file, of zeros: whether there will be anything to be said is not known yet. */
static void prepare_reason(void)
{
    struct shim_signals signals;
    shim_signals_off(&signals);
    const int fd = shim_open_reason(O_RDWR);
    void *memory = MAP_FAILED;
    if (fd >= 0 && posix_fallocate(fd, 0, WSDBG_TEXT_BYTES) == 0)
        memory = mmap(NULL, WSDBG_TEXT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    told = memory != MAP_FAILED ? memory : NULL;
    shim_signals_on(&signals);
}

/* Its first use of CUDA: whatever the filter allows, this is no system call. */
void stand_aside_tell(void)
{
    if (atomic_exchange(&shim_state, SHIM_OFF) == SHIM_ASIDE && told)
        memcpy(told, limits_words, sizeof limits_words);
}

void shim_stand_aside(void)
{
    const int kept = errno;
    int awake = SHIM_AWAKE;
    if (atomic_load(&process) != getpid())
        return;
    if (atomic_load(&shim_state) == SHIM_ON) {
        atomic_store(&shim_exiting, true);
        debug_attach_stop();
        shim_off("%s", limits_words);
        shim_park_threads();
    } else if (atomic_compare_exchange_strong(&shim_state, &awake, SHIM_ASIDE)) {
        prepare_reason();
    }
    errno = kept;
}

void stand_aside_is_process(void)
{
    atomic_store(&process, getpid());
}

/* A filter that the program was started with, or one that it got without the C library.  To look takes calls that the
 * driver makes as well when it starts. */
bool stand_aside_is_limited(void)
{
    static const char key[] = "\nSeccomp_filters:";
    char text[4096];
    const char *before = getenv(WSDBG_ENV_FILTERS);
    const char *line =
        before && *before && shim_read_text("/proc/thread-self/status", text, sizeof text) ? strstr(text, key) : NULL;
    return line && strtol(line + sizeof key - 1, NULL, 10) > strtol(before, NULL, 10);
}
