/* rule_fault.c - the kernel died: more arrivals in one round than the mbarrier's count allows.
 *
 * Reads: the ledger of a case whose context an error ended.  Adds: TX_SHARED_BARRIER where several warps arrive with
 * bytes of their own, DOUBLE_ARRIVE where one warp arrives twice.
 *
 * An arrival on a phase whose count is spent, while its bytes are still on their way, ends the context with error 719
 * (measured on an H200).  The driver does not say which instruction it was, so this is likely at most.
 */
#include "diagnose/rules.h"

#define LAUNCH_FAILED 719

/* The arrivals of the newest round that has more of them than the phase takes. */
struct excess {
    const struct wsdbg_stage *stage;
    uint32_t round, arrivals;
    const struct wsdbg_use *first, *last; /* of that round, by time */
    struct wsdbg_warp_set warps, with_bytes;
};

static void add_arrival(struct excess *excess, const struct wsdbg_use *use)
{
    excess->arrivals += wsdbg_event_arrivals(use->event);
    wsdbg_set_add(&excess->warps, use->warp);
    if (wsdbg_event_is_expect(use->event))
        wsdbg_set_add(&excess->with_bytes, use->warp);
    if (!excess->first || use->event->gpu_time_ns < excess->first->event->gpu_time_ns)
        excess->first = use;
    if (!excess->last || use->event->gpu_time_ns >= excess->last->event->gpu_time_ns)
        excess->last = use;
}

static struct excess read_round(const struct wsdbg_case *c, const struct wsdbg_stage *stage, uint32_t round)
{
    struct excess excess = {.stage = stage, .round = round};
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = 0; i < stage->use_count; i++)
        if (uses[i].round == round && wsdbg_event_is_arrival(uses[i].event))
            add_arrival(&excess, &uses[i]);
    return excess;
}

static bool newer(const struct excess *a, const struct excess *b)
{
    return !b->stage || a->last->event->gpu_time_ns > b->last->event->gpu_time_ns;
}

static struct excess find_excess(const struct wsdbg_case *c)
{
    struct excess best = {0};
    for (uint32_t i = 0; i < c->ledger->stage_count; i++) {
        const struct wsdbg_stage *stage = &c->ledger->stages[i];
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
        if (!stage->init.known || stage->init_inferred || stage->initialised_again)
            continue;
        for (uint32_t k = 0; k < stage->use_count; k++) {
            if (!wsdbg_event_is_arrival(uses[k].event) || uses[k].round == WSDBG_NONE)
                continue;
            const struct excess excess = read_round(c, stage, uses[k].round);
            if (excess.arrivals > stage->init.value && newer(&excess, &best))
                best = excess;
        }
    }
    return best;
}

static void say(struct wsdbg_case *c, const struct excess *excess)
{
    const struct wsdbg_stage *stage = excess->stage;
    const bool shared = wsdbg_set_count(&excess->with_bytes) > 1;
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, shared ? WSDBG_CAUSE_TX_SHARED_BARRIER : WSDBG_CAUSE_DOUBLE_ARRIVE, WSDBG_CONFIDENCE_LIKELY,
                        stage->cta, stage->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, wsdbg_first_of(&excess->warps))->role;
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s made %u arrivals on %s in %s%s, but it is initialised for %u: an arrival that finds the count of its "
        "phase spent while bytes are still on their way is a fault.",
        wsdbg_say_warps(c, &excess->warps).text, excess->arrivals, wsdbg_say_stage(stage).text,
        wsdbg_say_iteration(excess->last->event->iteration, excess->round).text,
        wsdbg_say_line(excess->last->event).text, stage->init.value);
    wsdbg_print(finding->fix, sizeof finding->fix,
                shared ? "Initialise %s for %u arrivals, or give each of these warps a barrier of its own."
                       : "Arrive on %s only as often as it is initialised for, or initialise it for %u arrivals.",
                wsdbg_say_barrier(stage).text, excess->arrivals);
    wsdbg_evidence_barrier(c, finding, stage->barrier, "initialised for %u arrivals, %u made in one round",
                           stage->init.value, excess->arrivals);
    wsdbg_evidence_event(c, finding, excess->first->warp, excess->first->event, "%s arrived first",
                         wsdbg_say_warp(c, excess->first->warp).text);
    wsdbg_evidence_event(c, finding, excess->last->warp, excess->last->event, "%s arrived last",
                         wsdbg_say_warp(c, excess->last->warp).text);
    wsdbg_evidence_text(c, finding, "CUDA error %d ended the context", LAUNCH_FAILED);
}

void wsdbg_rule_fault(struct wsdbg_case *c)
{
    const uint32_t context = c->snapshot->grids[c->grid].context;
    if (c->snapshot->contexts[context].error != LAUNCH_FAILED)
        return;
    const struct excess excess = find_excess(c);
    if (excess.stage)
        say(c, &excess);
}
