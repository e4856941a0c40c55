/* rule_exception.c - the GPU stopped a warp for an error, and says where: the kernel died, it did not hang.
 *
 * Reads: exceptions, the words of mbarriers, walks, the code that led to where warps stand.  Adds: TX_SHARED_BARRIER,
 * DOUBLE_ARRIVE or PARITY_DRIFT for an arrival on a phase whose count is spent, or what a repair of a replay shows
 * (wsdbg_explain_fault); NAMED_COUNT (fault_named.c); BARRIER_NOT_INIT for one where no mbarrier is, PEER_EXITED for an
 * arrival in a CTA that has left, else UNKNOWN, which says what the GPU or the simulator says.
 *
 * An arrival that finds the count of its phase spent while bytes are still on their way locks the mbarrier (bit 42 of
 * its word) and is reported as CUDA_EXCEPTION_4 at the arrival itself (measured on an H200, driver 580); newer drivers
 * have CUDA_EXCEPTION_31 for it.  Nobody can say which of the arrivals is the one too many: likely, never proven.
 */
#include <inttypes.h>

#include "diagnose/code_say.h"
#include "diagnose/fault_named.h"
#include "diagnose/fault_uninitialised.h"
#include "diagnose/rules.h"
#include "diagnose/spent_arrival.h"
#include "model/fault.h"

enum {
    ILLEGAL_INSTRUCTION = 4,
    ASSERT = 12,
    CLUSTER_BLOCK_NOT_PRESENT = 18,
    ARRIVE = 31,
    BLOCK_NOT_PRESENT = 34,
    LOCK_BIT = 42,
    TOLD = 6
};

/* What a simulated device says of the error, if this grid caused it; "" = nothing. */
static const char *words_of(const struct wsdbg_case *c)
{
    const struct wsdbg_grid *grid = &c->snapshot->grids[c->grid];
    return wsdbg_fault_words_of(&c->snapshot->contexts[grid->context], grid);
}

/* Who found the error. */
static const char *stopper(const struct wsdbg_case *c)
{
    return words_of(c)[0] ? "simulator" : "GPU";
}

static uint32_t local_warp(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t w = 0;
    while (w + 1 < c->warp_count && c->warps[w] != warp)
        w++;
    return w;
}

/* The exceptions of one of the case's warps; there may be very many of others. */
static const struct wsdbg_exception *exceptions_of(const struct wsdbg_case *c, uint32_t w, size_t *count)
{
    const struct wsdbg_exception *rows = c->snapshot->exceptions;
    size_t first = 0, end = c->snapshot->exception_count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (rows[middle].warp < c->warps[w])
            first = middle + 1;
        else
            end = middle;
    }
    *count = 0;
    while (first + *count < c->snapshot->exception_count && rows[first + *count].warp == c->warps[w])
        ++*count;
    return rows + first;
}

static bool is_arrival(const struct wsdbg_exception *e)
{
    return e->access && WSDBG_KINDS_ARRIVAL >> e->access & 1;
}

/* An arrival locked it: its count was spent while bytes were on their way, or it took fewer arrivals than were made. */
static bool is_locked(const struct wsdbg_case *c, uint32_t barrier, struct wsdbg_barrier_word *word)
{
    return wsdbg_word_of(c, barrier, word) && c->snapshot->barriers[barrier].word.known &&
           c->snapshot->barriers[barrier].word.value >> LOCK_BIT & 1;
}

static bool may_name(const struct wsdbg_case *c, const struct wsdbg_exception *e, uint32_t barrier)
{
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (access->grid == c->grid && access->site == e->site && access->kind == e->access &&
            wsdbg_access_match(c, access, barrier) >= WSDBG_MATCH_MAY)
            return true;
    }
    return false;
}

