/* rule_code_dropped.c - a wait on an mbarrier that all threads have left by mbarrier.arrive_drop.
 *
 * Reads: barrier words, accesses, reaches.  Adds: WAKER_EXITED.
 *
 * arrive_drop makes an arrival and lowers the count of all later phases by one.  When the last thread has left so, the
 * word keeps the phase bit alone: no arrival is pending, and none is expected.  Nobody can complete another phase.  A
 * word of zeros may also be one that was never initialised, so an initialisation must then be known to have run.
 */
#include "diagnose/code_say.h"
#include "diagnose/dropped.h"
#include "diagnose/rules.h"

#define PHASE_BIT (UINT64_C(1) << 63)

/* Whether some warp is known to have executed an initialisation of this very barrier. */
static bool was_initialised(const struct wsdbg_case *c, uint32_t barrier)
{
    for (uint32_t i = 0; i < c->snapshot->access_count; i++) {
        const struct wsdbg_access_row *row = &c->snapshot->accesses[i];
        for (uint32_t w = 0; w < c->warp_count && row->grid == c->grid && row->kind == WSDBG_ACCESS_INIT; w++) {
            const struct wsdbg_reach *reach = wsdbg_code_reach(c, w, i);
            if (wsdbg_case_warp(c, w)->cta == c->snapshot->barriers[barrier].cta &&
                wsdbg_access_match(c, row, barrier) == WSDBG_MATCH_ONE && reach && reach->before_known &&
                reach->before_least > 0)
                return true;
        }
    }
    return false;
}

/* The warps that can have left the barrier. */
static struct wsdbg_warp_set leavers_of(const struct wsdbg_case *c, uint32_t barrier)
{
    struct wsdbg_warp_set by = {{0}};
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (wsdbg_code_could(c, w, WSDBG_KIND(WSDBG_ACCESS_DROP), barrier) != WSDBG_CAN_NOT)
            wsdbg_set_add(&by, w);
    return by;
}

bool wsdbg_is_dropped(const struct wsdbg_case *c, uint32_t barrier, struct wsdbg_warp_set *by)
{
    const struct wsdbg_barrier *row = barrier < c->snapshot->barrier_count ? &c->snapshot->barriers[barrier] : NULL;
    if (!row || row->kind != WSDBG_BARRIER_MBARRIER || !row->word.known || row->word.value & ~PHASE_BIT)
        return false;
    *by = leavers_of(c, barrier);
    return wsdbg_set_count(by) > 0 && (row->word.value & PHASE_BIT ? wsdbg_code_has(c, WSDBG_KIND(WSDBG_ACCESS_INIT),
                                                                                    barrier, NULL) >= WSDBG_MATCH_MAY
                                                                   : was_initialised(c, barrier));
}

static void say(struct wsdbg_case *c, uint32_t warp, const struct wsdbg_warp_set *by)
{
    const struct wsdbg_warp_row *row = wsdbg_case_warp(c, warp);
    struct wsdbg_finding *finding = wsdbg_case_find(c, WSDBG_CAUSE_WAKER_EXITED,
                                                    wsdbg_code_cap(c, WSDBG_CONFIDENCE_LIKELY), row->cta, row->barrier);
    if (!finding)
        return;
    finding->role = wsdbg_common_role(c, by);
    wsdbg_print(finding->sentence, sizeof finding->sentence,
                "%s waits on %s%s, but all threads that arrive there have left it by mbarrier.arrive_drop (%s): it "
                "expects no arrival any more, so no phase of it ever completes.",
                wsdbg_say_warp(c, warp).text, wsdbg_say_object(c, row->barrier).text, wsdbg_say_at(c, warp).text,
                wsdbg_say_warps(c, by).text);
    wsdbg_print(finding->fix, sizeof finding->fix,
                "Let %s learn that the others are leaving before the last of them drops out of %s, and not wait for "
                "another phase.",
                wsdbg_say_warp(c, warp).text, wsdbg_say_family(c, row->barrier).text);
    wsdbg_tell_wait(c, finding, warp);
    wsdbg_evidence_barrier(c, finding, row->barrier, "%s holds 0x%016llx: 0 of 0 arrivals are missing",
                           wsdbg_say_object(c, row->barrier).text,
                           (unsigned long long)c->snapshot->barriers[row->barrier].word.value);
}

void wsdbg_rule_code_dropped(struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const struct wsdbg_warp_row *row = wsdbg_case_warp(c, w);
        struct wsdbg_warp_set by;
        if (row->state == WSDBG_WARP_WAIT_MBARRIER && wsdbg_is_dropped(c, row->barrier, &by))
            say(c, w, &by);
    }
}
