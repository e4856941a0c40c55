/* history_thread.c - copies event histories out of device memory when wsdbg asks.
 *
 * Reads:  segment->history_request (a futex word shared with wsdbg).
 * Writes: the mirrors, contexts[].history_copied, history_done.
 *
 * One detached thread, started with the first ring that has a history.  It takes no signals, is never joined,
 * and starts no driver call once exit() has begun or the app destroys the context.
 */
#include "shim.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define COPY_DEADLINE_NS 2000000000ull

static void futex_wait(uint32_t *word, uint32_t value)
{
    struct timespec limit = {1, 0};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool must_stop(struct shim_context *context)
{
    return atomic_load(&shim_exiting) || atomic_load(&context->closing) || atomic_load(&shim_state) != SHIM_ON;
}

/* NOT_READY when the deadline passed or the context is going away. */
static CUresult wait_copy(struct shim_context *context)
{
    uint64_t deadline = shim_now_ns() + COPY_DEADLINE_NS;
    CUresult result = CUDA_ERROR_NOT_READY;
    while (!must_stop(context) && shim_now_ns() < deadline) {
        result = shim_driver.cuStreamQuery(context->copy_stream);
        if (result != CUDA_ERROR_NOT_READY)
            break;
        shim_sleep_us(100);
    }
    return result;
}

static CUresult copy_in_context(struct shim_context *context)
{
    CUcontext popped;
    CUresult result = shim_driver.cuCtxPushCurrent_v2((CUcontext)(uintptr_t)atomic_load(&context->handle));
    if (result != CUDA_SUCCESS)
        return result;
    /* An earlier copy that missed its deadline must be over first. */
    result = must_stop(context) ? CUDA_ERROR_NOT_READY : shim_driver.cuStreamQuery(context->copy_stream);
    if (result == CUDA_SUCCESS)
        result = shim_driver.cuMemcpyDtoHAsync_v2(context->mirror, context->history, context->history_bytes,
                                                  context->copy_stream);
    if (result == CUDA_SUCCESS)
        result = wait_copy(context);
    if (!must_stop(context))
        shim_driver.cuCtxPopCurrent_v2(&popped);
    return result;
}

static void copy_history(uint32_t index, uint32_t request)
{
    struct shim_context *context = &shim_contexts[index];
    struct wsdbg_context_row *row = &atomic_load(&shim_segment)->contexts[index];
    if (atomic_load(&context->ring) != RING_READY || !context->history_bytes ||
        __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) != WSDBG_CONTEXT_ALIVE)
        return;
    atomic_fetch_add(&context->users, 1);
    if (!must_stop(context) && atomic_load(&context->handle)) {
        CUresult result = copy_in_context(context);
        if (result == CUDA_SUCCESS)
            __atomic_store_n(&row->history_copied, request, __ATOMIC_RELEASE);
        else if (result != CUDA_ERROR_NOT_READY)
            shim_note("the history of context %u cannot be copied (error %d)", index, result);
    }
    atomic_fetch_sub(&context->users, 1);
}

static void *serve(void *unused)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    (void)unused;
    shim_depth = 2; /* nothing that this thread does is the app's */
    while (!atomic_load(&shim_exiting) && atomic_load(&shim_state) == SHIM_ON) {
        uint32_t request = __atomic_load_n(&segment->history_request, __ATOMIC_ACQUIRE);
        if (request == __atomic_load_n(&segment->history_done, __ATOMIC_RELAXED)) {
            futex_wait(&segment->history_request, request);
            continue;
        }
        for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
            copy_history(i, request);
        __atomic_store_n(&segment->history_done, request, __ATOMIC_RELEASE);
        futex_wake(&segment->history_done);
    }
    return NULL;
}

void history_start(void)
{
    static _Atomic bool started;
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (atomic_exchange(&started, true) || pthread_attr_init(&attributes))
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&thread, &attributes, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (failed)
        shim_note("no history: its thread could not be started");
}
