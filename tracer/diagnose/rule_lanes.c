/* rule_lanes.c - a warp whose lanes wait apart: one wait began inside another.
 *
 * Reads: histories.  Adds: LANE_SPLIT.  Likely at most: each lane counts its own events, so a split warp's
 * record may be incomplete.
 */
#include "diagnose/rules.h"

static void judge(struct wsdbg_case *c, uint32_t warp)
{
    uint32_t count;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count), *open = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == WSDBG_EVENT_MBARRIER_WAIT_END)
            open = NULL;
        if (events[i].kind != WSDBG_EVENT_MBARRIER_WAIT_BEGIN)
            continue;
        if (open && WSDBG_SITE_LANE(open->value) != WSDBG_SITE_LANE(events[i].value) && i + 1 == count) {
            const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
            const enum wsdbg_confidence confidence = wsdbg_weaker(WSDBG_CONFIDENCE_LIKELY, wsdbg_if_stuck(c, warp));
            struct wsdbg_finding *finding =
                wsdbg_case_find(c, WSDBG_CAUSE_LANE_SPLIT, confidence, row->cta, row->barrier);
            if (!finding)
                return;
            finding->role = row->role;
            wsdbg_print(
                finding->sentence, sizeof finding->sentence,
                "The lanes of %s have split: lane %u began one wait%s and lane %u another%s before the first ended.",
                wsdbg_say_warp(c, warp).text, WSDBG_SITE_LANE(open->value), wsdbg_say_line(open).text,
                WSDBG_SITE_LANE(events[i].value), wsdbg_say_line(&events[i]).text);
            wsdbg_print(
                finding->fix, sizeof finding->fix,
                "Bring the lanes together (__syncwarp) after the elected lane's work, before any of them waits again.");
            wsdbg_evidence_event(c, finding, warp, open, "%u lanes", WSDBG_SITE_LANES(open->value));
            wsdbg_evidence_event(c, finding, warp, &events[i], "%u lanes", WSDBG_SITE_LANES(events[i].value));
        }
        open = &events[i];
    }
}

void wsdbg_rule_lanes(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_case_warp(c, w)->state == WSDBG_WARP_WAIT_MBARRIER)
            judge(c, w);
}
