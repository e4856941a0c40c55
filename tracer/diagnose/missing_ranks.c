/* missing_ranks.c - see missing_ranks.h.  Reads a snapshot and the findings about its grids.  Adds findings.
 *
 * Kernels of NCCL on different ranks wait for one another.  The rank at the end of a chain of waits is missing.  If the
 * chain is a circle, the ranks make their calls in different orders.
 */
#include "diagnose/missing_ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/blame.h"
#include "diagnose/rank_waits.h"
#include "model/collective.h"
#include "model/host_stack.h"
#include "model/nccl_wait.h"
#include "model/place.h"
#include "model/process.h"

struct search {
    const struct wsdbg_snapshot *snapshot;
    const struct wsdbg_rank_waits *waits;
    struct wsdbg_diagnosis *diagnosis;
};

/* ---- words ---- */

static const struct wsdbg_communicator *communicator_of(const struct wsdbg_snapshot *s, uint32_t call)
{
    return &s->communicators[s->collectives[call].communicator];
}

static void rank_text(const struct wsdbg_snapshot *s, uint32_t process, char out[WSDBG_PROCESS_BYTES])
{
    wsdbg_process_short_text(s, s->processes[process].process_id, out);
}

/* At the start of a sentence. */
static void rank_text_first(const struct wsdbg_snapshot *s, uint32_t process, char out[WSDBG_PROCESS_BYTES])
{
    wsdbg_process_first_text(s, s->processes[process].process_id, out);
}

/* "rank 0 called all_reduce #2 (1024 float32, sum) on communicator 8f2a01c3 (8 ranks), as rank 4 of it, 9.8 s before"
 */
static bool add_call(const struct wsdbg_snapshot *s, uint32_t call, struct wsdbg_finding *finding)
{
    char rank[WSDBG_PROCESS_BYTES], what[WSDBG_COLLECTIVE_BYTES], name[WSDBG_COLLECTIVE_BYTES], text[256];
    const struct wsdbg_communicator *communicator = communicator_of(s, call);
    const struct wsdbg_collective_row *row = &s->collectives[call].row;
    wsdbg_process_short_text(s, communicator->process_id, rank);
    wsdbg_collective_text(row, what);
    wsdbg_communicator_text(&communicator->row, name);
    snprintf(text, sizeof text, "%.60s called %.90s on %.50s, as rank %u of it, %.1f s before", rank, what, name,
             communicator->row.rank, s->time_ns > row->time_ns ? (double)(s->time_ns - row->time_ns) / 1e9 : 0.0);
    if (!wsdbg_finding_add_text(finding, text))
        return false;
    finding->evidence[finding->evidence_count - 1].call = wsdbg_known_u32(call);
    return true;
}

/* "rank 0 has been in ncclCommInitRank for 9.8 s, as rank 0 of communicator 8f2a01c3 (2 ranks)" */
static bool add_making(const struct wsdbg_snapshot *s, const struct wsdbg_rank_wait *wait,
                       struct wsdbg_finding *finding)
{
    char rank[WSDBG_PROCESS_BYTES], name[WSDBG_COLLECTIVE_BYTES], text[256];
    const struct wsdbg_communicator_row *row = &s->communicators[wait->member].row;
    rank_text(s, wait->process, rank);
    wsdbg_communicator_text(row, name);
    snprintf(text, sizeof text, "%.60s has been in %.40s for %.1f s, as rank %u of %.60s", rank, row->made_by,
             s->time_ns > row->began_ns ? (double)(s->time_ns - row->began_ns) / 1e9 : 0.0, row->rank, name);
    return wsdbg_finding_add_text(finding, text);
}

/* The thread that waits for a kernel which no look shows; NULL = the kernel is seen, or the call waits on the host. */
static const struct wsdbg_host_thread *unseen(const struct wsdbg_snapshot *s, const struct wsdbg_rank_wait *wait)
{
    return wait->grid != WSDBG_NONE || wait->call == WSDBG_NONE ? NULL : wsdbg_collective_waits_unseen(s, wait->call);
}

