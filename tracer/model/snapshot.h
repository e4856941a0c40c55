/* snapshot.h - what was true at one moment, as plain data.  Every kind of evidence ends as this struct.
 *
 * Written by: tracer/evidence.  Read by: diagnose, store, viewer.
 *
 * Arrays with counts; rows refer to each other by index (WSDBG_NONE = none or not known).  Strings are
 * zero-terminated and owned by the snapshot.  Times are CLOCK_MONOTONIC nanoseconds of the host unless a
 * name says gpu: gpu times are nanoseconds of %globaltimer relative to one another (gpu_now_ns is the
 * newest time stamp seen in that context); host and GPU clocks are never subtracted from each other.
 *
 * The structs of rows are in program_rows.h, host_rows.h, code_rows.h and warp_rows.h.  A table is added there and in
 * tables.def, which names the members of its rows that are rows of other tables.  Its members of struct wsdbg_snapshot
 * follow, and the functions that copy, free, append and drop its rows (rows.h).
 */
#ifndef WSDBG_MODEL_SNAPSHOT_H
#define WSDBG_MODEL_SNAPSHOT_H

#include <stddef.h>

#include "base/error.h"
#include "base/optional.h"
#include "model/code_rows.h"
#include "model/host_rows.h"
#include "model/program_rows.h"
#include "model/warp_rows.h"

#define WSDBG_NONE UINT32_MAX

/* A line of what could not be seen. */
typedef char wsdbg_note[256];

struct wsdbg_snapshot {
    uint64_t time_ns;   /* host, when it was taken */
    const char *source; /* "ring", … */
    /* contexts and context_count, modules and module_count, … */
#define WSDBG_TABLE(kind, row_type, rows, count, bytes, references) \
    row_type *rows;                                                 \
    size_t count;
#include "model/tables.def"
    uint64_t launches_total;       /* launches ever, also of processes that are not shown any more */
    uint64_t unread_segments;      /* of the session's, that could not be read: what they hold is not in here */
    char unread_reason[256];       /* of one of them */
    uint64_t refusals_left_out;    /* different ones that there was no room to keep */
    uint64_t allocations_left_out; /* that there was no room to keep */
    struct wsdbg_snapshot *before; /* what the look before the newest one saw, of the first process that was looked
                                      at, to compare with; its tables are the first rows of this one's.  NULL =
                                      there was none */
    struct wsdbg_snapshot *record; /* what the kernels recorded themselves of grids whose state a look then showed:
                                      their slots and histories.  Tables are the first rows of this one's, the history
                                      has the same rows.  NULL = they recorded nothing, or were not looked at */
    bool names_inferred;           /* role and barrier names come from what the code does, not from its author */
    uint64_t torn_events;          /* history entries or slots that did not fit together */
    uint64_t foreign_slots;        /* slots whose identity failed its check */
    uint64_t lost_rows;            /* table rows the observer could not record */
    uint64_t progress_ns;          /* host time at which any slot of a running grid last changed */
};

/* When a process was looked at: snapshots of several nodes are not taken at one moment. */
uint64_t wsdbg_snapshot_seen_ns(const struct wsdbg_snapshot *snapshot, uint32_t process_id);

/* The memory of a process that holds an address: what lives, or was freed after `used_ns` (0 = not known).  What was
 * there at `used_ns` goes before what came later.  NULL = none is known. */
const struct wsdbg_allocation *wsdbg_snapshot_allocation(const struct wsdbg_snapshot *snapshot, uint32_t process_id,
                                                         uint64_t address, uint64_t used_ns);

/* The same grid in another picture of the same contexts: by context and grid id; WSDBG_NONE = it is not there. */
uint32_t wsdbg_snapshot_same_grid(const struct wsdbg_snapshot *snapshot, uint32_t grid,
                                  const struct wsdbg_snapshot *other);
/* The same CTA, by its place in the grid that is `other_grid` there. */
uint32_t wsdbg_snapshot_same_cta(const struct wsdbg_snapshot *snapshot, uint32_t cta,
                                 const struct wsdbg_snapshot *other, uint32_t other_grid);
/* Whether all warps of a CTA have exited. */
bool wsdbg_snapshot_cta_has_left(const struct wsdbg_snapshot *snapshot, uint32_t cta);

/* Frees everything inside; the struct becomes zero. */
void wsdbg_snapshot_deinit(struct wsdbg_snapshot *snapshot);

/* A copy that shares nothing with the original but static strings.  `out` is owned by the caller. */
struct wsdbg_error *wsdbg_snapshot_copy(const struct wsdbg_snapshot *snapshot, struct wsdbg_snapshot *out);

/* A row of sites, NULL where the number is none. */
const struct wsdbg_site *wsdbg_snapshot_site(const struct wsdbg_snapshot *snapshot, uint32_t site);

/* Name row of an id in a module; NULL where none was given. */
const struct wsdbg_name *wsdbg_snapshot_name(const struct wsdbg_snapshot *snapshot, uint32_t module,
                                             enum wsdbg_name_kind kind, uint32_t id);
/* Where the name of a module comes from; AUTHOR for NULL. */
enum wsdbg_name_origin wsdbg_snapshot_name_origin(const struct wsdbg_snapshot *snapshot, uint32_t module,
                                                  const struct wsdbg_name *name);
/* The role's name of a warp, or NULL. */
const char *wsdbg_snapshot_role_name(const struct wsdbg_snapshot *snapshot, const struct wsdbg_warp_row *warp);
/* Demangling is not done here: the function's name of a grid, or NULL. */
const char *wsdbg_snapshot_grid_name(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid);

/* The clause of a sentence that says why a GPU has no cause. */
#define WSDBG_CAUSES_KNOWN "causes are known for sm_90 only"
/* Whether the rules can name causes on the grid's GPU: it is sm_90, or its architecture is not known. */
bool wsdbg_causes_are_known(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid);

#endif
