/* rule_shared_tx.c - two warps expect bytes on one mbarrier, but only one of them is waited for.
 *
 * Reads: the ledger.  Adds: TX_SHARED_BARRIER.  The phase may end with the bytes of the one that arrives; the
 * other's expect_tx then falls into the next phase.  Proven by order: a wait for round i ended before the
 * other warp expected its bytes for round i.
 */
#include "diagnose/rules.h"

struct sharing {
    const struct wsdbg_stage *stage;
    struct wsdbg_warp_set expecters;
    struct wsdbg_warp_set silent; /* expecters that never arrive */
    /* The evidence of order, if found. */
    const struct wsdbg_use *ended;                 /* a wait that ended ... */
    uint32_t late;                                 /* ... before this warp expected its bytes */
    const struct wsdbg_history_event *late_expect; /* NULL = it has not done so yet */
};

static bool read_sharing(const struct wsdbg_case *c, const struct wsdbg_stage *stage, struct sharing *sharing)
{
    struct wsdbg_warp_set arrivers = {{0}};
    *sharing = (struct sharing){.stage = stage, .late = WSDBG_NONE};
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = 0; i < stage->use_count; i++) {
        if (wsdbg_event_is_expect(uses[i].event))
            wsdbg_set_add(&sharing->expecters, uses[i].warp);
        if (wsdbg_event_is_arrival(uses[i].event))
            wsdbg_set_add(&arrivers, uses[i].warp);
    }
    for (size_t i = 0; i < WSDBG_CASE_WARPS_MAX / 64; i++)
        sharing->silent.words[i] = sharing->expecters.words[i] & ~arrivers.words[i];
    const uint32_t count = wsdbg_set_count(&sharing->expecters);
    return count >= 2 && stage->init.known && stage->init.value < count && !stage->initialised_again;
}

/* The warp's expect_tx of a round, and the newest round in which it has one. */
static const struct wsdbg_history_event *expect_of(const struct wsdbg_case *c, const struct wsdbg_stage *stage,
                                                   uint32_t warp, uint32_t round, uint32_t *newest)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    const struct wsdbg_history_event *found = NULL;
    *newest = WSDBG_NONE;
    for (uint32_t i = 0; i < stage->use_count; i++) {
        if (uses[i].warp != warp || !wsdbg_event_is_expect(uses[i].event) || uses[i].round == WSDBG_NONE)
            continue;
        *newest = uses[i].round;
        found = uses[i].round == round ? uses[i].event : found;
    }
    return found;
}

/* A wait with the parity of its own round: it ended because that phase ended, not because it asked wrongly. */
static bool ended_rightly(const struct wsdbg_stage *stage, const struct wsdbg_use *use)
{
    return use->event->kind == WSDBG_EVENT_MBARRIER_WAIT_END && use->round != WSDBG_NONE &&
           use->event->parity == (use->round & 1) && !(stage->name && stage->name->first_free);
}

static void find_order(const struct wsdbg_case *c, struct sharing *sharing)
{
    const struct wsdbg_stage *stage = sharing->stage;
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = stage->use_count; i-- > 0;)
        for (uint32_t w = 0; w < c->warp_count && ended_rightly(stage, &uses[i]); w++) {
            uint32_t newest;
            if (!wsdbg_set_has(&sharing->silent, w))
                continue;
            const struct wsdbg_history_event *expect = expect_of(c, stage, w, uses[i].round, &newest);
            const bool after = expect && expect->gpu_time_ns > uses[i].event->gpu_time_ns + WSDBG_TIME_SLACK_NS;
            const bool not_yet = !expect && newest != WSDBG_NONE && newest < uses[i].round;
            if (!after && !not_yet)
                continue;
            sharing->ended = &uses[i];
            sharing->late = w;
            sharing->late_expect = expect;
            return;
        }
}

