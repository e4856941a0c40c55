/* rule_code_phase.c - a ring of slots whose "empty" and "full" barriers contradict the warp that waits to fill a slot.
 *
 * Reads: barrier words, reaches.  Adds: TX_SHARED_BARRIER, TX_NO_ARRIVE, DOUBLE_ARRIVE, ARRIVE_MISSING, PARITY_WRONG,
 * PARITY_DRIFT.
 *
 * A slot is filled and released in turn.  Where nobody has touched the phases under way of its two barriers, their
 * phase bits tell which is next: as often filled as released (equal bits) = free.  Where the consumers hand every slot
 * over once before its first use, a free slot has unequal bits.  Such hand-overs are arrivals that lie behind the
 * consumers for good; two of them turn the phase back.  Where a wait for the slot lies behind them for good as well, as
 * in a loop that was unrolled, those arrivals may be of rounds that are over, and nothing is concluded.
 */
#include "diagnose/code_say.h"
#include "diagnose/code_slot.h"
#include "diagnose/replay_likes.h"
#include "diagnose/rules.h"

static bool is_free(const struct wsdbg_code_slot *slot)
{
    return slot->empty.untouched && slot->full.untouched &&
           (slot->empty.phase ^ slot->full.phase) == (slot->handed & 1);
}

/* Some stage of the barrier is not as it was before its first use, in phase `first`. */
static bool was_used(const struct wsdbg_case *c, uint32_t barrier, uint32_t first)
{
    struct wsdbg_barrier_word word;
    for (uint32_t at = 0; wsdbg_word_next(c, barrier, &at, &word);)
        if (!word.untouched || word.phase != first)
            return true;
    return false;
}

static void tell_slot(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct wsdbg_code_slot *slot)
{
    wsdbg_tell_wait(c, finding, slot->filler);
    wsdbg_tell_word(c, finding, slot->empty.barrier);
    wsdbg_tell_word(c, finding, slot->full.barrier);
    wsdbg_tell_waits(c, finding, &slot->releasers);
}

/* ---- TX_SHARED_BARRIER ---- */

/* Another live warp that fills the same barrier and waits for another turn of it. */
static uint32_t filler_out_of_step(const struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    const struct wsdbg_warp_row *self = wsdbg_case_warp(c, slot->filler);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (w != slot->filler && row->cta == self->cta && row->state == WSDBG_WARP_WAIT_MBARRIER &&
            (row->barrier != self->barrier || row->parity.value != self->parity.value) &&
            wsdbg_code_can(c, w, WSDBG_KINDS_EXPECT, slot->full.barrier, NULL) == WSDBG_CAN)
            return w;
    }
    return WSDBG_NONE;
}

static void say_shared(struct wsdbg_case *c, const struct wsdbg_code_slot *slot, uint32_t arrives, uint32_t expects)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_TX_SHARED_BARRIER, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY),
                        wsdbg_case_warp(c, slot->filler)->cta, slot->full.barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, slot->filler)->role;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s waits%s for a slot that other warps filled and released in its place: several warps expect bytes on %s, "
        "which is initialised for one arrival, so a phase can complete with only the bytes of the warp that arrives.",
        wsdbg_say_warp(c, slot->filler).text, wsdbg_say_at(c, slot->filler).text,
        wsdbg_say_family(c, slot->full.barrier).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise %s with one arrival for each of these warps and let each execute arrive.expect_tx with its "
                "own bytes, or give each warp its own barrier.",
                wsdbg_say_family(c, slot->full.barrier).text);
    tell_slot(c, finding, slot);
    wsdbg_tell_access(c, finding, arrives, "may be the one arrival of a phase");
    wsdbg_tell_access(c, finding, expects, "may announce bytes without arriving");
}

/* The slot is free and went round without this warp: others fill it too.  What makes that go wrong is in the code. */
static bool judge_shared(struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    uint32_t arrives, expects;
    if (!slot->handed_known || !is_free(slot) || slot->full.expected != 1)
        return false;
    if (wsdbg_code_has(c, WSDBG_KIND(WSDBG_ACCESS_EXPECT), slot->full.barrier, &expects) < WSDBG_MATCH_MAY ||
        wsdbg_code_has(c, WSDBG_KIND(WSDBG_ACCESS_ARRIVE_EXPECT), slot->full.barrier, &arrives) < WSDBG_MATCH_MAY)
        return false;
    if (wsdbg_set_count(&slot->releasers) > 0 && filler_out_of_step(c, slot) == WSDBG_NONE)
        return false;
    say_shared(c, slot, arrives, expects);
    return true;
}

