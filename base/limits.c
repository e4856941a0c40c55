/* limits.c - see limits.h.  Reads the clock. */
#include "base/limits.h"

#include <inttypes.h>
#include <time.h>

#define ALWAYS_BYTES (UINT64_C(128) << 20)
#define RATIO_MOST 256
#define SECOND_NS UINT64_C(1000000000)

static struct wsdbg_limits limits = {.time_ns = WSDBG_LIMITS_SECONDS * SECOND_NS};

void wsdbg_limits_set(struct wsdbg_limits wanted)
{
    limits = wanted;
}

struct wsdbg_limits wsdbg_limits_get(void)
{
    return limits;
}

uint64_t wsdbg_limits_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

bool wsdbg_limits_is_late(uint64_t began_ns)
{
    return limits.time_ns && wsdbg_limits_clock_ns() - began_ns > limits.time_ns;
}

struct wsdbg_error *wsdbg_limits_late(const char *path)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: takes longer than %g s; --time-limit allows more", path,
                              (double)limits.time_ns / (double)SECOND_NS);
}

/* Without overflow: a count of bytes may be any. */
static uint64_t allowed_by_size(uint64_t packed_bytes)
{
    const uint64_t by_ratio = packed_bytes < UINT64_MAX / RATIO_MOST ? packed_bytes * RATIO_MOST : UINT64_MAX;
    return by_ratio > ALWAYS_BYTES ? by_ratio : ALWAYS_BYTES;
}

uint64_t wsdbg_limits_unpacked(uint64_t packed_bytes, uint64_t most)
{
    const uint64_t allowed = limits.unpacked_bytes ? limits.unpacked_bytes : allowed_by_size(packed_bytes);
    return allowed < most ? allowed : most;
}

struct wsdbg_error *wsdbg_limits_unpacks_to_more(uint64_t packed_bytes, uint64_t allowed, uint64_t most)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%" PRIu64 " bytes that unpack to more than %" PRIu64 " MiB%s",
                              packed_bytes, allowed >> 20, allowed < most ? "; --unpack-limit allows more" : "");
}
