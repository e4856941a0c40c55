/* rule_code_arrivals.c - a phase still needs arrivals: the code has none, they are too few, or warps passed them by.
 *
 * Reads: barrier words, reaches, the wait graph.  Adds: ARRIVE_MISSING, ARRIVE_SHORT, TX_NO_ARRIVE, LANE_SPLIT,
 * PEER_EXITED.
 */
#include "diagnose/arrival_log.h"
#include "diagnose/code_bytes.h"
#include "diagnose/left_alone.h"
#include "diagnose/missing_arrivals.h"
#include "diagnose/missing_mates.h"
#include "diagnose/not_exited.h"
#include "diagnose/code_say.h"
#include "diagnose/code_slot.h"
#include "diagnose/arrivals_per_round.h"
#include "diagnose/rules.h"

#define FAR_LESS 3u /* a surplus is no rival any more when it is so many times as large */

/* Another stage of the barrier in this CTA has some of its arrivals, too. */
static bool others_are_partial(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    struct wsdbg_barrier_word word;
    for (uint32_t at = 0; wsdbg_word_next(c, missing->word.barrier, &at, &word);)
        if (word.barrier != missing->word.barrier && word.pending != word.expected)
            return true;
    return false;
}

/* Warps that have an arrival behind them for good, those that can still arrive left out.  Most only may have it behind
 * them: warps beside a live one that never arrives are left out, too, unless the others cannot have made what is there.
 */
static struct wsdbg_warp_set gone_by(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    struct wsdbg_warp_set set = missing->past, meant, all = missing->able;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&missing->able, w))
            wsdbg_set_remove(&set, w);
    meant = set;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&set, w) && wsdbg_arrivals_per_round_is_beside_others(c, w, missing->word.barrier))
            wsdbg_set_remove(&meant, w);
        else if (wsdbg_set_has(&set, w))
            wsdbg_set_add(&all, w);
    return wsdbg_arrivals_per_round_of(c, &all, missing->word.barrier).most < missing->made ? set : meant;
}

/* All that a phase can get is less than it takes, whoever is meant to arrive: those count who can, who may have gone by
 * and who have left the kernel, and the waiting warp, which may have arrived before it waited. */
static bool is_never_enough(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    struct wsdbg_warp_set all = missing->able;
    wsdbg_set_add(&all, missing->warp);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&missing->past, w))
            wsdbg_set_add(&all, w);
    const struct wsdbg_arrivals_per_round per_round = wsdbg_arrivals_per_round_of(c, &all, missing->word.barrier);
    const uint64_t exited = wsdbg_arrivals_per_round_exited(c, missing->word.barrier);
    return missing->made > 0 && !wsdbg_missing_arrivals_ever_completed(c, missing) && per_round.bounded &&
           exited != UINT64_MAX && missing->made <= per_round.most + exited &&
           per_round.most + exited < missing->word.expected;
}

/* ---- nobody can arrive any more ---- */

static void say_no_arrive(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing, uint32_t expects)
{
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_TX_NO_ARRIVE, wsdbg_code_cap(c, WSDBG_CONFIDENCE_PROVEN));
    if (!finding)
        return;
    const struct wsdbg_phrase object = wsdbg_say_object(c, missing->word.barrier);
    const struct wsdbg_warp_set by = wsdbg_bytes_announcers(c, &missing->word);
    finding->role = wsdbg_code_role(c, &by, missing->word.barrier);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "The kernel announces bytes on %s (expect_tx) but has no instruction that arrives on it: %u of %u "
                "arrivals are missing, so %s waits forever%s.",
                object.text, missing->word.pending, missing->word.expected, wsdbg_say_warp(c, missing->warp).text,
                wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Use mbarrier.arrive.expect_tx, or arrive on %s after expect_tx: expect_tx alone is not an arrival.",
                wsdbg_say_family(c, missing->word.barrier).text);
    wsdbg_tell_access(c, finding, expects, "announces bytes but does not arrive");
}

