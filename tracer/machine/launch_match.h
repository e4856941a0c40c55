/* launch_match.h - which launch a grid came from that was seen on the GPU itself.  Private to this room. */
#ifndef WSDBG_MACHINE_LAUNCH_MATCH_H
#define WSDBG_MACHINE_LAUNCH_MATCH_H

#include "model/snapshot.h"

/* Sets the grid's launch where just one of the snapshot's can have made it, and then the size that the GPU did not
 * tell.  The row of a graph launch gets kernel and shape of the node that the grid is. */
void wsdbg_find_launch(struct wsdbg_snapshot *snapshot, struct wsdbg_grid *grid);

#endif
