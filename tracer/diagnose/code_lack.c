/* code_lack.c - who could bring the arrivals that a wait lacks.  See code_lack.h.
 *
 * Reads: barrier words, reaches, the wait graph.
 */
#include "diagnose/code_lack.h"

#include "diagnose/code_say.h"
#include "diagnose/wait_graph.h"

#define WITHOUT_END 255u /* in a loop */

static void read_others(const struct wsdbg_case *c, struct wsdbg_lack *lack)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED) {
            lack->exited++;
            continue;
        }
        uint32_t times;
        if (w == lack->warp || wsdbg_code_behind(c, w, WSDBG_KINDS_ARRIVAL, lack->word.barrier, &times) == 0)
            continue;
        wsdbg_set_add(&lack->past, w);
        if (times == WITHOUT_END)
            wsdbg_set_add(&lack->done, w);
    }
}

bool wsdbg_lack_read(const struct wsdbg_case *c, uint32_t warp, struct wsdbg_lack *lack)
{
    *lack = (struct wsdbg_lack){.warp = warp};
    if (!wsdbg_case_stuck(c, warp) || !wsdbg_code_wait(c, warp, &lack->word) || lack->word.pending == 0)
        return false;
    const uint32_t barrier = lack->word.barrier;
    lack->made = lack->word.expected > lack->word.pending ? lack->word.expected - lack->word.pending : 0;
    lack->able = wsdbg_code_able(c, WSDBG_KINDS_ARRIVAL, barrier, WSDBG_CAN_DOUBTFUL);
    wsdbg_set_remove(&lack->able, warp);
    lack->itself = wsdbg_code_can(c, warp, WSDBG_KINDS_ARRIVAL, barrier, NULL);
    lack->in_code = wsdbg_code_has(c, WSDBG_KINDS_ARRIVAL, barrier, &lack->arrives);
    const struct wsdbg_cta *cta = &c->snapshot->ctas[wsdbg_case_warp(c, warp)->cta];
    lack->peers_gone = cta->cluster_size > c->cta_count ? cta->cluster_size - c->cta_count : 0;
    read_others(c, lack);
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

bool wsdbg_lack_is_in_parts(const struct wsdbg_case *c, const struct wsdbg_lack *lack)
{
    return wsdbg_case_warp(c, lack->warp)->part_count > 1 && !some_lanes_poll(c, lack->warp) &&
           (lack->itself == WSDBG_CAN || (lack->itself == WSDBG_CAN_DOUBTFUL && lack->exited == 0));
}

struct wsdbg_finding *wsdbg_lack_find(struct wsdbg_case *c, const struct wsdbg_lack *lack, enum wsdbg_cause cause,
                                      enum wsdbg_confidence confidence)
{
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, cause, confidence, wsdbg_case_warp(c, lack->warp)->cta, lack->word.barrier);
    wsdbg_tell_wait(c, finding, lack->warp);
    wsdbg_tell_word(c, finding, lack->word.barrier);
    return finding;
}
