/* copy_thread.c - copies slots and event histories out of device memory when wsdbg looks or asks.  A ring that the GPU
 * maps needs no copy.
 *
 * Reads:  segment->history_request (a futex word shared with wsdbg) and slots_request.
 * Writes: the mirrors, contexts[].slots_copied_ns and history_copied, slots_done, history_done.
 *
 * One detached thread, started with the first ring.  It takes no signals, is never joined, and starts no driver
 * call once exit() has begun or the app destroys the context.  While nobody looks it only wakes up and sleeps.
 */
#include "copy_thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "armed.h"
#include "captures.h"
#include "clock.h"
#include "contexts.h"
#include "debug_calls.h"
#include "libcuda.h"
#include "messages.h"
#include "own_threads.h"
#include "segment.h"
#include "state.h"

#define COPY_DEADLINE_NS 2000000000ull
#define LOOK_PERIOD_NS 20000000

static void futex_wait(uint32_t *word, uint32_t value)
{
    struct timespec limit = {.tv_nsec = LOOK_PERIOD_NS};
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

/* One copy to its end; the stream must be idle, since an earlier copy may have missed its deadline. */
static CUresult copy_out(struct shim_context *context, void *mirror, void *landing, CUdeviceptr from, uint64_t bytes)
{
    CUresult result = must_stop(context) ? CUDA_ERROR_NOT_READY : shim_driver.cuStreamQuery(context->copy_stream);
    if (result == CUDA_SUCCESS)
        result = shim_driver.cuMemcpyDtoHAsync_v2(landing, from, bytes, context->copy_stream);
    if (result == CUDA_SUCCESS)
        result = wait_copy(context);
    if (result == CUDA_SUCCESS && landing != mirror)
        memcpy(mirror, landing, bytes);
    return result;
}

/* Slots first: a history that is newer than the slot still holds the slot's event, not the other way round. */
static CUresult copy_in_context(struct shim_context *context, struct wsdbg_context_row *row, const uint32_t *request)
{
    CUcontext popped;
    CUresult result = shim_driver.cuCtxPushCurrent_v2((CUcontext)(uintptr_t)atomic_load(&context->handle));
    if (result != CUDA_SUCCESS)
        return result;
    const uint64_t started_ns = shim_now_ns();
    result = copy_out(context, context->slots_mirror, context->slots_landing, context->slots, context->slots_bytes);
    if (result == CUDA_SUCCESS)
        __atomic_store_n(&row->slots_copied_ns, started_ns, __ATOMIC_RELEASE);
    if (result == CUDA_SUCCESS && request && context->history_bytes) {
        result = copy_out(context, context->mirror, context->history_landing, context->history, context->history_bytes);
        if (result == CUDA_SUCCESS)
            __atomic_store_n(&row->history_copied, *request, __ATOMIC_RELEASE);
    }
    shim_driver.cuCtxPopCurrent_v2(&popped); /* who destroys the context waits for us, for a while */
    return result;
}

static _Atomic bool late_said;

/* What the GPU writes into the segment itself is as of now. */
static void say_current(struct wsdbg_context_row *row, const uint32_t *request)
{
    __atomic_store_n(&row->slots_copied_ns, shim_now_ns(), __ATOMIC_RELEASE);
    if (request && row->history_depth)
        __atomic_store_n(&row->history_copied, *request, __ATOMIC_RELEASE);
}

/* request NULL = slots only. */
static void copy_context(uint32_t index, const uint32_t *request)
{
    struct shim_context *context = &shim_contexts[index];
    struct wsdbg_context_row *row = &atomic_load(&shim_segment)->contexts[index];
    if (atomic_load(&context->ring) != RING_READY ||
        __atomic_load_n(&row->state, __ATOMIC_ACQUIRE) != WSDBG_CONTEXT_ALIVE)
        return;
    if (context->is_mapped) {
        say_current(row, request);
        return;
    }
    atomic_fetch_add(&context->users, 1);
    if (!must_stop(context) && atomic_load(&context->handle)) {
        CUresult result = copy_in_context(context, row, request);
        if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY && !contexts_ended_by(result))
            shim_note("the ring of context %u cannot be copied (error %d)", index, result);
        if (result == CUDA_ERROR_NOT_READY && !must_stop(context) && !atomic_exchange(&late_said, true)) {
            shim_say("copies of the ring wait behind the program's own work; a hang is not noticed while they do");
            shim_note("copies of the ring of context %u waited behind the program's own work", index);
        }
    }
    atomic_fetch_sub(&context->users, 1);
}

static void copy_all(const uint32_t *request)
{
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        copy_context(i, request);
}

static void *serve(void *unused)
{
    struct wsdbg_segment *segment = atomic_load(&shim_segment);
    (void)unused;
    shim_thread_is_ours();
    captures_do_not_disturb();
    while (!atomic_load(&shim_exiting) && atomic_load(&shim_state) == SHIM_ON) {
        armed_await_watcher();
        if (debug_attach_keeps_out()) {
            shim_sleep_us(1000);
            continue;
        }
        uint32_t looks = __atomic_load_n(&segment->slots_request, __ATOMIC_ACQUIRE);
        uint32_t request = __atomic_load_n(&segment->history_request, __ATOMIC_ACQUIRE);
        if (request != __atomic_load_n(&segment->history_done, __ATOMIC_RELAXED)) {
            copy_all(&request);
            __atomic_store_n(&segment->history_done, request, __ATOMIC_RELEASE);
            futex_wake(&segment->history_done);
        } else if (looks != __atomic_load_n(&segment->slots_done, __ATOMIC_RELAXED)) {
            copy_all(NULL);
            __atomic_store_n(&segment->slots_done, looks, __ATOMIC_RELEASE);
        }
        futex_wait(&segment->history_request, request);
    }
    return NULL;
}

void copies_start(void)
{
    static _Atomic bool started;
    if (!atomic_exchange(&started, true) && !shim_start_thread(serve))
        shim_note("the ring cannot be read: its thread could not be started");
}
