/* rule_lanes.c - a warp whose lanes wait apart: one wait began inside another, or some lanes wait for what others of
 * their warp have seen end.
 *
 * Reads: histories.  Adds: LANE_SPLIT.  Likely at most: each lane counts its own events, so a split warp's
 * record may be incomplete.
 */
#include "diagnose/rules.h"

#define WARP_LANES 32u

static void tell_lanes(struct wsdbg_case *c, struct wsdbg_finding *finding, uint32_t warp,
                       const struct wsdbg_history_event *event)
{
    const uint32_t lanes = WSDBG_SITE_LANES(event->value);
    wsdbg_evidence_event(c, finding, warp, event, "%u lane%s of %s%s", lanes, lanes == 1 ? "" : "s",
                         wsdbg_say_warp(c, warp).text, wsdbg_say_line(c, event).text);
}

static struct wsdbg_finding *begin(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_history_event *other,
                                   const struct wsdbg_history_event *wait)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    const enum wsdbg_confidence confidence = wsdbg_weaker(WSDBG_CONFIDENCE_LIKELY, wsdbg_if_stuck(c, warp));
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_LANE_SPLIT, confidence, row->cta, row->barrier);
    if (!finding)
        return NULL;
    finding->role = row->role;
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Reconverge the warp (__syncwarp) after the elected lane's work, before any lane waits again.");
    tell_lanes(c, finding, warp, other);
    tell_lanes(c, finding, warp, wait);
    return finding;
}

/* Of each event only the first lane and the number of lanes are known.  If these numbers add up to more than a warp
 * has, some lane is of both. */
static bool of_other_lanes(const struct wsdbg_history_event *a, const struct wsdbg_history_event *b)
{
    return WSDBG_SITE_LANE(a->value) != WSDBG_SITE_LANE(b->value) &&
           WSDBG_SITE_LANES(a->value) + WSDBG_SITE_LANES(b->value) <= WARP_LANES;
}

/* The wait on the same barrier that other lanes had begun, and not ended, when the warp's last one began.  Lanes that
 * wait on different barriers may each be meant to. */
static const struct wsdbg_history_event *wait_around(const struct wsdbg_history_event *events, uint32_t count)
{
    const struct wsdbg_history_event *open = NULL;
    for (uint32_t i = 0; i + 1 < count; i++) {
        if (events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_END)
            open = NULL;
        if (events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_BEGIN)
            open = &events[i];
    }
    const struct wsdbg_history_event *wait = &events[count - 1];
    return open && open->barrier == wait->barrier && of_other_lanes(open, wait) ? open : NULL;
}

static void say_inside(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_history_event *open,
                       const struct wsdbg_history_event *wait)
{
    struct wsdbg_finding *finding = begin(c, warp, open, wait);
    if (finding)
        wsdbg_print(finding->sentence, sizeof finding->sentence,
                    "The lanes of %s have diverged: lane %u began a wait%s, and lane %u began another%s before the "
                    "first ended.",
                    wsdbg_say_warp(c, warp).text, WSDBG_SITE_LANE(open->value), wsdbg_say_line(c, open).text,
                    WSDBG_SITE_LANE(wait->value), wsdbg_say_line(c, wait).text);
}

/* The furthest wait on the same barrier that other lanes have seen end, where it is not before the one that `wait` is.
 */
static const struct wsdbg_history_event *end_seen_by_others(const struct wsdbg_history_event *events, uint32_t count)
{
    const struct wsdbg_history_event *wait = &events[count - 1], *furthest = NULL;
    for (uint32_t i = 0; i + 1 < count && wait->iteration != WSDBG_NO_ITERATION; i++)
        if (events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_END && events[i].barrier == wait->barrier &&
            events[i].iteration != WSDBG_NO_ITERATION && events[i].iteration >= wait->iteration &&
            of_other_lanes(&events[i], wait) && (!furthest || events[i].iteration > furthest->iteration))
            furthest = &events[i];
    return furthest;
}

static void say_behind(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_history_event *end,
                       const struct wsdbg_history_event *wait)
{
    struct wsdbg_finding *finding = begin(c, warp, end, wait);
    if (!finding)
        return;
    const struct wsdbg_phrase line = wsdbg_say_line(c, wait);
    wsdbg_print(
        finding->sentence, sizeof finding->sentence,
        "The lanes of %s have diverged: lane %u has reached iteration %u%s, but lane %u and the lanes with it still "
        "wait for iteration %u%s. They tested the parity too late: the phase they wait for has already passed.",
        wsdbg_say_warp(c, warp).text, WSDBG_SITE_LANE(end->value), end->iteration, wsdbg_say_line(c, end).text,
        WSDBG_SITE_LANE(wait->value), wait->iteration, line.text);
}

static void judge(struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    if (count == 0 || events[count - 1].kind != WSDBG_EVENT_MBARRIER_WAIT_BEGIN)
        return;
    const struct wsdbg_history_event *wait = &events[count - 1];
    const struct wsdbg_history_event *open = wait_around(events, count), *end = end_seen_by_others(events, count);
    if (end && WSDBG_SITE_LANES(wait->value) < WARP_LANES)
        say_behind(c, warp, end, wait);
    else if (open)
        say_inside(c, warp, open, wait);
}

void wsdbg_rule_lanes(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_WAIT_MBARRIER)
            judge(c, w);
}