/* Somebody is stopped by it: a warp that fills the barrier, or one that waits on it. */
static uint32_t find_victim(const struct wsdbg_case *c, const struct sharing *sharing)
{
    uint32_t victim = WSDBG_NONE;
    for (uint32_t i = 0; i < c->ledger->wait_count; i++) {
        const struct wsdbg_wait *wait = &c->ledger->waits[i];
        const bool on_it = wait->stage->cta == sharing->stage->cta && wait->stage->id == sharing->stage->id;
        if ((on_it || wsdbg_set_has(&sharing->expecters, wait->warp)) &&
            (victim == WSDBG_NONE || (wsdbg_case_stuck(c, wait->warp) && !wsdbg_case_stuck(c, victim))))
            victim = wait->warp;
    }
    return victim;
}

static void say(struct wsdbg_case *c, const struct sharing *sharing, uint32_t victim, enum wsdbg_confidence confidence)
{
    const struct wsdbg_stage *stage = sharing->stage;
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_TX_SHARED_BARRIER, confidence, stage->cta, stage->barrier);
    if (!finding)
        return;
    const uint32_t blamed = sharing->late != WSDBG_NONE ? sharing->late : wsdbg_first_of(&sharing->expecters);
    finding->role = wsdbg_case_warp(c, blamed)->role;
    char order[256] = "";
    if (sharing->ended)
        wsdbg_print(order, sizeof order, ": in %s %s passed the wait before %s had announced its bytes",
                    wsdbg_say_iteration(sharing->ended->event->iteration, sharing->ended->round).text,
                    wsdbg_say_warp(c, sharing->ended->warp).text, wsdbg_say_warp(c, sharing->late).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s expect bytes on %s, which is initialised for %u arrival%s, so a phase can complete with the bytes "
                "of only one of them%s; after that the phases are out of step.",
                wsdbg_say_warps(c, &sharing->expecters).text, wsdbg_say_stage(stage).text, stage->init.value,
                stage->init.value == 1 ? "" : "s", order);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise %s for %u arrivals and let each of these warps execute arrive.expect_tx with its own "
                "bytes, or give each warp its own barrier.",
                wsdbg_say_barrier(stage).text, wsdbg_set_count(&sharing->expecters));
    wsdbg_evidence_barrier(c, finding, stage->barrier,
                           "%s is initialised for %u arrivals, and %u warps expect bytes on it",
                           wsdbg_say_stage(stage).text, stage->init.value, wsdbg_set_count(&sharing->expecters));
    if (sharing->ended)
        wsdbg_evidence_event(c, finding, sharing->ended->warp, sharing->ended->event, "the wait of %s ended ...",
                             wsdbg_say_warp(c, sharing->ended->warp).text);
    if (sharing->late_expect)
        wsdbg_evidence_event(c, finding, sharing->late, sharing->late_expect,
                             "... before the expect_tx of %s for its round", wsdbg_say_warp(c, sharing->late).text);
    else if (sharing->late != WSDBG_NONE)
        wsdbg_evidence_warp(c, finding, sharing->late, "... and %s has not expected bytes for its round yet",
                            wsdbg_say_warp(c, sharing->late).text);
    wsdbg_evidence_warp(c, finding, victim, "%s waits", wsdbg_say_warp(c, victim).text);
}

void wsdbg_rule_shared_tx(struct wsdbg_case *c)
{
    struct sharing best = {0}, sharing;
    uint32_t victim = WSDBG_NONE;
    for (uint32_t i = 0; i < c->ledger->stage_count; i++) {
        if (!read_sharing(c, &c->ledger->stages[i], &sharing))
            continue;
        const uint32_t here = find_victim(c, &sharing);
        if (here == WSDBG_NONE)
            continue;
        find_order(c, &sharing);
        if (!best.stage || (sharing.ended && !best.ended)) {
            best = sharing;
            victim = here;
        }
    }
    if (best.stage)
        say(c, &best, victim,
            wsdbg_weaker(wsdbg_if_stuck(c, victim), best.ended ? WSDBG_CONFIDENCE_PROVEN : WSDBG_CONFIDENCE_LIKELY));
}
