/* debug_idle.c - whether the contexts of the program have any work left.
 *
 * Reads:  the driver, by an event put behind everything that a context was given; the segment's thread rows.
 * Writes: one event a context.
 *
 * For the moment before an inspector comes in: what is given to the GPU after an attach waits for the kernels that ran
 * then, so an attach that finds none holds nothing back (docs/results/live-attach.md).  No call of the program
 * begins meanwhile.  Where it cannot be told the answer is that there is work.
 */
#include "debug_idle.h"

#include "captures.h"
#include "clock.h"
#include "contexts.h"
#include "libcuda.h"
#include "own_threads.h"
#include "segment.h"

enum { LOOK_US = 50 };

static CUevent events[WSDBG_CONTEXT_ROWS];

/* True while a thread is still inside a launch or a wait that it entered before new calls were held. */
static bool somebody_is_inside(void)
{
    const struct wsdbg_segment *segment = atomic_load(&shim_segment);
    const uint32_t count = __atomic_load_n(&segment->thread_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < WSDBG_THREAD_ROWS; i++)
        if (__atomic_load_n(&segment->threads[i].since_ns, __ATOMIC_ACQUIRE))
            return true;
    return false;
}

static CUresult put_event(uint32_t index, CUcontext context)
{
    CUresult result = CUDA_SUCCESS;
    if (!events[index])
        result = shim_driver.cuEventCreate(&events[index], CU_EVENT_DISABLE_TIMING);
    return result == CUDA_SUCCESS ? shim_driver.cuCtxRecordEvent(context, events[index]) : result;
}

/* The context is current. */
static bool passes(uint32_t index, CUcontext context, uint64_t deadline_ns)
{
    CUresult result = put_event(index, context);
    if (result != CUDA_SUCCESS)
        return false;
    while ((result = shim_driver.cuEventQuery(events[index])) == CUDA_ERROR_NOT_READY && shim_now_ns() < deadline_ns)
        shim_sleep_us(LOOK_US);
    return result == CUDA_SUCCESS;
}

/* An event must not be put while a stream is captured: it would spoil the capture. */
static bool is_idle(uint32_t index, uint64_t deadline_ns)
{
    struct shim_context *context = &shim_contexts[index];
    bool idle = true;
    atomic_fetch_add(&context->users, 1);
    const uint64_t handle = atomic_load(&context->closing) ? 0 : atomic_load(&context->handle);
    if (handle && !captures_marking_begin()) {
        idle = false;
    } else if (handle) {
        CUcontext current = (CUcontext)(uintptr_t)handle, popped;
        const bool pushed = shim_driver.cuCtxPushCurrent_v2(current) == CUDA_SUCCESS;
        idle = pushed && passes(index, current, deadline_ns);
        if (pushed)
            shim_driver.cuCtxPopCurrent_v2(&popped);
        captures_marking_end();
    }
    atomic_fetch_sub(&context->users, 1);
    return idle;
}

bool debug_idle(uint64_t limit_ns)
{
    const uint64_t deadline_ns = shim_now_ns() + limit_ns;
    if (!shim_driver.cuEventCreate || !shim_driver.cuEventQuery || !shim_driver.cuCtxRecordEvent)
        return false;
    while (somebody_is_inside()) {
        if (shim_now_ns() >= deadline_ns)
            return false;
        shim_sleep_us(LOOK_US);
    }
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        if (!is_idle(i, deadline_ns))
            return false;
    return true;
}
