/* arrival_log.h - who made the arrivals that a phase has, as a whole record of the CTA tells.
 *
 * A simulated device records every arrival.  Where the record has all of them and they add up to what the barrier's
 * word has, nobody else arrived.
 */
#ifndef WSDBG_DIAGNOSE_ARRIVAL_LOG_H
#define WSDBG_DIAGNOSE_ARRIVAL_LOG_H

#include "diagnose/missing_arrivals.h"

struct wsdbg_arrival_log {
    struct wsdbg_warp_set arrived; /* warps that made them */
    uint64_t each;                 /* by every one of these; 0 = they differ */
};

/* Of a barrier of which no phase was ever completed.  False where the record is not whole, the CTA has others in its
 * cluster, or its arrivals are not those of the word. */
bool wsdbg_arrival_log_read(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                            struct wsdbg_arrival_log *log);

/* Everybody has arrived who could: each warp whose code arrives there, and as often as the others; what is missing is
 * not what warps would bring that have exited without an arrival, or that would arrive a second time behind their wait.
 */
bool wsdbg_arrival_log_has_all(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                               const struct wsdbg_arrival_log *log);

#endif
