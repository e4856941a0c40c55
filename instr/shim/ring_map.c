/* ring_map.c - lets the GPU write slots and histories into the segment, where wsdbg reads them without a copy.
 *
 * Reads:  WSDBG_RING.
 * Writes: bytes of the bounce memory, as a trial.
 *
 * The memory is the mirror's own: shared memory of this process, registered with the driver.  So the record needs no
 * copy engine and no thread of ours, and outlives context and process.  It costs the kernel's speed: each event crosses
 * PCIe.  What a probe writes and in which order is the same as in device memory (wsdbg/ring.h); reading while the GPU
 * writes is the reader's business (tracer/evidence/history.c).
 */
#include "ring_map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "libcuda.h"
#include "messages.h"
#include "own_threads.h"

#define AWAIT_NS 2000000000ull
enum { TRIAL_BYTES = 64, TRIAL = 0x5a };

bool ring_map_is_wanted(void)
{
    const char *place = getenv(WSDBG_ENV_RING);
    return place && strcmp(place, "mapped") == 0;
}

CUresult ring_await(CUstream stream)
{
    const uint64_t deadline = shim_now_ns() + AWAIT_NS;
    CUresult result;
    while ((result = shim_driver.cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY && shim_now_ns() < deadline)
        shim_sleep_us(20);
    return result;
}

/* `landing` is other memory where the driver could not register the segment's. */
static bool find_address(void *mirror, const void *landing, CUdeviceptr *address, char *why)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    if (mirror != landing) {
        snprintf(why, WSDBG_TEXT_BYTES, "the driver cannot register the segment's memory");
        return false;
    }
    if (shim_driver.cuMemHostGetDevicePointer_v2)
        result = shim_driver.cuMemHostGetDevicePointer_v2(address, mirror, 0);
    if (result != CUDA_SUCCESS)
        snprintf(why, WSDBG_TEXT_BYTES, "the driver cannot map the segment's memory (error %d)", result);
    return result == CUDA_SUCCESS;
}

/* Probes must never run on an address that does not lead here. */
static bool arrives(const struct shim_context *context, CUdeviceptr slots, char *why)
{
    const unsigned char *bounce = context->bounce;
    bool all = true;
    memset(context->bounce, 0, TRIAL_BYTES);
    CUresult result = shim_driver.cuMemsetD8Async(slots + context->slots_bytes, TRIAL, TRIAL_BYTES, context->stream);
    if (result == CUDA_SUCCESS)
        result = ring_await(context->stream);
    for (int i = 0; i < TRIAL_BYTES; i++)
        all &= __atomic_load_n(&bounce[i], __ATOMIC_RELAXED) == TRIAL;
    if (result != CUDA_SUCCESS || !all)
        snprintf(why, WSDBG_TEXT_BYTES, "what the GPU writes into the segment does not arrive (error %d)", result);
    return result == CUDA_SUCCESS && all;
}

bool ring_map(struct shim_context *context)
{
    char why[WSDBG_TEXT_BYTES] = "";
    CUdeviceptr slots = 0, history = 0;
    const bool mapped =
        find_address(context->slots_mirror, context->slots_landing, &slots, why) &&
        (!context->history_bytes || find_address(context->mirror, context->history_landing, &history, why)) &&
        arrives(context, slots, why);
    if (!mapped) {
        shim_note("the ring lies in the GPU's memory, not mapped: %s", why);
        return false;
    }
    context->slots = slots;
    context->history = history;
    return true;
}
