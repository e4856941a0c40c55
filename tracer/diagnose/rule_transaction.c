/* rule_transaction.c - bytes of bulk copies that do not add up on an mbarrier.
 *
 * Reads: rounds, the ledger.  Adds: TX_MISMATCH, CLUSTER_RANK_ASYMMETRY, TX_NO_ARRIVE, TMA_NEVER_COMPLETED.
 */
#include "diagnose/rules.h"

/* Has every warp that works on the round gone on from it, so that nothing more is to come? */
static bool all_went_on(const struct wsdbg_case *c, const struct wsdbg_round *round)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (!wsdbg_set_has(&round->expected, w) || row->state == WSDBG_WARP_EXITED)
            continue;
        uint32_t count;
        const struct wsdbg_history_event *events = wsdbg_case_events(c, w, &count), *last = &events[count - 1];
        /* An event about the next block, or a wait for one: it left this round. */
        if (last->iteration == WSDBG_NO_ITERATION || round->iteration == WSDBG_NO_ITERATION) {
            if (row->state != WSDBG_WARP_WAIT_MBARRIER)
                return false;
        } else if (last->iteration <= round->iteration || last->kind < WSDBG_EVENT_MBARRIER_WAIT_BEGIN ||
                   last->kind > WSDBG_EVENT_TMA_ISSUE) {
            return false;
        }
    }
    return true;
}

/* The warps that work on this barrier, of all CTAs of the cluster: a multicast copy of a peer brings bytes too. */
static struct wsdbg_warp_set fillers(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    const uint32_t roles = stage->name ? stage->name->arriving_roles : 0;
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t k = 0; k < c->cta_count; k++) {
        const struct wsdbg_warp_set actors = wsdbg_family_actors(c, c->ctas[k], stage->id);
        wsdbg_set_join(&set, &actors);
    }
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (row->role.known && row->role.value < 32 && (roles >> row->role.value & 1))
            wsdbg_set_add(&set, w);
    }
    return set;
}

/* The event shows that its warp is past the round, or has announced the bytes of its own CTA for it. */
static bool shows_round(const struct wsdbg_history_event *event, const struct wsdbg_stage *stage,
                        const struct wsdbg_round *round)
{
    if (event->kind < WSDBG_EVENT_MBARRIER_ARRIVE || event->kind > WSDBG_EVENT_TMA_ISSUE ||
        event->barrier != stage->id || event->iteration == WSDBG_NO_ITERATION || round->iteration == WSDBG_NO_ITERATION)
        return false;
    return event->iteration > round->iteration ||
           (event->iteration == round->iteration && wsdbg_event_is_expect(event));
}

/* The warp stands in a wait for the same round, so it brings nothing more to it. */
static bool waits_for_the_same(const struct wsdbg_case *c, const struct wsdbg_wait *wait, uint32_t warp)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++) {
        const struct wsdbg_wait *other = &c->ledger->waits[i];
        if (other->warp == warp && other->stage == wait->stage && other->round == wait->round)
            return true;
    }
    return false;
}

/* All who announced bytes for the round wait for it themselves.  Then another warp may be meant to bring the bytes: one
 * that lives and stands elsewhere. */
static bool others_may_bring(const struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round)
{
    bool others = false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const bool waits = waits_for_the_same(c, wait, w);
        if (!waits && wsdbg_set_has(&round->expected, w))
            return false;
        others |= !waits && wsdbg_case_warp(c, w)->state != WSDBG_WARP_EXITED;
    }
    return others && round->issued_bytes < round->expected_bytes;
}

/* A live filler that has not reached the round may still bring what is missing. */
static bool more_to_come(const struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round)
{
    const struct wsdbg_warp_set set = fillers(c, wait->stage);
    if (others_may_bring(c, wait, round))
        return true;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        bool acts = false, reached = false;
        uint32_t count;
        const struct wsdbg_history_event *events = wsdbg_case_events(c, w, &count);
        if (!wsdbg_set_has(&set, w) || wsdbg_set_has(&round->expected, w) ||
            wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED || waits_for_the_same(c, wait, w))
            continue;
        for (uint32_t i = 0; i < count; i++) {
            acts =
                acts || (events[i].kind >= WSDBG_EVENT_MBARRIER_WAIT_BEGIN && events[i].kind <= WSDBG_EVENT_TMA_ISSUE);
            reached = reached || shows_round(&events[i], wait->stage, round);
        }
        if (acts && !reached)
            return true;
    }
    return false;
}

