/* ring_source.c - evidence from the live segments of a session: watched, or only attached to.
 *
 * Reads: /dev/shm/wsdbg.<session>.<pid>, found anew whenever /dev/shm changed, and after a GPU fault what the
 * context left.  Writes: requests, and a recording when asked; nothing when attached.  A segment that cannot be read
 * becomes a note of the snapshot; the others go on.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "evidence/evidence.h"
#include "base/grow.h"
#include "evidence/record.h"
#include "evidence/ring_source.h"
#include "evidence/segment_map.h"
#include "evidence/snapshot_build.h"

#define SHM_FOLDER "/dev/shm"
#define ANSWER_POLL_NS 200000
/* Changes within one tick of the file system's clock leave the folder's time as it was. */
#define SETTLED_NS 1000000000ll

struct process {
    uint32_t process_id;
    struct wsdbg_segment_map *map; /* NULL = cannot be read, `trouble` says why */
    char trouble[256];
    bool again; /* ... which may pass: too many files are open, no memory */
    struct wsdbg_tracker tracker;
    bool asked;
    uint32_t request;
    bool restored[WSDBG_CONTEXT_ROWS]; /* what a GPU fault or the process's end left was read, or cannot be */
    bool kept[WSDBG_CONTEXT_ROWS];     /* ... and its histories lie in the segment */
};

struct ring_source {
    struct wsdbg_evidence base;
    enum wsdbg_segment_use use;
    char *prefix; /* "wsdbg.<session>." */
    struct process **processes;
    size_t count, capacity;
    struct timespec scanned; /* the folder's time at the last scan */
    bool scan_again;
    struct wsdbg_recorder *recorder;
    struct wsdbg_lasting_memory *memory; /* NULL = not to be had */
    bool holds_record;                   /* what processes that end well leave is wanted, too */
    char trouble[256];                   /* of the whole source, "" = none */
    size_t foreign;                      /* objects with the session's name that are another user's, at the last scan */
};

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The process id of a segment's file name, 0 if it is not a segment of this session. */
static uint32_t process_of(const char *prefix, const char *name)
{
    const size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0 || name[length] < '1' || name[length] > '9')
        return 0;
    char *end;
    const unsigned long id = strtoul(name + length, &end, 10);
    return *end == '\0' && id <= INT32_MAX ? (uint32_t)id : 0;
}

static bool known(const struct ring_source *source, uint32_t process_id)
{
    for (size_t i = 0; i < source->count; i++)
        if (source->processes[i]->process_id == process_id)
            return true;
    return false;
}

/* Takes the error, NULL = none. */
static void note_trouble(struct process *process, struct wsdbg_error *error)
{
    const enum wsdbg_error_code code = error ? wsdbg_error_code(error) : 0;
    process->again = code == WSDBG_ERROR_OS || code == WSDBG_ERROR_NO_MEMORY;
    snprintf(process->trouble, sizeof process->trouble, "%s", error ? wsdbg_error_message(error) : "");
    wsdbg_error_destroy(error);
}

static struct wsdbg_error *add_process(struct ring_source *source, const char *name, uint32_t process_id)
{
    char object[NAME_MAX + 2];
    snprintf(object, sizeof object, "/%s", name);
    struct wsdbg_segment_map *map = NULL;
    struct wsdbg_error *error = wsdbg_segment_map_open(object, process_id, source->use, &map);
    if (error && wsdbg_error_code(error) == WSDBG_ERROR_FOREIGN) {
        source->foreign++;
        wsdbg_error_destroy(error);
        return NULL;
    }
    if (!error && !map) {
        source->scan_again = true;
        return NULL;
    }
    struct process *process = calloc(1, sizeof *process);
    if (!process ||
        !wsdbg_grow((void **)&source->processes, &source->capacity, source->count + 1, sizeof *source->processes)) {
        free(process);
        if (map)
            wsdbg_segment_map_close(map);
        wsdbg_error_destroy(error);
        return &wsdbg_error_no_memory;
    }
    process->process_id = process_id;
    process->map = map;
    note_trouble(process, error);
    source->processes[source->count++] = process;
    return NULL;
}