/* "rank 0 has been in cuCtxSynchronize for 9.7 s, and no look shows what it has on its GPU" */
static bool add_unseen(const struct wsdbg_snapshot *s, const struct wsdbg_rank_wait *wait,
                       struct wsdbg_finding *finding)
{
    char rank[WSDBG_PROCESS_BYTES], text[256];
    const struct wsdbg_host_thread *thread = unseen(s, wait);
    if (!thread)
        return true;
    rank_text(s, wait->process, rank);
    snprintf(text, sizeof text, "%.60s has been in %.47s for %.1f s, and no look shows what it has on its GPU", rank,
             thread->call, s->time_ns > thread->since_ns ? (double)(s->time_ns - thread->since_ns) / 1e9 : 0.0);
    return wsdbg_finding_add_text(finding, text);
}

static bool add_own(const struct wsdbg_snapshot *s, const struct wsdbg_rank_wait *wait, struct wsdbg_finding *finding)
{
    return wait->call == WSDBG_NONE ? add_making(s, wait, finding)
                                    : add_call(s, wait->call, finding) && add_unseen(s, wait, finding);
}

/* How many calls the other rank has made on the communicator. */
static bool add_progress(const struct wsdbg_snapshot *s, const struct wsdbg_rank_wait *wait,
                         struct wsdbg_finding *finding)
{
    char rank[WSDBG_PROCESS_BYTES], text[256];
    const struct wsdbg_communicator_row *row = &s->communicators[wait->member].row;
    const char *state = wsdbg_communicator_state_name(row->end);
    rank_text(s, wait->other, rank);
    if (wait->call == WSDBG_NONE)
        snprintf(text, sizeof text, "%.60s has made no call for that communicator", rank);
    else if (row->ended_ns)
        snprintf(text, sizeof text, "%.60s has %s the communicator after %" PRIu64 " collectives", rank,
                 state ? state : "ended", row->collectives);
    else
        snprintf(text, sizeof text, "%.60s has made %" PRIu64 " collectives on the communicator, of %" PRIu64 " calls",
                 rank, row->collectives, row->calls);
    return wsdbg_finding_add_text(finding, text);
}

/* ---- findings ---- */

static struct wsdbg_finding *new_finding(struct search *search, enum wsdbg_cause cause,
                                         enum wsdbg_confidence confidence, const struct wsdbg_rank_wait *wait)
{
    struct wsdbg_finding *finding = wsdbg_diagnosis_add(search->diagnosis, cause, confidence, wait->grid);
    if (!finding)
        return NULL;
    finding->cta_count = wait->grid != WSDBG_NONE ? search->snapshot->grids[wait->grid].cta_count : 0;
    finding->process_id = wsdbg_known_u32(search->snapshot->processes[wait->other].process_id);
    return finding;
}

static bool is_said(const struct search *search, enum wsdbg_cause cause, uint32_t process)
{
    return wsdbg_diagnosis_blames(search->diagnosis, cause, search->snapshot->processes[process].process_id);
}

static bool has_cause_of_its_own(const struct search *search, uint32_t process)
{
    return wsdbg_process_has_cause(search->snapshot, search->diagnosis,
                                   search->snapshot->processes[process].process_id);
}

/* The call of the driver in which the main thread of a process waits; NULL = it is in none. */
static const struct wsdbg_host_thread *call_of_main(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    for (size_t i = 0; i < s->thread_count; i++)
        if (s->threads[i].process_id == process_id && wsdbg_process_is_main(s, process_id, s->threads[i].thread_id))
            return &s->threads[i];
    return NULL;
}

/* Whether the main thread waits in a call of the driver, while a kernel of the process that is of no collective stands
 * still, and something was found about that: then this kernel keeps the rank. */