/* ---- TX_NO_ARRIVE ---- */

/* Whoever passes this wait always arrives on the barrier afterwards. */
static bool is_answered(const struct wsdbg_case *c, uint32_t wait, uint32_t empty)
{
    for (size_t i = 0; i < c->snapshot->answer_count; i++) {
        const struct wsdbg_answer_row *row = &c->snapshot->answers[i];
        if (row->wait == wait && !row->is_bare && row->arrival < c->snapshot->access_count &&
            wsdbg_access_match(c, &c->snapshot->accesses[row->arrival], empty) >= WSDBG_MATCH_MAY)
            return true;
    }
    return false;
}

/* Others than those that wait to fill the slot can arrive on its full barrier. */
static bool others_can_arrive(const struct wsdbg_case *c, const struct wsdbg_code_slot *slot, enum wsdbg_can least)
{
    const struct wsdbg_warp_set able = wsdbg_code_able(c, WSDBG_KINDS_ARRIVAL, slot->full.barrier, least);
    const struct wsdbg_warp_row *filler = wsdbg_case_warp(c, slot->filler);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (wsdbg_set_has(&able, w) && (row->state != filler->state || row->barrier != filler->barrier ||
                                        row->parity.value != filler->parity.value))
            return true;
    }
    return false;
}

static bool others_may_arrive(const struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    const wsdbg_access_kinds plain = WSDBG_KINDS_ARRIVAL & ~WSDBG_KIND(WSDBG_ACCESS_ARRIVE_EXPECT);
    return others_can_arrive(c, slot, WSDBG_CAN_DOUBTFUL) ||
           wsdbg_code_has(c, plain, slot->full.barrier, NULL) != WSDBG_MATCH_NO;
}

/* After some wait for the slot that the warp can reach, a way leads through this instruction past all arrivals on the
 * full barrier: the instruction, or WSDBG_NONE.  It announces bytes there without arriving. */
static uint32_t bare_expect(const struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    for (size_t i = 0; i < c->snapshot->answer_count; i++) {
        const struct wsdbg_answer_row *row = &c->snapshot->answers[i];
        const struct wsdbg_reach *wait = wsdbg_code_reach(c, slot->filler, row->wait),
                                 *expect = wsdbg_code_reach(c, slot->filler, row->arrival);
        const struct wsdbg_access_row *waits = wait && wait->after > 0 ? wsdbg_code_access(c, wait) : NULL,
                                      *expects = expect && expect->after > 1 ? wsdbg_code_access(c, expect) : NULL;
        if (row->is_bare && waits && expects && expects->kind == WSDBG_ACCESS_EXPECT &&
            wsdbg_access_match(c, waits, slot->empty.barrier) >= WSDBG_MATCH_MAY &&
            wsdbg_access_match(c, expects, slot->full.barrier) >= WSDBG_MATCH_MAY)
            return row->arrival;
    }
    return WSDBG_NONE;
}

static void say_no_arrive(struct wsdbg_case *c, const struct wsdbg_code_slot *slot, uint32_t expects)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_TX_NO_ARRIVE, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY),
                        wsdbg_case_warp(c, slot->filler)->cta, slot->full.barrier);
    if (!finding)
        return;
    const struct wsdbg_phrase filler = wsdbg_say_warp(c, slot->filler);
    finding->role = wsdbg_case_warp(c, slot->filler)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits%s for a slot whose %s has none of its %u arrivals: it announces bytes there with expect_tx "
                "alone on some path, which is no arrival, so the data came and the phase never completed.",
                filler.text, wsdbg_say_at(c, slot->filler).text, wsdbg_say_object(c, slot->full.barrier).text,
                slot->full.expected);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Use mbarrier.arrive.expect_tx on every path, or arrive on %s after expect_tx.",
                wsdbg_say_family(c, slot->full.barrier).text);
    tell_slot(c, finding, slot);
    wsdbg_tell_access(c, finding, expects, "announces bytes but does not arrive");
}

