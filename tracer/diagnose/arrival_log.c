/* arrival_log.c - see arrival_log.h.  Reads: histories, barrier words, who can arrive.  Writes: its own struct. */
#include "diagnose/arrival_log.h"

#include "diagnose/code_case.h"
#include "diagnose/ledger.h"

static bool is_whole(const struct wsdbg_case *c)
{
    for (uint32_t w = 0; w < c->warp_count; w++)
        if (!wsdbg_case_warp(c, w)->history_whole)
            return false;
    return true;
}

static bool is_on(const struct wsdbg_history_event *event, const struct wsdbg_history_event *wait)
{
    return event->barrier == wait->barrier && event->stage == wait->stage;
}

static uint64_t arrivals_of(const struct wsdbg_case *c, uint32_t warp, const struct wsdbg_history_event *wait)
{
    uint32_t count;
    uint64_t sum = 0;
    const struct wsdbg_history_event *events = wsdbg_case_events(c, warp, &count);
    for (uint32_t i = 0; i < count; i++)
        if (wsdbg_event_is_arrival(&events[i]) && is_on(&events[i], wait))
            sum += wsdbg_event_arrivals(&events[i]);
    return sum;
}

bool wsdbg_arrival_log_read(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                            struct wsdbg_arrival_log *log)
{
    const struct wsdbg_history_event *wait = wsdbg_code_recorded_wait(c, missing->warp);
    const struct wsdbg_cta *cta = &c->snapshot->ctas[wsdbg_case_warp(c, missing->warp)->cta];
    uint64_t sum = 0;
    bool differ = false;
    *log = (struct wsdbg_arrival_log){.each = 0};
    if (!wait || c->cta_count != 1 || cta->cluster_size > 1 || cta->warp_count != c->warp_count || !is_whole(c))
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const uint64_t count = arrivals_of(c, w, wait);
        if (!count)
            continue;
        wsdbg_set_add(&log->arrived, w);
        differ |= sum && log->each != count;
        log->each = count;
        sum += count;
    }
    log->each = differ ? 0 : log->each;
    return missing->word.phase == 0 && missing->made > 0 && sum == missing->made;
}

/* Exited warps that made none. */
static uint32_t exited_without(const struct wsdbg_case *c, const struct wsdbg_arrival_log *log)
{
    uint32_t count = 0;
    for (uint32_t w = 0; w < c->warp_count; w++)
        count += wsdbg_case_warp(c, w)->state == WSDBG_WARP_EXITED && !wsdbg_set_has(&log->arrived, w);
    return count;
}

/* Other lanes of the waiting warp could arrive.  The lanes that wait reach nothing before their wait ends. */
static bool other_lanes_could(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing)
{
    return missing->itself != WSDBG_CAN_NOT && wsdbg_case_warp(c, missing->warp)->part_count != 1;
}

bool wsdbg_arrival_log_has_all(const struct wsdbg_case *c, const struct wsdbg_missing_arrivals *missing,
                               const struct wsdbg_arrival_log *log)
{
    uint32_t again = 0;
    if (!log->each || missing->word.bytes != 0)
        return false;
    for (uint32_t w = 0; w < c->warp_count; w++) {
        const bool could = wsdbg_set_has(&missing->able, w) || wsdbg_set_has(&missing->past, w) ||
                           (w == missing->warp && other_lanes_could(c, missing));
        if (could && !wsdbg_set_has(&log->arrived, w))
            return false;
        again += wsdbg_set_has(&log->arrived, w) && wsdbg_code_arrives_anew(c, w, missing->word.barrier);
    }
    /* Whole warps could bring what is missing: some that exited, or some that arrived once and would do so again.  Of
     * those that exited each lane may be meant to arrive. */
    const uint32_t exited = exited_without(c, log), pending = missing->word.pending;
    return (pending % log->each != 0 || pending / log->each > again + exited) && pending != exited * WSDBG_WARP_THREADS;
}
