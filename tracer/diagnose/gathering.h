/* gathering.h - who stands at one named barrier, who may still come to it, and whether it is a barrier for all threads
 * in the branch of one role.
 *
 * Pure functions of a case; `waiter`, `warp`: local numbers of warps.
 */
#ifndef WSDBG_DIAGNOSE_GATHERING_H
#define WSDBG_DIAGNOSE_GATHERING_H

#include "diagnose/case.h"

struct wsdbg_gathering {
    uint32_t barrier;                /* row */
    uint32_t id, count, other_count; /* threads named; a second value where they differ */
    uint32_t cta_threads;
    struct wsdbg_warp_set waiting, others;
    struct wsdbg_warp_set to_come;  /* live warps that may still reach it */
    uint32_t others_behind;         /* warps that are not there and may have come through it before */
    bool others_arrive;             /* ... without waiting */
    struct wsdbg_warp_set exited;   /* and may have come too, or nobody knows */
    struct wsdbg_warp_set partners; /* of those who came for sure */
};

/* At the barrier at which the warp stands. */
struct wsdbg_gathering wsdbg_gathering_of(const struct wsdbg_case *c, uint32_t waiter);
/* Threads that a waiting warp names; 0 = the whole CTA, or not known. */
uint32_t wsdbg_gathering_named_count(const struct wsdbg_case *c, uint32_t warp);
/* A new finding about the barrier, with who waits there as its evidence.  NULL: no memory (remembered in no_memory). */
struct wsdbg_finding *wsdbg_gathering_find(struct wsdbg_case *c, const struct wsdbg_gathering *g,
                                           enum wsdbg_cause cause, enum wsdbg_confidence confidence);
/* Live warps of the CTA that are not there. */
struct wsdbg_warp_set wsdbg_gathering_absent(const struct wsdbg_case *c, const struct wsdbg_gathering *g);
/* All warps of the CTA that are not there. */
struct wsdbg_warp_set wsdbg_gathering_others(const struct wsdbg_case *c, const struct wsdbg_gathering *g);

/* ---- barriers for all threads ---- */

bool wsdbg_gathering_is_block_wide(const struct wsdbg_gathering *g);
/* How sure it is that the barrier stands in the branch of one role; 0 = not at all.  Some warp of the CTA never reaches
 * this place.  Of one that has left, and that the barrier does not wait for, that shows less.  A barrier that all warps
 * can reach is not at fault: what keeps the absent warps from it is. */
enum wsdbg_confidence wsdbg_gathering_is_in_a_branch(const struct wsdbg_case *c, const struct wsdbg_warp_set *absent,
                                                     uint32_t waiter);
/* The access of a block-wide barrier that all waiting warps may have reached and no other warp of the CTA can.
 * WSDBG_NONE: there is none, or the other warps have an access of their own instead. */
uint32_t wsdbg_gathering_sync_of_role(const struct wsdbg_case *c, const struct wsdbg_gathering *g);
/* None of the others has a waiting warp's role.  Four warps in a row have one role where it is not known that they have
 * two: a sync that only some of them reach stands in no role's branch.  Rather one of them passed it by. */
bool wsdbg_gathering_is_of_role(const struct wsdbg_case *c, const struct wsdbg_gathering *g,
                                const struct wsdbg_warp_set *others);

#endif
