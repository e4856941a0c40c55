/* rule_code_bytes.c - all arrivals of a phase are there, but not the bytes announced; or no mbarrier is where somebody
 * waits.
 *
 * Reads: barrier words, accesses.  Adds: TX_MISMATCH, CLUSTER_RANK_ASYMMETRY, TMA_NEVER_COMPLETED, BARRIER_NOT_INIT,
 * WAKER_EXITED.
 *
 * The word tells how many bytes are missing or too many, the code how many were announced.  Too many do not go away: no
 * arrival is left in the phase that could announce them.  Where some are missing, one picture cannot tell whether
 * a copy is still on its way.  None is if every filled slot lacks the same number of bytes: copies under way would be
 * at different points.
 */
#include "diagnose/bytes_to_come.h"
#include "diagnose/code_bytes.h"
#include "diagnose/code_graph.h"
#include "diagnose/code_say.h"
#include "diagnose/dropped.h"
#include "diagnose/replay_likes.h"
#include "diagnose/rules.h"

/* As many barriers that agree are no chance any more. */
#define AGREEING_LEAST 4u

/* What is known of one wait for bytes. */
struct missing_bytes {
    uint32_t warp;
    struct wsdbg_barrier_word word;
    struct wsdbg_optional_u32 announced;
    bool whole; /* none of the bytes announced came */
};

/* ---- what all findings about bytes say ---- */

static struct wsdbg_finding *begin(struct wsdbg_case *c, const struct missing_bytes *missing, enum wsdbg_cause cause,
                                   enum wsdbg_confidence confidence)
{
    const uint32_t barrier = missing->word.barrier;
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, cause, confidence, wsdbg_case_warp(c, missing->warp)->cta, barrier);
    if (!finding)
        return NULL;
    const struct wsdbg_warp_set by = wsdbg_bytes_announcers(c, &missing->word);
    finding->role = wsdbg_code_role(c, &by, barrier);
    uint32_t expects, copies;
    wsdbg_tell_wait(c, finding, missing->warp);
    wsdbg_tell_word(c, finding, barrier);
    wsdbg_code_has(c, WSDBG_KINDS_EXPECT, barrier, &expects);
    wsdbg_code_has(c, WSDBG_KINDS_BYTES, barrier, &copies);
    wsdbg_tell_access(c, finding, expects, "may have announced the bytes");
    wsdbg_tell_access(c, finding, copies, "may deliver some of them");
    wsdbg_tell_waits(c, finding, &by);
    return finding;
}

/* "512 bytes of the 1024 announced" */
static struct wsdbg_phrase say_missing(const struct missing_bytes *missing)
{
    struct wsdbg_phrase phrase;
    if (missing->whole)
        wsdbg_print(phrase.text, sizeof phrase.text, "all of the %u bytes announced", missing->announced.value);
    else if (missing->announced.known)
        wsdbg_print(phrase.text, sizeof phrase.text, "%lld bytes of the %u announced", (long long)missing->word.bytes,
                    missing->announced.value);
    else
        wsdbg_print(phrase.text, sizeof phrase.text, "%lld bytes", (long long)missing->word.bytes);
    return phrase;
}

/* ---- TX_MISMATCH ---- */

static void say_too_few(struct wsdbg_case *c, const struct missing_bytes *missing, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, missing, WSDBG_CAUSE_TX_MISMATCH, confidence);
    if (!finding)
        return;
    const struct wsdbg_phrase bytes = say_missing(missing), object = wsdbg_say_object(c, missing->word.barrier);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                confidence > WSDBG_CONFIDENCE_POSSIBLE
                    ? "All arrivals on %s were made, but %s are missing: the copies deliver fewer bytes than expect_tx "
                      "announces, so %s waits forever%s."
                : c->still ? "All arrivals on %s were made, but %s are missing: a copy was not issued, or the copies "
                             "deliver fewer bytes than expect_tx announces; %s waits%s."
                           : "All arrivals on %s were made, and %s were missing at that moment: copies may still be in "
                             "flight, or they deliver fewer bytes than expect_tx announces; %s waits%s.",
                object.text, bytes.text, wsdbg_say_warp(c, missing->warp).text, wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Announce in expect_tx exactly the bytes that the copies deliver to this CTA: box elements x element size, "
        "summed over all copies of the stage, including multicast copies issued by other CTAs (%lld fewer here).",
        (long long)missing->word.bytes);
}

