/* rule_code_bare_expect.c - warps that fill a barrier and wait for it themselves, and announce bytes there without an
 * arrival.
 *
 * Reads: barrier words, accesses, answers.  Adds: TX_NO_ARRIVE.
 *
 * Only expect_tx with an arrival completes the phases of such a barrier, and some way of the code passes an expect_tx
 * alone from one wait to the next.  The barrier has none of its arrivals and lacks no bytes: they were announced on
 * that way, and came.
 */
#include "diagnose/code_say.h"
#include "diagnose/rules.h"

/* The row of an expect_tx alone on a way between two waits of the warp for the barrier, or NULL. */
static const struct wsdbg_answer_row *bare_expect(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    for (size_t i = 0; i < c->snapshot->answer_count; i++) {
        const struct wsdbg_answer_row *row = &c->snapshot->answers[i];
        const struct wsdbg_reach *wait = wsdbg_code_reach(c, warp, row->wait),
                                 *expect = wsdbg_code_reach(c, warp, row->arrival);
        const struct wsdbg_access_row *waits = wait && wait->after > 1 ? wsdbg_code_access(c, wait) : NULL,
                                      *expects = expect && expect->after > 1 ? wsdbg_code_access(c, expect) : NULL;
        if (row->is_bare && waits && expects && expects->kind == WSDBG_ACCESS_EXPECT && expect->before_most > 0 &&
            wsdbg_access_match(c, waits, barrier) >= WSDBG_MATCH_MAY &&
            wsdbg_access_match(c, expects, barrier) >= WSDBG_MATCH_MAY)
            return row;
    }
    return NULL;
}

/* All live warps that can arrive on the barrier wait at the same mbarriers as this one: each for its own rounds. */
static bool all_wait_like(const struct wsdbg_case *c, uint32_t warp, uint32_t barrier)
{
    const struct wsdbg_barrier *rows = c->snapshot->barriers;
    const struct wsdbg_warp_set able = wsdbg_code_able(c, WSDBG_KINDS_ARRIVAL, barrier, WSDBG_CAN_DOUBTFUL);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word word;
        if (w != warp && wsdbg_set_has(&able, w) &&
            (!wsdbg_code_wait(c, w, &word) || rows[word.barrier].id != rows[barrier].id))
            return false;
    }
    return true;
}

/* Likely where the warp has filled the barrier for sure.  A warp that waits before its first fill leaves the same word.
 */
static void say(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_barrier_word *word,
                const struct wsdbg_answer_row *bare)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const enum wsdbg_confidence confidence = bare->is_behind_fill ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE;
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_TX_NO_ARRIVE, wsdbg_code_cap(c, confidence), row->cta, row->barrier);
    if (!finding)
        return;
    finding->role = row->role;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s waits on %s%s, which has none of its %u arrivals and lacks no bytes: on some path the warp announces "
        "bytes with expect_tx alone, which is no arrival, so the data came and the phase never completed.",
        wsdbg_say_warp(c, warp).text, wsdbg_say_object(c, word->barrier).text, wsdbg_say_at(c, warp).text,
        word->expected);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Use mbarrier.arrive.expect_tx on every path, or arrive on %s after expect_tx.",
                wsdbg_say_family(c, word->barrier).text);
    wsdbg_tell_wait(c, finding, warp);
    wsdbg_tell_word(c, finding, word->barrier);
    wsdbg_tell_access(c, finding, bare->arrival, "announces bytes but does not arrive");
}

void wsdbg_rule_code_bare_expect(struct wsdbg_case *c)
{
    const wsdbg_access_kinds plain = WSDBG_KINDS_ARRIVAL & ~WSDBG_KIND(WSDBG_ACCESS_ARRIVE_EXPECT);
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word word;
        if (!wsdbg_code_wait(c, w, &word) || !word.untouched || word.bytes != 0 || !wsdbg_case_stuck(c, w) ||
            wsdbg_code_has(c, plain, word.barrier, NULL) != WSDBG_MATCH_NO ||
            wsdbg_code_can(c, w, WSDBG_KIND(WSDBG_ACCESS_ARRIVE_EXPECT), word.barrier, NULL) != WSDBG_CAN)
            continue;
        const struct wsdbg_answer_row *bare = bare_expect(c, w, word.barrier);
        if (bare && all_wait_like(c, w, word.barrier))
            say(c, w, &word, bare);
    }
}
