/* rule_double.c - a warp that arrives twice in one round, so that the phase flips once too often.
 *
 * Reads: the ledger.  Adds: DOUBLE_ARRIVE.
 */
#include "diagnose/rules.h"

struct pair {
    uint32_t warp, iteration;
    const struct wsdbg_history_event *first, *second;
};

/* Between two arrivals of one turn a warp has waited for nothing. */
static bool waited_between(const struct wsdbg_history_event *first, const struct wsdbg_history_event *second)
{
    for (const struct wsdbg_history_event *event = first + 1; event < second; event++)
        if (event->kind == WSDBG_EVENT_MBARRIER_WAIT_END || event->kind == WSDBG_EVENT_NAMED_SYNC_END ||
            event->kind == WSDBG_EVENT_CLUSTER_WAIT_END)
            return true;
    return false;
}

/* The author's iteration; none where it counts something else than rounds of the stage. */
static uint32_t iteration_of(const struct wsdbg_stage *stage, const struct wsdbg_use *use)
{
    return stage->tagged ? use->event->iteration : WSDBG_NO_ITERATION;
}

static bool same_turn(const struct wsdbg_stage *stage, const struct wsdbg_use *a, const struct wsdbg_use *b)
{
    return a->warp == b->warp && iteration_of(stage, a) == iteration_of(stage, b) && b->event > a->event &&
           !waited_between(a->event, b->event);
}

/* The next double arrival on the stage at or after use *at; leaves *at behind it. */
static bool next_pair(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t *at, struct pair *pair)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage), *previous = NULL;
    for (uint32_t i = *at; i < stage->use_count; i++) {
        if (!wsdbg_event_is_arrival(uses[i].event))
            continue;
        if (previous && same_turn(stage, previous, &uses[i])) {
            *pair = (struct pair){uses[i].warp, iteration_of(stage, &uses[i]), previous->event, uses[i].event};
            *at = i;
            return true;
        }
        previous = &uses[i];
    }
    return false;
}

/* Arrivals of the pair's turn.  Without iterations: each warp's arrivals up to its second one. */
static uint32_t arrivals_of_turn(const struct wsdbg_case *c, const struct wsdbg_stage *stage, const struct pair *pair)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < stage->use_count; i++) {
        const bool counts = pair->iteration != WSDBG_NO_ITERATION
                                ? uses[i].event->iteration == pair->iteration
                                : iteration_of(stage, &uses[i]) == WSDBG_NO_ITERATION &&
                                      uses[i].event->gpu_time_ns <= pair->second->gpu_time_ns;
        sum += counts ? wsdbg_event_arrivals(uses[i].event) : 0;
    }
    return sum;
}

/* Without iterations only a history that shows no ended wait by anybody on the stage tells turns apart. */
static bool nobody_waited_yet(const struct wsdbg_case *c, const struct wsdbg_stage *stage, const struct pair *pair)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = 0; i < stage->use_count; i++)
        if (uses[i].event->kind == WSDBG_EVENT_MBARRIER_WAIT_END &&
            uses[i].event->gpu_time_ns <= pair->second->gpu_time_ns)
            return false;
    return true;
}

static struct wsdbg_finding *begin(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct pair *pair,
                                   enum wsdbg_confidence confidence)
{
    const struct wsdbg_stage *stage = wait->stage;
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_DOUBLE_ARRIVE, confidence, stage->cta, stage->barrier);
    if (!finding)
        return NULL;
    finding->role = wsdbg_case_warp(c, pair->warp)->role;
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive once per warp and round on %s: remove one of the two arrivals, or wait between them.",
                wsdbg_say_barrier(stage).text);
    wsdbg_evidence_event(c, finding, pair->warp, pair->first, "%s arrived first", wsdbg_say_warp(c, pair->warp).text);
    wsdbg_evidence_event(c, finding, pair->warp, pair->second, "%s arrived again, with no wait between",
                         wsdbg_say_warp(c, pair->warp).text);
    wsdbg_evidence_event(c, finding, wait->warp, wait->event, "%s waits for parity %u",
                         wsdbg_say_warp(c, wait->warp).text, wait->event->parity);
    return finding;
}

