/* rule_named.c - named barriers and the cluster barrier: participants that do not add up.
 *
 * Reads: the wait graph, named and cluster events.  Adds: NAMED_COUNT, BLOCK_SYNC_IN_ROLE, CLUSTER_MISSING.
 */
#include "diagnose/code_say.h"
#include "diagnose/rules.h"

#define WARP_THREADS 32u

/* What one CTA's warps do on one named barrier now. */
struct gathering {
    uint32_t id, cta;
    uint32_t waiter; /* the first warp that waits */
    struct wsdbg_warp_set waiting, others_counts;
    uint32_t count, other_count; /* threads the instruction names; a second value if they differ */
    uint32_t arrivals;           /* whole records: threads that came since the barrier last opened */
    bool elsewhere;              /* a warp that used it before is not here now, and lives */
    bool user_exited;
};

static void read_use(const struct wsdbg_case *c, uint32_t warp, uint32_t id, uint32_t *arrived, bool *uses)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    *arrived = 0;
    *uses = false;
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].barrier != id)
            continue;
        if (events[i].kind == WSDBG_EVENT_NAMED_ARRIVE || events[i].kind == WSDBG_EVENT_NAMED_SYNC_BEGIN) {
            *arrived += WARP_THREADS;
            *uses = true;
        }
    }
}

static struct gathering gather(const struct wsdbg_case *c, uint32_t waiter)
{
    const struct wsdbg_warp_row *self = wsdbg_case_warp(c, waiter);
    struct gathering g = {.id = self->last.barrier, .cta = self->cta, .waiter = waiter, .count = self->last.value};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        uint32_t arrived;
        bool uses;
        if (row->cta != g.cta)
            continue;
        read_use(c, w, g.id, &arrived, &uses);
        g.arrivals += arrived;
        if (row->state == WSDBG_WARP_WAIT_NAMED && row->last.barrier == g.id) {
            wsdbg_set_add(row->last.value == g.count ? &g.waiting : &g.others_counts, w);
            if (row->last.value != g.count)
                g.other_count = row->last.value;
        } else if (uses) {
            g.elsewhere = g.elsewhere || row->state != WSDBG_WARP_EXITED;
            g.user_exited = g.user_exited || row->state == WSDBG_WARP_EXITED;
        }
    }
    return g;
}

static struct wsdbg_finding *begin(struct wsdbg_case *c, const struct gathering *g, enum wsdbg_cause cause,
                                   enum wsdbg_confidence confidence)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, g->waiter);
    struct wsdbg_finding *finding = wsdbg_case_find(c, cause, confidence, g->cta, row->barrier);
    if (!finding)
        return NULL;
    finding->role = row->role;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&g->waiting, w) || wsdbg_set_has(&g->others_counts, w))
            wsdbg_evidence_warp(c, finding, w, "%s waits on named barrier %u for %u threads", wsdbg_say_warp(c, w).text,
                                g->id, wsdbg_case_warp(c, w)->last.value);
    return finding;
}

static void say_counts_differ(struct wsdbg_case *c, const struct gathering *g)
{
    struct wsdbg_finding *finding = begin(c, g, WSDBG_CAUSE_NAMED_COUNT, wsdbg_if_stuck(c, g->waiter));
    if (!finding)
        return;
    char others[160];
    wsdbg_print(others, sizeof others, "%s", wsdbg_say_warps(c, &g->others_counts).text);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s wait%s on named barrier %u for %u threads while %s wait%s on it for %u: all that take part must name the "
        "same total.",
        wsdbg_say_warps(c, &g->waiting).text, wsdbg_set_count(&g->waiting) == 1 ? "s" : "", g->id, g->count, others,
        wsdbg_set_count(&g->others_counts) == 1 ? "s" : "", g->other_count);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Give every bar.sync and bar.arrive of the group the total number of threads, arriving and waiting ones.");
}

