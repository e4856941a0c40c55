/* recorded.c - evidence from a file made by --record; the format is in record.h.
 *
 * Reads: one file, whole, into memory.  Frames are applied in order to copies of the segments; a look
 * further back starts again from the first frame.  Errors name the file, the offset and the reason.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "evidence/evidence.h"
#include "base/grow.h"
#include "base/limits.h"
#include "evidence/record.h"
#include "evidence/recorded_looks.h"
#include "evidence/snapshot_build.h"

#define FILE_BYTES_MAX (1u << 30)
/* Segments of all processes together. */
#define TOTAL_BYTES_MAX (512u << 20)

struct process {
    uint32_t process_id;
    bool alive;
    unsigned char *bytes;
    size_t byte_count;
    struct wsdbg_tracker tracker;
};

struct frame {
    uint64_t now_ns;
    size_t offset; /* of the frame's head in the file */
};

struct recorded_source {
    struct wsdbg_evidence base;
    char *path;
    unsigned char *file;
    size_t file_bytes;
    struct frame *frames;
    size_t frame_count, frame_capacity;
    size_t applied; /* frames applied so far */
    struct process **processes;
    size_t process_count, process_capacity;
    struct process **present; /* those of the current frame */
    size_t present_count, present_capacity;
    size_t total_bytes;
    bool drops_absent; /* a process that is not in a frame begins anew should it come again */
    struct wsdbg_recorded_looks looks;
    uint64_t began_ns; /* reading, by the clock of base/limits.h */
};

static struct wsdbg_error *bad(const struct recorded_source *source, size_t offset, const char *reason)
{
    return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT, "%s: offset %zu: %s", source->path, offset, reason);
}

static struct wsdbg_error *read_stream(struct recorded_source *source, FILE *stream)
{
    size_t capacity = 0, got;
    do {
        if (source->file_bytes >= FILE_BYTES_MAX)
            return bad(source, source->file_bytes, "a recording is at most 1 GiB");
        if (!wsdbg_grow((void **)&source->file, &capacity, source->file_bytes + 65536, 1))
            return &wsdbg_error_no_memory;
        got = fread(source->file + source->file_bytes, 1, capacity - source->file_bytes, stream);
        source->file_bytes += got;
    } while (got > 0);
    return ferror(stream) ? wsdbg_error_os(errno, "read %s", source->path) : NULL;
}

static struct wsdbg_error *read_file(struct recorded_source *source)
{
    FILE *stream = fopen(source->path, "rbe");
    if (!stream)
        return wsdbg_error_os(errno, "open %s", source->path);
    struct wsdbg_error *error = read_stream(source, stream);
    fclose(stream);
    return error;
}

static struct wsdbg_error *check_head(struct recorded_source *source)
{
    struct wsdbg_record_head head = {0};
    memcpy(&head, source->file, source->file_bytes < sizeof head ? source->file_bytes : sizeof head);
    if (source->file_bytes < sizeof head.magic || head.magic != WSDBG_RECORD_MAGIC)
        return wsdbg_error_create(WSDBG_ERROR_BAD_INPUT,
                                  "%s: is no recording of wsdbg (wsdbg run --record FILE makes one)", source->path);
    if (source->file_bytes < sizeof head)
        return bad(source, source->file_bytes, "cut within its head");
    if (head.version < WSDBG_RECORD_OLDEST_VERSION || head.version > WSDBG_RECORD_VERSION)
        return wsdbg_error_create(WSDBG_ERROR_VERSION, "%s: offset 8: recording version %u, this wsdbg reads %u to %u",
                                  source->path, head.version, WSDBG_RECORD_OLDEST_VERSION, WSDBG_RECORD_VERSION);
    source->drops_absent = head.version >= 3;
    return NULL;
}

static struct wsdbg_error *check_frame(const struct recorded_source *source, size_t at,
                                       struct wsdbg_record_frame *frame)
{
    if (source->file_bytes - at < sizeof *frame)
        return bad(source, at, "truncated in a frame's head");
    memcpy(frame, source->file + at, sizeof *frame);
    if (frame->magic != WSDBG_RECORD_FRAME_MAGIC)
        return bad(source, at, "no frame begins here");
    if (frame->compressed_bytes > source->file_bytes - at - sizeof *frame)
        return bad(source, at, "truncated in a frame");
    if (frame->process_count > WSDBG_RECORD_PROCESSES_MAX || frame->plain_bytes > TOTAL_BYTES_MAX)
        return bad(source, at, "a frame larger than any wsdbg writes");
    if (frame->now_ns > WSDBG_RECORD_TIME_MAX_NS)
        return bad(source, at, "a frame of a time that no clock shows");
    const uint64_t most = wsdbg_limits_unpacked(frame->compressed_bytes, TOTAL_BYTES_MAX);
    if (frame->plain_bytes > most)
        return wsdbg_error_prefix(wsdbg_limits_unpacks_to_more(frame->compressed_bytes, most, TOTAL_BYTES_MAX),
                                  "%s: offset %zu", source->path, at);
    if (source->frame_count && frame->now_ns < source->frames[source->frame_count - 1].now_ns)
        return bad(source, at, "a frame earlier than the one before it");
    return NULL;
}