/* Where registers do not tell: the one barrier of the warp's CTA that the instruction may name and that is locked. */
static uint32_t locked_barrier(const struct wsdbg_case *c, const struct wsdbg_exception *e)
{
    uint32_t found = WSDBG_NONE;
    struct wsdbg_barrier_word word;
    for (uint32_t i = 0; i < c->snapshot->barrier_count; i++) {
        if (c->snapshot->barriers[i].cta != c->snapshot->warps[e->warp].cta || !is_locked(c, i, &word) ||
            !may_name(c, e, i))
            continue;
        if (found != WSDBG_NONE)
            return WSDBG_NONE;
        found = i;
    }
    return found;
}

/* *barrier is the one that it arrived on. */
static bool finds_count_spent(const struct wsdbg_case *c, const struct wsdbg_exception *e, uint32_t *barrier)
{
    struct wsdbg_barrier_word word;
    if ((e->code != ILLEGAL_INSTRUCTION && e->code != ARRIVE) || !is_arrival(e) || e->remote)
        return false;
    *barrier = e->barrier != WSDBG_NONE ? e->barrier : locked_barrier(c, e);
    return *barrier != WSDBG_NONE && is_locked(c, *barrier, &word);
}

/* What it arrived on is no mbarrier.  The arrival may have set the lock bit there, nothing else. */
static bool finds_no_mbarrier(const struct wsdbg_case *c, const struct wsdbg_exception *e, uint32_t *barrier)
{
    struct wsdbg_barrier_word word;
    *barrier = e->barrier;
    return (e->code == ILLEGAL_INSTRUCTION || e->code == ARRIVE) && is_arrival(e) && !e->remote &&
           e->barrier < c->snapshot->barrier_count && c->snapshot->barriers[e->barrier].word.known &&
           !wsdbg_word_of(c, e->barrier, &word);
}

static bool may_have_arrived_in_others(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        const bool came = !reaches[i].before_known || reaches[i].before_most > 0;
        if (access && access->any_rank && came && WSDBG_KIND(access->kind) & WSDBG_KINDS_ARRIVAL)
            return true;
    }
    return false;
}

/* Where the counter of the instruction is not exact the warp has gone on behind it: then a CTA of the cluster must be
 * seen to have left. */
static bool finds_nobody(const struct wsdbg_case *c, const struct wsdbg_exception *e)
{
    if (e->code != CLUSTER_BLOCK_NOT_PRESENT && e->code != BLOCK_NOT_PRESENT)
        return false;
    return e->exact ? is_arrival(e) && e->remote : wsdbg_case_ctas_left(c) > 0;
}

/* "thread (32,0,0) of CTA (0,0,0)", "lanes 0-3 of CTA (0,0,0)", or "CTA (0,0,0)" where neither is known */
static struct wsdbg_phrase say_thread(const struct wsdbg_case *c, const struct wsdbg_exception *e)
{
    struct wsdbg_phrase phrase = {""};
    const struct wsdbg_cta *cta = &c->snapshot->ctas[c->snapshot->warps[e->warp].cta];
    char thread[96] = "";
    if (e->thread_known)
        wsdbg_print(thread, sizeof thread, "thread (%u,%u,%u) of ", e->thread[0], e->thread[1], e->thread[2]);
    else if (e->at_lanes)
        wsdbg_print(thread, sizeof thread, "%.80s of ", wsdbg_say_lanes(e->at_lanes).text);
    wsdbg_print(phrase.text, sizeof phrase.text, "%sCTA (%u,%u,%u)", thread, cta->x, cta->y, cta->z);
    return phrase;
}

/* "CUDA_EXCEPTION_14 (illegal address)" */
static struct wsdbg_phrase say_code(const struct wsdbg_exception *e)
{
    struct wsdbg_phrase phrase = {""};
    const char *words = wsdbg_exception_words(e->code);
    wsdbg_print(phrase.text, sizeof phrase.text, "CUDA_EXCEPTION_%u%s%s%s", e->code, words ? " (" : "",
                words ? words : "", words ? ")" : "");
    return phrase;
}

