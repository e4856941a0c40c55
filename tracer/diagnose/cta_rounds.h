/* cta_rounds.h - whether the threads of one CTA of a cluster go through their loops less often than the same threads of
 * all other CTAs.
 *
 * Their walks then have the same accesses in the same order, but lack whole rounds: steps that repeat those before
 * them, wait for an mbarrier and do something with one.  Each thread that waits for mbarriers lacks some.  A thread
 * that leaves out an arrival alone lacks no round.
 */
#ifndef WSDBG_DIAGNOSE_CTA_ROUNDS_H
#define WSDBG_DIAGNOSE_CTA_ROUNDS_H

#include "diagnose/replay.h"

struct wsdbg_cta_rounds {
    const struct wsdbg_replay *replay;
    uint32_t cta;         /* position in c->ctas: the one with fewer rounds */
    uint32_t own, others; /* rounds of the first of its threads that has fewer */
};

/* False: there is no such CTA, or not all walks are known from the kernel's start to its end. */
bool wsdbg_find_short_cta(const struct wsdbg_replay *replay, struct wsdbg_cta_rounds *out);

/* Whether any thread lacks rounds that the same thread of another CTA has. */
bool wsdbg_rounds_differ(const struct wsdbg_replay *replay);

/* Whether a step waits for an mbarrier, or does what a wait may be for. */
static inline bool wsdbg_uses_mbarrier(const struct wsdbg_step_row *step)
{
    return wsdbg_is_mbarrier_access(step->kind) && step->kind != WSDBG_ACCESS_INIT;
}

#endif
