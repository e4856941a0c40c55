/* call_sites.c - see call_sites.h.  Reads: launch sites of calls.  Writes: sentences and evidence of findings.
 *
 * A call of NCCL returns at once, so the line at which a rank waits is another one than that of the call.
 */
#include "diagnose/call_sites.h"

#include <stdio.h>
#include <string.h>

#include "model/launch_site.h"
#include "model/process.h"

static void append(char *text, size_t bytes, const char *more)
{
    const size_t used = strlen(text);
    if (used + strlen(more) < bytes) /* half a place would be worse than none */
        strcpy(text + used, more);
}

/* "train.py:12 in step"; false: it is not known. */
static bool find_place(const struct wsdbg_snapshot *s, uint32_t call, char *out, size_t bytes)
{
    const struct wsdbg_launch_site *site = call < s->collective_count ? wsdbg_collective_site(s, call) : NULL;
    if (!site)
        return false;
    wsdbg_launch_site_line(s, site, out, bytes);
    return strcmp(out, "?") != 0;
}

static void place_evidence(const struct wsdbg_snapshot *s, struct wsdbg_finding *finding,
                           struct wsdbg_evidence_row *row)
{
    char place[WSDBG_SITE_PLACE_BYTES], rank[WSDBG_PROCESS_BYTES], more[sizeof place + 96];
    if (!row->call.known || !find_place(s, row->call.value, place, sizeof place))
        return;
    const uint32_t communicator = s->collectives[row->call.value].communicator;
    wsdbg_process_short_text(s, s->communicators[communicator].process_id, rank);
    snprintf(more, sizeof more, ", at %s", place);
    append(row->text, sizeof row->text, more);
    snprintf(more, sizeof more, " %c%.60s called at %s.", rank[0] == 'r' ? 'R' : 'P', rank + 1, place);
    append(finding->sentence, sizeof finding->sentence, more);
}

void wsdbg_place_calls(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        for (size_t k = 0; k < diagnosis->findings[i].evidence_count; k++)
            place_evidence(snapshot, &diagnosis->findings[i], &diagnosis->findings[i].evidence[k]);
}