/* " at waits.cu:212 (SYNCS.ARRIVE...)" */
static struct wsdbg_phrase say_place(const struct wsdbg_case *c, const struct wsdbg_exception *e)
{
    struct wsdbg_phrase phrase = {""};
    const struct wsdbg_site *site = wsdbg_snapshot_site(c->snapshot, e->site);
    const char *before = e->exact ? "at" : "at or before";
    if (!site)
        wsdbg_print(phrase.text, sizeof phrase.text, " %s 0x%" PRIx64, before, e->pc);
    else
        wsdbg_print(phrase.text, sizeof phrase.text, " %s %.80s%s%.56s%s", before, wsdbg_say_place(c, e->site).text,
                    site->instruction[0] ? " (" : "", site->instruction, site->instruction[0] ? ")" : "");
    return phrase;
}

static struct wsdbg_finding *begin(struct wsdbg_case *c, const struct wsdbg_exception *e, uint32_t barrier,
                                   enum wsdbg_cause cause, enum wsdbg_confidence confidence)
{
    const struct wsdbg_warp_row *warp = &c->snapshot->warps[e->warp];
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, confidence, warp->cta, barrier);
    if (finding)
        finding->role = warp->role;
    return finding;
}

/* *announces: whether the warp announces bytes on the barrier, by its walks.  False: some are not known to the end. */
static bool walks_tell_bytes(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier, bool *announces)
{
    const struct wsdbg_snapshot *s = c->snapshot;
    bool any = false;
    *announces = false;
    for (size_t i = 0; i < s->walk_count; i++) {
        if (s->walks[i].warp != c->warps[warp])
            continue;
        if (!wsdbg_walk_is_known(&s->walks[i]))
            return false;
        any = true;
        for (uint32_t k = 0; k < s->walks[i].step_count; k++) {
            const struct wsdbg_step_row *step = &s->steps[s->walks[i].step_first + k];
            *announces |= step->kind == WSDBG_ACCESS_ARRIVE_EXPECT && step->rank == WSDBG_STEP_OWN_RANK &&
                          step->address == s->barriers[barrier].shared_offset.value;
        }
    }
    return any && s->barriers[barrier].shared_offset.known;
}

static bool announces_bytes(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    uint32_t count;
    bool announces;
    if (walks_tell_bytes(c, warp, barrier, &announces))
        return announces;
    const struct wsdbg_reach *reaches = wsdbg_code_reaches(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wsdbg_access_row *access = wsdbg_code_access(c, &reaches[i]);
        const bool comes = reaches[i].after == 2 || (reaches[i].before_known && reaches[i].before_least > 0);
        if (access && access->kind == WSDBG_ACCESS_ARRIVE_EXPECT && comes &&
            wsdbg_access_match(c, access, barrier) >= WSDBG_MATCH_MAY)
            return true;
    }
    return false;
}

/* Warps of the CTA that have arrived with bytes on the barrier, or reach where they do. */
static struct wsdbg_warp_set with_bytes(const struct wsdbg_case *c, const struct wsdbg_exception *e, uint32_t barrier)
{
    struct wsdbg_warp_set warps = {0};
    if (e->access != WSDBG_ACCESS_ARRIVE_EXPECT)
        return warps;
    wsdbg_set_add(&warps, local_warp(c, e->warp));
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == c->snapshot->barriers[barrier].cta && announces_bytes(c, w, barrier))
            wsdbg_set_add(&warps, w);
    return warps;
}

/* What the phase still took when the arrival came. */
static struct wsdbg_phrase say_left(const struct wsdbg_barrier_word *word)
{
    struct wsdbg_phrase phrase;
    if (word->pending)
        wsdbg_print(phrase.text, sizeof phrase.text, "and the phase took only %u more", word->pending);
    else if (word->bytes > 0)
        wsdbg_print(phrase.text, sizeof phrase.text, "all of them were already made, and %lld bytes were still missing",
                    (long long)word->bytes);
    else
        wsdbg_print(phrase.text, sizeof phrase.text, "and all of them were already made");
    return phrase;
}

