/* history.c - see history.h. */
#include "evidence/history.h"

#include <string.h>

#include "evidence/segment_reader.h"

struct wsdbg_history_event wsdbg_history_decode(const struct wsdbg_event *event, uint64_t gpu_time_ns)
{
    return (struct wsdbg_history_event){
        .gpu_time_ns = gpu_time_ns,
        .iteration = event->iteration,
        .value = event->value,
        .kind = event->kind,
        .barrier = event->barrier,
        .stage = event->stage & WSDBG_STAGE_MASK,
        .parity = event->stage >> WSDBG_PARITY_SHIFT,
    };
}

static struct wsdbg_event entry_at(const struct wsdbg_event *mirror, uint32_t depth, uint8_t sequence)
{
    struct wsdbg_event event;
    wsdbg_segment_copy(&event, &mirror[sequence & (depth - 1)], sizeof event);
    return event;
}

/* May `older` stand right before `newer`?  Half the clock's range is "later". */
static bool fits_before(const struct wsdbg_event *older, const struct wsdbg_event *newer)
{
    const bool kind_is_real = older->kind != WSDBG_EVENT_NONE && older->kind < WSDBG_EVENT_KIND_COUNT;
    const bool begin_is_first = (older->kind == WSDBG_EVENT_BEGIN) <= (older->sequence == 0);
    return kind_is_real && begin_is_first && older->kind != WSDBG_EVENT_EXIT &&
           older->sequence == (uint8_t)(newer->sequence - 1) && newer->time - older->time <= UINT32_MAX / 2;
}

/* The probe may say in BEGIN how many events were lost before it. */
static bool begins_whole(const struct wsdbg_event *event)
{
    return event->kind == WSDBG_EVENT_BEGIN && event->sequence == 0 &&
           (event->iteration == 0 || event->iteration == WSDBG_NO_ITERATION);
}

void wsdbg_history_walk_back(const struct wsdbg_event *last, uint64_t gpu_time_ns, const struct wsdbg_event *mirror,
                             uint32_t depth, struct wsdbg_history_walk *out)
{
    out->count = 0;
    out->whole = out->torn = false;
    if (last->kind == WSDBG_EVENT_NONE)
        return;
    out->events[out->count++] = wsdbg_history_decode(last, gpu_time_ns);
    out->whole = begins_whole(last);
    if (!mirror)
        return;
    struct wsdbg_event newer = entry_at(mirror, depth, last->sequence);
    if (memcmp(&newer, last, sizeof newer) != 0) {
        out->torn = true;
        return;
    }
    while (newer.kind != WSDBG_EVENT_BEGIN && out->count < depth) {
        const struct wsdbg_event older = entry_at(mirror, depth, (uint8_t)(newer.sequence - 1));
        if (!fits_before(&older, &newer)) {
            out->torn = true;
            return;
        }
        gpu_time_ns -= (uint64_t)(newer.time - older.time) << WSDBG_TIME_SHIFT;
        out->events[out->count++] = wsdbg_history_decode(&older, gpu_time_ns);
        out->whole = begins_whole(&older);
        newer = older;
    }
}