static bool begins_look(const struct recorded_source *source, size_t at)
{
    uint32_t magic = 0;
    if (source->file_bytes - at >= sizeof magic)
        memcpy(&magic, source->file + at, sizeof magic);
    return magic == WSDBG_RECORD_LOOK_MAGIC;
}

static struct wsdbg_error *index_frames(struct recorded_source *source)
{
    size_t at = sizeof(struct wsdbg_record_head);
    while (at < source->file_bytes) {
        struct wsdbg_record_frame frame;
        if (begins_look(source, at)) {
            const uint64_t least_ns = source->frame_count ? source->frames[source->frame_count - 1].now_ns : 0;
            const char *wrong =
                wsdbg_recorded_looks_add(&source->looks, source->file, source->file_bytes, at, least_ns, &at);
            if (wrong)
                return bad(source, at, wrong);
            continue;
        }
        struct wsdbg_error *error = check_frame(source, at, &frame);
        if (error)
            return error;
        if (!wsdbg_grow((void **)&source->frames, &source->frame_capacity, source->frame_count + 1,
                        sizeof *source->frames))
            return &wsdbg_error_no_memory;
        source->frames[source->frame_count++] = (struct frame){.now_ns = frame.now_ns, .offset = at};
        at += sizeof frame + frame.compressed_bytes;
    }
    return source->frame_count ? NULL : bad(source, at, "truncated: no frame");
}

static void free_process(struct process *process)
{
    wsdbg_tracker_deinit(&process->tracker);
    free(process->bytes);
    free(process);
}

static void forget_processes(struct recorded_source *source)
{
    for (size_t i = 0; i < source->process_count; i++)
        free_process(source->processes[i]);
    source->process_count = source->present_count = source->applied = source->total_bytes = 0;
}

static struct process *process_of(struct recorded_source *source, uint32_t process_id)
{
    for (size_t i = 0; i < source->process_count; i++)
        if (source->processes[i]->process_id == process_id)
            return source->processes[i];
    struct process *process = calloc(1, sizeof *process);
    const bool room = wsdbg_grow((void **)&source->processes, &source->process_capacity, source->process_count + 1,
                                 sizeof *source->processes);
    if (!process || !room) {
        free(process);
        return NULL;
    }
    process->process_id = process_id;
    return source->processes[source->process_count++] = process;
}

static size_t whole_pages(uint64_t byte_count)
{
    return (size_t)((byte_count + WSDBG_RECORD_PAGE_BYTES - 1) / WSDBG_RECORD_PAGE_BYTES * WSDBG_RECORD_PAGE_BYTES);
}

/* Segments only grow. calloc, not realloc, for fresh bytes: what was never written costs no memory. */
static struct wsdbg_error *grow_process(struct recorded_source *source, struct process *process, size_t byte_count)
{
    if (byte_count <= process->byte_count)
        return NULL;
    unsigned char *larger = calloc(1, byte_count);
    if (!larger)
        return &wsdbg_error_no_memory;
    if (process->byte_count)
        memcpy(larger, process->bytes, process->byte_count);
    free(process->bytes);
    source->total_bytes += byte_count - process->byte_count;
    process->bytes = larger;
    process->byte_count = byte_count;
    return NULL;
}

/* What is left to read of a frame's content. */
struct cursor {
    const unsigned char *bytes;
    size_t left;
};

static bool take(struct cursor *cursor, void *out, size_t count)
{
    if (cursor->left < count)
        return false;
    memcpy(out, cursor->bytes, count);
    cursor->bytes += count;
    cursor->left -= count;
    return true;
}

static bool take_pages(struct cursor *cursor, struct process *process, uint32_t page_count)
{
    for (uint32_t i = 0; i < page_count; i++) {
        uint32_t page;
        if (!take(cursor, &page, sizeof page) || page >= process->byte_count / WSDBG_RECORD_PAGE_BYTES ||
            !take(cursor, process->bytes + (size_t)page * WSDBG_RECORD_PAGE_BYTES, WSDBG_RECORD_PAGE_BYTES))
            return false;
    }
    return true;
}

