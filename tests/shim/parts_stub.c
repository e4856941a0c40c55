/* parts_stub.c - what the shim's parts take from libcuda.c, loader.c, real_dlsym.c, device_events.c, sanitizers.c and
 * system_calls.c, for tests that link the parts without them. */
#include <stddef.h>

#include "device_events.h"
#include "libcuda.h"
#include "loader.h"
#include "real_dlsym.h"
#include "sanitizers.h"
#include "system_calls.h"

struct wsdbg_driver shim_driver;
static void *find_nothing(void *library, const char *name)
{
    (void)library, (void)name;
    return NULL;
}
void *(*wsdbg_real_dlsym)(void *, const char *) = find_nothing;
void real_dlsym_forget_errors(void)
{
}

const struct link_map *loader_first(void)
{
    return NULL;
}

bool loader_read(const struct link_map *library, struct loader_object *out)
{
    (void)library, (void)out;
    return false;
}

void *loader_function(const struct loader_object *object, const char *name, uint32_t version)
{
    (void)object, (void)name, (void)version;
    return NULL;
}

_Atomic uint32_t device_events;
_Atomic bool device_events_are_seen;

void *libcuda_symbol(const char *name)
{
    (void)name;
    return NULL;
}

const char *sanitizers_name(void)
{
    return NULL;
}

void system_calls_let_read(unsigned long process)
{
    (void)process;
}
