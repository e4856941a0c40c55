/* rule_code_bytes.c - all arrivals of a phase are there, but bytes are missing; or no mbarrier is where somebody waits.
 *
 * Reads: barrier words, accesses.  Adds: TX_MISMATCH, TMA_NEVER_COMPLETED, BARRIER_NOT_INIT.
 *
 * The word tells how many bytes are missing, the code how many were announced.  In one picture a copy may be on its
 * way.  It is not where all that were filled lack the very same part of their bytes: copies on their way would be
 * at different points.
 */
#include "diagnose/code_graph.h"
#include "diagnose/code_say.h"
#include "diagnose/rules.h"

/* As many barriers that agree are no chance any more. */
#define AGREEING_LEAST 4u

/* ---- bytes ---- */

/* Bytes that one phase announces: known where one instruction does it and its operand could be followed. */
static struct wsdbg_optional_u32 announced_bytes(const struct wsdbg_case *c, const struct wsdbg_word *word)
{
    struct wsdbg_optional_u32 bytes = {0};
    uint32_t found = 0;
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *access = &c->snapshot->accesses[i];
        if (access->grid != c->grid || access->kind > 31 || !(WSDBG_KINDS_EXPECT >> access->kind & 1) ||
            wsdbg_access_match(c, access, word->barrier) == WSDBG_MATCH_NO)
            continue;
        bytes = access->certain ? access->count : (struct wsdbg_optional_u32){0};
        found++;
    }
    return found == 1 && word->expected == 1 ? bytes : (struct wsdbg_optional_u32){0};
}

/* Every stage of the barrier in every CTA that lacks bytes alone lacks as many. */
static bool all_lack_the_same(const struct wsdbg_case *c, const struct wsdbg_word *word)
{
    const uint32_t id = c->snapshot->barriers[word->barrier].id;
    uint32_t agreeing = 0;
    for (uint32_t b = 0; b < c->snapshot->barrier_count; b++) {
        const struct wsdbg_barrier *row = &c->snapshot->barriers[b];
        struct wsdbg_word other;
        if (row->cta >= c->snapshot->cta_count || c->snapshot->ctas[row->cta].grid != c->grid || row->id != id ||
            !wsdbg_word_of(c, b, &other) || other.pending > 0 || other.bytes == 0)
            continue;
        if (other.bytes != word->bytes)
            return false;
        agreeing++;
    }
    return agreeing >= AGREEING_LEAST;
}

/* Warps that announced the bytes, as far as the code tells: they can still do so for a later phase, or did before. */
static struct wsdbg_warp_set announcers(const struct wsdbg_case *c, const struct wsdbg_word *word)
{
    struct wsdbg_warp_set set = wsdbg_code_able(c, WSDBG_KINDS_EXPECT, word->barrier, WSDBG_CAN);
    for (uint32_t w = 0; w < c->warp_count && wsdbg_set_count(&set) == 0; w++)
        if (wsdbg_code_behind(c, w, WSDBG_KINDS_EXPECT, word->barrier, NULL) > 0)
            wsdbg_set_add(&set, w);
    return set;
}

static struct wsdbg_finding *begin_bytes(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_word *word,
                                         enum wsdbg_cause cause, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, confidence, wsdbg_case_warp(c, warp)->cta, word->barrier);
    if (!finding)
        return NULL;
    const struct wsdbg_warp_set by = announcers(c, word);
    const uint32_t first = wsdbg_first_of(&by);
    if (first != WSDBG_NONE)
        finding->role = wsdbg_case_warp(c, first)->role;
    uint32_t expects, copies;
    wsdbg_tell_wait(c, finding, warp);
    wsdbg_tell_word(c, finding, word->barrier);
    wsdbg_code_has(c, WSDBG_KINDS_EXPECT, word->barrier, &expects);
    wsdbg_code_has(c, WSDBG_KINDS_BYTES, word->barrier, &copies);
    wsdbg_tell_access(c, finding, expects, "may have announced the bytes");
    wsdbg_tell_access(c, finding, copies, "may bring some of them");
    wsdbg_tell_waits(c, finding, &by);
    return finding;
}

static void say_mismatch(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_word *word,
                         struct wsdbg_optional_u32 announced, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin_bytes(c, warp, word, WSDBG_CAUSE_TX_MISMATCH, confidence);
    if (!finding)
        return;
    char of[48] = "";
    if (announced.known)
        wsdbg_print(of, sizeof of, " of the %u announced", announced.value);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        confidence > WSDBG_CONFIDENCE_POSSIBLE
            ? "All arrivals on %s are there, but %lld bytes%s are missing: the copies bring less than expect_tx "
              "announces, so %s waits for ever%s."
        : c->still ? "All arrivals on %s are there, but %lld bytes%s are missing: a copy was not issued, or the copies "
                     "bring less than expect_tx announces; %s waits%s."
                   : "All arrivals on %s are there and %lld bytes%s were missing at that moment: copies may be on "
                     "their way, or bring less than expect_tx announces; %s waits%s.",
        wsdbg_say_object(c, word->barrier).text, (long long)word->bytes, of, wsdbg_say_warp(c, warp).text,
        wsdbg_say_at(c, warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Make the bytes of expect_tx equal to what the copies deliver to this CTA: box elements x element "
                "size, summed over all copies of the stage, multicast ones of other CTAs included (%lld fewer here).",
                (long long)word->bytes);
}