static void say_too_few(struct wsdbg_case *c, const struct gathering *g, uint32_t present)
{
    const bool block = g->id == 0 && g->count == c->snapshot->grids[c->grid].warps_per_cta * WARP_THREADS;
    struct wsdbg_finding *finding =
        begin(c, g, block ? WSDBG_CAUSE_BLOCK_SYNC_IN_ROLE : WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Named barrier %u waits for %u threads, but only %u take part (%s) and all of them are there.", g->id,
                g->count, present, wsdbg_say_warps(c, &g->waiting).text);
    wsdbg_print(
        finding->fix, sizeof finding->fix, "%s",
        block ? "A block-wide sync inside one role's branch never completes: use a named barrier with the role's count."
              : "Name the number of threads that really arrive and wait.");
}

static void judge_named(struct wsdbg_case *c, uint32_t waiter)
{
    const struct gathering g = gather(c, waiter);
    if (wsdbg_first_of(&g.waiting) != waiter)
        return;
    if (wsdbg_set_count(&g.others_counts) > 0) {
        if (waiter < wsdbg_first_of(&g.others_counts))
            say_counts_differ(c, &g);
        return;
    }
    /* What came since the barrier last opened: it opens each time `count` threads are there. */
    if (g.count == 0 || !c->all_whole || !wsdbg_case_stuck(c, waiter) || g.elsewhere || g.user_exited)
        return;
    const uint32_t present = g.arrivals % g.count;
    if (present == wsdbg_set_count(&g.waiting) * WARP_THREADS)
        say_too_few(c, &g, present);
}

/* Some warp that is missing waits for one that stands at the cluster barrier. */
static bool goes_round(const struct wsdbg_case *c, const struct wsdbg_warp_set *waiting,
                       const struct wsdbg_warp_set *absent)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(absent, w) && wsdbg_set_meets(&c->graph->nodes[w].wakers, waiting))
            return true;
    return false;
}

void wsdbg_rule_cluster(struct wsdbg_case *c)
{
    struct wsdbg_warp_set waiting = {{0}}, absent = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const enum wsdbg_warp_state state = wsdbg_case_warp(c, w)->state;
        if (state == WSDBG_WARP_WAIT_CLUSTER && wsdbg_case_stuck(c, w))
            wsdbg_set_add(&waiting, w);
        else if (state != WSDBG_WARP_EXITED && state != WSDBG_WARP_WAIT_CLUSTER)
            wsdbg_set_add(&absent, w);
    }
    const uint32_t waiter = wsdbg_first_of(&waiting), missing = wsdbg_first_of(&absent);
    if (waiter == WSDBG_NONE || missing == WSDBG_NONE || (c->of_machine && !goes_round(c, &waiting, &absent)))
        return;
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, waiter);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_CLUSTER_MISSING, WSDBG_CONFIDENCE_LIKELY, row->cta, row->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_case_warp(c, missing)->role;
    char who[160];
    wsdbg_print(who, sizeof who, "%s", wsdbg_say_warps(c, &waiting).text);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "%s wait%s at the cluster barrier for %s, which cannot come: it waits itself for what only those could do.",
        who, wsdbg_set_count(&waiting) == 1 ? "s" : "", wsdbg_say_warps(c, &absent).text);
    wsdbg_print(
        finding->fix, sizeof finding->fix,
        "Every thread of every CTA of the cluster must reach the cluster barrier the same number of times; keep it "
        "out of a single role's branch.");
    wsdbg_evidence_warp(c, finding, waiter, "%s waits at the cluster barrier", wsdbg_say_warp(c, waiter).text);
    wsdbg_evidence_warp(c, finding, missing, "%s is not there", wsdbg_say_warp(c, missing).text);
    if (c->of_machine)
        wsdbg_tell_wait(c, finding, missing);
}

void wsdbg_rule_named(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_WAIT_NAMED)
            judge_named(c, w);
    wsdbg_rule_cluster(c);
}
