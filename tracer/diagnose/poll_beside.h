/* poll_beside.h - what else hangs beside the warps of a case that poll: then the poll may only follow from that. */
#ifndef WSDBG_DIAGNOSE_POLL_BESIDE_H
#define WSDBG_DIAGNOSE_POLL_BESIDE_H

#include "diagnose/case.h"

/* Who may be the one that should write the polled word, once it goes on. */
enum wsdbg_beside {
    WSDBG_BESIDE_NOBODY,
    WSDBG_BESIDE_MBARRIER, /* the word is in shared memory, and a warp is stuck at an mbarrier */
    WSDBG_BESIDE_WARPS,    /* warps of the case that wait for one another, and for no warp that polls */
    WSDBG_BESIDE_CTA       /* another CTA of the process that hangs by itself (hangs_alone.h) */
};
enum wsdbg_beside wsdbg_hangs_beside(const struct wsdbg_case *c, const struct wsdbg_warp_set *pollers);

#endif
