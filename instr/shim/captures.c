/* captures.c - keeps markers out of stream captures, which the driver would spoil for them.
 *
 * Reads:  whether a stream is captured, as the driver says.  Writes: nothing.
 *
 * A capture that begins waits for a marker that is being put; a marker is not put while something is captured.
 */
#include "captures.h"

#include <stdatomic.h>
#include <stdint.h>

#include "libcuda.h"
#include "own_threads.h"

#define MARKING_PATIENCE 1000 /* times 100 us */

static _Atomic int captures; /* stream captures begun and not ended */
static _Atomic uint32_t begun;
static _Atomic int marking; /* threads of ours that put an event behind the work of a context */

/* A marker takes microseconds.  Should one be stuck in the driver the app goes on after a while all the same. */
static void wait_for_marker(void)
{
    for (int i = 0; i < MARKING_PATIENCE && atomic_load(&marking) > 0; i++)
        shim_sleep_us(100);
}

void captures_change(int change)
{
    int before = atomic_load(&captures);
    while (before + change >= 0 && !atomic_compare_exchange_weak(&captures, &before, before + change))
        ;
    if (change > 0) {
        atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
        wait_for_marker();
    }
}

uint32_t captures_number(void)
{
    return atomic_load_explicit(&begun, memory_order_relaxed);
}

bool captures_any(void)
{
    return atomic_load(&captures) > 0;
}

/* Each side announces itself before it looks at the other. */
bool captures_marking_begin(void)
{
    atomic_fetch_add(&marking, 1);
    if (atomic_load(&captures) <= 0)
        return true;
    atomic_fetch_sub(&marking, 1);
    return false;
}

void captures_marking_end(void)
{
    atomic_fetch_sub(&marking, 1);
}

bool captures_holds(CUstream stream)
{
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    /* The legacy stream (0, 1) is never captured, and asking about it disturbs a capture in progress. */
    if (atomic_load_explicit(&captures, memory_order_relaxed) <= 0 || (uintptr_t)stream <= 1 ||
        !shim_driver.cuStreamIsCapturing)
        return false;
    return shim_driver.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void captures_exchange_mode(int *mode)
{
    if (shim_driver.cuThreadExchangeStreamCaptureMode)
        shim_driver.cuThreadExchangeStreamCaptureMode(mode);
}

void captures_do_not_disturb(void)
{
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    captures_exchange_mode(&mode);
}
