/* look_round.h - one look at each process whose work may stall.
 *
 * Reads: a snapshot made from slots.  Writes: notes into it about what could not be looked at; the processes' looks.
 */
#ifndef WSDBG_EVIDENCE_LOOK_ROUND_H
#define WSDBG_EVIDENCE_LOOK_ROUND_H

#include "evidence/evidence.h"
#include "evidence/live_processes.h"

/* Looks at every process that `use` asks for, by deadline_ns (CLOCK_MONOTONIC).  *looked, to be freed by the caller,
 * gets those whose looks are there; the processes stay `processes`'.  What was in the way of others becomes a note.
 * NO_MEMORY is the only error. */
struct wsdbg_error *wsdbg_look_round(struct wsdbg_live_processes *processes, enum wsdbg_attach_use use,
                                     uint64_t deadline_ns, struct wsdbg_snapshot *snapshot,
                                     struct wsdbg_live_process ***looked, size_t *count);

#endif