/* Live warps that arrive on what else the waiter waits for. */
static struct wsdbg_warp_set other_side(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_barrier *mine = &c->snapshot->barriers[missing->word.barrier];
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t b = 0; b < c->snapshot->barrier_count; b++) {
        const struct wsdbg_barrier *row = &c->snapshot->barriers[b];
        if (row->cta != mine->cta || row->kind != mine->kind || row->id == mine->id ||
            wsdbg_code_can(c, missing->warp, WSDBG_KIND(WSDBG_ACCESS_WAIT), b, NULL) != WSDBG_CAN)
            continue;
        for (uint32_t w = 0; w < c->warp_count; w++)
            if (w != missing->warp && wsdbg_code_can(c, w, WSDBG_KINDS_ARRIVAL, b, NULL) == WSDBG_CAN)
                wsdbg_set_add(&set, w);
    }
    return set;
}

static void say_no_instruction(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_ARRIVE_MISSING, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "No instruction of the kernel arrives on %s: %u of %u arrivals are missing, so %s waits forever%s.",
                wsdbg_say_object(c, missing->word.barrier).text, missing->word.pending, missing->word.expected,
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix, "Arrive on %s, or wait on the barrier on which the warps do arrive.",
                wsdbg_say_family(c, missing->word.barrier).text);
    const struct wsdbg_warp_set others = other_side(c, missing);
    finding->role = wsdbg_code_role(c, &others, missing->word.barrier);
    if (wsdbg_set_count(&others) > 0)
        wsdbg_evidence_text(c, finding, "%s arrive on the other barriers that it waits on, but not on this one",
                            wsdbg_say_warps(c, &others).text);
}

/* Only other lanes of the waiting warp could arrive, and they wait for the lanes that wait. */
static void say_split(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const bool sure = missing->apart == WSDBG_CAN && wsdbg_missing_arrivals_others_meet(c, missing);
    const enum wsdbg_confidence wanted = sure ? WSDBG_CONFIDENCE_PROVEN : WSDBG_CONFIDENCE_LIKELY;
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_LANE_SPLIT, wsdbg_code_cap(c, wanted));
    if (!finding)
        return;
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, missing->warp);
    finding->role = row->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "The lanes of %s have diverged: some wait on %s%s for an arrival that only the other lanes can make, "
                "and those make it only after the warp reconverges.",
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_object(c, missing->word.barrier).text,
                wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let the other lanes arrive before the warp reconverges (__syncwarp), or wait with all lanes.");
    wsdbg_tell_access(c, finding, missing->arrives, "may be the arrival");
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, missing->warp, &count);
    for (uint32_t i = 0; i < count; i++)
        wsdbg_evidence_warp(c, finding, missing->warp, "lanes 0x%08x of %s: %s at %s", parts[i].lanes,
                            wsdbg_say_warp(c, missing->warp).text, wsdbg_warp_state_name(parts[i].state),
                            wsdbg_say_place(c, parts[i].site).text);
}

/* Whether warps of the waiter's own CTA that may have arrived have left, too. */
static bool own_arrivers_left(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&missing->left, w) && wsdbg_case_warp(c, w)->cta == wsdbg_case_warp(c, missing->warp)->cta)
            return true;
    return false;
}

/* A CTA that has left may have made all its arrivals where phases have completed; or, if nobody has arrived in this
 * one, where the own CTA's warps have left like it.  Then one arrival too many elsewhere may be what is wrong. */
static void say_peer_exited(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const bool may_have_arrived =
        wsdbg_missing_arrivals_ever_completed(c, missing) || (missing->made == 0 && own_arrivers_left(c, missing));
    const enum wsdbg_confidence wanted = may_have_arrived ? WSDBG_CONFIDENCE_POSSIBLE : WSDBG_CONFIDENCE_LIKELY;
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_PEER_EXITED, wsdbg_code_cap(c, wanted));
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s for an arrival from another CTA of its cluster, but %u of the %u CTAs have exited "
                "and no remaining warp can make it.",
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_object(c, missing->word.barrier).text,
                wsdbg_say_at(c, missing->warp).text, missing->peers_gone,
                c->snapshot->ctas[wsdbg_case_warp(c, missing->warp)->cta].cluster_size);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every CTA make its remote arrivals on every path, and end the kernel with a cluster barrier.");
    wsdbg_tell_access(c, finding, missing->arrives, "may be the arrival, from another CTA");
}

