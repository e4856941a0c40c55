/* tracker.c - see tracker.h.
 *
 * Unwrapping: device times wrap after 137 s.  A slot's time is taken as the value nearest to where the
 * context's clock must be by now: the newest time seen, plus the host time that passed since.  Only spans
 * of the two clocks are added, never their readings compared.
 */
#include "evidence/tracker.h"

#include <stdlib.h>
#include <string.h>

#include "evidence/slot_reader.h"

#define WRAP_UNITS (UINT64_C(1) << 32)
/* The newest event may have been this old when it was first seen. */
#define SEEN_LATE_NS UINT64_C(1000000000)

static uint64_t unwrap_ns(const struct wsdbg_tracked_context *context, uint32_t time, uint64_t now_ns)
{
    /* The first time seen gets a wrap of room below it, for slots and histories that are older. */
    if (context->gpu_now_ns == 0)
        return (WRAP_UNITS + time) << WSDBG_TIME_SHIFT;
    const uint64_t passed_ns = now_ns > context->gpu_now_seen_ns ? now_ns - context->gpu_now_seen_ns : 0;
    const uint64_t clock = (context->gpu_now_ns + passed_ns) >> WSDBG_TIME_SHIFT;
    const int64_t distance = (int32_t)(time - (uint32_t)clock);
    return (clock + (uint64_t)distance) << WSDBG_TIME_SHIFT;
}

static bool same_bytes(const struct wsdbg_slot *a, const struct wsdbg_slot *slot)
{
    struct wsdbg_slot b;
    wsdbg_segment_copy(&b, slot, sizeof b);
    return memcmp(a, &b, sizeof b) == 0;
}

static bool same_identity(const struct wsdbg_slot *a, const struct wsdbg_slot *b)
{
    return a->grid_id == b->grid_id && a->cta_x == b->cta_x && a->cta_y == b->cta_y && a->cta_z == b->cta_z &&
           a->warp_in_cta == b->warp_in_cta && a->module_id == b->module_id && a->cluster_id == b->cluster_id &&
           a->grid_ctas == b->grid_ctas;
}

static void note_change(struct wsdbg_tracked_slot *tracked, uint64_t now_ns)
{
    tracked->changed_ns = now_ns;
    tracked->last_known = false;
}

static void note_gpu_time(struct wsdbg_tracked_context *context, uint64_t gpu_time_ns, uint64_t now_ns)
{
    if (gpu_time_ns <= context->gpu_now_ns)
        return;
    context->gpu_now_ns = gpu_time_ns;
    context->gpu_now_seen_ns = now_ns;
}

/* Takes over what the slot says now. */
static void look_at_slot(struct wsdbg_tracked_context *context, const struct wsdbg_slot *slot, uint32_t index,
                         uint64_t now_ns)
{
    struct wsdbg_tracked_slot *tracked = &context->slots[index];
    if (tracked->occupied && !tracked->torn && !tracked->foreign && same_bytes(&tracked->slot, slot))
        return;
    struct wsdbg_slot read;
    const enum wsdbg_slot_result result = wsdbg_slot_read(slot, index, context->row.warps_per_sm, &read);
    tracked->foreign = result == WSDBG_SLOT_FOREIGN;
    tracked->torn = result == WSDBG_SLOT_TORN;
    if (result == WSDBG_SLOT_TORN) {
        note_change(tracked, now_ns); /* it moves too fast to read: that is progress */
        return;
    }
    const bool was_occupied = tracked->occupied;
    tracked->occupied = result == WSDBG_SLOT_READ;
    if (!tracked->occupied)
        return;
    const bool other_warp = !was_occupied || !same_identity(&tracked->slot, &read);
    if (other_warp || memcmp(&tracked->slot.state, &read.state, sizeof read.state) != 0)
        note_change(tracked, now_ns);
    if (read.state.kind != WSDBG_EVENT_NONE) {
        tracked->gpu_time_ns = unwrap_ns(context, read.state.time, now_ns);
        note_gpu_time(context, tracked->gpu_time_ns, now_ns);
    }
    tracked->slot = read;
}

/* The slots of a context appear once and never move or grow; a row that says otherwise is not believed. */
static struct wsdbg_error *track_slots(struct wsdbg_tracked_context *context, const struct wsdbg_slot *slots)
{
    if (context->slots || !slots)
        return NULL;
    context->slots = calloc(context->row.slot_count, sizeof *context->slots);
    if (!context->slots)
        return &wsdbg_error_no_memory;
    context->slot_count = context->row.slot_count;
    return NULL;
}

/* What the GPU writes into the segment itself is as of now, and needs no answer of the process: it may be stopped or
 * gone.  history.c says why it can be read while it is written. */
static bool history_is_current(const struct wsdbg_tracker *tracker, const struct wsdbg_tracked_context *context)
{
    const uint64_t copied = context->row.history_copied;
    return context->ring == WSDBG_RING_IN_HOST || (copied != 0 && (uint32_t)copied == tracker->head.history_done);
}

