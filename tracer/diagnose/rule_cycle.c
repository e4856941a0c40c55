/* rule_cycle.c - what is left to say when no rule knows the cause.
 *
 * Reads: the wait graph.  Adds: WAIT_CYCLE (stuck in a ring), SLOW (nobody is stuck, and movement was seen), UNKNOWN.
 */
#include "diagnose/code_case.h"
#include "diagnose/code_say.h"
#include "diagnose/rules.h"

static struct wsdbg_warp_set stuck_warps(const struct wsdbg_case *c)
{
    struct wsdbg_warp_set set = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_stuck(c, w))
            wsdbg_set_add(&set, w);
    return set;
}

/* The first ring of stuck warps that waits for nobody else, and its members: one that does is a consequence. */
static uint32_t find_ring(const struct wsdbg_case *c, struct wsdbg_warp_set *members)
{
    uint32_t first = WSDBG_NONE;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_wait_node *node = &c->graph->nodes[w];
        if (!node->in_cycle || !node->at_root || node->may_progress)
            continue;
        if (first == WSDBG_NONE)
            first = w;
        if (node->component == c->graph->nodes[first].component)
            wsdbg_set_add(members, w);
    }
    return first;
}

/* The first stuck warp whose wait leads to no other live warp. */
static uint32_t find_root(const struct wsdbg_case *c, const struct wsdbg_warp_set *stuck)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(stuck, w) && c->graph->nodes[w].at_root)
            return w;
    return wsdbg_first_of(stuck);
}

/* The waits that lead to the root, nearest ones first: who waits for whom. */
static void say_chain(struct wsdbg_case *c, struct wsdbg_finding *finding, const struct wsdbg_warp_set *root)
{
    for (uint32_t component = 0; component < c->graph->component_count; component++)
        for (uint32_t w = 0; w < c->warp_count; w++) {
            const struct wsdbg_wait_node *node = &c->graph->nodes[w];
            const struct wsdbg_warp_set wakers = wsdbg_live_wakers(c, w);
            if (node->component != component || !wsdbg_case_stuck(c, w) || wsdbg_set_has(root, w) ||
                wsdbg_set_count(&wakers) == 0)
                continue;
            char waiter[160];
            wsdbg_print(waiter, sizeof waiter, "%s", wsdbg_say_warp(c, w).text);
            wsdbg_evidence_warp(c, finding, w, "%s waits for %s", waiter, wsdbg_say_warps(c, &wakers).text);
        }
}

/* Likely, never proven: the ring is certain, but some wait in it has a cause that is not seen. */
static void say_cycle(struct wsdbg_case *c, uint32_t first, const struct wsdbg_warp_set *members)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, first);
    const enum wsdbg_confidence confidence =
        c->of_machine ? wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY) : WSDBG_CONFIDENCE_LIKELY;
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_WAIT_CYCLE, confidence, row->cta, row->barrier);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s wait for one another in a cycle, and no other warp can break it; which of these waits is wrong is "
                "not known.",
                wsdbg_say_warps(c, members).text);
    if (c->of_machine)
        wsdbg_print(finding->fix, sizeof finding->fix,
                    "Look for an arrival or copy that a path skips, or that must come before its warp's own wait. To "
                    "list those that would end these waits: wsdbg query @wakers");
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_set_has(members, w))
            wsdbg_tell_wait(c, finding, w);
    say_chain(c, finding, members);
    wsdbg_tell_followed(c, finding);
}

static void say_unknown(struct wsdbg_case *c, uint32_t first, enum wsdbg_confidence confidence)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, first);
    struct wsdbg_finding *finding = wsdbg_case_find(
        c, WSDBG_CAUSE_UNKNOWN, c->of_machine ? wsdbg_code_cap(c, confidence) : confidence, row->cta, row->barrier);
    if (!finding)
        return;
    wsdbg_print(finding->sentence, sizeof finding->sentence, "%s %s%s%s; the cause is not known.",
                wsdbg_say_warp(c, first).text, wsdbg_say_wait(c, first).text, wsdbg_say_at(c, first).text,
                confidence == WSDBG_CONFIDENCE_LIKELY ? ", and no warp that was seen can end this" : "");
    struct wsdbg_warp_set root = {{0}};
    wsdbg_set_add(&root, first);
    wsdbg_tell_wait(c, finding, first);
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (c->graph->nodes[w].waits && w != first)
            wsdbg_tell_wait(c, finding, w);
    say_chain(c, finding, &root);
    wsdbg_tell_followed(c, finding);
}

/* Outside of any wait, or in one that the hardware ends. */
static bool goes_on(const struct wsdbg_case *c, uint32_t warp)
{
    const enum wsdbg_warp_state state = wsdbg_case_warp(c, warp)->state;
    const bool by_hardware = state == WSDBG_WARP_WAIT_WGMMA || state == WSDBG_WARP_WAIT_BULK;
    return state == WSDBG_WARP_RUNNING || wsdbg_case_warp(c, warp)->unmoved ||
           (c->of_machine && by_hardware && c->graph->nodes[warp].outside);
}

/* Those that moved, or may have; of some it may be known that they did not. */
static struct wsdbg_warp_set those_that_run(const struct wsdbg_case *c, const struct wsdbg_warp_set *runners)
{
    struct wsdbg_warp_set run = *runners;
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->unmoved)
            wsdbg_set_remove(&run, w);
    return run;
}

/* A kernel without probes of its own may be polling. */
static bool may_poll(const struct wsdbg_case *c)
{
    return c->snapshot->names_inferred && !c->of_machine;
}