/* Since the frame before wsdbg was given copies of histories, or asked, and read those of a mapped ring. */
static bool has_new_histories(const struct wsdbg_tracker *tracker, const struct wsdbg_segment_head *before)
{
    bool is_mapped = false;
    for (uint32_t i = 0; i < tracker->head.context_count; i++)
        is_mapped |= tracker->contexts[i].ring == WSDBG_RING_IN_HOST;
    return tracker->head.history_done != before->history_done ||
           (is_mapped && tracker->head.history_request != before->history_request);
}

static struct wsdbg_error *take_process(struct recorded_source *source, struct cursor *cursor,
                                        const struct frame *frame)
{
    struct wsdbg_record_process head;
    if (!take(cursor, &head, sizeof head))
        return bad(source, frame->offset, "the frame's content ends early");
    if (head.segment_bytes > WSDBG_RECORD_SEGMENT_BYTES_MAX ||
        head.segment_bytes > TOTAL_BYTES_MAX - source->total_bytes)
        return bad(source, frame->offset, "a segment larger than any wsdbg records");
    struct process *process = process_of(source, head.process_id);
    if (!process || !wsdbg_grow((void **)&source->present, &source->present_capacity, source->present_count + 1,
                                sizeof *source->present))
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < source->present_count; i++)
        if (source->present[i] == process)
            return bad(source, frame->offset, "the frame holds a process twice");
    struct wsdbg_error *error = grow_process(source, process, whole_pages(head.segment_bytes));
    if (error)
        return error;
    if (!take_pages(cursor, process, head.page_count))
        return bad(source, frame->offset, "the frame's pages do not fit its segment");
    process->alive = head.alive == 1;
    source->present[source->present_count++] = process;
    const struct wsdbg_segment_view view = {process->bytes, (size_t)head.segment_bytes};
    char label[64];
    snprintf(label, sizeof label, "segment of process %u", head.process_id);
    error = wsdbg_error_prefix(wsdbg_segment_check(&view, label), "%s: offset %zu", source->path, frame->offset);
    const struct wsdbg_segment_head before = process->tracker.head;
    if (!error)
        error = wsdbg_tracker_look(&process->tracker, &view, process->alive, frame->now_ns);
    if (!error && has_new_histories(&process->tracker, &before))
        wsdbg_tracker_read_histories(&process->tracker, frame->now_ns);
    return error;
}

static bool is_present(const struct recorded_source *source, const struct process *process)
{
    for (size_t i = 0; i < source->present_count; i++)
        if (source->present[i] == process)
            return true;
    return false;
}

static void forget_absent(struct recorded_source *source)
{
    size_t left = 0;
    for (size_t i = 0; i < source->process_count; i++) {
        struct process *process = source->processes[i];
        if (is_present(source, process)) {
            source->processes[left++] = process;
            continue;
        }
        source->total_bytes -= process->byte_count;
        free_process(process);
    }
    source->process_count = left;
}

static struct wsdbg_error *apply_plain(struct recorded_source *source, const struct frame *frame, struct cursor cursor,
                                       uint32_t process_count)
{
    source->present_count = 0;
    for (uint32_t i = 0; i < process_count; i++) {
        struct wsdbg_error *error = take_process(source, &cursor, frame);
        if (error)
            return error;
    }
    if (source->drops_absent)
        forget_absent(source);
    return cursor.left ? bad(source, frame->offset, "the frame holds more than its processes") : NULL;
}

static struct wsdbg_error *apply_frame(struct recorded_source *source, const struct frame *frame)
{
    struct wsdbg_record_frame head;
    memcpy(&head, source->file + frame->offset, sizeof head);
    unsigned char *plain = malloc(head.plain_bytes + 1);
    if (!plain)
        return &wsdbg_error_no_memory;
    const size_t got =
        ZSTD_decompress(plain, head.plain_bytes, source->file + frame->offset + sizeof head, head.compressed_bytes);
    struct wsdbg_error *error = ZSTD_isError(got) || got != head.plain_bytes
                                    ? bad(source, frame->offset, "the frame's content is damaged")
                                    : apply_plain(source, frame, (struct cursor){plain, got}, head.process_count);
    free(plain);
    return error;
}

/* Goes to the last frame not after now_ns; before the first frame, to the first. */
static struct wsdbg_error *seek(struct recorded_source *source, uint64_t now_ns)
{
    size_t wanted = 1;
    while (wanted < source->frame_count && source->frames[wanted].now_ns <= now_ns)
        wanted++;
    if (wanted < source->applied)
        forget_processes(source);
    for (;;) {
        if (wsdbg_limits_is_late(source->began_ns))
            return wsdbg_limits_late(source->path);
        if (source->applied >= wanted)
            return NULL;
        struct wsdbg_error *error = apply_frame(source, &source->frames[source->applied]);
        if (error) {
            forget_processes(source);
            return error;
        }
        source->applied++;
    }
}

