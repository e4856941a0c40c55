/* rule_parity.c - a wait that names the wrong phase.
 *
 * Reads: rounds, names, arrivals.  Adds: PARITY_WRONG, PARITY_DRIFT.  Two kinds of evidence:
 *  - a wait that has not ended: the phase that it should wait for is complete, so the other parity would pass; the
 *    phase that it does wait for completes only after the waiter goes on;
 *  - a wait that ended too early: it named the wrong parity, and ended before its phase had all arrivals.  So its warp
 *    ran ahead of the others.  It is the likely cause only where somebody is stuck who depends on that warp.
 */
#include "diagnose/rules.h"

/* Is the phase that the right parity names complete?  `proven` = shown, not assumed. */
static bool right_phase_complete(const struct wsdbg_wait *wait, const struct wsdbg_round *round, bool *proven)
{
    *proven = false;
    if (round->passes_by_design) {
        *proven = true;
        return true;
    }
    if (!round->needs_known || !wait->stage->init.known)
        return false;
    *proven = round->certain && round->covered;
    /* A surplus would flip the phase once more: another cause, judged by its own rule. */
    return round->arrivals == wait->stage->init.value && round->later_arrivals == 0 &&
           round->expected_bytes == round->issued_bytes;
}

/* What the warp's ended waits on this barrier looked for. */
struct earlier {
    const struct wsdbg_use *first_wrong; /* NULL = none before this wait */
    uint32_t right_at_first;             /* right ones before it */
};

typedef void each_ended_wait(const struct wsdbg_use *use, bool right, struct earlier *earlier);

static void note_wrong(const struct wsdbg_use *use, bool right, struct earlier *earlier)
{
    if (!right && (!earlier->first_wrong || use->event < earlier->first_wrong->event))
        earlier->first_wrong = use;
}

static void note_right(const struct wsdbg_use *use, bool right, struct earlier *earlier)
{
    if (right && (!earlier->first_wrong || use->event < earlier->first_wrong->event))
        earlier->right_at_first++;
}

static void each_of_warp(const struct wsdbg_case *c, const struct wsdbg_wait *wait, uint32_t right_parity,
                         each_ended_wait *note, struct earlier *earlier)
{
    for (uint32_t s = 0; s < c->ledger->stage_count; s++) {
        const struct wsdbg_stage *stage = &c->ledger->stages[s];
        if (stage->cta != wait->stage->cta || stage->id != wait->stage->id)
            continue;
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
        for (uint32_t i = 0; i < stage->use_count; i++)
            if (uses[i].warp == wait->warp && uses[i].round != WSDBG_NONE &&
                uses[i].event->kind == WSDBG_EVENT_MBARRIER_WAIT_END)
                note(&uses[i], ((uses[i].round + uses[i].event->parity) & 1) == ((wait->round + right_parity) & 1),
                     earlier);
    }
}

static struct earlier look_back(const struct wsdbg_case *c, const struct wsdbg_wait *wait, uint32_t right_parity)
{
    struct earlier earlier = {0};
    each_of_warp(c, wait, right_parity, note_wrong, &earlier);
    each_of_warp(c, wait, right_parity, note_right, &earlier);
    return earlier;
}

