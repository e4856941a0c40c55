/* missing_arrivals.h - an mbarrier wait whose phase still needs arrivals, and who could make them by the code. */
#ifndef WSDBG_DIAGNOSE_MISSING_ARRIVALS_H
#define WSDBG_DIAGNOSE_MISSING_ARRIVALS_H

#include "diagnose/code_case.h"

struct wsdbg_missing_arrivals {
    uint32_t warp; /* waits */
    struct wsdbg_barrier_word word;
    uint32_t made;              /* arrivals of the phase that are there */
    struct wsdbg_warp_set able; /* other live warps that can still arrive, however doubtful */
    enum wsdbg_can itself;      /* the waiting warp: after its wait, or by lanes that do not wait */
    enum wsdbg_can apart;       /* ... only by lanes that do not wait */
    struct wsdbg_warp_set past; /* other live warps with an arrival on it behind them for good */
    struct wsdbg_warp_set done; /* ... in a loop that they have left */
    enum wsdbg_match in_code;   /* an arrival on it */
    uint32_t arrives;           /* an access of that kind, or WSDBG_NONE */
    struct wsdbg_warp_set left; /* exited warps that may have arrived on it */
    uint32_t exited;            /* their number */
    bool left_known;            /* of every exited warp it is known which arrivals on it may have been reached */
    uint32_t peers_gone;
};

/* False where the warp may still go on, waits for something else, or waits for bytes only. */
bool wsdbg_missing_arrivals_read(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_missing_arrivals *missing);

/* Other lanes of the waiting warp may reach an arrival.  A doubtful arrival counts only if no exited warp could have
 * made it instead. */
bool wsdbg_missing_arrivals_is_in_parts(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing);

/* ... and all of those stand where lanes of the warp meet: each waits for the lanes that wait. */
bool wsdbg_missing_arrivals_others_meet(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing);

/* Some arrival on it may come from another CTA. */
bool wsdbg_missing_arrivals_may_be_remote(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing);

/* Some stage of the barrier in this CTA has completed a phase.  A stage that has completed two looks as if it had
 * completed none. */
bool wsdbg_missing_arrivals_ever_completed(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing);

/* ... or some warp that stands elsewhere has come through a wait on the barrier. */
bool wsdbg_missing_arrivals_may_have_completed(const struct wsdbg_case *c,
                                               const struct wsdbg_missing_arrivals *missing);

/* Nobody has arrived in the phase, and those who did in others have left their loop: the waiter is a round ahead. */
static inline bool wsdbg_missing_arrivals_is_of_round_too_many(const struct wsdbg_missing_arrivals *missing)
{
    return missing->made == 0 && wsdbg_set_count(&missing->done) > 0;
}

/* A phase of parity 0, perhaps the first one, has as many arrivals as the exited warps bring in one round, and nobody
 * else brings any, nor has the waiting warp: so no exited warp is known to have left one out. */
bool wsdbg_missing_arrivals_are_all_made(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing);

/* Whether warps that wait for bytes only, on other barriers, would bring as many arrivals as are missing once these
 * come: then what holds up the bytes holds up the arrivals, too. */
bool wsdbg_missing_arrivals_may_come_behind_bytes(const struct wsdbg_case *c,
                                                  const struct wsdbg_missing_arrivals *missing);

/* A finding about it, with the rows that show the wait and the word; NULL when memory ran out. */
struct wsdbg_finding *wsdbg_missing_arrivals_find(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                                                  enum wsdbg_cause cause, enum wsdbg_confidence confidence);

#endif