static struct wsdbg_error *look(struct recorded_source *source, uint64_t now_ns, bool histories,
                                struct wsdbg_snapshot *out)
{
    struct wsdbg_error *error = seek(source, now_ns);
    if (error)
        return error;
    struct wsdbg_tracker **trackers = malloc((source->present_count + 1) * sizeof(struct wsdbg_tracker *));
    if (!trackers)
        return &wsdbg_error_no_memory;
    for (size_t i = 0; i < source->present_count; i++)
        trackers[i] = &source->present[i]->tracker;
    const struct wsdbg_build_request request = {.processes = trackers,
                                                .process_count = source->present_count,
                                                .now_ns = now_ns,
                                                .source = source->base.ops->name,
                                                .histories = histories};
    error = wsdbg_snapshot_build(&request, out);
    free(trackers);
    return error;
}

static struct wsdbg_error *recorded_poll(struct wsdbg_evidence *base, uint64_t now_ns, struct wsdbg_snapshot *out)
{
    return look((struct recorded_source *)base, now_ns, false, out);
}

static struct wsdbg_error *recorded_inspect(struct wsdbg_evidence *base, uint64_t now_ns, uint64_t deadline_ns,
                                            struct wsdbg_snapshot *out)
{
    (void)deadline_ns; /* what was recorded is there at once */
    struct recorded_source *source = (struct recorded_source *)base;
    struct wsdbg_snapshot snapshot = {0};
    struct wsdbg_error *error = look(source, now_ns, true, &snapshot);
    if (!error)
        error = wsdbg_recorded_looks_show(&source->looks, source->file, source->path, now_ns, &snapshot);
    if (error)
        wsdbg_snapshot_deinit(&snapshot);
    else
        *out = snapshot;
    return error;
}

static void recorded_close(struct wsdbg_evidence *base)
{
    struct recorded_source *source = (struct recorded_source *)base;
    forget_processes(source);
    wsdbg_recorded_looks_deinit(&source->looks);
    free(source->processes);
    free(source->present);
    free(source->frames);
    free(source->file);
    free(source->path);
    free(source);
}

static const struct wsdbg_evidence_ops recorded_ops = {
    .name = "recorded", .poll = recorded_poll, .inspect = recorded_inspect, .close = recorded_close};

static struct wsdbg_error *open_source(struct recorded_source *source)
{
    if (!source->path)
        return &wsdbg_error_no_memory;
    struct wsdbg_error *error = read_file(source);
    if (!error)
        error = check_head(source);
    return error ? error : index_frames(source);
}

bool wsdbg_recorded_has_looks(const struct wsdbg_evidence *base)
{
    return base->ops == &recorded_ops && ((const struct recorded_source *)base)->looks.count > 0;
}

uint64_t wsdbg_recorded_next_ns(const struct wsdbg_evidence *base, uint64_t now_ns)
{
    const struct recorded_source *source = (const struct recorded_source *)base;
    size_t frame = source->applied, look = 0;
    while (frame < source->frame_count && source->frames[frame].now_ns <= now_ns)
        frame++;
    while (look < source->looks.count && source->looks.rows[look].head.now_ns <= now_ns)
        look++;
    const uint64_t frame_ns = frame < source->frame_count ? source->frames[frame].now_ns : UINT64_MAX;
    const uint64_t look_ns = look < source->looks.count ? source->looks.rows[look].head.now_ns : UINT64_MAX;
    return frame_ns < look_ns ? frame_ns : look_ns;
}

struct wsdbg_error *wsdbg_evidence_open_recorded(const char *path, uint64_t *first_ns, uint64_t *last_ns,
                                                 struct wsdbg_evidence **out)
{
    struct recorded_source *source = calloc(1, sizeof *source);
    if (!source)
        return &wsdbg_error_no_memory;
    source->base.ops = &recorded_ops;
    source->path = strdup(path);
    source->began_ns = wsdbg_limits_clock_ns();
    struct wsdbg_error *error = open_source(source);
    if (error) {
        recorded_close(&source->base);
        return error;
    }
    *first_ns = source->frames[0].now_ns;
    *last_ns = source->frames[source->frame_count - 1].now_ns;
    if (source->looks.count && source->looks.rows[source->looks.count - 1].head.now_ns > *last_ns)
        *last_ns = source->looks.rows[source->looks.count - 1].head.now_ns;
    *out = &source->base;
    return NULL;
}