static void open_again(const struct ring_source *source, struct process *process)
{
    char object[NAME_MAX + 2];
    snprintf(object, sizeof object, "/%s%u", source->prefix, process->process_id);
    note_trouble(process, wsdbg_segment_map_open(object, process->process_id, source->use, &process->map));
    process->again = process->again || !process->map; /* not filled yet */
}

/* Ids in order, so that snapshots list processes the same way every time. */
static int compare_processes(const void *left, const void *right)
{
    const struct process *a = *(struct process *const *)left, *b = *(struct process *const *)right;
    return (a->process_id > b->process_id) - (a->process_id < b->process_id);
}

static struct wsdbg_error *scan(struct ring_source *source)
{
    DIR *folder = opendir(SHM_FOLDER);
    if (!folder)
        return wsdbg_error_os(errno, "open %s", SHM_FOLDER);
    source->scan_again = false;
    source->foreign = 0;
    struct wsdbg_error *error = NULL;
    for (struct dirent *entry; !error && (entry = readdir(folder));) {
        const uint32_t process_id = process_of(source->prefix, entry->d_name);
        if (process_id && !known(source, process_id))
            error = add_process(source, entry->d_name, process_id);
    }
    closedir(folder);
    if (source->count)
        qsort(source->processes, source->count, sizeof *source->processes, compare_processes);
    return error;
}

static struct wsdbg_error *discover(struct ring_source *source)
{
    struct stat status;
    struct timespec now;
    if (stat(SHM_FOLDER, &status) != 0)
        return wsdbg_error_os(errno, "look at %s", SHM_FOLDER);
    clock_gettime(CLOCK_REALTIME, &now);
    const long long age_ns =
        (now.tv_sec - status.st_mtim.tv_sec) * 1000000000ll + (now.tv_nsec - status.st_mtim.tv_nsec);
    const bool same =
        status.st_mtim.tv_sec == source->scanned.tv_sec && status.st_mtim.tv_nsec == source->scanned.tv_nsec;
    if (same && age_ns > SETTLED_NS && !source->scan_again)
        return NULL;
    struct wsdbg_error *error = scan(source);
    if (!error && age_ns > SETTLED_NS)
        source->scanned = status.st_mtim;
    return error;
}

static void give_up(struct process *process, struct wsdbg_error *error)
{
    note_trouble(process, error);
    wsdbg_tracker_deinit(&process->tracker);
    process->tracker = (struct wsdbg_tracker){0};
    wsdbg_segment_map_close(process->map);
    process->map = NULL;
}

static struct wsdbg_error *look(struct ring_source *source, uint64_t now_ns)
{
    for (size_t i = 0; i < source->count; i++) {
        struct process *process = source->processes[i];
        if (!process->map && process->again)
            open_again(source, process);
        if (!process->map)
            continue;
        struct wsdbg_segment_view view;
        struct wsdbg_error *error = wsdbg_segment_map_refresh(process->map, &view);
        if (error) {
            give_up(process, error);
            continue;
        }
        const bool alive = wsdbg_segment_map_alive(process->map);
        error = wsdbg_tracker_look(&process->tracker, &view, alive, now_ns);
        if (error)
            return error;
        wsdbg_tracker_forgive_silence(&process->tracker, now_ns);
        if (source->use == WSDBG_SEGMENT_WATCH)
            wsdbg_segment_map_look(process->map);
    }
    return NULL;
}

/* An answer to an older request is no answer: its histories are from another moment. */
static void drop_stale_histories(struct process *process)
{
    if (process->asked && process->tracker.head.history_done == process->request)
        return;
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        process->tracker.contexts[i].mirror = NULL;
}

