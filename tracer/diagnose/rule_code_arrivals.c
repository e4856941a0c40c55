/* rule_code_arrivals.c - arrivals that a phase lacks though those who could make them are there.
 *
 * Reads: barrier words, reaches, the wait graph.  Adds: ARRIVE_MISSING, ARRIVE_SHORT, TX_NO_ARRIVE, LANE_SPLIT,
 * PEER_EXITED.
 */
#include "diagnose/code_bytes.h"
#include "diagnose/code_lack.h"
#include "diagnose/code_say.h"
#include "diagnose/rules.h"

#define WARP_THREADS 32u

/* Some stage of the barrier in this CTA has completed a phase.  Two completed ones look like none. */
static bool ever_completed(const struct wsdbg_case *c, const struct wsdbg_lack *lack)
{
    struct wsdbg_word word;
    for (uint32_t at = 0; wsdbg_word_next(c, lack->word.barrier, &at, &word);)
        if (word.phase != 0)
            return true;
    return false;
}

/* Another stage of the barrier in this CTA has some of its arrivals, too. */
static bool others_are_partial(const struct wsdbg_case *c, const struct wsdbg_lack *lack)
{
    struct wsdbg_word word;
    for (uint32_t at = 0; wsdbg_word_next(c, lack->word.barrier, &at, &word);)
        if (word.barrier != lack->word.barrier && word.pending != word.expected)
            return true;
    return false;
}

/* The most arrivals that an instruction makes when one warp comes to it; 0 = not known. */
static uint32_t arrivals_of(const struct wsdbg_access_row *access)
{
    const uint32_t lanes = access->lanes == WSDBG_LANES_ONE ? 1 : access->lanes == WSDBG_LANES_ALL ? WARP_THREADS : 0;
    if (access->kind == WSDBG_ACCESS_ARRIVE_EXPECT)
        return lanes;
    return access->count.known ? lanes * access->count.value : 0;
}

/* What one round of arrivals by one warp brings: its largest instruction, as a path takes one of several. */
static uint32_t capacity_of(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier, bool behind)
{
    uint32_t count, most = 0;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        const bool counts = behind ? reaches[i].before_known && reaches[i].before_most > 0 : reaches[i].after > 0;
        if (access && counts && WSDBG_KINDS_ARRIVAL >> access->kind & 1 &&
            wsdbg_access_match(c, access, barrier) >= WSDBG_MATCH_MAY && arrivals_of(access) > most)
            most = arrivals_of(access);
    }
    return most;
}

static uint32_t capacity(const struct wsdbg_case *c, const struct wsdbg_lack *lack, const struct wsdbg_warp_set *warps,
                         bool behind)
{
    uint32_t sum = 0;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(warps, w))
            sum += capacity_of(c, w, lack->word.barrier, behind);
    return sum;
}

/* ---- nobody can arrive any more ---- */

static void say_no_arrive(struct wsdbg_case *c, const struct wsdbg_lack *lack, uint32_t expects)
{
    struct wsdbg_finding *finding =
        wsdbg_lack_find(c, lack, WSDBG_CAUSE_TX_NO_ARRIVE, wsdbg_code_cap(c, WSDBG_CONFIDENCE_PROVEN));
    if (!finding)
        return;
    const struct wsdbg_phrase object = wsdbg_say_object(c, lack->word.barrier);
    const struct wsdbg_warp_set by = wsdbg_bytes_announcers(c, &lack->word);
    finding->role = wsdbg_bytes_role(c, &by, lack->word.barrier);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "The kernel announces bytes on %s (expect_tx) but has no instruction that arrives on it: %u of %u "
                "arrivals are missing, and %s waits for ever%s.",
                object.text, lack->word.pending, lack->word.expected, wsdbg_say_warp(c, lack->warp).text,
                wsdbg_say_at(c, lack->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Use mbarrier.arrive.expect_tx, or arrive on %s after expect_tx: expecting bytes is not an arrival.",
                wsdbg_say_family(c, lack->word.barrier).text);
    wsdbg_tell_access(c, finding, expects, "announces bytes and is no arrival");
}

