/* dropped.h - mbarriers that all threads have left by mbarrier.arrive_drop. */
#ifndef WSDBG_DIAGNOSE_DROPPED_H
#define WSDBG_DIAGNOSE_DROPPED_H

#include "diagnose/code_case.h"

/* Whether the word of the mbarrier (index in snapshot.barriers) is one that expects no arrivals any more, because all
 * that it was initialised for were dropped.  *by: the warps of its CTA that may have done so. */
bool wsdbg_is_dropped(const struct wsdbg_case *c, uint32_t barrier, struct wsdbg_warp_set *by);

#endif