static bool is_kept_by_own_kernel(const struct search *search, uint32_t process)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const uint32_t process_id = s->processes[process].process_id;
    const size_t count = call_of_main(s, process_id) ? search->diagnosis->finding_count : 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t grid = search->diagnosis->findings[i].grid;
        const uint32_t context = grid < s->grid_count ? s->grids[grid].context : WSDBG_NONE;
        if (context < s->context_count && s->contexts[context].process_id == process_id && s->grids[grid].running &&
            !s->grids[grid].moves && !wsdbg_collective_has_grid(s, grid))
            return true;
    }
    return false;
}

/* What the other rank should call: "all_reduce #2 of communicator 8f2a01c3 (8 ranks)"; for a send "receive #1 from rank
 * 0 of …". */
static void meeting_text(const struct wsdbg_snapshot *s, const struct wsdbg_rank_wait *wait, char *out, size_t bytes)
{
    char what[WSDBG_COLLECTIVE_BYTES], name[WSDBG_COLLECTIVE_BYTES];
    if (wait->call == WSDBG_NONE) {
        wsdbg_communicator_text(&s->communicators[wait->member].row, name);
        snprintf(out, bytes, "%.40s of %.60s", s->communicators[wait->member].row.made_by, name);
        return;
    }
    const struct wsdbg_communicator *own = communicator_of(s, wait->call);
    struct wsdbg_collective_row call = s->collectives[wait->call].row;
    const bool is_pair = wsdbg_collective_is_pair(&call);
    const bool is_send = call.operation == WSDBG_COLLECTIVE_SEND;
    call.operation = !is_pair ? call.operation : is_send ? WSDBG_COLLECTIVE_RECEIVE : WSDBG_COLLECTIVE_SEND;
    wsdbg_collective_short_text(&call, what);
    wsdbg_communicator_text(&own->row, name);
    if (is_pair)
        snprintf(out, bytes, "%.40s %s rank %u of %.60s", what, is_send ? "from" : "to", own->row.rank, name);
    else
        snprintf(out, bytes, "%.40s of %.60s", what, name);
}

static bool say_missing(struct search *search, const struct wsdbg_rank_wait *wait)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    char first[WSDBG_PROCESS_BYTES], rank[WSDBG_PROCESS_BYTES], waits[WSDBG_PROCESS_BYTES], meeting[192];
    struct wsdbg_finding *finding =
        new_finding(search, WSDBG_CAUSE_RANK_MISSING,
                    wait->cannot_come ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE, wait);
    if (!finding)
        return false;
    rank_text_first(s, wait->other, first);
    rank_text(s, wait->other, rank);
    rank_text(s, wait->process, waits);
    meeting_text(s, wait, meeting, sizeof meeting);
    const bool ended = s->communicators[wait->member].row.ended_ns != 0;
    snprintf(finding->sentence, sizeof finding->sentence, "%.60s has not entered %.150s, in which %.60s waits%s%s.",
             first, meeting, waits, wait->grid == WSDBG_NONE && !unseen(s, wait) ? " on the host" : "",
             ended ? "; it has ended the communicator" : "");
    snprintf(finding->fix, sizeof finding->fix,
             "Let every rank make the same calls in the same order; look at what decides on %.60s whether it is made: "
             "a condition on the rank, a shorter loop, an exception that is handled.",
             rank);
    return add_own(s, wait, finding) && add_progress(s, wait, finding);
}

static bool say_gone(struct search *search, const struct wsdbg_rank_wait *wait, bool is_sure)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    const struct wsdbg_process *gone = &s->processes[wait->other];
    char end[WSDBG_PROCESS_BYTES], first[WSDBG_PROCESS_BYTES], rank[WSDBG_PROCESS_BYTES], waits[WSDBG_PROCESS_BYTES],
        meeting[192];
    struct wsdbg_finding *finding =
        new_finding(search, WSDBG_CAUSE_RANK_GONE, is_sure ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE, wait);
    if (!finding)
        return false;
    wsdbg_process_end_text(gone->end, end);
    rank_text_first(s, wait->other, first);
    rank_text(s, wait->other, rank);
    rank_text(s, wait->process, waits);
    meeting_text(s, wait, meeting, sizeof meeting);
    snprintf(finding->sentence, sizeof finding->sentence, "%.60s (process %u) %s%.60s, and %.60s waits in %.150s.",
             first, gone->pid,
             gone->end.kind == WSDBG_END_SIGNAL    ? "was "
             : gone->end.kind == WSDBG_END_UNKNOWN ? "has "
                                                   : "",
             end, waits, meeting);
    snprintf(finding->fix, sizeof finding->fix,
             "Find out why %.60s ended: its own last lines, those of its launcher, the kernel's log (out of memory). "
             "The other ranks only wait.",
             rank);
    return add_own(s, wait, finding) && add_progress(s, wait, finding);
}

