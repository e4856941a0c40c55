/* history.c - see history.h.
 *
 * The slot holds the last milestone, the ring every event.  Where the slot's event still stands in the ring, the
 * events after it up to the next milestone are what the slot does not show; a later milestone was written after
 * the slot was copied.  A ring may also hold entries of the slot's earlier occupants, whose times repeat after
 * 137 s: sequence, kind and time must all fit.  Lanes of one warp that go ways of their own count their own events and
 * write into one ring: see ring.h.
 *
 * A mapped ring is read while the GPU writes.  An event is one 16-byte store, so one write on PCIe, and its halves are
 * loads of 8 aligned bytes here.  That all 16 arrive at once is likely, but nobody promises it: each entry is read
 * twice and counts as torn while the two differ.  An entry whose halves are of two rounds of the ring and stay so has a
 * time that does not fit its neighbours.  The order in which events arrive does not matter either: sequence and time
 * tell where each belongs, and one that is missing ends the walk.  A warp that stands still writes nothing.  So the
 * history of a warp that two reads a stall time apart agree about is whole.
 */
#include "evidence/history.h"

#include <string.h>

#include "evidence/segment_reader.h"

enum { ENTRY_READ_ATTEMPTS = 4 };

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

/* NONE where it changes under the reader's eyes, as if nothing was there. */
static struct wsdbg_event entry_at(const struct wsdbg_event *mirror, uint32_t depth, uint8_t sequence)
{
    struct wsdbg_event event, again;
    for (int attempt = 0; attempt < ENTRY_READ_ATTEMPTS; attempt++) {
        wsdbg_segment_copy(&event, &mirror[sequence & (depth - 1)], sizeof event);
        wsdbg_segment_copy(&again, &mirror[sequence & (depth - 1)], sizeof again);
        if (memcmp(&event, &again, sizeof event) == 0)
            return event;
    }
    return (struct wsdbg_event){.kind = WSDBG_EVENT_NONE};
}

static bool is_real(const struct wsdbg_event *event)
{
    const bool begin_is_first = (event->kind == WSDBG_EVENT_BEGIN) <= (event->sequence == 0);
    return event->kind != WSDBG_EVENT_NONE && event->kind < WSDBG_EVENT_KIND_COUNT && begin_is_first;
}

/* May `older`, which is to be number `sequence`, stand before `newer`?  Half the clock's range is "later". */
static bool stands_before(const struct wsdbg_event *older, uint8_t sequence, const struct wsdbg_event *newer)
{
    return is_real(older) && older->kind != WSDBG_EVENT_EXIT && older->sequence == sequence &&
           newer->time - older->time <= UINT32_MAX / 2;
}

static bool fits_before(const struct wsdbg_event *older, const struct wsdbg_event *newer)
{
    return stands_before(older, (uint8_t)(newer->sequence - 1), newer);
}

/* Whether an entry at the place of number `sequence` is an event of lanes that went a way of their own: they count
 * their own events, and may write over an older one of the others.  It was written after `newer` and not after `last`;
 * one that the GPU writes right now is later than both. */
static bool is_of_other_lanes(const struct wsdbg_history_source *source, const struct wsdbg_event *entry,
                              uint8_t sequence, const struct wsdbg_event *newer, const struct wsdbg_event *last)
{
    const uint32_t age = entry->time - newer->time, span = last->time - newer->time;
    const bool in_place = ((entry->sequence ^ sequence) & (source->depth - 1)) == 0;
    return in_place && is_real(entry) && entry->kind != WSDBG_EVENT_BEGIN && entry->kind != WSDBG_EVENT_EXIT &&
           age > 0 && age <= span;
}

/* The probe may say in BEGIN how many events were lost before it. */
static bool begins_whole(const struct wsdbg_event *event)
{
    return event->kind == WSDBG_EVENT_BEGIN && event->sequence == 0 &&
           (event->iteration == 0 || event->iteration == WSDBG_NO_ITERATION);
}