/* Nobody is left whose arrival could announce what came too much. */
static void say_too_many(struct wsdbg_case *c, const struct missing_bytes *missing, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, missing, WSDBG_CAUSE_TX_MISMATCH, confidence);
    if (!finding)
        return;
    const struct wsdbg_optional_u32 copied = wsdbg_bytes_of_copy(c, &missing->word);
    const long long surplus = (long long)-missing->word.bytes;
    char numbers[96] = "";
    if (copied.known && missing->announced.known)
        wsdbg_print(numbers, sizeof numbers, " (a copy delivers %u bytes where %u are announced)", copied.value,
                    missing->announced.value);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "All arrivals on %s were made, but the copies delivered %lld bytes more than expect_tx announced%s: "
                "the transaction count cannot return to zero, so %s waits forever%s.",
                wsdbg_say_object(c, missing->word.barrier).text, surplus, numbers,
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Announce in expect_tx exactly the bytes that the copies deliver to this CTA: box elements x element size, "
        "summed over all copies of the stage, including multicast copies issued by other CTAs (%lld more here).",
        surplus);
}

/* The bytes that are missing on one barrier were delivered on another. */
static void say_elsewhere(struct wsdbg_case *c, const struct missing_bytes *missing,
                          const struct wsdbg_barrier_word *other, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, missing, WSDBG_CAUSE_TX_MISMATCH, confidence);
    if (!finding)
        return;
    const bool is_short = missing->word.bytes > 0;
    const struct wsdbg_barrier_word *less = is_short ? &missing->word : other,
                                    *more = is_short ? other : &missing->word;
    const struct wsdbg_phrase of_less = wsdbg_say_object(c, less->barrier),
                              of_more = wsdbg_say_object(c, more->barrier), warp = wsdbg_say_warp(c, missing->warp);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%lld bytes announced on %s are missing%s, and %lld unannounced bytes were delivered on %s: copies "
                "complete on a different barrier than the one on which their bytes are announced, so %s waits%s%s.",
                (long long)less->bytes, of_less.text, c->still ? "" : " at that moment", (long long)-more->bytes,
                of_more.text, warp.text, confidence > WSDBG_CONFIDENCE_POSSIBLE ? " forever" : "",
                wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let the copies complete on the barrier of expect_tx: use one stage index for both.");
    wsdbg_tell_word(c, finding, other->barrier);
    uint32_t copies;
    wsdbg_code_has(c, WSDBG_KINDS_BYTES, more->barrier, &copies);
    wsdbg_tell_access(c, finding, copies, "may have delivered bytes on it");
}

/* ---- CTAs of a cluster ---- */

static uint32_t rank_of(const struct wsdbg_case *c, uint32_t barrier)
{
    return c->snapshot->ctas[c->snapshot->barriers[barrier].cta].cluster_rank;
}

/* "in rank 0 the phase has ended" */
static struct wsdbg_phrase say_there(const struct wsdbg_case *c, const struct wsdbg_peer *peer)
{
    const uint32_t rank = rank_of(c, peer->barrier);
    struct wsdbg_phrase phrase;
    if (peer->bytes == 0)
        wsdbg_print(phrase.text, sizeof phrase.text, "in rank %u the phase has completed", rank);
    else
        wsdbg_print(phrase.text, sizeof phrase.text, "in rank %u %lld bytes are %s", rank,
                    (long long)(peer->bytes < 0 ? -peer->bytes : peer->bytes),
                    peer->bytes < 0 ? "in excess" : "missing");
    return phrase;
}

/* Why the two CTAs got different sums. */
static struct wsdbg_phrase say_why_uneven(const struct wsdbg_case *c, const struct wsdbg_peer *peer)
{
    const struct wsdbg_access_row *copy = &c->snapshot->accesses[peer->copy];
    struct wsdbg_phrase phrase;
    if (peer->by_itself)
        wsdbg_print(phrase.text, sizeof phrase.text,
                    "every copy in the code delivers the same bytes to both CTAs, so the CTAs issued different copies");
    else if (copy->mask.known)
        wsdbg_print(phrase.text, sizeof phrase.text,
                    "the multicast copies (mask 0x%x) do not deliver to this CTA the bytes that it announces",
                    copy->mask.value);
    else
        wsdbg_print(phrase.text, sizeof phrase.text,
                    "the multicast copies do not deliver to this CTA the bytes that it announces");
    return phrase;
}

