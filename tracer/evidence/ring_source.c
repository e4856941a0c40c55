/* ring_source.c - evidence from the live segments of a session: watched, or only attached to.
 *
 * Reads: the segments that ring_processes.c finds, and after a GPU fault what the context left.  Writes: requests, and
 * a recording when asked; nothing when attached.  A segment that cannot be read becomes a note of the snapshot; the
 * others go on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "evidence/evidence.h"
#include "evidence/record.h"
#include "evidence/ring_processes.h"
#include "evidence/ring_source.h"
#include "evidence/snapshot_build.h"
#include "model/rows.h"

#define ANSWER_POLL_NS 200000

struct ring_source {
    struct wsdbg_evidence base;
    struct wsdbg_ring_processes processes;
    struct wsdbg_recorder *recorder;
    struct wsdbg_lasting_memory *memory; /* NULL = not to be had */
    bool holds_record;                   /* what processes that end well leave is wanted, too */
    char trouble[256];                   /* of the whole source, "" = none */
};

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* An answer to an older request is no answer: its histories are from another moment.  Those of a mapped ring are no
 * answer at all, but as of now. */
static void drop_stale_histories(struct wsdbg_ring_process *process)
{
    if (process->asked && process->tracker.head.history_done == process->request)
        return;
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        if (process->tracker.contexts[i].ring != WSDBG_RING_IN_HOST)
            process->tracker.contexts[i].mirror = NULL;
}

static void add_note(struct wsdbg_snapshot *out, const char *text)
{
    snprintf(out->notes[out->note_count++], sizeof *out->notes, "%s", text);
}

static struct wsdbg_error *add_troubles(const struct ring_source *source, struct wsdbg_snapshot *out)
{
    const struct wsdbg_ring_processes *processes = &source->processes;
    char text[256];
    struct wsdbg_error *error = wsdbg_rows_reserve(out, &(struct wsdbg_table_counts){.notes = processes->count + 3});
    if (error)
        return error;
    if (source->trouble[0])
        add_note(out, source->trouble);
    if (processes->foreign) {
        snprintf(text, sizeof text, "%zu of the files in this session's folders belong to other users: not read",
                 processes->foreign);
        add_note(out, text);
    }
    if (processes->forgotten) {
        snprintf(text, sizeof text, "%" PRIu64 " process%s that ended %s counted only, with %" PRIu64 " launches",
                 processes->forgotten, processes->forgotten == 1 ? "" : "es", processes->forgotten == 1 ? "is" : "are",
                 processes->forgotten_launches);
        add_note(out, text);
    }
    for (size_t i = 0; i < processes->count; i++)
        if (processes->list[i]->trouble[0])
            add_note(out, processes->list[i]->trouble);
    out->launches_total += processes->forgotten_launches;
    out->unread_segments = processes->unreadable + processes->foreign;
    snprintf(out->unread_reason, sizeof out->unread_reason, "%s",
             processes->reason[0] ? processes->reason
             : processes->foreign ? "another user made it"
                                  : "");
    return NULL;
}

static struct wsdbg_error *build(struct ring_source *source, uint64_t now_ns, bool histories,
                                 struct wsdbg_snapshot *out)
{
    struct wsdbg_tracker **trackers = malloc((source->processes.count + 1) * sizeof(struct wsdbg_tracker *));
    if (!trackers)
        return &wsdbg_error_no_memory;
    struct wsdbg_build_request request = {.processes = trackers,
                                          .now_ns = now_ns,
                                          .source = source->base.ops->name,
                                          .histories = histories,
                                          .ended_grids = source->holds_record};
    for (size_t i = 0; i < source->processes.count; i++)
        if (source->processes.list[i]->map)
            trackers[request.process_count++] = &source->processes.list[i]->tracker;
    struct wsdbg_snapshot snapshot;
    struct wsdbg_error *error = wsdbg_snapshot_build(&request, &snapshot);
    free(trackers);
    if (error)
        return error;
    error = add_troubles(source, &snapshot);
    if (error)
        wsdbg_snapshot_deinit(&snapshot);
    else
        *out = snapshot;
    return error;
}

static bool ended_by_fault(const struct wsdbg_ring_process *process, uint32_t context)
{
    const struct wsdbg_context_row *row = &process->tracker.contexts[context].row;
    return context < process->tracker.head.context_count && row->error != 0 && row->slot_count > 0;
}

/* A destroyed context whose place in the segment went to another one has no slots. */
static bool ended_well(const struct wsdbg_ring_process *process, uint32_t context)
{
    const struct wsdbg_context_row *row = &process->tracker.contexts[context].row;
    return context < process->tracker.head.context_count && !process->tracker.alive && row->error == 0 &&
           row->slot_count > 0;
}

