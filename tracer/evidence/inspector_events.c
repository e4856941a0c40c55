/* inspector_events.c - the driver's events: an inspector acknowledges them, or calls of the program wait.  See
 * inspector_child.h.
 *
 * Reads: events of the debug interface.  Writes: rows of images in the shared area, what was seen of exceptions.
 */
#include "evidence/inspector_child.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/* So long after the driver has woken the inspector, it looks for events each millisecond. */
#define AWAKE_NS 20000000ull

void wsdbg_inspect_on_event(void *wake)
{
    const uint64_t one = 1;
    const ssize_t written = write(*(const int *)wake, &one, sizeof one);
    (void)written; /* events are looked for now and then anyway */
}

/* Its bytes are fetched when a warp is seen in it (inspector_reads.c): a program may load thousands. */
static void take_image(struct wsdbg_inspection *in, const struct wsdbg_debug_event *event)
{
    struct wsdbg_inspector_area *area = in->area;
    const bool is_first = !wsdbg_inspect_has_code(area, event->image.device);
    if (area->image_count >= WSDBG_INSPECTOR_IMAGES) {
        in->images_lost++;
        return;
    }
    area->images[area->image_count++] = (struct wsdbg_inspector_image){.device = event->image.device,
                                                                       .context = event->image.context,
                                                                       .module = event->image.module,
                                                                       .handle = event->image.handle,
                                                                       .byte_count = event->image.byte_count};
    if (in->stays && is_first)
        wsdbg_inspect_note_exceptions_of(in, event->image.device);
}

static void drop_image(struct wsdbg_inspection *in, const struct wsdbg_debug_event *event)
{
    struct wsdbg_inspector_area *area = in->area;
    for (uint32_t i = 0; i < area->image_count; i++)
        if (area->images[i].device == event->image.device && area->images[i].handle == event->image.handle)
            area->images[i--] = area->images[--area->image_count];
}

static void take_event(struct wsdbg_inspection *in, const struct wsdbg_debug_event *event)
{
    in->event_count++;
    if (event->kind == WSDBG_DEBUG_EVENT_IMAGE_LOADED)
        take_image(in, event);
    else if (event->kind == WSDBG_DEBUG_EVENT_IMAGE_UNLOADED)
        drop_image(in, event);
    else if (event->kind == WSDBG_DEBUG_EVENT_ALL_SUSPENDED) {
        in->exception = true;
        in->trapped = event->suspended.broken_devices && !event->suspended.faulted_devices;
    } else if (event->kind == WSDBG_DEBUG_EVENT_ATTACH_COMPLETE)
        in->attach_complete = true;
    else if (event->kind == WSDBG_DEBUG_EVENT_DETACH_COMPLETE)
        in->detach_complete = true;
    else if (event->kind == WSDBG_DEBUG_EVENT_INTERNAL_ERROR)
        in->internal_error = true;
}

/* Bounded, so that a program that launches without end does not keep wsdbg waiting. */
enum { EVENTS_AT_ONCE = 10000 };

void wsdbg_inspect_drain(struct wsdbg_inspection *in)
{
    struct wsdbg_debug_event event;
    uint64_t wakes;
    if (read(in->wake, &wakes, sizeof wakes) == sizeof wakes)
        in->awake_until_ns = wsdbg_attach_clock_ns() + AWAKE_NS;
    int count = 0;
    while (count < EVENTS_AT_ONCE && in->api.getNextEvent(WSDBG_DEBUG_QUEUE_SYNC, &event) == WSDBG_DEBUG_OK) {
        take_event(in, &event);
        count++;
    }
    if (count) {
        in->api.acknowledgeSyncEvents();
        in->event_ns = wsdbg_attach_clock_ns();
    }
    for (count = 0; count < EVENTS_AT_ONCE; count++) {
        if (in->api.getNextEvent(WSDBG_DEBUG_QUEUE_ASYNC, &event) != WSDBG_DEBUG_OK)
            break;
        take_event(in, &event);
    }
}

bool wsdbg_inspect_drain_until(struct wsdbg_inspection *in, const bool *flag, uint64_t limit_ns)
{
    const uint64_t deadline_ns = wsdbg_attach_clock_ns() + limit_ns;
    struct pollfd poller = {.fd = in->wake, .events = POLLIN};
    for (;;) {
        wsdbg_inspect_drain(in);
        if (*flag || in->internal_error || !wsdbg_attach_alive(in->attach) || wsdbg_attach_clock_ns() >= deadline_ns)
            return *flag;
        wsdbg_inspect_hold(in);
        poll(&poller, 1, WSDBG_INSPECT_ATTACHED_MS);
    }
}
