/* rule_code_cta_rounds.c - one CTA of a cluster goes through its loops less often than the others, which wait for it.
 *
 * Reads: walks, the picture.  Adds: ROLE_DISAGREE.
 *
 * The CTA has nothing left to do but to meet the others at the end (cta_rounds.h).  And some thread of another CTA
 * waits for what only this CTA's threads bring to the barrier.  A finding is added only if a replay of the walks
 * (replay.h) ends in the picture.
 */
#include "diagnose/code_say.h"
#include "diagnose/cta_rounds.h"
#include "diagnose/rules.h"

/* Whether all threads of the CTA have left, or stand at the cluster barrier with no access to an mbarrier behind it. */
static bool has_nothing_left(const struct wsdbg_cta_rounds *rounds)
{
    for (uint32_t i = 0; i < rounds->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &rounds->replay->agents[i];
        if (a->cta != rounds->cta || a->state == WSDBG_AGENT_ENDED)
            continue;
        if (a->state != WSDBG_AGENT_CLUSTER)
            return false;
        for (uint32_t k = a->at; k < a->step_count; k++)
            if (wsdbg_uses_mbarrier(&a->steps[k]))
                return false;
    }
    return true;
}

/* Whether only threads of the CTA bring what the barrier lacks: bytes, or arrivals. */
static bool is_served_by(const struct wsdbg_cta_rounds *rounds, uint32_t barrier)
{
    const struct wsdbg_replay_barrier *b = &rounds->replay->barriers[barrier];
    const bool lacks_bytes = b->pending == 0;
    bool any = false;
    for (uint32_t i = 0; i < rounds->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &rounds->replay->agents[i];
        for (uint32_t k = 0; k < a->step_count; k++) {
            if (!(lacks_bytes ? wsdbg_replay_is_copy_to(rounds->replay, a, k, barrier)
                              : a->target[k] == barrier && wsdbg_replay_arrivals_of(a, k)))
                continue;
            if (a->cta != rounds->cta)
                return false;
            any = true;
        }
    }
    return any;
}

/* The first warp of another CTA that waits for this one alone; WSDBG_NONE. */
static uint32_t find_waiter(const struct wsdbg_cta_rounds *rounds)
{
    for (uint32_t i = 0; i < rounds->replay->agent_count; i++) {
        const struct wsdbg_replay_agent *a = &rounds->replay->agents[i];
        if (a->cta != rounds->cta && a->state == WSDBG_AGENT_WAITS && wsdbg_case_stuck(rounds->replay->c, a->warp) &&
            is_served_by(rounds, a->target[a->at]))
            return a->warp;
    }
    return WSDBG_NONE;
}

static void say(struct wsdbg_case *c, const struct wsdbg_cta_rounds *rounds, uint32_t waiter)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, waiter);
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_ROLE_DISAGREE,
                                                    wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), row->cta, row->barrier);
    if (!finding)
        return;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "The CTA of cluster rank %u goes through %u round%s of its loops, the other CTAs of the cluster through "
        "%u. So %s waits forever%s for what only that CTA does.",
        c->snapshot->ctas[c->ctas[rounds->cta]].cluster_rank, rounds->own, rounds->own == 1 ? "" : "s", rounds->others,
        wsdbg_say_warp(c, waiter).text, wsdbg_say_at(c, waiter).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Compute the number of rounds alike in all CTAs of a cluster that exchange data in each round.");
    wsdbg_tell_wait(c, finding, waiter);
    wsdbg_tell_word(c, finding, row->barrier);
}

void wsdbg_rule_code_cta_rounds(struct wsdbg_case *c)
{
    const struct wsdbg_replay *replay = c->cta_count < 2 ? NULL : wsdbg_replay_standing(c);
    struct wsdbg_cta_rounds rounds;
    if (!replay || !wsdbg_find_short_cta(replay, &rounds) || !has_nothing_left(&rounds))
        return;
    const uint32_t waiter = find_waiter(&rounds);
    if (waiter != WSDBG_NONE)
        say(c, &rounds, waiter);
}