static struct wsdbg_finding *begin(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                                   enum wsdbg_cause cause, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, confidence, wait->stage->cta, wait->stage->barrier);
    if (!finding)
        return NULL;
    const uint32_t issuer = wsdbg_first_of(&round->expected);
    if (issuer != WSDBG_NONE)
        finding->role = wsdbg_case_warp(c, issuer)->role;
    wsdbg_evidence_event(c, finding, wait->warp, wait->event, "%s waits for parity %u",
                         wsdbg_say_warp(c, wait->warp).text, wait->event->parity);
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, wait->stage);
    for (uint32_t i = 0; i < wait->stage->use_count; i++) {
        const struct wsdbg_history_event *event = uses[i].event;
        if (uses[i].round != round->tag)
            continue;
        if (wsdbg_event_is_expect(event))
            wsdbg_evidence_event(c, finding, uses[i].warp, event, "%s expects %u bytes",
                                 wsdbg_say_warp(c, uses[i].warp).text, event->value);
        else if (event->kind == WSDBG_EVENT_TMA_ISSUE)
            wsdbg_evidence_event(c, finding, uses[i].warp, event, "%s issues a copy of %u bytes",
                                 wsdbg_say_warp(c, uses[i].warp).text, WSDBG_TMA_BYTES(event->value));
    }
    return finding;
}

static void say_mismatch(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                         enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, wait, round, WSDBG_CAUSE_TX_MISMATCH, confidence);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s told %s to expect %llu bytes in %s, but the copies issued for it deliver %llu. All arrivals were "
                "made, but the transaction count cannot return to zero, so %s waits forever.",
                wsdbg_say_warps(c, &round->expected).text, wsdbg_say_stage(wait->stage).text,
                (unsigned long long)round->expected_bytes, wsdbg_say_iteration(round->iteration, round->tag).text,
                (unsigned long long)round->issued_bytes, wsdbg_say_warp(c, wait->warp).text);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Announce in expect_tx exactly the bytes that the copies deliver to this CTA: box elements x element size, "
        "summed over all copies of the stage, including multicast copies issued by other CTAs (%llu here).",
        (unsigned long long)round->issued_bytes);
}

static void say_no_arrive(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                          enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, wait, round, WSDBG_CAUSE_TX_NO_ARRIVE, confidence);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s executed only expect_tx on %s in %s and never arrived: the barrier needs %u arrivals and got %u, "
                "so the phase cannot complete even when all bytes are there.",
                wsdbg_say_warps(c, &round->expected).text, wsdbg_say_stage(wait->stage).text,
                wsdbg_say_iteration(round->iteration, round->tag).text, wait->stage->init.value, round->arrivals);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Use mbarrier.arrive.expect_tx, or arrive on %s after expect_tx: expect_tx alone is not an arrival.",
                wsdbg_say_barrier(wait->stage).text);
}

static void say_never_completed(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round)
{
    struct wsdbg_finding *finding = begin(c, wait, round, WSDBG_CAUSE_TMA_NEVER_COMPLETED,
                                          wsdbg_weaker(WSDBG_CONFIDENCE_LIKELY, wsdbg_if_stuck(c, wait->warp)));
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "All arrivals on %s for %s were made and the issued copies deliver exactly the %llu bytes expected, "
                "but the phase has not completed: a copy issued by %s has not completed.",
                wsdbg_say_stage(wait->stage).text, wsdbg_say_iteration(round->iteration, round->tag).text,
                (unsigned long long)round->expected_bytes, wsdbg_say_warps(c, &round->expected).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Check the copy's tensor map (box at most 256 per dimension, 16-byte aligned addresses and strides), "
                "its shared-memory address, and that it names this barrier.");
}

