/* whole_picture.h - the newest judged picture of a stall for which no process was left out.
 *
 * Where another wsdbg has a GPU, a later look lacks that GPU's process.  What the process was doing is then not known
 * any more, and another rank may look like the one at fault.  Pure: copies of snapshots.
 */
#ifndef WSDBG_WATCH_WHOLE_PICTURE_H
#define WSDBG_WATCH_WHOLE_PICTURE_H

#include "model/snapshot.h"

/* {0} = there is none. */
struct wsdbg_whole_picture {
    struct wsdbg_snapshot snapshot;
    uint64_t progress_ns; /* of the stall that it is of */
};

/* Keeps a copy; without memory there is none. */
void wsdbg_whole_keep(struct wsdbg_whole_picture *whole, const struct wsdbg_snapshot *snapshot, uint64_t progress_ns);
/* Whether it is of the stall that began at progress_ns and shows looks at more processes than the snapshot. */
bool wsdbg_whole_shows_more(const struct wsdbg_whole_picture *whole, const struct wsdbg_snapshot *snapshot,
                            uint64_t progress_ns);
/* The snapshot becomes a copy of it.  False: there was no memory, and the snapshot is as it was. */
bool wsdbg_whole_bring_back(const struct wsdbg_whole_picture *whole, struct wsdbg_snapshot *snapshot);
void wsdbg_whole_deinit(struct wsdbg_whole_picture *whole);

#endif
