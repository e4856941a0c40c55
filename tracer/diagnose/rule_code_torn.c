/* rule_code_torn.c - a few lanes have left a warp whose other lanes go on.
 *
 * Reads: walks, the picture.  Adds: WAKER_EXITED.
 *
 * All lanes of a warp must execute a wgmma.  So a lane that leaves before one does so by mistake, and what it was
 * elected for is missing: its code may even have been dropped, so that no other rule sees it.  Where no replay of the
 * walks ends in the picture, and all of the warp that is left stands at a named barrier, which counts whole warps, that
 * is possible.
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

static struct wsdbg_finding *find(struct wsdbg_case *c, uint32_t warp, uint32_t row, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_WAKER_EXITED, wsdbg_code_cap(c, confidence), wsdbg_case_warp(c, warp)->cta, row);
    if (!finding)
        return NULL;
    finding->role = wsdbg_case_warp(c, warp)->role;
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let the elected lane go on with its warp: do not return from the code that it alone executes.");
    wsdbg_tell_wait(c, finding, warp);
    return finding;
}

/* ---- lanes that leave before a multiplication ---- */

static void say_wgmma(struct wsdbg_case *c, const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *waiter,
                      uint32_t lanes)
{
    const uint32_t row = replay->barriers[waiter->target[waiter->at]].row;
    struct wsdbg_finding *finding = find(c, waiter->warp, row, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s of %s left the kernel, and the rest of the warp waits on %s%s. The warp still has wgmma to do, "
                "which all its lanes must execute: they left too early, and what they should have done is missing.",
                wsdbg_say_lanes(lanes).text, wsdbg_say_warp(c, waiter->warp).text, wsdbg_say_object(c, row).text,
                wsdbg_say_at(c, waiter->warp).text);
    wsdbg_tell_word(c, finding, row);
}

static void judge_wgmma(struct wsdbg_case *c, const struct wsdbg_replay *replay)
{
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        const uint32_t lanes = waits_before_wgmma(replay, i) ? lanes_gone(replay, agent->warp) : 0;
        if (lanes && replay->barriers[agent->target[agent->at]].row != WSDBG_NONE) {
            say_wgmma(c, replay, agent, lanes);
            return;
        }
    }
}

/* ---- lanes that leave the others at a named barrier ---- */

static void say_named(struct wsdbg_case *c, uint32_t warp, uint32_t lanes)
{
    const uint32_t row = wsdbg_case_warp(c, warp)->barrier;
    struct wsdbg_finding *finding = find(c, warp, row, WSDBG_CONFIDENCE_POSSIBLE);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s of %s, which waited, arrived or copied before, left the kernel, and the rest of the warp waits on "
                "%s%s: they may have left too early, and what they should have done is missing.",
                wsdbg_say_lanes(lanes).text, wsdbg_say_warp(c, warp).text, wsdbg_say_object(c, row).text,
                wsdbg_say_at(c, warp).text);
}

static void judge_named(struct wsdbg_case *c, const struct wsdbg_replay *replay)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t parts;
        wsdbg_code_parts(c, w, &parts);
        const bool stands = wsdbg_case_warp(c, w)->state == WSDBG_WARP_WAIT_NAMED && parts == 1;
        const uint32_t lanes = stands && wsdbg_case_stuck(c, w) ? lanes_gone(replay, w) : 0;
        if (lanes) {
            say_named(c, w, lanes);
            return;
        }
    }
}

void wsdbg_rule_code_torn(struct wsdbg_case *c)
{
    const struct wsdbg_replay *standing = wsdbg_replay_standing(c);
    struct wsdbg_replay *replay = NULL;
    if (standing) {
        if (c->still)
            judge_wgmma(c, standing);
        return;
    }
    if (wsdbg_replay_create(c, &replay))
        c->no_memory = true;
    if (replay)
        judge_named(c, replay);
    wsdbg_replay_destroy(replay);
}
