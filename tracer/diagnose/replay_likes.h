/* replay_likes.h - which warps of a replay do the same, and so show what one of them would have done that has left. */
#ifndef WSDBG_DIAGNOSE_REPLAY_LIKES_H
#define WSDBG_DIAGNOSE_REPLAY_LIKES_H

#include "diagnose/replay.h"

/* In what an agent and its model must be the same. */
enum wsdbg_replay_likeness {
    WSDBG_LIKE_IN_ALL,
    WSDBG_LIKE_BY_MBARRIERS, /* in what they did with mbarriers, and that must be something */
    WSDBG_LIKE_BUT_FOR_MORE  /* in all, but the agent may have arrived more often than its model */
};

/* Whether most others of the warpgroup of a warp (local number) arrive on some mbarrier in their whole walks. */
bool wsdbg_replay_mates_arrive(const struct wsdbg_replay *replay, uint32_t warp);
/* Whether an agent did what another one does, and left where that one goes on.  *goes_on: the model's first step that
 * is not the agent's. */
bool wsdbg_replay_begins_like(const struct wsdbg_replay_agent *agent, const struct wsdbg_replay_agent *model,
                              enum wsdbg_replay_likeness likeness, uint32_t *goes_on);
/* Whether an agent did nothing but what another one did first, or nothing at all; initialisations do not count.
 * *goes_on as above; the model's step count if it did no more. */
bool wsdbg_replay_did_no_more(const struct wsdbg_replay_agent *agent, const struct wsdbg_replay_agent *model,
                              uint32_t *goes_on);
/* A warp that goes on for longer than the one that has left, and did the same up to there: number `turn`, from 0 on, of
 * those at the same place of another warpgroup, then others of its own warpgroup, then those of the same number in
 * other CTAs; WSDBG_NONE = there is none. */
uint32_t wsdbg_replay_model_of(const struct wsdbg_replay *replay, uint32_t warp, enum wsdbg_replay_likeness likeness,
                               uint32_t turn);
/* Whether an agent stands where its lanes were seen (replay_picture.c). */
bool wsdbg_replay_is_as_seen(const struct wsdbg_replay *replay, uint32_t agent);
/* Whether an agent has left in the replay, and all its lanes had exited in the picture. */
bool wsdbg_replay_has_left(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent);
/* Lanes of a warp that were seen to have left the kernel, and that had waited, arrived or copied before. */
uint32_t wsdbg_replay_workers_gone(const struct wsdbg_replay *replay, uint32_t warp);
/* Whether there are such lanes, less than half, of a warp that is still in the kernel: an elected lane, say. */
bool wsdbg_replay_have_lanes_left(const struct wsdbg_replay *replay);

#endif