static void say_short(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                      const struct wsdbg_warp_set *arrivers)
{
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_ARRIVE_SHORT, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return;
    const uint32_t first = wsdbg_first_of(arrivers);
    finding->role = wsdbg_code_role(c, arrivers, missing->word.barrier);
    char who[176] = "", some[64] = "";
    if (first != WSDBG_NONE)
        wsdbg_print(who, sizeof who, " (%.160s)", wsdbg_say_warps(c, arrivers).text);
    const struct wsdbg_arrivals_per_round per_round = wsdbg_arrivals_per_round_of(c, arrivers, missing->word.barrier);
    const uint64_t make =
        is_never_enough(c, missing) && per_round.most > missing->made ? per_round.most : missing->made;
    if (make > missing->made)
        wsdbg_print(some, sizeof some, " (%u made so far)", missing->made);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s is initialised for %u arrivals, but all warps that arrive on it%s make %s %llu%s, so %s waits forever%s.",
        wsdbg_say_object(c, missing->word.barrier).text, missing->word.expected, who,
        make > missing->made ? "at most" : "only", (unsigned long long)make, some,
        wsdbg_say_warp(c, missing->warp).text, wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise %s with the number of arrivals actually made (%s%llu), or let the missing threads arrive.",
                wsdbg_say_family(c, missing->word.barrier).text, make > missing->made ? "at most " : "",
                (unsigned long long)make);
    const bool by_one = missing->arrives < c->snapshot->access_count &&
                        c->snapshot->accesses[missing->arrives].lanes == WSDBG_LANES_ONE;
    wsdbg_tell_access(c, finding, missing->arrives,
                      by_one ? "may arrive here, by one lane of a warp" : "may arrive here");
    wsdbg_tell_waits(c, finding, arrivers);
}

/* Where somebody finds out how often each warp arrives. */
static const char *where_arrivals_are_seen(const struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->history_count)
            return " The events show how often each warp arrived: wsdbg query @timeline";
    return " How often each warp arrives is seen with probes, or under --device sim.";
}

static void say_missing(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                        const struct wsdbg_warp_set *arrivers, bool each, const char *where,
                        enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_ARRIVE_MISSING, wsdbg_code_cap(c, confidence));
    if (!finding)
        return;
    const uint32_t first = wsdbg_first_of(arrivers);
    if (first != WSDBG_NONE)
        finding->role = wsdbg_case_warp(c, first)->role;
    const bool is_sure = finding->confidence > WSDBG_CONFIDENCE_POSSIBLE;
    const bool is_one = wsdbg_set_count(arrivers) == 1;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%u of %u arrivals on %s are missing, so %s waits forever%s: %s%s %s cannot reach the arrival again%s.",
                missing->word.pending, missing->word.expected, wsdbg_say_object(c, missing->word.barrier).text,
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_at(c, missing->warp).text,
                !each && !is_one ? "some of " : "", wsdbg_say_warps(c, arrivers).text,
                is_sure  ? "went on without arriving, and"
                : is_one ? "did not arrive in this phase, or an arrival too many ended an earlier phase too soon. It"
                         : "did not arrive in this phase, or an arrival too many ended an earlier phase too soon. They",
                where);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive on %s%s on every path through the iteration, including skipped iterations and the last one of "
                "a tile.%s",
                wsdbg_say_family(c, missing->word.barrier).text, is_sure ? "" : " exactly once",
                is_sure ? "" : where_arrivals_are_seen(c));
    wsdbg_tell_access(c, finding, missing->arrives, "may be the arrival");
    wsdbg_tell_waits(c, finding, arrivers);
}

/* How many lanes arrive is not known: what is there fits one of each warp, or all. */
static bool all_may_have_come(const struct wsdbg_missing_arrivals *missing, uint32_t warps)
{
    return warps > 0 && (missing->made == warps || missing->made == warps * WSDBG_WARP_THREADS);
}

/* The barrier is the only mbarrier of its CTA that is known: what names some mbarrier names this one. */
static bool is_only_mbarrier(const struct wsdbg_case *c, uint32_t barrier)
{
    for (uint32_t b = 0; b < c->snapshot->barrier_count; b++)
        if (b != barrier && c->snapshot->barriers[b].kind == WSDBG_BARRIER_MBARRIER &&
            c->snapshot->barriers[b].cta == c->snapshot->barriers[barrier].cta)
            return false;
    return true;
}

