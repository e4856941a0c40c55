/* app_threads.c - a program that waits for a kernel that hangs, beside a thread that does as it is asked.
 *
 *   app_threads - OTHER     OTHER = none | sleeps | used-and-sleeps | waits-for-another | reads | named-as-driver
 *                                   | polls-as-driver | waits-for-a-process | joins | serves-in-nccl | serves-elsewhere
 *                                   | called-by-nccl | was-in-nccl | watches | watches-asleep | wakes-often
 *                                   | serves-store | waits-for-events
 *
 * It is ended by a signal.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fake_calls.h"
#include "fake_cuda.h"

#define X(name, exported, types) extern CUresult exported types;
FAKE_CALLS(X)
#undef X

static const char *other;
static CUcontext context;
static CUfunction kernel;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, shared;
static pthread_t first;

int serve_in_nccl(int (*also)(void), int milliseconds);
int serve_elsewhere(int (*also)(void), int milliseconds);

static void must(int result)
{
    if (result)
        exit(98);
}

static int is_other(const char *name)
{
    return strcmp(other, name) == 0;
}

static void launch(void)
{
    must(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
}

/* The call is not the last thing it does, so that it is the one to which poll() returns. */
static int poll_here(void)
{
    volatile int ready = poll(NULL, 0, 1000000);
    return ready + 1;
}

static void wait_for_a_time(void)
{
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct timespec until;
    must(clock_gettime(CLOCK_REALTIME, &until));
    until.tv_sec += 1000;
    must(pthread_mutex_lock(&lock));
    while (pthread_cond_timedwait(&never, &lock, &until) == 0)
        continue;
}

static void wait_for_events(void)
{
    struct epoll_event event;
    const int events = epoll_create1(EPOLL_CLOEXEC);
    must(events < 0);
    must(epoll_wait(events, &event, 1, -1) != 0);
}

static int is_service(void)
{
    if (is_other("serves-in-nccl"))
        serve_in_nccl(NULL, 1000000);
    else if (is_other("serves-elsewhere"))
        serve_elsewhere(NULL, 1000000);
    else if (is_other("called-by-nccl"))
        serve_in_nccl(poll_here, 1);
    else if (is_other("was-in-nccl"))
        return serve_in_nccl(NULL, 1) + poll_here();
    else if (is_other("watches"))
        wait_for_a_time();
    else if (is_other("watches-asleep"))
        sleep(1000);
    else if (is_other("serves-store") || is_other("waits-for-events"))
        wait_for_events();
    else
        return 0;
    return 1;
}

#ifndef sigev_notify_thread_id /* older glibc has no name for it */
#define sigev_notify_thread_id _sigev_un._tid
#endif

static void do_nothing(int number)
{
    (void)number;
}

/* This thread gets a signal each millisecond. */
static void begin_signals(void)
{
    struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    const struct itimerspec often = {.it_interval.tv_nsec = 1000000, .it_value.tv_nsec = 1000000};
    timer_t timer;
    event.sigev_notify_thread_id = (int)syscall(SYS_gettid);
    must(sigaction(SIGUSR1, &action, NULL));
    must(timer_create(CLOCK_MONOTONIC, &event, &timer));
    must(timer_settime(timer, 0, &often, NULL));
}

static void *be_another(void *unused)
{
    char byte;
    if (is_other("used-and-sleeps")) {
        must(cuCtxSetCurrent(context));
        launch();
    }
    if (is_other("named-as-driver") || is_other("polls-as-driver"))
        pthread_setname_np(pthread_self(), "cuda00006000019");
    if (is_other("watches") || is_other("watches-asleep"))
        pthread_setname_np(pthread_self(), "pt_nccl_watchdg");
    if (is_other("serves-store"))
        pthread_setname_np(pthread_self(), "pt_tcpstore_uv");
    if (is_service())
        return unused;
    if (is_other("wakes-often"))
        begin_signals();
    if (is_other("waits-for-another") || is_other("wakes-often"))
        pthread_mutex_lock(&held);
    else if (is_other("waits-for-a-process"))
        pthread_mutex_lock(&shared);
    else if (is_other("joins"))
        pthread_join(first, NULL);
    else if (is_other("polls-as-driver"))
        poll(NULL, 0, 1000000);
    else if (is_other("reads"))
        must(read(0, &byte, 1) < 0);
    else
        sleep(1000);
    return unused;
}

/* Another process that has the mutex mapped could unlock it. */
static void hold_shared(void)
{
    pthread_mutexattr_t attributes;
    must(pthread_mutexattr_init(&attributes));
    must(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
    must(pthread_mutex_init(&shared, &attributes));
    must(pthread_mutex_lock(&shared));
}

int main(int argc, char **argv)
{
    CUmodule module;
    pthread_t thread;
    must(argc != 3);
    other = argv[2];
    must(cuInit(0));
    must(cuCtxCreate_v4(&context, NULL, 0, 0));
    must(cuModuleLoadData(&module, FAKE_PLAIN_IMAGE));
    must(cuModuleGetFunction(&kernel, module, "hang"));
    launch();
    pthread_mutex_lock(&held);
    hold_shared();
    first = pthread_self();
    if (!is_other("none"))
        must(pthread_create(&thread, NULL, be_another, NULL));
    puts("waits");
    fflush(stdout);
    must(cuCtxSynchronize());
    return 0;
}
