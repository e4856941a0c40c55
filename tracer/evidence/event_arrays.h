/* event_arrays.h - the events that a simulated device wrote itself, in the words of a look at its state. */
#ifndef WSDBG_EVIDENCE_EVENT_ARRAYS_H
#define WSDBG_EVIDENCE_EVENT_ARRAYS_H

#include "model/snapshot.h"

/* Gives the events of a grid's warps the ids, stages and iterations of the mbarriers that a look saw.  Each barrier
 * says how the device calls it; events of others stay as they are. */
struct wsdbg_error *wsdbg_events_take_arrays(struct wsdbg_snapshot *snapshot, uint32_t grid);

#endif
