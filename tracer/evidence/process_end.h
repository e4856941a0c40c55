/* process_end.h - how a process ended: its status or its signal. */
#ifndef WSDBG_EVIDENCE_PROCESS_END_H
#define WSDBG_EVIDENCE_PROCESS_END_H

#include "model/snapshot.h"

/* Of a process that lives no more; UNKNOWN where its parent was told already, or it only executes another program. */
struct wsdbg_process_end wsdbg_process_end_read(uint32_t process_id);

#endif