static void say_never_issued(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                             enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, wait, round, WSDBG_CAUSE_TMA_NEVER_COMPLETED, confidence);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s told %s to expect %llu bytes in %s, but no copy was issued for it. The bytes never arrive, so %s "
                "waits forever.",
                wsdbg_say_warps(c, &round->expected).text, wsdbg_say_stage(wait->stage).text,
                (unsigned long long)round->expected_bytes, wsdbg_say_iteration(round->iteration, round->tag).text,
                wsdbg_say_warp(c, wait->warp).text);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Issue the copy on every path that expects its bytes on %s, or expect them only where the copy is issued.",
        wsdbg_say_barrier(wait->stage).text);
}

/* Copies have come that are not on record. */
static void say_bytes_differ(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                             enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, wait, round, WSDBG_CAUSE_TX_MISMATCH, confidence);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "All arrivals on %s for %s were made but the phase has not completed, so the delivered bytes are not "
                "the %llu that %s told it to expect (the probes do not show %s); %s waits forever.",
                wsdbg_say_stage(wait->stage).text, wsdbg_say_iteration(round->iteration, round->tag).text,
                (unsigned long long)round->expected_bytes, wsdbg_say_warps(c, &round->expected).text,
                round->issued_bytes > 0 ? "all copies" : "copies", wsdbg_say_warp(c, wait->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Announce in expect_tx exactly the bytes that the copies deliver to this CTA, and issue the copies on "
                "every path that expects their bytes.");
}

/* ---- CTAs of a cluster that do not do the same ---- */

/* What one CTA's warps do for a round of a stage, here or in other CTAs. */
struct share {
    uint32_t cta; /* index in snapshot.ctas */
    uint32_t copies, warp;
    uint64_t masks;                        /* sum of their multicast masks */
    bool leaves_out;                       /* some multicast does not go to the CTA that waits */
    uint64_t expected_bytes, issued_bytes; /* of the CTA's own barrier */
};

/* A multicast stands in the ledger once for each CTA it goes to: it is counted at the first. */
static bool is_first_target(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t mask)
{
    const uint32_t at = wsdbg_case_cta(c, stage->cta);
    for (uint32_t k = 0; mask && k < at; k++)
        if (mask >> (c->snapshot->ctas[c->ctas[k]].cluster_rank & 31) & 1)
            return false;
    return true;
}

static void add_use(const struct wsdbg_case *c, const struct wsdbg_stage *waited, const struct wsdbg_stage *stage,
                    const struct wsdbg_use *use, struct share *share)
{
    const bool is_copy = use->event->kind == WSDBG_EVENT_TMA_ISSUE;
    const uint32_t mask = is_copy ? WSDBG_TMA_MULTICAST(use->event->value) : 0;
    if (stage->cta == share->cta) {
        share->expected_bytes += wsdbg_event_is_expect(use->event) ? use->event->value : 0;
        share->issued_bytes += is_copy ? WSDBG_TMA_BYTES(use->event->value) : 0;
    }
    if (!is_copy || wsdbg_case_warp(c, use->warp)->cta != share->cta || !is_first_target(c, stage, mask))
        return;
    share->warp = share->copies++ == 0 ? use->warp : share->warp;
    share->masks += mask;
    share->leaves_out =
        share->leaves_out || (mask && !(mask >> (c->snapshot->ctas[waited->cta].cluster_rank & 31) & 1));
}

static struct share read_share(const struct wsdbg_case *c, const struct wsdbg_stage *waited, uint32_t round,
                               uint32_t cta)
{
    struct share share = {.cta = cta, .warp = WSDBG_NONE};
    for (uint32_t s = 0; s < c->ledger->stage_count; s++) {
        const struct wsdbg_stage *stage = &c->ledger->stages[s];
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
        for (uint32_t i = 0; i < stage->use_count && stage->id == waited->id && stage->stage == waited->stage; i++)
            if (uses[i].round == round)
                add_use(c, waited, stage, &uses[i], &share);
    }
    return share;
}

/* One CTA's copies go to other CTAs than the other's, or are more or fewer without a mask being to blame; or it
 * announces other bytes though copies cross.  A copy that is only cut short is no disagreement. */
static bool disagree(const struct share *own, const struct share *other)
{
    if (own->copies != other->copies)
        return !own->leaves_out && !other->leaves_out;
    return own->masks != other->masks || (own->masks > 0 && own->expected_bytes != other->expected_bytes);
}