/* The context ended in good order, or its process did, or all has been read. */
static bool memory_is_done(const struct ring_source *source, const struct wsdbg_ring_process *process, uint32_t context)
{
    const struct wsdbg_context_row *row = &process->tracker.contexts[context].row;
    if (process->restored[context] || source->holds_record)
        return process->restored[context];
    return row->state == WSDBG_CONTEXT_DESTROYED || (!process->tracker.alive && row->error == 0);
}

/* What is held here is missing on the GPU: it is held no longer than it can be of use. */
static void follow_memory(struct ring_source *source)
{
    if (!source->memory)
        return;
    wsdbg_lasting_memory_receive(source->memory);
    for (size_t i = 0; i < source->processes.count; i++)
        for (uint32_t c = 0; c < WSDBG_CONTEXT_ROWS; c++)
            if (memory_is_done(source, source->processes.list[i], c))
                wsdbg_lasting_memory_drop(source->memory, source->processes.list[i]->process_id, c);
}

/* What the context left is wanted and lies in memory of the GPU, not in the segment. */
static bool is_left_on_gpu(const struct ring_source *source, const struct wsdbg_ring_process *process, uint32_t context)
{
    return !process->restored[context] && process->tracker.contexts[context].ring != WSDBG_RING_IN_HOST &&
           (ended_by_fault(process, context) || (source->holds_record && ended_well(process, context)));
}

/* Nothing of an ended process will be asked for any more. */
static bool is_done(const void *state, const struct wsdbg_ring_process *process)
{
    const struct ring_source *source = state;
    for (uint32_t c = 0; source->memory && c < process->tracker.head.context_count; c++)
        if (is_left_on_gpu(source, process, c))
            return false;
    return true;
}

static void drop_memory(void *state, uint32_t process_id)
{
    const struct ring_source *source = state;
    for (uint32_t c = 0; source->memory && c < WSDBG_CONTEXT_ROWS; c++)
        wsdbg_lasting_memory_drop(source->memory, process_id, c);
}

/* The request that the histories of this look answer. */
static uint32_t request_of(struct wsdbg_ring_process *process)
{
    if (!process->asked)
        process->request = wsdbg_segment_map_request(process->map);
    process->asked = true;
    return process->request;
}

static struct wsdbg_error *restore(struct ring_source *source, struct wsdbg_ring_process *process, uint32_t context,
                                   uint64_t now_ns)
{
    const struct wsdbg_tracked_context *tracked = &process->tracker.contexts[context];
    const uint64_t seen_ns = tracked->fault_seen_ns ? tracked->fault_seen_ns : now_ns;
    struct wsdbg_lasting_copy copy = {0};
    bool found = false;
    struct wsdbg_error *error =
        wsdbg_lasting_memory_read(source->memory, process->process_id, context, &tracked->row, &found, &copy);
    if (!error && found)
        error = wsdbg_segment_map_restore(process->map, context, &copy, seen_ns);
    process->restored[context] = true;
    process->kept[context] = !error && copy.history;
    free(copy.slots);
    free(copy.history);
    return error;
}

/* A context that a fault ended, or its process, is read once; if that fails, a note of the snapshot says so, and the
 * state is lost.  What was read answers every request from then on. */
static void restore_ended(struct ring_source *source, uint64_t now_ns)
{
    for (size_t i = 0; source->memory && i < source->processes.count; i++) {
        struct wsdbg_ring_process *process = source->processes.list[i];
        for (uint32_t c = 0; process->map && c < WSDBG_CONTEXT_ROWS; c++) {
            const bool faulted = ended_by_fault(process, c);
            struct wsdbg_error *error = NULL;
            if (is_left_on_gpu(source, process, c))
                error = restore(source, process, c, now_ns);
            if (!error && process->kept[c])
                error = wsdbg_segment_map_answer(process->map, c, request_of(process));
            if (error)
                snprintf(process->trouble, sizeof process->trouble,
                         "the histories of context %u could not be read after %s: %s", c,
                         faulted ? "the GPU fault" : "its end", wsdbg_error_message(error));
            wsdbg_error_destroy(error);
        }
    }
}

/* Those that have ended may have what the others need to be opened: descriptors, and memory.  *gone: some were let go.
 */
static struct wsdbg_error *look_and_let_go(struct ring_source *source, uint64_t now_ns, bool *gone)
{
    size_t count;
    *gone = false;
    do {
        struct wsdbg_error *error = wsdbg_ring_processes_look(&source->processes, now_ns);
        if (error)
            return error;
        follow_memory(source);
        count = wsdbg_ring_processes_let_go(&source->processes, is_done, source, now_ns);
        *gone |= count > 0;
    } while (count > 0 && wsdbg_ring_processes_some_wait(&source->processes));
    return NULL;
}

