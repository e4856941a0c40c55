/* replay_tokens.h - waits that name the token of an arrival, and so the phase in which the thread arrived itself. */
#ifndef WSDBG_DIAGNOSE_REPLAY_TOKENS_H
#define WSDBG_DIAGNOSE_REPLAY_TOKENS_H

#include "diagnose/replay.h"

/* Whether a step is an arrival on the barrier on which the step `wait` waits by token. */
bool wsdbg_replay_is_token_of(const struct wsdbg_replay_agent *agent, uint32_t step, uint32_t wait);
/* Whether lanes of the agent were seen in a wait for an mbarrier, and those of no earlier agent of its warpgroup in one
 * for the same. */
bool wsdbg_replay_leads_waiters(const struct wsdbg_replay *replay, uint32_t agent);
/* Takes a wait by token to name the token of an earlier arrival than the last one: in the agents of the warpgroup of
 * `leader`, the one of this number, from 0 on, of those on the barrier on which its lanes were seen.  False: its lanes
 * were not seen in a wait for an mbarrier, or it has no such wait.  No other wait is then taken so. */
bool wsdbg_replay_assume_stale(struct wsdbg_replay *replay, uint32_t leader, uint32_t number);
/* Whether each agent stands at the wait for an mbarrier in which its lanes were seen, and not at another one for the
 * same phase: as far as it is known by which instruction they waited. */
bool wsdbg_replay_waits_where_seen(const struct wsdbg_replay *replay);
/* Takes each wait by token to name that of the last arrival. */
void wsdbg_replay_assume_fresh(struct wsdbg_replay *replay);
/* Whether an agent stands at a wait by token on the barrier. */
bool wsdbg_replay_waits_by_token(const struct wsdbg_replay_agent *agent, uint32_t barrier);
/* The arrivals in the phase under way of those who stand so. */
uint64_t wsdbg_replay_arrivals_of_waiters(const struct wsdbg_replay *replay, uint32_t barrier);

/* The wait at or before the step `end` that names the token of an earlier arrival than the agent's last one before it:
 * the one that is taken to, or the first that is known to.  WSDBG_NONE = there is none. */
uint32_t wsdbg_replay_stale_wait_of(const struct wsdbg_replay_agent *agent, uint32_t end);

#endif