/* All warps that could ever arrive make fewer arrivals than the count. */
static void judge_too_few(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                          const struct wsdbg_warp_set *arrivers)
{
    if (wsdbg_one_that_left(c, arrivers, missing->word.barrier) != WSDBG_NONE)
        wsdbg_say_one_left(c, missing, arrivers);
    else if (!wsdbg_missing_mates_judge(c, missing, arrivers))
        say_short(c, missing, arrivers);
}

/* Who could arrive has gone by, or has left. */
static void judge_gone_by(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_warp_set past = gone_by(c, missing);
    const struct wsdbg_arrivals_per_round per_round = wsdbg_arrivals_per_round_of(c, &past, missing->word.barrier);
    const uint32_t warps = wsdbg_set_count(&past);
    if (is_never_enough(c, missing))
        judge_too_few(c, missing, &past);
    else if (wsdbg_missing_arrivals_are_all_made(c, missing))
        judge_too_few(c, missing, &missing->left);
    else if (missing->exited > 0)
        return;
    else if (warps > 0 && per_round.usual > missing->made)
        say_missing(c, missing, &past, false, "", WSDBG_CONFIDENCE_LIKELY);
    else if (per_round.usual ? per_round.usual == missing->made : all_may_have_come(missing, warps))
        judge_too_few(c, missing, &past);
}

static bool some_arrive_anew(const struct wsdbg_case *c, const struct wsdbg_warp_set *warps, uint32_t barrier)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(warps, w) && wsdbg_code_arrives_anew(c, w, barrier))
            return true;
    return false;
}

/* All warps that can arrive have arrived, no other warp could have, and no phase was ever complete.  False if each of
 * them may arrive a second time, and these second arrivals are as many as are missing. */
static bool is_count_too_high(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                              const struct wsdbg_warp_set *all)
{
    const struct wsdbg_arrivals_per_round per_round = wsdbg_arrivals_per_round_of(c, all, missing->word.barrier);
    unsigned lanes;
    return missing->exited == 0 && missing->peers_gone == 0 && per_round.bounded &&
           !wsdbg_missing_arrivals_may_have_completed(c, missing) &&
           wsdbg_arrivals_per_round_fit(&per_round, missing->made, &lanes) &&
           !(missing->word.pending % missing->made == 0 && some_arrive_anew(c, all, missing->word.barrier));
}

static void judge_unreachable(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    uint32_t expects;
    const enum wsdbg_match expected = wsdbg_code_has(c, WSDBG_KINDS_EXPECT, missing->word.barrier, &expects);
    const bool announced =
        expected >= WSDBG_MATCH_MAY || (expected == WSDBG_MATCH_OPEN && is_only_mbarrier(c, missing->word.barrier));
    if (wsdbg_missing_arrivals_is_in_parts(c, missing)) {
        say_split(c, missing);
    } else if (missing->in_code == WSDBG_MATCH_NO && c->snapshot->access_count > 0) {
        if (announced)
            say_no_arrive(c, missing, expects);
        else
            say_no_instruction(c, missing);
    } else if (missing->peers_gone > 0 && wsdbg_missing_arrivals_may_be_remote(c, missing)) {
        say_peer_exited(c, missing);
    } else if (missing->in_code >= WSDBG_MATCH_MAY && !wsdbg_missing_arrivals_is_of_round_too_many(missing)) {
        judge_gone_by(c, missing);
    }
}

/* ---- those who can arrive wait themselves ---- */

/* Warps that wait on this barrier, or on the same one of another CTA of the cluster. */
static struct wsdbg_warp_set waiters_beside(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const uint32_t id = c->snapshot->barriers[missing->word.barrier].id;
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word word;
        if (wsdbg_code_wait(c, w, &word) && c->snapshot->barriers[word.barrier].id == id)
            wsdbg_set_add(&set, w);
    }
    return set;
}

/* Each of them waits for something that the waiting warp, or one that waits beside it, can bring. */
static bool all_wait_for_it(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_warp_set beside = waiters_beside(c, missing);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_set_has(&missing->able, w))
            continue;
        if (wsdbg_case_warp(c, w)->state != WSDBG_WARP_WAIT_MBARRIER ||
            !wsdbg_set_meets(&c->graph->nodes[w].wakers, &beside) ||
            wsdbg_code_can(c, w, WSDBG_KINDS_ARRIVAL, missing->word.barrier, NULL) != WSDBG_CAN)
            return false;
    }
    return true;
}

