/* barrier_participation.h - how often each warp of a CTA has reached one named barrier, and what these counts say about
 * warps that are stuck there.
 *
 * A group of warps that meets at a barrier comes there equally often, each warp once a round.  What the counts say
 * against that is an argument which needs no knowledge of what the kernel computes.
 */
#ifndef WSDBG_DIAGNOSE_BARRIER_PARTICIPATION_H
#define WSDBG_DIAGNOSE_BARRIER_PARTICIPATION_H

#include "diagnose/case.h"

/* How often, where there is no limit that is known. */
#define WSDBG_MANY 255u

/* What one warp has done there, this wait of its included. */
struct wsdbg_barrier_executions {
    uint32_t least, most; /* arrivals; equal where their number is known */
    bool known;           /* the bounds come from a record, or from code that is known */
    bool arrives;         /* some of them with bar.arrive, which does not wait */
    uint32_t group;       /* equal for warps that reach the same instructions or have one role; WSDBG_NONE */
    uint32_t place;       /* of its instruction: row of snapshot.sites, WSDBG_NONE = not known */
};

struct wsdbg_barrier_participation {
    uint32_t cta, barrier; /* rows of the snapshot */
    uint32_t id, count;    /* threads that complete a round, as every visitor names them */
    bool more_to_come;     /* a live warp that is not there may still come */
    struct wsdbg_warp_set waiting;
    struct wsdbg_barrier_executions executions[WSDBG_CASE_WARPS_MAX]; /* by local number; of other CTAs: none */
};

/* Adds DOUBLE_ARRIVE, NAMED_ID_SHARED, NAMED_COUNT or WAKER_EXITED where the executions show it, at most as sure as
 * `cap`; the waiting warps are stuck.  False: they show none of these. */
bool wsdbg_judge_barrier_participation(struct wsdbg_case *c, const struct wsdbg_barrier_participation *r,
                                       enum wsdbg_confidence cap);

#endif
