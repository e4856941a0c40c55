/* rule_exited.c - the warps that should have signalled have left, or did fewer tiles than the waiter.
 *
 * Reads: the wait graph, rounds, tile events.  Adds: WAKER_EXITED, ROLE_DISAGREE.
 */
#include "diagnose/rules.h"

#define WARP_LANES 32u

static bool all_exited(const struct wsdbg_case *c, const struct wsdbg_warp_set *set)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(set, w) && wsdbg_case_warp(c, w)->state != WSDBG_WARP_EXITED)
            return false;
    return wsdbg_set_count(set) > 0;
}

/* The newest event of a warp that says what it did for the barrier; its last one otherwise. */
static const struct wsdbg_history_event *last_deed(const struct wsdbg_case *c, uint32_t warp, uint32_t id)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = count; i-- > 0;)
        if (events[i].barrier == id && (wsdbg_event_is_arrival(&events[i]) || wsdbg_event_is_expect(&events[i])))
            return &events[i];
    return count ? &events[count - 1] : NULL;
}

/* Arrivals that complete every phase up to the one waited for are on record: the phase has turned further than the
 * waiter's, or the waiter names another one than it means to. */
static bool phase_went_on(const struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round)
{
    const uint64_t needed = ((uint64_t)round->tag + 1) * wait->stage->init.value;
    uint32_t parity;
    bool declared;
    return round->arrivals >= wait->stage->init.value || (c->all_whole && wait->stage->arrivals >= needed) ||
           (wsdbg_right_parity(c, wait, &parity, &declared) && parity != wait->event->parity);
}

/* Whole records show at least as many complete phases as the waiter has waits, its present one included.  So it missed
 * a phase: the warps that exited had run ahead of it. */
static bool waiter_missed_a_phase(const struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    const struct wsdbg_stage *stage = wait->stage;
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    uint64_t waits = 1;
    for (uint32_t i = 0; i < stage->use_count; i++)
        waits += uses[i].warp == wait->warp && uses[i].event->kind == WSDBG_EVENT_MBARRIER_WAIT_END;
    return c->all_whole && stage->init.known && stage->init.value > 0 && !stage->initialised_again &&
           stage->arrivals / stage->init.value >= waits;
}

static bool somebody_missed_a_phase(const struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++)
        if (wsdbg_case_stuck(c, c->ledger->waits[i].warp) && waiter_missed_a_phase(c, &c->ledger->waits[i]))
            return true;
    return false;
}

/* An exited warp arrived on the barrier for a later iteration than the one that is waited for. */
static bool waker_went_further(const struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    for (uint32_t s = 0; s < c->ledger->stage_count && wait->event->iteration != WSDBG_NO_ITERATION; s++) {
        const struct wsdbg_stage *stage = &c->ledger->stages[s];
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
        for (uint32_t i = 0; i < stage->use_count && stage->cta == wait->stage->cta && stage->id == wait->stage->id;
             i++)
            if (wsdbg_event_is_arrival(uses[i].event) && uses[i].event->iteration != WSDBG_NO_ITERATION &&
                uses[i].event->iteration > wait->event->iteration &&
                wsdbg_case_warp(c, uses[i].warp)->state == WSDBG_WARP_EXITED)
                return true;
    }
    return false;
}

/* Some lanes of the waiter are not in this wait, and nobody knows how far those are. */
static bool is_of_some_lanes(const struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    uint32_t count, most = WSDBG_SITE_LANES(wait->event->value);
    const struct wsdbg_history_event *events = wsdbg_case_events(c, wait->warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_END && events[i].barrier == wait->stage->id &&
            WSDBG_SITE_LANE(events[i].value) != WSDBG_SITE_LANE(wait->event->value))
            return true;
    return most > 1 && most < WARP_LANES;
}

/* How well it explains the arrivals that are missing that warps have left.  Proven: each is one of a warp that left
 * before its turn, and with those the count comes out.  Possible: nobody left before its turn. */
