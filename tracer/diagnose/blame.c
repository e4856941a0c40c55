/* blame.c - see blame.h.  Reads a snapshot and its diagnosis. */
#include "diagnose/blame.h"

#include "model/collective.h"
#include "model/process.h"

#include <stdio.h>
#include <string.h>

const char *wsdbg_blame_name(enum wsdbg_blame blame)
{
    static const char *const names[] = {
        [WSDBG_BLAME_UNKNOWN] = NULL, [WSDBG_BLAME_ORIGIN] = "origin", [WSDBG_BLAME_VICTIM] = "victim"};
    return names[blame];
}

struct wsdbg_optional_u32 wsdbg_finding_process_id(const struct wsdbg_snapshot *snapshot,
                                                   const struct wsdbg_finding *finding)
{
    const uint32_t context = finding->grid < snapshot->grid_count ? snapshot->grids[finding->grid].context : WSDBG_NONE;
    if (finding->process_id.known || context >= snapshot->context_count)
        return finding->process_id;
    return wsdbg_known_u32(snapshot->contexts[context].process_id);
}

uint32_t wsdbg_finding_of_process(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                                  uint32_t process_id)
{
    for (uint32_t i = 0; i < diagnosis->finding_count; i++) {
        const struct wsdbg_optional_u32 whose = wsdbg_finding_process_id(snapshot, &diagnosis->findings[i]);
        if (whose.known && whose.value == process_id)
            return i;
    }
    return WSDBG_NONE;
}

bool wsdbg_finding_is_cause(const struct wsdbg_finding *finding)
{
    switch (finding->cause) {
    case WSDBG_CAUSE_HOST_WAIT:
    case WSDBG_CAUSE_GLOBAL_SPIN:
    case WSDBG_CAUSE_UNKNOWN:
    case WSDBG_CAUSE_RANK_SKEW:
    case WSDBG_CAUSE_SLOW:
        return false;
    default:
        return finding->confidence != WSDBG_CONFIDENCE_POSSIBLE;
    }
}

bool wsdbg_process_has_cause(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                             uint32_t process_id)
{
    for (uint32_t i = 0; i < diagnosis->finding_count; i++) {
        const struct wsdbg_finding *finding = &diagnosis->findings[i];
        const struct wsdbg_optional_u32 whose = wsdbg_finding_process_id(snapshot, finding);
        if (whose.known && whose.value == process_id && finding->confidence != WSDBG_CONFIDENCE_POSSIBLE)
            return wsdbg_finding_is_cause(finding);
    }
    return false;
}

enum wsdbg_blame wsdbg_blame_of(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                                uint32_t process)
{
    bool has_origin = false;
    if (!diagnosis->hang)
        return WSDBG_BLAME_UNKNOWN;
    if (wsdbg_process_has_cause(snapshot, diagnosis, snapshot->processes[process].process_id))
        return WSDBG_BLAME_ORIGIN;
    for (uint32_t i = 0; i < snapshot->process_count && !has_origin; i++)
        has_origin = wsdbg_process_has_cause(snapshot, diagnosis, snapshot->processes[i].process_id);
    const struct wsdbg_process_work work = wsdbg_process_work(snapshot, process);
    return has_origin && work.state == WSDBG_PROCESS_KERNEL &&
                   (work.polls_peers || wsdbg_collective_has_grid(snapshot, work.grid))
               ? WSDBG_BLAME_VICTIM
               : WSDBG_BLAME_UNKNOWN;
}

void wsdbg_blame_waits_for(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                           uint32_t process, char *out, size_t bytes)
{
    enum { SHOWN_MOST = 4 };
    char name[WSDBG_PROCESS_BYTES];
    size_t count = 0, used = 0;
    out[0] = '\0';
    if (wsdbg_blame_of(snapshot, diagnosis, process) != WSDBG_BLAME_VICTIM)
        return;
    for (uint32_t i = 0; i < snapshot->process_count; i++) {
        if (!wsdbg_process_has_cause(snapshot, diagnosis, snapshot->processes[i].process_id) || count++ >= SHOWN_MOST)
            continue;
        wsdbg_process_short_text(snapshot, snapshot->processes[i].process_id, name);
        snprintf(out + used, bytes - used, "%s%s", used ? ", " : "", name);
        used = strlen(out);
    }
    if (count > SHOWN_MOST)
        snprintf(out + used, bytes - used, " and %zu more", count - SHOWN_MOST);
}
