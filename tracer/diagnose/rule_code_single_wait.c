/* rule_code_single_wait.c - a thread that waits only once on an mbarrier, for the phase after the only one that there
 * is.
 *
 * Reads: walks, the picture.  Adds: PARITY_WRONG.
 *
 * From the kernel's start to its end all threads together arrive just as often as one phase takes, and this phase is
 * complete.  Whoever tests for parity 1 before that is let through at once, and whoever comes later waits forever.  Who
 * is late is a race, and a replay of the walks seldom ends in the picture.  So the rule needs no replay.
 *
 * Some other warp must have come through the same wait.  If all stand in it, the second phase may be what they need,
 * and its arrival is what is missing.
 */
#include "diagnose/code_say.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

/* Whether all arrivals that the kernel has for the barrier complete one phase. */
static bool has_one_phase(const struct wsdbg_replay *replay, uint32_t barrier)
{
    uint32_t init[2] = {WSDBG_NONE, WSDBG_NONE};
    struct wsdbg_barrier_word word;
    uint64_t arrivals = 0;
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        if (!wsdbg_replay_keeps_count(&replay->agents[i], barrier, init))
            return false;
        arrivals += wsdbg_replay_arrivals_on(&replay->agents[i], barrier);
    }
    return wsdbg_word_of(replay->c, replay->barriers[barrier].row, &word) && word.expected > 0 &&
           arrivals == word.expected && word.phase == 1 && word.untouched;
}

/* Whether the agent has one wait on the barrier, for parity 1. */
static bool waits_once(const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    uint32_t waits = 0;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const struct wsdbg_step_row *step = &agent->steps[k];
        if (agent->target[k] != barrier || step->kind != WSDBG_ACCESS_WAIT)
            continue;
        waits++;
        if (!step->number_known || !(step->number & 1))
            return false;
    }
    return waits == 1;
}

/* Whether the warp of the agent, which waits once, has come through that wait: it has left, or stands where its walk
 * comes only behind the wait. */
static bool has_passed(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(replay->c, agent->warp);
    bool is_behind = false, any = false;
    if (row->state == WSDBG_WARP_EXITED)
        return true;
    if (!wsdbg_case_stuck(replay->c, agent->warp) || row->barrier == WSDBG_NONE)
        return false;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        const uint32_t target = agent->target[k];
        is_behind |= target == barrier && agent->steps[k].kind == WSDBG_ACCESS_WAIT;
        if (target == WSDBG_NONE || replay->barriers[target].row != row->barrier)
            continue;
        if (!is_behind || target == barrier)
            return false;
        any = true;
    }
    return any;
}

/* Whether another warp has come through the wait at which these warps are stuck. */
static bool any_passed(const struct wsdbg_replay *replay, uint32_t barrier, const struct wsdbg_warp_set *stuck)
{
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (!wsdbg_set_has(stuck, replay->agents[i].warp) && waits_once(&replay->agents[i], barrier) &&
            has_passed(replay, &replay->agents[i], barrier))
            return true;
    return false;
}

/* The warps that are stuck in their only wait on the barrier. */
static struct wsdbg_warp_set stuck_on(const struct wsdbg_replay *replay, uint32_t barrier)
{
    struct wsdbg_warp_set warps = {{0}};
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const uint32_t warp = replay->agents[i].warp;
        const struct wsdbg_warp_row *row = wsdbg_case_warp(replay->c, warp);
        if (row->state == WSDBG_WARP_WAIT_MBARRIER && row->barrier == replay->barriers[barrier].row &&
            row->parity.known && row->parity.value == 1 && wsdbg_case_stuck(replay->c, warp) &&
            waits_once(&replay->agents[i], barrier))
            wsdbg_set_add(&warps, warp);
    }
    return warps;
}

static void say(struct wsdbg_case *c, const struct wsdbg_replay_barrier *barrier, const struct wsdbg_warp_set *warps)
{
    const uint32_t first = wsdbg_first_of(warps);
    const bool is_one = wsdbg_set_count(warps) == 1;
    struct wsdbg_finding *finding = wsdbg_case_find(
        c, WSDBG_CAUSE_PARITY_WRONG, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), c->ctas[barrier->cta], barrier->row);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, first)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait%s for parity 1 of %s%s. The arrivals of the whole kernel complete one phase of it, which has "
                "parity 0 and is complete. So a wait for parity 1 ends at once before that, and never after it.",
                wsdbg_say_warps(c, warps).text, is_one ? "s" : "", wsdbg_say_object(c, barrier->row).text,
                wsdbg_say_at(c, first).text);
    wsdbg_print(finding->fix, sizeof finding->fix, "Wait for parity 0 of %s, which is its first phase.",
                wsdbg_say_object(c, barrier->row).text);
    wsdbg_tell_waits(c, finding, warps);
    wsdbg_tell_word(c, finding, barrier->row);
}

void wsdbg_rule_code_single_wait(struct wsdbg_case *c)
{
    struct wsdbg_replay *replay = wsdbg_replay_of_still(c);
    for (uint32_t b = 0; replay && b < replay->barrier_count; b++) {
        const struct wsdbg_replay_barrier *barrier = &replay->barriers[b];
        if (barrier->row == WSDBG_NONE || !has_one_phase(replay, b))
            continue;
        const struct wsdbg_warp_set warps = stuck_on(replay, b);
        if (!wsdbg_set_count(&warps) || !any_passed(replay, b, &warps))
            continue;
        say(c, barrier, &warps);
        break;
    }
    wsdbg_replay_destroy(replay);
}