/* Another CTA of the cluster whose round adds up and which did something else for it. */
static bool find_other_share(const struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                             struct share *own, struct share *other)
{
    *own = read_share(c, wait->stage, round->tag, wait->stage->cta);
    for (uint32_t k = 0; k < c->cta_count && round->covered; k++) {
        *other = read_share(c, wait->stage, round->tag, c->ctas[k]);
        if (other->cta != own->cta && other->expected_bytes > 0 && other->expected_bytes == other->issued_bytes &&
            disagree(own, other))
            return true;
    }
    return false;
}

static struct wsdbg_phrase say_share(const struct wsdbg_case *c, const struct share *share)
{
    struct wsdbg_phrase phrase;
    wsdbg_print(phrase.text, sizeof phrase.text, "rank %u issues %u cop%s%s for %llu bytes announced",
                c->snapshot->ctas[share->cta].cluster_rank, share->copies, share->copies == 1 ? "y" : "ies",
                share->masks == 0    ? ""
                : share->copies == 1 ? ", to several CTAs,"
                                     : ", some to several CTAs,",
                (unsigned long long)share->expected_bytes);
    return phrase;
}

/* Likely: it may be meant that one CTA loads for the others, and something else be wrong. */
static void say_asymmetry(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                          const struct share *own, const struct share *other, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding =
        begin(c, wait, round, WSDBG_CAUSE_CLUSTER_RANK_ASYMMETRY, wsdbg_weaker(confidence, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "The CTAs of a cluster disagree about which CTA loads what into %s in %s: %s, %s, %llu arrive, and %s "
                "waits forever.",
                wsdbg_say_stage(wait->stage).text, wsdbg_say_iteration(round->iteration, round->tag).text,
                say_share(c, other).text, say_share(c, own).text, (unsigned long long)round->issued_bytes,
                wsdbg_say_warp(c, wait->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "In all CTAs of the cluster, decide from the same value which copies are multicast and to which CTAs: "
                "a CTA may announce the bytes of another CTA's copy only if that copy is issued.");
    if (other->warp != WSDBG_NONE)
        wsdbg_evidence_warp(c, finding, other->warp, "%s issues %u copies for the same round",
                            wsdbg_say_warp(c, other->warp).text, other->copies);
}

/* ---- which of them ---- */

static bool issues(const struct wsdbg_use *use)
{
    return use->event->kind == WSDBG_EVENT_TMA_ISSUE;
}

/* Nobody ever issued a copy for the barrier, in any CTA. */
static bool never_issued(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    for (uint32_t i = 0; i < c->ledger->use_count; i++)
        if (issues(&c->ledger->uses[i]) && c->ledger->uses[i].event->barrier == stage->id)
            return false;
    return true;
}

/* Some copy is on record: else the kernel's probes may leave copies out. */
static bool copies_are_recorded(const struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->ledger->use_count; i++)
        if (issues(&c->ledger->uses[i]))
            return true;
    return false;
}

/* The warp came through a wait for bytes on the barrier before: they came, by copies that are not on record. */
static bool bytes_came_before(const struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, wait->warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_END && events[i].barrier == wait->stage->id)
            return true;
    return false;
}

/* The warp came through a wait on the stage for a round of which fewer bytes are on record as issued than as announced:
 * some copies have no probes. */
static bool more_came_before(const struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    const struct wsdbg_stage *stage = wait->stage;
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = 0; i < stage->use_count && stage->tagged; i++) {
        uint64_t expected = 0, issued = 0;
        if (uses[i].warp != wait->warp || uses[i].event->kind != WSDBG_EVENT_MBARRIER_WAIT_END)
            continue;
        for (uint32_t k = 0; k < stage->use_count; k++) {
            if (uses[k].round != uses[i].round)
                continue;
            expected += wsdbg_event_is_expect(uses[k].event) ? uses[k].event->value : 0;
            issued += issues(&uses[k]) ? WSDBG_TMA_BYTES(uses[k].event->value) : 0;
        }
        if (expected > issued)
            return true;
    }
    return false;
}

/* Where rounds are counted, a copy that is issued before its bytes are announced counts in the wrong one: then only the
 * sums over all rounds tell. */
