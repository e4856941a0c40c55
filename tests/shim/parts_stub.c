/* parts_stub.c - what the shim's parts take from interpose.c, device_events.c and sanitizers.c, for tests that link the
 * parts without them. */
#include "device_events.h"
#include "sanitizers.h"
#include "shim.h"

struct wsdbg_driver shim_driver;
_Atomic uint32_t device_events;
_Atomic bool device_events_are_seen;

void *interpose_libcuda_symbol(const char *name)
{
    (void)name;
    return NULL;
}

bool interpose_ready(void)
{
    return false;
}

const char *sanitizers_name(void)
{
    return NULL;
}
