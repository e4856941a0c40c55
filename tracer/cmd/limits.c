/* limits.c - see limits.h.  Reads the command line. */
#include "cmd/limits.h"

#include <string.h>

#include "base/limits.h"
#include "cmd/options.h"

#define MIB_MOST UINT64_C(1048576) /* a TiB */

struct wsdbg_error *wsdbg_limits_take(const struct wsdbg_invocation *invocation)
{
    const char *time = wsdbg_option_value(invocation, "time-limit");
    const char *unpack = wsdbg_option_value(invocation, "unpack-limit");
    struct wsdbg_limits limits = wsdbg_limits_get();
    uint64_t mib = 0;
    struct wsdbg_error *error = NULL;
    if (time && strcmp(time, "0") == 0)
        limits.time_ns = 0;
    else if (time)
        error = wsdbg_parse_seconds("time-limit", time, &limits.time_ns);
    if (!error && unpack)
        error = wsdbg_parse_number("unpack-limit", unpack, 1, MIB_MOST, &mib);
    if (error)
        return error;
    if (unpack)
        limits.unpacked_bytes = mib << 20;
    wsdbg_limits_set(limits);
    return NULL;
}
