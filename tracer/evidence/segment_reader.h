/* segment_reader.h - safe access to the bytes of one traced process's segment (wsdbg/session.h).
 *
 * Reads: a live mapping or a buffer (a recorded frame).  Writes: copies of rows.
 *
 * The producer is never trusted: every count is cut to its table, every offset checked against the bytes
 * that are really there, every string ended.  A live mapping changes while it is read, so rows are copied
 * with atomic loads and only the copies are looked at.
 */
#ifndef WSDBG_EVIDENCE_SEGMENT_READER_H
#define WSDBG_EVIDENCE_SEGMENT_READER_H

#include "base/error.h"
#include "wsdbg/session.h"

#include <stdbool.h>
#include <stddef.h>

/* Borrowed bytes, 8-byte aligned; used_bytes of the header may say less than byte_count, never more. */
struct wsdbg_segment_view {
    const unsigned char *bytes;
    size_t byte_count;
};

/* The header's scalars, copied once per look. */
struct wsdbg_segment_head {
    uint64_t used_bytes, created_ns, launch_count, activity_count, lost_rows;
    uint64_t left_ns;                       /* the process executes another program since then; 0 = it does not */
    uint64_t program_device, program_inode; /* 0 = not known */
    uint32_t process_id;
    uint32_t history_request, history_done;
    uint32_t context_count, module_count, function_count, name_count, thread_count, note_count;
    uint32_t refusal_count, refusals_left_out; /* 0 of an older observer */
    uint32_t graph_kernel_count;               /* likewise */
    uint32_t allocation_count, allocations_left_out;
    bool has_given; /* the observer follows what contexts are given */
    enum wsdbg_host_state host_state;
    bool has_no_network_card; /* known to hold none open */
    bool has_rank;            /* the observer looks for it */
    bool exit_called;         /* the process called exit() */
    int32_t exit_status;      /* ... with this status */
    uint32_t communicator_count, communicators_left_out;
    bool is_off; /* the observer has switched itself off, and records nothing any more */
};

/* Magic, versions and sizes; errors start with `label`. */
struct wsdbg_error *wsdbg_segment_check(const struct wsdbg_segment_view *view, const char *label);
/* The view must have passed wsdbg_segment_check; counts come back no larger than their tables. */
struct wsdbg_segment_head wsdbg_segment_read_head(const struct wsdbg_segment_view *view);

/* Copies of rows; `row` must be below the head's count. Strings are ended. */
/* Where the ring of the context with that row lies. */
enum wsdbg_ring_memory wsdbg_segment_read_ring_place(const struct wsdbg_segment_view *view, uint32_t row);
void wsdbg_segment_read_context(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_context_row *out);
void wsdbg_segment_read_module(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_module_row *out);
void wsdbg_segment_read_function(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_function_row *out);
void wsdbg_segment_read_name(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_name *out);
void wsdbg_segment_read_note(const struct wsdbg_segment_view *view, uint32_t row, char out[WSDBG_TEXT_BYTES]);
void wsdbg_segment_read_refusal(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_refusal_row *out);
void wsdbg_segment_read_graph_kernel(const struct wsdbg_segment_view *view, uint32_t row,
                                     struct wsdbg_graph_kernel_row *out);
/* "" while the observer is active and saw everything. */
void wsdbg_segment_read_off_reason(const struct wsdbg_segment_view *view, char out[WSDBG_TEXT_BYTES]);
/* Zero where the segment is of an older observer.  False: the row changed under the eyes. */
bool wsdbg_segment_read_marker(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_marker_row *out);
/* False: the shim is writing the row. */
bool wsdbg_segment_read_allocation(const struct wsdbg_segment_view *view, uint32_t row,
                                   struct wsdbg_allocation_row *out);
/* Where the head says that there are such rows. */
void wsdbg_segment_read_given(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_given_row *out);
/* Where the head says that there is one.  False: the row is being written. */
bool wsdbg_segment_read_rank(const struct wsdbg_segment_view *view, struct wsdbg_rank_row *out);
/* False: the row is being written. */
bool wsdbg_segment_read_communicator(const struct wsdbg_segment_view *view, uint32_t row,
                                     struct wsdbg_communicator_row *out);
/* Call `number` of that communicator's ring.  False: it was overwritten, or the shim is writing it. */
bool wsdbg_segment_read_collective(const struct wsdbg_segment_view *view, uint32_t row,
                                   const struct wsdbg_communicator_row *communicator, uint64_t number,
                                   struct wsdbg_collective_row *out);
/* False: the thread is not inside a call (or the row changed under the eyes). */
bool wsdbg_segment_read_thread(const struct wsdbg_segment_view *view, uint32_t row, struct wsdbg_thread_row *out);
/* Entry `number` of a ring table; false: it left the ring, or is being written. */
bool wsdbg_segment_read_launch(const struct wsdbg_segment_view *view, uint64_t number, struct wsdbg_launch_row *out);
bool wsdbg_segment_read_activity(const struct wsdbg_segment_view *view, uint64_t number,
                                 struct wsdbg_activity_row *out);

/* First slot of a context, NULL if it has none or they do not lie inside the bytes. */
const struct wsdbg_slot *wsdbg_segment_slots(const struct wsdbg_segment_view *view,
                                             const struct wsdbg_context_row *context);
/* First event of the history mirror, likewise; also NULL where the depth is not a power of two in range. */
const struct wsdbg_event *wsdbg_segment_mirror(const struct wsdbg_segment_view *view,
                                               const struct wsdbg_context_row *context);

/* Where launch sites lie, which hold pieces of the program's stacks: [*first, *end) of the bytes.  False: there are
 * none. */
bool wsdbg_segment_sites(const struct wsdbg_segment_view *view, size_t *first, size_t *end);

/* Copies `byte_count` (a multiple of 8) with one atomic load a word, in order. */
void wsdbg_segment_copy(void *destination, const void *source, size_t byte_count);

#endif