/* The warps that have gone by for good and those that can still arrive bring as much as is missing, and as is there. */
static bool is_left_to_past(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                            const struct wsdbg_warp_set *past)
{
    return wsdbg_set_count(past) > 0 &&
           wsdbg_arrivals_per_round_of(c, past, missing->word.barrier).usual == missing->word.pending &&
           wsdbg_arrivals_per_round_of(c, &missing->able, missing->word.barrier).usual == missing->made;
}

/* Whether those who wait here arrived first, and the others that can arrive would bring just what is missing: they may
 * be on their way, in this very round. */
static bool may_be_on_their_way(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    struct wsdbg_warp_set here = {{0}}, others = missing->able;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word word;
        if (!wsdbg_code_wait(c, w, &word) || word.barrier != missing->word.barrier)
            continue;
        wsdbg_set_add(&here, w);
        wsdbg_set_remove(&others, w);
    }
    const struct wsdbg_arrivals_per_round of_here = wsdbg_arrivals_per_round_of(c, &here, missing->word.barrier),
                                          of_others = wsdbg_arrivals_per_round_of(c, &others, missing->word.barrier);
    unsigned lanes, others_lanes;
    return wsdbg_set_count(&others) > 0 && wsdbg_arrivals_per_round_fit(&of_here, missing->made, &lanes) &&
           wsdbg_arrivals_per_round_fit(&of_others, missing->word.pending, &others_lanes) && lanes == others_lanes;
}

/* Arrivals left over on every stage would also follow from arriving too often, unless that would have to be much more
 * often than the arrivals that are missing.  So would a few arrivals where nearly all are missing. */
static enum wsdbg_confidence confidence_of_missing(const struct wsdbg_case *c,
                                                   const struct wsdbg_missing_arrivals *missing,
                                                   struct wsdbg_code_balance *balance)
{
    struct wsdbg_code_slot slot;
    *balance = (struct wsdbg_code_balance){0};
    if (wsdbg_missing_arrivals_may_come_behind_bytes(c, missing) || wsdbg_walks_make_all(c, missing) ||
        may_be_on_their_way(c, missing))
        return WSDBG_CONFIDENCE_POSSIBLE;
    if (!wsdbg_code_slot_read(c, missing->warp, &slot) || !wsdbg_code_slot_balance(&slot, balance))
        return others_are_partial(c, missing) || missing->made * FAR_LESS <= missing->word.pending
                   ? WSDBG_CONFIDENCE_POSSIBLE
                   : WSDBG_CONFIDENCE_LIKELY;
    if (balance->missing != missing->word.pending)
        return WSDBG_CONFIDENCE_POSSIBLE;
    return others_are_partial(c, missing) && balance->surplus < FAR_LESS * balance->missing ? WSDBG_CONFIDENCE_POSSIBLE
                                                                                            : WSDBG_CONFIDENCE_LIKELY;
}

static bool is_ring(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    return missing->made > 0 && missing->word.bytes >= 0 && all_wait_for_it(c, missing);
}

/* Warps that can still arrive, and warps that have passed their arrivals for good. */
static struct wsdbg_warp_set all_arrivers(const struct wsdbg_missing_arrivals *missing,
                                          const struct wsdbg_warp_set *past)
{
    struct wsdbg_warp_set all = missing->able;
    wsdbg_set_join(&all, past);
    return all;
}

/* A count that is never reached keeps all waiters waiting, whatever other barriers still need. */
static void judge_ring_count(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_warp_set past = gone_by(c, missing);
    struct wsdbg_warp_set all = all_arrivers(missing, &missing->past), meant = all_arrivers(missing, &past);
    wsdbg_set_add(&all, missing->warp); /* it may have arrived before it waited */
    if (missing->itself == WSDBG_CAN)
        wsdbg_set_add(&meant, missing->warp);
    if (is_never_enough(c, missing) || is_count_too_high(c, missing, &all))
        judge_too_few(c, missing, &meant);
}

/* One arrival of each of these warps and of the waiting one may be as much as the phase takes: if all lanes arrive, or
 * where it is not known how much that is. */