/* Nothing was counted on the full barrier, all releasers wait on it, and the slot may be filled without an arrival. */
static bool judge_bare_expect(struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    const uint32_t expects =
        slot->full.untouched && slot->waited && !others_may_arrive(c, slot) ? bare_expect(c, slot) : WSDBG_NONE;
    if (expects == WSDBG_NONE)
        return false;
    say_no_arrive(c, slot, expects);
    return true;
}

/* ---- DOUBLE_ARRIVE ---- */

static void tell_hand_overs(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct wsdbg_code_slot *slot)
{
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, wsdbg_first_of(&slot->releasers), &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        if (access && wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_ARRIVAL) && reaches[i].after == 0 &&
            reaches[i].before_most > 0 && wsdbg_access_match(c, access, slot->empty.barrier) >= WSDBG_MATCH_MAY)
            wsdbg_tell_access(c, finding, reaches[i].access, "cannot be reached again");
    }
}

static void say_double(struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_DOUBLE_ARRIVE, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY),
                        wsdbg_case_warp(c, slot->filler)->cta, slot->empty.barrier);
    if (!finding)
        return;
    const uint32_t first = wsdbg_first_of(&slot->releasers);
    const struct wsdbg_phrase filler = wsdbg_say_warp(c, slot->filler);
    finding->role = wsdbg_case_warp(c, first)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s passed %u arrivals on %s before its first use. Each completes a phase, so the parity has flipped "
                "back and %s waits%s for a phase that has already passed.",
                wsdbg_say_warps(c, &slot->releasers).text, slot->handed, wsdbg_say_object(c, slot->empty.barrier).text,
                filler.text, wsdbg_say_at(c, slot->filler).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive once per warp and round on %s: remove one of the arrivals, or wait between them.",
                wsdbg_say_family(c, slot->empty.barrier).text);
    tell_hand_overs(c, finding, slot);
    tell_slot(c, finding, slot);
}

/* Nothing has happened but the hand-overs. */
static bool judge_double(struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    if (!slot->handed_known || slot->handed < 2 || !slot->empty.untouched || !slot->full.untouched ||
        slot->full.phase != 0 || slot->empty.phase != (slot->handed & 1))
        return false;
    say_double(c, slot);
    return true;
}

/* All waits for a filled slot that the warp has passed, or can, are answered: it cannot have released too few. */
static bool always_releases(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_code_slot *slot)
{
    uint32_t count, waits = 0;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        const bool passed = !reaches[i].before_known || reaches[i].before_most > 0 || reaches[i].after > 0;
        if (!access || !passed || access->kind != WSDBG_ACCESS_WAIT ||
            wsdbg_access_match(c, access, slot->full.barrier) == WSDBG_MATCH_NO)
            continue;
        if (!is_answered(c, reaches[i].access, slot->empty.barrier))
            return false;
        waits++;
    }
    return waits > 0;
}

/* The warp can release the slot at more than one place.  One of them may release what nobody waited for. */
static bool releases_in_places(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_code_slot *slot)
{
    uint32_t count, arrivals = 0;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        arrivals += access && reaches[i].after > 0 && wsdbg_is_of_kinds(access->kind, WSDBG_KINDS_ARRIVAL) &&
                    wsdbg_access_match(c, access, slot->empty.barrier) >= WSDBG_MATCH_MAY;
    }
    return arrivals > 1;
}

/* The slot is one of several, and all others were released as often as filled: warps that pass a wait in their first
 * round, by a parity that is wrong, release every slot once more. */
static bool is_only_odd_one(const struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    struct wsdbg_barrier_word empty, full;
    uint32_t odd = 0, stages = 0, at_full = 0;
    for (uint32_t at = 0; wsdbg_word_next(c, slot->empty.barrier, &at, &empty); stages++) {
        if (!wsdbg_word_next(c, slot->full.barrier, &at_full, &full) || !empty.untouched || !full.untouched ||
            c->snapshot->barriers[empty.barrier].stage != c->snapshot->barriers[full.barrier].stage)
            return false;
        odd += (empty.phase + slot->handed + full.phase) & 1;
    }
    return odd == 1 && stages > 1 && !wsdbg_word_next(c, slot->full.barrier, &at_full, &full);
}

