/* replay_run.h - for the files that run a replay: what a step does to barriers and to the agents that wait for them. */
#ifndef WSDBG_DIAGNOSE_REPLAY_RUN_H
#define WSDBG_DIAGNOSE_REPLAY_RUN_H

#include "diagnose/code_case.h"
#include "diagnose/replay.h"

static inline bool wsdbg_replay_has_gone(const struct wsdbg_replay_agent *agent)
{
    return agent->state == WSDBG_AGENT_ENDED;
}

/* ---- mbarriers (replay_mbarriers.c) ---- */

/* Makes `arrivals` of one step, `each` by one thread, and announces bytes with them. */
void wsdbg_replay_arrive(struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier, uint32_t arrivals,
                         uint32_t each, int64_t bytes);
void wsdbg_replay_expect(struct wsdbg_replay *replay, uint32_t barrier, int64_t bytes);
void wsdbg_replay_bring(struct wsdbg_replay *replay, uint32_t barrier, int64_t bytes);
void wsdbg_replay_copy(struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent,
                       const struct wsdbg_step_row *step, uint32_t target);
/* Copies that take their time bring their bytes; true if there were any. */
bool wsdbg_replay_end_copies(struct wsdbg_replay *replay);
void wsdbg_replay_initialise(struct wsdbg_replay *replay, uint32_t barrier, const struct wsdbg_replay_agent *agent,
                             const struct wsdbg_step_row *step);
/* The parity that the agent's wait names: the one in the code, or the changed one. */
uint32_t wsdbg_replay_parity_of(const struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier, bool repeats,
                                uint32_t in_code);
void wsdbg_replay_begin_wait(struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier, uint32_t in_code);
/* What the agent does from here on is not known. */
void wsdbg_replay_lose(struct wsdbg_replay *replay, uint32_t agent);

/* ---- lanes, warps and CTAs that wait for each other (replay_meets.c) ---- */

/* Whether the lanes of a warp execute a step together. */
bool wsdbg_replay_gathers(const struct wsdbg_step_row *step);
void wsdbg_replay_gather(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent);
/* A warp arrives at a named barrier of a CTA, where uses name so many threads. */
void wsdbg_replay_arrive_at_named(struct wsdbg_replay *replay, uint32_t cta, uint32_t id, uint32_t wanted);
void wsdbg_replay_wait_for_cluster(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent);
void wsdbg_replay_wait_for_matrices(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent);
/* The agent leaves the kernel.  Barriers may complete that waited only for it. */
void wsdbg_replay_leave(struct wsdbg_replay *replay, struct wsdbg_replay_agent *agent);

#endif