static struct wsdbg_error *add_troubles(const struct ring_source *source, struct wsdbg_snapshot *out)
{
    size_t troubles = (source->trouble[0] != '\0') + (source->foreign > 0);
    for (size_t i = 0; i < source->count; i++)
        troubles += source->processes[i]->trouble[0] != '\0';
    if (!troubles)
        return NULL;
    void *larger = reallocarray(out->notes, out->note_count + troubles, sizeof *out->notes);
    if (!larger)
        return &wsdbg_error_no_memory;
    out->notes = larger;
    if (source->trouble[0])
        memcpy(out->notes[out->note_count++], source->trouble, sizeof *out->notes);
    if (source->foreign)
        snprintf(out->notes[out->note_count++], sizeof *out->notes,
                 "%zu of the objects in %s that bear this session's name belong to other users: not read",
                 source->foreign, SHM_FOLDER);
    for (size_t i = 0; i < source->count; i++)
        if (source->processes[i]->trouble[0])
            memcpy(out->notes[out->note_count++], source->processes[i]->trouble, sizeof *out->notes);
    return NULL;
}

static struct wsdbg_error *build(struct ring_source *source, uint64_t now_ns, bool histories,
                                 struct wsdbg_snapshot *out)
{
    struct wsdbg_tracker **trackers = malloc((source->count + 1) * sizeof(struct wsdbg_tracker *));
    if (!trackers)
        return &wsdbg_error_no_memory;
    struct wsdbg_build_request request = {.processes = trackers,
                                          .now_ns = now_ns,
                                          .source = source->base.ops->name,
                                          .histories = histories,
                                          .ended_grids = source->holds_record};
    for (size_t i = 0; i < source->count; i++)
        if (source->processes[i]->map)
            trackers[request.process_count++] = &source->processes[i]->tracker;
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

static bool ended_by_fault(const struct process *process, uint32_t context)
{
    const struct wsdbg_context_row *row = &process->tracker.contexts[context].row;
    return context < process->tracker.head.context_count && row->error != 0 && row->slot_count > 0;
}

/* A destroyed context whose place in the segment went to another one has no slots. */
static bool ended_well(const struct process *process, uint32_t context)
{
    const struct wsdbg_context_row *row = &process->tracker.contexts[context].row;
    return context < process->tracker.head.context_count && !process->tracker.alive && row->error == 0 &&
           row->slot_count > 0;
}

/* The context ended in good order, or its process did, or all has been read. */
static bool memory_is_done(const struct ring_source *source, const struct process *process, uint32_t context)
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
    for (size_t i = 0; i < source->count; i++)
        for (uint32_t c = 0; c < WSDBG_CONTEXT_ROWS; c++)
            if (memory_is_done(source, source->processes[i], c))
                wsdbg_lasting_memory_drop(source->memory, source->processes[i]->process_id, c);
}

/* The request that the histories of this look answer. */
static uint32_t request_of(struct process *process)
{
    if (!process->asked)
        process->request = wsdbg_segment_map_request(process->map);
    process->asked = true;
    return process->request;
}

