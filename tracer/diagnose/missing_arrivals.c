/* missing_arrivals.c - who could bring the arrivals that a wait still needs.  See missing_arrivals.h.
 *
 * Reads: barrier words, reaches, the wait graph.
 */
#include "diagnose/missing_arrivals.h"

#include "diagnose/code_say.h"
#include "diagnose/wait_graph.h"

#define WITHOUT_END 255u /* in a loop */

static void read_others(const struct wsdbg_case *c, struct wsdbg_missing_arrivals *missing)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED) {
            missing->exited++;
            continue;
        }
        uint32_t times;
        if (w == missing->warp || wsdbg_code_behind(c, w, WSDBG_KINDS_ARRIVAL, missing->word.barrier, &times) == 0)
            continue;
        wsdbg_set_add(&missing->past, w);
        if (times == WITHOUT_END)
            wsdbg_set_add(&missing->done, w);
    }
}

bool wsdbg_missing_arrivals_read(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_missing_arrivals *missing)
{
    *missing = (struct wsdbg_missing_arrivals){.warp = warp};
    if (!wsdbg_case_stuck(c, warp) || !wsdbg_code_wait(c, warp, &missing->word) || missing->word.pending == 0)
        return false;
    const uint32_t barrier = missing->word.barrier;
    missing->made = missing->word.expected > missing->word.pending ? missing->word.expected - missing->word.pending : 0;
    missing->able = wsdbg_code_able(c, WSDBG_KINDS_ARRIVAL, barrier, WSDBG_CAN_DOUBTFUL);
    wsdbg_set_remove(&missing->able, warp);
    missing->itself = wsdbg_code_can(c, warp, WSDBG_KINDS_ARRIVAL, barrier, NULL);
    missing->in_code = wsdbg_code_has(c, WSDBG_KINDS_ARRIVAL, barrier, &missing->arrives);
    const struct wsdbg_cta *cta = &c->snapshot->ctas[wsdbg_case_warp(c, warp)->cta];
    missing->peers_gone = cta->cluster_size > c->cta_count ? cta->cluster_size - c->cta_count : 0;
    read_others(c, missing);
    return true;
}

/* They need not meet the others again: they wait for memory. */
static bool some_lanes_poll(const struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_part *parts = wsdbg_code_parts(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (wsdbg_warp_state_polls(parts[i].state))
            return true;
    return false;
}

bool wsdbg_missing_arrivals_is_in_parts(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    return wsdbg_case_warp(c, missing->warp)->part_count > 1 && !some_lanes_poll(c, missing->warp) &&
           (missing->itself == WSDBG_CAN || (missing->itself == WSDBG_CAN_DOUBTFUL && missing->exited == 0));
}

struct wsdbg_finding *wsdbg_missing_arrivals_find(struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                                                  enum wsdbg_cause cause, enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, cause, confidence, wsdbg_case_warp(c, missing->warp)->cta, missing->word.barrier);
    wsdbg_tell_wait(c, finding, missing->warp);
    wsdbg_tell_word(c, finding, missing->word.barrier);
    return finding;
}