enum fault { FAULT_OF_OTHER, FAULT_OF_OWN, FAULT_NOT_KNOWN };

/* Of two ranks the one is at fault that differs from more of the other ranks.  With two ranks alone nobody can tell. */
static enum fault fault_of(const struct search *search, const struct wsdbg_rank_wait *wait)
{
    uint32_t against_other = 0, against_own = 0;
    for (size_t i = 0; i < search->waits->count; i++) {
        const struct wsdbg_rank_wait *row = &search->waits->rows[i];
        const bool is_about_these = row->kind == WSDBG_RANK_DIFFERS;
        against_other += is_about_these && (row->other == wait->other || row->process == wait->other);
        against_own += is_about_these && (row->other == wait->process || row->process == wait->process);
    }
    if (against_own == against_other)
        return FAULT_NOT_KNOWN;
    return against_own > against_other ? FAULT_OF_OWN : FAULT_OF_OTHER;
}

static struct wsdbg_rank_wait turned_round(const struct search *search, const struct wsdbg_rank_wait *wait)
{
    struct wsdbg_rank_wait other_way = *wait;
    other_way.process = wait->other;
    other_way.other = wait->process;
    other_way.call = wait->other_call;
    other_way.other_call = wait->call;
    other_way.member = search->snapshot->collectives[wait->call].communicator;
    return other_way;
}

static bool say_differs(struct search *search, const struct wsdbg_rank_wait *wait, bool fault_is_known)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    char own[WSDBG_PROCESS_BYTES], other[WSDBG_PROCESS_BYTES], own_call[WSDBG_COLLECTIVE_BYTES],
        other_call[WSDBG_COLLECTIVE_BYTES], name[WSDBG_COLLECTIVE_BYTES];
    struct wsdbg_finding *finding = new_finding(
        search, WSDBG_CAUSE_RANK_MISMATCH, wait->is_sure ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE, wait);
    if (!finding)
        return false;
    rank_text(s, wait->process, own);
    rank_text(s, wait->other, other);
    wsdbg_collective_text(&s->collectives[wait->call].row, own_call);
    wsdbg_collective_text(&s->collectives[wait->other_call].row, other_call);
    wsdbg_communicator_text(&communicator_of(s, wait->call)->row, name);
    snprintf(finding->sentence, sizeof finding->sentence,
             "On %.50s %.60s called %.90s, and %.60s %.90s: these must be alike%s.", name, own, own_call, other,
             other_call, fault_is_known ? "" : "; which rank is wrong is not known");
    snprintf(finding->fix, sizeof finding->fix,
             "Let every rank make the same calls in the same order, with the same size, type and root; a rank may have "
             "left one out before.");
    return add_call(s, wait->call, finding) && add_call(s, wait->other_call, finding);
}

