/* rule_named.c - named barriers whose participants do not add up, from the record of who came when.
 *
 * Reads: the wait graph, named events.  Adds: NAMED_COUNT, BLOCK_SYNC_IN_ROLE and the findings of
 * barrier_participation.c.
 */
#include "diagnose/outstanding.h"
#include "diagnose/barrier_participation.h"
#include "diagnose/rules.h"

/* What one CTA's warps do on one named barrier now. */
struct gathering {
    uint32_t id, cta;
    uint32_t waiter; /* the first warp that waits */
    struct wsdbg_warp_set waiting, others_counts;
    struct wsdbg_warp_set absent; /* live warps of the CTA that are not there */
    uint32_t count, other_count;  /* threads the instruction names; a second value if they differ */
    uint32_t arrivals;            /* whole records: threads that came since the barrier last opened */
    bool elsewhere;               /* a warp that used it before is not here now, and lives */
    bool user_exited;
    bool counts_changed; /* other threads were named before */
    uint32_t passed;     /* rounds that some warp has come through */
};

/* The warp's uses of the barrier as recorded. */
static struct wsdbg_barrier_executions read_executions(const struct wsdbg_case *c, uint32_t warp, struct gathering *g)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    struct wsdbg_barrier_executions executions = {.group = row->role.known ? row->role.value : WSDBG_NONE,
                                                  .place = WSDBG_NONE};
    uint32_t count, passed = 0;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = 0; i < count; i++) {
        passed += events[i].kind == WSDBG_EVENT_NAMED_SYNC_END && events[i].barrier == g->id;
        const bool arrives = events[i].kind == WSDBG_EVENT_NAMED_ARRIVE;
        if (events[i].barrier != g->id || (!arrives && events[i].kind != WSDBG_EVENT_NAMED_SYNC_BEGIN))
            continue;
        executions.least++;
        executions.arrives = executions.arrives || arrives;
        g->counts_changed = g->counts_changed || events[i].value != g->count;
    }
    g->passed = passed > g->passed ? passed : g->passed;
    executions.known = row->history_whole;
    executions.most = row->history_whole ? executions.least : WSDBG_MANY;
    return executions;
}

static struct gathering gather(const struct wsdbg_case *c, uint32_t waiter, struct wsdbg_barrier_participation *r)
{
    const struct wsdbg_warp_row *self = wsdbg_case_warp(c, waiter);
    struct gathering g = {.id = self->last.barrier, .cta = self->cta, .waiter = waiter, .count = self->last.value};
    *r = (struct wsdbg_barrier_participation){.cta = g.cta, .barrier = self->barrier, .id = g.id, .count = g.count};
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        if (row->cta != g.cta)
            continue;
        r->executions[w] = read_executions(c, w, &g);
        const bool uses = r->executions[w].least > 0;
        g.arrivals += r->executions[w].least * WSDBG_WARP_THREADS;
        if (row->state == WSDBG_WARP_WAIT_NAMED && row->last.barrier == g.id) {
            wsdbg_set_add(row->last.value == g.count ? &g.waiting : &g.others_counts, w);
            if (row->last.value != g.count)
                g.other_count = row->last.value;
            continue;
        }
        if (row->state != WSDBG_WARP_EXITED)
            wsdbg_set_add(&g.absent, w);
        g.elsewhere = g.elsewhere || (uses && row->state != WSDBG_WARP_EXITED);
        g.user_exited = g.user_exited || (uses && row->state == WSDBG_WARP_EXITED);
    }
    /* Who may come is known where the barrier's roles are; else anybody may. */
    const struct wsdbg_wait_node *node = &c->graph->nodes[waiter];
    r->more_to_come = node->open ? wsdbg_set_count(&g.absent) > 0 : wsdbg_set_meets(&node->wakers, &g.absent);
    r->waiting = g.waiting;
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

/* Never proven: two groups, each with its own total, may use one id by mistake. */
static void say_counts_differ(struct wsdbg_case *c, const struct gathering *g)
{
    struct wsdbg_finding *finding =
        begin(c, g, WSDBG_CAUSE_NAMED_COUNT, wsdbg_weaker(WSDBG_CONFIDENCE_LIKELY, wsdbg_if_stuck(c, g->waiter)));
    if (!finding)
        return;
    char others[160];
    wsdbg_print(others, sizeof others, "%s", wsdbg_say_warps(c, &g->others_counts).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait%s on named barrier %u for %u threads while %s wait%s on it for %u: all participants must use "
                "the same thread count.",
                wsdbg_say_warps(c, &g->waiting).text, wsdbg_set_count(&g->waiting) == 1 ? "s" : "", g->id, g->count,
                others, wsdbg_set_count(&g->others_counts) == 1 ? "s" : "", g->other_count);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Give every bar.sync and bar.arrive of the group the total number of threads that arrive and wait. "
                "Give unrelated groups different barrier ids.");
}