static void say(struct wsdbg_case *c, const struct wsdbg_wait *wait, uint32_t right, const struct earlier *earlier,
                enum wsdbg_cause cause, enum wsdbg_confidence confidence)
{
    const struct wsdbg_stage *stage = wait->stage;
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, confidence, stage->cta, stage->barrier);
    if (!finding)
        return;
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, wait->warp);
    const char *waiter = wsdbg_say_warp(c, wait->warp).text;
    char who[160];
    wsdbg_print(who, sizeof who, "%s", waiter);
    finding->role = row->role;
    const bool first = stage->name && stage->name->first_free && wait->round == 0;
    char history[120] = "";
    const struct wsdbg_history_event *wrong = earlier->first_wrong ? earlier->first_wrong->event : wait->event;
    const uint32_t wrong_round = earlier->first_wrong ? earlier->first_wrong->round : wait->round;
    /* A wait on a slot of the first round again, as one that drains the ring, tells nothing of where it went wrong. */
    const bool place_known = wrong->iteration == WSDBG_NO_ITERATION ? wrong_round > 0 : wrong->iteration > 0;
    if (cause == WSDBG_CAUSE_PARITY_DRIFT && place_known)
        wsdbg_print(history, sizeof history, " Its waits were right before %s.",
                    wsdbg_say_iteration(wrong->iteration, wrong_round).text);
    else if (cause == WSDBG_CAUSE_PARITY_DRIFT)
        wsdbg_print(history, sizeof history, " Its earlier waits were right.");
    else if (first)
        wsdbg_print(history, sizeof history, " The first wait on this barrier should pass at once.");
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s waits for the wrong parity of %s%s: in %s it waits for parity %u, but the phase that it needs has parity "
        "%u and is already complete. The phase with parity %u completes only after this warp continues.%s",
        who, wsdbg_say_stage(stage).text, wsdbg_say_line(c, wait->event).text,
        wsdbg_say_iteration(wait->event->iteration, wait->round).text, wait->event->parity, right, wait->event->parity,
        history);
    if (cause == WSDBG_CAUSE_PARITY_DRIFT)
        wsdbg_print(finding->fix, sizeof finding->fix,
                    "Keep the phase across tiles: flip it each time the stage index wraps. Never reset it, and never "
                    "derive it from a loop index that restarts.");
    else
        wsdbg_print(
            finding->fix, sizeof finding->fix,
            "Start this warp's phase for %s at %u (wait with parity %u in round %u), and flip it when the stage "
            "index wraps.",
            wsdbg_say_barrier(stage).text, (right ^ wait->round) & 1, right, wait->round);
    wsdbg_evidence_event(c, finding, wait->warp, wait->event, "%s waits for parity %u in round %u of the stage",
                         wsdbg_say_warp(c, wait->warp).text, wait->event->parity, wait->round);
    if (stage->init.known)
        wsdbg_evidence_barrier(c, finding, stage->barrier, "%s has %u arrivals on record; %u complete a phase",
                               wsdbg_say_stage(stage).text, stage->arrivals, stage->init.value);
    if (first)
        wsdbg_evidence_text(c, finding, "%s %s free at first", wsdbg_say_barrier(stage).text,
                            c->snapshot->names_inferred ? "looks like a barrier that is"
                                                        : "is declared in the name table as");
}

/* No name and no earlier wait: a first wait for parity 0 that nobody ever arrived for. */
static bool never_arrived(const struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    const struct wsdbg_warp_set arrivers = wsdbg_family_arrivers(c, wait->stage->cta, wait->stage->id);
    return c->all_whole && !wait->stage->name && wait->round == 0 && wait->event->parity == 0 &&
           wsdbg_set_count(&arrivers) == 0;
}

static uint32_t waiters_on(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->ledger->wait_count; i++)
        count += c->ledger->waits[i].stage->cta == stage->cta && c->ledger->waits[i].stage->id == stage->id;
    return count;
}

/* Others stand in their first wait on another barrier, and more of them: this one may be the one that fills. */
static bool fills_for_others(const struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++) {
        const struct wsdbg_wait *other = &c->ledger->waits[i];
        if (other->stage->id != wait->stage->id && other->round == 0 && wsdbg_case_stuck(c, other->warp) &&
            waiters_on(c, other->stage) > waiters_on(c, wait->stage))
            return true;
    }
    return false;
}

