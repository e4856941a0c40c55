/* completion.h - what the ring has of kernels, completed by looks at the state of the same warps: one snapshot of both.
 *
 * The looks' rows replace the ring's, with the histories of the same warps and the names that an author gave; what the
 * ring had is kept beside them as snapshot.record.
 */
#ifndef WSDBG_EVIDENCE_COMPLETION_H
#define WSDBG_EVIDENCE_COMPLETION_H

#include "machine/interpret.h"

/* Begins: sets aside what the ring has, before grids are dropped from the snapshot and looks added to it.  The caller
 * owns *record; NULL = there are no grids. */
struct wsdbg_error *wsdbg_completion_begin(const struct wsdbg_snapshot *ring, struct wsdbg_snapshot **record);
/* Ends: `first` is the number of the first grid that the looks added.  Warps are the same where context, grid id, CTA
 * and number are.  Takes the record, also when this fails; where something failed before, `so_far`, it does only that,
 * and returns it. */
struct wsdbg_error *wsdbg_completion_end(struct wsdbg_error *so_far, struct wsdbg_snapshot *snapshot, size_t first,
                                         struct wsdbg_snapshot *record);
/* All of it for looks at one process, oldest first.  Their rows get the number of that process. */
struct wsdbg_error *wsdbg_complete_process(struct wsdbg_look *const *looks, size_t count, uint32_t process_id,
                                           struct wsdbg_snapshot *snapshot);

#endif
