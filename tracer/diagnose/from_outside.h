/* from_outside.h - whether anybody outside of a grid could end that it stands still; see from_outside.c. */
#ifndef WSDBG_DIAGNOSE_FROM_OUTSIDE_H
#define WSDBG_DIAGNOSE_FROM_OUTSIDE_H

#include "model/snapshot.h"

enum wsdbg_outside {
    WSDBG_OUTSIDE_NOBODY = 0,
    WSDBG_OUTSIDE_HOST,   /* what a warp polls, or may poll, the host may still write or have written */
    WSDBG_OUTSIDE_GRID,   /* another grid runs that may write it, or that a warp waits for */
    WSDBG_OUTSIDE_DEVICE, /* a warp polls what the host or another GPU may be meant to write */
    WSDBG_OUTSIDE_LIMIT,  /* a warp polls in a loop that may end by itself */
};

/* Who outside of the grid could still end its waits, as far as the snapshot tells: the first one that is found. */
enum wsdbg_outside wsdbg_outside_can_end(const struct wsdbg_snapshot *snapshot, uint32_t grid);
/* "the host may still …": a clause for a message; NOBODY has none ("nobody outside of the kernel can end it"). */
const char *wsdbg_outside_text(enum wsdbg_outside outside);

#endif
