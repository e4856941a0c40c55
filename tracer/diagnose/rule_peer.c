/* rule_peer.c - a barrier needs arrivals from another CTA of the cluster, which exited without making them.
 *
 * Reads: rounds, histories.  Adds: PEER_EXITED.  Likely at most: that the barrier counts the other CTA's warps is told
 * by arrivals that name the CTA they go to and by a count that comes out, not by the kernel.
 */
#include "diagnose/rules.h"

struct outstanding {
    struct wsdbg_warp_set owing; /* warps of other CTAs that have left without the arrival */
    uint32_t arrivals;           /* what they would make */
    bool all_left;               /* the whole CTA of each of them */
};

static bool has_arrived_over_cluster(const struct wsdbg_case *c, uint32_t warp, uint32_t id)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind == WSDBG_EVENT_MBARRIER_ARRIVE && events[i].barrier == id &&
            WSDBG_SITE_TARGET(events[i].value) > 0)
            return true;
    return false;
}

/* The same role in another CTA; where no roles are given, the same warp. */
static bool is_counterpart(const struct wsdbg_warp_row *a, const struct wsdbg_warp_row *b)
{
    if (a->cta == b->cta)
        return false;
    return a->role.known && b->role.known ? a->role.value == b->role.value : a->warp == b->warp;
}

/* What the warp would have brought: as much as its counterparts did in this round. */
static uint32_t arrivals_of_counterpart(const struct wsdbg_case *c, const struct wsdbg_wait *wait,
                                        const struct wsdbg_round *round, uint32_t warp)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&round->arrived, w) && is_counterpart(wsdbg_case_warp(c, w), wsdbg_case_warp(c, warp)))
            return wsdbg_usual_arrivals(c, wait->stage, w);
    return 0;
}

static bool takes_from_cluster(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    for (uint32_t w = 0; w < c->warp_count && c->cta_count > 1; w++)
        if (has_arrived_over_cluster(c, w, stage->id))
            return true;
    return false;
}

static struct outstanding outstanding_of_peers(const struct wsdbg_case *c, const struct wsdbg_wait *wait,
                                               const struct wsdbg_round *round)
{
    struct outstanding outstanding = {.all_left = true};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        const uint32_t arrivals = row->cta == wait->stage->cta || wsdbg_set_has(&round->arrived, w)
                                      ? 0
                                      : arrivals_of_counterpart(c, wait, round, w);
        if (arrivals == 0)
            continue;
        wsdbg_set_add(&outstanding.owing, w);
        outstanding.arrivals += arrivals;
        outstanding.all_left = outstanding.all_left && wsdbg_snapshot_cta_has_left(c->snapshot, row->cta) &&
                               wsdbg_contribution(c, wait, round, w) != WSDBG_SKIPPED;
    }
    return outstanding;
}

bool wsdbg_peers_owe(const struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round)
{
    if (!takes_from_cluster(c, wait->stage))
        return false;
    const struct outstanding outstanding = outstanding_of_peers(c, wait, round);
    return outstanding.arrivals > 0;
}

static void say(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                const struct outstanding *outstanding)
{
    const enum wsdbg_confidence confidence = wsdbg_weaker(WSDBG_CONFIDENCE_LIKELY, wsdbg_if_stuck(c, wait->warp));
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_PEER_EXITED, confidence, wait->stage->cta, wait->stage->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, wsdbg_first_of(&outstanding->owing))->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s, which takes arrivals from the whole cluster: %u of %u were made, and %s, whose CTA "
                "has exited, made none of the others.",
                wsdbg_say_warp(c, wait->warp).text, wsdbg_say_stage(wait->stage).text,
                wsdbg_say_line(c, wait->event).text, round->arrivals, wait->stage->init.value,
                wsdbg_say_warps(c, &outstanding->owing).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every CTA make its remote arrivals on every path, and end the kernel with a cluster barrier.");
    wsdbg_evidence_event(c, finding, wait->warp, wait->event, "%s waits for parity %u",
                         wsdbg_say_warp(c, wait->warp).text, wait->event->parity);
    wsdbg_evidence_barrier(c, finding, wait->stage->barrier, "%s has %u of %u arrivals for this phase",
                           wsdbg_say_stage(wait->stage).text, round->arrivals, wait->stage->init.value);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&outstanding->owing, w))
            wsdbg_evidence_warp(c, finding, w, "%s has exited without arriving", wsdbg_say_warp(c, w).text);
}

void wsdbg_rule_peer(struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++) {
        const struct wsdbg_wait *wait = &c->ledger->waits[i];
        const struct wsdbg_round round = wsdbg_round_of(c, wait);
        if (!wsdbg_case_stuck(c, wait->warp) || !round.needs_known || !round.covered || !wait->stage->init.known ||
            wait->stage->initialised_again || round.arrivals == 0 || !takes_from_cluster(c, wait->stage))
            continue;
        const struct outstanding outstanding = outstanding_of_peers(c, wait, &round);
        if (outstanding.all_left && outstanding.arrivals > 0 &&
            round.arrivals + outstanding.arrivals == wait->stage->init.value)
            say(c, wait, &round, &outstanding);
    }
}