static bool holds_state(const struct wsdbg_history_source *source)
{
    const struct wsdbg_event entry = entry_at(source->mirror, source->depth, source->state.sequence);
    return memcmp(&entry, &source->state, sizeof entry) == 0;
}

/* The last event before the slot was copied, from the slot's event on. */
static struct wsdbg_event last_after_state(const struct wsdbg_history_source *source)
{
    struct wsdbg_event last = source->state;
    for (uint32_t i = 1; i < source->depth; i++) {
        const struct wsdbg_event next = entry_at(source->mirror, source->depth, (uint8_t)(last.sequence + 1));
        if (!is_real(&next) || wsdbg_event_is_milestone(next.kind) || !fits_before(&last, &next) ||
            next.time - source->state.time > source->horizon)
            break;
        last = next;
    }
    return last;
}

/* The latest entry of a ring that has lapped the slot's event; among equal times the one that follows.  A
 * milestone says that the warp has moved on since its slot was copied. */
static bool find_latest(const struct wsdbg_history_source *source, struct wsdbg_event *latest)
{
    uint32_t latest_age = 0;
    for (uint32_t i = 0; i < source->depth; i++) {
        const struct wsdbg_event entry = entry_at(source->mirror, source->depth, (uint8_t)i);
        const uint32_t age = entry.time - source->state.time;
        if ((entry.sequence & (source->depth - 1)) != i || !is_real(&entry) || age == 0 || age > source->horizon)
            continue;
        if (age > latest_age || (age == latest_age && (int8_t)(entry.sequence - latest->sequence) > 0)) {
            latest_age = age;
            *latest = entry;
        }
    }
    return latest_age > 0 && !wsdbg_event_is_milestone(latest->kind);
}

/* The newest entry that is not later than the slot's event; among equal times the one that follows.  False where some
 * entry is later: another warp has taken the slot. */
static bool find_newest_before(const struct wsdbg_history_source *source, struct wsdbg_event *newest)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < source->depth; i++) {
        const struct wsdbg_event entry = entry_at(source->mirror, source->depth, (uint8_t)i);
        const uint32_t age = source->state.time - entry.time, later = entry.time - source->state.time;
        if ((entry.sequence & (source->depth - 1)) != i || !is_real(&entry))
            continue;
        if (later > 0 && later <= source->horizon)
            return false;
        if (entry.kind == WSDBG_EVENT_EXIT || age > UINT32_MAX / 2)
            continue;
        if (age < least || (age == least && (int8_t)(entry.sequence - newest->sequence) > 0)) {
            least = age;
            *newest = entry;
        }
    }
    return least != UINT32_MAX;
}

static void start_at(const struct wsdbg_history_source *source, const struct wsdbg_event *last,
                     struct wsdbg_history_walk *out)
{
    const uint64_t later_ns = (uint64_t)(last->time - source->state.time) << WSDBG_TIME_SHIFT;
    out->last = *last;
    out->events[0] = wsdbg_history_decode(last, source->gpu_time_ns + later_ns);
    out->count = 1;
    out->whole = begins_whole(last);
}

static void add_older(const struct wsdbg_event *older, const struct wsdbg_event *newer, struct wsdbg_history_walk *out)
{
    const uint64_t step_ns = (uint64_t)(newer->time - older->time) << WSDBG_TIME_SHIFT;
    out->events[out->count] = wsdbg_history_decode(older, out->events[out->count - 1].gpu_time_ns - step_ns);
    out->count++;
    out->whole = begins_whole(older);
}

/* An event of other lanes, where its time says: behind those that are not earlier. */
static void insert(const struct wsdbg_event *event, uint64_t gpu_time_ns, struct wsdbg_history_walk *out)
{
    uint32_t at = out->count;
    while (at > 0 && out->events[at - 1].gpu_time_ns < gpu_time_ns) {
        out->events[at] = out->events[at - 1];
        at--;
    }
    out->events[at] = wsdbg_history_decode(event, gpu_time_ns);
    out->count++;
}

