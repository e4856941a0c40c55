/* markers.c - tells whether the work of a context gets done, for kernels that have no probes.
 *
 * Reads:  WSDBG_MARKERS; shim_contexts[].launched, which a launch sets.
 * Writes: the segment's marker rows; one event a context, put behind all of its streams.
 *
 * A launch costs one look at a flag: the events are put there four times a second at most by one detached thread, which
 * the app never waits for but as the copy thread (leaving a context) and while a capture begins.  While a stream is
 * captured nothing is put anywhere: the driver would spoil the capture (cuCtxRecordEvent, CUDA 12.5, says so); the row
 * says since when.  Nor while a launch blocks because its queue is full: the marker would wait for the same lock.
 */
#include "markers.h"

#include <stdlib.h>
#include <string.h>

#include "armed.h"
#include "captures.h"
#include "clock.h"
#include "contexts.h"
#include "debug_calls.h"
#include "libcuda.h"
#include "messages.h"
#include "own_threads.h"
#include "registry.h"
#include "segment.h"
#include "state.h"

enum { PERIOD_US = 250000, SOON_US = 20000, SOON_ROUNDS = 3, BLOCKED_NS = 2000000 };

/* Of a context row; the thread's own. */
struct marker {
    CUevent event;     /* NULL = not made yet */
    uint64_t given_ns; /* what its context had been given when it was put down */
    bool in_flight, failed;
};

static struct marker markers[WSDBG_CONTEXT_ROWS];

static bool must_stop(const struct shim_context *context)
{
    return atomic_load(&shim_exiting) || atomic_load(&context->closing) || atomic_load(&shim_state) != SHIM_ON;
}

static void store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Work is there that a capture in progress keeps from being followed. */
static void say_kept_out(uint32_t index)
{
    struct wsdbg_marker_row *row = &atomic_load(&shim_segment)->markers[index];
    if (__atomic_load_n(&row->kept_out_ns, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&row->state, WSDBG_MARKER_STARTED, __ATOMIC_RELEASE);
    store(&row->kept_out_ns, shim_now_ns());
}

static void say_followed(struct wsdbg_marker_row *row)
{
    __atomic_store_n(&row->state, WSDBG_MARKER_WORKS, __ATOMIC_RELEASE);
    store(&row->kept_out_ns, 0);
}

/* No marker in this context any more.  What ended the context is not trouble of ours. */
static void fail(uint32_t index, CUresult result)
{
    struct wsdbg_marker_row *row = &atomic_load(&shim_segment)->markers[index];
    markers[index].failed = true;
    markers[index].in_flight = false;
    store(&row->recorded_ns, 0);
    store(&row->kept_out_ns, 0);
    __atomic_store_n(&row->state, WSDBG_MARKER_FAILED, __ATOMIC_RELEASE);
    if (contexts_ended_by(result))
        contexts_check(result);
    else
        shim_note("whether the work of context %u gets done cannot be seen (error %d)", index, result);
}

/* The context is current.  Harmless also while a stream is captured: on an H200 (driver 580) the answer was right and
 * the capture ended well in each of its three modes. */
static void look(uint32_t index)
{
    struct wsdbg_marker_row *row = &atomic_load(&shim_segment)->markers[index];
    CUresult result = shim_driver.cuEventQuery(markers[index].event);
    const uint64_t now_ns = shim_now_ns();
    if (result == CUDA_SUCCESS) {
        markers[index].in_flight = false;
        store(&row->done_launches, row->launches);
        store(&atomic_load(&shim_segment)->given[index].done_given_ns, markers[index].given_ns);
        store(&row->done_ns, now_ns);
        store(&row->recorded_ns, 0);
        say_followed(row);
    } else if (result == CUDA_ERROR_NOT_READY) {
        store(&row->checked_ns, now_ns);
        say_followed(row);
    } else if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) {
        say_kept_out(index);
    } else {
        fail(index, result);
    }
}

