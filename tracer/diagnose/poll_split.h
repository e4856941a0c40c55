/* poll_split.h - lanes of a warp that poll for what other lanes of the same warp write, which wait for them. */
#ifndef WSDBG_DIAGNOSE_POLL_SPLIT_H
#define WSDBG_DIAGNOSE_POLL_SPLIT_H

#include "diagnose/finding.h"

struct wsdbg_case;
struct wsdbg_warp_set;

/* Adds LANE_SPLIT for the first of the warps that poll which is split so, with the confidence that its poll does not
 * end otherwise; false where none is, or another warp may write the word too. */
bool wsdbg_find_poll_split(struct wsdbg_case *c, const struct wsdbg_warp_set *pollers,
                           enum wsdbg_confidence confidence);

#endif
