/* own_threads.c - the observer's own threads, and its waits: nothing but futex calls, which the C library makes too.
 *
 * Reads:  nothing.  Writes: the names of its threads.
 *
 * A thread that has done its work, or is to do no more, is parked: it waits on a futex that nobody wakes.  It does not
 * end, because the C library makes other calls then.  It may also give back the stacks of other threads, which TSan
 * takes for a race.
 */
#include "own_threads.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "armed.h"
#include "sanitizers.h"
#include "segment.h"
#include "state.h"

/* A thread that is late would make a call which ends the program: on a busy machine writing to a file takes long. */
enum { PARK_MOST_US = 2000000, PARK_LOOK_US = 500 };

static SHIM_THREAD_LOCAL bool is_ours;
static _Atomic uint32_t never;     /* a word that nobody changes */
static _Atomic uint32_t must_park; /* 1: our threads are to park */
static _Atomic int at_work;        /* threads of ours that are not parked yet */

static void wait_on(_Atomic uint32_t *word, const struct timespec *most)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, most, NULL, 0);
}

static void park(void)
{
    atomic_fetch_sub(&at_work, 1);
    for (;;)
        wait_on(&never, NULL);
}

void shim_sleep_us(unsigned us)
{
    int kept = errno;
    struct timespec wait = {us / 1000000u, (long)(us % 1000000u) * 1000};
    wait_on(is_ours ? &must_park : &never, &wait);
    if (is_ours && atomic_load(&must_park))
        park();
    errno = kept;
}

void shim_thread_is_ours(void)
{
    shim_depth = 2;
    prctl(PR_SET_NAME, WSDBG_THREAD_OBSERVER);
}

static void *serve_to_the_end(void *serve)
{
    is_ours = true;
    sanitizers_ignore_begin();
    ((void *(*)(void *))serve)(NULL);
    sanitizers_ignore_end();
    park();
    return NULL;
}

bool shim_start_thread(void *(*serve)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    atomic_fetch_add(&at_work, 1); /* before the look: shim_park_threads must see this thread, or it must not start */
    if (atomic_load(&must_park) || pthread_attr_init(&attributes)) {
        atomic_fetch_sub(&at_work, 1);
        return false;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, &attributes, serve_to_the_end, (void *)serve);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed)
        atomic_fetch_sub(&at_work, 1);
    return !failed;
}

void shim_park_threads(void)
{
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    atomic_store(&must_park, 1);
    syscall(SYS_futex, &must_park, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    armed_wake();
    if (segment)
        syscall(SYS_futex, &segment->history_request, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    for (int waited_us = 0; waited_us < PARK_MOST_US && atomic_load(&at_work) > 0; waited_us += PARK_LOOK_US)
        shim_sleep_us(PARK_LOOK_US);
}

void shim_threads_forget(void)
{
    atomic_store(&at_work, 0);
}