static struct wsdbg_error *ring_poll(struct wsdbg_evidence *base, uint64_t now_ns, struct wsdbg_snapshot *out)
{
    struct ring_source *source = (struct ring_source *)base;
    struct wsdbg_error *missed;
    bool gone;
    do { /* new ones may not even be found while those that have ended hold every descriptor */
        missed = wsdbg_ring_processes_discover(&source->processes);
        struct wsdbg_error *error = look_and_let_go(source, now_ns, &gone);
        if (error || (missed && gone))
            wsdbg_error_destroy(missed);
        if (error)
            return error;
    } while (missed && gone);
    return missed ? missed : build(source, now_ns, false, out);
}

/* *needs_answer: some of them must be copied first. */
static bool wants_histories(const struct wsdbg_ring_process *process, bool *needs_answer)
{
    bool wants = false;
    *needs_answer = false;
    for (uint32_t i = 0; process->tracker.alive && i < process->tracker.head.context_count; i++) {
        const struct wsdbg_tracked_context *context = &process->tracker.contexts[i];
        const bool has_some = context->row.history_depth && context->row.state == WSDBG_CONTEXT_ALIVE;
        wants |= has_some;
        *needs_answer |= has_some && context->ring != WSDBG_RING_IN_HOST;
    }
    return wants;
}

/* Asks every process first, then waits: they copy at the same time.  A process whose rings are all mapped copies
 * nothing.  The request then only tells a recording that wsdbg has read the histories. */
static void fetch_histories(struct ring_source *source, uint64_t deadline_ns)
{
    for (size_t i = 0; i < source->processes.count; i++) {
        struct wsdbg_ring_process *process = source->processes.list[i];
        process->asked = process->map && wants_histories(process, &process->awaited);
        if (process->asked)
            process->request = wsdbg_segment_map_request(process->map);
    }
    for (size_t i = 0; i < source->processes.count; i++) {
        struct wsdbg_ring_process *process = source->processes.list[i];
        while (process->asked && process->awaited && !wsdbg_segment_map_answered(process->map, process->request)) {
            if (monotonic_ns() >= deadline_ns || !wsdbg_segment_map_alive(process->map))
                break;
            nanosleep(&(struct timespec){.tv_nsec = ANSWER_POLL_NS}, NULL);
        }
    }
}

static struct wsdbg_error *ring_inspect(struct wsdbg_evidence *base, uint64_t now_ns, uint64_t deadline_ns,
                                        struct wsdbg_snapshot *out)
{
    struct ring_source *source = (struct ring_source *)base;
    const uint64_t started_ns = monotonic_ns();
    struct wsdbg_error *error = wsdbg_ring_processes_discover(&source->processes);
    if (!error)
        error = wsdbg_ring_processes_look(&source->processes, now_ns);
    if (error)
        return error;
    fetch_histories(source, started_ns + deadline_ns);
    follow_memory(source);
    restore_ended(source, now_ns);
    /* Slots once more: a history fits only the slot's event of the same moment. */
    error = wsdbg_ring_processes_look(&source->processes, now_ns);
    if (error)
        return error;
    for (size_t i = 0; i < source->processes.count; i++) {
        drop_stale_histories(source->processes.list[i]);
        wsdbg_tracker_read_histories(&source->processes.list[i]->tracker, now_ns);
    }
    return build(source, now_ns, true, out);
}

static void ring_hold_record(struct wsdbg_evidence *base)
{
    ((struct ring_source *)base)->holds_record = true;
}

static void ring_close(struct wsdbg_evidence *base)
{
    struct ring_source *source = (struct ring_source *)base;
    source->processes.on_forget = NULL;
    wsdbg_ring_processes_deinit(&source->processes);
    wsdbg_recorder_close(source->recorder);
    wsdbg_lasting_memory_close(source->memory);
    free(source);
}

static struct wsdbg_error *attached_inspect(struct wsdbg_evidence *base, uint64_t now_ns, uint64_t deadline_ns,
                                            struct wsdbg_snapshot *out)
{
    (void)deadline_ns;
    return ring_poll(base, now_ns, out);
}

static struct wsdbg_error *ensure_recorder(struct ring_source *source, const char *path)
{
    if (source->recorder && strcmp(wsdbg_recorder_path(source->recorder), path) == 0)
        return NULL;
    struct wsdbg_recorder *recorder;
    struct wsdbg_error *error = wsdbg_recorder_create(path, &recorder);
    if (error)
        return error;
    wsdbg_recorder_close(source->recorder);
    source->recorder = recorder;
    return NULL;
}

