/* missing_mates.c - see missing_mates.h.
 *
 * Reads: barrier words, warp states.  Adds: ARRIVE_MISSING, WAKER_EXITED.
 */
#include "diagnose/missing_mates.h"

#include "diagnose/code_say.h"

/* Whether the warp waits for the arrivals, and never for what one that arrives waits for: it has another role. */
static bool is_served(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing, uint32_t warp,
                      uint32_t arriver)
{
    struct wsdbg_barrier_word own, its;
    return wsdbg_code_wait(c, warp, &own) && own.barrier == missing->word.barrier &&
           wsdbg_code_wait(c, arriver, &its) && its.barrier != own.barrier &&
           wsdbg_code_could(c, warp, WSDBG_KIND(WSDBG_ACCESS_WAIT), its.barrier) == WSDBG_CAN_NOT &&
           wsdbg_code_can(c, warp, WSDBG_KIND(WSDBG_ACCESS_WAIT), its.barrier, NULL) == WSDBG_CAN_NOT;
}

/* The warps that do not arrive, of warpgroups in which some do. */
static struct wsdbg_warp_set mates_of(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                                      const struct wsdbg_warp_set *arrivers)
{
    struct wsdbg_warp_set mates = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        for (uint32_t v = 0; v < c->warp_count && !wsdbg_set_has(arrivers, w); v++)
            if (wsdbg_set_has(arrivers, v) && wsdbg_case_are_mates(c, w, v) && !is_served(c, missing, w, v))
                wsdbg_set_add(&mates, w);
    return mates;
}

static bool have_all_exited(const struct wsdbg_case *c, const struct wsdbg_warp_set *warps)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(warps, w) && wsdbg_case_warp(c, w)->state != WSDBG_WARP_EXITED)
            return false;
    return true;
}

static void say_mates(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                      const struct wsdbg_warp_set *arrivers, const struct wsdbg_warp_set *mates)
{
    const bool exited = have_all_exited(c, mates), one = wsdbg_set_count(mates) == 1;
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, exited ? WSDBG_CAUSE_WAKER_EXITED : WSDBG_CAUSE_ARRIVE_MISSING,
                                    wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY));
    if (!finding)
        return;
    char absent[160];
    wsdbg_print(absent, sizeof absent, "%s", wsdbg_say_warps(c, mates).text);
    finding->role = wsdbg_case_warp(c, wsdbg_first_of(mates))->role;
    const char *never = one ? "never does" : "never do",
               *left = one ? "has exited without an arrival" : "have exited without an arrival";
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%u of %u arrivals on %s are missing, so %s waits forever%s: %s arrive on it, but %s of the same "
                "warpgroup %s.",
                missing->word.pending, missing->word.expected, wsdbg_say_object(c, missing->word.barrier).text,
                wsdbg_say_warp(c, missing->warp).text, wsdbg_say_at(c, missing->warp).text,
                wsdbg_say_warps(c, arrivers).text, absent, exited ? left : never);
    wsdbg_print(finding->fix, sizeof finding->fix, "Let %s arrive on %s %s, or initialise it for %u arrivals.", absent,
                wsdbg_say_family(c, missing->word.barrier).text, exited ? "before returning" : "as well",
                missing->made);
    wsdbg_tell_access(c, finding, missing->arrives, "may be the arrival");
    wsdbg_tell_waits(c, finding, arrivers);
    wsdbg_tell_waits(c, finding, mates);
}

/* Whether the count takes just the same of each of these warps, of which some may have come already. */
static bool takes_all(const struct wsdbg_missing_arrivals *missing, uint64_t there, uint64_t absent)
{
    const uint64_t each = missing->word.expected / (there + absent);
    return each > 0 && missing->word.expected % (there + absent) == 0 && missing->made % each == 0 &&
           missing->made <= each * there;
}

bool wsdbg_missing_mates_judge(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                               const struct wsdbg_warp_set *arrivers)
{
    const struct wsdbg_warp_set mates = mates_of(c, missing, arrivers);
    const uint64_t there = wsdbg_set_count(arrivers), absent = wsdbg_set_count(&mates);
    /* As many that are absent look like a count that is twice as high; unless they have left. */
    const bool are_few = absent < there || (absent == there && have_all_exited(c, &mates));
    if (absent == 0 || !are_few || !takes_all(missing, there, absent))
        return false;
    say_mates(c, missing, arrivers, &mates);
    return true;
}

/* How many warps of a set wait on the barrier's family, in its CTA, on this stage or on another one. */
static uint32_t count_waiters(const struct wsdbg_case *c, const struct wsdbg_warp_set *warps, uint32_t barrier,
                              bool of_stage)
{
    const struct wsdbg_barrier *rows = c->snapshot->barriers;
    uint32_t count = 0;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word word;
        if (wsdbg_set_has(warps, w) && wsdbg_code_wait(c, w, &word) && rows[word.barrier].cta == rows[barrier].cta &&
            rows[word.barrier].id == rows[barrier].id && (word.barrier == barrier) == of_stage)
            count++;
    }
    return count;
}

bool wsdbg_missing_mates_have_one_behind(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    const uint32_t first = wsdbg_first_of(&missing->able), count = wsdbg_set_count(&missing->able);
    if (count != WSDBG_GROUP_WARPS || missing->word.expected != missing->word.pending * count)
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&missing->able, w) && w != first && !wsdbg_case_are_mates(c, first, w))
            return false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        struct wsdbg_barrier_word word;
        if (wsdbg_set_has(&missing->able, w) && wsdbg_code_wait(c, w, &word) &&
            count_waiters(c, &missing->able, word.barrier, true) == 1 &&
            count_waiters(c, &missing->able, word.barrier, false) == count - 1)
            return true;
    }
    return false;
}