/* Asks for the flag before it puts the marker down: a launch in between is behind the next one. */
static void put(uint32_t index)
{
    struct shim_context *context = &shim_contexts[index];
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    struct wsdbg_marker_row *row = &segment->markers[index];
    struct marker *marker = &markers[index];
    CUresult result = marker->event ? CUDA_SUCCESS : shim_driver.cuEventCreate(&marker->event, CU_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS) {
        marker->event = NULL;
        fail(index, result);
        return;
    }
    atomic_store(&context->launched, false);
    const uint64_t launches = __atomic_load_n(&segment->launch_count, __ATOMIC_ACQUIRE), now_ns = shim_now_ns();
    marker->given_ns = __atomic_load_n(&segment->given[index].given_ns, __ATOMIC_ACQUIRE);
    result = shim_driver.cuCtxRecordEvent((CUcontext)(uintptr_t)atomic_load(&context->handle), marker->event);
    if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) {
        atomic_store(&context->launched, true);
        say_kept_out(index);
    } else if (result != CUDA_SUCCESS) {
        fail(index, result);
    } else {
        marker->in_flight = true;
        store(&row->launches, launches);
        store(&row->checked_ns, 0);
        say_followed(row);
        store(&row->recorded_ns, now_ns);
    }
}

/* The context is current. */
static void put_next(uint32_t index)
{
    if (!captures_marking_begin()) {
        say_kept_out(index);
        return;
    }
    if (!registry_launch_is_blocked(shim_now_ns() - BLOCKED_NS))
        put(index);
    captures_marking_end();
}

/* While an inspector is attached the GPU may stand still by its will. */
static bool may_visit(uint32_t index)
{
    const struct wsdbg_context_row *row = &atomic_load(&shim_segment)->contexts[index];
    return !markers[index].failed && !debug_attach_keeps_out() &&
           __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) == WSDBG_CONTEXT_ALIVE;
}

static void visit(uint32_t index, void (*step)(uint32_t index))
{
    struct shim_context *context = &shim_contexts[index];
    if (!may_visit(index))
        return;
    atomic_fetch_add(&context->users, 1);
    struct wsdbg_marker_row *row = &atomic_load(&shim_segment)->markers[index];
    const uint64_t handle = must_stop(context) || debug_attach_keeps_out() ? 0 : atomic_load(&context->handle);
    store(&row->inside_ns, shim_now_ns()); /* the driver may keep us while a call of the program waits for the GPU */
    if (handle && shim_driver.cuCtxPushCurrent_v2((CUcontext)(uintptr_t)handle) == CUDA_SUCCESS) {
        CUcontext popped;
        step(index);
        shim_driver.cuCtxPopCurrent_v2(&popped); /* who destroys the context waits for us, for a while */
    }
    store(&row->inside_ns, 0);
    atomic_fetch_sub(&context->users, 1);
}

/* All that are under way are asked before one is put down: that may keep us in the driver for as long as a kernel runs.
 */
static void visit_all(void)
{
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        if (markers[i].in_flight)
            visit(i, look);
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        if (!markers[i].in_flight && atomic_load(&shim_contexts[i].launched))
            visit(i, put_next);
}

/* An event that is in flight says nothing of the time when somebody watches.  A new one is recorded then. */
static void forget_flights(void)
{
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++) {
        if (!markers[i].in_flight)
            continue;
        markers[i].in_flight = false;
        store(&atomic_load(&shim_segment)->markers[i].recorded_ns, 0);
        atomic_store(&shim_contexts[i].launched, true);
    }
}

/* A wsdbg that has just come waits for an answer, so the first rounds are short. */
static void *serve(void *unused)
{
    unsigned soon = 0;
    (void)unused;
    shim_thread_is_ours();
    captures_do_not_disturb();
    while (!atomic_load(&shim_exiting) && atomic_load(&shim_state) == SHIM_ON) {
        if (armed_is_unwatched()) {
            forget_flights();
            armed_await_watcher();
            soon = SOON_ROUNDS;
        }
        visit_all();
        shim_sleep_us(soon ? SOON_US : PERIOD_US);
        soon -= soon > 0;
    }
    return NULL;
}

static bool are_wanted(void)
{
    const char *wanted = getenv(WSDBG_ENV_MARKERS);
    return (armed_is_on() || (wanted && strcmp(wanted, "1") == 0)) && shim_driver.cuEventCreate &&
           shim_driver.cuEventQuery && shim_driver.cuCtxRecordEvent;
}

void markers_start(void)
{
    static _Atomic bool started;
    if (atomic_load(&started) || atomic_exchange(&started, true) || !are_wanted())
        return;
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        __atomic_store_n(&atomic_load(&shim_segment)->markers[i].state, WSDBG_MARKER_STARTED, __ATOMIC_RELEASE);
    if (!shim_start_thread(serve))
        shim_note("whether work gets done cannot be seen: its thread could not be started");
}