static bool say_circle(struct search *search, const struct wsdbg_rank_wait *wait, const struct wsdbg_rank_wait *next)
{
    const struct wsdbg_snapshot *s = search->snapshot;
    char own[WSDBG_PROCESS_BYTES], other[WSDBG_PROCESS_BYTES], third[WSDBG_PROCESS_BYTES], first[192], second[192];
    const bool sure = wait->cannot_come && next->cannot_come;
    struct wsdbg_finding *finding = new_finding(search, WSDBG_CAUSE_RANK_MISMATCH,
                                                sure ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE, wait);
    if (!finding)
        return false;
    rank_text(s, wait->process, own);
    rank_text(s, wait->other, other);
    rank_text(s, next->other, third);
    meeting_text(s, wait, first, sizeof first);
    meeting_text(s, next, second, sizeof second);
    snprintf(
        finding->sentence, sizeof finding->sentence,
        "Ranks make their calls in different orders: %.40s waits for %.40s in %.110s, and %.40s for %.40s in %.110s.",
        own, other, first, other, third, second);
    snprintf(finding->fix, sizeof finding->fix,
             "Let all ranks make calls on several communicators in one order, and post receives that meet sends in one "
             "group (ncclGroupStart, batch_isend_irecv).");
    return add_own(s, wait, finding) && add_own(s, next, finding);
}

/* ---- the search ---- */

/* Whether the call waits for no other rank.  If it does, the rank that ended may have done its part. */
static bool is_only_one(const struct search *search, const struct wsdbg_rank_wait *wait)
{
    for (size_t i = 0; i < search->waits->count; i++) {
        const struct wsdbg_rank_wait *row = &search->waits->rows[i];
        if (row->call == wait->call && row->other != wait->other)
            return false;
    }
    return true;
}

static bool said_between(const struct search *search, const struct wsdbg_rank_wait *wait)
{
    return is_said(search, WSDBG_CAUSE_RANK_MISMATCH, wait->other) ||
           is_said(search, WSDBG_CAUSE_RANK_MISMATCH, wait->process);
}

/* Where nobody can tell, the finding is about the later rank, whichever of them was looked at. */
static bool is_other_earlier(const struct search *search, const struct wsdbg_rank_wait *wait)
{
    return communicator_of(search->snapshot, wait->other_call)->row.rank <
           communicator_of(search->snapshot, wait->call)->row.rank;
}

static bool judge_difference(struct search *search, const struct wsdbg_rank_wait *wait)
{
    const struct wsdbg_rank_wait other_way = turned_round(search, wait);
    const enum fault fault = fault_of(search, wait);
    const bool turns = fault == FAULT_OF_OWN || (fault == FAULT_NOT_KNOWN && is_other_earlier(search, wait));
    return say_differs(search, turns ? &other_way : wait, fault != FAULT_NOT_KNOWN);
}

static bool judge_wait(struct search *search, const struct wsdbg_rank_wait *wait)
{
    const struct wsdbg_rank_wait *next;
    switch (wait->kind) {
    case WSDBG_RANK_DIFFERS:
        return said_between(search, wait) || judge_difference(search, wait);
    case WSDBG_RANK_ENDED:
        return is_said(search, WSDBG_CAUSE_RANK_GONE, wait->other) ||
               say_gone(search, wait, wait->is_sure && is_only_one(search, wait));
    case WSDBG_RANK_ABSENT:
    case WSDBG_RANK_QUEUED:
        break;
    }
    if (wsdbg_rank_wait_is_in_circle(search->waits, wait, &next))
        return said_between(search, wait) || say_circle(search, wait, next);
    if (wait->kind == WSDBG_RANK_QUEUED || wsdbg_rank_waits_itself(search->waits, wait->other) ||
        has_cause_of_its_own(search, wait->other) || is_kept_by_own_kernel(search, wait->other) ||
        is_said(search, WSDBG_CAUSE_RANK_MISSING, wait->other))
        return true;
    return say_missing(search, wait);
}

/* If a missing rank may still come, what the rules say of the waiting kernel is only possible. */
static void lower(struct wsdbg_diagnosis *diagnosis, uint32_t grid)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct wsdbg_finding *finding = &diagnosis->findings[i];
        if (finding->grid != grid || (finding->cause != WSDBG_CAUSE_GLOBAL_SPIN &&
                                      finding->cause != WSDBG_CAUSE_HOST_WAIT && finding->cause != WSDBG_CAUSE_UNKNOWN))
            continue;
        finding->confidence = WSDBG_CONFIDENCE_POSSIBLE;
        finding->open = false; /* the missing rank goes before it */
    }
}