/* The warp waited between its two arrivals, but for a phase that had completed a round before. */
static void say_repeat(struct wsdbg_case *c, const struct wsdbg_exception *e, uint32_t barrier,
                       const struct wsdbg_spent_arrival *spent)
{
    const struct wsdbg_step_row *wait = &c->snapshot->steps[spent->wait];
    const uint32_t waited_on = wsdbg_case_mbarrier_at(c, c->snapshot->warps[e->warp].cta, wait->address);
    const uint32_t site =
        wait->access < c->snapshot->access_count ? c->snapshot->accesses[wait->access].site : WSDBG_NONE;
    struct wsdbg_finding *finding = begin(c, e, waited_on, WSDBG_CAUSE_PARITY_DRIFT, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waited on %s%s with parities that do not alternate: wait number %u asked for parity %u, as the "
                "wait before it, and so ended at once. Then the warp arrived on %s%s again before the phase completed.",
                wsdbg_say_warp(c, local_warp(c, e->warp)).text, wsdbg_say_object(c, waited_on).text,
                wsdbg_say_at_site(c, site).text, spent->turn, wait->number & 1, wsdbg_say_object(c, barrier).text,
                say_place(c, e).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Keep the phase of %s across tiles: flip it when the stage index wraps, and only then.",
                wsdbg_say_family(c, waited_on).text);
}

/* An arrival too many is only possible if the warp waits before each of its arrivals: then a wait ended too early. */
static void say_too_many(struct wsdbg_case *c, const struct wsdbg_exception *e, uint32_t barrier,
                         enum wsdbg_between between)
{
    const struct wsdbg_warp_set warps = with_bytes(c, e, barrier);
    struct wsdbg_barrier_word word;
    const bool shared = wsdbg_word_of(c, barrier, &word) && word.bytes > 0 && wsdbg_set_count(&warps) > word.expected;
    struct wsdbg_finding *finding =
        begin(c, e, barrier, shared ? WSDBG_CAUSE_TX_SHARED_BARRIER : WSDBG_CAUSE_DOUBLE_ARRIVE,
              shared || between == WSDBG_BETWEEN_NOTHING ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrived on %s%s %s: the barrier is initialised for %u arrival%s, %s. The %s stopped the warp in "
                "%s with %s.",
                wsdbg_say_warp(c, local_warp(c, e->warp)).text, wsdbg_say_object(c, barrier).text, say_place(c, e).text,
                word.pending ? "too often" : "again before the phase completed", word.expected,
                word.expected == 1 ? "" : "s", say_left(&word).text, stopper(c), say_thread(c, e).text,
                say_code(e).text);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        shared
            ? "Initialise %s with one arrival for each warp that announces bytes on it, or give each of these warps "
              "its own barrier."
            : "In each phase, arrive on %s only as often as it is initialised for, or initialise it for all arrivals.",
        wsdbg_say_family(c, barrier).text);
    if (shared)
        wsdbg_evidence_text(c, finding, "%s execute arrive.expect_tx on it", wsdbg_say_warps(c, &warps).text);
    if (!shared && between == WSDBG_BETWEEN_WAIT)
        wsdbg_evidence_text(c, finding, "the warp waits between its arrivals: some wait may have ended too early");
}

static void say_spent(struct wsdbg_case *c, const struct wsdbg_exception *e, uint32_t barrier)
{
    const struct wsdbg_spent_arrival spent = wsdbg_spent_arrival_of(c, e->warp, barrier);
    if (wsdbg_explain_fault(c, barrier))
        return;
    if (spent.between == WSDBG_BETWEEN_REPEAT)
        say_repeat(c, e, barrier, &spent);
    else
        say_too_many(c, e, barrier, spent.between);
}

static void say_nobody(struct wsdbg_case *c, const struct wsdbg_exception *e)
{
    struct wsdbg_finding *finding = begin(c, e, WSDBG_NONE, WSDBG_CAUSE_PEER_EXITED, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    const bool arrived = e->exact || may_have_arrived_in_others(c, local_warp(c, e->warp));
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s %s of another CTA of its cluster%s, but that CTA has exited. The %s stopped the warp in %s with "
                "%s.",
                wsdbg_say_warp(c, local_warp(c, e->warp)).text,
                arrived ? "arrived on an mbarrier" : "accessed shared memory", say_place(c, e).text, stopper(c),
                say_thread(c, e).text, say_code(e).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "End the kernel with a cluster barrier, so that no CTA exits while others still %s.",
                arrived ? "arrive on its barriers" : "access its shared memory");
}