static void say_ranks(struct wsdbg_case *c, const struct missing_bytes *missing, const struct wsdbg_peer *peer,
                      enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding =
        begin(c, missing, peer->by_itself ? WSDBG_CAUSE_CLUSTER_RANK_ASYMMETRY : WSDBG_CAUSE_TX_MISMATCH, confidence);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "All arrivals on %s of cluster rank %u were made, but %s are missing%s; %s: %s, so %s waits%s.",
                wsdbg_say_object(c, missing->word.barrier).text, rank_of(c, missing->word.barrier),
                say_missing(missing).text, c->still ? "" : " at that moment", say_there(c, peer).text,
                say_why_uneven(c, peer).text, wsdbg_say_warp(c, missing->warp).text,
                wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                peer->by_itself ? "Let all CTAs of a cluster decide from the same value which CTA loads what for which "
                                  "others: a CTA may rely on another's multicast only if that copy is issued."
                                : "Include every CTA that announces the bytes in the multicast mask, and announce in "
                                  "expect_tx the total that all copies deliver to this CTA.");
    wsdbg_tell_word(c, finding, peer->barrier);
    wsdbg_tell_access(c, finding, peer->copy, "writes to several CTAs");
}

/* ---- TMA_NEVER_COMPLETED ---- */

/* `copy` is an instruction that comes after the wait of `bringer`. */
static void say_stranded(struct wsdbg_case *c, const struct missing_bytes *missing, uint32_t bringer, uint32_t copy,
                         enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, missing, WSDBG_CAUSE_TMA_NEVER_COMPLETED, confidence);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "All arrivals on %s were made, but %s are missing%s: every warp that can still reach a copy that may "
                "deliver them waits for them first, as %s does%s.",
                wsdbg_say_object(c, missing->word.barrier).text, say_missing(missing).text,
                c->still ? "" : " at that moment", wsdbg_say_warp(c, bringer).text, wsdbg_say_at(c, bringer).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Issue the copy right after expect_tx, in the branch of the warp that announces its bytes.");
    wsdbg_tell_access(c, finding, copy, "comes after that wait");
}

/* The copy that this warp can reach brings just the bytes that are missing. */
static bool is_stranded(const struct wsdbg_case *c, const struct missing_bytes *missing, uint32_t bringer,
                        uint32_t *copy)
{
    wsdbg_code_can(c, bringer, WSDBG_KINDS_BYTES, missing->word.barrier, copy);
    if (missing->whole || *copy == WSDBG_NONE)
        return *copy != WSDBG_NONE;
    const struct wsdbg_optional_u32 bytes = c->snapshot->accesses[*copy].count;
    return bytes.known && bytes.value == missing->word.bytes;
}

static void say_never_completed(struct wsdbg_case *c, const struct missing_bytes *missing,
                                enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, missing, WSDBG_CAUSE_TMA_NEVER_COMPLETED, confidence);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "All arrivals on %s were made, but none of the %lld announced bytes arrived%s: the copy was not issued "
                "or has not completed, so %s waits%s.",
                wsdbg_say_object(c, missing->word.barrier).text, (long long)missing->word.bytes,
                c->still ? "" : " by that moment", wsdbg_say_warp(c, missing->warp).text,
                wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Check that every path from expect_tx issues the copy and that the copy names this barrier. Check its "
        "destination and its tensor map (box at most 256 per dimension, 16-byte aligned addresses and strides).");
}

/* ---- who left between announcing and copying ---- */

/* Whether an agent brings bytes to the ring of the barrier. */
static bool copies_to_ring(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    for (uint32_t k = 0; k < agent->step_count; k++)
        if (agent->steps[k].kind == WSDBG_ACCESS_COPY && agent->target[k] != WSDBG_NONE &&
            wsdbg_replay_is_of_family(replay, agent->target[k], barrier))
            return true;
    return false;
}

static bool announces(const struct wsdbg_replay_agent *agent, uint32_t step)
{
    return agent->steps[step].kind == WSDBG_ACCESS_ARRIVE_EXPECT;
}

static bool copies(const struct wsdbg_replay_agent *agent, uint32_t step)
{
    return agent->steps[step].kind == WSDBG_ACCESS_COPY;
}

/* Whether an agent announces bytes on a barrier before the copy that it makes there. */
static bool is_announced(const struct wsdbg_replay_agent *agent, uint32_t copy)
{
    for (uint32_t k = 0; k < copy; k++)
        if (agent->target[k] == agent->target[copy] && announces(agent, k))
            return true;
    return false;
}