static void say(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct pair *pair,
                const struct wsdbg_warp_set *warps, uint32_t arrivals, enum wsdbg_confidence confidence)
{
    const struct wsdbg_stage *stage = wait->stage;
    struct wsdbg_finding *finding = begin(c, wait, pair, confidence);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrive%s twice on %s%s in %s: %u arrivals were made where %u complete a phase. The barrier "
                "advances one phase too far, so %s waits for a phase that has already passed.",
                wsdbg_say_warps(c, warps).text, wsdbg_set_count(warps) == 1 ? "s" : "", wsdbg_say_stage(stage).text,
                wsdbg_say_line(c, pair->second).text,
                pair->iteration == WSDBG_NO_ITERATION ? "one round" : wsdbg_say_iteration(pair->iteration, 0).text,
                arrivals, stage->init.value, wsdbg_say_warp(c, wait->warp).text);
    wsdbg_evidence_barrier(c, finding, stage->barrier, "%s is initialised for %u arrivals; %u were made in one round",
                           wsdbg_say_stage(stage).text, stage->init.value, arrivals);
}

/* The init is not on record: a warp arrived twice, and the round waited for has all that earlier ones had. */
static void judge_without_init(struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    const struct wsdbg_round round = wsdbg_round_of(c, wait);
    struct pair pair;
    uint32_t at = 0;
    bool found = false;
    if (!wait->stage->init_inferred || !round.needs_known || !round.covered || round.issued_bytes > 0 ||
        round.arrivals != wait->stage->init.value)
        return;
    while (!found && next_pair(c, wait->stage, &at, &pair))
        found = pair.iteration != WSDBG_NO_ITERATION && pair.iteration == round.iteration;
    const enum wsdbg_confidence confidence = wsdbg_weaker(WSDBG_CONFIDENCE_LIKELY, wsdbg_if_stuck(c, wait->warp));
    struct wsdbg_finding *finding = found ? begin(c, wait, &pair, confidence) : NULL;
    if (finding)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s arrives twice on %s%s in %s. That round has as many arrivals (%u) as every earlier round, but "
                    "%s still waits for it: the barrier has advanced one phase too far.",
                    wsdbg_say_warp(c, pair.warp).text, wsdbg_say_stage(wait->stage).text,
                    wsdbg_say_line(c, pair.second).text, wsdbg_say_iteration(pair.iteration, 0).text, round.arrivals,
                    wsdbg_say_warp(c, wait->warp).text);
}

/* Keeps in *best the newest pair of the turn with the surplus, in *warps all that arrived twice in it. */
static uint32_t find_surplus(const struct wsdbg_case *c, const struct wsdbg_stage *stage, struct pair *best,
                             struct wsdbg_warp_set *warps)
{
    uint32_t found = 0, at = 0;
    for (struct pair pair; next_pair(c, stage, &at, &pair);) {
        const uint32_t arrivals = arrivals_of_turn(c, stage, &pair);
        if (arrivals <= stage->init.value || (found && pair.iteration != best->iteration))
            continue;
        found = arrivals > found ? arrivals : found;
        if (wsdbg_set_count(warps) == 0 || pair.second->gpu_time_ns > best->second->gpu_time_ns)
            *best = pair;
        wsdbg_set_add(warps, pair.warp);
    }
    return found;
}

/* ---- an arrival ahead of its turn ---- */

/* Did the warp, before this event, come through a wait on another barrier for the same iteration? */
static bool waited_for_it(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_history_event *event)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (const struct wsdbg_history_event *e = events; e < event; e++)
        if (e->kind == WSDBG_EVENT_MBARRIER_WAIT_END && e->barrier != event->barrier &&
            e->iteration == event->iteration)
            return true;
    return false;
}

/* Of the warp's arrivals on the barrier, how many came after a wait for the same iteration. */
static uint32_t arrivals_after_waits(const struct wsdbg_case *c, uint32_t warp, uint32_t id)
{
    uint32_t count, sum = 0;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        sum += wsdbg_event_is_arrival(&events[i]) && events[i].barrier == id && waited_for_it(c, warp, &events[i]);
    return sum;
}

/* Arrivals for the round after the one waited for, by warps that arrive in other rounds only after they waited for the
 * same iteration, and did not this time.  *first is one of them. */