static void say_no_instruction(struct wsdbg_case *c, const struct wsdbg_lack *lack)
{
    struct wsdbg_finding *finding =
        wsdbg_lack_find(c, lack, WSDBG_CAUSE_ARRIVE_MISSING, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "No instruction of the kernel arrives on %s: %u of %u arrivals are missing, and %s waits for ever%s.",
                wsdbg_say_object(c, lack->word.barrier).text, lack->word.pending, lack->word.expected,
                wsdbg_say_warp(c, lack->warp).text, wsdbg_say_at(c, lack->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix, "Arrive on %s, or wait on the barrier that is arrived on.",
                wsdbg_say_family(c, lack->word.barrier).text);
}

/* Only other lanes of the waiting warp could arrive, and they wait for the lanes that wait. */
static void say_split(struct wsdbg_case *c, const struct wsdbg_lack *lack)
{
    const enum wsdbg_confidence wanted = lack->itself == WSDBG_CAN ? WSDBG_CONFIDENCE_PROVEN : WSDBG_CONFIDENCE_LIKELY;
    struct wsdbg_finding *finding = wsdbg_lack_find(c, lack, WSDBG_CAUSE_LANE_SPLIT, wsdbg_code_cap(c, wanted));
    if (!finding)
        return;
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, lack->warp);
    finding->role = row->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "The lanes of %s have split: some wait on %s%s for an arrival that only the others could make, after "
                "they have met again.",
                wsdbg_say_warp(c, lack->warp).text, wsdbg_say_object(c, lack->word.barrier).text,
                wsdbg_say_at(c, lack->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let the other lanes arrive before the lanes come together (__syncwarp), or wait with all of them.");
    wsdbg_tell_access(c, finding, lack->arrives, "may be the arrival");
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, lack->warp, &count);
    for (uint32_t i = 0; i < count; i++)
        wsdbg_evidence_warp(c, finding, lack->warp, "lanes 0x%08x: %s at %s", parts[i].lanes,
                            wsdbg_warp_state_name(parts[i].state), wsdbg_say_place(c, parts[i].site).text);
}

static void say_peer_exited(struct wsdbg_case *c, const struct wsdbg_lack *lack)
{
    struct wsdbg_finding *finding =
        wsdbg_lack_find(c, lack, WSDBG_CAUSE_PEER_EXITED, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s for an arrival from another CTA of its cluster, but %u of the %u CTAs have left the "
                "kernel and no warp that is there can make it.",
                wsdbg_say_warp(c, lack->warp).text, wsdbg_say_object(c, lack->word.barrier).text,
                wsdbg_say_at(c, lack->warp).text, lack->peers_gone,
                c->snapshot->ctas[wsdbg_case_warp(c, lack->warp)->cta].cluster_size);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every CTA make its remote arrivals on every path, and end the kernel with a cluster barrier.");
    wsdbg_tell_access(c, finding, lack->arrives, "may be the arrival, in another CTA");
}

static void say_short(struct wsdbg_case *c, const struct wsdbg_lack *lack, const struct wsdbg_warp_set *arrivers)
{
    struct wsdbg_finding *finding =
        wsdbg_lack_find(c, lack, WSDBG_CAUSE_ARRIVE_SHORT, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return;
    const uint32_t first = wsdbg_first_of(arrivers);
    if (first != WSDBG_NONE)
        finding->role = wsdbg_case_warp(c, first)->role;
    char who[176] = "";
    if (first != WSDBG_NONE)
        wsdbg_print(who, sizeof who, " (%.160s)", wsdbg_say_warps(c, arrivers).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s is made for %u arrivals, but all that arrive on it%s make only %u, so %s waits for ever%s.",
                wsdbg_say_object(c, lack->word.barrier).text, lack->word.expected, who, lack->made,
                wsdbg_say_warp(c, lack->warp).text, wsdbg_say_at(c, lack->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise %s with the arrivals that are really made (%u), or let the missing threads arrive.",
                wsdbg_say_family(c, lack->word.barrier).text, lack->made);
    wsdbg_tell_access(c, finding, lack->arrives, "may be on it");
    wsdbg_tell_waits(c, finding, arrivers);
}

static void say_missing(struct wsdbg_case *c, const struct wsdbg_lack *lack, const struct wsdbg_warp_set *arrivers,
                        const char *where, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = wsdbg_lack_find(c, lack, WSDBG_CAUSE_ARRIVE_MISSING, wsdbg_code_cap(c, confidence));
    if (!finding)
        return;
    const uint32_t first = wsdbg_first_of(arrivers);
    if (first != WSDBG_NONE)
        finding->role = wsdbg_case_warp(c, first)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%u of %u arrivals on %s are missing, so %s waits for ever%s: %s%s went on without arriving and cannot "
                "come back to it%s.",
                lack->word.pending, lack->word.expected, wsdbg_say_object(c, lack->word.barrier).text,
                wsdbg_say_warp(c, lack->warp).text, wsdbg_say_at(c, lack->warp).text,
                wsdbg_set_count(arrivers) > 1 ? "some of " : "", wsdbg_say_warps(c, arrivers).text, where);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Arrive on %s on every path through the iteration, the last one of a tile and skipped ones included.",
                wsdbg_say_family(c, lack->word.barrier).text);
    wsdbg_tell_access(c, finding, lack->arrives, "may be such an arrival");
    wsdbg_tell_waits(c, finding, arrivers);
}