/* The agent's next copy or announcement on the barrier of a step; step_count = there is none. */
static uint32_t next_on_it(const struct wsdbg_replay_agent *agent, uint32_t step)
{
    uint32_t k = step + 1;
    while (k < agent->step_count &&
           (agent->target[k] != agent->target[step] || !(copies(agent, k) || announces(agent, k))))
        k++;
    return k;
}

/* Whether an agent announces bytes on the ring's barriers, copies them itself before it announces more there, and last
 * announces on this one without a copy.  Others may copy what a lane announces, or a lane announces what it has copied
 * before.  An agent that never copies shows nothing if others do. */
static bool breaks_off(const struct wsdbg_replay *replay, const struct wsdbg_replay_agent *agent, uint32_t barrier)
{
    bool is_open = false;
    for (uint32_t k = 0; k < agent->step_count; k++) {
        if (agent->target[k] == WSDBG_NONE || !wsdbg_replay_is_of_family(replay, agent->target[k], barrier))
            continue;
        if (copies(agent, k) && !is_announced(agent, k))
            return false;
        const uint32_t next = announces(agent, k) ? next_on_it(agent, k) : 0;
        if (next && next < agent->step_count && announces(agent, next))
            return false;
        is_open |= next == agent->step_count && agent->target[k] == barrier;
    }
    if (!is_open || copies_to_ring(replay, agent, barrier))
        return is_open;
    for (uint32_t i = 0; i < replay->agent_count; i++)
        if (copies_to_ring(replay, &replay->agents[i], barrier))
            return false;
    return true;
}

/* Whether an agent's last arrival on the barrier was in the phase under way. */
static bool arrived_in_phase(const struct wsdbg_replay *replay, uint32_t agent, uint32_t barrier)
{
    const struct wsdbg_replay_waits *waits = wsdbg_replay_waits_of(replay, agent, barrier);
    return waits->arrived > 0 && waits->arrived_parity == (replay->barriers[barrier].phase & 1);
}

/* Lanes that announced bytes on the barrier and left the kernel before they copied any, while their warp went on; NULL
 * = there are none. */
static const struct wsdbg_replay_agent *announcer_that_left(struct wsdbg_case *c, const struct wsdbg_barrier_word *word)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    for (uint32_t b = 0; replay && b < replay->barrier_count; b++)
        for (uint32_t i = 0; replay->barriers[b].row == word->barrier && i < replay->agent_count; i++) {
            const struct wsdbg_replay_agent *agent = &replay->agents[i];
            if (wsdbg_replay_has_left(replay, agent) && breaks_off(replay, agent, b) &&
                arrived_in_phase(replay, i, b) && wsdbg_case_warp(c, agent->warp)->state != WSDBG_WARP_EXITED)
                return agent;
        }
    return NULL;
}

static void say_left(struct wsdbg_case *c, const struct missing_bytes *missing, const struct wsdbg_replay_agent *agent,
                     enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding = begin(c, missing, WSDBG_CAUSE_WAKER_EXITED, confidence);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, agent->warp)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s of %s announced bytes on %s and left the kernel before any copy: %lld bytes are missing, so %s "
                "waits%s.",
                wsdbg_say_lanes(agent->lanes).text, wsdbg_say_warp(c, agent->warp).text,
                wsdbg_say_object(c, missing->word.barrier).text, (long long)missing->word.bytes,
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let the elected lane stay until it has issued the copies that it announced on %s.",
                wsdbg_say_family(c, missing->word.barrier).text);
}

/* ---- which of them ---- */

/* All stages of the barrier, in all CTAs, that wait only for bytes lack the same number of bytes. */
static bool all_lack_the_same(const struct wsdbg_case *c, const struct wsdbg_barrier_word *word)
{
    const uint32_t id = c->snapshot->barriers[word->barrier].id;
    uint32_t agreeing = 0;
    for (uint32_t b = 0; b < c->snapshot->barrier_count; b++) {
        const struct wsdbg_barrier *row = &c->snapshot->barriers[b];
        struct wsdbg_barrier_word other;
        if (row->cta >= c->snapshot->cta_count || c->snapshot->ctas[row->cta].grid != c->grid || row->id != id ||
            !wsdbg_word_of(c, b, &other) || other.pending > 0 || other.bytes == 0)
            continue;
        if (other.bytes != word->bytes)
            return false;
        agreeing++;
    }
    return agreeing >= AGREEING_LEAST;
}