/* A finding about those who release the slot; NULL = memory ran out. */
static struct wsdbg_finding *find_of_releasers(struct wsdbg_case *c, enum wsdbg_cause cause,
                                               const struct wsdbg_code_slot *slot)
{
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY),
                                                    wsdbg_case_warp(c, slot->filler)->cta, slot->empty.barrier);
    if (finding)
        finding->role = wsdbg_case_warp(c, wsdbg_first_of(&slot->releasers))->role;
    return finding;
}

static void say_released_twice(struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    struct wsdbg_finding *finding = find_of_releasers(c, WSDBG_CAUSE_DOUBLE_ARRIVE, slot);
    if (!finding)
        return;
    const struct wsdbg_phrase filler = wsdbg_say_warp(c, slot->filler);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s released %s once more than it was filled: by its phases the slot was not released as often as "
                "filled, and these warps always release what they waited for, so they released too often; %s waits%s "
                "for a phase that has already passed.",
                wsdbg_say_warps(c, &slot->releasers).text, wsdbg_say_object(c, slot->empty.barrier).text, filler.text,
                wsdbg_say_at(c, slot->filler).text);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Arrive on %s only after a wait for the filled slot: an empty tile or a skipped block has nothing to release.",
        wsdbg_say_family(c, slot->empty.barrier).text);
    tell_slot(c, finding, slot);
}

/* By its phases the slot was released once too often or once too rarely; too rarely cannot be. */
static bool judge_released_twice(struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    struct wsdbg_code_balance balance;
    if (!wsdbg_code_slot_balance(slot, &balance) || !slot->empty.untouched || balance.missing != slot->empty.expected ||
        !is_only_odd_one(c, slot))
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&slot->releasers, w) && (!always_releases(c, w, slot) || !releases_in_places(c, w, slot)))
            return false;
    say_released_twice(c, slot);
    return true;
}

/* ---- ARRIVE_MISSING ---- */

/* Whether each of the warps has so many accesses of these kinds to the barrier behind it that it cannot reach again. */
static bool has_behind(const struct wsdbg_case *c, const struct wsdbg_warp_set *warps, wsdbg_access_kinds kinds,
                       uint32_t barrier, uint32_t count)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(warps, w) && wsdbg_code_behind(c, w, kinds, barrier, NULL) != count)
            return false;
    return true;
}

/* Whether the slot was never used, and all releasers have an arrival behind them on each other stage that they cannot
 * reach again, and none on this one: the others were handed over before their first use.  Where waits for filled slots
 * lie behind them, too, these arrivals are of rounds. */
static bool was_left_out(const struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    struct wsdbg_barrier_word word;
    uint32_t stages = 0;
    if (slot->full.phase != 0 || slot->empty.phase != 0 || slot->handed != 0)
        return false;
    for (uint32_t at = 0; wsdbg_word_next(c, slot->empty.barrier, &at, &word); stages++)
        if (word.barrier != slot->empty.barrier &&
            !has_behind(c, &slot->releasers, WSDBG_KINDS_ARRIVAL, word.barrier, 1))
            return false;
    for (uint32_t at = 0; wsdbg_word_next(c, slot->full.barrier, &at, &word);)
        if (!has_behind(c, &slot->releasers, WSDBG_KIND(WSDBG_ACCESS_WAIT), word.barrier, 0))
            return false;
    return stages > 1;
}

static void say_left_out(struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    struct wsdbg_finding *finding = find_of_releasers(c, WSDBG_CAUSE_ARRIVE_MISSING, slot);
    if (!finding)
        return;
    const struct wsdbg_phrase filler = wsdbg_say_warp(c, slot->filler);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s, whose slot is free. Before the first round %s arrive once on each other stage of "
                "it, but not on this one, so its phases are one behind.",
                filler.text, wsdbg_say_object(c, slot->empty.barrier).text, wsdbg_say_at(c, slot->filler).text,
                wsdbg_say_warps(c, &slot->releasers).text);
    wsdbg_print(finding->fix, sizeof finding->fix, "Arrive on every stage of %s before the first round.",
                wsdbg_say_family(c, slot->empty.barrier).text);
    tell_slot(c, finding, slot);
}

/* ---- PARITY_WRONG, PARITY_DRIFT ---- */

