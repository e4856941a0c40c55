/* replay_tokens.h - waits that name the token of an arrival, and so the phase in which the thread arrived itself. */
#ifndef WSDBG_DIAGNOSE_REPLAY_TOKENS_H
#define WSDBG_DIAGNOSE_REPLAY_TOKENS_H

#include "diagnose/replay.h"

/* Whether a step is an arrival on the barrier on which the step `wait` waits by token. */
bool wsdbg_replay_is_token_of(const struct wsdbg_replay_agent *agent, uint32_t step, uint32_t wait);
/* Whether an agent stands at a wait by token on the barrier. */
bool wsdbg_replay_waits_by_token(const struct wsdbg_replay_agent *agent, uint32_t barrier);
/* The arrivals in the phase under way of those who stand so. */
uint64_t wsdbg_replay_arrivals_of_waiters(const struct wsdbg_replay *replay, uint32_t barrier);

#endif