/* The walk from `last` has come to `begin` over `walked` entries: entries of that time elsewhere in the ring are of
 * lanes that went a way of their own, and which of them overwrote which is not known. */
static void add_other_lanes(const struct wsdbg_history_source *source, const struct wsdbg_event *last,
                            const struct wsdbg_event *begin, uint32_t walked, struct wsdbg_history_walk *out)
{
    const uint64_t begin_ns = out->events[out->count - 1].gpu_time_ns;
    const uint32_t span = out->last.time - begin->time;
    for (uint32_t i = walked; i < source->depth && out->count < WSDBG_HISTORY_DEPTH_MAX; i++) {
        const struct wsdbg_event entry = entry_at(source->mirror, source->depth, (uint8_t)(last->sequence - i));
        const uint32_t age = entry.time - begin->time;
        const bool in_place = ((entry.sequence ^ (last->sequence - i)) & (source->depth - 1)) == 0;
        if (!in_place || !is_real(&entry) || entry.kind == WSDBG_EVENT_BEGIN || age == 0 || age > span)
            continue;
        insert(&entry, begin_ns + ((uint64_t)age << WSDBG_TIME_SHIFT), out);
        out->whole = false;
    }
}

/* From `last`, the oldest in out, back to BEGIN, `depth` entries or one that does not fit.  A ring that has lapped the
 * slot's event holds nothing older than it.  Where other lanes wrote over an event, the walk goes on behind it. */
static void walk(const struct wsdbg_history_source *source, const struct wsdbg_event *last, bool lapped,
                 struct wsdbg_history_walk *out)
{
    const uint64_t last_ns = out->events[out->count - 1].gpu_time_ns;
    struct wsdbg_event newer = *last;
    bool any_lost = false;
    uint32_t walked = 1;
    for (; newer.kind != WSDBG_EVENT_BEGIN && walked < source->depth && out->count < WSDBG_HISTORY_DEPTH_MAX;
         walked++) {
        const uint8_t sequence = (uint8_t)(last->sequence - walked);
        const struct wsdbg_event older = entry_at(source->mirror, source->depth, sequence);
        if (is_of_other_lanes(source, &older, sequence, &newer, last)) {
            insert(&older, last_ns - ((uint64_t)(last->time - older.time) << WSDBG_TIME_SHIFT), out);
            any_lost = true;
            continue;
        }
        if (!stands_before(&older, sequence, &newer) || (lapped && older.time - source->state.time > source->horizon)) {
            out->torn = true;
            break;
        }
        add_older(&older, &newer, out);
        newer = older;
    }
    if (newer.kind == WSDBG_EVENT_BEGIN)
        add_other_lanes(source, last, &newer, walked, out);
    out->whole = out->whole && !any_lost;
}

void wsdbg_history_walk_back(const struct wsdbg_history_source *source, struct wsdbg_history_walk *out)
{
    out->count = 0;
    out->whole = out->torn = false;
    out->last = source->state;
    if (source->state.kind == WSDBG_EVENT_NONE)
        return;
    start_at(source, &source->state, out);
    if (!source->mirror)
        return;
    struct wsdbg_event last;
    if (holds_state(source)) {
        last = last_after_state(source);
        start_at(source, &last, out);
        walk(source, &last, false, out);
    } else if (source->state.kind == WSDBG_EVENT_EXIT && find_newest_before(source, &last)) {
        /* Its lanes left in parts. */
        add_older(&last, &source->state, out);
        walk(source, &last, false, out);
    } else if (find_latest(source, &last)) {
        start_at(source, &last, out);
        walk(source, &last, true, out);
        if (out->events[out->count - 1].kind == WSDBG_EVENT_BEGIN) {
            /* Another warp has taken the slot since it was copied. */
            start_at(source, &source->state, out);
            out->torn = true;
        }
    } else {
        out->torn = true;
    }
}
