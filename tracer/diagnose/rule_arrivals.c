/* rule_arrivals.c - a phase still needs arrivals, but all warps have passed the place where they arrive.
 *
 * Reads: rounds and contributions.  Adds: ARRIVE_MISSING, ARRIVE_SHORT, BARRIER_NOT_INIT.
 */
#include "diagnose/left_out.h"
#include "diagnose/rules.h"

struct tally {
    struct wsdbg_warp_set skipped, to_come;
    uint32_t skipped_arrivals, to_come_arrivals; /* what they usually make */
    bool usual_known;                            /* for every one of them */
    bool turned_off;                             /* some of the skipped only stand elsewhere */
    bool declared;
    struct wsdbg_warp_set left; /* exited warps that never arrived, but may have been meant to */
    bool peer_left;             /* an arriver of another CTA exited and never arrived here */
};

static bool uses_barrier(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_stage *stage)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind >= WSDBG_EVENT_MBARRIER_WAIT_BEGIN && events[i].kind <= WSDBG_EVENT_TMA_ISSUE &&
            events[i].barrier == stage->id)
            return true;
    return false;
}

static struct tally count_contributions(const struct wsdbg_case *c, const struct wsdbg_wait *wait,
                                        const struct wsdbg_round *round)
{
    struct tally tally = {.usual_known = true};
    const bool peers = wsdbg_peers_may_arrive(c, wait->stage->id);
    const struct wsdbg_warp_set arrivers = wsdbg_arrivers(c, wait->stage, &tally.declared);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_set_has(&arrivers, w)) {
            /* Without declared roles a warp that never reached the barrier may be meant to arrive. */
            const bool peer = wsdbg_case_warp(c, w)->cta != wait->stage->cta;
            if (tally.declared || (peer ? !peers : uses_barrier(c, w, wait->stage)))
                continue;
            if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED)
                wsdbg_set_add(&tally.left, w);
            else
                wsdbg_set_add(&tally.to_come, w);
            continue;
        }
        enum wsdbg_contribution contribution = wsdbg_contribution(c, wait, round, w);
        if (contribution == WSDBG_TO_COME && wsdbg_turned_off(c, wait, round, w)) {
            contribution = WSDBG_SKIPPED;
            tally.turned_off = true;
        }
        const uint32_t usual = wsdbg_usual_arrivals(c, wait->stage, w);
        if (contribution == WSDBG_SKIPPED) {
            wsdbg_set_add(&tally.skipped, w);
            tally.skipped_arrivals += usual;
            tally.usual_known = tally.usual_known && usual > 0;
        } else if (contribution == WSDBG_TO_COME || contribution == WSDBG_EXITED_BEFORE) {
            wsdbg_set_add(&tally.to_come, w);
            tally.to_come_arrivals += usual;
        } else if (contribution == WSDBG_NEVER_ARRIVES && wsdbg_case_warp(c, w)->state != WSDBG_WARP_EXITED) {
            wsdbg_set_add(&tally.to_come, w);
        } else if (contribution == WSDBG_NEVER_ARRIVES && wsdbg_case_warp(c, w)->cta == wait->stage->cta) {
            wsdbg_set_add(&tally.left, w);
        } else if (contribution == WSDBG_NEVER_ARRIVES) {
            tally.peer_left = true;
        }
    }
    return tally;
}

static struct wsdbg_phrase say_lanes(struct wsdbg_case *c, const struct wsdbg_torn *torn)
{
    struct wsdbg_phrase phrase;
    wsdbg_print(phrase.text, sizeof phrase.text, "%u of %u lanes of %s", torn->arrived, torn->threads,
                wsdbg_say_warp(c, torn->warp).text);
    return phrase;
}

/* A row for each arrival; of a torn warp one row for all. */
static void add_arrivals(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct wsdbg_stage *stage,
                         const struct wsdbg_round *round, const struct wsdbg_torn *torn)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    const struct wsdbg_history_event *last = NULL;
    for (uint32_t i = 0; i < stage->use_count; i++) {
        if (uses[i].round != round->tag || !wsdbg_event_is_arrival(uses[i].event))
            continue;
        if (torn && uses[i].warp == torn->warp)
            last = uses[i].event;
        else
            wsdbg_evidence_event(c, finding, uses[i].warp, uses[i].event, "%s arrived",
                                 wsdbg_say_warp(c, uses[i].warp).text);
    }
    if (last)
        wsdbg_evidence_event(c, finding, torn->warp, last, "%s arrived", say_lanes(c, torn).text);
}

