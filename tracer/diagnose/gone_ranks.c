/* gone_ranks.c - see gone_ranks.h.  Reads a snapshot and the findings about its grids; adds findings.
 *
 * A kernel that polls memory which it shares with other processes may wait for any of them.  That a rank is gone is the
 * cause as surely as it is known that nobody else will write the word: the rule for polled words says that, from the
 * same processes.  Where others live, it is only possible, and only an end by a signal or with an error is worth a
 * word.
 */
#include "diagnose/gone_ranks.h"

#include <stdio.h>

#include "diagnose/blame.h"
#include "diagnose/poll_writers.h"
#include "model/process.h"

static bool ended_badly(const struct wsdbg_process *process)
{
    return process->end.kind == WSDBG_END_SIGNAL || (process->end.kind == WSDBG_END_EXITED && process->end.value != 0);
}

/* Nothing of its own is wrong with what waits: at most it is known to poll. */
static bool only_waits(const struct wsdbg_diagnosis *diagnosis, uint32_t finding)
{
    if (finding == WSDBG_NONE)
        return false;
    const enum wsdbg_cause cause = diagnosis->findings[finding].cause;
    return cause == WSDBG_CAUSE_GLOBAL_SPIN || cause == WSDBG_CAUSE_HOST_WAIT || cause == WSDBG_CAUSE_UNKNOWN;
}

/* How sure it is that process `waiting` waits for `gone`; 0 = nothing says so. */
static enum wsdbg_confidence how_sure(const struct wsdbg_snapshot *snapshot, const struct wsdbg_diagnosis *diagnosis,
                                      const struct wsdbg_process *gone, uint32_t waiting)
{
    const struct wsdbg_process *process = &snapshot->processes[waiting];
    const struct wsdbg_process_work work = wsdbg_process_work(snapshot, waiting);
    const uint32_t finding = wsdbg_finding_of_process(snapshot, diagnosis, process->process_id);
    if (work.state != WSDBG_PROCESS_KERNEL || !work.polls_peers || !only_waits(diagnosis, finding))
        return 0;
    const struct wsdbg_finding *poll = &diagnosis->findings[finding];
    if (poll->cause == WSDBG_CAUSE_GLOBAL_SPIN && poll->confidence >= WSDBG_CONFIDENCE_LIKELY &&
        wsdbg_took_memory(snapshot, gone->process_id) && wsdbg_others_have_ended(snapshot, process->process_id))
        return WSDBG_CONFIDENCE_LIKELY;
    return ended_badly(gone) ? WSDBG_CONFIDENCE_POSSIBLE : 0;
}

/* The sentence, the fix and the evidence.  False: no memory. */
static bool say(const struct wsdbg_snapshot *snapshot, const struct wsdbg_process *gone, uint32_t waiting,
                struct wsdbg_finding *finding)
{
    static const char *const verbs[] = {
        [WSDBG_END_UNKNOWN] = "has ", [WSDBG_END_EXITED] = "", [WSDBG_END_SIGNAL] = "was "};
    char end[WSDBG_PROCESS_BYTES], waits[WSDBG_PROCESS_BYTES], text[128];
    wsdbg_process_short_text(snapshot, snapshot->processes[waiting].process_id, waits);
    wsdbg_process_end_text(gone->end, end);
    snprintf(finding->sentence, sizeof finding->sentence,
             "Rank %u (process %u) %s%.60s, and a kernel of %.80s polls memory that %s.", gone->rank.value, gone->pid,
             verbs[gone->end.kind], end, waits,
             finding->confidence == WSDBG_CONFIDENCE_LIKELY
                 ? "nobody else can write any more"
                 : "another process should write: that one, or one that waits for it");
    snprintf(finding->fix, sizeof finding->fix,
             "Find out why rank %u ended: its own last lines, those of its launcher, the kernel's log (out of memory). "
             "The other ranks only wait.",
             gone->rank.value);
    snprintf(text, sizeof text, "process %u, rank %u: %.60s", gone->pid, gone->rank.value, end);
    return wsdbg_finding_add_text(finding, text);
}

static bool add_finding(const struct wsdbg_snapshot *snapshot, const struct wsdbg_process *gone, uint32_t waiting,
                        enum wsdbg_confidence confidence, struct wsdbg_diagnosis *diagnosis)
{
    const uint32_t grid = wsdbg_process_work(snapshot, waiting).grid;
    struct wsdbg_finding *finding = wsdbg_diagnosis_add(diagnosis, WSDBG_CAUSE_RANK_GONE, confidence, grid);
    if (!finding)
        return false;
    finding->cta_count = snapshot->grids[grid].cta_count;
    finding->process_id = wsdbg_known_u32(gone->process_id);
    return say(snapshot, gone, waiting, finding);
}

static bool look_for_waiting(const struct wsdbg_snapshot *snapshot, const struct wsdbg_process *gone,
                             struct wsdbg_diagnosis *diagnosis)
{
    enum wsdbg_confidence best = 0;
    uint32_t waiting = WSDBG_NONE;
    for (uint32_t i = 0; i < snapshot->process_count; i++) {
        const enum wsdbg_confidence sure = &snapshot->processes[i] != gone ? how_sure(snapshot, diagnosis, gone, i) : 0;
        if (sure > best) {
            best = sure;
            waiting = i;
        }
    }
    return waiting == WSDBG_NONE || add_finding(snapshot, gone, waiting, best, diagnosis);
}

struct wsdbg_error *wsdbg_find_gone_ranks(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis)
{
    for (size_t i = 0; i < snapshot->process_count; i++) {
        const struct wsdbg_process *process = &snapshot->processes[i];
        const bool is_known_gone = wsdbg_diagnosis_blames(diagnosis, WSDBG_CAUSE_RANK_GONE, process->process_id);
        if (process->rank.known && process->end.kind != WSDBG_END_NONE && !is_known_gone &&
            !look_for_waiting(snapshot, process, diagnosis))
            return &wsdbg_error_no_memory;
    }
    return NULL;
}
