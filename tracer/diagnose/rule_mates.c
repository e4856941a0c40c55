/* rule_mates.c - a warp that waits for another phase than all others of its warpgroup do in the same turn.
 *
 * Reads: the ledger, of whole histories only.  Adds: PARITY_WRONG, PARITY_DRIFT.
 *
 * Warps of a warpgroup share one program: where they all wait on a barrier, they name the same parities in the same
 * order.  Warps that take turns at phases do not; so it counts only if one warp differs, and all three others agree.
 * One warp may also have a wait of its own, say for a buffer that it fills again.  A record does not tell by which
 * instruction a warp waits, so the finding is likely only where it cannot be such a wait.
 */
#include "diagnose/code_say.h"
#include "diagnose/rules.h"

/* A wait of one warp, and those of its mates in the same turn. */
struct odd_wait {
    const struct wsdbg_stage *stage;
    const struct wsdbg_history_event *event;
    uint32_t warp;
    const struct wsdbg_use *mate; /* one of theirs */
    bool mates_went_on;           /* the waits of all mates ended */
    uint32_t turn;                /* how many waits of the warp on the stage ended before */
};

/* The waits of one warp on a stage: its uses are neighbours. */
struct waits {
    const struct wsdbg_use *uses;
    uint32_t count;
};

static struct waits waits_of(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t warp)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    struct waits waits = {uses, 0};
    for (uint32_t i = 0; i < stage->use_count; i++)
        if (uses[i].warp == warp && !waits.count++)
            waits.uses = &uses[i];
    return waits;
}

/* The wait of a turn: one that ended, or the one in which the warp stands.  NULL = the warp did not come to it. */
static const struct wsdbg_use *wait_of_turn(const struct waits *waits, uint32_t turn)
{
    uint32_t ended = 0;
    const struct wsdbg_use *begun = NULL;
    for (uint32_t i = 0; i < waits->count; i++) {
        const uint8_t kind = waits->uses[i].event->kind;
        if (kind == WSDBG_EVENT_MBARRIER_WAIT_END && ended++ == turn)
            return &waits->uses[i];
        if (kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN || kind == WSDBG_EVENT_MBARRIER_WAIT_END)
            begun = kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN ? &waits->uses[i] : NULL;
    }
    return ended == turn ? begun : NULL;
}

/* Finds the mates' common parity in a turn.  False: some mate did not come to it, or they differ. */
static bool mates_agree(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t warp, uint32_t turn,
                        const struct wsdbg_use **mate, bool *went_on)
{
    uint32_t count = 0;
    *mate = NULL;
    *went_on = true;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (w == warp || !wsdbg_case_are_mates(c, warp, w))
            continue;
        const struct waits waits = waits_of(c, stage, w);
        const struct wsdbg_use *use = wait_of_turn(&waits, turn);
        if (!use || (*mate && (*mate)->event->parity != use->event->parity))
            return false;
        *mate = use;
        *went_on = *went_on && use->event->kind == WSDBG_EVENT_MBARRIER_WAIT_END;
        count++;
    }
    return count == WSDBG_GROUP_WARPS - 1;
}

/* The first turn in which the warp differs from its mates, if they agree in it and it did as they in all before. */
static bool differs(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t warp, struct odd_wait *out)
{
    const struct waits waits = waits_of(c, stage, warp);
    const struct wsdbg_use *own, *mate;
    bool went_on;
    for (uint32_t turn = 0; (own = wait_of_turn(&waits, turn)) && mates_agree(c, stage, warp, turn, &mate, &went_on);
         turn++)
        if (own->event->parity != mate->event->parity) {
            *out = (struct odd_wait){stage, own->event, warp, mate, went_on, turn};
            return true;
        }
    return false;
}

static bool has_whole_history(const struct wsdbg_case *c, uint32_t warp)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if ((w == warp || wsdbg_case_are_mates(c, warp, w)) && !wsdbg_case_warp(c, w)->history_whole)
            return false;
    return true;
}

/* The one of the case that came first. */
static bool find_odd(const struct wsdbg_case *c, struct odd_wait *first)
{
    bool found = false;
    for (uint32_t s = 0; s < c->ledger->stage_count; s++) {
        const struct wsdbg_stage *stage = &c->ledger->stages[s];
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
        for (uint32_t i = 0; i < stage->use_count; i++) {
            struct odd_wait odd;
            if ((i && uses[i].warp == uses[i - 1].warp) || !has_whole_history(c, uses[i].warp) ||
                !differs(c, stage, uses[i].warp, &odd))
                continue;
            if (!found || odd.event->gpu_time_ns < first->event->gpu_time_ns)
                *first = odd;
            found = true;
        }
    }
    return found;
}

