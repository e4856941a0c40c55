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

/* The arrivals of one phase that has more of them than it takes. */
struct excess {
    const struct wsdbg_stage *stage;
    uint32_t arrivals, bytes;
    const struct wsdbg_use *first, *last; /* by time */
    struct wsdbg_warp_set warps, with_bytes;
};

static void add_use(struct excess *excess, const struct wsdbg_use *use)
{
    if (wsdbg_event_is_expect(use->event))
        excess->bytes += use->event->value;
    if (!wsdbg_event_is_arrival(use->event))
        return;
    excess->arrivals += wsdbg_event_arrivals(use->event);
    wsdbg_set_add(&excess->warps, use->warp);
    if (wsdbg_event_is_expect(use->event))
        wsdbg_set_add(&excess->with_bytes, use->warp);
    if (!excess->first || use->event->gpu_time_ns < excess->first->event->gpu_time_ns)
        excess->first = use;
    if (!excess->last || use->event->gpu_time_ns >= excess->last->event->gpu_time_ns)
        excess->last = use;
}

/* The time from which on it is on record that no wait on the stage ended: so no phase of it that somebody waits for
 * did either.  UINT64_MAX where that is not known. */
static uint64_t open_since_ns(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    uint64_t since_ns = 0;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t count;
        const struct wsdbg_history_event *events = wsdbg_case_events(c, w, &count);
        if (wsdbg_case_warp(c, w)->cta != stage->cta || wsdbg_case_warp(c, w)->history_whole)
            continue;
        const uint64_t from_ns = count ? events[0].gpu_time_ns : UINT64_MAX;
        since_ns = from_ns > since_ns ? from_ns : since_ns;
    }
    for (uint32_t i = 0; i < stage->use_count; i++)
        if (uses[i].event->kind == WSDBG_EVENT_MBARRIER_WAIT_END && uses[i].event->gpu_time_ns > since_ns)
            since_ns = uses[i].event->gpu_time_ns;
    return since_ns;
}

/* The phase that was under way when the kernel died.  An arrival at the very time at which it began may belong to
 * the one before. */
static struct excess read_last_phase(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    struct excess excess = {.stage = stage};
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    const uint64_t since_ns = open_since_ns(c, stage);
    for (uint32_t i = 0; i < stage->use_count; i++)
        if (uses[i].event->gpu_time_ns > since_ns)
            add_use(&excess, &uses[i]);
    return excess;
}

/* By the author's iterations, or by counting, some round has too many arrivals. */
static bool some_round_is_overrun(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t k = 0; k < stage->use_count; k++) {
        uint32_t arrivals = 0;
        for (uint32_t i = 0; i < stage->use_count && uses[k].round != WSDBG_NONE; i++)
            arrivals += uses[i].round == uses[k].round ? wsdbg_event_arrivals(uses[i].event) : 0;
        if (arrivals > stage->init.value)
            return true;
    }
    return false;
}

static bool somebody_waits(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    for (uint32_t i = 0; i < c->ledger->stage_count; i++) {
        const struct wsdbg_stage *other = &c->ledger->stages[i];
        const struct wsdbg_use *uses = wsdbg_stage_uses(c, other);
        for (uint32_t k = 0; k < other->use_count && other->cta == stage->cta && other->id == stage->id; k++)
            if (uses[k].event->kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN ||
                uses[k].event->kind == WSDBG_EVENT_MBARRIER_WAIT_END)
                return true;
    }
    return false;
}

/* All there ever was on the stage is one round. */
static bool is_first_round(const struct wsdbg_case *c, const struct wsdbg_stage *stage)
{
    const struct wsdbg_use *uses = wsdbg_stage_uses(c, stage);
    for (uint32_t i = 0; i < stage->use_count; i++)
        if (uses[i].event->kind != WSDBG_EVENT_MBARRIER_INIT && uses[i].round != 0)
            return false;
    return true;
}

static bool is_waiter(const struct wsdbg_stage *stage, const struct wsdbg_warp_row *warp)
{
    return warp->cta == stage->cta && warp->role.known && warp->role.value < 32 &&
           stage->name->waiting_roles >> warp->role.value & 1;
}