/* torn NULL = every warp that arrived did so as it always does. */
static void add_wait_evidence(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct wsdbg_wait *wait,
                              const struct wsdbg_round *round, const struct wsdbg_torn *torn)
{
    wsdbg_evidence_event(c, finding, wait->warp, wait->event, "%s waits for parity %u",
                         wsdbg_say_warp(c, wait->warp).text, wait->event->parity);
    wsdbg_evidence_barrier(c, finding, wait->stage->barrier, "%s has %u of %u arrivals for this phase",
                           wsdbg_say_stage(wait->stage).text, round->arrivals, wait->stage->init.value);
    add_arrivals(c, finding, wait->stage, round, torn);
}

static void say_missing(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                        const struct tally *tally, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_ARRIVE_MISSING, confidence, wait->stage->cta, wait->stage->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, wsdbg_first_of(&tally->skipped))->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s passed %s without arriving on %s. Only %u of %u arrivals were made, so %s waits forever%s.",
                wsdbg_say_warps(c, &tally->skipped).text, wsdbg_say_iteration(round->iteration, round->tag).text,
                wsdbg_say_stage(wait->stage).text, round->arrivals, wait->stage->init.value,
                wsdbg_say_warp(c, wait->warp).text, wsdbg_say_line(c, wait->event).text);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Arrive on %s on every path through the iteration, including skipped iterations and the last one of a tile.",
        wsdbg_say_barrier(wait->stage).text);
    add_wait_evidence(c, finding, wait, round, NULL);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&tally->skipped, w)) {
            uint32_t count;
            const struct wsdbg_history_event *events = wsdbg_case_events(c, w, &count);
            wsdbg_evidence_event(c, finding, w, &events[count - 1], "%s passed it without arriving",
                                 wsdbg_say_warp(c, w).text);
        }
}

static void say_never_served(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_warp_set *meant)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_ARRIVE_MISSING, wsdbg_case_cap(c, WSDBG_CONFIDENCE_LIKELY), wait->stage->cta,
                        wait->stage->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, wsdbg_first_of(meant))->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "No warp ever arrives on %s: it needs %u arrival%s, none is recorded, and %s waits forever%s; %s "
                "passed that iteration and arrived on other barriers.",
                wsdbg_say_barrier(wait->stage).text, wait->stage->init.value, wait->stage->init.value == 1 ? "" : "s",
                wsdbg_say_warp(c, wait->warp).text, wsdbg_say_line(c, wait->event).text,
                wsdbg_say_warps(c, meant).text);
    wsdbg_print(finding->fix, sizeof finding->fix, "Arrive on %s, or wait on the barrier on which the warps do arrive.",
                wsdbg_say_barrier(wait->stage).text);
    wsdbg_evidence_event(c, finding, wait->warp, wait->event, "%s waits for parity %u",
                         wsdbg_say_warp(c, wait->warp).text, wait->event->parity);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(meant, w)) {
            uint32_t count;
            const struct wsdbg_history_event *events = wsdbg_case_events(c, w, &count);
            wsdbg_evidence_event(c, finding, w, &events[count - 1], "%s passed it, and now waits too",
                                 wsdbg_say_warp(c, w).text);
        }
}

/* " (warp 1 exited without arriving)", about warps that may have been meant to arrive. */
static struct wsdbg_phrase say_left(const struct wsdbg_case *c, const struct wsdbg_warp_set *left)
{
    struct wsdbg_phrase phrase = {""};
    if (wsdbg_set_count(left) > 0)
        wsdbg_print(phrase.text, sizeof phrase.text, " (%s exited without arriving)", wsdbg_say_warps(c, left).text);
    return phrase;
}

static void say_short(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                      const struct tally *tally, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_ARRIVE_SHORT, confidence, wait->stage->cta, wait->stage->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, wsdbg_first_of(&round->arrived))->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s is initialised for %u arrivals, but all warps that arrive on it (%s) make only %u in %s%s, so %s "
                "waits forever%s.",
                wsdbg_say_stage(wait->stage).text, wait->stage->init.value, wsdbg_say_warps(c, &round->arrived).text,
                round->arrivals, wsdbg_say_iteration(round->iteration, round->tag).text, say_left(c, &tally->left).text,
                wsdbg_say_warp(c, wait->warp).text, wsdbg_say_line(c, wait->event).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise %s with the number of arrivals actually made (%u), or let the missing threads arrive.",
                wsdbg_say_barrier(wait->stage).text, round->arrivals);
    add_wait_evidence(c, finding, wait, round, NULL);
}

/* ---- some threads of one warp ---- */

