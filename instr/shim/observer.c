/* observer.c - turns what the hooks or CUPTI saw into rows: launches with their place, modules nobody announced.
 *
 * Writes: launch rows (through registry.c) and module rows (through tracking.c).
 */
#include "observer.h"

#include <errno.h>

#include "captures.h"
#include "clock.h"
#include "contexts.h"
#include "registry.h"
#include "state.h"
#include "tracking.h"

_Atomic bool shim_hooks_record_launches = true;

uint64_t observer_launch_begin(struct wsdbg_launch_row *row, void *function, bool record)
{
    row->context = contexts_current();
    row->function = function ? tracking_launch_function(function, row->context) : WSDBG_UNKNOWN32;
    row->thread_id = shim_thread_id();
    row->time_ns = shim_now_ns();
    row->result = WSDBG_RESULT_PENDING;
    if (!record)
        return UINT64_MAX;
    if (captures_holds((CUstream)(uintptr_t)row->stream))
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