static enum wsdbg_confidence judge_leavers(const struct wsdbg_case *c, const struct wsdbg_wait *wait,
                                           const struct wsdbg_round *round)
{
    bool declared, usual_known = true;
    uint32_t sum = round->arrivals, left = 0;
    const struct wsdbg_warp_set arrivers = wsdbg_arrivers(c, wait->stage, &declared);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const enum wsdbg_contribution contribution = wsdbg_contribution(c, wait, round, w);
        if (!wsdbg_set_has(&arrivers, w) || w == wait->warp || contribution == WSDBG_ARRIVED)
            continue;
        if (contribution == WSDBG_SKIPPED)
            return WSDBG_CONFIDENCE_LIKELY;
        /* What a warp of another CTA does on its own barrier says nothing about this one. */
        const uint32_t usual =
            wsdbg_case_warp(c, w)->cta == wait->stage->cta ? wsdbg_usual_arrivals(c, wait->stage, w) : 0;
        usual_known = usual_known && usual > 0;
        sum += usual;
        left++;
    }
    if (left == 0)
        return WSDBG_CONFIDENCE_POSSIBLE;
    /* Before its first arrival nobody knows how many each warp makes: then it is enough that none was made. */
    const bool comes_out = usual_known ? sum == wait->stage->init.value : round->arrivals == 0;
    return comes_out ? WSDBG_CONFIDENCE_PROVEN : WSDBG_CONFIDENCE_LIKELY;
}

/* Proven: what the wait needs is known, the record reaches back, nobody arrived for it, and nothing else explains that.
 */
static enum wsdbg_confidence judge_wait(const struct wsdbg_case *c, const struct wsdbg_wait *wait, bool missed_a_phase)
{
    if (!wait)
        return WSDBG_CONFIDENCE_LIKELY;
    if (missed_a_phase || waker_went_further(c, wait))
        return WSDBG_CONFIDENCE_POSSIBLE; /* the warps that exited had run ahead of a waiter: that is the cause */
    const struct wsdbg_round round = wsdbg_round_of(c, wait);
    const bool declared = wait->stage->name && wait->stage->name->arriving_roles;
    if (!round.needs_known || !wait->stage->init.known)
        return WSDBG_CONFIDENCE_LIKELY;
    if (phase_went_on(c, wait, &round))
        return WSDBG_CONFIDENCE_POSSIBLE; /* the arrivals are there: something else is wrong */
    /* Where nobody has arrived, a count that is only inferred does as well. */
    const bool count_known = !wait->stage->init_inferred || round.arrivals == 0;
    /* Without the author's count nobody knows who passed the round. */
    const bool told = round.covered && round.certain && round.of_its_parity && (declared || c->all_whole) &&
                      round.iteration != WSDBG_NO_ITERATION && count_known && !wait->stage->initialised_again &&
                      !wsdbg_others_arrive_unseen(c, wait);
    const enum wsdbg_confidence by_leavers = judge_leavers(c, wait, &round);
    return told && !is_of_some_lanes(c, wait) ? by_leavers : wsdbg_weaker(WSDBG_CONFIDENCE_LIKELY, by_leavers);
}

/* Of the exited wakers the one that did most for the barrier: those that ever acted on it come first. */
static uint32_t main_waker(const struct wsdbg_case *c, const struct wsdbg_warp_set *wakers, uint32_t cta, uint32_t id)
{
    const struct wsdbg_warp_set actors = wsdbg_family_actors(c, cta, id);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(wakers, w) && wsdbg_set_has(&actors, w))
            return w;
    return wsdbg_first_of(wakers);
}

static uint32_t tiles_begun(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count, tiles = 0;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        tiles += events[i].kind == WSDBG_EVENT_TILE_BEGIN;
    return tiles;
}

static const struct wsdbg_history_event *newest_tile(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = count; i-- > 0;)
        if (events[i].kind == WSDBG_EVENT_TILE_BEGIN)
            return &events[i];
    return NULL;
}

