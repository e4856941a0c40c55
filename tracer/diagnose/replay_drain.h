/* replay_drain.h - walks that end by waiting until a ring of stages is empty. */
#ifndef WSDBG_DIAGNOSE_REPLAY_DRAIN_H
#define WSDBG_DIAGNOSE_REPLAY_DRAIN_H

#include "diagnose/replay.h"

/* The step from which on an agent drains a ring: it waits for each stage once, by instructions of their own and with
 * nothing between but arrivals whose tokens it waits for, and leaves.  step_count = it does not. */
uint32_t wsdbg_replay_drain_of(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent);

#endif