static struct wsdbg_error *restore(struct ring_source *source, struct process *process, uint32_t context,
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

/* A context that a fault ended, or its process, is read once; what cannot be read is said in the snapshot, and lost.
 * What was read answers every request from then on. */
static void restore_ended(struct ring_source *source, uint64_t now_ns)
{
    for (size_t i = 0; source->memory && i < source->count; i++) {
        struct process *process = source->processes[i];
        for (uint32_t c = 0; process->map && c < WSDBG_CONTEXT_ROWS; c++) {
            const bool faulted = ended_by_fault(process, c);
            struct wsdbg_error *error = NULL;
            if ((faulted || (source->holds_record && ended_well(process, c))) && !process->restored[c])
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

static struct wsdbg_error *ring_poll(struct wsdbg_evidence *base, uint64_t now_ns, struct wsdbg_snapshot *out)
{
    struct ring_source *source = (struct ring_source *)base;
    struct wsdbg_error *error = discover(source);
    if (!error)
        error = look(source, now_ns);
    if (!error)
        follow_memory(source);
    return error ? error : build(source, now_ns, false, out);
}

static bool wants_histories(const struct process *process)
{
    for (uint32_t i = 0; i < process->tracker.head.context_count; i++)
        if (process->tracker.contexts[i].row.history_depth &&
            process->tracker.contexts[i].row.state == WSDBG_CONTEXT_ALIVE)
            return process->tracker.alive;
    return false;
}

/* Asks every process first, then waits: they copy at the same time. */
static void fetch_histories(struct ring_source *source, uint64_t deadline_ns)
{
    for (size_t i = 0; i < source->count; i++) {
        struct process *process = source->processes[i];
        process->asked = process->map && wants_histories(process);
        if (process->asked)
            process->request = wsdbg_segment_map_request(process->map);
    }
    for (size_t i = 0; i < source->count; i++) {
        struct process *process = source->processes[i];
        while (process->asked && !wsdbg_segment_map_answered(process->map, process->request)) {
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
    struct wsdbg_error *error = discover(source);
    if (!error)
        error = look(source, now_ns);
    if (error)
        return error;
    fetch_histories(source, started_ns + deadline_ns);
    follow_memory(source);
    restore_ended(source, now_ns);
    /* Slots once more: a history fits only the slot's event of the same moment. */
    error = look(source, now_ns);
    if (error)
        return error;
    for (size_t i = 0; i < source->count; i++) {
        drop_stale_histories(source->processes[i]);
        wsdbg_tracker_read_histories(&source->processes[i]->tracker, now_ns);
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
    for (size_t i = 0; i < source->count; i++) {
        wsdbg_tracker_deinit(&source->processes[i]->tracker);
        if (source->processes[i]->map)
            wsdbg_segment_map_close(source->processes[i]->map);
        free(source->processes[i]);
    }
    wsdbg_recorder_close(source->recorder);
    wsdbg_lasting_memory_close(source->memory);
    free(source->processes);
    free(source->prefix);
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
    struct wsdbg_record_input *inputs = error ? NULL : calloc(source->count + 1, sizeof *inputs);
    if (!error && !inputs)
        error = &wsdbg_error_no_memory;
    size_t count = 0;
    for (size_t i = 0; !error && i < source->count; i++) {
        struct process *process = source->processes[i];
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
    for (size_t i = 0; i < source->count; i++)
        if (source->processes[i]->process_id == process_id)
            return source->processes[i]->map;
    return NULL;
}

static const struct wsdbg_evidence_ops ring_ops = {.name = "ring",
                                                   .poll = ring_poll,
                                                   .inspect = ring_inspect,
                                                   .record = ring_record,
                                                   .hold_record = ring_hold_record,
                                                   .close = ring_close};
static const struct wsdbg_evidence_ops attached_ops = {
    .name = "ring", .poll = ring_poll, .inspect = attached_inspect, .close = ring_close};

static struct wsdbg_error *open_source(const char *session, const char *spool, enum wsdbg_segment_use use,
                                       struct wsdbg_evidence **out)
{
    if (!session[0] || strchr(session, '/') || strlen(session) > 200)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "session name \"%s\": not a name for shared memory", session);
    struct ring_source *source = calloc(1, sizeof *source);
    if (!source)
        return &wsdbg_error_no_memory;
    source->base.ops = use == WSDBG_SEGMENT_READ ? &attached_ops : &ring_ops;
    source->use = use;
    if (asprintf(&source->prefix, "wsdbg.%s.", session) < 0) {
        free(source);
        return &wsdbg_error_no_memory;
    }
    struct wsdbg_error *error = spool ? wsdbg_lasting_memory_open(spool, &source->memory) : NULL;
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

struct wsdbg_error *wsdbg_evidence_attach_ring(const char *session, struct wsdbg_evidence **out)
{
    return open_source(session, NULL, WSDBG_SEGMENT_READ, out);
}

void wsdbg_ring_unlink(const char *session)
{
    char *prefix;
    DIR *folder = opendir(SHM_FOLDER);
    if (!folder)
        return;
    if (asprintf(&prefix, "wsdbg.%s.", session) >= 0) {
        for (struct dirent *entry; (entry = readdir(folder));)
            if (process_of(prefix, entry->d_name))
                unlinkat(dirfd(folder), entry->d_name, 0);
        free(prefix);
    }
    closedir(folder);
}

struct wsdbg_error *wsdbg_evidence_record(struct wsdbg_evidence *source, const char *path, uint64_t now_ns)
{
    if (!source->ops->record)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: only ring evidence can be recorded, this is %s", path,
                                  source->ops->name);
    return source->ops->record(source, path, now_ns);
}