static void say_torn(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                     const struct wsdbg_torn *torn, enum wsdbg_confidence confidence)
{
    const struct wsdbg_stage *stage = wait->stage;
    const uint32_t missing = stage->init.value - round->arrivals;
    struct wsdbg_finding *finding = wsdbg_case_find(
        c, WSDBG_CAUSE_ARRIVE_MISSING, wsdbg_weaker(confidence, WSDBG_CONFIDENCE_LIKELY), stage->cta, stage->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, torn->warp)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%u thread%s of %s never arrived on %s, on which all other threads of %s did in %s. Only %u of %u "
                "arrivals were made, so %s waits forever%s.",
                missing, missing == 1 ? "" : "s", wsdbg_say_warp(c, torn->warp).text, wsdbg_say_stage(stage).text,
                wsdbg_say_warps(c, &round->arrived).text, wsdbg_say_iteration(round->iteration, round->tag).text,
                round->arrivals, stage->init.value, wsdbg_say_warp(c, wait->warp).text,
                wsdbg_say_line(c, wait->event).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every thread of the warp arrive on %s: none may return or branch around the arrival, an elected "
                "one included.",
                wsdbg_say_barrier(stage).text);
    add_wait_evidence(c, finding, wait, round, torn);
}

/* This stage was never initialised on record while other stages of the same barrier were. */
static bool not_initialised(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    bool others = false;
    for (uint32_t s = 0; s < c->ledger->stage_count; s++) {
        const struct wsdbg_stage *other = &c->ledger->stages[s];
        if (other != stage && other->cta == stage->cta && other->id == stage->id && other->init.known)
            others = true;
    }
    return c->all_whole && others && !stage->init.known;
}

static void say_not_initialised(struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    const enum wsdbg_confidence confidence = wsdbg_weaker(WSDBG_CONFIDENCE_LIKELY, wsdbg_if_stuck(c, wait->warp));
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_BARRIER_NOT_INIT, confidence, wait->stage->cta, wait->stage->barrier);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s. No mbarrier.init is recorded for it, but other stages of %s have one.",
                wsdbg_say_warp(c, wait->warp).text, wsdbg_say_stage(wait->stage).text,
                wsdbg_say_barrier(wait->stage).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise every stage, and synchronise the CTA before its first use.");
    wsdbg_evidence_event(c, finding, wait->warp, wait->event, "%s waits", wsdbg_say_warp(c, wait->warp).text);
}

static void judge(struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    const struct wsdbg_stage *stage = wait->stage;
    if (not_initialised(c, stage)) {
        say_not_initialised(c, wait);
        return;
    }
    struct wsdbg_warp_set meant;
    if (stage->init.known && !stage->initialised_again && wsdbg_never_served(c, wait, &meant)) {
        say_never_served(c, wait, &meant);
        return;
    }
    const struct wsdbg_round round = wsdbg_round_of(c, wait);
    if (!round.needs_known || !stage->init.known || stage->initialised_again || round.arrivals >= stage->init.value)
        return;
    /* Without reaching back that far the absence of an arrival shows nothing. */
    if (!round.covered || (round.arrivals > 0 && wsdbg_stage_comes_out_even(c, stage)))
        return;
    const struct tally tally = count_contributions(c, wait, &round);
    const uint32_t missing = stage->init.value - round.arrivals;
    const bool fits = tally.usual_known && tally.skipped_arrivals + tally.to_come_arrivals == missing;
    enum wsdbg_confidence confidence = wsdbg_if_stuck(c, wait->warp);
    if (wsdbg_set_count(&tally.skipped) > 0) {
        if (!round.certain || !round.of_its_parity || !fits || tally.turned_off)
            confidence = wsdbg_weaker(confidence, WSDBG_CONFIDENCE_LIKELY);
        if (wsdbg_others_arrive_unseen(c, wait))
            confidence = wsdbg_weaker(confidence, WSDBG_CONFIDENCE_LIKELY);
        say_missing(c, wait, &round, &tally, confidence);
    } else if (round.arrivals > 0 && wsdbg_set_count(&tally.to_come) == 0 && wsdbg_case_stuck(c, wait->warp) &&
               !wsdbg_others_arrive_unseen(c, wait) && !(tally.declared && wsdbg_set_count(&tally.left) > 0)) {
        /* rule_exited.c judges declared arrivers that exited. */
        if (!round.certain || !round.of_its_parity || wsdbg_set_count(&tally.left) > 0 || tally.peer_left ||
            (!tally.declared && !c->all_whole))
            confidence = wsdbg_weaker(confidence, WSDBG_CONFIDENCE_LIKELY);
        if (wsdbg_peers_owe(c, wait, &round))
            confidence = wsdbg_weaker(confidence, WSDBG_CONFIDENCE_POSSIBLE);
        const struct wsdbg_torn torn = wsdbg_round_torn(c, stage, &round, missing);
        if (torn.warp != WSDBG_NONE)
            say_torn(c, wait, &round, &torn, confidence);
        else
            say_short(c, wait, &round, &tally, confidence);
    }
}

void wsdbg_rule_arrivals(struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++)
        judge(c, &c->ledger->waits[i]);
}
