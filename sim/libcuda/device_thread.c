/* device_thread.c - the thread of a context: executes its kernels and begins what waits behind them.
 *
 * It sleeps when there is nothing to do, also when all that is left is a proven deadlock: a hung program costs no
 * processor time.  Warps that poll memory which the host could write are looked at again every few milliseconds.
 */
#include <time.h>

#include "wsdbg/session.h"

#include "libcuda/explore.h"
#include "libcuda/queue.h"
#include "libcuda/races.h"
#include "libcuda/state_file.h"

enum { POLL_FIRST_NS = 500000, POLL_LAST_NS = 16000000 };

enum { SLICE_LONG_NS = 300000000 };

enum idle { IDLE_NONE, IDLE_POLL, IDLE_UNTIL_KICKED };

/* Called during a slice.  Only a long slice counts as work, such as one with many matrix operations: a short one may
 * only look again at warps that poll. */
static void works(void *argument)
{
    struct context *const context = argument;
    if (explore_now_ns() - context->slice_began_ns >= SLICE_LONG_NS)
        state_file_works(context);
}

/* Executes for a while; what the thread may do next. */
static enum idle run_slice(struct context *context)
{
    const uint64_t kicks = context->kicks;
    driver_unlock();
    context->slice_began_ns = explore_now_ns();
    const enum wsdbg_gpu_outcome outcome = wsdbg_gpu_run(context->gpu, DEVICE_SLICE_INSTRUCTIONS);
    races_tell(context->gpu, &context->races_told);
    driver_lock();
    queue_collect(context);
    /* The proof does not know of a kernel that was submitted meanwhile. */
    context->is_deadlocked = outcome == WSDBG_GPU_DEADLOCK && kicks == context->kicks;
    if (outcome == WSDBG_GPU_DEADLOCK || outcome == WSDBG_GPU_STALLED)
        state_file_publish(context, outcome);
    else
        state_file_withdraw(context);
    if (outcome == WSDBG_GPU_FAULT)
        state_file_publish_fault(context);
    if (outcome == WSDBG_GPU_BUDGET)
        state_file_works(context);
    explore_stands(context, outcome);
    if (outcome == WSDBG_GPU_FAULT || context->failure)
        context_fail(context, CUDA_ERROR_LAUNCH_FAILED);
    if (outcome == WSDBG_GPU_STALLED)
        return IDLE_POLL;
    return outcome == WSDBG_GPU_BUDGET ? IDLE_NONE : IDLE_UNTIL_KICKED;
}

static bool waits_for_value(const struct context *context)
{
    for (const struct stream *stream = context->streams; stream; stream = stream->next)
        if (stream->first && stream->first->kind == OPERATION_WAIT_VALUE)
            return true;
    return false;
}

static void sleep_idle(struct context *context, enum idle how, long *poll_ns)
{
    if (how == IDLE_UNTIL_KICKED && !waits_for_value(context)) {
        pthread_cond_wait(&context->work, &driver.lock);
        *poll_ns = POLL_FIRST_NS;
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += *poll_ns;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    *poll_ns = *poll_ns < POLL_LAST_NS ? 2 * *poll_ns : POLL_LAST_NS;
    pthread_cond_timedwait(&context->work, &driver.lock, &until);
}

static void *device_main(void *argument)
{
    struct context *context = argument;
    long poll_ns = POLL_FIRST_NS;
    wsdbg_gpu_on_work(context->gpu, works, context);
    driver_lock();
    while (!context->is_stopping) {
        const uint64_t kicks = context->kicks;
        enum idle next = IDLE_UNTIL_KICKED;
        queue_begin(context);
        /* A warp that polls two barriers in turn would record its polls again, and wsdbg would see it move. */
        if (context->running && !context->failure && !context->is_deadlocked)
            next = run_slice(context);
        if (next == IDLE_NONE)
            poll_ns = POLL_FIRST_NS;
        else if (kicks == context->kicks && !context->is_stopping)
            sleep_idle(context, next, &poll_ns);
    }
    driver_unlock();
    return NULL;
}

struct wsdbg_error *device_thread_start(struct context *context)
{
    return driver_thread(WSDBG_THREAD_SIMULATOR, device_main, context, &context->thread);
}

void device_thread_stop(struct context *context)
{
    context->is_stopping = true;
    queue_kick(context);
    driver_unlock();
    pthread_join(context->thread, NULL);
    driver_lock();
}