/* A replay of what the warps execute lacks the same bytes: so the copy was not issued. */
static bool replay_lacks_them(struct wsdbg_case *c, const struct wsdbg_barrier_word *word)
{
    const struct wsdbg_replay *replay = wsdbg_replay_standing(c);
    for (uint32_t i = 0; replay && i < replay->barrier_count; i++)
        if (replay->barriers[i].row == word->barrier)
            return (!replay->barriers[i].bytes_unknown || replay->barriers[i].copy_bytes) &&
                   replay->barriers[i].bytes == word->bytes;
    return false;
}

static enum wsdbg_confidence if_still(const struct wsdbg_case *c, uint32_t warp)
{
    return c->still && wsdbg_case_stuck(c, warp) ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE;
}

static void judge_too_many(struct wsdbg_case *c, const struct missing_bytes *missing)
{
    struct wsdbg_barrier_word other;
    /* A step that announces without arriving could still make up for it. */
    const bool steps =
        wsdbg_code_has(c, WSDBG_KIND(WSDBG_ACCESS_EXPECT), missing->word.barrier, NULL) != WSDBG_MATCH_NO &&
        !wsdbg_bytes_are_final(c, &missing->word);
    const enum wsdbg_confidence confidence = wsdbg_case_stuck(c, missing->warp) && !steps
                                                 ? wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY)
                                                 : WSDBG_CONFIDENCE_POSSIBLE;
    if (wsdbg_bytes_elsewhere(c, &missing->word, &other))
        say_elsewhere(c, missing, &other, confidence);
    else
        say_too_many(c, missing, confidence);
}

static void judge_too_few(struct wsdbg_case *c, const struct missing_bytes *missing)
{
    struct wsdbg_barrier_word other;
    struct wsdbg_peer peer;
    uint32_t bringer, copy;
    const enum wsdbg_bringers bringers = wsdbg_bytes_bringers(c, &missing->word, &bringer);
    const enum wsdbg_confidence still = if_still(c, missing->warp);
    const bool final = wsdbg_bytes_are_final(c, &missing->word);
    if ((bringers == WSDBG_BRINGERS_MAY && !final) || wsdbg_bytes_wait_for_rank(c, &missing->word) ||
        (bringers != WSDBG_BRINGERS_WAIT_FOR_IT && wsdbg_bytes_copier_is_to_come(c, &missing->word)))
        return;
    const struct wsdbg_replay_agent *left = announcer_that_left(c, &missing->word);
    if (left) {
        say_left(c, missing, left, still);
        return;
    }
    const bool agree = all_lack_the_same(c, &missing->word);
    const bool only_look = c->snapshot->look_count < 2; /* two that differ show copies that move */
    if (wsdbg_bytes_elsewhere(c, &missing->word, &other))
        say_elsewhere(c, missing, &other, still);
    else if (bringers == WSDBG_BRINGERS_WAIT_FOR_IT && is_stranded(c, missing, bringer, &copy))
        say_stranded(c, missing, bringer, copy, still);
    else if (wsdbg_bytes_peer(c, &missing->word, &peer))
        say_ranks(c, missing, &peer, still);
    else if (missing->whole)
        say_never_completed(c, missing, still);
    else if (!c->still && only_look && agree && wsdbg_code_nobody_runs(c))
        say_too_few(c, missing, WSDBG_CONFIDENCE_LIKELY);
    else
        say_too_few(c, missing,
                    missing->announced.known || agree || final || replay_lacks_them(c, &missing->word)
                        ? still
                        : WSDBG_CONFIDENCE_POSSIBLE);
}

static void judge_bytes(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_barrier_word *word)
{
    struct missing_bytes missing = {.warp = warp, .word = *word, .announced = wsdbg_bytes_announced(c, word)};
    missing.whole = missing.announced.known && word->bytes == missing.announced.value;
    if (word->bytes < 0)
        judge_too_many(c, &missing);
    else if (word->bytes > 0)
        judge_too_few(c, &missing);
}

/* ---- no mbarrier ---- */

static bool is_no_mbarrier(const struct wsdbg_case *c, uint32_t barrier)
{
    struct wsdbg_warp_set by;
    if (barrier >= c->snapshot->barrier_count || wsdbg_is_dropped(c, barrier, &by))
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
                "%s waits on %s%s, but the word there (0x%016llx) is not an mbarrier%s.", wsdbg_say_warp(c, warp).text,
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
        struct wsdbg_barrier_word word;
        if (row->state == WSDBG_WARP_WAIT_MBARRIER && is_no_mbarrier(c, row->barrier))
            say_not_initialised(c, w);
        else if (wsdbg_code_wait(c, w, &word) && word.pending == 0)
            judge_bytes(c, w, &word);
    }
}