static void say_never_completed(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_word *word,
                                enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin_bytes(c, warp, word, WSDBG_CAUSE_TMA_NEVER_COMPLETED, confidence);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "All arrivals on %s are there and none of the %lld bytes announced%s: the copy was not issued, or has "
                "not completed, and %s waits%s.",
                wsdbg_say_object(c, word->barrier).text, (long long)word->bytes,
                c->still ? "" : " were there at that moment", wsdbg_say_warp(c, warp).text, wsdbg_say_at(c, warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Check that every path from expect_tx issues the copy, its tensor map (box at most 256 a dimension, "
                "16-byte aligned addresses and strides), its destination, and that it names this barrier.");
}

/* The same stage of each CTA of the cluster lacks the same: no CTA's copies are behind the others'. */
static bool cluster_agrees(const struct wsdbg_case *c, const struct wsdbg_word *word)
{
    const struct wsdbg_barrier *mine = &c->snapshot->barriers[word->barrier];
    uint32_t agreeing = 0;
    for (uint32_t b = 0; b < c->snapshot->barrier_count; b++) {
        const struct wsdbg_barrier *row = &c->snapshot->barriers[b];
        struct wsdbg_word other;
        agreeing += row->id == mine->id && row->stage == mine->stage && wsdbg_case_cta(c, row->cta) != WSDBG_NONE &&
                    wsdbg_word_of(c, b, &other) && other.pending == 0 && other.bytes == word->bytes;
    }
    return agreeing == c->cta_count;
}

/* Copies that a warp has yet to issue may bring the bytes: one that cannot announce any itself, or one of another CTA
 * that has not come so far. */
static bool others_may_bring(const struct wsdbg_case *c, const struct wsdbg_word *word)
{
    if (c->cta_count > 1 && !cluster_agrees(c, word))
        return true;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == c->snapshot->barriers[word->barrier].cta &&
            wsdbg_code_can(c, w, WSDBG_KINDS_BYTES, word->barrier, NULL) > WSDBG_CAN_NOT &&
            wsdbg_code_can(c, w, WSDBG_KINDS_EXPECT, word->barrier, NULL) == WSDBG_CAN_NOT)
            return true;
    return false;
}

static void judge_bytes(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_word *word)
{
    if (others_may_bring(c, word))
        return;
    const struct wsdbg_optional_u32 announced = announced_bytes(c, word);
    const bool whole = announced.known && word->bytes == announced.value;
    const bool agree = all_lack_the_same(c, word);
    enum wsdbg_confidence confidence = WSDBG_CONFIDENCE_POSSIBLE;
    const bool only_look = c->snapshot->look_count < 2; /* two that differ show copies that move */
    if (c->still ? wsdbg_case_stuck(c, warp) : only_look && agree && !whole && wsdbg_code_nobody_runs(c))
        confidence = WSDBG_CONFIDENCE_LIKELY;
    if (whole)
        say_never_completed(c, warp, word, confidence);
    else if (announced.known || agree)
        say_mismatch(c, warp, word, announced, confidence);
    else
        say_mismatch(c, warp, word, announced, WSDBG_CONFIDENCE_POSSIBLE);
}

/* ---- no mbarrier ---- */

static bool is_no_mbarrier(const struct wsdbg_case *c, uint32_t barrier)
{
    if (barrier >= c->snapshot->barrier_count)
        return false;
    const struct wsdbg_barrier *row = &c->snapshot->barriers[barrier];
    return row->kind == WSDBG_BARRIER_MBARRIER && row->word.known && !row->phase.known;
}

static void say_not_initialised(struct wsdbg_case *c, uint32_t warp)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const struct wsdbg_barrier *barrier = &c->snapshot->barriers[row->barrier];
    uint32_t init;
    const bool never = wsdbg_code_has(c, WSDBG_KIND(WSDBG_ACCESS_INIT), row->barrier, &init) == WSDBG_MATCH_NO &&
                       c->snapshot->access_count;
    enum wsdbg_confidence confidence = wsdbg_code_cap(c, never ? WSDBG_CONFIDENCE_PROVEN : WSDBG_CONFIDENCE_LIKELY);
    confidence = wsdbg_weaker(confidence, wsdbg_if_stuck(c, warp));
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_BARRIER_NOT_INIT, confidence, row->cta, row->barrier);
    if (!finding)
        return;
    finding->role = row->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s, but the word there (0x%016llx) is no mbarrier%s.", wsdbg_say_warp(c, warp).text,
                wsdbg_say_object(c, row->barrier).text, wsdbg_say_at(c, warp).text,
                (unsigned long long)barrier->word.value,
                never ? ", and no instruction of the kernel initialises one there" : "");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Initialise every stage (mbarrier.init), synchronise the CTA before its first use, and let nothing "
                "else write there.");
    wsdbg_tell_wait(c, finding, warp);
    wsdbg_evidence_barrier(c, finding, row->barrier, "%s holds 0x%016llx", wsdbg_say_object(c, row->barrier).text,
                           (unsigned long long)barrier->word.value);
    wsdbg_tell_access(c, finding, init, "may initialise it");
}

void wsdbg_rule_code_bytes(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        struct wsdbg_word word;
        if (row->state == WSDBG_WARP_WAIT_MBARRIER && is_no_mbarrier(c, row->barrier))
            say_not_initialised(c, w);
        else if (wsdbg_code_wait(c, w, &word) && word.pending == 0 && word.bytes > 0)
            judge_bytes(c, w, &word);
    }
}
