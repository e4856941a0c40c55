/* fault_launches.c - see fault_launches.h.  Reads: the snapshot's launches and how far their context is known to have
 * come.  Writes: text. */
#include "watch/fault_launches.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/symbol.h"
#include "wsdbg/session.h"

enum { LISTED = 3, NAME_BYTES = 80 };

/* A graph may hold any kernel; what was captured did not run then; a refused launch never. */
static bool is_suspect(const struct wsdbg_snapshot *snapshot, size_t context, const struct wsdbg_launch *launch)
{
    const struct wsdbg_context *row = &snapshot->contexts[context];
    return launch->context == context && launch->sequence >= row->done_launches.value &&
           (launch->result == 0 || launch->result == WSDBG_RESULT_PENDING || launch->result == row->error) &&
           !(launch->flags & (WSDBG_LAUNCH_CAPTURED | WSDBG_LAUNCH_REFUSED));
}

static void name_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_launch *launch, char name[NAME_BYTES])
{
    char whole[512];
    if (launch->flags & WSDBG_LAUNCH_GRAPH) {
        snprintf(name, NAME_BYTES, "a graph");
    } else if (launch->function >= snapshot->function_count) {
        snprintf(name, NAME_BYTES, "?");
    } else {
        wsdbg_symbol_name(snapshot->functions[launch->function].name, whole, sizeof whole);
        snprintf(name, NAME_BYTES, "%.*s", NAME_BYTES - 1, whole);
    }
}

void wsdbg_fault_launches(const struct wsdbg_snapshot *snapshot, size_t context, char out[WSDBG_FAULT_LAUNCHES_BYTES])
{
    size_t found = 0, used = 0;
    out[0] = '\0';
    if (!snapshot->contexts[context].done_launches.known)
        return;
    for (size_t i = snapshot->launch_count; i-- > 0;) {
        char name[NAME_BYTES];
        if (!is_suspect(snapshot, context, &snapshot->launches[i]) || ++found > LISTED)
            continue;
        name_of(snapshot, &snapshot->launches[i], name);
        used += (size_t)snprintf(out + used, WSDBG_FAULT_LAUNCHES_BYTES - used, "%s%s (launch %" PRIu64 ")",
                                 found == 1 ? "launches not known to be done then: " : ", ", name,
                                 snapshot->launches[i].sequence);
    }
    if (found > LISTED)
        snprintf(out + used, WSDBG_FAULT_LAUNCHES_BYTES - used, " and %zu before them", found - LISTED);
}
