/* rule_code_early.c - arrivals that the code cannot have left out are not in an mbarrier's word: they came before it
 * was initialised.
 *
 * Reads: barrier words, accesses, reaches.  Adds: BARRIER_NOT_INIT.
 *
 * What the warps have arrived by now lies between a least and a most, by the ways through the code that they have
 * taken. A word that is in phase 0 holds as many arrivals as it lacks of its count, or two more phases' worth.  Where
 * none of these lies between the two, the word was written since: initialised, over arrivals.  Said where the least
 * would have ended the phase, and nothing in the code puts such an arrival behind the initialisation.
 */
#include "diagnose/code_say.h"
#include "diagnose/rules.h"

#define WITHOUT_END 255u

/* What the warps of the case have arrived on one barrier, and who did what may be lost. */
struct arrived {
    uint64_t least, most;
    bool bounded; /* `most` holds */
    uint32_t early_warp, early_access;
};

static bool is_last_of_cta(const struct wsdbg_case *c, uint32_t warp)
{
    return wsdbg_case_warp(c, warp)->warp + 1 >= c->snapshot->grids[c->grid].warps_per_cta;
}

/* It has left, or all of its lanes stand at one place: those that do not may have done more than its row says. */
static bool is_of_one_piece(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    return wsdbg_case_warp(c, warp)->state == WSDBG_WARP_EXITED || (count == 1 && parts[0].lanes == UINT32_MAX);
}

/* The warp's row of the access; NULL: how often it has come there is not known. */
static const struct wsdbg_reach *reach_of(const struct wsdbg_case *c, uint32_t warp, uint32_t access)
{
    const struct wsdbg_reach *reach = is_of_one_piece(c, warp) ? wsdbg_code_reach(c, warp, access) : NULL;
    return reach && reach->before_known ? reach : NULL;
}

static void add(const struct wsdbg_case *c, uint32_t warp, uint32_t access, uint32_t barrier, struct arrived *arrived)
{
    const struct wsdbg_access_row *row = &c->snapshot->accesses[access];
    const enum wsdbg_match match = wsdbg_access_match(c, row, barrier);
    const struct wsdbg_reach *reach = reach_of(c, warp, access);
    if (match == WSDBG_MATCH_NO || !wsdbg_access_is_near(c, warp, row, barrier) || (reach && reach->before_most == 0))
        return;
    const uint64_t lane = row->kind == WSDBG_ACCESS_ARRIVE_EXPECT ? 1 : row->count.known ? row->count.value : 0;
    const bool plain = row->kind == WSDBG_ACCESS_ARRIVE || row->kind == WSDBG_ACCESS_ARRIVE_EXPECT;
    if (!reach || reach->before_most == WITHOUT_END || match == WSDBG_MATCH_OPEN || !plain || lane == 0) {
        arrived->bounded = false;
        return;
    }
    arrived->most += reach->before_most * lane * (row->lanes == WSDBG_LANES_ONE ? 1 : WSDBG_WARP_THREADS);
    if (match != WSDBG_MATCH_ONE || row->any_rank || reach->before_least == 0)
        return;
    /* The last warp of a CTA may have fewer threads. */
    const bool all = row->lanes == WSDBG_LANES_ALL && !is_last_of_cta(c, warp);
    arrived->least += reach->before_least * lane * (all ? WSDBG_WARP_THREADS : 1);
    if (row->may_be_early && arrived->early_warp == WSDBG_NONE) {
        arrived->early_warp = warp;
        arrived->early_access = access;
    }
}

static struct arrived count_arrived(const struct wsdbg_case *c, uint32_t barrier)
{
    struct arrived arrived = {.bounded = c->all_seen, .early_warp = WSDBG_NONE, .early_access = WSDBG_NONE};
    for (uint32_t i = 0; i < c->snapshot->access_count && arrived.bounded; i++) {
        const struct wsdbg_access_row *row = &c->snapshot->accesses[i];
        if (row->grid != c->grid || !wsdbg_is_of_kinds(row->kind, WSDBG_KINDS_ARRIVAL))
            continue;
        for (uint32_t w = 0; w < c->warp_count && arrived.bounded; w++)
            add(c, w, i, barrier, &arrived);
    }
    return arrived;
}

static bool are_lost(const struct wsdbg_barrier_word *word, const struct arrived *arrived)
{
    const uint64_t made = word->expected - word->pending;
    return arrived->bounded && word->phase == 0 && word->bytes == 0 && arrived->least >= word->expected &&
           made < word->expected && arrived->most < made + 2 * (uint64_t)word->expected;
}

static void say(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_barrier_word *word,
                const struct arrived *arrived)
{
    const struct wsdbg_phrase object = wsdbg_say_object(c, word->barrier);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_BARRIER_NOT_INIT, wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY),
                        wsdbg_case_warp(c, warp)->cta, word->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, arrived->early_warp)->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s arrived on %s%s before it was initialised: every path that the warp can have taken makes this "
                "arrival, but the mbarrier's word does not count it. The arrival is lost, so %s waits forever%s.",
                wsdbg_say_warp(c, arrived->early_warp).text, object.text,
                wsdbg_say_at_site(c, c->snapshot->accesses[arrived->early_access].site).text,
                wsdbg_say_warp(c, warp).text, wsdbg_say_at(c, warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "After mbarrier.init, execute fence.mbarrier_init and a CTA barrier (a cluster barrier if other CTAs "
                "use it) that every warp passes before its first use of %s.",
                wsdbg_say_family(c, word->barrier).text);
    wsdbg_tell_wait(c, finding, warp);
    wsdbg_tell_word(c, finding, word->barrier);
    wsdbg_evidence_text(c, finding, "on the paths that the warps have taken, %llu or more arrivals were made on it",
                        (unsigned long long)arrived->least);
    wsdbg_tell_access(c, finding, arrived->early_access, "may run before the init: no barrier of the CTA orders them");
}

void wsdbg_rule_code_early(struct wsdbg_case *c)
{
    struct wsdbg_barrier_word word;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (!wsdbg_case_stuck(c, w) || !wsdbg_code_wait(c, w, &word) || word.phase != 0 ||
            word.pending > word.expected ||
            wsdbg_code_has(c, WSDBG_KIND(WSDBG_ACCESS_INIT), word.barrier, NULL) < WSDBG_MATCH_MAY)
            continue;
        const struct arrived arrived = count_arrived(c, word.barrier);
        if (are_lost(&word, &arrived) && arrived.early_access != WSDBG_NONE)
            say(c, w, &word, &arrived);
    }
}