static bool could_be_enough(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                            const struct wsdbg_warp_set *warps)
{
    struct wsdbg_warp_set all = *warps;
    wsdbg_set_add(&all, missing->warp);
    const struct wsdbg_arrivals_per_round per_round = wsdbg_arrivals_per_round_of(c, &all, missing->word.barrier);
    return !per_round.bounded || per_round.by_lanes[1] >= missing->word.expected;
}

static void judge_ring(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const struct wsdbg_warp_set past = gone_by(c, missing), all = all_arrivers(missing, &past);
    const struct wsdbg_arrivals_per_round per_round = wsdbg_arrivals_per_round_of(c, &all, missing->word.barrier);
    if (wsdbg_missing_mates_have_one_behind(c, missing) || !could_be_enough(c, missing, &all) ||
        (per_round.usual ? per_round.usual < missing->word.expected
                         : !wsdbg_missing_arrivals_ever_completed(c, missing)))
        return;
    struct wsdbg_code_balance balance;
    const enum wsdbg_confidence confidence = confidence_of_missing(c, missing, &balance);
    if (is_left_to_past(c, missing, &past))
        say_missing(c, missing, &past, true, "", confidence);
    else
        say_missing(c, missing, &all, false, " before the phase completes", confidence);
    if (balance.missing > 0 && c->finding_count > 0)
        wsdbg_evidence_text(c, &c->findings[c->finding_count - 1],
                            "the phases of the slot's two barriers show %u arrivals too few, or %u too many",
                            balance.missing, balance.surplus);
}

/* ---- a whole record has every arrival ---- */

/* All warps that can arrive have arrived, and the first phase still needs arrivals: the count is too high.  It is not
 * where a warp left that would arrive as others do. */
static bool say_short_by_record(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    struct wsdbg_arrival_log log;
    if (wsdbg_missing_arrivals_ever_completed(c, missing) || wsdbg_missing_arrivals_is_in_parts(c, missing) ||
        !wsdbg_arrival_log_read(c, missing, &log) || !wsdbg_arrival_log_has_all(c, missing, &log) ||
        wsdbg_one_that_left(c, &log.arrived, missing->word.barrier) != WSDBG_NONE)
        return false;
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_ARRIVE_SHORT, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return true;
    finding->role = wsdbg_code_role(c, &log.arrived, missing->word.barrier);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s is initialised for %u arrivals, but all warps that arrive on it (%.160s) make only %u, so %s waits "
                "forever%s.",
                wsdbg_say_object(c, missing->word.barrier).text, missing->word.expected,
                wsdbg_say_warps(c, &log.arrived).text, missing->made, wsdbg_say_warp(c, missing->warp).text,
                wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise %s with the number of arrivals actually made (%u), or let the missing threads arrive.",
                wsdbg_say_family(c, missing->word.barrier).text, missing->made);
    wsdbg_evidence_text(c, finding,
                        "the record has every arrival of the CTA: %s arrived in this phase, nobody else can",
                        wsdbg_say_warps(c, &log.arrived).text);
    wsdbg_tell_waits(c, finding, &log.arrived);
    return true;
}

/* Of all waits first: a count that is never reached explains what other barriers still need.  The waits of which
 * something is said. */
static struct wsdbg_warp_set judge_counts(struct wsdbg_case *c)
{
    struct wsdbg_warp_set said = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_missing_arrivals missing;
        const size_t before = c->finding_count;
        if (wsdbg_missing_arrivals_read(c, w, &missing) && !say_short_by_record(c, &missing) &&
            wsdbg_set_count(&missing.able) > 0 && is_ring(c, &missing))
            judge_ring_count(c, &missing);
        if (c->finding_count > before)
            wsdbg_set_add(&said, w);
    }
    return said;
}

void wsdbg_rule_code_arrivals(struct wsdbg_case *c)
{
    const struct wsdbg_warp_set said = judge_counts(c);
    struct wsdbg_missing_arrivals missing;
    if (wsdbg_case_explained(c))
        return;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (wsdbg_set_has(&said, w) || !wsdbg_missing_arrivals_read(c, w, &missing))
            continue;
        if (wsdbg_set_count(&missing.able) == 0)
            judge_unreachable(c, &missing);
        else if (is_ring(c, &missing))
            judge_ring(c, &missing);
    }
}
