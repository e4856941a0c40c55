/* rule_cluster.c - warps stand at the cluster barrier before work of theirs that those who are missing there wait for.
 *
 * Reads: warp states, the wait graph, histories or what the code lets each warp reach, walks.  Adds: CLUSTER_MISSING.
 *
 * That warps stand there while others are stuck is the common end of every hang in a cluster; this is the cause only
 * where the barrier itself keeps the missing ones away.
 */
#include "diagnose/code_say.h"
#include "diagnose/outstanding.h"
#include "diagnose/replay.h"
#include "diagnose/rules.h"

struct meeting {
    struct wsdbg_warp_set waiting, absent, outstanding;
};

static bool is_held_up(const struct wsdbg_case *c, struct meeting *meeting)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const enum wsdbg_warp_state state = wsdbg_case_warp(c, w)->state;
        if (state == WSDBG_WARP_WAIT_CLUSTER && wsdbg_case_stuck(c, w))
            wsdbg_set_add(&meeting->waiting, w);
        else if (state != WSDBG_WARP_EXITED && state != WSDBG_WARP_WAIT_CLUSTER)
            wsdbg_set_add(&meeting->absent, w);
    }
    return wsdbg_set_count(&meeting->absent) > 0 &&
           wsdbg_all_wait_for(c, &meeting->absent, &meeting->waiting, &meeting->outstanding);
}

/* ---- what is left to do behind the barrier ---- */

static bool is_work(const struct wsdbg_step_row *step)
{
    return step->kind == WSDBG_ACCESS_ARRIVE || step->kind == WSDBG_ACCESS_ARRIVE_EXPECT ||
           step->kind == WSDBG_ACCESS_DROP || step->kind == WSDBG_ACCESS_EXPECT || step->kind == WSDBG_ACCESS_COPY ||
           step->kind == WSDBG_ACCESS_COPY_ARRIVE || step->kind == WSDBG_ACCESS_COMPLETE ||
           step->kind == WSDBG_ACCESS_NAMED_SYNC || step->kind == WSDBG_ACCESS_NAMED_ARRIVE;
}

/* Behind the last wait at the cluster barrier. */
static bool has_work_at_last(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk)
{
    bool any = false;
    for (uint32_t k = 0; k < walk->step_count; k++) {
        const struct wsdbg_step_row *step = &c->snapshot->steps[walk->step_first + k];
        any = (any || is_work(step)) && step->kind != WSDBG_ACCESS_CLUSTER_WAIT;
    }
    return any;
}

/* AT_LAST: none behind the last wait at the barrier, but it is not known whether they stand at that one. */
enum work { WORK_NONE, WORK_NONE_AT_LAST, WORK_LEFT };

/* Of warps that a replay shows at the barrier. */
static enum work work_of_replay(const struct wsdbg_replay *replay, const struct wsdbg_warp_set *warps)
{
    for (uint32_t i = 0; i < replay->agent_count; i++) {
        const struct wsdbg_replay_agent *agent = &replay->agents[i];
        if (!wsdbg_set_has(warps, agent->warp))
            continue;
        if (!replay->c->snapshot->walks[agent->walk].is_whole)
            return WORK_LEFT;
        for (uint32_t k = agent->at; k < agent->step_count; k++)
            if (is_work(&agent->steps[k]))
                return WORK_LEFT;
    }
    return WORK_NONE;
}

/* Whether these warps have work left, as far as their walks show.  A warp that is not known to have none has some. */
static enum work work_left(struct wsdbg_case *c, const struct wsdbg_warp_set *warps)
{
    const struct wsdbg_replay *replay = c->of_machine ? wsdbg_replay_standing(c) : NULL;
    if (replay)
        return work_of_replay(replay, warps);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_set_has(warps, w))
            continue;
        if (!c->of_machine || !wsdbg_code_walk(c, w))
            return WORK_LEFT;
        for (size_t i = 0; i < c->snapshot->walk_count; i++)
            if (c->snapshot->walks[i].warp == c->warps[w] &&
                (!c->snapshot->walks[i].is_whole || has_work_at_last(c, &c->snapshot->walks[i])))
                return WORK_LEFT;
    }
    return WORK_NONE_AT_LAST;
}

static struct wsdbg_phrase say_place(const struct wsdbg_case *c, uint32_t warp)
{
    return c->of_machine ? wsdbg_say_at(c, warp) : wsdbg_say_line(c, &wsdbg_case_warp(c, warp)->last);
}

void wsdbg_rule_cluster(struct wsdbg_case *c)
{
    struct meeting meeting = {0};
    if (!is_held_up(c, &meeting))
        return;
    const enum work work = work_left(c, &meeting.outstanding);
    if (work == WORK_NONE)
        return;
    const enum wsdbg_confidence most = work == WORK_LEFT ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE;
    const uint32_t outstanding_warp = wsdbg_first_of(&meeting.outstanding), missing = wsdbg_first_of(&meeting.absent);
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, outstanding_warp);
    const bool one_outstanding = wsdbg_set_count(&meeting.outstanding) == 1,
               one_absent = wsdbg_set_count(&meeting.absent) == 1;
    struct wsdbg_finding *finding = wsdbg_case_find(
        c, WSDBG_CAUSE_CLUSTER_MISSING, c->of_machine ? wsdbg_code_cap(c, most) : most, row->cta, row->barrier);
    if (!finding)
        return;
    finding->role = row->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait%s at the cluster barrier%s for %s, which cannot reach it: %s for something that %s only after "
                "the barrier.",
                wsdbg_say_warps(c, &meeting.outstanding).text, one_outstanding ? "s" : "",
                say_place(c, outstanding_warp).text, wsdbg_say_warps(c, &meeting.absent).text,
                one_absent ? "it waits" : "they wait",
                one_outstanding ? "the warp at the barrier does" : "the warps at the barrier do");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Every thread of every CTA of the cluster must reach the cluster barrier the same number of times. Do "
                "not put it into the branch of one role.");
    wsdbg_evidence_warp(c, finding, outstanding_warp, "%s waits at the cluster barrier%s",
                        wsdbg_say_warp(c, outstanding_warp).text, say_place(c, outstanding_warp).text);
    wsdbg_evidence_warp(c, finding, missing, "%s has not arrived", wsdbg_say_warp(c, missing).text);
    if (c->of_machine)
        wsdbg_tell_wait(c, finding, missing);
}
