/* call_sites.c - see call_sites.h.  Reads: launch sites of calls.  Writes: sentences and evidence of findings.
 *
 * A call of NCCL returns at once, so the line at which a rank waits is another one than that of the call.
 */
#include "diagnose/call_sites.h"

#include <stdio.h>
#include <string.h>

#include "model/launch_site.h"
#include "model/process.h"

/* Half a place would be worse than none. */
static bool append(char *text, size_t bytes, const char *before, const char *place, const char *behind)
{
    const size_t used = strlen(text);
    if (used + strlen(before) + strlen(place) + strlen(behind) >= bytes)
        return false;
    snprintf(text + used, bytes - used, "%s%s%s", before, place, behind);
    return true;
}

static void place_evidence(const struct wsdbg_snapshot *s, struct wsdbg_finding *finding,
                           struct wsdbg_evidence_row *row)
{
    const uint32_t call = row->call.known ? row->call.value : WSDBG_NONE;
    const struct wsdbg_launch_site *site = call < s->collective_count ? wsdbg_collective_site(s, call) : NULL;
    char place[WSDBG_SITE_PLACE_BYTES], line[WSDBG_SITE_PLACE_BYTES], who[WSDBG_PROCESS_BYTES + 32];
    char rank[WSDBG_PROCESS_BYTES];
    if (!site)
        return;
    wsdbg_launch_site_place(s, site, place, sizeof place);
    wsdbg_launch_site_line(s, site, line, sizeof line);
    if (strcmp(place, "?") == 0)
        return;
    wsdbg_process_first_text(s, s->communicators[s->collectives[call].communicator].process_id, rank);
    snprintf(who, sizeof who, " %.60s called it at ", rank);
    if (!append(row->text, sizeof row->text, ", at ", place, ""))
        append(row->text, sizeof row->text, ", at ", line, "");
    if (!append(finding->sentence, sizeof finding->sentence, who, place, "."))
        append(finding->sentence, sizeof finding->sentence, who, line, ".");
}

void wsdbg_place_calls(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++)
        for (size_t k = 0; k < diagnosis->findings[i].evidence_count; k++)
            place_evidence(snapshot, &diagnosis->findings[i], &diagnosis->findings[i].evidence[k]);
}
