/* rule_code_own_arrivals.c - a named barrier on which warps both wait and arrive, and on which they wait first.
 *
 * Reads: parts, barriers, reaches, the wait graph.  Adds: ARRIVE_MISSING.
 *
 * bar.arrive is for others: it lets those through who wait on the barrier, and the count is that of both groups.  If
 * all arrivals on a barrier are in the code of the very warps that wait on it, behind their wait, and the count is that
 * of a group that waits and one that arrives, the arrivals go to the wrong barrier.
 */
#include "diagnose/code_case.h"
#include "diagnose/code_say.h"
#include "diagnose/gathering.h"
#include "diagnose/rules.h"

/* Whether each warp that waits arrives on the barrier, too, once it is through. */
static bool arrive_themselves(const struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&g->waiting, w) &&
            wsdbg_code_can(c, w, WSDBG_KIND(WSDBG_ACCESS_NAMED_ARRIVE), g->barrier, NULL) != WSDBG_CAN)
            return false;
    return true;
}

/* Whether no other warp comes to the barrier, or is known to have come. */
static bool are_alone(const struct wsdbg_gathering *g)
{
    return !wsdbg_set_count(&g->others) && !wsdbg_set_count(&g->to_come) && !wsdbg_set_count(&g->exited) &&
           !wsdbg_set_count(&g->partners) && g->others_behind == 0;
}

static void say(struct wsdbg_case *c, const struct wsdbg_gathering *g)
{
    struct wsdbg_finding *finding = wsdbg_gathering_find(c, g, WSDBG_CAUSE_ARRIVE_MISSING, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait on named barrier %u for %u threads%s, twice as many as they are, and only they ever arrive on "
                "it, behind that wait. No other warp arrives there for them.",
                wsdbg_say_warps(c, &g->waiting).text, g->id, g->count,
                wsdbg_say_at(c, wsdbg_first_of(&g->waiting)).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let each group execute bar.arrive on the barrier on which the other group waits, not on its own.");
}

void wsdbg_rule_code_own_arrivals(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (row->state != WSDBG_WARP_WAIT_NAMED || row->barrier >= c->snapshot->barrier_count ||
            !wsdbg_case_stuck(c, w))
            continue;
        const struct wsdbg_gathering g = wsdbg_gathering_of(c, w);
        if (wsdbg_first_of(&g.waiting) == w && g.count == 2 * wsdbg_set_count(&g.waiting) * WSDBG_WARP_THREADS &&
            are_alone(&g) && arrive_themselves(c, &g))
            say(c, &g);
    }
}