static void judge(struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    const struct wsdbg_round round = wsdbg_round_of(c, wait);
    uint32_t right;
    bool declared, proven;
    if (!round.known)
        return;
    if (!wsdbg_right_parity(c, wait, &right, &declared)) {
        if (never_arrived(c, wait) && wsdbg_case_stuck(c, wait->warp) && fills_for_others(c, wait))
            say(c, wait, 1, &(struct earlier){0}, WSDBG_CAUSE_PARITY_WRONG, WSDBG_CONFIDENCE_POSSIBLE);
        return;
    }
    if (right == wait->event->parity)
        return;
    const bool complete = right_phase_complete(wait, &round, &proven);
    if (!complete && round.covered)
        return;
    const struct earlier earlier = look_back(c, wait, right);
    const enum wsdbg_cause cause = earlier.right_at_first > 0 ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG;
    enum wsdbg_confidence confidence = wsdbg_if_stuck(c, wait->warp);
    /* That no earlier wait was right is known only if all are on record, or there were none. */
    if (!proven || !complete || !declared || (cause == WSDBG_CAUSE_PARITY_WRONG && wait->round > 0 && !c->all_whole))
        confidence = wsdbg_weaker(confidence, WSDBG_CONFIDENCE_LIKELY);
    /* With neither an author's name nor whole records, only a guess says which parity is right. */
    if (!declared && !c->all_whole)
        confidence = wsdbg_weaker(confidence, WSDBG_CONFIDENCE_POSSIBLE);
    say(c, wait, right, &earlier, cause, confidence);
}

/* ---- waits that ended too early ---- */

/* A wait that ended too early. */
struct ended {
    const struct wsdbg_stage *stage;
    const struct wsdbg_use *use;
    const struct wsdbg_use *peer; /* another warp's wait that shows the right parity; NULL = a declared name does */
    uint32_t right;               /* the parity that it should have named */
    uint32_t arrivals, needed;    /* made before it ended; needed for it to end */
};

/* Another warp's wait in the same round of this stage, in this CTA or another one, that names the other parity.  That
 * wait is taken to be right if the stage got arrivals for that round. */
static const struct wsdbg_use *find_peer(const struct wsdbg_case *c, const struct wsdbg_stage *stage,
                                         const struct wsdbg_use *use)
{
    for (uint32_t s = 0; s < c->ledger->stage_count; s++) {
        const struct wsdbg_stage *other = &c->ledger->stages[s];
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, other);
        for (uint32_t i = 0; i < other->use_count && other->id == stage->id && other->stage == stage->stage; i++)
            if (uses[i].warp != use->warp && uses[i].round == use->round &&
                uses[i].event->kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN && uses[i].event->parity != use->event->parity &&
                other->arrivals >= (use->round + 1) * stage->init.value)
                return &uses[i];
    }
    return NULL;
}

static uint32_t arrivals_until(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint64_t gpu_time_ns)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    uint32_t arrivals = 0;
    for (uint32_t i = 0; i < stage->use_count; i++)
        arrivals +=
            uses[i].event->gpu_time_ns <= gpu_time_ns + WSDBG_TIME_SLACK_NS ? wsdbg_event_arrivals(uses[i].event) : 0;
    return arrivals;
}

static bool ended_early(const struct wsdbg_case *c, const struct wsdbg_stage *stage, const struct wsdbg_use *use,
                        struct ended *out)
{
    if (use->event->kind != WSDBG_EVENT_MBARRIER_WAIT_END || use->round == WSDBG_NONE)
        return false;
    const bool declared = stage->name && !c->snapshot->names_inferred;
    *out = (struct ended){.stage = stage, .use = use, .peer = declared ? NULL : find_peer(c, stage, use)};
    if (!declared && !out->peer)
        return false;
    /* On a barrier that is declared free at first, a wait needs the arrivals of the round before; else of its own. */
    const uint32_t lag = declared && stage->name->first_free;
    out->right = (use->round + lag) & 1;
    out->needed = (use->round + 1 - lag) * stage->init.value;
    out->arrivals = arrivals_until(c, stage, use->event->gpu_time_ns);
    return use->event->parity != out->right && (!out->peer || out->peer->event->parity == out->right) &&
           out->arrivals < out->needed;
}