static uint32_t ahead_of_turn(const struct wsdbg_case *c, const struct wsdbg_wait *wait,
                              const struct wsdbg_round *round, struct wsdbg_warp_set *warps,
                              const struct wsdbg_use **first)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, wait->stage);
    uint32_t arrivals = 0;
    for (uint32_t i = 0; i < wait->stage->use_count; i++) {
        if (uses[i].round != round->tag + 1 || !wsdbg_event_is_arrival(uses[i].event) || uses[i].warp == wait->warp ||
            waited_for_it(c, uses[i].warp, uses[i].event) || arrivals_after_waits(c, uses[i].warp, wait->stage->id) < 2)
            continue;
        arrivals += wsdbg_event_arrivals(uses[i].event);
        *first = *first ? *first : &uses[i];
        wsdbg_set_add(warps, uses[i].warp);
    }
    return arrivals;
}

/* The round waited for has all its arrivals, and so has the next one, whose slot the waiter has not filled yet: the
 * phase has turned twice. */
static void judge_ahead(struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    const struct wsdbg_round round = wsdbg_round_of(c, wait);
    const struct wsdbg_stage *stage = wait->stage;
    const struct wsdbg_use *first = NULL;
    struct wsdbg_warp_set warps = {{0}};
    if (!stage->tagged || !round.needs_known || !round.certain || !round.covered || stage->init_inferred ||
        round.arrivals != stage->init.value || round.later_arrivals != stage->init.value ||
        ahead_of_turn(c, wait, &round, &warps, &first) != stage->init.value)
        return;
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_DOUBLE_ARRIVE, wsdbg_if_stuck(c, wait->warp), stage->cta, stage->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, first->warp)->role;
    const struct wsdbg_phrase line = wsdbg_say_line(c, wait->event);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrived on %s for %s%s without a wait before it; in other iterations there is one. The barrier "
                "advanced one phase too far, so %s waits for a phase that has already passed%s.",
                wsdbg_say_warps(c, &warps).text, wsdbg_say_stage(stage).text,
                wsdbg_say_iteration(first->event->iteration, first->round).text, wsdbg_say_line(c, first->event).text,
                wsdbg_say_warp(c, wait->warp).text, line.text);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Arrive on %s only after a wait for the filled slot: an empty tile or a skipped block has nothing to release.",
        wsdbg_say_barrier(stage).text);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&warps, w))
            wsdbg_evidence_warp(c, finding, w, "%s arrived too early", wsdbg_say_warp(c, w).text);
    wsdbg_evidence_event(c, finding, first->warp, first->event, "%s did not wait for this iteration before it arrived",
                         wsdbg_say_warp(c, first->warp).text);
    wsdbg_evidence_event(c, finding, wait->warp, wait->event, "%s waits for parity %u",
                         wsdbg_say_warp(c, wait->warp).text, wait->event->parity);
    wsdbg_evidence_barrier(c, finding, stage->barrier, "%u arrivals complete a phase of %s; the next phase had as many",
                           stage->init.value, wsdbg_say_stage(stage).text);
}

void wsdbg_rule_double(struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++) {
        const struct wsdbg_wait *wait = &c->ledger->waits[i];
        struct wsdbg_warp_set warps = {{0}};
        struct pair pair = {0};
        /* Rounds with a surplus cannot tell what a round needs. */
        if (wait->stage->init_inferred)
            judge_without_init(c, wait);
        if (!wait->stage->init.known || wait->stage->init_inferred || wait->stage->initialised_again)
            continue;
        const uint32_t arrivals = find_surplus(c, wait->stage, &pair, &warps);
        if (arrivals == 0) {
            judge_ahead(c, wait);
            continue;
        }
        /* Arrivals that are on record happened, whatever else is missing from it. */
        enum wsdbg_confidence confidence = wsdbg_if_stuck(c, wait->warp);
        if (pair.iteration == WSDBG_NO_ITERATION && !(c->all_whole && nobody_waited_yet(c, wait->stage, &pair)))
            confidence = wsdbg_weaker(confidence, c->all_whole ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE);
        say(c, wait, &pair, &warps, arrivals, confidence);
    }
}