static void say_exited(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_wait *wait, bool missed_a_phase)
{
    const struct wsdbg_warp_set *wakers = &c->graph->nodes[warp].wakers;
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const uint32_t waker = main_waker(c, wakers, row->cta, row->last.barrier);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_WAKER_EXITED, judge_wait(c, wait, missed_a_phase), row->cta, row->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, waker)->role;
    const struct wsdbg_history_event *deed = last_deed(c, waker, row->last.barrier);
    char did[128] = "";
    if (deed && deed->kind != WSDBG_EVENT_EXIT)
        wsdbg_print(did, sizeof did, "; the last operation of %s on it was %s in %s", wsdbg_say_warp(c, waker).text,
                    wsdbg_event_kind_name(deed->kind), wsdbg_say_iteration(deed->iteration, WSDBG_NONE).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s for %s, but every warp that could signal it has exited: %s%s.",
                wsdbg_say_warp(c, warp).text, wait ? wsdbg_say_stage(wait->stage).text : "a barrier",
                wsdbg_say_line(c, &row->last).text, wsdbg_say_iteration(row->last.iteration, WSDBG_NONE).text,
                wsdbg_say_warps(c, wakers).text, did);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Make both sides run the same number of iterations: compare how %s compute their tile and iteration "
                "counts.",
                wsdbg_say_both(c, warp, waker).text);
    if (wait)
        wsdbg_evidence_event(c, finding, warp, wait->event, "%s waits", wsdbg_say_warp(c, warp).text);
    if (deed)
        wsdbg_evidence_event(c, finding, waker, deed, "last use of the barrier by %s", wsdbg_say_warp(c, waker).text);
    wsdbg_evidence_warp(c, finding, waker, "%s has exited", wsdbg_say_warp(c, waker).text);
    if (row->history_whole && wsdbg_case_warp(c, waker)->history_whole && tiles_begun(c, warp) > 0)
        wsdbg_evidence_text(c, finding, "%s began %u tiles, %s began %u", wsdbg_say_warp(c, warp).text,
                            tiles_begun(c, warp), wsdbg_say_warp(c, waker).text, tiles_begun(c, waker));
}

/* ---- some arrived, and the others have exited ---- */

/* Finds the arrivers that exited before the round.  False if there are none, or if a live warp may still arrive. */
static bool find_leavers(const struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                         struct wsdbg_warp_set *leavers)
{
    bool declared;
    const struct wsdbg_warp_set arrivers = wsdbg_arrivers(c, wait->stage, &declared);
    *leavers = (struct wsdbg_warp_set){{0}};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const bool exited = wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED;
        if (!wsdbg_set_has(&arrivers, w)) {
            if (!declared && !exited && w != wait->warp)
                return false;
            continue;
        }
        const enum wsdbg_contribution contribution = wsdbg_contribution(c, wait, round, w);
        if (contribution == WSDBG_ARRIVED)
            continue;
        if (!exited || contribution == WSDBG_SKIPPED)
            return false;
        if (wsdbg_case_warp(c, w)->cta == wait->stage->cta || contribution != WSDBG_NEVER_ARRIVES)
            wsdbg_set_add(leavers, w);
    }
    return wsdbg_set_count(leavers) > 0;
}

static void say_partly_exited(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                              const struct wsdbg_warp_set *leavers, enum wsdbg_confidence known)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_WAKER_EXITED, known, wait->stage->cta, wait->stage->barrier);
    if (!finding)
        return;
    const uint32_t leaver = wsdbg_first_of(leavers);
    finding->role = wsdbg_case_warp(c, leaver)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s for %s: %u of %u arrivals were made, and the warps that should make the others have "
                "exited: %s.",
                wsdbg_say_warp(c, wait->warp).text, wsdbg_say_stage(wait->stage).text,
                wsdbg_say_line(c, wait->event).text, wsdbg_say_iteration(wait->event->iteration, wait->round).text,
                round->arrivals, wait->stage->init.value, wsdbg_say_warps(c, leavers).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let %s arrive on %s before it exits, or run as many iterations as the others.",
                wsdbg_say_role(c, leaver).text, wsdbg_say_barrier(wait->stage).text);
    wsdbg_evidence_event(c, finding, wait->warp, wait->event, "%s waits", wsdbg_say_warp(c, wait->warp).text);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(leavers, w))
            wsdbg_evidence_warp(c, finding, w, "%s has exited", wsdbg_say_warp(c, w).text);
}

static void judge_partly_exited(struct wsdbg_case *c, const struct wsdbg_wait *wait, bool missed_a_phase)
{
    const struct wsdbg_round round = wsdbg_round_of(c, wait);
    struct wsdbg_warp_set leavers;
    if (round.needs_known && round.covered && wait->stage->init.known && !wait->stage->initialised_again &&
        round.arrivals > 0 && round.arrivals < wait->stage->init.value && !wsdbg_stage_comes_out_even(c, wait->stage) &&
        find_leavers(c, wait, &round, &leavers))
        say_partly_exited(c, wait, &round, &leavers, judge_wait(c, wait, missed_a_phase));
}