/* Some arrival on it may come from another CTA. */
static bool may_be_remote(const struct wsdbg_case *c, const struct wsdbg_lack *lack)
{
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (access->grid == c->grid && access->any_rank && access->kind < 32 &&
            WSDBG_KINDS_ARRIVAL >> access->kind & 1 &&
            wsdbg_access_match(c, access, lack->word.barrier) >= WSDBG_MATCH_MAY)
            return true;
    }
    return false;
}

/* How many lanes arrive is not known: what is there fits one of each warp, or all. */
static bool all_may_have_come(const struct wsdbg_lack *lack, uint32_t warps)
{
    return warps > 0 && (lack->made == warps || lack->made == warps * WARP_THREADS);
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

static void judge_unreachable(struct wsdbg_case *c, const struct wsdbg_lack *lack)
{
    uint32_t expects;
    const enum wsdbg_match expected = wsdbg_code_has(c, WSDBG_KINDS_EXPECT, lack->word.barrier, &expects);
    const bool announced =
        expected >= WSDBG_MATCH_MAY || (expected == WSDBG_MATCH_OPEN && is_only_mbarrier(c, lack->word.barrier));
    if (wsdbg_lack_is_in_parts(c, lack)) {
        say_split(c, lack);
    } else if (lack->in_code == WSDBG_MATCH_NO && c->snapshot->access_count > 0) {
        if (announced)
            say_no_arrive(c, lack, expects);
        else
            say_no_instruction(c, lack);
    } else if (lack->peers_gone > 0 && may_be_remote(c, lack)) {
        say_peer_exited(c, lack);
    } else if (lack->exited == 0 && lack->in_code >= WSDBG_MATCH_MAY && !wsdbg_lack_is_of_round_too_many(lack)) {
        const uint32_t could = capacity(c, lack, &lack->past, true);
        if (wsdbg_set_count(&lack->past) > 0 && could > lack->made)
            say_missing(c, lack, &lack->past, "", WSDBG_CONFIDENCE_LIKELY);
        else if (could ? could == lack->made : all_may_have_come(lack, wsdbg_set_count(&lack->past)))
            say_short(c, lack, &lack->past);
    }
}

/* ---- those who can arrive wait themselves ---- */

/* Warps that wait on this barrier, or on the same one of another CTA of the cluster. */
static struct wsdbg_warp_set waiters_beside(const struct wsdbg_case *c, const struct wsdbg_lack *lack)
{
    const uint32_t id = c->snapshot->barriers[lack->word.barrier].id;
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_word word;
        if (wsdbg_code_wait(c, w, &word) && c->snapshot->barriers[word.barrier].id == id)
            wsdbg_set_add(&set, w);
    }
    return set;
}

/* Each of them waits for something that the waiting warp, or one that waits beside it, can bring. */
static bool all_wait_for_it(const struct wsdbg_case *c, const struct wsdbg_lack *lack)
{
    const struct wsdbg_warp_set beside = waiters_beside(c, lack);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_set_has(&lack->able, w))
            continue;
        if (wsdbg_case_warp(c, w)->state != WSDBG_WARP_WAIT_MBARRIER ||
            !wsdbg_set_meets(&c->graph->nodes[w].wakers, &beside) ||
            wsdbg_code_can(c, w, WSDBG_KINDS_ARRIVAL, lack->word.barrier, NULL) != WSDBG_CAN)
            return false;
    }
    return true;
}

static void judge_ring(struct wsdbg_case *c, const struct wsdbg_lack *lack)
{
    if (lack->made == 0 || lack->word.bytes < 0 || !all_wait_for_it(c, lack))
        return;
    const uint32_t could = capacity(c, lack, &lack->able, false);
    const bool completed = ever_completed(c, lack);
    if (could == 0 ? !completed : could < lack->word.expected) {
        if (could > 0 && !completed && lack->exited == 0)
            say_short(c, lack, &lack->able);
        return;
    }
    /* Arrivals left over on every stage would also follow from arriving too often. */
    say_missing(c, lack, &lack->able, " before it completes",
                others_are_partial(c, lack) ? WSDBG_CONFIDENCE_POSSIBLE : WSDBG_CONFIDENCE_LIKELY);
}

void wsdbg_rule_code_arrivals(struct wsdbg_case *c)
{
    struct wsdbg_lack lack;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_lack_read(c, w, &lack))
            continue;
        if (wsdbg_set_count(&lack.able) == 0)
            judge_unreachable(c, &lack);
        else
            judge_ring(c, &lack);
    }
}
