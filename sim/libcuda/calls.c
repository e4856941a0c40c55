/* calls.c - functions of the program that are called in stream order (cuLaunchHostFunc, cuStreamAddCallback), on a
 * thread of their own: they may block, and must not call the driver.
 *
 * Reads: operations that queue.c began.  Writes: ends them, one after the other.
 */
#include <stdlib.h>

#include "libcuda/queue.h"

struct host_calls {
    pthread_t thread;
    pthread_cond_t work;
    struct operation *first, *last;
    const struct context *in; /* whose operation is being called */
};

static void call(const struct call_operation *call, CUresult state)
{
    if (call->callback)
        call->callback(call->stream, state, call->user);
    else if (state == CUDA_SUCCESS)
        call->function(call->user);
}

static void *calls_main(void *argument)
{
    struct host_calls *calls = argument;
    driver_forbid_calls();
    driver_lock();
    for (;;) {
        while (!calls->first)
            pthread_cond_wait(&calls->work, &driver.lock);
        struct operation *operation = calls->first;
        struct context *context = operation->stream->context;
        calls->first = operation->next_call;
        const CUresult state = context->failure;
        calls->in = context;
        driver_unlock();
        call(&operation->call, state);
        driver_lock();
        calls->in = NULL;
        operation_finish(operation);
    }
    return NULL;
}

static struct host_calls *calls_create(void)
{
    struct host_calls *calls = calloc(1, sizeof *calls);
    if (!calls)
        return NULL;
    pthread_cond_init(&calls->work, NULL);
    struct wsdbg_error *error = driver_thread("wsdbg-callbacks", calls_main, calls, &calls->thread);
    if (error) {
        driver_say_error("host functions", error);
        pthread_cond_destroy(&calls->work);
        free(calls);
        return NULL;
    }
    pthread_detach(calls->thread);
    return calls;
}

bool calls_start(void)
{
    if (!driver.calls)
        driver.calls = calls_create();
    return driver.calls != NULL;
}

void calls_add(struct operation *operation)
{
    struct host_calls *calls = driver.calls;
    if (calls->first)
        calls->last->next_call = operation;
    else
        calls->first = operation;
    calls->last = operation;
    operation->next_call = NULL;
    pthread_cond_signal(&calls->work);
}

static bool has_calls_of(const struct host_calls *calls, const struct context *context)
{
    if (calls->in == context)
        return true;
    for (const struct operation *operation = calls->first; operation; operation = operation->next_call)
        if (operation->stream->context == context)
            return true;
    return false;
}

void calls_finish(const struct context *context)
{
    while (driver.calls && has_calls_of(driver.calls, context))
        driver_wait();
}