/* Live warps of the barrier's CTA that may still reach where it is initialised. */
static struct wsdbg_warp_set yet_to_initialise(const struct wsdbg_case *c, uint32_t barrier)
{
    struct wsdbg_warp_set set = wsdbg_code_able(c, WSDBG_KIND(WSDBG_ACCESS_INIT), barrier, WSDBG_CAN);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta != c->snapshot->barriers[barrier].cta)
            wsdbg_set_remove(&set, w);
    return set;
}

static void say_not_initialised(struct wsdbg_case *c, const struct wsdbg_exception *e, uint32_t barrier)
{
    const struct wsdbg_warp_set late = yet_to_initialise(c, barrier);
    uint32_t init;
    const enum wsdbg_match in_code = wsdbg_code_has(c, WSDBG_KIND(WSDBG_ACCESS_INIT), barrier, &init);
    struct wsdbg_finding *finding = begin(c, e, barrier, WSDBG_CAUSE_BARRIER_NOT_INIT, WSDBG_CONFIDENCE_LIKELY);
    char why[224] = "";
    if (!finding)
        return;
    if (wsdbg_set_count(&late) > 0)
        wsdbg_print(why, sizeof why, ": %.160s had not reached its initialisation", wsdbg_say_warps(c, &late).text);
    else if (in_code == WSDBG_MATCH_NO && c->snapshot->access_count > 0)
        wsdbg_print(why, sizeof why, ", and no instruction of the kernel initialises one there");
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrived on %s%s, but the word there (0x%016llx) was not an mbarrier%s. The %s stopped the warp in "
                "%s with %s.",
                wsdbg_say_warp(c, local_warp(c, e->warp)).text, wsdbg_say_object(c, barrier).text, say_place(c, e).text,
                (unsigned long long)c->snapshot->barriers[barrier].word.value, why, stopper(c), say_thread(c, e).text,
                say_code(e).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise every stage (mbarrier.init, then fence.mbarrier_init), and synchronise all warps before "
                "its first use.");
    wsdbg_evidence_barrier(c, finding, barrier, "%s holds 0x%016llx", wsdbg_say_object(c, barrier).text,
                           (unsigned long long)c->snapshot->barriers[barrier].word.value);
    wsdbg_tell_access(c, finding, init, "may initialise it");
}

/* What the instruction was about, beside a barrier: "", or words behind its place. */
static struct wsdbg_phrase say_what(const struct wsdbg_exception *e)
{
    struct wsdbg_phrase phrase = {""};
    const char *memory = e->in_shared ? "shared-memory address " : "";
    if (e->trapped)
        wsdbg_print(phrase.text, sizeof phrase.text, ": the kernel executed a trap there");
    else if (e->code == ASSERT)
        wsdbg_print(phrase.text, sizeof phrase.text, ": an assertion of the kernel failed");
    else if (e->misaligned_bytes)
        wsdbg_print(phrase.text, sizeof phrase.text,
                    ", which accesses %u bytes at %s0x%" PRIx64 ", not a multiple of %u", e->misaligned_bytes, memory,
                    e->address.value, e->misaligned_bytes);
    else if (e->address.known && e->last_address > e->address.value)
        wsdbg_print(phrase.text, sizeof phrase.text, ", which names %s0x%" PRIx64 " to 0x%" PRIx64 " in its lanes",
                    e->in_shared ? memory : "the addresses ", e->address.value, e->last_address);
    else if (e->address.known)
        wsdbg_print(phrase.text, sizeof phrase.text, ", which names %s0x%" PRIx64,
                    e->in_shared ? memory : "the address ", e->address.value);
    return phrase;
}

