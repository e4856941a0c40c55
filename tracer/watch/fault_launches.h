/* fault_launches.h - which launches a GPU fault may have come from, as far as the host side knows. */
#ifndef WSDBG_WATCH_FAULT_LAUNCHES_H
#define WSDBG_WATCH_FAULT_LAUNCHES_H

#include "model/snapshot.h"

#define WSDBG_FAULT_LAUNCHES_BYTES 512

/* "launches not known to be done then: reduce (launch 8), gemm (launch 7)", newest first; "" where nobody followed the
 * context's work, or every launch was done. */
void wsdbg_fault_launches(const struct wsdbg_snapshot *snapshot, size_t context, char out[WSDBG_FAULT_LAUNCHES_BYTES]);

#endif