static struct wsdbg_error *ring_record(struct wsdbg_evidence *base, const char *path, uint64_t now_ns)
{
    struct ring_source *source = (struct ring_source *)base;
    struct wsdbg_error *error = ensure_recorder(source, path);
    struct wsdbg_record_input *inputs = error ? NULL : calloc(source->processes.count + 1, sizeof *inputs);
    if (!error && !inputs)
        error = &wsdbg_error_no_memory;
    size_t count = 0;
    for (size_t i = 0; !error && i < source->processes.count; i++) {
        struct wsdbg_ring_process *process = source->processes.list[i];
        if (!process->map || !process->tracker.view.bytes)
            continue;
        inputs[count++] = (struct wsdbg_record_input){
            .view = process->tracker.view, .process_id = process->process_id, .alive = process->tracker.alive};
    }
    if (!error)
        error = wsdbg_recorder_frame(source->recorder, now_ns, inputs, count);
    free(inputs);
    return error;
}

struct wsdbg_error *wsdbg_ring_record_look(struct wsdbg_evidence *base, uint64_t now_ns, uint32_t process_id,
                                           enum wsdbg_record_look_kind kind, const char *path)
{
    struct ring_source *source = (struct ring_source *)base;
    if (!source->recorder)
        return NULL;
    struct wsdbg_error *error = wsdbg_recorder_look(source->recorder, now_ns, process_id, kind, path);
    if (!error || wsdbg_error_code(error) != WSDBG_ERROR_NOT_FOUND)
        return error;
    wsdbg_error_destroy(error);
    return NULL;
}

struct wsdbg_segment_map *wsdbg_ring_map(struct wsdbg_evidence *base, uint32_t process_id)
{
    struct ring_source *source = (struct ring_source *)base;
    const struct wsdbg_ring_process *process = wsdbg_ring_processes_find(&source->processes, process_id);
    return process ? process->map : NULL;
}

static void ring_join(struct wsdbg_evidence *base, const struct wsdbg_join *join)
{
    struct ring_source *source = (struct ring_source *)base;
    struct wsdbg_error *error = wsdbg_ring_processes_join(&source->processes, join);
    if (error)
        snprintf(source->trouble, sizeof source->trouble, "%s", wsdbg_error_message(error));
    wsdbg_error_destroy(error);
}

static const struct wsdbg_evidence_ops ring_ops = {.name = "ring",
                                                   .poll = ring_poll,
                                                   .inspect = ring_inspect,
                                                   .record = ring_record,
                                                   .hold_record = ring_hold_record,
                                                   .join = ring_join,
                                                   .close = ring_close};
static const struct wsdbg_evidence_ops attached_ops = {
    .name = "ring", .poll = ring_poll, .inspect = attached_inspect, .join = ring_join, .close = ring_close};

static struct wsdbg_error *open_source(const char *session, const char *spool, enum wsdbg_segment_use use,
                                       struct wsdbg_evidence **out)
{
    if (!session[0] || strchr(session, '/') || strlen(session) > 200)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "session name \"%s\": not a name for shared memory", session);
    struct ring_source *source = calloc(1, sizeof *source);
    if (!source)
        return &wsdbg_error_no_memory;
    source->base.ops = use == WSDBG_SEGMENT_READ ? &attached_ops : &ring_ops;
    struct wsdbg_error *error = wsdbg_ring_processes_init(session, spool, use, &source->processes);
    if (error) {
        wsdbg_ring_processes_deinit(&source->processes);
        free(source);
        return error;
    }
    source->processes.on_forget = drop_memory;
    source->processes.state = source;
    /* Armed processes have sent nothing: nobody was there. */
    const bool is_told = spool && use == WSDBG_SEGMENT_WATCH && strncmp(session, "armed-", 6) != 0;
    error = is_told ? wsdbg_lasting_memory_open(spool, &source->memory) : NULL;
    if (error)
        snprintf(source->trouble, sizeof source->trouble, "after a GPU fault histories are lost: %s",
                 wsdbg_error_message(error));
    wsdbg_error_destroy(error);
    *out = &source->base;
    return NULL;
}

struct wsdbg_error *wsdbg_evidence_open_ring(const char *session, const char *spool, struct wsdbg_evidence **out)
{
    return open_source(session, spool, WSDBG_SEGMENT_WATCH, out);
}

struct wsdbg_error *wsdbg_evidence_attach_ring(const char *session, const char *spool, struct wsdbg_evidence **out)
{
    return open_source(session, spool, WSDBG_SEGMENT_READ, out);
}

void wsdbg_ring_unlink(const char *session, const char *spool)
{
    wsdbg_ring_processes_unlink(session, spool);
}

struct wsdbg_error *wsdbg_evidence_record(struct wsdbg_evidence *source, const char *path, uint64_t now_ns)
{
    if (!source->ops->record)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: only ring evidence can be recorded, this is %s", path,
                                  source->ops->name);
    return source->ops->record(source, path, now_ns);
}