/* "; warp 1 exited without reaching it": such warps may have been meant to take part. */
static struct wsdbg_phrase say_gone(const struct wsdbg_case *c, const struct gathering *g)
{
    struct wsdbg_phrase phrase = {""};
    struct wsdbg_warp_set gone = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->cta == g->cta && wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED)
            wsdbg_set_add(&gone, w);
    if (wsdbg_set_count(&gone) > 0)
        wsdbg_print(phrase.text, sizeof phrase.text, "; %s exited without reaching it", wsdbg_say_warps(c, &gone).text);
    return phrase;
}

static void say_too_few(struct wsdbg_case *c, const struct gathering *g, uint32_t present)
{
    struct wsdbg_finding *finding = begin(c, g, WSDBG_CAUSE_NAMED_COUNT, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "Named barrier %u expects %u threads, but only %u take part (%s), and all of them have arrived%s.",
                g->id, g->count, present, wsdbg_say_warps(c, &g->waiting).text, say_gone(c, g).text);
    wsdbg_print(finding->fix, sizeof finding->fix, "Use the number of threads that actually arrive and wait.");
}

static void say_block_sync(struct wsdbg_case *c, const struct gathering *g)
{
    struct wsdbg_finding *finding = begin(c, g, WSDBG_CAUSE_BLOCK_SYNC_IN_ROLE, WSDBG_CONFIDENCE_LIKELY);
    if (!finding)
        return;
    const uint32_t absent = wsdbg_set_count(&g->absent);
    char who[160];
    wsdbg_print(who, sizeof who, "%s", wsdbg_say_warps(c, &g->waiting).text);
    wsdbg_print(finding->sentence, sizeof finding->sentence, "%s wait%s at a block-wide barrier of %u threads that %s.",
                who, wsdbg_set_count(&g->waiting) == 1 ? "s" : "", g->count,
                absent ? "the other warps cannot reach: they wait for something that happens only after the barrier"
                       : "the other warps did not reach before they exited");
    wsdbg_print(finding->fix, sizeof finding->fix,
                "A block-wide barrier in the branch of one role never completes: use a named barrier with the role's "
                "thread count.");
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(&g->absent, w))
            wsdbg_evidence_warp(c, finding, w, "%s has not arrived", wsdbg_say_warp(c, w).text);
}

static void judge_block_sync(struct wsdbg_case *c, const struct gathering *g)
{
    struct wsdbg_warp_set outstanding;
    if (wsdbg_set_count(&g->absent) == 0 || wsdbg_all_wait_for(c, &g->absent, &g->waiting, &outstanding))
        say_block_sync(c, g);
}

static void judge_named(struct wsdbg_case *c, uint32_t waiter)
{
    struct wsdbg_barrier_participation r;
    const struct gathering g = gather(c, waiter, &r);
    if (wsdbg_first_of(&g.waiting) != waiter)
        return;
    if (wsdbg_set_count(&g.others_counts) > 0) {
        if (waiter < wsdbg_first_of(&g.others_counts))
            say_counts_differ(c, &g);
        return;
    }
    if (g.count == 0 || !c->all_whole || !wsdbg_case_stuck(c, waiter))
        return;
    /* Rounds that ended took more arrivals than are on record: not every instruction has its probe. */
    if (g.arrivals / g.count < g.passed)
        return;
    if (!g.counts_changed && wsdbg_judge_barrier_participation(c, &r, WSDBG_CONFIDENCE_LIKELY))
        return;
    /* What came since the barrier last opened: it opens each time `count` threads are there. */
    const uint32_t present = g.arrivals % g.count;
    if (g.user_exited || present != wsdbg_set_count(&g.waiting) * WSDBG_WARP_THREADS)
        return;
    if (g.id == 0 && g.count == c->snapshot->grids[c->grid].warps_per_cta * WSDBG_WARP_THREADS)
        judge_block_sync(c, &g);
    else if (!r.more_to_come && !g.elsewhere)
        say_too_few(c, &g, present);
}

void wsdbg_rule_named(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_WAIT_NAMED)
            judge_named(c, w);
}