static void say_parity(struct wsdbg_case *c, const struct wsdbg_code_slot *slot)
{
    const bool drift = was_used(c, slot->empty.barrier, slot->handed & 1) || was_used(c, slot->full.barrier, 0);
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, slot->filler);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, drift ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG,
                        wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), row->cta, slot->empty.barrier);
    if (!finding)
        return;
    const struct wsdbg_phrase filler = wsdbg_say_warp(c, slot->filler),
                              object = wsdbg_say_object(c, slot->empty.barrier);
    finding->role = row->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s for parity %u, but the slot is free%s: %s can release it only after this warp fills "
                "it, so the wait must use parity %u.",
                filler.text, object.text, wsdbg_say_at(c, slot->filler).text, row->parity.value,
                drift ? " again" : " and has never been used", wsdbg_say_warps(c, &slot->releasers).text,
                row->parity.value ^ 1);
    if (drift)
        wsdbg_print(finding->fix, sizeof finding->fix,
                    "Keep the phase of %s across tiles: flip it when the stage index wraps, and only then.",
                    wsdbg_say_family(c, slot->empty.barrier).text);
    else
        wsdbg_print(finding->fix, sizeof finding->fix,
                    "Start this warp's phase for %s at %u, and flip it when the stage index wraps.",
                    wsdbg_say_family(c, slot->empty.barrier).text, row->parity.value ^ 1);
    tell_slot(c, finding, slot);
}

/* Whether the walk shows waits on the barrier, from parity 1 on, that alternate as far as it goes, and arrives or
 * copies somewhere between any two of them: who waits twice for one round, to see the ring run empty, is a phase ahead.
 */
static bool alternates(const struct wsdbg_case *c, const struct wsdbg_walk_row *walk, uint32_t offset)
{
    uint32_t waits = 0, fills = 1;
    for (uint32_t k = 0; k < walk->step_count; k++) {
        const struct wsdbg_step_row *step = &c->snapshot->steps[walk->step_first + k];
        fills += step->kind == WSDBG_ACCESS_ARRIVE || step->kind == WSDBG_ACCESS_ARRIVE_EXPECT ||
                 step->kind == WSDBG_ACCESS_EXPECT || step->kind == WSDBG_ACCESS_COPY;
        if (step->kind != WSDBG_ACCESS_WAIT || step->address != offset)
            continue;
        if (!step->number_known || (step->number & 1) == (waits & 1) || !fills)
            return false;
        waits++;
        fills = 0;
    }
    return waits > 0;
}

/* Walks of the warp, or of the same warp of other CTAs, show that its waits on an empty barrier begin with the phase
 * before the first one, which lets a producer through, and alternate: then they are in step. */
static bool is_in_step(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    const struct wsdbg_barrier *row = &s->barriers[barrier];
    bool any = false;
    for (size_t i = 0; i < s->walk_count; i++) {
        const struct wsdbg_walk_row *walk = &s->walks[i];
        const struct wsdbg_warp_row *walker = &s->warps[walk->warp];
        if (walker->warp != wsdbg_case_warp(c, warp)->warp || s->ctas[walker->cta].grid != c->grid || walk->is_guessed)
            continue;
        any |= alternates(c, walk, (uint32_t)row->shared_offset.value);
    }
    return any && row->shared_offset.known;
}

/* Lanes of the warp that filled slots before have left it: those that still wait may fill none. */
static bool has_lost_fillers(struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_replay *replay = wsdbg_code_lanes_gone(c, warp) ? wsdbg_replay_standing(c) : NULL;
    return replay && wsdbg_replay_workers_gone(replay, warp);
}

/* Lanes have left their warps that may have been those that fill the slot first. */
static bool have_others_lost_fillers(struct wsdbg_case *c)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    return replay && wsdbg_replay_have_lanes_left(replay);
}

void wsdbg_rule_code_phase(struct wsdbg_case *c)
{
    struct wsdbg_code_slot slot;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (has_lost_fillers(c, w) || !wsdbg_code_slot_read(c, w, &slot) || judge_shared(c, &slot) ||
            judge_bare_expect(c, &slot) || judge_double(c, &slot) || judge_released_twice(c, &slot))
            continue;
        if (!slot.handed_known || slot.handed > 1 || !is_free(&slot) || !slot.waited || have_others_lost_fillers(c) ||
            is_in_step(c, w, slot.empty.barrier))
            continue;
        if (was_left_out(c, &slot))
            say_left_out(c, &slot);
        else if (!others_can_arrive(c, &slot, WSDBG_CAN))
            say_parity(c, &slot);
    }
}
