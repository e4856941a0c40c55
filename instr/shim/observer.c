/* observer.c - turns what the hooks or CUPTI saw into rows: launches with their place, modules nobody announced.
 *
 * Writes: launch rows (through registry.c) and module rows (through tracking.c).
 */
#include "shim.h"

#include <errno.h>

_Atomic bool shim_hooks_record_launches = true;

#define MARKING_PATIENCE 1000 /* times 100 us */

static _Atomic int captures; /* stream captures begun and not ended */
static _Atomic int marking;  /* threads of ours that put an event behind the work of a context */

/* A marker takes microseconds.  Should one be stuck in the driver the app goes on after a while all the same. */
static void wait_for_marker(void)
{
    for (int i = 0; i < MARKING_PATIENCE && atomic_load(&marking) > 0; i++)
        shim_sleep_us(100);
}

void observer_capture(int change)
{
    int before = atomic_load(&captures);
    while (before + change >= 0 && !atomic_compare_exchange_weak(&captures, &before, before + change))
        ;
    if (change > 0)
        wait_for_marker();
}

bool observer_is_capturing(void)
{
    return atomic_load(&captures) > 0;
}

/* Each side announces itself before it looks at the other. */
bool observer_marking_begin(void)
{
    atomic_fetch_add(&marking, 1);
    if (atomic_load(&captures) <= 0)
        return true;
    atomic_fetch_sub(&marking, 1);
    return false;
}

void observer_marking_end(void)
{
    atomic_fetch_sub(&marking, 1);
}

bool observer_is_captured(CUstream stream)
{
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    /* The legacy stream (0, 1) is never captured, and asking about it disturbs a capture in progress. */
    if (atomic_load_explicit(&captures, memory_order_relaxed) <= 0 || (uintptr_t)stream <= 1 ||
        !shim_driver.cuStreamIsCapturing)
        return false;
    return shim_driver.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

uint64_t observer_launch_begin(struct wsdbg_launch_row *row, void *function, bool record)
{
    row->context = tracking_current_context();
    row->function = function ? tracking_launch_function(function, row->context) : WSDBG_UNKNOWN32;
    row->thread_id = shim_thread_id();
    row->time_ns = shim_now_ns();
    row->result = WSDBG_RESULT_PENDING;
    if (!record)
        return UINT64_MAX;
    if (observer_is_captured((CUstream)(uintptr_t)row->stream))
        row->flags |= WSDBG_LAUNCH_CAPTURED;
    return registry_launch_begin(row);
}

void observer_launch_end(uint64_t entry, int result)
{
    if (entry != UINT64_MAX)
        registry_launch_end(entry, result);
}

void observer_unseen_module(const void *image)
{
    tracking_loaded(NULL, NULL, image);
}

bool observer_inside_hook(void)
{
    return shim_depth > 0;
}

void observer_quiet(int change)
{
    shim_depth += change;
}
