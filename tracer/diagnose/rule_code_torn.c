/* rule_code_torn.c - a few lanes have left a warp that still has multiplications (wgmma) to do.
 *
 * Reads: a replay that ends in the picture.  Adds: WAKER_EXITED.
 *
 * All lanes of a warp must execute a wgmma.  So a lane that leaves before one does so by mistake, and what it was
 * elected for is missing: its code may even have been dropped, so that no other rule sees it.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay_likes.h"
#include "diagnose/rules.h"

/* Whether an agent waits for an mbarrier, as it was seen, and its walk has a multiplication behind that. */
static bool waits_before_wgmma(const struct wsdbg_replay *replay, uint32_t number)
{
    const struct wsdbg_replay_agent *agent = &replay->agents[number];
    if (agent->state != WSDBG_AGENT_WAITS || !wsdbg_replay_is_as_seen(replay, number))
        return false;
    for (uint32_t k = agent->at; k < agent->step_count; k++)
        if (agent->steps[k].kind == WSDBG_ACCESS_WGMMA)
            return true;
    return false;
}

/* The lanes, fewer than half, that had worked and have left the warp of an agent; 0: there are none. */
static uint32_t lanes_gone(const struct wsdbg_replay *replay, uint32_t warp)
{
    const uint32_t gone = wsdbg_replay_workers_gone(replay, warp);
    return 2 * (uint32_t)__builtin_popcount(gone) < WSDBG_WARP_THREADS ? gone : 0;
}

static void say(struct wsdbg_case *c, const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *waiter,
                uint32_t lanes)
{
    const uint32_t row = replay->barriers[waiter->target[waiter->at]].row;
    const struct wsdbg_warp_row *warp = wsdbg_case_warp(c, waiter->warp);
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_WAKER_EXITED,
                                                    wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), warp->cta, row);
    if (!finding)
        return;
    finding->role = warp->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s of %s left the kernel, and the rest of the warp waits on %s%s. The warp still has wgmma to do, "
                "which all its lanes must execute: they left too early, and what they should have done is missing.",
                wsdbg_say_lanes(lanes).text, wsdbg_say_warp(c, waiter->warp).text, wsdbg_say_object(c, row).text,
                wsdbg_say_at(c, waiter->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let the elected lane go on with its warp: do not return from the code that it alone executes.");
    wsdbg_tell_wait(c, finding, waiter->warp);
    wsdbg_tell_word(c, finding, row);
}

void wsdbg_rule_code_torn(struct wsdbg_case *c)
{
    const struct wsdbg_replay *replay = wsdbg_case_explained(c) ? NULL : wsdbg_replay_standing(c);
    for (uint32_t i = 0; replay && i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        const uint32_t lanes = waits_before_wgmma(replay, i) ? lanes_gone(replay, agent->warp) : 0;
        if (lanes && replay->barriers[agent->target[agent->at]].row != WSDBG_NONE) {
            say(c, replay, agent, lanes);
            return;
        }
    }
}
