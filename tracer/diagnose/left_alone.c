/* left_alone.c - see left_alone.h.
 *
 * Reads: warp states, a barrier's word.  Adds: WAKER_EXITED.
 */
#include "diagnose/left_alone.h"

#include "diagnose/code_say.h"

/* Whether all of the set are at this place of their warpgroups: the warps at other places are not meant to arrive. */
static bool are_at_place(const struct wsdbg_case *c, const struct wsdbg_warp_set *set, uint32_t place)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(set, w) && wsdbg_case_warp(c, w)->warp % WSDBG_GROUP_WARPS != place)
            return false;
    return true;
}

static bool has_left_alone(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_warp_set *set)
{
    const struct wsdbg_warp_row *own = wsdbg_case_warp(c, warp);
    uint32_t staying = 0, in_cta = 0;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        staying +=
            w != warp && wsdbg_case_are_mates(c, w, warp) && row->state != WSDBG_WARP_EXITED && !wsdbg_set_has(set, w);
        in_cta += row->cta == own->cta && wsdbg_set_has(set, w);
    }
    return own->state == WSDBG_WARP_EXITED && staying == WSDBG_GROUP_WARPS - 1 && in_cta > 0 &&
           are_at_place(c, set, own->warp % WSDBG_GROUP_WARPS);
}

/* Whether as many lanes as there are arrivals missing have left the warp, say an elected one, and all others of its
 * warpgroup are of the set. */
static bool has_lost_lanes(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_warp_set *set,
                           uint32_t barrier)
{
    const uint32_t gone = wsdbg_code_lanes_gone(c, warp) & wsdbg_case_lanes_at_launch(c, warp);
    struct wsdbg_barrier_word word;
    uint32_t mates = 0;
    for (uint32_t w = 0; w < c->warp_count; w++)
        mates += w != warp && wsdbg_case_are_mates(c, w, warp) && wsdbg_set_has(set, w);
    return wsdbg_case_warp(c, warp)->state != WSDBG_WARP_EXITED && gone &&
           2 * __builtin_popcount(gone) < WSDBG_WARP_THREADS && mates == WSDBG_GROUP_WARPS - 1 &&
           wsdbg_word_of(c, barrier, &word) && word.pending == (uint32_t)__builtin_popcount(gone);
}

uint32_t wsdbg_one_that_left(const struct wsdbg_case *c, const struct wsdbg_warp_set *set, uint32_t barrier)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (!wsdbg_set_has(set, w) && (has_left_alone(c, w, set) || has_lost_lanes(c, w, set, barrier)))
            return w;
    return WSDBG_NONE;
}

void wsdbg_say_one_left(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                        const struct wsdbg_warp_set *arrivers)
{
    const uint32_t gone = wsdbg_one_that_left(c, arrivers, missing->word.barrier);
    const bool fits = missing->word.pending * wsdbg_set_count(arrivers) == missing->made;
    if (gone == WSDBG_NONE)
        return;
    struct wsdbg_finding *finding =
        wsdbg_missing_arrivals_find(c, missing, WSDBG_CAUSE_WAKER_EXITED,
                                    wsdbg_code_cap(c, fits ? WSDBG_CONFIDENCE_LIKELY : WSDBG_CONFIDENCE_POSSIBLE));
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, gone)->role;
    const bool is_whole = wsdbg_case_warp(c, gone)->state == WSDBG_WARP_EXITED;
    char lanes[40] = "";
    if (!is_whole)
        wsdbg_print(lanes, sizeof lanes, "Lanes 0x%08x of ", wsdbg_code_lanes_gone(c, gone));
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s%s %s left the kernel, while the rest of %s stays. Of %u arrivals on %s, %s made %u, and %s waits for the "
        "others%s.",
        lanes, wsdbg_say_warp(c, gone).text, is_whole ? "has" : "have", is_whole ? "its warpgroup" : "the warp",
        missing->word.expected, wsdbg_say_object(c, missing->word.barrier).text, wsdbg_say_warps(c, arrivers).text,
        missing->made, wsdbg_say_warp(c, missing->warp).text, wsdbg_say_at(c, missing->warp).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let every warp of a role stay until its last arrival on %s: do not return from inside of the loop.",
                wsdbg_say_family(c, missing->word.barrier).text);
    wsdbg_tell_waits(c, finding, arrivers);
}