static struct wsdbg_phrase say_since(const struct wsdbg_case *c, uint32_t warp)
{
    struct wsdbg_phrase phrase = {""};
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    if (row->last.kind != WSDBG_EVENT_NONE && row->changed_ns && c->snapshot->time_ns > row->changed_ns)
        wsdbg_print(phrase.text, sizeof phrase.text, " for %.1f s since its last event (%s)",
                    (double)(c->snapshot->time_ns - row->changed_ns) / 1e9, wsdbg_event_kind_name(row->last.kind));
    return phrase;
}

static void say_slow(struct wsdbg_case *c, const struct wsdbg_warp_set *runners)
{
    const uint32_t runner = wsdbg_first_of(runners);
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, runner);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_SLOW, WSDBG_CONFIDENCE_POSSIBLE, row->cta, WSDBG_NONE);
    if (!finding)
        return;
    /* Movement makes all else less sure, not this. */
    finding->confidence = may_poll(c) ? WSDBG_CONFIDENCE_POSSIBLE : WSDBG_CONFIDENCE_LIKELY;
    finding->role = row->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "No deadlock seen: %s is running%s%s, and every wait leads to a running warp (%s)%s.",
                wsdbg_say_warp(c, runner).text, c->of_machine ? wsdbg_say_at(c, runner).text : "",
                say_since(c, runner).text, wsdbg_say_warps(c, runners).text,
                may_poll(c) ? "; its events do not show whether it computes or polls memory" : "");
    wsdbg_evidence_warp(c, finding, runner, "%s is running", wsdbg_say_warp(c, runner).text);
}

/* Why nothing is said of whether it moves. */
static const char *say_unseen(const struct wsdbg_case *c)
{
    if (!c->of_machine)
        return may_poll(c) ? "its events do not show whether it computes or polls memory"
                           : "its record does not show whether it moves";
    return wsdbg_case_looked_twice(c) ? "it was not seen to move between two looks, and the cause is not known"
                                      : "one picture does not show whether it moves";
}

/* No wait is known to be for ever, and nothing was seen to move. */
static void say_open(struct wsdbg_case *c, const struct wsdbg_warp_set *runners)
{
    const uint32_t runner = wsdbg_first_of(runners);
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, runner);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_UNKNOWN, WSDBG_CONFIDENCE_POSSIBLE, row->cta, WSDBG_NONE);
    if (!finding)
        return;
    finding->open = true;
    finding->role = row->role;
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "No deadlock seen: %s is%s in no wait that another warp must end%s, and every wait leads to such a "
                "warp (%s); %s.",
                wsdbg_say_warp(c, runner).text, c->of_machine ? wsdbg_say_at(c, runner).text : "",
                say_since(c, runner).text, wsdbg_say_warps(c, runners).text, say_unseen(c));
    wsdbg_evidence_warp(c, finding, runner, "%s stands%s", wsdbg_say_warp(c, runner).text,
                        wsdbg_say_at(c, runner).text);
}

/* For a GPU whose code is not understood: only where a warp is is known.  A warp that moves may work, or go round a
 * loop that waits. */
static void say_place_alone(struct wsdbg_case *c)
{
    uint32_t warp = 0;
    while (warp < c->warp_count && wsdbg_case_warp(c, warp)->state == WSDBG_WARP_EXITED)
        warp++;
    if (warp == c->warp_count || c->finding_count)
        return;
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    struct wsdbg_finding *finding =
        wsdbg_case_find(c, WSDBG_CAUSE_UNKNOWN, WSDBG_CONFIDENCE_POSSIBLE, row->cta, WSDBG_NONE);
    if (!finding)
        return;
    const bool moved = row->state == WSDBG_WARP_RUNNING && wsdbg_case_saw_movement(c);
    finding->open = !moved;
    wsdbg_print(finding->sentence, sizeof finding->sentence, "%s %s%s; %s: " WSDBG_CAUSES_KNOWN ".",
                wsdbg_say_warp(c, warp).text, moved ? "moves" : "stands", wsdbg_say_at(c, warp).text,
                moved ? "whether it works or goes round a loop that waits is not known"
                      : "whether it waits, and for what, is not known");
}

static void say_runners(struct wsdbg_case *c, const struct wsdbg_warp_set *runners)
{
    const struct wsdbg_warp_set run = those_that_run(c, runners);
    if (wsdbg_case_saw_movement(c) && wsdbg_set_count(&run) > 0)
        say_slow(c, &run);
    else
        say_open(c, runners);
}

bool wsdbg_case_explained(const struct wsdbg_case *c)
{
    for (size_t i = 0; i < c->finding_count; i++)
        if (c->findings[i].confidence >= WSDBG_CONFIDENCE_LIKELY)
            return true;
    return false;
}

void wsdbg_rule_cycle(struct wsdbg_case *c)
{
    if (wsdbg_case_explained(c))
        return;
    if (c->of_machine && !wsdbg_causes_are_known(c->snapshot, &c->snapshot->grids[c->grid])) {
        say_place_alone(c);
        return;
    }
    struct wsdbg_warp_set ring = {{0}}, runners = {{0}};
    const struct wsdbg_warp_set stuck = stuck_warps(c);
    uint32_t waiter = WSDBG_NONE;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        if (goes_on(c, w))
            wsdbg_set_add(&runners, w);
        if (c->graph->nodes[w].waits && waiter == WSDBG_NONE)
            waiter = w;
    }
    const uint32_t first = find_ring(c, &ring);
    if (first != WSDBG_NONE)
        say_cycle(c, first, &ring);
    else if (wsdbg_set_count(&stuck) > 0)
        say_unknown(c, find_root(c, &stuck), WSDBG_CONFIDENCE_LIKELY);
    else if (wsdbg_set_count(&runners) > 0)
        say_runners(c, &runners);
    else if (waiter != WSDBG_NONE && c->finding_count == 0)
        say_unknown(c, waiter, WSDBG_CONFIDENCE_POSSIBLE);
}