/* Whether the warp's code has a single instruction that waits on the barrier.  Then every recorded wait there is of
 * that instruction. */
static bool has_only_one_wait(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    uint32_t count, waits = 0;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *row = wsdbg_code_access(c, &reaches[i]);
        waits += row && row->kind == WSDBG_ACCESS_WAIT && wsdbg_access_match(c, row, barrier) != WSDBG_MATCH_NO;
    }
    return waits == 1;
}

/* Whether the warp stands in the odd wait, which has ended for all its mates.  A warp that fills a buffer again would
 * have held them back. */
static bool is_left_behind(const struct wsdbg_case *c, const struct odd_wait *odd)
{
    return odd->mates_went_on && odd->event == wsdbg_code_recorded_wait(c, odd->warp);
}

/* Whether a warp that is stuck waits on the barrier of the odd wait. */
static bool is_stuck_at(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++) {
        const struct wsdbg_wait *wait = &c->ledger->waits[i];
        if (wait->stage->cta == stage->cta && wait->stage->id == stage->id && wsdbg_case_stuck(c, wait->warp))
            return true;
    }
    return false;
}

static enum wsdbg_confidence confidence_of(const struct wsdbg_case *c, const struct odd_wait *odd, uint32_t barrier)
{
    const bool is_likely =
        is_stuck_at(c, odd->stage) && (is_left_behind(c, odd) || has_only_one_wait(c, odd->warp, barrier));
    return wsdbg_code_cap(c, is_likely ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE);
}

static bool anybody_is_stuck(const struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++)
        if (wsdbg_case_stuck(c, c->ledger->waits[i].warp))
            return true;
    return false;
}

/* The row of the barrier among the barriers that were seen: that of a warp which stands in a wait on it.  WSDBG_NONE =
 * none does. */
static uint32_t row_of(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    for (uint32_t w = 0; w < c->warp_count && stage->barrier == WSDBG_NONE; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        const struct wsdbg_history_event *wait = row->cta == stage->cta ? wsdbg_code_recorded_wait(c, w) : NULL;
        if (wait && wait->barrier == stage->id && wait->stage == stage->stage &&
            row->state == WSDBG_WARP_WAIT_MBARRIER && row->barrier < c->snapshot->barrier_count)
            return row->barrier;
    }
    return stage->barrier;
}

static void say(struct wsdbg_case *c, const struct odd_wait *odd)
{
    const uint32_t barrier = row_of(c, odd->stage);
    const bool stands = odd->event == wsdbg_code_recorded_wait(c, odd->warp);
    const struct wsdbg_phrase object =
                                  barrier == WSDBG_NONE ? wsdbg_say_stage(odd->stage) : wsdbg_say_object(c, barrier),
                              family =
                                  barrier == WSDBG_NONE ? wsdbg_say_barrier(odd->stage) : wsdbg_say_family(c, barrier);

    const bool drifts = odd->turn > 0;
    const enum wsdbg_cause cause = drifts ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG;
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, confidence_of(c, odd, barrier), odd->stage->cta, barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, odd->warp)->role;
    char before[80] = "";
    if (drifts)
        wsdbg_print(before, sizeof before, "after %u %s like theirs, ", odd->turn, odd->turn == 1 ? "wait" : "waits");
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits for the wrong parity of %s%s: %sit names parity %u, but all other warps of its warpgroup "
                "name parity %u in the same wait. So it is out of step with them.",
                wsdbg_say_warp(c, odd->warp).text, object.text,
                (stands ? wsdbg_say_at(c, odd->warp) : wsdbg_say_line(c, odd->event)).text, before, odd->event->parity,
                odd->mate->event->parity);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let all warps of the warpgroup flip their phase of %s at the same place, whatever else a warp does "
                "there.",
                family.text);
    wsdbg_evidence_event(c, finding, odd->warp, odd->event, "%s names parity %u", wsdbg_say_warp(c, odd->warp).text,
                         odd->event->parity);
    wsdbg_evidence_event(c, finding, odd->mate->warp, odd->mate->event, "%s names parity %u in the same turn",
                         wsdbg_say_warp(c, odd->mate->warp).text, odd->mate->event->parity);
}

void wsdbg_rule_mates(struct wsdbg_case *c)
{
    struct odd_wait odd;
    if (anybody_is_stuck(c) && find_odd(c, &odd))
        say(c, &odd);
}
