/* look_round.h - one look at each process whose work may stall.
 *
 * Reads: a snapshot made from slots.  Writes: notes into it about what could not be looked at; the processes' looks.
 */
#ifndef WSDBG_EVIDENCE_LOOK_ROUND_H
#define WSDBG_EVIDENCE_LOOK_ROUND_H

#include "evidence/evidence.h"
#include "evidence/live_processes.h"

/* Looks at every process that `use` asks for, by deadline_ns (CLOCK_MONOTONIC).  *looked lists those that were looked
 * at; the caller frees the list, not the processes.  A note gives the reason for each other one.  The only error is
 * NO_MEMORY. */
struct wsdbg_error *wsdbg_look_round(struct wsdbg_live_processes *processes, enum wsdbg_attach_use use,
                                     uint64_t deadline_ns, struct wsdbg_snapshot *snapshot,
                                     struct wsdbg_live_process ***looked, size_t *count);

#endif