/* Who is to wait is on record, and released nothing between the arrivals: with waits that have no probes the arrivals
 * would be of several phases, each let in by such a release. */
static bool nobody_came_to_wait(const struct wsdbg_case *c, const struct excess *excess)
{
    bool waiter_seen = false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        uint32_t count;
        const struct wsdbg_history_event *events = wsdbg_case_events(c, w, &count);
        if (!is_waiter(excess->stage, wsdbg_case_warp(c, w)))
            continue;
        waiter_seen = true;
        for (uint32_t i = 0; i < count; i++)
            if (wsdbg_event_is_arrival(&events[i]) && events[i].gpu_time_ns > excess->first->event->gpu_time_ns &&
                events[i].gpu_time_ns <= excess->last->event->gpu_time_ns)
                return false;
    }
    return waiter_seen;
}

/* That no wait ended says something only where waits have probes.  A kernel may die before anybody came to wait: then
 * the author's word that somebody will has to do. */
static bool waits_would_show(const struct wsdbg_case *c, const struct excess *excess)
{
    const struct wsdbg_stage *stage = excess->stage;
    return somebody_waits(c, stage) ||
           (stage->name && stage->name->waiting_roles && is_first_round(c, stage) && nobody_came_to_wait(c, excess));
}

/* Between two of its arrivals some warp came through a wait: that may have let it into the next phase, where the wait
 * that would show the end of this one has no probe. */
static bool somebody_came_round_again(const struct wsdbg_case *c, const struct excess *excess)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        bool arrived = false, waited = false;
        uint32_t count;
        const struct wsdbg_history_event *events = wsdbg_case_events(c, w, &count);
        for (uint32_t i = 0; i < count && wsdbg_set_has(&excess->warps, w); i++) {
            const struct wsdbg_history_event *event = &events[i];
            if (event->gpu_time_ns < excess->first->event->gpu_time_ns)
                continue;
            waited = waited || event->kind == WSDBG_EVENT_MBARRIER_WAIT_END;
            if (!wsdbg_event_is_arrival(event) || event->barrier != excess->stage->id ||
                event->stage != excess->stage->stage)
                continue;
            if (arrived && waited)
                return true;
            arrived = true;
            waited = false;
        }
    }
    return false;
}

/* Two signs that fail in different ways must agree: the author may count iterations in a way of their own, and who
 * waits for a phase may have no probes. */
static struct excess find_excess(const struct wsdbg_case *c)
{
    struct excess best = {0};
    for (uint32_t i = 0; i < c->ledger->stage_count; i++) {
        const struct wsdbg_stage *stage = &c->ledger->stages[i];
        if (!stage->init.known || stage->init_inferred || stage->initialised_again)
            continue;
        const struct excess excess = read_last_phase(c, stage);
        if (excess.arrivals <= stage->init.value || excess.bytes == 0 || !some_round_is_overrun(c, stage) ||
            !waits_would_show(c, &excess) || somebody_came_round_again(c, &excess))
            continue;
        if (!best.stage || excess.last->event->gpu_time_ns > best.last->event->gpu_time_ns)
            best = excess;
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
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s made %u arrivals on %s in %s%s, but it is initialised for %u. An extra arrival while the phase "
                "still waits for bytes is a fault.",
                wsdbg_say_warps(c, &excess->warps).text, excess->arrivals, wsdbg_say_stage(stage).text,
                excess->first->round != excess->last->round
                    ? "one phase"
                    : wsdbg_say_iteration(excess->last->event->iteration, excess->last->round).text,
                wsdbg_say_line(c, excess->last->event).text, stage->init.value);
    wsdbg_print(finding->fix, sizeof finding->fix,
                shared ? "Initialise %s for %u arrivals, or give each of these warps its own barrier."
                       : "Arrive on %s only as often as it is initialised for, or initialise it for %u arrivals.",
                wsdbg_say_barrier(stage).text, excess->arrivals);
    wsdbg_evidence_barrier(c, finding, stage->barrier, "%s is initialised for %u arrivals; %u were made in one phase",
                           wsdbg_say_stage(stage).text, stage->init.value, excess->arrivals);
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