/* All warps of the CTA that are there stand with the waker at a sync of the whole block, but for the waiter. */
static bool all_others_stand_at_sync(const struct wsdbg_case *c, uint32_t warp, uint32_t waker)
{
    const struct wsdbg_warp_row *sync = wsdbg_case_warp(c, waker);
    if (sync->last.value != c->snapshot->grids[c->grid].warps_per_cta * WARP_LANES)
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (w != warp && row->cta == sync->cta && row->state != WSDBG_WARP_EXITED &&
            (row->state != WSDBG_WARP_WAIT_NAMED || row->last.barrier != sync->last.barrier))
            return false;
    }
    return true;
}

/* The waker has begun fewer tiles than the waiter and does no more: it has left, stands at the cluster barrier or, with
 * everybody else, at a sync of the block, which is in no role's branch then. */
static bool did_fewer_tiles(const struct wsdbg_case *c, uint32_t warp, uint32_t waker)
{
    const enum wsdbg_warp_state state = wsdbg_case_warp(c, waker)->state;
    const bool at_sync = state == WSDBG_WARP_WAIT_NAMED && all_others_stand_at_sync(c, warp, waker);
    if (state != WSDBG_WARP_EXITED && state != WSDBG_WARP_WAIT_CLUSTER && !at_sync)
        return false;
    const struct wsdbg_history_event *mine = newest_tile(c, warp), *other = newest_tile(c, waker);
    if (!mine || !other)
        return false;
    if (mine->iteration != WSDBG_NO_ITERATION && other->iteration != WSDBG_NO_ITERATION)
        return other->iteration < mine->iteration;
    return wsdbg_case_warp(c, warp)->history_whole && wsdbg_case_warp(c, waker)->history_whole &&
           tiles_begun(c, waker) < tiles_begun(c, warp);
}

static bool say_disagree(struct wsdbg_case *c, uint32_t warp)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_set_has(&c->graph->nodes[warp].wakers, w) || !did_fewer_tiles(c, warp, w))
            continue;
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
        struct wsdbg_finding *finding =
            wsdbg_case_find(c, WSDBG_CAUSE_ROLE_DISAGREE, WSDBG_CONFIDENCE_LIKELY, row->cta, row->barrier);
        if (!finding)
            return true;
        finding->role = wsdbg_case_warp(c, w)->role;
        char waiter[160];
        wsdbg_print(waiter, sizeof waiter, "%s", wsdbg_say_warp(c, warp).text);
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "%s waits in tile %u, but %s finished after tile %u: the roles disagree on the number of tiles.",
                    waiter, newest_tile(c, warp)->value, wsdbg_say_warp(c, w).text, newest_tile(c, w)->value);
        wsdbg_print(finding->fix, sizeof finding->fix, "Compute the tile schedule in one place for all roles.");
        wsdbg_evidence_event(c, finding, warp, newest_tile(c, warp), "%s began its newest tile",
                             wsdbg_say_warp(c, warp).text);
        wsdbg_evidence_event(c, finding, w, newest_tile(c, w), "%s began its last tile", wsdbg_say_warp(c, w).text);
        return true;
    }
    return false;
}

static const struct wsdbg_wait *wait_of(const struct wsdbg_case *c, uint32_t warp)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++)
        if (c->ledger->waits[i].warp == warp)
            return &c->ledger->waits[i];
    return NULL;
}

void wsdbg_rule_exited(struct wsdbg_case *c)
{
    const bool missed_a_phase = somebody_missed_a_phase(c);
    bool disagree = false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_wait_node *node = &c->graph->nodes[w];
        const enum wsdbg_warp_state state = wsdbg_case_warp(c, w)->state;
        if (!wsdbg_case_stuck(c, w))
            continue;
        const struct wsdbg_wait *wait = wait_of(c, w);
        if (state == WSDBG_WARP_WAIT_MBARRIER && all_exited(c, &node->wakers))
            say_exited(c, w, wait, missed_a_phase);
        else if (wait)
            judge_partly_exited(c, wait, missed_a_phase);
        if (!disagree && state == WSDBG_WARP_WAIT_MBARRIER)
            disagree = say_disagree(c, w);
    }
}
