/* rule_early.c - an mbarrier was initialised after somebody had arrived on it: the arrival is lost.
 *
 * Reads: the ledger.  Adds: BARRIER_NOT_INIT.
 *
 * The initialisation writes the whole word, so an arrival before it, on what a CTA before left there, counts for
 * nothing.  The warp that made it has gone on, so the phase never gets it.
 */
#include "diagnose/rules.h"

/* Two events of one CTA this far apart, by the GPU's clock, happened in that order: an event is written within
 * nanoseconds of what it tells. */
#define SURELY_APART_NS 1000u

struct early {
    const struct wsdbg_use *init, *arrival; /* the first one */
    uint32_t lost, counted;                 /* arrivals before the initialisation, and since */
};

static struct early find_early(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    struct early early = {0};
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = 0; i < stage->use_count; i++)
        if (uses[i].event->kind == WSDBG_EVENT_MBARRIER_INIT)
            early.init = &uses[i];
    for (uint32_t i = 0; i < stage->use_count && early.init; i++) {
        const struct wsdbg_use *use = &uses[i];
        const bool others = use->warp != early.init->warp;
        const bool before =
            others ? use->event->gpu_time_ns < early.init->event->gpu_time_ns : use->event < early.init->event;
        *(before ? &early.lost : &early.counted) += wsdbg_event_arrivals(use->event);
        if (wsdbg_event_is_arrival(use->event) && before && others &&
            (!early.arrival || use->event->gpu_time_ns < early.arrival->event->gpu_time_ns))
            early.arrival = use;
    }
    return early;
}

/* A wait that ended before the initialisation: it was not the first one. */
static bool was_in_use(const struct wsdbg_case *c, const struct wsdbg_stage *stage, const struct wsdbg_use *init)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = 0; i < stage->use_count; i++)
        if (uses[i].event->kind == WSDBG_EVENT_MBARRIER_WAIT_END &&
            (uses[i].warp == init->warp ? uses[i].event < init->event
                                        : uses[i].event->gpu_time_ns < init->event->gpu_time_ns))
            return true;
    return false;
}

/* The first phase since then still needs arrivals: the lost one is among these. */
static bool explains(const struct wsdbg_stage *stage, const struct early *early)
{
    return early->arrival && !stage->initialised_again && early->counted < early->init->event->value;
}

/* Proven where the order is sure, the record goes back to the beginning (else there may have been an initialisation
 * before), and with the lost arrivals the phase would have ended. */
static enum wsdbg_confidence confidence_of_early(const struct wsdbg_case *c, const struct wsdbg_wait *wait,
                                                 const struct early *early, uint64_t apart_ns)
{
    if (apart_ns < SURELY_APART_NS || !c->all_whole)
        return WSDBG_CONFIDENCE_POSSIBLE;
    const bool enough = early->counted + early->lost >= early->init->event->value;
    return wsdbg_weaker(enough ? WSDBG_CONFIDENCE_PROVEN : WSDBG_CONFIDENCE_LIKELY, wsdbg_if_stuck(c, wait->warp));
}

static void say(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct early *early)
{
    const uint64_t apart_ns = early->init->event->gpu_time_ns - early->arrival->event->gpu_time_ns;
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_BARRIER_NOT_INIT, confidence_of_early(c, wait, early, apart_ns),
                        wait->stage->cta, wait->stage->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, early->arrival->warp)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrived on %s%s %.1f us before %s initialised it%s: that arrival is lost, so %s waits forever%s.",
                wsdbg_say_warp(c, early->arrival->warp).text, wsdbg_say_stage(wait->stage).text,
                wsdbg_say_line(c, early->arrival->event).text, (double)apart_ns / 1e3,
                wsdbg_say_warp(c, early->init->warp).text, wsdbg_say_line(c, early->init->event).text,
                wsdbg_say_warp(c, wait->warp).text, wsdbg_say_line(c, wait->event).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "After mbarrier.init, execute fence.mbarrier_init and a CTA barrier (a cluster barrier if other CTAs "
                "use it) that every warp passes before its first use of %s.",
                wsdbg_say_barrier(wait->stage).text);
    wsdbg_evidence_event(c, finding, early->arrival->warp, early->arrival->event, "%s arrived first",
                         wsdbg_say_warp(c, early->arrival->warp).text);
    wsdbg_evidence_event(c, finding, early->init->warp, early->init->event,
                         "%s initialised it for %u arrivals after that", wsdbg_say_warp(c, early->init->warp).text,
                         early->init->event->value);
    wsdbg_evidence_event(c, finding, wait->warp, wait->event, "%s waits", wsdbg_say_warp(c, wait->warp).text);
}

/* A stage that is initialised again and again has arrivals between its initialisations by design. */
void wsdbg_rule_early(struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++) {
        const struct wsdbg_wait *wait = &c->ledger->waits[i];
        const struct early early = find_early(c, wait->stage);
        if (explains(wait->stage, &early) && !was_in_use(c, wait->stage, early.init))
            say(c, wait, &early);
    }
}