/* What the GPU says, and what the instruction shows. */
static void say_unknown(struct wsdbg_case *c, const struct wsdbg_exception *e)
{
    char object[192] = "";
    struct wsdbg_finding *finding = begin(c, e, e->barrier, WSDBG_CAUSE_UNKNOWN, WSDBG_CONFIDENCE_POSSIBLE);
    if (!finding)
        return;
    if (e->barrier != WSDBG_NONE)
        wsdbg_print(object, sizeof object, ", an %s on %s",
                    e->access == WSDBG_ACCESS_WAIT ? "mbarrier wait" : "mbarrier operation",
                    wsdbg_say_object(c, e->barrier).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence, "the %s stopped %s in %s with %s%s%s%s.", stopper(c),
                wsdbg_say_warp(c, local_warp(c, e->warp)).text, say_thread(c, e).text, say_code(e).text,
                say_place(c, e).text, say_what(e).text, object);
    if (e->misaligned_bytes)
        wsdbg_print(finding->fix, sizeof finding->fix, "Give the access an address that is a multiple of %u.",
                    e->misaligned_bytes);
}

static void tell(struct wsdbg_case *c, uint32_t barrier)
{
    struct wsdbg_finding *finding = c->finding_count ? &c->findings[c->finding_count - 1] : NULL;
    if (words_of(c)[0])
        wsdbg_evidence_text(c, finding, "the simulator says: %.200s", words_of(c));
    for (uint32_t w = 0, told = 0; w < c->warp_count && told < TOLD; w++) {
        size_t count;
        const struct wsdbg_exception *rows = exceptions_of(c, w, &count);
        for (size_t i = 0; i < count && told < TOLD; i++, told++) {
            const struct wsdbg_phrase place = wsdbg_say_place(c, rows[i].site);
            wsdbg_evidence_text(c, finding, "CUDA_EXCEPTION_%u in %s%s%s", rows[i].code, say_thread(c, &rows[i]).text,
                                place.text[0] ? " at " : "", place.text);
        }
    }
    wsdbg_tell_word(c, finding, barrier);
}

/* A copy, or another engine of a simulated device, came upon the error: no warp stands where it happened. */
static void say_of_no_warp(struct wsdbg_case *c)
{
    const struct wsdbg_context *context = &c->snapshot->contexts[c->snapshot->grids[c->grid].context];
    struct wsdbg_finding *finding = NULL;
    if (c->snapshot->exception_count == 0 && c->finding_count == 0 && words_of(c)[0])
        finding = wsdbg_case_find(c, WSDBG_CAUSE_UNKNOWN, WSDBG_CONFIDENCE_POSSIBLE, c->ctas[0], WSDBG_NONE);
    if (finding)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "the simulator ended the kernel with CUDA error %d: %s.", context->error, words_of(c));
}

void wsdbg_rule_exception(struct wsdbg_case *c)
{
    const struct wsdbg_exception *first = NULL, *known = NULL;
    uint32_t barrier = WSDBG_NONE;
    for (uint32_t w = 0; w < c->warp_count && c->snapshot->exception_count && !known; w++) {
        size_t count;
        const struct wsdbg_exception *rows = exceptions_of(c, w, &count);
        first = !first && count ? rows : first;
        for (size_t i = 0; i < count && !known; i++)
            if (finds_count_spent(c, &rows[i], &barrier) || finds_no_mbarrier(c, &rows[i], &barrier) ||
                finds_nobody(c, &rows[i]))
                known = &rows[i];
    }
    if (!first) {
        say_of_no_warp(c);
        return;
    }
    if (!known && (wsdbg_say_named_counts(c, first) || wsdbg_say_uninitialised(c, first))) {
        tell(c, WSDBG_NONE);
        return;
    }
    if (!known)
        say_unknown(c, first);
    else if (finds_nobody(c, known))
        say_nobody(c, known);
    else if (finds_no_mbarrier(c, known, &barrier))
        say_not_initialised(c, known, barrier);
    else if (finds_count_spent(c, known, &barrier))
        say_spent(c, known, barrier);
    tell(c, known && !finds_nobody(c, known) ? barrier : first->barrier);
}