static bool sums_agree(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    uint64_t expected = 0, issued = 0;
    for (uint32_t i = 0; i < stage->use_count; i++) {
        expected += wsdbg_event_is_expect(uses[i].event) ? uses[i].event->value : 0;
        issued += uses[i].event->kind == WSDBG_EVENT_TMA_ISSUE ? WSDBG_TMA_BYTES(uses[i].event->value) : 0;
    }
    return !stage->tagged && expected == issued;
}

/* Copies were issued for a barrier of the CTA on which nobody ever announces bytes: they name the wrong one. */
static bool issued_elsewhere(const struct wsdbg_case *c, uint32_t cta)
{
    for (uint32_t s = 0; s < c->ledger->stage_count; s++) {
        const struct wsdbg_stage *stage = &c->ledger->stages[s];
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
        uint32_t copies = 0, expects = 0;
        for (uint32_t i = 0; i < stage->use_count && stage->cta == cta; i++) {
            copies += uses[i].event->kind == WSDBG_EVENT_TMA_ISSUE;
            expects += wsdbg_event_is_expect(uses[i].event);
        }
        if (copies > 0 && expects == 0)
            return true;
    }
    return false;
}

static bool never_arrives(const struct wsdbg_case *c, const struct wsdbg_stage *stage,
                          const struct wsdbg_warp_set *warps)
{
    const struct wsdbg_warp_set arrivers = wsdbg_family_arrivers(c, stage->cta, stage->id);
    return !wsdbg_set_meets(&arrivers, warps);
}

/* All arrivals are there, and other bytes than were announced. */
static void judge_sums(struct wsdbg_case *c, const struct wsdbg_wait *wait, const struct wsdbg_round *round,
                       enum wsdbg_confidence confidence)
{
    struct share own, other;
    const bool recorded = copies_are_recorded(c);
    const enum wsdbg_confidence likely = wsdbg_weaker(confidence, WSDBG_CONFIDENCE_LIKELY);
    if (!recorded && bytes_came_before(c, wait))
        say_bytes_differ(c, wait, round, likely);
    else if (never_issued(c, wait->stage) && !issued_elsewhere(c, wait->stage->cta))
        say_never_issued(c, wait, round, recorded ? confidence : likely);
    else if (find_other_share(c, wait, round, &own, &other))
        say_asymmetry(c, wait, round, &own, &other, confidence);
    else if (more_came_before(c, wait))
        say_bytes_differ(c, wait, round, likely);
    else
        say_mismatch(c, wait, round, confidence);
}

static void judge(struct wsdbg_case *c, const struct wsdbg_wait *wait)
{
    const struct wsdbg_round round = wsdbg_round_of(c, wait);
    if (!round.needs_known || !wait->stage->init.known || round.later_arrivals > 0)
        return;
    if (wsdbg_set_count(&round.expected) == 0 || wait->stage->initialised_again)
        return;
    const bool whole = round.covered && round.certain && round.of_its_parity && all_went_on(c, &round);
    const enum wsdbg_confidence stuck = wsdbg_if_stuck(c, wait->warp);
    const enum wsdbg_confidence confidence = whole ? stuck : wsdbg_weaker(stuck, WSDBG_CONFIDENCE_LIKELY);
    const uint32_t needed = wait->stage->init.value;
    if (round.arrivals == needed && round.expected_bytes != round.issued_bytes &&
        (round.covered || round.issued_bytes > 0) && !more_to_come(c, wait, &round) && !sums_agree(c, wait->stage))
        judge_sums(c, wait, &round, confidence);
    else if (round.arrivals < needed && never_arrives(c, wait->stage, &round.expected) &&
             needed - round.arrivals <= wsdbg_set_count(&round.expected))
        say_no_arrive(c, wait, &round, confidence);
    else if (round.arrivals == needed && round.expected_bytes == round.issued_bytes && round.issued_bytes > 0 &&
             c->quiet && round.covered &&
             round.of_its_parity) /* a wait for the other parity passes while bytes are missing */
        say_never_completed(c, wait, &round);
}

void wsdbg_rule_transaction(struct wsdbg_case *c)
{
    for (uint32_t i = 0; i < c->ledger->wait_count; i++)
        judge(c, &c->ledger->waits[i]);
}