/* The one of the case that ended first. */
static bool find_ended_early(const struct wsdbg_case *c, struct ended *first)
{
    bool found = false;
    for (uint32_t s = 0; s < c->ledger->stage_count; s++) {
        const struct wsdbg_stage *stage = &c->ledger->stages[s];
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
        struct ended ended;
        for (uint32_t i = 0; i < stage->use_count && stage->init.known && !stage->initialised_again; i++)
            if (ended_early(c, stage, &uses[i], &ended) &&
                (!found || ended.use->event->gpu_time_ns < first->use->event->gpu_time_ns)) {
                *first = ended;
                found = true;
            }
    }
    return found;
}

/* Whether the warp named the right parity in an earlier round of the stage. */
static bool waited_right_before(const struct wsdbg_case *c, const struct ended *ended)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, ended->stage);
    for (uint32_t i = 0; i < ended->stage->use_count; i++)
        if (uses[i].warp == ended->use->warp && uses[i].event->kind == WSDBG_EVENT_MBARRIER_WAIT_END &&
            uses[i].round < ended->use->round &&
            ((uses[i].round + uses[i].event->parity) & 1) == ((ended->use->round + ended->right) & 1))
            return true;
    return false;
}

/* Whether running ahead may be why somebody is stuck: the warp itself is, or somebody waits on a barrier on which it
 * acts. */
static bool may_be_why(const struct wsdbg_case *c, const struct ended *ended)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++) {
        const struct wsdbg_wait *wait = &c->ledger->waits[i];
        const struct wsdbg_warp_set actors = wsdbg_family_actors(c, wait->stage->cta, wait->stage->id);
        if (wsdbg_case_stuck(c, wait->warp) &&
            (wait->warp == ended->use->warp || wsdbg_set_has(&actors, ended->use->warp)))
            return true;
    }
    return false;
}

static void say_ended_early(struct wsdbg_case *c, const struct ended *ended)
{
    const bool drifted = waited_right_before(c, ended);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, drifted ? WSDBG_CAUSE_PARITY_DRIFT : WSDBG_CAUSE_PARITY_WRONG,
                        may_be_why(c, ended) ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE, ended->stage->cta,
                        ended->stage->barrier);
    if (!finding)
        return;
    char peer[160] = "";
    finding->role = wsdbg_case_warp(c, ended->use->warp)->role;
    if (ended->peer)
        wsdbg_print(peer, sizeof peer, ", as %s does", wsdbg_say_warp(c, ended->peer->warp).text);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s waited for the wrong parity of %s%s: in %s it named parity %u and should name %u%s. So the wait ended "
        "when only %u of %u arrivals were made, and %s ran ahead of the others.",
        wsdbg_say_warp(c, ended->use->warp).text, wsdbg_say_stage(ended->stage).text,
        wsdbg_say_line(c, ended->use->event).text,
        wsdbg_say_iteration(ended->use->event->iteration, ended->use->round).text, ended->use->event->parity,
        ended->right, peer, ended->arrivals, ended->needed, wsdbg_say_warp(c, ended->use->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                drifted
                    ? "Keep the phase across tiles, and flip it each time the stage index of %s wraps."
                    : "Start this warp's phase for %s at the other value, and flip it each time the stage index wraps.",
                wsdbg_say_barrier(ended->stage).text);
    wsdbg_evidence_event(c, finding, ended->use->warp, ended->use->event, "its wait for parity %u ended",
                         ended->use->event->parity);
    if (ended->peer)
        wsdbg_evidence_event(c, finding, ended->peer->warp, ended->peer->event,
                             "%s waits for parity %u in the same round", wsdbg_say_warp(c, ended->peer->warp).text,
                             ended->peer->event->parity);
}

static bool anybody_stuck(const struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++)
        if (wsdbg_case_stuck(c, c->ledger->waits[i].warp))
            return true;
    return false;
}

void wsdbg_rule_parity(struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++)
        judge(c, &c->ledger->waits[i]);
    struct ended ended;
    if (c->all_whole && anybody_stuck(c) && find_ended_early(c, &ended))
        say_ended_early(c, &ended);
}
