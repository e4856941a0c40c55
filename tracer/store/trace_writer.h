/* trace_writer.h - private to the room: the trace events of docs/trace.schema.json, one function a form.
 *
 * Times are nanoseconds of the clock of the process a track is in; the file holds microseconds.
 * Write errors stay in the stream: the caller looks at it in the end.
 */
#ifndef WSDBG_STORE_TRACE_WRITER_H
#define WSDBG_STORE_TRACE_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct wsdbg_trace_file {
    FILE *out;
    bool begun; /* an event stands before the next one */
};

/* A row of the timeline. */
struct wsdbg_track {
    uint64_t pid, tid;
};

/* "process_name" with tid 0, "thread_name"; `sort` orders it among its like. */
void wsdbg_trace_name(struct wsdbg_trace_file *trace, const char *what, struct wsdbg_track track, const char *name,
                      uint64_t sort);
/* The forms below leave their event open for arguments; wsdbg_trace_end closes it.  A moment's scope is "t" (its
 * track), "p" (its process) or "g" (the trace). */
void wsdbg_trace_slice(struct wsdbg_trace_file *trace, struct wsdbg_track track, const char *name, uint64_t time_ns,
                       uint64_t duration_ns);
void wsdbg_trace_moment(struct wsdbg_trace_file *trace, struct wsdbg_track track, const char *name, uint64_t time_ns,
                        const char *scope);
void wsdbg_trace_counter(struct wsdbg_trace_file *trace, struct wsdbg_track track, const char *name, uint64_t time_ns);
void wsdbg_trace_number(struct wsdbg_trace_file *trace, const char *name, uint64_t value);
void wsdbg_trace_text(struct wsdbg_trace_file *trace, const char *name, const char *value);
void wsdbg_trace_end(struct wsdbg_trace_file *trace);
/* An arrow between the slices that two tracks have at that time. */
void wsdbg_trace_arrow(struct wsdbg_trace_file *trace, uint64_t id, struct wsdbg_track from, struct wsdbg_track to,
                       uint64_t time_ns);

#endif
