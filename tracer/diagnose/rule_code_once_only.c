/* rule_code_once_only.c - a named barrier on which others arrived once, on their way to a loop, and never can again.
 *
 * Reads: parts, barriers, reaches, the wait graph.  Adds: ARRIVE_MISSING.
 *
 * Those who wait there and those arrivals are just as many threads as the barrier counts: so they made one round, which
 * is over, as somebody waits.  It is a round that nobody arrives in.
 */
#include "diagnose/code_case.h"
#include "diagnose/code_executions.h"
#include "diagnose/code_say.h"
#include "diagnose/gathering.h"
#include "diagnose/outstanding.h"
#include "diagnose/rules.h"

/* Whether the warp has arrived at the barrier just once, without waiting, and cannot come there again. */
static bool arrived_once(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_gathering *g)
{
    const struct wsdbg_barrier_executions done =
        wsdbg_code_executions(c, warp, g->barrier, !wsdbg_gathering_is_block_wide(g));
    return done.known && done.least == 1 && done.most == 1 && done.arrives &&
           wsdbg_code_could(c, warp, WSDBG_KIND(WSDBG_ACCESS_NAMED_SYNC), g->barrier) == WSDBG_CAN_NOT;
}

/* The live warps that did; empty if some other warp may have come. */
static struct wsdbg_warp_set arrivers_of(const struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    const struct wsdbg_warp_set others = wsdbg_gathering_absent(c, g), none = {{0}};
    struct wsdbg_warp_set arrivers = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&others, w) && arrived_once(c, w, g))
            wsdbg_set_add(&arrivers, w);
    return wsdbg_set_count(&arrivers) == g->others_behind ? arrivers : none;
}

static bool is_first_there(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_gathering *g)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    if (row->state != WSDBG_WARP_WAIT_NAMED || row->barrier >= c->snapshot->barrier_count || !wsdbg_case_stuck(c, warp))
        return false;
    *g = wsdbg_gathering_of(c, warp);
    return wsdbg_first_of(&g->waiting) == warp && !wsdbg_set_count(&g->others) && !wsdbg_set_count(&g->to_come) &&
           !wsdbg_set_count(&g->exited) && !wsdbg_set_count(&g->partners);
}

static void say(struct wsdbg_case *c, const struct wsdbg_gathering *g, const struct wsdbg_warp_set *arrivers,
                enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = wsdbg_gathering_find(c, g, WSDBG_CAUSE_ARRIVE_MISSING, confidence);
    if (!finding)
        return;
    finding->role = wsdbg_common_role(c, arrivers);
    const struct wsdbg_phrase waiting = wsdbg_say_warps(c, &g->waiting);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait%s on named barrier %u for %u threads%s, but %s arrived there only once and cannot come to it "
                "again. That was enough for one round, which is over.",
                waiting.text, wsdbg_set_count(&g->waiting) == 1 ? "s" : "", g->id, g->count,
                wsdbg_say_at(c, wsdbg_first_of(&g->waiting)).text, wsdbg_say_warps(c, arrivers).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive at named barrier %u in every round that is waited for, not only before the loop.", g->id);
    wsdbg_tell_waits(c, finding, arrivers);
}

void wsdbg_rule_code_once_only(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_gathering g;
        struct wsdbg_warp_set outstanding;
        if (!is_first_there(c, w, &g))
            continue;
        const struct wsdbg_warp_set arrivers = arrivers_of(c, &g);
        const uint32_t threads = (wsdbg_set_count(&g.waiting) + wsdbg_set_count(&arrivers)) * WSDBG_WARP_THREADS;
        if (wsdbg_set_count(&arrivers) && threads == g.count)
            say(c, &g, &arrivers,
                wsdbg_all_wait_for(c, &arrivers, &g.waiting, &outstanding) ? WSDBG_CONFIDENCE_LIKELY
                                                                           : WSDBG_CONFIDENCE_POSSIBLE);
    }
}
