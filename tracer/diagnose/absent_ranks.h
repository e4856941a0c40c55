/* absent_ranks.h - the ranks for which the making of a communicator waits. */
#ifndef WSDBG_DIAGNOSE_ABSENT_RANKS_H
#define WSDBG_DIAGNOSE_ABSENT_RANKS_H

#include "model/snapshot.h"

/* Whether the communicator is being made and this process (index) is known to be one that it waits for. */
bool wsdbg_rank_is_absent(const struct wsdbg_snapshot *snapshot, uint32_t communicator, uint32_t process);

#endif