static struct wsdbg_error *look_at_context(struct wsdbg_tracker *tracker, uint32_t index, uint64_t now_ns)
{
    struct wsdbg_tracked_context *context = &tracker->contexts[index];
    wsdbg_segment_read_context(&tracker->view, index, &context->row);
    context->ring = wsdbg_segment_read_ring_place(&tracker->view, index);
    if (context->row.error != 0 && context->fault_seen_ns == 0)
        context->fault_seen_ns = now_ns;
    const struct wsdbg_slot *slots = wsdbg_segment_slots(&tracker->view, &context->row);
    struct wsdbg_error *error = track_slots(context, slots);
    if (error)
        return error;
    const bool readable = slots && context->slot_count == context->row.slot_count;
    context->mirror =
        readable && history_is_current(tracker, context) ? wsdbg_segment_mirror(&tracker->view, &context->row) : NULL;
    for (uint32_t i = 0; readable && i < context->slot_count; i++)
        look_at_slot(context, &slots[i], i, now_ns);
    return NULL;
}

struct wsdbg_error *wsdbg_tracker_look(struct wsdbg_tracker *tracker, const struct wsdbg_segment_view *view, bool alive,
                                       uint64_t now_ns)
{
    tracker->view = *view;
    tracker->head = wsdbg_segment_read_head(view);
    tracker->alive = alive;
    for (uint32_t i = 0; i < tracker->head.context_count; i++) {
        struct wsdbg_error *error = look_at_context(tracker, i, now_ns);
        if (error)
            return error;
    }
    return NULL;
}

/* How much later than `gpu_time_ns` an event can be by now. */
static uint32_t horizon_of(const struct wsdbg_tracked_context *context, uint64_t gpu_time_ns, uint64_t now_ns)
{
    const uint64_t passed_ns = now_ns > context->gpu_now_seen_ns ? now_ns - context->gpu_now_seen_ns : 0;
    const uint64_t latest_ns = context->gpu_now_ns + passed_ns + SEEN_LATE_NS;
    const uint64_t units = latest_ns > gpu_time_ns ? (latest_ns - gpu_time_ns) >> WSDBG_TIME_SHIFT : 0;
    return units < INT32_MAX ? (uint32_t)units : INT32_MAX;
}

struct wsdbg_history_source wsdbg_tracked_history(const struct wsdbg_tracked_context *context, uint32_t index,
                                                  uint64_t now_ns)
{
    const struct wsdbg_tracked_slot *tracked = &context->slots[index];
    const uint32_t depth = context->row.history_depth;
    return (struct wsdbg_history_source){
        .state = tracked->slot.state,
        .gpu_time_ns = tracked->gpu_time_ns,
        .mirror = context->mirror ? context->mirror + (size_t)index * depth : NULL,
        .depth = depth,
        .horizon = horizon_of(context, tracked->gpu_time_ns, now_ns),
    };
}

static void read_history(struct wsdbg_tracked_context *context, uint32_t index, uint64_t now_ns)
{
    struct wsdbg_tracked_slot *tracked = &context->slots[index];
    const struct wsdbg_history_source source = wsdbg_tracked_history(context, index, now_ns);
    struct wsdbg_history_walk walk;
    wsdbg_history_walk_back(&source, &walk);
    if (walk.count == 0)
        return;
    if (tracked->last_known && memcmp(&tracked->last, &walk.last, sizeof walk.last) != 0)
        tracked->changed_ns = now_ns;
    tracked->last_known = true;
    tracked->last = walk.last;
    note_gpu_time(context, walk.events[0].gpu_time_ns, now_ns);
}

void wsdbg_tracker_read_histories(struct wsdbg_tracker *tracker, uint64_t now_ns)
{
    for (uint32_t i = 0; i < tracker->head.context_count; i++) {
        struct wsdbg_tracked_context *context = &tracker->contexts[i];
        for (uint32_t s = 0; context->mirror && s < context->slot_count; s++)
            if (context->slots[s].occupied)
                read_history(context, s, now_ns);
    }
}

void wsdbg_tracker_forgive_silence(struct wsdbg_tracker *tracker, uint64_t now_ns)
{
    for (uint32_t i = 0; i < tracker->head.context_count; i++) {
        struct wsdbg_tracked_context *context = &tracker->contexts[i];
        const uint64_t copied_ns = context->row.slots_copied_ns;
        context->silent = context->row.slots_device_address && copied_ns + WSDBG_SLOTS_FRESH_NS < now_ns;
        if (!context->silent)
            continue;
        for (uint32_t s = 0; s < context->slot_count; s++)
            context->slots[s].changed_ns = now_ns;
    }
}

void wsdbg_tracker_deinit(struct wsdbg_tracker *tracker)
{
    for (uint32_t i = 0; i < WSDBG_CONTEXT_ROWS; i++)
        free(tracker->contexts[i].slots);
    *tracker = (struct wsdbg_tracker){0};
}
