/* builder.h - the parts of the snapshot builder, private to this room.  One file a part, in this order:
 * snapshot_tables, snapshot_communicators, snapshot_grids, grid_match, snapshot_warps, inferred_names,
 * snapshot_barriers, barrier_phase. */
#ifndef WSDBG_EVIDENCE_BUILDER_H
#define WSDBG_EVIDENCE_BUILDER_H

#include "evidence/snapshot_build.h"
#include "model/rows.h"

/* Where a process's rows begin in the snapshot's arrays. */
struct wsdbg_process_base {
    uint32_t context, module, function, launch;
    uint32_t launch_count;
    bool launches_dropped; /* some left the ring before they were read */
};

/* What is known of a grid beside its row; same index as snapshot.grids. */
struct wsdbg_grid_work {
    uint32_t process;
    uint32_t cluster_size;
    uint32_t max_x, max_y, max_z; /* largest CTA coordinates seen */
    uint32_t slots;
    uint64_t changed_ns;
    bool waits_for_dependency; /* some warp is in griddepcontrol.wait */
    bool listed;               /* its CTAs and warps go into the snapshot */
    /* From the launches that fit: */
    bool ordered;     /* all on `stream`, all by `thread_id`: grid ids are in stream order */
    bool may_overlap; /* some may have begun before the work ahead of it had ended */
    uint64_t stream;
    uint32_t thread_id;
};

/* An occupied slot and the grid it belongs to. */
struct wsdbg_slot_entry {
    const struct wsdbg_tracked_slot *tracked;
    uint32_t grid;
    uint32_t slot; /* index in its context */
};

struct wsdbg_builder {
    const struct wsdbg_build_request *request;
    struct wsdbg_snapshot *out;
    struct wsdbg_process_base *bases;
    struct wsdbg_grid_work *grids;
    struct wsdbg_slot_entry *entries;
    size_t entry_count;
    struct wsdbg_table_counts capacity; /* of the tables that grow with what is found */
};

/* Each fills its part of the snapshot; an error is always out of memory. */
struct wsdbg_error *wsdbg_build_tables(struct wsdbg_builder *builder);
/* Of one process, behind its launches; there is room. */
void wsdbg_build_communicators(struct wsdbg_builder *builder, const struct wsdbg_tracker *tracker,
                               const struct wsdbg_process_base *base);
struct wsdbg_error *wsdbg_build_grids(struct wsdbg_builder *builder);
struct wsdbg_error *wsdbg_match_launches(struct wsdbg_builder *builder);
/* Which grids run, once launches are matched. */
void wsdbg_mark_running(struct wsdbg_builder *builder);
struct wsdbg_error *wsdbg_build_warps(struct wsdbg_builder *builder);
/* Names in modules without any: roles of their warps change with it. */
struct wsdbg_error *wsdbg_build_names(struct wsdbg_builder *builder);
struct wsdbg_error *wsdbg_build_barriers(struct wsdbg_builder *builder);
/* Phases of mbarriers, where arrivals can be counted exactly. */
struct wsdbg_error *wsdbg_build_phases(struct wsdbg_builder *builder);

/* The CTA of `cta`'s cluster with this rank, WSDBG_NONE if it was not seen. */
uint32_t wsdbg_cluster_peer(const struct wsdbg_snapshot *snapshot, uint32_t cta, uint32_t rank);

#endif