struct wsdbg_error *wsdbg_find_missing_ranks(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis)
{
    struct wsdbg_rank_waits waits = {0};
    struct wsdbg_error *error = wsdbg_rank_waits_find(snapshot, &waits);
    struct search search = {.snapshot = snapshot, .waits = &waits, .diagnosis = diagnosis};
    for (size_t i = 0; i < waits.count && !error; i++) {
        if (wsdbg_rank_wait_may_end(&waits.rows[i]))
            lower(diagnosis, waits.rows[i].grid);
    }
    for (size_t i = 0; i < waits.count && !error; i++)
        error = judge_wait(&search, &waits.rows[i]) ? NULL : &wsdbg_error_no_memory;
    wsdbg_rank_waits_deinit(&waits);
    return error;
}

/* ---- where the missing rank is ---- */

static const struct wsdbg_host_stack *main_stack(const struct wsdbg_snapshot *s, uint32_t process_id)
{
    for (size_t i = 0; i < s->host_stack_count; i++)
        if (wsdbg_host_stack_is_main(s, &s->host_stacks[i], process_id))
            return &s->host_stacks[i];
    return NULL;
}

/* The innermost frame with a source line.  A Python frame goes before native ones, which are often a library's. */
static const struct wsdbg_host_frame *frame_with_line(const struct wsdbg_snapshot *s,
                                                      const struct wsdbg_host_stack *stack)
{
    const struct wsdbg_host_frame *native = NULL;
    for (uint32_t i = 0; i < stack->frame_count && stack->frame_first + i < s->host_frame_count; i++) {
        const struct wsdbg_host_frame *frame = &s->host_frames[stack->frame_first + i];
        if (!frame->line.known || !frame->file[0])
            continue;
        if (frame->kind == WSDBG_HOST_FRAME_PYTHON)
            return frame;
        native = native ? native : frame;
    }
    return native;
}

static void place(const struct wsdbg_snapshot *s, struct wsdbg_finding *finding, const struct wsdbg_host_stack *stack)
{
    char what[96] = "runs", where[160] = "";
    const struct wsdbg_host_frame *frame = frame_with_line(s, stack);
    const struct wsdbg_host_thread *call = call_of_main(s, finding->process_id.value);
    const bool moves = stack->motion == WSDBG_HOST_MOVES || stack->motion == WSDBG_HOST_RUNS;
    if (call)
        snprintf(what, sizeof what, "waits in %.60s", call->call);
    else if (!moves)
        snprintf(what, sizeof what, "sleeps%s%.64s", stack->system_call[0] ? " in " : "", stack->system_call);
    if (frame)
        snprintf(where, sizeof where, ", %.80s:%u", wsdbg_place_file(frame->file), frame->line.value);
    const size_t length = strlen(finding->sentence);
    if (length && finding->sentence[length - 1] == '.')
        finding->sentence[length - 1] = '\0';
    char text[300];
    snprintf(text, sizeof text, "; its main thread %s%s.", what, where);
    strncat(finding->sentence, text, sizeof finding->sentence - strlen(finding->sentence) - 1);
    if (moves && finding->confidence == WSDBG_CONFIDENCE_POSSIBLE) {
        finding->cause = WSDBG_CAUSE_RANK_SKEW;
        snprintf(finding->fix, sizeof finding->fix,
                 "Nothing is wrong yet: the rank is busy elsewhere, and the others wait for it. If it comes late each "
                 "time, give the ranks equal work.");
    }
}

void wsdbg_place_missing_ranks(const struct wsdbg_snapshot *snapshot, struct wsdbg_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->finding_count; i++) {
        struct wsdbg_finding *finding = &diagnosis->findings[i];
        const struct wsdbg_host_stack *stack = finding->cause == WSDBG_CAUSE_RANK_MISSING && finding->process_id.known
                                                   ? main_stack(snapshot, finding->process_id.value)
                                                   : NULL;
        if (stack)
            place(snapshot, finding, stack);
    }
}
