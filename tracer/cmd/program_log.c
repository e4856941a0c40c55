/* program_log.c - see program_log.h.  Writes: the session database.
 *
 * The newest lines matter most, those before a stall: when there are too many the oldest that wait are left out, and
 * past the limit in bytes lines still wait, so that the last ones are written at the end.
 */
#include "cmd/program_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/log_ring.h"

enum { WAITING_LINES = 1000, WAITING_BYTES = 1 << 20, WRITTEN_BYTES_MAX = 64 << 20, EVERY_NS = 1000000000 };

struct wsdbg_program_log {
    struct viewer_log_ring *waiting;
    uint64_t lost_said; /* of the ring's lost lines, those that a written line tells of */
    uint64_t written_bytes, written_ns;
};

struct wsdbg_program_log *wsdbg_program_log_create(void)
{
    struct wsdbg_program_log *log = calloc(1, sizeof *log);
    if (log && (log->waiting = viewer_log_ring_create(WAITING_LINES, WAITING_BYTES)))
        return log;
    free(log);
    return NULL;
}

void wsdbg_program_log_add(struct wsdbg_program_log *log, uint64_t time_ns, const char *text)
{
    viewer_log_ring_add(log->waiting, time_ns, WSDBG_LOG_TERMINAL, text);
}

/* "(123 lines of the program left out)", where lines were lost since the last write. */
static size_t note_lost(struct wsdbg_program_log *log, char *note, size_t bytes, struct wsdbg_log_line *out)
{
    const uint64_t lost = viewer_log_ring_lost(log->waiting) - log->lost_said;
    struct wsdbg_log_line first;
    if (lost == 0 || !viewer_log_ring_line(log->waiting, 0, &first))
        return 0;
    log->lost_said += lost;
    snprintf(note, bytes, "(%" PRIu64 " lines of the program left out)", lost);
    *out = (struct wsdbg_log_line){first.time_ns, WSDBG_LOG_WSDBG, note};
    return 1;
}

void wsdbg_program_log_flush(struct wsdbg_program_log *log, struct wsdbg_store *store, uint64_t now_ns)
{
    static const size_t room = WAITING_LINES + 1;
    const size_t waiting = viewer_log_ring_count(log->waiting);
    struct wsdbg_log_line *lines = store && waiting > 0 ? malloc(room * sizeof *lines) : NULL;
    char note[80];
    if (!lines)
        return;
    size_t count = note_lost(log, note, sizeof note, lines);
    for (size_t i = 0; i < waiting && viewer_log_ring_line(log->waiting, i, &lines[count]); i++)
        log->written_bytes += strlen(lines[count++].text);
    /* The watch says it when the database cannot be written. */
    wsdbg_error_destroy(wsdbg_store_log_lines(store, lines, count));
    free(lines);
    while (viewer_log_ring_count(log->waiting) > 0)
        viewer_log_ring_drop(log->waiting);
    log->written_ns = now_ns;
}

void wsdbg_program_log_write(struct wsdbg_program_log *log, struct wsdbg_store *store, uint64_t now_ns)
{
    if (now_ns - log->written_ns >= EVERY_NS && log->written_bytes < WRITTEN_BYTES_MAX)
        wsdbg_program_log_flush(log, store, now_ns);
}

void wsdbg_program_log_destroy(struct wsdbg_program_log *log)
{
    if (!log)
        return;
    viewer_log_ring_destroy(log->waiting);
    free(log);
}
