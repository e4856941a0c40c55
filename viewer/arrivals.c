/* arrivals.c - see arrivals.h. */
#include "viewer/arrivals.h"

#include <stdlib.h>

#define LOOK_BACK 2048u
#define PIECE 64u /* events read at once */

/* Does an event on a barrier's id reach the one in CTA `to`?  same: it is the event's own CTA. */
static bool reaches(const struct wsdbg_history_event *event, const struct wsdbg_cta *to, bool same)
{
    uint32_t target = 0;
    if (event->kind == WSDBG_EVENT_MBARRIER_ARRIVE)
        target = WSDBG_SITE_TARGET(event->value);
    if (event->kind == WSDBG_EVENT_TMA_ISSUE && WSDBG_TMA_MULTICAST(event->value) != 0)
        return WSDBG_TMA_MULTICAST(event->value) >> (to->cluster_rank & 31u) & 1u;
    return target == 0 ? same : target - 1 == to->cluster_rank;
}

static bool arrives(const struct wsdbg_history_event *event, const struct wsdbg_barrier *barrier)
{
    switch (event->kind) {
    case WSDBG_EVENT_MBARRIER_ARRIVE:
    case WSDBG_EVENT_MBARRIER_ARRIVE_EXPECT_TX:
    case WSDBG_EVENT_TMA_ISSUE:
        return barrier->kind == WSDBG_BARRIER_MBARRIER && event->barrier == barrier->id &&
               event->stage == barrier->stage;
    case WSDBG_EVENT_NAMED_ARRIVE:
    case WSDBG_EVENT_NAMED_SYNC_BEGIN:
        return barrier->kind == WSDBG_BARRIER_NAMED && event->barrier == barrier->id;
    case WSDBG_EVENT_CLUSTER_ARRIVE:
        return barrier->kind == WSDBG_BARRIER_CLUSTER;
    default:
        return false;
    }
}

static bool newest_of(struct viewer_source *source, const struct wsdbg_snapshot *s, uint32_t warp, uint32_t barrier,
                      struct viewer_arrival *out)
{
    const struct wsdbg_barrier *b = &s->barriers[barrier];
    const struct wsdbg_cta *to = &s->ctas[b->cta];
    const bool same = s->warps[warp].cta == b->cta || b->kind == WSDBG_BARRIER_CLUSTER;
    const uint32_t count = source->ops->event_count(source, warp);
    const uint32_t oldest = count > LOOK_BACK ? count - LOOK_BACK : 0;
    struct wsdbg_history_event events[PIECE];
    for (uint32_t end = count; end > oldest;) {
        const uint32_t first = end - oldest > PIECE ? end - PIECE : oldest;
        const uint32_t got = source->ops->events(source, warp, first, end - first, events);
        for (uint32_t i = got; i-- > 0;)
            if (arrives(&events[i], b) && reaches(&events[i], to, same)) {
                *out = (struct viewer_arrival){warp, events[i]};
                return true;
            }
        end = first;
    }
    return false;
}

static int newest_first(const void *left, const void *right)
{
    const struct viewer_arrival *a = left, *b = right;
    if (a->event.gpu_time_ns != b->event.gpu_time_ns)
        return a->event.gpu_time_ns > b->event.gpu_time_ns ? -1 : 1;
    return (a->warp > b->warp) - (a->warp < b->warp);
}

size_t viewer_arrivals_read(struct viewer_source *source, const struct wsdbg_snapshot *s, uint32_t barrier,
                            struct viewer_arrival *out, size_t capacity)
{
    const struct wsdbg_cta *home = &s->ctas[s->barriers[barrier].cta];
    const struct wsdbg_grid *grid = &s->grids[home->grid];
    size_t count = 0;
    if (!source->ops->event_count || !source->ops->events)
        return 0;
    for (uint32_t c = grid->cta_first; c < grid->cta_first + grid->cta_count && c < s->cta_count; c++) {
        const struct wsdbg_cta *cta = &s->ctas[c];
        if (c != s->barriers[barrier].cta && (home->cluster_size <= 1 || cta->cluster_id != home->cluster_id))
            continue;
        for (uint32_t w = cta->warp_first; w < cta->warp_first + cta->warp_count && count < capacity; w++)
            count += newest_of(source, s, w, barrier, &out[count]);
    }
    qsort(out, count, sizeof *out, newest_first);
    return count;
}
