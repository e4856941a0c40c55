/* hangs_alone.h - CTAs that hang, but wait for nothing outside of their cluster. */
#ifndef WSDBG_DIAGNOSE_HANGS_ALONE_H
#define WSDBG_DIAGNOSE_HANGS_ALONE_H

#include "model/snapshot.h"

/* Whether the grid has a CTA with a live warp, where all live warps of its cluster wait on barriers of the cluster or
 * for registers.  What other CTAs poll is not the reason of this.  Such a CTA may be the reason why they poll. */
bool wsdbg_some_cta_hangs_alone(const struct wsdbg_snapshot *snapshot, uint32_t grid);

#endif
