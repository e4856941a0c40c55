/* snapshot_drop.h - takes out of a snapshot what a better look at the same process replaces. */
#ifndef WSDBG_EVIDENCE_SNAPSHOT_DROP_H
#define WSDBG_EVIDENCE_SNAPSHOT_DROP_H

#include "model/snapshot.h"

/* Removes the grids of a process with their CTAs, warps, barriers and all else that belongs to them; events stay in
 * snapshot.history. */
struct wsdbg_error *wsdbg_snapshot_drop_grids(struct wsdbg_snapshot *snapshot, uint32_t process_id);
/* The same of the grids that are chosen. */
typedef bool wsdbg_grid_choice(const struct wsdbg_snapshot *snapshot, const struct wsdbg_grid *grid, const void *user);
struct wsdbg_error *wsdbg_snapshot_drop_chosen_grids(struct wsdbg_snapshot *snapshot, wsdbg_grid_choice *is_dropped,
                                                     const void *user);

#endif
