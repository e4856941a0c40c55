/* snapshot_build.h - from tracked processes to one snapshot.
 *
 * Reads: trackers just after wsdbg_tracker_look.  Writes: a snapshot that owns all it holds.
 */
#ifndef WSDBG_EVIDENCE_SNAPSHOT_BUILD_H
#define WSDBG_EVIDENCE_SNAPSHOT_BUILD_H

#include "evidence/tracker.h"
#include "model/snapshot.h"

struct wsdbg_build_request {
    struct wsdbg_tracker *const *processes;
    size_t process_count;
    uint64_t now_ns;
    const char *source; /* static string */
    bool histories;     /* walk the mirrors of contexts whose copy is current */
    bool ended_grids;   /* with histories: list what ended grids of processes that are gone left, too */
};

/* CTAs, warps and barriers are listed for grids that run, for grids whose context died under them, and for ended ones
 * where that is asked for; other grids have counts only. */
struct wsdbg_error *wsdbg_snapshot_build(const struct wsdbg_build_request *request, struct wsdbg_snapshot *out);

#endif
